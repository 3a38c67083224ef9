"""Sends pictures to the pages over HTTP from a thread of its own: retried, bounded, and never waited for."""

from __future__ import annotations

import http.client
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote, urlsplit

log = logging.getLogger(__name__)

WAITING = 3
GIVE_UP_S = 600.0
_FIRST_DELAY_S, _LONGEST_DELAY_S = 1.0, 30.0
_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is to be sent.

    Attributes:
        case: what it is about.
        body: makes the bytes; called once, on the uploader's thread.
    """

    case: str
    body: Callable[[], bytes]


class RefusedError(Exception):
    """The pages do not want it, however often it is sent; the text says why."""


class Post(Protocol):
    """Sends one body.

    Raises:
        RefusedError: sending it again would not help.
        OSError: the pages cannot be reached just now.
    """

    def __call__(self, body: bytes) -> None:
        """Send."""


class HttpPost:
    """Posts to the pages of a club.

    Args:
        pages: their address, ``http://HOST:PORT``.
        board: the board's id.
        token: the board's own.
    """

    def __init__(self, pages: str, board: str, token: str) -> None:
        address = urlsplit(pages)
        self._https = address.scheme == "https"
        self._host, self._port = address.hostname or "", address.port
        self._path = f"{address.path.rstrip('/')}/api/1/boards/{quote(board)}/cases"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}

    def __call__(self, body: bytes) -> None:
        """See :class:`Post`."""
        kind = http.client.HTTPSConnection if self._https else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=_TIMEOUT_S)
        try:
            connection.request("POST", self._path, body, self._headers)
            response = connection.getresponse()
            told = response.read(2000)
        except http.client.HTTPException as error:
            raise OSError(f"{type(error).__name__}: {error}") from None
        finally:
            connection.close()
        if response.status >= 500 or response.status == 429:
            raise OSError(f"answered {response.status}")
        if response.status >= 400:
            raise RefusedError(f"{response.status}: {told.decode(errors='replace').strip()}")


class Uploader:
    """The thread that sends. What waits is bounded: the oldest gives way.

    Args:
        post: sends one body.
        pause: waits so many seconds unless told to stop; whether to stop.
        now_s: real time.
    """

    def __init__(
        self, post: Post, *, pause: Callable[[float], bool] | None = None, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._post = post
        self._stop = threading.Event()
        self._pause = pause or self._stop.wait
        self._now_s = now_s
        self._waiting: deque[Parcel] = deque(maxlen=WAITING)
        self._ready = threading.Condition()
        self._thread: threading.Thread | None = None
        self._trouble = ""

    def put(self, parcel: Parcel) -> None:
        """Send something when its turn comes; returns at once."""
        with self._ready:
            if len(self._waiting) == WAITING:
                log.warning("pictures of %s are given up: newer ones wait to be sent", self._waiting[0].case)
            self._waiting.append(parcel)
            self._ready.notify()

    def start(self) -> None:
        """Start the thread; it must not hold up the end of the process."""
        self._thread = threading.Thread(target=self._run, name="pictures", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give up what waits."""
        self._stop.set()
        with self._ready:
            self._ready.notify()

    def send_next(self) -> None:
        """Send the parcel that waits longest, with as many tries as it takes, or give it up."""
        with self._ready:
            if not self._waiting:
                return
            parcel = self._waiting.popleft()
        try:
            body = parcel.body()
        except Exception:  # a picture that cannot be drawn must not end the others
            log.exception("pictures of %s could not be made", parcel.case)
            return
        until_s, delay_s = self._now_s() + GIVE_UP_S, _FIRST_DELAY_S
        while True:
            try:
                self._post(body)
            except RefusedError as refusal:
                log.info("pictures of %s are not wanted: %s", parcel.case, refusal)
                return
            except OSError as error:
                self._tell(str(error) or type(error).__name__)
                if self._now_s() >= until_s:
                    log.warning("pictures of %s are given up", parcel.case)
                    return
                if self._pause(delay_s):
                    return
                delay_s = min(2 * delay_s, _LONGEST_DELAY_S)
                continue
            self._tell("")
            return

    def _tell(self, trouble: str) -> None:
        """A trouble is told once when it begins and once when it ends."""
        if trouble and not self._trouble:
            log.warning("pictures cannot be sent to the pages (%s); trying again", trouble)
        elif self._trouble and not trouble:
            log.info("pictures are sent to the pages again")
        self._trouble = trouble

    def _run(self) -> None:
        while not self._stop.is_set():
            with self._ready:
                while not self._waiting and not self._stop.is_set():
                    self._ready.wait()
            self.send_next()
