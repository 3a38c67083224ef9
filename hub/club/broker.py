"""An embedded broker for the demo and for a home with one board; a club runs mosquitto."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket

from amqtt.broker import Broker
from amqtt.errors import BrokerError

log = logging.getLogger(__name__)


def free_port(host: str = "127.0.0.1") -> int:
    """A TCP port that nobody listens at just now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def reachable(host: str, port: int, timeout_s: float = 1.0) -> bool:
    """Whether somebody listens there."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout_s):
        return True
    return False


def run(host: str, port: int) -> int:
    """Serve MQTT 3.1.1 on one address until SIGTERM; exit status 3 if the port is taken."""
    logging.getLogger("amqtt").setLevel(logging.CRITICAL)
    logging.getLogger("transitions").setLevel(logging.CRITICAL)
    try:
        asyncio.run(_serve(host, port))
    except BrokerError as error:
        log.error("broker: %s:%d cannot be listened at (%s); choose another port", host, port, error)  # noqa: TRY400 - one line, no traceback
        return 3
    return 0


async def _serve(host: str, port: int) -> None:
    broker = Broker(
        {
            "listeners": {"default": {"type": "tcp", "bind": f"{host}:{port}", "max_connections": 500}},
            "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        }
    )
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, stop.set)
    await broker.start()
    await stop.wait()
    await broker.shutdown()
