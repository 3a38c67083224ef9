"""One hub on one database: the second is refused, and told who is there."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.engine import URL

from hub.store.engine import StoreError, shown, told

_ADVISORY_KEY = 0x63726F6B  # "crok", any number that only hubs of ours take


class HubLock(Protocol):
    """Held as long as the hub runs; the operating system or the server frees it when the process dies."""

    def release(self) -> None:
        """Free it."""
        ...


def take_lock(url: URL, engine: sa.Engine) -> HubLock:
    """Become the only hub on a database.

    Raises:
        StoreError: another hub is there; the message names it.
    """
    if url.get_backend_name() == "sqlite":
        return _FileLock(Path(str(url.database)).absolute())
    return _ServerLock(url, engine)


def _ourselves() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


class _FileLock:
    def __init__(self, database: Path) -> None:
        path = database.with_name(database.name + "-hub.lock")
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"database {database}: {path} cannot be made: {error.strerror}") from None
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._fd, 200).decode(errors="replace").strip() or "another hub"
            os.close(self._fd)
            raise StoreError(f"database {database}: is in use by {holder}; stop that hub first") from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"the hub, {_ourselves()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._fd)


class _ServerLock:
    def __init__(self, url: URL, engine: sa.Engine) -> None:
        self._connection = engine.connect()
        with told(url, "cannot be locked"):
            self._connection.execute(
                sa.text("SELECT set_config('application_name', :name, false)"), {"name": f"the hub, {_ourselves()}"}
            )
            taken = self._connection.scalar(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": _ADVISORY_KEY})
            holder = None if taken else self._connection.scalar(_HOLDER, {"key": _ADVISORY_KEY})
            self._connection.commit()
        if not taken:
            self._connection.close()
            raise StoreError(f"database {shown(url)}: is in use by {holder or 'another hub'}; stop that hub first")

    def release(self) -> None:
        self._connection.close()


_HOLDER = sa.text(
    "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = :key AND l.database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1"
)
