"""The write-ahead log is copied back beside the hub's loop: all that was stored is then in the database itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from hub.entries import Entry
from hub.store import checkpoints
from hub.store.checkpoints import Checkpoints
from hub.store.engine import CHECKPOINT_PAGES, open_engine, parse_url
from hub.store.journal import Batch, Journal

WAIT_S = 60.0


@pytest.fixture
def journal(quick_path: Path) -> Iterator[Journal]:
    journal = Journal(f"sqlite:///{quick_path / 'hub.sqlite3'}")
    yield journal
    journal.close()


@pytest.fixture
def engine(quick_path: Path, journal: Journal) -> Iterator[sa.Engine]:
    engine = open_engine(parse_url(f"sqlite:///{quick_path / 'hub.sqlite3'}"))
    yield engine
    engine.dispose()


def batch(line: int, size: int = 1000) -> Batch:
    entry = Entry(line, "b1", "beam", "boot-1", line, "beam_pass", 0, b"x" * size)
    return Batch([entry], states={"b1": (line, b"y" * size)})


def lines_without_log(folder: Path) -> int:
    """How many lines the database has if nobody looks at the log beside it."""
    with closing(sqlite3.connect(f"file:{folder / 'hub.sqlite3'}?mode=ro&immutable=1", uri=True)) as database:
        count: int = database.execute("SELECT count(*) FROM journal").fetchone()[0]
        return count


def test_the_log_is_copied_back_when_enough_was_written_and_not_before(
    quick_path: Path, journal: Journal, engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_AFTER_BYTES", 10_000)
    beside = Checkpoints(engine)
    for line in range(1, 5):
        journal.write(batch(line))
        assert beside.written(batch(line).size) is None
    journal.write(batch(5))
    begun = beside.written(batch(5).size)
    assert begun is not None
    assert begun.result(WAIT_S)
    assert lines_without_log(quick_path) == 5
    assert beside.written(batch(5).size) is None, "it counts anew"
    beside.close()


def test_a_journal_copies_its_log_back_by_itself(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "_AFTER_BYTES", 50_000)
    journal = Journal(f"sqlite:///{quick_path / 'hub.sqlite3'}")
    for line in range(1, 26):
        journal.write(batch(line))
    with closing(sqlite3.connect(quick_path / "hub.sqlite3")) as another:  # so that closing does not copy it back
        another.execute("SELECT count(*) FROM journal").fetchone()
        journal.close()
        assert lines_without_log(quick_path) == 25


def test_what_somebody_still_reads_stays_in_the_log_and_nothing_is_lost(
    quick_path: Path, journal: Journal, engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_AFTER_BYTES", 1)
    beside = Checkpoints(engine)
    journal.write(batch(1))
    with engine.connect() as reader:
        reader.exec_driver_sql("BEGIN")
        assert reader.exec_driver_sql("SELECT count(*) FROM journal").scalar() == 1
        journal.write(batch(2))
        begun = beside.written(1)
        assert begun is not None
        assert not begun.result(WAIT_S)
        assert reader.exec_driver_sql("SELECT count(*) FROM journal").scalar() == 1
    begun = beside.written(1)
    assert begun is not None
    assert begun.result(WAIT_S)
    assert lines_without_log(quick_path) == 2
    beside.close()


def test_a_database_that_cannot_be_reached_ends_nothing(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "_AFTER_BYTES", 1)
    engine = open_engine(parse_url(f"sqlite:///{quick_path / 'nowhere' / 'hub.sqlite3'}"))
    beside = Checkpoints(engine)
    begun = beside.written(1)
    assert begun is not None
    assert not begun.result(WAIT_S)
    beside.close()
    engine.dispose()


def test_sqlite_itself_would_copy_back_only_a_log_that_this_has_not_kept_short(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar()
        page_bytes = connection.exec_driver_sql("PRAGMA page_size").scalar()
    assert pages == CHECKPOINT_PAGES
    assert pages * page_bytes > 2 * checkpoints._AFTER_BYTES
