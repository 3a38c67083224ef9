"""Online backup and restore. A backup is one SQLite file, whichever database it came from; replay reads it as it is."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL

from hub.store import schema
from hub.store.engine import SCHEMA, StoreError, open_engine, parse_url, revision_of, told
from hub.store.journal import Journal
from hub.store.lock import take_lock

_PAGE = 1000
_ORDERED = tuple(schema.metadata.sorted_tables)


class BackupError(StoreError):
    """A file that was named cannot be a backup, or cannot become one."""


def backup(url: str, target: Path) -> int:
    """Copy a database while its hub goes on; the copy is of one moment and whole, or not there at all.

    Args:
        url: of the database.
        target: the file to make; an older backup of that name is replaced once the new one is proven good.

    Returns:
        How many journal lines it holds.

    Raises:
        StoreError: the database is missing or cannot be read, or the file cannot be written.
    """
    source = parse_url(url)
    if target.is_dir():
        raise BackupError(f"backup {target}: is a folder; name a file in it")
    if source.get_backend_name() == "sqlite" and _same(Path(str(source.database)), target):
        raise BackupError(f"backup {target}: is the database itself; name another file")
    with _fresh(target) as fresh:
        if source.get_backend_name() == "sqlite":
            _vacuum(source, fresh)
        else:
            _fetch(source, fresh)
        return check(fresh)


def restore(source: Path, url: str) -> tuple[int, Path | None]:
    """Put a backup in the place of a database; no hub may run on it.

    Args:
        source: a backup.
        url: of the database that becomes what the backup is.

    Returns:
        How many journal lines it has now, and where the SQLite file that was there before is kept.

    Raises:
        StoreError: the backup is no good, a hub is running, or the database cannot be written; all is as before.
    """
    lines = check(source)
    target = parse_url(url)
    if target.get_backend_name() != "sqlite":
        _send(source, url)
        return lines, None
    path = Path(str(target.database))
    if _same(path, source):
        raise BackupError(f"backup {source}: is the database itself")
    if not path.absolute().parent.is_dir():
        raise StoreError(f"database {path}: there is no folder {path.absolute().parent}; make it first")
    lock = take_lock(target, open_engine(target))
    try:
        with _fresh(path) as fresh:
            _vacuum(parse_url(f"sqlite:///{source}"), fresh)
            check(fresh)
            kept = _set_aside(path)
    finally:
        lock.release()
    return lines, kept


def check(path: Path) -> int:
    """How many journal lines a backup holds, once all of it has been read.

    Raises:
        StoreError: missing, damaged, no journal, or made by another version of the program.
    """
    if not path.is_file():
        raise BackupError(f"backup {path}: there is no such file")
    url = parse_url(f"sqlite:///{path}")
    engine = open_engine(url, read_only=True, at_rest=not _beside(path, "-wal").exists())
    try:
        with told(url, "is no good as a backup", BackupError), engine.connect() as connection:
            found = list(connection.exec_driver_sql("PRAGMA integrity_check").scalars())
            if found != ["ok"]:
                raise BackupError(f"backup {path}: is damaged: {' '.join(str(found[0]).split())}")
            revision = revision_of(connection)
            if revision != SCHEMA:
                raise BackupError(f"backup {path}: stands at {revision or 'nothing'}, this version expects {SCHEMA}")
            return connection.scalar(sa.select(sa.func.count()).select_from(schema.journal)) or 0
    finally:
        engine.dispose()


def _vacuum(source: URL, target: Path) -> None:
    """One read transaction, which the hub's writes neither disturb nor wait for."""
    path = Path(str(source.database))
    if not path.is_file():
        raise StoreError(f"database {path}: there is no such file")
    try:
        at_rest = "" if _beside(path, "-wal").exists() else "&immutable=1"
        uri = f"{path.absolute().as_uri()}?mode=ro{at_rest}"
        with closing(sqlite3.connect(uri, uri=True, timeout=60)) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise StoreError(f"database {path}: cannot be copied to {target.parent}: {error}") from None


def _fetch(source: URL, target: Path) -> None:
    """All tables of another kind of database at one moment, into a new SQLite file."""
    Journal(f"sqlite:///{target}").close()
    engine = open_engine(source, read_only=True)
    own = open_engine(parse_url(f"sqlite:///{target}"))
    try:
        with (
            told(source, "cannot be read"),
            engine.connect().execution_options(isolation_level="REPEATABLE READ") as reading,
            own.begin() as writing,
        ):
            _copy(reading, writing)
    finally:
        engine.dispose()
        own.dispose()
    _one_file(target)


def _send(source: Path, url: str) -> None:
    """A backup's tables in the place of another kind of database's, in one transaction."""
    Journal(url).close()  # makes the tables in an empty database; refuses if a hub is there
    target = parse_url(url)
    engine = open_engine(target)
    own = open_engine(parse_url(f"sqlite:///{source}"), read_only=True, at_rest=True)
    try:
        lock = take_lock(target, engine)
        try:
            with told(target, "cannot be written"), own.connect() as reading, engine.begin() as writing:
                for table in reversed(_ORDERED):
                    writing.execute(table.delete())
                _copy(reading, writing)
        finally:
            lock.release()
    finally:
        engine.dispose()
        own.dispose()


def _copy(reading: sa.Connection, writing: sa.Connection) -> None:
    for table in _ORDERED:
        rows = reading.execution_options(yield_per=_PAGE).execute(sa.select(table))
        for page in rows.mappings().partitions(_PAGE):
            writing.execute(table.insert(), [dict(row) for row in page])


@contextmanager
def _fresh(target: Path) -> Iterator[Path]:
    """A file beside the target that takes its place, on the disk and not only in its cache, if all went well."""
    fresh = target.with_name(f".{target.name}.new")
    try:
        _remove(fresh)
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # it holds names and hashes of tokens
        yield fresh
        _synced(fresh)
        fresh.replace(target)
        _synced(target.absolute().parent)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            _remove(fresh)


def _set_aside(path: Path) -> Path | None:
    """Keep the database that is about to be replaced under another name, whole, and leave no log of it behind.

    The log must be gone before the new file is there: SQLite would write the old one's pages into it.
    """
    if not path.exists():
        return None
    kept = path.with_name(f"{path.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        with closing(sqlite3.connect(path, timeout=5)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error:  # it is broken: that may be why a backup is restored
        _moved(_beside(path, "-wal"), _beside(kept, "-wal"))
    try:
        kept.hardlink_to(path)
    except OSError:  # a stick with FAT has no links
        shutil.copy2(path, kept)
    for suffix in ("-wal", "-shm"):
        _beside(path, suffix).unlink(missing_ok=True)
    return kept


def _moved(path: Path, to: Path) -> None:
    if path.exists():
        path.rename(to)


def _one_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    _beside(path, "-hub.lock").unlink(missing_ok=True)


def _remove(fresh: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal", "-hub.lock"):
        _beside(fresh, suffix).unlink(missing_ok=True)


def _synced(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
