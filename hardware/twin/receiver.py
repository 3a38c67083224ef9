"""The break-beam's receiver: what darkens it and the edges that follow."""

from __future__ import annotations

import heapq
import random

CHORD_DEG = 45.0  # the beam's direction in the board frame, between two pegs
DEPTH_MM = 3.5  # how far below the surface it crosses the hole
EMITTER_DELAY_NS = 300_000
_LAMP_EVERY_S = 45.0
_BOUNCE_CHANCE = 0.5
_MIN_GAP_NS = 40_000


class Receiver:
    """Joins everything that can darken the receiver and keeps the edges until they are taken.

    The beam is dark while a disc or a finger is in it, while the emitter is off, and now and then for some
    milliseconds when a lamp flickers. A level that changes as something moves through often bounces once or twice.

    Args:
        seed: of the lamp and the bounces.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._edges: list[tuple[int, bool]] = []
        self._last_ns = -1
        self._sent = False
        self._disc = self._dark = False
        self._emitter: list[tuple[int, bool]] = []
        self._switchings: list[tuple[int, bool]] = []
        self._late_ns = 0
        self._taken_ns = -1
        self._emitting = True
        self._fingers: list[tuple[int, int]] = []
        self._lamp = (0, 0)
        self._next_lamp(0)

    @property
    def blocked(self) -> bool:
        """The level now, bounces left out."""
        return self._dark or not self._emitting

    def emitter(self, at_ns: int, *, on: bool) -> None:
        """Switch the emitter at a time; the receiver follows 0.3 ms later.

        A time whose edges were taken already cannot be changed any more: the switching comes as soon as it can, and
        the one that lights the emitter again comes as much later.
        """
        self._late_ns = max(self._late_ns if on else 0, self._taken_ns + 1 - at_ns)
        at_ns += self._late_ns
        heapq.heappush(self._switchings, (at_ns, on))
        heapq.heappush(self._emitter, (at_ns + EMITTER_DELAY_NS, on))

    @property
    def quiet(self) -> bool:
        """Whether nothing is about to change the level that is known of already."""
        return not (self._switchings or self._emitter or self._fingers or self._edges)

    def relight(self) -> None:
        """A daemon has started anew: its emitter is on, and switching that was still to come is forgotten."""
        self._switchings.clear()
        self._emitter.clear()
        if not self._emitting:
            self._emitting = True
            self._follow(self._last_ns, bounces=False)

    def fingers(self, start_ns: int, lasts_ns: int) -> None:
        """Fingers fumble in the hole from now on: dark and clear in turns of some 10 to 50 ms."""
        at_ns = start_ns
        while at_ns < start_ns + lasts_ns:
            dark_ns = self._random.randint(15, 60) * 1_000_000
            self._fingers.append((at_ns, min(at_ns + dark_ns, start_ns + lasts_ns)))
            at_ns += dark_ns + self._random.randint(8, 40) * 1_000_000

    def observe(self, at_ns: int, *, disc_inside: bool) -> None:
        """Bring the level up to date; to be called each millisecond, and when a disc is put there or taken."""
        while self._emitter and self._emitter[0][0] <= at_ns:
            switched_ns, on = heapq.heappop(self._emitter)
            self._emitting = on
            self._follow(switched_ns, bounces=False)
        while self._fingers and self._fingers[0][1] <= at_ns:
            self._fingers.pop(0)
        finger = bool(self._fingers) and self._fingers[0][0] <= at_ns
        if at_ns >= self._lamp[1]:
            self._next_lamp(at_ns)
        dark = disc_inside or finger or self._lamp[0] <= at_ns
        if dark != self._dark:
            self._dark = dark
            self._follow(at_ns, bounces=disc_inside != self._disc)
        self._disc = disc_inside

    def take(self, to_ns: int) -> list[tuple[int, bool]]:
        """The edges up to a time, oldest first, each once: time and whether the beam is blocked from then on."""
        count = 0
        while count < len(self._edges) and self._edges[count][0] <= to_ns:
            count += 1
        taken, self._edges = self._edges[:count], self._edges[count:]
        self._taken_ns = max(self._taken_ns, to_ns)
        return taken

    def take_switchings(self, to_ns: int) -> list[tuple[int, bool]]:
        """When the emitter was really switched up to a time, oldest first, each once; to be asked before the edges."""
        taken: list[tuple[int, bool]] = []
        while self._switchings and self._switchings[0][0] <= to_ns:
            taken.append(heapq.heappop(self._switchings))
        return taken

    def _follow(self, at_ns: int, *, bounces: bool) -> None:
        level = self.blocked
        if level == self._sent:
            return
        self._edge(at_ns, blocked=level)
        while bounces and self._random.random() < _BOUNCE_CHANCE:
            self._edge(self._last_ns + self._random.randint(60_000, 300_000), blocked=not level)
            self._edge(self._last_ns + self._random.randint(60_000, 300_000), blocked=level)

    def _edge(self, at_ns: int, *, blocked: bool) -> None:
        self._last_ns = max(at_ns, self._last_ns + _MIN_GAP_NS)
        self._sent = blocked
        self._edges.append((self._last_ns, blocked))

    def _next_lamp(self, at_ns: int) -> None:
        start_ns = at_ns + 1_000_000 * round(1e3 * (1 + self._random.expovariate(1 / _LAMP_EVERY_S)))
        self._lamp = (start_ns, start_ns + 1_000_000 * self._random.randint(2, 30))
