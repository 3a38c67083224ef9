"""The rim of a disc's top face, found to a few hundredths of its radius, and how much of it is really there.

All suspects of a picture are worked on at once. Rays run outwards from each centre; on each the strongest change of
colour near the expected rim is taken, and a circle is fitted to these robustly. Of the outline of a disc only the part
that faces away from the camera's foot is surely the top face: on the near side its side wall shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firmware_py.camera.picture.lab import Array, Floats, apply_homography, sample_filled

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

#: From this distance of the foot point on, the side wall that shows is as broad as the look for the rim is exact.
WALL_REACH_MM = 160.0

_ANGLE = np.arange(RAYS) * (2 * np.pi / RAYS)
#: Unit vectors of the rays, ``(RAYS, 2)``.
DIRECTIONS = np.stack([np.cos(_ANGLE), np.sin(_ANGLE)], axis=1)
_PART = np.arange(FROM, TO + 1e-9, STEP)
_INNER = (_PART > 0.5) & (_PART < 0.82)
_OUTER = (_PART > 1.17) & (_PART < 1.4)


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
        step: median change of colour at the rim, in Lab units.
        seen: share of the rays inside the picture.
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
    step: Array
    seen: Array


def _profiles(lab: Floats, image_from_board: Array, xy: Array, radius: Array) -> tuple[Floats, Array]:
    """Lab along the rays of each suspect, ``(3, n, RAYS, samples)``, and which rays lie inside the picture.

    The channels are planes of their own, because numpy is slow over a last axis of three.
    """
    reach = radius.astype(np.float32)[:, None, None] * _PART.astype(np.float32)
    way = DIRECTIONS.astype(np.float32)
    x = xy[:, 0].astype(np.float32)[:, None, None] + reach * way[None, :, 0, None]
    y = xy[:, 1].astype(np.float32)[:, None, None] + reach * way[None, :, 1, None]
    values, inside = sample_filled(lab, *apply_homography(image_from_board.astype(np.float32), x, y))
    return np.ascontiguousarray(np.moveaxis(values, -1, 0)), np.asarray(inside.all(axis=2))


def _edges(profiles: Floats) -> tuple[Floats, Floats, Floats]:
    """Strength of change along each ray away from the inside's colour, that colour, and the colour outside per ray.

    Args:
        profiles: ``(3, n, RAYS, samples)``.

    Returns:
        ``(n, RAYS, samples)``, ``(n, 3)`` and ``(n, RAYS, 3)``.
    """
    n = profiles.shape[1]
    inside = np.median(profiles[:, :, ::2, _INNER].reshape(3, n, -1), axis=2)
    outside = profiles[..., _OUTER].mean(axis=3)
    away = outside - inside[:, :, None]
    away /= np.maximum(np.sqrt((away * away).sum(axis=0)), 1e-6)
    slope = profiles[..., 2:] - profiles[..., :-2]
    strength = np.zeros(profiles.shape[1:], np.float32)
    along = (slope * away[..., None]).sum(axis=0)
    np.square(slope, out=slope)
    strength[..., 1:-1] = np.maximum(along, 0.55 * np.sqrt(slope.sum(axis=0)))
    return strength, inside.T, np.moveaxis(outside, 0, -1)


def _peak(strength: Floats, radius_part: float, window: float | None) -> tuple[Array, Array]:
    """Sub-sample place (in radii) and strength of the edge on each ray, near ``radius_part`` if a window is given."""
    weighted = strength
    if window is not None:
        weighted = weighted * np.exp(-0.5 * ((_PART - radius_part) / window) ** 2)
    best = np.clip(weighted.argmax(axis=-1), 1, len(_PART) - 2)
    low, mid, high = (
        np.take_along_axis(weighted, best[..., None] + k, axis=-1)[..., 0].astype(np.float64) for k in (-1, 0, 1)
    )
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
    windows: tuple[float, ...] = (0.16, 0.1, 0.08),
) -> tuple[Array, Array]:
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
        Centres and radii.
    """
    xy, radius = xy_mm.astype(np.float64).copy(), radius_mm.astype(np.float64).copy()
    design = np.concatenate([DIRECTIONS, np.ones((RAYS, 1))], axis=1)
    if fixed:
        design = design[:, :2]
    size = design.shape[1]
    for window in windows:
        profiles, seen = _profiles(lab, image_from_board, xy, radius)
        strength, _, _ = _edges(profiles)
        place, height = _peak(strength, 1.0, window)
        miss = place - 1.0
        weight = np.minimum(height / FULL_EDGE, 1.0) * seen * _ray_weights(xy, foot_xy_mm, WALL_REACH_MM)
        step = np.zeros((len(xy), size))
        for _ in range(4):
            rest = miss - step @ design.T
            # The upper of the two middle ones; numpy's median takes thrice as long.
            usual = np.partition(np.abs(rest), RAYS // 2, axis=1)[:, RAYS // 2, None]
            sigma = np.maximum(1.4826 * usual, 0.015)
            robust = weight / (1.0 + (rest / (1.5 * sigma)) ** 2)
            normal = np.einsum("nr,ri,rj->nij", robust, design, design) + 0.05 * np.eye(size)
            right = np.einsum("nr,ri,nr->ni", robust, design, miss)
            step = np.linalg.solve(normal, right[..., None])[..., 0]
        step = np.clip(step, -0.3, 0.3)
        xy += step[:, :2] * radius[:, None]
        if not fixed:
            radius *= 1.0 + np.clip(step[:, 2], -0.12, 0.12)
    return xy, radius


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
    off = inner - inside.T[:, :, None]
    spread = np.median(np.sqrt((off * off).sum(axis=0)), axis=1)
    apart = np.linalg.norm(outside - inside[:, None], axis=-1) > np.maximum(LEAST_CONTRAST, 1.1 * spread)[:, None]
    near, _ = _peak(strength, 1.0, 0.2)
    agrees = (np.abs(place - 1.0) < AGREES) | (np.abs(near - 1.0) < AGREES / 2)
    agrees &= height > LEAST_CONTRAST / 2
    ground = np.median(outside, axis=1)
    grain = np.median(np.sqrt(((profiles[..., _OUTER] - ground.T[:, :, None, None]) ** 2).sum(axis=0)), axis=(1, 2))
    return Rims(
        xy_mm=xy_mm,
        radius_mm=radius_mm,
        agreement=(agrees & seen).sum(axis=1) / count,
        contrast=(apart & seen).sum(axis=1) / count,
        colour=_without_glare(inner),
        inside_l=inside[:, 0],
        outside_l=np.median(outside[:, :, 0], axis=1),
        spread=spread,
        grain=grain,
        apart=np.linalg.norm(ground - inside, axis=1),
        step=np.median(height, axis=1),
        seen=seen.mean(axis=1),
    )
