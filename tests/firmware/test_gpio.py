"""The board's pins, on gpiozero's mock pins with a clock of ours."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_py.errors import DeviceMissingError, FirmwareError, SettingError
from firmware_py.gpio import BeamPins, SimulatedFactory, real_factory
from hub.link.clock import ManualClock

PIN, EMITTER = 17, 27


class Bench:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.factory = SimulatedFactory(self.clock)
        self.pins: BeamPins | None = None

    def claim(self, **settings: object) -> BeamPins:
        self.pins = BeamPins(self.factory, pin=PIN, **settings)  # type: ignore[arg-type]
        return self.pins

    def drive(self, at_ns: int, *, high: bool) -> None:
        self.clock.wait_until(at_ns)
        self.factory.drive(PIN, high=high)


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    bench.factory.hold(PIN, high=True)
    yield bench
    if bench.pins is not None:
        bench.pins.close()


def test_edges_carry_the_time_of_our_clock(bench: Bench) -> None:
    pins = bench.claim()
    bench.drive(1_000_000_007, high=False)
    bench.drive(3_600_000_000_001, high=True)
    assert pins.edges() == [(1_000_000_007, True), (3_600_000_000_001, False)]
    assert pins.edges() == []


@pytest.mark.parametrize(("broken_level", "high", "blocked"), [("low", False, True), ("high", True, True)])
def test_polarity_is_settled_here(bench: Bench, broken_level: str, high: bool, blocked: bool) -> None:
    bench.factory.hold(PIN, high=not high)
    pins = bench.claim(broken_level=broken_level)
    assert not pins.blocked
    bench.drive(5, high=high)
    assert pins.blocked is blocked
    assert pins.edges() == [(5, blocked)]


@pytest.mark.parametrize("broken_level", ["low", "high"])
def test_blocked_from_the_start(bench: Bench, broken_level: str) -> None:
    bench.factory.hold(PIN, high=broken_level == "high")
    pins = bench.claim(broken_level=broken_level)
    assert pins.blocked
    assert pins.edges() == []


def test_no_bounce_is_taken_away(bench: Bench) -> None:
    pins = bench.claim()
    for step in range(402):
        bench.drive(1000 + step, high=step % 2 == 1)
    assert len(pins.edges()) == 402


def test_an_edge_after_a_lost_one_is_heard(bench: Bench) -> None:
    """gpiozero's own devices swallow it, since for them the level has not changed."""
    pins = bench.claim()
    bench.drive(10, high=False)
    bench.factory.drive(PIN, high=True, heard=False)
    assert not pins.blocked
    bench.drive(20, high=False)
    assert pins.edges() == [(10, True), (20, True)]


def test_a_failing_handler_is_contained_and_said_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    pins = bench.claim()

    def fail(_: object) -> None:
        raise RuntimeError("no memory")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pins._edges, "put", fail)
        for step in range(10):
            bench.drive(10 + step, high=step % 2 == 1)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    bench.drive(100, high=False)
    assert pins.edges() == [(100, True)]


def test_the_emitter_is_on_from_the_start_and_can_be_switched(bench: Bench) -> None:
    pins = bench.claim(emitter_pin=EMITTER)
    assert pins.has_emitter
    assert pins.emitting
    pins.emit(on=False)
    assert not pins.emitting
    assert bench.factory.pin(EMITTER).state == 0
    pins.emit(on=True)
    assert pins.emitting


def test_without_an_emitter_pin_nothing_is_switched(bench: Bench) -> None:
    pins = bench.claim(emitter_pin=0)
    pins.emit(on=False)
    assert pins.emitting
    assert not pins.has_emitter


def test_a_level_can_be_waited_for_from_another_thread(bench: Bench) -> None:
    import select
    import threading

    pins = bench.claim()
    thread = threading.Thread(target=lambda: bench.drive(5, high=False))
    thread.start()
    assert select.select([pins], [], [], 10)[0]
    thread.join()
    assert pins.edges() == [(5, True)]
    assert not select.select([pins], [], [], 0)[0]


def test_the_mock_pin_keeps_no_endless_record(bench: Bench) -> None:
    bench.claim()
    for step in range(5000):
        bench.drive(step, high=step % 2 == 1)
    assert len(bench.factory.pin(PIN).states) <= 1001


def test_states_are_timed_by_our_clock(bench: Bench) -> None:
    bench.claim()
    pin = bench.factory.pin(PIN)
    bench.clock.wait_until(2_000_000_000)
    pin.clear_states()
    bench.drive(3_000_000_000, high=False)
    bench.drive(3_500_000_000, high=True)
    pin.assert_states_and_times([(0.0, True), (1.0, False), (0.5, True)])


@pytest.mark.parametrize(
    ("pin", "emitter", "words"),
    [
        (17, 17, "both 17"),
        (2, 27, "GPIO2"),
        (99, 27, "99"),
        (17, 99, "99"),
    ],
)
def test_pins_that_cannot_be_so_are_said(pin: int, emitter: int, words: str) -> None:
    with pytest.raises(SettingError, match=words) as caught:
        BeamPins(SimulatedFactory(ManualClock()), pin=pin, emitter_pin=emitter)
    assert "[beam]" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pin_in_use_is_said(bench: Bench) -> None:
    bench.claim()
    with pytest.raises(FirmwareError, match="in use"):
        BeamPins(bench.factory, pin=PIN)


def test_closing_gives_the_pins_back(bench: Bench) -> None:
    bench.claim(emitter_pin=EMITTER).close()
    again = bench.claim(emitter_pin=EMITTER)
    bench.drive(9, high=False)
    assert again.edges() == [(9, True)]


class TestRealPins:
    """What this machine can tell about real pins without having any: never a silent fallback."""

    def test_a_machine_without_gpio_is_told_what_is_missing(self, tmp_path: Path) -> None:
        """F9: unwritable working directory or missing backend: a clear line, never another backend."""
        program = (
            "import sys; from pathlib import Path; from firmware_py.errors import DeviceMissingError\n"
            "from firmware_py.gpio import real_factory\n"
            "try: real_factory(Path(sys.argv[1]))\n"
            "except DeviceMissingError as error: print(error)\n"
            "else: print('has pins')\n"
        )
        project = Path(__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "lg")],
            cwd="/",
            env=os.environ | {"PYTHONPATH": str(project), "GPIOZERO_PIN_FACTORY": "mock"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        if "has pins" in done.stdout:
            pytest.skip("this machine has GPIO pins")
        assert done.stdout.startswith("[beam] source = 'gpio'")
        assert len(done.stdout.splitlines()) == 1

    @pytest.mark.parametrize("error", [Exception("can not open gpiochip"), OSError("denied")])
    def test_pins_that_cannot_be_opened_are_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        backend = types.ModuleType("gpiozero.pins.lgpio")

        class Factory:
            def __init__(self) -> None:
                raise error

        backend.LGPIOFactory = Factory  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", backend)
        monkeypatch.setenv("LG_WD", str(tmp_path))
        with pytest.raises(DeviceMissingError, match="gpiochip0 cannot be opened"):
            real_factory(tmp_path / "lg")
