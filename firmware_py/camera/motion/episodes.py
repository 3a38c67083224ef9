"""What happened in the short times in which discs met: tried out on rolled discs until it looks as it was seen.

From where the discs were just before, with what the sightings leave open, many courses are rolled; those that come
out where the discs were seen afterwards tell which contacts there were, also several between two frames, and how
sure each of them is. Numbers only, no pictures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from firmware_py.camera.motion.billiards import Table
from firmware_py.camera.motion.courses import Blow, Entry, Look, Search
from firmware_py.camera.motion.spans import Span, find_spans
from firmware_py.camera.motion.tracker import Sighting, Xy, coast
from firmware_py.camera.motion.ways import FRAME_NS, Path, fit, legs
from hardware.board import Board

#: What takes longer is not a blow but a long push, which this cannot tell.
_LONGEST_NS = 450_000_000
#: For so long afterwards the ways tell what happened.
_AFTER_NS = 110_000_000
_BEFORE = 7
#: An episode is explained if its sightings are off by no more than so many standard deviations, and somewhat more for
#: each further blow: what a course is off before a blow is more after it, by about its way over a disc's radius.
EXPLAINED, FURTHER_BLOW = 4.0, 0.5
#: One that is off by more is tried again together with the one before.
GOOD = 1.3
#: What gave or took less speed than this is told only by one that is off by less.
FAINT_MM_S = 100.0
_SOON_NS = 90_000_000
#: How far off a sighting of a moving disc may be beyond what its own error says.
_MOVING_MM = 0.2
_REST_SPREAD_MM = 0.25
#: So far a disc goes before it is seen not to lie where it lay.
_UNNOTICED_MM = 2.5
#: The rim of the hole takes some of a disc's speed, by its height and its wear; and it need not lie in the very middle.
_RIM_SHARE, _RIM_MM = 0.15, 2.0
_HOLE_ASIDE_MM = 2.0


@dataclass(frozen=True, slots=True)
class Episode:
    """A time in which discs met, explained.

    Attributes:
        begin_ns: when it began.
        end_ns: until when its contacts may have been.
        discs: who took part.
        blows: the contacts.
        off: how far off the sightings are from the best course, in standard deviations.
    """

    begin_ns: int
    end_ns: int
    discs: frozenset[str]
    blows: tuple[Blow, ...]
    off: float

    @property
    def explained(self) -> bool:
        """Whether the best course comes out where the discs were seen, as well as one with so many blows can."""
        return self.off <= EXPLAINED + FURTHER_BLOW * max(0, len(self.blows) - 1)

    def covers(self, at_ns: int, discs: Sequence[str]) -> bool:
        """Whether a contact of these discs would have been part of it."""
        return self.begin_ns <= at_ns <= self.end_ns and set(discs) <= self.discs


def explain(
    board: Board, paths: Mapping[str, Path], shot: str, hints: Sequence[tuple[int, tuple[str, ...]]] = ()
) -> list[Episode]:
    """Every episode of a shot that rolled discs explain, in order of time.

    Args:
        board: geometry.
        paths: of all discs on the board, by id.
        shot: id of the disc that was shot.
        hints: times of contacts that are known already, with the discs that took part.
    """
    spans = find_spans(board, paths, shot, hints)
    found: list[Episode] = []
    known = _Known({}, {})
    before: tuple[Span, _Known, Episode | None] | None = None
    for k, one in enumerate(spans):
        span = one
        after = [s.begin_ns for s in spans[k + 1 :] if s.discs & span.discs]
        until_ns = min([*after, span.end_ns + _AFTER_NS])
        state, told = known.copy(), _try(board, paths, span, until_ns, known)
        if before is not None and (told is None or told.off > GOOD) and _follows(before[0], span):
            # Too short a time between two blows tells no velocities: both at once.
            both = Span(before[0].begin_ns, span.end_ns, before[0].discs | span.discs)
            again, merged = before[1].copy(), None
            merged = _try(board, paths, both, until_ns, again)
            if merged is not None and (told is None or merged.off < told.off):
                found = [e for e in found if e is not before[2]]
                span, state, told, known = both, before[1], merged, again
        if told is not None and told.explained:
            told = without_faint(told, paths)
            found.append(told)
            if told.blows:
                known.ends.update(dict.fromkeys(span.discs, span.end_ns))
        before = (span, state, told)
    return found


def without_faint(episode: Episode, paths: Mapping[str, Path]) -> Episode:
    """An episode without the faint blows, if it is not explained so well that they could be told.

    One that set a disc going which was then seen to move stays: something must have struck it.
    """
    if episode.off <= GOOD:
        return episode
    kept: list[Blow] = []
    set_going: set[str] = set()
    for blow in sorted(episode.blows, key=lambda b: -b.push_mm_s):
        first = {name for name in blow.words[1:] if _begins_with(paths[name], blow)} - set_going
        if blow.push_mm_s >= FAINT_MM_S or (blow.words[0] == "hit" and first):
            kept.append(blow)
            set_going |= first
    return replace(episode, blows=tuple(sorted(kept, key=lambda b: b.at_ns)))


def _begins_with(path: Path, blow: Blow) -> bool:
    """Whether a disc lay still until a blow, and was seen to move after it."""
    lay = path.start is not None and path.moved and bool(path.points)
    return lay and path.start_ns - FRAME_NS <= blow.at_ns <= path.points[0].at_ns


def _follows(a: Span, b: Span) -> bool:
    return bool(a.discs & b.discs) and b.begin_ns - a.end_ns < _SOON_NS and b.end_ns - a.begin_ns < _LONGEST_NS


@dataclass(frozen=True, slots=True)
class _Known:
    """What earlier episodes tell.

    Attributes:
        ends: until when each disc's ways are spoken for.
        carried: time, place and velocity with which each disc came out of its last one.
    """

    ends: dict[str, int]
    carried: dict[str, tuple[int, Xy, Xy]]

    def copy(self) -> _Known:
        """The same, to be tried on."""
        return _Known(dict(self.ends), dict(self.carried))


def _try(board: Board, paths: Mapping[str, Path], span: Span, until_ns: int, known: _Known) -> Episode | None:
    """Explain one episode; None if nothing that was rolled looks like it."""
    if span.end_ns - span.begin_ns > _LONGEST_NS:
        return None
    names = sorted(span.discs)
    begin_ns, entries = _begin(board, paths, span, known)
    if all(e.velocity == (0.0, 0.0) for e in entries):
        return None
    looks = _looks(board, paths, span, begin_ns, until_ns)
    if not looks:
        return None
    times = sorted({at_ns for at_ns, *_ in looks})
    table = Table(
        pegs=tuple(p for p in board.pegs if any(math.dist(p, e.at) < 320 for e in entries)),
        disc_mm=2 * board.disc_radius_mm,
        peg_mm=board.disc_radius_mm + board.peg_radius_mm,
        edge_mm=board.surface_radius_mm,
        hole_mm=board.hole_radius_mm * 0.6,
    )
    seen = [Look(times.index(at_ns), names.index(name), xy, sigma) for at_ns, name, xy, sigma in looks]
    search = Search(entries, table, [(t - begin_ns) / 1e9 for t in times], seen)
    search.run(GOOD)
    best, off = search.best(), search.off
    last_ns = times[-1]
    for k, name in enumerate(names):
        known.carried[name] = (last_ns, best.places[-1][k], best.velocities[k])
    blows = search.blows(names, begin_ns, span.end_ns + 12_000_000)
    return Episode(begin_ns, span.end_ns + 12_000_000, span.discs, blows, off)


def _begin(board: Board, paths: Mapping[str, Path], span: Span, known: _Known) -> tuple[int, list[Entry]]:
    """When to begin to roll, and how each disc, in order of the names, comes in then; none if that is not known.

    A blow may have come before the last sighting that looks as if it had not; but what was seen only shortly before
    has no velocity without that sighting.
    """
    names = sorted(span.discs)
    for back_ns in (_frame_ns(paths, names) + 2_000_000, 2_000_000, 0):
        begin_ns = span.begin_ns - back_ns
        entries = [
            _over_rim(board, paths[name], span, begin_ns, _entry(paths[name], begin_ns, known)) for name in names
        ]
        found = [
            replace(entry, fixed=_lies_in_hole(board, paths[name]), falls=_falls(board, paths[name]))
            for name, entry in zip(names, entries, strict=True)
            if entry is not None
        ]
        if len(found) == len(names):
            return begin_ns, found
    return span.begin_ns, []


def _frame_ns(paths: Mapping[str, Path], names: Sequence[str]) -> int:
    """Time from frame to frame."""
    steps = sorted(b.at_ns - a.at_ns for name in names for a, b in pairwise(paths[name].points))
    return min(steps[len(steps) // 2], FRAME_NS) if steps else 0


def _entry(path: Path, at_ns: int, known: _Known) -> Entry | None:
    """How a disc comes into an episode that begins at a time; None if that is not known."""
    ends, carried = known.ends, known.carried
    clean_ns = ends.get(path.id, 0)
    before = [p for p in path.points if clean_ns < p.at_ns <= at_ns]
    if not before and path.start is not None and at_ns <= path.start_ns + 3_000_000 and path.id not in carried:
        return Entry(path.start, (0.0, 0.0), _REST_SPREAD_MM, 0.0)
    if not path.moved:
        return None if path.start is None else Entry(path.start, (0.0, 0.0), _REST_SPREAD_MM, 0.0)
    if len(before) >= 2:
        recent = _recent(before[-_BEFORE:])
        leg = fit(recent)
        span_s = (recent[-1].at_ns - recent[0].at_ns) / 1e9
        sigma = math.hypot(recent[-1].sigma_mm, _MOVING_MM)
        ahead_s = (at_ns - recent[-1].at_ns) / 1e9
        spread_mm_s = sigma * math.sqrt(12 / len(recent)) / max(0.01, span_s)
        return Entry(leg.place(at_ns), leg.speed_at(at_ns), 1.2 * sigma + 0.3 * spread_mm_s * ahead_s, spread_mm_s)
    last = carried.get(path.id)
    if last is None:
        return None
    from_ns, place, velocity = last
    if before:
        from_ns, place = before[-1].at_ns, before[-1].xy_mm
    if from_ns > at_ns + 3_000_000 and path.points:
        back_s = (at_ns - from_ns) / 1e9
        place = (place[0] + velocity[0] * back_s, place[1] + velocity[1] * back_s)
        return Entry(place, velocity, 1.0, 60.0)
    return Entry(coast(place, velocity, (at_ns - from_ns) / 1e9), velocity, 1.0, 40.0)


def _over_rim(board: Board, path: Path, span: Span, begin_ns: int, entry: Entry | None) -> Entry | None:
    """How a disc comes into an episode that had just crossed the hole, or was about to: the rim changed its speed."""
    recent = [p.at_ns for p in path.points if p.at_ns <= begin_ns][-_BEFORE:]
    since_ns = recent[0] if recent else begin_ns
    if entry is None or not any(b > since_ns and a <= span.begin_ns for a, b in _crossings(board, path)):
        return entry
    spread_mm_s = entry.spread_mm_s + _RIM_SHARE * math.hypot(*entry.velocity)
    return replace(entry, spread_mm=entry.spread_mm + _RIM_MM, spread_mm_s=spread_mm_s)


def _crossings(board: Board, path: Path) -> list[tuple[int, int]]:
    """Times from sighting to sighting between which a disc that goes on was over the hole."""
    over_mm = board.hole_radius_mm + _HOLE_ASIDE_MM
    if _falls(board, path):
        return []
    return [(a.at_ns, b.at_ns) for a, b in pairwise(path.points) if _least_r_mm(a.xy_mm, b.xy_mm) < over_mm]


def _least_r_mm(a: Xy, b: Xy) -> float:
    """The least distance from the middle on the straight way between two places."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    way2 = dx * dx + dy * dy
    t = min(1.0, max(0.0, -(a[0] * dx + a[1] * dy) / way2)) if way2 > 0 else 0.0
    return math.hypot(a[0] + t * dx, a[1] + t * dy)


