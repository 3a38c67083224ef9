"""What people do about the course of a match: pause, time-out, giving up, swapping, names, calling the referee."""

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
from hub.round import Candidate, Question, Round, ShotRecord, TimedOut
from hub.rounds import finish_round, followed
from hub.rules.order import extra_shot
from hub.state import CalledAt, Match, TableState
from hub.tally import last_number

PASSING = (Pause, Resume, CallReferee, RefereeDone, Forget)
"""Requests that change nothing that counts: undo passes over them."""

FINAL = (Move, CloseEvening)
"""Requests after which nothing is left here that could be taken back."""

_SINGLES_TURN, _DOUBLES_TURN = 2, 1


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
            after = _swapped(state, body)
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


# ---- swapping


def _swapped(state: TableState, body: Swap) -> TableState:
    match, playing = running_match(state)
    if body.what == "seats":
        return _seats_swapped(state, match, playing)
    if len(match.sides) != 2:
        raise RefusedError("bad_swap", "colours are swapped between two sides only")
    if playing.shots and match.ruleset.players == "two-v-one":
        raise RefusedError("bad_swap", "one side has twice the discs of a seat: swap colours before the first shot")
    return _colours_swapped(state, match, playing)


def _seats_swapped(state: TableState, match: Match, playing: Round) -> TableState:
    players = match.ruleset.players
    if players not in {"singles", "doubles"}:
        raise RefusedError("bad_swap", "seats are swapped between equal sides only")
    if playing.shots and not playing.done:
        raise RefusedError("bad_swap", "seats are swapped between rounds")
    return state.with_match(replace(match, turned=(match.turned + _turn(match)) % 4))


def _turn(match: Match) -> int:
    """By how many seats everybody moves when the sides change places."""
    return _SINGLES_TURN if match.ruleset.players == "singles" else _DOUBLES_TURN


def _colours_swapped(state: TableState, match: Match, playing: Round) -> TableState:
    """From the running round on; whoever shot a disc of a colour now is the side that has the colour, and sits there.

    Between rounds people hand over the discs and stay where they are.
    """
    finished = tuple(r if r.light is not None else replace(r, light=match.light) for r in match.rounds)
    opener, turned = match.opener, match.turned
    if playing.shots:  # they were shot in that order and from there: the other side has opened, and sits there
        opener = _other(opener)
        turned = (turned - _turn(match)) % 4
        playing = _other_sides(match, playing)
    match = replace(match, light=_other(match.light), opener=opener, rounds=finished, running=playing, turned=turned)
    candidates = state.candidates
    if playing.shots:
        candidates = tuple(_other_candidate(candidate) for candidate in candidates)
    return replace(state, match=match, candidates=candidates)


def _other(side: Side) -> Side:
    return "B" if side == "A" else "A"


#: What people's answers call a side becomes the other one's; ``none`` and the values of a disc stay.
_OTHER_KEY = {"A": "B", "B": "A"}


def _other_candidate(candidate: Candidate) -> Candidate:
    return candidate if candidate.side is None else replace(candidate, side=_other(candidate.side))


def _other_table(table: dict[Side, int]) -> dict[Side, int]:
    return {_other(side): number for side, number in table.items()}


def _other_sides(match: Match, playing: Round) -> Round:
    over = playing.time_out
    if over is not None and over.side is not None:
        over = replace(over, side=_other(over.side))
    turn = _turn(match)
    return replace(
        playing,
        shots=tuple(_other_shot(shot, turn) for shot in playing.shots),
        banked=_other_table(playing.banked),
        extra=_other_table(playing.extra),
        totals=_other_table(playing.totals),
        questions=tuple(_other_question(question) for question in playing.questions),
        time_out=over,
    )


def _other_shot(shot: ShotRecord, turn: int) -> ShotRecord:
    return replace(
        shot,
        side=_other(shot.side),
        seat=(shot.seat - 1 + turn) % 4 + 1,
        placed=shot.placed and replace(shot.placed, angle_deg=(shot.placed.angle_deg + 90 * turn) % 360),
        owner_ruled=_OTHER_KEY.get(shot.owner_ruled, shot.owner_ruled),
        holed={disc: _other(side) for disc, side in shot.holed.items()},
        twenties=_other_table(shot.twenties),
    )


def _other_question(question: Question) -> Question:
    """The choices keep their words, which are colours, and get the sides that now have them."""
    choices = tuple(replace(choice, key=_OTHER_KEY.get(choice.key, choice.key)) for choice in question.choices)
    return replace(question, choices=choices)
