"""The hole: how a disc tips over it, what becomes of it there, and how it falls, wobbles and lies.

A disc whose centre is over the hole loses its support and its front dips; when the front has dipped enough it
strikes the far wall. A slow disc then drops, a fast one hops out or is thrown off its way. About 1 m/s through the
middle is the fastest that still drops, and the further off the middle, the slower it has to be.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import Literal

from hardware.board import Board, to_polar
from hardware.twin.feel import GRAVITY_MM_S2, Feel

_TIPPING = 1.2  # a disc turns about the near rim: its front falls faster than free
_LEAN_FROM = 0.3  # share of the hole's radius off the middle from which a slow disc can jam
_WOBBLE_S = 0.055

Xy = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Fall:
    """A disc on its way to where it will lie in the hole.

    Attributes:
        start: base's centre when the fall began.
        end: where it will lie.
        ends: how it will lie.
        dip_mm: how deep its front had dipped.
        lean_towards_deg: direction of its lowest point at first.
        hops: time after the start in s and upward speed in mm/s of each hop from the floor.
        floor_s: when it reaches the floor first.
        last_s: when it lies still.
        age_s: how long it has been falling.
    """

    start: Xy
    end: Xy
    ends: Literal["hole", "leaning", "stacked"]
    dip_mm: float
    lean_towards_deg: float
    hops: tuple[tuple[float, float], ...]
    floor_s: float
    last_s: float
    age_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Pose:
    """How a disc in the hole lies: base's centre, its height, and its tilt towards its lowest point."""

    x_mm: float
    y_mm: float
    z_mm: float
    tilt_deg: float
    tilt_towards_deg: float


def tip(dip_mm: float, drop_mm_s: float, r_mm: float, step_s: float, board: Board) -> tuple[float, float]:
    """The front's dip and its speed after a step with the disc's centre ``r_mm`` from the middle of the hole."""
    unsupported = math.sqrt(max(0.0, 1 - (r_mm / board.hole_radius_mm) ** 2))
    drop_mm_s += _TIPPING * GRAVITY_MM_S2 * unsupported * step_s
    return min(board.hole_depth_mm - 1, dip_mm + drop_mm_s * step_s), drop_mm_s


def decide(at: Xy, velocity: Xy, *, dip_mm: float, board: Board, feel: Feel, chance: random.Random) -> Fall | Xy:
    """What becomes of a disc that leaves the middle of the hole: a fall, or the velocity with which it goes on."""
    vx, vy = velocity
    speed = math.hypot(vx, vy)
    if speed < 15:
        return drop(at, board, feel, chance)
    aside = abs(at[0] * vy - at[1] * vx) / speed
    if dip_mm < feel.catch_mm:
        brush = dip_mm / feel.catch_mm
        return _thrown(velocity, 1 - 0.3 * brush, chance.gauss(0, 8 * brush))
    over = (speed - feel.hop_mm_s) / 600
    if over > 0 and chance.random() < min(0.9, over):
        return _thrown(velocity, chance.uniform(0.35, 0.6), chance.gauss(0, 25))
    if aside > _LEAN_FROM * board.hole_radius_mm and speed < 350 and chance.random() < feel.lean_chance:
        return _lean(at, board, chance, dip_mm)
    return _sink(at, board, chance, dip_mm=dip_mm, speed=speed, towards_deg=to_polar(vx, vy)[1])


def drop(at: Xy, board: Board, feel: Feel, chance: random.Random) -> Fall:
    """The fall of a disc that came to a stop with its centre over the hole."""
    if math.hypot(*at) > _LEAN_FROM * board.hole_radius_mm and chance.random() < feel.lean_chance:
        return _lean(at, board, chance, 0.0)
    return _sink(at, board, chance, towards_deg=to_polar(-at[0], -at[1])[1])


def climb(at: Xy, board: Board) -> Fall:
    """A disc thrown upon the one that lies in the hole."""
    r_mm = math.hypot(*at)
    stays = min(1.0, 0.35 * board.disc_radius_mm / max(r_mm, 1e-9))
    return Fall(
        at, (at[0] * stays, at[1] * stays), "stacked", 0.0, to_polar(-at[0], -at[1])[1], (), floor_s=0.06, last_s=0.2
    )


def go_on(fall: Fall, step_s: float) -> Fall:
    """The same fall a little later."""
    return replace(fall, age_s=fall.age_s + step_s)


