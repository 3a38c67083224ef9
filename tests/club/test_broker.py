"""The embedded broker when many come at once, as after it was started again."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

from hub.club.broker import SteadyTable
from hub.link.bus import Message
from hub.link.mqtt import MqttBus
from tests.conftest import free_port

CLIENTS = 12


class Storm:
    """Clients that each keep a message, listen to a topic of their own and to all, and hear of everybody."""

    def __init__(self, url: str) -> None:
        self.heard: dict[int, set[str]] = {n: set() for n in range(CLIENTS)}
        self._all = threading.Event()
        self._lock = threading.Lock()
        self.buses = [self._client(url, n) for n in range(CLIENTS)]

    def start(self) -> None:
        for bus in self.buses:
            bus.start()

    def wait(self) -> bool:
        return self._all.wait(60)

    def close(self) -> None:
        for bus in self.buses:
            bus.close()

    def _client(self, url: str, n: int) -> MqttBus:
        bus = MqttBus(url, f"client-{n}")

        def take(message: Message) -> None:
            with self._lock:
                self.heard[n].add(message.topic)
                if all(len(topics) == CLIENTS for topics in self.heard.values()):
                    self._all.set()

        bus.subscribe("club/#", take)
        for k in range(6):
            bus.subscribe(f"own/{n}/{k}", take)
        bus.on_connection(lambda up: up and bus.publish(f"club/{n}", b"here", retain=True))
        return bus


def test_everybody_who_comes_at_once_hears_of_everybody(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    argv = [sys.executable, "-m", "crokinole", "broker", "--port", str(port)]
    storm = Storm(f"mqtt://127.0.0.1:{port}")
    storm.start()  # all are there before the broker is, and come back together
    with log.open("wb") as out:
        broker = subprocess.Popen(argv, stderr=out)
    try:
        heard = storm.wait()
        storm.close()
    finally:
        broker.send_signal(signal.SIGTERM)
        broker.wait(20)
    assert heard, {n: len(topics) for n, topics in storm.heard.items()}
    assert "Traceback" not in log.read_text()


def test_a_table_may_change_while_somebody_goes_through_it() -> None:
    table = SteadyTable(a=[1, 2], b=[3], c="kept")
    for name in table:
        table.pop(name)
        table[f"{name}-again"] = [4]
    assert sorted(table) == ["a-again", "b-again", "c-again"]
    table = SteadyTable(a=[1, 2], c="kept")
    seen = []
    for name, kept in table.items():
        for one in kept:
            seen.append((name, one))
            if name == "a":
                table["a"].remove(one)
        table[f"{name}-again"] = []
    assert seen == [("a", 1), ("a", 2), *(("c", letter) for letter in "kept")]
    assert dict(table) == {"a": [], "c": "kept", "a-again": [], "c-again": []}
