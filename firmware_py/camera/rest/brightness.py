"""How light falls on a board: a lamp at one side, the shadow of somebody who bends over it, a lens dark in its corners.

A board is of one colour along a circle around its middle, whatever is painted on it, so what is brighter or darker
there than the circle's median has more or less light. A disc looks as its set does, times that.
"""

from __future__ import annotations

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats
from firmware_py.camera.picture.view import BoardView

#: Light is told on a smaller picture, without what is narrower than a disc.
_COARSE, _MEDIAN, _SMOOTH = 4, 5, 2.0
_CIRCLE_MM = 4.0
#: Planks and grain differ by so much too (as a logarithm): what is within it is no light.
UNKNOWN_LIGHT = 0.2
#: Shadows go down to a quarter of the light; what is much brighter is glare, which discs do not have.
_DARKEST, _BRIGHTEST = -1.3, 0.35
_PER_UNIT = 80.0


class Brightness:
    """The light on one empty board.

    Args:
        view: the camera's view.
        bare: the empty board in it, float32.
    """

    def __init__(self, view: BoardView, bare: Floats) -> None:
        self._view = view
        side = -(-view.side_px // _COARSE)
        small = cv2.resize(bare, (side, side), interpolation=cv2.INTER_AREA).sum(axis=2)
        radius = cv2.resize(view.radius_mm, (side, side), interpolation=cv2.INTER_AREA)
        seen = cv2.resize(view.visible.astype(np.uint8), (side, side), interpolation=cv2.INTER_NEAREST) > 0
        use = seen & (radius < view.board.rail_radius_mm)
        circle = (radius / _CIRCLE_MM).astype(int)
        usual = np.ones_like(small)
        for k in range(int(circle[use].max()) + 1 if use.any() else 0):
            own = use & (circle == k)
            if own.any():
                usual[circle == k] = max(6.0, float(np.median(small[own])))
        share = np.where(use, small / usual, 1.0)
        packed = np.clip(np.rint(share * _PER_UNIT), 0, 255).astype(np.uint8)
        even = cv2.GaussianBlur(cv2.medianBlur(packed, _MEDIAN).astype(np.float32) / _PER_UNIT, (0, 0), _SMOOTH)
        light = np.log(np.maximum(even, 0.05))
        beyond = np.sign(light) * np.maximum(np.abs(light) - UNKNOWN_LIGHT, 0.0)
        self._light = np.exp(np.clip(beyond, _DARKEST, _BRIGHTEST))

    def at(self, x_mm: float, y_mm: float) -> float:
        """The light at a place against the usual light there: 1 where it is as usual."""
        u, v = self._view.to_px(x_mm, y_mm)
        column, row = int(u) // _COARSE, int(v) // _COARSE
        height, width = self._light.shape
        return float(self._light[min(max(row, 0), height - 1), min(max(column, 0), width - 1)])
