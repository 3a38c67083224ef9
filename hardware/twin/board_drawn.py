"""The empty board as the camera sees it: table, rail, ditch, the raised surface with its lines, and the hole."""

from __future__ import annotations

import math
from collections.abc import Callable

import cv2
import numpy as np

from hardware.board import Board
from hardware.twin.lens import CameraPose
from hardware.twin.sprites import Field, Picture, bgr, ramp, to_bytes
from hardware.twin.styles import BoardStyle
from hardware.twin.wood import SURFACE_TEXEL_MM, surface_texture, table_texture

_SUB = (-0.25, 0.25)

Plane = Callable[[float], tuple[Field, Field]]
"""From a height in mm to x and y of the points that the pixels see there."""


def _shape(x: Field, y: Field, inradius_mm: float, *, octagon: bool) -> Field:
    """How far inside a ring or octagon a point lies, mm."""
    if not octagon:
        return np.float32(inradius_mm) - np.sqrt(x * x + y * y)
    ax, ay = np.abs(x), np.abs(y)
    diagonal = (ax + ay) * np.float32(math.sqrt(0.5))
    return np.float32(inradius_mm) - np.maximum(np.maximum(ax, ay), diagonal)


def _over(under: Field, cover: Field, colour: Field) -> Field:
    return under + cover[..., None] * (colour - under)


def ground_maps(pose: CameraPose, du: float = 0.0, dv: float = 0.0) -> tuple[Field, Field]:
    """X and y in mm of the surface-plane point seen at each pixel, each shifted by a part of a pixel."""
    w, h = pose.size_wh
    seen = pose.ground(np.arange(w)[None, :] + du, np.arange(h)[:, None] + dv)
    return np.ascontiguousarray(seen[..., 0], np.float32), np.ascontiguousarray(seen[..., 1], np.float32)


def pixel_mm(gx: Field, gy: Field) -> Field:
    """Size of each pixel on the surface plane: the root of the area it sees."""
    ux, uy = np.gradient(gx, axis=1), np.gradient(gy, axis=1)
    vx, vy = np.gradient(gx, axis=0), np.gradient(gy, axis=0)
    return np.ascontiguousarray(np.sqrt(np.abs(ux * vy - uy * vx)), np.float32)


