"""The camera's daemon: turns frames into facts and keeps what it must not forget over a restart."""

from __future__ import annotations

import logging
import sys
import time

import cv2

from firmware_py.camera.board.start import NoBoardError, TwoBoardsError
from firmware_py.camera.clips.witness import Witness, open_witness
from firmware_py.camera.devices.capabilities import Claims
from firmware_py.camera.devices.grabber import MOST_BACKWARDS
from firmware_py.camera.devices.lateness import Lateness
from firmware_py.camera.devices.sanity import MEANING, STUCK, Sanity
from firmware_py.camera.live import LiveReader
from firmware_py.camera.memory import give_back, hold_little
from firmware_py.camera.motion.told import Rest
from firmware_py.camera.place.keepsake import Keepsake, Remembered
from firmware_py.camera.place.shelf import Shelf
from firmware_py.camera.source import Frame, FrameSource, SourceEndedError, SourceGoneError
from firmware_py.camera.sources import open_source
from firmware_py.camera.usb import find_device
from firmware_py.errors import DeviceMissingError, FirmwareError, SettingError
from firmware_py.service import Service, idle
from firmware_py.settings import machine_boot
from hardware.board import Board, BoardError, load_board
from hub.link.bus import BusError
from hub.link.clock import Clock, ManualClock
from hub.link.config import Config, ConfigError
from hub.link.messages import Fact, MessageError, Shot
from hub.link.pictures import wanted_of

log = logging.getLogger(__name__)

#: Without a frame for so long, in real seconds, the camera is stalled.
STALLED_S = 5.0
#: A camera that has not shown anything yet is starting from here on, and stalled when it takes longer than that.
STARTING_S = (1.0, 30.0)
_REOPEN_S = 0.5
_WAIT_S = 0.25
_LOOKS_EVERY = 3


class SourceClock:
    """The clock of whichever source is open; see :class:`hub.link.clock.Clock`."""

    def __init__(self) -> None:
        self.of_source: Clock = ManualClock()

    def now_ns(self) -> int:
        """See :class:`hub.link.clock.Clock`."""
        return self.of_source.now_ns()

    def wait_until(self, at_ns: int) -> None:
        """See :class:`hub.link.clock.Clock`."""
        self.of_source.wait_until(at_ns)

    def real_s_until(self, at_ns: int) -> float:
        """See :class:`hub.link.clock.Clock`."""
        return self.of_source.real_s_until(at_ns)


def run(config: Config) -> int:
    """Run until SIGTERM or SIGINT; returns the exit status: 0 stopped, 2 bad settings, 3 something is missing."""
    cv2.setNumThreads(1)
    hold_little()
    clock = SourceClock()
    try:
        try:
            board = load_board(config.board.preset)
        except BoardError as error:
            raise SettingError(f"[board] preset: {error}") from None
        if config.camera.source == "none":
            idle("camera: [camera] source = 'none', so there is nothing to see; people tell what lies on the board")
            return 0
        source = open_source(config)
        clock.of_source = source.clock
        witness = open_witness(config)
        late = config.camera.source == "usb"  # others date their pictures by the sensor
        with Service(config, "camera", clock, capabilities=Claims().now, hears=("beam",) if late else ()) as service:
            lateness = Lateness(service.folder, find_device(config.camera.device), machine_boot()) if late else None
            CameraLoop(config, board, service, source, clock, witness=witness, lateness=lateness).run()
    except FirmwareError as error:
        print(f"camera: {error}", file=sys.stderr)
        return error.status
    except (BusError, ConfigError) as error:
        print(f"camera: {error}", file=sys.stderr)
        return 2
    return 0


