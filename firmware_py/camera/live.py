"""The live reader: frames in, facts out. Owns the state of one board under one camera; no clock, no broker, no files.

Between rests it only watches a small copy of each frame. When something moves it follows discs and hands frame by
frame; when all is still again, and no hand is over the board, it reads once what changed and reports it.
"""

from __future__ import annotations

import logging

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.start import NoBoardError
from firmware_py.camera.motion.between import Motion
from firmware_py.camera.motion.canvas import Canvas
from firmware_py.camera.motion.follow import Follower, FrameSeen
from firmware_py.camera.motion.quiet import Quiet
from firmware_py.camera.motion.stillness import Gate
from firmware_py.camera.motion.told import Rest, tell
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import Mask
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.picture.view import BoardView, Box
from firmware_py.camera.place.register import Slip
from firmware_py.camera.place.relocate import Known
from firmware_py.camera.place.seeking import FoundBoard, Seeker
from firmware_py.camera.place.steady import Stand, Steady, followed, moved_fact
from firmware_py.camera.place.whereabouts import (
    Boards,
    Search,
    Whereabouts,
    carried_over,
    first_discs,
    reader_of,
    uncover,
)
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.reader import LayoutReader
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.telling import layout_of
from firmware_py.camera.source import Frame
from hardware.board import Board
from hub.link.messages import Fact, Hand, Moved

log = logging.getLogger(__name__)

#: Nothing may move for so long before the board counts as still.
STILL_NS = 330_000_000
#: How often the board's stand is looked at while a hand lies still over it.
_LOOK_AGAIN_NS = 700_000_000
#: A board that cannot be read is read again after so long, and ever more seldom.
_AGAIN_NS, _SELDOM_NS = 330_000_000, 4_000_000_000
#: What lies still beyond the outer line for so long is no hand: a mug, or a table that was moved.
HELD_NS = 4_000_000_000
#: On a board that was turned by more the shadows of discs fall elsewhere.
_SAME_LIGHT_DEG = 12.0
#: A board this near to where it was, of whose lines less is seen, has not been moved.
_NEAR_MM, _ALL_SEEN = 12.0, 0.85
#: A board that is not seen for so long is told of.
_MISSED_NS = 2_000_000_000


