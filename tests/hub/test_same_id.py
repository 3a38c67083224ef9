"""Two boards that were given one id by mistake: each is told, and the wall shows it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from firmware_py.health import Vitals
from firmware_py.inbox import wait_any
from firmware_py.outbox import Outbox
from firmware_py.reporter import Reporter
from hub.link import topics
from hub.link.bus import Message, Will
from hub.link.clock import ManualClock
from hub.link.messages import BeamPass, Health, decode
from hub.link.mqtt import MqttBus
from hub.link.snapshot import Table
from hub.people.roles import People
from hub.service import WILL, HubService
from hub.store.journal import Journal
from tests.conftest import BrokerProcess

WAIT_S = 60.0


def beam_of_b1(url: str, folder: Path) -> Reporter:
    folder.mkdir()
    outbox = Outbox(folder / "outbox.sqlite3")
    return Reporter(
        board="b1",
        source="beam",
        bus=MqttBus(url, "b1-beam", will=Will(topics.status("b1", "beam"), b"offline")),
        outbox=outbox,
        clock=ManualClock(),
        vitals=Vitals(version="1", source="beam", boot=outbox.boot),
    )


def test_two_boards_with_one_id_are_both_told_and_the_wall_shows_it(mosquitto: BrokerProcess, tmp_path: Path) -> None:
    told: dict[str, tuple[str, ...]] = {}
    shown: list[Table] = []

    def hear(message: Message) -> None:
        if message.topic == topics.health("b1", "beam"):
            health = decode(message.payload, Health)
            told[health.boot] = told.get(health.boot, ()) + health.faults
        elif message.topic == topics.table("b1"):
            shown.append(decode(message.payload, Table))

    journal = Journal(f"sqlite:///{tmp_path / 'hub.sqlite3'}")
    hub = HubService(MqttBus(mosquitto.url, "crokinole-hub", will=WILL), journal, People())
    hub.start()
    loop = threading.Thread(target=hub.run)
    loop.start()
    listener = MqttBus(mosquitto.url, "listener")
    listener.subscribe(f"{topics.ROOT}/b1/#", hear)
    listener.start()
    boards = [beam_of_b1(mosquitto.url, tmp_path / name) for name in ("one", "other")]
    try:
        for board in boards:
            board.start()
            board.report(BeamPass(1, 1, 50.0))
        end_s = time.monotonic() + WAIT_S
        while time.monotonic() < end_s:
            wait_any(0.1, *boards)
            for board in boards:
                board.pump()
            on_wall = shown and "broker" in shown[-1].sensors["beam"].faults
            if on_wall and all("broker" in told.get(board.boot, ()) for board in boards):
                break
        assert all("broker" in told.get(board.boot, ()) for board in boards), told
        assert any("broker" in table.sensors["beam"].faults for table in shown)
    finally:
        hub.stop()
        loop.join(WAIT_S)
        hub.close()
        listener.close()
        for board in boards:
            board.close()
