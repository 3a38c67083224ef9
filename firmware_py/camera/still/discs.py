"""Every disc in one picture of a calibrated board: on the surface, in the ditch, in the hole.

The steps: all edges vote for centres (:mod:`discvotes`), the suspects' rims are fitted (:mod:`rims`), the common radius
of the discs is learned from the clearest ones, all suspects are fitted again with it, and what has enough rim is a
disc. The radius is one for all discs of a board: a dark disc on light wood seems larger by its shadow, never is.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import Array, Floats, Image, exposure_gain, to_lab
from firmware_py.camera.still import rims
from firmware_py.camera.still.colours import TeamColours, learn, strangeness
from firmware_py.camera.still.discvotes import rim_votes, suspects
from firmware_py.camera.still.hole import read_hole
from firmware_py.camera.still.locallight import local_light, relit
from firmware_py.camera.still.printed import like_print, of_neither_team
from firmware_py.camera.still.seen import DiscReading, SeenDisc
from firmware_py.camera.still.surface import Pixels, find_surface_radius, straight_view, surface_colour

#: Radius of the outer line in the straight view that votes are cast in.
VIEW_PX = 150
#: The straight view reaches this many outer radii from the centre; discs in the corners of the ditch lie at 1.33.
VIEW_REACH = 1.42
#: No disc's centre lies farther out, in outer radii.
FARTHEST = 1.36
#: From here on, in outer radii, discs lie in the ditch or at most hang over it.
BEYOND_SURFACE = 1.07
#: Suspects on the surface, and as many in the ditch, that are looked at: first for the radius, then for discs.
FIRST_LOOK, SECOND_LOOK = 20, 34
#: Disc radii looked for while none is known, in outer radii; 0.051..0.070 were measured on real boards.
RADIUS_RANGE = (0.044, 0.078)
#: Score from which a suspect is a disc, and from which it teaches radius and colours.
ACCEPT, CLEAR = 0.48, 0.64
#: A rim of the common radius this complete needs no second look with a free radius.
UNDOUBTED = 0.85
#: A suspect is looked at no further when the first look finds too little of a rim: a share of the rays that, with so
#: much of the share of the votes, stays below this. Of 332 discs in 19 pictures none did, of 698 other places a third.
VOTES_COUNT, LEAST_LIKELY = 0.7, 0.55
#: Nor does one that is so incomplete with so small a share of the votes: no disc was ever found by it.
HOPELESS_RIM, HOPELESS_SHARE = 0.4, 0.35
#: Suspects with this share of the votes may teach the radius, and at most so many of them, the best ones, do.
TEACHING_SHARE, TEACHERS = 0.5, 20
#: Nearer to the middle of the hole than this, in radii, a disc falls in: what is seen there as lying on the board is
#: the hole itself, or a disc that leans in it: off the middle, very clear, and of a team's colour.
TIPS_IN = 0.42
LEANS = 0.22
LEANER = 0.78
#: A rim around another outline is looked for at these radii beside it.
NESTED = (1.25, 1.5)
#: Outlines of darker discs seem larger than they are by the inverse of this; from the second figure on, when so many
#: agree to within so much, the lighter ones were not seen to their rims.
DARKER, LARGER, ENOUGH_LARGER, SAME_SIZE = 0.985, 1.15, 3, 0.12
#: Outlines that differ by less than this share are of one size.
AGREES = 0.07
#: Discs closer than this, in radii, are one disc seen twice; leaning ones in the ditch overlap in the picture.
APART = 1.3
#: Strangeness of colour up to which a suspect gains by its colour is 1.5 times this.
USUAL_STRANGENESS = 2.5
#: Inside of a disc colours differ by less than this share of how far it differs from what it lies on, glare apart;
#: printed numbers are ink and wood. A suspect as uneven as the second figure, where numbers are, loses so much.
EVEN, UNEVEN, UNEVEN_COSTS = 0.3, 0.7, 0.05
#: A suspect from which what is around differs on less than the second share of the rays loses by being uneven, the
#: whole from the first share on; of discs on real boards none differed on less than 0.7.
HOLLOW, HOLLOW_COSTS = (0.2, 0.4), 0.2
#: A disc lighter than its surroundings by this, in L, has an outline that no shadow enlarges.
LIGHTER = 8.0


@dataclass(frozen=True, slots=True)
class _Found:
    """Suspects with everything measured on them; one row each, places on the board plane as seen."""

    xy: Array
    score: Array
    colour: Array

    def only(self, keep: Array) -> _Found:
        return _Found(xy=self.xy[keep], score=self.score[keep], colour=self.colour[keep])


def find_discs(
    bgr: Image, calibration: Calibration, *, radius_mm: float | None = None, teams: TeamColours | None = None
) -> DiscReading:
    """Find every disc in a picture.

    Args:
        bgr: picture of the calibrated camera, 8-bit, blue first.
        calibration: of this camera, for pictures of this size.
        radius_mm: radius of the discs if known; otherwise it is learned from the picture.
        teams: colours of the discs if known; otherwise they are learned from the picture.

    Returns:
        The discs with their bases' places; none on an empty board.
    """
    gain = exposure_gain(bgr)
    view = to_lab(disc_view(bgr, calibration), gain)
    return read_discs(to_lab(bgr, gain), view, calibration, radius_mm=radius_mm, teams=teams)


def disc_view(picture: Pixels, calibration: Calibration, smaller: Pixels | None = None) -> Pixels:
    """The straight view in which discs are looked for.

    Args:
        picture: of the calibrated camera, of any depth.
        calibration: of this camera, for pictures of this size.
        smaller: a smaller copy of the picture, which is taken where it is large enough.
    """
    outer = calibration.board.outer_line_mm
    return straight_view(picture, calibration, outer / VIEW_PX, VIEW_REACH * outer, smaller)


def read_discs(
    lab: Floats,
    view: Floats,
    calibration: Calibration,
    *,
    radius_mm: float | None = None,
    teams: TeamColours | None = None,
) -> DiscReading:
    """Find every disc in a Lab picture; otherwise as :func:`find_discs`.

    Args:
        lab: the picture in Lab after exposure gain.
        view: :func:`disc_view` of it in Lab.
        calibration: as there.
        radius_mm: likewise.
        teams: likewise.
    """
    board = calibration.board
    outer = board.outer_line_mm
    lift = calibration.camera_height_mm / (calibration.camera_height_mm - board.disc_height_mm)
    scale = outer / VIEW_PX
    if radius_mm is None:
        radii_px = np.arange(RADIUS_RANGE[0] * VIEW_PX, RADIUS_RANGE[1] * VIEW_PX, 1.0)
    else:
        radii_px = radius_mm * lift / scale * np.array([0.96, 1.0, 1.04])
    votes = rim_votes(view, radii_px)
    surface = find_surface_radius(lab, calibration) or board.surface_radius_mm / board.outer_line_mm * outer

    seen_radius = None if radius_mm is None else radius_mm * lift
    if seen_radius is None:
        seen_radius = _learn_radius(lab, calibration, _places(votes, radii_px, scale, outer, FIRST_LOOK), surface)
    r0 = board.disc_radius_mm * lift if seen_radius is None else seen_radius
    away = np.abs(radii_px * scale / r0 - 1.0)
    # A radius beyond those voted for (a camera taken to be very low) is met by the nearest of them.
    band = away <= max(0.1, float(away.min()))
    places = _places(votes[band], radii_px[band], scale, outer, SECOND_LOOK)
    found = _measure(lab, calibration, places, r0)
    off_hole = np.linalg.norm(found.xy - np.array(calibration.hole_xy_mm), axis=1)
    given = teams
    if given is None:
        clear = (found.score > CLEAR) & (off_hole > 0.6 * r0)
        teams = learn(found.colour[clear], found.score[clear])
    found = _weigh_colours(found, teams)
    hole = read_hole(lab, calibration, r0, teams)
    leaner = LEANER if teams is not None else np.inf
    least = np.select([off_hole > TIPS_IN * r0, off_hole > LEANS * r0], [ACCEPT, leaner], np.inf)
    if hole.open:
        least = np.where(np.linalg.norm(found.xy - np.array(hole.centre_mm), axis=1) < 0.5 * r0, np.inf, least)
    elif hole.disc is not None:
        least = np.where(np.linalg.norm(found.xy - np.array(hole.centre_mm), axis=1) < r0, np.inf, least)
    found = _apart(found.only(found.score > least), APART * r0)
    if given is None and len(found.xy):
        teams = learn(found.colour, found.score)
    discs = [_seen_disc(calibration, found, k, r0 / lift, surface) for k in range(len(found.xy))]
    if hole.disc is not None:
        discs.append(hole.disc)
    discs.sort(key=lambda d: d.r_mm)
    return DiscReading(
        discs=_without_print(lab, calibration, discs, r0),
        radius_mm=r0 / lift,
        radius_seen=radius_mm is None and seen_radius is not None,
        teams=teams,
        surface_radius_mm=surface,
        hole_unclear=hole.unclear,
    )


def _without_print(lab: Floats, calibration: Calibration, discs: list[SeenDisc], r0: float) -> tuple[SeenDisc, ...]:
    """The discs with the light on each and strangers named, without badges, holes and a cloth's dots."""
    if not discs:
        return ()
    light = local_light(lab, calibration, np.array([d.top_xy_mm for d in discs]), r0)
    colours = np.array([d.colour for d in discs])
    odd = of_neither_team(colours, relit(colours, light))
    places = np.array([d.place for d in discs])
    none = odd & (places != "surface")
    printed = odd & (places == "surface")
    if printed.any():
        none |= printed & like_print(colours, lab, calibration, surface_colour(lab, calibration))
    told = zip(discs, light, odd, none, strict=True)
    return tuple(replace(d, light=float(lit), odd=bool(strange)) for d, lit, strange, no_disc in told if not no_disc)


