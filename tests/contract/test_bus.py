"""The contract of the bus, run over every implementation of the door: memory, paho on two real brokers."""

from __future__ import annotations

import queue
import secrets
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hub.link.bus import Bus, Message, Will
from hub.link.memory import MemoryBroker
from hub.link.mqtt import MqttBus
from tests.conftest import BrokerProcess, embedded_broker_process, mosquitto_process

TOPIC = "crokinole/1/board-1/table"
WAIT_S = 10.0


class Club:
    """Clients of one broker, that die when the test does."""

    def __init__(self, broker: MemoryBroker | BrokerProcess) -> None:
        self.broker = broker
        self.buses: list[Bus] = []

    def bus(self, will: Will | None = None) -> Bus:
        if isinstance(self.broker, MemoryBroker):
            bus: Bus = self.broker.bus(will)
        else:
            bus = MqttBus(self.broker.url, f"test-{secrets.token_hex(6)}", will=will)
        self.buses.append(bus)
        return bus

    def join(self, bus: Bus) -> Bus:
        """Start a client and wait until it is in."""
        ups: queue.SimpleQueue[bool] = queue.SimpleQueue()
        bus.on_connection(ups.put)
        bus.start()
        assert ups.get(timeout=WAIT_S)
        return bus

    def restart_broker(self) -> None:
        if isinstance(self.broker, MemoryBroker):
            self.broker.stop(forget=True)
            self.broker.start()
        else:
            self.broker.stop()
            self.broker.start()


def open_club(kind: str, folder: Path) -> Iterator[Club]:
    broker: MemoryBroker | BrokerProcess
    if kind == "memory":
        broker = MemoryBroker()
    else:
        broker = embedded_broker_process() if kind == "embedded" else mosquitto_process(folder)
        broker.start()
    club = Club(broker)
    yield club
    for bus in club.buses:
        bus.close()
    if isinstance(broker, BrokerProcess):
        broker.stop()


@pytest.fixture(params=["memory", "embedded", "mosquitto"])
def club(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Club]:
    yield from open_club(request.param, tmp_path)


@pytest.fixture(params=["embedded", "mosquitto"])
def real_club(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Club]:
    """The memory bus left out: it runs handlers in the publisher's thread, where an error shows itself."""
    yield from open_club(request.param, tmp_path)


def listening(club: Club, topic_filter: str) -> queue.SimpleQueue[Message]:
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    bus = club.bus()
    bus.subscribe(topic_filter, inbox.put)
    club.join(bus)
    return inbox


def until(inbox: queue.SimpleQueue[Message], wanted: Callable[[Message], bool]) -> Message:
    while not wanted(message := inbox.get(timeout=WAIT_S)):
        pass
    return message


def test_a_message_reaches_who_subscribed(club: Club) -> None:
    inbox = listening(club, "crokinole/1/+/table")
    assert club.join(club.bus()).publish(TOPIC, b"{}")
    assert inbox.get(timeout=WAIT_S)[:2] == (TOPIC, b"{}")


def test_a_retained_message_reaches_who_comes_later_and_is_marked(club: Club) -> None:
    club.join(club.bus()).publish(TOPIC, b"state", retain=True)
    assert until(listening(club, TOPIC), lambda m: m.payload == b"state").topic == TOPIC


def test_messages_of_one_topic_keep_their_order(club: Club) -> None:
    inbox = listening(club, TOPIC)
    sender = club.join(club.bus())
    for number in range(50):
        assert sender.publish(TOPIC, str(number).encode())
    assert [inbox.get(timeout=WAIT_S).payload for _ in range(50)] == [str(n).encode() for n in range(50)]


def test_publishing_before_the_start_is_refused_and_nothing_is_sent_later(club: Club) -> None:
    inbox = listening(club, TOPIC)
    sender = club.bus()
    assert not sender.publish(TOPIC, b"early")
    club.join(sender).publish(TOPIC, b"in time")
    assert inbox.get(timeout=WAIT_S).payload == b"in time"


def test_a_handler_that_raises_does_not_stop_the_next_message(
    real_club: Club, caplog: pytest.LogCaptureFixture
) -> None:
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def fussy(message: Message) -> None:
        if message.payload == b"bad":
            raise ValueError("bad")
        inbox.put(message)

    bus = real_club.bus()
    bus.subscribe(TOPIC, fussy)
    real_club.join(bus)
    sender = real_club.join(real_club.bus())
    sender.publish(TOPIC, b"bad")
    sender.publish(TOPIC, b"good")
    assert inbox.get(timeout=WAIT_S).payload == b"good"
    assert "a handler of" in caplog.text


def test_a_farewell_is_published_on_a_clean_goodbye(club: Club) -> None:
    inbox = listening(club, TOPIC)
    club.join(club.bus(Will(TOPIC, b"dead"))).close(Will(TOPIC, b"offline"))
    assert inbox.get(timeout=WAIT_S).payload == b"offline"


def test_a_client_finds_the_broker_again_and_its_subscriptions_stand(club: Club) -> None:
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    states: queue.SimpleQueue[bool] = queue.SimpleQueue()
    bus = club.bus()
    bus.subscribe(TOPIC, inbox.put)
    bus.on_connection(states.put)
    club.join(bus)
    assert states.get(timeout=WAIT_S)
    club.restart_broker()
    assert [states.get(timeout=WAIT_S) for _ in range(2)] == [False, True]
    assert bus.publish(TOPIC, b"again")
    assert until(inbox, lambda m: m.payload == b"again")


def test_a_broker_that_is_away_at_the_start_is_no_error(tmp_path: Path) -> None:
    broker = mosquitto_process(tmp_path)
    bus = MqttBus(broker.url, "test-early")
    ups: queue.SimpleQueue[bool] = queue.SimpleQueue()
    bus.on_connection(ups.put)
    bus.start()
    try:
        assert not bus.connected
        broker.start()
        assert ups.get(timeout=WAIT_S)
    finally:
        bus.close()
        broker.stop()


@pytest.mark.parametrize("topic", ["crokinole/1/+/table", "crokinole/#"])
def test_a_wildcard_cannot_be_published_to(club: Club, topic: str) -> None:
    with pytest.raises(ValueError, match="wildcard"):
        club.join(club.bus()).publish(topic, b"")


def _publish_packet(topic: bytes, payload: bytes) -> bytes:
    return b"\x30" + bytes([2 + len(topic) + len(payload)]) + len(topic).to_bytes(2, "big") + topic + payload


def test_a_topic_that_is_no_text_does_not_end_the_client() -> None:
    """Brokers refuse such topics; one that does not must not silence a daemon."""
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(WAIT_S)
        bus = MqttBus(f"mqtt://127.0.0.1:{server.getsockname()[1]}", "test-topic")
        bus.subscribe(TOPIC, inbox.put)
        bus.start()
        try:
            broker, _ = server.accept()
            with broker:
                broker.sendall(b"\x20\x02\x00\x00")  # accepted
                broker.sendall(_publish_packet(b"crokinole/1/\xff\xfe/table", b"bad"))
                broker.sendall(_publish_packet(TOPIC.encode(), b"good"))
                assert inbox.get(timeout=WAIT_S).payload == b"good"
        finally:
            bus.close()
