"""What a finished round is worth and how the game stands after it (rules 48-54, 16).

Pure: a round is 20s and board points of each side; the rule set says what it adds and whether the game is over.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hardware.board import TOURNAMENT, Board
from hub.rules.errors import RulesError
from hub.rules.ruleset import Ruleset
from hub.rules.seats import dealt_per_side, sides_of

Next = Literal["round", "deciding_round", "none"]


@dataclass(frozen=True, slots=True)
class GameScore:
    """How a game stands between two rounds.

    Attributes:
        scores: game points by side.
        rounds: rounds played.
        deciding: deciding rounds among them.
        level_end: whether the game has come to its end level, so that every further round is a deciding one.
        over: whether the game is over.
        winner: the side that won; ``None`` while undecided and for a drawn game.
        next: what follows: ``round``, ``deciding_round`` or ``none``.
    """

    scores: Mapping[str, int]
    rounds: int = 0
    deciding: int = 0
    level_end: bool = False
    over: bool = False
    winner: str | None = None
    next: Next = "round"


@dataclass(frozen=True, slots=True)
class RoundScore:
    """A counted round.

    Attributes:
        round: 20s and board of each side, before the scoring rule.
        added: game points the round adds.
        game: how the game stands after it.
    """

    round: Mapping[str, int]
    added: Mapping[str, int]
    game: GameScore


def new_game(ruleset: Ruleset, head_start: Mapping[str, int] | None = None) -> GameScore:
    """A game before its first round; ``head_start`` gives weaker sides points to begin with."""
    scores = dict.fromkeys(sides_of(ruleset.players), 0)
    if head_start:
        whole_counts(head_start, "head start", scores)
        scores.update(head_start)
    return GameScore(scores)


def added_points(totals: Mapping[str, int], ruleset: Ruleset) -> dict[str, int]:
    """What a round's totals add to the game (rules 16, 50, 51, 54; variants ``scoring`` and ``three_way_tie``)."""
    if ruleset.players == "cutthroat":
        return _cutthroat_points(totals, ruleset)
    if ruleset.scoring == "cumulative":
        return dict(totals)
    high, low = max(totals.values()), min(totals.values())
    if ruleset.scoring == "match210":
        worth = {True: 1, False: 2}[high == low]
        return {side: worth if total == high else 0 for side, total in totals.items()}
    return {side: high - low if total == high else 0 for side, total in totals.items()}


def _cutthroat_points(totals: Mapping[str, int], ruleset: Ruleset) -> dict[str, int]:
    """Best 2, second 1, third 0; tied for first 1/1/0, tied for second 2/0/0 (rule 16)."""
    first, second, third = sorted(totals.values(), reverse=True)
    if first == third:
        each = 1 if ruleset.three_way_tie == "one_each" else 0
        return dict.fromkeys(totals, each)
    table = {first: 2, second: 1, third: 0}  # of equal totals the lower place holds: 1/1/0 and 2/0/0
    return {side: table[total] for side, total in totals.items()}


def play_round(
    game: GameScore,
    totals: Mapping[str, int],
    ruleset: Ruleset,
    *,
    playoff: bool = False,
    conceded: str | None = None,
) -> RoundScore:
    """The game after one more round with these totals (20s and board).

    Args:
        game: how it stood before.
        totals: 20s and board of each side.
        ruleset: the rules.
        playoff: whether the game is a play-off.
        conceded: the side that gave the round up.

    Raises:
        RulesError: ``game_over``, ``bad_side``, ``negative`` or ``bad_input``.
    """
    if game.over:
        raise RulesError("game_over", "the game is over, no round follows")
    check_sides(totals, "round totals", game.scores)
    whole_counts(totals, "round totals", game.scores)
    added = added_points(totals if conceded is None else _conceded(totals, conceded, ruleset), ruleset)
    scores = {side: points + added[side] for side, points in game.scores.items()}
    return RoundScore(dict(totals), added, _progress(scores, game, ruleset, playoff=playoff))


def _conceded(totals: Mapping[str, int], side: str, ruleset: Ruleset) -> dict[str, int]:
    """What a round given up by ``side`` counts as (our choice; the sources are silent).

    Where places count, ``side`` is last. Where points count the round stands as it lies, but ``side`` has at most what
    the weakest other has.
    """
    others = [total for other, total in totals.items() if other != side]
    places = ruleset.scoring == "match210" or ruleset.players == "cutthroat"
    return {**totals, side: -1 if places else min(totals[side], *others)}


