"""Judge a recorded match again, by other rules, and show where the verdicts differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hardware.board import TOURNAMENT, Board
from hub.rules.errors import RulesError
from hub.rules.position import Position, Shot
from hub.rules.ruleset import Ruleset
from hub.rules.scoring import GameScore, new_game, play_round
from hub.rules.shot import judge_shot
from hub.rules.verdict import Verdict

COMPARED: Final = ("valid", "reason", "removed", "restored", "twenties", "board", "referee")
"""The parts of a verdict that players would notice."""


@dataclass(frozen=True, slots=True)
class RecordedShot:
    """A shot as it was recorded: the facts and what lay on the board before it.

    Attributes:
        position: what was in play and banked before the shot, as it really was played on.
        shot: the facts.
        called: code of a foul that people called.
    """

    position: Position
    shot: Shot
    called: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """A round as it was recorded.

    Attributes:
        shots: its shots in order; those that nobody saw are left out.
        totals: 20s and board of each side as counted, ``None`` for a round that was never counted.
        conceded: the side that gave it up, whatever its totals.
    """

    shots: Sequence[RecordedShot]
    totals: Mapping[str, int] | None = None
    conceded: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """A shot on which two rule sets differ.

    Attributes:
        round_number: its round, from 1.
        shot_number: its place among the recorded shots of the round, from 1.
        parts: which parts of the verdict differ, of :data:`COMPARED`.
        was: the verdict under the one rule set.
        now: the verdict under the other.
    """

    round_number: int
    shot_number: int
    parts: tuple[str, ...]
    was: Verdict
    now: Verdict


@dataclass(frozen=True, slots=True)
class Rejudged:
    """A recorded match under two rule sets.

    Attributes:
        differences: the shots whose verdicts differ.
        was: how the game stood after each counted round under the one rule set.
        now: the same under the other; it may end earlier or later.
    """

    differences: tuple[Difference, ...]
    was: tuple[GameScore, ...]
    now: tuple[GameScore, ...]


def rejudge(
    rounds: Sequence[RecordedRound],
    was: Ruleset,
    now: Ruleset,
    board: Board = TOURNAMENT,
    *,
    dealt: Mapping[str, int] | None = None,
    playoff: bool = False,
) -> Rejudged:
    """Judge recorded rounds by two rule sets.

    Each shot is judged from the position it was really played from: what people would have done on another board
    nobody knows. Rounds keep their counted totals and go through each scoring rule.

    Args:
        rounds: the rounds of one game, in order.
        was: the rules it was played by.
        now: the other rules.
        board: the board's geometry.
        dealt: discs of each side, when handicaps changed what the rules deal.
        playoff: whether it was a play-off.
    """
    differences: list[Difference] = []
    for round_number, played in enumerate(rounds, 1):
        for shot_number, recorded in enumerate(played.shots, 1):
            one, other = (
                judge_shot(recorded.position, recorded.shot, ruleset, board, dealt=dealt, called=recorded.called)
                for ruleset in (was, now)
            )
            parts = tuple(part for part in COMPARED if getattr(one, part) != getattr(other, part))
            if parts:
                differences.append(Difference(round_number, shot_number, parts, one, other))
    return Rejudged(tuple(differences), *(_scores(rounds, ruleset, playoff=playoff) for ruleset in (was, now)))


def _scores(rounds: Sequence[RecordedRound], ruleset: Ruleset, *, playoff: bool) -> tuple[GameScore, ...]:
    """How the game stands after each round, up to its end or to a round that these rules cannot count."""
    game = new_game(ruleset)
    found: list[GameScore] = []
    for played in rounds:
        if played.totals is None:
            continue
        try:
            game = play_round(game, played.totals, ruleset, playoff=playoff, conceded=played.conceded).game
        except RulesError:
            break
        found.append(game)
    return tuple(found)
