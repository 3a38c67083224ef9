"""A round with unsettled doubts: a range instead of a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from hub.rules.errors import RulesError
from hub.rules.ruleset import Ruleset
from hub.rules.scoring import GameScore, RoundScore, play_round


@dataclass(frozen=True, slots=True)
class Doubt:
    """An unsettled question about one disc or one 20 of the round.

    Attributes:
        side: whose it is.
        worth: the points it may be worth, e.g. ``(15, 10)`` for a disc too close to the line to call.
    """

    side: str
    worth: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoundRange:
    """What a round may come to while doubts are open.

    Attributes:
        round: lowest and highest total of each side.
        added: lowest and highest points each side adds.
    """

    round: Mapping[str, tuple[int, int]]
    added: Mapping[str, tuple[int, int]]


MOST_ANSWERS: Final = 20_000
"""Combined answers up to which every one is played through."""


def round_range(
    game: GameScore,
    settled: Mapping[str, int],
    doubts: Sequence[Doubt],
    ruleset: Ruleset,
    *,
    playoff: bool = False,
) -> RoundRange:
    """The range of a round with unsettled doubts under these rules.

    Args:
        game: how the game stands before the round.
        settled: 20s and board of each side without the doubtful discs.
        doubts: what is open; each is settled by one of its worths.
        ruleset: the rules.
        playoff: whether the game is a play-off.

    Raises:
        RulesError: ``game_over``, ``bad_side``, ``negative`` or ``bad_input``; ``too_many_doubts`` when they have
            more than 20 000 combined answers.
    """
    combined = 1
    for doubt in doubts:
        if not doubt.worth:
            raise RulesError("bad_input", f"a doubt of side {doubt.side} has nothing that it may be worth")
        combined *= len(set(doubt.worth))
    if combined > MOST_ANSWERS:
        raise RulesError(
            "too_many_doubts", f"{len(doubts)} doubts have {combined} combined answers, at most {MOST_ANSWERS}"
        )
    outcomes: list[RoundScore] = []
    for answers in product(*(tuple(dict.fromkeys(doubt.worth)) for doubt in doubts)):
        totals = dict(settled)
        for doubt, worth in zip(doubts, answers, strict=True):
            totals[doubt.side] = totals.get(doubt.side, 0) + worth
        outcomes.append(play_round(game, totals, ruleset, playoff=playoff))

    def span(pick: str) -> dict[str, tuple[int, int]]:
        tables: list[Mapping[str, int]] = [getattr(outcome, pick) for outcome in outcomes]
        return {side: (min(t[side] for t in tables), max(t[side] for t in tables)) for side in game.scores}

    return RoundRange(span("round"), span("added"))
