"""One table as a pure function: ``(state, journal line) -> state``; undo and redo go through lines again."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress

from msgspec.structs import replace

from hub import referee
from hub.again import Again, Chapters, Taken
from hub.edition import carried
from hub.entries import ARRIVED, HUB, NAMED, PEOPLE, Entry, Gap, SensorNotice, is_carried
from hub.link.asks import AskBody, Correct, Redo, Rule, Start, Undo
from hub.link.messages import (
    BeamCandidate,
    BeamEpisode,
    BeamFault,
    BeamWithdrawn,
    Button,
    Cleared,
    Fact,
    Hand,
    Layout,
    MessageError,
    Moved,
    Shot,
    decode,
)
from hub.link.snapshot import Seen
from hub.people.actions import act, confirm_by_button, touches
from hub.people.conduct import FINAL, PASSING, call_referee
from hub.people.corrections import check_told
from hub.people.evening import read_arrived
from hub.people.refused import RefusedError
from hub.people.rulings import as_ruling, is_earlier
from hub.remembered import Remembered
from hub.reread import Rereading
from hub.rounds import levelled
from hub.state import Sensor, Standing, TableState
from hub.tally import totals_of

_FLASHES_KEPT = 32
MOVED_MM = 1.0
log = logging.getLogger(__name__)


def take(state: TableState, entry: Entry, chapters: Chapters, *, rev_seen: int | None = None) -> Taken:
    """Take in one line.

    Args:
        state: the table before it.
        entry: the line.
        chapters: for undo and redo.
        rev_seen: the revision a person saw; None in a replay, where it was checked when the line came first.
    """
    taken = Taken(state)
    if is_carried(entry):
        with suppress(MessageError):  # one that broke in the journal is counted below
            return carried(entry)
    try:
        after = _after(state, entry, chapters, rev_seen)
    except RefusedError as refused:
        taken.refused = refused
        after = state
    after = replace(after, entry=entry.id, seen=_seen(state, entry))
    if after.since != state.since and after.since == entry.id:
        taken.chapter = state
    taken.state = _stamped(state, after, entry)
    return taken


def replay(state: TableState, entries: Iterable[Entry], chapters: Chapters | None = None) -> TableState:
    """The state after many lines, none of them checked again: what the stored state must equal."""
    again = Again(take, state, older=chapters)
    for entry in entries:
        taken = again.line(entry)
        if taken is None:
            again.state = replace(again.state, entry=entry.id)
        elif taken.chapter is not None:
            again.forget_before(again.state.chapters)
    return again.state


def _after(state: TableState, entry: Entry, chapters: Chapters, rev_seen: int | None) -> TableState:
    try:
        if entry.source == PEOPLE:
            return _person(state, entry, chapters, rev_seen)
        if entry.source == HUB:
            return _notice(state, entry, chapters)
        fact = entry.fact()
    except MessageError:  # a line that broke in the journal, or a newer version's, must not end a replay
        return replace(state, unreadable=state.unreadable + 1)
    if isinstance(fact, Button):
        return _button(state, entry, fact, chapters)
    try:
        return _fact(state, entry, fact)
    except Exception:  # one senseless fact must not stop its source for ever: it stays in the journal
        log.exception("board %s: %s %d could not be used", state.board, entry.kind, entry.seq)
        return replace(state, unreadable=state.unreadable + 1)


def _fact(state: TableState, entry: Entry, fact: Fact) -> TableState:
    match fact:
        case Shot():
            state = referee.on_shot(state, entry, fact)
        case Layout():
            state = referee.on_layout(state, entry, fact)
        case Cleared():
            state = referee.on_cleared(state, entry, fact)
        case BeamCandidate():
            state = referee.on_candidate(state, entry, fact)
        case BeamEpisode():
            state = referee.on_episode(state, entry, fact)
        case BeamWithdrawn():
            state = referee.on_withdrawn(state, entry, fact)
        case BeamFault():
            state = referee.on_fault(state, entry, fact)
        case Hand() if fact.present:
            state = replace(state, hand=state.hand.again(entry.machine_boot, fact.at_ns))
        case Moved() if fact.shift_mm >= MOVED_MM:
            state = replace(state, message=f"the {fact.what} was moved by {fact.shift_mm:.0f} mm")
    return state


def _notice(state: TableState, entry: Entry, chapters: Chapters) -> TableState:
    if entry.kind == NAMED:
        return state
    if entry.kind == "gap":
        gap = decode(entry.body, Gap)
        lost = state.gaps.get(gap.source, 0) + gap.count
        return replace(state, gaps={**state.gaps, gap.source: lost})
    if entry.kind == "standing":
        return replace(state, standing=decode(entry.body, Standing))
    if entry.kind == "called":
        return state if state.referee else call_referee(state, entry)
    if entry.kind == ARRIVED:
        return Rereading(take, state, chapters).came(entry, read_arrived(entry))
    if entry.kind != "sensor":
        raise MessageError(f"unknown kind of line of the hub {entry.kind!r}")
    notice = decode(entry.body, SensorNotice)
    sensor = Sensor(notice.online, notice.faults, notice.able)
    known = replace(state, sensors={**state.sensors, notice.source: sensor})
    return levelled(known, notice.machine_boot, notice.since_ns)


def _button(state: TableState, entry: Entry, fact: Button, chapters: Chapters) -> TableState:
    """A button at the table is a person's request without a phone; what cannot be done now is passed over."""
    try:
        if fact.name == "undo":
            return Rereading(take, state, chapters).undone()
        if fact.name == "confirm" and state.match is not None and state.match.running is not None:
            return _acted(confirm_by_button(state, entry), state, entry)
    except RefusedError as refused:
        return replace(state, message=refused.sentence)
    if fact.name == "referee":
        return replace(state, message="the referee is called")
    return state


