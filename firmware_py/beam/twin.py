"""The beam of a simulated board: the twin's edges on gpiozero's mock pins, and the emitter's level back to the twin."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from firmware_py.beam.reporting import obey, report_facts
from firmware_py.beam.watch import Watch
from firmware_py.errors import DeviceMissingError
from firmware_py.gpio import BeamPins, SimulatedFactory
from firmware_py.service import Service
from hardware.line import FrameMemory, Json, Line, LineError
from hub.link.clock import Clock, CounterClock, ManualClock, SimClock
from hub.link.config import BeamSection
from hub.link.messages import Fact

log = logging.getLogger(__name__)

FIRST_WAIT_S = 10.0
_AGAIN_S = 0.3
_LEAD_NS = 200_000_000  # a twin at real speed mostly hears of a self-test before it has simulated that moment
_FAULT = "device"


class TwinClock:
    """The clock of whichever twin is connected; see :class:`hub.link.clock.Clock`."""

    def __init__(self) -> None:
        self.of_twin: Clock = ManualClock()

    def now_ns(self) -> int:
        """See :class:`hub.link.clock.Clock`."""
        return self.of_twin.now_ns()

    def wait_until(self, at_ns: int) -> None:
        """See :class:`hub.link.clock.Clock`."""
        self.of_twin.wait_until(at_ns)

    def real_s_until(self, at_ns: int) -> float:
        """See :class:`hub.link.clock.Clock`."""
        return self.of_twin.real_s_until(at_ns)


def clock_of(welcome: Json) -> Clock:
    """The clock that a twin's welcome names.

    Raises:
        LineError: it names none.
    """
    try:
        if welcome["lockstep"]:
            memory = FrameMemory(Path(welcome["path"]))
            return CounterClock(lambda: memory.clock_ns)
        return SimClock(int(welcome["epoch_ns"]), float(welcome["speed"]))
    except (KeyError, TypeError, ValueError) as error:
        raise LineError(f"the twin's welcome names no clock: {error!r}") from None


class TwinBeam:
    """One connection to a twin.

    A welcome may say ``blocked``, the receiver's level now. Of a twin that does not, edges before its first tick
    tell the level.

    Args:
        line: to the twin.
        welcome: the twin's first words.
        beam: the beam's configuration.
        service: reports the facts, and waits for their acknowledgement in lock-step.
    """

    def __init__(self, line: Line, welcome: Json, beam: BeamSection, service: Service) -> None:
        self._line = line
        self._lockstep = bool(welcome.get("lockstep"))
        self._settings = beam
        self._service = service
        self._announced: list[Json] = []
        self._stamp = ManualClock()
        self._factory = SimulatedFactory(self._stamp)
        self._pins: BeamPins | None = None
        self.watch: Watch | None = None
        self._level_known = "blocked" in welcome
        self._hold(blocked=bool(welcome.get("blocked")))

    def fileno(self) -> int:
        """Readable when the twin has sent something."""
        return self._line.fileno()

    def close(self) -> None:
        """Give the pins back and hang up."""
        if self._pins is not None:
            self._pins.close()
        self._line.close()

    def work(self) -> None:
        """Take in whatever the twin has sent.

        Raises:
            LineError: the twin is gone or speaks another language.
        """
        for message in self._line.waiting():
            try:
                if message["is"] == "edge":
                    self._edge(int(message["at_ns"]), blocked=bool(message["blocked"]))
                elif message["is"] == "emitter":
                    self._switched(int(message["at_ns"]), on=bool(message["on"]))
                elif message["is"] == "tick":
                    self._tick(int(message["at_ns"]))
                    self._service.beat()  # in lock-step the next tick may be here before this loop looks up
            except (KeyError, TypeError, ValueError) as error:
                raise LineError(f"expected an edge, the emitter or a tick, got {message!r}: {error!r}") from None
            if self._service.stopping:
                return

    def _edge(self, at_ns: int, *, blocked: bool) -> None:
        if self.watch is None and not self._level_known:
            self._hold(blocked=blocked)
            return
        watch = self._watch_from(at_ns - 1)
        facts = watch.advance(at_ns - 1)
        self._stamp.wait_until(at_ns)
        self._factory.drive(self._settings.pin, high=self._high(blocked=blocked))
        self._report([*facts, *watch.advance(at_ns)])

    def _switched(self, at_ns: int, *, on: bool) -> None:
        watch = self._watch_from(at_ns)
        facts = watch.advance(at_ns - 1)
        self._stamp.wait_until(at_ns)
        watch.switch_emitter(at_ns, on=on)
        self._report([*facts, *watch.advance(at_ns)])

    def _tick(self, at_ns: int) -> None:
        watch = self._watch_from(at_ns)
        self._stamp.wait_until(at_ns)
        self._report(watch.advance(at_ns))
        if self._lockstep and not self._service.wait_acknowledged():
            return
        self._line.send(
            {
                "is": "taken",
                "at_ns": at_ns,
                "boot": self._service.reporter.boot,
                "seq": self._service.reporter.last_seq,
                "wake_ns": watch.wake_ns(),
            }
        )

    def _report(self, facts: list[Fact]) -> None:
        report_facts(self._service.reporter, facts)
        while self._announced:  # after the facts, which must not be lost if the twin is gone
            self._line.send(self._announced.pop(0))

    def _watch_from(self, at_ns: int) -> Watch:
        if self.watch is None:
            beam = self._settings
            self._stamp.wait_until(at_ns)
            self._pins = BeamPins(
                self._factory, pin=beam.pin, emitter_pin=beam.emitter_pin, broken_level=beam.broken_level
            )
            self.watch = Watch(
                self._pins, at_ns, self_test_s=beam.self_test_s, lead_ns=_LEAD_NS, announce=self._announce
            )
        return self.watch

    def _announce(self, at_ns: int, on: bool) -> None:
        self._announced.append({"is": "emitter", "on": on, "at_ns": at_ns})

    def _hold(self, *, blocked: bool) -> None:
        self._factory.hold(self._settings.pin, high=self._high(blocked=blocked))

    def _high(self, *, blocked: bool) -> bool:
        return blocked == (self._settings.broken_level == "high")


def run_twin(service: Service, clock: TwinClock, path: Path, beam: BeamSection) -> None:
    """The work loop of a beam on a twin; ends when the service is to stop.

    A twin that goes away is waited for: the next one's beam starts anew.

    Args:
        service: started.
        clock: the service's.
        path: the twin's socket.
        beam: the beam's configuration.

    Raises:
        DeviceMissingError: no twin within the first 10 s.
    """
    reporter = service.reporter
    give_up_s: float | None = time.monotonic() + FIRST_WAIT_S
    while not service.stopping:
        try:
            line, welcome = Line.connect(path, "beam")
        except LineError as error:
            if give_up_s is not None and time.monotonic() > give_up_s:
                raise DeviceMissingError(f"[board] twin: {error}; start the twin first, or name its socket") from None
            if give_up_s is None:
                reporter.fault(_FAULT, str(error))
            service.beat()
            service.wait(_AGAIN_S)
            continue
        give_up_s = None
        try:
            clock.of_twin = clock_of(welcome)
            reporter.well(_FAULT)
            _serve(service, TwinBeam(line, welcome, beam, service))
        except LineError as error:
            reporter.fault(_FAULT, str(error))
            line.close()


def _serve(service: Service, twin: TwinBeam) -> None:
    try:
        while not service.stopping:
            service.wait(1.0, twin)
            twin.work()
            if twin.watch is not None:
                obey(service.reporter, twin.watch, service.reporter.clock.now_ns())
            service.beat()
    finally:
        twin.close()
