"""The journal: what the hub alone writes, one transaction for each batch.

A batch's journal lines and the table states they led to are stored together or not at all, so the stored state is
always that of the stored lines, whenever the process or the machine dies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import command
from alembic.config import Config as AlembicConfig
from alembic.util import CommandError
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL

from hub.entries import PEOPLE, Entry
from hub.store import schema
from hub.store.checkpoints import Checkpoints
from hub.store.engine import (
    SCHEMA,
    StoreBusyError,
    StoreError,
    as_bytes,
    open_engine,
    parse_url,
    revision_of,
    shown,
    told,
)
from hub.store.lock import HubLock, Waiting, take_lock
from hub.store.prepared import Prepared

_KEPT_CHAPTERS = 32
_PAGE = 500
_COLUMNS = tuple(column.name for column in schema.journal.columns if column.name != "answer")


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match as lists show it.

    Attributes:
        id: unique in the club.
        board: where it is played.
        started_ms: wall time.
        changed_ms: wall time of the last finished or corrected round.
        over: whether it has ended.
        record: JSON of a :class:`hub.store.archive.MatchRecord`.
    """

    id: str
    board: str
    started_ms: int
    changed_ms: int
    over: bool
    record: bytes


class _Players(msgspec.Struct):
    players: dict[str, str]


