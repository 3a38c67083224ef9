"""Looking for the board: the camera was switched on, and discs may lie there already."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.start import NoBoardError
from firmware_py.camera.picture.lab import Floats, Image, mean_picture
from firmware_py.camera.picture.regions import Mask
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.place.occupied import take_occupied
from firmware_py.camera.source import Frame
from hardware.board import Board

#: Frames that are averaged to find the board in.
FRAMES = 12
#: How often a camera without a calibration looks for the board, and how seldom where it is long not found.
_EVERY_NS, _SELDOM_NS = 1_000_000_000, 4_000_000_000


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
        self.trouble = ""
        self._board = board
        self._height_mm, self._seat1_deg = height_mm, seat1_deg
        self._next_ns: int | None = None
        self._pause_ns = _EVERY_NS
        self._frames: deque[Image] = deque(maxlen=FRAMES)

    def take(self, frame: Frame, *, still: bool) -> FoundBoard | None:
        """Take a frame in; the board as soon as some still frames show it."""
        if not still or (self._frames and self._frames[-1].shape != frame.pixels.shape):
            self._frames.clear()
        self._frames.append(frame.pixels.copy())
        waiting = self._next_ns is not None and 0 < self._next_ns - frame.at_ns <= _SELDOM_NS
        if len(self._frames) < FRAMES or waiting:
            return None
        self._next_ns = frame.at_ns + self._pause_ns
        try:
            found = self.look(tuple(self._frames))
        except NoBoardError as error:
            self.trouble = str(error)
            self._pause_ns = min(2 * self._pause_ns, _SELDOM_NS)
            return None
        self.trouble = ""
        self._frames.clear()
        return found

    def look(self, frames: Sequence[Image]) -> FoundBoard:
        """The board that still frames show.

        Raises:
            NoBoardError: they show none, or not enough of it.
        """
        picture = np.rint(mean_picture(frames)).astype(np.uint8)
        start = take_occupied(picture, self._board, height_mm=self._height_mm, seat1_deg=self._seat1_deg)
        # The discs' radius is the preset's: a place is judged by it, and one picture tells it to half a millimetre.
        true = self._board
        measured = replace(
            start.calibration.board, disc_radius_mm=true.disc_radius_mm, hole_radius_mm=true.hole_radius_mm
        )
        calibration = replace(start.calibration, board=measured)
        view = BoardView(calibration, true)
        seen = mean_picture([view.straight(f) for f in frames])
        bare = np.where(start.guessed[..., None], start.bare, seen).astype(np.float32)
        return FoundBoard(
            calibration=calibration,
            bare=bare,
            guessed=start.guessed if start.guessed.any() else None,
            places=start.discs,
            straight=np.rint(seen).astype(np.uint8),
            frames=(frames[0], frames[-1]),
        )