def _progress(scores: dict[str, int], before: GameScore, ruleset: Ruleset, *, playoff: bool) -> GameScore:
    """Whether the game is over (rules 52, 53; variants ``game_end`` and ``tie_end``)."""
    end = ruleset.end
    rounds = before.rounds + 1
    deciding = before.deciding + (1 if before.level_end else 0)
    ranked = sorted(scores.values(), reverse=True)
    best, lead = ranked[0], ranked[0] - ranked[1]
    leader = next(side for side, points in scores.items() if points == best) if lead else None

    def state(*, over: bool, level: bool = False, winner: str | None = None) -> GameScore:
        following: Next = "none" if over else "deciding_round" if level else "round"
        return GameScore(scores, rounds, deciding, level, over, winner, following)

    if before.level_end:
        if ruleset.tie_end == "pairs" and deciding % 2 == 1:
            return state(over=False, level=True)  # a pair is played to its end
        return state(over=leader is not None, level=True, winner=leader)
    if end.rounds:
        early = playoff and ruleset.scoring == "match210" and best > end.rounds
        reached = rounds >= end.rounds or early
    else:
        reached = best >= end.target and lead >= end.lead
    if not reached:
        return state(over=False)
    if leader is not None:
        return state(over=True, winner=leader)
    if ruleset.tie_end == "draw" or (ruleset.tie_end == "fifth_round" and not playoff):
        return state(over=True)
    return state(over=False, level=True)


