"""The beam's daemon as a process of its own: a twin on one side, a real broker and a hub on the other."""

from __future__ import annotations

import contextlib
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_py.beam import daemon, twin
from hardware.line import LineError
from hub.link.config import BeamSection, BoardSection, Config, MqttSection, config_toml
from hub.link.messages import BeamCandidate, BeamEpisode, BeamFault, BeamPass
from hub.link.mqtt import MqttBus
from tests.beam.faketwin import FakeTwin
from tests.conftest import PROJECT, BrokerProcess
from tests.firmware.fakehub import FakeHub

MS = 1_000_000


class Table:
    """One board: its daemon, its twin, the broker and the hub."""

    def __init__(self, folder: Path, broker: BrokerProcess, *, self_test_s: float = 0.0) -> None:
        self.folder = folder
        self.broker = broker
        self.config = Config(
            board=BoardSection(id="b1", state_dir=str(folder / "state"), twin=str(folder / "twin.sock")),
            mqtt=MqttSection(url=broker.url),
            beam=BeamSection(source="twin", self_test_s=self_test_s),
        )
        (folder / "board.toml").write_text(config_toml(self.config))
        self.twin = FakeTwin(folder)
        self.hubs: list[FakeHub] = []
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.log = folder / "beam.log"

    def start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as out:
            daemon = subprocess.Popen(
                [sys.executable, "-m", "crokinole", "beam", "--config", str(self.folder / "board.toml")],
                stderr=out,
                stdout=out,
                cwd=PROJECT,
            )
        self.daemons.append(daemon)
        return daemon

    def hub(self) -> FakeHub:
        hub = FakeHub(MqttBus(self.broker.url, f"hub-{secrets.token_hex(4)}")).start()
        hub.wait_for("connection")
        self.hubs.append(hub)
        return hub

    def close(self) -> None:
        for process in self.daemons:
            process.kill()
            process.wait(10)
        for hub in self.hubs:
            hub.bus.close()
        self.twin.__exit__()


@pytest.fixture
def table(tmp_path: Path, any_broker: BrokerProcess) -> Iterator[Table]:
    """A table on each real broker in turn."""
    table = Table(tmp_path, any_broker)
    yield table
    table.close()


@pytest.fixture
def home(tmp_path: Path, embedded_broker: BrokerProcess) -> Iterator[Table]:
    """A table on the embedded broker."""
    table = Table(tmp_path, embedded_broker)
    yield table
    table.close()


def drop(twin: FakeTwin, at_ms: float, *, lifted_ms: float | None = None) -> None:
    """A disc falls into the hole; the twin's clock goes on until it has been told."""
    twin.edge(at_ms, blocked=True)
    twin.step(at_ms + 100)
    twin.step(at_ms + 250)
    if lifted_ms is not None:
        twin.edge(lifted_ms, blocked=False)
        twin.step(lifted_ms + 400)


def test_a_twenty_from_the_twins_edge_to_the_hub(table: Table) -> None:
    hub = table.hub()
    table.start()
    table.twin.meet()
    table.twin.step(100)
    drop(table.twin, 1000, lifted_ms=2500)
    assert hub.facts() == [
        BeamCandidate(1, 1000 * MS, 1200 * MS),
        BeamEpisode(1, 1000 * MS, 1500.0, 0),
    ]
    assert [(e.seq, e.first, e.mono_ns) for e in hub.arrivals] == [(1, 1, 1250 * MS), (2, 2, 2900 * MS)]


def test_taken_means_that_the_hub_has_it(home: Table) -> None:
    home.start()
    home.twin.meet()
    home.twin.step(100)
    home.twin.edge(1000, blocked=True)
    home.twin.tick(1300)
    assert home.twin.taken(1.0) is None, "nobody has acknowledged"
    hub = home.hub()
    taken = home.twin.taken()
    assert taken is not None
    assert (taken["boot"], taken["seq"]) == (hub.arrivals[0].boot, 1)
    assert hub.facts() == [BeamCandidate(1, 1000 * MS, 1200 * MS)]


def test_the_twin_is_asked_for_a_tick_at_the_next_deadline(home: Table) -> None:
    home.hub()
    home.start()
    home.twin.meet()
    assert home.twin.step(100)["wake_ns"] == 0
    home.twin.edge(1000, blocked=True)
    assert home.twin.step(1010)["wake_ns"] == 1200 * MS
    home.twin.edge(1050, blocked=False)
    assert home.twin.step(1060)["wake_ns"] == 1110 * MS + 1


