"""A set learned from several discs at once: what looks alike at several places, and is no wood, is a set of discs.

The first disc of a set is known by its edge. A maple disc on maple has hardly one, and where the lamp is hard the edge
of its shadow is the stronger: then the set stays unknown, or is learned where no disc lies, and none of its discs is
found after that. But discs of a set are made alike, and shadows, glare and dirt are not: a look learned at one place
that draws what is seen at two others is the look of a set, and one that draws nothing else is none.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from firmware_py.camera.picture.regions import Mask
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Look, Patch, draw, length_of, patch_offsets
from firmware_py.camera.rest.fitting import LookFit, fit_look
from firmware_py.camera.rest.learning import learn_look, without_neighbours

Xy = tuple[float, float]

#: A look draws so much of the place where it was learned, and is worth so much at others, of which there are so many.
OWN_EXPLAINED, _WORTH, OTHERS = 0.45, 0.5, 2
#: A disc leaves no more than this share of what darker wood leaves: discs of the wood's own colour left up to 0.48,
#: nearly all shadows of sticks 1.2 and more. What is left of a pixel counts up to so many grey levels.
_CLEARLY, _MOST_LEFT = 0.75, 60.0
#: So many places are looked at, and looks learned at so many of them: those with the clearest circles.
_PLACES, _LEARNED_AT = 16, 8
#: So much of a disc's face is seen, not hidden by others, where one teaches or agrees.
_SHOWN = 0.75
#: Centres nearer to each other than so many radii are of one disc.
_APART = 1.8
#: A look and a place are brought together in so many turns.
_TURNS, _ROUNDS = 3, 6
#: Of the face a first colour is taken within so many radii.
_CORE = 0.75


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place where a disc may lie.

    Attributes:
        xy_mm: centre of its top face in the straight view.
        votes: how clear a circle is seen there.
        patch: the pixels around it, known discs masked.
    """

    xy_mm: Xy
    votes: float
    patch: Patch


@dataclass(frozen=True, slots=True)
class Agreed:
    """A look that several places share.

    Attributes:
        look: as learned at one of them.
        shade: the shadow that was learned with it.
        worths: how well it draws each of the others.
    """

    look: Look
    shade: Shade
    worths: tuple[float, ...]


def agreed(view: BoardView, shade: Shade, suspects: Sequence[Suspect], rivals: Iterable[Look] = ()) -> Agreed | None:
    """The look that most of the suspects share; None if no three of them do.

    Args:
        view: the camera's view.
        shade: the shadow as far as it is known; not changed.
        suspects: places where no disc is known.
        rivals: looks that are hardly known; one that draws no more than these is no better.
    """
    clear = sorted((s for s in suspects if _shown(view, s) >= _SHOWN), key=lambda s: -s.votes)[:_PLACES]
    if len(clear) <= OTHERS:
        return None
    most = max((sum(_worths(view, (rival, shade), None, clear)) for rival in rivals), default=0.0)
    best: Agreed | None = None
    for suspect in clear[:_LEARNED_AT]:
        tried = _learned_at(view, shade, suspect)
        if tried is None:
            continue
        look, shadow, at = tried
        worths = _worths(view, (look, shadow), at, [s for s in clear if s is not suspect])
        if len(worths) >= OTHERS and sum(worths) > most:
            most = sum(worths)
            best = Agreed(look, shadow, worths)
    return best


def _shown(view: BoardView, suspect: Suspect) -> float:
    """The share of a disc's face there that nothing hides."""
    near = _within(view, suspect.patch, suspect.xy_mm, view.board.disc_radius_mm)
    return float(suspect.patch.weight[near].mean()) if near.any() else 0.0


def _within(view: BoardView, patch: Patch, xy_mm: Xy, radius_mm: float) -> Mask:
    dx, dy = patch_offsets()
    cx, cy = view.to_mm(patch.column, patch.row)
    return np.asarray(length_of(dx + np.float32(cx - xy_mm[0]), dy + np.float32(cy - xy_mm[1])) < radius_mm)


def _learned_at(view: BoardView, shade: Shade, suspect: Suspect) -> tuple[Look, Shade, Xy] | None:
    """The look that a disc there would have, its shadow and its place; None if that is none."""
    radius, at = view.board.disc_radius_mm, suspect.xy_mm
    core = _within(view, suspect.patch, at, _CORE * radius) & (suspect.patch.weight > 0.5)
    b, g, r = (float(v) for v in np.median(suspect.patch.seen[:, core], axis=1) / suspect.patch.light)
    look, shadow = Look.plain(radius, (b, g, r)), copy.deepcopy(shade)
    patch = without_neighbours(view, suspect.patch, at, radius)
    explained = 0.0
    for _ in range(_TURNS):
        look.learned = min(look.learned, 1.0)
        learn_look(view, look, shadow, patch, at)
        fit = fit_look(view, look, shadow, patch, at)
        if fit is None:
            return None
        at, explained = (fit.x_mm, fit.y_mm), fit.explained
    look.learned = 1.0
    return (look, shadow, at) if explained >= OWN_EXPLAINED else None


def _worths(view: BoardView, wear: tuple[Look, Shade], at: Xy | None, others: Sequence[Suspect]) -> tuple[float, ...]:
    """How well a look draws the discs of other places, each disc once."""
    apart = _APART * view.board.disc_radius_mm
    drawn: list[tuple[float, Xy]] = []
    for other in others:
        fit = fit_look(view, *wear, other.patch, other.xy_mm, rounds=_ROUNDS)
        if fit is None or fit.worth < _WORTH:
            continue
        if _against_shadow(view, wear, other.patch, fit) <= _CLEARLY:
            drawn.append((fit.worth, (fit.x_mm, fit.y_mm)))
    taken: list[tuple[float, Xy]] = []
    for worth, place in sorted(drawn, reverse=True):
        if all(math.dist(place, o) >= apart for o in ((at,) if at else ()) + tuple(p for _, p in taken)):
            taken.append((worth, place))
    return tuple(worth for worth, _ in taken)


def _against_shadow(view: BoardView, wear: tuple[Look, Shade], patch: Patch, fit: LookFit) -> float:
    """What a disc leaves of its face against what darker wood would: in a shadow grain and lines stay to be seen."""
    at = (fit.x_mm, fit.y_mm)
    face = _within(view, patch, at, view.board.disc_radius_mm) & (patch.weight > 0.5)
    drawing = draw(view, wear, patch, at)
    drawn = (drawing.open_wood * patch.bare + np.float32(fit.gain) * drawing.own)[:, face]
    seen, wood = patch.seen[:, face], patch.bare[:, face]
    darker = wood * np.float32(np.vdot(seen, wood) / max(1.0, float(np.vdot(wood, wood))))
    disc, shadow = (float(np.minimum(np.abs(seen - o), _MOST_LEFT).sum()) for o in (drawn, darker))
    return disc / max(1.0, shadow)
