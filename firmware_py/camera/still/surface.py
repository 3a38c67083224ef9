"""The playing surface seen straight from above, and where it ends."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import Array, Floats, sample

#: A picture of any depth: 8-bit colour or Lab.
Pixels = NDArray[Any]
#: A straight view is taken from a copy that has more pixels than it by this factor, so that nothing is passed over; by
#: a little less will do where such a copy is at hand.
FINER, FINE_ENOUGH = 1.15, 1.05


def straight_view(
    picture: Pixels, calibration: Calibration, mm_per_px: float, reach_mm: float, smaller: Pixels | None = None
) -> Pixels:
    """A straight-down view in which nothing is lost to coarse sampling; +x right, +y up.

    Args:
        picture: of the calibrated camera.
        calibration: of this camera.
        mm_per_px: scale of the view.
        reach_mm: from its middle to its edge.
        smaller: a smaller copy of the picture, which is taken where it is fine enough.
    """
    own = 1.0 / (mm_per_px * calibration.px_per_mm())
    factor = min(1.0, FINER * own)
    if smaller is not None and FINE_ENOUGH * own <= smaller.shape[1] / picture.shape[1]:
        small = smaller
    elif factor < 1.0:
        size = (max(1, round(picture.shape[1] * factor)), max(1, round(picture.shape[0] * factor)))
        small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    else:
        small = picture
    fx, fy = small.shape[1] / picture.shape[1], small.shape[0] / picture.shape[0]
    shrunk = np.array([[fx, 0.0, (fx - 1) / 2], [0.0, fy, (fy - 1) / 2], [0.0, 0.0, 1.0]])
    half = math.ceil(reach_mm / mm_per_px)
    to_mm = np.array([[mm_per_px, 0.0, -half * mm_per_px], [0.0, -mm_per_px, half * mm_per_px], [0.0, 0.0, 1.0]])
    matrix = shrunk @ calibration.image_from_board @ to_mm
    side = 2 * half + 1
    view = cv2.warpPerspective(
        small, matrix, (side, side), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(view, dtype=picture.dtype)


def find_surface_radius(lab: Floats, calibration: Calibration) -> float | None:
    """Radius in mm of the edge of the playing surface, where a step of colour runs all around; None if none does."""
    outer = calibration.board.outer_line_mm
    angle = np.arange(120) * (2 * np.pi / 120)
    parts = np.arange(1.0, 1.2, 0.004)
    reach = outer * parts
    points = np.stack([np.cos(angle)[:, None] * reach, np.sin(angle)[:, None] * reach], axis=-1)
    pixels = calibration.to_pixels(points)
    profile = sample(lab, pixels[..., 0], pixels[..., 1])
    inner = (profile[:, 1:-5] + profile[:, 2:-4] + profile[:, :-6]) / 3
    beyond = (profile[:, 5:-1] + profile[:, 6:] + profile[:, 4:-2]) / 3
    step = np.linalg.norm(beyond - inner, axis=-1)
    seen = np.isfinite(step).all(axis=1)
    if seen.sum() < len(angle) / 3:
        return None
    step = np.median(step[seen], axis=0)
    place = parts[3:-3]
    step = np.where(place > 1.03, step, 0.0)
    best = int(np.argmax(step))
    if step[best] < 4.0 or step[best] < 1.6 * float(np.median(step[place > 1.03])):
        return None
    return float(place[best]) * outer


def surface_colour(lab: Floats, calibration: Calibration) -> Array:
    """Median Lab colour of the playing surface between its lines, ``(3,)``."""
    angle = np.arange(90) * (2 * np.pi / 90)
    reach = np.array([0.2, 0.45, 0.55, 0.8, 0.9]) * calibration.board.outer_line_mm
    points = np.stack([np.cos(angle)[:, None] * reach, np.sin(angle)[:, None] * reach], axis=-1)
    pixels = calibration.to_pixels(points)
    return np.asarray(np.nanmedian(sample(lab, pixels[..., 0], pixels[..., 1]).reshape(-1, 3), axis=0))
