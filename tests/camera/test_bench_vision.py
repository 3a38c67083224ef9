"""The measuring of the camera's speed measures what it says."""

from __future__ import annotations

import math

from firmware_py.camera.bench import bench, resident_mb
from firmware_py.camera.benchboard import DrawnBoard, spread_discs
from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoReading
from hardware.board import TOURNAMENT


def test_all_discs_of_the_drawn_board_are_read() -> None:
    discs = spread_discs(TOURNAMENT, 12)
    reading = score_picture(DrawnBoard(TOURNAMENT, (1280, 960)).picture(discs), board=TOURNAMENT)
    assert isinstance(reading, PhotoReading)
    assert len([d for d in reading.discs if d.zone != 20]) == len(discs) == 12
    expected = {"light": 0, "dark": 0}
    for colour, x, y in discs:
        expected[colour] += TOURNAMENT.value(math.hypot(x, y))
    on_board = {side: sum(d.points for d in reading.discs if d.side == side and d.zone != 20) for side in expected}
    assert on_board == expected


def test_figures_are_sound() -> None:
    figures = bench()
    for name in ("idle", "moving", "read", "read_all"):
        assert figures[f"{name}_ms"] > 0
        assert figures[f"{name}_ratio"] > 0
    assert figures["idle_ms"] < figures["moving_ms"] < figures["read_ms"] < figures["read_all_ms"]
    assert figures["photo_discs_read"] >= 20
    assert all(isinstance(v, bool) for k, v in figures.items() if k.startswith("bar_"))


def test_memory_is_told_in_megabytes() -> None:
    assert 10 < resident_mb() < 10_000
