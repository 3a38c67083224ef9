"""The exact place of the rings: one homography and two free ratios fitted to all three printed lines at once.

The three lines of a board lie in one plane and share one centre, so together they fix the perspective except for the
turn about the centre, which circles cannot show. Their ratios differ from board to board (0.318..0.357 and
0.647..0.724 were measured on real ones), so they are part of the fit and never taken for granted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firmware_py.camera.picture.lab import LINES, Array, Floats, Look, along_rays, directions, sample

ANGLES = 240
#: While the window is wider than this every second angle is enough.
COARSE = 0.03
#: Half width of the search around each line, in outer radii, from the first look to the last.
WINDOWS = (0.055, 0.055, 0.04, 0.028, 0.018, 0.012)
#: A look is left out when the plane moved so little, in parts of the next window, that it lies well within that one.
CALM = 0.15
#: A plane that the last look still moved by this much, in outer radii, is looked at again so often: the slow ones are
#: those that lean, for the lean is held back, so that what is left can be ten times the last step and more. Most have
#: come to rest after one or two looks more.
SETTLED, SETTLING = 0.0003, (0.018,) * 8 + (0.012,)
#: Half width of the look that judges the fit.
WIDE = 0.03
#: Step between samples along a profile, in outer radii.
STEP = 0.0025
#: Ridge, in Lab units, below which no line is said to be seen.
LEAST_RIDGE = 1.0
#: A line is covered where it is seen within this distance of the fit, in outer radii.
COVERED = 0.006


@dataclass(frozen=True, slots=True)
class RingFit:
    """The rings as fitted.

    Attributes:
        homography: board plane (outer line = unit circle) to picture pixels, shape ``(3, 3)``.
        ratios: radii of the 15, 10 and outer line over the outer one.
        coverage: share of the visible angles at which each line is seen where the fit says, 0 to 1.
        visible: share of each line's angles that lie inside the picture.
        residual: rms distance of the covered points from the fit, in outer radii.
        offsets: distance of each seen point from the fit in outer radii, ``(3, ANGLES)``, NaN where not covered.
        widths: width of each line at half its depth, in outer radii.
        look: how the lines were told: as lines, or as limits of paints.
    """

    homography: Array
    ratios: tuple[float, float, float]
    coverage: tuple[float, float, float]
    visible: tuple[float, float, float]
    residual: float
    offsets: Array
    widths: tuple[float, float, float]
    look: Look = LINES


def _profiles(lab: Floats, homography: Array, ratios: Array, half: int, angles: int = ANGLES) -> tuple[Floats, Array]:
    """Lab profiles across the lines, ``half`` samples to each side, ``(3, angles, n, 3)``, and the samples' offsets."""
    offsets = np.arange(-half, half + 1) * STEP
    x, y = along_rays(homography, directions(angles), ratios[:, None, None] + offsets)
    return sample(lab, x, y), offsets


def _seen_offsets(strength: Floats, offsets: Array, window: float | None) -> tuple[Array, Array]:
    """Sub-sample place and strength of the line on each profile; place is NaN where none is seen.

    With a ``window`` the middle is favoured by a Gaussian of 0.6 windows.
    """
    weighted = strength
    if window is not None:
        weighted = strength * np.exp(-0.5 * (offsets / (0.6 * window)) ** 2).astype(np.float32)
    best = np.argmax(weighted, axis=-1)
    best = np.clip(best, 2, len(offsets) - 3)
    near = best[..., None] + np.arange(-2, 3)
    mass = np.take_along_axis(strength, near, axis=-1).astype(np.float64)
    total = mass.sum(axis=-1)
    place = (mass * offsets[near]).sum(axis=-1) / np.maximum(total, 1e-9)
    peak = np.take_along_axis(strength, best[..., None], axis=-1)[..., 0]
    return np.where(peak > LEAST_RIDGE, place, np.nan), peak


def _residuals(params: Array, px: Array, py: Array, ring: Array) -> tuple[Array, Array]:
    """Distance of observed points from their ring after the small correction ``params`` of the board plane.

    Returns:
        The distances ``(n,)`` and their derivatives by the nine unknowns ``(n, 9)``.
    """
    cx, cy, sxx, syy, sxy, p0, p1, q1, q2 = params
    w = 1.0 + p0 * px + p1 * py
    ux = ((1.0 + sxx) * px + sxy * py + cx) / w
    uy = (sxy * px + (1.0 + syy) * py + cy) / w
    radius = np.hypot(ux, uy)
    ax, ay = ux / (radius * w), uy / (radius * w)
    drop = -radius / w
    slopes = [ax, ay, ax * px, ay * py, ax * py + ay * px, drop * px, drop * py]
    jacobian = np.stack([*slopes, -(ring == 0).astype(np.float64), -(ring == 1).astype(np.float64)], axis=1)
    return radius - np.array([q1, q2, 1.0])[ring], jacobian


def _correction(params: Array) -> Array:
    """The homography of the board plane that ``params`` stand for."""
    cx, cy, sxx, syy, sxy, p0, p1 = params[:7]
    return np.array([[1.0 + sxx, sxy, cx], [sxy, 1.0 + syy, cy], [p0, p1, 1.0]])


