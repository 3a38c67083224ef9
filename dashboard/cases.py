"""Pictures and clips of doubts and disputes: kept in a folder, shown to whoever may judge, gone after a week.

One folder a case, ``<board>/<case>/``, which appears whole or not at all. What a case is called is checked where it
comes in, so a name is always safe as a folder's.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from hub.link.messages import MessageError
from hub.link.pictures import Evidence, FrameAt, check_case
from hub.link.topics import TopicError, check_board

log = logging.getLogger(__name__)

KEPT_S = 7 * 24 * 3600.0
KEPT_CASES = 500
_LOOK_S = 600.0
_HEADER, _CLIP, _FOUND = "case.json", "clip.bin", "found"
FILES = ("drawn.jpg", "plain.jpg", _CLIP)


class CaseView(msgspec.Struct, frozen=True):
    """What there is of a case.

    Attributes:
        case: what it is called: the match and the question, or the call of the referee.
        text: what is to be decided.
        kept_s: when it came, in seconds since 1970.
        drawn: whether there is a picture with the line drawn.
        plain: whether there is one without.
        frames: time and length of each frame of the clip.
        margin_mm: how far the disc's edge is from the line's, positive inside; None where no line is asked.
        sigma_mm: one standard deviation of that.
    """

    case: str
    text: str
    kept_s: float
    drawn: bool
    plain: bool
    frames: tuple[FrameAt, ...] = ()
    margin_mm: float | None = None
    sigma_mm: float | None = None

    @property
    def match(self) -> str:
        """Id of the match."""
        return self.case.partition(".")[0]


class Cases:
    """The folder with the cases.

    Args:
        folder: made when the first case comes.
        now_s: wall time in seconds since 1970.
    """

    def __init__(self, folder: Path, *, now_s: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now_s = now_s
        self._lock = threading.Lock()

    def keep(self, board: str, evidence: Evidence, pictures: tuple[bytes, ...]) -> None:
        """Keep what a board sent; the same case again replaces what was there.

        Raises:
            OSError: the disk is full or cannot be written.
        """
        drawn, plain, *frames = pictures
        view = CaseView(
            evidence.case,
            evidence.text,
            self._now_s(),
            bool(drawn),
            bool(plain),
            evidence.frames,
            evidence.margin_mm,
            evidence.sigma_mm,
        )
        place = self._folder / board
        place.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=".new-", dir=place))
        try:
            for name, data in ((FILES[0], drawn), (FILES[1], plain), (_CLIP, b"".join(frames))):
                if data:
                    (new / name).write_bytes(data)
            (new / _HEADER).write_bytes(msgspec.json.encode(view))
            with self._lock:
                shutil.rmtree(place / evidence.case, ignore_errors=True)
                new.rename(place / evidence.case)
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
            raise
        self._keep_few()

    def of(self, board: str) -> tuple[CaseView, ...]:
        """The cases of a board, the newest first."""
        found = [view for _, view in self._all(board)]
        return tuple(sorted(found, key=lambda view: view.kept_s, reverse=True))

    def file(self, board: str, case: str, name: str) -> Path | None:
        """A file of a case, None if there is none."""
        try:
            path = self._folder / check_board(board) / check_case(case) / name
        except (TopicError, MessageError):
            return None
        return path if name in FILES and path.is_file() else None

    def matches(self) -> set[str]:
        """Ids of the matches of which anything is kept."""
        return {view.match for _, view in self._all()}

    def forget(self, matches: Iterable[str]) -> int:
        """Erase everything of some matches; how many cases that were."""
        gone = set(matches)
        return self._erase(place for place, view in self._all() if view.match in gone)

    def drop_old(self) -> int:
        """Erase what has been kept long enough, and what a crash left half-written; how many cases that were."""
        until_s = self._now_s() - KEPT_S
        for place in self._folder.glob("*/.new-*"):
            with contextlib.suppress(OSError):
                if place.stat().st_mtime < self._now_s() - _LOOK_S:
                    shutil.rmtree(place, ignore_errors=True)
        return self._erase(place for place, view in self._all() if self._came_s(place, view) <= until_s)

    def _came_s(self, place: Path, view: CaseView) -> float:
        """When a case came; of one from the future, which a wrong clock stamped, when it was first found to be so."""
        now_s, found = self._now_s(), place / _FOUND
        if view.kept_s <= now_s:
            return view.kept_s
        with contextlib.suppress(OSError, ValueError):
            found_s = float(found.read_text(encoding="ascii"))
            if found_s <= now_s:
                return found_s
        with contextlib.suppress(OSError):  # a full disk: found again the next time
            found.write_text(repr(now_s), encoding="ascii")
        return now_s

    def _keep_few(self) -> None:
        """A board that has gone mad must not fill the disk."""
        there = sorted(self._all(), key=lambda found: found[1].kept_s)
        self._erase(place for place, _ in there[:-KEPT_CASES])

    def _erase(self, places: Iterable[Path]) -> int:
        gone = list(places)
        with self._lock:
            for place in gone:
                shutil.rmtree(place, ignore_errors=True)
        return len(gone)

    def _all(self, board: str = "*") -> Iterator[tuple[Path, CaseView]]:
        for header in self._folder.glob(f"{board}/*/{_HEADER}"):
            if header.parent.name.startswith("."):
                continue
            try:
                yield header.parent, msgspec.json.decode(header.read_bytes(), type=CaseView)
            except (OSError, msgspec.DecodeError):
                continue


class Keeper:
    """Looks from time to time after what must go: what is old, and what shows somebody who wants to be forgotten.

    Args:
        cases: the folder.
        forgotten: of the ids of matches, those in which somebody played who was forgotten since.
    """

    def __init__(self, cases: Cases, forgotten: Callable[[set[str]], set[str]]) -> None:
        self._cases = cases
        self._forgotten = forgotten
        self._stop = threading.Event()

    def start(self) -> None:
        """Look now and every ten minutes, on a thread of its own."""
        threading.Thread(target=self._run, name="keeper", daemon=True).start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()

    def look(self) -> int:
        """Look once; how many cases are gone."""
        gone = self._cases.drop_old()
        matches = self._cases.matches()
        if matches:
            gone += self._cases.forget(self._forgotten(matches))
        if gone:
            log.info("%d cases with their pictures were erased", gone)
        return gone

    def _run(self) -> None:
        while True:
            try:
                self.look()
            except Exception:  # tried again later; a page must not stop because of it
                log.exception("old pictures could not be looked after")
            if self._stop.wait(_LOOK_S):
                return
