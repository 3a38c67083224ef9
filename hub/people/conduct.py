"""What people do about the course of a match: pause, time-out, giving up, calling the referee; pure functions."""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging.judged import asked, playing_of, settle
from hub.link.asks import (
    AskBody,
    CallReferee,
    CloseEvening,
    Concede,
    Forget,
    Move,
    Pause,
    RefereeDone,
    Resume,
    Rule,
    Swap,
    TimeOut,
    WalkOver,
)
from hub.link.snapshot import Side
from hub.people.refused import RefusedError, running_match
from hub.people.rulings import ruled
from hub.people.swapping import swapped
from hub.round import Round, TimedOut
from hub.rounds import finish_round, followed
from hub.rules.order import extra_shot
from hub.state import CalledAt, Match, TableState
from hub.tally import last_number

PASSING = (Pause, Resume, CallReferee, RefereeDone, Forget)
"""Requests that change nothing that counts: undo passes over them."""

FINAL = (Move, CloseEvening)
"""Requests after which nothing is left here that could be taken back."""


def conducted(state: TableState, entry: Entry, body: AskBody) -> TableState:
    """Carry out a request about the course of a match.

    Raises:
        RefusedError: it cannot be done now, or is not asked of a table.
    """
    match body:
        case Pause():
            after = _paused(state)
        case Resume():
            after = _resumed(state)
        case TimeOut():
            after = _time_out(state, entry, body)
        case Swap():
            after = swapped(state, body)
        case Concede():
            after = _conceded(state, entry, body)
        case WalkOver():
            after = _walk_over(state, body)
        case CallReferee():
            after = call_referee(state, entry)
        case RefereeDone():
            after = _referee_done(state)
        case Rule():
            after = ruled(state, entry, body)
        case Forget():
            after = state  # names are no part of a table's state; the line says when and by whom
        case _:
            raise RefusedError("not_here", f"{type(body).__name__} is not asked of a table")
    return after


def call_referee(state: TableState, entry: Entry) -> TableState:
    """Light up the table for the referee; play rests if there is any.

    Raises:
        RefusedError: the referee is called already.
    """
    if state.referee:
        raise RefusedError("called", "the referee is called already")
    running = state.match is not None and state.match.running is not None
    case = f"{state.match.id if state.match is not None else state.board}.call-{entry.id}"
    return replace(state, referee=True, paused=running, case=case, called=_called_at(state, entry))


def _called_at(state: TableState, entry: Entry) -> CalledAt:
    match = state.match
    if match is None or match.running is None:
        return CalledAt(entry.wall_ms)
    playing = match.running
    return CalledAt(entry.wall_ms, match.id, playing.game, playing.number, last_number(playing))


def _referee_done(state: TableState) -> TableState:
    if not state.referee:
        raise RefusedError("not_called", "the referee is not called")
    return replace(state, referee=False, paused=False, message="", case="", called=None)


def _paused(state: TableState) -> TableState:
    running_match(state)
    if state.paused:
        raise RefusedError("paused", "the match is paused already")
    return replace(state, paused=True)


def _resumed(state: TableState) -> TableState:
    if not state.paused:
        raise RefusedError("not_paused", "the match is not paused")
    return replace(state, paused=False)


def _this_round(state: TableState, number: int) -> tuple[Match, Round]:
    match, playing = running_match(state)
    if number not in {0, playing.number}:
        raise RefusedError("stale", f"round {number} is not the running one, that is round {playing.number}")
    return match, playing


def _time_out(state: TableState, entry: Entry, body: TimeOut) -> TableState:
    match, playing = _this_round(state, body.round)
    if playing.time_out is not None:
        raise RefusedError("already_timed_out", "the clock of this round has already run out")
    if playing.done:
        raise RefusedError("round_over", "all shots of this round are taken")
    taken: dict[str, int] = {side: 0 for side, _ in match.order(playing)}
    for shot in playing.shots:
        taken[shot.side] += 1
    extra = extra_shot(taken, match.order(playing))
    side = None if extra is None else match.named(extra)
    playing = replace(playing, time_out=TimedOut(len(playing.shots), side), done=side is None)
    told = "the round is over" if side is None else f"{match.colour_of(side)} takes one more shot"
    return settle(replace(state.with_running(playing), message=f"time is up: {told}"), entry)


def _conceded(state: TableState, entry: Entry, body: Concede) -> TableState:
    match, playing = _this_round(state, body.round)
    _check_side(match, body.side)
    if body.what == "game":
        match = replace(match, conceded={**match.conceded, playing.game: body.side}, running=None)
        return followed(state, match, playing.number)
    over = state.with_running(replace(playing, done=True))
    playing = playing_of(asked(over, entry))  # no hand will tell any more of what lies in the hole
    questions = tuple(question for question in playing.questions if question.stake)
    playing = replace(playing, conceded=body.side, questions=questions, swept=False)
    return finish_round(state.with_running(playing), entry)


def _walk_over(state: TableState, body: WalkOver) -> TableState:
    match, _ = running_match(state)
    _check_side(match, body.side)
    lying = any(disc.state != "ditch" for disc in state.layout)
    match = replace(match, running=None, walk_over=body.side)
    return replace(state, match=match, fresh=not lying, paused=False, message="")


def _check_side(match: Match, side: Side) -> None:
    if side not in match.sides:
        raise RefusedError("bad_side", f"side {side} does not play here, there are {', '.join(match.sides)}")
