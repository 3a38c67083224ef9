"""The bridge: what the table shows reaches the simulated players, and their wishes reach the hub once."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from hardware.line import Line, LineError, listen
from hub.club.bridge import Bridge
from hub.link import topics
from hub.link.bus import Message
from hub.link.memory import MemoryBroker
from hub.link.messages import Answer, Ask, Call, decode, encode
from hub.link.snapshot import Table

WAIT_S = 10.0


class Evening:
    """A bridge between a scripted twin and a scripted hub."""

    def __init__(self, folder: Path) -> None:
        self.server = listen(folder / "twin.sock")
        self.broker = MemoryBroker()
        self.hub = self.broker.bus()
        self.asked: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.hub.subscribe(topics.ALL_ASKS, self.asked.put)
        self.hub.start()
        self.bridge = Bridge(
            board="board-1", bus=self.broker.bus(), socket_path=folder / "twin.sock", token="let me play"
        )
        self.bridge.start()
        self.server.settimeout(WAIT_S)
        connection, _ = self.server.accept()
        self.twin = Line(connection)
        assert (self.hello() or {})["role"] == "players"

    def hello(self) -> dict[str, object] | None:
        message = self.twin.receive(WAIT_S)
        self.twin.send({"is": "welcome"})
        return message

    def show(self, rev: int) -> None:
        self.hub.publish(topics.table("board-1"), encode(Table("board-1", rev, 0, {})), retain=True)

    def close(self) -> None:
        self.bridge.close()
        self.twin.close()
        self.server.close()


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[Evening]:
    evening = Evening(tmp_path)
    yield evening
    evening.close()


def test_a_snapshot_reaches_the_players(evening: Evening) -> None:
    evening.show(3)
    message = evening.twin.receive(WAIT_S)
    assert message is not None
    assert (message["is"], message["table"]["rev"]) == ("table", 3)


def test_a_wish_becomes_an_ask_and_its_answer_comes_back(evening: Evening) -> None:
    evening.show(3)
    evening.twin.receive(WAIT_S)
    evening.twin.send({"is": "wish", "id": "w1", "request": "start", "body": {"rules": "match-play"}})
    message = evening.asked.get(timeout=WAIT_S)
    ask = decode(message.payload, Ask)
    assert message.topic == topics.ask("board-1", "start")
    assert (ask.id, ask.token, ask.rev, msgspec.json.decode(ask.body)) == (
        "w1",
        "let me play",
        3,
        {"rules": "match-play"},
    )
    evening.hub.publish(topics.answer(ask.client), encode(Answer("w1", ok=True, body={"rev": 4})))
    assert evening.twin.receive(WAIT_S) == {"is": "answered", "id": "w1", "ok": True, "error": "", "rev": 4}


def test_calls_are_kept_for_the_closing_report(evening: Evening) -> None:
    evening.hub.publish(topics.call("board-1"), encode(Call("c1", "twenty_light", "Twenty!")))
    evening.show(1)
    evening.twin.receive(WAIT_S)
    assert [call.id for call in evening.bridge.calls] == ["c1"]


def test_garbage_from_the_broker_is_skipped(evening: Evening) -> None:
    evening.hub.publish(topics.table("board-1"), b"{")
    evening.show(9)
    message = evening.twin.receive(WAIT_S)
    assert message is not None
    assert message["table"]["rev"] == 9


def test_the_evening_is_over_when_the_twin_says_so(evening: Evening) -> None:
    evening.twin.send({"is": "over"})
    assert evening.bridge.over.wait(WAIT_S)


def test_snapshots_that_come_after_the_evening_still_count(evening: Evening) -> None:
    evening.twin.send({"is": "over"})
    assert evening.bridge.over.wait(WAIT_S)
    with pytest.raises(LineError):
        evening.twin.receive(WAIT_S)
    pause = threading.Event()
    evening.show(7)
    for _ in range(1000):
        if evening.bridge.table is not None:
            break
        pause.wait(0.01)
    assert evening.bridge.table is not None
    assert evening.bridge.table.rev == 7


def test_a_twin_that_comes_back_gets_the_newest_table(evening: Evening) -> None:
    evening.show(5)
    evening.twin.receive(WAIT_S)
    evening.twin.close()
    connection: socket.socket
    connection, _ = evening.server.accept()
    evening.twin = Line(connection)
    evening.hello()
    message = evening.twin.receive(WAIT_S)
    assert message is not None
    assert message["table"]["rev"] == 5


def test_a_twin_that_is_silent_keeps_neither_the_broker_waiting_nor_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listen(tmp_path / "twin.sock") as server:
        broker = MemoryBroker()
        hub = broker.bus()
        hub.start()
        bridge = Bridge(board="board-1", bus=broker.bus(), socket_path=tmp_path / "twin.sock", token="")
        bridge.start()
        twin, _ = server.accept()
        with twin, monkeypatch.context() as patch:
            patch.setattr("hub.club.bridge._GOODBYE_S", 0.05)
            for rev in range(3000):  # far more than a socket holds
                hub.publish(topics.table("board-1"), encode(Table("board-1", rev, 0, {})), retain=True)
            bridge.close()
        bridge.close()
