"""Whether three rings around one centre belong to a crokinole board: targets and plates have rings as well.

A board has three rings and no more: further equal ones between or evenly outside them make a target or a record. And a
board has a hole in the middle and a playing surface that ends a little beyond the outer line; bare rings have neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from firmware_py.camera.board.ringfit import STEP, RingFit
from firmware_py.camera.picture.lab import (
    LIMITS,
    LINES,
    Array,
    Floats,
    along_rays,
    apply_homography,
    directions,
    ridge,
    sample,
)

ANGLES = 120
#: Looked at from here to there, in outer radii.
REACH = (0.02, 1.5)
#: A ring nearer than this to one of the three, or inside of the hole's rim, is no further one.
OWN, INNERMOST = 0.035, 0.09
#: A further ring is as strong as this share of the weakest of the three, at this share of the angles, which is this
#: much more than at any other radius: in noise a line seems to be everywhere.
EQUAL, ALL_ROUND, ABOVE_CHANCE = 0.4, 0.75, 0.35
#: Beyond the outer line a ring counts when it goes on with the spacing of the three to within this; rails do not.
EVENLY = 0.03
#: The rim of the hole, and the edge of the surface, in outer radii.
HOLE_RIM, SURFACE_EDGE = (0.03, 0.085), (1.03, 1.3)
#: A step of colour that runs around is at least this large, in Lab units, and this many times the usual change there.
LEAST_STEP, OVER_USUAL = 5.0, 1.5
#: Farther in than this printed numbers and art stand close together and pass for rings.
FAR_IN = 0.2
#: Where, inside of what passes for the outer line, the true one may be when the edge of the surface was met, in outer
#: radii: the strip beyond the outer line is 0.04 to 0.14 of its radius wide.
INNER_STRIP = (0.85, 0.985)
#: Quarter lines are looked for in so many directions of each quarter, against so many of these to either side, and are
#: so strong at least, in Lab units, in the middle of what is seen along them, and so many times what four in five other
#: directions show; one of the four may be hidden.
QUARTER_STEPS, QUARTER_SIDES, QUARTER_LINE, QUARTER_STANDS_OUT = 180, (2, 3), 1.0, 2.0
#: Lines nearly as strong count as the same; besides the quarter line one more, by chance, may be seen in each quarter.
SAME_QUARTER_LINE, MOST_QUARTER_LINES = 0.7, 2
#: Over how many samples on either side a step is taken.
STEP_SIDE = 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a picture shows beside the three rings.

    Attributes:
        hole: a step of colour runs around where the rim of the hole is.
        edge: a step of colour runs around where the playing surface ends.
        further: radii of further equal rings, in outer radii.
    """

    hole: bool
    edge: bool
    further: tuple[float, ...]

    @property
    def board(self) -> bool:
        """Whether the rings are those of a board."""
        return (self.hole or self.edge) if not self.further else (self.hole and self.edge and len(self.further) == 1)

    @property
    def painted_board(self) -> bool:
        """Whether rings that were met as limits of paints may be a board's: few lines are between those of a target."""
        return (self.hole or self.edge) and not any(FAR_IN < radius < 1.0 for radius in self.further)

    @property
    def bare_board(self) -> bool:
        """The same where no disc lies that would tell it too: a plate has an edge, a target a spot in the middle."""
        return self.board and self.hole and self.edge


def look_around(lab: Floats, fit: RingFit) -> Evidence:
    """Look for what tells a board from other rings.

    Args:
        lab: float Lab picture the rings were fitted in.
        fit: the rings.
    """
    radii = np.arange(REACH[0], REACH[1], STEP)
    profiles = sample(lab, *along_rays(fit.homography, directions(ANGLES), radii))
    return Evidence(
        hole=_step_around(profiles, radii, HOLE_RIM),
        edge=_step_around(profiles, radii, SURFACE_EDGE),
        further=_further(profiles, radii, fit.ratios),
    )


