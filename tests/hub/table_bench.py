"""One board with a club around it, and hands that make its facts: what the hard moments are told with."""

from __future__ import annotations

import math
from typing import Any

from hub.link.messages import BeamCandidate, Cleared, Doubt, Layout, LayoutDisc, Place, Shot
from hub.link.snapshot import Table
from tests.hub.harness import Club, S

COLOUR = {"A": "light", "B": "dark"}


class Bench:
    """One board with a club around it, and hands that make its facts."""

    def __init__(self, club: Club) -> None:
        self.club = club
        self.at_ns = 100 * S
        self.discs: dict[str, LayoutDisc] = {}
        self.serial = 0
        self.episode = 0

    @property
    def table(self) -> Table:
        return self.club.table()

    def start(self, level: str = "judge", rules: str = "match-play", **more: Any) -> None:
        assert self.club.ask("start", {"rules": rules, "level": level, **more}).ok

    def later(self, s: float = 1.0) -> int:
        self.at_ns += round(s * S)
        return self.at_ns

    def layout(self, *, unseen: tuple[str, ...] = ()) -> None:
        at_ns = self.later()
        seen = tuple(disc for disc in self.discs.values() if disc.id not in unseen)
        self.club.fact("camera", Layout(at_ns, seen, unseen), at_ns)
        if not self.discs:
            self.club.fact("camera", Cleared(at_ns), at_ns)

    def put(
        self, disc: str, side: str, r_mm: float, deg: float = 0.0, *, sigma_mm: float = 0.3, state: Any = "flat"
    ) -> None:
        a = math.radians(deg)
        x_mm, y_mm = -r_mm * math.sin(a), -r_mm * math.cos(a)
        self.discs[disc] = LayoutDisc(disc, COLOUR[side], x_mm, y_mm, sigma_mm, state)  # type: ignore[arg-type]

    def shoot(
        self,
        side: str,
        rest: tuple[float, float] | str,
        *events: tuple[str, ...],
        moved: dict[str, tuple[float, float] | str] | None = None,
        doubts: tuple[Doubt, ...] = (),
        beam: bool = False,
        seen_after: bool = True,
        sigma_mm: float = 0.3,
    ) -> str:
        """A shot that comes to rest at (r_mm, angle), in the hole or in the ditch; ``s`` names its disc in events."""
        self.serial += 1
        disc = f"d{self.serial}"
        start_ns = self.later(5)
        if beam:
            self.beam(start_ns + S)
        words = tuple(tuple(disc if word == "s" else word for word in event) for event in events)
        places: dict[str, Any] = {}
        for name, where in {disc: rest, **(moved or {})}.items():
            owner = side if name == disc else self.side(name)
            if isinstance(where, str):
                places[name] = where
                self.discs.pop(name, None)
                if where == "hole":
                    self.put(name, owner, 0.2, state="hole")
            else:
                places[name] = Place(*where)
                self.put(name, owner, *where, sigma_mm=sigma_mm)
        readings = tuple(
            Doubt(
                d.kind,
                d.discs,
                tuple(tuple(tuple(disc if w == "s" else w for w in e) for e in reading) for reading in d.readings),
            )
            for d in doubts
        )
        fact = Shot(disc, COLOUR[side], None, words, places, start_ns, start_ns + 2 * S, doubts=readings)  # type: ignore[arg-type]
        self.later(3)
        self.club.fact("camera", fact, self.at_ns)
        if seen_after:
            self.layout()
        return disc

    def side(self, disc: str) -> str:
        return "A" if self.discs[disc].colour == "light" else "B"

    def beam(self, start_ns: int) -> None:
        self.episode += 1
        self.club.fact("beam", BeamCandidate(self.episode, start_ns, start_ns + S // 5), start_ns + S // 5)

    def off(self, *discs: str) -> None:
        for disc in discs:
            del self.discs[disc]
        self.layout()

    def answer(self, choice: str) -> None:
        assert self.club.ask("answer", {"question": self.table.questions[0].id, "choice": choice}).ok

    def rally(self, shots: int, first: str = "A") -> None:
        """Shots of both sides that all go off, so that nothing piles up: the first disc stays as the target."""
        for number in range(shots):
            side = first if number % 2 == 0 else "AB".replace(first, "")
            targets = [d for d in self.discs if self.side(d) != side]
            if targets:
                self.shoot(
                    side, "ditch", ("hit", "s", targets[0]), ("off", "s"), moved={targets[0]: self.where(targets[0])}
                )
            elif self.discs:
                self.shoot(side, "ditch", ("off", "s"))
            else:
                self.shoot(side, (60.0, 10.0))

    def where(self, disc: str) -> tuple[float, float]:
        d = self.discs[disc]
        return (math.hypot(d.x_mm, d.y_mm), math.degrees(math.atan2(-d.x_mm, -d.y_mm)) % 360)


def twenties(bench: Bench) -> dict[str, int]:
    return {side: view.twenties for side, view in bench.table.sides.items()}


def provisional(bench: Bench) -> dict[str, int]:
    return {side: view.provisional for side, view in bench.table.sides.items()}


def clips(bench: Bench) -> list[str]:
    return [call.clip for _, call in bench.club.calls]


def close_round(bench: Bench, a_mm: float, b_mm: float, rules: str = "match-play") -> None:
    """A round that ends with A: a sure 15 and a disc at ``a_mm``; B: a disc at ``b_mm``."""
    bench.start(rules=rules)
    bench.rally(22)
    bench.shoot("A", (a_mm, 90.0), ("off", "s") if a_mm > 330 else ("peg", "s"))
    bench.shoot("B", (b_mm, 180.0), ("hit", "s", "d1"), moved={"d1": (61, 12)})
