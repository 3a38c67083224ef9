"""A picture that never keeps still, by noise or by what moves in it, before its board was found."""

from __future__ import annotations

import numpy as np
import pytest

from firmware_py.camera.benchboard import DrawnBoard
from firmware_py.camera.live import LiveReader
from firmware_py.camera.source import Frame
from hardware.board import TOURNAMENT

HEIGHT_MM = 1000.0
FRAME_NS = 33_000_000


@pytest.mark.parametrize("size_wh", [(1280, 960), (640, 480)])
@pytest.mark.parametrize("noise", [2.0, 4.0, 6.0])
def test_a_board_is_found_however_noisy_its_camera_is(size_wh: tuple[int, int], noise: float) -> None:
    bare = DrawnBoard(TOURNAMENT, size_wh).picture([], noise=0.0).astype(np.float32)
    chance, eye = np.random.default_rng(1), LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
    for number in range(1, 31):
        grain = chance.standard_normal(bare.shape, dtype=np.float32)
        pixels = (bare + noise * grain).clip(0, 255).astype(np.uint8)
        eye.take(Frame(number, number * FRAME_NS, 0, pixels))
    assert eye.reader is not None


def test_a_picture_that_never_keeps_still_is_told_of_within_five_seconds_and_no_longer_than_it_lasts() -> None:
    bare = DrawnBoard(TOURNAMENT, (640, 480)).picture([])
    eye = LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
    number = 0
    while number * FRAME_NS < 5_000_000_000:
        number += 1
        pixels = bare.copy()
        pixels[100:260, 40 + 20 * (number % 16) :][:, :90] = 40
        eye.take(Frame(number, number * FRAME_NS, 0, pixels))
    assert (eye.fault, "does not keep still" in eye.trouble) == ("no_board", True)
    for later in range(1, 31):
        eye.take(Frame(number + later, (number + later) * FRAME_NS, 0, bare))
    assert eye.reader is not None
    assert not eye.trouble
