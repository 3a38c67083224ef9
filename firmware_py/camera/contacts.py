"""Which disc hit which, in order: told from tracks by geometry between the frames and by the jump of momentum.

Two discs touch when their centres are two radii apart, and a smooth blow pushes along the line between the centres.
So the way a disc takes at first, traced back to where it lay, names the place where the centre of the disc that hit
it must have been. Frames seldom show that moment; straight ways with even slowing do. Numbers only, no pictures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firmware_py.camera.tracker import SLOWING_MM_S2, Sighting, Xy, coast
from hardware.board import Board
from hub.link.messages import Colour

#: How far the centre of the disc that hit may be from where the other's way says it was: frame times, friction
#: between the rims (it turns a blow by up to 7 degrees) and the sightings.
NEAR_MM = 9.0
#: A change of velocity that the sightings' errors do not make.
LEAST_JUMP_MM_S = 45.0
#: Discs at rest with a smaller gap touch, as far as two readings can tell.
TOUCH_MM = 0.45
_FRAME_NS = 34_000_000


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
class Contact:
    """One event of a shot.

    Attributes:
        at_ns: when.
        words: ``("hit", a, b)`` or ``("peg", a)``.
        sure: 0 to 1.
    """

    at_ns: int
    words: tuple[str, ...]
    sure: float


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
        leg = _fit(points[first : last + 1])
        while last + 1 < len(points):
            nxt = points[last + 1]
            forecast = leg.place(nxt.at_ns)
            step = math.dist(points[last].xy_mm, nxt.xy_mm)
            allowed = 1.2 + 3 * nxt.sigma_mm + 0.03 * step + (0.05 * step if last == first + 1 else 0.0)
            if math.dist(forecast, nxt.xy_mm) > allowed:
                break
            last += 1
            leg = _fit(points[first : last + 1])
        if last >= len(points):
            if out and first == len(points) - 1:
                # A single sighting after a break: the way from where the last piece led.
                before = points[first - 1]
                out.append(_fit((before, points[first])))
            elif not out:
                out.append(leg)
            break
        out.append(leg)
        first = last + 1
        if first == len(points) - 1:
            out.append(_fit((points[last], points[first])))
            break
    return tuple(out)


def _fit(points: Sequence[Sighting]) -> Leg:
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
class _Mover:
    """A disc whose motion is explained: its path, its straight pieces, and when it began."""

    path: Path
    pieces: tuple[Leg, ...]
    since_ns: int

    def places(self, from_ns: int, to_ns: int) -> list[tuple[int, Xy, Xy]]:
        """``(time, place, velocity)`` in steps, by each piece that may hold then: before and after a hit."""
        out: list[tuple[int, Xy, Xy]] = []
        step = 1_000_000
        for k, piece in enumerate(self.pieces):
            begin = piece.start_ns if k == 0 else self.pieces[k - 1].end_ns
            begin = max(self.since_ns, begin - (_FRAME_NS if k == 0 else 0))
            end = self.pieces[k + 1].start_ns if k + 1 < len(self.pieces) else piece.end_ns + 2 * _FRAME_NS
            times = range(max(from_ns, begin), min(to_ns, end) + 1, step)
            out.extend((at_ns, piece.place(at_ns), piece.speed_at(at_ns)) for at_ns in times)
        return out


def find_contacts(board: Board, paths: Mapping[str, Path], shot: str) -> tuple[Contact, ...]:
    """Every contact of a shot in order of time.

    Args:
        board: geometry.
        paths: of all discs on the board, by id, those that did not move too.
        shot: id of the disc that was shot.
    """
    first = paths[shot]
    since = first.points[0].at_ns - _FRAME_NS if first.points else first.start_ns
    movers = {shot: _Mover(first, legs(first.points), since)}
    contacts: list[Contact] = []
    waiting = {k: p for k, p in paths.items() if p.moved and k != shot and p.start is not None}
    while waiting:
        best: tuple[float, int, str, str] | None = None
        for name, path in waiting.items():
            for other, mover in movers.items():
                answer = _struck_by(board, path, mover)
                if answer is not None and (best is None or answer[0] < best[0]):
                    best = (answer[0], answer[1], other, name)
        if best is None:
            break
        off, at_ns, a, b = best
        path = waiting.pop(b)
        movers[b] = _Mover(path, legs(path.points) or (_nudge(path, at_ns),), at_ns)
        contacts.append(Contact(at_ns, ("hit", a, b), _sureness(off)))
    for name, path in waiting.items():
        # Nothing that is known to move came near: something did, but it was not seen.
        contacts.append(Contact(path.start_ns, ("hit", _nearest(movers, path), name), 0.2))
    contacts += _later(board, paths, movers, contacts)
    contacts += _came_to_touch(board, paths, contacts)
    return tuple(sorted(contacts, key=lambda c: c.at_ns))


def _sureness(off_mm: float) -> float:
    return max(0.3, min(1.0, 1.25 - off_mm / (1.6 * NEAR_MM)))


def _first_way(path: Path) -> Xy | None:
    """Unit vector of a disc's first motion from where it lay."""
    if path.start is None:
        return None
    target = path.end
    pieces = legs(path.points)
    if pieces:
        piece = pieces[0]
        if math.hypot(*piece.velocity) > 20 and math.dist(piece.place(piece.end_ns), path.start) > 3:
            target = piece.place(piece.end_ns)
    if target is None and path.points:
        target = path.points[0].xy_mm
    if target is None:
        return None
    length = math.dist(target, path.start)
    if length < 0.15:
        return None
    return ((target[0] - path.start[0]) / length, (target[1] - path.start[1]) / length)


