"""Whether a disc at the hole lies flat in it or leans: one word about each disc, that everything else goes by.

The camera hardly tells a disc that leans in the hole from one that lies flat in it, and says so in a doubt. Whatever
decides it later (people, the disc's place, a hand that lifts it out) is kept with the shot that brought the disc there;
every judgement, record and layout after it sees the disc as that word says, also when the word comes late.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from hub.link.messages import LayoutDisc, Place
from hub.link.snapshot import Side
from hub.remembered import Remembered
from hub.round import Events, Round, ShotRecord
from hub.state import GEOMETRY, Match

AT_HOLE_MM = GEOMETRY.hole_radius_mm
"""A disc whose middle is further from the board's middle neither lies in the hole nor leans in it."""

PLAY_MM = GEOMETRY.hole_play_mm
"""So far from the middle a flat disc can lie."""

HOLE_SIGMA_MM = 0.5
"""One sigma of where the hole is on the board and of a half-sunk disc's parallax, beside the reader's own noise."""

LEANS_SIGMAS = 4.5
"""A disc further beyond the play of the hole than this many standard deviations leans: a wrong word costs a 20."""

LEANS_THOUGH_FLAT_SIGMAS = 5.0
"""So many where it looks as if it lay flat: the place has to outweigh the looks, too."""


def doubtful(shot: ShotRecord) -> frozenset[str]:
    """Discs that are seen at the hole after a shot, and of which the evidence cannot tell whether they lie in it."""
    if len(shot.readings) == 1:
        return frozenset()
    fell = [_fell(reading) for reading in shot.readings]
    sometimes = frozenset[str]().union(*fell) - fell[0].intersection(*fell)
    return frozenset(disc for disc in sometimes if shot.rest.get(disc, "ditch") != "ditch")


def _fell(events: Events) -> frozenset[str]:
    return frozenset(event[1] for event in events if event[0] == "hole")


def undecided(shot: ShotRecord) -> frozenset[str]:
    """Discs whose lying in the hole nothing has decided yet."""
    return frozenset() if shot.owner_ruled else doubtful(shot).difference(shot.flat)


def words(playing: Round, before: int | None = None) -> Mapping[str, bool]:
    """Of discs that were in doubt, or that people spoke of: whether each lies flat in the hole.

    Args:
        playing: the round.
        before: number of the shot before which it is asked; None for now.
    """
    return _words.of((playing.shots,), lambda: _told(playing.shots, before), before)


_words: Remembered[Mapping[str, bool]] = Remembered()


def _told(shots: Iterable[ShotRecord], before: int | None) -> Mapping[str, bool]:
    told: dict[str, bool] = {}
    for shot in shots:
        if before is not None and shot.number >= before:
            break
        if told:
            for disc in shot.rest:
                told.pop(disc, None)
        if shot.flat or len(shot.readings) > 1:
            for disc in (*doubtful(shot), *shot.flat):
                told[disc] = disc in shot.holed
    return told


def as_told(discs: Iterable[LayoutDisc], told: Mapping[str, bool]) -> tuple[LayoutDisc, ...]:
    """Discs as the camera saw them, but at the hole as is known better."""
    if not told:
        return tuple(discs)
    return tuple(_as_told(disc, told) for disc in discs)


def _as_told(disc: LayoutDisc, told: Mapping[str, bool]) -> LayoutDisc:
    flat = told.get(disc.id)
    if flat is None or disc.state == "ditch" or not at_hole(disc):
        return disc
    if flat:
        return replace(disc, state="hole")
    return replace(disc, state="leaning") if disc.state == "hole" else disc


def at_hole(disc: LayoutDisc) -> bool:
    """Whether a disc lies or leans in the hole, as far as its place tells."""
    return math.hypot(disc.x_mm, disc.y_mm) <= AT_HOLE_MM


def before_of(playing: Round, shot: ShotRecord) -> tuple[LayoutDisc, ...]:
    """What lay on the board before a shot, as is known now."""
    return as_told(shot.before, words(playing, shot.number))


def leans_by_place(disc: LayoutDisc) -> bool:
    """Whether a disc at the hole lies too far from its middle to be flat in it."""
    off_mm = math.hypot(disc.x_mm, disc.y_mm) - PLAY_MM
    sigmas = LEANS_THOUGH_FLAT_SIGMAS if disc.state == "hole" else LEANS_SIGMAS
    return off_mm > sigmas * math.hypot(disc.sigma_mm, HOLE_SIGMA_MM)


def seen_again(shot: ShotRecord, layout: Iterable[LayoutDisc]) -> ShotRecord:
    """A shot with what the places of its doubtful discs tell; one that may lie flat by its place stays in doubt."""
    told = {disc.id: False for disc in layout if disc.id in doubtful(shot) and at_hole(disc) and leans_by_place(disc)}
    told = {disc: flat for disc, flat in told.items() if disc not in shot.flat}
    return replace(shot, flat={**shot.flat, **told}) if told else shot


