"""Reads a journal without touching it: what replay, backup and tests look at, beside a running hub or long after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa

from hub.entries import Entry
from hub.store import schema
from hub.store.engine import SCHEMA, StoreError, as_bytes, open_engine, parse_url, revision_of, shown, told

_PAGE = 2000
_COLUMNS = tuple(column.name for column in schema.journal.columns if column.name != "answer")


class JournalReader:
    """One moment of a database, opened for reading only; use it in a ``with`` statement.

    All that is read belongs to the same moment, also while a hub goes on writing.

    Args:
        journal: URL of the database, or path of its SQLite file.

    Raises:
        StoreError: missing, unreadable, no journal, or made by another version of the program.
    """

    def __init__(self, journal: str) -> None:
        self._url = parse_url(journal if "://" in journal else f"sqlite:///{journal}")
        self._wal: Path | None = None
        at_rest = False
        if self._url.get_backend_name() == "sqlite":
            path = Path(str(self._url.database))
            if not path.is_file():
                raise StoreError(f"database {path}: there is no such file")
            self._wal = path.with_name(path.name + "-wal")
            at_rest = not self._wal.exists()
        self._at_rest = at_rest
        self._engine = open_engine(self._url, read_only=True, at_rest=at_rest)
        try:
            with told(self._url, "cannot be read"):
                self._connection = self._engine.connect()
                self._begin()
                revision = revision_of(self._connection)
        except BaseException:
            self._engine.dispose()
            raise
        if revision != SCHEMA:
            self.close()
            raise StoreError(
                f"database {self.name}: is no journal of this version of crokinole (it stands at "
                f"{revision or 'nothing'}, expected {SCHEMA}); a hub that is started on it brings it up to date"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The database for people, without its password."""
        return shown(self._url)

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()
        self._engine.dispose()

    def still_at_rest(self) -> None:
        """Whether what was read can be trusted.

        Raises:
            StoreError: a hub was started on the file meanwhile, so that two moments may be mixed.
        """
        if self._at_rest and self._wal is not None and self._wal.exists():
            raise StoreError(f"database {self.name}: a hub began to write while it was read; try again")

    def boards(self) -> tuple[str, ...]:
        """Boards with at least one line or a stored table, by name."""
        found = {row.board for row in self._rows(sa.select(schema.tables.c.board))}
        # A loose index scan: one look for each board instead of one for each of a million lines.
        board = self._scalar(sa.select(sa.func.min(schema.journal.c.board)))
        while board is not None:
            found.add(board)
            board = self._scalar(sa.select(sa.func.min(schema.journal.c.board)).where(schema.journal.c.board > board))
        return tuple(sorted(found))

    def states(self) -> dict[str, tuple[int, bytes]]:
        """The stored table of each board: its last line and the encoded state."""
        return {row.board: (row.entry, as_bytes(row.state)) for row in self._rows(sa.select(schema.tables))}

    def checkpoints(self, board: str) -> dict[int, bytes]:
        """The encoded states before the lines that began a board's last chapters."""
        c = schema.checkpoints.c
        return {
            row.entry: as_bytes(row.state) for row in self._rows(sa.select(schema.checkpoints).where(c.board == board))
        }

    def matches(self, board: str) -> dict[str, bytes]:
        """The archive's record of each match of a board."""
        m = schema.matches.c
        return {row.id: as_bytes(row.record) for row in self._rows(sa.select(m.id, m.record).where(m.board == board))}

    def players(self) -> dict[str, str]:
        """Names of all players by id."""
        return {row.id: row.name for row in self._rows(sa.select(schema.players))}

    def last_id(self) -> int:
        """Id of the last line of all boards, 0 for none."""
        last: int | None = self._scalar(sa.select(sa.func.max(schema.journal.c.id)))
        return last or 0

    def entries(self, board: str, since: int = 0) -> Iterator[Entry]:
        """The lines of a board in order, page by page."""
        j = schema.journal.c
        while True:
            wanted = sa.select(schema.journal).where(j.board == board, j.id >= since).order_by(j.id).limit(_PAGE)
            rows = self._rows(wanted)
            for row in rows:
                values = {name: getattr(row, name) for name in _COLUMNS}
                values["body"] = as_bytes(values["body"])
                yield Entry(**values)
            if len(rows) < _PAGE:
                return
            since = rows[-1].id + 1

    def _begin(self) -> None:
        if self._url.get_backend_name() == "sqlite":
            self._connection.exec_driver_sql("BEGIN")
        else:
            self._connection.execution_options(isolation_level="REPEATABLE READ")

    def _rows(self, wanted: sa.Select[Any]) -> list[sa.Row[Any]]:
        with told(self._url, "cannot be read"):
            return list(self._connection.execute(wanted).all())

    def _scalar(self, wanted: sa.Select[Any]) -> Any:
        with told(self._url, "cannot be read"):
            return self._connection.scalar(wanted)
