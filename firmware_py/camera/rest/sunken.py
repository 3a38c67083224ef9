"""A disc at the hole: flat in it, leaning in it, or flat on the wood over its rim.

A disc in the hole casts no shadow on the wood and shows no wall, and one that leans shows an oval: a fit by the looks
of flat discs errs by millimetres. So both are drawn as the solids that they are, with their neighbours masked, and the
place where the sunk one is drawn best tells which it is: it cannot lie flat beyond its play.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Look, Patch, Wardrobe
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.solids import Easel, Solid, Worn, least, seen_at
from hardware.board import Board, to_xy
from hub.link.messages import Colour, DiscState

Xy = tuple[float, float]

#: A disc flat in the hole is read within so much of where it can lie by its look as a flat one; one that leans is
#: farther off, though its top face, which is what is seen, leans back towards the middle. Of 48 discs of each kind on
#: four boards the flat ones were seen up to 0.5 mm beyond their play, the leaning ones from 1.3 mm on.
IN_HOLE_MM = 0.9
#: So near to that limit the two cannot be told from where the disc is seen.
UNSURE_MM = 0.35
#: Drawn as sunk, 62 flat discs on six boards came out up to 0.2 mm beyond their play. Leaning ones, whose wall is dark
#: like the hole or pale like the face, came out from 0.4 mm on, mostly beyond 1.5 mm.
_SUNK_MM, _UNSURE_SUNK_MM = 0.8, 0.5
#: So far from the middle a disc is looked for that is drawn as sunk.
_ASIDE_MM = (4.0, 8.0)
#: A reading must explain this share of what changed: a dark disc in a dark hole changes little but its rim.
_LEAST_EXPLAINED = 0.3
#: One standard deviation of the places, mm.
_SIGMA_SUNK_MM, _SIGMA_LEANING_MM = 0.25, 0.45


def above_hole(view: BoardView, hole_xy_mm: Xy) -> Xy:
    """Where in the straight view a disc is seen that lies flat in the middle of the hole."""
    x, y = hole_xy_mm
    low_x, low_y = view.sink(x, y, view.board.hole_depth_mm)
    return (2 * x - low_x, 2 * y - low_y)


def leaning_in(board: Board, hole_xy_mm: Xy, towards_deg: float, off_mm: float) -> Solid:
    """A disc that lies on the rim of the hole, its lowest point on the floor of the hole.

    Args:
        board: geometry.
        hole_xy_mm: centre of the hole on the surface.
        towards_deg: board-frame angle at which the centre of its base is from the middle of the hole.
        off_mm: how far it is.
    """
    beyond = off_mm - board.hole_radius_mm
    tilt = 0.2
    for _ in range(12):
        tilt = math.atan2(board.hole_depth_mm, board.disc_radius_mm * math.cos(tilt) - beyond)
    x, y = to_xy(1.0, towards_deg)
    at = (hole_xy_mm[0] + x * off_mm, hole_xy_mm[1] + y * off_mm)
    return Solid(*at, beyond * math.tan(tilt), tilt, (-x, -y))


def read_at_hole(
    view: BoardView, wardrobe: Wardrobe, colours: Iterable[Colour], patch: Patch, hole_xy_mm: Xy
) -> Resting | None:
    """The disc at the hole without a name; None where it is none of these sets, or too little is seen to tell.

    Args:
        view: the camera's view.
        wardrobe: the looks of the sets.
        colours: sets that the disc may be of.
        patch: the pixels around :func:`above_hole`, neighbours masked.
        hole_xy_mm: centre of the hole on the surface.
    """
    board, easel = view.board, Easel(view, wardrobe.shade, patch)
    best: tuple[float, Resting] | None = None
    for colour in colours:
        look = wardrobe.looks.get(colour)
        if look is None:
            continue

        def left(solid: Solid, look: Look = look) -> float:
            return easel.left([Worn(look, solid)])

        value, solid, over_mm = _sunk(board, left, hole_xy_mm)
        state: DiscState = "hole"
        rival: DiscState | None = "leaning" if over_mm > -_UNSURE_SUNK_MM else None
        sigma_mm = _SIGMA_SUNK_MM
        if over_mm > 0:
            value, solid = _leaning(board, left, hole_xy_mm)
            state, rival = "leaning", "hole" if over_mm < _UNSURE_SUNK_MM else None
            sigma_mm = _SIGMA_LEANING_MM
        if easel.explained(value) < _LEAST_EXPLAINED or (best is not None and best[0] <= value):
            continue
        top = seen_at(view, *solid.axis_xyz(view.rim_mm))
        best = (value, Resting("", colour, solid.x_mm, solid.y_mm, sigma_mm, state, top, look.learned, rival))
    return None if best is None else best[1]


def _sunk(board: Board, left: Callable[[Solid], float], hole_xy_mm: Xy) -> tuple[float, Solid, float]:
    """What a disc flat in the hole leaves at best, that disc, and how far it is out of where such a disc can lie."""

    def solid(place: Sequence[float]) -> Solid:
        return Solid(place[0], place[1], -board.hole_depth_mm)

    # A dark disc leaning over a dark hole is drawn best where it is seen, but in the middle well enough to stay there.
    x, y = hole_xy_mm
    ring = (to_xy(r_mm, turn) for r_mm in _ASIDE_MM for turn in range(0, 360, 45))
    starts = [hole_xy_mm, *((x + dx, y + dy) for dx, dy in ring)]
    place, value = least(lambda p: left(solid(p)), min(starts, key=lambda p: left(solid(p))), (1.0, 1.0))
    return value, solid(place), math.dist((place[0], place[1]), hole_xy_mm) - board.hole_play_mm - _SUNK_MM


def _leaning(board: Board, left: Callable[[Solid], float], hole_xy_mm: Xy) -> tuple[float, Solid]:
    """What a leaning disc leaves at best, and that disc."""

    def solid(place: Sequence[float]) -> Solid:
        return leaning_in(board, hole_xy_mm, place[0], min(abs(place[1]), board.hole_radius_mm))

    starts = [(turn, off) for turn in range(0, 360, 30) for off in (6.0, 11.0, 15.0)]
    place, value = least(lambda p: left(solid(p)), min(starts, key=lambda p: left(solid(p))), (15.0, 2.0))
    return value, solid(place)


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
