"""A disc at the hole, looked at from every side: flat in it, leaning in it, or flat on the wood over its rim.

A fit by looks that starts where the disc lay before, or where what changed has its middle, may come to rest on the rim
of the hole or on the edge of a neighbour. So such a disc is fitted from the middle of the hole and from all around it,
with its neighbours masked, and the fit that leaves the least unexplained is believed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import LookFit, Patch, Wardrobe, fit_look
from hub.link.messages import Colour, DiscState

Xy = tuple[float, float]

#: A disc flat in the hole is read within so much of where it can lie; one that leans is farther off, though its top
#: face, which is what is seen, leans back towards the middle. Of 48 discs of each kind on four boards the flat ones
#: were seen up to 0.5 mm beyond their play, the leaning ones from 1.3 mm on.
IN_HOLE_MM = 0.9
#: So near to that limit the two cannot be told from where the disc is seen.
UNSURE_MM = 0.35
_AROUND_MM = 5.0
_STARTS = 6
_REACH_MM = 14.0


def above_hole(view: BoardView, hole_xy_mm: Xy) -> Xy:
    """Where in the straight view a disc is seen that lies flat in the middle of the hole."""
    x, y = hole_xy_mm
    low_x, low_y = view.sink(x, y, view.board.hole_depth_mm)
    return (2 * x - low_x, 2 * y - low_y)


def best_at_hole(
    view: BoardView, wardrobe: Wardrobe, colours: Iterable[Colour], patch: Patch, hole_xy_mm: Xy
) -> tuple[Colour, LookFit] | None:
    """The set and the fit that best explain what is seen at the hole; None if every fit runs away.

    Args:
        view: the camera's view.
        wardrobe: the looks of the sets.
        colours: sets that the disc may be of.
        patch: the pixels around :func:`above_hole`, neighbours masked.
        hole_xy_mm: centre of the hole on the surface.
    """
    x, y = above_hole(view, hole_xy_mm)
    starts = [(x, y)]
    for k in range(_STARTS):
        turn = 2 * math.pi * k / _STARTS
        starts.append((x + _AROUND_MM * math.cos(turn), y + _AROUND_MM * math.sin(turn)))
    best: tuple[Colour, LookFit] | None = None
    for colour in colours:
        look = wardrobe.looks.get(colour)
        if look is None:
            continue
        tries = [fit_look(view, look, wardrobe.shade, patch, at, rounds=9, reach_mm=_REACH_MM) for at in starts]
        fit = min((f for f in tries if f is not None), key=lambda f: f.misfit, default=None)
        if fit is not None and (best is None or fit.worth > best[1].worth):
            best = (colour, fit)
    return best


def state_at_hole(view: BoardView, seen_xy_mm: Xy, hole_xy_mm: Xy) -> tuple[DiscState | None, DiscState | None]:
    """How a disc lies that is seen at a place, as far as the hole is concerned, and how else it might.

    Returns:
        ``hole``, ``leaning`` or None for neither; and which of the two first it may be as well, None if that is sure.
    """
    board = view.board
    low = view.sink(*seen_xy_mm, board.hole_depth_mm)
    over = math.dist(low, hole_xy_mm) - board.hole_play_mm - IN_HOLE_MM
    if over <= 0:
        return "hole", "leaning" if over > -UNSURE_MM else None
    if math.dist(seen_xy_mm, hole_xy_mm) < board.hole_radius_mm:
        return "leaning", "hole" if over < UNSURE_MM else None
    return None, None


def settled(hole_xy_mm: Xy, low_xy_mm: Xy, lay: int) -> Xy:
    """The hole's centre as discs that lie in it tell it, better than its edge, which is seen through varnish.

    Args:
        hole_xy_mm: as known so far.
        low_xy_mm: where the next disc lies in it.
        lay: how many have lain in it, with this one.
    """
    # A disc has more play in the hole than its edge is misread by: it takes some discs to know better.
    share = 1 / (8 + min(lay, 24))
    (x, y), (low_x, low_y) = hole_xy_mm, low_xy_mm
    return (x + (low_x - x) * share, y + (low_y - y) * share)
