"""A dashboard without a server, and a hub that only a test would trust."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from dashboard import auth, create_app
from dashboard.asking import Asker
from dashboard.cases import Cases
from dashboard.club import Club
from hardware.board import TOURNAMENT
from hub.link import topics
from hub.link.asks import AskBody, Login, Who, decode_ask
from hub.link.bus import Message
from hub.link.memory import MemoryBroker
from hub.link.messages import Answer, Ask, decode, encode
from hub.link.mqtt import MqttBus
from hub.link.snapshot import Table

PIN = "4711"
TOKEN = "token-of-board-1"
BOARD_TOKEN = "token-of-the-board-itself"
NOW_MS = 1_800_000_000_000


@dataclass
class RealBroker:
    """The same door as :class:`MemoryBroker`'s for a broker that is a process."""

    url: str

    def bus(self) -> MqttBus:
        return MqttBus(self.url, f"test-{uuid.uuid4().hex[:12]}")


@dataclass
class FakeHub:
    """Answers asks at once and remembers them; a silent one never answers.

    Attributes:
        asked: (board, request, ask, body) in order.
        refuse: an error for every ask but login.
        kept: topics of the boards that the broker keeps.
        role: of :data:`TOKEN`.
        board: for which :data:`TOKEN` is good, empty for every one.
        forgot: whether it has forgotten :data:`TOKEN` meanwhile.
        answers: bodies of the answers to some requests.
        expires_ms: until when the tokens that it hands out are good, 0 for ever.
    """

    broker: MemoryBroker | RealBroker
    asked: list[tuple[str, str, Ask, AskBody]] = field(default_factory=list)
    refuse: str = ""
    silent: bool = False
    expires_ms: int = 0
    role: str = "table"
    board: str = ""
    forgot: bool = False
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    answered: dict[str, Answer] = field(default_factory=dict)

    def start(self) -> None:
        self.bus = self.broker.bus()
        self.bus.subscribe(topics.ALL_ASKS, self._take)
        up = threading.Event()
        self.bus.on_connection(lambda connected: up.set() if connected else None)
        self.bus.start()
        assert up.wait(10)
        self.bus.publish(topics.HUB_STATUS, b"online", retain=True)

    def clear(self) -> None:
        """Take back everything that the broker keeps of the boards."""
        for topic in self.kept:
            self.bus.publish(topic, b"", retain=True)
        self.kept.clear()

    def close(self) -> None:
        self.bus.close()

    def publish(self, *tables: Table) -> None:
        for table in tables:
            self.keep(topics.table(table.board), encode(table))

    def keep(self, topic: str, payload: bytes) -> None:
        self.kept.add(topic)
        self.bus.publish(topic, payload, retain=True)

    def status(self, board: str, source: str, word: bytes) -> None:
        self.keep(topics.status(board, source), word)

    def _take(self, message: Message) -> None:
        topic = topics.parse(message.topic)
        assert topic is not None
        ask = decode(message.payload, Ask)
        body = decode_ask(topic.which, bytes(ask.body))
        if self.silent:
            return
        if isinstance(body, Who):
            self.bus.publish(topics.answer(ask.client), encode(self._who(ask)))
            return
        if ask.id not in self.answered:
            self.asked.append((topic.board, topic.which, ask, body))
            self.answered[ask.id] = self._judge(ask, topic.which, body)
        self.bus.publish(topics.answer(ask.client), encode(self.answered[ask.id]))

    def _who(self, ask: Ask) -> Answer:
        role = {TOKEN: self.role, BOARD_TOKEN: "board"}.get(ask.token)
        if role is None or self.forgot:
            return Answer(ask.id, ok=False, error="no_token: this device is not signed in")
        return Answer(ask.id, ok=True, body={"role": role, "board": self.board, "expires": 0})

    def _judge(self, ask: Ask, what: str, body: AskBody) -> Answer:
        if isinstance(body, Login):
            assert ask.token == ""
            if body.pin != PIN:
                return Answer(ask.id, ok=False, error="wrong_pin: that is not the PIN of this board")
            where = "" if body.board == "hub" else body.board
            return Answer(
                ask.id, ok=True, body={"token": TOKEN, "role": "table", "board": where, "expires": self.expires_ms}
            )
        if ask.token != TOKEN or self.forgot:
            return Answer(ask.id, ok=False, error="no_token: this device is not signed in")
        if self.refuse:
            return Answer(ask.id, ok=False, error=self.refuse)
        return Answer(ask.id, ok=True, body=self.answers.get(what, {"rev": ask.rev + 1}))


@pytest.fixture
def broker() -> MemoryBroker:
    return MemoryBroker()


@pytest.fixture
def hub(broker: MemoryBroker) -> FakeHub:
    fake = FakeHub(broker)
    fake.start()
    return fake


@dataclass
class Site:
    """The dashboard under test; its club works when it is told to."""

    app: Flask
    club: Club
    asker: Asker
    cases: Cases

    def client(self) -> FlaskClient:
        return self.app.test_client()


@pytest.fixture
def site(broker: MemoryBroker, hub: FakeHub, tmp_path: Path) -> Iterator[Site]:
    auth._roles.clear()
    bus = broker.bus()
    club = Club(bus, TOURNAMENT, pages="v1", wall_ms=lambda: NOW_MS)
    asker = Asker(bus, timeout_s=0.05)
    bus.start()
    club.work()
    cases = Cases(tmp_path / "cases", now_s=lambda: NOW_MS / 1000)
    yield Site(create_app(club, asker, cases, secret_key="k" * 32, beat_s=0.01), club, asker, cases)
    bus.close()


@pytest.fixture
def client(site: Site) -> FlaskClient:
    return site.client()


class Phone:
    """A browser that has the page of a board open."""

    def __init__(self, client: FlaskClient, board: str) -> None:
        self.client = client
        self.board = board
        page = client.get(f"/table/{board}").get_data(as_text=True)
        self.csrf = page.split('name="csrf" content="')[1].split('"')[0]

    def ask(self, request: str, body: dict[str, Any] | None = None, **more: Any) -> Any:
        return self.client.post(
            f"/api/1/boards/{self.board}/ask/{request}",
            json={"body": body or {}, **more},
            headers={"X-CSRF-Token": self.csrf},
        )


@pytest.fixture
def phone(client: FlaskClient, hub: FakeHub, site: Site) -> Callable[[Table], Phone]:
    """A phone at a board whose table is published and whose token came by a link."""

    def open_page(table: Table, token: str = TOKEN) -> Phone:
        hub.publish(table)
        site.club.work()
        client.get(f"/table/{table.board}?token={token}")
        return Phone(client, table.board)

    return open_page
