"""A game as one value: who shoots when, what is left to shoot, how it stands, what comes next.

Everything is a pure function ``(state, event) -> state``. An event that cannot be leaves the state as it was and says
why. Undo, redo and corrections are replays: see :mod:`hub.rules.history`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from hub.rules.errors import RulesError
from hub.rules.order import GameSetup, Turn, deciding_sides, extra_shot, order_of_round
from hub.rules.outcome import board_points
from hub.rules.people import calls_for
from hub.rules.position import EMPTY, Position, Shot
from hub.rules.scoring import GameScore, RoundScore, check_count, new_game, play_round, round_total, whole_counts
from hub.rules.shot import judge_shot
from hub.rules.verdict import Verdict

__all__ = [
    "Conceded",
    "GameEvent",
    "GameSetup",
    "GameState",
    "RoundCounted",
    "ShotAgain",
    "ShotTaken",
    "ShotUnseen",
    "Step",
    "TimeOut",
    "Turn",
    "apply",
    "begin",
    "order_of_round",
]


@dataclass(frozen=True, slots=True)
class ShotTaken:
    """A shot was seen.

    Attributes:
        shot: the facts.
        called: code of a foul that people called, ``None`` for none.
        ruling: what people decided lies on the board and is banked, where no automatic verdict can be given.
    """

    shot: Shot
    called: str | None = None
    ruling: Position | None = None


@dataclass(frozen=True, slots=True)
class ShotUnseen:
    """A shot was taken that nobody saw in detail (level *count*): only whose turn it was is known.

    Attributes:
        seat: who shot.
        left: what lies on the board and is banked now, ``None`` where nobody says.
    """

    seat: int
    left: Position | None = None


@dataclass(frozen=True, slots=True)
class ShotAgain:
    """The last shot is taken back and shot again: by a novice, as agreed beforehand (rule 55), or for a call.

    Attributes:
        called: code of what people called (:mod:`hub.rules.people`); it costs none of the novice's shots.
    """

    called: str | None = None


@dataclass(frozen=True, slots=True)
class TimeOut:
    """The round's clock ran out: a side with fewer shots takes one more, then the board is counted (NCA 8b)."""


@dataclass(frozen=True, slots=True)
class RoundCounted:
    """The round is counted.

    Attributes:
        twenties: 20s by side; ``None``: as banked.
        points: points on the board by side; ``None``: as they lie.
        early: whether people count a round whose shots are not all taken.
    """

    twenties: Mapping[str, int] | None = None
    points: Mapping[str, int] | None = None
    early: bool = False


@dataclass(frozen=True, slots=True)
class Conceded:
    """A side gives up a round or the game.

    Attributes:
        side: who gives up.
        what: the round or the whole game.
    """

    side: str
    what: Literal["round", "game"] = "round"


GameEvent = ShotTaken | ShotUnseen | ShotAgain | TimeOut | RoundCounted | Conceded


@dataclass(frozen=True, slots=True)
class GameState:
    """A game at one moment.

    Attributes:
        setup: what was agreed before.
        score: how the game stood when the running round began, or at its end.
        rounds: the counted rounds.
        order: shots of the running round in order.
        taken: how many of them are taken.
        position: what lies on the board and is banked this round.
        reshoots: shots each seat may still take again this round.
        before: position before the last shot, for a novice's reshoot; ``None`` when nothing can be taken back.
        extra: after a time-out: the side that takes one more shot, ``""`` when none does, ``None`` before.
        verdict: the verdict on the last shot of the running round.
        conceded: the side that gave up the game.
    """

    setup: GameSetup
    score: GameScore
    rounds: tuple[RoundScore, ...]
    order: tuple[Turn, ...]
    taken: int
    position: Position
    reshoots: Mapping[int, int]
    before: Position | None = None
    extra: str | None = None
    verdict: Verdict | None = None
    conceded: str | None = None

    @property
    def round_number(self) -> int:
        """Number of the running round, or of the last one of a finished game."""
        return len(self.rounds) + (0 if self.score.over else 1)

    @property
    def turn(self) -> Turn | None:
        """Who shoots now; ``None`` when the round waits to be counted or the game is over."""
        if self.score.over:
            return None
        if self.extra is not None:
            return next((turn for turn in self.order[self.taken :] if turn[0] == self.extra), None)
        return self.order[self.taken] if self.taken < len(self.order) else None

    @property
    def shots_left(self) -> dict[int, int]:
        """Shots left in the running round by seat."""
        left = dict.fromkeys(self.setup.shots, 0)
        for _, seat in self.order[self.taken :]:
            left[seat] += 1
        return left

    @property
    def opener(self) -> Turn:
        """Who shoots first in the running round."""
        return self.order[0]

    @property
    def hammer(self) -> Turn:
        """Who shoots last in the running round."""
        return self.order[-1]


