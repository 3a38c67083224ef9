"""Read-only queries for the pages and for reports; never migrates, and says when the schema is missing or other."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import sqlalchemy as sa

from hub.link.snapshot import Event, RoundView, Side
from hub.store import schema
from hub.store.engine import SCHEMA, StoreError, open_engine, parse_url, revision_of, shown, told

log = logging.getLogger(__name__)


class MatchRecord(msgspec.Struct, frozen=True):
    """A match as it stands in the archive.

    Attributes:
        id: unique in the club.
        board: where it was played.
        started_ms: wall time.
        rules: title of the rule set.
        players: ids of the players by side.
        rounds: finished rounds of all games.
        games: games won by side.
        winner: None while undecided and for a draw.
        over: whether it has ended.
        event: what it was part of.
    """

    id: str
    board: str
    started_ms: int
    rules: str
    players: dict[Side, str]
    rounds: tuple[RoundView, ...]
    games: dict[Side, int]
    winner: Side | None
    over: bool
    event: Event = Event()


class Archive:
    """A database opened for reading only.

    Args:
        url: as the hub's.

    Raises:
        StoreError: not the URL of a database.
    """

    def __init__(self, url: str) -> None:
        self._url = parse_url(url)
        self._engine = open_engine(self._url, read_only=True)
        self._told = False

    def ready(self) -> bool:
        """Whether the hub has made the database, in the version that is read here."""
        if self._url.get_backend_name() == "sqlite" and not Path(str(self._url.database)).exists():
            return False
        try:
            with told(self._url, "cannot be read"), self._engine.connect() as connection:
                return revision_of(connection) == SCHEMA
        except StoreError:
            return False

    def match(self, match_id: str) -> MatchRecord | None:
        """One match, None if it is unknown or damaged.

        Raises:
            StoreError: the database is not ready.
        """
        m = schema.matches.c
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            record = connection.scalar(sa.select(m.record).where(m.id == match_id))
        return None if record is None else self._decoded(record)

    def players(self) -> dict[str, str]:
        """Names of all players by id; errors as in :meth:`match`."""
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            return {row.id: row.name for row in connection.execute(sa.select(schema.players))}

    def journalled(self, board: str, source: str, boot: str) -> set[int]:
        """Sequence numbers of a boot that the journal has; errors as in :meth:`match`."""
        j = schema.journal.c
        wanted = sa.select(j.seq).where(j.board == board, j.source == source, j.boot == boot)
        with told(self._url, "cannot be read"), self._engine.connect() as connection:
            return set(connection.scalars(wanted))

    def _decoded(self, record: bytes) -> MatchRecord | None:
        try:
            return msgspec.json.decode(record, type=MatchRecord)
        except (msgspec.DecodeError, TypeError) as error:  # a dying disk's, or a number where bytes should be
            if not self._told:
                self._told = True
                log.warning("database %s: a match cannot be read and is left out: %s", shown(self._url), error)
            return None

    def close(self) -> None:
        """Free the database."""
        self._engine.dispose()

    def __repr__(self) -> str:
        return f"Archive({shown(self._url)!r})"
