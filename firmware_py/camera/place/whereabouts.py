"""When the board is not where it was: how the live reader follows it, and finds it again with its discs."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.start import NoBoardError
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.pile import Pile
from firmware_py.camera.picture.regions import Mask, disc_pixels
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.place.occupied import lying
from firmware_py.camera.place.relocate import Known, Relocated, find_again, refreshed, relit
from firmware_py.camera.place.seeking import FoundBoard, Seeker
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.reader import LayoutReader
from firmware_py.camera.rest.resting import Resting
from hardware.board import Board

log = logging.getLogger(__name__)

#: Frames averaged to look for a board that was moved.
FRAMES = 6
_FIRST_NS, _MOST_NS = 300_000_000, 2_500_000_000
#: A disc may slide so far on a board that is carried, and still is that disc.
SLID_MM = 14.0
#: The wood under a disc that lay there at the start is a guess: its place is less sure by so much.
GUESSED_MM = 0.45
#: And on a board whose wood was seen elsewhere, under another light and from another side, by so much.
CARRIED_MM = 0.35

Boards = Callable[[], Iterable[Known]]


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a board was found.

    Attributes:
        relocated: how a known board lies now; None for one that was never seen.
        found: a board that was never seen; None for a known one.
        same: whether it is the board that was being played on.
        picture: the camera's picture.
    """

    relocated: Relocated | None
    found: FoundBoard | None
    same: bool
    picture: Image


class Search:
    """Looks for a board that is not where it was.

    Args:
        board: the board's geometry.
        known: the board that was being played on.
        others: boards that were played on before.
        seeker: finds a board that was never seen.
        seat1_deg: clockwise angle in the picture at which seat 1 sits.
    """

    def __init__(self, board: Board, known: Known, others: Boards, seeker: Seeker, seat1_deg: float) -> None:
        self._board, self._known, self._others = board, known, others
        self._seeker, self._seat1_deg = seeker, seat1_deg
        self._pile = Pile(FRAMES)
        self._next_ns: int | None = None
        self._pause_ns = _FIRST_NS

    def settled(self, pixels: Image, *, still: bool) -> bool:
        """Take a frame in; whether there are enough still ones to look at."""
        if not still or (self._pile.count and self._pile.total().shape != pixels.shape):
            self._pile.clear()
            # What moves changes what there is to see.
            self._next_ns, self._pause_ns = None, _FIRST_NS
        self._pile.add(pixels)
        return self._pile.whole

    def due(self, at_ns: int) -> bool:
        """Whether it is time to look; seldom, while nothing changes and nothing is found."""
        return self._next_ns is None or not 0 < self._next_ns - at_ns <= _MOST_NS

    def picture(self) -> Image:
        """The mean of the last frames."""
        return self._pile.mean()

    def look(self, at_ns: int) -> Whereabouts | None:
        """Look for the board, then for others; None while there is none to be seen."""
        self._next_ns = at_ns + self._pause_ns
        self._pause_ns = min(2 * self._pause_ns, _MOST_NS)
        picture = self.picture()
        try:
            for same, known in [(True, self._known), *((False, other) for other in self._others())]:
                again = find_again(picture, self._board, known, seat1_deg=self._seat1_deg)
                if again is not None:
                    return Whereabouts(again, None, same, picture)
            return Whereabouts(None, self._seeker.look(self._pile), same=False, picture=picture)
        except NoBoardError as error:
            log.debug("still looking for the board: %s", error)
            return None


def reader_of(board: Board, calibration: Calibration, bare: Floats, wardrobe: Wardrobe) -> LayoutReader:
    """A reader of a board in the view that a calibration gives."""
    return LayoutReader(
        BoardView(calibration, board),
        bare,
        wardrobe,
        hole_xy_mm=calibration.hole_xy_mm,
        height_error=height_error(calibration),
    )


def height_error(calibration: Calibration) -> float:
    """The relative error of the camera's height that a reader is to count with."""
    return min(0.3, max(0.01, calibration.height_spread - 1))


