"""The way of a disc during a shot, from its sightings: straight pieces with even slowing. Numbers only, no pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from firmware_py.camera.motion.tracker import SLOWING_MM_S2, Sighting, Xy, coast
from hub.link.messages import Colour

#: Somewhat more than the time between two frames of a camera of 30 a second.
FRAME_NS = 34_000_000


@dataclass(frozen=True, slots=True)
class Path:
    """What is known of one disc during a shot.

    Attributes:
        id: the camera's name for the disc.
        colour: its set.
        start: where it lay or was placed; None for a shot disc that was not seen before it moved.
        start_ns: until when it lay there for sure.
        points: sightings while it moved.
        end: where it came to rest; None if it left the board.
        moved: whether it did.
    """

    id: str
    colour: Colour
    start: Xy | None
    start_ns: int
    points: tuple[Sighting, ...]
    end: Xy | None
    moved: bool


@dataclass(frozen=True, slots=True)
class Leg:
    """A straight piece of a path: from ``at`` at ``start_ns`` with ``velocity``, till ``end_ns``."""

    start_ns: int
    end_ns: int
    at: Xy
    velocity: Xy

    def place(self, at_ns: int) -> Xy:
        """Where the disc is on this leg, also somewhat before its first and after its last sighting."""
        since_s = (at_ns - self.start_ns) / 1e9
        if since_s >= 0:
            return coast(self.at, self.velocity, since_s)
        speed = math.hypot(*self.velocity)
        if speed < 1e-6:
            return self.at
        way = speed * since_s - SLOWING_MM_S2 * since_s * since_s / 2
        return (self.at[0] + self.velocity[0] / speed * way, self.at[1] + self.velocity[1] / speed * way)

    def speed_at(self, at_ns: int) -> Xy:
        """Velocity at a time on this leg."""
        speed = math.hypot(*self.velocity)
        if speed < 1e-6:
            return (0.0, 0.0)
        k = max(0.0, speed - SLOWING_MM_S2 * (at_ns - self.start_ns) / 1e9) / speed
        return (self.velocity[0] * k, self.velocity[1] * k)


def legs(points: Sequence[Sighting]) -> tuple[Leg, ...]:
    """The straight pieces of a path; a piece ends where the next sighting is not where it should be."""
    out: list[Leg] = []
    first = 0
    while first < len(points):
        last = first + 1
        leg = fit(points[first : last + 1])
        while last + 1 < len(points):
            nxt = points[last + 1]
            forecast = leg.place(nxt.at_ns)
            step = math.dist(points[last].xy_mm, nxt.xy_mm)
            allowed = 1.2 + 3 * nxt.sigma_mm + 0.03 * step + (0.05 * step if last == first + 1 else 0.0)
            if math.dist(forecast, nxt.xy_mm) > allowed:
                break
            last += 1
            leg = fit(points[first : last + 1])
        if last >= len(points):
            if out and first == len(points) - 1:
                # A single sighting after a break: the way from where the last piece led.
                before = points[first - 1]
                out.append(fit((before, points[first])))
            elif not out:
                out.append(leg)
            break
        out.append(leg)
        first = last + 1
        if first == len(points) - 1:
            out.append(fit((points[last], points[first])))
            break
    return tuple(out)


def fit(points: Sequence[Sighting]) -> Leg:
    """The even slowing straight way through sightings, by least squares."""
    a, b = points[0], points[-1]
    if len(points) == 1 or b.at_ns <= a.at_ns:
        return Leg(a.at_ns, b.at_ns, a.xy_mm, (0.0, 0.0))
    span_s = (b.at_ns - a.at_ns) / 1e9
    way = math.dist(a.xy_mm, b.xy_mm)
    if way < 1e-6:
        return Leg(a.at_ns, b.at_ns, a.xy_mm, (0.0, 0.0))
    ux, uy = (b.x_mm - a.x_mm) / way, (b.y_mm - a.y_mm) / way
    # Undo the slowing along the way, then a straight line in time fits; a disc that stopped waits at its end.
    speed = way / span_s + SLOWING_MM_S2 * span_s / 2
    stop_s = speed / SLOWING_MM_S2
    n = sx = sy = st = stt = sxt = syt = 0.0
    for p in points:
        t = min((p.at_ns - a.at_ns) / 1e9, stop_s)
        back = SLOWING_MM_S2 * t * t / 2
        x, y = p.x_mm + ux * back, p.y_mm + uy * back
        w = 1 / max(p.sigma_mm, 0.2) ** 2
        n, sx, sy, st = n + w, sx + w * x, sy + w * y, st + w * t
        stt, sxt, syt = stt + w * t * t, sxt + w * x * t, syt + w * y * t
    det = n * stt - st * st
    if det < 1e-12:
        return Leg(a.at_ns, b.at_ns, a.xy_mm, (0.0, 0.0))
    vx, vy = (n * sxt - sx * st) / det, (n * syt - sy * st) / det
    return Leg(a.at_ns, b.at_ns, ((sx - vx * st) / n, (sy - vy * st) / n), (vx, vy))


@dataclass(frozen=True, slots=True)
class Mover:
    """A disc whose motion is explained: its path, its straight pieces, and when it began."""

    path: Path
    pieces: tuple[Leg, ...]
    since_ns: int

    def left_ns(self, edge_mm: float) -> int | None:
        """When it was first seen beyond the edge of the surface, from where it did not come back; None if it did."""
        left: int | None = None
        if self.path.end is not None:
            return None
        for p in self.path.points:
            if p.r_mm <= edge_mm:
                left = None
            elif left is None:
                left = p.at_ns
        return left

    def places(self, from_ns: int, to_ns: int) -> list[tuple[int, Xy, Xy]]:
        """``(time, place, velocity)`` in steps, by each piece that may hold then: before and after a hit."""
        out: list[tuple[int, Xy, Xy]] = []
        step = 1_000_000
        for k, piece in enumerate(self.pieces):
            begin = piece.start_ns if k == 0 else self.pieces[k - 1].end_ns
            begin = max(self.since_ns, begin - (FRAME_NS if k == 0 else 0))
            end = self.pieces[k + 1].start_ns if k + 1 < len(self.pieces) else piece.end_ns + 2 * FRAME_NS
            times = range(max(from_ns, begin), min(to_ns, end) + 1, step)
            out.extend((at_ns, piece.place(at_ns), piece.speed_at(at_ns)) for at_ns in times)
        return out
