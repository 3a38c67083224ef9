"""The shadow that a disc casts on the wood around it, learned from the discs at rest."""

from __future__ import annotations

import cv2
import numpy as np

from firmware_py.camera.lab import Floats
from firmware_py.camera.view import MM_PER_PX

#: Half side of the patch that a disc and its shadow fill, pixels of the straight view.
REACH_PX = 19
#: Weight of the guess about shadows against one disc seen.
_PRIOR = 0.15
_USUAL_RADIUS_MM = 16.0
_SHADE_PX = 2 * REACH_PX + 9


class Shade:
    """The shadow that a disc casts around its base, as a factor on the wood; all sets share it."""

    def __init__(self) -> None:
        # Before anything was seen: the darkness that any disc makes where it touches the wood.
        row, column = np.mgrid[:_SHADE_PX, :_SHADE_PX].astype(np.float32) - np.float32((_SHADE_PX - 1) / 2)
        rim = np.hypot(row, column) * np.float32(MM_PER_PX) - np.float32(_USUAL_RADIUS_MM)
        self.count = np.full((_SHADE_PX, _SHADE_PX), _PRIOR, np.float32)
        self.sum = self.count * (1 - np.float32(0.3) * np.clip(1 - rim / np.float32(6), 0, 1) ** 2)
        self._map: Floats | None = None

    @property
    def map(self) -> Floats:
        """Factor by offset from the base's centre; 1 where nothing was learned."""
        if self._map is None:
            # What was hardly seen takes the value of what lies around it.
            far_sum, far_count = cv2.GaussianBlur(self.sum, (5, 5), 1.0), cv2.GaussianBlur(self.count, (5, 5), 1.0)
            self._map = np.asarray((self.sum + 0.02 * far_sum) / (self.count + 0.02 * far_count), dtype=np.float32)
        return self._map

    def at(self, dx: Floats, dy: Floats) -> Floats:
        """Factors at offsets in mm from the base's centre."""
        middle = np.float32((_SHADE_PX - 1) / 2)
        u = dx / np.float32(MM_PER_PX) + middle
        v = middle - dy / np.float32(MM_PER_PX)
        border = cv2.BORDER_CONSTANT
        return np.asarray(cv2.remap(self.map, u, v, cv2.INTER_LINEAR, borderMode=border, borderValue=(1.0,)))

    def learn(self, dx: Floats, dy: Floats, factor: Floats, weight: Floats) -> None:
        """Take in factors seen at offsets from a base's centre."""
        middle = (_SHADE_PX - 1) / 2
        u = np.rint(dx / MM_PER_PX + middle).astype(int)
        v = np.rint(middle - dy / MM_PER_PX).astype(int)
        good = (u >= 0) & (u < _SHADE_PX) & (v >= 0) & (v < _SHADE_PX) & (weight > 0)
        # A running mean: old light fades.
        self.count *= 0.95
        self.sum *= 0.95
        np.add.at(self.sum, (v[good], u[good]), weight[good] * np.clip(factor[good], 0.3, 1.02))
        np.add.at(self.count, (v[good], u[good]), weight[good])
        self._map = None
