"""Reports the facts of one source to the hub: never loses one, and takes the hub's requests."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from firmware_py.health import Vitals
from firmware_py.inbox import Inbox, wait_any
from firmware_py.outbox import Outbox, Stored
from firmware_py.settings import OFFLINE, ONLINE, clock_synchronised, machine_boot
from hub.link import topics
from hub.link.bus import Bus, Message, Will
from hub.link.clock import Clock
from hub.link.messages import (
    KIND_OF,
    MAX_BYTES,
    Ack,
    Do,
    Envelope,
    Fact,
    MessageError,
    Source,
    decode,
    decode_envelope,
    encode,
)

RESEND_S = 5.0
WINDOW = 64
_HEALTH_QUICK_S = 1.0
_SYNC_S = 30.0
_ENVELOPE_BYTES = 1024
_THROWN_OUT = (4, 20.0)  # so many losses within so many seconds are no broker that restarts
_STEADY_S = 60.0


class Reporter:
    """Reports the facts of one source: outbox, broker, status, health, and the hub's requests.

    Owned by the work loop. Facts are sent in order, at most :data:`WINDOW` ahead of the hub's acknowledgements, and
    all outstanding ones again on connect, when the hub comes online, and after 5 s (real time) without an
    acknowledgement.

    Args:
        board: the board's id.
        source: whose facts these are.
        bus: not started yet.
        outbox: where facts wait.
        clock: the board's clock, for ``mono_ns`` and ``sent_ns``.
        vitals: the source's health.
        hears: other sources of the board whose facts are wanted, see :meth:`heard`.
        real_s: real time, for the network's timers.
    """

    def __init__(
        self,
        *,
        board: str,
        source: Source,
        bus: Bus,
        outbox: Outbox,
        clock: Clock,
        vitals: Vitals,
        hears: tuple[Source, ...] = (),
        real_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.clock = clock
        self.vitals = vitals
        self._board = board
        self._source: Source = source
        self._bus = bus
        self._outbox = outbox
        self._real_s = real_s
        self._inbox: Inbox[Message | bool] = Inbox()
        self._requests: list[tuple[str, Do]] = []
        self._heard: list[tuple[Envelope, Fact]] = []
        self._neighbours = frozenset(topics.fact(board, neighbour) for neighbour in hears)
        self._last_sent: Stored | None = None
        self._in_flight = 0
        self._quiet_since_s = real_s()
        self._health_at_s = 0.0
        self._health_sent: bytes = b""
        self._able = vitals.capabilities
        self._able_since_ns = clock.now_ns()
        self._connected = False
        self._lost_s: list[float] = []
        self._synced = (False, -_SYNC_S)
        self._do_prefix = topics.do(board, "x")[:-1]
        bus.subscribe(topics.ack(board, source), self._inbox.put)
        bus.subscribe(topics.HUB_STATUS, self._inbox.put)
        bus.subscribe(topics.status(board, source), self._inbox.put)
        bus.subscribe(topics.do(board, "x")[:-1] + "+", self._inbox.put)
        for topic in self._neighbours:
            bus.subscribe(topic, self._inbox.put)
        bus.on_connection(self._inbox.put)

    @property
    def boot(self) -> str:
        """Of this daemon; new at each start."""
        return self._outbox.boot

    @property
    def last_seq(self) -> int:
        """The last sequence number given out by this boot, 0 before the first."""
        return self._outbox.last_seq

    def given(self, boot: str) -> int:
        """The last sequence number that a boot of this source gave out, 0 if none is known of."""
        return self._outbox.given(boot)

    @property
    def outstanding(self) -> int:
        """Facts not yet acknowledged, those of earlier boots included."""
        return len(self._outbox)

    def fileno(self) -> int:
        """Readable when :meth:`pump` has something to do."""
        return self._inbox.fileno()

    def report(self, fact: Fact, known_ns: int | None = None) -> int:
        """Give a fact a number, commit it, and send it if its turn has come; returns the number.

        Args:
            fact: what happened; it carries its own times.
            known_ns: when it became known on the board's clock, now by default.

        Raises:
            MessageError: longer than a message may be; then no number was given out.
        """
        body = encode(fact)
        if len(body) > MAX_BYTES - _ENVELOPE_BYTES:
            raise MessageError(f"{type(fact).__name__}: {len(body)} bytes, at most {MAX_BYTES - _ENVELOPE_BYTES} fit")
        was_empty = not len(self._outbox)
        stored = self._outbox.put(
            machine_boot=machine_boot(),
            mono_ns=self.clock.now_ns() if known_ns is None else known_ns,
            wall_ms=time.time_ns() // 1_000_000,
            synced=self._wall_clock_synced(),
            kind=KIND_OF[type(fact)],
            body=body,
        )
        if was_empty:
            self._quiet_since_s = self._real_s()
        self._mind_outbox()
        self._send()
        return stored.seq

    def pump(self) -> None:
        """Take in what the broker brought, send what is due. Call often; returns at once."""
        for event in self._inbox.drain():
            if isinstance(event, bool):
                self._connection(connected=event)
            else:
                self._message(event)
        self._outbox.tidy()
        self._mind_outbox()
        self._mind_broker()
        if len(self._outbox) and self._real_s() - self._quiet_since_s >= RESEND_S:
            self._resend()
        self._send()
        self._mind_abilities()
        self._send_health()

    def wait_acknowledged(self, timeout_s: float) -> bool:
        """Pump until the hub has everything; False if real ``timeout_s`` passes first."""
        end_s = self._real_s() + timeout_s
        while True:
            self.pump()
            if not len(self._outbox):
                return True
            left_s = end_s - self._real_s()
            if left_s <= 0:
                return False
            wait_any(min(left_s, 1.0), self)

    def requests(self) -> list[tuple[str, Do]]:
        """The hub's requests to this boot since the last call: name and message."""
        taken, self._requests = self._requests, []
        return taken

    def heard(self) -> list[tuple[Envelope, Fact]]:
        """Facts of the sources that are listened to, since the last call; some come twice, as they do to the hub."""
        taken, self._heard = self._heard, []
        return taken

    def fault(self, name: str, text: str = "") -> None:
        """A fault stands; shown in health at once."""
        if name not in self.vitals.faults:
            self.vitals.fault(name, text)
            self._health_at_s = 0.0

    def well(self, name: str) -> None:
        """A fault has passed; shown in health at once."""
        if name in self.vitals.faults:
            self.vitals.well(name)
            self._health_at_s = 0.0

    def start(self) -> None:
        """Begin to connect."""
        self._bus.start()

    def close(self) -> None:
        """Say goodbye (``offline``, since a last will is not sent then) and close the outbox."""
        self._bus.close(Will(topics.status(self._board, self._source), OFFLINE))
        self._outbox.close()
        self._inbox.close()

    def _connection(self, *, connected: bool) -> None:
        self._connected = connected
        if connected:
            self._say_online()
            self._health_at_s = 0.0
            self._health_sent = b""
            self._resend()
        else:
            self._lost_s = [*self._lost_s[1 - _THROWN_OUT[0] :], self._real_s()]

    def _say_online(self) -> None:
        self._bus.publish(topics.status(self._board, self._source), ONLINE, retain=True)

    def _message(self, message: Message) -> None:
        if message.topic == topics.HUB_STATUS:
            # A retained one tells of the past: what is outstanding was sent on connect anyway.
            if message.payload == ONLINE and not message.retain:
                self._resend()
        elif message.topic == topics.status(self._board, self._source):
            # The last will of our previous life may come after our own "online"; nobody else speaks for us.
            if message.payload != ONLINE and self._connected:
                self._say_online()
        elif message.retain:
            self.vitals.bad(message.topic, "retained, and what is past is not obeyed")
        elif message.topic == topics.ack(self._board, self._source):
            self._acknowledged(message)
        elif message.topic.startswith(self._do_prefix):
            self._requested(message)
        elif message.topic in self._neighbours:
            self._hear(message)

    def _acknowledged(self, message: Message) -> None:
        try:
            ack = decode(message.payload, Ack)
            settled = self._outbox.acknowledge(ack.boot, ack.seq)
        except ValueError as error:
            self.vitals.bad(message.topic, str(error))
            return
        if settled:
            self._in_flight = max(0, self._in_flight - settled)
            self._quiet_since_s = self._real_s()

    def _requested(self, message: Message) -> None:
        try:
            request = decode(message.payload, Do)
        except MessageError as error:
            self.vitals.bad(message.topic, str(error))
            return
        if request.boot == self.boot:
            self._requests.append((message.topic.removeprefix(self._do_prefix), request))

    def _hear(self, message: Message) -> None:
        try:
            self._heard.append(decode_envelope(message.payload))
        except MessageError as error:
            self.vitals.bad(message.topic, str(error))

    def _resend(self) -> None:
        self._last_sent = None
        self._in_flight = 0
        self._quiet_since_s = self._real_s()

    def _send(self) -> None:
        if not self._connected or self._in_flight >= WINDOW:
            return
        for stored in self._outbox.after(self._last_sent):
            if not self._bus.publish(topics.fact(self._board, self._source), encode(self._envelope(stored))):
                return
            self._last_sent = stored
            self._in_flight += 1
            if self._in_flight >= WINDOW:
                return

    def _envelope(self, stored: Stored) -> Envelope:
        return Envelope(
            board=self._board,
            source=self._source,
            machine_boot=stored.machine_boot,
            boot=stored.boot,
            first=self._outbox.first(stored.boot),
            seq=stored.seq,
            mono_ns=stored.mono_ns,
            sent_ns=self.clock.now_ns(),
            wall_ms=stored.wall_ms,
            synced=stored.synced,
            kind=stored.kind,
            body=msgspec.Raw(stored.body),
        )

    def _send_health(self) -> None:
        now_s = self._real_s()
        if not self._connected or now_s < self._health_at_s:
            return
        health = self.vitals.health(len(self._outbox), machine_boot=machine_boot(), able_since_ns=self._able_since_ns)
        payload = encode(health)
        if payload == self._health_sent:
            self._health_at_s = now_s + _HEALTH_QUICK_S
        elif self._bus.publish(topics.health(self._board, self._source), payload, retain=True):
            self._health_sent = payload
            self._health_at_s = now_s + _HEALTH_QUICK_S

    def _mind_abilities(self) -> None:
        """Since when the source can tell what it can now: facts of before may reach the hub later than that."""
        if self.vitals.capabilities != self._able:
            self._able = self.vitals.capabilities
            self._able_since_ns = self.clock.now_ns()

    def _mind_outbox(self) -> None:
        if self._outbox.trouble:
            self.fault("outbox", self._outbox.trouble)
        else:
            self.well("outbox")

    def _mind_broker(self) -> None:
        """Two clients of one name throw each other out for ever; each sees a broker that comes and goes."""
        now_s, (many, within_s) = self._real_s(), _THROWN_OUT
        if self._lost_s and now_s - self._lost_s[-1] > _STEADY_S:
            self._lost_s.clear()
            self.well("broker")
        elif len(self._lost_s) == many and self._lost_s[-1] - self._lost_s[0] < within_s:
            self.fault("broker", f"lost {many} times within {within_s:g} s; has another board the id {self._board!r}?")

    def _wall_clock_synced(self) -> bool:
        synced, asked_s = self._synced
        now_s = self._real_s()
        if now_s - asked_s >= _SYNC_S:
            synced = clock_synchronised()
            self._synced = (synced, now_s)
        return synced
