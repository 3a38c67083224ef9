"""The watch: level reads, self-tests and late edges, on mock pins whose receiver sees the emitter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from firmware_py.beam.episodes import MS
from firmware_py.beam.watch import FIRST_TEST_NS, TEST_OFF_NS, Watch
from firmware_py.gpio import BeamPins, SimulatedFactory
from hub.link.clock import ManualClock
from hub.link.messages import BeamCandidate, BeamFault, Fact

PIN, EMITTER = 17, 27
ANSWER_NS = 300_000


class Hole:
    """A hole with a beam across it: what a disc, the emitter and a broken part do to the receiver's pin."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.factory = SimulatedFactory(self.clock)
        self.factory.hold(PIN, high=True)
        self.pins = BeamPins(self.factory, pin=PIN, emitter_pin=EMITTER)
        self.disc = False
        self.wire_cut = False
        self.emitter_dead = False
        self.answer_ns = ANSWER_NS
        self.facts: list[Fact] = []
        self.switched: list[tuple[int, bool]] = []

    def watch(self, **settings: Any) -> Watch:
        return Watch(self.pins, self.clock.at_ns, self_test_s=30.0, **settings)

    def run(self, watch: Watch, to_ns: int) -> None:
        """Call the watch whenever it wants to, and let the receiver answer the emitter."""
        while self.clock.at_ns < to_ns:
            lit = self.pins.emitting
            self.facts += watch.advance(self.clock.at_ns)
            if self.pins.emitting != lit:
                self.switched.append((self.clock.at_ns, self.pins.emitting))
                self.clock.at_ns += self.answer_ns
                self.settle()
            else:
                self.clock.at_ns = min(to_ns, max(watch.next_ns(), self.clock.at_ns + 1))
        self.facts += watch.advance(to_ns)

    def settle(self, *, heard: bool = True) -> None:
        light = self.pins.emitting and not self.disc and not self.emitter_dead
        self.factory.drive(PIN, high=light or self.wire_cut, heard=heard)

    def put_disc(self, present: bool, *, heard: bool = True) -> None:
        self.disc = present
        self.settle(heard=heard)

    def faults(self) -> list[tuple[str, bool]]:
        return [(fact.name, fact.over) for fact in self.facts if isinstance(fact, BeamFault)]

    def twenties(self) -> list[int]:
        return [fact.at_ns for fact in self.facts if isinstance(fact, BeamCandidate)]


@pytest.fixture
def hole() -> Iterator[Hole]:
    hole = Hole()
    yield hole
    hole.pins.close()


def test_an_idle_beam_is_tested_at_the_start_and_every_half_minute(hole: Hole) -> None:
    hole.run(hole.watch(), 65_000 * MS)
    offs = [at_ns for at_ns, on in hole.switched if not on]
    assert [round(at_ns / 1e9) for at_ns in offs] == [1, 31, 61]
    ons = [at_ns for at_ns, on in hole.switched if on]
    assert all(on - off == TEST_OFF_NS for off, on in zip(offs, ons, strict=True))
    assert hole.facts == []


def test_a_cut_wire_is_found_by_the_first_test_and_mended_by_a_later_one(hole: Hole) -> None:
    """F4: sunlight or a cut wire within one test period."""
    hole.wire_cut = True
    watch = hole.watch()
    hole.run(watch, 20_000 * MS)
    assert hole.faults() == [("receiver", False)]
    hole.wire_cut = False
    hole.run(watch, 40_000 * MS)
    assert hole.faults() == [("receiver", False), ("receiver", True)]


def test_a_slow_receiver_is_a_fault(hole: Hole) -> None:
    hole.answer_ns = 6 * MS
    hole.run(hole.watch(), 5_000 * MS)
    assert hole.faults() == [("receiver", False)]
    assert hole.twenties() == []


def test_an_emitter_that_dies_in_the_test_is_a_fault_and_no_twenty(hole: Hole) -> None:
    watch = hole.watch()
    hole.run(watch, FIRST_TEST_NS + 1 * MS)
    hole.emitter_dead = True
    hole.run(watch, 4_000 * MS)
    assert ("emitter", False) in hole.faults()
    assert hole.twenties() == []


def test_no_test_while_a_disc_lies_in_the_hole_and_one_soon_after(hole: Hole) -> None:
    watch = hole.watch()
    hole.run(watch, 900 * MS)
    hole.put_disc(True)
    hole.run(watch, 6_000 * MS)
    assert hole.switched == []
    hole.put_disc(False)
    hole.run(watch, 7_000 * MS)
    assert len(hole.switched) == 2
    assert hole.twenties() == [1100 * MS]


def test_a_requested_test_comes_as_soon_as_the_beam_is_idle(hole: Hole) -> None:
    watch = hole.watch()
    hole.run(watch, 5_000 * MS)
    assert watch.test_soon(hole.clock.at_ns)
    hole.run(watch, 5_100 * MS)
    assert len(hole.switched) == 4


def test_without_a_switched_emitter_there_is_no_test() -> None:
    factory = SimulatedFactory(ManualClock())
    factory.hold(PIN, high=True)
    with BeamPins(factory, pin=PIN) as pins:
        watch = Watch(pins, 0, self_test_s=30.0)
        assert not watch.test_soon(0)
        assert watch.wake_ns() == 0
        assert watch.advance(60_000 * MS) == []


