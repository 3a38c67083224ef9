"""Players, discs and sensors without physics: whole rounds as facts, with the truth that they must lead to.

Each shot's outcome is chosen, not computed: a hit or a miss, where discs end, a 20 of either side; so what the rules
make of it is known here by construction and not by the code under test.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hub.link.messages import (
    BeamCandidate,
    BeamEpisode,
    Cleared,
    Doubt,
    Fact,
    Hand,
    Layout,
    LayoutDisc,
    Place,
    Shot,
)

S = 1_000_000_000
SIGMA_MM = 0.4
COLOUR = {"A": "light", "B": "dark", "C": "third"}
LIMITS = ((84.8, 15), (186.4, 10), (288.0, 5))


@dataclass(frozen=True)
class Disc:
    id: str
    side: str
    x_mm: float
    y_mm: float

    @property
    def r_mm(self) -> float:
        return math.hypot(self.x_mm, self.y_mm)

    @property
    def place(self) -> Place:
        return Place(self.r_mm, math.degrees(math.atan2(-self.x_mm, -self.y_mm)) % 360)

    @property
    def value(self) -> int:
        return next((points for limit_mm, points in LIMITS if self.r_mm < limit_mm), 0)


@dataclass
class Flight:
    """One shot on its way."""

    id: str
    side: str
    foul: bool
    events: list[tuple[str, ...]] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)
    holed: Disc | None = None
    struck_own: list[Disc] = field(default_factory=list)


@dataclass
class Truth:
    """What a round came to."""

    totals: dict[str, int]
    twenties: dict[str, int]
    fouls: int = 0
    fouled_twenties: int = 0
    opponents_twenties: int = 0


@dataclass
class Habits:
    """How likely players and sensors are to make the hub's life hard; probabilities by shot."""

    foul: float = 0.2
    twenty: float = 0.25
    opponents_twenty: float = 0.1
    line: float = 0.1
    lift_late: float = 0.0
    leave_foul: float = 0.0
    finger: float = 0.0
    contact_doubt: float = 0.0
    beam_blind: float = 0.0
    nudge: float = 0.0
    episode_ends: float = 0.5
    unseen_shot: float = 0.0
    fast_sweep: float = 0.0
    camera_restart: float = 0.0


Send = Callable[[str, Fact, int], None]


