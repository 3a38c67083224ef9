"""A hub over the in-memory broker, boards' outboxes beside it, and a hand that kills the hub at any moment."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from hub.desk import STANDING
from hub.link import topics
from hub.link.bus import Message
from hub.link.memory import MemoryBroker, MemoryBus
from hub.link.messages import KIND_OF, Ack, Answer, Ask, Call, Envelope, Fact, decode, encode
from hub.link.snapshot import Table
from hub.people.roles import Grant, People, digest
from hub.service import WILL, HubService
from hub.state import Standing
from hub.store.journal import Batch, Journal

TOKEN = "a-token-of-24-characters"
WALL_MS = 1_800_000_000_000
S = 1_000_000_000


class Killed(BaseException):
    """The hub's process is gone."""


class MortalJournal(Journal):
    """A journal whose process can die just before or just after a transaction."""

    die = ""

    def write(self, batch: Batch) -> None:
        if self.die == "before":
            raise Killed
        super().write(batch)
        if self.die == "after":
            raise Killed


@dataclass
class Outbox:
    """One source of a board: sends all that is unacknowledged in order, as the contract says."""

    board: str
    source: str
    boot: str = "boot-1"
    machine_boot: str = "machine-1"
    seq: int = 0
    waiting: deque[Envelope] = field(default_factory=deque)

    def put(self, fact: Fact, at_ns: int) -> Envelope:
        self.seq += 1
        envelope = Envelope(
            board=self.board,
            source=self.source,
            machine_boot=self.machine_boot,
            boot=self.boot,
            first=self.waiting[0].seq if self.waiting and self.waiting[0].boot == self.boot else self.seq,
            seq=self.seq,
            mono_ns=at_ns,
            sent_ns=at_ns,
            wall_ms=WALL_MS + at_ns // 1_000_000,
            synced=True,
            kind=KIND_OF[type(fact)],
            body=msgspec.Raw(msgspec.json.encode(fact)),
        )
        self.waiting.append(envelope)
        return envelope

    def acked(self, ack: Ack) -> None:
        self.waiting = deque(e for e in self.waiting if e.boot != ack.boot or e.seq > ack.seq)

    def restart(self, boot: str) -> None:
        self.boot = boot
        self.seq = 0


class Club:
    """A hub, its broker and its boards' outboxes."""

    def __init__(
        self,
        folder: Path,
        boards: tuple[str, ...] = ("b1",),
        *,
        url: str = "",
        standing: Standing = STANDING,
        people: People | None = None,
    ) -> None:
        self.people = people or People()
        self.standing = standing
        self.url = url or f"sqlite:///{folder / 'hub.sqlite3'}"
        self.broker = MemoryBroker()
        self.outboxes = {(b, s): Outbox(b, s) for b in boards for s in ("beam", "camera", "button")}
        self.calls: list[tuple[str, Call]] = []
        self.answers: dict[str, Answer] = {}
        self.asked = 0
        self.grants = boards
        """Boards with a token of their own."""
        self.bus: MemoryBus = self.broker.bus()
        self.bus.subscribe("crokinole/1/#", self._on_message)
        self.bus.start()
        self.hub: HubService | None = None
        self._journal: MortalJournal | None = None
        self._hub_bus: MemoryBus | None = None
        self.start()
        for board in boards:
            for source in ("beam", "camera"):
                self.bus.publish(topics.status(board, source), b"online", retain=True)
        self.turn()

    def _on_message(self, message: Message) -> None:
        topic = topics.parse(message.topic)
        if topic is None:
            return
        if topic.what == "ack":
            self.outboxes[topic.board, topic.which].acked(decode(message.payload, Ack))
        elif topic.what == "call":
            self.calls.append((topic.board, decode(message.payload, Call)))
        elif topic.board == "answer":
            answer = decode(message.payload, Answer)
            self.answers[answer.id] = answer

    def start(self) -> None:
        people = replace(self.people, grants=dict(self.people.grants))
        for board in self.grants:
            people.grants[digest(f"{TOKEN}-{board}")] = Grant("table", board)
        people.grants[digest(f"{TOKEN}-referee")] = Grant("referee", "")
        people.grants[digest(f"{TOKEN}-organiser")] = Grant("organiser", "")
        self._journal = MortalJournal(self.url)
        self._hub_bus = self.broker.bus(WILL)
        self.hub = HubService(self._hub_bus, self._journal, people, now_ms=lambda: WALL_MS, standing=self.standing)
        self.hub.start()
        self.turn()

    def turn(self) -> None:
        """Let the hub work until nothing is left, unless it dies."""
        assert self.hub is not None
        try:
            while self.hub.turn(0):
                pass
        except Killed:
            self.kill()

    def kill(self) -> None:
        """The process is gone; the operating system frees the lock and the broker publishes the last will."""
        assert self._journal is not None
        assert self._hub_bus is not None
        assert self.hub is not None
        self._hub_bus.vanish()
        self.hub._pins.shutdown(wait=False)
        self._journal.close()
        self.hub = None

    def restart(self) -> None:
        if self.hub is not None:
            self.kill()
        self.start()
        self.resend()

    def dies(self, when: str) -> None:
        """The next transaction is the hub's last moment."""
        assert self._journal is not None
        self._journal.die = when

    def close(self) -> None:
        if self.hub is not None:
            self.kill()

    def fact(self, source: str, fact: Fact, at_ns: int, board: str = "b1") -> None:
        """A fact on its way, as it should be."""
        self.publish(self.outboxes[board, source].put(fact, at_ns))
        self.turn()

    def publish(self, envelope: Envelope) -> None:
        self.bus.publish(topics.fact(envelope.board, envelope.source), encode(envelope))

    def resend(self) -> None:
        """What every outbox does on connect."""
        for outbox in self.outboxes.values():
            for envelope in list(outbox.waiting):
                self.publish(msgspec.structs.replace(envelope, first=outbox.waiting[0].seq))
        if self.hub is not None:
            self.turn()

    def ask(self, request: str, body: dict[str, Any], board: str = "b1", **overrides: Any) -> Answer:
        """Ask as somebody at the board's table who sees the newest snapshot."""
        self.asked += 1
        ask = {
            "id": f"ask-{self.asked}",
            "client": "phone",
            "token": f"{TOKEN}-{board}",
            "rev": self.rev(board),
            "body": msgspec.Raw(msgspec.json.encode(body)),
        } | overrides
        self.bus.publish(topics.ask(board, request), encode(Ask(**ask)))
        self.turn()
        return self.answers[ask["id"]]

    def rev(self, board: str = "b1") -> int:
        return self.table(board).rev if topics.table(board) in self.broker.retained else 0

    def table(self, board: str = "b1") -> Table:
        return decode(self.broker.retained[topics.table(board)], Table)
