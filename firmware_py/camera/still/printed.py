"""Discs of a colour that neither team has: a stray disc, or a badge that is printed on the board and no disc at all.

A filled badge as large as a disc has a disc's rim. What gives it away is its colour: that of the ink of the lines,
pure or mixed with wood, and of no team. Where the teams play with discs of just that colour nothing gives it away.
"""

from __future__ import annotations

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import Array, Floats, sample
from firmware_py.camera.still.colours import assign, learn, strangeness

#: A colour farther from both teams than the others' spread, by this factor, is of neither; it is looked at from the
#: first figure on, for a disc widens the spread of the team that it is counted to.
LOOKED_AT, OF_NEITHER = 2.0, 7.0
#: The teams are known for sure when so many other discs of each are seen.
LEAST_OTHERS = 3
#: Discs whose Lab colours are closer than this look alike: two badges, or a badge and the hole, vouch for no team.
ALIKE = 12.0
#: Print differs from the surface in the direction in which the lines do (cosine), and by at least this share of it.
#: Ink, thinned or not, does so but for noise; brown wood on blue does so nearly beside red lines (0.96).
SAME_WAY, SAME_DEPTH = 0.985, 0.5


def of_neither_team(colours: Array, usual: Array) -> Array:
    """Which discs have a colour that no team has, ``(n,)``; none while the teams are hardly known.

    Args:
        colours: Lab of each disc as seen, ``(n, 3)``.
        usual: the same with the differences of light on the board taken out.
    """
    odd = np.zeros(len(colours), dtype=bool)
    if len(colours) <= 2 * LEAST_OTHERS:
        return odd
    teams = learn(colours)
    if teams is None or teams.dark is None:
        return odd
    for k in np.nonzero(strangeness(colours, teams) > LOOKED_AT)[0]:
        odd[k] = all(_strange_to_others(seen, int(k)) for seen in (colours, usual))
    return odd


def _strange_to_others(colours: Array, k: int) -> bool:
    """Whether those discs that do not look like this one make two teams to which it is strange."""
    others = colours[np.linalg.norm(colours - colours[k], axis=1) > ALIKE]
    if len(others) < 2 * LEAST_OTHERS:
        return False
    teams = learn(others)
    if teams is None or teams.dark is None:
        return False
    counts = np.bincount(assign(others, teams)[0], minlength=2)
    return bool(counts.min() >= LEAST_OTHERS and strangeness(colours[k : k + 1], teams)[0] > OF_NEITHER)


def like_print(colours: Array, lab: Floats, calibration: Calibration, surface: Array) -> Array:
    """Which colours differ from the playing surface as the printed lines do, ``(n,)``.

    Args:
        colours: Lab of each disc, ``(n, 3)``.
        lab: float Lab picture.
        calibration: of its camera.
        surface: Lab colour of the playing surface.
    """
    angle = np.arange(120) * (2 * np.pi / 120)
    radii = np.array(calibration.ring_radii_mm)[:, None]
    pixels = calibration.to_pixels(np.stack([radii * np.cos(angle), radii * np.sin(angle)], axis=-1))
    ink = np.nanmedian(sample(lab, pixels[..., 0], pixels[..., 1]).reshape(-1, 3), axis=0) - surface
    depth = max(float(np.linalg.norm(ink)), 1e-6)
    off = colours - surface
    length = np.linalg.norm(off, axis=1)
    return np.asarray((off @ ink > SAME_WAY * length * depth) & (length > SAME_DEPTH * depth))
