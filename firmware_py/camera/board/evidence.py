"""Whether three rings around one centre belong to a crokinole board: targets and plates have rings as well.

A board has three rings and no more: further equal ones between or evenly outside them make a target or a record. And a
board has a hole in the middle and a playing surface that ends a little beyond the outer line; bare rings have neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from firmware_py.camera.board.ringfit import SIDES, STEP, RingFit
from firmware_py.camera.picture.lab import Array, Floats, apply_homography, ridge, sample

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
    def bare_board(self) -> bool:
        """The same where no disc lies that would tell it too: a plate has an edge, a target a spot in the middle."""
        return self.board and self.hole and self.edge


def look_around(lab: Floats, fit: RingFit) -> Evidence:
    """Look for what tells a board from other rings.

    Args:
        lab: float Lab picture the rings were fitted in.
        fit: the rings.
    """
    angle = np.arange(ANGLES) * (2 * np.pi / ANGLES)
    radii = np.arange(REACH[0], REACH[1], STEP)
    x, y = apply_homography(fit.homography, np.cos(angle)[:, None] * radii, np.sin(angle)[:, None] * radii)
    profiles = sample(lab, x, y)
    return Evidence(
        hole=_step_around(profiles, radii, HOLE_RIM),
        edge=_step_around(profiles, radii, SURFACE_EDGE),
        further=_further(profiles, radii, fit.ratios),
    )


def _further(profiles: Floats, radii: Array, ratios: tuple[float, float, float]) -> tuple[float, ...]:
    strength = cv2.dilate(np.nan_to_num(ridge(profiles, SIDES)), np.ones((1, 5), np.uint8))
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
    step = np.linalg.norm(part[:, 2 * STEP_SIDE :] - part[:, : -2 * STEP_SIDE], axis=2)
    step = step[np.isfinite(step).all(axis=1)]
    if len(step) < ANGLES / 3:
        return False
    usual = np.median(step, axis=0)
    return bool(usual.max() >= max(LEAST_STEP, OVER_USUAL * float(np.median(usual))))