def standing(
    scores: Mapping[str, int], rounds: int, ruleset: Ruleset, *, head_start: Mapping[str, int] | None = None
) -> GameScore:
    """How a game stands that is known by its points and its number of rounds alone, as on a score sheet.

    Raises:
        RulesError: ``bad_side``, ``negative``, ``bad_input``, or ``impossible_score``: no sequence of rounds gives it.
    """
    whole_counts(scores, "scores", sides_of(ruleset.players))
    whole_counts({"the game": rounds}, "rounds", ("the game",))
    given = {side: points - (head_start or {}).get(side, 0) for side, points in scores.items()}
    listed = " to ".join(str(points) for points in scores.values())
    if min(given.values()) < 0:
        raise RulesError("impossible_score", f"{listed}: less than the head start")
    if ruleset.players != "cutthroat":
        if ruleset.scoring == "match210":
            if sum(given.values()) % 2:
                raise RulesError(
                    "impossible_score", f"{listed}: each round gives two points in all, the sum cannot be odd"
                )
        elif any(points % 5 for points in given.values()):
            raise RulesError("impossible_score", f"{listed}: game points go in fives")
    end = ruleset.end
    best = max(scores.values())
    level = sorted(scores.values())[-2] == best
    deciding = 0
    if end.rounds:
        deciding = max(0, rounds - end.rounds)
        level_end = rounds >= end.rounds and (level or deciding > 0)
    else:
        level_end = not end.lead and best >= end.target and level
        if ruleset.scoring == "match210" and ruleset.players != "cutthroat" and not end.lead:
            deciding = max(0, sum(given.values()) // 2 - rounds_to_level(ruleset, head_start))
            level_end = level_end or deciding > 0
    return GameScore(dict(scores), rounds, deciding, level_end, next="deciding_round" if level_end else "round")


def rounds_to_level(ruleset: Ruleset, head_start: Mapping[str, int] | None = None) -> int:
    """Rounds of 2/1/0 after which a game to a target can first be level at its end."""
    return ruleset.end.target - sum((head_start or {}).values()) // 2


def round_total(twenties: int, board_points: int) -> int:
    """20s and board of one side: each disc counts once (rule 49)."""
    return 20 * twenties + board_points


def score_round(
    scores: Mapping[str, int],
    twenties: Mapping[str, int],
    ruleset: Ruleset,
    *,
    board_mm: Mapping[str, Sequence[float]] | None = None,
    points: Mapping[str, int] | None = None,
    round_number: int = 1,
    playoff: bool = False,
    board: Board = TOURNAMENT,
    dealt: Mapping[str, int] | None = None,
    head_start: Mapping[str, int] | None = None,
) -> RoundScore:
    """Count a finished round and say how the game stands.

    Args:
        scores: game points before the round, by side.
        twenties: banked 20s of the round.
        ruleset: the rules.
        board_mm: resting radii of the discs left on the board, by side; or
        points: their points.
        round_number: number of the round in its game, from 1.
        playoff: whether the game is a play-off.
        board: the board's geometry.
        dealt: discs of each side, when handicaps change what the rules deal.
        head_start: points that sides began with.

    Raises:
        RulesError: ``bad_side``, ``negative``, ``too_many_discs``, ``impossible_score`` or ``bad_input``.
    """
    sides = sides_of(ruleset.players)
    for what, table in (("scores", scores), ("board", board_mm), ("points", points), ("twenties", twenties)):
        if table is not None:
            check_sides(table, what, sides)
    whole_counts(twenties, "twenties", sides)
    if type(round_number) is not int or round_number < 1:
        code = "negative" if type(round_number) is int else "bad_input"
        raise RulesError(code, f"round number: expected a whole number from 1, got {round_number!r}")
    if dealt is None:
        dealt = dealt_per_side(ruleset.players, ruleset.discs)
    if board_mm is not None:
        on_board = _points_of(board_mm, twenties, dealt, board)
    elif points is not None:
        on_board = dict(points)
        check_count(on_board, twenties, dealt)
    else:
        raise RulesError("bad_input", "a round needs the discs on the board or their points")
    game = standing(scores, round_number - 1, ruleset, head_start=head_start)
    totals = {side: round_total(twenties[side], on_board[side]) for side in sides}
    return play_round(game, totals, ruleset, playoff=playoff)


def _points_of(
    board_mm: Mapping[str, Sequence[float]], twenties: Mapping[str, int], dealt: Mapping[str, int], board: Board
) -> dict[str, int]:
    on_board: dict[str, int] = {}
    for side, radii in board_mm.items():
        for r_mm in radii:
            if isinstance(r_mm, bool) or not isinstance(r_mm, int | float) or not math.isfinite(r_mm):
                raise RulesError("bad_input", f"board of {side}: expected radii in mm, got {r_mm!r}")
            if r_mm < 0:
                raise RulesError("negative", f"board of {side}: a radius cannot be {r_mm}")
        _check_count(side, len(radii), twenties[side], dealt[side])
        on_board[side] = sum(board.value(r_mm) for r_mm in radii)
    return on_board


def check_count(points: Mapping[str, int], twenties: Mapping[str, int], dealt: Mapping[str, int]) -> None:
    """Board points and 20s that so many discs can have.

    Raises:
        RulesError: ``too_many_discs``, ``impossible_score`` (no multiple of five), ``bad_side``, ``negative`` or
            ``bad_input``.
    """
    whole_counts(points, "points", dealt)
    whole_counts(twenties, "twenties", dealt)
    for side, total in points.items():
        _check_count(side, -(-total // 15), twenties[side], dealt[side])
    for side, total in points.items():
        if total % 5:
            raise RulesError("impossible_score", f"points of {side}: {total} is no multiple of five")


def _check_count(side: str, on_board: int, twenties: int, dealt: int) -> None:
    if on_board + twenties > dealt:
        raise RulesError(
            "too_many_discs",
            f"side {side}: {on_board} on the board and {twenties} banked, but {dealt} discs were dealt",
        )


def check_sides(table: Mapping[str, object], what: str, sides: Iterable[str]) -> None:
    """Each side once and no other.

    Raises:
        RulesError: ``bad_side`` or ``bad_input``.
    """
    wanted = list(sides)
    if not isinstance(table, Mapping):
        raise RulesError("bad_input", f"{what}: expected an object by side, got {table!r}")
    for side in table:
        if side not in wanted:
            raise RulesError("bad_side", f"{what}: no side {side!r} in this game, expected {', '.join(wanted)}")
    for side in wanted:
        if side not in table:
            raise RulesError("bad_side", f"{what}: side {side} is missing")


def whole_counts(table: Mapping[str, int], what: str, sides: Iterable[str]) -> None:
    """Whole numbers from 0 for each side.

    Raises:
        RulesError: ``bad_side``, ``negative`` or ``bad_input``.
    """
    known = set(sides)
    for side, count in table.items():
        if side not in known:
            raise RulesError("bad_side", f"{what}: no side {side!r}, expected {', '.join(sorted(known))}")
        if type(count) is not int:
            raise RulesError("bad_input", f"{what} of {side}: expected a whole number, got {count!r}")
        if count < 0:
            raise RulesError("negative", f"{what} of {side}: cannot be {count}")