class BoardPainter:
    """Paints one board from one pose, four sight lines for each pixel."""

    def __init__(self, board: Board, style: BoardStyle, pose: CameraPose, *, shadow_xy: tuple[float, float]) -> None:
        self._board, self._style, self._pose = board, style, pose
        self._shadow_xy = shadow_xy
        self._surface, self._surface_half_mm = surface_texture(board, style)
        self._table = table_texture(style)

    def paint(self) -> tuple[Field, Field, Field]:
        """Colour before any light ``(H, W, 3)``, varnish 0-1 ``(H, W)`` and ``rail_front`` ``(H, W)``."""
        w, h = self._pose.size_wh
        colour, varnish, front = (
            np.zeros((h, w, 3), np.float32),
            np.zeros((h, w), np.float32),
            np.zeros((h, w), np.float32),
        )
        for dv in _SUB:
            for du in _SUB:
                c, s, f = self._once(*ground_maps(self._pose, du, dv))
                colour += c
                varnish += s
                front += f
        return colour / 4, varnish / 4, front / 4

    def _once(self, gx: Field, gy: Field) -> tuple[Field, Field, Field]:
        board, style = self._board, self._style
        h_mm = self._pose.height_mm
        fx, fy = (np.float32(v) for v in self._pose.foot_xy_mm)

        def at(z_mm: float) -> tuple[Field, Field]:
            k = np.float32((h_mm - z_mm) / h_mm)
            return (gx - fx) * k + fx, (gy - fy) * k + fy

        px = h_mm / self._pose.focal_px / 2  # half a pixel: one of four sight lines
        floor_z = -board.surface_height_mm
        rail_z, table_z = floor_z + board.rail_height_mm, floor_z - 9.0
        inner_mm, outer_mm = board.rail_radius_mm, board.rail_radius_mm + style.rail_width_mm
        tx, ty = at(table_z)
        picture = cv2.remap(self._table, tx + 1024, ty + 1024, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT).astype(
            np.float32
        )
        off = -_shape(tx, ty, outer_mm, octagon=style.octagon)
        picture *= (1 - 0.45 * np.exp(-np.maximum(off, 0) / 16))[..., None]
        rail = bgr(style.rail_bgr)
        body = np.zeros_like(gx)
        for z in (table_z, (table_z + rail_z) / 2, rail_z):
            body = np.maximum(body, ramp(_shape(*at(z), outer_mm, octagon=style.octagon), px))
        picture = _over(picture, body, rail * 0.6)
        rx, ry = at(rail_z)
        outside, inside = (_shape(rx, ry, r, octagon=style.octagon) for r in (outer_mm, inner_mm))
        edge = np.minimum(np.abs(outside), np.abs(inside))
        streak = np.sin(np.arctan2(rx, ry) * 90 + np.sin(outside * 0.9) * 1.5) * (0.05 * min(1.0, style.grain + 0.3))
        top = rail * (1 + streak + 0.18 * np.exp(-((edge - 1.2) ** 2) / 2))[..., None]
        picture = _over(picture, ramp(outside, px), top)
        opening = ramp(inside, px)
        picture = _over(picture, opening, rail * 0.55)
        picture = _over(picture, np.minimum(opening, self._floor_cover(at, px)), self._floor(at, floor_z))
        side = np.zeros_like(gx)
        for z in (floor_z, floor_z / 2, -1.0):
            x, y = at(z)
            side = np.maximum(side, ramp(np.float32(board.surface_radius_mm) - np.sqrt(x * x + y * y), px))
        picture = _over(picture, np.minimum(side, opening), bgr(style.wall_bgr))
        r = np.sqrt(gx * gx + gy * gy)
        surface = np.minimum(ramp(np.float32(board.surface_radius_mm) - r, px), opening)
        half, texel = np.float32(self._surface_half_mm), np.float32(SURFACE_TEXEL_MM)
        u, v = (gx + half) / texel - np.float32(0.5), (half - gy) / texel - np.float32(0.5)
        wood = cv2.remap(self._surface, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).astype(np.float32)
        wood *= (1 + 0.10 * np.exp(-((r - board.surface_radius_mm + 1) ** 2) / 1.5))[..., None]
        picture = _over(picture, surface, wood)
        picture = self._hole(picture, gx, gy, at, px)
        return picture, surface * np.float32(style.varnish), body * (1 - opening)

    def _floor_cover(self, at: Plane, px: float) -> Field:
        return ramp(
            _shape(*at(-self._board.surface_height_mm), self._board.rail_radius_mm, octagon=self._style.octagon), px
        )

    def _floor(self, at: Plane, floor_z: float) -> Field:
        x, y = at(floor_z)
        u, v = (x * np.float32(1.3) + 1024), (y * np.float32(1.3) + 1024)
        base = cv2.remap(self._table, v, u, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT).astype(np.float32)
        base = bgr(self._style.ditch_bgr) * (0.9 + 0.1 * base / max(float(self._table.mean()), 1.0))
        lx, ly = self._shadow_xy
        rise = self._board.rail_height_mm
        to_rail = _shape(
            x - np.float32(lx * rise),
            y - np.float32(ly * rise),
            self._board.rail_radius_mm,
            octagon=self._style.octagon,
        )
        shade = 0.72 + 0.28 * np.clip(0.5 + to_rail / 9, 0, 1)
        corner = _shape(x, y, self._board.rail_radius_mm, octagon=self._style.octagon)
        from_wall = np.sqrt(x * x + y * y) - np.float32(self._board.surface_radius_mm)
        shade *= 1 - 0.3 * np.exp(-np.maximum(corner, 0) / 7) - 0.3 * np.exp(-np.maximum(from_wall, 0) / 6)
        return np.asarray(base * shade[..., None], dtype=np.float32)

    def _hole(self, picture: Field, gx: Field, gy: Field, at: Plane, px: float) -> Field:
        board = self._board
        hx, hy = (np.float32(v) for v in self._style.hole_offset_xy_mm)
        radius = np.float32(board.hole_radius_mm)
        opening = ramp(radius - np.sqrt((gx - hx) ** 2 + (gy - hy) ** 2), px)
        picture = _over(picture, opening, bgr(self._style.surface_bgr) * 0.5)
        x, y = at(-board.hole_depth_mm)
        deep = np.sqrt((x - hx) ** 2 + (y - hy) ** 2)
        lx, ly = (v * board.hole_depth_mm for v in self._shadow_xy)
        lit = radius - np.sqrt((x - hx - np.float32(lx)) ** 2 + (y - hy - np.float32(ly)) ** 2)
        shade = (0.62 + 0.38 * np.clip(0.5 + lit / 4, 0, 1)) * (1 - 0.25 * np.exp(-np.maximum(radius - deep, 0) / 2.5))
        floor = bgr(self._style.hole_bgr) * shade[..., None]
        return _over(picture, np.minimum(opening, ramp(radius - deep, px)), floor.astype(np.float32))


def lit_picture(colour: Field, varnish: Field, light: Field, glare: Field) -> Picture:
    """The board under its lamps."""
    return to_bytes(colour * light[..., None] + (varnish * glare)[..., None])