def _struck_by(board: Board, path: Path, mover: _Mover) -> tuple[float, int] | None:
    """How far off, and when, a moving disc would have hit a resting one; None if it cannot have been.

    The distance is between where the mover's centre was and where it must have been for the way the other took.
    """
    way = _first_way(path)
    if path.start is None:
        return None
    apart = 2 * board.disc_radius_mm
    begin, end = path.start_ns - _FRAME_NS // 2, _onset_end(path)
    places = mover.places(begin, end)
    lay = mover.path.start
    if lay is not None and mover.since_ns <= end and math.dist(lay, path.start) < apart + 4:
        # It lay touching: it passed the blow on at once.
        places = [*places, (max(begin, mover.since_ns), lay, _toward(lay, path.start))]
    best: tuple[float, int] | None = None
    for at_ns, place, velocity in places:
        gap = math.dist(place, path.start)
        if gap > apart + 25:
            continue
        if way is None:
            off = abs(gap - apart)
        else:
            must = (path.start[0] - way[0] * apart, path.start[1] - way[1] * apart)
            off = math.dist(place, must)
            if velocity[0] * way[0] + velocity[1] * way[1] < 0:
                off += 6.0
        if best is None or off < best[0]:
            best = (off, at_ns)
    if best is None or best[0] > 3 * NEAR_MM:
        return None
    return best


def _toward(a: Xy, b: Xy) -> Xy:
    return (b[0] - a[0], b[1] - a[1])


def _onset_end(path: Path) -> int:
    """Until when a disc must have been hit."""
    if path.points:
        return path.points[0].at_ns
    return path.start_ns + 2_500_000_000


def _nudge(path: Path, at_ns: int) -> Leg:
    """The way of a disc that moved too little to be followed."""
    start, end = path.start or (0.0, 0.0), path.end or path.start or (0.0, 0.0)
    way = math.dist(start, end)
    if way < 1e-6:
        return Leg(at_ns, at_ns, start, (0.0, 0.0))
    speed = math.sqrt(2 * SLOWING_MM_S2 * way)
    return Leg(at_ns, at_ns, start, ((end[0] - start[0]) / way * speed, (end[1] - start[1]) / way * speed))


def _nearest(movers: Mapping[str, _Mover], path: Path) -> str:
    def gap(name: str) -> float:
        points = movers[name].path.points
        start = path.start or (0.0, 0.0)
        return min((math.dist(p.xy_mm, start) for p in points), default=math.inf)

    return min(movers, key=gap)


