"""One hub on one database: a second is refused and told who is there, or waits until the first is gone."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.engine import URL

from hub.store.engine import StoreBusyError, StoreError, shown, told

_ADVISORY_KEY = 0x63726F6B  # "crok", any number that only hubs of ours take

_KEEPALIVES = {
    "tcp_keepalives_idle": "3",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "2",
    "tcp_user_timeout": "7000",
}
"""When the server sees that a hub's machine is gone without a word: after 7 s, so that another takes over in 10."""

Waiting = Callable[[str], None]
"""Called with the holder's name while another hub holds the lock; returns after a pause, or raises to give up."""


class HubLock(Protocol):
    """Held as long as the hub runs; the operating system or the server frees it when the process dies."""

    def writing(self) -> AbstractContextManager[tuple[sa.Connection, bool]]:
        """A transaction that only the holder can make, and whether the lock had been lost and was taken anew.

        Raises:
            StoreError: the lock was lost to another hub.
        """
        ...

    def release(self) -> None:
        """Free it."""
        ...


def take_lock(url: URL, engine: sa.Engine, waiting: Waiting | None = None) -> HubLock:
    """Become the only hub on a database.

    Args:
        url: of the database.
        engine: its engine, for transactions.
        waiting: what to do while another hub is there; without it that is an error.

    Raises:
        StoreError: another hub is there; the message names it.
    """
    if url.get_backend_name() == "sqlite":
        return _FileLock(Path(str(url.database)).absolute(), engine, waiting)
    return _ServerLock(url, engine, waiting)


def _wait(database: str, holder: str, waiting: Waiting | None) -> None:
    if waiting is None:
        raise StoreError(f"database {database}: is in use by {holder}; stop that hub first")
    waiting(holder)


def _ourselves() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


class _FileLock:
    def __init__(self, database: Path, engine: sa.Engine, waiting: Waiting | None) -> None:
        self._engine = engine
        path = database.with_name(database.name + "-hub.lock")
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"database {database}: {path} cannot be made: {error.strerror}") from None
        try:
            while not self._locked():
                holder = os.pread(self._fd, 200, 0).decode(errors="replace").strip() or "another hub"
                _wait(str(database), holder, waiting)
        except BaseException:
            os.close(self._fd)
            raise
        with contextlib.suppress(OSError):  # a full disk: the lock holds, only our name is not in it
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"the hub, {_ourselves()}\n".encode(), 0)

    @contextmanager
    def writing(self) -> Iterator[tuple[sa.Connection, bool]]:
        with self._engine.begin() as connection:
            yield connection, False

    def release(self) -> None:
        os.close(self._fd)

    def _locked(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


class _ServerLock:
    """An advisory lock, and the one connection that holds it and writes.

    A hub whose connection breaks has lost the lock with it, and can write nothing over whoever took it since.
    """

    def __init__(self, url: URL, engine: sa.Engine, waiting: Waiting | None) -> None:
        self._url = url
        self._engine = engine
        self._connection = engine.connect()
        try:
            while (holder := self._taken_by()) is not None:
                _wait(shown(url), holder, waiting)
        except BaseException:
            self.release()
            raise
        self._held = True

    @contextmanager
    def writing(self) -> Iterator[tuple[sa.Connection, bool]]:
        renewed = not self._held or self._connection.invalidated
        if renewed:
            self._take_anew()
        with self._connection.begin():
            yield self._connection, renewed

    def _take_anew(self) -> None:
        self._held = False
        self.release()
        with told(self._url, "is away", StoreBusyError):
            self._connection = self._engine.connect()
        holder = self._taken_by()
        if holder is not None:
            raise StoreError(f"database {shown(self._url)}: was taken over by {holder}; this hub must start anew")
        self._held = True

    def release(self) -> None:
        # Given back to the pool the connection would stay open, and with it the lock.
        self._connection.invalidate()
        self._connection.close()

    def _taken_by(self) -> str | None:
        """Take the lock: None if it is ours now, else its holder's name."""
        settings = {"application_name": f"the hub, {_ourselves()}", **_KEEPALIVES}
        with told(self._url, "cannot be locked"), self._connection.begin():
            for name, value in settings.items():
                self._connection.execute(
                    sa.text("SELECT set_config(:name, :value, false)"), {"name": name, "value": value}
                )
            if self._connection.scalar(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": _ADVISORY_KEY}):
                return None
            return self._connection.scalar(_HOLDER, {"key": _ADVISORY_KEY}) or "another hub"


_HOLDER = sa.text(
    "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = :key AND l.database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1"
)
