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
    k_inverse = np.array(
        [
            [1 / focal_px, 0.0, -principal_xy_px[0] / focal_px],
            [0.0, 1 / focal_px, -principal_xy_px[1] / focal_px],
            [0.0, 0.0, 1.0],
        ]
    )
    m = k_inverse @ image_from_board
    scale = math.sqrt(float(np.linalg.norm(m[:, 0]) * np.linalg.norm(m[:, 1])))
    m = m / scale
    r1 = m[:, 0] / np.linalg.norm(m[:, 0])
    r2 = m[:, 1] - r1 * (r1 @ m[:, 1])
    r2 = r2 / np.linalg.norm(r2)
    rotation = np.stack([r1, r2, np.cross(r1, r2)], axis=1)
    centre = -rotation.T @ m[:, 2]
    return np.array([centre[0], centre[1], abs(centre[2])])


def focal_cost(image_from_board: Array, focal_px: float, principal_xy_px: tuple[float, float]) -> float:
    """How far a focal length is from making the board's axes square and equal, 0 when it fits exactly."""
    cx, cy = principal_xy_px
    shift = np.array([[1.0, 0.0, -cx], [0.0, 1.0, -cy], [0.0, 0.0, 1.0]])
    m = np.diag([1 / focal_px, 1 / focal_px, 1.0]) @ shift @ image_from_board
    a, b = m[:, 0], m[:, 1]
    n = float(a @ a + b @ b)
    return ((2.0 * float(a @ b)) ** 2 + float(a @ a - b @ b) ** 2) / (n * n)


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
    misfit = np.array([focal_cost(image_from_board, float(f), principal) for f in trials])
    likely = (
        -0.5 * misfit / 0.006**2 - 0.5 * ((log_f - math.log(USUAL_FOCAL * long_side)) / math.log(focal_spread)) ** 2
    )
    weight = np.exp(likely - likely.max())
    weight /= weight.sum()
    places = np.array([camera_centre(image_from_board, float(f), principal) for f in trials])
    foot = weight @ places[:, :2]
    log_height = np.log(places[:, 2])
    mean = float(weight @ log_height)
    spread = math.exp(max(0.04, math.sqrt(float(weight @ (log_height - mean) ** 2))))
    return Pose(foot_xy_mm=(float(foot[0]), float(foot[1])), height_mm=math.exp(mean), height_spread=spread)
