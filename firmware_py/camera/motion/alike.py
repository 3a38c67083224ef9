"""Discs of one set that may have taken one another's way while frames were lost. Numbers only, no pictures.

Discs of a set look alike, so after a blow that no frame shows only their ways tell them apart. Both assignments are
rolled; where the other one comes out about where discs were seen as well, the names are not sure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from firmware_py.camera.motion.episodes import EXPLAINED, explain
from firmware_py.camera.motion.tracker import FASTEST_MM_S, Sighting, coast
from firmware_py.camera.motion.ways import Path, fit
from hardware.board import Board

#: One lost frame of a camera of 30 a second; in a shorter time the ways before and after tell who is who.
GAP_NS = 50_000_000
#: A disc that is off by more from where it would have slid has met something.
_TURNED_MM = 6.0
#: An assignment whose courses are off by so much more, in standard deviations, is not the one that happened.
_WORSE = 1.0
#: So many pairs are tried: each takes as long as the shot itself.
_MOST = 3
_BEFORE = 4
_REST_MM = 0.25
#: Boards slow discs down differently, so of the way to where one would be so much is not known.
_SLOWS = 0.1

Paths = Mapping[str, Path]
Gap = tuple[int, int]


def exchanges(board: Board, paths: Paths, shot: str, until_ns: int) -> Iterator[tuple[str, str, dict[str, Path]]]:
    """Pairs of discs that may have been taken for one another, with the paths as they then were.

    Args:
        board: geometry.
        paths: of all discs on the board, by id.
        shot: id of the disc that was shot.
        until_ns: when everything was at rest.
    """
    moved = sorted(name for name, path in paths.items() if path.moved)
    pairs = [
        (a, b, gap)
        for gap in _gaps(paths, until_ns)
        for a, b in combinations(moved, 2)
        if paths[a].colour == paths[b].colour and _may_cross(paths[a], paths[b], gap)
    ]
    told: set[tuple[str, str]] = set()
    for a, b, gap in pairs[:_MOST]:
        if (a, b) in told:
            continue
        other = {**paths, a: _joined(paths[a], paths[b], gap), b: _joined(paths[b], paths[a], gap)}
        if _off(board, other, shot, gap, {a, b}) <= _off(board, paths, shot, gap, {a, b}) + _WORSE:
            told.add((a, b))
            yield a, b, other


def _gaps(paths: Paths, until_ns: int) -> list[Gap]:
    """Times without frames while discs moved, the one before everything was at rest included."""
    moved = [path for path in paths.values() if path.moved]
    times = {p.at_ns for path in moved for p in path.points} | {path.start_ns for path in moved}
    return [(a, b) for a, b in pairwise(sorted({*times, until_ns})) if b - a > GAP_NS]


def _may_cross(a: Path, b: Path, gap: Gap) -> bool:
    """Whether both met something during a gap, after which each is where the other could be."""
    begins, ends = (_before(a, gap), _before(b, gap)), (_after(a, gap), _after(b, gap))
    if not all(begins) or ends[0] is None or ends[1] is None:
        return False
    if not (_turned(begins[0], ends[0]) and _turned(begins[1], ends[1])):
        return False
    fastest = max((math.hypot(*fit(begin).velocity) for begin in begins if len(begin) >= 2), default=FASTEST_MM_S)
    for begin, end in ((begins[0], ends[1]), (begins[1], ends[0])):
        reach = coast((0.0, 0.0), (1.2 * fastest, 0.0), (end.at_ns - begin[-1].at_ns) / 1e9)[0]
        if math.dist(begin[-1].xy_mm, end.xy_mm) > reach + _TURNED_MM:
            return False
    return True


def _turned(before: Sequence[Sighting], after: Sighting) -> bool:
    """Whether a disc is not where it would have slid, or lain, without meeting anything."""
    way = fit(before)
    free = way.place(after.at_ns)
    return math.dist(free, after.xy_mm) > _TURNED_MM + _SLOWS * math.dist(before[-1].xy_mm, free)


def _before(path: Path, gap: Gap) -> tuple[Sighting, ...]:
    """The last sightings before a gap; where it lay, for a disc that had not moved yet; none if neither is known."""
    seen = tuple(p for p in path.points if p.at_ns <= gap[0])
    if seen or path.start is None:
        return seen[-_BEFORE:]
    return (Sighting(min(path.start_ns, gap[0]), *path.start, _REST_MM, path.colour),)


def _after(path: Path, gap: Gap) -> Sighting | None:
    """The first sighting after a gap; where it came to lie, if there was none; None if it had left the board."""
    lies = None if path.end is None else Sighting(gap[1], *path.end, _REST_MM, path.colour)
    return next((p for p in path.points if p.at_ns >= gap[1]), lies)


def _joined(path: Path, other: Path, gap: Gap) -> Path:
    """A path that goes on as another after a gap."""
    points = (*(p for p in path.points if p.at_ns <= gap[0]), *(p for p in other.points if p.at_ns >= gap[1]))
    return replace(path, points=points, end=other.end, start_ns=min(path.start_ns, gap[0]))


def _off(board: Board, paths: Paths, shot: str, gap: Gap, discs: set[str]) -> float:
    """How far off the courses of discs through a gap are; as far as may be where none comes out as it was seen."""
    told = [e for e in explain(board, paths, shot) if e.begin_ns <= gap[1] and e.end_ns >= gap[0] and discs & e.discs]
    covered = {disc for e in told for disc in e.discs}
    return max((e.off for e in told), default=EXPLAINED) if discs <= covered else EXPLAINED