def _weigh_colours(found: _Found, teams: TeamColours | None) -> _Found:
    """Scores raised where a suspect has a team's colour and lowered where it has a foreign one."""
    if teams is None:
        return found
    odd = strangeness(found.colour, teams) / USUAL_STRANGENESS
    return _Found(xy=found.xy, score=found.score + 0.08 * np.clip(1.5 - odd, -1.0, 1.0), colour=found.colour)


def _places(votes: Floats, radii_px: Array, scale: float, outer_mm: float, most: int) -> Array:
    """Rows ``(x_mm, y_mm, radius_mm, share)`` of the suspects on the board plane, best first.

    At most ``most`` on the surface and as many in the ditch: a full ditch or the cloth beyond it, however many round
    things it shows, takes no place from the discs that count.
    """
    middle = (votes.shape[1] - 1) / 2
    best = np.asarray(votes.max(axis=0))
    found = []
    for part in _surface_and_ditch(votes.shape[1], outer_mm / scale):
        peaks = suspects(votes, best * part, radii_px, apart_px=0.02 * VIEW_PX, most=most)
        x, y = (peaks[:, 0] - middle) * scale, (middle - peaks[:, 1]) * scale
        found.append(np.stack([x, y, peaks[:, 2] * scale, peaks[:, 3]], axis=1))
    rows = np.concatenate(found)
    return np.asarray(rows[np.argsort(-rows[:, 3], kind="stable")])


