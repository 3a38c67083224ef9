"""The hub among brokers: acknowledgements, snapshots, sensors that vanish, rubbish on the line, and a clean end."""

from __future__ import annotations

import logging
import queue
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.link import topics
from hub.link.bus import Message
from hub.link.config import Config, HubSection, MqttSection, config_toml
from hub.link.messages import Ack, Answer, BeamCandidate, BeamPass, Health, decode, encode
from hub.link.mqtt import MqttBus
from hub.link.snapshot import Seen, Table
from hub.store.engine import StoreBusyError
from hub.store.journal import Batch
from hub.view import table_of
from tests.conftest import BrokerProcess
from tests.hub.conftest import MEMORY
from tests.hub.harness import TOKEN, Club, Outbox, S

WAIT_S = 20.0


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path, ("b1", "b2"))
    yield club
    club.close()


def published(club: Club, topic: str) -> list[bytes]:
    return [message.payload for message in club.broker.log if message.topic == topic]


def a_pass(episode: int) -> BeamPass:
    return BeamPass(episode, S, 50.0)


def test_every_batch_is_acknowledged_and_shown(club: Club) -> None:
    for episode in range(1, 4):
        club.fact("beam", a_pass(episode), episode * S)
        assert club.table().seen == {"beam": Seen("boot-1", episode)}
    acks = [decode(payload, Ack) for payload in published(club, topics.ack("b1", "beam"))]
    assert [ack.seq for ack in acks] == [1, 2, 3]


def test_facts_that_came_together_are_one_batch(club: Club) -> None:
    club.broker.log.clear()
    for episode in range(1, 6):
        club.publish(club.outboxes["b1", "beam"].put(a_pass(episode), episode * S))
        club.publish(club.outboxes["b2", "beam"].put(a_pass(episode), episode * S))
    club.turn()
    assert [decode(p, Ack).seq for p in published(club, topics.ack("b1", "beam"))] == [5]
    assert len(published(club, topics.table("b1"))) == 1
    assert len(published(club, topics.table("b2"))) == 1


def test_a_duplicate_is_acknowledged_again_and_changes_nothing(club: Club) -> None:
    sent = club.outboxes["b1", "beam"].put(BeamCandidate(1, S, S), S)
    club.publish(sent)
    club.turn()
    before = club.table()
    club.publish(sent)
    club.turn()
    assert club.table() == before
    assert before.practice == 1
    assert [decode(p, Ack).seq for p in published(club, topics.ack("b1", "beam"))] == [1, 1]


def test_a_retained_fact_is_ignored(club: Club) -> None:
    sent = club.outboxes["b1", "beam"].put(BeamCandidate(1, S, S), S)
    assert club.hub is not None
    club.hub._queue.put(Message(topics.fact("b1", "beam"), encode(sent), retain=True))
    club.turn()
    assert "beam" not in club.table().seen


def test_a_hub_that_is_behind_journals_the_gap_and_goes_on(club: Club) -> None:
    outbox = club.outboxes["b1", "beam"]
    for episode in range(1, 4):
        outbox.put(a_pass(episode), episode * S)
    outbox.acked(Ack("boot-1", 3))
    club.fact("beam", a_pass(4), 4 * S)
    assert club.table().seen["beam"].seq == 4
    assert club._journal is not None
    gaps = [entry for entry in club._journal.entries("b1") if entry.kind == "gap"]
    assert [msgspec.json.decode(entry.body) for entry in gaps] == [
        {"source": "beam", "boot": "boot-1", "first": 1, "last": 3, "count": 3}
    ]
    assert club.table().sensors["beam"].faults == ("3 facts lost",)


def test_retained_tables_come_back_after_a_broker_that_forgot_them(club: Club) -> None:
    club.fact("beam", a_pass(1), S)
    club.broker.stop(forget=True)
    club.broker.start()
    club.turn()
    assert club.table().seen["beam"].seq == 1
    assert club.broker.retained[topics.HUB_STATUS] == b"online"