@dataclass(slots=True)
class Batch:
    """What one transaction stores.

    Attributes:
        entries: journal lines in order, with the encoded answers of people's requests by line id.
        states: the encoded table states they led to, by board: last line and state.
        checkpoints: encoded states before a chapter's first line, by board and that line.
        matches: matches whose finished rounds changed.
        gone: matches that were taken back.
        players: new players' names by id.
    """

    entries: list[Entry] = field(default_factory=list)
    answers: dict[int, bytes] = field(default_factory=dict)
    states: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    checkpoints: dict[tuple[str, int], bytes] = field(default_factory=dict)
    matches: dict[str, MatchRow] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    players: dict[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of what most of it is: lines and states."""
        states = [state for _, state in self.states.values()]
        return sum(map(len, (*states, *self.checkpoints.values(), *(entry.body for entry in self.entries))))


class Journal:
    """The database, opened for writing by the only hub.

    Args:
        url: ``sqlite:///FILE`` or ``postgresql://...``; an empty or older database is brought up to date.
        waiting: what to do while another hub has it; without it that is an error.

    Raises:
        StoreError: missing, locked, corrupt, newer than this program, or in use by another hub.
    """

    def __init__(self, url: str, waiting: Waiting | None = None) -> None:
        self._url = parse_url(url)
        if self._url.get_backend_name() == "sqlite":
            folder = Path(str(self._url.database)).absolute().parent
            if not folder.is_dir():
                raise StoreError(f"database {shown(self._url)}: there is no folder {folder}; make it first")
        self._engine = open_engine(self._url)
        self._upserts = {table.name: _upsert_into(table, self._url) for table in _UPSERTED}
        dialect = self._engine.dialect
        self._insert_lines = Prepared(schema.journal.insert(), (*_COLUMNS, "answer"), dialect)
        self._put_state = Prepared(self._upserts[schema.tables.name], schema.tables.columns.keys(), dialect)
        self._checkpoints = Checkpoints(self._engine) if self._url.get_backend_name() == "sqlite" else None
        self._lock: HubLock | None = None
        try:
            with told(self._url, "cannot be opened"):
                self._lock = take_lock(self._url, self._engine, waiting)
                self._migrate()
                with self._engine.connect() as connection:
                    self._last_id = connection.scalar(sa.select(sa.func.max(schema.journal.c.id))) or 0
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The database for people, without its password, and a file with the folder it is in."""
        if self._url.get_backend_name() == "sqlite":
            return str(Path(str(self._url.database)).absolute())
        return shown(self._url)

    @property
    def last_id(self) -> int:
        """Id of the last line."""
        return self._last_id

    def close(self) -> None:
        """Free the database."""
        if self._checkpoints is not None:
            self._checkpoints.close()
        if self._lock is not None:
            self._lock.release()
        self._engine.dispose()

    def write(self, batch: Batch) -> None:
        """Store a batch in one transaction; lines are durable when this returns.

        Raises:
            StoreBusyError: it could not be written; nothing was stored and it may be tried again.
            StoreError: another hub has taken over, or was here meanwhile; only a new start can go on.
        """
        with self._writing() as connection:
            if batch.entries:
                self._insert_lines.execute(connection, [self._line(batch, entry) for entry in batch.entries])
            if batch.states:
                rows = [
                    {"board": board, "entry": entry, "state": state} for board, (entry, state) in batch.states.items()
                ]
                self._put_state.execute(connection, rows)
            for (board, entry), state in batch.checkpoints.items():
                self._upsert(connection, schema.checkpoints, {"board": board, "entry": entry, "state": state})
                self._forget_chapters(connection, board)
            if batch.gone:
                connection.execute(schema.matches.delete().where(schema.matches.c.id.in_(batch.gone)))
            for match in batch.matches.values():
                self._upsert(connection, schema.matches, {name: getattr(match, name) for name in _MATCH_COLUMNS})
            for player, name in batch.players.items():
                connection.execute(schema.players.insert(), {"id": player, "name": name})
        if batch.entries:
            self._last_id = batch.entries[-1].id
        if self._checkpoints is not None:
            self._checkpoints.written(batch.size)

    def last_seq(self, board: str, source: str, boot: str) -> int:
        """The last sequence number of a boot that is stored, 0 for none."""
        j = schema.journal.c
        wanted = sa.select(sa.func.max(j.seq)).where(j.board == board, j.source == source, j.boot == boot)
        return self._scalar(wanted) or 0

    def answer_to(self, board: str, client: str, ask_id: str) -> bytes | None:
        """The answer a request got when it came first, None if it never did."""
        j = schema.journal.c
        wanted = sa.select(j.answer).where(
            j.board == board, j.source == PEOPLE, j.boot == people_boot(client, ask_id), j.seq == 1
        )
        answer = self._scalar(wanted)
        return None if answer is None else as_bytes(answer)

    def states(self) -> dict[str, bytes]:
        """The newest stored state of every table."""
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            return {row.board: as_bytes(row.state) for row in connection.execute(sa.select(schema.tables))}

    def checkpoint(self, board: str, entry: int) -> bytes | None:
        """The state before a chapter's first line, None if it is no longer kept."""
        c = schema.checkpoints.c
        found = self._scalar(sa.select(c.state).where(c.board == board, c.entry == entry))
        return None if found is None else as_bytes(found)

    def entries(self, board: str, since: int = 0, until: int | None = None) -> Iterator[Entry]:
        """The lines of a board in order, from ``since`` to ``until`` inclusive, read page by page."""
        j = schema.journal.c
        while True:
            wanted = sa.select(schema.journal).where(j.board == board, j.id >= since).order_by(j.id).limit(_PAGE)
            if until is not None:
                wanted = wanted.where(j.id <= until)
            with told(self._url, "cannot be read"), self._engine.connect() as connection:
                rows = connection.execute(wanted).all()
            for row in rows:
                yield _entry(row)
            if len(rows) < _PAGE:
                return
            since = rows[-1].id + 1

    def players(self) -> dict[str, str]:
        """Names of all players by id."""
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            return {row.id: row.name for row in connection.execute(sa.select(schema.players))}

    def match_row(self, match_id: str) -> MatchRow | None:
        """A match as lists show it, None if no round of it was ever counted."""
        m = schema.matches
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            row = connection.execute(sa.select(m).where(m.c.id == match_id)).one_or_none()
        if row is None:
            return None
        return MatchRow(row.id, row.board, row.started_ms, row.changed_ms, over=row.over, record=as_bytes(row.record))

    def matches_of(self, player: str, newest: int) -> list[str]:
        """Ids of the newest matches with counted rounds in which a player played, the oldest of them first."""
        m = schema.matches.c
        played = msgspec.json.Decoder(_Players)
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            rows = connection.execute(sa.select(m.id, m.record).order_by(m.started_ms.desc()))
            theirs = (row.id for row in rows if player in played.decode(as_bytes(row.record)).players.values())
            return list(islice(theirs, newest))[::-1]

    def forget_player(self, player: str) -> None:
        """Erase a player's name; the id stays, so that nobody else gets it.

        Raises:
            StoreBusyError: it could not be written.
        """
        players = schema.players
        with self._writing() as connection:
            connection.execute(players.update().where(players.c.id == player).values(name=""))

    def add_token(self, digest: bytes, role: str, board: str, expires_ms: int) -> None:
        """Keep the hash of a token that was handed out, and drop those that have expired long since.

        Raises:
            StoreBusyError: it could not be written.
        """
        with self._writing() as connection:
            connection.execute(
                schema.tokens.insert(), {"hash": digest, "role": role, "board": board, "expires_ms": expires_ms}
            )

    def drop_tokens(self, before_ms: int) -> None:
        """Forget tokens that expired before a time; errors as in :meth:`add_token`."""
        with self._writing() as connection:
            connection.execute(schema.tokens.delete().where(schema.tokens.c.expires_ms < before_ms))

    def tokens(self) -> list[tuple[bytes, str, str, int]]:
        """Hash, role, board and expiry of every token handed out."""
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            rows = connection.execute(sa.select(schema.tokens))
            return [(bytes(row.hash), row.role, row.board, row.expires_ms) for row in rows]

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        if self._lock is None:
            raise StoreError(f"database {shown(self._url)}: was closed")
        with told(self._url, "cannot be written", StoreBusyError), self._lock.writing() as (connection, renewed):
            if renewed and (connection.scalar(sa.select(sa.func.max(schema.journal.c.id))) or 0) != self._last_id:
                raise StoreError(
                    f"database {shown(self._url)}: has changed while it was away; this hub must start anew"
                )
            yield connection

    def _scalar(self, wanted: sa.Select[Any]) -> Any:
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            return connection.scalar(wanted)

    def _line(self, batch: Batch, entry: Entry) -> dict[str, Any]:
        line = {name: getattr(entry, name) for name in _COLUMNS}
        line["answer"] = batch.answers.get(entry.id)
        return line

    def _upsert(self, connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> None:
        connection.execute(self._upserts[table.name], values)

    def _forget_chapters(self, connection: sa.Connection, board: str) -> None:
        c = schema.checkpoints.c
        kept = sa.select(c.entry).where(c.board == board).order_by(c.entry.desc()).limit(_KEPT_CHAPTERS)
        connection.execute(
            schema.checkpoints.delete().where(c.board == board, c.entry.not_in(connection.scalars(kept).all()))
        )

    def _migrate(self) -> None:
        with self._engine.connect() as connection:
            if revision_of(connection) == SCHEMA:
                return
        config = AlembicConfig()
        config.set_main_option("script_location", str(_scripts()))
        with self._engine.begin() as connection:
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            except CommandError as error:
                raise StoreError(
                    f"database {shown(self._url)}: was made by another version of crokinole ({error}); update the hub"
                ) from None


_UPSERTED = (schema.tables, schema.checkpoints, schema.matches)


def _upsert_into(table: sa.Table, url: URL) -> sa.Insert:
    """``INSERT ... ON CONFLICT DO UPDATE``, which both databases have and SQLAlchemy spells twice."""
    keys = [column.name for column in table.primary_key]
    statement = (sqlite if url.get_backend_name() == "sqlite" else postgresql).insert(table)
    rest = {column.name: statement.excluded[column.name] for column in table.columns if column.name not in keys}
    upsert: sa.Insert = statement.on_conflict_do_update(index_elements=keys, set_=rest)
    return upsert


_MATCH_COLUMNS = tuple(column.name for column in schema.matches.columns)


def people_boot(client: str, ask_id: str) -> str:
    """The ``boot`` of a person's request, so that a repeated one has the same identity."""
    return f"{client}/{ask_id}"


def _scripts() -> Path:
    return Path(str(resources.files("hub.store") / "migrations"))


def _entry(row: sa.Row[Any]) -> Entry:
    values = {name: getattr(row, name) for name in _COLUMNS}
    values["body"] = as_bytes(values["body"])
    return Entry(**values)
