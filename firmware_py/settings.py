"""What a board's daemons find on their machine: identity, state folder, the lock on it, and the way to the broker."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import importlib.metadata
import os
import uuid
from functools import cache
from pathlib import Path

from firmware_py.errors import AlreadyRunningError, StateError
from hub.link import topics
from hub.link.bus import Will
from hub.link.config import Config, read_secret
from hub.link.mqtt import MqttBus

ONLINE, OFFLINE = b"online", b"offline"

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIMEX_BYTES = 512  # struct timex is 208 bytes; the kernel writes no more
_TIME_ERROR = 5


@cache
def machine_boot(path: Path = _BOOT_ID) -> str:
    """The kernel's id of this boot: monotonic times compare only within it.

    Where the kernel has none, an id made now, which then stands for this process alone.
    """
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return str(uuid.uuid4())


@cache
def version() -> str:
    """Version of the installed software."""
    try:
        return importlib.metadata.version("crokinole")
    except importlib.metadata.PackageNotFoundError:
        return "0"


def clock_synchronised() -> bool:
    """Whether the kernel's wall clock is disciplined; asked of the kernel, since a child process may not be forked."""
    try:
        adjtimex = ctypes.CDLL(None, use_errno=True).adjtimex
    except (OSError, AttributeError):
        return False
    return 0 <= int(adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))) < _TIME_ERROR


def state_dir(config: Config) -> Path:
    """The absolute state folder, made if missing.

    A medium that is full or read-only is no error here: the outbox then works in memory and says so.

    Raises:
        StateError: it cannot be made or entered.
    """
    path = Path(config.board.state_dir).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno not in {errno.EROFS, errno.ENOSPC}:
            raise StateError(
                f"[board] state_dir {path}: cannot be made: {error.strerror}; name a folder this user may write"
            ) from None
    return path


class DaemonLock:
    """Held while a daemon runs, so that a second one of the same source ends at once instead of fighting over a name.

    The kernel drops the lock with the process, however it ends.

    Raises:
        AlreadyRunningError: another process holds it.
        StateError: the folder cannot be written (a full or read-only medium is no error: then nothing is locked).
    """

    def __init__(self, folder: Path, source: str) -> None:
        path = folder / f"{source}.lock"
        self._fd: int | None = None
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            if error.errno not in {errno.EROFS, errno.ENOSPC}:
                raise StateError(f"{path}: cannot be written: {error.strerror}; check [board] state_dir") from None
            return
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise AlreadyRunningError(
                f"{path}: another {source} daemon of this board is running; stop it first"
            ) from None

    def release(self) -> None:
        """Let the next one in."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def make_bus(config: Config, source: str) -> MqttBus:
    """A source's connection to the broker, with its last will.

    Raises:
        BusError: the URL names no broker.
        ConfigError: the password file is missing or readable by others.
    """
    board = config.board.id
    password = read_secret(Path(config.mqtt.password_file)) if config.mqtt.password_file else None
    return MqttBus(
        config.mqtt.url,
        client_id=f"{board}-{source}",
        will=Will(topics.status(board, source), OFFLINE),
        password=password,
    )
