"""When recorded frames were taken."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.camera.recorded.cadence import repeats, retime, scenes

STEP_NS = 40_000_000


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([0, 90, 80, 5, 95, 100], [3]),
        ([0, 90, 0, 0, 95], [2, 3]),
        ([0, 4, 5, 3, 4], []),
        ([0, 4, 80, 90, 70, 20, 6, 5], []),
        ([0, 90, 80, 40, 95], []),
        ([0], []),
    ],
    ids=["one repeat", "exact repeats in a row", "still", "coming to rest", "merely slower", "one frame"],
)
def test_repeats_are_told_from_rest_and_slowing(steps: list[float], expected: list[int]) -> None:
    assert [k for k, again in enumerate(repeats(steps)) if again] == expected


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([0.0, 0.01, 0.02, 0.9, 0.01], ((0, 3), (3, 5))),
        ([0.0, 0.01, 0.3, 0.3], ((0, 4),)),
        ([0.0, 0.2, 0.5, 0.55, 0.5], ((0, 5),)),
    ],
    ids=["a cut", "a hand right before the lens", "the camera is carried"],
)
def test_cuts_part_scenes(shares: list[float], expected: tuple[tuple[int, int], ...]) -> None:
    assert scenes(shares) == expected


def _sliding(taken_ns: list[int], speed_mm_s: float, turn_ns: int = 10**18) -> dict[int, tuple[float, float]]:
    """A disc that slows down evenly, and is thrown aside at ``turn_ns``."""
    path = {}
    for k, at_ns in enumerate(taken_ns):
        t = at_ns / 1e9
        x = speed_mm_s * t - 345 * t * t
        after = max(0.0, (at_ns - turn_ns) / 1e9)
        path[k] = (x, 0.9 * speed_mm_s * after)
    return path


def _converted(count: int) -> tuple[list[int], list[int]]:
    """Times at which frames are shown and were taken, when each fifth is repeated and a later one dropped."""
    shown, taken = [], []
    late = 0
    for k in range(count):
        if k % 5 == 4:
            late = 1
            continue
        if k % 5 == 2:
            late = 0
        shown.append(k * STEP_NS)
        taken.append((k - late) * STEP_NS)
    return shown, taken


def test_times_of_a_converted_recording_are_put_right() -> None:
    shown, taken = _converted(30)
    told = retime(shown, [_sliding(taken, 900.0)])
    # At the very end nothing that follows tells how even the motion was.
    off = [abs(a - b) for a, b in zip(told, taken, strict=True)][:-2]
    assert max(off) <= STEP_NS // 10


def test_a_blow_is_not_explained_away() -> None:
    shown = [k * STEP_NS for k in range(20)]
    assert retime(shown, [_sliding(shown, 900.0, turn_ns=10 * STEP_NS)]) == tuple(shown)


@pytest.mark.parametrize("paths", [[], [{}], [{3: (0.0, 0.0)}]], ids=["nothing moved", "no place", "one place"])
def test_without_motion_times_stay(paths: list[dict[int, tuple[float, float]]]) -> None:
    shown = [k * STEP_NS for k in range(6)]
    assert retime(shown, paths) == tuple(shown)


@given(
    places=st.lists(st.tuples(st.floats(-300, 300), st.floats(-300, 300), st.booleans()), min_size=3, max_size=9),
    gaps=st.lists(st.integers(1, 3), min_size=8, max_size=8),
)
def test_told_times_grow_and_are_at_most_a_step_early(places: list[tuple[float, float, bool]], gaps: list[int]) -> None:
    shown = [0]
    for gap in gaps[: len(places) - 1]:
        shown.append(shown[-1] + gap * STEP_NS)
    path = {k: (x, y) for k, (x, y, seen) in enumerate(places) if seen}
    told = retime(shown, [path])
    steps = sorted(b - a for a, b in pairwise(shown))
    step = steps[len(steps) // 2]
    assert all(b > a for a, b in pairwise(told))
    assert all(0 <= s - t <= step and math.isfinite(t) for s, t in zip(shown, told, strict=True))