@dataclass(frozen=True, slots=True)
class Step:
    """What an event did.

    Attributes:
        state: the state after it; the same object as before when it was refused.
        refusal: why it was refused, with code and sentence; ``None`` when it was taken.
    """

    state: GameState
    refusal: RulesError | None = None


def begin(setup: GameSetup) -> GameState:
    """A game before its first shot."""
    score = new_game(setup.ruleset, setup.head_start)
    return _next_round(setup, score, ())


def _next_round(setup: GameSetup, score: GameScore, rounds: tuple[RoundScore, ...]) -> GameState:
    number = len(rounds) + (0 if score.over else 1)
    order = order_of_round(setup, number, deciding_sides(setup.ruleset, score))
    return GameState(setup, score, rounds, order, 0, EMPTY, dict.fromkeys(setup.shots, setup.ruleset.reshoots))


def apply(state: GameState, event: GameEvent) -> Step:
    """The state after an event; what cannot be is refused with a code and a sentence and changes nothing."""
    if state.score.over:
        return Step(state, RulesError("game_over", "the game is over; only a correction or undo can change it"))
    try:
        return Step(_apply(state, event))
    except RulesError as refusal:
        return Step(state, refusal)


def _apply(state: GameState, event: GameEvent) -> GameState:
    match event:
        case ShotTaken():
            return _shot_taken(state, event)
        case ShotUnseen():
            _check_turn(state, event.seat)
            return replace(
                state,
                taken=_after_turn(state),
                position=state.position if event.left is None else _possible(state, event.left),
                before=state.position,
                verdict=None,
            )
        case ShotAgain():
            return _shot_again(state, event)
        case TimeOut():
            if state.extra is not None:
                raise RulesError("already_timed_out", "the clock of this round has already run out")
            taken = dict.fromkeys(state.score.scores, 0)
            for side, _ in state.order[: state.taken]:
                taken[side] += 1
            return replace(state, extra=extra_shot(taken, state.order) or "", before=None)
        case RoundCounted():
            return _round_counted(state, event)
        case _:
            return _conceded(state, event)


def _check_turn(state: GameState, seat: int, side: str | None = None) -> None:
    turn = state.turn
    if turn is None:
        raise RulesError("no_shots_left", "all shots of this round are taken, it waits to be counted")
    if seat != turn[1] or (side is not None and side != turn[0]):
        who = f"seat {seat}" if side is None else f"side {side} at seat {seat}"
        raise RulesError("out_of_turn", f"{who} shot, but it is the turn of side {turn[0]} at seat {turn[1]}")


def _after_turn(state: GameState) -> int:
    """How many shots count as taken after this one; after a time-out's extra shot the round is done."""
    return state.taken + 1 if state.extra is None else len(state.order)


def _shot_taken(state: GameState, event: ShotTaken) -> GameState:
    shot = event.shot
    _check_turn(state, shot.seat, shot.side)
    setup = state.setup
    verdict = judge_shot(state.position, shot, setup.ruleset, setup.board, dealt=setup.dealt, called=event.called)
    if verdict.referee and event.ruling is None:
        why = verdict.reasons[-1]
        raise RulesError(why.code, f"people must decide this shot first ({why.code}, rule {why.rule})")
    after = verdict.after if event.ruling is None else _possible(state, event.ruling)
    return GameState(  # spelt out: replace() costs as much as a third of the judgement
        setup=setup,
        score=state.score,
        rounds=state.rounds,
        order=state.order,
        taken=_after_turn(state),
        position=after,
        reshoots=state.reshoots,
        before=state.position,
        extra=state.extra,
        verdict=verdict,
    )


