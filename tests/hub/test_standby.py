"""Two hubs on one database: by mistake one is refused by name, on purpose one waits and takes over."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from hub.link import topics
from hub.link.bus import Message
from hub.link.config import Config, HubSection, MqttSection, config_toml
from hub.link.messages import BeamCandidate, decode, encode
from hub.link.mqtt import MqttBus
from hub.link.snapshot import Seen, Table
from hub.store.engine import StoreBusyError, StoreError, open_engine, parse_url
from hub.store.journal import Batch, Journal
from hub.store.lock import _KEEPALIVES
from tests.conftest import BrokerProcess
from tests.contract.test_store import line
from tests.hub.harness import Outbox, S
from tests.postgres import empty_database

WAIT_S = 30.0


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'hub.sqlite3'}"
    else:
        with empty_database() as url:
            yield url


class Pair:
    """Two hub processes, a broker, and a board that re-sends."""

    def __init__(self, broker: BrokerProcess, url: str, folder: Path) -> None:
        self.config = folder / "hub.toml"
        hub = HubSection(database=url, standby=True)
        self.config.write_text(config_toml(Config(mqtt=MqttSection(url=broker.url), hub=hub)))
        self.heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.bus = MqttBus(broker.url, "test-board")
        self.bus.subscribe(f"{topics.ROOT}/#", self.heard.put)
        up: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.bus.on_connection(up.put)
        self.bus.start()
        assert up.get(timeout=WAIT_S)
        self.outbox = Outbox("b1", "beam")
        self.processes: list[subprocess.Popen[str]] = []

    def hub(self) -> subprocess.Popen[str]:
        argv = [sys.executable, "-m", "crokinole", "hub", "--config", str(self.config)]
        self.processes.append(subprocess.Popen(argv, stderr=subprocess.PIPE, text=True))
        return self.processes[-1]

    def until(self, topic: str, payload: bytes | None = None) -> bytes:
        while True:
            message = self.heard.get(timeout=WAIT_S)
            if message.topic == topic and payload in {None, message.payload}:
                return message.payload

    def send(self, episode: int) -> Table:
        sent = self.outbox.put(BeamCandidate(episode, episode * S, episode * S), episode * S)
        self.bus.publish(topics.fact("b1", "beam"), encode(sent))
        while True:
            table = decode(self.until(topics.table("b1")), Table)
            if table.seen.get("beam") == Seen("boot-1", episode):
                return table

    def close(self) -> None:
        self.bus.close()
        for process in self.processes:
            process.kill()
            process.communicate()


def said(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    while text not in (told := process.stderr.readline()):
        assert told, f"it never said {text!r}"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_second_hub_waits_and_takes_over_when_the_first_dies(
    embedded_broker: BrokerProcess, tmp_path: Path, kind: str
) -> None:
    with database(kind, tmp_path) as url:
        pair = Pair(embedded_broker, url, tmp_path)
        try:
            first = pair.hub()
            pair.until(topics.HUB_STATUS, b"online")
            assert pair.send(1).practice == 1
            second = pair.hub()
            said(second, f"in use by the hub, process {first.pid} on ")
            assert pair.send(2).practice == 2
            first.kill()
            pair.until(topics.HUB_STATUS, b"offline")
            pair.until(topics.HUB_STATUS, b"online")
            assert pair.send(3).practice == 3
            third = pair.hub()
            said(third, f"in use by the hub, process {second.pid} on ")
            third.send_signal(signal.SIGTERM)
            assert third.wait(WAIT_S) == 0
        finally:
            pair.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_second_hub_that_was_not_told_to_stand_by_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    with database(kind, tmp_path) as url:
        first = Journal(url)
        with pytest.raises(StoreError, match="is in use by the hub, process"):
            Journal(url)
        first.close()
        Journal(url).close()


def cut(url: str) -> None:
    """The server ends the connection of whoever holds the lock, as when the network was away for long."""
    engine = open_engine(parse_url(url))
    with engine.begin() as connection:
        connection.execute(
            sa.text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'the hub, %'")
        )
    engine.dispose()


def test_a_hub_whose_connection_broke_goes_on_if_nobody_was_there_meanwhile() -> None:
    with empty_database() as url:
        journal = Journal(url)
        journal.write(Batch(entries=[line(1)]))
        cut(url)
        with pytest.raises(StoreBusyError):
            journal.write(Batch(entries=[line(2)]))
        journal.write(Batch(entries=[line(2)]))
        assert [entry.id for entry in journal.entries("b1")] == [1, 2]
        with pytest.raises(StoreError, match="is in use by"):
            Journal(url)
        journal.close()


def test_the_server_looks_often_whether_the_hub_is_still_there() -> None:
    """Else a machine that lost its power would keep the lock for two hours."""
    with empty_database() as url:
        journal = Journal(url)
        lock = journal._lock
        assert lock is not None
        with lock.writing() as (connection, _):
            settings = [connection.scalar(sa.text(f"SELECT current_setting('{name}')::text")) for name in _KEEPALIVES]
        assert settings == list(_KEEPALIVES.values())
        journal.close()


def test_a_hub_that_lost_its_lock_writes_nothing_over_its_successor() -> None:
    with empty_database() as url:
        old = Journal(url)
        old.write(Batch(entries=[line(1)]))
        cut(url)
        new = Journal(url)
        new.write(Batch(entries=[line(2)]))
        with pytest.raises(StoreBusyError):
            old.write(Batch(entries=[line(2, 3)]))
        with pytest.raises(StoreError, match="was taken over by the hub, process"):
            old.write(Batch(entries=[line(2, 3)]))
        new.close()
        with pytest.raises(StoreError, match="has changed while it was away"):
            old.write(Batch(entries=[line(2, 3)]))
        assert [entry.seq for entry in old.entries("b1")] == [1, 2]
        old.close()
