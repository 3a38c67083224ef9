"""The beam's daemon: watches the break-beam across the 20-hole and reports what it saw."""

from __future__ import annotations

import sys
from pathlib import Path

from firmware_py.beam.reporting import obey, report_facts
from firmware_py.beam.twin import TwinClock, run_twin
from firmware_py.beam.watch import Watch
from firmware_py.errors import FirmwareError, SettingError
from firmware_py.gpio import BeamPins, real_factory
from firmware_py.service import Service, idle
from hub.link.bus import BusError
from hub.link.clock import MonotonicClock
from hub.link.config import Config, ConfigError

CAPABILITIES = ("twenties",)
_EDGE_LAG_NS = 10_000_000  # lgpio polls every 0.5 ms and hands on through a thread of its own


def run(config: Config) -> int:
    """Run until SIGTERM or SIGINT; returns the exit status: 0 stopped, 2 bad settings, 3 something is missing."""
    try:
        match config.beam.source:
            case "none":
                idle("beam: [beam] source = 'none', so there is nothing to watch; the camera and people tell twenties")
            case "twin":
                _run_twin(config)
            case "gpio":
                _run_gpio(config)
    except FirmwareError as error:
        print(f"beam: {error}", file=sys.stderr)
        return error.status
    except (BusError, ConfigError) as error:
        print(f"beam: {error}", file=sys.stderr)
        return 2
    return 0


def _run_gpio(config: Config) -> None:
    beam, clock = config.beam, MonotonicClock()
    service = Service(config, "beam", clock, capabilities=CAPABILITIES)
    try:
        pins = BeamPins(
            real_factory(service.folder / "lgpio-beam"),
            pin=beam.pin,
            emitter_pin=beam.emitter_pin,
            broken_level=beam.broken_level,
        )
    except BaseException:
        service.close()
        raise
    with pins, service:
        watch = Watch(pins, clock.now_ns(), self_test_s=beam.self_test_s, lag_ns=_EDGE_LAG_NS, stamp_ns=clock.now_ns)
        watch_pins(service, pins, watch)


def watch_pins(service: Service, pins: BeamPins, watch: Watch) -> None:
    """The work loop on real pins; ends when the service is to stop."""
    reporter = service.reporter
    clock = reporter.clock
    while not service.stopping:
        report_facts(reporter, watch.advance(clock.now_ns()))
        obey(reporter, watch, clock.now_ns())
        service.beat()
        service.wait(clock.real_s_until(watch.next_ns()), pins)


def _run_twin(config: Config) -> None:
    if not config.board.twin:
        raise SettingError("[board] twin: [beam] source = 'twin' needs the path of the twin's socket there")
    clock = TwinClock()
    with Service(config, "beam", clock, capabilities=CAPABILITIES) as service:
        run_twin(service, clock, Path(config.board.twin), config.beam)
