"""What is agreed before a game, and the order of play that follows: openers, hammers, seats, shots left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hardware.board import TOURNAMENT, Board
from hub.rules.errors import RulesError
from hub.rules.ruleset import Ruleset
from hub.rules.scoring import GameScore, whole_counts
from hub.rules.seats import SEATS, opener_after, shots_per_seat, sides_of, turn_cycle

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
