"""The bus over MQTT 3.1.1; the only place that knows paho.

Nothing is left to paho's own queue, which dies with its process: a publish while the broker is away is refused and
the outbox, or whoever owns the state, sends again on connect.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from hub.link import topics
from hub.link.bus import ConnectionHandler, Handler, Message, Will, broker_address

log = logging.getLogger(__name__)

KEEPALIVE_S = 3
_RECONNECT_S = (1, 4)
_FAREWELL_S = 2.0


class MqttBus:
    """One client of a real broker; see :class:`hub.link.bus.Bus`.

    Args:
        url: ``mqtt://[user[:password]@]host[:port]``.
        client_id: unique at the broker; a second client of the same name throws the first one out.
        will: published retained when this client vanishes.
        password: overrides the one in the URL, so that it can come from a file.

    Raises:
        BusError: the URL names no broker.
    """

    def __init__(self, url: str, client_id: str, *, will: Will | None = None, password: str | None = None) -> None:
        self._host, self._port, parts = broker_address(url)
        self._subscriptions: list[tuple[str, Handler]] = []
        self._connection_handlers: list[ConnectionHandler] = []
        self._connected = False
        self._trouble = ""
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2, client_id=client_id, clean_session=True, protocol=paho.MQTTv311
        )
        if parts.username:
            secret = password if password is not None else unquote(parts.password or "")
            self._client.username_pw_set(unquote(parts.username), secret)
        if will is not None:
            self._client.will_set(will.topic, will.payload, qos=1, retain=True)
        self._client.reconnect_delay_set(*_RECONNECT_S)
        self._client.on_connect = self._on_connect
        self._client.on_connect_fail = self._on_connect_fail
        self._client.on_disconnect = self._on_disconnect
        self._client.on_message = self._on_message
        self._client.on_socket_open = _no_delay

    @property
    def where(self) -> str:
        """``host:port``, for people."""
        return f"{self._host}:{self._port}"

    @property
    def connected(self) -> bool:
        """See :class:`hub.link.bus.Bus`."""
        return self._connected

    def publish(self, topic: str, payload: bytes, *, retain: bool = False, qos: int = 1) -> bool:
        """See :class:`hub.link.bus.Bus`."""
        if "+" in topic or "#" in topic:
            raise ValueError(f"topic {topic!r}: a wildcard cannot be published to")
        if not self._connected:
            return False
        return self._client.publish(topic, payload, qos=qos, retain=retain).rc == MQTTErrorCode.MQTT_ERR_SUCCESS

    def subscribe(self, topic_filter: str, handler: Handler) -> None:
        """See :class:`hub.link.bus.Bus`."""
        self._subscriptions.append((topic_filter, handler))

    def on_connection(self, handler: ConnectionHandler) -> None:
        """See :class:`hub.link.bus.Bus`."""
        self._connection_handlers.append(handler)

    def start(self) -> None:
        """See :class:`hub.link.bus.Bus`."""
        self._client.connect_async(self._host, self._port, keepalive=KEEPALIVE_S)
        self._client.loop_start()

    def close(self, farewell: Will | None = None) -> None:
        """See :class:`hub.link.bus.Bus`."""
        if farewell is not None and self._connected:
            info = self._client.publish(farewell.topic, farewell.payload, qos=1, retain=True)
            if info.rc == MQTTErrorCode.MQTT_ERR_SUCCESS:
                info.wait_for_publish(_FAREWELL_S)
        self._connected = False
        self._client.disconnect()
        self._client.loop_stop()

    def _on_connect(
        self, client: paho.Client, _userdata: object, _flags: object, reason: ReasonCode, _properties: Properties | None
    ) -> None:
        if reason.is_failure:
            self._warn("refused", f"refuses us: {reason}; check user and password")
            return
        for topic_filter in dict.fromkeys(f for f, _ in self._subscriptions):
            client.subscribe(topic_filter, qos=1)
        self._connected = True
        if self._trouble:
            log.warning("broker %s is back", self.where)
        self._trouble = ""
        self._tell(connected=True)

    def _on_connect_fail(self, _client: paho.Client, _userdata: object) -> None:
        self._warn("away", "is away; facts wait, trying again")

    def _on_disconnect(
        self, _client: paho.Client, _userdata: object, _flags: object, reason: ReasonCode, _properties: object
    ) -> None:
        was, self._connected = self._connected, False
        if was:
            self._warn("away", f"lost ({reason}); facts wait, trying again")
            self._tell(connected=False)

    def _warn(self, trouble: str, words: str) -> None:
        """Say once what is wrong with the broker, and again when something else is."""
        if trouble != self._trouble:
            log.warning("broker %s %s", self.where, words)
        self._trouble = trouble

    def _tell(self, *, connected: bool) -> None:
        for handler in self._connection_handlers:
            try:
                handler(connected)
            except Exception:  # an error that escapes would end paho's thread while publish still seems to work
                log.exception("a connection handler failed")

    def _on_message(self, _client: paho.Client, _userdata: object, message: paho.MQTTMessage) -> None:
        try:
            received = Message(message.topic, bytes(message.payload), message.retain)
        except UnicodeDecodeError:  # paho decodes a topic when it is read; an error here would end its thread
            return
        for topic_filter, handler in self._subscriptions:
            # Brokers may deliver retained messages of other clients' subscriptions, so the filter is applied here.
            if topics.matches(topic_filter, received.topic):
                try:
                    handler(received)
                except Exception:  # an error that escapes would end paho's thread while publish still seems to work
                    log.exception("a handler of %s failed", topic_filter)


def _no_delay(_client: paho.Client, _userdata: object, sock: Any) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def listen_bare(url: str, topic: str, on_payload: Callable[[bytes], None], on_subscribed: Callable[[], None]) -> None:
    """Nothing but paho: calls for each message of a topic, for ever; what measurements compare ours with."""
    host, port, _ = broker_address(url)
    client = paho.Client(CallbackAPIVersion.VERSION2, client_id="bare-listener")
    client.on_message = lambda _client, _userdata, message: on_payload(bytes(message.payload))
    client.on_subscribe = lambda *_: on_subscribed()
    client.connect(host, port)
    client.subscribe(topic, qos=1)
    client.loop_forever()


@contextmanager
def bare_sender(url: str) -> Iterator[Callable[[str, bytes], object]]:
    """Nothing but paho: a function that publishes a payload to a topic, however many are on their way."""
    host, port, _ = broker_address(url)
    client = paho.Client(CallbackAPIVersion.VERSION2, client_id="bare-sender")
    client.connect(host, port)
    client.loop_start()
    try:
        yield lambda topic, payload: client.publish(topic, payload, qos=1)
    finally:
        client.disconnect()
        client.loop_stop()