def _solve(px: Array, py: Array, ring: Array, ratios: Array, rounds: int = 3) -> Array:
    """Robust Gauss-Newton on the nine unknowns; Cauchy weights at two sigma."""
    params = np.zeros(9)
    params[7:] = ratios[:2]
    # Held back gently, so that lines seen on a short arc only cannot bend the plane at will.
    hold = np.diag(np.array([1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 3e-2, 3e-2, 1e-2, 1e-2]) * len(px) * 1e-2)
    for _ in range(rounds):
        res, jac = _residuals(params, px, py, ring)
        sigma = max(1.4826 * float(np.median(np.abs(res))), 2e-4)
        weight = 1.0 / (1.0 + (res / (2.0 * sigma)) ** 2)
        normal = jac.T @ (jac * weight[:, None]) + hold
        params = params - np.linalg.solve(normal, jac.T @ (weight * res))
    return params


def _widths(profiles: Floats, places: Array, offsets: Array) -> tuple[float, float, float]:
    """Width at half depth of each line, from its profiles laid on each other at the seen places."""
    reach = np.arange(-10, 11) * (STEP / 2)
    widths = []
    for lab, place in zip(profiles, places, strict=True):
        good = np.isfinite(place) & np.isfinite(lab).all(axis=(1, 2))
        if good.sum() < 12:
            widths.append(float("nan"))
            continue
        at = (place[good][:, None] + reach - offsets[0]) / STEP
        low = np.clip(at.astype(np.intp), 0, len(offsets) - 2)
        part = np.clip(at - low, 0.0, 1.0)[..., None]
        rows = np.arange(good.sum())[:, None]
        chosen = lab[good]
        lined = np.median(chosen[rows, low] * (1 - part) + chosen[rows, low + 1] * part, axis=0)
        ground = (lined[0] + lined[-1]) / 2
        depth = np.linalg.norm(lined - ground, axis=1)
        widths.append(float((depth > depth.max() / 2).sum() * (STEP / 2)))
    return (widths[0], widths[1], widths[2])


def fit_rings(lab: Floats, homography: Array, ratios: tuple[float, float], look: Look = LINES) -> RingFit | None:
    """Fit the rings to a picture from a rough guess.

    Args:
        lab: float Lab picture.
        homography: rough board-to-picture homography, outer line = unit circle.
        ratios: rough radii of the 15 and 10 line over the outer one.
        look: how lines are told along profiles.

    Returns:
        The fit with how well each line was covered, or None when it ran away from any sane board.
    """
    h = homography / homography[2, 2]
    q = np.array([ratios[0], ratios[1], 1.0])
    moved = float("inf")
    for look_number, window in enumerate((*WINDOWS, *SETTLING)):
        if look_number >= len(WINDOWS) and moved < SETTLED:
            break
        if look_number < len(WINDOWS) - 1 and moved < CALM * WINDOWS[look_number + 1]:
            continue
        angles = ANGLES // 2 if window > COARSE else ANGLES
        angle = np.arange(angles) * (2 * np.pi / angles)
        ring_of = np.repeat(np.arange(3), angles).reshape(3, angles)
        profiles, offsets = _profiles(lab, h, q, round(window / STEP) + max(look.sides), angles)
        place, _ = _seen_offsets(look.strength(profiles, look.sides), offsets, window)
        good = np.isfinite(place)
        if good.sum() < angles / 4 or (good.sum(axis=1) < angles / 20).any():
            return None
        radius = (q[:, None] + place)[good]
        turn = np.broadcast_to(angle, (3, angles))[good]
        params = _solve(radius * np.cos(turn), radius * np.sin(turn), ring_of[good], q)
        correction = _correction(params)
        moved = float(np.abs(params[:7]).max())
        if not np.isfinite(params).all() or abs(np.linalg.det(correction)) < 0.2:
            return None
        h = h @ np.linalg.inv(correction)
        h = h / h[2, 2]
        q = np.array([params[7], params[8], 1.0])
        if not (0.2 < q[0] < 0.5 and q[0] + 0.1 < q[1] < 0.9):
            return None
    # Coverage is judged in a wide window without favour for its middle, so that chance covers a fifth at most.
    profiles, offsets = _profiles(lab, h, q, round(WIDE / STEP) + max(look.sides))
    place, _ = _seen_offsets(look.strength(profiles, look.sides), offsets, None)
    inside = np.isfinite(profiles).all(axis=(2, 3))
    covered = np.abs(np.nan_to_num(place, nan=9.0)) < COVERED
    coverage = covered.sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
    visible = inside.mean(axis=1)
    residual = float(np.sqrt(np.mean(place[covered] ** 2))) if covered.any() else float("inf")
    return RingFit(
        homography=h,
        ratios=(float(q[0]), float(q[1]), 1.0),
        coverage=(float(coverage[0]), float(coverage[1]), float(coverage[2])),
        visible=(float(visible[0]), float(visible[1]), float(visible[2])),
        residual=residual,
        offsets=np.where(covered, place, np.nan),
        widths=_widths(profiles, np.where(covered, place, np.nan), offsets),
        look=look,
    )