def carried_over(
    reader: LayoutReader, picture: Image, carried: Sequence[Resting], number: int
) -> tuple[tuple[Resting, ...], Image, int]:
    """Read a board that was moved with discs lying on it; its empty picture is brought up to date.

    Args:
        reader: of the new view, its empty board as it was known elsewhere.
        picture: the camera's picture.
        carried: what lay on it, by its place on the board.
        number: for the next new disc's name.

    Returns:
        The discs, those that lay there under their names; the straight view; the next number.
    """
    view = reader.view
    straight = view.straight(picture)
    known = reader.bare
    # Beyond the surface everything looks different from elsewhere, and nothing there counts.
    near = np.zeros(straight.shape[:2], np.bool_)
    for disc in carried:
        part, inside = disc_pixels(view, *disc.top_xy_mm, view.board.disc_radius_mm + 8)
        near[part] |= inside
    beyond = (view.radius_mm > view.board.surface_radius_mm + 3) & ~near
    reader.bare = np.where(beyond[..., None], straight, relit(known, straight)).astype(np.float32)
    found = list(reader.read(straight, None, ()).found)
    places = [d.top_xy_mm for d in carried] if carried else lying(view, picture, straight)
    found = _with_pale(reader, straight, found, places)
    tops = [d.top_xy_mm for d in (*carried, *found)]
    reader.bare = refreshed(view, known, straight, tops)
    discs: list[Resting] = []
    free = list(carried)
    for disc in sorted(found, key=lambda d: min((_apart(d, o) for o in carried), default=math.inf)):
        mine = min((o for o in free if o.colour == disc.colour), key=lambda o: _apart(o, disc), default=None)
        if mine is not None and _apart(mine, disc) < SLID_MM:
            free.remove(mine)
            name = mine.id
        else:
            name, number = f"d{number}", number + 1
        discs.append(replace(disc, id=name, sigma_mm=math.hypot(disc.sigma_mm, CARRIED_MM)))
    return tuple(discs), straight, number


def _with_pale(
    reader: LayoutReader, straight: Image, found: Sequence[Resting], places: Iterable[tuple[float, float]]
) -> list[Resting]:
    """What was found, and discs that pass for wood where nothing tells of them, at places where something does."""
    radius_mm = reader.view.board.disc_radius_mm
    all_found = list(found)
    for place in places:
        others = [d.top_xy_mm for d in all_found]
        if all(math.dist(place, o) > radius_mm for o in others):
            answer = reader.examine(straight, reader.bare, place, others)
            if answer is not None and math.dist(answer[0].top_xy_mm, place) < SLID_MM:
                all_found.append(answer[0])
    return all_found


def first_discs(reader: LayoutReader, board: FoundBoard, guessed: Mask, number: int) -> tuple[tuple[Resting, ...], int]:
    """What lies on a board that was found with discs on it, and the next number for a name."""
    found = _with_pale(reader, board.straight, reader.read(board.straight, None, ()).found, board.places)
    discs = tuple(
        replace(d, id=f"d{number + k}", sigma_mm=math.hypot(d.sigma_mm, GUESSED_MM)) for k, d in enumerate(found)
    )
    uncover(reader, guessed, board.straight, discs)
    return discs, number + len(discs)


def uncover(reader: LayoutReader, guessed: Mask, straight: Image, discs: Iterable[Resting]) -> None:
    """See what the wood is like that was under discs so far; ``guessed`` is changed in place."""
    view = reader.view
    free = guessed.copy()
    for disc in discs:
        for place in (disc.top_xy_mm, _base(view, disc)):
            part, near = disc_pixels(view, *place, view.board.disc_radius_mm + 9)
            free[part] &= ~near
    if free.any():
        reader.bare[free] = straight[free]
        guessed &= ~free


def _base(view: BoardView, disc: Resting) -> tuple[float, float]:
    sx, sy = view.base_shift(*disc.top_xy_mm, view.rim_mm)
    return disc.top_xy_mm[0] + sx, disc.top_xy_mm[1] + sy


def _apart(a: Resting, b: Resting) -> float:
    return math.dist((a.x_mm, a.y_mm), (b.x_mm, b.y_mm))
