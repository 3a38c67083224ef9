"""Time as a value that is handed in: the system's clock, a scaled one, and the twin's counter.

A fact carries the time of its frame or edge on its board's clock. On a real board that is the kernel's monotonic
clock, which gpiozero's edges and the camera's sensor timestamps share.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

_POLL_S = 0.001


class Clock(Protocol):
    """The door that all timed code stands behind."""

    def now_ns(self) -> int:
        """Nanoseconds on this clock; only differences mean anything."""
        ...

    def wait_until(self, at_ns: int) -> None:
        """Return when the clock has passed ``at_ns``; at once if it already has."""
        ...

    def real_s_until(self, at_ns: int) -> float:
        """How many real seconds to sleep before looking again whether ``at_ns`` has passed; 0 if it has."""
        ...


class MonotonicClock:
    """The kernel's monotonic clock."""

    def now_ns(self) -> int:
        """See :class:`Clock`."""
        return time.monotonic_ns()

    def wait_until(self, at_ns: int) -> None:
        """See :class:`Clock`."""
        while (left_s := self.real_s_until(at_ns)) > 0:
            time.sleep(left_s)

    def real_s_until(self, at_ns: int) -> float:
        """See :class:`Clock`."""
        return max(0.0, (at_ns - self.now_ns()) / 1e9)


@dataclass(frozen=True, slots=True)
class SimClock:
    """A clock that runs ``speed`` times as fast as the kernel's, shared by processes that know its epoch.

    Attributes:
        epoch_ns: the kernel's monotonic time at which this clock showed 0.
        speed: simulated seconds in a real one, above 0.
    """

    epoch_ns: int
    speed: float = 1.0

    def __post_init__(self) -> None:
        if self.speed <= 0:
            raise ValueError(f"a clock's speed must be above 0, got {self.speed}")

    def now_ns(self) -> int:
        """See :class:`Clock`."""
        return round((time.monotonic_ns() - self.epoch_ns) * self.speed)

    def wait_until(self, at_ns: int) -> None:
        """See :class:`Clock`."""
        while (left_s := self.real_s_until(at_ns)) > 0:
            time.sleep(left_s)

    def real_s_until(self, at_ns: int) -> float:
        """See :class:`Clock`."""
        return max(0.0, (at_ns - self.now_ns()) / 1e9 / self.speed)


@dataclass(frozen=True, slots=True)
class CounterClock:
    """The lock-step clock: somebody else's counter, which stands still until everybody has done their work.

    Attributes:
        read_ns: reads the counter.
    """

    read_ns: Callable[[], int]

    def now_ns(self) -> int:
        """See :class:`Clock`."""
        return self.read_ns()

    def wait_until(self, at_ns: int) -> None:
        """See :class:`Clock`."""
        while self.read_ns() < at_ns:
            time.sleep(_POLL_S)

    def real_s_until(self, at_ns: int) -> float:
        """See :class:`Clock`: a counter gives no forecast, so this is the time to the next look."""
        return 0.0 if self.read_ns() >= at_ns else _POLL_S


@dataclass(slots=True)
class ManualClock:
    """A clock that a test or a case file moves by hand.

    Attributes:
        at_ns: what it shows.
    """

    at_ns: int = field(default=0)

    def now_ns(self) -> int:
        """See :class:`Clock`."""
        return self.at_ns

    def wait_until(self, at_ns: int) -> None:
        """See :class:`Clock`: waiting moves this clock on."""
        self.at_ns = max(self.at_ns, at_ns)

    def real_s_until(self, at_ns: int) -> float:
        """See :class:`Clock`: nobody else moves this clock, so waiting for it takes no real time."""
        return 0.0 if self.at_ns >= at_ns else _POLL_S
