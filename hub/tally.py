"""What follows from a match as it is remembered: values, totals, scores, whose turn it is; nothing is kept of it."""

from __future__ import annotations

import math
from dataclasses import replace

from hub.link.messages import LayoutDisc
from hub.link.snapshot import Side
from hub.remembered import Remembered
from hub.round import Round, Ruling
from hub.rules.scoring import GameScore, RoundScore, new_game, play_round
from hub.state import GEOMETRY, Match


def twenties_of(match: Match, playing: Round) -> dict[Side, int]:
    """Twenties of a round that count, by side; what is provisional is not among them."""
    counts: dict[Side, int] = dict.fromkeys(match.sides, 0)
    tables = [playing.banked, playing.extra]
    tables += [shot.twenties for shot in playing.shots if shot.twenties]
    for table in tables:
        for side, count in table.items():
            counts[side] = counts.get(side, 0) + count
    return {side: max(0, count) for side, count in counts.items()}


def certain_twenties(match: Match, playing: Round) -> dict[Side, int]:
    """Twenties of a round on which no open question hangs."""
    counts = twenties_of(match, playing)
    doubtful = {question.shot for question in playing.questions if question.stake and question.shot}
    for shot in playing.shots:
        if shot.waits or shot.number in doubtful:
            for side, count in shot.twenties.items():
                counts[side] -= count
    return counts


def ruling_on(disc: LayoutDisc, playing: Round) -> Ruling | None:
    """The ruling on a disc if it still lies where it lay then."""
    ruling = playing.rulings.get(disc.id)
    if ruling is None or math.hypot(ruling.x_mm - disc.x_mm, ruling.y_mm - disc.y_mm) > RULING_HOLDS_MM:
        return None
    moved = any(disc.id in shot.rest for shot in playing.shots if shot.number > ruling.shots)
    return None if moved else ruling


def last_number(playing: Round) -> int:
    """The number of the last shot that is still listed; a counted round lists only those in doubt."""
    return max((shot.number for shot in playing.shots), default=0)


def value_of(disc: LayoutDisc, playing: Round) -> int:
    """What a disc scores: as people ruled while it stays there, else by its place; a leaner's place is in the 15."""
    ruling = ruling_on(disc, playing) if playing.rulings else None
    if ruling is not None:
        return ruling.value
    return GEOMETRY.value(radius_mm(disc))


RULING_HOLDS_MM = 1.5
"""A disc that has moved by more is ruled anew; the reader's own noise stays well below."""


def radius_mm(disc: LayoutDisc) -> float:
    """Distance of a disc from the middle."""
    return math.hypot(disc.x_mm, disc.y_mm)


def board_points(match: Match, playing: Round) -> dict[Side, int]:
    """What the discs on the board score, by side."""
    points: dict[Side, int] = dict.fromkeys(match.sides, 0)
    match = match.at(playing)
    for disc in playing.record:
        side = match.side_of(disc.colour)
        if side in points:
            points[side] += value_of(disc, playing)
    return points


def totals_of(match: Match, playing: Round) -> dict[str, int]:
    """A round's totals, 20s included, as people corrected them or as counted."""
    points, twenties = board_points(match, playing), twenties_of(match, playing)
    return {side: playing.totals.get(side, points[side] + 20 * twenties[side]) for side in match.sides}


def taken_by(playing: Round) -> dict[int, int]:
    """Shots taken, by seat."""
    taken: dict[int, int] = {}
    for shot in playing.shots:
        taken[shot.seat] = taken.get(shot.seat, 0) + 1
    return taken


def expected(match: Match, playing: Round) -> tuple[Side, int] | None:
    """Side and seat whose shot is next; None when all are taken.

    A shot out of turn counts for who shot it, and the order then waits for those who have shot too few.
    """
    if playing.done:
        return None
    over = playing.time_out
    if over is not None and (over.side is None or len(playing.shots) > over.shots):
        return None
    taken = taken_by(playing)
    for side, seat in match.order(playing):
        if taken.get(seat, 0) > 0:
            taken[seat] -= 1
        elif over is None or side == over.side:
            return (side, seat)  # type: ignore[return-value]  # the rules' sides are these letters
    return None


_dealt: Remembered[dict[Side, int]] = Remembered()


def shots_left(match: Match, playing: Round) -> dict[Side, int]:
    """Discs not yet shot, by side."""
    if playing.time_out is not None:
        left: dict[Side, int] = dict.fromkeys(match.sides, 0)
        turn = expected(match, playing)
        return left if turn is None else {**left, turn[0]: 1}
    order = match.order(playing)
    left = dict(_dealt.of((order,), lambda: {side: sum(one == side for one, _ in order) for side in match.sides}))
    for shot in playing.shots:
        left[shot.side] = max(0, left[shot.side] - 1)
    return left


def counted_rounds(match: Match, game: int, before: int | None = None) -> tuple[tuple[Round, RoundScore], ...]:
    """The finished rounds of a game that count, each with what it added; what was played after its end adds nothing.

    Args:
        match: the match.
        game: number of the game.
        before: number of the first round that is left out, None to leave none out.
    """
    return _counted.of((match.rounds, match.rules), lambda: _count(match, game, before), match.light, game, before)


_counted: Remembered[tuple[tuple[Round, RoundScore], ...]] = Remembered()


def _count(match: Match, game: int, before: int | None) -> tuple[tuple[Round, RoundScore], ...]:
    score = new_game(match.ruleset)
    counted = []
    for finished in match.rounds:
        if finished.game == game and not score.over and (before is None or finished.number < before):
            told = play_round(score, totals_of(match, finished), match.ruleset, conceded=finished.conceded)
            counted.append((finished, told))
            score = told.game
    return tuple(counted)


def game_score(match: Match, game: int) -> GameScore:
    """How a game stands after its finished rounds; one that was given up is over."""
    counted = counted_rounds(match, game)
    score = counted[-1][1].game if counted else new_game(match.ruleset)
    loser = match.conceded.get(game)
    if loser is None or score.over:
        return score
    others = {side: points for side, points in score.scores.items() if side != loser}
    best = [side for side, points in others.items() if points == max(others.values())]
    return replace(score, over=True, winner=best[0] if len(best) == 1 else None, next="none")


def score_before(match: Match, playing: Round) -> GameScore:
    """How the game stood before one of its rounds."""
    counted = counted_rounds(match, playing.game, playing.number)
    return counted[-1][1].game if counted else new_game(match.ruleset)


def games_won(match: Match) -> dict[Side, int]:
    """Finished games won by each side."""
    won: dict[Side, int] = dict.fromkeys(match.sides, 0)
    for game in range(1, match.game + 1):
        score = game_score(match, game)
        if score.over and score.winner is not None:
            won[score.winner] += 1  # type: ignore[index]  # the rules' sides are these letters
    return won
