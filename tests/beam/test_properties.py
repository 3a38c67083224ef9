"""Invariants of the beam's state machine, and a second reading of its rules that knows the whole record at once."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from firmware_py.beam import episodes
from firmware_py.beam.cases import Given, SelfTestScript, _run_pins, _run_pure, _script
from firmware_py.beam.chatter import NO_EDGES, count_edge
from firmware_py.beam.episodes import MS
from firmware_py.beam.state import Beam, Edge, Emitter, Event, Level
from hub.link.messages import (
    BeamCandidate,
    BeamEpisode,
    BeamFault,
    BeamPass,
    BeamWarning,
    BeamWithdrawn,
    Fact,
)

# Steps between events: the limits of the rules, just beside them, and anything.
steps_ns = st.one_of(
    st.sampled_from([n * MS + d for n in (0, 5, 10, 60, 200, 250, 300, 1000, 5000) for d in (-1, 0, 1) if n or d > 0]),
    st.integers(0, 400 * MS),
    st.integers(0, 3 * MS),
    st.integers(0, 8000 * MS),
)


@st.composite
def records(draw: st.DrawFn) -> list[Event]:
    """Any events whatever in order of time."""
    at_ns, events = 0, list[Event]()
    for step_ns in draw(st.lists(steps_ns, max_size=60)):
        at_ns += step_ns
        kind = draw(st.sampled_from([Edge, Edge, Edge, Level, Emitter]))
        events.append(kind(at_ns, draw(st.booleans())))
    return events


@st.composite
def toggles(draw: st.DrawFn) -> list[Edge]:
    """Edges as a clean receiver gives them."""
    at_ns, edges = 0, list[Edge]()
    for index, step_ns in enumerate(draw(st.lists(steps_ns, max_size=60))):
        at_ns += max(step_ns, 1)
        edges.append(Edge(at_ns, blocked=index % 2 == 0))
    return edges


def run(events: list[Event], to_ns: int, *, blocked: bool = False) -> tuple[Beam, list[Fact]]:
    beam, first = episodes.start(0, blocked=blocked)
    beam, facts = episodes.run(beam, events, to_ns)
    return beam, [*first, *facts]


@given(events=records(), blocked=st.booleans())
@settings(max_examples=120, deadline=None)
def test_any_record_gives_orderly_facts(events: list[Event], blocked: bool) -> None:
    end_ns = (events[-1].at_ns if events else 0) + 60_000 * MS
    beam, facts = run(events, end_ns, blocked=blocked)
    candidates = [fact for fact in facts if isinstance(fact, BeamCandidate)]
    numbers = [fact.episode for fact in candidates]
    assert numbers == sorted(set(numbers)), "never two candidates in an episode"
    assert all(fact.at_ns - fact.start_ns == episodes.DWELL_NS for fact in candidates)
    for before, after in pairwise(candidates):
        assert after.start_ns - before.at_ns >= episodes.REARM_NS, "an episode ends with 300 ms of clear"
    for kind in (BeamEpisode, BeamWithdrawn):
        told = [fact.episode for fact in facts if isinstance(fact, kind)]
        assert len(told) == len(set(told))
        assert set(told) <= set(numbers)
    passes = [fact.episode for fact in facts if isinstance(fact, BeamPass)]
    assert len(passes) == len(set(passes))
    assert not set(passes) & set(numbers), "no pass in an episode that has its candidate"
    standing: set[str] = set()
    for fact in facts:
        if isinstance(fact, BeamFault):
            assert (fact.name in standing) == fact.over, "a fault is told once on entry and once on end"
            standing ^= {fact.name}
    assert standing == beam.faults


@given(events=records(), cuts=st.lists(st.integers(0, 60_000 * MS), max_size=30), blocked=st.booleans())
@settings(max_examples=120, deadline=None)
def test_how_the_time_is_split_changes_nothing(events: list[Event], cuts: list[int], blocked: bool) -> None:
    end_ns = max([event.at_ns for event in events] + cuts + [0]) + 30_000 * MS
    whole, facts = run(events, end_ns, blocked=blocked)
    beam, split = episodes.start(0, blocked=blocked)
    moments: list[tuple[int, int, Event | None]] = [(event.at_ns, 1, event) for event in events]
    moments += [(cut, 0, None) for cut in cuts]
    for at_ns, _, event in sorted(moments, key=lambda moment: moment[:2]):
        beam, more = episodes.advance(beam, at_ns) if event is None else episodes.feed(beam, event)
        split = (*split, *more)
    while (due_ns := episodes.next_ns(beam)) is not None and due_ns <= end_ns:
        beam, more = episodes.advance(beam, max(due_ns, beam.now_ns))
        split = (*split, *more)
    beam, more = episodes.advance(beam, end_ns)
    assert [*split, *more] == facts
    assert beam == whole


@given(edges=toggles())
@settings(max_examples=250, deadline=None)
def test_a_second_reading_of_the_rules_agrees(edges: list[Edge]) -> None:
    end_ns = (edges[-1].at_ns if edges else 0) + 30_000 * MS
    _, facts = run(list(edges), end_ns)
    if any(isinstance(fact, BeamFault) for fact in facts):
        return  # chatter has its own test below
    dates_ns, passes, warnings = read_whole(edges, end_ns)
    assert [fact.at_ns for fact in facts if isinstance(fact, BeamCandidate)] == dates_ns
    assert sum(isinstance(fact, BeamPass) for fact in facts) == passes
    assert sorted(fact.at_ns for fact in facts if isinstance(fact, BeamWarning)) == sorted(warnings)


def read_whole(edges: list[Edge], end_ns: int) -> tuple[list[int], int, list[int]]:
    """Dates of candidates, number of passes and dates of warnings, from the merged blocked times of a whole record."""
    ends = [edge.at_ns for edge in edges[1::2]] + ([end_ns] if len(edges) % 2 else [])
    times: list[list[int]] = []
    for start_ns, stop_ns in zip([edge.at_ns for edge in edges[::2]], ends, strict=True):
        if times and start_ns - times[-1][1] <= 60 * MS:
            times[-1][1] = stop_ns
        else:
            times.append([start_ns, stop_ns])
    dates_ns: list[int] = []
    passes, warnings = 0, list[int]()
    episode_until_ns = None
    for start_ns, stop_ns in times:
        if episode_until_ns is not None and start_ns >= episode_until_ns:
            episode_until_ns = None
        if episode_until_ns is not None:
            episode_until_ns = stop_ns + 300 * MS
        elif stop_ns - start_ns >= 200 * MS:
            dates_ns.append(start_ns + 200 * MS)
            episode_until_ns = stop_ns + 300 * MS
        else:
            passes += 1
        warnings += [start_ns + limit * MS for limit in (5000, 20_000) if stop_ns - start_ns > limit * MS]
    return dates_ns, passes, warnings


@given(steps=st.lists(st.integers(0, 80), min_size=30, max_size=150), scale=st.sampled_from([1, 10, 40]))
@settings(max_examples=120, deadline=None)
def test_chatter_is_more_than_20_edges_in_every_second_of_more_than_2_s(steps: list[int], scale: int) -> None:
    times_ns, at_ns = list[int](), 0
    for step in steps:
        at_ns += step * scale * MS // 10
        times_ns.append(at_ns)
    rate = NO_EDGES
    for index, edge_ns in enumerate(times_ns):
        rate = count_edge(rate, edge_ns)
        assert rate.since_ns == first_of_run(times_ns[: index + 1])
        assert rate.is_chatter == (edge_ns - rate.since_ns > 2000 * MS)


def first_of_run(times_ns: list[int]) -> int:
    """The earliest edge from which every whole second up to the last edge holds more than 20 edges."""
    last_ns = times_ns[-1]
    for index, first_ns in enumerate(times_ns):
        seconds = [start for start in times_ns[index:] if start + 1000 * MS < last_ns]
        # The thinnest seconds are those that begin just after an edge.
        if all(holds(times_ns, position) > 20 for position in range(index, index + len(seconds))):
            return first_ns
    return last_ns


def holds(times_ns: list[int], position: int) -> int:
    return sum(1 for t in times_ns[position + 1 :] if t <= times_ns[position] + 1000 * MS)


@given(times_ms=st.lists(st.integers(0, 20_000), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_a_late_event_counts_as_now(times_ms: list[int]) -> None:
    beam, _ = episodes.start(0, blocked=False)
    for index, at_ms in enumerate(times_ms):
        before_ns = beam.now_ns
        beam, _ = episodes.feed(beam, Edge(at_ms * MS, blocked=index % 2 == 0))
        assert beam.now_ns >= before_ns


levels = st.lists(st.tuples(st.integers(0, 12_000), st.sampled_from(["blocked", "clear"])), max_size=12)
self_tests = st.lists(
    st.tuples(st.integers(0, 12_000), st.lists(st.integers(0, 160), max_size=3, unique=True)), max_size=3
)


def between_reads(changes: list[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """In order, and never at the very instant of a level read, at which either level would be right."""
    return tuple(sorted((at_ms + 0.013, level) for at_ms, level in changes))


@given(edges=levels, unheard=levels, tests=self_tests, start=st.sampled_from(["blocked", "clear"]))
@example(edges=[], unheard=[(751, "clear")], tests=[(1000, [])], start="blocked")  # a level read and a test at once
@settings(max_examples=150, deadline=None)
def test_gpiozeros_pins_tell_the_same_story(
    edges: list[tuple[float, str]],
    unheard: list[tuple[float, str]],
    tests: list[tuple[int, list[int]]],
    start: str,
) -> None:
    scripts = [
        SelfTestScript(
            at_ms, 10, tuple((at_ms + t / 10, "clear" if n % 2 else "blocked") for n, t in enumerate(sorted(times)))
        )
        for at_ms, times in tests
    ]
    given_case = Given(
        edges=between_reads(edges),
        until_ms=20_000,
        start=start,
        self_tests=tuple(scripts),
        levels=between_reads(unheard),
    )
    script = _script(given_case)
    assert _run_pure(given_case, script) == _run_pins(given_case, script)
