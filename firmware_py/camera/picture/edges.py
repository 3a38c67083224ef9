"""The edge of a resting disc to a fraction of a pixel: its place, how sure it is, and whether it is a disc at all.

Rays run out from a guessed centre through the plane of top faces. The outermost step of colour on each is the disc's
silhouette: the rim of the top face on the side away from the camera's foot, the rim of the base on the near side,
both known from the height of the disc. The board itself is divided out by its empty picture, so that printed lines and
inlays do not pass for edges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from firmware_py.camera.board.calibration import SHARP_MM
from firmware_py.camera.picture.lab import Array, Floats, Image
from firmware_py.camera.picture.view import MM_PER_PX, BoardView

Xy = tuple[float, float]

RAYS = 72
STEP_MM = 0.3
#: Rays reach so far inside and outside the expected silhouette.
INSIDE_MM, OUTSIDE_MM = 5.4, 6.3
#: An edge nearer than this to the fitted silhouette belongs to it.
ON_EDGE_MM = 0.9
#: Grey levels a step must have to count as an edge in a sharp picture; a softer one spreads it.
LEAST_STEP = 5.0
#: Rays are smoothed by so much, one sigma.
_SMOOTH_MM = 0.55
#: Less than any step: in a black picture all of them are 0.
_NOTHING = 1e-6
_TURNS = np.arange(RAYS) * (2 * math.pi / RAYS)
_OUT = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=-1)


@dataclass(frozen=True, slots=True)
class Edge:
    """A disc's silhouette as fitted.

    Attributes:
        x_mm: centre of the top face in the straight view.
        y_mm: likewise.
        sigma_mm: one standard deviation of the centre, along either axis.
        coverage: share of the rays whose edge lies on the silhouette.
        radius_bias_mm: by how much the silhouette is larger than the disc should be.
        inside_bgr: median colour of the face.
        contrast: median size of the step at the edge, grey levels.
        residual_mm: rms distance of the edges from the silhouette.
    """

    x_mm: float
    y_mm: float
    sigma_mm: float
    coverage: float
    radius_bias_mm: float
    inside_bgr: tuple[float, float, float]
    contrast: float
    residual_mm: float


def silhouette_mm(view: BoardView, x_mm: float, y_mm: float, below_mm: float, radius_mm: float) -> Array:
    """Distance from the centre of a top face to the silhouette along each ray, in the straight view.

    Args:
        view: the camera's view.
        x_mm: centre of the top face.
        y_mm: centre of the top face.
        below_mm: how far below the top face the lowest visible rim is.
        radius_mm: of the disc.
    """
    shift_x, shift_y = view.base_shift(x_mm, y_mm, below_mm)
    shift = _OUT[:, 0] * shift_x + _OUT[:, 1] * shift_y
    across2 = shift_x * shift_x + shift_y * shift_y - shift * shift
    k = below_mm / view.calibration.camera_height_mm
    base = shift + np.sqrt(np.maximum((radius_mm * (1 - k)) ** 2 - across2, 0.0))
    return np.asarray(np.maximum(base, radius_mm))


def _profiles(straight: Image, bare: Floats, view: BoardView, centre: Xy, reach: Array) -> tuple[Floats, Floats]:
    """Samples ``(rays, n, 3)`` of picture and bare board along the rays, from inside to outside the silhouette."""
    steps = np.arange(-INSIDE_MM, OUTSIDE_MM + STEP_MM / 2, STEP_MM)
    points = np.array(centre) + (reach[:, None] + steps[None, :])[..., None] * _OUT[:, None, :]
    u = (view.middle_px + points[..., 0] / MM_PER_PX).astype(np.float32)
    v = (view.middle_px - points[..., 1] / MM_PER_PX).astype(np.float32)
    border = cv2.BORDER_REPLICATE
    seen = cv2.remap(straight, u, v, cv2.INTER_LINEAR, borderMode=border)
    empty = cv2.remap(bare, u, v, cv2.INTER_LINEAR, borderMode=border)
    return np.asarray(seen, dtype=np.float32), np.asarray(empty, dtype=np.float32)


def _steps(seen: Floats, bare: Floats) -> tuple[Floats, Floats]:
    """How strong a step of colour each sample of each ray is, and the colour inside of the whole disc."""
    inside_n = round((INSIDE_MM - 1.5) / STEP_MM)
    outside_from = round((INSIDE_MM + 0.9) / STEP_MM)
    face = np.median(seen[:, :inside_n].reshape(-1, 3), axis=0)
    # Outside, what the empty board shows is divided out; the mean of the ray's own wood stays as the level.
    level = np.maximum(bare.mean(axis=1, keepdims=True), 6.0)
    flat = seen * np.clip(level / np.maximum(bare, 6.0), 0.4, 2.5)
    n = seen.shape[1]
    outward = np.linspace(0, 1, n)[None, :, None]
    # Inside the disc the board's pattern was never there: cross over from one to the other about the edge.
    blend = 1 / (1 + np.exp(-(outward * (n - 1) * STEP_MM - INSIDE_MM) / 0.45))
    mixed = seen * (1 - blend) + flat * blend
    smooth = cv2.GaussianBlur(mixed, (7, 1), _SMOOTH_MM / STEP_MM, borderType=cv2.BORDER_REPLICATE)
    slope = np.zeros_like(smooth)
    slope[:, 1:-1] = (smooth[:, 2:] - smooth[:, :-2]) / 2
    outside = np.median(flat[:, outside_from : outside_from + 6], axis=1)
    toward = outside - face[None, :]
    size = np.linalg.norm(toward, axis=1, keepdims=True)
    toward = toward / np.maximum(size, 1e-3)
    along = np.einsum("rnc,rc->rn", slope, toward)
    norm = np.linalg.norm(slope, axis=2)
    return np.maximum(along, 0.55 * norm).astype(np.float32), face


def _spread(soft_mm: float) -> float:
    """Breadth of an edge along a smoothed ray."""
    return math.hypot(soft_mm, _SMOOTH_MM)


def _peaks(strength: Floats, prior_mm: float) -> tuple[Array, Array]:
    """Place in mm from the expected silhouette, and height, of the likeliest edge of each ray."""
    n = strength.shape[1]
    place = np.arange(n) * STEP_MM - INSIDE_MM
    weighed = strength * np.exp(-0.5 * (place / prior_mm) ** 2)[None, :]
    k = np.clip(np.argmax(weighed, axis=1), 1, n - 2)
    r = np.arange(len(k))
    left, mid, right = strength[r, k - 1], strength[r, k], strength[r, k + 1]
    curve = left - 2 * mid + right
    shift = np.where(np.abs(curve) > 1e-6, 0.5 * (left - right) / np.where(curve == 0, 1, curve), 0.0)
    return place[k] + np.clip(shift, -0.7, 0.7) * STEP_MM, mid.astype(np.float64)


def fit_edge(
    view: BoardView,
    straight: Image,
    bare: Floats,
    guess_xy_mm: Xy,
    *,
    radius_mm: float,
    below_mm: float,
    rounds: int = 4,
) -> Edge | None:
    """Fit the silhouette of a disc, or of anything round.

    Args:
        view: the camera's view.
        straight: the straight view of a frame.
        bare: the straight view of the empty board in today's light, float32.
        guess_xy_mm: where its top face is seen, to some millimetres.
        radius_mm: its radius as seen in the straight view.
        below_mm: how far below the top face its lowest visible rim is.
        rounds: of rays and fit.

    Returns:
        The fit, whatever it is worth (see ``coverage``); None if it runs away from the guess.
    """
    x, y = guess_xy_mm
    bias = 0.0
    sums: tuple[Array, Array, Floats, float, float] | None = None
    for turn in range(rounds):
        reach = silhouette_mm(view, x, y, below_mm, radius_mm)
        seen, empty = _profiles(straight, bare, view, (x, y), reach + bias)
        strength, face = _steps(seen, empty)
        prior = (3.0, 2.0, 1.2, 1.0)[min(turn, 3)]
        at, size = _peaks(strength, prior)
        design = np.column_stack([_OUT, np.ones(RAYS)])
        # A strong step tells more of where the edge is; a weak one may be the bevel's or the wall's.
        weight = (size / np.maximum(size + np.percentile(size, 80), _NOTHING)) ** 2
        solved = np.zeros(3)
        for _ in range(4):
            off = at - design @ solved
            spread = max(0.15, 1.48 * float(np.median(np.abs(off))))
            w = weight / (1 + (off / (2 * spread)) ** 2)
            lhs = (design * w[:, None]).T @ design + np.diag([1e-6, 1e-6, 12.0])
            solved = np.linalg.solve(lhs, (design * w[:, None]).T @ at)
        x, y = x + float(solved[0]), y + float(solved[1])
        bias = float(np.clip(bias + solved[2], -1.5, 1.5))
        if math.dist((x, y), guess_xy_mm) > radius_mm:
            return None
        off = at - design @ solved
        contrast = float(np.median(size)) * 2.2
        sums = (off, size, face, contrast, float(np.linalg.inv(lhs)[0, 0]))
        if turn >= 2 and math.hypot(solved[0], solved[1]) < 0.02:
            break
    if sums is None:
        return None
    off, size, face, contrast, variance = sums
    on = (np.abs(off) < ON_EDGE_MM) & (size * 2.2 >= LEAST_STEP * _spread(SHARP_MM) / _spread(view.soft_mm))
    coverage = float(on.mean())
    residual = float(np.sqrt(np.mean(off[on] ** 2))) if on.any() else 9.9
    # Neighbouring rays share pixels and shadow: a third of them are independent.
    sigma = math.sqrt(3 * variance) * max(residual, 0.1)
    return Edge(x, y, sigma, coverage, bias, (float(face[0]), float(face[1]), float(face[2])), contrast, residual)
