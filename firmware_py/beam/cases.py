"""Runs the worked cases of the beam, see ``crokinole verify``: through the state machine, and through gpiozero's pins.

A case lists edges, levels that no edge told of, and self-tests with their edges; :func:`run_beam_case` says where
either way comes to something else than the case expects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from firmware_py.beam import episodes
from firmware_py.beam.state import Edge, Emitter, Event, Level
from firmware_py.beam.watch import Watch
from firmware_py.gpio import BeamPins, SimulatedFactory
from hub.link.clock import ManualClock
from hub.link.messages import BeamCandidate, BeamFault, BeamPass, BeamWarning, BeamWithdrawn, Fact

Case = Mapping[str, Any]

_DATED_TO_MS = 20.0
_PIN, _EMITTER_PIN = 17, 27
_LONGEST_MS = 24 * 3_600_000.0

Ms = Annotated[float, msgspec.Meta(ge=0, le=_LONGEST_MS)]
"""A time of a case: within one day, so that a slip of the pen is a mismatch and not an endless run."""


class SelfTestScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A self-test of a case and the edges that it makes."""

    at_ms: Ms
    off_ms: Ms
    edges: tuple[tuple[Ms, str], ...] = ()


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happens in a case; times in milliseconds since the daemon's start."""

    edges: tuple[tuple[Ms, str], ...]
    until_ms: Ms
    round_running: bool = True
    start: str = "clear"
    self_tests: tuple[SelfTestScript, ...] = ()
    levels: tuple[tuple[Ms, str], ...] = ()


class Expect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a case expects; None is not checked."""

    twenties: int | None = None
    at_ms: tuple[float, ...] | None = None
    passes: int | None = None
    faults: tuple[str, ...] | None = None
    warnings: tuple[str, ...] | None = None
    blocked_at_end: bool | None = None
    practice: bool | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """Something of a case at a moment: the level changes (``heard`` or not), or the emitter is switched."""

    at_ns: int
    what: str
    value: bool
    heard: bool = True


def run_beam_case(case: Case) -> list[str]:
    """Run a case both ways; returns what did not come out as expected, empty if it passed."""
    try:
        given = msgspec.convert(case["given"], Given)
        expect = msgspec.convert(case["expect"], Expect)
        _blocked(given.start)
        script = _script(given)
    except KeyError as error:
        return [f"is no beam case: {error} is missing"]
    except ValueError as error:
        return [f"is no beam case: {error}"]
    ways: dict[str, Callable[[Given, list[Happening]], tuple[list[Fact], bool]]] = {
        "state machine": _run_pure,
        "pins": _run_pins,
    }
    mismatches: list[str] = []
    for name, way in ways.items():
        facts, blocked = way(given, script)
        mismatches += [f"{name}: {m}" for m in _compare(expect, facts, blocked, running=given.round_running)]
    return mismatches


def _script(given: Given) -> list[Happening]:
    happenings = [_level(edge, heard=True) for edge in given.edges]
    happenings += [_level(level, heard=False) for level in given.levels]
    for test in given.self_tests:
        happenings.append(Happening(_ns(test.at_ms), "emitter", value=False))
        happenings.append(Happening(_ns(test.at_ms + test.off_ms), "emitter", value=True))
        happenings += [_level(edge, heard=True) for edge in test.edges]
    return sorted((h for h in happenings if h.at_ns <= _ns(given.until_ms)), key=lambda h: h.at_ns)


def _level(entry: tuple[float, str], *, heard: bool) -> Happening:
    at_ms, level = entry
    return Happening(_ns(at_ms), "level", _blocked(level), heard)


def _blocked(level: str) -> bool:
    if level not in {"blocked", "clear"}:
        raise ValueError(f"level {level!r}, expected 'blocked' or 'clear'")
    return level == "blocked"


def _ns(ms: float) -> int:
    return round(ms * episodes.MS)


def _run_pure(given: Given, script: list[Happening]) -> tuple[list[Fact], bool]:
    beam, facts = episodes.start(0, blocked=_blocked(given.start))
    beam, more = episodes.run(beam, _events(given, script), _ns(given.until_ms))
    return [*facts, *more], beam.heard_blocked


def _events(given: Given, script: list[Happening]) -> Iterable[Event]:
    """The case as events, with a reading of the true level at each multiple of 250 ms."""
    level = _blocked(given.start)
    read_ns = episodes.LEVEL_READ_NS
    for happening in [*script, Happening(_ns(given.until_ms) + 1, "end", value=True)]:
        # As the daemon has it: of a read and a switching at one instant the read comes first.
        while read_ns < happening.at_ns or (read_ns == happening.at_ns and happening.what == "emitter"):
            yield Level(read_ns, level)
            read_ns += episodes.LEVEL_READ_NS
        if happening.what == "emitter":
            yield Emitter(happening.at_ns, happening.value)
        elif happening.what == "level":
            if happening.heard and happening.value != level:
                yield Edge(happening.at_ns, happening.value)
            level = happening.value


def _run_pins(given: Given, script: list[Happening]) -> tuple[list[Fact], bool]:
    clock = ManualClock()
    factory = SimulatedFactory(clock)
    factory.hold(_PIN, high=not _blocked(given.start))  # broken_level = "low"
    facts: list[Fact] = []
    with BeamPins(factory, pin=_PIN, emitter_pin=_EMITTER_PIN, broken_level="low") as pins:
        watch = Watch(pins, 0)
        for happening in script:
            facts += watch.advance(happening.at_ns - 1)
            clock.wait_until(happening.at_ns)
            if happening.what == "emitter":
                watch.switch_emitter(happening.at_ns, on=happening.value)
            else:
                factory.drive(_PIN, high=not happening.value, heard=happening.heard)
            facts += watch.advance(happening.at_ns)
        clock.wait_until(_ns(given.until_ms))
        facts += watch.advance(_ns(given.until_ms))
        return facts, watch.beam.heard_blocked


def _compare(expect: Expect, facts: list[Fact], blocked: bool, *, running: bool) -> Iterable[str]:
    withdrawn = {fact.episode for fact in facts if isinstance(fact, BeamWithdrawn)}
    dates_ms = [
        fact.at_ns / episodes.MS for fact in facts if isinstance(fact, BeamCandidate) and fact.episode not in withdrawn
    ]
    faults = dict.fromkeys(fact.name for fact in facts if isinstance(fact, BeamFault) and not fact.over)
    warnings = dict.fromkeys(fact.name for fact in facts if isinstance(fact, BeamWarning))
    got = Expect(
        twenties=len(dates_ms),
        passes=sum(isinstance(fact, BeamPass) for fact in facts),
        faults=tuple(faults),
        warnings=tuple(warnings),
        blocked_at_end=blocked,
        practice=not running,
    )
    for name in ("twenties", "passes", "faults", "warnings", "blocked_at_end", "practice"):
        wanted, came = getattr(expect, name), getattr(got, name)
        if wanted is not None and wanted != came:
            yield f"{name}: expected {wanted}, got {came}"
    if expect.at_ms is not None and not _dated(expect.at_ms, dates_ms):
        yield f"at_ms: expected {list(expect.at_ms)} to {_DATED_TO_MS:g} ms, got {dates_ms}"


def _dated(expected: tuple[float, ...], got: list[float]) -> bool:
    return len(expected) == len(got) and all(abs(e - g) <= _DATED_TO_MS for e, g in zip(expected, got, strict=True))
