"""What every test may ask for: the shared photos and cases, real brokers, programs that CI must have."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared"


def require(program: str) -> str:
    """Path of a program; without it the test is skipped here, and fails in CI, which installs the real parts."""
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if path is None:
        reason = f"{program} is not installed: apt install {program}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with photos, cases and video that lies beside the project."""
    if not SHARED.is_dir():
        pytest.skip(f"the photos and cases are not at {SHARED}")
    return SHARED


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[bytes], timeout_s: float = 20.0) -> None:
    """Return when somebody listens at the port; fail if the process ends first."""
    pause = threading.Event()
    for _ in range(int(timeout_s / 0.05)):
        if process.poll() is not None:
            pytest.fail(f"{process.args!r} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
        except OSError:
            pause.wait(0.05)
        else:
            return
    pytest.fail(f"nobody listens at port {port} after {timeout_s} s")


@dataclass
class BrokerProcess:
    """A real broker in a process of its own, that a test may kill and start again at the same port."""

    argv: list[str]
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = subprocess.Popen(self.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_port(self.port, self.process)

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(10)
            self.process = None


def embedded_broker_process() -> BrokerProcess:
    port = free_port()
    return BrokerProcess([sys.executable, "-m", "crokinole", "broker", "--port", str(port)], port)


def mosquitto_process(folder: Path) -> BrokerProcess:
    program, port = require("mosquitto"), free_port()
    config = folder / f"mosquitto-{port}.conf"
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\n")
    return BrokerProcess([program, "-c", str(config)], port)


@pytest.fixture
def embedded_broker() -> Iterator[BrokerProcess]:
    """The embedded broker of the demo, running."""
    broker = embedded_broker_process()
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[BrokerProcess]:
    """A real mosquitto without persistence, running."""
    broker = mosquitto_process(tmp_path)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture(params=["embedded", "mosquitto"])
def any_broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BrokerProcess]:
    """Each real broker in turn."""
    broker = embedded_broker_process() if request.param == "embedded" else mosquitto_process(tmp_path)
    broker.start()
    yield broker
    broker.stop()
