"""The last seconds as single JPEGs in memory, never more than so many bytes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

MAX_BYTES = 8 * 1024 * 1024
KEPT_NS = 9_000_000_000


@dataclass(frozen=True, slots=True)
class Kept:
    """One frame.

    Attributes:
        at_ns: middle of its exposure on the board's clock.
        jpeg: the picture.
    """

    at_ns: int
    jpeg: bytes


class Ring:
    """Frames in the order of their times; the oldest give way to newer ones.

    Args:
        max_bytes: what all pictures together may take.
        kept_ns: how long one is kept.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, kept_ns: int = KEPT_NS) -> None:
        self._max_bytes = max_bytes
        self._kept_ns = kept_ns
        self._frames: deque[Kept] = deque()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, at_ns: int, jpeg: bytes) -> None:
        """Keep a frame; one that is older than the last means that the clock began anew, and so does the ring."""
        if self._frames and at_ns < self._frames[-1].at_ns:
            self.clear()
        self._frames.append(Kept(at_ns, jpeg))
        self.bytes += len(jpeg)
        while self._frames and (self.bytes > self._max_bytes or at_ns - self._frames[0].at_ns > self._kept_ns):
            self.bytes -= len(self._frames.popleft().jpeg)

    def between(self, from_ns: int, to_ns: int) -> tuple[Kept, ...]:
        """The frames of a time, both ends included."""
        return tuple(frame for frame in self._frames if from_ns <= frame.at_ns <= to_ns)

    def clear(self) -> None:
        """Forget everything."""
        self._frames.clear()
        self.bytes = 0


def thinned(frames: tuple[Kept, ...], *, max_bytes: int, max_frames: int) -> tuple[Kept, ...]:
    """Every frame, or every second, third ... one, so that they may be sent."""
    for step in range(1, len(frames) + 1):
        # From the end, so that the rest that people ask about is among them.
        some = frames[::-1][::step][::-1]
        if len(some) <= max_frames and sum(len(frame.jpeg) for frame in some) <= max_bytes:
            return some
    return ()
