"""Proves that what is stored follows from the journal: goes through it again and compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from hub.again import Again, Taken
from hub.edition import EDITION
from hub.entries import HUB, PEOPLE, Entry, is_carried
from hub.judging.evidence import RecordedMatch, Watch
from hub.link.messages import MessageError
from hub.state import TableState
from hub.store.archive import MatchRecord
from hub.store.reader import JournalReader
from hub.table import take
from hub.view import match_record

_decode_state = msgspec.msgpack.Decoder(TableState).decode


class ReplayError(Exception):
    """A line that this version cannot go through; says which, and why."""


@dataclass(frozen=True, slots=True)
class Unequal:
    """One place where what is stored is not what the journal gives.

    Attributes:
        where: ``table``, ``chapter`` and its first line, or ``match`` and its id.
        line: id of the journal line after which it stands.
        path: the part, ``""`` for the whole.
        stored: what is stored there.
        recomputed: what the journal gives.
    """

    where: str
    line: int
    path: str
    stored: str
    recomputed: str


@dataclass(frozen=True, slots=True)
class Proof:
    """One board gone through again.

    Attributes:
        board: its id.
        lines: how many lines the journal has of it.
        state: the table after the last.
        matches: the matches that were played, with their shots.
        unequal: where what is stored is something else, in the order of the journal.
        foreign: whether another edition of the program decided that, which may be the reason.
    """

    board: str
    lines: int
    state: TableState
    matches: tuple[RecordedMatch, ...]
    unequal: tuple[Unequal, ...]
    foreign: bool = False


def steps(state: TableState, entries: Iterable[Entry]) -> Iterator[tuple[Entry, Taken]]:
    """Take in line by line, none of them checked again, and give what each led to.

    Raises:
        ReplayError: a line of the hub or of people that this version cannot read.
    """
    again = Again(take, state)
    for entry in entries:
        before = again.state
        taken = again.line(entry)
        if taken is None:
            again.state = replace(before, entry=entry.id)
            yield entry, Taken(again.state)
            continue
        counted = taken.chapter is None and again.state.unreadable > before.unreadable
        if counted and entry.source in {PEOPLE, HUB} and (why := _unread(entry)):
            raise ReplayError(f"board {entry.board}, line {entry.id}: {why}; made by another version?")
        if taken.chapter is not None:
            again.forget_before(again.state.chapters)
        yield entry, taken


def _unread(entry: Entry) -> str:
    """What is wrong with a line that could not be read; empty for one that goes through facts again, as undo does."""
    if entry.source == HUB:
        return f"{entry.kind!r} of {entry.source} cannot be read"
    try:
        entry.request()
    except MessageError as error:
        return str(error)
    return ""


def prove(journal: JournalReader, board: str) -> Proof:
    """Recompute one board from its lines and compare it with all that is stored of it."""
    stored = journal.states().get(board)
    checkpoints = journal.checkpoints(board)
    watch = Watch()
    unequal: list[Unequal] = []
    earlier: set[str] = set()
    state, lines = TableState(board), 0
    for entry, taken in steps(state, journal.entries(board)):
        lines += 1
        if is_carried(entry):  # what another edition had decided before is told by this line, and by no other
            unequal.clear()
            checkpoints = {line: base for line, base in checkpoints.items() if line >= entry.id}
            running = taken.state.match.id if taken.state.match is not None else ""
            earlier = {played.match.id for played in watch.recorded()} - {running}
        if taken.chapter is not None and entry.id in checkpoints:
            unequal += _compared(f"chapter {entry.id}", entry.id, checkpoints.pop(entry.id), taken.chapter)
        state = taken.state
        watch.see(state)
    unequal += [
        Unequal(f"chapter {line}", line, "", "a chapter begins here", "none begins here")
        for line in sorted(checkpoints)
    ]
    if stored is None:
        if lines:
            unequal.append(Unequal("table", state.entry, "", "nothing", f"the state after line {state.entry}"))
    else:
        unequal += _compared("table", stored[0], stored[1], state)
    matches = watch.recorded()
    unequal += _matches_compared(journal, board, state, [m for m in matches if m.match.id not in earlier])
    foreign = stored is not None and bool(unequal) and _edition_of(stored[1]) != EDITION
    return Proof(board, lines, state, matches, tuple(unequal), foreign=foreign)


def _edition_of(stored: bytes) -> str:
    try:
        return _decode_state(stored).edition
    except msgspec.DecodeError:
        return ""


def _compared(where: str, line: int, stored: bytes, recomputed: TableState) -> list[Unequal]:
    try:
        edition = _decode_state(stored).edition
        was = msgspec.msgpack.decode(stored)
    except msgspec.DecodeError as error:
        return [Unequal(where, line, "", f"cannot be read: {error}", f"the state after line {recomputed.entry}")]
    both = in_common(was, replace(recomputed, edition=edition))
    return [Unequal(where, line, path, one, other) for path, one, other in differences(*both)]


def _matches_compared(
    journal: JournalReader, board: str, state: TableState, matches: Iterable[RecordedMatch]
) -> list[Unequal]:
    """The archive's records of the matches that hold; one whose match was undone may stay behind."""
    stored = journal.matches(board)
    found: list[Unequal] = []
    for played in matches:
        where = f"match {played.match.id}"
        was = stored.get(played.match.id)
        if was is None:
            found.append(Unequal(where, state.entry, "", "nothing", "a match with counted rounds"))
            continue
        try:
            msgspec.json.decode(was, type=MatchRecord)
        except msgspec.DecodeError as error:
            found.append(Unequal(where, state.entry, "", f"cannot be read: {error}", "a match with counted rounds"))
            continue
        both = in_common(msgspec.json.decode(was), match_record(board, played.match))
        found += [Unequal(where, state.entry, path, one, other) for path, one, other in differences(*both)]
    return found


