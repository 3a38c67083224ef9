"""A hub of a few lines: keeps every fact once by its identity and acknowledges what it has without holes."""

from __future__ import annotations

import queue

from hub.link import topics
from hub.link.bus import Bus, Message, Will
from hub.link.messages import Ack, Do, Envelope, Fact, Health, MessageError, decode, decode_envelope, encode

Identity = tuple[str, str, str, int]


class FakeHub:
    """Journals and acknowledges in the bus's thread; what it saw is read by the test.

    Attributes:
        journal: each fact once, in order of arrival.
        arrivals: every envelope, repeated ones included.
        bad: payloads that were no envelope.
    """

    def __init__(self, bus: Bus, *, acks: bool = True) -> None:
        self.bus = bus
        self.acks = acks
        self.journal: dict[Identity, Fact] = {}
        self.arrivals: list[Envelope] = []
        self.bad: list[str] = []
        self.status: list[tuple[str, str]] = []
        self.health: dict[str, Health] = {}
        self.news: queue.SimpleQueue[str] = queue.SimpleQueue()
        bus.subscribe(topics.ALL_FACTS, self._fact)
        bus.subscribe(topics.ALL_STATUS, self._status)
        bus.subscribe(topics.ALL_HEALTH, self._health)
        bus.on_connection(self._connection)

    def start(self) -> FakeHub:
        self.bus.start()
        return self

    def stop(self) -> None:
        self.bus.close(Will(topics.HUB_STATUS, b"offline"))

    def acknowledge(self, board: str, source: str, boot: str, seq: int) -> None:
        self.bus.publish(topics.ack(board, source), encode(Ack(boot, seq)))

    def request(self, board: str, name: str, boot: str) -> None:
        self.bus.publish(topics.do(board, name), encode(Do(boot)))

    def facts(self) -> list[Fact]:
        return list(self.journal.values())

    def wait_for(self, what: str, timeout_s: float = 15.0) -> None:
        """Return when something of a kind comes in: ``fact``, ``status``, ``health`` or ``connection``."""
        while self.news.get(timeout=timeout_s) != what:
            pass

    def wait_facts(self, count: int, timeout_s: float = 15.0) -> list[Fact]:
        """Return when that many different facts are in the journal."""
        while len(self.journal) < count:
            self.wait_for("fact", timeout_s)
        return self.facts()

    def _connection(self, connected: bool) -> None:
        if connected:
            self.bus.publish(topics.HUB_STATUS, b"online", retain=True)
            self.news.put("connection")

    def _fact(self, message: Message) -> None:
        if message.retain:
            return
        try:
            envelope, fact = decode_envelope(message.payload)
        except MessageError as error:
            self.bad.append(str(error))
            return
        self.arrivals.append(envelope)
        self.journal.setdefault((envelope.board, envelope.source, envelope.boot, envelope.seq), fact)
        if self.acks:
            self.acknowledge(envelope.board, envelope.source, envelope.boot, self._without_holes(envelope))
        self.news.put("fact")

    def _without_holes(self, envelope: Envelope) -> int:
        seq = envelope.first
        while (envelope.board, envelope.source, envelope.boot, seq) in self.journal:
            seq += 1
        return seq - 1

    def _status(self, message: Message) -> None:
        self.status.append((message.topic.split("/")[-1], message.payload.decode()))
        self.news.put("status")

    def _health(self, message: Message) -> None:
        self.health[message.topic.split("/")[-1]] = decode(message.payload, Health)
        self.news.put("health")
