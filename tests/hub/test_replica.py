"""A copy that follows the running hub, and another hub that goes on from it."""

from __future__ import annotations

import logging
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hub.link.messages import BeamPass
from hub.replay import run as replay
from hub.store import replica as module
from hub.store.backup import BackupError, backup, restore
from hub.store.engine import StoreError
from hub.store.replica import Replica
from tests.hub.harness import Club, S
from tests.hub.test_games import play_round
from tests.hub.world import Habits, World
from tests.postgres import empty_database


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    (quick_path / "disk").mkdir()
    (quick_path / "stick").mkdir()
    club = Club(quick_path / "disk")
    yield club
    club.close()


@pytest.fixture
def stick(quick_path: Path) -> Path:
    return quick_path / "stick" / "copy.sqlite3"


def test_every_step_is_a_journal_that_proves_itself(club: Club, stick: Path) -> None:
    copy = Replica(club.url, stick)
    assert copy.step() == club._journal.last_id  # type: ignore[union-attr]  # it runs
    assert copy.step() == 0
    club.ask("start", {"level": "judge", "names": {"A": "Ada"}})
    world = World(club.fact, random.Random(1), Habits())
    for opener in "AB":
        play_round(club, world, opener)
        assert copy.step() > 0
        assert replay(str(stick)) == 0
        assert copy.lines() == club._journal.last_id  # type: ignore[union-attr]  # it runs
    assert [p.name for p in stick.parent.iterdir()] == [stick.name]


def test_another_hub_goes_on_from_the_copy(club: Club, stick: Path) -> None:
    """The first machine burns; the boards still have what came after the last step."""
    club.ask("start", {"level": "judge"})
    world = World(club.fact, random.Random(2), Habits())
    play_round(club, world, "A")
    Replica(club.url, stick).step()
    club.kill()
    shutil.rmtree(Path(club.url.removeprefix("sqlite:///")).parent)
    club.url = f"sqlite:///{stick}"
    world.send = lambda source, fact, at_ns: club.outboxes["b1", source].put(fact, at_ns) and None
    world.start_round()
    for number in range(24):
        world.shoot("BA"[number % 2])
    world.lift()
    truth = world.finish()
    world.clear()
    club.restart()
    assert [r.totals for r in club.table().rounds][1] == truth.totals
    assert club.table().sensors["camera"].faults == ()


def test_a_step_that_fails_leaves_the_step_before(club: Club, stick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Replica(club.url, stick)
    copy.step()
    lines = copy.lines()
    club.fact("beam", BeamPass(1, S, 50.0), S)

    def pulled_out(*_: Any) -> None:
        raise StoreError("the stick is gone")

    with monkeypatch.context() as patch:
        patch.setattr(module, "_equalise", pulled_out)
        with pytest.raises(StoreError):
            copy.step()
    assert copy.lines() == lines
    assert copy.step() == 1
    assert replay(str(stick)) == 0


def test_what_is_copied_of_another_journal_is_kept(club: Club, stick: Path, quick_path: Path) -> None:
    backup(club.url, quick_path / "old.sqlite3")
    for episode in (1, 2, 3):
        club.fact("beam", BeamPass(episode, S, 50.0), S)
    copy = Replica(club.url, stick)
    copy.step()
    club.kill()
    restore(quick_path / "old.sqlite3", club.url)
    for outbox in club.outboxes.values():
        outbox.restart("boot-2")
    club.start()
    club.fact("beam", BeamPass(9, S, 50.0), S)
    assert copy.step() == club._journal.last_id  # type: ignore[union-attr]  # it runs
    names = sorted(p.name for p in stick.parent.iterdir())
    assert len(names) == 2
    assert names[1].startswith("copy.sqlite3.other-")
    assert replay(str(stick)) == 0


def test_trouble_is_told_once_and_its_end_too(club: Club, stick: Path, caplog: pytest.LogCaptureFixture) -> None:
    copy = Replica(club.url, stick)
    stick.parent.rmdir()
    turns = iter([False, False, False, True])

    class Turn(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            stop = next(turns)
            if not stop and len(caplog.records) == 1:
                stick.parent.mkdir(exist_ok=True)
            return stop

    with caplog.at_level(logging.WARNING, logger="hub.store.replica"):
        copy.follow(1.0, Turn())
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert copy.lines() == club._journal.last_id  # type: ignore[union-attr]  # it runs


def test_the_database_is_no_copy_of_itself(club: Club) -> None:
    with pytest.raises(BackupError, match="is the database itself"):
        Replica(club.url, Path(club.url.removeprefix("sqlite:///")))


def test_a_postgresql_hub_is_followed_too(tmp_path: Path) -> None:
    with empty_database() as url:
        club = Club(tmp_path, url=url)
        copy = Replica(url, tmp_path / "copy.sqlite3")
        copy.step()
        play_round(club, World(club.fact, random.Random(3), Habits()), "A")
        assert copy.step() > 0
        assert replay(str(tmp_path / "copy.sqlite3")) == 0
        club.close()


def test_the_command_follows_until_it_is_told_to_end(club: Club, stick: Path, quick_path: Path) -> None:
    config = quick_path / "hub.toml"
    config.write_text(f'[hub]\ndatabase = "{club.url}"\n')
    argv = [sys.executable, "-m", "crokinole", "backup", str(stick), "--every", "0.1", "--config", str(config)]
    follower = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert follower.stdout is not None
        assert "follows" in follower.stdout.readline()
        club.fact("beam", BeamPass(1, S, 50.0), S)
        pause = threading.Event()
        for _ in range(300):
            if stick.exists() and Replica(club.url, stick).lines() == club._journal.last_id:  # type: ignore[union-attr]
                break
            pause.wait(0.1)
        follower.send_signal(signal.SIGTERM)
        assert follower.wait(30) == 0
    finally:
        follower.kill()
        follower.communicate()
    assert replay(str(stick)) == 0
