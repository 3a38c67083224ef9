"""Discs that passed or came to rest so near to another that they may have touched it, too softly to move it visibly.

A blow of some 20 mm/s pushes a disc by less than its place is read to. Two kinds of blow are so soft: a disc that has
nearly come to rest when it arrives, and one that hardly grazes. How deep the ways of both would have led into one
another bounds how hard the blow was, so of all passes only those are in question that were very near, or slow. Numbers
only, no pictures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from firmware_py.camera.motion.tracker import SLOWING_MM_S2, Xy
from firmware_py.camera.motion.ways import FRAME_NS, Path
from firmware_py.camera.rest.reader import MOVED_MM
from hardware.board import Board

#: How far off the least distance of two discs is seen, one standard deviation: of 22 passes within 1.5 mm of a disc
#: that lay still, whose truth was known, the error was 0.2 mm.
GAP_SIGMA_MM = 0.2
#: A blow that gives a disc less speed moves it by less than is read.
UNSEEN_MM_S = math.sqrt(2 * SLOWING_MM_S2 * MOVED_MM)
#: What is less likely to have been a touch is taken for none.
LEAST_CHANCE = 0.05
#: Beyond so many standard deviations no chance is left.
_FAR_SIGMAS = 5.0
_STEPS = 8


@dataclass(frozen=True, slots=True)
class Pass:
    """A disc came so near to one that lay still, and lies there yet.

    Attributes:
        at_ns: when it was nearest.
        words: the contact that it was if they touched, ``("hit", a, b)``.
        chance: how likely they touched, given that nothing was seen of it.
    """

    at_ns: int
    words: tuple[str, str, str]
    chance: float


def near_passes(board: Board, paths: Mapping[str, Path]) -> tuple[Pass, ...]:
    """Every pass that may have been a soft touch, in order of time.

    Args:
        board: geometry.
        paths: of all discs on the board, by id.
    """
    apart_mm = 2 * board.disc_radius_mm
    found: list[Pass] = []
    for name, path in paths.items():
        way = list(_way(path)) if path.moved and path.points else []
        for other, still in paths.items():
            if still.moved or still.start is None or len(way) < 2:
                continue
            at_ns, gap_mm, speed_mm_s = _nearest(way, still.start, apart_mm)
            # Discs that lay together when the one was driven off have not come nearer.
            nearer = math.dist(way[0][1], still.start) - apart_mm - gap_mm > GAP_SIGMA_MM
            chance = touch_chance(board, gap_mm, speed_mm_s) if nearer else 0.0
            if chance >= LEAST_CHANCE:
                found.append(Pass(at_ns, ("hit", name, other), chance))
    return tuple(sorted(found, key=lambda p: p.at_ns))


def touch_chance(board: Board, gap_mm: float, speed_mm_s: float) -> float:
    """How likely two discs touched that were seen so near, of which one lay still and did not visibly move.

    Where ways lead is spread evenly over such small distances. Those that would have led into the other disc by up to
    a certain depth end in an unseen touch, at no distance; the others pass at the distance that they have.

    Args:
        board: geometry.
        gap_mm: least distance of the rims as seen; below 0 where they seem to overlap.
        speed_mm_s: of the disc that passed, when it was nearest.
    """
    sigmas = gap_mm / GAP_SIGMA_MM
    if abs(sigmas) > _FAR_SIGMAS:
        return 0.0
    # It meets the other with speed * sqrt(depth / radius) along the line between the centres, and cannot go deeper
    # than it would have slid on.
    slide_mm = speed_mm_s**2 / (2 * SLOWING_MM_S2) + MOVED_MM
    graze_mm = board.disc_radius_mm * (UNSEEN_MM_S / max(speed_mm_s, UNSEEN_MM_S)) ** 2
    depth_mm = min(slide_mm, graze_mm)
    touched = depth_mm / GAP_SIGMA_MM * math.exp(-(sigmas**2) / 2) / math.sqrt(2 * math.pi)
    passed = 0.5 * (1 + math.erf(sigmas / math.sqrt(2)))
    return touched / (touched + passed)


def _way(path: Path) -> Iterator[tuple[int, Xy]]:
    """Where a disc was seen, from where it lay to where it lies."""
    if path.start is not None and path.start_ns < path.points[0].at_ns:
        yield path.start_ns, path.start
    for point in path.points:
        yield point.at_ns, point.xy_mm
    if path.end is not None:
        yield path.points[-1].at_ns + FRAME_NS, path.end


def _nearest(way: list[tuple[int, Xy]], place: Xy, apart_mm: float) -> tuple[int, float, float]:
    """When a disc on its way was nearest to a place, how far the rims were apart then, and how fast it was."""
    best = (way[0][0], math.inf, 0.0)
    for (from_ns, a), (to_ns, b) in pairwise(way):
        speed = math.dist(a, b) / max(1e-3, (to_ns - from_ns) / 1e9)
        for k in range(_STEPS + 1):
            t = k / _STEPS
            gap = math.dist((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])), place) - apart_mm
            if gap < best[1]:
                best = (round(from_ns + t * (to_ns - from_ns)), gap, speed)
    return best
