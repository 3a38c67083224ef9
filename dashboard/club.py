"""The club as the dashboard knows it: the latest snapshot of every table, who is reachable, and who listens.

Handlers of the bus only enqueue; :meth:`Club.work` owns the state and tells the listeners. Every listener has a
bounded queue; one that does not keep up loses it and is given a fresh snapshot instead.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from dashboard.view import BoardView, view_of
from hardware.board import Board
from hub.link import topics
from hub.link.bus import Bus, Message
from hub.link.messages import MessageError, decode
from hub.link.snapshot import Flash, Table

log = logging.getLogger(__name__)

QUEUE_LENGTH = 64
FLASHES_KEPT = 200

_encode = msgspec.json.Encoder().encode


class Missed(msgspec.Struct, frozen=True):
    """A flash that a listener did not see while its connection was down."""

    board: str
    flash: Flash


class Snapshot(msgspec.Struct, frozen=True):
    """What a listener is given first, and again whenever it fell behind.

    Attributes:
        now_ms: wall time here, so that a page can tell how old a flash is.
        broker: whether the broker is reached.
        hub: whether the hub is there.
        boards: every board, by id.
        pages: version of the pages; one that was opened under another loads itself anew.
        missed: flashes since the event that a returning listener saw last.
    """

    now_ms: int
    broker: bool
    hub: bool
    boards: tuple[BoardView, ...]
    missed: tuple[Missed, ...] = ()
    pages: str = ""


class Changed(msgspec.Struct, frozen=True):
    """One board has changed."""

    now_ms: int
    view: BoardView


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream.

    Attributes:
        number: grows by one with every event of this process.
        name: ``snapshot`` or ``board``.
        board: the board concerned, empty for all.
        brief: the body without pictures, for pages that show many boards.
        full: the body.
    """

    number: int
    name: str
    board: str
    brief: bytes
    full: bytes


@dataclass(slots=True, eq=False)
class Listener:
    """One open stream.

    Attributes:
        board: the board it follows, empty for all.
        behind: set when its queue overflowed, until it was given a snapshot.
    """

    board: str
    behind: bool = False
    _events: queue.Queue[Event] = field(default_factory=lambda: queue.Queue(QUEUE_LENGTH))

    def offer(self, event: Event) -> None:
        """Hand over an event; a full queue is emptied and the listener marked as behind."""
        if self.board in {"", event.board}:
            try:
                self._events.put_nowait(event)
            except queue.Full:
                self.renew()
                self._events.put_nowait(event)  # wakes the stream, which sends a snapshot in its place

    def renew(self) -> None:
        """Drop what waits; the stream sends a snapshot next."""
        self.behind = True
        with contextlib.suppress(queue.Empty):
            while True:
                self._events.get_nowait()

    def next(self, timeout_s: float) -> Event | None:
        """The next event, or None if nothing happened for so long."""
        try:
            return self._events.get(timeout=timeout_s)
        except queue.Empty:
            return None