@dataclass
class World:
    """One board and its two players.

    Args:
        send: takes ``(source, fact, at_ns)``.
        rng: chooses everything.
        habits: of players and sensors.
        dealt: discs of each side.
        sides: who plays.
    """

    send: Send
    rng: random.Random
    habits: Habits = field(default_factory=Habits)
    dealt: int = 12
    sides: str = "AB"
    at_ns: int = 100 * S
    serial: int = 0
    seat: int = 1
    episode: int = 0
    discs: list[Disc] = field(default_factory=list)
    hole: Disc | None = None
    twenties: dict[str, int] = field(default_factory=dict)
    valid: dict[int, bool] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)
    shots: int = 0
    truth: Truth | None = None
    swept: list[Disc] = field(default_factory=list)

    def start_round(self) -> None:
        self.discs = []
        self.hole = None
        self.shots = 0
        self.twenties = dict.fromkeys(self.sides, 0)
        self.valid = {}
        self.owners = {}
        self.truth = Truth({}, self.twenties)

    def wait(self, s: float) -> int:
        self.at_ns += round(s * S)
        return self.at_ns

    def layout(self) -> None:
        discs = [LayoutDisc(d.id, COLOUR[d.side], d.x_mm, d.y_mm, SIGMA_MM) for d in self.discs]
        if self.hole is not None:
            discs.append(LayoutDisc(self.hole.id, COLOUR[self.hole.side], 0.3, -0.2, SIGMA_MM, "hole"))
        at_ns = self.wait(0.3)
        self.send("camera", Layout(at_ns, tuple(discs)), at_ns)
        if not discs:
            self.send("camera", Cleared(at_ns), at_ns)

    def clear(self) -> None:
        """Hands take everything off."""
        self.wait(2.0)
        self.swept = list(self.discs)
        some = [d for d in self.discs if self.rng.random() < 0.5]
        if some and len(some) < len(self.discs):
            self.discs = some
            self.hole = None
            self.layout()
        self.discs, self.hole = [], None
        self.layout()

    def lift(self) -> None:
        if self.hole is not None:
            self.hole = None
            self.layout()

    def free_place(self, near_mm: tuple[float, float]) -> tuple[float, float]:
        """A place that touches no disc, at a radius of the given range."""
        while True:
            r_mm, a = self.rng.uniform(*near_mm), self.rng.uniform(0, 2 * math.pi)
            x_mm, y_mm = r_mm * math.cos(a), r_mm * math.sin(a)
            far = all(math.hypot(d.x_mm - x_mm, d.y_mm - y_mm) > 40 for d in self.discs)
            if far and r_mm > 40:
                return x_mm, y_mm

    def clear_radius(self, low_mm: float, high_mm: float) -> tuple[float, float]:
        """A place not too close to any limit to call, unless the player is unlucky."""
        while True:
            x_mm, y_mm = self.free_place((low_mm, high_mm))
            r_mm = math.hypot(x_mm, y_mm)
            if all(abs(r_mm - limit_mm) > 3 * SIGMA_MM for limit_mm, _ in LIMITS) and abs(r_mm - 118.4) > 2:
                return x_mm, y_mm

    def resting(self, low_mm: float = 42.0, high_mm: float = 286.0) -> tuple[float, float]:
        if self.rng.random() < self.habits.line:
            limit_mm = self.rng.choice(LIMITS[:2])[0]
            return self.free_place((limit_mm - 1.5 * SIGMA_MM, limit_mm + 1.5 * SIGMA_MM))
        return self.clear_radius(low_mm, high_mm)

    def shoot(self, side: str, seat: int = 0) -> None:
        """One shot, its facts and its truth; from seat 1 or 3 unless another is named."""
        self.seat = seat or (1 if side == "A" else 3)
        self.shots += 1
        if self.hole is not None and self.rng.random() >= self.habits.lift_late:
            self.lift()
        if self.rng.random() < self.habits.finger:
            self.beam(self.wait(0.5))
        self.wait(3.0)
        self.serial += 1
        start_ns = self.wait(0.1)
        flight = Flight(f"d{self.serial}", side, foul=self.rng.random() < self.habits.foul)
        theirs = [d for d in self.discs if d.side != side]
        self.strike(flight, theirs)
        self.come_to_rest(flight, theirs)
        self.valid[self.shots] = not flight.foul
        if flight.holed is not None:
            self.owners[self.shots] = "none" if flight.foul else flight.holed.side
            if self.rng.random() >= self.habits.beam_blind:
                self.beam(start_ns + round(0.6 * S))
        self.report(flight, theirs, start_ns)
        self.aftermath(flight)

    def strike(self, flight: Flight, theirs: list[Disc]) -> None:
        """What the shot disc touches, and where that goes."""
        rng = self.rng
        mine = [d for d in self.discs if d.side == flight.side]
        if theirs and not flight.foul:
            target = rng.choice(theirs)
            flight.events.append(("hit", flight.id, target.id))
            self.discs.remove(target)
            if rng.random() < self.habits.opponents_twenty and self.hole is None:
                flight.events.append(("hole", target.id))
                flight.rest[target.id] = "hole"
                flight.holed = target
            elif rng.random() < 0.5:
                flight.events.append(("off", target.id))
                flight.rest[target.id] = "ditch"
            else:
                x_mm, y_mm = self.resting()
                there = replace(target, x_mm=x_mm, y_mm=y_mm)
                self.discs.append(there)
                flight.rest[target.id] = there.place
        elif theirs and mine and rng.random() < 0.5:
            own = rng.choice(mine)
            flight.struck_own.append(own)
            flight.events.append(("hit", flight.id, own.id))
            flight.rest[own.id] = own.place

    def come_to_rest(self, flight: Flight, theirs: list[Disc]) -> None:
        """Where the shot disc ends: in the hole, off the board or on it."""
        rng = self.rng
        wants_twenty = rng.random() < self.habits.twenty and self.hole is None and flight.holed is None
        if theirs:
            x_mm, y_mm = self.resting()
        else:
            x_mm, y_mm = self.clear_radius(122.0, 286.0) if flight.foul else self.clear_radius(42.0, 116.0)
        moved = self.apart(Disc(flight.id, flight.side, x_mm, y_mm))
        if wants_twenty and (theirs or not flight.foul):
            flight.events.append(("hole", flight.id))
            flight.rest[flight.id] = "hole"
            flight.holed = moved
        elif rng.random() < 0.1 and (theirs or flight.foul):
            flight.events.append(("off", flight.id))
            flight.rest[flight.id] = "ditch"
        else:
            flight.rest[flight.id] = moved.place
            self.discs.append(moved)

    def report(self, flight: Flight, theirs: list[Disc], start_ns: int) -> None:
        """What the camera tells of it."""
        end_ns = self.wait(1.6)
        doubts: tuple[Doubt, ...] = ()
        if theirs and self.rng.random() < self.habits.contact_doubt:
            doubts = self.contact_doubt(flight, theirs)
        shot = Shot(
            disc=flight.id,
            colour=COLOUR[flight.side],
            placed=Place(304.8, 90.0 * (self.seat - 1)),
            events=tuple(flight.events),
            rest=flight.rest,
            start_ns=start_ns,
            end_ns=end_ns,
            doubts=doubts,
        )
        if flight.holed is not None:
            self.hole = flight.holed
            self.discs = [d for d in self.discs if d.id != flight.holed.id]
        if flight.holed is not None or self.rng.random() >= self.habits.unseen_shot:
            self.send("camera", shot, self.wait(0.3))
        if self.shots < len(self.sides) * self.dealt or flight.foul or self.rng.random() >= self.habits.fast_sweep:
            self.layout()

    def aftermath(self, flight: Flight) -> None:
        """What the players do about it."""
        assert self.truth is not None
        if flight.foul:
            self.truth.fouls += 1
            self.truth.fouled_twenties += flight.holed is not None
            self.take_off({flight.id, *(d.id for d in flight.struck_own)})
        elif flight.holed is not None:
            self.twenties[flight.holed.side] += 1
            self.truth.opponents_twenties += flight.holed.side != flight.side
        if self.rng.random() < self.habits.nudge and self.discs:
            self.nudge()
        if self.rng.random() < self.habits.camera_restart:
            self.rename()

    def apart(self, disc: Disc) -> Disc:
        """The disc itself if it touches no other, else one beside, at the same radius class."""
        for _ in range(200):
            if all(math.hypot(d.x_mm - disc.x_mm, d.y_mm - disc.y_mm) > 34 for d in self.discs):
                return disc
            a = self.rng.uniform(0, 2 * math.pi)
            disc = replace(disc, x_mm=disc.r_mm * math.cos(a), y_mm=disc.r_mm * math.sin(a))
        return disc

    def contact_doubt(self, flight: Flight, theirs: list[Disc]) -> tuple[Doubt, ...]:
        """The camera cannot tell whether an opposing disc was grazed."""
        events = tuple(flight.events)
        if flight.foul:
            grazed = (*events, ("hit", flight.id, theirs[0].id))
            return (Doubt("contact", (flight.id,), (events, grazed)),)
        missed = tuple(e for e in events if not (e[0] == "hit" and e[2] in {d.id for d in theirs}))
        if any(e[0] in {"off", "hole"} and e[1] != flight.id for e in events):
            return ()
        return (Doubt("contact", (flight.id,), (missed, events)),)

    def take_off(self, fouled: set[str]) -> None:
        """The shooter's hand takes the discs of a foul away, or they are forgotten and play goes on."""
        on_board = [d for d in self.discs if d.id in fouled]
        last = self.shots == len(self.sides) * self.dealt  # after it nobody can shoot on, so the verdict stands
        if on_board and not last and self.rng.random() < self.habits.leave_foul:
            return
        self.discs = [d for d in self.discs if d.id not in fouled]
        in_hole = self.hole is not None and self.hole.id in fouled
        if in_hole:
            self.hole = None
        if on_board or in_hole:
            self.send("camera", Hand(self.wait(0.5), present=True), self.at_ns)
            self.wait(1.0)
            self.layout()

    def beam(self, start_ns: int) -> None:
        self.episode += 1
        at_ns = start_ns + round(0.2 * S)
        self.send("beam", BeamCandidate(self.episode, start_ns, at_ns), at_ns)
        if self.rng.random() < self.habits.episode_ends:
            self.send("beam", BeamEpisode(self.episode, start_ns, 900.0, 0), at_ns + S)

    def nudge(self) -> None:
        """A sleeve pushes a disc; nobody minds, it counts where it lies."""
        disc = self.rng.choice(self.discs)
        self.discs.remove(disc)
        x_mm, y_mm = self.clear_radius(max(42.0, disc.r_mm - 8), min(286.0, disc.r_mm + 8))
        self.discs.append(replace(disc, x_mm=x_mm, y_mm=y_mm))
        self.wait(0.5)
        self.layout()

    def rename(self) -> None:
        """The camera's daemon starts anew and has forgotten all names."""
        for number, disc in enumerate(self.discs):
            self.serial += 1
            jitter_mm = self.rng.uniform(-0.05, 0.05)
            self.discs[number] = replace(disc, id=f"d{self.serial}", x_mm=disc.x_mm + jitter_mm)
        if self.hole is None:
            self.layout()

    def finish(self) -> Truth:
        """All discs are shot: what lies on the board counts."""
        assert self.truth is not None
        totals = {side: 20 * self.twenties[side] for side in self.sides}
        for disc in self.discs:
            totals[disc.side] += disc.value
        self.truth.totals = totals
        self.truth.twenties = dict(self.twenties)
        return self.truth

    def answer(self, question: Any) -> str:
        """What an honest player says."""
        if question.kind == "round":
            return "keep"
        if question.kind == "line":
            remembered = [*self.discs, *self.swept, *([self.hole] if self.hole else [])]
            disc = next(d for d in remembered if d.id == question.facts["disc"])
            return str(disc.value)
        shot = int(question.facts["shot"])
        if question.kind == "valid":
            return "yes" if self.valid[shot] else "no"
        return self.owners.get(shot, "none")
