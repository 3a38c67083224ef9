"""Camera and beam of a true table: facts with the errors that the readers really have."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from hardware.board import to_polar
from hub.link.messages import (
    BeamCandidate,
    BeamEpisode,
    BeamFault,
    BeamWithdrawn,
    Cleared,
    Colour,
    Doubt,
    Fact,
    Layout,
    LayoutDisc,
    Place,
    Shot,
)
from tests.hub.hostile.table import Taken, TrueDisc, TrueTable

S = 1_000_000_000
COLOUR: dict[str, Colour] = {"A": "light", "B": "dark"}
Send = Callable[[str, Fact, int], None]


@dataclass(frozen=True)
class Errors:
    """How often and how much the sensors err; the defaults are what the twin's camera and beam show.

    Attributes:
        sigma_mm: range of the standard deviation that the camera states for a disc's place: nine in ten of a game.
        honest: the true standard deviation as a share of the stated one; where the stated 95 % cover 97.8 %, as
            measured of the reader (docs/vision.md), it is 0.86.
        hole_doubt: a disc flat in the hole is said perhaps to lean.
        outlier: a disc flat in the hole is seen, in doubt, where only a leaner lies.
        no_layout: the layout after a shot does not come.
        unseen: a shot is not reported, only its layout.
        swapped: two discs of a colour have changed names after a hand was there.
        renamed: the camera starts anew and names all discs anew.
        beam_late: the beam's facts come after the next shot.
        beam_blind: the beam does not notice a disc in the hole.
        chatter: the beam's receiver flickers for some seconds.
    """

    sigma_mm: tuple[float, float] = (0.09, 0.17)
    honest: float = 0.86
    hole_doubt: float = 0.003
    outlier: float = 0.002
    no_layout: float = 0.01
    unseen: float = 0.001
    swapped: float = 0.01
    renamed: float = 0.002
    beam_late: float = 0.03
    beam_blind: float = 0.0
    chatter: float = 0.01


@dataclass
class Sensors:
    """Tells the hub what happens at a true table, not quite as it is.

    Args:
        table: the truth.
        send: takes ``(source, fact, at_ns)``.
        rng: chooses the errors.
        errors: how often they come.
    """

    table: TrueTable
    send: Send
    rng: random.Random
    errors: Errors
    at_ns: int = 100 * S
    names: dict[str, str] = field(default_factory=dict)
    seen: dict[str, LayoutDisc] = field(default_factory=dict)
    episode: int = 0
    serial: int = 0
    blocked_ns: int = 0
    held: list[tuple[int, Fact, int]] = field(default_factory=list)
    chattering: bool = False

    def wait(self, s: float) -> int:
        self.at_ns += round(s * S)
        return self.at_ns

    def name(self, disc: str) -> str:
        if disc not in self.names:
            self.serial += 1
            self.names[disc] = f"d{self.serial}"
        return self.names[disc]

    def original(self, name: str) -> str:
        """The true disc that the camera calls so, or called so once."""
        return next((true for true, told in self.names.items() if told == name), name)

    # ---- camera

    def look(self, disc: TrueDisc) -> LayoutDisc:
        """A disc as the camera sees it since it came to rest."""
        name = self.name(disc.id)
        known = self.seen.get(disc.id)
        if known is None or known.id != name:
            sigma_mm = self.rng.uniform(*self.errors.sigma_mm)
            noise_mm = self.errors.honest * sigma_mm
            x_mm, y_mm = disc.x_mm + self.rng.gauss(0, noise_mm), disc.y_mm + self.rng.gauss(0, noise_mm)
            state = "flat"
            if disc.where != "surface":
                x_mm, y_mm, state = self._at_hole(disc)
            if known is not None:  # another name for a disc that lies where it lay
                x_mm, y_mm, state, sigma_mm = known.x_mm, known.y_mm, known.state, known.sigma_mm
            self.seen[disc.id] = LayoutDisc(name, COLOUR[disc.side], x_mm, y_mm, sigma_mm, state)  # type: ignore[arg-type]
        return self.seen[disc.id]

    def _at_hole(self, disc: TrueDisc) -> tuple[float, float, str]:
        """A leaner looks nearer to the middle than it is; a flat disc further away from it."""
        if disc.where == "leaning":
            off_mm = max(1.7, disc.r_mm - self.rng.uniform(0.7, 1.9))
            state = "leaning" if off_mm > 3.9 or self.rng.random() < 0.2 else "hole"
        else:
            off_mm, state = disc.r_mm + abs(self.rng.gauss(0, 0.3)), "hole"
            if self.rng.random() < self.errors.outlier:
                off_mm = self.rng.uniform(3.3, 3.9)
        share = off_mm / max(disc.r_mm, 0.01)
        return disc.x_mm * share, disc.y_mm * share, state

    def layout(self) -> None:
        discs = tuple(self.look(disc) for disc in self.table.discs.values())
        at_ns = self.wait(0.3)
        self.send("camera", Layout(at_ns, discs), at_ns)
        if not discs:
            self.send("camera", Cleared(at_ns), at_ns)

    def hand_was_there(self) -> None:
        """After a hand the camera may have mixed up discs, or have started anew."""
        lying = [disc for disc in self.table.discs.values() if disc.where == "surface"]
        if self.rng.random() < self.errors.renamed:
            for disc in self.table.discs.values():
                self.serial += 1
                self.names[disc.id] = f"d{self.serial}"
        elif len(lying) > 1 and self.rng.random() < self.errors.swapped:
            one = self.rng.choice(lying)
            same = [disc for disc in lying if disc.side == one.side and disc.id != one.id]
            if same:
                other = self.rng.choice(same)
                self.names[one.id], self.names[other.id] = self.name(other.id), self.name(one.id)

    def shot(self, taken: Taken, start_ns: int, *, layout_follows: bool) -> None:
        """The camera's report of a shot, with what it cannot tell; unseen is only one whose layout it tells then."""
        shot = taken.shot
        for disc in shot.rest:
            self.seen.pop(disc, None)
        places = {disc: self.look(self.table.discs[disc]) for disc in shot.rest if disc in self.table.discs}
        rest = {self.name(disc): self._rest(disc, where, places) for disc, where in shot.rest.items()}
        events = [tuple(event) for event in shot.events if not self._mistold(event, places)]
        events += [("hole", d) for d, at in places.items() if at.state == "hole" and ("hole", d) not in events]
        if taken.near and self.rng.random() < 0.5:
            events.append(("hit", shot.disc, taken.near[0]))
        if taken.grazed and self.rng.random() < 0.5:
            events.remove(("hit", shot.disc, taken.grazed[0]))
        doubts = [*self._hole_doubts(shot.rest, events), *self._contact_doubts(taken, events)]
        fact = Shot(
            disc=self.name(shot.disc),
            colour=COLOUR[shot.side],
            placed=Place(304.8 + self.rng.gauss(0, 0.3), 90.0 * (shot.seat - 1) + self.rng.uniform(-40, 40)),
            events=self._told(events),
            rest=rest,  # type: ignore[arg-type]
            start_ns=start_ns,
            end_ns=self.at_ns,
            doubts=tuple(doubts),
        )
        stays = any(disc.id not in shot.rest for disc in self.table.discs.values())
        tells = layout_follows and stays and shot.disc in self.table.discs and taken.verdict.valid
        if tells and self.rng.random() < self.errors.unseen:
            return
        self.send("camera", fact, self.wait(0.2))

    def _rest(self, disc: str, where: object, places: dict[str, LayoutDisc]) -> Place | str:
        if where == "ditch" or disc not in places:
            return "ditch"
        at = places[disc]
        if at.state == "hole":
            return "hole"
        r_mm, angle_deg = to_polar(at.x_mm, at.y_mm)
        return Place(r_mm, angle_deg, at.state == "leaning")

    def _mistold(self, event: tuple[str, ...], places: dict[str, LayoutDisc]) -> bool:
        """A fall into the hole of a disc that is seen to lean."""
        return event[0] == "hole" and event[1] in places and places[event[1]].state == "leaning"

    def _hole_doubts(self, rest: object, events: list[tuple[str, ...]]) -> list[Doubt]:
        doubts: list[Doubt] = []
        for disc in self.table.discs.values():
            if disc.where == "surface" or disc.id not in rest:  # type: ignore[operator]
                continue
            at = self.look(disc)
            off_mm = math.hypot(at.x_mm, at.y_mm)
            wrong = (at.state == "leaning") != (disc.where == "leaning")
            if wrong or 3.0 < off_mm < 4.2 or self.rng.random() < self.errors.hole_doubt:
                fell = ("hole", disc.id)
                other = [e for e in events if e != fell] if fell in events else [*events, fell]
                doubts.append(Doubt("leaner", (at.id,), (self._told(events), self._told(other))))
        return doubts

    def _contact_doubts(self, taken: Taken, events: list[tuple[str, ...]]) -> list[Doubt]:
        discs = taken.grazed or taken.near
        if not discs:
            return []
        hit = ("hit", taken.shot.disc, discs[0])
        other = [e for e in events if e != hit] if hit in events else [hit, *events]
        return [Doubt("contact", (self.name(discs[0]),), (self._told(events), self._told(other)))]

    def _told(self, events: list[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
        return tuple((event[0], *(self.name(disc) for disc in event[1:])) for event in events)

    # ---- beam

    def beam(self, fact: Fact, at_ns: int) -> None:
        """The beam's word at once, or after the next shot."""
        if self.held or self.rng.random() < self.errors.beam_late:
            self.held.append((len(self.table.shots), fact, at_ns))
        else:
            self.send("beam", fact, at_ns)

    def catch_up(self, *, all_of_it: bool = False) -> None:
        """What was held back for a shot comes now."""
        while self.held and (all_of_it or self.held[0][0] < len(self.table.shots)):
            _, fact, at_ns = self.held.pop(0)
            self.send("beam", fact, at_ns)

    def blocked(self, at_ns: int) -> None:
        """A disc has come into the hole."""
        if self.blocked_ns or self.chattering or self.rng.random() < self.errors.beam_blind:
            return
        self.episode += 1
        self.blocked_ns = at_ns
        self.beam(BeamCandidate(self.episode, at_ns, at_ns + S // 5), at_ns + S // 5)

    def clear(self) -> None:
        """Nothing is in the hole any more."""
        if self.blocked_ns:
            dwell_ms = (self.at_ns - self.blocked_ns) / 1e6
            self.beam(BeamEpisode(self.episode, self.blocked_ns, dwell_ms, 0), self.at_ns)
            self.blocked_ns = 0

    def finger(self) -> None:
        """Somebody pokes into the empty hole."""
        if not self.blocked_ns:
            self.blocked(self.wait(0.5))
            self.wait(0.6)
            self.clear()
            self.wait(0.4)

    def chatter(self) -> None:
        """The receiver flickers: what it called is withdrawn, and for some seconds it tells nothing."""
        if self.blocked_ns:
            return
        self.episode += 1
        at_ns = self.wait(0.3)
        self.beam(BeamCandidate(self.episode, at_ns, at_ns + S // 5), at_ns + S // 5)
        self.beam(BeamFault("chatter", at_ns + S, over=False), self.wait(1.0))
        self.beam(BeamWithdrawn(self.episode, "chatter"), self.at_ns)
        self.chattering = True

    def calm(self) -> None:
        """The flicker is over, after five quiet seconds."""
        if self.chattering:
            self.chattering = False
            self.beam(BeamFault("chatter", self.at_ns, over=True), self.at_ns)
