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


def test_claims_follow_the_rate_that_is_reached() -> None:
    claims, at_ns = Claims(), 0
    for _ in range(200):
        at_ns += 33_000_000
        claims.see(at_ns, 0, 1.2)
    assert CONTACTS in claims.now
    for _ in range(60):
        at_ns += 100_000_000
        claims.see(at_ns, 0, 1.2)
    assert set(claims.now) == {LAYOUT, HANDS}
    for _ in range(200):
        at_ns += 33_000_000
        claims.see(at_ns, 0, 1.2)
    assert CONTACTS in claims.now


def test_a_rate_at_the_limit_does_not_make_claims_come_and_go() -> None:
    claims, at_ns, seen = Claims(), 0, set()
    for k in range(2000):
        at_ns += 41_000_000 if k // 200 % 2 else 42_500_000
        seen.add(claims.see(at_ns, 0, 1.2))
    assert len(seen) == 1
