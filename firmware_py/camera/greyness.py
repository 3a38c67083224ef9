"""Grey pictures: what colour would have told is lost in them, so what they say is held back where it may be wrong.

A disc overlooked for its likeness to the board cannot be marked itself. Then every disc worth points is marked.
"""

from __future__ import annotations

import numpy as np

from firmware_py.camera.calibration import Calibration
from firmware_py.camera.lab import Array, Floats, sample
from firmware_py.camera.seen import DiscReading

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


def surface_colour(lab: Floats, calibration: Calibration) -> Array:
    """Median Lab colour of the playing surface between its lines, ``(3,)``."""
    angle = np.arange(90) * (2 * np.pi / 90)
    reach = np.array([0.2, 0.45, 0.55, 0.8, 0.9]) * calibration.board.outer_line_mm
    points = np.stack([np.cos(angle)[:, None] * reach, np.sin(angle)[:, None] * reach], axis=-1)
    pixels = calibration.to_pixels(points)
    return np.asarray(np.nanmedian(sample(lab, pixels[..., 0], pixels[..., 1]).reshape(-1, 3), axis=0))


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
