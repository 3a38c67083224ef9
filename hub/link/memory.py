"""A broker and its buses in memory: the same door as paho's, for tests and for case files."""

from __future__ import annotations

from dataclasses import dataclass, field

from hub.link import topics
from hub.link.bus import ConnectionHandler, Handler, Message, Will


@dataclass(slots=True)
class MemoryBroker:
    """Delivers at once, in the publisher's thread.

    Attributes:
        up: whether clients can reach it.
        retained: last retained payload of each topic.
        log: every message published, in order.
    """

    up: bool = True
    retained: dict[str, bytes] = field(default_factory=dict)
    log: list[Message] = field(default_factory=list)
    _buses: list[MemoryBus] = field(default_factory=list)

    def bus(self, will: Will | None = None) -> MemoryBus:
        """A client of this broker."""
        return MemoryBus(self, will)

    def stop(self, *, forget: bool = False) -> None:
        """Go away; with ``forget`` the retained messages are lost, as without persistence."""
        self.up = False
        if forget:
            self.retained.clear()
        for bus in list(self._buses):
            bus.lose()

    def start(self) -> None:
        """Come back; clients that were started connect again."""
        self.up = True
        for bus in list(self._buses):
            bus.join()

    def attach(self, bus: MemoryBus) -> None:
        """Remember a started client."""
        if bus not in self._buses:
            self._buses.append(bus)

    def detach(self, bus: MemoryBus) -> None:
        """Forget a client."""
        if bus in self._buses:
            self._buses.remove(bus)

    def deliver(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Log a message, keep it if retained, hand it to every connected subscriber."""
        self.log.append(Message(topic, payload, retain))
        if retain:
            if payload:
                self.retained[topic] = payload
            else:
                self.retained.pop(topic, None)
        for bus in list(self._buses):
            if bus.connected:
                bus.receive(Message(topic, payload, retain=False))


class MemoryBus:
    """One client of a :class:`MemoryBroker`; see :class:`hub.link.bus.Bus`."""

    def __init__(self, broker: MemoryBroker, will: Will | None = None) -> None:
        self._broker = broker
        self._will = will
        self._subscriptions: list[tuple[str, Handler]] = []
        self._connection_handlers: list[ConnectionHandler] = []
        self._connected = False

    @property
    def connected(self) -> bool:
        """See :class:`hub.link.bus.Bus`."""
        return self._connected

    def publish(self, topic: str, payload: bytes, *, retain: bool = False, qos: int = 1) -> bool:  # noqa: ARG002 - the door has it; memory loses nothing
        """See :class:`hub.link.bus.Bus`."""
        if "+" in topic or "#" in topic:
            raise ValueError(f"topic {topic!r}: a wildcard cannot be published to")
        if self._connected:
            self._broker.deliver(topic, payload, retain=retain)
        return self._connected

    def subscribe(self, topic_filter: str, handler: Handler) -> None:
        """See :class:`hub.link.bus.Bus`."""
        self._subscriptions.append((topic_filter, handler))

    def on_connection(self, handler: ConnectionHandler) -> None:
        """See :class:`hub.link.bus.Bus`."""
        self._connection_handlers.append(handler)

    def start(self) -> None:
        """See :class:`hub.link.bus.Bus`."""
        self._broker.attach(self)
        self.join()

    def close(self, farewell: Will | None = None) -> None:
        """See :class:`hub.link.bus.Bus`."""
        if farewell is not None:
            self.publish(farewell.topic, farewell.payload, retain=True)
        self._broker.detach(self)
        self._connected = False

    def vanish(self) -> None:
        """Die without a goodbye: the broker publishes the last will."""
        self._broker.detach(self)
        self._connected = False
        if self._will is not None and self._broker.up:
            self._broker.deliver(self._will.topic, self._will.payload, retain=True)

    def join(self) -> None:
        """Connect if the broker is up: retained messages first, then the connection handlers."""
        if self._connected or not self._broker.up:
            return
        self._connected = True
        for topic, payload in list(self._broker.retained.items()):
            self.receive(Message(topic, payload, retain=True))
        for handler in self._connection_handlers:
            handler(True)

    def lose(self) -> None:
        """The broker went away."""
        if self._connected:
            self._connected = False
            for handler in self._connection_handlers:
                handler(False)

    def receive(self, message: Message) -> None:
        """Call the handlers of every matching subscription."""
        for topic_filter, handler in self._subscriptions:
            if topics.matches(topic_filter, message.topic):
                handler(message)
