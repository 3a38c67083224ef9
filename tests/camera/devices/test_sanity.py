"""Pictures that show nothing, and what a camera may claim."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.camera.devices.capabilities import CONTACTS, HANDS, LAYOUT, SHOTS, Claims, capabilities
from firmware_py.camera.devices.sanity import BLACK, HOPELESS_NS, LASTING_NS, STUCK, Sanity

FRAME_NS = 33_000_000


def _noisy(level: float, seed: int) -> np.ndarray:
    chance = np.random.default_rng(seed)
    return np.clip(chance.normal(level, 2.0, (240, 320, 3)), 0, 255).astype(np.uint8)


def _watch(sanity: Sanity, pictures: list[np.ndarray], start: int = 0) -> list[tuple[str, ...]]:
    return [sanity.look(p, (start + k) * FRAME_NS) for k, p in enumerate(pictures)]


def test_a_dark_but_lit_board_is_neither_black_nor_stuck() -> None:
    assert set(_watch(Sanity(), [_noisy(24, k) for k in range(120)])) == {()}


def test_a_covered_lens_is_named_within_five_seconds_and_passes() -> None:
    sanity = Sanity()
    told = _watch(sanity, [_noisy(2, k) for k in range(100)])
    first = told.index((BLACK,))
    assert LASTING_NS <= first * FRAME_NS < 5_000_000_000
    assert _watch(sanity, [_noisy(80, 1)], start=100) == [()]


def test_a_hot_pixel_does_not_light_a_black_picture() -> None:
    pictures = [_noisy(2, k) for k in range(100)]
    for picture in pictures:
        picture[8, 8] = 255
    assert _watch(Sanity(), pictures)[-1] == (BLACK,)


def test_the_same_picture_again_and_again_is_named_within_five_seconds() -> None:
    sanity, picture = Sanity(), _noisy(80, 3)
    told = _watch(sanity, [picture] * 100)
    assert LASTING_NS <= told.index((STUCK,)) * FRAME_NS < 5_000_000_000
    assert not sanity.hopeless(100 * FRAME_NS)
    _watch(sanity, [picture] * 200, start=100)
    assert sanity.hopeless(HOPELESS_NS + 3 * FRAME_NS)
    assert _watch(sanity, [_noisy(80, 4)], start=300) == [()]
    assert not sanity.hopeless(301 * FRAME_NS)


def test_some_repeated_frames_are_not_stuck() -> None:
    pictures = [_noisy(80, k // 30) for k in range(200)]
    assert set(_watch(Sanity(), pictures)) == {()}


@pytest.mark.parametrize(
    ("rate_hz", "exposure_ms", "px_per_mm", "expected"),
    [
        (30, 5, 1.2, {LAYOUT, HANDS, SHOTS, CONTACTS}),
        (60, 0, 1.2, {LAYOUT, HANDS, SHOTS, CONTACTS}),
        (30, 20, 1.2, {LAYOUT, HANDS, SHOTS}),
        (15, 5, 1.2, {LAYOUT, HANDS, SHOTS}),
        (5, 5, 1.2, {LAYOUT, HANDS}),
        (60, 2, 0.3, {HANDS}),
    ],
    ids=["usual", "fast", "dim", "slow", "very slow", "too coarse"],
)
def test_no_more_is_claimed_than_can_be_seen(
    rate_hz: float, exposure_ms: int, px_per_mm: float, expected: set[str]
) -> None:
    assert set(capabilities(rate_hz, exposure_ms * 1_000_000, px_per_mm)) == expected


@given(rate=st.floats(1, 120), slower=st.floats(0.1, 1), scale=st.floats(0.1, 3))
def test_seeing_less_never_claims_more(rate: float, slower: float, scale: float) -> None:
    assert set(capabilities(rate * slower, 0, scale)) <= set(capabilities(rate, 0, scale))
    assert set(capabilities(rate, 0, scale * slower)) <= set(capabilities(rate, 0, scale))


class _Busy:
    """Claims of a camera under a computer that is fast and slow by turns."""

    def __init__(self) -> None:
        self.claims, self.at_ns, self.changes = Claims(), 0, 0

    def run(self, for_s: float, rate_hz: float, *, exposure_ms: float = 0, px_per_mm: float | None = 1.2) -> set[str]:
        """What is claimed after frames at a rate for a time."""
        for _ in range(round(for_s * rate_hz)):
            self.at_ns += round(1e9 / rate_hz)
            before = self.claims.now
            self.changes += self.claims.see(self.at_ns, round(exposure_ms * 1e6), px_per_mm) != before
        return set(self.claims.now)


EVERYTHING = {LAYOUT, HANDS, SHOTS, CONTACTS}


def test_claims_follow_the_rate_that_is_reached() -> None:
    busy = _Busy()
    assert busy.run(7, 30) == EVERYTHING
    assert busy.run(9, 10) == {LAYOUT, HANDS}
    assert busy.run(45, 30) == EVERYTHING


@pytest.mark.parametrize(
    ("slow_hz", "left"), [(10, {LAYOUT, HANDS}), (18, {LAYOUT, HANDS, SHOTS})], ids=["very slow", "slow"]
)
def test_a_claim_is_made_again_after_half_a_minute_without_a_break(slow_hz: float, left: set[str]) -> None:
    busy = _Busy()
    busy.run(10, 30)
    assert busy.run(9, slow_hz) == left
    assert busy.run(25, 30) == left
    assert busy.run(6, slow_hz) == left, "a break: the half minute begins anew"
    assert busy.run(25, 30) == left
    assert busy.run(15, 30) == EVERYTHING


def test_each_claim_waits_for_its_own_rate() -> None:
    busy = _Busy()
    busy.run(10, 30)
    busy.run(9, 10)
    assert busy.run(20, 18) == {LAYOUT, HANDS}
    assert busy.run(20, 30) == {LAYOUT, HANDS, SHOTS}
    assert busy.run(20, 30) == EVERYTHING


def test_a_computer_that_is_busy_by_turns_takes_back_what_it_claims_and_keeps_to_that() -> None:
    busy = _Busy()
    for _ in range(40):
        busy.run(5, 30)
        busy.run(5, 17)
    assert (busy.changes, set(busy.claims.now)) == (1, {LAYOUT, HANDS, SHOTS})


def test_a_coarse_picture_is_told_and_a_fine_one_again_at_once() -> None:
    busy = _Busy()
    assert busy.run(5, 30, px_per_mm=0.3) == {HANDS}
    assert busy.run(5, 30) == {LAYOUT, HANDS}
    assert busy.run(40, 30) == EVERYTHING


def test_neither_the_search_for_a_board_nor_a_camera_that_was_away_counts_as_slow() -> None:
    busy = _Busy()
    assert busy.run(20, 2, px_per_mm=None) == EVERYTHING
    assert busy.run(20, 30) == EVERYTHING
    busy.at_ns += 20_000_000_000
    assert busy.run(20, 30) == EVERYTHING
    busy.at_ns -= 30_000_000_000
    assert busy.run(20, 30) == EVERYTHING


def test_frames_that_stop_for_less_than_a_stall_are_a_break() -> None:
    busy = _Busy()
    busy.run(10, 30)
    busy.at_ns += 4_500_000_000
    assert busy.run(2, 30) == {LAYOUT, HANDS}


def test_a_rate_at_the_limit_does_not_make_claims_come_and_go() -> None:
    claims, at_ns, seen = Claims(), 0, set()
    for k in range(2000):
        at_ns += 41_000_000 if k // 200 % 2 else 42_500_000
        seen.add(claims.see(at_ns, 0, 1.2))
    assert len(seen) == 1
