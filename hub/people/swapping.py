"""The sides swap colours, from the running round on, or seats, between rounds; pure functions."""

from __future__ import annotations

from msgspec.structs import replace

from hub.link.asks import Swap
from hub.link.snapshot import Side
from hub.people.refused import RefusedError, running_match
from hub.round import Candidate, Question, Round, ShotRecord
from hub.state import Match, TableState

_SINGLES_TURN, _DOUBLES_TURN = 2, 1


def swapped(state: TableState, body: Swap) -> TableState:
    """The sides change colours, or places.

    Raises:
        RefusedError: it cannot be done now, or not between these sides.
    """
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
