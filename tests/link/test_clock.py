"""Clocks: the scaled, the counted and the one moved by hand."""

import pytest

from hub.link.clock import CounterClock, ManualClock, MonotonicClock, SimClock


def test_a_scaled_clock_runs_at_its_speed() -> None:
    kernel = MonotonicClock()
    clock = SimClock(epoch_ns=kernel.now_ns(), speed=10.0)
    clock.wait_until(50_000_000)
    assert clock.now_ns() >= 50_000_000
    assert clock.real_s_until(clock.now_ns() + 10_000_000_000) <= 1.0


def test_a_clock_does_not_stand_still_or_run_backwards() -> None:
    with pytest.raises(ValueError, match="above 0"):
        SimClock(0, 0)


def test_a_counter_clock_waits_for_somebody_elses_counter() -> None:
    reads = iter([1, 2, 3, 4, 5])
    CounterClock(lambda: next(reads)).wait_until(4)
    assert next(reads) == 5


def test_waiting_moves_a_clock_that_is_moved_by_hand() -> None:
    clock = ManualClock(5)
    clock.wait_until(9)
    clock.wait_until(7)
    assert clock.now_ns() == 9
