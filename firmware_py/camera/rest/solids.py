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
from firmware_py.camera.rest.appearance import Look, Patch, patch_offsets

Xy = tuple[float, float]

#: What is left of a pixel, all channels together, counts up to so many grey levels.
_MOST_LEFT = 90.0
#: What a good drawing leaves of a pixel: noise, grain and resampling.
_NOISE = 4.0
#: Circles of a solid are so near one another in the picture that their union looks solid.
_SLICE_MM = 1.6
#: The shadow of a disc that lies higher reaches so much farther from the lamp.
_LONGER_MM = 9.0
_LEAST_LAMP = 0.05


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
        nothing = np.zeros_like(patch.seen)
        #: What is left when nothing but the bare board is drawn.
        self.left_bare = self._left(nothing, patch.bare, np.ones_like(patch.weight))
        self._left_at_best = _NOISE * float(patch.weight.sum())

    def explained(self, left: float) -> float:
        """The share of what changed that a drawing explains which leaves so much."""
        return (self.left_bare - left) / max(1.0, self.left_bare - self._left_at_best)

    def left(self, bodies: Sequence[Worn]) -> float:
        """How much of the patch is left undrawn by some discs, the lower ones first."""
        covers = [self._cover(body) for body in bodies]
        darkest = np.ones_like(self._patch.weight)
        for body in bodies:
            darkest *= self._darkest(body.solid)
        clear = np.ones_like(self._patch.weight)
        own, below = np.zeros_like(self._patch.seen), np.zeros_like(self._patch.seen)
        for body, (top, whole, rho) in zip(reversed(bodies), reversed(covers), strict=True):
            face, _ = body.look.colours(rho, np.zeros_like(rho))
            # A disc under another lies in its shadow as the wood does.
            layer = own if body is bodies[-1] else below
            layer += self._lit((clear * top)[..., None] * face)
            layer += self._lit((clear * (whole - top))[..., None] * body.look.wall_bgr)
            clear = clear * (1 - whole)
        return self._left(own, below + self._patch.bare * clear[..., None], darkest)

    def _lit(self, drawn: Floats) -> Floats:
        """What is drawn, as bright as it is seen."""
        weighed = drawn * self._patch.weight[..., None]
        power = float(np.vdot(weighed, drawn))
        gain = float(np.vdot(weighed, self._patch.seen)) / power if power > 1e-3 else 1.0
        return np.asarray(drawn * np.float32(min(1.25, max(0.8, gain))), dtype=np.float32)

    def _left(self, own: Floats, ground: Floats, darkest: Floats) -> float:
        """What is left with a disc drawn on a ground that may be as dark as told."""
        patch = self._patch
        rest = patch.seen - own
        factor = np.einsum("ijk,ijk->ij", rest, ground) / np.maximum(np.einsum("ijk,ijk->ij", ground, ground), 1.0)
        rest = rest - ground * np.clip(factor, darkest, 1.0)[..., None]
        return float((np.minimum(np.abs(rest).sum(axis=2), _MOST_LEFT) * patch.weight).sum())

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

    def _cover(self, body: Worn) -> tuple[Floats, Floats, Floats]:
        """Cover of the top face and of the whole solid, and the distance from its axis on the top face."""
        solid, board = body.solid, self._view.board
        foot_x, foot_y = self._view.calibration.foot_xy_mm
        wall_mm = self._view.wall_mm
        sight = (solid.x_mm - foot_x, solid.y_mm - foot_y, solid.z_mm - self._height)
        ux, uy, uz = solid.up
        along = abs(sight[0] * ux + sight[1] * uy + sight[2] * uz) / math.dist(sight, (0, 0, 0))
        slices = 1 + math.ceil(wall_mm * math.sqrt(max(0.0, 1 - along * along)) / _SLICE_MM)
        top = whole = rho = np.zeros_like(self._x)
        for k in range(slices + 1):
            rise = EDGE_MM + wall_mm * k / slices
            rho = self._from_axis(solid, rise)
            top = _cover(np.float32(board.disc_radius_mm) - rho, self._view.soft_mm)
            whole = np.maximum(whole, top)
        return top, whole, rho

    def _from_axis(self, solid: Solid, rise_mm: float) -> Floats:
        """Distance from the axis at which each line of sight meets the plane so far above the base."""
        ux, uy, uz = solid.up
        foot_x, foot_y = self._view.calibration.foot_xy_mm
        x_mm, y_mm, z_mm = solid.axis_xyz(rise_mm)
        cx, cy, cz = x_mm - foot_x, y_mm - foot_y, z_mm - self._height
        reach = ux * cx + uy * cy + uz * cz
        if solid.tilt:
            s = np.float32(reach) / (
                np.float32(ux) * self._ray_x + np.float32(uy) * self._ray_y + np.float32(uz * self._ray_z)
            )
            z = s * np.float32(self._ray_z) - np.float32(cz)
        else:
            s, z = np.full_like(self._ray_x, cz / self._ray_z), np.zeros_like(self._ray_x)
        x, y = s * self._ray_x - np.float32(cx), s * self._ray_y - np.float32(cy)
        return np.asarray(np.sqrt(x * x + y * y + z * z), dtype=np.float32)


def seen_at(view: BoardView, x_mm: float, y_mm: float, z_mm: float) -> Xy:
    """Where in the straight view a point at a height is seen."""
    foot_x, foot_y = view.calibration.foot_xy_mm
    height = view.calibration.camera_height_mm
    k = (height - view.rim_mm) / (height - z_mm)
    return (foot_x + (x_mm - foot_x) * k, foot_y + (y_mm - foot_y) * k)


def _cover(inside_mm: Floats, soft_mm: float) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(inside_mm * np.float32(1.702 / soft_mm), -30, 30))), dtype=np.float32)


def least(
    left: Callable[[Sequence[float]], float], start: Sequence[float], step: Sequence[float], *, halvings: int = 4
) -> tuple[tuple[float, ...], float]:
    """The place with the least left that is found from a start by steps along each axis, halved again and again."""
    at, size = np.array(start, dtype=np.float64), np.array(step, dtype=np.float64)
    best = left(at.tolist())
    for _ in range(halvings):
        moved = True
        while moved:
            moved = False
            for k in range(len(at)):
                for sign in (1.0, -1.0):
                    there = at.copy()
                    there[k] += sign * size[k]
                    value = left(there.tolist())
                    if value < best:
                        at, best, moved = there, value, True
                        break
        size /= 2
    return tuple(at.tolist()), best
