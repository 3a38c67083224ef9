"""How soft a picture of a board is, measured on the printed lines: the lens, its focus and the resampling."""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np

from firmware_py.camera.board.calibration import SHARP_MM
from firmware_py.camera.picture.lab import Array, Floats, Image
from firmware_py.camera.picture.view import BoardView

#: Lines are looked at this far to either side, in such steps, averaged over so many stretches of each.
_REACH_MM, _STEP_MM = 9.0, 0.5
_STRETCHES, _ANGLES = 24, 360
#: A line is wide as it is printed and soft as it is seen; tried from sharp to hardly a line.
_WIDTHS_MM = np.arange(0.5, 4.01, 0.1)
#: A stretch tells when its line stands out by so many grey levels and leaves so little of itself unexplained.
_LEAST_DEPTH, _MOST_LEFT = 4.0, 0.5
_LEAST_STRETCHES = 6
#: A line that seems no softer than this is as sharp as any: print, wear and waves widen it as well.
_PLAIN_MM = 0.85
_MOST_MM = 3.5
#: By so much, squared, the two interpolations from frame to view to profile widen a line.
_INTERPOLATED_MM2 = 0.45


def softness_mm(view: BoardView, straight: Image | Floats) -> float:
    """Softness of an edge in the straight view, one sigma in mm; :data:`SHARP_MM` where nothing says otherwise.

    Args:
        view: the camera's view.
        straight: the empty board in it.
    """
    board = view.board
    seen = [
        width
        for radius in (board.line_15_mm, board.line_10_mm, board.outer_line_mm)
        for width in _widths(profiles(view, straight, radius))
    ]
    if len(seen) < _LEAST_STRETCHES:
        return SHARP_MM
    square = float(np.median(seen)) ** 2 - board.line_width_mm**2 / 12 - _INTERPOLATED_MM2
    soft = math.sqrt(max(0.0, square))
    return SHARP_MM if soft < _PLAIN_MM else min(soft, _MOST_MM)


def profiles(view: BoardView, straight: Image | Floats, radius_mm: float) -> Floats:
    """Mean colours ``(stretches, steps, 3)`` across a printed line, from inside to outside, along stretches of it."""
    u, v = _places(view, radius_mm)
    seen = cv2.remap(straight, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    stretches = seen.reshape(_STRETCHES, _ANGLES // _STRETCHES, u.shape[1], 3)
    return np.asarray(stretches.mean(axis=1, dtype=np.float32))


# The three lines of the view that is looked at; every read looks at them again.
@lru_cache(maxsize=3)
def _places(view: BoardView, radius_mm: float) -> tuple[Floats, Floats]:
    """Pixels of the straight view across a printed line."""
    turn = np.arange(_ANGLES) * (2 * math.pi / _ANGLES)
    r = radius_mm + np.arange(-_REACH_MM, _REACH_MM + _STEP_MM / 2, _STEP_MM)
    return view.straight_px(np.outer(np.cos(turn), r), np.outer(np.sin(turn), r), 0.0)


def _widths(stretches: Floats) -> list[float]:
    """Widths, one sigma in mm, of the line in those stretches that show it plainly."""
    across = np.arange(-_REACH_MM, _REACH_MM + _STEP_MM / 2, _STEP_MM)
    middle, aside = np.abs(across) <= 1.0, np.abs(across) > 0.7 * _REACH_MM
    colour = stretches[:, middle].mean(axis=1) - stretches[:, aside].mean(axis=1)
    size = np.linalg.norm(colour, axis=1)
    along: Array = np.einsum("snc,sc->sn", stretches, colour / np.maximum(size, 1e-3)[:, None])
    plain = np.stack([np.ones_like(across), across], axis=1)
    flat = along - along @ (plain @ np.linalg.pinv(plain)).T
    total = np.sum(flat * flat, axis=1)
    left = []
    for width in _WIDTHS_MM:
        shape = np.column_stack([plain, np.exp(-0.5 * (across / width) ** 2)])
        off = along - along @ (shape @ np.linalg.pinv(shape)).T
        left.append(np.sum(off * off, axis=1))
    best = np.argmin(left, axis=0)
    least = np.min(left, axis=0)
    good = (size > _LEAST_DEPTH) & (least < _MOST_LEFT * np.maximum(total, 1e-6)) & (best < len(_WIDTHS_MM) - 1)
    return [float(w) for w in _WIDTHS_MM[best[good]]]
