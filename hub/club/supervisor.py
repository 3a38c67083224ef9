"""Starts the daemons, each its own process, and starts again whichever dies."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

log = logging.getLogger(__name__)

_FIRST_DELAY_S = 0.5
_LONGEST_DELAY_S = 8.0
_GOOD_RUN_S = 30.0
_GOODBYE_S = 15.0  # a machine that is busy is slow to end, and whoever is killed has not said goodbye
_PARENT = "CROKINOLE_SUPERVISOR"
_PR_SET_PDEATHSIG = 1


def follow_supervisor() -> None:
    """Have the kernel end this process with SIGTERM when the supervisor that started it dies, however that happens.

    Does nothing in a process that no supervisor has started, or where the kernel cannot do it.
    """
    parent = os.environ.pop(_PARENT, "")
    if not parent:
        return
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(parent):  # it was faster
        os.kill(os.getpid(), signal.SIGTERM)


@dataclass(slots=True)
class Child:
    """One process that is kept alive.

    Attributes:
        name: for people.
        argv: the command.
        log_path: where its output goes.
        last: it ends only when all others have, because they need it for their goodbyes (the broker).
        once: it is meant to end by itself, and is not started again after exit status 0.
        restarts: how often it had to be started again.
    """

    name: str
    argv: Sequence[str]
    log_path: Path
    last: bool = False
    once: bool = False
    restarts: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _log_start: int = 0
    _started_s: float = 0.0
    _start_at_s: float = 0.0
    _delay_s: float = _FIRST_DELAY_S

    @property
    def pid(self) -> int:
        """Process id, 0 while it is down."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Start it now."""
        with self.log_path.open("ab") as out:
            self._log_start = out.tell()
            self._process = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                process_group=0,
                env={**os.environ, _PARENT: str(os.getpid())},
            )
        self._started_s = time.monotonic()

    @property
    def ended(self) -> int | None:
        """Its exit status, None while it runs; only until the next :meth:`look`."""
        return self._process.poll() if self._process is not None else None

    def has_said(self, words: str) -> bool:
        """Whether its output since its last start holds these words."""
        with self.log_path.open("rb") as log_file:
            log_file.seek(self._log_start)
            return words.encode() in log_file.read()

    def look(self) -> None:
        """Start it again if it has died, a little later each time it dies soon."""
        now_s = time.monotonic()
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return
            self._process = None
            if self.once and status == 0:
                self._start_at_s = float("inf")
                return
            good = now_s - self._started_s > _GOOD_RUN_S
            self._delay_s = _FIRST_DELAY_S if good else min(self._delay_s * 2, _LONGEST_DELAY_S)
            self._start_at_s = now_s + (_FIRST_DELAY_S if self.restarts == 0 else self._delay_s)
            words = self.last_words() if status > 0 else ""  # who was killed has not said why
            log.warning("%s ended (%s), starting it again%s", self.name, _how(status), f": {words}" if words else "")
        elif now_s >= self._start_at_s:
            self.restarts += 1
            self.start()

    def stop(self) -> None:
        """Ask it to end."""
        self._start_at_s = float("inf")
        if self._process is not None:
            self._process.terminate()

    def wait(self, until_s: float) -> None:
        """Wait for its end until a time of the monotonic clock, then end it."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.05, until_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.warning("%s does not end, killing it", self.name)
            self._process.kill()
            self._process.wait()
        self._process = None

    def last_words(self) -> str:
        """The last line of its output, empty if there is none."""
        try:
            lines = self.log_path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""


@dataclass(slots=True)
class Supervisor:
    """The processes of one machine, in the order in which they are started."""

    children: list[Child] = field(default_factory=list)

    def add(self, child: Child) -> Child:
        """Start a process and keep it."""
        child.start()
        self.children.append(child)
        return child

    def give_up(self, child: Child) -> None:
        """End a process and keep it no longer."""
        child.stop()
        child.wait(time.monotonic() + _GOODBYE_S)
        self.children.remove(child)

    def look(self) -> None:
        """Look after every process once; call this a few times a second."""
        for child in self.children:
            child.look()

    def stop(self) -> None:
        """End everything; what does not go within 15 s is killed."""
        for group in ([c for c in self.children if not c.last], [c for c in self.children if c.last]):
            for child in group:
                child.stop()
            until_s = time.monotonic() + _GOODBYE_S
            for child in group:
                child.wait(until_s)


def _how(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"