class LiveReader:
    """Reads one board live.

    Args:
        board: the board's geometry.
        height_mm: height of the lens above the surface, 0 to estimate it.
        seat1_deg: clockwise angle in the picture at which seat 1 sits.
        calibration: kept from an earlier start.
        bare: picture of the empty board that goes with it.
        wardrobe: looks kept from an earlier start.
        rest: what lay there before a restart.
        guessed: pixels of ``bare`` that nobody has seen yet, discs lying on them.
        others: boards that were played on before, to know them again.
    """

    def __init__(
        self,
        board: Board,
        *,
        height_mm: float = 0.0,
        seat1_deg: float = 0.0,
        calibration: Calibration | None = None,
        bare: Floats | None = None,
        wardrobe: Wardrobe | None = None,
        rest: Rest | None = None,
        guessed: Mask | None = None,
        others: Boards = tuple,
    ) -> None:
        self.board = board
        self.calibration = calibration
        self.wardrobe = wardrobe or Wardrobe()
        self.reader: LayoutReader | None = None
        self.rest = rest
        self.trouble, self.fault, self.illegible = "", NoBoardError.fault, ""
        self.calibrated = self.found_anew = False
        self.guessed = guessed
        self._seat1_deg, self._others = seat1_deg, others
        self._seeker = Seeker(board, height_mm=height_mm, seat1_deg=seat1_deg)
        self._search: Search | None = None
        self._missing_ns = 0
        self._steady: Steady | None = None
        self._looked_ns = 0
        self._again_ns: int | None = None
        self._pause_ns = _AGAIN_NS
        self._gate = Gate()
        self._last_moving_ns: int | None = None
        self._quiet = Quiet()
        self._canvas = Canvas()
        self._motion: Motion | None = None
        self._prepared: tuple[LayoutReader, Rest | None, Follower] | None = None
        self._hand = False
        self._woken = False
        self._at_ns = 0
        if calibration is not None and bare is not None:
            self._begin(calibration, bare)
            self._woken = True

    @property
    def view(self) -> BoardView | None:
        """The camera's view, once the board was found."""
        return None if self.reader is None else self.reader.view

    @property
    def at_rest(self) -> bool:
        """Whether nothing is going on."""
        return self._motion is None and not self._woken

    def take(self, frame: Frame) -> list[Fact]:
        """Take a frame in; returns the facts that it completes."""
        self._mind_size(frame.pixels)
        self._mind_time(frame.at_ns)
        seen = self._gate.look(frame.pixels)
        if self._last_moving_ns is None or seen.moving:
            self._last_moving_ns = frame.at_ns
        still_ns = frame.at_ns - self._last_moving_ns
        if self.reader is None:
            return self._seek(frame, still_ns)
        if self._search is not None:
            return self._find(self._search, frame, still_ns)
        if self._motion is None:
            if not (seen.moving or seen.changed or self._woken):
                self._idle(self.reader)
                return []
            self._motion = self._start_motion(frame.at_ns)
        return self._watch(frame, still_ns, seen.box)

    def reopened(self) -> None:
        """The camera was away: look at everything anew."""
        self._gate.forget()
        self._last_moving_ns = None
        self._woken = True

    # -- finding the board -----------------------------------------------------------------------------------------

    def _seek(self, frame: Frame, still_ns: int) -> list[Fact]:
        found = self._seeker.take(frame, still=still_ns > 0)
        self.trouble, self.fault = self._seeker.trouble, self._seeker.fault
        if found is None:
            return []
        self._gate.measure_noise(list(found.frames))
        self._begin(found.calibration, found.bare)
        return self._start_anew(found, frame.at_ns)

    def _start_anew(self, found: FoundBoard, at_ns: int) -> list[Fact]:
        """A board is seen for the first time: what lies on it is read as it is."""
        discs: tuple[Resting, ...] = ()
        number = 1 if self.rest is None else self.rest.next_number
        if found.guessed is not None:
            discs, number = first_discs(self._ready(), found, found.guessed, number)
        self.guessed, self.calibrated, self.found_anew = found.guessed, True, True
        self._settled(Rest(discs, number, found.straight, at_ns))
        return [layout_of(at_ns, discs, ())]

    def _begin(self, calibration: Calibration, bare: Floats) -> None:
        self.calibration = calibration
        self.reader = reader_of(self.board, calibration, bare, self.wardrobe)
        self._steady = Steady(self.reader.view, bare)

    def _settled(self, rest: Rest) -> None:
        """From here on this is what lies at rest."""
        self.rest = rest
        self._gate.settle()
        self._motion = None
        self._woken = False

    # -- a board that is not where it was --------------------------------------------------------------------------

    def _slipped(self, slip: Slip, at_ns: int) -> list[Fact]:
        """Camera or board were bumped: the calibration follows, and all is read again in the new view."""
        reader = self._ready()
        calibration = followed(reader.view.calibration, reader.view, slip)
        self.calibration, self.calibrated = calibration, True
        self.reader = reader_of(self.board, calibration, reader.bare, self.wardrobe)
        if self._motion is not None:
            self._motion.shaken()
        self._quiet.clear()
        self._canvas.forget()
        self._last_moving_ns = at_ns
        fact = moved_fact(slip, at_ns)
        log.info("the board is seen %.1f mm from where it was", slip.shift_mm)
        return [] if fact is None else [fact]

    def _lost(self, at_ns: int) -> None:
        """The board is not where it was, nor near: look for it."""
        reader = self._ready()
        discs = self.rest.discs if self.rest is not None else ()
        known = Known(reader.view.calibration, reader.bare, discs)
        self._search = Search(self.board, known, self._others, self._seeker, self._seat1_deg)
        self._missing_ns = at_ns

    def _find(self, search: Search, frame: Frame, still_ns: int) -> list[Fact]:
        if still_ns > 0 and frame.at_ns - self._missing_ns > _MISSED_NS:
            self.fault = NoBoardError.fault
            self.trouble = "the board is hidden, or not where it was and not to be found: clear the view of it"
        if not search.settled(frame.pixels, still=still_ns > 0):
            return []
        reader = self._ready()
        if self._fits(frame.pixels) and self._steady is not None:
            stand = self._steady.look(reader.view.straight(search.picture()), reader.bare)
            if stand.state != "lost":
                self._resume()
                return []
        there = search.look(frame.at_ns) if search.due(frame.at_ns) else None
        if there is None or _half_hidden(there):
            return []
        self._resume()
        if not there.same:
            # Another board may have other discs.
            self.wardrobe = Wardrobe()
        facts: list[Fact] = []
        number = 1 if self.rest is None else self.rest.next_number
        if there.relocated is not None:
            new = there.relocated
            if abs(new.turn_deg) > _SAME_LIGHT_DEG:
                self.wardrobe.shade = Shade()
            self.reader = reader_of(self.board, new.calibration, new.bare, self.wardrobe)
            discs, straight, number = carried_over(self.reader, there.picture, new.discs, number)
            self._begin(new.calibration, self.reader.bare)
            facts.append(Moved(at_ns=frame.at_ns, what="board", shift_mm=round(new.shift_mm, 2)))
            facts.append(layout_of(frame.at_ns, discs, ()))
            self.calibrated, self.found_anew, self.guessed = True, True, None
            self._settled(Rest(discs, number, straight, frame.at_ns))
        elif there.found is not None:
            self._begin(there.found.calibration, there.found.bare)
            facts.append(Moved(at_ns=frame.at_ns, what="board", shift_mm=2 * self.board.rail_radius_mm))
            facts += self._start_anew(there.found, frame.at_ns)
        if self._hand:
            self._hand = False
            facts.append(Hand(at_ns=frame.at_ns, present=False))
        return facts

    def _resume(self) -> None:
        self._search = None
        self.trouble = ""
        self._woken = True
        self._motion = None
        self._canvas.forget()

    def _fits(self, pixels: Image) -> bool:
        return self.calibration is not None and (pixels.shape[1], pixels.shape[0]) == self.calibration.size_wh

    def _mind_size(self, pixels: Image) -> None:
        """A camera that changes the size of its pictures shows the board elsewhere."""
        if self.reader is not None and self._search is None and not self._fits(pixels):
            log.warning("pictures are %d x %d now: looking for the board", pixels.shape[1], pixels.shape[0])
            self._lost(0)

    def _mind_time(self, at_ns: int) -> None:
        """After a clock was set back no times compare: what moves now is looked at anew."""
        if at_ns < self._at_ns:
            log.warning("frames are dated %.1f s back: looking at the board anew", (self._at_ns - at_ns) / 1e9)
            self._motion = None
            self._quiet.clear()
            self._canvas.forget()
            self.reopened()
        self._at_ns = at_ns

    def _ready(self) -> LayoutReader:
        if self.reader is None:
            raise RuntimeError("the board was not found yet")
        return self.reader

    # -- motion ----------------------------------------------------------------------------------------------------

    def _idle(self, reader: LayoutReader) -> None:
        """Nothing goes on: get ready for the next motion, whose first frame need not wait for it then, and learn."""
        if self._follower_kept() is None:
            self._prepared = (reader, self.rest, self._follower())
        else:
            reader.study()

    def _follower_kept(self) -> Follower | None:
        """What was made ready for the board as it lies and is seen now."""
        kept = self._prepared
        return kept[2] if kept is not None and kept[0] is self.reader and kept[1] is self.rest else None

    def _follower(self) -> Follower:
        reader, rest = self._ready(), self.rest
        if rest is None:
            still = np.clip(np.rint(reader.bare), 0, 255).astype(np.uint8)
            return Follower(reader, still=still, discs=())
        return Follower(reader, still=rest.still, discs=rest.discs)

    def _start_motion(self, at_ns: int) -> Motion:
        follower = self._follower_kept() or self._follower()
        # It forgets what has moved, so it serves once.
        self._prepared = None
        self._quiet.clear()
        self._canvas.forget()
        return Motion(follower, {d.id: d for d in follower.resting}, at_ns)

    def _watch(self, frame: Frame, still_ns: int, box: Box) -> list[Fact]:
        reader, motion = self._ready(), self._motion
        if motion is None:
            return []
        straight, within = self._canvas.draw(reader.view, frame.pixels, box, whole=self._woken)
        facts: list[Fact] = []
        if still_ns == 0:
            self._quiet.end()
        if motion.last is None or motion.last.hand or not self._quiet.lasts:
            seen = motion.follower.look(straight, within, frame.at_ns, frame.exposure_ns, motion.tracks)
            # A hand that comes right after a rest must not spoil it.
            if seen.hand and not (motion.last and motion.last.hand) and self._quiet.just_before(frame.at_ns):
                facts += self._read_early(frame.at_ns)
                motion = self._motion = self._start_motion(frame.at_ns)
                seen = motion.follower.look(straight, within, frame.at_ns, frame.exposure_ns, ())
            motion.take(seen)
            if seen.hand or motion.goes_on:
                self._quiet.clear()
            if seen.hand != self._hand:
                self._hand = seen.hand
                facts.append(Hand(at_ns=frame.at_ns, present=seen.hand))
        last = motion.last
        if still_ns > 0 and last is not None and not last.hand:
            # A whole view: what changed too faintly for the gate is read too.
            self._quiet.take(frame.at_ns, reader.view.straight(frame.pixels))
        if still_ns >= STILL_NS and last is not None:
            facts += self._rest_or_not(frame, still_ns, last)
        return facts

    def _rest_or_not(self, frame: Frame, still_ns: int, last: FrameSeen) -> list[Fact]:
        """Nothing moves: read the board if it is where it was and no hand is over it."""
        reader = self._ready()
        later = self._again_ns is not None and 0 < self._again_ns - frame.at_ns <= _SELDOM_NS
        if later or (last.hand and 0 <= frame.at_ns - self._looked_ns < _LOOK_AGAIN_NS):
            return []
        self._looked_ns = frame.at_ns
        seen = self._quiet.picture() if self._quiet.lasts else reader.view.straight(frame.pixels)
        stand = self._steady.look(seen, reader.bare) if self._steady is not None else Stand("steady")
        if stand.state == "lost":
            self._lost(frame.at_ns)
            return []
        if stand.state == "slipped" and stand.slip is not None:
            return self._slipped(stand.slip, frame.at_ns)
        facts: list[Fact] = []
        if last.hand:
            if still_ns < HELD_NS or last.hand_inner_mm < self.board.outer_line_mm:
                return []
            self._quiet.take(frame.at_ns, seen)
            self._hand = False
            facts.append(Hand(at_ns=frame.at_ns, present=False))
        facts += self._read(frame.at_ns)
        if self.illegible:
            self._read_later(frame.at_ns)
            return facts
        self._gate.settle()
        self._motion = None
        self._woken = False
        return facts

    def _read_later(self, at_ns: int) -> None:
        """Nothing is told of a board that cannot be read; what lay there before is what the next read starts from."""
        self._again_ns = at_ns + self._pause_ns
        self._pause_ns = min(2 * self._pause_ns, _SELDOM_NS)
        if self._pause_ns == _SELDOM_NS:
            # What was followed until now will explain nothing any more.
            self._motion = self._start_motion(at_ns)

    def _read_early(self, at_ns: int) -> list[Fact]:
        """Read before a hand comes, unless the board has slipped: that is followed when all is still again."""
        stand = None if self._steady is None else self._steady.look(self._quiet.picture(), self._ready().bare)
        return self._read(at_ns) if stand is None or stand.state == "steady" else []

    def _read(self, at_ns: int) -> list[Fact]:
        reader, motion = self._ready(), self._motion
        if motion is None:
            return []
        facts, self.rest, self.illegible = tell(reader, self.rest, motion, self._quiet, at_ns)
        if self.illegible or self.rest is None:
            return facts
        self._again_ns, self._pause_ns = None, _AGAIN_NS
        if self.guessed is not None:
            uncover(reader, self.guessed, self.rest.still, self.rest.discs)
        return facts


def _half_hidden(there: Whereabouts) -> bool:
    """Whether the board is where it was, and was not known because something lies or leans over it."""
    new = there.relocated
    if new is None or not there.same:
        return False
    return new.shift_mm < _NEAR_MM and new.calibration.coverage < _ALL_SEEN
