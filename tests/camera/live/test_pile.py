"""Frames laid upon one another: their mean is that of all, and few of them are kept."""

from __future__ import annotations

import numpy as np
import pytest

from firmware_py.camera.picture.pile import MOST, Pile


def _frames(count: int, shape: tuple[int, ...] = (6, 8, 3)) -> list[np.ndarray]:
    chance = np.random.default_rng(count)
    return [chance.integers(0, 256, shape, dtype=np.uint8) for _ in range(count)]


@pytest.mark.parametrize("count", [1, 2, 12, MOST])
def test_the_mean_is_that_of_all_frames(count: int) -> None:
    frames = _frames(count)
    pile = Pile(count)
    for frame in frames:
        assert not pile.whole
        pile.add(frame)
    assert pile.whole
    assert np.abs(pile.mean() - np.mean(frames, axis=0)).max() <= 0.5 + 1e-6
    assert (pile.total() == np.sum(frames, axis=0)).all()
    assert (pile.ends[0] == frames[0]).all()
    assert (pile.ends[1] == frames[-1]).all()


def test_what_is_added_may_be_drawn_over_by_the_camera() -> None:
    pile = Pile(3)
    frame = _frames(1)[0]
    before = frame.copy()
    pile.add(frame)
    frame[:] = 0
    assert (pile.mean() == before).all()
    assert (pile.ends[0] == before).all()


def test_a_whole_pile_and_another_size_begin_anew() -> None:
    pile = Pile(2)
    for frame in _frames(3):
        pile.add(frame)
    assert pile.count == 1
    pile.add(_frames(1, (4, 4, 3))[0])
    assert (pile.count, pile.total().shape) == (1, (4, 4, 3))


def test_an_empty_pile_has_nothing_to_tell() -> None:
    pile = Pile(2)
    pile.add(_frames(1)[0])
    pile.clear()
    for ask in (pile.total, pile.mean, lambda: pile.ends):
        with pytest.raises(ValueError, match="empty pile"):
            ask()
    with pytest.raises(ValueError, match="1 to 257"):
        Pile(MOST + 1)
