"""Addresses on this machine: which are free, who answers there, and how others in the room reach it."""

from __future__ import annotations

import contextlib
import errno
import http.client
import ipaddress
import socket
from typing import Any

_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # RFC 5737, RFC 3849: nobody's


def free_port(host: str = "127.0.0.1") -> int:
    """A TCP port of an address of this machine that nobody listens at just now.

    Raises:
        OSError: the address is none of this machine.
    """
    family, address = _resolved(host, 0)
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind(address)
        return int(probe.getsockname()[1])


def taken(host: str, port: int) -> bool:
    """Whether somebody listens there, so that nobody else can.

    Raises:
        OSError: nobody could: the address is none of this machine, or the port is kept for the administrator.
    """
    family, address = _resolved(host, port)
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in its after-time is free
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return True
            raise
    return False


def reachable(host: str, port: int, timeout_s: float = 1.0) -> bool:
    """Whether somebody listens there."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout_s):
        return True
    return False


def near(host: str) -> str:
    """Where this machine reaches itself, if a host stands for all its addresses; else the host."""
    with contextlib.suppress(ValueError):  # a name is no number
        number = ipaddress.ip_address(host)
        if number.is_unspecified:
            return "::1" if number.version == 6 else "127.0.0.1"
    return host


def everywhere(host: str) -> bool:
    """Whether it stands for all addresses of this machine."""
    return near(host) != host


def loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(str(_resolved(host, 0)[1][0]).partition("%")[0]).is_loopback


def page_url(host: str, port: int) -> str:
    """The address of a page as people open it on this machine."""
    own = near(host)
    return f"http://[{own}]:{port}" if ":" in own else f"http://{own}:{port}"


def page_answers(host: str, port: int, timeout_s: float = 5.0) -> bool:
    """Whether a page is served there."""
    connection = http.client.HTTPConnection(near(host), port, timeout=timeout_s)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def network_address(host: str) -> str | None:
    """The address by which others in the network reach this machine, None without a network.

    Args:
        host: all addresses of this machine, of the kind that is asked for.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((_ELSEWHERE[family], 9))  # sends nothing, but chooses the way out
        return str(probe.getsockname()[0])
    return None


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    """The family, and the address as sockets take it: name or number, port, and for IPv6 two numbers more."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except UnicodeError:  # asked before any resolver is
        raise OSError("no host can be called so") from None
    return family, address
