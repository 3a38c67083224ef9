"""The record of a round: what lies on the board and counts, whatever hands do to it afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from msgspec.structs import replace

from hub.judging.hole import as_told, before_of, words
from hub.judging.lines import close_to_line
from hub.judging.verdicts import in_play
from hub.link.messages import Layout, LayoutDisc
from hub.link.snapshot import Side
from hub.round import Removal, Round, ShotRecord
from hub.state import Match
from hub.tally import expected

SAME_PLACE_MM = 6.0
"""A disc of the same colour that near to where one lay is the same disc under a new id (a restarted camera)."""

UNSEEN_SIGMA_MM = 0.4
"""How sure the place of a disc is of which only the shot has told, if nothing else lies there to compare it with."""

SWEPT_DISCS = 2
"""So many discs gone at once for no known reason mean that the board was swept, one that it was moved by hand."""


def surface(layout: Iterable[LayoutDisc], playing: Round) -> tuple[LayoutDisc, ...]:
    """Discs on the surface that belong to this round and are not counted as twenties."""
    return tuple(
        disc
        for disc in as_told(layout, words(playing))
        if disc.state not in {"hole", "ditch"} and disc.id not in playing.old and disc.id not in playing.lying
    )


def with_unseen(known: tuple[LayoutDisc, ...], fact: Layout) -> tuple[LayoutDisc, ...]:
    """A layout in which discs under a hand stay where they were: not seen is never gone."""
    seen = {disc.id for disc in fact.discs}
    return (*fact.discs, *(disc for disc in known if disc.id in fact.unseen and disc.id not in seen))


def renamed(playing: Round, was: tuple[LayoutDisc, ...], layout: tuple[LayoutDisc, ...]) -> Round:
    """A disc that lies where one lay, under a new id, is that disc; what is remembered of it goes with it.

    Args:
        playing: the round.
        was: what lay on the board and in the hole before.
        layout: what lies there now.
    """
    ids = {disc.id for disc in layout}
    remembered = {disc.id: disc for disc in (*was, *playing.record) if disc.state != "ditch"}
    new = [disc for disc in layout if disc.id not in remembered and disc.state != "ditch"]
    names: dict[str, str] = {}
    for gone in remembered.values():
        if gone.id in ids:
            continue
        for disc in new:
            near = math.hypot(gone.x_mm - disc.x_mm, gone.y_mm - disc.y_mm) < SAME_PLACE_MM
            if near and disc.colour == gone.colour and disc.id not in names.values():
                names[gone.id] = disc.id
                break
    if not names:
        return playing

    def name(disc: str) -> str:
        return names.get(disc, disc)

    return replace(
        playing,
        record=tuple(replace(disc, id=name(disc.id)) for disc in playing.record),
        rulings={name(disc): ruling for disc, ruling in playing.rulings.items()},
        removals=tuple(replace(r, disc=replace(r.disc, id=name(r.disc.id))) for r in playing.removals),
        lying=tuple(name(disc) for disc in playing.lying),
        old=tuple(name(disc) for disc in playing.old),
        shots=tuple(_renamed_shot(shot, names) for shot in playing.shots),
    )


def _renamed_shot(shot: ShotRecord, names: dict[str, str]) -> ShotRecord:
    def name(disc: str) -> str:
        return names.get(disc, disc)

    return replace(
        shot,
        disc=name(shot.disc),
        rest={name(disc): where for disc, where in shot.rest.items()},
        flat={name(disc): flat for disc, flat in shot.flat.items()},
        readings=tuple(
            tuple((event[0], *(name(disc) for disc in event[1:])) for event in reading) for reading in shot.readings
        ),
        before=tuple(replace(disc, id=name(disc.id)) for disc in shot.before),
        holed={name(disc): side for disc, side in shot.holed.items()},
        take_off=tuple(name(disc) for disc in shot.take_off),
        foul_set=tuple(name(disc) for disc in shot.foul_set),
        disputed=tuple(name(disc) for disc in shot.disputed),
        absent=tuple(name(disc) for disc in shot.absent),
    )


def places_after(match: Match, playing: Round, shot: ShotRecord) -> dict[str, LayoutDisc]:
    """Where everything lies after a shot, by the shot's own account."""
    places = {disc.id: disc for disc in before_of(playing, shot)}
    sigma_mm = max((disc.sigma_mm for disc in places.values()), default=UNSEEN_SIGMA_MM)
    if shot.disc and shot.disc not in places:
        places[shot.disc] = LayoutDisc(shot.disc, match.colour_of(shot.side), 0.0, 0.0, sigma_mm, "ditch")
    for disc, where in shot.rest.items():
        if disc not in places:
            continue
        if disc in shot.holed:
            places[disc] = replace(places[disc], x_mm=0.0, y_mm=0.0, state="hole")
        elif isinstance(where, str):
            places[disc] = replace(places[disc], state="ditch")
        else:
            a = math.radians(where.angle_deg)
            x_mm, y_mm = -where.r_mm * math.sin(a), -where.r_mm * math.cos(a)
            state = "leaning" if where.leaning else "flat"
            places[disc] = replace(places[disc], x_mm=x_mm, y_mm=y_mm, sigma_mm=sigma_mm, state=state)
    return places