class CameraLoop:
    """The daemon's work: one loop that owns the camera, the reader and what is kept on disk.

    Args:
        config: the whole configuration.
        board: the board's geometry.
        service: reports the facts.
        source: the camera, open.
        clock: shows the source's time.
        witness: remembers what was seen for people to judge; None where nothing is sent.
        lateness: puts the dates of a webcam's pictures right; None for a camera whose dates are right.
    """

    def __init__(
        self,
        config: Config,
        board: Board,
        service: Service,
        source: FrameSource,
        clock: SourceClock,
        *,
        witness: Witness | None = None,
        lateness: Lateness | None = None,
    ) -> None:
        self._config, self._board = config, board
        self._service, self._reporter = service, service.reporter
        self._source: FrameSource | None = source
        self._clock = clock
        self._keepsake = Keepsake(service.folder)
        self._shelf = Shelf(service.folder)
        self._reader = self._wake()
        self._saved: Rest | None = self._reader.rest
        self._rests = 0
        self._seen_s = time.monotonic()
        self._has_seen = False
        self._reopen_s = 0.0
        self._rate = _Rate()
        self._troubled = ""
        self._sanity = Sanity()
        self._last_ns, self._back = -1, 0
        self._claims = Claims()
        self._witness = witness
        self._lateness = lateness

    def run(self) -> None:
        """Work until the service is to stop or a recording ends."""
        try:
            while not self._service.stopping:
                self._service.beat()
                self._obey()
                if self._source is None:
                    self._reopen()
                    continue
                self._service.wait(_WAIT_S, self._source)
                try:
                    frame = self._source.next(0.0)
                    if frame is None:
                        self._check_stalled(self._source)
                    else:
                        self._take(self._source, frame if self._lateness is None else self._lateness.dated(frame))
                except SourceGoneError as error:
                    self._lost(str(error))
                except SourceEndedError as error:
                    log.info("%s", error)
                    break
        finally:
            if self._source is not None:
                self._source.close()
            if self._witness is not None:
                self._witness.close()

    def _wake(self) -> LiveReader:
        """A reader that knows what an earlier run knew; what that run did not get to report is reported now."""
        camera = self._config.camera
        kept, rest = self._keepsake.load_board(), self._keepsake.load_rest()
        calibration, bare = kept if kept is not None else (None, None)
        if calibration is not None and calibration.board.name != self._board.name:
            log.warning("the kept calibration is of another board (%s): calibrating anew", calibration.board.name)
            calibration = bare = rest = None
        if rest is not None:
            given = self._reporter.given(rest.boot)
            for fact in rest.pending[max(0, given - rest.seq) :]:
                self._reporter.report(fact)
        return LiveReader(
            self._board,
            height_mm=camera.height_mm,
            seat1_deg=camera.seat1_deg,
            calibration=calibration,
            bare=bare,
            wardrobe=self._keepsake.load_looks(),
            rest=None if rest is None or calibration is None else Rest(rest.discs, rest.next_number, rest.still, 0),
            guessed=None if bare is None else self._keepsake.load_guessed(bare),
            others=self._shelf.boards,
        )

    def _take(self, source: FrameSource, frame: Frame) -> None:
        self._seen_s, self._has_seen = time.monotonic(), True
        self._reporter.well("starting")
        self._reporter.well("stalled")
        self._rate.count(self._seen_s)
        self._reporter.vitals.frame_rate_hz = self._rate.hz
        if not self._in_time(source, frame):
            return
        facts = self._reader.take(frame) if self._shows_something(source, frame) else []
        self._claim(frame)
        if self._reader.rest is not self._saved:
            self._keep(facts)
        for fact in facts:
            self._reporter.report(fact)
        if self._witness is not None:
            self._witness.take(frame, self._reader, facts)
        if self._lateness is not None:
            self._measure(self._lateness, facts)
        self._mind_trouble()
        if source.lockstep and self._reporter.outstanding and not self._service.wait_acknowledged():
            return
        source.done(frame, self._reporter.boot, self._reporter.last_seq)

    def _measure(self, lateness: Lateness, facts: list[Fact]) -> None:
        """Hold what fell into the hole against the beam, and date pictures anew while nothing goes on."""
        for envelope, fact in self._reporter.heard():
            lateness.heard(envelope, fact)
        for fact in facts:
            if isinstance(fact, Shot):
                lateness.saw(fact)
        if self._reader.at_rest:
            lateness.settle()

    def _in_time(self, source: FrameSource, frame: Frame) -> bool:
        """Whether a frame is dated after the last; the motion of discs cannot be told from ones that are not.

        Raises:
            SourceGoneError: so many in a row are not that the clock was set back.
        """
        if frame.at_ns > self._last_ns:
            self._last_ns, self._back = frame.at_ns, 0
            return True
        self._back += 1
        source.done(frame, self._reporter.boot, self._reporter.last_seq)
        if self._back >= MOST_BACKWARDS:
            raise SourceGoneError("the camera dates its frames backwards; it is opened anew")
        return False

    def _shows_something(self, source: FrameSource, frame: Frame) -> bool:
        """Whether a frame is worth reading; names what is wrong with it."""
        odd = self._sanity.look(frame.pixels, frame.at_ns)
        for name, meaning in MEANING.items():
            if name in odd:
                self._reporter.fault(name, meaning)
            else:
                self._reporter.well(name)
        if not source.lockstep and self._sanity.hopeless(frame.at_ns):
            self._sanity = Sanity()
            raise SourceGoneError(MEANING[STUCK])
        return not odd

    def _claim(self, frame: Frame) -> None:
        """Claim what this camera can judge and no more."""
        view = self._reader.view
        scale = None if view is None else view.calibration.px_per_mm()
        self._reporter.vitals.capabilities = self._claims.see(frame.at_ns, frame.exposure_ns, scale)

    def _keep(self, facts: list[Fact]) -> None:
        """Write the new rest down together with what is about to be reported of it, so that neither gets lost."""
        reader, rest = self._reader, self._reader.rest
        if reader.calibrated and reader.calibration is not None and reader.reader is not None:
            self._keepsake.save_board(reader.calibration, reader.reader.bare)
            if reader.found_anew and reader.guessed is None:
                self._shelf.keep(reader.calibration, reader.reader.bare)
            reader.calibrated = reader.found_anew = False
            give_back()
        if rest is not None:
            self._keep_wood(reader)
            self._keepsake.save_rest(
                Remembered(
                    rest.discs, rest.next_number, rest.still, self._reporter.boot, self._reporter.last_seq, tuple(facts)
                )
            )
            self._rests += 1
            if self._rests % _LOOKS_EVERY == 1:
                self._keepsake.save_looks(reader.wardrobe)
        self._saved = rest

    def _keep_wood(self, reader: LiveReader) -> None:
        """Keep the empty board while discs uncover it; when all of it was seen, as a board to be known again."""
        if reader.guessed is None or reader.reader is None or reader.calibration is None:
            return
        self._keepsake.save_bare(reader.reader.bare)
        self._keepsake.save_guessed(reader.guessed)
        if not reader.guessed.any():
            reader.guessed = None
            self._shelf.keep(reader.calibration, reader.reader.bare)

    def _mind_trouble(self) -> None:
        for name in (NoBoardError.fault, TwoBoardsError.fault):
            if self._reader.trouble and self._reader.fault == name:
                self._reporter.fault(name, self._reader.trouble)
            else:
                self._reporter.well(name)
        if self._reader.illegible:
            self._reporter.fault("unreadable", self._reader.illegible)
        else:
            self._reporter.well("unreadable")

    def _obey(self) -> None:
        for name, do in self._reporter.requests():
            if name == "picture" and self._witness is not None:
                try:
                    self._witness.want(wanted_of(do.body))
                except MessageError as error:
                    log.warning("do/picture: skipped: %s", error)
            if name == "calibrate":
                log.info("calibrating anew, as asked")
                self._reader = LiveReader(
                    self._board,
                    height_mm=self._config.camera.height_mm,
                    seat1_deg=self._config.camera.seat1_deg,
                    wardrobe=self._reader.wardrobe,
                    others=self._shelf.boards,
                )
                self._saved = None

    def _check_stalled(self, source: FrameSource) -> None:
        """Name the silence of a camera: before its first frame it is given time, and called by another name."""
        if source.lockstep:
            return
        silent_s = time.monotonic() - self._seen_s
        from_s, to_s = (STALLED_S, STALLED_S) if self._has_seen else STARTING_S
        if silent_s > to_s:
            self._reporter.well("starting")
            self._reporter.fault("stalled", f"no frame for {to_s:.0f} s")
        elif silent_s > from_s:
            self._reporter.fault("starting", "no frame yet")

    def _lost(self, why: str) -> None:
        self._reporter.fault("camera", why)
        if self._source is not None:
            self._source.close()
        self._source = None
        self._reopen_s = time.monotonic() + _REOPEN_S

    def _reopen(self) -> None:
        left_s = self._reopen_s - time.monotonic()
        if left_s > 0:
            self._service.wait(left_s)
            return
        try:
            self._source = open_source(self._config, patience_s=0.0)
        except DeviceMissingError:
            self._reopen_s = time.monotonic() + _REOPEN_S
            return
        self._clock.of_source = self._source.clock
        self._last_ns, self._back = -1, 0
        self._reader.reopened()
        self._seen_s = time.monotonic()
        self._reporter.well("camera")


class _Rate:
    """Frames a second over the last second or so."""

    def __init__(self) -> None:
        self.hz: float | None = None
        self._since_s = time.monotonic()
        self._frames = 0

    def count(self, now_s: float) -> None:
        """A frame was read."""
        self._frames += 1
        if now_s - self._since_s >= 1.0:
            self.hz = self._frames / (now_s - self._since_s)
            self._since_s, self._frames = now_s, 0
