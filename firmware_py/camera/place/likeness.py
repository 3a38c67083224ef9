"""What one board looks like and no other does: its grain, prints and scars, which its rings and pegs do not show."""

from __future__ import annotations

import math

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Array, Floats, Image
from firmware_py.camera.picture.view import MM_PER_PX, BoardView

#: Contrast is told against the mean over so many pixels around, so that light and its shadows hardly count.
_AROUND_PX = 5.0
_LEAST_LEVEL = 18.0
#: Stronger marks than this count no more: a peg seen from the other side must not outweigh all grain.
_MOST_MARK = 0.06
_PATCH_MM = 60.0
_CLEAR_OF_EDGE_MM = 6.0
_BESIDE_LINE_MM = 5.0


def contrast(picture: Floats) -> Floats:
    """A picture's contrast: the part by which it differs from what is around."""
    around = cv2.GaussianBlur(picture, (0, 0), _AROUND_PX)
    soft = cv2.GaussianBlur(picture, (0, 0), 0.7)
    return np.asarray((soft - around) / (around + np.float32(_LEAST_LEVEL)), dtype=np.float32)


class Likeness:
    """Compares straight views of surfaces.

    Args:
        view: any view of the kind of board: all have the same grid.
    """

    def __init__(self, view: BoardView) -> None:
        size = round(_PATCH_MM / MM_PER_PX)
        board, r = view.board, view.radius_mm
        row, column = np.mgrid[: view.side_px, : view.side_px].astype(np.float32) - np.float32(view.middle_px)
        # Lines are where every board has them, a hair aside on each: they say nothing of which one it is.
        aside = np.abs(np.abs(row) - np.abs(column)) * (MM_PER_PX / math.sqrt(2))
        use = (r < board.surface_radius_mm - _CLEAR_OF_EDGE_MM) & (r > board.hole_radius_mm + _CLEAR_OF_EDGE_MM)
        use &= (aside > _BESIDE_LINE_MM) | (r < board.line_15_mm)
        for line in (board.line_15_mm, board.line_10_mm, board.outer_line_mm):
            use &= np.abs(r - line) > _BESIDE_LINE_MM
        rows, columns = np.nonzero(use)
        which = (rows // size) * (view.side_px // size + 1) + columns // size
        _, patch, counts = np.unique(which, return_inverse=True, return_counts=True)
        good = counts[patch] > size * size / 3
        self._rows, self._columns = rows[good], columns[good]
        self._patch = np.unique(patch[good], return_inverse=True)[1]
        self._count = int(self._patch.max()) + 1

    def marks(self, straight: Floats | Image) -> Array:
        """The marks of a straight view: what its other quarters do not show likewise."""
        whole = contrast(straight.astype(np.float32)).mean(axis=2)
        plain = np.median([np.rot90(whole, k) for k in range(4)], axis=0)
        own = np.clip(whole - plain, -_MOST_MARK, _MOST_MARK)
        return np.asarray(own[self._rows, self._columns], dtype=np.float64)

    def between(self, marks: Array, others: Array) -> float:
        """How much two sets of marks are alike, to 1; near 0 for different boards. What lies on them hardly counts."""

        def total(values: Array) -> Array:
            return np.bincount(self._patch, weights=values, minlength=self._count)

        n = np.maximum(total(np.ones(len(marks))), 1)
        a = marks - (total(marks) / n)[self._patch]
        b = others - (total(others) / n)[self._patch]
        like = total(a * b) / np.sqrt(np.maximum(total(a * a) * total(b * b), 1e-12))
        return float(np.median(like))
