"""Opens databases: SQLite tuned for never losing an acknowledged row, or PostgreSQL by URL; errors in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from alembic.runtime.migration import MigrationContext
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from hub.link.masking import masked

SCHEMA = "0001"
"""The newest migration; a database of another one is not read by the archive."""

_BUSY_MS = 5000
CHECKPOINT_PAGES = 16_000
"""64 MB of log are copied back while facts wait; before that :mod:`hub.store.checkpoints` does it beside them."""


_DRIVERS = frozenset({"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"})


class StoreError(Exception):
    """The database cannot be used; one sentence that says which, why, and how to mend it."""


class StoreBusyError(StoreError):
    """It cannot be written just now (locked, full, read-only, away) and may be later; nothing was stored."""


def parse_url(url: str) -> URL:
    """The URL of a database; a bare ``postgresql://`` is served by psycopg.

    Raises:
        StoreError: not a URL, or of neither SQLite nor PostgreSQL.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # the latter of a port that is no number
        raise StoreError(f"database {masked(url)!r}: expected sqlite:///FILE or postgresql://HOST/NAME") from None
    backend = parsed.get_backend_name()
    if parsed.drivername not in _DRIVERS:
        raise StoreError(f"database {parsed.drivername!r}: expected sqlite:///FILE or postgresql://HOST/NAME")
    if backend == "postgresql" and parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and parsed.database in {None, "", ":memory:"}:
        raise StoreError(f"database {url!r}: a journal in memory would be lost; name a file, sqlite:///FILE")
    if backend == "sqlite" and "?" in url:
        raise StoreError(f"database {url!r}: a file takes no options; a '?' in its path is written %3F")
    return parsed


def open_engine(url: URL, *, read_only: bool = False, at_rest: bool = False) -> sa.Engine:
    """An engine whose connections are set up as the journal needs them; nothing is connected yet.

    Args:
        url: of the database.
        read_only: refuse every write.
        at_rest: nobody writes to the SQLite file meanwhile, so that nothing is made beside it either.

    Raises:
        StoreError: the driver is not installed.
    """
    if url.get_backend_name() == "sqlite":
        mode = "ro" if read_only else "rwc"
        # SQLite reads the name as a URI, in which '?', '#' and '%' of a path would mean something else.
        query = {"mode": mode, "uri": "true", **({"immutable": "1"} if at_rest else {})}
        name = f"file:{quote(str(Path(str(url.database)).absolute()))}"
        engine = sa.create_engine(
            URL.create("sqlite", database=name, query=query), connect_args={"timeout": _BUSY_MS / 1000}
        )
        sa.event.listen(engine, "connect", _read_only_pragmas if read_only else _pragmas)
        return engine
    try:
        options = "-c default_transaction_read_only=on" if read_only else ""
        return sa.create_engine(url, connect_args={"application_name": "crokinole", "options": options})
    except (NoSuchModuleError, ModuleNotFoundError):
        raise StoreError(
            f"database {shown(url)}: the package psycopg is missing: in the project's folder pip install '.[postgres]'"
        ) from None


def _pragmas(connection: Any, _record: object) -> None:
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        f"wal_autocheckpoint={CHECKPOINT_PAGES}",
        f"busy_timeout={_BUSY_MS}",
        "foreign_keys=ON",
        "secure_delete=ON",  # a forgotten person's name must not stay in freed pages
    ):
        connection.execute(f"PRAGMA {pragma}")


def _read_only_pragmas(connection: Any, _record: object) -> None:
    connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    connection.execute("PRAGMA query_only=ON")


def revision_of(connection: sa.Connection) -> str | None:
    """The migration a database stands at, None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def shown(url: URL) -> str:
    """A database's name for people, without its password."""
    return str(url.database) if url.get_backend_name() == "sqlite" else masked(url.render_as_string(hide_password=True))


@contextmanager
def told(url: URL, doing: str, error: type[StoreError] = StoreError) -> Iterator[None]:
    """Turn the driver's errors into one line.

    Raises:
        StoreError: of the given type.
    """
    try:
        yield
    except DBAPIError as failure:
        text = " ".join(str(failure.orig).split())
        raise error(f"database {shown(url)}: {doing}: {text}") from None


def as_bytes(stored: object) -> bytes:
    """A blob also where somebody's hand has put a text or a number instead, which SQLite lets happen."""
    return bytes(stored) if isinstance(stored, bytes | memoryview) else str(stored).encode()
