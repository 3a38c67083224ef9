"""The dashboard's process: one clear line when it cannot start, patience when the broker is away, a clean end."""

from __future__ import annotations

import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dashboard import service
from dashboard.cases import KEPT_S, Cases
from hub.link import topics
from hub.link.config import BoardSection, Config, HubSection, MqttSection
from hub.link.messages import encode
from hub.link.pictures import Evidence
from tests.conftest import BrokerProcess, embedded_broker_process
from tests.dashboard.running import Running, config_for, publish_all
from tests.dashboard.samples import playing
from tests.hub.harness import TOKEN, Club


@pytest.fixture(autouse=True)
def _never_serve_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def serve(*_: object) -> int:
        pytest.fail("it would have started")

    monkeypatch.setattr(service, "_serve", serve)


def refused(config: Config, capfd: pytest.CaptureFixture[str], status: int) -> str:
    assert service.run(config) == status
    captured = capfd.readouterr().err
    assert captured.count("\n") == 1, captured
    return captured


def test_a_taken_port_is_told_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        line = refused(config_for(tmp_path, port=port), capfd, 3)
    assert f"127.0.0.1:{port} is taken" in line


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"host": "192.0.2.1"}, "no address of this machine"),
        ({"host": "no such host"}, "[dashboard] host: no machine is called 'no such host'"),
        ({"host": ""}, "[dashboard] host: no machine is called ''"),
        ({"host": "a..b"}, "[dashboard] host: no machine is called 'a..b'"),
        ({"host": "x" * 64}, f"[dashboard] host: no machine is called '{'x' * 64}'"),
        ({"port": -1}, "from 0 to 65535"),
        ({"port": 70000}, "from 0 to 65535"),
    ],
)
def test_an_impossible_address(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], changes: dict[str, Any], words: str
) -> None:
    assert words in refused(config_for(tmp_path, **changes), capfd, 2 if "port" in changes else 3)


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "dashboard.secret"
    secret.write_text("k" * 64)
    secret.chmod(0o644)
    assert "0600" in refused(config_for(tmp_path), capfd, 2)


def test_a_short_secret_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "dashboard.secret"
    secret.touch(0o600)
    assert "at least 32" in refused(config_for(tmp_path), capfd, 2)


def test_a_secret_that_cannot_be_made_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert "cannot be made" in refused(config_for(tmp_path, secret_file=str(tmp_path / "file" / "x")), capfd, 3)


def test_an_unknown_board_preset_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = replace(config_for(tmp_path), board=BoardSection(preset="moon"))
    assert "'moon'" in refused(config, capfd, 2)


def test_a_broker_url_that_is_none_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = replace(config_for(tmp_path), mqtt=MqttSection("http://x"))
    assert "mqtt://host" in refused(config, capfd, 2)


# ---- the real process


@pytest.fixture
def broker() -> Iterator[BrokerProcess]:
    broker = embedded_broker_process()
    yield broker
    broker.stop()


@pytest.fixture
def dashboard(tmp_path: Path, broker: BrokerProcess) -> Iterator[Running]:
    running = Running(replace(config_for(tmp_path), mqtt=MqttSection(broker.url)), tmp_path)
    yield running
    if running.process.poll() is None:
        running.signal(signal.SIGKILL)
        running.process.wait(10)


def test_the_broker_may_come_later_and_go_and_come_again(
    dashboard: Running, broker: BrokerProcess, tmp_path: Path
) -> None:
    assert dashboard.get("/healthz") == (503, {"ok": False, "broker": False, "hub": False})
    for _ in range(2):
        broker.start()
        publish_all(broker.url, {topics.HUB_STATUS: b"online", topics.table("board-1"): encode(playing("board-1"))})
        # An open stream tells when the broker has come; its first snapshot may still be from before.
        with urllib.request.urlopen(f"{dashboard.url}/api/1/stream", timeout=20) as stream:
            for line in stream:
                if line.startswith(b"data: ") and b'"hub":true' in line and b'"board-1"' in line:
                    break
        assert dashboard.get("/healthz")[0] == 200
        broker.stop()
        with urllib.request.urlopen(f"{dashboard.url}/api/1/stream", timeout=20) as stream:
            for line in stream:
                if line.startswith(b"data: ") and b'"broker":false' in line:
                    assert b'"board-1"' in line  # the last known is still shown
                    break
    assert dashboard.stop() == 0
    told = dashboard.log.read_text()
    assert "Traceback" not in told
    assert (tmp_path / "dashboard.secret").stat().st_mode & 0o777 == 0o600


def test_it_ends_soon_although_somebody_listens(dashboard: Running) -> None:
    with urllib.request.urlopen(f"{dashboard.url}/api/1/stream", timeout=10) as stream:
        assert stream.readline().startswith(b"retry")
        assert dashboard.stop() == 0
    assert "Traceback" not in dashboard.log.read_text()


def test_a_second_start_keeps_the_cookies_of_the_first(tmp_path: Path, broker: BrokerProcess) -> None:
    keys = []
    for _ in range(2):
        running = Running(replace(config_for(tmp_path), mqtt=MqttSection(broker.url)), tmp_path)
        keys.append((tmp_path / "dashboard.secret").read_text())
        running.get("/healthz")  # its worker is there, so it has taken charge of signals
        assert running.stop() == 0
    assert keys[0] == keys[1]


def test_what_must_go_is_erased_when_the_process_starts(tmp_path: Path) -> None:
    """Pictures that are a week old, and those of somebody whom another program let be forgotten meanwhile."""
    hub = Club(tmp_path, ("b1",))
    matches = []
    for name in ("Ann", "Ben"):
        assert hub.ask("start", {"names": {"A": name}}).ok
        assert hub.ask("concede", {"side": "B", "what": "round"}).ok
        matches.append(hub.table("b1").match_id)
        assert hub.ask("abandon", {}).ok
    assert hub.ask("forget", {"name": "Ann"}, "hub", token=f"{TOKEN}-organiser").ok
    hub.close()
    now_s = time.time()
    for number, match, age_s in ((1, matches[0], 0), (2, matches[1], 0), (3, matches[1], KEPT_S + 60)):
        cases = Cases(tmp_path / "cases", now_s=lambda age_s=age_s: now_s - age_s)
        cases.keep("b1", Evidence(f"{match}.q{number}", "", 0, 0), (b"", b""))
    config = replace(config_for(tmp_path), hub=HubSection(database=hub.url))
    running = Running(config, tmp_path)
    try:
        pause = threading.Event()
        for _ in range(400):
            kept = [case.case for case in Cases(tmp_path / "cases").of("b1")]
            if len(kept) < 2:
                break
            pause.wait(0.025)
        assert kept == [f"{matches[1]}.q2"]
    finally:
        running.signal(signal.SIGKILL)
        running.process.wait(10)
    assert "Traceback" not in running.log.read_text()
