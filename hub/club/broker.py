"""An embedded broker for the demo and for a home with one board; a club runs mosquitto."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections import UserDict
from collections.abc import ItemsView, Iterator
from typing import Any

from amqtt.broker import Broker
from amqtt.errors import BrokerError

from hub.club import ports

log = logging.getLogger(__name__)

_PATIENCE = 1.5  # times the client's keepalive (MQTT 3.1.1, section 3.1.2.10)
_endings: set[asyncio.Task[None]] = set()  # the loop itself holds no task


class SteadyTable(UserDict[str, Any]):
    """A table of lists or of values that may change while somebody goes through it and waits in between.

    amqtt goes through its subscriptions and sends meanwhile: another client that subscribed then, as all do when the
    broker was started again, would cost the first one its connection, or the broker all that it was to hand on.
    """

    def __iter__(self) -> Iterator[str]:
        """The names as they are now."""
        return iter(tuple(self.data))

    def items(self) -> ItemsView[str, Any]:
        """The names with what stands under them now."""
        return {name: list(kept) if isinstance(kept, list) else kept for name, kept in self.data.items()}.items()


class _Broker(Broker):  # type: ignore[misc]  # amqtt has no types
    """Takes a client that has fallen silent for dead, so that its last will is heard.

    By itself amqtt waits for ever for one that hangs, or whose cable was pulled.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._subscriptions, self._retained_messages = SteadyTable(), SteadyTable()

    async def _initialize_client_session(self, *args: Any) -> tuple[Any, Any]:
        handler, session = await super()._initialize_client_session(*args)
        session.keep_alive *= _PATIENCE
        handler.handle_read_timeout = lambda: self._end(handler)
        return handler, session

    def _end(self, handler: Any) -> None:
        ending = asyncio.get_running_loop().create_task(handler.handle_connection_closed())
        _endings.add(ending)
        ending.add_done_callback(_endings.discard)


def address(host: str, port: int) -> str:
    """The broker's URL, which it also says as soon as it serves."""
    return f"mqtt://[{host}]:{port}" if ":" in host else f"mqtt://{host}:{port}"


def run(host: str, port: int) -> int:
    """Serve MQTT 3.1.1 on one address until SIGTERM; exit status 3 if nobody can listen there."""
    logging.getLogger("amqtt").setLevel(logging.CRITICAL)
    logging.getLogger("transitions").setLevel(logging.CRITICAL)
    try:
        if ports.taken(host, port):
            return _missing(f"{host}:{port} is taken by another program; choose another --port")
        asyncio.run(_serve(host, port))
    except OSError as error:
        return _missing(f"{host}:{port} cannot be listened at: {error.strerror or error}; choose another --host")
    except BrokerError as error:  # somebody was faster
        return _missing(f"{host}:{port} cannot be listened at: {error}")
    return 0


def _missing(text: str) -> int:
    print(f"broker: {text}", file=sys.stderr)
    return 3


async def _serve(host: str, port: int) -> None:
    broker = _Broker(
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
    log.info("broker: %s", address(host, port))
    await stop.wait()
    await broker.shutdown()
