"""Facts out, requests in."""

from __future__ import annotations

from pathlib import Path

from firmware_py.beam.reporting import obey, report_facts
from firmware_py.beam.watch import Watch
from firmware_py.gpio import BeamPins, SimulatedFactory
from firmware_py.service import Service
from hub.link.clock import ManualClock
from hub.link.config import BoardSection, Config
from hub.link.memory import MemoryBroker
from hub.link.messages import BeamFault, BeamWarning
from tests.firmware.fakehub import FakeHub


def test_faults_stand_in_the_health_for_as_long_as_they_last(tmp_path: Path) -> None:
    broker = MemoryBroker()
    hub = FakeHub(broker.bus()).start()
    config = Config(board=BoardSection(id="b1", state_dir=str(tmp_path)))
    with Service(config, "beam", ManualClock(), bus=broker.bus(), signals=False) as service:
        service.beat()
        report_facts(service.reporter, [BeamFault("chatter", 1), BeamWarning("stuck", 2)])
        service.beat()
        assert hub.health["beam"].faults == ("chatter",)
        report_facts(service.reporter, [BeamFault("chatter", 3, over=True)])
        service.beat()
        assert hub.health["beam"].faults == ()
    assert hub.facts() == [BeamFault("chatter", 1), BeamWarning("stuck", 2), BeamFault("chatter", 3, over=True)]


def test_a_beam_obeys_a_self_test_and_counts_what_it_does_not_know(tmp_path: Path) -> None:
    broker = MemoryBroker()
    hub = FakeHub(broker.bus()).start()
    config = Config(board=BoardSection(id="b1", state_dir=str(tmp_path)))
    factory = SimulatedFactory(ManualClock())
    factory.hold(17, high=True)
    with (
        BeamPins(factory, pin=17, emitter_pin=27) as pins,
        Service(config, "beam", ManualClock(), bus=broker.bus(), signals=False) as service,
    ):
        watch = Watch(pins, 0)
        service.beat()
        for name in ("self-test", "dance"):
            hub.request("b1", name, service.reporter.boot)
        service.beat()
        obey(service.reporter, watch, 5)
        assert watch.wake_ns() == 5
        assert service.reporter.vitals.bad_messages == 1


def test_without_a_switched_emitter_a_self_test_is_refused(tmp_path: Path) -> None:
    broker = MemoryBroker()
    hub = FakeHub(broker.bus()).start()
    config = Config(board=BoardSection(id="b1", state_dir=str(tmp_path)))
    factory = SimulatedFactory(ManualClock())
    with (
        BeamPins(factory, pin=17) as pins,
        Service(config, "beam", ManualClock(), bus=broker.bus(), signals=False) as service,
    ):
        service.beat()
        hub.request("b1", "self-test", service.reporter.boot)
        service.beat()
        obey(service.reporter, Watch(pins, 0), 5)
        assert service.reporter.vitals.bad_messages == 1