def _recent(points: Sequence[Sighting]) -> Sequence[Sighting]:
    """The last sightings that lie on one way."""
    piece = legs(points)[-1]
    on_it = [p for p in points if p.at_ns >= piece.start_ns]
    return on_it if len(on_it) >= 2 else points[-2:]


def _falls(board: Board, path: Path) -> bool:
    return path.moved and path.end is not None and math.hypot(*path.end) < board.hole_play_mm + 1.5


def _lies_in_hole(board: Board, path: Path) -> bool:
    return path.start is not None and math.hypot(*path.start) < board.hole_play_mm + 0.5


def _looks(
    board: Board, paths: Mapping[str, Path], span: Span, begin_ns: int, until_ns: int
) -> list[tuple[int, str, Xy, float]]:
    """What was seen during an episode and soon after it: time, disc, place and standard deviation.

    How a disc tumbles into the hole, or over its rim, is not rolled, so what is seen of it there tells nothing; nor
    does what is seen of it after it crossed the hole in the episode itself.
    """
    looks: list[tuple[int, str, Xy, float]] = []
    for name in sorted(span.discs):
        path = paths[name]
        crossings = _crossings(board, path)
        first_ns = max((b for a, b in crossings if a <= span.begin_ns), default=begin_ns + 1)
        last_ns = min((a for a, _ in crossings if a > span.begin_ns), default=until_ns)
        mine = [
            p
            for p in path.points
            if max(begin_ns + 1, first_ns) <= p.at_ns <= min(until_ns, last_ns)
            and not (_falls(board, path) and p.r_mm < board.hole_radius_mm)
        ]
        looks += [(p.at_ns, name, p.xy_mm, math.hypot(p.sigma_mm, _MOVING_MM)) for p in mine]
        still = path.start if not path.moved else None
        if not path.points and path.moved and path.end is not None:
            still = path.end
        if still is not None:
            looks.append((until_ns, name, still, 0.4))
        elif path.start is not None and path.points and path.start_ns > begin_ns:
            looks += [(t, name, path.start, _UNNOTICED_MM) for t in (path.start_ns,) if t <= until_ns]
    return [look for look in looks if math.hypot(*look[2]) < board.surface_radius_mm - 2]