def _further(profiles: Floats, radii: Array, ratios: tuple[float, float, float]) -> tuple[float, ...]:
    strength = cv2.dilate(ridge(profiles, LINES.sides), np.ones((1, 5), np.uint8))
    own = np.abs(radii - np.array(ratios)[:, None]).argmin(axis=1)
    least = max(1.0, EQUAL * float(np.median(strength[:, own], axis=0).min()))
    inside = np.isfinite(profiles[..., 0])
    share = ((strength > least) & inside).sum(axis=0) / np.maximum(inside.sum(axis=0), 1)
    share[inside.mean(axis=0) < 0.4] = 0.0
    gaps = (1.0 - ratios[1], (1.0 - ratios[0]) / 2)
    even = np.min([np.abs(radii - 1.0 - gap) for gap in gaps], axis=0) < EVENLY
    apart = np.abs(radii[:, None] - np.array(ratios)).min(axis=1) > OWN
    counts = apart & (radii > INNERMOST) & ((radii < 1.0) | even)
    limit = max(ALL_ROUND, float(np.median(share)) + ABOVE_CHANCE)
    rest = np.where(counts & (share >= limit), share, 0.0)
    found = []
    while rest.max() > 0.0:
        at = int(rest.argmax())
        found.append(float(radii[at]))
        rest[max(0, at - round(OWN / STEP)) : at + round(OWN / STEP) + 1] = 0.0
    return tuple(sorted(found))


def _step_around(profiles: Floats, radii: Array, span: tuple[float, float]) -> bool:
    low, high = (int(np.searchsorted(radii, r)) for r in span)
    part = profiles[:, low - STEP_SIDE : high + STEP_SIDE]
    change = part[:, 2 * STEP_SIDE :] - part[:, : -2 * STEP_SIDE]
    step = np.sqrt(np.einsum("arc,arc->ar", change, change))
    step = step[np.isfinite(step).all(axis=1)]
    if len(step) < ANGLES / 3:
        return False
    usual = np.median(step, axis=0)
    return bool(usual.max() >= max(LEAST_STEP, OVER_USUAL * float(np.median(usual))))


def inner_limit(lab: Floats, fit: RingFit) -> float | None:
    """Radius in outer radii of a limit of areas just inside what was taken for the outer line, None without one.

    Args:
        lab: float Lab picture the rings were fitted in.
        fit: the rings, met as limits of areas.
    """
    radii = np.arange(INNER_STRIP[0], INNER_STRIP[1], STEP)
    profiles = sample(lab, *along_rays(fit.homography, directions(ANGLES), radii))
    strength = cv2.dilate(LIMITS.strength(profiles, LIMITS.sides), np.ones((1, 5), np.uint8))
    share = (strength > LEAST_STEP).mean(axis=0)
    best = int(share.argmax())
    return float(radii[best]) if share[best] >= ALL_ROUND else None


def inner_line(lab: Floats, fit: RingFit) -> float | None:
    """Radius in outer radii of a further line just inside what was taken for the outer line, None without one.

    Nothing is printed there on a board, but the edge of the surface is often outlined: then that passed for the line.

    Args:
        lab: float Lab picture the rings were fitted in.
        fit: the rings, met as lines.
    """
    inside = [r for r in look_around(lab, fit).further if INNER_STRIP[0] < r < INNER_STRIP[1]]
    return min(inside, default=None)


def quarters_seen(lab: Floats, fit: RingFit) -> bool:
    """Whether straight lines part the outermost zone into quarters, which no target and no plate has.

    Args:
        lab: float Lab picture the rings were fitted in.
        fit: the rings.
    """
    turns = 4 * QUARTER_STEPS
    angle = np.arange(-max(QUARTER_SIDES), turns + max(QUARTER_SIDES)) * (2 * np.pi / turns)
    radii = np.linspace(fit.ratios[1] + OWN, 1.0 - OWN, 32)
    x, y = apply_homography(fit.homography, radii[:, None] * np.cos(angle), radii[:, None] * np.sin(angle))
    strength = ridge(sample(lab, x, y), QUARTER_SIDES)[:, max(QUARTER_SIDES) : -max(QUARTER_SIDES)]
    seen = np.median(cv2.dilate(strength, np.ones((1, 3), np.uint8)), axis=0)
    four = np.sort(seen.reshape(4, QUARTER_STEPS), axis=0)[1]
    # Elsewhere the same is seen faintly by chance, in grain, or as strongly and often, as the wires of a dartboard are.
    clear = four > SAME_QUARTER_LINE * four.max()
    places = np.count_nonzero(clear & ~np.roll(clear, 1))
    stands_out = four.max() >= max(QUARTER_LINE, QUARTER_STANDS_OUT * float(np.percentile(four, 80)))
    return bool(stands_out and places <= MOST_QUARTER_LINES)
