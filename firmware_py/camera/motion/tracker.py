"""Who is who while discs move: sightings of single frames strung together to tracks. Numbers only, no pictures.

A sliding disc goes straight and slows down evenly until something meets it, so where it will be in the next frame is
known to a millimetre, except after a hit; then every place that its speed could have reached is possible, and the
sightings are shared out among the discs so that the sum of all surprises is least.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from hub.link.messages import Colour

Xy = tuple[float, float]

#: How fast a waxed board slows a disc down; boards differ, and within a frame it makes less than a millimetre.
SLOWING_MM_S2 = 690.0
#: No flick is faster.
FASTEST_MM_S = 4500.0
#: A track that was not seen for so long is over.
LOST_NS = 250_000_000
#: A hand that flicks a disc hides it no longer.
HIDDEN_NS = 150_000_000
#: A disc that was hidden no longer than this may be found again on its way.
MENDED_NS = 600_000_000
#: A disc that moves less fast stands on the line and waits for its flick.
POISED_MM_S = 60.0
_RECENT = 4
#: A disc that stands under a hand is seen so often, from look to look moved by less.
STEADY_LOOKS, STEADY_MM = 3, 8.0
_UNMATCHED = 9.0
_WRONG_COLOUR = 30.0
_MOST_FOR_BEST = 7
#: Discs that come nearer to one another than this share of two radii have gone through one another, which none does.
_THROUGH = 0.5


@dataclass(frozen=True, slots=True)
class Sighting:
    """A disc as one frame shows it.

    Attributes:
        at_ns: middle of the exposure.
        x_mm: place of its base.
        y_mm: place of its base.
        sigma_mm: one standard deviation.
        colour: its set, None where the frame does not tell.
        held: whether its picture has run into that of a hand, which may carry it.
    """

    at_ns: int
    x_mm: float
    y_mm: float
    sigma_mm: float
    colour: Colour | None
    held: bool = False

    @property
    def xy_mm(self) -> Xy:
        """The place."""
        return (self.x_mm, self.y_mm)

    @property
    def r_mm(self) -> float:
        """Distance from the middle."""
        return math.hypot(self.x_mm, self.y_mm)


@dataclass(frozen=True, slots=True)
class Track:
    """A disc in motion.

    Attributes:
        key: the resting disc's id, or a name for a disc that was not on the board.
        colour: its set, None while unknown.
        rested_ns: last time it was seen at rest, 0 for a disc that was not on the board.
        origin: where it lay, None for a disc that was not on the board.
        points: sightings in order.
    """

    key: str
    colour: Colour | None
    rested_ns: int = 0
    origin: Xy | None = None
    points: tuple[Sighting, ...] = ()

    @property
    def last_ns(self) -> int:
        """When it was seen last."""
        return self.points[-1].at_ns if self.points else self.rested_ns

    @property
    def last_xy(self) -> Xy:
        """Where it was seen last."""
        if self.points:
            return self.points[-1].xy_mm
        return self.origin or (0.0, 0.0)

    def velocity(self) -> Xy:
        """Velocity in mm/s at the last sighting."""
        if len(self.points) >= 2:
            a, b = self.points[-2], self.points[-1]
            since_s = (b.at_ns - a.at_ns) / 1e9
            if since_s <= 0:
                return (0.0, 0.0)
            vx, vy = (b.x_mm - a.x_mm) / since_s, (b.y_mm - a.y_mm) / since_s
            speed = math.hypot(vx, vy)
            if speed < 1e-6:
                return (0.0, 0.0)
            # The mean between the two sightings is older by half their distance.
            k = max(0.0, speed - SLOWING_MM_S2 * since_s / 2) / speed
            return (vx * k, vy * k)
        if self.points and self.origin is not None and self.rested_ns:
            since_s = max(1e-3, (self.points[-1].at_ns - self.rested_ns) / 1e9)
            ox, oy = self.origin
            return ((self.points[-1].x_mm - ox) / since_s, (self.points[-1].y_mm - oy) / since_s)
        return (0.0, 0.0)

    def predict(self, at_ns: int) -> Xy:
        """Where it will be if nothing meets it."""
        (x, y), (vx, vy) = self.last_xy, self.velocity()
        return coast((x, y), (vx, vy), (at_ns - self.last_ns) / 1e9)


def coast(at: Xy, velocity: Xy, for_s: float) -> Xy:
    """Where a disc is after sliding freely for a time; it stops and does not turn round."""
    speed = math.hypot(*velocity)
    if speed < 1e-6:
        return at
    t = min(max(for_s, 0.0), speed / SLOWING_MM_S2)
    way = speed * t - SLOWING_MM_S2 * t * t / 2
    return (at[0] + velocity[0] / speed * way, at[1] + velocity[1] / speed * way)


def depart(tracks: Sequence[Track], key: str, colour: Colour, origin: Xy, rested_ns: int) -> tuple[Track, ...]:
    """A disc that lay still is not where it was; it was last seen there at ``rested_ns``."""
    return (*tracks, Track(key=key, colour=colour, rested_ns=rested_ns, origin=origin))


def follow(
    tracks: Sequence[Track],
    sightings: Sequence[Sighting],
    at_ns: int,
    apart_mm: float = 32.0,
    *,
    poised: Sequence[Sighting] = (),
    edge_mm: float = math.inf,
) -> tuple[Track, ...]:
    """Share a frame's sightings out among the tracks; what no track explains begins a new one.

    Args:
        tracks: what is followed so far.
        sightings: of this frame.
        at_ns: its time.
        apart_mm: distance of the centres of two discs that touch.
        poised: discs that stood under a hand, ready to be shot, when they were seen last.
        edge_mm: radius of the raised surface; what lay in the ditch does not come up again.
    """
    known = [*tracks, *_flicked(poised, at_ns)]
    alive = [k for k, t in enumerate(known) if at_ns - t.last_ns <= LOST_NS]
    cost = _costs([known[k] for k in alive], sightings, at_ns, apart_mm, edge_mm)
    share = _share(cost, len(sightings))
    _part(share, [known[k] for k in alive], sightings, cost, apart_mm)
    seen_by = {alive[row]: sightings[column] for row, column in share.items()}
    out: list[Track] = []
    for k, track in enumerate(known):
        seen = seen_by.get(k)
        if k < len(tracks):
            out.append(track if seen is None else _seen_again(track, seen))
        elif seen is not None:
            # Where it stood is no part of its way: when it was flicked is not known.
            out.append(_seen_again(replace(track, key=_new_key(out), points=()), seen))
    for column, seen in enumerate(sightings):
        if column not in share.values():
            out.append(Track(key=_new_key(out), colour=seen.colour, points=(seen,)))
    return tuple(out)


def _flicked(poised: Sequence[Sighting], at_ns: int) -> list[Track]:
    """Discs that stood ready under a hand a moment ago, as tracks that may go on from there."""
    return [Track(key="", colour=p.colour, points=(p,)) for p in poised if 0 < at_ns - p.at_ns <= HIDDEN_NS]


def _seen_again(track: Track, seen: Sighting) -> Track:
    return replace(track, points=(*track.points, seen), colour=track.colour or seen.colour)


def _new_key(tracks: Sequence[Track]) -> str:
    """The name of the next track of a disc that was not on the board."""
    return f"new-{1 + sum(t.key.startswith('new-') for t in tracks)}"


def _costs(
    tracks: Sequence[Track], sightings: Sequence[Sighting], at_ns: int, apart_mm: float, edge_mm: float
) -> list[list[float]]:
    """How ill each sighting suits each track; a row for each track."""
    rush = _rush(tracks)
    ways = [(t.last_xy, t.predict(at_ns)) for t in tracks]
    return [
        [
            math.inf
            if _climbs(track, seen, edge_mm)
            else _surprise(track, seen, at_ns, rush) + _odd_blow(track, seen, [*ways[:k], *ways[k + 1 :]], apart_mm)
            for seen in sightings
        ]
        for k, track in enumerate(tracks)
    ]


def standing(seen: Sequence[Sighting], resting: Sequence[Xy], apart_mm: float) -> tuple[Sighting, ...]:
    """Discs that stand on the line under a hand, of what was taken for one there.

    A hand that reaches in or takes a disc away shows rims too, but no two of them at one place.

    Args:
        seen: what was taken for a disc on the line, in order of time.
        resting: where discs lay before; none of those was laid down now.
        apart_mm: distance of the centres of two discs that touch.
    """
    out: list[Sighting] = []
    for last in (s for s in seen if s.at_ns == seen[-1].at_ns):
        if any(math.dist(last.xy_mm, place) < 0.9 * apart_mm for place in resting):
            continue
        at, looks = last, 1
        for s in reversed(seen):
            same = s.colour is None or last.colour is None or s.colour == last.colour
            if s.at_ns < at.at_ns and same and math.dist(s.xy_mm, at.xy_mm) < STEADY_MM:
                at, looks = s, looks + 1
        if looks >= STEADY_LOOKS:
            out.append(last)
    return tuple(out)


def _rush(tracks: Sequence[Track]) -> float:
    """How fast the fastest disc is that may strike another.

    A disc that has only just been let go, or that nobody has seen yet, may have any speed; and one that has just
    struck had more than it has left.
    """
    speeds = [max(_steps(t)) for t in tracks if _in_motion(t)]
    return max(500.0, *speeds) if speeds else FASTEST_MM_S


def _steps(track: Track) -> list[float]:
    """Mean speeds between the last sightings, in mm/s."""
    last = track.points[-_RECENT:]
    return [math.dist(a.xy_mm, b.xy_mm) / max(1e-3, (b.at_ns - a.at_ns) / 1e9) for a, b in pairwise(last)]


def _in_motion(track: Track) -> bool:
    """Whether a track has a speed of its own, so that it tells how fast things are.

    The first step of a disc does not: it was flicked or struck at some time between two frames.
    """
    return sum(speed > POISED_MM_S for speed in _steps(track)) >= 2 - (track.origin is not None)


def mend(tracks: Sequence[Track]) -> tuple[Track, ...]:
    """Join tracks that broke: a new one that begins where an older one led while the disc was not seen."""
    out = [t for t in tracks if not t.key.startswith("new-")]
    for track in sorted((t for t in tracks if t.key.startswith("new-")), key=lambda t: t.points[0].at_ns):
        first = track.points[0]
        best: tuple[float, int] | None = None
        for k, older in enumerate(out):
            if not older.points or not older.last_ns < first.at_ns <= older.last_ns + MENDED_NS:
                continue
            if older.colour and track.colour and older.colour != track.colour:
                continue
            forecast = older.predict(first.at_ns)
            off = math.dist(forecast, first.xy_mm)
            if off < 20 + 0.25 * math.dist(older.last_xy, forecast) and (best is None or off < best[0]):
                best = (off, k)
        if best is None:
            out.append(track)
        else:
            older = out[best[1]]
            out[best[1]] = replace(older, points=(*older.points, *track.points), colour=older.colour or track.colour)
    return tuple(out)


def _surprise(track: Track, seen: Sighting, at_ns: int, rush: float) -> float:
    """How ill a sighting suits a track: about its distance from the forecast in standard deviations."""
    since_s = (at_ns - track.last_ns) / 1e9
    from_last = math.dist(track.last_xy, seen.xy_mm)
    fresh = len(track.points) < 2
    fastest = FASTEST_MM_S if track.origin is None and not _in_motion(track) else rush * 1.15
    if from_last > fastest * since_s + 12:
        return math.inf
    off = math.dist(track.predict(at_ns), seen.xy_mm)
    vx, vy = track.velocity()
    step = math.hypot(vx, vy) * since_s
    # A forecast errs by the sightings it stands on; a hit makes it worthless, but a hit is rarer than none.
    spread = 3.0 + 2 * seen.sigma_mm + 0.08 * step + (60.0 * since_s / 0.033 if fresh else 0.0)
    surprise = off / spread
    surprise = min(surprise, 4.0 + from_last / 60.0)
    if track.colour is not None and seen.colour is not None and track.colour != seen.colour:
        surprise += _WRONG_COLOUR
    return surprise


def _climbs(track: Track, seen: Sighting, edge_mm: float) -> bool:
    """Whether a disc that lay in the ditch would have come up onto the surface."""
    return track.origin is not None and math.hypot(*track.origin) > edge_mm and seen.r_mm < edge_mm


def _odd_blow(track: Track, seen: Sighting, others: Sequence[tuple[Xy, Xy]], apart_mm: float) -> float:
    """How ill the first way of a disc that lay still suits where another could have hit it.

    A blow drives a disc along the line between the centres, so the other's centre was straight behind it.
    """
    if track.origin is None or track.points or not others:
        return 0.0
    way = math.dist(seen.xy_mm, track.origin)
    if way < 3.0:
        return 0.0
    ux, uy = (seen.x_mm - track.origin[0]) / way, (seen.y_mm - track.origin[1]) / way
    must = (track.origin[0] - ux * apart_mm, track.origin[1] - uy * apart_mm)
    off = min(_from_way(must, a, b) for a, b in others)
    # Sightings near the origin tell the direction less well.
    return min(off / (5.0 + 40.0 / way), 5.0)


def _from_way(place: Xy, a: Xy, b: Xy) -> float:
    """Distance of a place from the way between two others."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length2 = dx * dx + dy * dy
    t = 0.0 if length2 < 1e-9 else max(0.0, min(1.0, ((place[0] - a[0]) * dx + (place[1] - a[1]) * dy) / length2))
    return math.dist(place, (a[0] + t * dx, a[1] + t * dy))


