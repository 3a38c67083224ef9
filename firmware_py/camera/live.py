"""The live reader: frames in, facts out. Owns the state of one board under one camera; no clock, no broker, no files.

Between rests it only watches a small copy of each frame. When something moves it follows discs and hands frame by
frame; when all is still again, and no hand is over the board, it reads once what changed and reports it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from firmware_py.camera.appearance import Wardrobe
from firmware_py.camera.calibration import Calibration
from firmware_py.camera.follow import Follower
from firmware_py.camera.lab import Floats, Image
from firmware_py.camera.motion import Motion
from firmware_py.camera.reader import LayoutReader
from firmware_py.camera.resting import Resting
from firmware_py.camera.shots import conclude
from firmware_py.camera.source import Frame
from firmware_py.camera.start import NoBoardError, calibrate
from firmware_py.camera.stillness import Gate
from firmware_py.camera.view import BoardView, Box
from hardware.board import Board
from hub.link.messages import Cleared, Fact, Hand, Layout, LayoutDisc

log = logging.getLogger(__name__)

#: Nothing may move for so long before the board counts as still.
STILL_NS = 330_000_000
#: A rest this short is enough when a hand comes right after it.
SHORT_REST_NS = 90_000_000
#: Frames that are averaged for a read.
AVERAGED = 6
#: How often a camera without a calibration looks for the board.
_SEEK_NS = 1_000_000_000
_EMPTY_FRAMES = 12


@dataclass(frozen=True, slots=True)
class Rest:
    """The board at rest.

    Attributes:
        discs: what lies there.
        next_number: for the next new disc's name.
        still: its straight view.
        at_ns: since when.
    """

    discs: tuple[Resting, ...]
    next_number: int
    still: Image
    at_ns: int


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
    ) -> None:
        self.board = board
        self.calibration = calibration
        self.wardrobe = wardrobe or Wardrobe()
        self.reader: LayoutReader | None = None
        self.rest = rest
        self.trouble = ""
        self.calibrated = False
        self._height_mm, self._seat1_deg = height_mm, seat1_deg
        self._gate = Gate()
        self._last_moving_ns: int | None = None
        self._sought_ns = -_SEEK_NS
        self._seeking: deque[Image] = deque(maxlen=_EMPTY_FRAMES)
        self._quiet: deque[tuple[int, Image]] = deque(maxlen=AVERAGED)
        self._motion: Motion | None = None
        self._canvas: Image | None = None
        self._last_box: Box | None = None
        self._hand = False
        self._woken = False
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
        seen = self._gate.look(frame.pixels)
        if self._last_moving_ns is None or seen.moving:
            self._last_moving_ns = frame.at_ns
        still_ns = frame.at_ns - self._last_moving_ns
        if self.reader is None:
            return self._seek(frame, still_ns)
        if self._motion is None:
            if not (seen.moving or seen.changed or self._woken):
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
        if still_ns == 0:
            self._seeking.clear()
        self._seeking.append(frame.pixels.copy())
        if len(self._seeking) < _EMPTY_FRAMES or frame.at_ns - self._sought_ns < _SEEK_NS:
            return []
        self._sought_ns = frame.at_ns
        mean = _mean(self._seeking)
        try:
            calibration = calibrate(
                np.rint(mean).astype(np.uint8), self.board, height_mm=self._height_mm, seat1_deg=self._seat1_deg
            )
        except NoBoardError as error:
            self.trouble = str(error)
            return []
        self.trouble = ""
        view = BoardView(calibration, self.board)
        bare = _mean([view.straight(f) for f in self._seeking])
        self._gate.measure_noise([self._seeking[0], self._seeking[-1]])
        self._seeking.clear()
        self.calibration = calibration
        self._begin(calibration, bare)
        self.calibrated = True
        self._gate.settle()
        self.rest = Rest((), 1, np.rint(bare).astype(np.uint8), frame.at_ns)
        return [Layout(at_ns=frame.at_ns, discs=())]

    def _begin(self, calibration: Calibration, bare: Floats) -> None:
        view = BoardView(calibration, self.board)
        spread = max(0.01, calibration.height_spread - 1)
        self.reader = LayoutReader(
            view, bare, self.wardrobe, hole_xy_mm=calibration.hole_xy_mm, height_error=min(spread, 0.3)
        )

    def _ready(self) -> LayoutReader:
        if self.reader is None:
            raise RuntimeError("the board was not found yet")
        return self.reader

    # -- motion ----------------------------------------------------------------------------------------------------

    def _start_motion(self, at_ns: int) -> Motion:
        reader = self._ready()
        rest = self.rest
        if rest is None:
            still = np.clip(np.rint(reader.bare), 0, 255).astype(np.uint8)
            discs: tuple[Resting, ...] = ()
        else:
            still, discs = rest.still, rest.discs
        follower = Follower(reader, still=still, discs=discs)
        self._quiet.clear()
        self._canvas = self._last_box = None
        return Motion(follower, {d.id: d for d in discs}, at_ns)

    def _watch(self, frame: Frame, still_ns: int, box: Box) -> list[Fact]:
        reader, motion = self._ready(), self._motion
        if motion is None:
            return []
        straight, within = self._straight(reader.view, frame.pixels, box)
        facts: list[Fact] = []
        if still_ns == 0 or motion.last is None or motion.last.hand or not self._quiet:
            seen = motion.follower.look(straight, within, frame.at_ns, frame.exposure_ns, motion.tracks)
            # A hand that comes right after a rest must not spoil it.
            if seen.hand and not (motion.last and motion.last.hand) and self._rested_ns() >= SHORT_REST_NS:
                facts += self._read(frame.at_ns)
                motion = self._motion = self._start_motion(frame.at_ns)
                seen = motion.follower.look(straight, within, frame.at_ns, frame.exposure_ns, ())
            motion.take(seen)
            if seen.hand != self._hand:
                self._hand = seen.hand
                facts.append(Hand(at_ns=frame.at_ns, present=seen.hand))
        last = motion.last
        if still_ns == 0 or (last is not None and last.hand):
            self._quiet.clear()
        if still_ns > 0 and last is not None and not last.hand:
            # A whole view: what changed too faintly for the gate is read too.
            self._quiet.append((frame.at_ns, reader.view.straight(frame.pixels)))
        if still_ns >= STILL_NS and last is not None and not last.hand:
            facts += self._read(frame.at_ns)
            self._gate.settle()
            self._motion = None
            self._woken = False
        return facts

    def _straight(self, view: BoardView, pixels: Image, box: Box) -> tuple[Image, Box]:
        """The straight view of a frame, and which part of it may have changed since the last rest."""
        everything = (0, 0, view.side_px, view.side_px)
        if self._canvas is None or self._woken or box[2] <= box[0]:
            self._canvas = view.straight(pixels)
            return self._canvas, everything
        # What changed in the last frame and does not differ any more must be refreshed too.
        left, top, right, bottom = box
        if self._last_box is not None:
            left, top = min(left, self._last_box[0]), min(top, self._last_box[1])
            right, bottom = max(right, self._last_box[2]), max(bottom, self._last_box[3])
        self._last_box = box
        return self._canvas, view.straight_part(pixels, (left, top, right, bottom), self._canvas)

    def _rested_ns(self) -> int:
        return self._quiet[-1][0] - self._quiet[0][0] if len(self._quiet) >= 2 else 0

    # -- rest ------------------------------------------------------------------------------------------------------

    def _read(self, at_ns: int) -> list[Fact]:
        reader, motion = self._ready(), self._motion
        if motion is None or not self._quiet:
            return []
        straight = np.rint(_mean([view for _, view in self._quiet])).astype(np.uint8)
        before = self.rest.discs if self.rest is not None else ()
        number = self.rest.next_number if self.rest is not None else 1
        reading = reader.read(straight, None if self.rest is None else self.rest.still, before)
        if reader.teacher.renamed:
            before = tuple(_renamed(d) for d in before)
        until_ns = self._quiet[0][0]
        watched = motion.watched(until_ns)
        done = conclude(self.board, before, reading, watched, number)
        facts: list[Fact] = []
        if done.shot is not None:
            facts.append(done.shot)
        changed = reader.teacher.renamed or _places(before) != _places(done.discs) or done.shot is not None
        reader.teacher.renamed = False
        if changed:
            facts.append(_layout(at_ns, done.discs, reading.unseen))
        if any(d.in_play for d in before) and not any(d.in_play for d in done.discs):
            facts.append(Cleared(at_ns=at_ns))
        self.rest = Rest(done.discs, done.next_number, straight, until_ns)
        reader.adapt(straight, done.discs)
        return facts


def _mean(pictures: Iterable[Image]) -> Floats:
    """The mean of pictures of one size, without stacking them."""
    total: Floats | None = None
    count = 0
    for picture in pictures:
        if total is None:
            total = np.zeros(picture.shape, np.float32)
        total += picture
        count += 1
    if total is None:
        raise ValueError("a mean needs at least one picture")
    return np.asarray(total / np.float32(count), dtype=np.float32)


def _renamed(disc: Resting) -> Resting:
    if disc.colour == "third":
        return disc
    return replace(disc, colour="dark" if disc.colour == "light" else "light")


def _places(discs: Sequence[Resting]) -> list[tuple[str, float, float, str, str]]:
    return sorted((d.id, round(d.x_mm, 2), round(d.y_mm, 2), d.state, d.colour) for d in discs)


def _layout(at_ns: int, discs: Sequence[Resting], unseen: Sequence[str]) -> Layout:
    return Layout(
        at_ns=at_ns,
        discs=tuple(
            LayoutDisc(
                id=d.id,
                colour=d.colour,
                x_mm=round(d.x_mm, 3),
                y_mm=round(d.y_mm, 3),
                sigma_mm=round(d.sigma_mm, 3),
                state=d.state,
            )
            for d in discs
        ),
        unseen=tuple(unseen),
    )
