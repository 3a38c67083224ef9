"""The queue between callback threads and a daemon's work loop."""

from __future__ import annotations

import contextlib
import os
import select
from queue import Empty, SimpleQueue
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Waitable(Protocol):
    """Something that ``select`` can wait for."""

    def fileno(self) -> int:
        """Its file descriptor."""
        ...


class Inbox(Generic[T]):
    """A queue that any thread or signal handler may put into and one loop waits on, also together with sockets."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[T] = SimpleQueue()
        self._read_fd, self._write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        os.set_blocking(self._write_fd, False)

    def fileno(self) -> int:
        """Readable while something is waiting."""
        return self._read_fd

    def put(self, item: T) -> None:
        """Add an item and wake the loop; never blocks."""
        self._queue.put(item)
        with contextlib.suppress(OSError):  # a full pipe wakes the loop as well; a closed one needs no waking
            os.write(self._write_fd, b"!")

    def drain(self) -> list[T]:
        """Everything that has come, in order; empty if nothing has."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._read_fd, 4096):
                pass
        items: list[T] = []
        with contextlib.suppress(Empty):
            while True:
                items.append(self._queue.get_nowait())
        return items

    def close(self) -> None:
        """Free the pipe."""
        os.close(self._write_fd)
        os.close(self._read_fd)


def wait_any(timeout_s: float, *sources: Waitable) -> None:
    """Return when one of the sources has something or the time is over."""
    select.select(sources, [], [], max(0.0, timeout_s))
