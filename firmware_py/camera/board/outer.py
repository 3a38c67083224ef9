"""The outer line where another ring passed for it, told by the board that is known to lie there.

A rail, the edge of the surface or the foot of a wall runs around a board as its lines do, and in soft or dim pictures
it is seen better than the outer line. Then both inner lines seem too near the centre, by one factor. Boards differ in
their lines by some per cent, so the factor alone proves nothing: it says where to look for the line again. It is never
looked for farther out, where there are such rings without number.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from firmware_py.camera.board.ringfit import fit_rings
from firmware_py.camera.board.rings import LEAST_COVERAGE, MEAN_COVERAGE, WORK_PX, Rings, rings_of, scaling, shrink
from firmware_py.camera.picture.lab import LIMITS, LINES, Image, exposure_gain, to_lab
from hardware.board import Board

#: Both inner lines are too near by more than this, as boards seldom have them, and alike to this: a lens bends them by
#: less.
_OFF, _ALIKE = 0.05, 0.04
#: Found again, they are off by no more than so much of what they were.
_LEFT = 0.5


def with_outer_line(rings: Rings, frame: Image, board: Board) -> Rings:
    """The same rings, or those of the true outer line if another passed for it and it is seen as well.

    Args:
        rings: as found without knowing the board.
        frame: the picture they were found in.
        board: the board that lies there, its lines as they should be.
    """
    off = _off(rings, board)
    if max(off) > -_OFF or abs(off[0] - off[1]) > _ALIKE:
        return rings
    factor = math.exp(sum(off) / 2)
    work, _ = shrink(frame, WORK_PX)
    lab = to_lab(work, exposure_gain(work))
    to_work = scaling(work.shape[1] / frame.shape[1], work.shape[0] / frame.shape[0])
    scaled = to_work @ rings.image_from_board @ np.diag([factor, factor, 1.0])
    for look in (LINES, LIMITS):
        fit = fit_rings(lab, scaled, (rings.ratios[0] / factor, rings.ratios[1] / factor), look)
        if fit is None or min(fit.coverage) < LEAST_COVERAGE or sum(fit.coverage) < 3 * MEAN_COVERAGE:
            continue
        found = rings_of(fit, np.linalg.inv(to_work), rings.size_wh)
        if max(abs(o) for o in _off(found, board)) < _LEFT * -max(off):
            return replace(found, alone=rings.alone)
    return rings


def _off(rings: Rings, board: Board) -> tuple[float, float]:
    """By how much, as logarithms, the inner lines are farther out than they should be, against the outer one."""
    lines = (board.line_15_mm, board.line_10_mm)
    first, second = (
        math.log(ratio * board.outer_line_mm / line) for ratio, line in zip(rings.ratios[:2], lines, strict=True)
    )
    return first, second
