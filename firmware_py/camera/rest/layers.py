"""The straight view in layers: the bare board, the shadows of discs on it, and the discs as the view shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import disc_pixels
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Patch, cut_patch, draw_disc, patch_offsets
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
        layer = bare.copy()
        for top in tops:
            self._darken(layer, top)
        # Rounded and cut to eight bits in one pass; light is never below nought.
        out = np.asarray(cv2.convertScaleAbs(layer), dtype=np.uint8)
        for top in tops:
            self._paste(out, straight, top)
        return out

    def ground(self, bare: Floats, place: Xy, others: Sequence[Xy]) -> Floats:
        """The bare board around a place, darkened by the discs near it."""
        near = [o for o in others if math.dist(o, place) < _SHADOW_MM]
        if not near:
            return bare
        layer = bare.copy()
        for o in near:
            self._darken(layer, o)
        return layer

    def patch(self, straight: Image, bare: Floats, place: Xy, others: Sequence[Xy]) -> Patch | None:
        """The pixels around a place, other discs masked and their shadows on the ground; None at the view's end."""
        patch = self.cut(straight, self.ground(bare, place, others), place)
        if patch is not None:
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
                patch.weight[np.hypot(dx + np.float32(cx - x), dy + np.float32(cy - y)) < self._radius + 2.5] = 0

    def _darken(self, layer: Floats, top_xy_mm: Xy) -> None:
        part, factor = draw_disc(self._view, self._shade, top_xy_mm)
        layer[part] *= factor[..., None]

    def _paste(self, layer: Image, straight: Image, top_xy_mm: Xy) -> None:
        """Show a disc and its visible wall as the view itself shows them."""
        view = self._view
        sx, sy = view.base_shift(*top_xy_mm, view.rim_mm)
        for step in (0.0, 0.5, 1.0):
            x, y = top_xy_mm[0] + step * sx, top_xy_mm[1] + step * sy
            part, near = disc_pixels(view, x, y, self._radius + _RIM_MM + view.soft_mm)
            layer[part][near] = straight[part][near]
