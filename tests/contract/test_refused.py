"""A broker that does not let us in: told once, whatever was wrong with it before, and over when it does."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hub.link.mqtt import MqttBus
from tests.conftest import BrokerProcess, free_port, require


def _mosquitto(folder: Path, port: int, *, anybody: bool) -> BrokerProcess:
    passwords, config = folder / "passwords", folder / "mosquitto.conf"
    passwords.touch()
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous {str(anybody).lower()}\npassword_file {passwords}\nuser root\n"
    )
    return BrokerProcess([require("mosquitto"), "-c", str(config)], port)


def _until(caplog: pytest.LogCaptureFixture, words: str) -> None:
    pause = threading.Event()
    for _ in range(600):
        if any(words in line for line in caplog.messages):
            return
        pause.wait(0.05)
    raise AssertionError(f"{words!r} is not in {caplog.messages}")


def test_a_broker_that_refuses_us_is_told_once_also_after_it_was_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    port = free_port()
    bus = MqttBus(f"mqtt://127.0.0.1:{port}", "b1-beam")
    bus.start()
    broker = _mosquitto(tmp_path, port, anybody=False)
    try:
        _until(caplog, "is away")
        broker.start()
        _until(caplog, "refuses us")
        broker.stop()
        broker = _mosquitto(tmp_path, port, anybody=True)
        broker.start()
        _until(caplog, "is back")
    finally:
        bus.close()
        broker.stop()
    told = [line.split(f":{port} ")[1].split(";")[0].split(":")[0] for line in caplog.messages]
    # Between the two brokers there may be a moment without any.
    assert [words for k, words in enumerate(told) if words not in told[:k]] == ["is away", "refuses us", "is back"]
    assert len(told) <= 4
