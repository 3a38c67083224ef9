"""Boards in play without an end, for measurements: the facts that beam and camera report at an ordinary table."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from hub.link.messages import (
    KIND_OF,
    BeamCandidate,
    BeamEpisode,
    Cleared,
    Colour,
    Envelope,
    Fact,
    Hand,
    Layout,
    LayoutDisc,
    Place,
    Shot,
    Source,
    encode,
)

_S = 1_000_000_000
_SHOTS = 24
_SIGMA_MM = 0.4


@dataclass(slots=True)
class BusyBoard:
    """One board whose players never tire.

    Args:
        board: its id.
        boot: of its daemons.
        seed: chooses every shot.
    """

    board: str
    boot: str
    seed: int
    _at_ns: int = 100 * _S
    _discs: list[LayoutDisc] = field(default_factory=list)
    _seq: dict[Source, int] = field(default_factory=dict)

    def envelopes(self) -> Iterator[tuple[Source, int, bytes]]:
        """Source, sequence number and encoded envelope of each fact, for ever."""
        chance = random.Random(self.seed)  # noqa: S311 - a game, not a secret
        for number in range(1, 1_000_000):
            for source, fact in self._round(chance, number):
                yield self._envelope(source, fact)

    def _envelope(self, source: Source, fact: Fact) -> tuple[Source, int, bytes]:
        seq = self._seq[source] = self._seq.get(source, 0) + 1
        envelope = Envelope(
            board=self.board,
            source=source,
            machine_boot="bench",
            boot=self.boot,
            first=1,
            seq=seq,
            mono_ns=self._at_ns,
            sent_ns=self._at_ns,
            wall_ms=1_800_000_000_000 + self._at_ns // 1_000_000,
            synced=True,
            kind=KIND_OF[type(fact)],
            body=msgspec.Raw(encode(fact)),
        )
        return source, seq, encode(envelope)

    def _round(self, chance: random.Random, number: int) -> Iterator[tuple[Source, Fact]]:
        for shot in range(_SHOTS):
            colour: Colour = "light" if (shot + number) % 2 else "dark"
            yield from self._shot(chance, f"r{number}s{shot}", colour)
        self._discs.clear()
        yield "camera", Hand(self._later(2.0), present=True)
        yield "camera", Layout(self._later(0.5), ())
        yield "camera", Cleared(self._at_ns)

    def _shot(self, chance: random.Random, disc: str, colour: Colour) -> Iterator[tuple[Source, Fact]]:
        """Hand away, flick, an opposing disc is struck and leaves or stays; now and then a 20."""
        yield "camera", Hand(self._later(4.0), present=False)
        start_ns = self._later(0.5)
        theirs = [lying for lying in self._discs if lying.colour != colour]
        events: list[tuple[str, ...]] = []
        rest: dict[str, Place | str] = {}
        if theirs:
            struck = chance.choice(theirs)
            events.append(("hit", disc, struck.id))
            self._discs.remove(struck)
            if len(self._discs) > 8 or chance.random() < 0.3:
                events.append(("off", struck.id))
                rest[struck.id] = "ditch"
            else:
                moved = self._resting(chance, struck.id, struck.colour)
                rest[struck.id] = _place(moved)
        twenty = chance.random() < 0.15
        if twenty:
            events.append(("hole", disc))
            rest[disc] = "hole"
            yield "beam", BeamCandidate(self._seq.get("beam", 0) + 1, self._at_ns, self._at_ns + _S // 5)
        else:
            rest[disc] = _place(self._resting(chance, disc, colour, within_mm=100.0 if not theirs else 280.0))
        placed = Place(304.8, 0.0 if colour == "light" else 180.0)
        shot = Shot(disc, colour, placed, tuple(events), rest, start_ns, self._later(1.5))  # type: ignore[arg-type]  # rests
        yield "camera", shot
        if twenty:
            lying = LayoutDisc(disc, colour, 0.2, 0.1, _SIGMA_MM, "hole")
            yield "camera", Layout(self._later(0.2), (*self._discs, lying))
            yield "beam", BeamEpisode(self._seq.get("beam", 1), self._at_ns, 1800.0, 0)
        yield "camera", Layout(self._later(0.2), tuple(self._discs))

    def _resting(self, chance: random.Random, disc: str, colour: Colour, *, within_mm: float = 280.0) -> LayoutDisc:
        """Put a disc where it touches no other."""
        while True:
            r_mm, angle = chance.uniform(50.0, within_mm), chance.uniform(0, 2 * math.pi)
            x_mm, y_mm = r_mm * math.sin(angle), r_mm * math.cos(angle)
            if all(math.hypot(x_mm - other.x_mm, y_mm - other.y_mm) > 34 for other in self._discs):
                lying = LayoutDisc(disc, colour, x_mm, y_mm, _SIGMA_MM)
                self._discs.append(lying)
                return lying

    def _later(self, s: float) -> int:
        self._at_ns += round(s * _S)
        return self._at_ns


def _place(disc: LayoutDisc) -> Place:
    return Place(math.hypot(disc.x_mm, disc.y_mm), math.degrees(math.atan2(-disc.x_mm, -disc.y_mm)) % 360)