def after_shot(
    match: Match, playing: Round, shot: ShotRecord, layout: tuple[LayoutDisc, ...], *, in_doubt: bool
) -> Round:
    """Removals and record as a shot leaves them, before the next layout is seen or when it is judged again."""
    told = words(playing)
    if shot.settled:
        known = {disc.id: disc for disc in playing.record}
        known.update({removal.disc.id: removal.disc for removal in playing.removals})
        concerned = {*told, *shot.holed, *shot.take_off}
        places = {disc.id: disc for disc in layout if disc.id in concerned and disc.state != "ditch"}
        places = {disc.id: disc for disc in as_told({**places, **known}.values(), told)}
    else:
        places = places_after(match, playing, shot)
    removals: list[Removal] = []
    if not in_doubt:
        take_off = [Removal(places[d], _why(shot, d)) for d in shot.take_off if d in places]
        removals += [r for r in take_off if r.why == "foul" or close_to_line(r.disc, playing) is None]
        going = {removal.disc.id for removal in removals}
        removals += [Removal(places[d], "twenty") for d in shot.holed if d in places and d not in going]
    going = {removal.disc.id for removal in removals}
    record = tuple(d for d in places.values() if d.state not in {"hole", "ditch"} and d.id not in going)
    lying = playing.lying if shot.settled else (*playing.lying, *shot.holed)
    sunk = [disc.id for disc in layout if told.get(disc.id)]
    lying = tuple(disc for disc in dict.fromkeys((*lying, *sunk)) if told.get(disc, True))
    return replace(playing, removals=tuple(removals), record=record, lying=lying)


def _why(shot: ShotRecord, disc: str) -> Literal["foul", "out"]:
    return "foul" if disc in shot.foul_set else "out"


def recorded(playing: Round, layout: tuple[LayoutDisc, ...], *, first: bool, unseen: bool = False) -> Round:
    """Let the record follow the layout, except for discs gone for no known reason: a hand may be clearing.

    They count until the next shot, which shows that play goes on without them.

    Args:
        playing: the round.
        layout: what lies on the board and in the hole now.
        first: whether it is the first layout after a shot, which corrects the shot's own account.
        unseen: whether it tells of a shot that nobody saw, which may have sent discs off.
    """
    last = playing.shots[-1] if playing.shots else None
    going = {removal.disc.id for removal in playing.removals}
    on_board = {disc.id for disc in layout if disc.state != "ditch"}
    disputed = set(last.disputed) if last is not None else set()
    explained = {*going, *(set(last.foul_set) - disputed if last is not None else ()), *playing.lying}
    gone = [disc for disc in playing.record if disc.id not in on_board and disc.id not in explained]
    if {disc.id for disc in gone} <= disputed:
        gone = []  # taken off by whoever knows what the sensors do not; with others it would be a sweep
    now = [disc for disc in surface(layout, playing) if disc.id not in going]
    if unseen:
        gone = []
    elif playing.done and not first:
        was = {disc.id: disc for disc in playing.record}
        now = [_where_it_lay(disc, was[disc.id]) for disc in now if disc.id in was]
    elif first and not playing.done and len(gone) < SWEPT_DISCS and on_board:
        gone = []
    return replace(playing, record=(*now, *gone))


def _where_it_lay(now: LayoutDisc, was: LayoutDisc) -> LayoutDisc:
    """After the last shot a disc that a hand has pushed counts where it lay."""
    pushed = math.hypot(now.x_mm - was.x_mm, now.y_mm - was.y_mm) >= SAME_PLACE_MM
    return was if pushed or now.state != was.state else now