def test_self_tests_are_announced_and_their_edges_do_not_count(tmp_path: Path, embedded_broker: BrokerProcess) -> None:
    table = Table(tmp_path, embedded_broker, self_test_s=30.0)
    try:
        hub = table.hub()
        table.start()
        table.twin.meet()
        wake_ns = table.twin.step(10)["wake_ns"]
        table.twin.step(wake_ns / MS)
        (off_ns, off), (on_ns, on) = table.twin.emitter
        assert (off, on) == (False, True)
        assert on_ns - off_ns == 10 * MS
        table.twin.edge(off_ns / MS + 0.3, blocked=True)
        table.twin.step(off_ns / MS + 5)
        table.twin.edge(on_ns / MS + 0.3, blocked=False)
        table.twin.step(on_ns / MS + 2000)
        assert hub.facts() == []
        # The next test finds the wire cut.
        wake_ns = table.twin.step(on_ns / MS + 40_000)["wake_ns"]
        table.twin.step(wake_ns / MS + 100)
        assert hub.facts() == [BeamFault("receiver", table.twin.emitter[2][0] + 5 * MS + 1)]
    finally:
        table.close()


def test_a_daemon_killed_with_a_disc_in_the_hole_does_not_count_it_again(table: Table) -> None:
    hub = table.hub()
    first = table.start()
    table.twin.meet()
    table.twin.step(100)
    drop(table.twin, 1000)
    first.kill()
    first.wait(10)
    table.twin.hang_up()
    table.twin.blocked = True
    table.start()
    table.twin.meet()
    table.twin.step(1300)
    table.twin.step(4000)
    table.twin.edge(5000, blocked=False)
    table.twin.step(5400)
    drop(table.twin, 6000, lifted_ms=6500)
    candidates = [fact for fact in hub.facts() if isinstance(fact, BeamCandidate)]
    assert [fact.at_ns for fact in candidates] == [1200 * MS, 6200 * MS]
    faults = [(fact.name, fact.over) for fact in hub.facts() if isinstance(fact, BeamFault)]
    assert faults == [("blocked_at_start", False), ("blocked_at_start", True)]


def test_a_twin_that_tells_the_level_by_an_edge_before_its_first_tick(home: Table) -> None:
    hub = home.hub()
    home.start()
    home.twin.meet()
    home.twin.edge(900, blocked=True)
    home.twin.step(1000)
    home.twin.step(5000)
    assert hub.facts() == [BeamFault("blocked_at_start", 1000 * MS)]


def test_a_broker_that_restarts_loses_and_doubles_nothing(table: Table) -> None:
    hub = table.hub()
    table.start()
    table.twin.meet()
    table.twin.step(100)
    drop(table.twin, 1000, lifted_ms=1500)
    table.broker.stop()
    table.twin.edge(3000, blocked=True)
    table.twin.edge(3100, blocked=False)
    table.twin.tick(3500)
    table.broker.start()
    assert table.twin.taken() is not None
    drop(table.twin, 5000, lifted_ms=5500)
    facts = hub.facts()
    assert [type(fact) for fact in facts] == [BeamCandidate, BeamEpisode, BeamPass, BeamCandidate, BeamEpisode]
    assert [seq for _, _, _, seq in hub.journal] == [1, 2, 3, 4, 5]


def test_a_broker_that_is_away_at_the_start_is_said_once_and_facts_wait(home: Table) -> None:
    home.broker.stop()
    home.twin.lockstep = False
    home.start()
    home.twin.meet()
    home.twin.step(100)
    drop(home.twin, 1000, lifted_ms=1500)
    home.broker.start()
    hub = home.hub()
    assert len(hub.wait_facts(2)) == 2
    lines = [line for line in home.log.read_text().splitlines() if "is away" in line]
    assert len(lines) == 1


def test_at_real_speed_nobody_waits_for_the_hub(home: Table) -> None:
    home.twin.lockstep = False
    home.start()
    home.twin.meet()
    home.twin.step(100)
    drop(home.twin, 1000)
    hub = home.hub()
    assert hub.wait_facts(1) == [BeamCandidate(1, 1000 * MS, 1200 * MS)]


