"""A game as one value: who shoots when, what is left to shoot, how it stands, what comes next.

Everything is a pure function ``(state, event) -> state``. An event that cannot be leaves the state as it was and says
why. Undo, redo and corrections are replays: see :mod:`hub.rules.history`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from hardware.board import TOURNAMENT, Board
from hub.rules.errors import RulesError
from hub.rules.outcome import board_points
from hub.rules.position import EMPTY, Position, Shot
from hub.rules.ruleset import Ruleset
from hub.rules.scoring import (
    GameScore,
    RoundScore,
    check_count,
    conceded_totals,
    new_game,
    play_round,
    round_total,
    whole_counts,
)
from hub.rules.seats import SEATS, opener_after, shots_per_seat, sides_of, turn_cycle
from hub.rules.shot import judge_shot
from hub.rules.verdict import Verdict

Turn = tuple[str, int]
"""A shot to take: side and seat."""


@dataclass(frozen=True, slots=True)
class GameSetup:
    """What is agreed before the first shot of a game.

    Attributes:
        ruleset: the rules.
        opener: seat that opened the first round of the match's first game.
        game_number: which game of the match this is; the first shot passes to the left with each game (NCA 4b, 5).
        playoff: whether it is a play-off.
        head_start: game points that weaker sides begin with.
        discs: discs of seats that play with other numbers than the rules deal, e.g. fewer for the stronger player.
        board: the board's geometry.
        shots: discs of each seat at the start of a round; follows from the rest.
        dealt: discs of each side at the start of a round; follows from the rest.
    """

    ruleset: Ruleset
    opener: int = 1
    game_number: int = 1
    playoff: bool = False
    head_start: Mapping[str, int] = field(default_factory=dict)
    discs: Mapping[int, int] = field(default_factory=dict)
    board: Board = TOURNAMENT
    shots: Mapping[int, int] = field(init=False)
    dealt: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        players = self.ruleset.players
        opener_after(players, self.opener, 0)
        if self.game_number < 1:
            raise RulesError("negative", f"game number: expected a whole number from 1, got {self.game_number}")
        whole_counts(self.head_start, "head start", sides_of(players))
        dealt = shots_per_seat(players, self.ruleset.discs)
        for seat, count in self.discs.items():
            if seat not in dealt:
                raise RulesError("bad_seat", f"discs: nobody sits at seat {seat} in {players}")
            if type(count) is not int or not 1 <= count <= dealt[seat]:
                raise RulesError("bad_value", f"discs of seat {seat}: expected 1 to {dealt[seat]}, got {count!r}")
        shots = {**dealt, **self.discs}
        totals = dict.fromkeys(sides_of(players), 0)
        for seat, side in SEATS[players]:
            totals[side] += shots[seat]
        object.__setattr__(self, "shots", shots)
        object.__setattr__(self, "dealt", totals)


def opener_of(setup: GameSetup, round_number: int) -> int:
    """The seat that opens a round of this game (rule 19: clockwise round by round; NCA 4b, 5: game by game too)."""
    return opener_after(setup.ruleset.players, setup.opener, round_number - 1 + setup.game_number - 1)


def order_of_round(setup: GameSetup, round_number: int, only: frozenset[str] | None = None) -> tuple[Turn, ...]:
    """All shots of a round in order, as ``(side, seat)``.

    Args:
        setup: the game.
        round_number: from 1.
        only: the sides that play, for a deciding round between two of three; the lead then passes on to one of them.
    """
    players = setup.ruleset.players
    sides = dict(SEATS[players])
    playing = only or frozenset(sides.values())
    opener = opener_of(setup, round_number)
    while sides[opener] not in playing:
        opener = opener_after(players, opener, 1)
    left = {seat: count for seat, count in setup.shots.items() if sides[seat] in playing}
    cycle = [seat for seat in turn_cycle(players, opener) if seat in left]
    order: list[Turn] = []
    while any(left.values()):
        for seat in cycle:
            if left[seat]:
                left[seat] -= 1
                order.append((sides[seat], seat))
    return tuple(order)


def hammer_of(setup: GameSetup, round_number: int) -> int:
    """The seat with the last shot of a round."""
    return order_of_round(setup, round_number)[-1][1]


def deciding_sides(ruleset: Ruleset, score: GameScore) -> frozenset[str]:
    """The sides that play the next round: all, or of three only those level at the top (rules 16, 53)."""
    best = max(score.scores.values())
    if score.next == "deciding_round" and ruleset.players == "cutthroat":
        return frozenset(side for side, points in score.scores.items() if points == best)
    return frozenset(score.scores)


def extra_shot(taken: Mapping[str, int], order: tuple[Turn, ...]) -> str | None:
    """Who takes one more shot when the clock runs out: the side that had fewer, or nobody (NCA 8b).

    Args:
        taken: shots each side had taken.
        order: the round's order, to choose the next in turn when two of three sides have fewer.

    Raises:
        RulesError: ``bad_side``, ``negative`` or ``bad_input``.
    """
    whole_counts(taken, "shots at time-out", {side for side, _ in order})
    if not taken or min(taken.values()) == max(taken.values()):
        return None
    behind = [side for side, count in taken.items() if count == min(taken.values())]
    started = order[sum(taken.values()) :] + order
    return next(side for side, _ in started if side in behind)


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
    """The novice who just shot takes the disc back and shoots again, as agreed beforehand (rule 55)."""


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
            return _shot_again(state)
        case TimeOut():
            if state.extra is not None:
                raise RulesError("already_timed_out", "the clock of this round has already run out")
            taken = dict.fromkeys(state.score.scores, 0)
            for side, _ in state.order[: state.taken]:
                taken[side] += 1
            return replace(state, extra=extra_shot(taken, state.order) or "", before=None)
        case RoundCounted():
            return _round_counted(state, event)
        case Conceded():
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
        code = verdict.reasons[0].code
        raise RulesError(code, f"people must decide this shot first ({code}, rule {verdict.reasons[0].rule})")
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
    """The position if each side has no more on the board and banked than it was dealt.

    Raises:
        RulesError: ``too_many_discs``, ``unknown_side`` or ``off_the_board``.
    """
    dealt = state.setup.dealt
    used = dict.fromkeys(dealt, 0)
    for side, count in [*position.banked.items(), *((disc.side, 1) for disc in position.discs.values())]:
        if side not in used:
            raise RulesError("unknown_side", f"no side {side!r} in this game, expected {', '.join(used)}")
        used[side] += count
    for side, count in used.items():
        if count > dealt[side]:
            raise RulesError(
                "too_many_discs", f"side {side} has {count} discs on the board and banked of {dealt[side]}"
            )
    edge_mm = state.setup.board.surface_radius_mm
    for disc, where in position.discs.items():
        if not 0 <= where.r_mm <= edge_mm:
            raise RulesError("off_the_board", f"disc {disc} at {where.r_mm} mm, the surface ends at {edge_mm} mm")
    return position


def _shot_again(state: GameState) -> GameState:
    if state.before is None or state.extra is not None:
        raise RulesError("nothing_to_retake", "no shot can be taken again now")
    seat = state.order[state.taken - 1][1]
    if not state.reshoots[seat]:
        raise RulesError("no_reshoots_left", f"seat {seat} has no shot left to take again in this round")
    left = {**state.reshoots, seat: state.reshoots[seat] - 1}
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
    ruleset = state.setup.ruleset
    if event.what == "game":
        others = {side: points for side, points in state.score.scores.items() if side != event.side}
        best = max(others.values())
        winners = [side for side, points in others.items() if points == best]
        winner = winners[0] if len(winners) == 1 else None
        score = replace(state.score, over=True, winner=winner, next="none")
        return replace(state, score=score, before=None, conceded=event.side)
    totals = conceded_totals(_totals(state, RoundCounted()), event.side, ruleset)
    played = play_round(state.score, totals, ruleset, playoff=state.setup.playoff)
    return _next_round(state.setup, played.game, (*state.rounds, played))
