"""Whether a disc lies flat in the 20-hole: the one place where a round dark thing is usually no disc.

An empty hole is a round rim too, but it is about a tenth wider than a disc and its felt or wood seldom has a team's
colour. A disc lying in it has the common radius, lies in the middle and has a team's colour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import Array, Floats
from firmware_py.camera.still import rims
from firmware_py.camera.still.colours import TeamColours, strangeness
from firmware_py.camera.still.seen import SeenDisc
from firmware_py.camera.still.surface import surface_colour

#: Radii, over that of the discs, from which the outline in the middle is fitted, and windows of the further rounds that
#: a start a quarter off needs to come to rest: one that stops halfway has the radius of no outline.
STARTS = (0.8, 0.9, 1.0, 1.1, 1.25)
SETTLING = (rims.WINDOWS[-1],) * 3
#: A disc's outline differs from the common radius by at most this.
SAME_RADIUS, WIDER_RADIUS = 0.06, 0.11
#: Least share of a rim of the common radius.
LEAST_RIM = 0.65
#: A disc in the hole is off its centre by at most this many disc radii: play of the hole, its place, parallax.
OFF_CENTRE = 0.3


#: An outline at least this complete and this much wider than a disc is the rim of an empty hole.
OPEN_RIM, OPEN_WIDER = 0.7, 1.07
#: A disc in the hole has a team's colour to within this many standard deviations.
MOST_STRANGE, SAME_COLOUR = 2.6, 0.7
#: A whole outline of just the common radius is a disc's in a colour as far off as another light on it can make it;
#: then it is doubtful.
WHOLE_RIM, JUST_RADIUS, OTHER_LIGHT, DOUBTFUL = 0.9, 0.045, 5.0, 0.7
#: An empty hole may be as dark as a dark set, hardly ever of a set's very hue: inside of a rim that is at most so much
#: wider, that colour is a disc's, doubtful, unless it is as dark and grey as these (L, chroma) or the board's own.
SAME_HUE, FAR_WIDER, DARK_L, GREY, LIKE_BOARD = 1.5, 1.3, 30.0, 20.0, 15.0
#: Of outlines as clear as each other the one nearest to the common radius counts.
NEARER = 0.5


@dataclass(frozen=True, slots=True)
class HoleReading:
    """The 20-hole in one picture.

    Attributes:
        open: the rim of the empty hole is seen.
        disc: the disc that lies flat in it.
        centre_mm: its centre as seen on the board plane.
        radius_mm: its radius if open, else that of the outline in the middle.
        unclear: its colour is a team's although no disc was told in it, so that a disc would hardly be seen.
    """

    open: bool
    disc: SeenDisc | None
    centre_mm: tuple[float, float]
    radius_mm: float
    unclear: bool = False


def read_hole(lab: Floats, calibration: Calibration, r0_mm: float, teams: TeamColours | None) -> HoleReading:
    """Look into the hole.

    Args:
        lab: float Lab picture.
        calibration: of its camera.
        r0_mm: radius of the discs as seen on the board plane.
        teams: colours of the discs; without them nothing in the hole is called a disc.
    """
    matrix, foot = calibration.image_from_board, calibration.foot_xy_mm
    hole = np.array(calibration.hole_xy_mm)
    starts = np.array(STARTS) * r0_mm
    middle = np.repeat(hole[None], len(starts), axis=0)
    xy, radius, _ = rims.refine(
        lab, matrix, middle, starts, foot_xy_mm=foot, fixed=False, windows=(*rims.WINDOWS, *SETTLING)
    )
    fixed, _, _ = rims.refine(lab, matrix, hole[None], np.array([r0_mm]), foot_xy_mm=foot, fixed=True)
    seen = rims.examine(lab, matrix, np.concatenate([xy, fixed]), np.append(radius, r0_mm))
    whole = seen.agreement * np.minimum(seen.contrast / 0.8, 1.0)
    near = np.linalg.norm(xy - hole, axis=1) < 0.5 * r0_mm
    quality = whole[:-1] * near
    best = int(np.argmax(quality - NEARER * np.abs(radius / r0_mm - 1.0)))
    centre, ratio = xy[best], float(radius[best]) / r0_mm
    rim = float(whole[-1])
    off = float(np.linalg.norm(fixed[0] - hole))
    disc = None
    unclear = teams is not None and float(strangeness(seen.colour[-1:], teams)[0]) <= MOST_STRANGE
    if teams is not None and off <= OFF_CENTRE * r0_mm:
        odd = float(strangeness(seen.colour[-1:], teams)[0])
        clearest = float(quality[best])
        lies = odd <= MOST_STRANGE and rim >= LEAST_RIM and (abs(ratio - 1.0) < SAME_RADIUS or clearest < rim)
        # The rim of the hole around the disc may be the clearer outline; then only its very colour tells.
        lies |= odd < SAME_COLOUR and clearest >= LEAST_RIM and abs(ratio - 1.0) < WIDER_RADIUS
        just = min(rim, clearest) >= WHOLE_RIM and abs(ratio - 1.0) < JUST_RADIUS and odd <= OTHER_LIGHT
        hued = (
            odd <= SAME_HUE and clearest >= OPEN_RIM and ratio < FAR_WIDER and _hued(seen.colour[-1], lab, calibration)
        )
        if lies or just or hued:
            sure = rim if lies else min(rim, DOUBTFUL)
            disc = _disc_in_hole(calibration, fixed[0], seen.colour[-1], sure, r0_mm)
    other_radius = ratio > OPEN_WIDER or ratio < 2.0 - OPEN_WIDER
    return HoleReading(
        open=disc is None and float(quality[best]) >= OPEN_RIM and other_radius,
        disc=disc,
        centre_mm=(float(centre[0]), float(centre[1])),
        radius_mm=float(radius[best]),
        unclear=unclear and disc is None,
    )


def _hued(colour: Array, lab: Floats, calibration: Calibration) -> bool:
    """Whether a colour is neither that of shade nor that of the wood around."""
    shade = colour[0] < DARK_L and math.hypot(colour[1], colour[2]) < GREY
    return not shade and float(np.linalg.norm(colour - surface_colour(lab, calibration))) > LIKE_BOARD


def _disc_in_hole(calibration: Calibration, seen: Array, colour: Array, rim: float, r0_mm: float) -> SeenDisc:
    board = calibration.board
    foot = np.array(calibration.foot_xy_mm)
    base = foot + (seen - foot) * (1.0 - board.proud_mm / calibration.camera_height_mm)
    return SeenDisc(
        x_mm=float(base[0]),
        y_mm=float(base[1]),
        top_xy_mm=(float(seen[0]), float(seen[1])),
        radius_mm=r0_mm * (1.0 - board.disc_height_mm / calibration.camera_height_mm),
        quality=min(1.0, rim),
        colour=(float(colour[0]), float(colour[1]), float(colour[2])),
        sigma_mm=math.hypot(0.04 * r0_mm, 0.5),
        place="hole",
    )
