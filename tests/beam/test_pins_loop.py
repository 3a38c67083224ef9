"""The work loop on pins, in real time: an edge of gpiozero's thread becomes a fact at the hub, and nothing forks."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from firmware_py.beam.daemon import watch_pins
from firmware_py.beam.watch import Watch
from firmware_py.gpio import BeamPins, SimulatedFactory
from firmware_py.service import Service
from hub.link.clock import MonotonicClock
from hub.link.config import BoardSection, Config
from hub.link.memory import MemoryBroker
from hub.link.messages import BeamCandidate, BeamEpisode
from tests.firmware.fakehub import FakeHub

PIN = 17


@pytest.fixture
def unforkable(monkeypatch: pytest.MonkeyPatch) -> None:
    """F10: a process that forks after the pins were claimed finds them busy."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("forked after the pins were claimed")

    for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp"):
        monkeypatch.setattr(os, name, forbidden)
    monkeypatch.setattr(subprocess, "Popen", forbidden)


@pytest.mark.usefixtures("unforkable")
def test_a_disc_becomes_a_candidate_and_an_episode(tmp_path: Path) -> None:
    broker = MemoryBroker()
    hub = FakeHub(broker.bus()).start()
    clock = MonotonicClock()
    factory = SimulatedFactory(clock)
    factory.hold(PIN, high=True)
    config = Config(board=BoardSection(id="b1", state_dir=str(tmp_path)))

    def player() -> None:
        factory.drive(PIN, high=False)
        hub.wait_facts(1)
        factory.drive(PIN, high=True)
        hub.wait_facts(2)
        service.stop()

    with (
        BeamPins(factory, pin=PIN) as pins,
        Service(config, "beam", clock, bus=broker.bus(), signals=False) as service,
    ):
        watch = Watch(pins, clock.now_ns(), lag_ns=10_000_000)
        thread = threading.Thread(target=player)
        thread.start()
        watch_pins(service, pins, watch)
        thread.join()
    candidate, episode = hub.facts()
    assert isinstance(candidate, BeamCandidate)
    assert isinstance(episode, BeamEpisode)
    assert candidate.at_ns - candidate.start_ns == 200_000_000
    assert episode.start_ns == candidate.start_ns
    assert episode.dwell_ms >= 200.0
    (first, _) = hub.arrivals[:2]
    assert first.mono_ns >= candidate.at_ns, "it was known when its dwell was over, not before"
