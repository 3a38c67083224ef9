"""Looking for the board: the camera was switched on, and discs may lie there already."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.start import NoBoardError
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.pile import Pile
from firmware_py.camera.picture.regions import Mask
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.place.occupied import take_occupied
from firmware_py.camera.source import Frame
from hardware.board import Board

#: Frames that are averaged to find the board in.
FRAMES = 12
#: How often a camera without a calibration looks for the board, and how seldom after so many looks in vain.
_EVERY_NS, _SELDOM_NS, _OFTEN = 1_000_000_000, 4_000_000_000, 10
#: A picture that does not keep still for so long is told of.
_RESTLESS_NS = 4_000_000_000


@dataclass(frozen=True, slots=True)
class FoundBoard:
    """A board that was found.

    Attributes:
        calibration: of the camera.
        bare: what the straight view would show without discs.
        guessed: pixels of ``bare`` that were under discs; None when none lay there.
        places: where discs seem to lie on the surface.
        straight: the straight view as it was.
        frames: two of the frames, for their noise.
    """

    calibration: Calibration
    bare: Floats
    guessed: Mask | None
    places: tuple[tuple[float, float], ...]
    straight: Image
    frames: tuple[Image, Image]


class Seeker:
    """Watches frames until they show a board at rest.

    Args:
        board: the board's geometry.
        height_mm: height of the lens above the surface, 0 to estimate it.
        seat1_deg: clockwise angle in the picture at which seat 1 sits.
    """

    def __init__(self, board: Board, *, height_mm: float = 0.0, seat1_deg: float = 0.0) -> None:
        self.trouble, self.fault = "", NoBoardError.fault
        self._board = board
        self._height_mm, self._seat1_deg = height_mm, seat1_deg
        self._next_ns: int | None = None
        self._in_vain = 0
        self._pile = Pile(FRAMES)
        self._restless_ns: int | None = None

    def take(self, frame: Frame, *, still: bool) -> FoundBoard | None:
        """Take a frame in; the board as soon as some still frames show it."""
        if not still:
            self._pile.clear()
        self._pile.add(frame.pixels)
        self._mind_unrest(frame.at_ns, still=still)
        waiting = self._next_ns is not None and 0 < self._next_ns - frame.at_ns <= _SELDOM_NS
        if not self._pile.whole or waiting:
            return None
        self._next_ns = frame.at_ns + (_EVERY_NS if self._in_vain < _OFTEN else _SELDOM_NS)
        try:
            found = self.look(self._pile)
        except NoBoardError as error:
            self.trouble, self.fault = str(error), error.fault
            self._in_vain += 1
            return None
        self.trouble = ""
        self._pile.clear()
        return found

    def _mind_unrest(self, at_ns: int, *, still: bool) -> None:
        """Name what keeps the board from being looked for: a picture that never keeps still for a few frames."""
        if self._pile.whole:
            self._restless_ns = None
        elif still:
            return
        elif self._restless_ns is None or at_ns < self._restless_ns:
            self._restless_ns = at_ns
        elif at_ns - self._restless_ns >= _RESTLESS_NS:
            self.fault = NoBoardError.fault
            self.trouble = "the picture does not keep still: nobody may move over the board, nor light or camera shake"

    def look(self, pile: Pile) -> FoundBoard:
        """The board that still frames show.

        Raises:
            NoBoardError: they show none, or not enough of it.
        """
        start = take_occupied(pile.mean(), self._board, height_mm=self._height_mm, seat1_deg=self._seat1_deg)
        # The discs' radius is the preset's: a place is judged by it, and one picture tells it to half a millimetre.
        true = self._board
        measured = replace(
            start.calibration.board, disc_radius_mm=true.disc_radius_mm, hole_radius_mm=true.hole_radius_mm
        )
        calibration = replace(start.calibration, board=measured)
        view = BoardView(calibration, true)
        seen = view.straight_mean(pile.total(), pile.count)
        bare = np.where(start.guessed[..., None], start.bare, seen).astype(np.float32)
        return FoundBoard(
            calibration=calibration,
            bare=bare,
            guessed=start.guessed if start.guessed.any() else None,
            places=start.discs,
            straight=np.rint(seen).astype(np.uint8),
            frames=pile.ends,
        )
