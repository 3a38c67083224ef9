"""Off the edge: how a disc falls into the ditch, meets the rail, and now and then comes back."""

from __future__ import annotations

import random

import pymunk

from hardware.board import to_polar
from hardware.twin.feel import GRAVITY_MM_S2
from hardware.twin.slider import UPPER, Slider

_TIPPED_DEG = 18.0
_PUSH_MM = 1.5
_SQUEEZED_MM = 0.3  # a disc wedged between another and the edge comes to rest so near to it


def fly(disc: Slider, r_mm: float, step_s: float, chance: random.Random) -> bool:
    """Move a disc that has left the surface on by a step; true when it is back on it.

    Args:
        disc: a disc whose ``where`` is ``ditch``; pymunk has moved it along already.
        r_mm: its distance from the middle.
        step_s: length of the step.
        chance: for the rail, which does not throw every disc back alike.
    """
    board, floor = disc.board, -disc.board.surface_height_mm
    if disc.z > floor and not disc.climbing:
        share = min(1.0, max(0.0, (r_mm - board.surface_radius_mm) / board.disc_radius_mm))
        disc.vz -= GRAVITY_MM_S2 * max(share, 0.05) * step_s
        disc.z += disc.vz * step_s
        disc.tilt_deg = _TIPPED_DEG * share * (disc.z - floor) / -floor
        disc.tilt_towards_deg = to_polar(*disc.body.position)[1]
        if disc.z <= floor:
            disc.z, disc.vz, disc.tilt_deg = floor, 0.0, 0.0
            disc.lay("ditch")
    vx, vy = disc.body.velocity
    ux, uy = disc.body.position / max(r_mm, 1e-9)
    radial = vx * ux + vy * uy
    wall_mm = board.rail_radius_mm - board.disc_radius_mm
    if r_mm > wall_mm:
        disc.body.position = (ux * wall_mm, uy * wall_mm)
        if radial > 0:
            _bounce(disc, (ux, uy), radial, disc.feel.rail_bounce * chance.uniform(0.8, 1.2))
        return False
    if r_mm < board.surface_radius_mm + board.disc_radius_mm and (radial < 0 or disc.z <= floor):
        return _meet_edge(disc, r_mm, (ux, uy), radial)
    return False


def kept(disc: Slider, place: pymunk.Vec2d) -> pymunk.Vec2d:
    """The nearest place that is inside the ditch for a disc that lies there; any place for another."""
    if disc.where != "ditch":
        return place
    inner_mm = disc.board.surface_radius_mm + disc.board.disc_radius_mm
    outer_mm = disc.board.rail_radius_mm - disc.board.disc_radius_mm
    return place.scale_to_length(min(max(place.length, inner_mm), outer_mm))


def _meet_edge(disc: Slider, r_mm: float, u: tuple[float, float], radial: float) -> bool:
    """A disc moves against the edge of the surface: hardly dropped it rides up, else it is turned away."""
    board = disc.board
    if disc.climbing or (radial < -150 and disc.z > -disc.feel.lip_mm):
        if not disc.climbing:
            disc.climbing, disc.vz = True, 0.0
            disc.layer(UPPER)
            disc.body.velocity = disc.body.velocity * 0.7
        share = (r_mm - board.surface_radius_mm) / board.disc_radius_mm
        disc.z = min(0.0, disc.z * max(0.0, min(1.0, share + 0.5)))
        disc.tilt_deg *= 0.9
        if r_mm > board.surface_radius_mm:
            return False
        disc.climbing, disc.back = False, True
        disc.z = disc.vz = disc.tilt_deg = 0.0
        disc.lay("surface")
        return True
    if radial < 0:
        _bounce(disc, u, radial, 0.3)
    if disc.z < -disc.feel.lip_mm:
        room_mm = board.surface_radius_mm + board.disc_radius_mm
        out_mm = min(room_mm, r_mm + _PUSH_MM)
        disc.body.position = (u[0] * out_mm, u[1] * out_mm)
        if room_mm - r_mm > _SQUEEZED_MM:
            disc.quiet = 0
    return False


def _bounce(disc: Slider, u: tuple[float, float], radial: float, bounce: float) -> None:
    vx, vy = disc.body.velocity
    along_x, along_y = vx - radial * u[0], vy - radial * u[1]
    disc.body.velocity = (along_x * 0.9 - radial * bounce * u[0], along_y * 0.9 - radial * bounce * u[1])
