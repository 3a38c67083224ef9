"""A copy that follows a database: whole at every moment, never more than one interval behind, ready for another hub."""

from __future__ import annotations

import logging
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from hub.store import schema
from hub.store.backup import BackupError, backup, check
from hub.store.engine import StoreError, open_engine, parse_url, shown, told

log = logging.getLogger(__name__)

_PAGE = 1000
_SMALL = tuple(table for table in schema.metadata.sorted_tables if table is not schema.journal)
"""Tables whose rows change; each has at most some thousands."""


class Replica:
    """Follows a database into one SQLite file, on a stick or a shared folder.

    Each step is one transaction of the file, so that a stick that is pulled out holds the step before.

    Args:
        url: of the database; its hub goes on meanwhile.
        target: the file; made if it is missing, kept under another name if it belongs to another journal.

    Raises:
        BackupError: the file cannot be a copy, e.g. since it is the database itself.
    """

    def __init__(self, url: str, target: Path) -> None:
        self._url = parse_url(url)
        self._text = url
        self._target = target
        if self._url.get_backend_name() == "sqlite" and Path(str(self._url.database)).resolve() == target.resolve():
            raise BackupError(f"backup {target}: is the database itself; name another file")

    def step(self) -> int:
        """Bring the copy up to date.

        Returns:
            How many journal lines were new.

        Raises:
            StoreError: the database cannot be read, or the file not be written; the next step may succeed.
        """
        if not self._target.exists():
            return backup(self._text, self._target)
        source = open_engine(self._url, read_only=True)
        copy = parse_url(f"sqlite:///{self._target}")
        target = sa.create_engine("sqlite://", creator=lambda: _opened(self._target))
        try:
            with told(self._url, "cannot be read"), source.connect() as reading:
                _one_moment(reading)
                with told(copy, "cannot be written"), target.begin() as writing:
                    since = _common_line(reading, writing)
                    if since is not None:
                        return _follow(reading, writing, since)
        finally:
            source.dispose()
            target.dispose()
        self._start_over()
        return backup(self._text, self._target)

    def _start_over(self) -> None:
        """The file is a copy of another journal, or of this one before it was restored: it is kept."""
        kept = self._target.with_name(f"{self._target.name}.other-{time.strftime('%Y%m%d-%H%M%S')}")
        log.warning("%s: belongs to another journal; kept as %s, starting anew", self._target, kept.name)
        try:
            self._target.rename(kept)
        except OSError as error:
            raise StoreError(f"{self._target}: cannot be renamed: {error.strerror}") from None

    def follow(self, every_s: float, stop: threading.Event) -> None:
        """Step again and again until told to stop; what fails is told once and tried again."""
        trouble = ""
        while True:
            try:
                self.step()
            except StoreError as error:
                if not trouble:
                    log.error("%s; trying again every %g s", error, every_s)  # noqa: TRY400 - one line, no traceback
                trouble = str(error)
            else:
                if trouble:
                    log.warning("%s: is up to date again", self._target)
                trouble = ""
            if stop.wait(every_s):
                return

    def lines(self) -> int:
        """How many lines the copy holds, once all of it has been read; errors as in :func:`hub.store.backup.check`."""
        return check(self._target)


def run(url: str, target: Path, every_s: float) -> None:
    """Follow a database until SIGTERM; errors of the first look as in :class:`Replica`."""
    copy = Replica(url, target)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    sys.stdout.write(f"{target}: follows {shown(parse_url(url))} every {every_s:g} s\n")
    sys.stdout.flush()
    copy.follow(every_s, stop)


def _opened(path: Path) -> sqlite3.Connection:
    """A file in rollback mode: one file, also on a share, where a write-ahead log would need shared memory."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=10)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _one_moment(reading: sa.Connection) -> None:
    if reading.dialect.name == "sqlite":
        reading.exec_driver_sql("BEGIN")
    else:
        reading.execution_options(isolation_level="REPEATABLE READ")


def _common_line(reading: sa.Connection, writing: sa.Connection) -> int | None:
    """The last line of the copy if the database has the very same one, else None."""
    j = schema.journal.c
    identity = (j.id, j.board, j.source, j.boot, j.seq, j.wall_ms)
    last = writing.execute(sa.select(*identity).order_by(j.id.desc()).limit(1)).first()
    if last is None:
        return 0
    here = reading.execute(sa.select(*identity).where(j.id == last.id)).first()
    return int(last.id) if here is not None and tuple(here) == tuple(last) else None


def _follow(reading: sa.Connection, writing: sa.Connection, since: int) -> int:
    j = schema.journal
    new = 0
    rows = reading.execution_options(yield_per=_PAGE).execute(sa.select(j).where(j.c.id > since).order_by(j.c.id))
    for page in rows.mappings().partitions(_PAGE):
        writing.execute(j.insert(), [dict(row) for row in page])
        new += len(page)
    for table in _SMALL:
        _equalise(table, reading, writing)
    return new


def _equalise(table: sa.Table, reading: sa.Connection, writing: sa.Connection) -> None:
    """Make a small table the same, writing only what differs."""
    keys = list(table.primary_key)
    names = [key.name for key in keys]
    theirs = _rows(names, reading.execute(sa.select(table)).mappings())
    ours = _rows(names, writing.execute(sa.select(table)).mappings())
    for key in [key for key, row in ours.items() if theirs.get(key) != row]:
        writing.execute(table.delete().where(*(column == value for column, value in zip(keys, key, strict=True))))
    fresh = [row for key, row in theirs.items() if ours.get(key) != row]
    if fresh:
        writing.execute(table.insert(), fresh)


def _rows(names: list[str], found: Iterable[sa.RowMapping]) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(row[name] for name in names): dict(row) for row in found}