def test_a_twin_that_goes_away_is_waited_for(home: Table) -> None:
    hub = home.hub()
    home.start()
    home.twin.meet()
    home.twin.step(100)
    drop(home.twin, 1000, lifted_ms=1500)
    home.twin.hang_up()
    home.twin.meet()
    home.twin.step(2000)
    drop(home.twin, 3000, lifted_ms=3500)
    assert [fact.at_ns // MS for fact in hub.facts() if isinstance(fact, BeamCandidate)] == [1200, 3200]


@pytest.mark.parametrize("rubbish", [{"is": "edge"}, {"is": "tick", "at_ns": "soon"}, {"is": "emitter"}, {"at_ns": 1}])
def test_a_twin_that_speaks_another_language_is_hung_up_on_and_met_again(home: Table, rubbish: dict[str, str]) -> None:
    hub = home.hub()
    home.start()
    home.twin.meet()
    home.twin.step(100)
    home.twin.say(rubbish)
    home.twin.meet()
    home.twin.step(200)
    drop(home.twin, 1000)
    assert len(hub.facts()) == 1
    assert "expected an edge, the emitter or a tick" in home.log.read_text()


def test_sigterm_ends_it_with_a_goodbye(home: Table) -> None:
    hub = home.hub()
    process = home.start()
    home.twin.meet()
    home.twin.step(100)
    while ("beam", "online") not in hub.status:
        hub.wait_for("status")
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    while hub.status[-1:] != [("beam", "offline")]:
        hub.wait_for("status")


def test_sigterm_ends_it_also_while_it_waits_for_the_hub(home: Table) -> None:
    process = home.start()
    home.twin.meet()
    home.twin.step(100)
    home.twin.edge(1000, blocked=True)
    home.twin.tick(1300)
    assert home.twin.taken(0.5) is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


def test_a_daemon_that_dies_is_offline_for_the_hub(table: Table) -> None:
    hub = table.hub()
    process = table.start()
    table.twin.meet()
    table.twin.step(100)
    while ("beam", "online") not in hub.status:
        hub.wait_for("status")
    process.kill()
    while hub.status[-1] != ("beam", "offline"):
        hub.wait_for("status", timeout_s=10)


def test_a_second_daemon_ends_at_once(home: Table) -> None:
    home.hub()
    home.start()
    home.twin.meet()
    home.twin.step(100)
    second = home.start()
    assert second.wait(20) == 3
    assert "another beam daemon of this board is running" in home.log.read_text()
    home.twin.step(200)


def test_a_request_for_a_self_test_is_obeyed(tmp_path: Path, embedded_broker: BrokerProcess) -> None:
    table = Table(tmp_path, embedded_broker, self_test_s=0.0)
    try:
        hub = table.hub()
        table.start()
        table.twin.meet()
        table.twin.step(100)
        while "beam" not in hub.health:
            hub.wait_for("health")
        hub.request("b1", "self-test", hub.health["beam"].boot)
        at_ms = 200
        while not table.twin.emitter:
            table.twin.step(at_ms)
            at_ms += 10
        assert [on for _, on in table.twin.emitter] == [False, True]
    finally:
        table.close()


def test_health_tells_what_the_beam_can(home: Table) -> None:
    hub = home.hub()
    home.start()
    home.twin.meet()
    home.twin.step(100)
    while "beam" not in hub.health:
        hub.wait_for("health")
    assert hub.health["beam"].capabilities == ("twenties",)
    assert len(hub.health["beam"].boot) == 32


class TestWhatIsMissingAtTheStart:
    """One line on stderr and the right exit status."""

    @staticmethod
    def line(config: Config, capsys: pytest.CaptureFixture[str], status: int) -> str:
        assert daemon.run(config) == status
        (line,) = capsys.readouterr().err.splitlines()
        return line

    @staticmethod
    def settings(folder: Path, **beam: object) -> Config:
        return Config(
            board=BoardSection(id="b1", state_dir=str(folder), twin=str(folder / "no.sock")),
            mqtt=MqttSection(url="mqtt://127.0.0.1:1"),
            beam=BeamSection(**beam),  # type: ignore[arg-type]
        )

    def test_no_twin(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(twin, "FIRST_WAIT_S", 0.0)
        line = self.line(self.settings(tmp_path, source="twin"), capsys, 3)
        assert "no.sock" in line

    def test_no_name_of_a_twin(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        config = Config(board=BoardSection(state_dir=str(tmp_path)), beam=BeamSection(source="twin"))
        assert "[board] twin" in self.line(config, capsys, 2)

    @pytest.mark.skipif(Path("/dev/gpiochip0").exists(), reason="this machine has GPIO pins")
    def test_no_pins(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LG_WD", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        assert "source = 'gpio'" in self.line(self.settings(tmp_path, source="gpio"), capsys, 3)

    def test_no_broker_in_the_url(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        config = Config(
            board=BoardSection(state_dir=str(tmp_path), twin="x"),
            mqtt=MqttSection(url="http://example"),
            beam=BeamSection(source="twin"),
        )
        assert "expected mqtt://" in self.line(config, capsys, 2)

    def test_no_password_file(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        config = Config(
            board=BoardSection(state_dir=str(tmp_path), twin="x"),
            mqtt=MqttSection(password_file=str(tmp_path / "secret")),
            beam=BeamSection(source="twin"),
        )
        assert "secret" in self.line(config, capsys, 2)

    def test_a_state_folder_that_cannot_be_made(self, capsys: pytest.CaptureFixture[str]) -> None:
        config = Config(board=BoardSection(state_dir="/proc/1/x", twin="x"), beam=BeamSection(source="twin"))
        assert "state_dir" in self.line(config, capsys, 3)

    def test_a_file_in_place_of_the_state_folder(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "state").write_text("")
        config = Config(
            board=BoardSection(state_dir=str(tmp_path / "state"), twin="x"), beam=BeamSection(source="twin")
        )
        assert "state_dir" in self.line(config, capsys, 3)


def test_sigterm_ends_it_also_in_the_rush_of_lock_step(home: Table) -> None:
    home.hub()
    process = home.start()
    home.twin.meet()
    at_ms = 0
    with contextlib.suppress(LineError):
        while process.poll() is None:
            at_ms += 1
            home.twin.step(at_ms)
            if at_ms == 200:
                process.send_signal(signal.SIGTERM)
            assert at_ms < 100_000
    assert process.wait(20) == 0
