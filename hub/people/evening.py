"""A club's evening at one table: a match goes on at another board, late names, and the close; pure functions."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from hub.again import Chapter
from hub.entries import ARRIVED, Entry
from hub.link.asks import CloseEvening, Move, Name
from hub.link.messages import MessageError
from hub.link.snapshot import Event, Side
from hub.people.names import trimmed
from hub.people.refused import RefusedError, running_match
from hub.round import Round
from hub.rounds import CHAPTERS, levelled, played
from hub.state import Match, TableState, Verdict
from hub.tally import twenties_of


class Arrived(msgspec.Struct, frozen=True):
    """A match that goes on here; a line of the hub's in the other board's journal.

    Attributes:
        board: where it was played until now.
        match: as it left there.
        ruled: the referee's rulings on its shots.
        again: the round that is played again, 0 if none had begun.
        who: moved it.
        before: the other board's table before the match's first line, None if it is not kept there.
        lines: the lines of the match that hold, so that a referee can still rule on every shot.
    """

    board: str
    match: Match
    ruled: dict[str, Verdict]
    again: int
    who: str
    before: TableState | None = None
    lines: tuple[Entry, ...] = ()


def of_the_evening(state: TableState, body: Move | Name | CloseEvening) -> TableState:
    """Carry out a request that reaches beyond the running match.

    Raises:
        RefusedError: it cannot be done now.
    """
    match body:
        case Move():
            return left(state, body)
        case Name():
            return named(state, body)
        case CloseEvening():
            return closed(state)


def check_free(state: TableState) -> None:
    """Whether a match may go on at a table.

    Raises:
        RefusedError: ``not_free``.
    """
    if state.match is not None and state.match.running is not None:
        raise RefusedError("not_free", f"{state.board} is not free: a match is being played there")


def begun(match: Match, playing: Round) -> bool:
    """Whether anything of a round is to be played again if the match moves."""
    return bool(playing.shots or playing.totals or sum(twenties_of(match, playing).values()))


def left(state: TableState, body: Move) -> TableState:
    """The table after its match went on elsewhere.

    Raises:
        RefusedError: there is no match, its round waits for people, or has begun and is not to be played again.
    """
    match, playing = running_match(state)
    if body.to == state.board:
        raise RefusedError("same_board", f"the match is played at {state.board} already")
    if body.round not in {0, playing.number}:
        raise RefusedError("stale", f"round {body.round} is not the running one, that is round {playing.number}")
    if playing.done or playing.swept or playing.totals:
        raise RefusedError("not_confirmed", f"round {playing.number} is played: confirm it, then move the match")
    again = begun(match, playing)
    if again and not body.restart:
        raise RefusedError(
            "round_running", f"round {playing.number} has begun: move after it, or play it again at the other board"
        )
    told = f"; round {playing.number} is played again there" if again else ""
    return replace(_emptied(state), message=f"the match goes on at {body.to}{told}", ruled={})


def departing(state: TableState, who: str, chapter: Chapter | None) -> Arrived:
    """What travels: the match with its round as before the first shot, nothing of the board it leaves.

    Args:
        state: the table.
        who: moves it.
        chapter: the match's lines and the state before them, None if they are not kept.
    """
    match, playing = running_match(state)
    again = playing.number if begun(match, playing) else 0
    lines = () if chapter is None else tuple(chapter.entries)
    before = None if chapter is None else chapter.base
    return Arrived(state.board, travelling(match), state.ruled, again, who, before, lines)


def travelling(match: Match) -> Match:
    """A match with its round as before the first shot; one that is over stays as it is."""
    playing = match.running
    if playing is None:
        return match
    return replace(match, running=Round(number=playing.number, game=playing.game, only=playing.only))


def read_arrived(entry: Entry) -> Arrived:
    """What a line brings with which a match comes; it may be longer than a message.

    Raises:
        MessageError: it cannot be read.
    """
    try:
        return msgspec.json.decode(entry.body, type=Arrived)
    except msgspec.DecodeError as error:
        raise MessageError(f"{ARRIVED}: {error}") from None


def arrived(state: TableState, entry: Entry, body: Arrived) -> TableState:
    """The table at which a match goes on; a new chapter for undo, which does not bring it back."""
    playing = body.match.running
    old = tuple(disc.id for disc in state.layout if disc.state != "ditch")
    told = f"; round {body.again} is played again" if body.again else ""
    told = f"the match came from {body.board}{told}"
    known = {key: verdict for key, verdict in state.ruled.items() if key.startswith(f"{body.match.id}-g")}
    here = replace(
        state,
        match=replace(body.match, running=None if playing is None else replace(playing, old=old)),
        since=entry.id,
        chapters=(entry.id,),
        evening=(*state.evening, *played(state.match))[-CHAPTERS:],
        fresh=False,
        candidates=tuple(replace(candidate, waiting=False) for candidate in state.candidates),
        practice=0,
        flash=None,
        actions=(),
        undone=(),
        void=(),
        message=told,
        paused=False,
        referee=False,
        ruled={**known, **body.ruled},
        case="",
    )
    levels = levelled(here)
    return here if levels is here else replace(levels, message=f"{told}; {levels.message}")


def closed(state: TableState) -> TableState:
    """The table after the evening: what was played stands as it is.

    Raises:
        RefusedError: a match is being played.
    """
    if state.match is not None and state.match.running is not None:
        raise RefusedError("match_running", f"a match is being played at {state.board}")
    return replace(_emptied(state), evening=(), message="", practice=0, ruled={})


def named(state: TableState, body: Name) -> TableState:
    """Names and an event for the running or last match, or for an earlier one of the evening.

    Raises:
        RefusedError: there is no such match this evening, or a side that did not play.
    """
    match = state.match
    if body.match and (match is None or body.match != match.id):
        return _named_later(state, body)
    if match is None:
        raise RefusedError("no_match", "there is no match to which names could be attached")
    _check_sides(match.sides, body)
    event = match.event if body.event is None else tidy(body.event)
    return replace(state, match=replace(match, names=_names(match.names, body), event=event))


def tidy(event: Event) -> Event:
    """An event as a wall can show it."""
    return Event(trimmed(event.name), trimmed(event.stage), trimmed(event.table))


def _named_later(state: TableState, body: Name) -> TableState:
    known = next((known for known in state.evening if known.id == body.match), None)
    if known is None:
        raise RefusedError("no_match", f"no match {body.match!r} was played here this evening")
    _check_sides(known.sides, body)
    event = known.event if body.event is None else tidy(body.event)
    told = replace(known, names=_names(known.names, body), event=event)
    return replace(state, evening=tuple(told if p.id == told.id else p for p in state.evening))


def _names(known: dict[Side, str], body: Name) -> dict[Side, str]:
    return {side: name for side, name in {**known, **body.names}.items() if name}


def _check_sides(sides: tuple[Side, ...], body: Name) -> None:
    for side in body.names:
        if side not in sides:
            raise RefusedError("bad_side", f"side {side} does not play here, there are {', '.join(sides)}")


def _emptied(state: TableState) -> TableState:
    """The table without a match, and nothing that undo could bring back."""
    lying = any(disc.state != "ditch" for disc in state.layout)
    return replace(
        state,
        match=None,
        since=0,
        chapters=(),
        actions=(),
        undone=(),
        void=(),
        fresh=not lying,
        candidates=tuple(replace(candidate, waiting=False) for candidate in state.candidates),
        flash=None,
        paused=False,
        referee=False,
        case="",
    )