def _possible(state: GameState, position: Position) -> Position:
    """What people say lies there after this shot: on the board + banked + unshot never exceeds what was dealt.

    Raises:
        RulesError: ``too_many_discs``, ``unknown_side``, ``off_the_board``, ``negative`` or ``bad_input``.
    """
    shot = dict.fromkeys(state.setup.dealt, 0)
    for side, _ in state.order[: _after_turn(state)]:
        shot[side] += 1
    used = dict.fromkeys(shot, 0)
    for side, count in [*position.banked.items(), *((disc.side, 1) for disc in position.discs.values())]:
        if side not in used:
            raise RulesError("unknown_side", f"no side {side!r} in this game, expected {', '.join(used)}")
        used[side] += count
    whole_counts(position.banked, "banked 20s", shot)
    for side, count in used.items():
        if count > shot[side]:
            raise RulesError(
                "too_many_discs", f"side {side} has {count} discs on the board and banked, but shot {shot[side]}"
            )
    edge_mm = state.setup.board.surface_radius_mm
    for disc, where in position.discs.items():
        if not 0 <= where.r_mm <= edge_mm:
            raise RulesError("off_the_board", f"disc {disc} at {where.r_mm} mm, the surface ends at {edge_mm} mm")
    return position


def _shot_again(state: GameState, event: ShotAgain) -> GameState:
    if state.before is None or state.extra is not None:
        raise RulesError("nothing_to_retake", "no shot can be taken again now")
    seat = state.order[state.taken - 1][1]
    left = dict(state.reshoots)
    if event.called is None:
        if not left[seat]:
            raise RulesError("no_reshoots_left", f"seat {seat} has no shot left to take again in this round")
        left[seat] -= 1
    elif event.called not in {call.code for call in calls_for(state.setup.ruleset) if "shoot_again" in call.effects}:
        raise RulesError("bad_call", f"nothing is shot again for {event.called!r} under these rules")
    return replace(state, taken=state.taken - 1, position=state.before, before=None, verdict=None, reshoots=left)


def _round_counted(state: GameState, event: RoundCounted) -> GameState:
    if state.turn is not None and not event.early:
        left = sum(state.shots_left.values())
        raise RulesError("shots_left", f"{left} shots of this round are not taken yet")
    played = play_round(state.score, _totals(state, event), state.setup.ruleset, playoff=state.setup.playoff)
    return _next_round(state.setup, played.game, (*state.rounds, played))


def _totals(state: GameState, event: RoundCounted) -> dict[str, int]:
    position = state.position
    dealt = state.setup.dealt
    seen = board_points(position.discs.values(), state.setup.ruleset.players, state.setup.board)
    points = {**seen, **(event.points or {})}
    twenties = {**dict.fromkeys(dealt, 0), **position.banked, **(event.twenties or {})}
    check_count(points, twenties, dealt)
    return {side: round_total(twenties[side], points[side]) for side in dealt}


def _conceded(state: GameState, event: Conceded) -> GameState:
    if event.side not in state.score.scores:
        raise RulesError("bad_side", f"no side {event.side!r} in this game")
    setup = state.setup
    if event.what == "game":
        others = {side: points for side, points in state.score.scores.items() if side != event.side}
        best = max(others.values())
        winners = [side for side, points in others.items() if points == best]
        winner = winners[0] if len(winners) == 1 else None
        score = replace(state.score, over=True, winner=winner, next="none")
        return replace(state, score=score, before=None, conceded=event.side)
    totals = _totals(state, RoundCounted())
    played = play_round(state.score, totals, setup.ruleset, playoff=setup.playoff, conceded=event.side)
    return _next_round(setup, played.game, (*state.rounds, played))
