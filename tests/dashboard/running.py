"""The dashboard as a real process at a real broker, for the tests of the process and of the pages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hub.link import topics
from hub.link.config import Config, DashboardSection, MqttSection, config_toml
from hub.link.mqtt import MqttBus
from tests.conftest import free_port, wait_for_port


def config_for(folder: Path, **changes: Any) -> Config:
    section = DashboardSection(
        port=free_port(), secret_file=str(folder / "dashboard.secret"), cases_dir=str(folder / "cases")
    )
    return Config(mqtt=MqttSection(f"mqtt://127.0.0.1:{free_port()}"), dashboard=replace(section, **changes))


class Running:
    """A dashboard in a process of its own."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.port = config.dashboard.port
        self.url = f"http://127.0.0.1:{self.port}"
        path = folder / "dashboard.toml"
        path.write_text(config_toml(config))
        self.log = folder / "log"
        code = (
            "import sys, pathlib; from dashboard.service import run; from hub.link.config import load_config; "
            "sys.exit(run(load_config(pathlib.Path(sys.argv[1]))))"
        )
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([sys.executable, "-c", code, str(path)], stderr=log, start_new_session=True)
        wait_for_port(self.port, self.process)

    def get(self, path: str) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def signal(self, number: signal.Signals) -> None:
        """To the listening process and its worker alike."""
        os.killpg(self.process.pid, number)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(15)


def publish_all(url: str, messages: dict[str, bytes]) -> None:
    """Publish retained messages and return when the broker has them."""
    seen = threading.Event()
    bus = MqttBus(url, f"test-{os.getpid()}-{free_port()}")
    bus.subscribe(topics.table("done"), lambda _: seen.set())
    up = threading.Event()
    bus.on_connection(lambda connected: up.set() if connected else None)
    bus.start()
    assert up.wait(10)
    for topic, payload in messages.items():
        bus.publish(topic, payload, retain=True)
    bus.publish(topics.table("done"), b"")
    assert seen.wait(10)
    bus.close()
