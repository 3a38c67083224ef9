"""Discs too close to a line to call: which of them matter under the match's rules, and what is asked."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from hub.link.messages import LayoutDisc
from hub.link.snapshot import Side
from hub.questions import line_touched
from hub.rules.errors import RulesError
from hub.rules.ranges import Doubt, RoundRange, round_range
from hub.state import GEOMETRY, Match, Question, Round
from hub.tally import board_points, radius_mm, ruling_on, score_before, twenties_of, value_of

CLOSE_SIGMAS = 2.0
"""A disc nearer to a limit than this many standard deviations of its place is too close to call."""

_VALUES = (15, 10, 5, 0)


@dataclass(frozen=True, slots=True)
class Close:
    """A disc too close to call: the limit it is near, and its values inside and outside of it."""

    disc: LayoutDisc
    limit_mm: float
    inside: int
    outside: int

    @property
    def sigmas(self) -> float:
        """How far from the limit it seems to be, in standard deviations."""
        return abs(radius_mm(self.disc) - self.limit_mm) / max(self.disc.sigma_mm, 1e-6)


def close_to_line(disc: LayoutDisc, playing: Round) -> Close | None:
    """Whether a disc lies too close to a line to call; a disc with a ruling or in the hole never does."""
    if disc.state not in {"flat", "stacked"} or ruling_on(disc, playing) is not None:
        return None
    r_mm = radius_mm(disc)
    for index, limit_mm in enumerate(GEOMETRY.limits_mm):
        if abs(r_mm - limit_mm) < CLOSE_SIGMAS * disc.sigma_mm:
            return Close(disc, limit_mm, _VALUES[index], _VALUES[index + 1])
    return None


def range_of(match: Match, playing: Round) -> tuple[RoundRange | None, tuple[Close, ...]]:
    """What a round may come to while discs are too close to call and twenties in doubt.

    Returns:
        The range, None when people have given the totals or there is no doubt; and the discs whose answer decides
        something, the least certain first.
    """
    if playing.totals:
        return None, ()
    closes = [close for disc in playing.record if (close := close_to_line(disc, playing)) is not None]
    twenties = _twenty_doubts(match, playing)
    if not closes and not twenties:
        return None, ()
    settled: dict[str, int] = dict(board_points(match, playing))  # type: ignore[arg-type]  # sides are letters
    for side, count in twenties_of(match, playing).items():
        settled[side] += 20 * count
    doubts: list[Doubt] = []
    for close in closes:
        side = match.at(playing).side_of(close.disc.colour)
        settled[side] -= value_of(close.disc, playing)
        doubts.append(Doubt(side, (close.inside, close.outside)))
    for side, counted in twenties:
        settled[side] -= 20 * counted
        doubts.append(Doubt(side, (0, 20)))
    score = score_before(match, playing)
    if score.over:
        return None, ()
    try:
        told = round_range(score, settled, doubts, match.ruleset)
    except RulesError:  # so many doubts that counting them out would take long: ask them all
        return None, tuple(sorted(closes, key=lambda close: close.sigmas))
    deciding = [closes[at] for at in told.deciding if at < len(closes)]
    return told, tuple(sorted(deciding, key=lambda close: close.sigmas))


def _twenty_doubts(match: Match, playing: Round) -> list[tuple[Side, int]]:
    """Open questions on which a twenty hangs: the sides that may have it, and whether it is counted now."""
    doubts: list[tuple[Side, int]] = []
    by_number = {shot.number: shot for shot in playing.shots}
    for question in playing.questions:
        if not question.stake:
            continue
        shot = by_number.get(question.shot)
        counted = shot.twenties if shot is not None else {}
        if question.kind == "valid" and shot is not None:
            doubts += [(side, counted.get(side, 0)) for side in dict.fromkeys(shot.holed.values())]
        else:
            doubts += [(side, min(1, counted.get(side, 0))) for side in match.sides]
    return doubts


def with_line_questions(match: Match, playing: Round) -> Round:
    """A round with exactly the line questions that are needed now: one at a time, the least certain disc first.

    While shots are left only the outer line is asked about, since it takes a disc off the board.
    """
    others = tuple(q for q in playing.questions if q.kind != "line")
    standing = {q.disc: q for q in playing.questions if q.kind == "line"}
    wanted = _outer(match, playing) if not playing.done else range_of(match, replace(playing, questions=others))[1]
    kept = next((standing[close.disc.id] for close in wanted if close.disc.id in standing), None)
    if kept is not None:
        return replace(playing, questions=(*others, kept))
    if not wanted:
        return replace(playing, questions=others)
    return replace(playing, questions=(*others, _question(playing, wanted[0])), asked=playing.asked + 1)


def _question(playing: Round, close: Close) -> Question:
    return line_touched(playing, close.disc, close.limit_mm, (close.inside, close.outside))


def _outer(match: Match, playing: Round) -> tuple[Close, ...]:
    if match.level == "count":
        return ()
    closes = (close_to_line(disc, playing) for disc in playing.record)
    return tuple(close for close in closes if close is not None and close.inside == 5)
