"""The frame of every daemon of a board: lock, outbox, broker, signals and systemd, around its work loop.

Callback threads (gpiozero, paho) only put into an :class:`~firmware_py.inbox.Inbox`; the work loop owns everything
else and calls :meth:`Service.beat` at least every few seconds, which does the reporting and pets systemd's watchdog.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from types import FrameType
from typing import Self

import sdnotify

from firmware_py.health import Vitals
from firmware_py.inbox import Inbox, Waitable, wait_any
from firmware_py.outbox import Outbox
from firmware_py.reporter import Reporter
from firmware_py.settings import DaemonLock, make_bus, version
from firmware_py.settings import state_dir as make_state_dir
from hub.link.bus import Bus
from hub.link.clock import Clock
from hub.link.config import Config
from hub.link.messages import Source

log = logging.getLogger(__name__)

_GOODBYE_S = 0.5


class Systemd:
    """What systemd wants to hear, if it started us."""

    def __init__(self) -> None:
        # Without the variable sdnotify would leave a socket behind.
        self._notifier = sdnotify.SystemdNotifier() if os.environ.get("NOTIFY_SOCKET") else None

    def notify(self, state: str) -> None:
        """Tell it something, ``READY=1`` or the like."""
        if self._notifier is not None:
            self._notifier.notify(state)

    def close(self) -> None:
        """Say that we are stopping, and no more."""
        self.notify("STOPPING=1")
        if self._notifier is not None and self._notifier.socket is not None:
            self._notifier.socket.close()
        self._notifier = None


class Service:
    """The frame of a daemon: lock, outbox, broker, signals and systemd, around a work loop that somebody else writes.

    As a context manager it starts on entry and says goodbye on exit. The work loop runs while not :attr:`stopping`,
    waits with :meth:`wait` and calls :meth:`beat` after each piece of work.

    Args:
        config: the whole configuration.
        source: which daemon this is.
        clock: the board's clock.
        capabilities: what the source can tell.
        hears: other sources of the board whose facts are wanted.
        bus: instead of the broker that the configuration names.
        signals: whether to catch SIGTERM and SIGINT (only the main thread can).

    Raises:
        StateError: the state folder cannot be used.
        AlreadyRunningError: a second daemon of this source.
        BusError: the configuration names no broker.
        ConfigError: the broker's password cannot be read.
    """

    def __init__(
        self,
        config: Config,
        source: Source,
        clock: Clock,
        *,
        capabilities: tuple[str, ...] = (),
        hears: tuple[Source, ...] = (),
        bus: Bus | None = None,
        signals: bool = True,
    ) -> None:
        self.folder = make_state_dir(config)
        self._lock = DaemonLock(self.folder, source)
        try:
            outbox = Outbox(self.folder / f"{source}-outbox.sqlite3")
            vitals = Vitals(version=version(), source=source, capabilities=capabilities, boot=outbox.boot)
            self.reporter = Reporter(
                board=config.board.id,
                source=source,
                bus=make_bus(config, source) if bus is None else bus,
                outbox=outbox,
                clock=clock,
                vitals=vitals,
                hears=hears,
            )
        except Exception:
            self._lock.release()
            raise
        self._signals = signals
        self._inbox: Inbox[None] = Inbox()
        self._systemd = Systemd()
        self._watchdog_at_s = 0.0
        self._started = False
        self.stopping = False

    def __enter__(self) -> Self:
        if self._signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._on_signal)
        self._started = True
        self.reporter.start()
        self._systemd.notify("READY=1")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Say goodbye and free everything; also right for one that was never started.

        The hub gets a moment to acknowledge what it has just been sent; what it does not, the next run sends again.
        """
        if self._started:
            self.reporter.wait_acknowledged(_GOODBYE_S)
        self._systemd.close()
        self.reporter.close()
        self._lock.release()
        self._inbox.close()

    def stop(self) -> None:
        """Ask the work loop to end; from any thread."""
        self.stopping = True
        self._inbox.put(None)

    def beat(self) -> None:
        """The work loop is alive: report, and pet the watchdog."""
        self._inbox.drain()
        self.reporter.pump()
        now_s = time.monotonic()
        if now_s >= self._watchdog_at_s:
            self._watchdog_at_s = now_s + 1.0
            self._systemd.notify("WATCHDOG=1")

    def wait(self, timeout_s: float, *sources: Waitable) -> None:
        """Sleep until one of the sources, the broker or a signal has something, at most ``timeout_s`` (and 1 s)."""
        wait_any(min(timeout_s, 1.0), self.reporter, self._inbox, *sources)

    def wait_acknowledged(self) -> bool:
        """Beat until the hub has everything, however long that takes; False if the daemon must stop first."""
        while not self.stopping:
            if self.reporter.wait_acknowledged(0.5):
                return True
            self.beat()
        return False

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        log.info("%s: stopping", signal.Signals(number).name)
        self.stop()


def idle(why: str) -> None:
    """Run the daemon of a board that lacks its device, until SIGTERM or SIGINT.

    It reports nothing, so that nobody counts on it, and gives a supervisor nothing to start again.

    Args:
        why: told once.
    """
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: asked.append(number))
    log.warning("%s", why)
    systemd = Systemd()
    systemd.notify("READY=1")
    while not asked:
        systemd.notify("WATCHDOG=1")
        time.sleep(0.5)
    systemd.close()
