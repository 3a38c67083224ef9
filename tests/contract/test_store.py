"""One contract for both databases: SQLite always, PostgreSQL where ``CROKINOLE_TEST_POSTGRES`` names an empty one."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from hub.entries import Entry
from hub.link.config import Config, HubSection
from hub.rounds import CHAPTERS
from hub.service import run
from hub.store import schema
from hub.store.archive import Archive, MatchRecord
from hub.store.engine import SCHEMA, StoreBusyError, StoreError, open_engine, parse_url
from hub.store.journal import Batch, Journal, MatchRow, people_boot
from tests.postgres import empty_database


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'hub.sqlite3'}"
        return
    with empty_database() as server:
        yield server


@pytest.fixture
def journal(url: str) -> Iterator[Journal]:
    journal = Journal(url)
    yield journal
    journal.close()


def line(number: int, seq: int = 0, *, board: str = "b1", source: str = "beam", boot: str = "boot-1") -> Entry:
    return Entry(
        id=number,
        board=board,
        source=source,  # type: ignore[arg-type]
        boot=boot,
        seq=seq or number,
        kind="beam_pass",
        wall_ms=1_800_000_000_000 + number,
        body=b'{"episode":1,"start_ns":2,"dwell_ms":3.5}',
        machine_boot="machine",
        mono_ns=2**62,
        sent_ns=2**62 + 1,
        synced=False,
        who="table:b1",
    )


def test_what_was_written_is_read_back_after_a_restart(url: str) -> None:
    journal = Journal(url)
    lines = [line(number) for number in range(1, 1203)]
    journal.write(Batch(entries=lines, states={"b1": (1202, b"state")}, players={"p1": "Änne"}))
    journal.close()
    journal = Journal(url)
    assert list(journal.entries("b1")) == lines
    assert [entry.id for entry in journal.entries("b1", 600, 1199)] == list(range(600, 1200))
    assert journal.states() == {"b1": b"state"}
    assert journal.players() == {"p1": "Änne"}
    assert journal.last_id == 1202
    assert journal.last_seq("b1", "beam", "boot-1") == 1202
    assert journal.last_seq("b1", "beam", "boot-2") == 0
    journal.close()


def test_an_identity_is_stored_once_and_a_failed_batch_leaves_nothing(journal: Journal) -> None:
    journal.write(Batch(entries=[line(1)], states={"b1": (1, b"one")}))
    with pytest.raises(StoreBusyError):
        journal.write(Batch(entries=[line(2), line(3, seq=1)], states={"b1": (3, b"three")}))
    assert [entry.id for entry in journal.entries("b1")] == [1]
    assert journal.states() == {"b1": b"one"}
    assert journal.last_id == 1


def test_the_newest_state_of_each_table_is_kept(journal: Journal) -> None:
    journal.write(Batch(states={"b1": (1, b"a"), "b2": (1, b"b")}))
    journal.write(Batch(states={"b1": (2, b"c")}))
    assert journal.states() == {"b1": b"c", "b2": b"b"}


def test_only_the_last_chapters_of_a_board_are_kept(journal: Journal) -> None:
    last = 3 * CHAPTERS
    for number in range(1, last + 1):
        journal.write(Batch(checkpoints={("b1", number): str(number).encode()}))
    journal.write(Batch(checkpoints={("b2", 1): b"other"}))
    for number in range(last - CHAPTERS + 1, last + 1):  # as far as undo goes back
        assert journal.checkpoint("b1", number) == str(number).encode()
    assert journal.checkpoint("b1", 1) is None
    assert journal.checkpoint("b2", 1) == b"other"


def test_answers_are_found_by_who_asked(journal: Journal) -> None:
    asked = line(1, 1, source="people", boot=people_boot("phone", "ask-1"))
    journal.write(Batch(entries=[asked], answers={1: b"answer"}))
    assert journal.answer_to("b1", "phone", "ask-1") == b"answer"
    assert journal.answer_to("b1", "other", "ask-1") is None
    assert journal.answer_to("b2", "phone", "ask-1") is None


def test_tokens_are_kept_until_they_are_over(journal: Journal) -> None:
    journal.add_token(b"hash-1", "table", "b1", 1000)
    journal.add_token(b"hash-2", "organiser", "", 3000)
    journal.drop_tokens(2000)
    assert journal.tokens() == [(b"hash-2", "organiser", "", 3000)]


def test_a_second_hub_is_refused_and_told_who_is_there(url: str) -> None:
    journal = Journal(url)
    with pytest.raises(StoreError, match=f"in use by the hub, process {os.getpid()} on"):
        Journal(url)
    journal.close()
    Journal(url).close()


def test_the_archive_reads_matches_and_what_was_journalled(url: str, journal: Journal) -> None:
    import msgspec

    def row(match: str, board: str, changed_ms: int) -> MatchRow:
        record = MatchRecord(match, board, 1, "Match play", {"A": "p1"}, (), {"A": 1, "B": 0}, "A", over=True)
        return MatchRow(match, board, 1, changed_ms, over=True, record=msgspec.json.encode(record))

    journal.write(Batch(matches={"m1": row("m1", "b1", 10), "m2": row("m2", "b2", 20)}, players={"p1": "Ann"}))
    journal.write(Batch(entries=[line(1), line(2, seq=5)], matches={"m1": row("m1", "b1", 30)}))
    archive = Archive(url)
    assert archive.ready()
    found = archive.match("m1")
    assert found is not None
    assert found.winner == "A"
    assert archive.match("none") is None
    assert archive.players() == {"p1": "Ann"}
    assert archive.journalled("b1", "beam", "boot-1") == {1, 5}
    archive.close()


def test_the_archive_cannot_write(url: str, journal: Journal) -> None:
    journal.write(Batch(states={"b1": (1, b"a")}))
    archive = Archive(url)
    with pytest.raises(sa.exc.DBAPIError), archive._engine.begin() as connection:
        connection.execute(schema.tables.delete())
    archive.close()
    assert journal.states() == {"b1": b"a"}


def test_an_archive_without_its_database_is_not_ready(tmp_path: Path) -> None:
    archive = Archive(f"sqlite:///{tmp_path / 'none.sqlite3'}")
    assert not archive.ready()
    assert not (tmp_path / "none.sqlite3").exists()
    archive.close()


def test_the_migrations_make_what_the_schema_names(url: str, journal: Journal) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    journal.write(Batch())
    engine = open_engine(parse_url(url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == SCHEMA
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def test_a_database_of_a_newer_program_is_refused(url: str) -> None:
    Journal(url).close()
    engine = open_engine(parse_url(url))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match="another version of crokinole"):
        Journal(url)
    archive = Archive(url)
    assert not archive.ready()
    archive.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("not a url", "expected sqlite:///FILE or postgresql://"),
        ("postgresql://hub:secret@host:port/name", "'postgresql://hub:***@host:port/name': expected"),
        ("mysql://host/name", "expected sqlite:///FILE or postgresql://"),
        ("sqlite://", "a journal in memory would be lost"),
        ("sqlite:////no/such/folder/hub.sqlite3", "there is no folder /no/such/folder"),
        ("postgresql://nobody@127.0.0.1:1/none", "cannot be opened"),
    ],
)
def test_a_database_that_cannot_be_opened_is_told_in_one_line(
    url: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(Config(hub=HubSection(database=url))) == 3
    told = capfd.readouterr().err
    assert said in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("content", [b"this is no database, but it is long enough to look at" * 20, None])
def test_a_corrupt_database_is_told_in_one_line(
    tmp_path: Path, content: bytes | None, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hub.sqlite3"
    if content is not None:
        path.write_bytes(content)
    else:
        journal = Journal(f"sqlite:///{path}")
        journal.write(Batch(entries=[line(n) for n in range(1, 400)]))
        journal.close()
        (tmp_path / "hub.sqlite3-wal").unlink(missing_ok=True)
        torn = bytearray(path.read_bytes())
        torn[4096:12288] = b"\xff" * 8192
        path.write_bytes(bytes(torn))
    assert run(Config(hub=HubSection(database=f"sqlite:///{path}"))) == 3
    told = capfd.readouterr().err
    assert str(path) in told
    assert told.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_told_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        folder = Path("/proc/self")  # also closed to a user who may write everywhere
    assert run(Config(hub=HubSection(database=f"sqlite:///{folder / 'hub.sqlite3'}"))) == 3
    told = capfd.readouterr().err
    assert str(folder / "hub.sqlite3") in told
    assert told.count("\n") == 1


def test_a_killed_writer_loses_no_stored_line(tmp_path: Path) -> None:
    """A process that dies by SIGKILL in the middle of writing leaves whole batches and no half ones."""
    url = f"sqlite:///{tmp_path / 'hub.sqlite3'}"
    program = f"""
