"""Where the camera stands over the board: its foot point and height, which the parallax of a disc's height needs.

A disc's top face is seen up to 3 mm farther from the foot point than its base stands. A homography of the board plane
and the focal length of the lens give both; where the focal length is not known, a tilted view tells it itself, and
a level one leaves it to the lenses that people own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from firmware_py.camera.picture.lab import Array

#: Focal length over the long side of the picture: a phone's main lens (26 mm equivalent) is 0.75.
USUAL_FOCAL = 0.85
#: The spread of that guess, as a factor: crops make it longer, wide lenses shorter.
FOCAL_SPREAD = 1.35
#: Focal lengths that are weighed, each 8 % longer than the one before.
TRIALS = 25


@dataclass(frozen=True, slots=True)
class Pose:
    """The camera's place in the board frame.

    Attributes:
        foot_xy_mm: point of the surface plane straight below the camera.
        height_mm: height of the camera above the surface.
        height_spread: one sigma of the height, as a factor above 1.
    """

    foot_xy_mm: tuple[float, float]
    height_mm: float
    height_spread: float


def camera_centre(image_from_board: Array, focal_px: float, principal_xy_px: tuple[float, float]) -> Array:
    """The camera's ``(x, y, height)`` in the units of the board plane, height positive.

    Args:
        image_from_board: homography from board plane to pixels.
        focal_px: focal length in pixels; pixels are square.
        principal_xy_px: where the optical axis meets the picture.
    """
    return np.asarray(camera_centres(image_from_board, np.array([focal_px]), principal_xy_px)[0])


def camera_centres(image_from_board: Array, focal_px: Array, principal_xy_px: tuple[float, float]) -> Array:
    """The same for many focal lengths, ``(n,)``, at once: ``(n, 3)``."""
    a, b, t = _seen_axes(image_from_board, focal_px, principal_xy_px)
    length_a, length_b = (np.linalg.norm(axis, axis=1, keepdims=True) for axis in (a, b))
    r1 = a / length_a
    r2 = b - r1 * (r1 * b).sum(axis=1, keepdims=True)
    r2 = r2 / np.linalg.norm(r2, axis=1, keepdims=True)
    rotation = np.stack([r1, r2, np.cross(r1, r2)], axis=1)
    centres = -(rotation @ t[..., None])[..., 0] / np.sqrt(length_a * length_b)
    centres[:, 2] = np.abs(centres[:, 2])
    return np.asarray(centres)


def _seen_axes(
    image_from_board: Array, focal_px: Array, principal_xy_px: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """Columns of the homography for each focal length, free of the lens: both axes and the middle, ``(n, 3)`` each."""
    cx, cy = principal_xy_px
    about_axis = np.array([[1.0, 0.0, -cx], [0.0, 1.0, -cy], [0.0, 0.0, 1.0]]) @ image_from_board
    seen = np.repeat(about_axis[None], len(focal_px), axis=0)
    seen[:, :2] /= focal_px[:, None, None]
    return seen[..., 0], seen[..., 1], seen[..., 2]


def _focal_costs(image_from_board: Array, focal_px: Array, principal_xy_px: tuple[float, float]) -> Array:
    """How far each focal length is from making the board's axes square and equal, 0 when it fits exactly."""
    a, b, _ = _seen_axes(image_from_board, focal_px, principal_xy_px)
    aa, bb, ab = ((one * other).sum(axis=1) for one, other in ((a, a), (b, b), (a, b)))
    return np.asarray(((2.0 * ab) ** 2 + (aa - bb) ** 2) / (aa + bb) ** 2)


def estimate_pose(
    image_from_board: Array,
    size_wh: tuple[int, int],
    *,
    focal_px: float | None = None,
    focal_spread: float = FOCAL_SPREAD,
) -> Pose:
    """The likeliest camera over a board, from one homography.

    Without ``focal_px`` focal lengths of 0.45 to 3 long sides are weighed by how well each explains the
    perspective (errors of the homography of 0.3 %) and by how common it is.

    Args:
        image_from_board: homography from board millimetres to pixels.
        size_wh: size of the picture; the optical axis is taken to meet its middle.
        focal_px: focal length when known.
        focal_spread: one sigma of the usual focal length, as a factor.
    """
    principal = ((size_wh[0] - 1) / 2, (size_wh[1] - 1) / 2)
    long_side = max(size_wh)
    if focal_px is not None:
        x, y, z = camera_centre(image_from_board, focal_px, principal)
        return Pose(foot_xy_mm=(float(x), float(y)), height_mm=float(z), height_spread=1.03)
    trials = np.geomspace(0.45, 3.0, TRIALS) * long_side
    log_f = np.log(trials)
    misfit = _focal_costs(image_from_board, trials, principal)
    likely = (
        -0.5 * misfit / 0.006**2 - 0.5 * ((log_f - math.log(USUAL_FOCAL * long_side)) / math.log(focal_spread)) ** 2
    )
    weight = np.exp(likely - likely.max())
    weight /= weight.sum()
    places = camera_centres(image_from_board, trials, principal)
    foot = weight @ places[:, :2]
    log_height = np.log(places[:, 2])
    mean = float(weight @ log_height)
    spread = math.exp(max(0.04, math.sqrt(float(weight @ (log_height - mean) ** 2))))
    return Pose(foot_xy_mm=(float(foot[0]), float(foot[1])), height_mm=math.exp(mean), height_spread=spread)
