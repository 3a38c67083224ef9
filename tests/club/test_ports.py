"""Addresses of this machine: what is taken is known, what is none of ours is told, and others are told the way in."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from hub.club import ports


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_a_port_is_taken_while_somebody_listens(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    assert ports.taken("127.0.0.1", port)
    assert ports.taken("0.0.0.0", port)
    assert ports.reachable("127.0.0.1", port)
    listener.close()
    assert not ports.taken("127.0.0.1", port)
    assert not ports.reachable("127.0.0.1", port)


def test_a_free_port_is_not_taken() -> None:
    assert not ports.taken("127.0.0.1", ports.free_port())


@pytest.mark.parametrize("host", ["192.0.2.77", "no host at all", "", "two..dots", "é..é", "a" * 300])
def test_an_address_of_another_machine_can_be_had_by_nobody(host: str) -> None:
    with pytest.raises(OSError, match=r"."):
        ports.taken(host, 8080)
    with pytest.raises(OSError, match=r"."):
        ports.free_port(host)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:81"),
        ("0.0.0.0", "http://127.0.0.1:81"),
        ("::", "http://[::1]:81"),
        ("fd00::7", "http://[fd00::7]:81"),
        ("hub.local", "http://hub.local:81"),
    ],
)
def test_a_page_has_an_address_that_can_be_opened(host: str, url: str) -> None:
    assert ports.page_url(host, 81) == url


@pytest.mark.parametrize(("host", "only_here"), [("127.0.0.1", True), ("127.8.8.8", True), ("0.0.0.0", False)])
def test_it_is_known_whether_others_can_come_in(host: str, only_here: bool) -> None:
    assert ports.loopback(host) == only_here


def test_the_way_in_from_the_network_is_an_address_of_this_machine() -> None:
    address = ports.network_address("0.0.0.0")
    if address is not None:  # else there is no network here
        ports.free_port(address)


@pytest.mark.parametrize(("status", "answers"), [(200, True), (503, False), (302, False)])
def test_only_a_page_that_is_served_is_an_answer(status: int, answers: bool) -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert ports.page_answers("127.0.0.1", server.server_port) == answers
        thread.join()


def test_nobody_there_is_no_page(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    assert not ports.page_answers("127.0.0.1", port, timeout_s=0.01)
    listener.close()
    assert not ports.page_answers("127.0.0.1", port)
