"""The shadow that a disc casts on the wood around it, learned from discs at rest; it also tells where the lamp is."""

from __future__ import annotations

import math

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats
from firmware_py.camera.picture.view import MM_PER_PX

#: Half side of the patch that a disc and its shadow fill, pixels of the straight view.
REACH_PX = 19
#: Weight of the guess about shadows against one disc seen.
_PRIOR = 0.15
_USUAL_RADIUS_MM = 16.0
#: The map of the shadow is finer than the view, for it is steep at the rim: discs lie at all fractions of a pixel.
_CELL_MM = 0.75
_CELLS = 2 * math.ceil((REACH_PX + 4) * MM_PER_PX / _CELL_MM) + 1
#: Columns and rows of the map at which the pixels of a patch lie that is right over it.
_ACROSS, _DOWN = (
    np.ascontiguousarray(grid, dtype=np.float32)
    for grid in np.meshgrid(*(2 * [np.arange(-REACH_PX, REACH_PX + 1) * MM_PER_PX / _CELL_MM + (_CELLS - 1) / 2]))
)
#: Where the shadow tells the side of the lamp: beyond the darkness that any disc has right at its edge.
_FROM_MM, _TO_MM = 19.5, 24.0
#: Bevel and wall are so much brighter on the lamp's side than on the mean where the shadow is deep.
_MOST_LIT = 0.29
#: How uneven a shadow must be for half of that.
_HALF_LIT = 0.02


class Shade:
    """The shadow that a disc casts around its base, as a factor on the wood; all sets share it."""

    def __init__(self) -> None:
        # Before anything was seen: the darkness that any disc makes where it touches the wood.
        row, column = np.mgrid[:_CELLS, :_CELLS].astype(np.float32) - np.float32((_CELLS - 1) / 2)
        rim = np.hypot(row, column) * np.float32(_CELL_MM) - np.float32(_USUAL_RADIUS_MM)
        self.count = np.full((_CELLS, _CELLS), _PRIOR, np.float32)
        self.sum = self.count * (1 - np.float32(0.3) * np.clip(1 - rim / np.float32(6), 0, 1) ** 2)
        self._map: Floats | None = None
        self._lamp: tuple[float, float] | None = None

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
        middle = np.float32((_CELLS - 1) / 2)
        u = dx / np.float32(_CELL_MM) + middle
        v = middle - dy / np.float32(_CELL_MM)
        border = cv2.BORDER_CONSTANT
        return np.asarray(cv2.remap(self.map, u, v, cv2.INTER_LINEAR, borderMode=border, borderValue=(1.0,)))

    def around(self, x_mm: float, y_mm: float) -> Floats:
        """Factors over a patch whose middle is so far to the right of a base's centre, and so far above it."""
        u, v = _ACROSS + np.float32(x_mm / _CELL_MM), _DOWN - np.float32(y_mm / _CELL_MM)
        border = cv2.BORDER_CONSTANT
        return np.asarray(cv2.remap(self.map, u, v, cv2.INTER_LINEAR, borderMode=border, borderValue=(1.0,)))

    @property
    def lamp(self) -> tuple[float, float]:
        """How much brighter than on the mean is what faces +x and what faces +y: bevels and walls of discs.

        Light from one side brightens what faces it and throws the shadow to the other; so the shadow tells the
        side, and how much of the light comes from there. Without this a bright bevel would pass for a shifted disc.
        """
        if self._lamp is None:
            turn = np.arange(0, 2 * math.pi, math.pi / 18)
            out = np.arange(_FROM_MM, _TO_MM + 0.1, 0.75)[:, None]
            c, s = np.cos(turn), np.sin(turn)
            light = self.at((out * c).astype(np.float32), (out * s).astype(np.float32)).mean(axis=0)
            x, y = 2 * float((light * c).mean()), 2 * float((light * s).mean())
            uneven = math.hypot(x, y)
            share = _MOST_LIT / (uneven + _HALF_LIT)
            self._lamp = (x * share, y * share)
        return self._lamp

    def become(self, other: Shade) -> None:
        """Take over what another has learned."""
        self.count, self.sum = other.count.copy(), other.sum.copy()
        self._map = self._lamp = None

    def learn(self, dx: Floats, dy: Floats, factor: Floats, weight: Floats) -> None:
        """Take in factors seen at offsets from a base's centre."""
        middle = (_CELLS - 1) / 2
        some = weight > 0
        weight = weight[some]
        u = np.rint(dx[some] / _CELL_MM + middle).astype(int)
        v = np.rint(middle - dy[some] / _CELL_MM).astype(int)
        weight *= (u >= 0) & (u < _CELLS) & (v >= 0) & (v < _CELLS)
        cell = np.clip(v, 0, _CELLS - 1) * _CELLS + np.clip(u, 0, _CELLS - 1)
        # A running mean: old light fades.
        self.count *= 0.95
        self.sum *= 0.95
        self.count += np.bincount(cell, weight, _CELLS * _CELLS).reshape(_CELLS, _CELLS)
        seen = weight * np.clip(factor[some], 0.3, 1.02)
        self.sum += np.bincount(cell, seen, _CELLS * _CELLS).reshape(_CELLS, _CELLS)
        self._map = self._lamp = None