def test_a_lost_edge_is_found_at_the_next_reading(hole: Hole) -> None:
    watch = hole.watch()
    hole.run(watch, 2_100 * MS)
    hole.put_disc(True)
    hole.run(watch, 2_600 * MS)
    hole.put_disc(False, heard=False)
    hole.run(watch, 4_000 * MS)
    assert hole.faults() == [("lost_edge", False)]
    assert not watch.beam.heard_blocked
    hole.put_disc(True)
    hole.run(watch, 5_000 * MS)
    assert len(hole.twenties()) == 2
    assert hole.faults() == [("lost_edge", False), ("lost_edge", True)]


class TestLag:
    """Real pins: an edge is some milliseconds on its way."""

    LAG_NS = 10 * MS

    def test_a_reading_is_not_compared_with_an_edge_under_way(self, hole: Hole) -> None:
        watch = hole.watch(lag_ns=self.LAG_NS)
        hole.run(watch, 1_249 * MS)
        edge_ns = hole.clock.at_ns
        hole.factory.drive(PIN, high=False, heard=False)  # the level has changed, its edge is under way
        hole.facts += watch.advance(1_251 * MS)
        hole.pins._edges.put((edge_ns, True))
        hole.clock.at_ns = 1_254 * MS
        hole.run(watch, 1_600 * MS)
        assert hole.faults() == []
        assert hole.twenties() == [edge_ns + 200 * MS]

    def test_what_is_younger_than_the_lag_is_not_decided(self, hole: Hole) -> None:
        watch = hole.watch(lag_ns=self.LAG_NS)
        hole.put_disc(True)
        hole.facts += watch.advance(209 * MS)
        assert hole.twenties() == []
        assert watch.next_ns() == 210 * MS
        hole.facts += watch.advance(210 * MS)
        assert hole.twenties() == [200 * MS]

    def test_tests_go_well_in_spite_of_it(self, hole: Hole) -> None:
        hole.run(hole.watch(lag_ns=self.LAG_NS), 65_000 * MS)
        assert len(hole.switched) == 6
        assert hole.facts == []


class TestLead:
    """The twin: switchings are announced before they happen."""

    def test_both_switchings_are_announced_ahead(self, hole: Hole) -> None:
        announced: list[tuple[int, bool]] = []
        watch = Watch(
            hole.pins,
            0,
            self_test_s=30.0,
            lead_ns=200 * MS,
            announce=lambda at_ns, on: announced.append((at_ns, on)),
        )
        watch.advance(1_000 * MS)
        assert announced == [(1_200 * MS, False), (1_210 * MS, True)]
        for at_ns, on in announced:
            hole.facts += watch.advance(at_ns)
            watch.switch_emitter(at_ns, on=on)
            hole.clock.wait_until(at_ns + ANSWER_NS)
            hole.settle()
        hole.facts += watch.advance(5_000 * MS)
        assert hole.facts == []

    def test_a_switching_that_comes_late_is_dated_when_it_came(self, hole: Hole) -> None:
        announced: list[tuple[int, bool]] = []
        watch = hole.watch(lead_ns=200 * MS, announce=lambda at_ns, on: announced.append((at_ns, on)))
        watch.advance(1_000 * MS)
        hole.facts += watch.advance(1_700 * MS)
        for at_ns, on in ((1_750 * MS, False), (1_760 * MS, True)):
            hole.facts += watch.advance(at_ns)
            watch.switch_emitter(at_ns, on=on)
            hole.clock.wait_until(at_ns + ANSWER_NS)
            hole.settle()
        hole.facts += watch.advance(5_000 * MS)
        assert hole.facts == []
        assert len(announced) == 2

    def test_a_switching_that_never_comes_is_waited_for_and_says_nothing(self, hole: Hole) -> None:
        announced: list[tuple[int, bool]] = []
        watch = hole.watch(lead_ns=200 * MS, announce=lambda at_ns, on: announced.append((at_ns, on)))
        for at_ms in range(1_000, 90_000, 500):
            hole.facts += watch.advance(at_ms * MS)
        assert hole.facts == []
        assert len(announced) == 2

    def test_a_disc_that_falls_in_between_makes_the_test_say_nothing(self, hole: Hole) -> None:
        announced: list[tuple[int, bool]] = []
        watch = hole.watch(lead_ns=200 * MS, announce=lambda at_ns, on: announced.append((at_ns, on)))
        watch.advance(1_000 * MS)
        hole.clock.wait_until(1_150 * MS)
        hole.facts += watch.advance(1_150 * MS - 1)
        hole.put_disc(True)
        hole.facts += watch.advance(1_150 * MS)
        for at_ns, on in announced:
            hole.facts += watch.advance(at_ns - 1)
            watch.switch_emitter(at_ns, on=on)
        hole.facts += watch.advance(3_000 * MS)
        assert hole.twenties() == [1_350 * MS]
        assert hole.faults() == []


def test_a_switching_is_dated_when_it_happens(hole: Hole) -> None:
    """A loop that was held up between looking at the clock and switching must not find the receiver slow."""
    watch = Watch(hole.pins, 0, self_test_s=30.0, lag_ns=10 * MS, stamp_ns=hole.clock.now_ns)
    for now_ms in (1_000, 1_100):
        hole.clock.wait_until((now_ms + 8) * MS)
        watch.advance(now_ms * MS)
        hole.clock.wait_until((now_ms + 8) * MS + ANSWER_NS)
        hole.settle()
    assert hole.pins.emitting
    hole.facts += watch.advance(3_000 * MS)
    assert hole.facts == []
