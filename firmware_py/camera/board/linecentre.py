"""Where the middle of a printed line between two paints runs.

A line of nearly the colour of one of its neighbours is met at its other edge, half its width off: that edge is a step,
the near one hardly any. All around the ring the line is the same, so there the mean of all profiles across it, of which
noise and discs are gone, is explained by paint, line and paint with two edges as soft as the picture is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from firmware_py.camera.board.ringfit import ANGLES, COVERED, STEP, RingFit
from firmware_py.camera.picture.lab import Array, Floats, along_rays, directions, sample

#: Looked at so far to either side of a ring, with edges so far off at most and so far apart, in outer radii.
REACH, FARTHEST, WIDTHS = 0.04, 0.03, (0.003, 0.026)
#: How soft the edges may be, in outer radii (one sigma).
SOFTNESS = (0.0015, 0.003, 0.005, 0.008)
#: A line explains the profile so much better than one step, in sums of squares, and differs from both paints and from
#: all their mixtures, of which a soft step is made, by so much, in Lab units.
BETTER, LEAST_LINE = 0.4, 4.0
#: Less than this off the ring stays where the lines of all angles together put it.
LEAST_OFF = 0.003
#: At so many angles a ring must be seen on.
LEAST_SEEN = ANGLES // 4


def centred(lab: Floats, fit: RingFit) -> RingFit:
    """The same rings, met as limits of paints, on the middles of their lines where there are lines.

    Args:
        lab: float Lab picture the rings were fitted in.
        fit: the rings.
    """
    offsets = np.arange(-round(REACH / STEP), round(REACH / STEP) + 1) * STEP
    ratios = np.array(fit.ratios)
    profiles = sample(lab, *along_rays(fit.homography, directions(ANGLES), ratios[:, None, None] + offsets))
    found = [_middle(rays[np.isfinite(rays).all(axis=(1, 2))], offsets) for rays in profiles]
    moved = ratios + np.array([middle for middle, _ in found])
    scale = float(moved[2])
    widths = [own if width is None else width for own, (_, width) in zip(fit.widths, found, strict=True)]
    return replace(
        fit,
        homography=fit.homography @ np.diag([scale, scale, 1.0]),
        ratios=(float(moved[0]) / scale, float(moved[1]) / scale, 1.0),
        widths=(widths[0], widths[1], widths[2]),
    )


def _middle(rays: Floats, offsets: Array) -> tuple[float, float | None]:
    """Where the middle of the line is, and its width; 0 and None where there is no line."""
    if len(rays) < LEAST_SEEN:
        return 0.0, None
    profile = np.median(rays, axis=0).astype(np.float64)
    at = np.arange(-FARTHEST, FARTHEST + 1e-9, STEP / 2)
    low, high = np.triu_indices(len(at), 1)
    apart = at[high] - at[low]
    low, high = (k[(apart >= WIDTHS[0]) & (apart <= WIDTHS[1])] for k in (low, high))
    least, one_step, middle, width = np.inf, np.inf, 0.0, None
    for soft in SOFTNESS:
        past = 1.0 / (1.0 + np.exp(-1.7 * (offsets - at[:, None]) / soft))
        one_step = min(one_step, float(_explained(np.stack([1 - past, past], axis=1), profile)[0].min()))
        rest, colours = _explained(np.stack([1 - past[low], past[low] - past[high], past[high]], axis=1), profile)
        k = int(rest.argmin())
        if rest[k] >= least:
            continue
        least, middle, width = float(rest[k]), 0.0, None
        start, end = float(at[low[k]]), float(at[high[k]])
        before, line, beyond = colours[k]
        step = beyond - before
        mixed = before + step * np.clip((line - before) @ step / max(float(step @ step), 1e-6), 0.0, 1.0)
        if np.linalg.norm(line - mixed) >= LEAST_LINE and start - COVERED <= 0.0 <= end + COVERED:
            middle, width = (start + end) / 2, end - start
    if least >= BETTER * one_step:
        return 0.0, None
    return (middle if abs(middle) >= LEAST_OFF else 0.0), width


def _explained(parts: Array, profile: Array) -> tuple[Array, Array]:
    """Least sums of squares left of a profile ``(n, 3)`` by mixtures of parts ``(k, m, n)``, and their colours."""
    normal = parts @ parts.transpose(0, 2, 1) + 1e-6 * np.eye(parts.shape[1])
    colours = np.linalg.solve(normal, parts @ profile)
    rest = profile - parts.transpose(0, 2, 1) @ colours
    return (rest**2).sum(axis=(1, 2)), colours
