"""The last seconds in memory: bounded, in order, thinned out where they must be sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.camera.clips.ring import Kept, Ring, thinned

S = 1_000_000_000


@given(st.lists(st.tuples(st.integers(0, 3 * S), st.integers(0, 400)), max_size=60))
def test_a_ring_never_takes_more_than_it_may(frames: list[tuple[int, int]]) -> None:
    ring = Ring(max_bytes=1000, kept_ns=5 * S)
    at_ns, given_in = 0, []
    for step_ns, size in frames:
        at_ns += step_ns
        ring.add(at_ns, bytes(size))
        given_in.append(at_ns)
        kept = ring.between(0, at_ns)
        assert ring.bytes == sum(len(frame.jpeg) for frame in kept) <= 1000
        assert all(at_ns - frame.at_ns <= 5 * S for frame in kept)
        assert [frame.at_ns for frame in kept] == given_in[len(given_in) - len(kept) :]


def test_a_clock_that_begins_anew_clears_the_ring() -> None:
    ring = Ring()
    ring.add(10 * S, b"old")
    ring.add(1 * S, b"new")
    assert ring.between(0, 20 * S) == (Kept(1 * S, b"new"),)


def test_a_time_has_its_frames_with_both_ends() -> None:
    ring = Ring()
    for at in range(10):
        ring.add(at * S // 2, b"x")
    assert [frame.at_ns for frame in ring.between(S, 2 * S)] == [S, 3 * S // 2, 2 * S]


@pytest.mark.parametrize(
    ("count", "max_bytes", "max_frames", "left"),
    [
        (10, 1000, 20, list(range(10))),
        (10, 1000, 5, [1, 3, 5, 7, 9]),
        (10, 50, 20, [1, 3, 5, 7, 9]),
        (10, 40, 20, [0, 3, 6, 9]),
        (10, 5, 20, []),
        (0, 1000, 20, []),
    ],
)
def test_a_clip_that_is_too_long_loses_frames_evenly_and_keeps_its_end(
    count: int, max_bytes: int, max_frames: int, left: list[int]
) -> None:
    frames = tuple(Kept(at, bytes(10)) for at in range(count))
    assert [frame.at_ns for frame in thinned(frames, max_bytes=max_bytes, max_frames=max_frames)] == left