def _later(
    board: Board, paths: Mapping[str, Path], movers: Mapping[str, _Mover], known: Sequence[Contact]
) -> list[Contact]:
    """Contacts between discs that move already, with pegs, and with discs that did not yield."""
    found: list[Contact] = []
    for name, mover in movers.items():
        for a, b in zip(mover.pieces, mover.pieces[1:], strict=False):
            begin, end = a.end_ns, b.start_ns
            if end <= begin:
                end = begin + _FRAME_NS
            before, after = a.speed_at(begin), b.speed_at(max(b.start_ns, end))
            jump = (after[0] - before[0], after[1] - before[1])
            if math.hypot(*jump) < LEAST_JUMP_MM_S:
                continue
            if any(name in c.words[1:] and begin - _FRAME_NS // 2 <= c.at_ns <= end + _FRAME_NS // 2 for c in known):
                continue
            contact = _explain(board, paths, movers, mover, ((a, b), jump))
            if contact is not None and not any(_same(contact, c) for c in found):
                found.append(contact)
    return found


def _came_to_touch(board: Board, paths: Mapping[str, Path], known: Sequence[Contact]) -> list[Contact]:
    """Discs that rolled up to one that did not yield: they lie touching now and did not before."""
    apart = 2 * board.disc_radius_mm + TOUCH_MM
    pairs = {frozenset(c.words[1:]) for c in known if c.words[0] == "hit"}
    found: list[Contact] = []
    for name, path in paths.items():
        if not path.moved or path.end is None or not path.points:
            continue
        for other, still in paths.items():
            if still.moved or still.start is None or frozenset((name, other)) in pairs:
                continue
            before = path.start is not None and math.dist(path.start, still.start) < apart
            if not before and math.dist(path.end, still.start) < apart:
                found.append(Contact(path.points[-1].at_ns, ("hit", name, other), 0.45))
    return found


def _same(a: Contact, b: Contact) -> bool:
    return a.words[0] == b.words[0] and set(a.words[1:]) == set(b.words[1:]) and abs(a.at_ns - b.at_ns) < 2 * _FRAME_NS


def _explain(
    board: Board,
    paths: Mapping[str, Path],
    movers: Mapping[str, _Mover],
    mover: _Mover,
    kink: tuple[tuple[Leg, Leg], Xy],
) -> Contact | None:
    """What a disc that moves already met, given its jump of velocity."""
    (a, b), jump = kink
    name = mover.path.id
    size = math.hypot(*jump)
    away = (jump[0] / size, jump[1] / size)
    best: tuple[float, Contact] | None = None
    end = max(b.start_ns, a.end_ns + 1)
    for at_ns in range(a.end_ns - 4_000_000, end + 4_000_000, 1_000_000):
        place = a.place(at_ns)
        if math.hypot(*place) > board.surface_radius_mm:
            continue
        for px, py in board.pegs:
            # The blow comes from the peg: the jump points away from it.
            must = (
                px + away[0] * (board.disc_radius_mm + board.peg_radius_mm),
                py + away[1] * (board.disc_radius_mm + board.peg_radius_mm),
            )
            off = math.dist(place, must)
            if off < NEAR_MM and (best is None or off < best[0]):
                best = (off, Contact(at_ns, ("peg", name), _sureness(off)))
        for other, path in paths.items():
            if other == name or (other not in movers and not _held(board, path, away)):
                continue
            spot = _where(path, movers.get(other), at_ns)
            if spot is None:
                continue
            must = (spot[0] + away[0] * 2 * board.disc_radius_mm, spot[1] + away[1] * 2 * board.disc_radius_mm)
            off = math.dist(place, must) + (0.0 if other in movers else 2.0)
            if off < NEAR_MM and (best is None or off < best[0]):
                sure = _sureness(off) if other in movers else 0.5 * _sureness(off)
                best = (off, Contact(at_ns, ("hit", name, other), sure))
    return None if best is None else best[1]


def _held(board: Board, path: Path, away: Xy) -> bool:
    """Whether a disc that did not move could have taken a blow: what stands behind it, or the hole, held it.

    Whatever throws one disc aside is thrown the other way itself, unless it cannot yield.
    """
    if path.start is None:
        return False
    x, y = path.start
    if math.hypot(x, y) < board.hole_radius_mm:
        return True
    reach = board.disc_radius_mm + board.peg_radius_mm + 1.5
    return any(
        math.dist(peg, path.start) < reach and (peg[0] - x) * -away[0] + (peg[1] - y) * -away[1] > 0.3 * reach
        for peg in board.pegs
    )


def _where(path: Path, mover: _Mover | None, at_ns: int) -> Xy | None:
    """Where a disc was at a time."""
    if mover is None or at_ns <= mover.since_ns:
        return path.start
    best: Leg | None = None
    for piece in mover.pieces:
        if piece.start_ns <= at_ns or best is None:
            best = piece
    return None if best is None else best.place(at_ns)