def test_the_hubs_status_follows_its_life(club: Club) -> None:
    assert club.broker.retained[topics.HUB_STATUS] == b"online"
    club.kill()
    assert club.broker.retained[topics.HUB_STATUS] == b"offline"
    club.start()
    assert club.broker.retained[topics.HUB_STATUS] == b"online"
    assert club.hub is not None
    club.hub.close()
    assert club.broker.retained[topics.HUB_STATUS] == b"offline"
    club.start()


@pytest.mark.parametrize("payload", [b"offline", b"", b"{", b"\xff"])
def test_nothing_that_others_say_makes_the_hub_offline(club: Club, payload: bytes) -> None:
    """Above all not the last will of a former life, which may come late."""
    club.bus.publish(topics.HUB_STATUS, payload, retain=True)
    club.turn()
    assert club.broker.retained[topics.HUB_STATUS] == b"online"


def test_a_sensor_that_vanishes_is_shown_as_offline_and_comes_back(club: Club) -> None:
    assert club.table().sensors["camera"].online
    club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    club.turn()
    assert not club.table().sensors["camera"].online
    club.restart()
    assert not club.table().sensors["camera"].online
    club.bus.publish(topics.status("b1", "camera"), b"online", retain=True)
    club.turn()
    assert club.table().sensors["camera"].online
    assert club.table("b2").sensors["camera"].online


def test_health_shows_faults_and_rates_and_fills_no_journal(club: Club) -> None:
    assert club._journal is not None
    before = club._journal.last_id
    for rate in (29.0, 30.0, 31.0):
        health = Health("1.0", faults=("dark",), frame_rate_hz=rate)
        club.bus.publish(topics.health("b1", "camera"), encode(health), retain=True)
        club.turn()
    assert club.table().sensors["camera"].faults == ("dark",)
    assert club._journal.last_id == before + 1
    club.fact("beam", a_pass(1), S)
    assert club.table().sensors["camera"].frame_rate_hz == 31.0


RUBBISH = [
    b"",
    b"\xff\xfe",
    b"[]",
    b"{}",
    b'{"board":1}',
    b"[" * 5000,
    b"x" * 70_000,
    encode(Answer("a", ok=True)),
]


@pytest.mark.parametrize("payload", RUBBISH)
@pytest.mark.parametrize(
    "topic", ["b1/fact/beam", "b1/ask/start", "b1/health/beam", "hub/ask/login", "b1/status/beam", "B1/fact/beam", "b1"]
)
def test_rubbish_is_counted_logged_once_and_skipped(
    club: Club, topic: str, payload: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            club.bus.publish(f"crokinole/1/{topic}", payload)
        club.turn()
    assert len(caplog.records) <= 1
    club.fact("beam", a_pass(1), S)
    assert club.table().seen["beam"].seq == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"board": "b2"},
        {"source": "camera"},
        {"boot": ""},
        {"boot": "a\x00b"},
        {"boot": "x" * 65},
        {"machine_boot": "a b"},
        {"first": 0},
        {"first": 3, "seq": 2},
        {"seq": 2**63},
        {"mono_ns": 2**63},
        {"wall_ms": -(2**63)},
        {"kind": "K" * 40},
        {"kind": "\x00"},
    ],
)
def test_an_envelope_that_cannot_be_stored_is_skipped(club: Club, changes: dict[str, Any]) -> None:
    sent = msgspec.structs.replace(club.outboxes["b1", "beam"].put(a_pass(1), S), **changes)
    club.bus.publish(topics.fact("b1", "beam"), encode(sent))
    club.turn()
    assert club.hub is not None
    assert club.hub.desk.bad_messages == 1
    assert "beam" not in club.table().seen


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("beam_wobble", b"{}"),
        ("beam_pass", b'{"episode":"x"}'),
        (
            "shot",
            b'{"disc":"d","colour":"light","placed":null,"events":[["hit","d"]],"rest":{},"start_ns":0,"end_ns":0}',
        ),
        (
            "shot",
            b'{"disc":"d","colour":"light","placed":null,"events":[[]],"rest":{"d":"hole"},"start_ns":0,"end_ns":0}',
        ),
        ("shot", b'{"disc":"","colour":"third","placed":null,"events":[],"rest":{"x":"hole"},"start_ns":9,"end_ns":0}'),
        ("layout", b'{"at_ns":0,"discs":[{"id":"d","colour":"light","x_mm":1e308,"y_mm":-1e308,"sigma_mm":0}]}'),
        ("layout", b'{"at_ns":0,"discs":[{"id":"d","colour":"dark","x_mm":0,"y_mm":0,"sigma_mm":-1}]}'),
    ],
)
def test_a_fact_that_makes_no_sense_is_journalled_and_does_not_stop_the_source(
    club: Club, kind: str, body: bytes
) -> None:
    club.ask("start", {"level": "judge"})
    sent = club.outboxes["b1", "camera"].put(a_pass(1), S)
    club.publish(msgspec.structs.replace(sent, kind=kind, body=msgspec.Raw(body)))
    club.turn()
    assert club.table().seen["camera"].seq == 1
    club.fact("camera", a_pass(2), 2 * S)
    assert club.table().seen["camera"].seq == 2
    club.restart()
    assert club.table().seen["camera"].seq == 2


