"""The empty board as the camera sees it: table, rail, ditch, the raised surface with its lines, and the hole."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from hardware.board import Board
from hardware.twin.lens import CameraPose
from hardware.twin.print import SURFACE_TEXEL_MM, surface_texture
from hardware.twin.sprites import Field, Picture, bgr, ramp, to_bytes
from hardware.twin.styles import BoardStyle
from hardware.twin.wood import DITCH_TEXEL_MM, TABLE_HALF_MM, ditch_texture, table_texture

_TABLE_BELOW_MM = 9.0
"""Thickness of the board's floor."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What each pixel looks at.

    Attributes:
        pose: camera.
        gx: x in mm of the surface-plane point seen at each pixel, float32 ``(H, W)``.
        gy: y likewise.
        px_mm: size of each pixel on the surface plane: the root of the area it sees.
    """

    pose: CameraPose
    gx: Field
    gy: Field
    px_mm: Field

    def at(self, z_mm: float) -> tuple[Field, Field]:
        """Points of the plane at ``z_mm``."""
        k = np.float32((self.pose.height_mm - z_mm) / self.pose.height_mm)
        fx, fy = (np.float32(v) for v in self.pose.foot_xy_mm)
        return (self.gx - fx) * k + fx, (self.gy - fy) * k + fy


def sight_of(pose: CameraPose) -> Sight:
    """What each pixel of a camera looks at."""
    w, h = pose.size_wh
    seen = pose.ground(np.arange(w)[None, :], np.arange(h)[:, None])
    gx, gy = (np.ascontiguousarray(seen[..., k], np.float32) for k in (0, 1))
    ux, uy = np.gradient(seen[..., 0], axis=1), np.gradient(seen[..., 1], axis=1)
    vx, vy = np.gradient(seen[..., 0], axis=0), np.gradient(seen[..., 1], axis=0)
    return Sight(pose, gx, gy, np.ascontiguousarray(np.sqrt(np.abs(ux * vy - uy * vx)), np.float32))


def _shape(x: Field, y: Field, inradius_mm: float, *, octagon: bool, square: bool) -> Field:
    """How far inside a ring, octagon or square a point lies, mm."""
    if square:
        return np.asarray(np.float32(inradius_mm) - np.maximum(np.abs(x), np.abs(y)))
    if not octagon:
        return np.asarray(np.float32(inradius_mm) - np.sqrt(x * x + y * y))
    ax, ay = np.abs(x), np.abs(y)
    diagonal = (ax + ay) * np.float32(math.sqrt(0.5))
    return np.asarray(np.float32(inradius_mm) - np.maximum(np.maximum(ax, ay), diagonal))


def _over(under: Field, cover: Field, colour: Field) -> Field:
    return under + cover[..., None] * (colour - under)


def _textured(texture: Picture, x: Field, y: Field, half_mm: float, texel_mm: float) -> Field:
    """A flat texture seen through a lens: the mean of four sight lines in each pixel."""
    u = (x + np.float32(half_mm)) / np.float32(texel_mm) - np.float32(0.5)
    v = (np.float32(half_mm) - y) / np.float32(texel_mm) - np.float32(0.5)
    steps = [np.gradient(m, axis=k) * np.float32(0.25) for m in (u, v) for k in (1, 0)]
    total = np.zeros((*x.shape, 3), np.float32)
    for a, b in ((-1, -1), (1, -1), (-1, 1), (1, 1)):
        at_u, at_v = u + a * steps[0] + b * steps[1], v + a * steps[2] + b * steps[3]
        total += cv2.remap(texture, at_u, at_v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return total / 4


class BoardPainter:
    """Paints one empty board from one pose, without its pegs, which stand among the discs."""

    def __init__(self, board: Board, style: BoardStyle, sight: Sight, *, shadow_xy: tuple[float, float]) -> None:
        self._board, self._style, self._sight = board, style, sight
        self._shadow_xy = shadow_xy
        self._px = sight.px_mm

    def paint(self) -> tuple[Field, Field, Field]:
        """Colour before any light ``(H, W, 3)``, varnish 0-1 ``(H, W)`` and ``rail_front`` ``(H, W)``."""
        board, style, px = self._board, self._style, self._px
        gx, gy = self._sight.gx, self._sight.gy
        floor_z = -board.surface_height_mm
        picture, body = self._table_and_wall(floor_z - _TABLE_BELOW_MM, floor_z + board.rail_height_mm)
        picture, opening = self._rail(picture, floor_z + board.rail_height_mm)
        floor = ramp(self._inside(*self._sight.at(floor_z), board.rail_radius_mm), px)
        picture = _over(picture, np.minimum(opening, floor), self._floor(floor_z))
        side = np.zeros_like(gx)
        for z in (floor_z, floor_z / 2, -1.0):
            x, y = self._sight.at(z)
            side = np.maximum(side, ramp(np.float32(board.surface_radius_mm) - np.sqrt(x * x + y * y), px))
        picture = _over(picture, np.minimum(side, opening), bgr(style.wall_bgr))
        r = np.sqrt(gx * gx + gy * gy)
        surface = np.minimum(ramp(np.float32(board.surface_radius_mm) - r, px), opening)
        texture, half_mm = surface_texture(board, style)
        wood = _textured(texture, gx, gy, half_mm, SURFACE_TEXEL_MM)
        wood *= (1 + 0.10 * np.exp(-((r - np.float32(board.surface_radius_mm - 1)) ** 2) / 1.5))[..., None]
        picture = self._hole(_over(picture, surface, wood))
        return picture, surface * np.float32(style.varnish), body * (1 - opening)

    def _inside(self, x: Field, y: Field, inradius_mm: float) -> Field:
        return _shape(x, y, inradius_mm, octagon=self._style.octagon, square=self._style.square)

    def _table_and_wall(self, table_z: float, rail_z: float) -> tuple[Field, Field]:
        """The table with the board's shadow on it and the outside of the rail; and the share the rail covers."""
        outer_mm = self._board.rail_radius_mm + self._style.rail_width_mm
        x, y = self._sight.at(table_z)
        picture = _textured(table_texture(self._style), x, y, TABLE_HALF_MM, 1.0)
        lx, ly = (np.float32(v * (rail_z - table_z) / 2) for v in self._shadow_xy)
        off = -self._inside(x - lx, y - ly, outer_mm)
        picture *= (1 - 0.45 * np.exp(-np.maximum(off, 0) / 16))[..., None]
        body = np.zeros_like(x)
        for z in (table_z, (table_z + rail_z) / 2, rail_z):
            body = np.maximum(body, ramp(self._inside(*self._sight.at(z), outer_mm), self._px))
        return _over(picture, body, bgr(self._style.rail_bgr) * 0.6), body

    def _rail(self, picture: Field, rail_z: float) -> tuple[Field, Field]:
        """The rail's top and its inner wall; and the opening through which the board is seen."""
        style, px = self._style, self._px
        inner_mm = self._board.rail_radius_mm
        x, y = self._sight.at(rail_z)
        outside, inside = (self._inside(x, y, r) for r in (inner_mm + style.rail_width_mm, inner_mm))
        edge = np.minimum(np.abs(outside), np.abs(inside))
        angle = np.arctan2(x, y)
        streak = np.sin(angle * 90 + np.sin(outside * 0.9) * 1.5) * np.float32(0.05 * min(1.0, style.grain + 0.3))
        tone = 1 + streak + 0.18 * np.exp(-((edge - 1.2) ** 2) / 2)
        if style.octagon:  # sides cut at a mitre, each its own piece of wood
            side = np.round(angle / (np.pi / 4))
            tone *= (
                1
                + 0.05 * np.sin(side * 2.4)
                - 0.3 * np.exp(-((np.abs(angle / (np.pi / 4) - side) - 0.5) ** 2) * np.float32(4e4))
            )
        picture = _over(picture, ramp(outside, px), bgr(style.rail_bgr) * tone[..., None])
        opening = ramp(inside, px)
        return _over(picture, opening, bgr(style.rail_bgr) * 0.55), opening

    def _floor(self, floor_z: float) -> Field:
        """The ditch with the shadows of rail and surface, darker in its corners."""
        board = self._board
        x, y = self._sight.at(floor_z)
        half_mm = board.rail_radius_mm * 1.1
        base = _textured(ditch_texture(self._style, half_mm), x, y, half_mm, DITCH_TEXEL_MM)
        lx, ly = self._shadow_xy
        lights = [self._inside(x - lx * board.rail_height_mm, y - ly * board.rail_height_mm, board.rail_radius_mm)]
        sx, sy = x - lx * board.surface_height_mm, y - ly * board.surface_height_mm
        lights.append(np.sqrt(sx * sx + sy * sy) - np.float32(board.surface_radius_mm))
        shade = np.ones_like(x)
        for lit_mm in lights:
            shade *= 0.72 + 0.28 * np.clip(0.5 + lit_mm / 9, 0, 1)
        corner = self._inside(x, y, board.rail_radius_mm)
        from_wall = np.sqrt(x * x + y * y) - np.float32(board.surface_radius_mm)
        shade *= 1 - 0.3 * np.exp(-np.maximum(corner, 0) / 7) - 0.3 * np.exp(-np.maximum(from_wall, 0) / 6)
        return np.asarray(base * shade[..., None], dtype=np.float32)

    def _hole(self, picture: Field) -> Field:
        board, style, px = self._board, self._style, self._px
        hx, hy = (np.float32(v) for v in style.hole_offset_xy_mm)
        radius = np.float32(board.hole_radius_mm)
        opening = ramp(radius - np.sqrt((self._sight.gx - hx) ** 2 + (self._sight.gy - hy) ** 2), px)
        picture = _over(picture, opening, bgr(style.surface_bgr) * 0.5)
        x, y = self._sight.at(-board.hole_depth_mm)
        deep = np.sqrt((x - hx) ** 2 + (y - hy) ** 2)
        lx, ly = (np.float32(v * board.hole_depth_mm) for v in self._shadow_xy)
        lit = radius - np.sqrt((x - hx - lx) ** 2 + (y - hy - ly) ** 2)
        shade = (0.62 + 0.38 * np.clip(0.5 + lit / 4, 0, 1)) * (1 - 0.25 * np.exp(-np.maximum(radius - deep, 0) / 2.5))
        return _over(picture, np.minimum(opening, ramp(radius - deep, px)), bgr(style.hole_bgr) * shade[..., None])


def lit_picture(colour: Field, varnish: Field, light: Field, glare: Field) -> Picture:
    """The board under its lamps."""
    return to_bytes(colour * light[..., None] + (varnish * glare)[..., None])
