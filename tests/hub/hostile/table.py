"""A true table: discs and shots without physics, judged by the rules; what really happened."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hardware.board import TOURNAMENT, to_polar
from hub.rules.position import Disc, Event, Place, Position, Rest, Shot
from hub.rules.ruleset import Ruleset
from hub.rules.shot import judge_shot
from hub.rules.verdict import Verdict

LIMITS_MM = TOURNAMENT.limits_mm
OPEN_MM = TOURNAMENT.touches_15_mm
APART_MM = 33.0
ANY_NUMBER = 1000


@dataclass(frozen=True)
class TrueDisc:
    """A disc on the board: on the surface, leaning in the hole or flat in it."""

    id: str
    side: str
    x_mm: float
    y_mm: float
    where: str = "surface"

    @property
    def r_mm(self) -> float:
        return math.hypot(self.x_mm, self.y_mm)

    @property
    def value(self) -> int:
        return TOURNAMENT.value(self.r_mm)

    @property
    def place(self) -> Place:
        r_mm, angle_deg = to_polar(self.x_mm, self.y_mm)
        return Place(r_mm, angle_deg, self.where == "leaning")


@dataclass(frozen=True)
class Luck:
    """How often shots end in a way that is hard to judge.

    Of the twin's discs one in ten comes to rest within 2 mm of a line (31 of the 312 shots of 13 rounds); with
    ``line``, for those that are put within 1 mm of one, one in eight does here.
    """

    foul: float = 0.15
    twenty: float = 0.25
    opponents_twenty: float = 0.1
    leaner: float = 0.035
    line: float = 0.08
    graze: float = 0.006
    near_miss: float = 0.006


@dataclass
class Taken:
    """A shot that was taken, with its verdict."""

    number: int
    shot: Shot
    verdict: Verdict
    grazed: tuple[str, ...]
    near: tuple[str, ...]

    @property
    def twenty_side(self) -> str:
        return next((side for side, count in self.verdict.twenties.items() if count), "none")


@dataclass
class TrueTable:
    """What really lies on one board, and what the rules have made of the round so far."""

    ruleset: Ruleset
    rng: random.Random
    luck: Luck
    discs: dict[str, TrueDisc] = field(default_factory=dict)
    twenties: dict[str, int] = field(default_factory=dict)
    shots: list[Taken] = field(default_factory=list)
    serial: int = 0

    def begin(self) -> None:
        self.discs, self.shots = {}, []
        self.twenties = {"A": 0, "B": 0}

    def totals(self) -> dict[str, int]:
        totals = {side: 20 * count for side, count in self.twenties.items()}
        for disc in self.discs.values():
            if disc.where != "hole":
                totals[disc.side] += disc.value
        return totals

    def in_hole(self) -> list[TrueDisc]:
        return [disc for disc in self.discs.values() if disc.where in {"hole", "leaning"}]

    def shoot(self, side: str, seat: int) -> Taken:
        """One shot: what it touches, where everything ends, what the rules say."""
        self.serial += 1
        name = f"{side}{self.serial}"
        position = Position({d.id: Disc(d.side, *self._place(d)) for d in self.discs.values() if d.where != "hole"})
        events: list[Event] = []
        rest: dict[str, Rest] = {}
        theirs = [d for d in self.discs.values() if d.side != side and d.where != "hole"]
        mine = [d for d in self.discs.values() if d.side == side and d.where != "hole"]
        foul = self.rng.random() < self.luck.foul
        grazed: tuple[str, ...] = ()
        near: tuple[str, ...] = ()
        if theirs and not foul:
            target = self.rng.choice(theirs)
            events.append(("hit", name, target.id))
            if self.rng.random() < self.luck.graze and target.where == "surface":
                grazed = (target.id,)
            else:
                self._struck(target, events, rest, self.luck.opponents_twenty)
                others = [d for d in self.discs.values() if d.id not in rest and d.where == "surface"]
                if others and self.rng.random() < 0.25:
                    other = self.rng.choice(others)
                    events.append(("hit", target.id, other.id))
                    self._struck(other, events, rest, 0.0)
        elif theirs:
            if mine and self.rng.random() < 0.4:
                own = self.rng.choice(mine)
                events.append(("hit", name, own.id))
                self._struck(own, events, rest, 0.1)
            if self.rng.random() < self.luck.near_miss:
                near = (self.rng.choice(theirs).id,)
        self._shooter(TrueDisc(name, side, 0.0, 0.0), events, rest, open_shot=not theirs, foul=foul)
        shot = Shot(side, seat, name, tuple(events), rest)
        verdict = judge_shot(position, shot, self.ruleset, TOURNAMENT, dealt={"A": ANY_NUMBER, "B": ANY_NUMBER})
        taken = Taken(len(self.shots) + 1, shot, verdict, grazed, near)
        self.shots.append(taken)
        for owner, count in verdict.twenties.items():
            self.twenties[owner] += count
        return taken

    def _place(self, disc: TrueDisc) -> tuple[float, float, bool]:
        return disc.place.r_mm, disc.place.angle_deg, disc.where == "leaning"

    def _struck(self, disc: TrueDisc, events: list[Event], rest: dict[str, Rest], twenty: float) -> None:
        """Where a disc goes that was hit."""
        was_leaning = disc.where == "leaning"
        free = not [d for d in self.in_hole() if d.id != disc.id]
        chance = self.rng.random()
        if free and (chance < twenty or (was_leaning and chance < 0.6)):
            events.append(("hole", disc.id))
            self._lies(replace(disc, where="hole"), rest)
        elif free and chance < twenty + self.luck.leaner and not was_leaning:
            self._lies(replace(disc, where="leaning"), rest)
        elif chance > 0.65:
            self._gone(disc, events, rest)
        else:
            self._lies(self._somewhere(disc), rest)

    def _shooter(
        self, disc: TrueDisc, events: list[Event], rest: dict[str, Rest], *, open_shot: bool, foul: bool
    ) -> None:
        free = not self.in_hole()
        chance = self.rng.random()
        if open_shot and foul:
            if chance < 0.2:
                self._gone(disc, events, rest)
            else:
                self._lies(self._somewhere(disc, OPEN_MM + 2.0), rest)
        elif free and chance < self.luck.twenty:
            events.append(("hole", disc.id))
            self._lies(replace(disc, where="hole"), rest)
        elif free and chance < self.luck.twenty + self.luck.leaner:
            self._lies(replace(disc, where="leaning"), rest)
        elif open_shot:
            self._lies(self._somewhere(disc, 42.0, OPEN_MM - 2.0), rest)
        elif chance > 0.85:
            self._gone(disc, events, rest)
        else:
            self._lies(self._somewhere(disc), rest)

    def _gone(self, disc: TrueDisc, events: list[Event], rest: dict[str, Rest]) -> None:
        events.append(("off", disc.id))
        self.discs.pop(disc.id, None)
        rest[disc.id] = "ditch"

    def _lies(self, disc: TrueDisc, rest: dict[str, Rest]) -> None:
        if disc.where != "surface":
            off_mm = (
                self.rng.uniform(0.0, TOURNAMENT.hole_play_mm) if disc.where == "hole" else self.rng.uniform(4.7, 10)
            )
            a = self.rng.uniform(0, 2 * math.pi)
            disc = replace(disc, x_mm=off_mm * math.cos(a), y_mm=off_mm * math.sin(a))
        self.discs[disc.id] = disc
        rest[disc.id] = "hole" if disc.where == "hole" else disc.place

    def _somewhere(self, disc: TrueDisc, low_mm: float = 42.0, high_mm: float = 296.0) -> TrueDisc:
        """A free place; now and then just at a line."""
        others = [d for d in self.discs.values() if d.id != disc.id]
        while True:
            r_mm = self.rng.uniform(low_mm, high_mm)
            if self.rng.random() < self.luck.line:
                r_mm = self.rng.choice(LIMITS_MM) + self.rng.uniform(-1.0, 1.0)
            a = self.rng.uniform(0, 2 * math.pi)
            there = replace(disc, x_mm=r_mm * math.cos(a), y_mm=r_mm * math.sin(a), where="surface")
            if low_mm <= r_mm <= high_mm and self.has_room(there, others):
                return there

    def has_room(self, disc: TrueDisc, others: Iterable[TrueDisc]) -> bool:
        return all(math.dist((disc.x_mm, disc.y_mm), (d.x_mm, d.y_mm)) > APART_MM for d in others)

    def push(self, disc: TrueDisc, most_mm: float) -> TrueDisc:
        """A hand pushes a disc a little, not over the outer line."""
        for _ in range(50):
            a, by_mm = self.rng.uniform(0, 2 * math.pi), self.rng.uniform(3.0, most_mm)
            there = replace(disc, x_mm=disc.x_mm + by_mm * math.cos(a), y_mm=disc.y_mm + by_mm * math.sin(a))
            others = [d for d in self.discs.values() if d.id != disc.id]
            if 40.0 < there.r_mm < LIMITS_MM[2] - 2.0 and self.has_room(there, others):
                self.discs[disc.id] = there
                return there
        return disc
