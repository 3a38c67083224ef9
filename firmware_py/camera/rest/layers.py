"""The straight view in layers: the bare board, the shadows of discs on it, and the discs as the view shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.shade import REACH_PX, Shade
from firmware_py.camera.picture.view import MM_PER_PX, BoardView
from firmware_py.camera.rest.appearance import Patch, cut_patch, length_of, patch_offsets
from firmware_py.camera.rest.brightness import Brightness

Xy = tuple[float, float]

#: A disc farther off than this casts no shadow here, and one farther off than the next is not in the patch.
_SHADOW_MM, _PATCH_MM = 70.0, 60.0
#: Rim around a disc that its edge still colours, beside its softness.
_RIM_MM = 1.0


class Painter:
    """Puts layers together for one view.

    Args:
        view: the camera's view.
        shade: the shadow that every disc casts; learned on by others.
        brightness: the light on the board.
    """

    def __init__(self, view: BoardView, shade: Shade, brightness: Brightness) -> None:
        self._view, self._shade, self._brightness = view, shade, brightness
        self._radius = view.board.disc_radius_mm

    def compose(self, straight: Image, bare: Floats, tops: Sequence[Xy]) -> Image:
        """The view with nothing but the bare board and discs whose top faces are at these places.

        Args:
            straight: the view, from which the discs are taken.
            bare: the empty board in its light.
            tops: centres of the top faces.
        """
        # Rounded and cut to eight bits; light is never below nought.
        out = np.asarray(cv2.convertScaleAbs(bare), dtype=np.uint8)
        shadow: Floats = np.ones(out.shape[:2], np.float32)
        shadows = [self._shadow(top) for top in tops]
        for part, factor in shadows:
            shadow[part] *= factor
        for part, _ in shadows:
            darkened = bare[part] * np.repeat(shadow[part], 3, axis=1).reshape(bare[part].shape)
            out[part] = cv2.convertScaleAbs(darkened)
        for top in tops:
            self._paste(out, straight, top)
        return out

    def patch(self, straight: Image, bare: Floats, place: Xy, others: Sequence[Xy]) -> Patch | None:
        """The pixels around a place, other discs masked and their shadows on the ground; None at the view's end."""
        patch = self.cut(straight, bare, place)
        if patch is not None:
            self._darken(patch, [o for o in others if math.dist(o, place) < _SHADOW_MM])
            self.mask(patch, others)
        return patch

    def cut(self, straight: Image, bare: Floats, place: Xy) -> Patch | None:
        """The pixels around a place and the light on them; None at the view's end."""
        return cut_patch(self._view, straight, bare, place, light=self._brightness.at(*place))

    def mask(self, patch: Patch, others: Sequence[Xy]) -> None:
        """Give no weight to what of a patch shows other discs."""
        dx, dy = patch_offsets()
        cx, cy = self._view.to_mm(patch.column, patch.row)
        for x, y in others:
            if math.dist((x, y), (cx, cy)) < _PATCH_MM:
                patch.weight[length_of(dx + np.float32(cx - x), dy + np.float32(cy - y)) < self._radius + 2.5] = 0

    def _darken(self, patch: Patch, tops: Sequence[Xy]) -> None:
        """Let the shadows of discs fall on the ground of a patch."""
        first_row, first_column = patch.row - REACH_PX, patch.column - REACH_PX
        for top in tops:
            (rows, columns), factor = self._shadow(top)
            r0, r1 = max(rows.start - first_row, 0), min(rows.stop - first_row, 2 * REACH_PX + 1)
            c0, c1 = max(columns.start - first_column, 0), min(columns.stop - first_column, 2 * REACH_PX + 1)
            if r0 < r1 and c0 < c1:
                r, c = rows.start - first_row, columns.start - first_column
                patch.bare[:, r0:r1, c0:c1] *= factor[r0 - r : r1 - r, c0 - c : c1 - c]

    def _shadow(self, top_xy_mm: Xy) -> tuple[tuple[slice, slice], Floats]:
        """Where in the straight view a disc's shadow falls, and the factor by which it darkens the ground there."""
        view, (x, y) = self._view, top_xy_mm
        u, v = view.to_px(x, y)
        column, row = round(u), round(v)
        r0, r1 = max(0, row - REACH_PX), min(view.side_px, row + REACH_PX + 1)
        c0, c1 = max(0, column - REACH_PX), min(view.side_px, column + REACH_PX + 1)
        cx, cy = view.to_mm(column, row)
        sx, sy = view.base_shift(x, y, view.rim_mm)
        factor = self._shade.around(cx - x - sx, cy - y - sy)
        inner = (slice(r0 - row + REACH_PX, r1 - row + REACH_PX), slice(c0 - column + REACH_PX, c1 - column + REACH_PX))
        part = (slice(r0, r1), slice(c0, c1))
        if math.hypot(x, y) > view.board.surface_radius_mm:
            # From the ditch no shadow falls up on the surface.
            factor[inner][view.surface[part]] = 1
        return part, factor[inner]

    def _paste(self, layer: Image, straight: Image, top_xy_mm: Xy) -> None:
        """Show a disc and its visible wall as the view itself shows them."""
        view, reach_mm = self._view, self._radius + _RIM_MM + self._view.soft_mm
        sx, sy = view.base_shift(*top_xy_mm, view.rim_mm)
        u, v = view.to_px(top_xy_mm[0] + sx / 2, top_xy_mm[1] + sy / 2)
        along_u, along_v, reach = sx / 2 / MM_PER_PX, -sy / 2 / MM_PER_PX, reach_mm / MM_PER_PX
        far_u, far_v = reach + abs(along_u), reach + abs(along_v)
        r0, r1 = max(0, math.floor(v - far_v)), min(view.side_px, math.ceil(v + far_v) + 1)
        c0, c1 = max(0, math.floor(u - far_u)), min(view.side_px, math.ceil(u + far_u) + 1)
        down, across = np.arange(r0, r1)[:, None] - v, np.arange(c0, c1) - u
        near = np.zeros((r1 - r0, c1 - c0), np.bool_)
        for step in (-1, 0, 1):
            near |= (down - step * along_v) ** 2 + (across - step * along_u) ** 2 <= reach * reach
        part = (slice(r0, r1), slice(c0, c1))
        cv2.copyTo(straight[part], near.view(np.uint8), layer[part])
