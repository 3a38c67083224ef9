"""Discs that do not lie flat on the wood, drawn as the solids that they are, and how badly a drawing fits a view.

The fit by looks knows one attitude: flat, the base on the wood. A disc that leans over the edge of the surface shows an
oval and a broad side wall, and one on top of another hides it in part. For these every line of sight is cut with the
circles of the solid between base and top. Their shadows fall on ground of several heights: of the ground no more is
asked than that it is the bare board, darkened at most where a disc may darken it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.picture.view import EDGE_MM, BoardView
from firmware_py.camera.rest.appearance import Look, Patch, at_distance, cover, patch_offsets

Xy = tuple[float, float]

#: What is left of a pixel, all channels together, counts up to so many grey levels.
_MOST_LEFT = 90.0
#: What a good drawing leaves of a pixel: noise, grain and resampling.
_NOISE = 4.0
#: The shadow of a disc that lies higher reaches so much farther from the lamp.
_LONGER_MM = 9.0
_LEAST_LAMP = 0.05
#: What meets the plane of a base at a smaller angle than this (mm in about a metre) looks along it and sees its edge.
_ALONG = np.float32(1e-2)
#: So many solids are kept as they were drawn last: whoever moves one of two draws the other one again and again.
_KEPT = 24


@dataclass(frozen=True, slots=True)
class Solid:
    """A disc anywhere.

    Attributes:
        x_mm: centre of its base.
        y_mm: centre of its base.
        z_mm: height of that centre above the surface.
        tilt: how far it leans, radians.
        down: unit vector in the board's plane to where its lowest point is.
    """

    x_mm: float
    y_mm: float
    z_mm: float = 0.0
    tilt: float = 0.0
    down: Xy = (0.0, 0.0)

    @property
    def up(self) -> tuple[float, float, float]:
        """Unit vector of its axis: the top leans to the side of the lowest point."""
        lean = math.sin(self.tilt)
        return (self.down[0] * lean, self.down[1] * lean, math.cos(self.tilt))

    def axis_xyz(self, rise_mm: float) -> tuple[float, float, float]:
        """The point of its axis so far above its base."""
        ux, uy, uz = self.up
        return (self.x_mm + ux * rise_mm, self.y_mm + uy * rise_mm, self.z_mm + uz * rise_mm)


@dataclass(frozen=True, slots=True)
class Worn:
    """A solid of a set."""

    look: Look
    solid: Solid


@dataclass(frozen=True, slots=True)
class _Painted:
    """A solid as drawn on a patch, nothing on top of it.

    Attributes:
        face: its top face, ``(3, side, side)``.
        wall: its side wall.
        clear: what it leaves of what is below, ``(side, side)``.
        darkest: the least factor on the ground that its shadow may leave.
    """

    face: Floats
    wall: Floats
    clear: Floats
    darkest: Floats


class Easel:
    """Draws solids over one patch of a view and tells how far the drawing is from what is seen.

    Args:
        view: the camera's view.
        shade: the shadow that a disc casts.
        patch: the pixels.
    """

    def __init__(self, view: BoardView, shade: Shade, patch: Patch) -> None:
        self._view, self._shade, self._patch = view, shade, patch
        cx, cy = view.to_mm(patch.column, patch.row)
        dx, dy = patch_offsets()
        self._x, self._y = dx + np.float32(cx), dy + np.float32(cy)
        foot_x, foot_y = view.calibration.foot_xy_mm
        self._height = view.calibration.camera_height_mm
        self._ray_x, self._ray_y = self._x - np.float32(foot_x), self._y - np.float32(foot_y)
        self._ray_z = view.rim_mm - self._height
        self._fine: dict[int, Floats] = {}
        self._kept: dict[tuple[int, Solid], _Painted] = {}
        nothing = np.zeros_like(patch.seen)
        #: What is left when nothing but the bare board is drawn.
        self.left_bare = self._left(nothing, patch.bare, np.ones_like(patch.weight))
        self._left_at_best = _NOISE * float(patch.weight.sum())

    def explained(self, left: float) -> float:
        """The share of what changed that a drawing explains which leaves so much."""
        return (self.left_bare - left) / max(1.0, self.left_bare - self._left_at_best)

    def left(self, bodies: Sequence[Worn]) -> float:
        """How much of the patch is left undrawn by some discs, the lower ones first."""
        if not bodies:
            return self.left_bare
        first = self._painted(bodies[-1])
        own, below = self._lit(first.face) + self._lit(first.wall), None
        clear, darkest = first.clear, first.darkest
        for body in reversed(bodies[:-1]):
            painted = self._painted(body)
            # A disc under another lies in its shadow as the wood does.
            layer = self._lit(clear * painted.face) + self._lit(clear * painted.wall)
            below = layer if below is None else below + layer
            clear, darkest = clear * painted.clear, darkest * painted.darkest
        ground = self._patch.bare * clear
        return self._left(own, ground if below is None else ground + below, darkest)

    def _painted(self, body: Worn) -> _Painted:
        key = (id(body.look), body.solid)
        painted = self._kept.pop(key, None)
        if painted is None:
            if key[0] not in self._fine:
                self._fine[key[0]] = body.look.fine()
            top, whole, rho = self._cover(body.solid)
            face = at_distance(self._fine[key[0]], rho)[:3]
            face *= top
            wall = (whole - top) * body.look.wall_bgr[:, None, None]
            painted = _Painted(face, wall, 1 - whole, self._darkest(body.solid))
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[key] = painted
        return painted

    def _lit(self, drawn: Floats) -> Floats:
        """What is drawn, as bright as it is seen."""
        weighed = drawn * self._patch.weight
        power = float(np.vdot(weighed, drawn))
        gain = float(np.vdot(weighed, self._patch.seen)) / power if power > 1e-3 else 1.0
        return np.asarray(np.multiply(drawn, np.float32(min(1.25, max(0.8, gain))), out=weighed))

    def _left(self, own: Floats, ground: Floats, darkest: Floats) -> float:
        """What is left with a disc drawn on a ground that may be as dark as told."""
        patch = self._patch
        rest = patch.seen - own
        factor = np.einsum("kij,kij->ij", rest, ground) / np.maximum(
            np.einsum("kij,kij->ij", ground, ground), np.float32(1)
        )
        np.minimum(np.maximum(factor, darkest, out=factor), np.float32(1), out=factor)
        rest -= ground * factor
        size = np.abs(rest, out=rest).sum(axis=0)
        return float(np.vdot(np.minimum(size, np.float32(_MOST_LEFT), out=size), patch.weight))

    def _darkest(self, solid: Solid) -> Floats:
        """The least factor on the ground that the shadow of a solid may leave."""
        x_mm, y_mm = seen_at(self._view, solid.x_mm, solid.y_mm, 0.0 if solid.tilt else min(solid.z_mm, 0.0))
        dx, dy = self._x - np.float32(x_mm), self._y - np.float32(y_mm)
        factor = self._shade.at(dx, dy)
        lamp_x, lamp_y = self._shade.lamp
        length = math.hypot(lamp_x, lamp_y)
        if solid.z_mm > 0 and length > _LEAST_LAMP:
            far_x, far_y = np.float32(lamp_x * _LONGER_MM / length), np.float32(lamp_y * _LONGER_MM / length)
            factor = np.minimum(factor, self._shade.at(dx + far_x, dy + far_y))
        if solid.tilt:
            # Under the side that is raised the ground is seen, and as dark as it gets beside a disc.
            under = np.hypot(dx, dy) < self._view.board.disc_radius_mm + self._view.soft_mm
            factor = np.where(under, np.float32(self._shade.map.min()), factor)
        return np.asarray(cv2.erode(factor, np.ones((3, 3), np.uint8)), dtype=np.float32)

    def _cover(self, solid: Solid) -> tuple[Floats, Floats, Floats]:
        """Cover of the top face and of the whole solid, and the distance from its axis on the top face."""
        radius_mm, soft_mm = np.float32(self._view.board.disc_radius_mm), self._view.soft_mm
        foot_x, foot_y = self._view.calibration.foot_xy_mm
        eye = (solid.x_mm - foot_x, solid.y_mm - foot_y, solid.z_mm - self._height)
        up = solid.up
        reach = sum(a * b for a, b in zip(up, eye, strict=True))
        ray = (self._ray_x, self._ray_y, np.float32(self._ray_z))
        steep: Floats | np.float32 = np.float32(self._ray_z)
        if solid.tilt:
            steep = ray[0] * np.float32(up[0]) + ray[1] * np.float32(up[1]) + ray[2] * np.float32(up[2])
            # A disc that leans far is seen edge-on somewhere: there its planes are met far away, if at all.
            steep = np.where(np.abs(steep) < _ALONG, -_ALONG, steep)
        # Where a line of sight meets the base's plane, from the axis, and how that moves with the height of the plane:
        # the square of its length is near + 2 rise along + rise^2 away.
        starts, moves = [], []
        for k in range(3 if solid.tilt else 2):
            place: Floats = np.asarray(ray[k] / steep)
            moves.append(place - np.float32(up[k]))
            starts.append(place * np.float32(reach) - np.float32(eye[k]))
        near, along, away = _dot(starts, starts), _dot(starts, moves), _dot(moves, moves)
        high = np.float32(EDGE_MM + self._view.wall_mm)
        lowest = np.maximum(along / np.maximum(away, np.float32(1e-9)), -high)
        rise = -np.minimum(lowest, np.float32(-EDGE_MM), out=lowest)
        along += along
        rho = np.sqrt(np.maximum(near + high * (along + high * away), np.float32(0)))
        # What is nearest to the axis is covered most.
        nearest = np.sqrt(np.maximum(near + rise * (along + rise * away), np.float32(0)))
        return cover(radius_mm - rho, soft_mm), cover(radius_mm - nearest, soft_mm), rho


def _dot(one: Sequence[Floats], other: Sequence[Floats]) -> Floats:
    total = one[0] * other[0]
    for a, b in zip(one[1:], other[1:], strict=True):
        total += a * b
    return np.asarray(total)


def seen_at(view: BoardView, x_mm: float, y_mm: float, z_mm: float) -> Xy:
    """Where in the straight view a point at a height is seen."""
    foot_x, foot_y = view.calibration.foot_xy_mm
    height = view.calibration.camera_height_mm
    k = (height - view.rim_mm) / (height - z_mm)
    return (foot_x + (x_mm - foot_x) * k, foot_y + (y_mm - foot_y) * k)


def least(
    left: Callable[[Sequence[float]], float], start: Sequence[float], step: Sequence[float], *, halvings: int = 4
) -> tuple[tuple[float, ...], float]:
    """The place with the least left that is found from a start by steps along each axis, halved again and again."""
    at, size = tuple(map(float, start)), tuple(map(float, step))
    best = left(at)
    # What was no better before is none now.
    tried = {at}
    for _ in range(halvings):
        moved = True
        while moved:
            moved = False
            for k in range(len(at)):
                for sign in (1.0, -1.0):
                    there = (*at[:k], at[k] + sign * size[k], *at[k + 1 :])
                    if there in tried:
                        continue
                    tried.add(there)
                    value = left(there)
                    if value < best:
                        at, best, moved = there, value, True
                        break
        size = tuple(v / 2 for v in size)
    return at, best
