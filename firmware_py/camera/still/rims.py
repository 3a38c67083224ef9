"""The rim of a disc's top face, found to a few hundredths of its radius, and how much of it is really there.

All suspects of a picture are worked on at once. Rays run outwards from each centre; on each the strongest change of
colour near the expected rim is taken, and a circle is fitted to these robustly. Of the outline of a disc only the part
that faces away from the camera's foot is surely the top face: on the near side its side wall shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firmware_py.camera.picture.lab import Array, Floats, directions, planes_of, sample_filled

RAYS = 48
#: Rays are sampled from this to that part of the radius.
FROM, TO = 0.45, 1.5
#: Step between samples, in radii; about a pixel for discs of 20 px.
STEP = 0.05
#: Change of colour over two samples, in Lab units, that counts as a full edge.
FULL_EDGE = 8.0
#: A ray agrees with the rim when its edge lies within this part of the radius.
AGREES = 0.09
#: Colour difference, in Lab units, from which in- and outside are told apart at all.
LEAST_CONTRAST = 5.0

#: How far from a circle its rim is looked for, round by round, in radii (one sigma).
WINDOWS = (0.16, 0.1, 0.08)
#: From this distance of the foot point on, the side wall that shows is as broad as the look for the rim is exact.
WALL_REACH_MM = 160.0

#: Unit vectors of the rays, ``(RAYS, 2)``.
DIRECTIONS = directions(RAYS)
_PART = np.arange(FROM, TO + 1e-9, STEP)


def _between(low: float, high: float) -> slice:
    """The samples of a ray from one part of the radius to another."""
    first, past = np.searchsorted(_PART, (low, high))
    return slice(int(first), int(past))


#: Samples that tell the colour of the face, and of what is around it; every second ray is enough for the face.
_INNER, _OUTER = _between(0.5, 0.82), _between(1.17, 1.4)


@dataclass(frozen=True, slots=True)
class Rims:
    """Refined suspects; all arrays have one row for each.

    Attributes:
        xy_mm: centre of the top face on the board plane as seen, ``(n, 2)``.
        radius_mm: radius there.
        agreement: share of the rays inside the picture whose strongest edge lies on the rim, 0 to 1.
        contrast: share of these rays on which the colour outside differs from the colour inside.
        colour: Lab colour of the inside's darker half, ``(n, 3)``: glare lies on a face, it does not darken it.
        inside_l: median lightness L of the inside, ``(n,)``.
        outside_l: median lightness L just outside the rim, ``(n,)``.
        spread: median distance of the inside's samples from that colour, in Lab units.
        grain: the same just outside the rim: noise, grain, neighbours.
        apart: distance of that colour from the median colour just outside the rim, in Lab units.
    """

    xy_mm: Array
    radius_mm: Array
    agreement: Array
    contrast: Array
    colour: Array
    inside_l: Array
    outside_l: Array
    spread: Array
    grain: Array
    apart: Array


def _profiles(lab: Floats, image_from_board: Array, xy: Array, radius: Array) -> tuple[Floats, Array]:
    """Lab along the rays of each suspect, ``(3, n, RAYS, samples)``, and which rays lie inside the picture."""
    # A ray stays straight in the picture: numerators and denominator of the homography are linear along it.
    start = np.concatenate([xy, np.ones((len(xy), 1))], axis=1) @ image_from_board.T
    along = radius[:, None, None] * (DIRECTIONS @ image_from_board[:, :2].T)
    u, v, w = (
        start[:, None, k, None].astype(np.float32) + along[..., k, None].astype(np.float32) * _PART.astype(np.float32)
        for k in range(3)
    )
    values, inside = sample_filled(lab, u / w, v / w)
    return planes_of(values), np.asarray(inside.all(axis=2))


def _median(values: Floats) -> Floats:
    """Median along the last axis, the upper of two middle ones; numpy's own takes several times as long."""
    middle = values.shape[-1] // 2
    return np.asarray(np.partition(values, middle, axis=-1)[..., middle])


def _edges(profiles: Floats) -> tuple[Floats, Floats, Floats]:
    """Strength of change along each ray away from the inside's colour, that colour, and the colour outside per ray.

    Args:
        profiles: ``(3, n, RAYS, samples)``.

    Returns:
        ``(n, RAYS, samples)``, ``(3, n)`` and ``(3, n, RAYS)``.
    """
    n = profiles.shape[1]
    inside = _median(profiles[:, :, ::2, _INNER].reshape(3, n, -1))
    outside = np.einsum("cnrs->cnr", profiles[..., _OUTER]) / np.float32(_OUTER.stop - _OUTER.start)
    away = outside - inside[:, :, None]
    away /= np.maximum(_length(away), np.float32(1e-6))
    slope = profiles[..., 2:] - profiles[..., :-2]
    strength = np.zeros(profiles.shape[1:], np.float32)
    along = np.einsum("cnrs,cnr->nrs", slope, away)
    strength[..., 1:-1] = np.maximum(along, np.float32(0.55) * _length(slope))
    return strength, inside, outside


def _length(colours: Floats) -> Floats:
    """Euclidean length of colours whose channels are planes of their own."""
    return np.asarray(np.sqrt(np.einsum("c...,c...->...", colours, colours)))


