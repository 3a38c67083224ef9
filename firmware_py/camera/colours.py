"""Which colour each disc has, learned from the discs themselves: two teams, any two colours.

Colours are median Lab of a disc's face. Of the two teams the one with the larger L is ``light``. Nothing is known
beforehand: maple and walnut, red and black, black and wood on blue all come out as two clouds of points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firmware_py.camera.lab import Array

#: Two clouds closer than this, in Lab units, are taken for one colour.
LEAST_APART = 10.0


@dataclass(frozen=True, slots=True)
class TeamColours:
    """The colours of the discs on a board.

    Attributes:
        light: mean Lab of the lighter team.
        dark: mean Lab of the darker team; None while discs of one colour only have been seen.
        spread: typical distance of a disc from its team's mean, in Lab units.
    """

    light: tuple[float, float, float]
    dark: tuple[float, float, float] | None
    spread: float

    @property
    def means(self) -> Array:
        """The known means, light first, ``(1 or 2, 3)``."""
        return np.array([self.light] if self.dark is None else [self.light, self.dark])


def learn(colours: Array, weights: Array | None = None) -> TeamColours | None:
    """Learn the team colours from the faces of discs.

    Two means started from the farthest pair; lightness counts half, since light falls unevenly on a board.

    Args:
        colours: Lab of each disc, ``(n, 3)``.
        weights: trust in each disc.

    Returns:
        The colours, or None without any disc.
    """
    if len(colours) == 0:
        return None
    weights = np.ones(len(colours)) if weights is None else weights
    pair = np.linalg.norm(colours[:, None] - colours[None], axis=-1)
    first, second = np.unravel_index(int(pair.argmax()), pair.shape)
    means = colours[[first, second]].astype(np.float64)
    nearest = np.zeros(len(colours), dtype=np.intp)
    for _ in range(8):
        nearest = np.linalg.norm(colours[:, None] - means[None], axis=-1).argmin(axis=1)
        for k in (0, 1):
            mine = nearest == k
            if mine.any():
                means[k] = np.average(colours[mine], axis=0, weights=weights[mine])
    gaps = np.linalg.norm(colours - means[nearest], axis=1)
    spread = max(2.0, float(np.average(gaps, weights=weights)))
    if np.linalg.norm(means[0] - means[1]) < max(LEAST_APART, 2.5 * spread):
        one = np.average(colours, axis=0, weights=weights)
        return TeamColours(light=_triple(one), dark=None, spread=spread)
    light, dark = (means[0], means[1]) if means[0][0] >= means[1][0] else (means[1], means[0])
    return TeamColours(light=_triple(light), dark=_triple(dark), spread=spread)


def assign(colours: Array, teams: TeamColours) -> tuple[Array, Array]:
    """The team of each disc and how clearly it is meant.

    Returns:
        ``(team, clearness)``: team 0 = light, 1 = dark, ``(n,)``; clearness 0 = half way between the teams,
        1 = at a mean. With one colour known everything is team 0 if light, 1 if dark (L below 50).
    """
    means = teams.means
    if len(means) == 1:
        only = 0 if teams.light[0] >= 50 else 1
        return np.full(len(colours), only), np.ones(len(colours))
    gaps = np.linalg.norm(colours[:, None] - means[None], axis=-1)
    near, far = gaps.min(axis=1), gaps.max(axis=1)
    return gaps.argmin(axis=1), (far - near) / np.maximum(far + near, 1e-9)


def strangeness(colours: Array, teams: TeamColours) -> Array:
    """Distance of colours from the nearest team, in Lab units, ``(n,)``."""
    return np.asarray(np.linalg.norm(colours[:, None] - teams.means[None], axis=-1).min(axis=1))


def _triple(colour: Array) -> tuple[float, float, float]:
    return (float(colour[0]), float(colour[1]), float(colour[2]))
