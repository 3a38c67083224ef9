"""A client that says nothing any more is taken for dead, by either broker, though its connection stands."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator

import pytest

from hub.link.bus import Message
from hub.link.mqtt import MqttBus
from tests.conftest import BrokerProcess

WILL = ("crokinole/1/b1/status/beam", b"offline")
PINGREQ = b"\xc0\x00"


def field(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text


def connect(broker: BrokerProcess, client: bytes, keepalive_s: int) -> socket.socket:
    """A client with a last will, by hand: MQTT 3.1.1, section 3.1."""
    flags = 0b1110  # a will of QoS 1, a clean session
    body = field(b"MQTT") + bytes([4, flags]) + keepalive_s.to_bytes(2, "big")
    body += field(client) + field(WILL[0].encode()) + field(WILL[1])
    connection = socket.create_connection(("127.0.0.1", broker.port), 20)
    connection.sendall(bytes([0x10, len(body)]) + body)
    assert connection.recv(4) == b"\x20\x02\x00\x00"
    return connection


@pytest.fixture
def heard(any_broker: BrokerProcess) -> Iterator[queue.SimpleQueue[Message]]:
    bus = MqttBus(any_broker.url, "listener")
    messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
    connected: queue.SimpleQueue[bool] = queue.SimpleQueue()
    bus.subscribe("crokinole/#", messages.put)
    bus.on_connection(connected.put)
    bus.start()
    assert connected.get(timeout=20)
    bus.publish("crokinole/first", b"")
    assert messages.get(timeout=20).topic == "crokinole/first"
    yield messages
    bus.close()


def test_the_will_of_a_client_that_fell_silent_is_heard(
    any_broker: BrokerProcess, heard: queue.SimpleQueue[Message]
) -> None:
    with connect(any_broker, b"silent", keepalive_s=1):
        message = heard.get(timeout=20)
    assert (message.topic, message.payload) == WILL


def test_one_that_lets_itself_be_heard_lives_on(any_broker: BrokerProcess, heard: queue.SimpleQueue[Message]) -> None:
    pause = threading.Event()
    with connect(any_broker, b"alive", keepalive_s=1) as alive, connect(any_broker, b"silent", keepalive_s=3):
        while heard.empty():  # until the silent one is dead, which is later than the other would be
            alive.sendall(PINGREQ)
            assert alive.recv(2) == b"\xd0\x00"
            pause.wait(0.2)
        alive.sendall(PINGREQ)
        assert alive.recv(2) == b"\xd0\x00"
        assert heard.get().topic == WILL[0]
        assert heard.empty()