def lifted(shot: ShotRecord, gone: Iterable[LayoutDisc], shots: int) -> ShotRecord:
    """A shot with the word of a hand that has taken its disc out of the hole: nobody lifts a leaner, so it was a 20.

    Args:
        shot: the last one that moved those discs.
        gone: what was seen before the hand came, and is no longer.
        shots: how many were taken in the round by then.
    """
    if shot.owner_ruled or shot.ruled is False:
        return shot
    leans = {disc for disc, where in shot.rest.items() if not isinstance(where, str) and where.leaning}
    # Of a sure 20 too: the beam may take its word back later, and the hand has told by then.
    may_be = {*leans, *doubtful(shot), *shot.holed}.difference(shot.foul_set)
    told = [disc.id for disc in gone if disc.id in may_be and at_hole(disc)]
    if not told:
        return shot
    return replace(
        shot, flat={**shot.flat, **dict.fromkeys(told, True)}, lifted={**shot.lifted, **dict.fromkeys(told, shots)}
    )


def not_lifted(shot: ShotRecord, shots: int) -> ShotRecord:
    """A shot without what a hand told of its discs after the last shot: that hand had begun to sweep the board."""
    told = [disc for disc, at in shot.lifted.items() if at == shots]
    if not told:
        return shot
    flat = {disc: lies for disc, lies in shot.flat.items() if disc not in told}
    return replace(shot, flat=flat, lifted={disc: at for disc, at in shot.lifted.items() if disc not in told})


def where_it_leant(match: Match, shot: ShotRecord, disc: str) -> LayoutDisc:
    """A disc at the hole as its shot left it there."""
    colours = {known.id: known.colour for known in shot.before}
    where = shot.rest.get(disc)
    at = Place(0.0, 0.0) if where is None or isinstance(where, str) else where
    a = math.radians(at.angle_deg)
    x_mm, y_mm = -at.r_mm * math.sin(a), -at.r_mm * math.cos(a)
    return LayoutDisc(disc, colours.get(disc, match.colour_of(shot.side)), x_mm, y_mm, HOLE_SIGMA_MM, "leaning")


def moved_on(shot: ShotRecord, later: ShotRecord) -> ShotRecord:
    """A shot whose doubtful disc a later one made fall into the hole, or sent away from it: it had leaned."""
    open_ = [disc for disc in undecided(shot) if disc in later.rest]
    if not open_:
        return shot
    readings = [_fell(reading) for reading in later.readings]
    fell = readings[0].intersection(*readings)
    away = {d for d, where in later.rest.items() if not isinstance(where, str) and where.r_mm > AT_HOLE_MM}
    # One that is gone without a blow may have been lifted out as a 20.
    away |= {d for d in later.rest if all(_struck_off(reading, d) for reading in later.readings)}
    told = [disc for disc in open_ if disc in fell | away]
    return replace(shot, flat={**shot.flat, **dict.fromkeys(told, False)}) if told else shot


def _struck_off(events: Events, disc: str) -> bool:
    return ("off", disc) in events and any(event[0] == "hit" and disc in event[1:] for event in events)


def owners(match: Match, shot: ShotRecord) -> dict[str, Side]:
    """Discs that are seen at the hole after a shot and may lie in it, and whose they are."""
    sides = {disc.id: match.side_of(disc.colour) for disc in shot.before} | {shot.disc: shot.side}
    there = {*doubtful(shot), *(disc for disc in shot.holed if shot.rest.get(disc) == "hole")}
    return {disc: sides[disc] for disc in sorted(there) if disc in sides}


def answered(match: Match, shot: ShotRecord, choice: str) -> ShotRecord:
    """A shot with people's word about its 20, a side or ``none``: the discs at the hole lie or lean as they say."""
    at = owners(match, shot)
    if choice == "none":
        told = dict.fromkeys(at, False)
    else:
        told = {disc: side == choice for disc, side in at.items() if side == choice or disc in doubtful(shot)}
    return replace(shot, owner_ruled=choice, flat={**shot.flat, **told})


def leaners_told(match: Match, playing: Round, shot: ShotRecord) -> Round:
    """A round, swept or counted, with people's word about a disc at its hole: there it is a leaner's 15, or a 20.

    One that a later shot has moved is where that one left it.
    """
    known = {disc.id for disc in playing.record}
    known |= {disc for later in playing.shots if later.number > shot.number for disc in later.rest}
    record = tuple(disc for disc in playing.record if not shot.flat.get(disc.id, False))
    lean = [disc for disc, flat in shot.flat.items() if not flat and disc in shot.rest and disc not in known]
    come = (where_it_leant(match, shot, disc) for disc in lean)
    return replace(playing, record=(*record, *come))