@settings(max_examples=25, deadline=None)
@given(
    payloads=st.lists(
        st.tuples(
            st.sampled_from(["fact/beam", "fact/camera", "ask/start", "ask/correct", "health/beam"]),
            st.binary(max_size=200),
        ),
        max_size=20,
    )
)
def test_no_bytes_whatever_stop_the_hub(payloads: list[tuple[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        club = Club(Path(folder))
        for what, payload in payloads:
            club.bus.publish(f"crokinole/1/b1/{what}", payload)
        club.turn()
        club.fact("beam", a_pass(1), S)
        assert club.table().seen["beam"].seq == 1
        club.close()


def test_old_facts_are_counted_but_not_announced(club: Club) -> None:
    club.ask("start", {"level": "judge"})
    sent = club.outboxes["b1", "beam"].put(BeamCandidate(1, S, S), S)
    club.publish(msgspec.structs.replace(sent, sent_ns=sent.mono_ns + 6 * S))
    club.turn()
    assert club.table().sides["A"].provisional == 1
    assert not club.calls


def test_a_call_tells_how_old_it_is(club: Club) -> None:
    club.ask("start", {"level": "judge"})
    sent = club.outboxes["b1", "beam"].put(BeamCandidate(1, S, S), S)
    club.publish(msgspec.structs.replace(sent, sent_ns=sent.mono_ns + 2 * S))
    club.turn()
    assert [(call.clip, call.age_ms) for _, call in club.calls] == [("twenty_light", 2000)]


def test_a_full_disk_loses_nothing(club: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    assert club._journal is not None
    write = type(club._journal).write
    failures = iter([True, True, False])

    def full(self: Any, batch: Any) -> None:
        if next(failures, False):
            raise StoreBusyError("database hub.sqlite3: cannot be written: disk is full")
        write(self, batch)

    monkeypatch.setattr(type(club._journal), "write", full)
    monkeypatch.setattr("hub.service._RETRY_S", 0.0)
    club.broker.log.clear()
    club.fact("beam", a_pass(1), S)
    assert [decode(p, Ack).seq for p in published(club, topics.ack("b1", "beam"))] == [1]
    assert club._journal.last_seq("b1", "beam", "boot-1") == 1


def test_a_hub_told_to_stop_while_the_disk_is_full_acknowledges_nothing(
    club: Club, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert club._journal is not None
    assert club.hub is not None

    def full(*_: Any) -> None:
        club.hub.stop()  # type: ignore[union-attr]  # checked above
        raise StoreBusyError("database hub.sqlite3: cannot be written: disk is full")

    monkeypatch.setattr(type(club._journal), "write", full)
    monkeypatch.setattr("hub.service._RETRY_S", 0.0)
    club.broker.log.clear()
    club.fact("beam", a_pass(1), S)
    assert not published(club, topics.ack("b1", "beam"))
    monkeypatch.undo()
    club.restart()
    assert club.table().seen["beam"].seq == 1


def test_a_state_of_another_version_is_made_again_from_the_journal(club: Club) -> None:
    club.ask("start", {"level": "judge", "names": {"A": "Ann"}})
    club.fact("beam", BeamCandidate(1, S, S), S)
    assert club.hub is not None
    assert club._journal is not None
    state = club.hub.desk.state("b1")
    club._journal.write(Batch(states={"b1": (state.entry, b"\x93not a state")}))
    club.restart()
    assert club.hub.desk.state("b1") == state


def test_a_table_that_cannot_be_shown_does_not_hide_the_others(
    club: Club, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(state: Any, *more: Any) -> Any:
        if state.board == "b1":
            raise ZeroDivisionError
        return table_of(state, *more)

    monkeypatch.setattr("hub.desk.table_of", broken)
    club.broker.stop(forget=True)
    club.broker.start()
    club.turn()
    assert topics.table("b2") in club.broker.retained
    assert topics.table("b1") not in club.broker.retained
    assert "b1: cannot be shown" in caplog.text


class RealClub:
    """A hub process at a real broker, and a client that listens to everything."""

    def __init__(self, broker: BrokerProcess, folder: Path) -> None:
        self.folder = folder
        token_file = folder / "tokens"
        token_file.touch(mode=0o600)
        token_file.write_text(f'{{"token":"{TOKEN}","role":"table","board":"b1"}}\n')
        config = Config(
            mqtt=MqttSection(url=broker.url),
            hub=HubSection(database=f"sqlite:///{folder / 'hub.sqlite3'}", token_file=str(token_file)),
        )
        self.config_path = folder / "hub.toml"
        self.config_path.write_text(config_toml(config))
        self.outbox = Outbox("b1", "beam")
        self.heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.bus = MqttBus(broker.url, "test-listener")
        self.bus.subscribe("crokinole/1/#", self.heard.put)
        ups: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.bus.on_connection(ups.put)
        self.bus.start()
        assert ups.get(timeout=WAIT_S)
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crokinole", "hub", "--config", str(self.config_path)],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.until(topics.HUB_STATUS, lambda payload: payload == b"online")

    def end(self, how: signal.Signals) -> tuple[int, str]:
        assert self.process is not None
        self.process.send_signal(how)
        _, told = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, told

    def until(self, topic: str, right: Any) -> bytes:
        while True:
            message = self.heard.get(timeout=WAIT_S)
            if message.topic == topic and right(message.payload):
                return message.payload

    def send(self, episode: int) -> Table:
        sent = self.outbox.put(BeamCandidate(episode, episode * S, episode * S), episode * S)
        self.bus.publish(topics.fact("b1", "beam"), encode(sent))
        payload = self.until(topics.table("b1"), lambda p: decode(p, Table).seen.get("beam") == Seen("boot-1", episode))
        return decode(payload, Table)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_hub_process_at_a_real_broker_dies_and_goes_on(
    embedded_broker: BrokerProcess, tmp_path: Path, how: signal.Signals
) -> None:
    club = RealClub(embedded_broker, tmp_path)
    club.start()
    assert club.send(1).practice == 1
    status, told = club.end(how)
    club.until(topics.HUB_STATUS, lambda payload: payload == b"offline")
    if how == signal.SIGTERM:
        assert status == 0
        assert "Traceback" not in told
    assert f"journal: {tmp_path / 'hub.sqlite3'}, 0 lines" in told
    club.start()
    assert club.send(2).practice == 2
    second = subprocess.run(
        [sys.executable, "-m", "crokinole", "hub", "--config", str(club.config_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_S,
    )
    assert second.returncode == 3
    assert "is in use by the hub, process" in second.stderr
    assert club.process is not None
    assert club.process.poll() is None
    club.end(signal.SIGTERM)
    club.bus.close()
