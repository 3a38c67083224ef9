"""Between the simulated players and the hub: snapshots go to the twin, its players' wishes become asks.

The players have what people have: the table as it is shown, and a token for their own board.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import secrets
import selectors
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hardware.line import Line, LineError
from hub.link import topics
from hub.link.bus import Bus, Message
from hub.link.messages import Answer, Ask, Call, MessageError, decode, encode
from hub.link.snapshot import Table

log = logging.getLogger(__name__)

_ASK_AGAIN_S = 5.0
_CONNECT_AGAIN_S = 0.2
_GOODBYE_S = 5.0


@dataclass(slots=True)
class _Pending:
    request: str
    ask: Ask
    sent_s: float


class Bridge:
    """Serves the players of one board in a thread of its own.

    Attributes:
        table: the newest snapshot, None before the first.
        calls: everything the hub told the speakers.
        over: set when the twin's evening has ended.
    """

    def __init__(self, *, board: str, bus: Bus, socket_path: Path, token: str) -> None:
        self.table: Table | None = None
        self.calls: list[Call] = []
        self.over = threading.Event()
        self._board = board
        self._bus = bus
        self._socket_path = socket_path
        self._token = token
        self._client = f"players-{secrets.token_hex(8)}"
        self._inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._bell, self._ring = socket.socketpair()
        self._bell.setblocking(False)
        self._ring.setblocking(False)
        self._pending: dict[str, _Pending] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"bridge-{board}", daemon=True)
        for topic in (topics.table(board), topics.answer(self._client), topics.call(board)):
            bus.subscribe(topic, self._enqueue)

    def start(self) -> None:
        """Connect to the broker and, as soon as it listens, to the twin."""
        self._bus.start()
        self._thread.start()

    def close(self) -> None:
        """End the thread and leave the broker; a thread that waits for a twin's first word ends after that."""
        self._stop.set()
        self._wake()
        self._thread.join(_GOODBYE_S)
        self._bus.close()

    def _enqueue(self, message: Message) -> None:
        self._inbox.put(message)
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # a bell that is full rings as well; one that is gone wakes nobody
            self._ring.send(b"!")

    def _run(self) -> None:
        with self._bell, self._ring:
            while not self._stop.is_set() and not self.over.is_set():
                try:
                    line, _ = Line.connect(self._socket_path, "players")
                except LineError:
                    self._stop.wait(_CONNECT_AGAIN_S)
                    continue
                try:
                    self._serve(line)
                except LineError as error:
                    if not self._stop.is_set():
                        log.debug("board %s: %s", self._board, error)
                finally:
                    line.close()
            self._listen_on()

    def _listen_on(self) -> None:
        """After the evening the last snapshots may still be on their way."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._bell, selectors.EVENT_READ)
            while not self._stop.is_set():
                selector.select(1.0)
                self._silence_bell()
                while not self._inbox.empty():
                    self._take(self._inbox.get())

    def _serve(self, line: Line) -> None:
        if self.table is not None:
            line.send({"is": "table", "table": msgspec.to_builtins(self.table)})
        with selectors.DefaultSelector() as selector:
            selector.register(line, selectors.EVENT_READ)
            selector.register(self._bell, selectors.EVENT_READ)
            while not self._stop.is_set() and not self.over.is_set():
                selector.select(1.0)
                self._silence_bell()
                while not self._inbox.empty():
                    self._forward(self._inbox.get(), line)
                for message in line.waiting():
                    self._obey(message)
                self._ask_again()

    def _silence_bell(self) -> None:
        try:
            while self._bell.recv(4096):
                pass
        except BlockingIOError:
            return

    def _forward(self, message: Message, line: Line) -> None:
        words = self._take(message)
        if words is not None:
            line.send(words)

    def _take(self, message: Message) -> dict[str, Any] | None:
        """Take in what the hub says; what the players are to be told of it."""
        try:
            return self._read(message)
        except MessageError as error:
            log.warning("board %s: %s is skipped: %s", self._board, message.topic, error)
            return None

    def _read(self, message: Message) -> dict[str, Any] | None:
        topic = topics.parse(message.topic)
        if topic is None:
            return None
        if topic.what == "table":
            self.table = decode(message.payload, Table)
            return {"is": "table", "table": msgspec.to_builtins(self.table)}
        if topic.what == "call":
            self.calls.append(decode(message.payload, Call))
            return None
        answer = decode(message.payload, Answer)
        if self._pending.pop(answer.id, None) is None:
            return None
        rev = answer.body.get("rev", 0)
        return {"is": "answered", "id": answer.id, "ok": answer.ok, "error": answer.error, "rev": rev}

    def _obey(self, message: dict[str, Any]) -> None:
        if message["is"] == "over":
            self.over.set()
        elif message["is"] == "wish":
            ask = Ask(
                id=str(message["id"]),
                client=self._client,
                token=self._token,
                rev=self.table.rev if self.table is not None else 0,
                body=msgspec.Raw(msgspec.json.encode(message["body"])),
            )
            self._pending[ask.id] = _Pending(str(message["request"]), ask, 0.0)

    def _ask_again(self) -> None:
        now_s = time.monotonic()
        for pending in self._pending.values():
            if now_s - pending.sent_s >= _ASK_AGAIN_S:
                topic = topics.ask(self._board, pending.request)
                if self._bus.publish(topic, encode(pending.ask)):
                    pending.sent_s = now_s
