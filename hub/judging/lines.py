"""Discs too close to a line to call: the range that they leave a round, and what is asked."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from hub.judging.hole import owners, undecided
from hub.judging.questions import line_touched
from hub.link.messages import LayoutDisc
from hub.link.snapshot import Side
from hub.round import Question, Round
from hub.rules.errors import RulesError
from hub.rules.ranges import Doubt, RoundRange, round_range
from hub.state import GEOMETRY, Match
from hub.tally import board_points, radius_mm, ruling_on, score_before, twenties_of, value_of

CLOSE_SIGMAS = 1.8
"""A disc nearer to a limit than this many standard deviations of its place is too close to call. With the
0.1 mm that the reader states of most discs one disc in about 10,000 is then counted on the wrong side unasked."""

_VALUES = (15, 10, 5, 0)
_BETWEEN_OUTER_MM = sum(GEOMETRY.limits_mm[1:]) / 2
"""Nearer to the middle a disc is nearer to another line than to the outer one."""


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
    if disc.state not in {"flat", "stacked"}:
        return None
    r_mm, close_mm = radius_mm(disc), CLOSE_SIGMAS * disc.sigma_mm
    for index, limit_mm in enumerate(GEOMETRY.limits_mm):
        if abs(r_mm - limit_mm) < close_mm:
            if ruling_on(disc, playing) is not None:
                return None
            return Close(disc, limit_mm, _VALUES[index], _VALUES[index + 1])
    return None


def at_outer_line(disc: LayoutDisc, playing: Round) -> Close | None:
    """A disc so close to the outer line that people must say whether it is out.

    While shots are left they say so by taking it off, or by shooting on; nobody is asked.
    """
    if radius_mm(disc) < _BETWEEN_OUTER_MM:
        return None
    close = close_to_line(disc, playing)
    return close if close is not None and close.limit_mm == GEOMETRY.limits_mm[-1] else None


def range_of(match: Match, playing: Round) -> tuple[RoundRange | None, tuple[Close, ...]]:
    """What a round may come to while discs are too close to call and twenties in doubt.

    Returns:
        The range, None when people have given the totals or there is no doubt; and the discs at a line, the least
        certain first.
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
    for side, counted, worth in twenties:
        settled[side] -= counted
        doubts.append(Doubt(side, worth))
    score = score_before(match, playing)
    if score.over:
        return None, ()
    by_certainty = tuple(sorted(closes, key=lambda close: close.sigmas))
    try:
        told = round_range(score, settled, doubts, match.ruleset)
    except RulesError:  # so many doubts that counting them out would take long
        return None, by_certainty
    return told, by_certainty


def _twenty_doubts(match: Match, playing: Round) -> list[tuple[Side, int, tuple[int, ...]]]:
    """Open questions on which a twenty hangs: the sides that may have it, what is counted now, what it may be worth."""
    doubts: list[tuple[Side, int, tuple[int, ...]]] = []
    recorded = {disc.id: disc for disc in playing.record}
    by_number = {shot.number: shot for shot in playing.shots}
    for question in playing.questions:
        if not question.stake:
            continue
        shot = by_number.get(question.shot)
        counted = shot.twenties if shot is not None else {}
        at_hole = undecided(shot) if shot is not None else ()
        if shot is not None and at_hole:
            foul = (0,) if question.kind == "valid" else ()
            for disc, side in owners(match, shot).items():
                leans = value_of(recorded[disc], playing) if disc in recorded else 0
                doubts.append((side, leans or 20 * bool(counted.get(side)), (*foul, 15, 20)))
        elif question.kind == "valid" and shot is not None:
            doubts += [(side, 20 * counted.get(side, 0), (0, 20)) for side in dict.fromkeys(shot.holed.values())]
        else:
            doubts += [(side, 20 * min(1, counted.get(side, 0)), (0, 20)) for side in match.sides]
    return doubts


def with_line_questions(match: Match, playing: Round) -> Round:
    """A round with exactly the line questions that are needed now: one at a time, the least certain disc first.

    While shots are left there are none: the disc may be moved again, and whether one at the outer line is out is
    told by what people do with it.
    """
    others = tuple(q for q in playing.questions if q.kind != "line")
    standing = {q.disc: q for q in playing.questions if q.kind == "line"}
    wanted = range_of(match, replace(playing, questions=others))[1] if playing.done else ()
    kept = next((standing[close.disc.id] for close in wanted if close.disc.id in standing), None)
    if kept is not None:
        return replace(playing, questions=(*others, kept))
    if not wanted:
        return replace(playing, questions=others)
    return replace(playing, questions=(*others, _question(playing, wanted[0])), asked=playing.asked + 1)


def _question(playing: Round, close: Close) -> Question:
    return line_touched(playing, close.disc, close.limit_mm, (close.inside, close.outside))
