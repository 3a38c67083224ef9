"""A judgement carried out: who goes, who is put back, who banks a 20, what the rest scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hardware.board import TOURNAMENT, Board
from hub.rules.course import Course
from hub.rules.position import DITCH, HOLE, Disc, Place, Position, Shot
from hub.rules.ruleset import Ruleset
from hub.rules.seats import sides_of
from hub.rules.verdict import Reason, Verdict


@dataclass(slots=True)
class Hearing:
    """One shot under judgement: the facts, the rules, and the reasons found so far."""

    position: Position
    shot: Shot
    ruleset: Ruleset
    board: Board
    is_open: bool
    course: Course
    reasons: list[Reason]

    def because(self, code: str, rule: int, disc: str | None = None, side: str | None = None) -> None:
        """Add a reason."""
        self.reasons.append(Reason(code, rule, disc, side))


HAIR_MM: Final = 1e-9
"""What rounding does to a limit, far below what anybody can measure."""


@lru_cache(maxsize=32)
def zone_limits(board: Board) -> tuple[float, float, float, float]:
    """Radii below which a disc is in 15, 10 and 5, and up to which it touches the outer line."""
    return (*board.limits_mm, board.clear_of_outer_mm + HAIR_MM)


DEAD_RULES: Final = {"off": 42, "bounced_back": 43, "crossed": 45, "struck_while_out": 45}


_NONE: Final[frozenset[str]] = frozenset()


class _Carried:
    """Takes the discs that moved or that the judgement is about, and then all that lie on the board."""

    __slots__ = (
        "fouled",
        "hearing",
        "lift",
        "lying",
        "off",
        "points",
        "removed",
        "restored",
        "restores",
        "seen",
        "twenties",
    )

    def __init__(self, hearing: Hearing, fouled: Mapping[str, int]) -> None:
        self.hearing = hearing
        self.fouled = fouled
        self.points = dict.fromkeys(sides_of(hearing.ruleset.players), 0)
        self.twenties = dict.fromkeys(self.points, 0)
        self.restores = hearing.course.disturbed if hearing.ruleset.damage == "restore" else _NONE
        self.restored: dict[str, Place] = {}
        self.lying = dict(hearing.position.discs)
        self.seen = dict(hearing.position.discs)
        self.removed: list[str] = []
        self.off: list[str] = []
        self.lift: list[str] = []

    def concerned(self, disc: str, side: str, was: Disc | None) -> None:
        """A disc that moved, or that the judgement is about; ``was``: its place before, ``None`` for the shot disc."""
        hearing = self.hearing
        where = hearing.shot.rest.get(disc)
        dead = hearing.course.dead.get(disc)
        lies_off = where == DITCH or (where is None and dead is not None)
        if lies_off:
            self.seen[disc] = Disc(side, hearing.board.rail_radius_mm, 0.0)
        elif where is not None:
            self.seen[disc] = (
                Disc(side, 0.0, 0.0)
                if isinstance(where, str)
                else Disc(side, where.r_mm, where.angle_deg, where.leaning)
            )
        if disc in self.fouled:
            if where == HOLE:
                hearing.because("twenty_void", 39, disc, side)
            self.goes(disc, side, "removed_by_foul", self.fouled[disc])
        elif disc in self.restores and was is not None:
            self.restored[disc] = was.place
            hearing.because("put_back", 44, disc, side)
            return
        elif dead is not None:
            if dead == "off" and not lies_off:  # it is seen on the board, so it came back
                dead = "bounced_back"
            self.goes(disc, side, dead, DEAD_RULES[dead])
        elif lies_off:
            self.goes(disc, side, "off", 42)
        elif where == HOLE:
            self.banks(disc, side)
        else:
            self.stays(disc)
        if lies_off:
            self.off.append(disc)

    def goes(self, disc: str, side: str, code: str, rule: int) -> None:
        """A disc that is or comes into the ditch."""
        self.removed.append(disc)
        self.lying.pop(disc, None)
        self.hearing.because(code, rule, disc, side)

    def banks(self, disc: str, side: str) -> None:
        """A disc flat in the hole: 20 to its owner, whoever shot it there (rules 38, 40)."""
        self.twenties[side] += 1
        self.lift.append(disc)
        self.lying.pop(disc, None)
        own = side == self.hearing.shot.side
        self.hearing.because("twenty" if own else "twenty_for_owner", 38 if own else 40, disc, side)

    def stays(self, disc: str) -> None:
        """A disc that came to rest on the board."""
        now = self.lying[disc] = self.seen[disc]
        if now.leaning:
            self.hearing.because("leaning", 41, disc, now.side)
        if disc in self.hearing.course.crossed:
            self.hearing.because("crossed_and_came_back", 45, disc, now.side)

    def count(self) -> None:
        """What lies on the board scores, or goes because of the outer line (rules 5, 41, 42, 46, 47)."""
        l15_mm, l10_mm, l5_mm, clear_mm = zone_limits(self.hearing.board)
        points = self.points
        beyond = []
        for disc, now in self.lying.items():
            r_mm = now.r_mm
            if r_mm < l15_mm or now.leaning:
                points[now.side] += 15
            elif r_mm < l10_mm:
                points[now.side] += 10
            elif r_mm < l5_mm:
                points[now.side] += 5
            else:
                beyond.append((disc, now))
        for disc, now in beyond:
            if now.r_mm <= clear_mm:
                self.goes(disc, now.side, "on_the_outer_line", 46)
            elif self.hearing.ruleset.lip_disc == "dead":
                self.goes(disc, now.side, "beyond_the_outer_line", 42)
            else:
                self.hearing.because("stays_on_the_lip", 5, disc, now.side)


def carry_out(hearing: Hearing, fouled: Mapping[str, int], reason: str | None) -> Verdict:
    """The verdict on a shot whose foul, if it is one, is known; ``fouled``: what it takes, each with the rule."""
    position, shot, course = hearing.position, hearing.shot, hearing.course
    carried = _Carried(hearing, fouled)
    rest = shot.rest
    lying, seen = carried.lying, carried.seen
    concerned = {*fouled, *course.dead, *carried.restores, *course.crossed}
    for disc, was in position.discs.items():
        if disc in concerned:
            carried.concerned(disc, was.side, was)
        elif disc in rest:
            where = rest[disc]
            if isinstance(where, str) or where.leaning:
                carried.concerned(disc, was.side, was)
            else:  # the common case, kept short: it moved and nothing else
                lying[disc] = seen[disc] = Disc(was.side, where.r_mm, where.angle_deg)
    carried.concerned(shot.disc, shot.side, None)
    carried.count()
    banked = {**dict.fromkeys(carried.points, 0), **position.banked}
    for side, count in carried.twenties.items():
        banked[side] += count
    removed = frozenset(carried.removed)
    return Verdict(
        valid=reason is None,
        open=hearing.is_open,
        reason=reason,
        removed=removed,
        fouled=frozenset(fouled),
        off=frozenset(carried.off),
        take_off=removed.difference(carried.off),
        lift=frozenset(carried.lift),
        restored=carried.restored,
        twenties=carried.twenties,
        banked=banked,
        board=carried.points,
        after=Position(carried.lying, banked),
        referee=False,
        reasons=tuple(hearing.reasons),
        doubts=tuple(course.doubts),
        discs=carried.seen,
    )


def undecided(hearing: Hearing, code: str, rule: int) -> Verdict:
    """People must decide; the position stays as it was and nothing is banked."""
    position = hearing.position
    zero = dict.fromkeys(sides_of(hearing.ruleset.players), 0)
    hearing.because(code, rule, hearing.shot.disc, hearing.shot.side)
    return Verdict(
        valid=None,
        open=hearing.is_open,
        reason=None,
        removed=_NONE,
        fouled=_NONE,
        off=_NONE,
        take_off=_NONE,
        lift=_NONE,
        restored={},
        twenties=zero,
        banked={**zero, **position.banked},
        board=board_points(position.discs.values(), hearing.ruleset.players, hearing.board),
        after=position,
        referee=True,
        reasons=tuple(hearing.reasons),
        doubts=tuple(hearing.course.doubts),
        discs=dict(position.discs),
    )


def board_points(discs: Iterable[Disc], players: str, board: Board = TOURNAMENT) -> dict[str, int]:
    """What discs lying on the board score, by side (rules 5, 41, 47)."""
    points: dict[str, int] = dict.fromkeys(sides_of(players), 0)
    for disc in discs:
        points[disc.side] = points.get(disc.side, 0) + (15 if disc.leaning else board.value(disc.r_mm))
    return points
