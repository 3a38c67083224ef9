"""The door to the broker: what all rooms use, whether paho or the in-memory bus stands behind it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, Protocol
from urllib.parse import SplitResult, urlsplit

from hub.link.masking import masked

DEFAULT_PORT = 1883
_HOST = re.compile(r"[A-Za-z0-9._:%-]+")  # a name, or an address of either kind


class BusError(Exception):
    """The broker refuses us or cannot be named; says which broker and how to mend it."""


def broker_address(url: str) -> tuple[str, int, SplitResult]:
    """Host, port and all parts of ``mqtt://[user[:password]@]host[:port]``.

    Raises:
        BusError: the URL names no broker.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode("ascii")
    except ValueError:  # half an IPv6 address, or a name that can be no host's
        raise BusError(f"broker {masked(url)!r}: expected mqtt://host[:port]") from None
    if parts.scheme != "mqtt" or not _HOST.fullmatch(host):
        raise BusError(f"broker {masked(url)!r}: expected mqtt://host[:port]")
    try:
        port = DEFAULT_PORT if parts.port is None else parts.port
    except ValueError:
        port = 0
    if not port:
        raise BusError(f"broker {masked(url)!r}: the port must be a number from 1 to 65535")
    return host, port, parts


class Message(NamedTuple):
    """A message as it came from the broker."""

    topic: str
    payload: bytes
    retain: bool


class Will(NamedTuple):
    """What the broker publishes, retained, when this client vanishes."""

    topic: str
    payload: bytes


Handler = Callable[[Message], None]
ConnectionHandler = Callable[[bool], None]


class Bus(Protocol):
    """A connection to the broker that keeps itself alive.

    Handlers run on the bus's own thread and must only enqueue. Nothing is queued while the broker is away:
    :meth:`publish` then answers False and the caller, who owns the truth (an outbox, a state), sends it again from
    its connection handler.
    """

    @property
    def connected(self) -> bool:
        """Whether the broker has accepted us and has not been lost since."""
        ...

    def publish(self, topic: str, payload: bytes, *, retain: bool = False, qos: int = 1) -> bool:
        """Hand a message to the broker; False if it is away. A topic with a wildcard raises ValueError."""
        ...

    def subscribe(self, topic_filter: str, handler: Handler) -> None:
        """Have ``handler`` called for every message that matches; kept over reconnections. Call before start."""
        ...

    def on_connection(self, handler: ConnectionHandler) -> None:
        """Have ``handler`` called with True on every connect (subscriptions stand) and False on every loss."""
        ...

    def start(self) -> None:
        """Begin to connect in the background, now and after every loss; a broker that is away is no error."""
        ...

    def close(self, farewell: Will | None = None) -> None:
        """Leave, publishing ``farewell`` retained first, since a last will is not sent on a clean goodbye."""
        ...