@functools.lru_cache(maxsize=4)
def _surface_and_ditch(side: int, outer_px: float) -> tuple[Floats, Floats]:
    """Where in the straight view discs count and where they lie in the ditch, 1 there and 0 elsewhere."""
    across = np.arange(side) - (side - 1) / 2
    out2 = across[:, None] ** 2 + across**2
    surface2, farthest2 = ((part * outer_px) ** 2 for part in (BEYOND_SURFACE, FARTHEST))
    on_surface = out2 < surface2
    return on_surface.astype(np.float32), ((out2 < farthest2) & ~on_surface).astype(np.float32)


def _quality(seen: rims.Rims) -> Array:
    return np.asarray(seen.agreement * np.minimum(seen.contrast / 0.8, 1.0))


def _learn_radius(lab: Floats, calibration: Calibration, places: Array, surface_mm: float) -> float | None:
    """The common radius of the discs as seen on the board plane; None when no disc is clear enough.

    Discs lighter than what they lie on decide if there are any: shadows and side walls darken what is around a disc,
    so they blur the outline of dark discs only, and make them seem about 2 % larger.
    """
    places = places[places[:, 3] > TEACHING_SHARE][:TEACHERS]
    if len(places) == 0:
        return None
    matrix, foot = calibration.image_from_board, calibration.foot_xy_mm
    xy, radius, _ = rims.refine(lab, matrix, places[:, :2], places[:, 2], foot_xy_mm=foot, fixed=False)
    seen = rims.examine(lab, matrix, xy, radius)
    clear = _quality(seen) > 0.7
    # A ring turned or painted on the face, or the hole of a washer, is as round as the rim: a rim around it counts.
    largest = RADIUS_RANGE[1] * calibration.board.outer_line_mm
    for wider_by in NESTED if clear.any() else ():
        around, wider, _ = rims.refine(lab, matrix, xy[clear], wider_by * radius[clear], foot_xy_mm=foot, fixed=False)
        outline = _quality(rims.examine(lab, matrix, around, wider))
        nested = (outline > 0.8) & (wider > 1.12 * radius[clear]) & (wider < largest)
        nested &= np.linalg.norm(around - xy[clear], axis=1) < 0.12 * wider
        radius[clear] = np.where(nested, wider, radius[clear])
    from_centre = np.linalg.norm(xy - np.array(calibration.hole_xy_mm), axis=1)
    clear &= from_centre > 0.6 * radius
    on_surface = clear & (np.hypot(*xy.T) < surface_mm - 0.5 * radius)
    lighter = on_surface & (seen.inside_l - seen.outside_l > LIGHTER)
    darker = on_surface & ~lighter
    others = np.where(seen.inside_l - seen.outside_l > LIGHTER, radius, DARKER * radius)[clear]
    if not clear.any():
        return None
    common, many = _agreed(others, others)
    if not on_surface.any():
        return common
    own, alike = _agreed(radius[lighter] if lighter.any() else DARKER * radius[on_surface], others)
    if alike < 2 and many >= ENOUGH_LARGER:
        # One outline that no other bears out is a badge's or a letter's, or was met beside the rim.
        own = common
    larger = radius[darker & (radius > LARGER * own)] if lighter.any() else radius[:0]
    # All discs have one size: what is lighter and smaller is a part of a face, if enough outlines agree on more.
    if len(larger) < ENOUGH_LARGER or np.ptp(larger) > SAME_SIZE * float(np.median(larger)):
        return own
    return float(np.median(larger)) * DARKER


