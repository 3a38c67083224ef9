"""Courses that discs may have taken through a short time, rolled until they come out where the discs were seen.

Numbers only, no pictures.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from firmware_py.camera.motion.billiards import Body, Feel, Rolled, Table, roll
from firmware_py.camera.motion.tracker import Xy

#: Courses tried in each round of the search, and how many of the best shape the next one.
_ROUNDS = (60, 50, 40)
_ELITE = 12
#: More rounds for what has not been explained well yet, every other one anew around the best.
_LONGER = (60, 40, 60, 40, 60, 40)
_WIDEN = 0.4
#: Sightings of one frame share errors, so courses are less unlike one another than the sum of their costs says.
_DOUBT = 3.0
#: Share of the likely courses from which another cause is worth a doubt.
_RIVAL = 0.1
#: By how much bounce of disc and of peg, friction of the rims and slowing differ from board to board.
_FEEL_SPREAD = (0.05, 0.1, 0.05, 60.0)


@dataclass(frozen=True, slots=True)
class Blow:
    """A contact that the rolled courses tell.

    Attributes:
        at_ns: when.
        words: ``("hit", a, b)`` or ``("peg", a)``.
        sure: share of the likely courses that have it.
        push_mm_s: how hard.
        rivals: other discs that struck the second one first, in some of the likely courses.
    """

    at_ns: int
    words: tuple[str, ...]
    sure: float
    push_mm_s: float
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """How a disc comes into a short time, and how unsure that is.

    Attributes:
        at: its place.
        velocity: in mm/s.
        spread_mm: one standard deviation of the place.
        spread_mm_s: one standard deviation of the velocity.
        fixed: whether it lies in the hole and cannot yield.
        falls: whether it will end in the hole.
    """

    at: Xy
    velocity: Xy
    spread_mm: float
    spread_mm_s: float
    fixed: bool = False
    falls: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """A disc as it was seen: the how-manieth time and disc, the place, and one standard deviation."""

    time: int
    disc: int
    xy_mm: Xy
    sigma_mm: float


def _first_struck(told: Sequence[tuple[object, Blow]]) -> dict[str, str]:
    """Who struck each disc first."""
    first: dict[str, str] = {}
    for _, blow in told:
        if blow.words[0] == "hit":
            first.setdefault(blow.words[2], blow.words[1])
    return first


class Search:
    """Rolls courses and keeps what they came to; lives for one episode."""

    def __init__(self, entries: Sequence[Entry], table: Table, times_s: Sequence[float], seen: Sequence[Look]) -> None:
        self._entries, self._table, self._times, self._seen = entries, table, times_s, seen
        self._random = random.Random(1)  # noqa: S311 - courses are tried, nothing is secret
        self._tried: list[tuple[float, float, Rolled, tuple[float, ...]]] = []
        self._spreads: list[float] = []
        for e in entries:
            self._spreads += [e.spread_mm, e.spread_mm, e.spread_mm_s, e.spread_mm_s]
        self._spreads += _FEEL_SPREAD

    def run(self, good: float) -> None:
        """Search; longer while the best course is off by more standard deviations than is good."""
        mean = [0.0] * len(self._spreads)
        spread = list(self._spreads)
        self._roll(tuple(mean))
        for k, count in enumerate((*_ROUNDS, *_LONGER)):
            if k >= len(_ROUNDS) and self.off <= good:
                break
            if k >= len(_ROUNDS) and (k - len(_ROUNDS)) % 2 == 0:
                # Around the best so far, but not as narrowly as the search had become.
                mean, spread = list(self._best[3]), [_WIDEN * s for s in self._spreads]
            for _ in range(count):
                self._roll(tuple(self._random.gauss(m, s) for m, s in zip(mean, spread, strict=True)))
            elite = sorted(self._tried, key=lambda t: t[0])[:_ELITE]
            for p in range(len(mean)):
                values = [t[3][p] for t in elite]
                mean[p] = sum(values) / len(values)
                wide = math.sqrt(sum((v - mean[p]) ** 2 for v in values) / len(values))
                spread[p] = max(wide, 0.08 * self._spreads[p])

    @property
    def off(self) -> float:
        """How far off the sightings are from the likeliest course, in standard deviations."""
        return math.sqrt(self._best[1] / len(self._seen))

    @property
    def _best(self) -> tuple[float, float, Rolled, tuple[float, ...]]:
        return min(self._tried, key=lambda t: t[0])

    def best(self) -> Rolled:
        """How the likeliest course went."""
        return self._best[2]

    def blows(self, names: Sequence[str], begin_ns: int, end_ns: int) -> tuple[Blow, ...]:
        """The contacts of the likeliest course, with how sure they are."""
        least = min(t[0] for t in self._tried)
        shares: defaultdict[tuple[tuple[str, ...], int], float] = defaultdict(float)
        strikers: dict[str, defaultdict[str, float]] = {name: defaultdict(float) for name in names}
        total = 0.0
        best: list[tuple[tuple[tuple[str, ...], int], Blow]] = []
        for cost, _, rolled, _ in self._tried:
            share = math.exp(-(cost - least) / (2 * _DOUBT))
            if share < 1e-4:
                continue
            total += share
            told = self._told(names, rolled, begin_ns, end_ns)
            for key, _ in told:
                shares[key] += share
            for name, striker in _first_struck(told).items():
                strikers[name][striker] += share
            if cost == least:
                best = told
        first = _first_struck(best)
        blows: list[Blow] = []
        for key, blow in best:
            rivals: tuple[str, ...] = ()
            if blow.words[0] == "hit" and first.get(blow.words[2]) == blow.words[1]:
                others = strikers[blow.words[2]]
                rivals = tuple(n for n, share in others.items() if n != blow.words[1] and share > _RIVAL * total)
                del first[blow.words[2]]
            blows.append(replace(blow, sure=min(1.0, shares[key] / total), rivals=rivals))
        return tuple(blows)

    def _told(
        self, names: Sequence[str], rolled: Rolled, begin_ns: int, end_ns: int
    ) -> list[tuple[tuple[tuple[str, ...], int], Blow]]:
        """The contacts of a course until a time, each with its pair and the how-manieth of that pair it is."""
        many: Counter[tuple[str, ...]] = Counter()
        told = []
        for knock in rolled.knocks:
            at_ns = begin_ns + round(knock.after_s * 1e9)
            if at_ns > end_ns:
                break
            pair = (names[knock.a],) if knock.b < 0 else self._order(names, rolled, knock.a, knock.b)
            words = ("peg" if knock.b < 0 else "hit", *pair)
            key = (words[0], *sorted(words[1:]))
            many[key] += 1
            told.append(((key, many[key]), Blow(at_ns, words, 0.0, knock.push_mm_s)))
        return told

    def _order(self, names: Sequence[str], rolled: Rolled, a: int, b: int) -> tuple[str, str]:
        """Who hit whom: the one that moved first."""
        moving = [self._entries[k].velocity != (0.0, 0.0) for k in (a, b)]
        if moving[0] != moving[1]:
            return (names[a], names[b]) if moving[0] else (names[b], names[a])
        touched = [next((n for n, k in enumerate(rolled.knocks) if i in {k.a, k.b}), 0) for i in (a, b)]
        return (names[a], names[b]) if touched[0] <= touched[1] else (names[b], names[a])

    def _roll(self, change: tuple[float, ...]) -> None:
        bodies = [
            Body(
                e.at[0] + change[4 * k],
                e.at[1] + change[4 * k + 1],
                e.velocity[0] + change[4 * k + 2],
                e.velocity[1] + change[4 * k + 3],
                fixed=e.fixed,
                falls=e.falls,
            )
            for k, e in enumerate(self._entries)
        ]
        bounce, peg, rim, slowing = change[-4:]
        usual = Feel()
        feel = Feel(
            min(1.0, max(0.4, usual.disc_bounce + bounce)),
            min(1.0, max(0.3, usual.peg_bounce + peg)),
            max(0.0, usual.rim_friction + rim),
            max(200.0, usual.slowing_mm_s2 + slowing),
        )
        rolled = roll(bodies, self._times, self._table, feel)
        seen = 0.0
        for look in self._seen:
            off = math.dist(rolled.places[look.time][look.disc], look.xy_mm) / look.sigma_mm
            seen += off * off if off < 4 else 8 * off - 16
        prior = sum((c / s) ** 2 for c, s in zip(change, self._spreads, strict=True) if s > 0)
        self._tried.append((seen + prior, seen, rolled, change))
