"""Watches the beam: joins its pins to the state machine, reads the level now and then, and tests emitter and receiver.

Owned by the work loop, which calls :meth:`Watch.advance` whenever the pins have something or :meth:`Watch.next_ns`
has come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from firmware_py.beam import episodes
from firmware_py.beam.state import Edge, Emitter, Event, Level
from hub.link.messages import Fact

TEST_OFF_NS = 10 * episodes.MS
FIRST_TEST_NS = 1000 * episodes.MS
_TEST_AGAIN_NS = 250 * episodes.MS

_ORDER = {Edge: 0, Level: 1, Emitter: 2}


class Pins(Protocol):
    """The beam's two pins, see :class:`firmware_py.gpio.BeamPins`."""

    @property
    def blocked(self) -> bool:
        """Level of the receiver now."""
        ...

    @property
    def has_emitter(self) -> bool:
        """Whether the emitter can be switched."""
        ...

    def edges(self) -> list[tuple[int, bool]]:
        """Edges since the last call: time (ns) and whether the beam is blocked since."""
        ...

    def emit(self, *, on: bool) -> None:
        """Switch the emitter."""
        ...


class Watch:
    """The beam from its pins to its facts.

    Args:
        pins: receiver and emitter.
        at_ns: now; multiples of 250 ms count from here.
        self_test_s: time between self-tests, 0 for none.
        lag_ns: how long an edge may be on its way to us. Nothing younger than that is decided, so that a level read
            is never compared with an edge that has not arrived. 0 when the pins' clock is driven together with them.
        lead_ns: how long before a self-test its two switchings are announced to somebody far away who does them.
        announce: told of a switching that much ahead: its time (ns) and whether the emitter goes on. Whoever does it
            may be late, so it counts as done when :meth:`switch_emitter` tells of it, and is dated by that.
        stamp_ns: reads the pins' clock just before the emitter is switched, since the 5 ms for an answer count from
            there; without it a switching is dated by the ``now_ns`` of the call.
    """

    def __init__(
        self,
        pins: Pins,
        at_ns: int,
        *,
        self_test_s: float = 0.0,
        lag_ns: int = 0,
        lead_ns: int = 0,
        announce: Callable[[int, bool], None] | None = None,
        stamp_ns: Callable[[], int] | None = None,
    ) -> None:
        self._pins = pins
        self._lag_ns = lag_ns
        self._lead_ns = lead_ns
        self._announce = announce
        self._stamp_ns = stamp_ns
        self._start_ns = at_ns
        self._read_ns = at_ns + episodes.LEVEL_READ_NS
        self._test_every_ns = round(self_test_s * 1e9) if pins.has_emitter else 0
        self._test_ns: int | None = at_ns + FIRST_TEST_NS if self._test_every_ns else None
        self._switchings: list[tuple[int, bool]] = []
        self._waiting: list[Event] = []
        pins.edges()  # what came before now is in the level
        self.beam, self._first = episodes.start(at_ns, blocked=pins.blocked)

    def advance(self, now_ns: int) -> list[Fact]:
        """Take in edges, read the level and test if that is due, and decide what can be decided."""
        facts = [*self._first]
        self._first = ()
        self._waiting += [Edge(at_ns, blocked) for at_ns, blocked in self._pins.edges()]
        self._switch(now_ns)
        self._read_level(now_ns)
        facts += self._decide(now_ns - self._lag_ns)
        self._plan_test(now_ns)
        return facts

    def next_ns(self) -> int:
        """When to call :meth:`advance` at the latest if no edge comes."""
        return min(self._read_ns, self.wake_ns() or self._read_ns)

    def wake_ns(self) -> int:
        """The same without level reads, for a driver whose levels change by its own hand only; 0 = never."""
        times = [event.at_ns + self._lag_ns for event in self._waiting]
        due_ns = episodes.next_ns(self.beam)
        if due_ns is not None:
            times.append(max(due_ns, self.beam.now_ns) + self._lag_ns)
        if self._switchings:
            times.append(self._switchings[0][0])
        elif self._test_ns is not None:
            times.append(self._test_ns)
        return min(times, default=0)

    def test_soon(self, now_ns: int) -> bool:
        """Test as soon as the beam is idle; False if the emitter cannot be switched."""
        if self._pins.has_emitter:
            self._test_ns = now_ns
        return self._pins.has_emitter

    def switch_emitter(self, at_ns: int, *, on: bool) -> None:
        """Switch the emitter and let the state machine know."""
        if self._announce is not None and self._switchings:
            self._switchings.pop(0)
        self._pins.emit(on=on)
        self._waiting.append(Emitter(at_ns, on))

    def _switch(self, now_ns: int) -> None:
        while self._announce is None and self._switchings and self._switchings[0][0] <= now_ns:
            _, on = self._switchings.pop(0)
            self.switch_emitter(now_ns if self._stamp_ns is None else self._stamp_ns(), on=on)

    def _read_level(self, now_ns: int) -> None:
        if now_ns < self._read_ns:
            return
        # Without lag the level has been the same since the last call, so one reading stands for all that were due.
        self._waiting.append(Level(now_ns if self._lag_ns else self._read_ns, self._pins.blocked))
        periods = (now_ns - self._start_ns) // episodes.LEVEL_READ_NS
        self._read_ns = self._start_ns + (periods + 1) * episodes.LEVEL_READ_NS

    def _decide(self, to_ns: int) -> tuple[Fact, ...]:
        self._waiting.sort(key=lambda event: (event.at_ns, _ORDER[type(event)]))
        ripe = [event for event in self._waiting if event.at_ns <= to_ns]
        del self._waiting[: len(ripe)]
        self.beam, facts = episodes.run(self.beam, ripe, to_ns)
        return facts

    def _plan_test(self, now_ns: int) -> None:
        if self._switchings or self._test_ns is None or now_ns < self._test_ns:
            return
        under_way = any(isinstance(event, Edge) for event in self._waiting)
        if under_way or self._pins.blocked or not episodes.may_test(self.beam):
            self._test_ns = now_ns + _TEST_AGAIN_NS
            return
        off_ns = now_ns + self._lead_ns
        self._switchings = [(off_ns, False), (off_ns + TEST_OFF_NS, True)]
        self._test_ns = off_ns + self._test_every_ns if self._test_every_ns else None
        if self._announce is not None:
            for at_ns, on in self._switchings:
                self._announce(at_ns, on)
        self._switch(now_ns)
