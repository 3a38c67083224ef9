"""The frame of every daemon: lock, signals, systemd, state folder."""

from __future__ import annotations

import errno
import logging
import os
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_py import settings
from firmware_py.errors import AlreadyRunningError, StateError
from firmware_py.health import Vitals, processor_temperature_c
from firmware_py.inbox import Inbox, wait_any
from firmware_py.service import Service
from hub.link import topics
from hub.link.bus import Message
from hub.link.clock import ManualClock
from hub.link.config import BoardSection, Config, ConfigError, MqttSection, config_toml
from hub.link.memory import MemoryBroker
from hub.link.messages import BeamWarning
from hub.link.mqtt import MqttBus
from tests.conftest import BrokerProcess
from tests.firmware.fakehub import FakeHub


@pytest.fixture
def broker() -> MemoryBroker:
    return MemoryBroker()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(board=BoardSection(id="b1", state_dir=str(tmp_path / "state")))


@pytest.fixture
def notified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """What systemd hears."""
    systemd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    systemd.bind(str(tmp_path / "notify"))
    systemd.setblocking(False)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    yield systemd
    systemd.close()


@pytest.fixture
def kept_signals() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def service(config: Config, broker: MemoryBroker, *, signals: bool = False) -> Service:
    return Service(config, "beam", ManualClock(), bus=broker.bus(), signals=signals)


def test_a_daemon_is_online_while_it_runs(config: Config, broker: MemoryBroker) -> None:
    status = topics.status("b1", "beam")
    with service(config, broker) as running:
        running.beat()
        assert broker.retained[status] == b"online"
    assert broker.retained[status] == b"offline"


def test_facts_survive_from_one_run_to_the_next(config: Config, broker: MemoryBroker) -> None:
    with service(config, broker) as first:
        first.reporter.report(BeamWarning("stuck", 1))
    hub = FakeHub(broker.bus()).start()
    with service(config, broker) as second:
        second.reporter.report(BeamWarning("stuck", 2))
        assert second.wait_acknowledged()
    assert hub.facts() == [BeamWarning("stuck", 1), BeamWarning("stuck", 2)]
    boots = [boot for _, _, boot, _ in hub.journal]
    assert boots[0] != boots[1]


def test_the_hub_gets_a_moment_to_acknowledge_before_the_goodbye(config: Config, broker: MemoryBroker) -> None:
    hub = FakeHub(broker.bus()).start()
    with service(config, broker) as running:
        running.reporter.report(BeamWarning("stuck", 1))
    assert hub.facts() == [BeamWarning("stuck", 1)]
    assert running.reporter.outstanding == 0


def test_a_second_daemon_of_a_source_is_refused_until_the_first_is_gone(config: Config, broker: MemoryBroker) -> None:
    with service(config, broker):
        with pytest.raises(AlreadyRunningError, match="another beam daemon"):
            service(config, broker)
        Service(config, "camera", ManualClock(), bus=broker.bus(), signals=False).close()
    service(config, broker).close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.usefixtures("kept_signals")
def test_a_signal_wakes_and_ends_the_work_loop(config: Config, broker: MemoryBroker, number: signal.Signals) -> None:
    with service(config, broker, signals=True) as running:
        assert not running.stopping
        os.kill(os.getpid(), number)
        while not running.stopping:
            running.wait(1.0)
        assert not running.wait_acknowledged()


def test_stop_may_be_asked_from_another_thread(config: Config, broker: MemoryBroker) -> None:
    with service(config, broker) as running:
        running.reporter.report(BeamWarning("stuck", 1))
        thread = threading.Thread(target=running.stop)
        thread.start()
        assert running.wait_acknowledged() is False
        thread.join()


def test_systemd_hears_ready_watchdog_and_stopping(
    config: Config, broker: MemoryBroker, notified: socket.socket
) -> None:
    with service(config, broker) as running:
        running.beat()
        running.beat()
        assert [notified.recv(64), notified.recv(64)] == [b"READY=1", b"WATCHDOG=1"]
        with pytest.raises(BlockingIOError):
            notified.recv(64)
    assert notified.recv(64) == b"STOPPING=1"


def test_the_watchdog_is_petted_by_the_work_loop_alone(
    config: Config, broker: MemoryBroker, notified: socket.socket
) -> None:
    with service(config, broker) as running:
        running.wait(0.0)
        assert notified.recv(64) == b"READY=1"
        with pytest.raises(BlockingIOError):
            notified.recv(64)