def _peak(strength: Floats, radius_part: float, window: float | None) -> tuple[Array, Array]:
    """Sub-sample place (in radii) and strength of the edge on each ray, near ``radius_part`` if a window is given."""
    weighted = strength
    if window is not None:
        weighted = weighted * np.exp(-0.5 * ((_PART - radius_part) / window) ** 2).astype(np.float32)
    samples = len(_PART)
    best = np.clip(weighted.argmax(axis=-1), 1, samples - 2)
    flat = np.arange(best.size).reshape(best.shape) * samples + best
    low, mid, high = (weighted.ravel()[flat + k].astype(np.float64) for k in (-1, 0, 1))
    bend = low - 2 * mid + high
    shift = np.where(bend < -1e-9, 0.5 * (low - high) / np.minimum(bend, -1e-9), 0.0)
    return _PART[best] + np.clip(shift, -0.5, 0.5) * STEP, mid


def _ray_weights(xy: Array, foot_xy: tuple[float, float], reach_mm: float) -> Array:
    """Trust in each ray: rays that look back to the camera's foot see the side wall, the more the farther out."""
    out = xy - np.array(foot_xy)
    far = np.linalg.norm(out, axis=1, keepdims=True)
    facing = (out / np.maximum(far, 1e-6)) @ DIRECTIONS.T
    doubt = np.clip(far / reach_mm, 0.0, 1.0) * np.clip(-facing, 0.0, 1.0)
    return np.asarray(1.0 - 0.85 * doubt)


def refine(
    lab: Floats,
    image_from_board: Array,
    xy_mm: Array,
    radius_mm: Array,
    *,
    foot_xy_mm: tuple[float, float],
    fixed: bool,
    windows: tuple[float, ...] = WINDOWS,
) -> tuple[Array, Array, Array]:
    """Fit circles to the rims around rough places.

    Args:
        lab: float Lab picture.
        image_from_board: homography from board millimetres to its pixels.
        xy_mm: rough centres, ``(n, 2)``.
        radius_mm: rough radii, ``(n,)``.
        foot_xy_mm: the camera's foot point, which tells where side walls show.
        fixed: keep the radii and fit the centres alone.
        windows: how far from the circle an edge is looked for, round by round, in radii (one sigma).

    Returns:
        Centres, radii, and the share of the rays whose edge lies on the circle of the last round.
    """
    xy, radius = xy_mm.astype(np.float64).copy(), radius_mm.astype(np.float64).copy()
    design = np.concatenate([DIRECTIONS, np.ones((RAYS, 1))], axis=1)
    if fixed:
        design = design[:, :2]
    size = design.shape[1]
    products = (design[:, :, None] * design[:, None, :]).reshape(RAYS, size * size)
    agreement = np.zeros(len(xy))
    for window in windows:
        profiles, seen = _profiles(lab, image_from_board, xy, radius)
        strength, _, _ = _edges(profiles)
        place, height = _peak(strength, 1.0, window)
        miss = place - 1.0
        weight = np.minimum(height / FULL_EDGE, 1.0) * seen * _ray_weights(xy, foot_xy_mm, WALL_REACH_MM)
        step = np.zeros((len(xy), size))
        for _ in range(4):
            rest = miss - step @ design.T
            sigma = np.maximum(1.4826 * _median(np.abs(rest))[:, None], 0.015)
            robust = weight / (1.0 + (rest / (1.5 * sigma)) ** 2)
            normal = (robust @ products).reshape(-1, size, size) + 0.05 * np.eye(size)
            right = (robust * miss) @ design
            step = np.linalg.solve(normal, right[..., None])[..., 0]
        on_rim = (np.abs(miss - step @ design.T) < AGREES) & (height > LEAST_CONTRAST / 2)
        agreement = (on_rim & seen).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
        step = np.clip(step, -0.3, 0.3)
        xy += step[:, :2] * radius[:, None]
        if not fixed:
            radius *= 1.0 + np.clip(step[:, 2], -0.12, 0.12)
    return xy, radius, agreement


def _without_glare(inner: Floats) -> Array:
    """Mean colour of the samples whose lightness is in the lower half, the darkest tenth apart; ``(n, 3)``."""
    count = inner.shape[2]
    order = np.argsort(inner[0], axis=1)[:, count // 10 : count // 2]
    return np.asarray(np.take_along_axis(inner, order[None], axis=2).mean(axis=2).T, dtype=np.float64)


def examine(lab: Floats, image_from_board: Array, xy_mm: Array, radius_mm: Array) -> Rims:
    """How much of a rim there is at given circles; see :class:`Rims`."""
    profiles, seen = _profiles(lab, image_from_board, xy_mm, radius_mm)
    strength, inside, outside = _edges(profiles)
    place, height = _peak(strength, 1.0, None)
    count = np.maximum(seen.sum(axis=1), 1)
    inner = profiles[:, :, ::2, _INNER].reshape(3, len(xy_mm), -1)
    spread = _median(_length(inner - inside[:, :, None]))
    apart = _length(outside - inside[:, :, None]) > np.maximum(LEAST_CONTRAST, 1.1 * spread)[:, None]
    near, _ = _peak(strength, 1.0, 0.2)
    agrees = (np.abs(place - 1.0) < AGREES) | (np.abs(near - 1.0) < AGREES / 2)
    agrees &= height > LEAST_CONTRAST / 2
    ground = _median(outside)
    around = profiles[..., _OUTER].reshape(3, len(xy_mm), -1)
    return Rims(
        xy_mm=xy_mm,
        radius_mm=radius_mm,
        agreement=(agrees & seen).sum(axis=1) / count,
        contrast=(apart & seen).sum(axis=1) / count,
        colour=_without_glare(inner),
        inside_l=inside[0],
        outside_l=ground[0],
        spread=spread,
        grain=_median(_length(around - ground[:, :, None])),
        apart=_length(ground - inside),
    )
