"""Self-tests on a line on which everybody may be late, as on a busy machine: a sound beam never gets a bad report."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.beam.episodes import MS
from firmware_py.beam.watch import Watch
from firmware_py.gpio import BeamPins, SimulatedFactory
from hardware.twin.receiver import Receiver
from hub.link.clock import ManualClock
from hub.link.messages import BeamFault, Fact

PIN, EMITTER = 17, 27


class SlowLine:
    """A twin's receiver and a beam's watch; what one says the other hears as late as the test wants."""

    def __init__(self, seed: int, *, wire_cut: bool = False) -> None:
        self.receiver = Receiver(f"slow-{seed}")
        self.wire_cut = wire_cut
        self.clock = ManualClock()
        factory = SimulatedFactory(self.clock)
        factory.hold(PIN, high=True)
        self.pins = BeamPins(factory, pin=PIN, emitter_pin=EMITTER)
        self.drive = factory.drive
        self.to_twin: deque[tuple[int, bool]] = deque()
        self.to_beam: deque[tuple[int, str, bool]] = deque()
        self.watch = Watch(
            self.pins, 0, self_test_s=0.5, lead_ns=200 * MS, announce=lambda at_ns, on: self.to_twin.append((at_ns, on))
        )
        self.at_ms = 0
        self.tests = 0
        self.facts: list[Fact] = []

    def simulate(self, ms: int) -> None:
        """The twin moves on without looking at the line."""
        for at_ms in range(self.at_ms + 1, self.at_ms + ms + 1):
            self.receiver.observe(at_ms * MS, disc_inside=False)
        self.at_ms += ms
        now_ns = self.at_ms * MS
        switched = [(at_ns, "emitter", on) for at_ns, on in self.receiver.take_switchings(now_ns)]
        edges = [(at_ns, "edge", blocked) for at_ns, blocked in self.receiver.take(now_ns) if not self.wire_cut]
        self.to_beam += sorted([*switched, *edges], key=lambda told: told[0])
        self.to_beam.append((now_ns, "tick", True))

    def twin_hears(self) -> None:
        while self.to_twin:
            at_ns, on = self.to_twin.popleft()
            self.receiver.emitter(at_ns, on=on)

    def beam_hears(self, most: int) -> None:
        for at_ns, what, value in islice(_drain(self.to_beam), most):
            self.facts += self.watch.advance(at_ns - 1)
            self.clock.wait_until(at_ns)
            if what == "emitter":
                self.watch.switch_emitter(at_ns, on=value)
                self.tests += value
            elif what == "edge":
                self.drive(PIN, high=not value)
            self.facts += self.watch.advance(at_ns)

    def faults(self) -> set[str]:
        return {fact.name for fact in self.facts if isinstance(fact, BeamFault)}


def _drain(waiting: deque[tuple[int, str, bool]]) -> Iterator[tuple[int, str, bool]]:
    while waiting:
        yield waiting.popleft()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("simulate"), st.sampled_from((1, 5, 33, 34, 200, 450, 2_000))),
        st.tuples(st.just("twin hears"), st.just(0)),
        st.tuples(st.just("beam hears"), st.sampled_from((1, 2, 3, 5, 1_000))),
    ),
    min_size=20,
    max_size=120,
)


def follow(line: SlowLine, steps: list[tuple[str, int]]) -> None:
    for what, figure in [*steps, *[("simulate", 700), ("beam hears", 10_000), ("twin hears", 0)] * 6]:
        match what:
            case "simulate":
                line.simulate(figure)
            case "twin hears":
                line.twin_hears()
            case _:
                line.beam_hears(figure)
    line.pins.close()


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1_000), STEPS)
def test_whoever_is_late_a_sound_beam_is_never_said_to_be_broken(seed: int, steps: list[tuple[str, int]]) -> None:
    line = SlowLine(seed)
    follow(line, steps)
    assert line.faults() == set()
    assert line.tests >= 1


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1_000), STEPS)
def test_whoever_is_late_a_cut_wire_is_found(seed: int, steps: list[tuple[str, int]]) -> None:
    line = SlowLine(seed, wire_cut=True)
    follow(line, steps)
    assert line.faults() == {"receiver"}