class TestStateFolder:
    def test_it_is_made(self, config: Config, broker: MemoryBroker) -> None:
        service(config, broker).close()
        assert Path(config.board.state_dir, "beam-outbox.sqlite3").is_file()

    @pytest.mark.parametrize("number", [errno.EACCES, errno.ENOTDIR])
    def test_one_that_cannot_be_made_is_said(
        self, config: Config, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(Path, "mkdir", refuse)
        with pytest.raises(StateError, match=r"\[board\] state_dir"):
            settings.state_dir(config)

    @pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC])
    def test_a_full_or_read_only_medium_is_no_reason_to_end(
        self, config: Config, broker: MemoryBroker, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        Path(config.board.state_dir).mkdir(parents=True)
        real_open = os.open

        def refuse(path: str, flags: int, *rest: int, **settings: int) -> int:
            if str(path).endswith(".lock"):
                raise OSError(number, os.strerror(number))
            return real_open(path, flags, *rest, **settings)

        monkeypatch.setattr(os, "open", refuse)
        service(config, broker).close()


class TestIdentity:
    def test_the_machine_is_known_by_the_kernels_boot(self) -> None:
        boot = settings.machine_boot()
        assert uuid.UUID(boot)
        assert settings.machine_boot() == boot

    def test_without_a_kernel_that_tells_it_is_an_id_of_this_process(self, tmp_path: Path) -> None:
        nowhere = tmp_path / "boot_id"
        assert uuid.UUID(settings.machine_boot(nowhere))
        assert settings.machine_boot(nowhere) == settings.machine_boot(nowhere)

    def test_whether_the_wall_clock_is_synchronised_is_known_without_a_child_process(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def forbidden(*_: object) -> None:
            raise AssertionError("forked")

        monkeypatch.setattr(os, "fork", forbidden)
        assert settings.clock_synchronised() in {True, False}

    def test_the_software_has_a_version(self) -> None:
        assert settings.version()


class TestBroker:
    def test_a_secret_that_others_may_read_is_refused(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("hush")
        secret.chmod(0o644)
        config = Config(mqtt=MqttSection(password_file=str(secret)))
        with pytest.raises(ConfigError, match="0600"):
            settings.make_bus(config, "beam")

    def test_a_failed_start_frees_the_lock(self, config: Config, broker: MemoryBroker, tmp_path: Path) -> None:
        bad = Config(board=config.board, mqtt=MqttSection(password_file=str(tmp_path / "none")))
        with pytest.raises(ConfigError):
            Service(bad, "beam", ManualClock(), signals=False)
        service(config, broker).close()


class TestInbox:
    def test_items_keep_their_order_and_wake_the_loop(self) -> None:
        inbox: Inbox[int] = Inbox()
        assert inbox.drain() == []
        for n in range(3):
            inbox.put(n)
        wait_any(10.0, inbox)
        assert inbox.drain() == [0, 1, 2]
        assert select.select([inbox], [], [], 0)[0] == []
        inbox.close()

    def test_more_items_than_the_pipe_holds_bytes(self) -> None:
        inbox: Inbox[int] = Inbox()
        for n in range(100_000):
            inbox.put(n)
        assert inbox.drain() == list(range(100_000))
        assert select.select([inbox], [], [], 0)[0] == []
        inbox.close()

    def test_a_late_item_after_the_end_does_no_harm(self) -> None:
        inbox: Inbox[int] = Inbox()
        inbox.close()
        inbox.put(1)


class TestVitals:
    def test_a_temperature_is_read_where_the_kernel_tells(self, tmp_path: Path) -> None:
        thermal = tmp_path / "temp"
        assert processor_temperature_c(thermal) is None
        thermal.write_text("48312\n")
        assert processor_temperature_c(thermal) == 48.0
        thermal.write_text("warm")
        assert processor_temperature_c(thermal) is None

    def test_faults_stand_in_the_order_they_came(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.WARNING)
        vitals = Vitals(version="1", source="camera", boot="b", temperature_c=lambda: 50.0)
        vitals.fault("stall")
        vitals.fault("dark", "no light")
        vitals.fault("stall", "still")
        vitals.frame_rate_hz = 14.987
        health = vitals.health(7)
        assert health.faults == ("stall", "dark")
        assert (health.outbox, health.frame_rate_hz, health.temperature_c, health.boot) == (7, 15.0, 50.0, "b")
        vitals.well("stall")
        vitals.well("never stood")
        assert vitals.faults == ("dark",)
        assert len(caplog.records) == 3


@pytest.mark.parametrize("source", ["beam", "camera"])
def test_a_board_without_a_device_idles_unseen_until_it_is_stopped(
    source: str, mosquitto: BrokerProcess, tmp_path: Path
) -> None:
    """Nobody may count on a sensor that is not there."""
    config = tmp_path / "board.toml"
    config.write_text(config_toml(Config(board=BoardSection(state_dir=str(tmp_path)), mqtt=MqttSection(mosquitto.url))))
    bus = MqttBus(mosquitto.url, "listener")
    heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
    connected: queue.SimpleQueue[bool] = queue.SimpleQueue()
    bus.subscribe("crokinole/#", heard.put)
    bus.on_connection(connected.put)
    bus.start()
    assert connected.get(timeout=20)
    argv = [sys.executable, "-m", "crokinole", source, "--config", str(config)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "source = 'none'" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""
    bus.publish("crokinole/last", b"")
    assert heard.get(timeout=20).topic == "crokinole/last"
    bus.close()
