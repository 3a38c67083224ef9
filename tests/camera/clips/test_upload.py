"""Sending pictures: tried again, given up in the end, and never in the way of anything else."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from firmware_py.camera.clips.upload import GIVE_UP_S, WAITING, HttpPost, Parcel, RefusedError, Uploader


@dataclass
class Line:
    """A connection that fails as it is told, and a clock that runs only while somebody waits."""

    failures: list[Exception] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    tries: int = 0
    now_s: float = 0.0
    waits: list[float] = field(default_factory=list)
    stopped: bool = False

    def post(self, body: bytes) -> None:
        self.tries += 1
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append(body)

    def pause(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now_s += seconds
        return self.stopped

    def uploader(self) -> Uploader:
        return Uploader(self.post, pause=self.pause, now_s=lambda: self.now_s)


def parcel(case: str) -> Parcel:
    return Parcel(case, case.encode)


def test_what_cannot_be_sent_is_tried_again_after_longer_and_longer_waits() -> None:
    line = Line([OSError("refused")] * 7)
    uploader = line.uploader()
    uploader.put(parcel("a"))
    uploader.send_next()
    assert line.sent == [b"a"]
    assert line.waits == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_it_is_given_up_in_the_end_and_the_next_is_sent() -> None:
    line = Line([OSError("away")] * 500)
    uploader = line.uploader()
    uploader.put(parcel("a"))
    uploader.put(parcel("b"))
    uploader.send_next()
    assert line.sent == []
    assert GIVE_UP_S <= line.now_s <= GIVE_UP_S + 30
    line.failures.clear()
    uploader.send_next()
    assert line.sent == [b"b"]


def test_what_the_pages_do_not_want_is_not_sent_twice() -> None:
    line = Line([RefusedError("409: not open")])
    uploader = line.uploader()
    uploader.put(parcel("a"))
    uploader.send_next()
    assert (line.sent, line.tries, line.waits) == ([], 1, [])


def test_only_a_few_wait_and_the_oldest_gives_way() -> None:
    line = Line()
    uploader = line.uploader()
    for number in range(WAITING + 2):
        uploader.put(parcel(str(number)))
    for _ in range(WAITING + 2):
        uploader.send_next()
    assert line.sent == [str(number).encode() for number in range(2, WAITING + 2)]


def test_a_picture_that_cannot_be_made_does_not_hold_up_the_next() -> None:
    line = Line()
    uploader = line.uploader()

    def broken() -> bytes:
        raise ValueError("no such picture")

    uploader.put(Parcel("a", broken))
    uploader.put(parcel("b"))
    uploader.send_next()
    uploader.send_next()
    assert line.sent == [b"b"]


def test_a_thread_that_waits_to_try_again_ends_when_it_is_told() -> None:
    failing = threading.Event()

    def post(body: bytes) -> None:
        failing.set()
        raise OSError("away")

    uploader = Uploader(post)
    uploader.start()
    uploader.put(parcel("a"))
    assert failing.wait(10)
    uploader.close()
    assert uploader._thread is not None
    uploader._thread.join(10)
    assert not uploader._thread.is_alive()


class Pages(BaseHTTPRequestHandler):
    """Answers with the status that the server was told."""

    def do_POST(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.seen.append((self.path, self.headers["Authorization"], body))  # type: ignore[attr-defined]
        self.send_response(server.status)  # type: ignore[attr-defined]
        self.end_headers()
        self.wfile.write(b"because")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def pages() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Pages)
    server.seen, server.status = [], 200  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_body_is_posted_to_the_board_s_cases_with_its_token(pages: HTTPServer) -> None:
    HttpPost(f"http://127.0.0.1:{pages.server_port}/", "board-1", "the-token")(b"pictures")
    assert pages.seen == [("/api/1/boards/board-1/cases", "Bearer the-token", b"pictures")]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, RefusedError), (401, RefusedError), (409, RefusedError), (429, OSError), (500, OSError), (507, OSError)],
)
def test_an_answer_tells_whether_trying_again_can_help(pages: HTTPServer, status: int, error: type[Exception]) -> None:
    pages.status = status  # type: ignore[attr-defined]
    with pytest.raises(error, match=str(status)):
        HttpPost(f"http://127.0.0.1:{pages.server_port}", "board-1", "t")(b"x")


def test_pages_that_are_away_are_tried_again() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(OSError, match="refused"):
            HttpPost(f"http://127.0.0.1:{taken.getsockname()[1]}", "board-1", "t")(b"x")


def test_an_answer_that_is_no_http_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"what do you want?\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(OSError, match="BadStatusLine"):
            HttpPost(f"http://127.0.0.1:{server.getsockname()[1]}", "board-1", "t")(b"x")
        thread.join()
