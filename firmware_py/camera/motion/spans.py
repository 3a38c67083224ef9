"""When discs may have met during a shot: where ways begin or break, and where discs pass one another or a peg closely.

Numbers only, no pictures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from firmware_py.camera.motion.tracker import Xy
from firmware_py.camera.motion.ways import Leg, Path, legs
from hardware.board import Board

#: Discs or pegs that pass so near may have touched.
NEAR_MM = 2.5
#: Times of interest that are nearer than this are one.
JOIN_NS = 26_000_000
#: One that struck another was, as the straight ways have it, no farther off than this when the other began to move.
_STRUCK_MM = 7.0
_SAMPLE_NS = 4_000_000
#: A disc that creeps less from sighting to sighting lies still.
_CREEP_MM = 0.3


@dataclass(frozen=True, slots=True)
class Span:
    """A time of interest, and the discs that it is about."""

    begin_ns: int
    end_ns: int
    discs: frozenset[str]


def find_spans(
    board: Board, paths: Mapping[str, Path], shot: str, hints: Sequence[tuple[int, tuple[str, ...]]]
) -> list[Span]:
    """Every time in which discs of a shot may have met, in order.

    Args:
        board: geometry.
        paths: of all discs on the board, by id.
        shot: id of the disc that was shot; a hand set it in motion.
        hints: times of contacts that are known already, with the discs that took part.
    """
    pieces = {name: legs(path.points) for name, path in paths.items()}
    hinted = [Span(at_ns, at_ns, frozenset(discs)) for at_ns, discs in hints]
    return _joined([*_kinks(pieces), *_passes(board, paths, pieces), *_onsets(board, paths, pieces, shot), *hinted])


def _kinks(pieces: Mapping[str, tuple[Leg, ...]]) -> list[Span]:
    """Where ways break."""
    return [
        Span(a.end_ns, max(b.start_ns, a.end_ns), frozenset({name}))
        for name, legs_of in pieces.items()
        for a, b in pairwise(legs_of)
    ]


def _onsets(board: Board, paths: Mapping[str, Path], pieces: Mapping[str, tuple[Leg, ...]], shot: str) -> list[Span]:
    """Where discs that lay still begin to move, with all that may have struck them then."""
    reach = 2 * board.disc_radius_mm + _STRUCK_MM
    spans: list[Span] = []
    for name, path in paths.items():
        if name == shot or not path.moved or not path.points or path.start is None:
            continue
        begin, end = path.start_ns, path.points[0].at_ns
        near = {name}
        for other, its in paths.items():
            if other != name and its.moved:
                ways = [*_along(its), *_beyond(pieces[other])]
                ways += [] if its.start is None else [(its.start_ns, its.start)]
                early = begin - JOIN_NS
                if any(early <= at_ns <= end and math.dist(at, path.start) < reach for at_ns, at in ways):
                    near.add(other)
        spans.append(Span(begin, end, frozenset(near)))
    return spans


def _passes(board: Board, paths: Mapping[str, Path], pieces: Mapping[str, tuple[Leg, ...]]) -> list[Span]:
    """Where discs pass one another, or pegs, so near that they may have touched."""
    touch, peg = 2 * board.disc_radius_mm + NEAR_MM, board.disc_radius_mm + board.peg_radius_mm + NEAR_MM
    spans: list[Span] = []
    for name, path in paths.items():
        for at_ns, place in (*_along(path), *_beyond(pieces[name])):
            near = {o for o, its in paths.items() if o != name and _nearer(place, _where(its, at_ns), touch)}
            if near or any(math.dist(place, p) < peg for p in board.pegs):
                spans.append(Span(at_ns, at_ns, frozenset({name, *near})))
    return spans


def _along(path: Path) -> list[tuple[int, Xy]]:
    """Places on the way of a disc while it moves, a few milliseconds apart."""
    out: list[tuple[int, Xy]] = []
    for a, b in pairwise(path.points):
        if math.dist(a.xy_mm, b.xy_mm) <= _CREEP_MM:
            continue
        steps = max(1, (b.at_ns - a.at_ns) // _SAMPLE_NS)
        for k in range(steps):
            t = k / steps
            place = (a.x_mm + t * (b.x_mm - a.x_mm), a.y_mm + t * (b.y_mm - a.y_mm))
            out.append((round(a.at_ns + t * (b.at_ns - a.at_ns)), place))
    return out


def _beyond(pieces: Sequence[Leg]) -> list[tuple[int, Xy]]:
    """How far the straight ways before and after a break lead on into it: there it met something."""
    out: list[tuple[int, Xy]] = []
    for a, b in pairwise(pieces):
        for at_ns in range(a.end_ns, b.start_ns, _SAMPLE_NS):
            out += [(at_ns, a.place(at_ns)), (at_ns, b.place(at_ns))]
    return out


def _nearer(a: Xy, b: Xy | None, than_mm: float) -> bool:
    return b is not None and math.dist(a, b) < than_mm


def _where(path: Path, at_ns: int) -> Xy | None:
    """Where a disc was at a time, straight from sighting to sighting; None where that is not known."""
    if not path.points or at_ns <= path.start_ns:
        return path.start
    last: tuple[int, Xy] | None = None if path.start is None else (path.start_ns, path.start)
    for p in path.points:
        if p.at_ns >= at_ns:
            if last is None:
                return None
            t = (at_ns - last[0]) / max(1, p.at_ns - last[0])
            return (last[1][0] + t * (p.x_mm - last[1][0]), last[1][1] + t * (p.y_mm - last[1][1]))
        last = (p.at_ns, p.xy_mm)
    return None if last is None or (path.end is None and at_ns > last[0] + 2 * JOIN_NS) else last[1]


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Spans of common discs that follow one another closely are one."""
    out: list[Span] = []
    for span in sorted(spans, key=lambda s: s.begin_ns):
        grown = span
        changed = True
        while changed:
            changed = False
            for old in out:
                near = old.begin_ns - JOIN_NS <= grown.end_ns and grown.begin_ns <= old.end_ns + JOIN_NS
                if near and old.discs & grown.discs:
                    begin, end = min(old.begin_ns, grown.begin_ns), max(old.end_ns, grown.end_ns)
                    grown = Span(begin, end, old.discs | grown.discs)
                    out.remove(old)
                    changed = True
                    break
        out.append(grown)
    return sorted(out, key=lambda s: s.begin_ns)