def _person(state: TableState, entry: Entry, chapters: Chapters, rev_seen: int | None) -> TableState:
    body = entry.request()
    if rev_seen is not None:
        changed = state.marks.get(touches(body), 0)
        if rev_seen > state.rev or changed > rev_seen:
            raise RefusedError("stale", "the table has changed since you saw it; look again")
    after = _safely_carried_out(state, entry, body, chapters)
    if rev_seen is not None and isinstance(body, Correct | Rule):
        check_told(state, body)
    return after


def _safely_carried_out(state: TableState, entry: Entry, body: AskBody, chapters: Chapters) -> TableState:
    try:
        return _carried_out(state, entry, body, chapters)
    except RefusedError:
        raise
    except Exception:  # one request that cannot be carried out must not stop the hub
        log.exception("board %s: %s could not be carried out", state.board, entry.kind)
        raise RefusedError("internal", "this could not be carried out; the hub's log says why") from None


def _carried_out(state: TableState, entry: Entry, body: AskBody, chapters: Chapters) -> TableState:
    match body:
        case Undo():
            return Rereading(take, state, chapters).undone()
        case Redo():
            return Rereading(take, state, chapters).done_again()
        case Start() if _gets_rules(state, body):
            return Rereading(take, state, chapters).adopted(entry, body)
        case Rule():
            return _acted(_ruled(state, entry, as_ruling(state, body), chapters), state, entry)
        case _ if isinstance(body, PASSING + FINAL):
            return act(state, entry, body)
        case _:
            return _acted(act(state, entry, body), state, entry)


def _gets_rules(state: TableState, body: Start) -> bool:
    """Whether a start is meant for the match that a first shot has opened.

    Raises:
        RefusedError: it names a match that is another one, or was started by people.
    """
    match = state.match
    if body.match and (match is None or match.id != body.match):
        raise RefusedError("no_match", f"match {body.match!r} is not the last one here")
    if match is None or not match.auto:
        if body.match:
            raise RefusedError("has_rules", "this match was started by people and has its rules")
        return False
    return match.running is not None or bool(body.match)


def _ruled(state: TableState, entry: Entry, body: Rule, chapters: Chapters) -> TableState:
    if not body.question and is_earlier(state, body):
        return Rereading(take, state, chapters).ruled(entry, body)
    return act(state, entry, body)


def _acted(after: TableState, before: TableState, entry: Entry) -> TableState:
    """An action that holds: it can be undone, and what was undone before can no longer be done again."""
    if after.since != before.since:
        return replace(after, actions=(*after.actions, entry.id))
    return replace(
        after,
        actions=(*after.actions, entry.id),
        undone=(),
        void=(*after.void, *before.undone),
    )


def _seen(state: TableState, entry: Entry) -> dict[str, Seen]:
    if entry.source in {PEOPLE, HUB}:
        return state.seen
    return {**state.seen, entry.source: Seen(entry.boot, entry.seq)}


def _stamped(before: TableState, after: TableState, entry: Entry) -> TableState:
    """Count the revision up if people can see or act on anything new, and mark what changed."""
    quiet = replace(after, rev=before.rev, at_ms=before.at_ms, entry=before.entry, seen=before.seen)
    quiet = replace(quiet, marks=before.marks, flashed=before.flashed, candidates=before.candidates, hand=before.hand)
    if quiet == before:
        same = after.flashed if after.candidates == before.candidates else before.flashed
        return replace(after, rev=before.rev, at_ms=before.at_ms, marks=before.marks, flashed=same)
    rev = before.rev + 1
    marks = dict(before.marks)
    if (after.match and after.match.id) != (before.match and before.match.id) or _over(after) != _over(before):
        marks["match"] = rev
    if _counts(after) != _counts(before):
        marks["round"] = rev
    if after.actions != before.actions or after.undone != before.undone:
        marks["action"] = rev
    flashed = before.flashed
    if after.flash is not None and after.flash.id not in flashed:
        flashed = (*flashed, after.flash.id)[-_FLASHES_KEPT:]
    return replace(after, rev=rev, at_ms=entry.wall_ms, marks=marks, flashed=flashed)


def _over(state: TableState) -> bool:
    return state.match is None or state.match.running is None


def _counts(state: TableState) -> tuple[object, ...]:
    """What confirming a round counts."""
    match = state.match
    playing = match.running if match is not None else None
    if playing is None or match is None:
        return ()
    totals = _totals.of((match,), lambda: totals_of(match, playing))
    return (playing.game, playing.number, totals, tuple(q.id for q in playing.questions))


_totals: Remembered[dict[str, int]] = Remembered(256)
