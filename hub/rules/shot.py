"""One shot, judged: placement, open shot, contact, chains, fouls and what they take away, 20s, the outer line.

:func:`judge_shot` is pure and never raises on what was seen: facts that cannot be, or that no sensor can settle,
give a verdict with ``referee`` set and the codes that say why. The numbers are the rules of the source table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from hardware.board import TOURNAMENT, Board, to_xy
from hub.rules.course import follow
from hub.rules.outcome import HAIR_MM, Hearing, carry_out, undecided
from hub.rules.people import CALL_RULES
from hub.rules.position import DITCH, HOLE, Place, Position, Shot
from hub.rules.ruleset import Ruleset
from hub.rules.seats import dealt_per_side, side_of_seat
from hub.rules.verdict import Verdict

UNDECIDED_RULES: Final[Mapping[str, int]] = {
    "unknown_disc": 2,
    "unknown_side": 2,
    "same_disc": 2,
    "rest_missing": 22,
    "lifted_too_early": 38,
    "off_the_board": 42,
    "wrong_seat": 18,
    "too_many_discs": 13,
    "two_in_hole": 38,
    "maybe_not_left_finger": 26,
    "shot_disc_disturbed": 44,
}
"""Why people must decide, each with the rule it is about."""


def judge_shot(
    position: Position,
    shot: Shot,
    ruleset: Ruleset,
    board: Board = TOURNAMENT,
    *,
    dealt: Mapping[str, int] | None = None,
    called: str | None = None,
) -> Verdict:
    """Judge one shot.

    A shot can be wrong in more than one way: each foul takes what it takes, ``reason`` names the first of
    a called foul, the placement, and the open shot or the miss.

    Args:
        position: what was in play before it and what was banked.
        shot: what was seen.
        ruleset: the rules it is judged by.
        board: the board's geometry.
        dealt: discs of each side this round, when handicaps change what the rules deal.
        called: code of a foul that people called and no sensor sees (finger, cheek, chair; see
            :mod:`hub.rules.people`); the shot disc goes, what it did stays.

    Returns:
        The verdict; it never raises on what was seen, ``referee`` is set where people must decide.
    """
    is_open = all(disc.side == shot.side for disc in position.discs.values())
    hearing = Hearing(position, shot, ruleset, board, is_open, follow(position, shot, ruleset, board), [])
    problem = _problem(hearing, dealt) or _not_left_finger(hearing)
    if problem is not None:
        return _people_decide(hearing, problem)
    reason = None
    fouled: dict[str, int] = {}
    fault = called or placement_fault(shot, ruleset, board)
    if fault is not None:
        reason = called or "illegal_placement"
        rule = _PLACEMENT_RULES.get(fault) or CALL_RULES.get(fault, 27)
        fouled[shot.disc] = rule
        hearing.because(fault, rule, shot.disc, shot.side)
    foul = _judge_open(hearing) if is_open else _judge_contact(hearing)
    if foul is not None:
        fouled = dict.fromkeys(foul, 33 if is_open else 37) | fouled
        reason = reason or ("open_not_in_15" if is_open else "missed_opponent")
    if ruleset.damage == "restore" and shot.disc in hearing.course.disturbed and shot.disc not in fouled:
        return _people_decide(hearing, "shot_disc_disturbed")
    return carry_out(hearing, fouled, reason)


def _people_decide(hearing: Hearing, problem: str) -> Verdict:
    return undecided(hearing, problem, UNDECIDED_RULES[problem])


_PLACEMENT_RULES: Final[Mapping[str, int]] = {"off_the_start_line": 23, "outside_the_quadrant": 24}


def placement_fault(shot: Shot, ruleset: Ruleset, board: Board = TOURNAMENT) -> str | None:
    """What is wrong with where a disc was placed (rules 23 and 24, variant ``quadrant``).

    Returns:
        ``off_the_start_line``, ``outside_the_quadrant``, or ``None`` when it is right or nobody saw it.
    """
    placed = shot.placed
    if placed is None:
        return None
    if abs(placed.r_mm - board.outer_line_mm) > board.reach_mm + HAIR_MM:
        return "off_the_start_line"
    aside_deg = abs((placed.angle_deg - 90 * (shot.seat - 1) + 180) % 360 - 180)
    if aside_deg <= 45 + HAIR_MM:
        return None
    over_mm = placed.r_mm * math.sin(math.radians(aside_deg - 45))
    if ruleset.quadrant == "touch_line" and over_mm <= board.reach_mm + HAIR_MM:
        return None
    return "outside_the_quadrant"


def _problem(hearing: Hearing, dealt: Mapping[str, int] | None) -> str | None:
    """Why the facts allow no automatic verdict, or ``None``."""
    shot, discs, course = hearing.shot, hearing.position.discs, hearing.course
    if course.problem is not None:
        return course.problem
    if shot.disc in discs:
        return "same_disc"
    if shot.disc not in shot.rest:
        return "rest_missing"
    if side_of_seat(hearing.ruleset.players, shot.seat) != shot.side:
        return "wrong_seat"
    return _rest_problem(hearing) or _count_problem(hearing, dealt)


def _rest_problem(hearing: Hearing) -> str | None:
    """Where discs came to rest: known discs, on the board, one in the hole, and not against the events (rule 38).

    A disc that dropped into the hole and lies on the board was knocked out again: no 20, and a doubt. One that lies in
    the ditch without having left the board may have been lifted out as a 20 too early: people know.
    """
    shot, discs, course = hearing.shot, hearing.position.discs, hearing.course
    edge_mm = hearing.board.surface_radius_mm
    in_hole = 0
    for disc, where in shot.rest.items():
        if disc not in discs and disc != shot.disc:
            return "unknown_disc"
        if where == HOLE:
            in_hole += 1
            continue
        dropped = disc in course.holed and disc not in course.dead
        if where == DITCH:
            if dropped:
                return "lifted_too_early"
        elif not 0 <= where.r_mm <= edge_mm:
            return "off_the_board"
        elif dropped:
            course.doubts.append("out_of_the_hole_again")
    return "two_in_hole" if in_hole > 1 else None


def _count_problem(hearing: Hearing, dealt: Mapping[str, int] | None) -> str | None:
    """On the board + banked + this shot never exceeds what was dealt (rules 13-16)."""
    by_rules = dealt_per_side(hearing.ruleset.players, hearing.ruleset.discs)
    limits = by_rules if dealt is None else dealt
    edge_mm = hearing.board.surface_radius_mm
    used = dict(hearing.position.banked)
    used[hearing.shot.side] = used.get(hearing.shot.side, 0) + 1
    for disc in hearing.position.discs.values():
        side = disc.side
        used[side] = used.get(side, 0) + 1
        if not 0 <= disc.r_mm <= edge_mm:
            return "off_the_board"
    for side, count in used.items():
        if side not in by_rules:
            return "unknown_side"
        if count > limits.get(side, 0):
            return "too_many_discs"
    return None


def _not_left_finger(hearing: Hearing) -> str | None:
    """A disc that hardly moved may not have left the finger (rule 26, variant ``commit``): only people saw it."""
    shot = hearing.shot
    placed, where = shot.placed, shot.rest.get(shot.disc)
    if hearing.ruleset.commit != "left_finger" or shot.events or placed is None or not isinstance(where, Place):
        return None
    moved_mm = math.dist(to_xy(placed.r_mm, placed.angle_deg), to_xy(where.r_mm, where.angle_deg))
    return "maybe_not_left_finger" if moved_mm < hearing.board.disc_radius_mm else None


def _judge_open(hearing: Hearing) -> set[str] | None:
    """The open shot (rules 30-34): which discs the foul takes, ``None`` when the shot is good."""
    shot, ruleset, course = hearing.shot, hearing.ruleset, hearing.course
    hearing.because("open_shot", 30, side=shot.side)
    if ruleset.no_hiding == "off":
        hearing.because("no_hiding_off", 34)
        return None
    tested = {shot.disc} if ruleset.open_subject == "shooter_only" else course.struck
    for disc in sorted(tested, key=lambda disc: (disc != shot.disc, disc)):
        if disc not in course.dead and _reaches_15(hearing, disc):
            own = disc != shot.disc
            hearing.because("own_disc_in_15" if own else "in_15", 32 if own else 31, disc, shot.side)
            return None
    hearing.because("open_not_in_15", 31, shot.disc, shot.side)
    return {shot.disc} if ruleset.open_remove == "shooter_only" else course.struck


def _reaches_15(hearing: Hearing, disc: str) -> bool:
    """Whether a disc came to rest in the 15 or the hole, or where touching the line is enough, on it (rule 31)."""
    where = hearing.shot.rest.get(disc) or hearing.position.discs[disc]
    if isinstance(where, str):
        return where == HOLE
    if hearing.ruleset.open_touch == "touch_ok":
        return where.leaning or where.r_mm <= hearing.board.touches_15_mm + HAIR_MM
    return where.leaning or where.r_mm < hearing.board.limits_mm[0]


def _judge_contact(hearing: Hearing) -> set[str] | None:
    """An opposing disc must be struck (rules 35-37): which discs the miss takes, ``None`` when one was."""
    shot, course, discs = hearing.shot, hearing.course, hearing.position.discs
    theirs = {disc for disc in course.struck if disc != shot.disc and discs[disc].side != shot.side}
    if theirs:
        direct = theirs & course.touched
        disc = min(direct or theirs)
        hearing.because("hit_opponent" if direct else "hit_through_own", 35, disc, discs[disc].side)
        return None
    hearing.because("missed_opponent", 37, shot.disc, shot.side)
    return {shot.disc, *(course.touched if hearing.ruleset.miss_chain == "direct" else course.struck)}