def in_common(stored: Any, value: Any) -> tuple[Any, Any]:
    """Two trees of plain values to be compared: of each struct only the fields that both editions know.

    Args:
        stored: plain values as they were stored, perhaps by an edition whose structs had fewer or other fields.
        value: what it is compared with, of this edition's types.
    """
    if isinstance(value, msgspec.Struct) and isinstance(stored, dict):
        pairs = {
            name: in_common(stored[name], getattr(value, name)) for name in value.__struct_fields__ if name in stored
        }
        return {name: one for name, (one, _) in pairs.items()}, {name: other for name, (_, other) in pairs.items()}
    if isinstance(value, Mapping) and isinstance(stored, dict):
        was, now = {str(key): one for key, one in stored.items()}, {str(key): one for key, one in value.items()}
        both = {key: in_common(was[key], now[key]) for key in was if key in now}
        was |= {key: one for key, (one, _) in both.items()}
        return was, {key: both[key][1] if key in both else msgspec.to_builtins(one) for key, one in now.items()}
    if isinstance(value, list | tuple) and isinstance(stored, list | tuple) and len(value) == len(stored):
        items = [in_common(one, other) for one, other in zip(stored, value, strict=True)]
        return [one for one, _ in items], [other for _, other in items]
    return stored, msgspec.to_builtins(value)


def differences(stored: Any, recomputed: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """The parts in which two trees of plain values differ: path, the one's text, the other's."""
    if stored == recomputed:
        return
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for key in [*stored, *(key for key in recomputed if key not in stored)]:
            step = f"{path}.{key}" if path else str(key)
            yield from differences(stored.get(key), recomputed.get(key), step)
    elif isinstance(stored, list | tuple) and isinstance(recomputed, list | tuple) and len(stored) == len(recomputed):
        for number, (one, other) in enumerate(zip(stored, recomputed, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    else:
        yield path, _short(stored), _short(recomputed)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
