"""What the edges of the break-beam mean: a pure state machine from edges to facts.

Its rules are those of the worked cases for the beam. Time is an argument: whoever drives it hands in events in order
of time and, in between, :func:`advance` up to any moment; how that is split changes nothing. All times are
nanoseconds on the board's clock.

Words. A *blocked time* is the beam blocked, clear gaps of up to 60 ms included. It becomes a *candidate* twenty at
200 ms, or ends earlier as a *pass*. From a candidate on, everything until 300 ms of clear belongs to its *episode*
and counts no more. The *scored* level leaves out the edges of self-tests; the *heard* level is the pin's, as far as
edges and level reads have told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from firmware_py.beam.chatter import NO_EDGES, QUIET_NS, count_edge
from firmware_py.beam.state import Beam, BlockedTime, Edge, Emitter, Episode, Event, Level, SelfTest
from hub.link.messages import (
    BeamCandidate,
    BeamEpisode,
    BeamFault,
    BeamPass,
    BeamWarning,
    BeamWithdrawn,
    Fact,
)

MS = 1_000_000
DWELL_NS = 200 * MS
GAP_NS = 60 * MS
REARM_NS = 300 * MS
TEST_ANSWER_NS = 5 * MS
LEVEL_READ_NS = 250 * MS
WARNINGS = (("not_removed", 5000 * MS), ("stuck", 20_000 * MS))


Step = tuple[Beam, tuple[Fact, ...]]


def start(at_ns: int, *, blocked: bool) -> Step:
    """The state of a daemon that starts.

    A beam that is blocked then is a fault, and nothing counts until it has been clear for 300 ms: it may be a disc
    that an earlier run has counted.
    """
    beam = Beam(now_ns=at_ns, heard_blocked=blocked, blocked=blocked, clear_ns=at_ns)
    if not blocked:
        return beam, ()
    beam = replace(beam, current=BlockedTime(1, at_ns), episode=Episode(None), given=1)
    return _fault(beam, "blocked_at_start", at_ns)


def advance(beam: Beam, to_ns: int) -> Step:
    """Let time pass up to and including ``to_ns``; the past changes nothing."""
    facts: list[Fact] = []
    while (due_ns := next_ns(beam)) is not None and due_ns <= to_ns:
        beam, new = _due(beam, due_ns)
        facts += new
    return replace(beam, now_ns=max(beam.now_ns, to_ns)), tuple(facts)


def feed(beam: Beam, event: Event) -> Step:
    """Hand in an event; one that is dated before what is decided counts as now."""
    beam, before = advance(beam, event.at_ns)
    at_ns = beam.now_ns
    match event:
        case Edge(blocked=blocked):
            beam, facts = _edge(beam, at_ns, blocked=blocked)
        case Level(blocked=blocked):
            beam, facts = _level(beam, at_ns, blocked=blocked)
        case Emitter(on=on):
            beam, facts = _emitter(beam, at_ns, on=on)
    beam, after = advance(beam, at_ns)
    return beam, before + facts + after


def run(beam: Beam, events: Iterable[Event], to_ns: int) -> Step:
    """Hand in events in order of time, then let time pass up to ``to_ns``."""
    facts: list[Fact] = []
    for event in events:
        beam, new = feed(beam, event)
        facts += new
    beam, new = advance(beam, to_ns)
    return beam, (*facts, *new)


def next_ns(beam: Beam) -> int | None:
    """When something will happen if no event comes; None if nothing will. May lie in the past."""
    return min((due_ns for due_ns, _ in _timers(beam)), default=None)


def may_test(beam: Beam) -> bool:
    """Whether a self-test may begin: the beam is clear, idle and no chatter."""
    busy = beam.blocked or beam.heard_blocked or beam.current or beam.episode or beam.test or beam.chatter
    return not busy


def _timers(beam: Beam) -> Iterable[tuple[int, Callable[[Beam], Step]]]:
    """What is due when, the first of equals first. A limit that reads "up to" is due a nanosecond after it."""
    test, current, episode = beam.test, beam.current, beam.episode
    if test is not None and not (test.answered or test.missed):
        yield test.off_ns + TEST_ANSWER_NS + 1, partial(_unanswered, test=test)
    if test is not None and test.on_ns is not None and beam.heard_blocked:
        yield test.on_ns + TEST_ANSWER_NS + 1, partial(_still_dark, test=test, on_ns=test.on_ns)
    if current is not None and beam.blocked:
        if episode is None and not current.suspect:
            yield current.start_ns + DWELL_NS, partial(_dwell, current=current)
        if current.warnings < len(WARNINGS):
            yield current.start_ns + WARNINGS[current.warnings][1] + 1, partial(_warning, current=current)
    if current is not None and not beam.blocked:
        yield beam.clear_ns + GAP_NS + 1, partial(_gap, current=current)
    if episode is not None and current is None:
        yield beam.clear_ns + REARM_NS, partial(_rearm, episode=episode)
    if beam.chatter:
        yield beam.rate.last_ns + QUIET_NS, _quiet


def _due(beam: Beam, due_ns: int) -> Step:
    _, happen = min(_timers(beam), key=lambda timer: timer[0])  # of equals the first, as they are listed
    return happen(replace(beam, now_ns=max(beam.now_ns, due_ns)))


def _edge(beam: Beam, at_ns: int, *, blocked: bool) -> Step:
    if blocked == beam.heard_blocked:
        return beam, ()
    beam, over = _well(beam, "lost_edge", at_ns)
    if beam.test is not None:
        beam, facts = _edge_in_test(beam, beam.test, at_ns, blocked=blocked)
        return beam, over + facts
    beam, chatter = _count(beam, at_ns)
    beam, facts = _score(replace(beam, heard_blocked=blocked), at_ns, blocked=blocked)
    return beam, over + chatter + facts


def _level(beam: Beam, at_ns: int, *, blocked: bool) -> Step:
    if blocked == beam.heard_blocked:
        return beam, ()
    beam, fault = _fault(beam, "lost_edge", at_ns)
    if beam.test is not None:
        beam, facts = _edge_in_test(beam, beam.test, at_ns, blocked=blocked)
    else:
        beam, facts = _score(replace(beam, heard_blocked=blocked), at_ns, blocked=blocked)
    return beam, fault + facts


def _emitter(beam: Beam, at_ns: int, *, on: bool) -> Step:
    test = beam.test
    if not on:
        if test is None and not beam.heard_blocked:  # one that begins in a blocked beam says nothing
            beam = replace(beam, test=SelfTest(at_ns))
        return beam, ()
    if test is None or test.on_ns is not None:
        return beam, ()
    if not beam.heard_blocked and (test.answered or test.missed):
        return replace(beam, test=None), ()
    return replace(beam, test=replace(test, on_ns=at_ns)), ()


def _edge_in_test(beam: Beam, test: SelfTest, at_ns: int, *, blocked: bool) -> Step:
    """An edge that the test made; while the emitter is off no other can be told from it, so it never counts."""
    beam = replace(beam, heard_blocked=blocked)
    if blocked:
        return replace(beam, test=replace(test, answered=test.answered or not test.missed)), ()
    if test.on_ns is None:
        return beam, ()
    beam = replace(beam, test=None)
    if test.missed:
        return beam, ()
    beam, receiver = _well(beam, "receiver", at_ns)
    beam, emitter = _well(beam, "emitter", at_ns)
    return beam, receiver + emitter


def _score(beam: Beam, at_ns: int, *, blocked: bool) -> Step:
    """The scored level changes."""
    current = beam.current
    if blocked:
        return _block(beam, at_ns, suspect=False), ()
    beam = replace(beam, blocked=False, clear_ns=at_ns)
    if current is None or not current.suspect:
        return beam, ()
    # The emitter is alive, so what blocked the beam since the self-test was no dead emitter.
    trusted = replace(current, suspect=False)
    beam = replace(beam, current=trusted)
    beam, over = _well(beam, "emitter", at_ns)
    if beam.episode is None and at_ns - current.start_ns >= DWELL_NS:
        beam, facts = _dwell(beam, current=trusted)
        return beam, over + facts
    return beam, over


def _block(beam: Beam, at_ns: int, *, suspect: bool) -> Beam:
    current = beam.current
    if current is None:
        number = beam.given + 1
        return replace(beam, blocked=True, current=BlockedTime(number, at_ns, suspect=suspect), given=number)
    joined = replace(current, gaps=current.gaps + 1, suspect=current.suspect or suspect)
    return replace(beam, blocked=True, current=joined)


def _count(beam: Beam, at_ns: int) -> Step:
    """Count an edge; if that makes it chatter, take back what was dated inside."""
    rate = count_edge(beam.rate, at_ns)
    recent = tuple(r for r in beam.recent if r[1] >= rate.since_ns)
    beam = replace(beam, rate=rate, recent=recent)
    if beam.chatter or not rate.is_chatter:
        return beam, ()
    beam, fault = _fault(beam, "chatter", rate.since_ns)
    taken_back = {number for number, _ in recent}
    episode = beam.episode
    if episode is None or episode.candidate is None or episode.candidate.number in taken_back:
        episode = Episode(None)
    beam = replace(beam, chatter=True, recent=(), episode=episode)
    return beam, fault + tuple(BeamWithdrawn(number, "chatter") for number in sorted(taken_back))


def _dwell(beam: Beam, *, current: BlockedTime) -> Step:
    if beam.chatter:
        return replace(beam, episode=Episode(None)), ()
    at_ns = current.start_ns + DWELL_NS
    beam = replace(beam, episode=Episode(current), recent=(*beam.recent, (current.number, at_ns)))
    return beam, (BeamCandidate(current.number, current.start_ns, at_ns),)


def _warning(beam: Beam, *, current: BlockedTime) -> Step:
    name, after_ns = WARNINGS[current.warnings]
    beam = replace(beam, current=replace(current, warnings=current.warnings + 1))
    return beam, (BeamWarning(name, current.start_ns + after_ns),)


def _gap(beam: Beam, *, current: BlockedTime) -> Step:
    """The beam has been clear for more than a gap: the blocked time ended when it became clear."""
    episode = beam.episode
    beam = replace(beam, current=None)
    if episode is None:
        if beam.chatter:
            return beam, ()
        return beam, (BeamPass(current.number, current.start_ns, (beam.clear_ns - current.start_ns) / MS),)
    if episode.candidate is not None and episode.candidate.number == current.number:
        beam = replace(beam, episode=Episode(current, beam.clear_ns))
    return beam, ()


def _rearm(beam: Beam, *, episode: Episode) -> Step:
    beam, over = _well(replace(beam, episode=None), "blocked_at_start", beam.now_ns)
    was, end_ns = episode.candidate, episode.end_ns
    if was is None or end_ns is None:
        return beam, over
    return beam, (*over, BeamEpisode(was.number, was.start_ns, (end_ns - was.start_ns) / MS, was.gaps))


def _unanswered(beam: Beam, *, test: SelfTest) -> Step:
    """The self-test's blocked edge did not come in time: a cut wire, a dead receiver, or light from elsewhere."""
    over = test.on_ns is not None and not beam.heard_blocked
    beam = replace(beam, test=None if over else replace(test, missed=True))
    return _fault(beam, "receiver", beam.now_ns)


def _still_dark(beam: Beam, *, test: SelfTest, on_ns: int) -> Step:
    """The self-test's clear edge did not come in time: a dead emitter, or a disc fell meanwhile."""
    beam = _block(replace(beam, test=None), on_ns, suspect=True)
    return (beam, ()) if test.missed else _fault(beam, "emitter", beam.now_ns)


def _quiet(beam: Beam) -> Step:
    beam = replace(beam, chatter=False, rate=NO_EDGES)
    return _well(beam, "chatter", beam.now_ns)


def _fault(beam: Beam, name: str, at_ns: int) -> Step:
    if name in beam.faults:
        return beam, ()
    return replace(beam, faults=beam.faults | {name}), (BeamFault(name, at_ns),)


def _well(beam: Beam, name: str, at_ns: int) -> Step:
    if name not in beam.faults:
        return beam, ()
    return replace(beam, faults=beam.faults - {name}), (BeamFault(name, at_ns, over=True),)