def _agreed(radii: Array, voters: Array) -> tuple[float, int]:
    """The middle of those radii with which most voters agree, so that no badge or letter counts; and how many do."""
    votes = (np.abs(voters / radii[:, None] - 1.0) < AGREES).sum(axis=1)
    most = np.sort(radii[votes == votes.max()])
    best = most[(len(most) - 1) // 2]
    return float(np.median(radii[np.abs(radii / best - 1.0) < SAME_SIZE])), int(votes.max())


def _measure(lab: Floats, calibration: Calibration, places: Array, r0: float) -> _Found:
    """Fit all suspects with the common radius and score them."""
    none = _Found(xy=np.zeros((0, 2)), score=np.zeros(0), colour=np.zeros((0, 3)))
    if len(places) == 0:
        return none
    matrix, foot = calibration.image_from_board, calibration.foot_xy_mm
    common = np.full(len(places), r0)
    rough, _, likely = rims.refine(
        lab, matrix, places[:, :2], common, foot_xy_mm=foot, fixed=True, windows=rims.WINDOWS[:1]
    )
    promising = likely + VOTES_COUNT * places[:, 3] > LEAST_LIKELY
    if not promising.any():
        return none
    places, rough, common = places[promising], rough[promising], common[promising]
    fixed, _, _ = rims.refine(lab, matrix, rough, common, foot_xy_mm=foot, fixed=True, windows=rims.WINDOWS[1:])
    seen = rims.examine(lab, matrix, fixed, common)
    quality = _quality(seen)
    # In the ditch a side wall of the same colour may merge with the face: then the free outline is the clearer one.
    weak = (quality < UNDOUBTED) & ((quality > HOPELESS_RIM) | (places[:, 3] > HOPELESS_SHARE))
    if weak.any():
        free, radius, _ = rims.refine(lab, matrix, places[weak, :2], common[weak], foot_xy_mm=foot, fixed=False)
        outline = _quality(rims.examine(lab, matrix, free, radius)) * _radius_trust(radius / r0)
        quality[weak] = np.maximum(quality[weak], outline)
    # What is uneven outside as well is the picture's noise.
    own = np.sqrt(np.maximum(seen.spread**2 - seen.grain**2, 0.0))
    uneven = np.clip((own / np.maximum(seen.apart, 1.0) - EVEN) / (UNEVEN - EVEN), 0.0, 1.0)
    # An outline alone, with ink inside: a ring with a star or a number in it shows the same wood on both its sides.
    hollow = uneven * np.clip((HOLLOW[1] - seen.contrast) / (HOLLOW[1] - HOLLOW[0]), 0.0, 1.0)
    # Numbers never get the whole share of the votes; a disc under a lamp's glare, uneven as well, does.
    share = np.minimum(places[:, 3], 1.0)
    uneven *= np.minimum(2.0 * (1.0 - share), 1.0) * (np.hypot(*fixed.T) < calibration.board.outer_line_mm)
    score = 0.5 * share + 0.5 * quality - UNEVEN_COSTS * uneven - HOLLOW_COSTS * hollow
    return _Found(xy=fixed, score=score, colour=seen.colour)


def _radius_trust(ratio: Array) -> Array:
    """How far a freely fitted outline is believed to be a disc's: side walls make it seem up to 15 % larger."""
    return np.clip(1.0 - np.maximum(np.maximum(0.9 - ratio, ratio - 1.15), 0.0) / 0.12, 0.0, 1.0)


def _apart(found: _Found, least_mm: float) -> _Found:
    """Of suspects that lie on each other the best one."""
    near = np.hypot(*(found.xy[:, None] - found.xy[None]).transpose(2, 0, 1)) <= least_mm
    keep: list[int] = []
    for k in np.argsort(-found.score):
        if not near[k, keep].any():
            keep.append(int(k))
    return found.only(np.array(keep, dtype=np.intp))


def _seen_disc(calibration: Calibration, found: _Found, k: int, radius_mm: float, surface_mm: float) -> SeenDisc:
    board = calibration.board
    seen = found.xy[k]
    foot = np.array(calibration.foot_xy_mm)
    height = calibration.camera_height_mm
    base = foot + (seen - foot) * (1.0 - board.disc_height_mm / height)
    r_mm = float(np.hypot(*base))
    in_ditch = r_mm > surface_mm + 0.4 * radius_mm
    if in_ditch:
        drop = board.disc_height_mm - board.surface_height_mm
        base = foot + (seen - foot) * (1.0 - drop / height)
    # The parallax is as unsure as the camera's height; the rim itself is good to a few hundredths of its radius.
    parallax = float(np.linalg.norm(seen - foot)) * board.disc_height_mm / height
    sigma = math.hypot(0.04 * radius_mm, parallax * (calibration.height_spread - 1.0), calibration.residual_mm / 2)
    colour = found.colour[k]
    return SeenDisc(
        x_mm=float(base[0]),
        y_mm=float(base[1]),
        top_xy_mm=(float(seen[0]), float(seen[1])),
        radius_mm=radius_mm,
        quality=min(1.0, float(found.score[k])),
        colour=(float(colour[0]), float(colour[1]), float(colour[2])),
        sigma_mm=sigma,
        place="ditch" if in_ditch else "surface",
    )