def _share(cost: Sequence[Sequence[float]], columns: int) -> dict[int, int]:
    """Rows to columns with the least sum of costs, leaving out what is worse than no match."""
    rows = len(cost)
    if min(rows, columns) > _MOST_FOR_BEST:
        return _greedy(cost, columns)
    best: tuple[float, dict[int, int]] = (math.inf, {})

    def go(row: int, used: int, so_far: float, chosen: dict[int, int]) -> None:
        nonlocal best
        if so_far >= best[0]:
            return
        if row == rows:
            best = (so_far, dict(chosen))
            return
        for column in sorted(range(columns), key=lambda c: cost[row][c]):
            price = cost[row][column]
            if price >= _UNMATCHED * 2 or used >> column & 1:
                continue
            chosen[row] = column
            go(row + 1, used | 1 << column, so_far + price, chosen)
            del chosen[row]
        go(row + 1, used, so_far + _UNMATCHED, chosen)

    go(0, 0, 0.0, {})
    return best[1]


def _part(
    share: dict[int, int],
    tracks: Sequence[Track],
    sightings: Sequence[Sighting],
    cost: Sequence[Sequence[float]],
    apart_mm: float,
) -> None:
    """Let no two discs have gone through one another: they met, and each is where the other was taken to be."""
    for a, b in combinations(sorted(share), 2):
        i, j = share[a], share[b]
        if max(cost[a][j], cost[b][i]) >= _UNMATCHED * 2 or tracks[a].last_ns != tracks[b].last_ns:
            continue
        begin = (tracks[a].last_xy, tracks[b].last_xy)
        through = _nearest_mm(begin, (sightings[i].xy_mm, sightings[j].xy_mm))
        if through < _THROUGH * apart_mm <= _nearest_mm(begin, (sightings[j].xy_mm, sightings[i].xy_mm)):
            share[a], share[b] = j, i


def _nearest_mm(begin: tuple[Xy, Xy], end: tuple[Xy, Xy]) -> float:
    """How near two discs come to one another that go straight from two places to two others in the same time."""
    (ax, ay), (bx, by) = begin
    (cx, cy), (dx, dy) = end
    return _from_way((0.0, 0.0), (bx - ax, by - ay), (dx - cx, dy - cy))


def _greedy(cost: Sequence[Sequence[float]], columns: int) -> dict[int, int]:
    pairs = sorted((cost[r][c], r, c) for r in range(len(cost)) for c in range(columns) if cost[r][c] < _UNMATCHED * 2)
    chosen: dict[int, int] = {}
    for _, r, c in pairs:
        if r not in chosen and c not in chosen.values():
            chosen[r] = c
    return chosen
