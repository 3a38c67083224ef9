"""Backups made beside a running hub, and hubs that go on from an older one."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hub.link.messages import BeamCandidate, BeamPass
from hub.link.snapshot import Seen
from hub.replay import run as replay
from hub.store import backup as module
from hub.store.backup import BackupError, backup, check, restore
from hub.store.engine import StoreError
from tests.hub.harness import Club, S
from tests.hub.test_games import play_round
from tests.hub.world import Habits, World
from tests.postgres import empty_database


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path)
    yield club
    club.close()


def database(club: Club) -> Path:
    return Path(club.url.removeprefix("sqlite:///"))


def world_on(club: Club, seed: int) -> World:
    return World(club.fact, random.Random(seed), Habits())


def test_a_backup_is_one_whole_file_for_its_owner_only(club: Club, quick_path: Path) -> None:
    club.ask("start", {"level": "judge", "names": {"A": "Ada"}})
    play_round(club, world_on(club, 1), "A")
    folder = quick_path / "stick"
    folder.mkdir()
    lines = backup(club.url, folder / "evening.sqlite3")
    assert club._journal is not None
    assert lines == club._journal.last_id
    assert [p.name for p in folder.iterdir()] == ["evening.sqlite3"]
    assert (folder / "evening.sqlite3").stat().st_mode & 0o777 == 0o600
    assert replay(str(folder / "evening.sqlite3")) == 0


def test_a_backup_taken_while_facts_come_is_of_one_moment(club: Club, quick_path: Path) -> None:
    target = quick_path / "b.sqlite3"
    counts: list[int] = []
    done = threading.Event()

    def copy() -> None:
        while not done.is_set():
            counts.append(backup(club.url, target))
            assert replay(str(target)) == 0

    copier = threading.Thread(target=copy)
    copier.start()
    play_round(club, world_on(club, 2), "A")
    done.set()
    copier.join(60)
    assert counts == sorted(counts)


def test_a_hub_restored_from_an_older_database_goes_on_and_shows_the_gap(club: Club, quick_path: Path) -> None:
    """What was acknowledged after the backup is gone from the board; what is still in its outbox is not."""
    for episode in (1, 2):
        club.fact("beam", BeamCandidate(episode, episode * S, episode * S), episode * S)
    backup(club.url, quick_path / "old.sqlite3")
    for episode in (3, 4, 5):
        club.fact("beam", BeamCandidate(episode, episode * S, episode * S), episode * S)
    waiting = club.outboxes["b1", "beam"]
    waiting.put(BeamCandidate(6, 6 * S, 6 * S), 6 * S)
    waiting.put(BeamPass(7, 7 * S, 50.0), 7 * S)
    club.kill()
    _, kept = restore(quick_path / "old.sqlite3", club.url)
    assert kept is not None
    assert check(kept) > check(database(club))
    assert not database(club).with_name("hub.sqlite3-wal").exists()
    club.restart()
    table = club.table()
    assert table.seen["beam"] == Seen("boot-1", 7)
    assert not waiting.waiting
    assert table.practice == 3
    assert table.sensors["beam"].faults == ("3 facts lost",)
    assert club._journal is not None
    (gap,) = [entry for entry in club._journal.entries("b1") if entry.kind == "gap"]
    assert msgspec.json.decode(gap.body) == {"source": "beam", "boot": "boot-1", "first": 3, "last": 5, "count": 3}
    club.fact("beam", BeamPass(8, 8 * S, 50.0), 8 * S)
    assert club.table().seen["beam"].seq == 8
    assert replay(club.url) == 0


def test_a_match_goes_on_after_a_restore_if_the_boards_still_have_what_came_since(club: Club, quick_path: Path) -> None:
    """The hub's disk was swapped for the stick's copy while the network was away: nothing was acknowledged since."""
    club.ask("start", {"level": "judge"})
    world = world_on(club, 3)
    play_round(club, world, "A")
    backup(club.url, quick_path / "old.sqlite3")
    club.kill()
    restore(quick_path / "old.sqlite3", club.url)
    club.hub = None
    send, world.send = world.send, lambda source, fact, at_ns: club.outboxes["b1", source].put(fact, at_ns)
    world.start_round()
    for number in range(24):
        world.shoot("BA"[number % 2])
    world.lift()
    truth = world.finish()
    world.clear()
    world.send = send
    club.restart()
    assert club.table().rounds[1].totals == truth.totals
    assert club.table().sensors["beam"].faults == ()


def test_a_postgresql_hub_is_backed_up_into_a_file_and_restored_from_it(tmp_path: Path) -> None:
    with empty_database() as url:
        club = Club(tmp_path, url=url)
        club.ask("start", {"level": "judge", "names": {"A": "Ada"}})
        world = world_on(club, 4)
        play_round(club, world, "A")
        path = tmp_path / "evening.sqlite3"
        assert backup(url, path) == club._journal.last_id  # type: ignore[union-attr]  # it runs
        assert [p.name for p in tmp_path.iterdir()] == [path.name]
        assert replay(str(path)) == 0
        then = club.table()
        world.start_round()
        world.shoot("B")
        with pytest.raises(StoreError, match="is in use by the hub"):
            restore(path, url)
        club.kill()
        assert restore(path, url)[1] is None
        for outbox in club.outboxes.values():
            outbox.waiting.clear()
        club.restart()
        assert club.table() == then
        assert replay(url) == 0
        club.close()


def test_no_backup_is_put_under_a_running_hub(club: Club, quick_path: Path) -> None:
    backup(club.url, quick_path / "b.sqlite3")
    with pytest.raises(StoreError, match="is in use by the hub, process"):
        restore(quick_path / "b.sqlite3", club.url)
    club.fact("beam", BeamPass(1, S, 50.0), S)
    assert club.table().seen["beam"].seq == 1


def test_a_broken_database_is_set_aside_and_replaced(club: Club, quick_path: Path) -> None:
    club.fact("beam", BeamPass(1, S, 50.0), S)
    backup(club.url, quick_path / "b.sqlite3")
    club.kill()
    database(club).write_bytes(b"spilt coffee" * 1000)
    _, kept = restore(quick_path / "b.sqlite3", club.url)
    assert kept is not None
    assert kept.read_bytes().startswith(b"spilt coffee")
    club.restart()
    assert club.table().seen["beam"].seq == 1


def damaged(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[8192:12288] = random.Random(1).randbytes(4096)
    path.write_bytes(raw)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.unlink(), "there is no such file"),
        (damaged, "b.sqlite3"),
        (lambda path: path.write_text("words " * 900), "not a database"),
        (lambda path: path.write_bytes(b""), "stands at nothing"),
        (
            lambda path: (
                sqlite3.connect(path).execute("UPDATE alembic_version SET version_num = '9'").connection.commit()
            ),
            "9",
        ),
    ],
)
def test_a_backup_that_is_no_good_replaces_nothing(club: Club, quick_path: Path, spoil: Any, said: str) -> None:
    club.fact("beam", BeamPass(1, S, 50.0), S)
    path = quick_path / "b.sqlite3"
    backup(club.url, path)
    club.kill()
    before = database(club).read_bytes()
    spoil(path)
    with pytest.raises(StoreError, match=said):
        restore(path, club.url)
    assert database(club).read_bytes() == before
    assert not [p for p in quick_path.iterdir() if ".new" in p.name or "before" in p.name]
    club.restart()
    assert club.table().seen["beam"].seq == 1


def test_a_backup_that_fails_leaves_the_older_one(
    club: Club, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = quick_path / "b.sqlite3"
    backup(club.url, path)
    before = path.read_bytes()
    club.fact("beam", BeamPass(1, S, 50.0), S)
    vacuum = module._vacuum

    def torn(source: Any, target: Path) -> None:
        vacuum(source, target)
        target.write_bytes(target.read_bytes()[:5000])

    monkeypatch.setattr(module, "_vacuum", torn)
    with pytest.raises(StoreError):
        backup(club.url, path)
    assert path.read_bytes() == before
    assert [p.name for p in quick_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("target", "said"), [("", "is a folder"), ("hub.sqlite3", "is the database itself"), ("no/such.sqlite3", "No such")]
)
def test_a_target_that_cannot_be_is_refused(club: Club, quick_path: Path, target: str, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        backup(club.url, quick_path / target)


def test_the_commands_say_what_they_did_or_why_not(club: Club, quick_path: Path) -> None:
    club.fact("beam", BeamPass(1, S, 50.0), S)
    config = quick_path / "hub.toml"
    config.write_text(f'[hub]\ndatabase = "{club.url}"\n')

    def command(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "crokinole", *arguments, "--config", str(config)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        (line,) = (done.stdout + done.stderr).splitlines()
        return done.returncode, line

    path = str(quick_path / "b.sqlite3")
    status, line = command("backup", path)
    assert status == 0
    assert "journal lines, read back and whole" in line
    status, line = command("restore", path)
    assert status == 3
    assert "stop that hub first" in line
    club.kill()
    status, line = command("restore", path)
    assert status == 0
    assert "is kept as" in line
    assert command("restore", str(quick_path / "nowhere"))[0] == 2
    shutil.rmtree(quick_path / "gone", ignore_errors=True)
    config.write_text('[hub]\ndatabase = "sqlite:////nowhere/hub.sqlite3"\n')
    assert command("backup", path)[0] == 3
    assert isinstance(BackupError(""), StoreError)
