"""Discs that slide and collide, rolled forward for a tenth of a second: what must happen if they start like this.

Between contacts a disc goes straight and slows down evenly; a contact pushes along the line between the centres and,
by the friction of the rims, a little across it. Numbers only; fast enough to be tried a hundred times for one blow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Xy = tuple[float, float]

#: Longest step in which the slowing may be left out of where two discs meet.
_STEP_S = 0.008
#: A pair that touches again within this time has not been apart.
_APART_S = 0.004
#: A push below this speed is the rest of an old contact.
_LEAST_PUSH_MM_S = 2.0
_MOST_BLOWS = 60
#: Two that touch and close up no faster lie against one another.
_RESTING_MM_S = 0.5


@dataclass(frozen=True, slots=True)
class Table:
    """What the discs roll on.

    Attributes:
        pegs: centres of the pegs that can be reached.
        disc_mm: distance of the centres of two discs that touch.
        peg_mm: distance of the centres of a disc and a peg that touch.
        edge_mm: radius of the surface; a disc beyond it meets nothing any more.
        hole_mm: a disc that will lie in the hole stops when its centre is so near to the middle.
    """

    pegs: tuple[Xy, ...]
    disc_mm: float
    peg_mm: float
    edge_mm: float
    hole_mm: float


@dataclass(frozen=True, slots=True)
class Feel:
    """How the material answers: bounce of disc and of peg, friction between rims, slowing on the surface."""

    disc_bounce: float = 0.86
    peg_bounce: float = 0.72
    rim_friction: float = 0.12
    slowing_mm_s2: float = 690.0


@dataclass(frozen=True, slots=True)
class Body:
    """A disc at the start: place, velocity, whether it cannot yield, and whether it will end in the hole."""

    x_mm: float
    y_mm: float
    vx_mm_s: float = 0.0
    vy_mm_s: float = 0.0
    fixed: bool = False
    falls: bool = False


@dataclass(frozen=True, slots=True)
class Knock:
    """A contact: after how many seconds, of which bodies (-1 for a peg), and how hard."""

    after_s: float
    a: int
    b: int
    push_mm_s: float


@dataclass(frozen=True, slots=True)
class Rolled:
    """How it went.

    Attributes:
        places: of all bodies at each of the times asked for.
        velocities: of all bodies at the last of them.
        knocks: contacts in order of time.
    """

    places: tuple[tuple[Xy, ...], ...]
    velocities: tuple[Xy, ...]
    knocks: tuple[Knock, ...]


class _Rolling:
    """The bodies while they roll; lives for one call of :func:`roll`."""

    def __init__(self, bodies: Sequence[Body], table: Table, feel: Feel) -> None:
        self.x = [b.x_mm for b in bodies]
        self.y = [b.y_mm for b in bodies]
        self.vx = [b.vx_mm_s for b in bodies]
        self.vy = [b.vy_mm_s for b in bodies]
        self.spin = [0.0] * len(bodies)  # speed of the rim
        self.fixed = [b.fixed for b in bodies]
        self.falls = [b.falls for b in bodies]
        self.off = [False] * len(bodies)
        self.table, self.feel = table, feel
        self.at_s = 0.0
        self.blows = 0
        self.knocks: list[Knock] = []
        self._last: dict[tuple[int, int], tuple[float, int]] = {}

    def go(self, until_s: float) -> None:
        """Roll on to a time."""
        while self.at_s < until_s - 1e-9:
            step = min(_STEP_S, until_s - self.at_s)
            meeting = self._next(step) if self.blows < _MOST_BLOWS else None
            if meeting is None:
                self._advance(step)
            else:
                self._advance(meeting[0])
                self._collide(meeting[1], meeting[2])

    def _next(self, within_s: float) -> tuple[float, int, int] | None:
        """The next contact of any pair, if it comes soon enough."""
        best_s, found = within_s, None
        x, y, vx, vy = self.x, self.y, self.vx, self.vy
        count = len(x)
        for i in range(count):
            if self.off[i]:
                continue
            still = vx[i] == 0.0 and vy[i] == 0.0
            for j in range(i + 1, count):
                if self.off[j] or (still and vx[j] == 0.0 and vy[j] == 0.0):
                    continue
                t = _meet(x[j] - x[i], y[j] - y[i], vx[j] - vx[i], vy[j] - vy[i], self.table.disc_mm)
                if t < best_s:
                    best_s, found = t, (t, i, j)
            if not still:
                for k, (px, py) in enumerate(self.table.pegs):
                    t = _meet(px - x[i], py - y[i], -vx[i], -vy[i], self.table.peg_mm)
                    if t < best_s:
                        best_s, found = t, (t, i, -1 - k)
        return found

    def _advance(self, step_s: float) -> None:
        self.at_s += step_s
        slowing = self.feel.slowing_mm_s2
        for i in range(len(self.x)):
            speed = math.hypot(self.vx[i], self.vy[i])
            if speed == 0.0:
                continue
            t = min(step_s, speed / slowing)
            way = (t - slowing * t * t / 2 / speed) if speed > 0 else 0.0
            self.x[i] += self.vx[i] * way
            self.y[i] += self.vy[i] * way
            left = 1.0 - slowing * t / speed
            self.vx[i] *= left
            self.vy[i] *= left
            if left < 1e-6:
                self.vx[i] = self.vy[i] = self.spin[i] = 0.0
            r_mm = math.hypot(self.x[i], self.y[i])
            if self.falls[i] and r_mm < self.table.hole_mm:
                self.vx[i] = self.vy[i] = 0.0
                self.fixed[i] = True
            elif r_mm > self.table.edge_mm:
                self.off[i] = True

    def _collide(self, i: int, j: int) -> None:
        self.blows += 1
        peg = j < 0
        if peg:
            px, py = self.table.pegs[-1 - j]
            nx, ny, ux, uy, other_spin = px - self.x[i], py - self.y[i], 0.0, 0.0, 0.0
        else:
            nx, ny = self.x[j] - self.x[i], self.y[j] - self.y[i]
            ux, uy, other_spin = self.vx[j], self.vy[j], self.spin[j]
        length = math.hypot(nx, ny) or 1.0
        nx, ny = nx / length, ny / length
        rx, ry = self.vx[i] - ux, self.vy[i] - uy
        closing = rx * nx + ry * ny
        if closing <= 0:
            return
        mine = 0.0 if self.fixed[i] else 1.0
        other = 0.0 if peg or self.fixed[j] else 1.0
        if mine + other == 0:
            return
        bounce = self.feel.peg_bounce if peg else self.feel.disc_bounce
        push = (1 + bounce) * closing / (mine + other)
        # Across: the rims rub until they run together; a disc's rim moves off three times as easily as its centre.
        across = -rx * ny + ry * nx + self.spin[i] + other_spin
        rub = max(-self.feel.rim_friction * push, min(self.feel.rim_friction * push, across / (3 * (mine + other))))
        self._push(i, mine, (-push * nx + rub * ny, -push * ny - rub * nx), rub)
        if not peg:
            self._push(j, other, (push * nx - rub * ny, push * ny + rub * nx), rub)
        self._note(i, j, push)

    def _push(self, i: int, share: float, by: Xy, rub: float) -> None:
        if share:
            self.vx[i] += by[0]
            self.vy[i] += by[1]
            self.spin[i] -= 2 * rub

    def _note(self, i: int, j: int, push: float) -> None:
        if push < _LEAST_PUSH_MM_S:
            return
        key = (i, j)
        told = self._last.get(key)
        if told is not None and self.at_s - told[0] < _APART_S:
            old = self.knocks[told[1]]
            self.knocks[told[1]] = Knock(old.after_s, old.a, old.b, old.push_mm_s + push)
            self._last[key] = (self.at_s, told[1])
            return
        self._last[key] = (self.at_s, len(self.knocks))
        self.knocks.append(Knock(self.at_s, i, max(j, -1), push))


def _meet(dx: float, dy: float, vx: float, vy: float, apart: float) -> float:
    """After how many seconds two that are ``d`` apart and move with ``v`` against one another touch."""
    closing = dx * vx + dy * vy
    if closing >= 0:
        return math.inf
    gap = dx * dx + dy * dy - apart * apart
    if gap <= 0:
        return 0.0 if closing < -_RESTING_MM_S * apart else math.inf
    speed2 = vx * vx + vy * vy
    inside = closing * closing - speed2 * gap
    if inside <= 0:
        return math.inf
    return gap / (math.sqrt(inside) - closing)


def roll(bodies: Sequence[Body], times_s: Sequence[float], table: Table, feel: Feel) -> Rolled:
    """Let discs roll.

    Args:
        bodies: how they start.
        times_s: after how many seconds to look, in order.
        table: what is in their way.
        feel: how the material answers.
    """
    rolling = _Rolling(bodies, table, feel)
    places: list[tuple[Xy, ...]] = []
    for time_s in times_s:
        rolling.go(time_s)
        places.append(tuple(zip(rolling.x, rolling.y, strict=True)))
    return Rolled(tuple(places), tuple(zip(rolling.vx, rolling.vy, strict=True)), tuple(rolling.knocks))
