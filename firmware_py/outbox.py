"""Facts that the hub has not acknowledged yet, safe on disk before they are sent.

The truth of this process is in memory; the SQLite file is what survives it. A fact is committed (WAL,
synchronous=FULL) before anybody may send it, and deleted when the hub says that it is stored. A medium that is full
or read-only never stops a daemon: the outbox goes on in memory, says so through :attr:`Outbox.trouble`, and writes
down what is still outstanding as soon as it can. Deletions wait up to a second for company, since each commit costs a
sync of the disk: what a crash leaves undeleted is sent again under its old identity, which does no harm.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
import time
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from firmware_py.errors import StateError

log = logging.getLogger(__name__)

_RETRY_S = 5.0
_DELETE_S = 1.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS fact (
    id INTEGER PRIMARY KEY,
    boot TEXT NOT NULL,
    seq INTEGER NOT NULL,
    machine_boot TEXT NOT NULL,
    mono_ns INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL,
    synced INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (boot, seq)
);
CREATE TABLE IF NOT EXISTS given (boot TEXT PRIMARY KEY, last_seq INTEGER NOT NULL);
"""
_INSERT = (
    "INSERT OR IGNORE INTO fact (boot, seq, machine_boot, mono_ns, wall_ms, synced, kind, body)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_GIVE = "INSERT INTO given VALUES (?, ?) ON CONFLICT (boot) DO UPDATE SET last_seq = max(last_seq, excluded.last_seq)"
_DELETE = "DELETE FROM fact WHERE boot = ? AND seq <= ?"
_SELECT = "SELECT id, boot, seq, machine_boot, mono_ns, wall_ms, synced, kind, body FROM fact ORDER BY id"
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_KIND = re.compile(r"[a-z_]{1,32}")
_LARGEST_SEQ = 2**48


@dataclass(frozen=True, slots=True)
class Stored:
    """A fact with the identity under which it is sent until the hub has it, also by later boots of the daemon.

    Attributes:
        boot: of the daemon that gave it out.
        seq: counts from 1 without holes within that boot.
        machine_boot: the kernel's boot in which it happened.
        mono_ns: when it became known, on the board's clock.
        wall_ms: the same on the wall clock, milliseconds since 1970.
        synced: whether the wall clock was synchronised then.
        kind: which fact the body is.
        body: the fact as JSON.
    """

    boot: str
    seq: int
    machine_boot: str
    mono_ns: int
    wall_ms: int
    synced: bool
    kind: str
    body: bytes

    @property
    def row(self) -> tuple[str, int, str, int, int, bool, str, bytes]:
        """Its columns in the order of the table."""
        return self.boot, self.seq, self.machine_boot, self.mono_ns, self.wall_ms, self.synced, self.kind, self.body


class Outbox:
    """The outbox of one source; used by one thread.

    Args:
        path: the SQLite file; made if missing, moved aside if it is broken.
        real_s: a clock for the retries of a medium in trouble.

    Raises:
        StateError: the file cannot be opened for a reason that waiting does not mend (no such folder, no permission).
    """

    def __init__(self, path: Path, *, real_s: Callable[[], float] = time.monotonic) -> None:
        self.boot = uuid.uuid4().hex
        self.last_seq = 0
        self.trouble = ""
        self._path = path
        self._real_s = real_s
        self._retry_at_s = 0.0
        self._delete_at_s = 0.0
        self._boots: dict[str, list[Stored]] = {}  # outstanding facts by boot, oldest boot first, each in order
        self._acked: dict[str, int] = {}
        self._unsaved: list[Stored] = []
        self._undeleted: dict[str, int] = {}
        self._database: sqlite3.Connection | None = None
        if not path.parent.is_dir() or (path.exists() and not path.is_file()):
            raise StateError(f"{path}: expected a file in a folder that exists; check [board] state_dir")
        self._open()

    def __len__(self) -> int:
        return sum(map(len, self._boots.values()))

    def __iter__(self) -> Iterator[Stored]:
        """All outstanding facts: earlier boots first, each in order."""
        for facts in self._boots.values():
            yield from facts

    def put(self, *, machine_boot: str, mono_ns: int, wall_ms: int, synced: bool, kind: str, body: bytes) -> Stored:
        """Give out the next sequence number and commit the fact; only then may it be sent."""
        self.last_seq += 1
        stored = Stored(self.boot, self.last_seq, machine_boot, mono_ns, wall_ms, synced, kind, body)
        self._boots.setdefault(self.boot, []).append(stored)
        self._unsaved.append(stored)
        self._write()
        return stored

    def given(self, boot: str) -> int:
        """The last sequence number that a boot, ours or an earlier one, gave out; 0 if none is known of."""
        if boot == self.boot:
            return self.last_seq
        if self._database is None:
            return max((stored.seq for stored in self._boots.get(boot, [])), default=self._acked.get(boot, 0))
        try:
            row = self._database.execute("SELECT last_seq FROM given WHERE boot = ?", (boot,)).fetchone()
        except sqlite3.Error:
            return self._acked.get(boot, 0)
        return row[0] if row and isinstance(row[0], int) else self._acked.get(boot, 0)

    def first(self, boot: str) -> int:
        """Lowest sequence number of a boot that is still here; the next one to come if none is."""
        facts = self._boots.get(boot)
        if facts:
            return facts[0].seq
        return self.last_seq + 1 if boot == self.boot else self._acked.get(boot, 0) + 1

    def acknowledge(self, boot: str, seq: int) -> int:
        """The hub has stored everything of a boot up to ``seq``; returns how many facts that settled.

        Raises:
            ValueError: our boot never gave out that number, so this is no true acknowledgement.
        """
        if boot == self.boot and seq > self.last_seq:
            raise ValueError(f"acknowledged {seq}, but this boot gave out 1 to {self.last_seq}")
        facts = self._boots.get(boot, [])
        settled = bisect_right(facts, seq, key=lambda stored: stored.seq)
        if not settled:
            return 0
        del facts[:settled]
        if not facts:
            del self._boots[boot]
        self._acked[boot] = max(seq, self._acked.get(boot, 0))
        if not self._undeleted:
            self._delete_at_s = self._real_s() + _DELETE_S
        self._undeleted[boot] = self._acked[boot]
        return settled

    def after(self, last: Stored | None) -> Iterator[Stored]:
        """The outstanding facts that come after one, whether or not that one is still here; all for None."""
        boots = list(self._boots)
        if last is None or (last.boot not in self._boots and last.boot != self.boot):
            yield from self
            return
        if last.boot not in self._boots:
            return
        facts = self._boots[last.boot]
        yield from facts[bisect_left(facts, last.seq + 1, key=lambda stored: stored.seq) :]
        for boot in boots[boots.index(last.boot) + 1 :]:
            yield from self._boots[boot]

    def tidy(self) -> None:
        """Delete what has waited for it, and try again what a medium in trouble refused (at most every 5 s)."""
        if self.trouble or (self._undeleted and self._real_s() >= self._delete_at_s):
            self._write()

    def close(self) -> None:
        """Write what is left to write and close the file."""
        if self._undeleted or self._unsaved:
            self._write()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _write(self) -> None:
        if self.trouble and self._real_s() < self._retry_at_s:
            return
        if self._database is None:
            self._open()
        try:
            self._commit()
        except sqlite3.DatabaseError as error:
            if not _is_broken(error):
                self._suffer(error)
                return
            self._start_anew(error)

    def _commit(self) -> None:
        database = self._database
        if database is None:
            return
        outstanding = [s for s in self._unsaved if s.seq > self._acked.get(s.boot, 0)]
        try:
            database.execute("BEGIN IMMEDIATE")
            database.executemany(_INSERT, [stored.row for stored in outstanding])
            if self.last_seq:
                database.execute(_GIVE, (self.boot, self.last_seq))
            database.executemany(_DELETE, list(self._undeleted.items()))
            database.execute("COMMIT")
        except sqlite3.Error:
            with contextlib.suppress(sqlite3.Error):
                database.rollback()
            raise
        self._unsaved.clear()
        self._undeleted.clear()
        self.trouble = ""

    def _start_anew(self, error: sqlite3.DatabaseError) -> None:
        """The file broke under our hands: write what is outstanding into a new one."""
        if self._database is not None:
            self._database.close()
            self._database = None
        self._unsaved = list(self)
        try:
            self._move_aside(error)
            self._database = self._connect()
            self._commit()
        except (sqlite3.Error, OSError) as again:
            self._suffer(again)

    def _open(self) -> None:
        try:
            try:
                self._database = self._connect()
            except sqlite3.DatabaseError as error:
                if not _is_broken(error):
                    raise
                self._move_aside(error)
                self._database = self._connect()
        except (sqlite3.Error, OSError) as error:
            self._suffer(error)

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, isolation_level=None, timeout=5.0)
        database.text_factory = _text
        try:
            database.execute("PRAGMA synchronous = FULL")
            try:
                database.execute("PRAGMA journal_mode = WAL")
                database.executescript(_SCHEMA)
            finally:
                self._load(database)  # what lies there can be sent even when nothing can be written
        except BaseException:
            database.close()
            raise
        return database

    def _load(self, database: sqlite3.Connection) -> None:
        known = {(stored.boot, stored.seq) for stored in self}
        earlier: dict[str, list[Stored]] = {}
        broken: list[tuple[int]] = []
        for number, *columns in database.execute(_SELECT):
            fact = _stored(columns)
            if fact is None:
                log.error("%s: row %d is broken and cannot be sent: %.300r", self._path, number, columns)
                broken.append((number,))
                continue
            settled = fact.boot == self.boot or fact.seq <= self._acked.get(fact.boot, 0)
            if not settled and (fact.boot, fact.seq) not in known:
                earlier.setdefault(fact.boot, []).append(fact)
        with contextlib.suppress(sqlite3.OperationalError):  # full or read-only: it is passed over again next time
            database.executemany("DELETE FROM fact WHERE id = ?", broken)
        for facts in earlier.values():
            facts.sort(key=lambda stored: stored.seq)
        ours = self._boots.pop(self.boot, None)
        for boot, facts in earlier.items():
            self._boots.setdefault(boot, []).extend(facts)
        if ours is not None:
            self._boots[self.boot] = ours

    def _move_aside(self, error: Exception) -> None:
        aside = self._path.with_name(f"{self._path.name}.broken-{int(time.time())}")
        log.error("%s: is broken (%s); kept as %s, starting with an empty one", self._path, error, aside.name)
        self._path.rename(aside)
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _suffer(self, error: Exception) -> None:
        self.trouble = f"{self._path}: {error}; facts are kept in memory only"
        self._retry_at_s = self._real_s() + _RETRY_S


def _text(stored: bytes) -> str:
    return stored.decode(errors="surrogateescape")


def _stored(columns: list[Any]) -> Stored | None:
    """The fact of a row; None for one that no hub would take, and that would be sent again for ever.

    SQLite lets any type stand in any column, and what a hand or a dying card has written may be anything.
    """
    types = (str, int, str, int, int, int, str, bytes)
    if not all(isinstance(value, wanted) for value, wanted in zip(columns, types, strict=True)):
        return None
    boot, seq, machine_boot, mono_ns, wall_ms, synced, kind, body = columns
    named = _ID.fullmatch(boot) and _ID.fullmatch(machine_boot) and _KIND.fullmatch(kind)
    if not named or not 1 <= seq <= _LARGEST_SEQ:
        return None
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return Stored(boot, seq, machine_boot, mono_ns, wall_ms, bool(synced), kind, body)


def _is_broken(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
