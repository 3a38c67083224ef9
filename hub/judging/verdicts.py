"""One shot through the rules: each reading that the evidence allows, what differs, and whether that matters."""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from hardware.board import to_polar
from hub.judging.hole import before_of, undecided
from hub.judging.questions import valid_shot, whose_twenty
from hub.judging.readings import contact_readings
from hub.link.messages import LayoutDisc, Place
from hub.link.snapshot import Side
from hub.round import Events, Question, Rest, Round, ShotRecord
from hub.rules import position as rules
from hub.rules.shot import judge_shot, placement_fault
from hub.rules.verdict import Verdict
from hub.state import GEOMETRY, Match
from hub.tally import ruling_on, value_of

PLACED_SLACK_MM = 3.0
PLACED_SLACK_DEG = 1.5
"""A placement is a foul only if it is one by more than the camera may be wrong about a disc beside a hand."""

_NO_LIMIT = 1000
_WITHIN_MM = 0.5


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged shot.

    Attributes:
        shot: with what is judged.
        question: what people are asked about it, None for nothing.
        in_doubt: whether its verdict is open, as also while the layout after it may still tell.
    """

    shot: ShotRecord
    question: Question | None
    in_doubt: bool


@dataclass(frozen=True, slots=True)
class _Outcome:
    index: int
    verdict: Verdict
    rest: dict[str, Rest]
    holed: dict[str, Side]
    counted: dict[Side, int]
    twenties: dict[Side, int]
    take_off: frozenset[str]


def judge(
    match: Match,
    playing: Round,
    shot: ShotRecord,
    *,
    beam_tells: bool,
    onward: bool = True,
    lies_there: bool = False,
    picture: bytes | None = None,
) -> Judged:
    """Judge a shot under the match's rules and level.

    Args:
        match: for rules, level and colours.
        playing: its round, for the values that people gave discs.
        shot: the evidence and what people ruled; what is judged is filled in.
        beam_tells: whether the beam would have had a candidate for a twenty.
        onward: whether play has gone on, or is over: before that, what hands do about the hole may still tell.
        lies_there: whether a disc in the hole lies there still, so that a hand will tell of it.
        picture: JPEG of the doubt, for people.
    """
    match = match.judging(shot)
    if shot.unseen:
        return _inferred(match, playing, shot)
    outcomes = [_outcome(match, playing, shot, index) for index in range(len(shot.readings))]
    outcomes = _with_beam(outcomes, shot, beam_tells=beam_tells)
    if shot.ruled is not None:
        outcomes = [o for o in outcomes if o.verdict.valid is shot.ruled] or outcomes
    if shot.owner_ruled:
        outcomes = [o for o in outcomes if o.counted == o.twenties] or outcomes
    chosen = outcomes[0]
    fouled = frozenset(disc for o in outcomes for disc in o.verdict.fouled & o.verdict.take_off)
    judged = replace(_filled(match, shot, chosen), foul_set=tuple(sorted(fouled)))
    kind = _doubt(match, shot, judged, outcomes)
    unnoticed = kind is None and beam_tells and _unnoticed(judged)
    if unnoticed:
        kind = "twenty"
    if kind is None:
        return Judged(_going(judged, outcomes), None, in_doubt=False)
    tells = bool(undecided(shot)) or unnoticed
    asks = kind == "valid" or (onward and not (tells and lies_there))
    judged = replace(judged, reading=None, waits=tells and not (shot.settled and asks))
    if judged.waits:
        return Judged(judged, None, in_doubt=True)
    discs = tuple(sorted({shot.disc, *(disc for o in outcomes for disc in (*o.holed, *o.take_off))}))
    if kind == "twenty":
        question = whose_twenty(match, playing, judged, discs)
    else:
        stakes = len({_counts(outcome) for outcome in outcomes}) > 1
        stake = stakes or (len(outcomes) == 1 and bool(judged.holed))
        told = {o.verdict.valid: shot.readings[o.index] for o in reversed(outcomes)}
        readings = contact_readings(match, shot, told.get(True), told.get(False))
        question = valid_shot(match, playing, judged, discs, stake=stake, readings=readings)
    question = replace(question, picture=base64.b64encode(picture).decode() if picture else "")
    return Judged(judged, question, in_doubt=True)


def _going(judged: ShotRecord, outcomes: list[_Outcome]) -> ShotRecord:
    """A shot of which nothing is asked: what goes in every reading is to be taken off, of the rest hands tell."""
    sure = frozenset.intersection(*(outcome.take_off for outcome in outcomes))
    perhaps = frozenset[str]().union(*(outcome.take_off for outcome in outcomes)) - sure
    return replace(judged, waits=False, take_off=tuple(sorted(sure)), disputed=tuple(sorted(perhaps)))


def _unnoticed(shot: ShotRecord) -> bool:
    """Whether the camera sees a 20 that the beam did not notice, and nobody has spoken of, or lifted out."""
    lifted = all(shot.flat.get(disc) for disc in shot.holed)
    return bool(shot.twenties) and not (shot.beam or shot.owner_ruled or lifted) and shot.ruled is None


def _as_ruled(match: Match, shot: ShotRecord) -> dict[Side, int]:
    return {} if shot.owner_ruled == "none" else {match.named(shot.owner_ruled): 1}


def _inferred(match: Match, playing: Round, shot: ShotRecord) -> Judged:
    """A shot that nobody saw stands as what it left on the board; whose twenty it was, people say."""
    colours = {disc.id: disc.colour for disc in shot.before}
    sides = {disc: match.side_of(colours[disc]) if disc in colours else shot.side for disc in shot.rest}
    holed = {disc: sides[disc] for disc, where in shot.rest.items() if where == "hole"}
    foul = shot.ruled is False
    twenties: dict[Side, int] = {} if foul else dict.fromkeys(holed.values(), 1)
    if shot.owner_ruled:
        twenties = _as_ruled(match, shot)
    judged = replace(shot, valid=not foul, code="unseen", holed=holed, twenties=twenties)
    if shot.beam and not holed and not shot.owner_ruled and shot.ruled is None:
        return Judged(judged, whose_twenty(match, playing, judged, ()), in_doubt=True)
    return Judged(judged, None, in_doubt=False)


def _outcome(match: Match, playing: Round, shot: ShotRecord, index: int) -> _Outcome:
    events, rest = reconciled(shot, index)
    playing = replace(playing, shots=playing.shots[: shot.number - 1])
    sides = {shot.disc: shot.side, **{disc.id: match.side_of(disc.colour) for disc in before_of(playing, shot)}}
    position, seen = in_rules_words(match, playing, shot, events, rest)
    seen = dataclasses.replace(seen, placed=_placed(match, shot))
    verdict = judge_shot(position, seen, match.ruleset, GEOMETRY, dealt=dict.fromkeys(match.sides, _NO_LIMIT))
    dead = {disc for disc in seen.rest if _dead(events, disc)}
    holed = {disc: sides[disc] for disc, where in seen.rest.items() if where == rules.HOLE and disc not in dead}
    counted = _twenties(match, shot, verdict, holed)
    twenties = counted
    if shot.owner_ruled:
        twenties = _as_ruled(match, shot)
    return _Outcome(index, verdict, rest, holed, counted, twenties, _take_off(match, shot, verdict))


def in_rules_words(
    match: Match, playing: Round, shot: ShotRecord, events: Events, rest: Mapping[str, Rest]
) -> tuple[rules.Position, rules.Shot]:
    """What lay in play before a shot, and the shot, as the rules know them; discs that they do not know are left out.

    Args:
        match: the match as it was then.
        playing: the round up to the shot.
        shot: who shot which disc.
        events: what happened, in one reading.
        rest: where the discs came to lie, in the same.
    """
    discs = {
        disc.id: rules_disc(disc, match, playing)
        for disc in before_of(playing, shot)
        if disc.id != shot.disc and in_play(disc, match, playing)
    }
    known = {*discs, shot.disc}
    return rules.Position(discs), rules.Shot(
        side=shot.side,
        seat=shot.seat,
        disc=shot.disc,
        events=tuple(event for event in events if set(event[1:]) <= known),
        rest={disc: rules_rest(where) for disc, where in rest.items() if disc in known},
    )


def reconciled(shot: ShotRecord, index: int) -> tuple[Events, dict[str, Rest]]:
    """Events and rests that agree about the hole: a fall into it is an event, lying in it is a rest."""
    readings = [_decided(reading, shot.flat) for reading in shot.readings]
    events = readings[index]
    fell = {event[1] for event in events if event[0] == "hole"}
    fell_somewhere = {event[1] for reading in readings for event in reading if event[0] == "hole"}
    rest: dict[str, Rest] = dict(shot.rest)
    for disc, flat in shot.flat.items():
        if flat:
            rest[disc] = "hole"
        elif rest.get(disc) == "hole":
            rest[disc] = Place(0.0, 0.0, leaning=True)
    dropped: set[str] = set()
    for disc, where in list(rest.items()):
        if where == "hole":
            if disc in fell_somewhere and disc not in fell:
                rest[disc] = Place(0.0, 0.0, leaning=True)
        elif disc in fell and not _dead(events, disc):
            if len(shot.readings) > 1 or where == "ditch" or shot.beam:
                rest[disc] = "hole"
            else:
                dropped.add(disc)
    kept = tuple(event for event in events if event[0] != "hole" or event[1] not in dropped)
    return kept, rest


def _decided(events: Events, flat: dict[str, bool]) -> Events:
    """A reading with the falls into the hole that are known, and without those that are known to be none."""
    kept = tuple(event for event in events if event[0] != "hole" or flat.get(event[1], True))
    fell = {event[1] for event in kept if event[0] == "hole"}
    return (*kept, *(("hole", disc) for disc, lies in flat.items() if lies and disc not in fell))


def _dead(events: Events, disc: str) -> bool:
    return any(event[0] == "off" and event[1] == disc for event in events)


def rules_disc(disc: LayoutDisc, match: Match, playing: Round) -> rules.Disc:
    """A disc in play as the rules take it; one at the outer line that was ruled to be in lies within it."""
    r_mm, angle_deg = to_polar(disc.x_mm, disc.y_mm)
    ruled_in = ruling_on(disc, playing) is not None and value_of(disc, playing) > 0
    r_mm = min(r_mm, GEOMETRY.limits_mm[-1] - _WITHIN_MM if ruled_in else GEOMETRY.surface_radius_mm)
    return rules.Disc(match.side_of(disc.colour), r_mm, angle_deg, disc.state == "leaning")


def rules_rest(where: Rest) -> rules.Rest:
    """A place as the rules take it; what ran over the edge of the surface is in the ditch."""
    if isinstance(where, str):
        return where
    if where.r_mm > GEOMETRY.surface_radius_mm:
        return "ditch"
    return rules.Place(max(0.0, where.r_mm), where.angle_deg, where.leaning)


def _placed(match: Match, shot: ShotRecord) -> rules.Place | None:
    """Where the disc was placed if that may be held against the shooter, else None."""
    if shot.placed is None or match.level != "judge":
        return None
    for r_mm in (shot.placed.r_mm, shot.placed.r_mm - PLACED_SLACK_MM, shot.placed.r_mm + PLACED_SLACK_MM):
        for off_deg in (0.0, -PLACED_SLACK_DEG, PLACED_SLACK_DEG):
            place = rules.Place(r_mm, shot.placed.angle_deg + off_deg)
            probe = rules.Shot(shot.side, shot.seat, shot.disc, (), {}, place)
            if placement_fault(probe, match.ruleset, GEOMETRY) is None:
                return None
    return rules.Place(shot.placed.r_mm, shot.placed.angle_deg)


def in_play(disc: LayoutDisc, match: Match, playing: Round) -> bool:
    """Whether a disc lies on the surface and has not come to rest on or beyond the outer line."""
    if disc.state in {"hole", "ditch"}:
        return False
    if value_of(disc, playing) > 0:
        return True
    r_mm = math.hypot(disc.x_mm, disc.y_mm)
    return match.ruleset.lip_disc == "stays_0" and GEOMETRY.clear_of_outer_mm < r_mm <= GEOMETRY.surface_radius_mm


def _twenties(match: Match, shot: ShotRecord, verdict: Verdict, holed: dict[str, Side]) -> dict[Side, int]:
    foul = shot.ruled is False or (shot.ruled is None and match.level == "judge" and verdict.valid is False)
    counts: dict[Side, int] = {}
    if not foul:
        for side in holed.values():
            counts[side] = counts.get(side, 0) + 1
    return counts


def _take_off(match: Match, shot: ShotRecord, verdict: Verdict) -> frozenset[str]:
    if shot.ruled is True:
        return verdict.take_off - verdict.fouled
    if match.level == "judge" or shot.ruled is False:
        return verdict.take_off
    return verdict.take_off - verdict.fouled


def _with_beam(outcomes: list[_Outcome], shot: ShotRecord, *, beam_tells: bool) -> list[_Outcome]:
    """Where the camera cannot tell whether a disc that is gone fell into the hole, the beam can.

    Of one that is seen at the hole it tells nothing: a leaner breaks it like a 20, so its silence is its own, or late.
    """
    holes = {frozenset(outcome.holed) for outcome in outcomes}
    if len(holes) < 2 or any(shot.rest.get(disc) not in {None, "ditch"} for hole in holes for disc in hole):
        return outcomes
    if shot.beam:
        return [outcome for outcome in outcomes if outcome.holed]
    if beam_tells and frozenset() in holes:
        return [outcome for outcome in outcomes if not outcome.holed]
    return outcomes


def _counts(outcome: _Outcome) -> tuple[tuple[Side, int], ...]:
    return tuple(sorted(outcome.twenties.items()))


def _matters(match: Match, outcome: _Outcome) -> tuple[object, ...]:
    return (_counts(outcome), outcome.take_off) if match.level == "judge" else (_counts(outcome),)


def _filled(match: Match, shot: ShotRecord, outcome: _Outcome) -> ShotRecord:
    verdict = outcome.verdict
    valid = verdict.valid if shot.ruled is None else shot.ruled
    if match.level == "count" and shot.ruled is None:
        valid = True
    code = "good" if valid else "referee" if valid is None else verdict.reason or "called_foul"
    if outcome.twenties and valid is not False:
        code = "twenty"
    return replace(
        shot,
        reading=outcome.index,
        valid=valid,
        code=code,
        open=verdict.open,
        holed=outcome.holed,
        twenties=outcome.twenties,
        take_off=tuple(sorted(outcome.take_off)),
        disputed=(),
    )


def _doubt(
    match: Match, shot: ShotRecord, judged: ShotRecord, outcomes: list[_Outcome]
) -> Literal["valid", "twenty"] | None:
    """What people are asked: ``valid``, ``twenty`` or nothing, as where only the discs that go are in doubt."""
    if shot.owner_ruled:
        return None
    if len({_matters(match, outcome) for outcome in outcomes}) > 1:
        verdicts = {outcome.verdict.valid for outcome in outcomes}
        if len(verdicts) > 1 and shot.ruled is None and match.level == "judge":
            return "valid"
        if len({_counts(outcome) for outcome in outcomes}) > 1:
            return "twenty"
    void = match.level == "judge" and judged.code == "missed_opponent"
    leans = any(not isinstance(where, str) and where.leaning for where in outcomes[0].rest.values())
    if shot.beam and not judged.holed and shot.vague and not leans and not void:
        return "twenty"
    return _needs_people(match, shot, judged, outcomes[0].verdict)


def _needs_people(
    match: Match, shot: ShotRecord, judged: ShotRecord, verdict: Verdict
) -> Literal["valid", "twenty"] | None:
    """A single reading that the rules cannot judge, or that the match's level leaves to people."""
    if shot.ruled is not None or match.level == "count":
        return None
    if len(judged.holed) > 1:
        return None  # one 20 lies on another: both count as they lie, unless people correct it
    unjudged = verdict.referee and match.level == "judge" and bool(judged.holed or judged.take_off)
    void = verdict.valid is False and match.level == "advise" and bool(judged.holed)
    return "valid" if unjudged or void else None
