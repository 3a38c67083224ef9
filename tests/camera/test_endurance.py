"""The memory bench reads what it draws, and would see a leak."""

from __future__ import annotations

import math

import pytest

from firmware_py.camera import endurance
from firmware_py.camera.endurance import DrawnSource, MemoryBenchError, bench, memory_mb
from firmware_py.camera.source import SourceEndedError
from hardware.board import TOURNAMENT


def test_the_daemon_reads_the_drawn_shots_and_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endurance, "LARGE_FRAMES", 1200)
    figures = bench(frames=2200)
    assert figures["frames"] == 2200
    assert figures["shots"] == 2
    assert figures["before_mb"] < figures["end_mb"] <= figures["peak_mb"]
    assert figures["bar_memory"], figures
    assert math.isfinite(figures["growth_mb"])


def test_pictures_show_a_disc_on_its_way_and_the_wood_again_when_it_is_gone() -> None:
    source = DrawnSource(TOURNAMENT, 12_000, (320, 240))
    frames = {}
    try:
        while True:
            frame = source.next(0.0)
            assert frame is not None
            if frame.number in {2, 1002, 1006, 1400, 10_002}:
                frames[frame.number] = frame.pixels.copy()
            source.done(frame, "", 0)
    except SourceEndedError:
        pass
    finally:
        source.close()
    empty, start, under_way, at_rest, cleared = frames.values()
    assert (cleared == empty).all()
    assert all((a != b).any() for a, b in ((empty, start), (start, under_way), (under_way, at_rest)))
    assert len(source.samples) == 24
    assert all(mb > 10 for _, mb in source.samples)


def test_memory_is_told_now_and_at_its_peak() -> None:
    assert 10 < memory_mb("VmRSS") <= memory_mb("VmHWM")
    assert math.isnan(memory_mb("VmNothing"))


def test_a_measured_process_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endurance, "LARGE_FRAMES", -1)
    with pytest.raises(MemoryBenchError, match="ended with 1"):
        bench()
