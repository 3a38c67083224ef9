"""What follows from a match as it is remembered: values, totals, scores, whose turn it is; nothing is kept of it."""

from __future__ import annotations

import math

from hub.link.messages import LayoutDisc
from hub.link.snapshot import Side
from hub.rules.scoring import GameScore, new_game, play_round
from hub.state import GEOMETRY, Match, Round, Ruling


def twenties_of(match: Match, playing: Round) -> dict[Side, int]:
    """Twenties of a round that count, by side; what is provisional is not among them."""
    counts: dict[Side, int] = dict.fromkeys(match.sides, 0)
    for table in (playing.banked, playing.extra, *(shot.twenties for shot in playing.shots)):
        for side, count in table.items():
            counts[side] = counts.get(side, 0) + count
    return {side: max(0, count) for side, count in counts.items()}


def ruling_on(disc: LayoutDisc, playing: Round) -> Ruling | None:
    """The ruling on a disc if it still lies where it lay then."""
    ruling = playing.rulings.get(disc.id)
    if ruling is None or math.hypot(ruling.x_mm - disc.x_mm, ruling.y_mm - disc.y_mm) > RULING_HOLDS_MM:
        return None
    return ruling


def value_of(disc: LayoutDisc, playing: Round) -> int:
    """What a disc scores: as people ruled while it stays there, else by its place; a leaner's place is in the 15."""
    ruling = ruling_on(disc, playing)
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
    taken = taken_by(playing)
    nth: dict[int, int] = {}
    for side, seat in match.order(playing.game, playing.number):
        nth[seat] = nth.get(seat, 0) + 1
        if nth[seat] > taken.get(seat, 0):
            return (side, seat)  # type: ignore[return-value]  # the rules' sides are these letters
    return None


def shots_left(match: Match, playing: Round) -> dict[Side, int]:
    """Discs not yet shot, by side."""
    left: dict[Side, int] = dict.fromkeys(match.sides, 0)
    for side, _ in match.order(playing.game, playing.number):
        left[side] += 1  # type: ignore[index]  # as above
    for shot in playing.shots:
        left[shot.side] = max(0, left[shot.side] - 1)
    return left


def game_score(match: Match, game: int) -> GameScore:
    """How a game stands after its finished rounds; what was played after its end adds nothing."""
    score = new_game(match.ruleset)
    for finished in match.rounds:
        if finished.game == game and not score.over:
            score = play_round(score, totals_of(match, finished), match.ruleset).game
    return score


def score_before(match: Match, playing: Round) -> GameScore:
    """How the game stood before one of its rounds."""
    score = new_game(match.ruleset)
    for finished in match.rounds:
        if finished.game == playing.game and finished.number < playing.number and not score.over:
            score = play_round(score, totals_of(match, finished), match.ruleset).game
    return score


def games_won(match: Match) -> dict[Side, int]:
    """Finished games won by each side."""
    won: dict[Side, int] = dict.fromkeys(match.sides, 0)
    for game in range(1, match.game + 1):
        score = game_score(match, game)
        if score.over and score.winner is not None:
            won[score.winner] += 1  # type: ignore[index]  # the rules' sides are these letters
    return won
