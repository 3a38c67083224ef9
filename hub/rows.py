"""Matches as the archive keeps them: which row a line changes, and how."""

from __future__ import annotations

import msgspec

from hub.entries import Entry
from hub.link.messages import encode
from hub.state import Match, Played, TableState
from hub.store.archive import MatchRecord
from hub.store.journal import MatchRow
from hub.view import match_record


def changed_row(entry: Entry, before: TableState, after: TableState) -> MatchRow | None:
    """The row of the running or last match if a line has changed it; none before its first counted round."""
    match, was = after.match, before.match
    if match is None or not match.rounds:
        return None
    if was is not None and _kept(was) == _kept(match):
        return None
    record = encode(match_record(entry.board, match))
    return MatchRow(match.id, entry.board, match.started_ms, entry.wall_ms, over=match.running is None, record=record)


def _kept(match: Match) -> tuple[object, ...]:
    """All of a match that its record tells of, as cheap to compare as every fact needs it."""
    ended = (match.running is None, match.abandoned, match.conceded, match.walk_over)
    return (match.id, match.rules, match.names, match.event, match.rounds, match.light, match.opener, *ended)


def gone(entry: Entry, before: TableState, after: TableState) -> str:
    """Id of the match that a line has taken back, or gave another id; empty if it did neither.

    One that goes on at another board, or was played on an evening that is closed, is not gone.
    """
    match = before.match
    if match is None or entry.kind in {"move", "close"}:
        return ""
    held = {played.id for played in after.evening} | ({after.match.id} if after.match is not None else set())
    return "" if match.id in held else match.id


def renamed(before: TableState, after: TableState) -> tuple[Played, ...]:
    """Earlier matches of the evening to which a line gave other names, or another event."""
    if before.evening is after.evening:
        return ()
    known = {played.id: played for played in before.evening}
    return tuple(played for played in after.evening if known.get(played.id, played) != played)


def renamed_row(row: MatchRow, played: Played) -> MatchRow:
    """The row of an earlier match with the names and the event that it has now."""
    record = msgspec.json.decode(row.record, type=MatchRecord)
    record = msgspec.structs.replace(record, players=played.names, event=played.event)
    return MatchRow(row.id, row.board, row.started_ms, row.changed_ms, over=row.over, record=encode(record))