import os, signal, sys
from hub.store.journal import Batch, Journal
from tests.contract.test_store import line
journal = Journal({url!r})
for number in range(1, 41, 2):
    last = number + 1
    journal.write(Batch(entries=[line(number), line(last)], states={{"b1": (last, str(last).encode())}}))
    print(last, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)
    acknowledged = int(done.stdout.split()[-1])
    journal = Journal(url)
    assert [entry.id for entry in journal.entries("b1")] == list(range(1, acknowledged + 1))
    assert journal.states() == {"b1": str(acknowledged).encode()}
    journal.close()


def test_the_migrations_ship_with_the_package() -> None:
    """They are found beside the code, in the shape in which they are installed."""
    from importlib import resources

    folder = resources.files("hub.store") / "migrations"
    assert (folder / "env.py").is_file()
    assert shutil.which("alembic") or (folder / "versions" / "v0001_journal.py").is_file()


@pytest.mark.parametrize("name", ["a b", "club #1", "50% + 1", "%41", "what?", 'the "club"', "ü"])
def test_a_journal_lies_where_its_url_says_whatever_its_folder_is_called(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    url = f"sqlite:///{quote(str(folder / 'hub.sqlite3'))}"
    journal = Journal(url)
    journal.write(Batch(entries=[line(1)]))
    journal.close()
    assert {path.name for path in folder.iterdir()} >= {"hub.sqlite3"}
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert Archive(url).journalled("b1", "beam", "boot-1") == {1}


def test_a_path_that_is_cut_at_its_question_mark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="%3F"):
        parse_url(f"sqlite:///{tmp_path}/what?/hub.sqlite3")


def test_a_lock_that_cannot_name_its_holder_still_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("hub.store.lock.os.pwrite", full)
    url = f"sqlite:///{tmp_path / 'hub.sqlite3'}"
    journal = Journal(url)
    with pytest.raises(StoreError, match="in use"):
        Journal(url)
    journal.close()
