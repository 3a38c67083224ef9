"""Where discs may lie: every edge of a straight view votes for the centres of discs it may be the rim of.

Votes are kept apart by radius and by whether the disc is the lighter or the darker side of its rim, so a disc is one
sharp peak and grain, numbers and glare are not. What is found here is only a suspicion; the rim decides.
"""

from __future__ import annotations

import functools
import math

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Array, Floats, gradient

#: A slope, in Lab units per pixel of the straight view, that votes with full weight.
FULL_SLOPE = 5.0
#: Slopes below this do not vote.
LEAST_SLOPE = 1.0
#: Blur of the votes, in pixels of the straight view.
BLUR_PX = 1.3
#: Votes, as a share of a full rim, from which a place is looked at.
LEAST_SHARE = 0.17


def rim_votes(lab: Floats, radii_px: Array) -> Floats:
    """Shares of a full rim per radius and place, shape ``(radii, h, w)``, the better of lighter and darker discs.

    Args:
        lab: float Lab straight view.
        radii_px: radii to vote for, in its pixels.
    """
    gx, gy, size = gradient(lab, 0.8)
    height, width = size.shape
    # A margin collects the votes that fall outside, so that none needs to be looked at.
    pad = math.ceil(float(radii_px.max())) + 2
    wide, high = width + 2 * pad, height + 2 * pad
    voters = np.flatnonzero((size > LEAST_SLOPE) & _round(height, width))
    strength = size.ravel()[voters]
    nx, ny = gx.ravel()[voters] / strength, gy.ravel()[voters] / strength
    weight = np.minimum(strength / np.float32(FULL_SLOPE), np.float32(1.0)).astype(np.float64)
    row = voters // width
    home = (row + pad) * wide + (voters - row * width + pad)
    answer = np.empty((len(radii_px), height, width), dtype=np.float32)
    for k, radius in enumerate(radii_px):
        reach = np.rint(np.float32(radius) * ny) * np.float32(wide) + np.rint(np.float32(radius) * nx)
        away = reach.astype(np.intp)
        sides = []
        for cell in (home + away, home - away):
            cells = np.bincount(cell, weight, wide * high).reshape(high, wide)
            inner = cells[pad : pad + height, pad : pad + width].astype(np.float32)
            sides.append(cv2.GaussianBlur(inner, (0, 0), BLUR_PX))
        # An edge is about two pixels wide here, so a full rim gives twice its circumference, and the blur spreads a
        # perfect peak of one cell to 1 / (2 pi sigma^2) of it.
        np.maximum(sides[0], sides[1], out=answer[k])
        answer[k] *= np.float32(2 * np.pi * BLUR_PX**2 / (2 * 2 * np.pi * radius))
    return answer


@functools.lru_cache(maxsize=4)
def _round(height: int, width: int) -> Array:
    """The circle in a view beyond which no disc lies, ``(h, w)`` of bool."""
    row, column = np.ogrid[:height, :width]
    return np.asarray((2 * row - height + 1) ** 2 + (2 * column - width + 1) ** 2 < max(height, width) ** 2)


def suspects(
    votes: Floats, best: Floats, radii_px: Array, *, apart_px: float, most: int, least: float = LEAST_SHARE
) -> Array:
    """The peaks of the votes as rows ``(column, row, radius, share)``, best first.

    Args:
        votes: see :func:`rim_votes`.
        best: the largest of them over all radii, 0 where nothing is looked for, ``(h, w)``.
        radii_px: the radii voted for.
        apart_px: peaks are at least so far apart.
        most: at most so many peaks.
        least: least share of a full rim.
    """
    reach = max(1, round(apart_px))
    around = cv2.dilate(best, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    places = np.flatnonzero((best >= around) & (best > least))
    share = best.ravel()[places]
    order = np.argsort(-share)[:most]
    rows, columns = np.divmod(places[order], best.shape[1])
    which = votes[:, rows, columns].argmax(axis=0)
    return np.stack([columns, rows, radii_px[which], share[order]], axis=1).astype(np.float64)