class Club:
    """Follows the broker and tells the listeners.

    Args:
        bus: the door to the broker; subscribed here, started by the caller.
        geometry: the kind of board that is drawn.
        pages: version of the pages that are served.
        wall_ms: the wall time in milliseconds since 1970.
    """

    def __init__(self, bus: Bus, geometry: Board, *, pages: str = "", wall_ms: Callable[[], int] | None = None) -> None:
        self.geometry = geometry
        self.pages = pages
        self.boot = secrets.token_hex(4)
        self._bus = bus
        self._wall_ms = wall_ms or (lambda: time.time_ns() // 1_000_000)
        self._inbox: queue.Queue[Message | bool | None] = queue.Queue()
        self._lock = threading.Lock()
        self._broker = False
        self._hub = False
        self._tables: dict[str, Table] = {}
        self._sources: dict[str, dict[str, bool]] = {}
        self._listeners: set[Listener] = set()
        self._flashes: deque[tuple[int, Missed]] = deque(maxlen=FLASHES_KEPT)
        self._number = 0
        self._bad_topics: set[str] = set()
        self._thread: threading.Thread | None = None
        for topic_filter in (topics.ALL_TABLES, topics.ALL_STATUS, topics.HUB_STATUS):
            bus.subscribe(topic_filter, self._inbox.put)
        bus.on_connection(self._inbox.put)

    def start(self) -> None:
        """Begin to work in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="club", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread."""
        self._inbox.put(None)
        if self._thread is not None:
            self._thread.join(2.0)

    def work(self) -> None:
        """Take in everything that waits; for tests and for callers with a loop of their own."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._take(self._inbox.get_nowait())

    @property
    def broker(self) -> bool:
        """Whether the broker is reached."""
        return self._bus.connected

    @property
    def hub(self) -> bool:
        """Whether the hub says that it is there."""
        return self._hub and self._bus.connected

    def boards(self) -> tuple[BoardView, ...]:
        """Every board that was ever heard of, by id."""
        with self._lock:
            return self._views()

    def board(self, board: str) -> BoardView | None:
        """One board, or None if nothing was ever heard of it."""
        with self._lock:
            return self._view(board) if board in self._tables or board in self._sources else None

    def listen(self, board: str = "") -> Listener:
        """Open a stream of one board or of all; it must be given back to :meth:`leave`."""
        listener = Listener(board)
        with self._lock:
            self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """Close a stream."""
        with self._lock:
            self._listeners.discard(listener)

    @property
    def listeners(self) -> int:
        """How many streams are open."""
        return len(self._listeners)

    def snapshot(self, listener: Listener, last_seen: int | None = None) -> Event:
        """Everything as it stands now; events that waited for the listener are part of it and dropped.

        Args:
            listener: who asks; a listener of one board is told of that board only.
            last_seen: number of the last event that a returning listener saw in this process.
        """
        with self._lock:
            listener.renew()
            listener.behind = False
            views = self._views() if not listener.board else (self._view(listener.board),)
            missed = tuple(
                m
                for number, m in self._flashes
                if last_seen is not None and number > last_seen and listener.board in {"", m.board}
            )
            body = Snapshot(self._wall_ms(), self._broker, self._hub, views, missed, self.pages)
            brief = Snapshot(body.now_ms, body.broker, body.hub, tuple(_brief(v) for v in views), missed, self.pages)
            return Event(self._number, "snapshot", "", _encode(brief), _encode(body))

    def _run(self) -> None:
        while (item := self._inbox.get()) is not None:
            self._take(item)

    def _take(self, item: Message | bool | None) -> None:
        if item is None:
            return
        with self._lock:
            if isinstance(item, bool):
                self._connected(item)
            else:
                self._received(item)

    def _connected(self, connected: bool) -> None:
        self._broker = connected
        if not connected:
            # Wills are not delivered to one who is away: what it knew of the others is no longer known.
            self._hub = False
        self._tell_everything()

    def _received(self, message: Message) -> None:
        if message.topic == topics.HUB_STATUS:
            self._hub = message.payload == b"online"
            self._tell_everything()
            return
        topic = topics.parse(message.topic)
        if topic is None or topic.board in topics.RESERVED:
            return
        if topic.what == "status" and topic.which:
            self._sources.setdefault(topic.board, {})
            if message.payload:
                self._sources[topic.board][topic.which] = message.payload == b"online"
            else:
                self._sources[topic.board].pop(topic.which, None)
        elif topic.what == "table" and not topic.which:
            if not self._take_table(topic.board, message):
                return
        else:
            return
        if topic.board not in self._tables and not self._sources.get(topic.board):
            self._sources.pop(topic.board, None)
            return
        self._tell(topic.board, self._view(topic.board))

    def _take_table(self, board: str, message: Message) -> bool:
        if not message.payload:
            self._tables.pop(board, None)
            return True
        try:
            table = decode(message.payload, Table)
        except MessageError as error:
            if message.topic not in self._bad_topics:
                self._bad_topics.add(message.topic)
                log.warning("%s: skipped, not a table: %s", message.topic, error)
            return False
        before = self._tables.get(board)
        self._tables[board] = table
        flash = table.flash
        if flash is not None and before is not None and (before.flash is None or before.flash != flash):
            self._flashes.append((self._number + 1, Missed(board, flash)))
        return True

    def _tell_everything(self) -> None:
        # Every board's state may have changed with the broker or the hub; that is rare enough for whole snapshots.
        self._number += 1
        for listener in self._listeners:
            listener.renew()
            listener.offer(Event(self._number, "snapshot", listener.board, b"", b""))

    def _tell(self, board: str, view: BoardView) -> None:
        self._number += 1
        now_ms = self._wall_ms()
        event = Event(
            self._number, "board", board, _encode(Changed(now_ms, _brief(view))), _encode(Changed(now_ms, view))
        )
        for listener in self._listeners:
            listener.offer(event)

    def _views(self) -> tuple[BoardView, ...]:
        return tuple(self._view(b) for b in sorted(self._tables.keys() | self._sources.keys(), key=natural))

    def _view(self, board: str) -> BoardView:
        # A hub that cannot be seen because the broker is away is shown once for the page, not at every board.
        return view_of(
            board,
            self._tables.get(board),
            self._sources.get(board, {}),
            self.geometry,
            hub_online=self._hub or not self._broker,
        )


def natural(board: str) -> tuple[tuple[int, str | int], ...]:
    """Sort key by which ``board-2`` comes before ``board-10``."""
    key: list[tuple[int, str | int]] = []
    word = ""
    for character in board:
        if word and word[-1].isdigit() != character.isdigit():
            key.append(_part(word))
            word = ""
        word += character
    return (*key, _part(word))


def _part(word: str) -> tuple[int, str | int]:
    return (0, int(word)) if word.isdigit() else (1, word)


def _brief(view: BoardView) -> BoardView:
    table = view.table
    if table is None or not any(q.picture for q in table.questions):
        return view
    questions = tuple(msgspec.structs.replace(q, picture="") for q in table.questions)
    return msgspec.structs.replace(view, table=msgspec.structs.replace(table, questions=questions))
