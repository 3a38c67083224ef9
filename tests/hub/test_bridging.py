"""A venue's mosquitto that shows its tables at a central one; the configuration is the one of docs/keeping.md."""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.link import topics
from hub.link.bus import Message
from hub.link.messages import BeamPass, decode, encode
from hub.link.mqtt import MqttBus
from hub.link.snapshot import Table
from hub.people.roles import People
from hub.service import WILL, HubService
from hub.store.journal import Journal
from tests.conftest import PROJECT, BrokerProcess, free_port, require
from tests.hub.harness import Outbox, S

WAIT_S = 60.0


def bridge_of_the_documentation(central_port: int) -> str:
    text = (PROJECT / "docs" / "keeping.md").read_text(encoding="utf-8")
    block = re.search(r"```\n(connection central\n.*?)```", text, re.DOTALL)
    assert block is not None
    return block[1].replace("central.example.org:1883", f"127.0.0.1:{central_port}")


@pytest.fixture
def venue(mosquitto: BrokerProcess, tmp_path: Path) -> Iterator[BrokerProcess]:
    port = free_port()
    config = tmp_path / "venue.conf"
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n{bridge_of_the_documentation(mosquitto.port)}")
    broker = BrokerProcess([require("mosquitto"), "-c", str(config)], port)
    broker.start()
    yield broker
    broker.stop()


def test_the_tables_of_a_venue_are_shown_at_the_centre_and_nothing_else_is(
    mosquitto: BrokerProcess, venue: BrokerProcess, tmp_path: Path
) -> None:
    heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
    elsewhere: list[str] = []

    def hear(message: Message) -> None:
        topic = topics.parse(message.topic)
        if topic is not None and topic.what == "table":
            heard.put(message)
        else:
            elsewhere.append(message.topic)

    def until(seq: int) -> None:
        while True:
            seen = decode(heard.get(timeout=WAIT_S).payload, Table).seen.get("beam")
            if seen is not None and seen.seq == seq:
                return

    hub = HubService(MqttBus(venue.url, "crokinole-hub", will=WILL), Journal(f"sqlite:///{tmp_path / 'h'}"), People())
    hub.start()
    loop = threading.Thread(target=hub.run)
    loop.start()
    centre = MqttBus(mosquitto.url, "centre")
    centre.subscribe("#", hear)
    centre.start()
    board = MqttBus(venue.url, "board")
    up: queue.SimpleQueue[Message] = queue.SimpleQueue()
    board.subscribe(topics.HUB_STATUS, up.put)  # a hub that has not subscribed yet would miss what is sent but once
    board.start()
    outbox = Outbox("b1", "beam")
    try:
        assert up.get(timeout=WAIT_S).payload == b"online"

        def send(seq: int) -> None:
            board.publish(topics.fact("b1", "beam"), encode(outbox.put(BeamPass(seq, S, 50.0), seq * S)))

        send(1)
        until(1)
        mosquitto.stop()
        send(2)
        mosquitto.start()
        until(2)
        assert elsewhere == []
    finally:
        hub.stop()
        loop.join(WAIT_S)
        hub.close()
        centre.close()
        board.close()