def pose(fall: Fall, board: Board) -> Pose:
    """How the falling disc lies now."""
    share = min(1.0, fall.age_s / fall.floor_s)
    x_mm = fall.start[0] + (fall.end[0] - fall.start[0]) * share
    y_mm = fall.start[1] + (fall.end[1] - fall.start[1]) * share
    rest_z, rest_tilt, towards = resting(fall.ends, fall.end, board)
    if fall.age_s < fall.floor_s:
        z_mm = -fall.dip_mm / 2 + (rest_z + fall.dip_mm / 2) * share**2
        tilt = math.degrees(math.atan2(fall.dip_mm, 2 * board.disc_radius_mm)) + (6 + rest_tilt) * share
        return Pose(x_mm, y_mm, z_mm, min(tilt, 14.0), fall.lean_towards_deg)
    z_mm = rest_z
    for at_s, up_mm_s in fall.hops:
        t = fall.age_s - at_s
        if 0 <= t < 2 * up_mm_s / GRAVITY_MM_S2:
            z_mm = rest_z + up_mm_s * t - GRAVITY_MM_S2 / 2 * t * t
    if fall.age_s >= fall.last_s:
        return Pose(x_mm, y_mm, rest_z, rest_tilt, towards)
    late_s = fall.age_s - fall.floor_s
    wobble = 6 * math.exp(-late_s / _WOBBLE_S)
    if fall.ends == "leaning":
        return Pose(x_mm, y_mm, z_mm, rest_tilt + wobble * math.cos(110 * late_s) / 3, towards)
    return Pose(x_mm, y_mm, z_mm, wobble, (fall.lean_towards_deg + 4000 * late_s) % 360)


def resting(ends: str, end: Xy, board: Board) -> tuple[float, float, float]:
    """Height of the base's centre, tilt and direction of the lowest point of a disc lying still in the hole.

    A leaner has its high side on the rim of the hole and its low edge on the floor.
    """
    if ends == "stacked":
        return board.proud_mm, 0.0, 0.0
    if ends == "hole":
        return -board.hole_depth_mm, 0.0, 0.0
    inside = board.hole_radius_mm - math.hypot(*end)
    span = inside + board.disc_radius_mm
    tilt = math.degrees(math.atan2(board.hole_depth_mm, span))
    return -board.hole_depth_mm * inside / span, tilt, to_polar(-end[0], -end[1])[1]


def lowest_mm(where: Pose, chord_deg: float, board: Board) -> float:
    """Height of the lowest point of a disc's base along a chord through the middle of the hole; 0 if it is clear.

    Args:
        where: how the disc lies.
        chord_deg: direction of the chord in the board frame.
        board: geometry.
    """
    a, t = math.radians(chord_deg), math.radians(where.tilt_towards_deg)
    cx, cy = -math.sin(a), -math.cos(a)
    lx, ly = -math.sin(t), -math.cos(t)
    along = where.x_mm * cx + where.y_mm * cy
    away_sq = where.x_mm**2 + where.y_mm**2 - along**2
    half_sq = board.disc_radius_mm**2 - away_sq
    if half_sq <= 0:
        return 0.0
    ends = (along - math.sqrt(half_sq), along + math.sqrt(half_sq))
    slope = math.tan(math.radians(where.tilt_deg))
    hole = board.hole_radius_mm
    if max(ends) < -hole or min(ends) > hole:
        return 0.0
    heights = []
    for end in ends:
        s = max(-hole, min(hole, end))
        heights.append(where.z_mm - slope * ((s * cx - where.x_mm) * lx + (s * cy - where.y_mm) * ly))
    return min(0.0, *heights)


def _thrown(velocity: Xy, keeps: float, aside_deg: float) -> Xy:
    a = math.radians(aside_deg)
    vx, vy = velocity
    return (keeps * (vx * math.cos(a) - vy * math.sin(a)), keeps * (vx * math.sin(a) + vy * math.cos(a)))


def _sink(
    at: Xy, board: Board, chance: random.Random, *, dip_mm: float = 0.0, speed: float = 0.0, towards_deg: float
) -> Fall:
    left_mm = board.hole_depth_mm - dip_mm / 2
    floor_s = math.sqrt(2 * left_mm / GRAVITY_MM_S2)
    hops = []
    at_s, up_mm_s = floor_s, (110 + 0.3 * speed) * chance.uniform(0.5, 1.2)
    while up_mm_s > 30:
        hops.append((at_s, up_mm_s))
        at_s += 2 * up_mm_s / GRAVITY_MM_S2
        up_mm_s *= chance.uniform(0.3, 0.5)
    play, angle = board.hole_play_mm * math.sqrt(chance.random()), chance.uniform(0, math.tau)
    end = (play * math.cos(angle), play * math.sin(angle))
    return Fall(at, end, "hole", dip_mm, towards_deg, tuple(hops), floor_s, max(at_s, floor_s + 3 * _WOBBLE_S))


def _lean(at: Xy, board: Board, chance: random.Random, dip_mm: float) -> Fall:
    r_mm = max(1e-6, math.hypot(*at))
    off_mm = chance.uniform(0.25, 0.55) * board.hole_radius_mm
    end = (at[0] / r_mm * off_mm, at[1] / r_mm * off_mm)
    return Fall(at, end, "leaning", dip_mm, to_polar(-at[0], -at[1])[1], (), floor_s=0.04, last_s=0.25)
