"""The boards that a table has seen, kept on disk, so that one that returns is known again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import Floats
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.place.keepsake import Keepsake
from firmware_py.camera.place.likeness import Likeness
from firmware_py.camera.place.relocate import LEAST_ALIKE, Known

#: A club's table sees no more than some boards; the one that was not seen for longest makes room.
MOST_BOARDS = 8


class Shelf:
    """Boards in a folder, each with the calibration and the empty picture of when it was seen last.

    Args:
        folder: the board's state folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "camera-boards"

    def boards(self) -> Iterator[Known]:
        """The kept boards, the one seen last first."""
        for place in self._places():
            kept = Keepsake(place).load_board()
            if kept is not None:
                yield Known(*kept)

    def keep(self, calibration: Calibration, bare: Floats) -> None:
        """Keep a board, in the place of the same board if it is there; a full medium costs only knowing it again."""
        view = BoardView(calibration, calibration.board)
        likeness = Likeness(view)
        marks = likeness.marks(bare)
        places = list(self._places())
        mine: Path | None = None
        for place in places:
            kept = Keepsake(place).load_board()
            if kept is None or kept[1].shape != bare.shape:
                continue
            if likeness.between(likeness.marks(kept[1]), marks) > LEAST_ALIKE:
                mine = place
                break
        if mine is None:
            free = [self._folder / f"{k + 1}" for k in range(MOST_BOARDS)]
            mine = next((f for f in free if f not in places), places[-1] if places else free[0])
        with contextlib.suppress(OSError):
            mine.mkdir(parents=True, exist_ok=True)
            Keepsake(mine).save_board(calibration, bare)

    def _places(self) -> list[Path]:
        """Folders of kept boards, the newest first."""
        try:
            found = [(f.stat().st_mtime_ns, f.parent) for f in self._folder.glob("*/camera-calibration.json")]
        except OSError:
            return []
        return [place for _, place in sorted(found, reverse=True)]