def without_gone(playing: Round, ids: set[str]) -> Round:
    """Removals that have been done; a doubtful foul whose discs were taken off by hand was one."""
    removals = tuple(removal for removal in playing.removals if removal.disc.id in ids)
    shots = {shot.number: shot for shot in playing.shots}
    questions = []
    for question in playing.questions:
        shot = shots.get(question.shot)
        if question.kind == "valid" and not question.stake and shot is not None:
            on_surface = {d for d in shot.foul_set if shot.rest.get(d) not in {"hole", "ditch"}}
            if on_surface and not ids & on_surface:
                shots[shot.number] = replace(shot, ruled=False, valid=False, code="removed", reading=0)
                continue
        questions.append(question)
    return replace(playing, removals=removals, questions=tuple(questions), shots=tuple(shots.values()))


def with_out(match: Match, playing: Round, layout: tuple[LayoutDisc, ...]) -> Round:
    """Discs at rest on or beyond the outer line go, at once (rule 46); one not yet shot stands there rightly.

    A disc that was to go and lies in play now, by a push or a ruling, stays; so does one too close to the line to
    call, until people, or play, have decided.
    """
    here = {disc.id: disc for disc in layout}

    def out_for_sure(disc: LayoutDisc) -> bool:
        return not in_play(disc, match, playing) and close_to_line(disc, playing) is None

    back = [
        here[removal.disc.id]
        for removal in playing.removals
        if removal.why == "out" and removal.disc.id in here and not out_for_sure(here[removal.disc.id])
    ]
    if back:
        ids = {disc.id for disc in back}
        playing = replace(
            playing,
            removals=tuple(removal for removal in playing.removals if removal.disc.id not in ids),
            record=(*(disc for disc in playing.record if disc.id not in ids), *back),
        )
    shot = {disc for s in playing.shots for disc in (s.disc, *s.rest)}
    listed = {removal.disc.id for removal in playing.removals}
    asked = {question.disc for question in playing.questions if question.kind == "line"}
    out = [
        disc
        for disc in surface(layout, playing)
        if disc.id in shot and disc.id not in listed | asked and out_for_sure(disc)
    ]
    if match.level == "count" or not out:
        return playing
    gone = {disc.id for disc in out}
    return replace(
        playing,
        removals=(*playing.removals, *(Removal(disc, "out") for disc in out)),
        record=tuple(disc for disc in playing.record if disc.id not in gone),
    )


def told_twenties(match: Match, playing: Round, layout: tuple[LayoutDisc, ...]) -> Round:
    """A disc in the hole that people have told of while no camera was there is that one, and no second 20."""
    for disc in as_told(layout, words(playing)):
        if disc.state != "hole" or disc.id in playing.lying:
            continue
        side = match.side_of(disc.colour)
        told = next((s for s in playing.shots if s.unseen and not s.disc and s.twenties.get(side)), None)
        if told is not None:
            shot = replace(told, disc=disc.id, rest={disc.id: "hole"}, holed={disc.id: side})
            shots = tuple(shot if s.number == told.number else s for s in playing.shots)
            playing = replace(playing, shots=shots, lying=(*playing.lying, disc.id))
    return playing


def fallen(playing: Round, layout: tuple[LayoutDisc, ...]) -> list[str]:
    """Discs that lay on the surface and lie in the hole now, though no shot has told of it."""
    known = {disc.id for disc in playing.record}
    return [
        disc.id
        for disc in as_told(layout, words(playing))
        if disc.state == "hole" and disc.id in known and disc.id not in playing.lying
    ]


def surplus(match: Match, playing: Round, layout: tuple[LayoutDisc, ...], side: Side, counted: int) -> list[LayoutDisc]:
    """Discs of a side that tell of shots that nobody saw, as while the camera was away.

    There are more than it has shot, or a new one lies there while it had the turn and none of its own is missing.
    """
    mine = [d for d in as_told(layout, words(playing)) if match.side_of(d.colour) == side and d.id not in playing.old]
    in_hole = [d for d in mine if d.state == "hole" and d.id not in playing.lying]
    on_board = [d for d in mine if d.id not in playing.lying and in_play(d, match, playing)]
    known = {disc for shot in playing.shots for disc in (shot.disc, *shot.rest)} | {d.id for d in playing.record}
    new = [d for d in (*in_hole, *on_board) if d.id not in known]
    here = {disc.id for disc in layout}
    gone = [d for d in playing.record if match.side_of(d.colour) == side and d.id not in here]
    turn = expected(match, playing)
    came = len(new) - len(gone) if turn is not None and turn[0] == side else 0
    taken = sum(shot.side == side for shot in playing.shots)
    return new[: max(0, came, len(in_hole) + len(on_board) + counted - taken)]
