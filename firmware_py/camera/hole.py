"""Whether a disc lies flat in the 20-hole: the one place where a round dark thing is usually no disc.

An empty hole is a round rim too, but it is about a tenth wider than a disc and its felt or wood seldom has a team's
colour. A disc lying in it has the common radius, lies in the middle and has a team's colour.
"""

from __future__ import annotations

import math

import numpy as np

from firmware_py.camera import rims
from firmware_py.camera.calibration import Calibration
from firmware_py.camera.colours import TeamColours, strangeness
from firmware_py.camera.lab import Floats
from firmware_py.camera.seen import SeenDisc

#: Radii, over that of the discs, from which the outline in the middle is fitted.
STARTS = (0.8, 0.9, 1.0, 1.1, 1.25)
#: A disc's outline differs from the common radius by at most this.
SAME_RADIUS = 0.07
#: Least share of a rim of the common radius.
LEAST_RIM = 0.65
#: A disc in the hole is off its centre by at most this many disc radii: play of the hole, its place, parallax.
OFF_CENTRE = 0.3


def read_hole(lab: Floats, calibration: Calibration, r0_mm: float, teams: TeamColours | None) -> SeenDisc | None:
    """The disc that lies flat in the hole, or None.

    Args:
        lab: float Lab picture.
        calibration: of its camera.
        r0_mm: radius of the discs as seen on the board plane.
        teams: colours of the discs; without them nothing in the hole is called a disc.
    """
    if teams is None:
        return None
    matrix, foot = calibration.image_from_board, calibration.foot_xy_mm
    hole = np.array(calibration.hole_xy_mm)
    starts = np.array(STARTS) * r0_mm
    middle = np.repeat(hole[None], len(starts), axis=0)
    xy, radius = rims.refine(lab, matrix, middle, starts, foot_xy_mm=foot, fixed=False)
    free = rims.examine(lab, matrix, xy, radius)
    quality = free.agreement * np.minimum(free.contrast / 0.8, 1.0)
    best = int(np.argmax(quality))
    fixed, _ = rims.refine(lab, matrix, hole[None], np.array([r0_mm]), foot_xy_mm=foot, fixed=True)
    seen = rims.examine(lab, matrix, fixed, np.array([r0_mm]))
    rim = float(seen.agreement[0] * min(seen.contrast[0] / 0.8, 1.0))
    off = float(np.linalg.norm(fixed[0] - hole))
    odd = float(strangeness(seen.colour, teams)[0])
    same_radius = abs(float(radius[best]) / r0_mm - 1.0) < SAME_RADIUS or float(quality[best]) < rim
    if rim < LEAST_RIM or not same_radius or off > OFF_CENTRE * r0_mm or odd > max(12.0, 3.0 * teams.spread):
        return None
    foot_xy = np.array(foot)
    board = calibration.board
    base = foot_xy + (fixed[0] - foot_xy) * (1.0 - board.proud_mm / calibration.camera_height_mm)
    colour = seen.colour[0]
    lift = calibration.camera_height_mm / (calibration.camera_height_mm - board.disc_height_mm)
    return SeenDisc(
        x_mm=float(base[0]),
        y_mm=float(base[1]),
        top_xy_mm=(float(fixed[0, 0]), float(fixed[0, 1])),
        radius_mm=r0_mm / lift,
        quality=min(1.0, rim),
        colour=(float(colour[0]), float(colour[1]), float(colour[2])),
        sigma_mm=math.hypot(0.04 * r0_mm, 0.5),
        place="hole",
    )
