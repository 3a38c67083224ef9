"""Grey pictures: what colour would have told is lost in them, so what they say is held back where it may be wrong.

A disc overlooked for its likeness to the board cannot be marked itself. Then every disc worth points is marked.
"""

from __future__ import annotations

import numpy as np

from firmware_py.camera.picture.lab import Array, Floats
from firmware_py.camera.still.seen import DiscReading

#: A picture is grey when all but two in a hundred of its pixels have less colour than this, in Lab units.
MOST_COLOUR = 5.0
#: Grey teams are told apart from so many of their joint standard deviations of lightness on.
LEAST_GAP = 3.6
#: Grey discs are seen for sure when their team differs by so much in lightness from what they lie on.
LEAST_CONTRAST = 12.0


def is_grey(lab: Floats) -> bool:
    """Whether a picture has no colour."""
    part = lab[::8, ::8]
    return float(np.percentile(np.hypot(part[..., 1], part[..., 2]), 98)) < MOST_COLOUR


def told_apart(reading: DiscReading, surface: Array) -> bool:
    """Whether lightness alone tells the teams from each other and from the surface.

    Args:
        reading: the discs of a grey picture.
        surface: Lab colour of the surface.
    """
    teams = reading.teams
    if teams is None:
        return True
    if teams.dark is None:
        return False
    lightness = teams.means[:, 0]
    gap = abs(lightness[0] - lightness[1]) / float(np.hypot(*teams.widths[:, 0]))
    return bool(gap >= LEAST_GAP and np.abs(lightness - surface[0]).min() >= LEAST_CONTRAST)
