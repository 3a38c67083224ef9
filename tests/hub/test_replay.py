"""A journal gone through again: what is stored follows from it, and its matches can be judged by other rules."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hub.link.asks import Start
from hub.link.messages import Fact, Place, Shot
from hub.proof import differences
from hub.replay import run
from hub.state import TableState
from hub.store.reader import JournalReader
from hub.table import replay
from tests.hub.conftest import MEMORY
from tests.hub.harness import Club
from tests.hub.test_games import HABITS, answer_all, play_round
from tests.hub.world import Habits, World


def world_on(club: Club, seed: int, habits: Habits, board: str = "b1") -> World:
    return World(lambda source, fact, at_ns: club.fact(source, fact, at_ns, board), random.Random(seed), habits)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A journal of two boards with everything that happens in an evening."""
    if not MEMORY.is_dir():
        yield an_evening(tmp_path_factory.mktemp("played"))
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield an_evening(Path(folder))


def an_evening(folder: Path) -> Path:
    club = Club(folder, ("b1", "b2"))
    club.ask("start", {"rules": "match-play", "level": "judge"})
    world = world_on(club, 5, HABITS["all-at-once"])
    well_aimed = world.send

    def short(source: str, fact: Fact, at_ns: int) -> None:
        """The first shot, an open one, does not reach the 15; the camera saw it so."""
        if isinstance(fact, Shot):
            world.send = well_aimed
            fact = msgspec.structs.replace(fact, rest={fact.disc: Place(200.0, 10.0)}, events=())
        well_aimed(source, fact, at_ns)

    world.send = short
    play_round(club, world, "A")
    assert club.ask("correct", {"round": 1, "totals": {"A": 90, "B": 20}, "among": {"A": 0, "B": 0}}).ok
    club.ask("undo", {})
    club.ask("redo", {})
    play_round(club, world, "B")
    refused = club.ask("answer", {"question": "of yesterday", "choice": "yes"})
    assert not refused.ok
    other = world_on(club, 6, Habits(foul=0.5), "b2")
    other.start_round()
    for number in range(24):
        other.shoot("AB"[number % 2])
        if number == 10:
            club.ask("start", {"rules": "nca", "level": "advise", "names": {"A": "Ada", "B": "Bo"}}, "b2")
        answer_all(club, other, "b2")
    club.close()
    return folder / "hub.sqlite3"


def copy_of(database: Path, folder: Path) -> Path:
    target = folder / "copy.sqlite3"
    with sqlite3.connect(database) as source, sqlite3.connect(target) as copy:
        source.backup(copy)
    return target


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_what_is_stored_follows_from_the_journal(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(played), as_json=True) == 0
    shown = told(capsys)
    assert shown["equal"]
    assert [(b["board"], b["equal"], b["unequal"]) for b in shown["boards"]] == [("b1", True, []), ("b2", True, [])]
    assert run(str(played)) == 0
    assert "all as stored" in capsys.readouterr().out


def test_the_file_and_its_folder_stay_as_they_were(played: Path, tmp_path: Path) -> None:
    path = copy_of(played, tmp_path)
    before, files = path.read_bytes(), sorted(tmp_path.iterdir())
    tmp_path.chmod(0o500)
    try:
        assert run(str(path)) == 0
        assert run(f"sqlite:///{path}", rules="nca") == 0
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == files


def test_a_journal_is_read_beside_its_running_hub(quick_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    club = Club(quick_path)
    world = world_on(club, 1, Habits())
    world.start_round()
    world.shoot("A")
    assert run(str(quick_path / "hub.sqlite3"), as_json=True) == 0
    assert told(capsys)["equal"]
    world.shoot("B")
    assert club.table().shot == 2
    club.close()


def edited(database: Path, table: str, change: Any) -> None:
    """Change a stored state behind the hub's back."""
    with sqlite3.connect(database) as connection:
        rowid, state = connection.execute(f"SELECT rowid, state FROM {table} WHERE board = 'b1'").fetchone()
        tree = msgspec.msgpack.decode(state)
        change(tree)
        connection.execute(f"UPDATE {table} SET state = ? WHERE rowid = ?", (msgspec.msgpack.encode(tree), rowid))


@pytest.mark.parametrize("table", ["tables", "checkpoints"])
def test_a_stored_state_that_does_not_follow_is_named_with_the_place(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    path = copy_of(played, tmp_path)
    edited(path, table, lambda tree: tree.update(practice=41))
    assert run(str(path), as_json=True) == 1
    unequal = told(capsys)["boards"][0]["unequal"]
    assert [(u["path"], u["stored"], u["recomputed"]) for u in unequal] == [("practice", "41", "0")]
    assert unequal[0]["where"] == "table" if table == "tables" else unequal[0]["where"].startswith("chapter ")
    assert run(str(path), board="b2") == 0
    assert run(str(path)) == 1
    assert "practice stored 41, recomputed 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        ("DELETE FROM journal WHERE board = 'b1' AND kind = 'shot' AND seq > 20", "table"),
        (
            "UPDATE matches SET record = CAST(replace(record, '\"number\":1', '\"number\":7') AS BLOB)",
            "match",
        ),
        ("UPDATE matches SET record = 'spilt'", "match"),
        ("DELETE FROM matches", "match"),
        ("DELETE FROM tables WHERE board = 'b1'", "table"),
        ("UPDATE tables SET state = x'00' WHERE board = 'b1'", "table"),
    ],
)
def test_every_damage_is_noticed(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str, where: str
) -> None:
    path = copy_of(played, tmp_path)
    with sqlite3.connect(path) as connection:
        assert connection.execute(damage).rowcount
    assert run(str(path), board="b1", as_json=True) == 1
    assert any(u["where"].startswith(where) for u in told(capsys)["boards"][0]["unequal"])


def test_the_rules_it_was_played_by_change_nothing(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(played), rules="match-play", board="b1", as_json=True) == 0
    (game,) = told(capsys)["boards"]["b1"]
    assert game["differences"] == []
    assert game["scores"]["was"] == game["scores"]["now"]
    assert game["rounds"] == 2
    assert game["shots"] > 24


def test_other_rules_show_which_verdicts_and_totals_differ(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(played), rules="family", board="b1", as_json=True) == 0
    (game,) = told(capsys)["boards"]["b1"]
    (short,) = game["differences"]
    assert (short["round"], short["shot"]) == (1, 1)
    assert short["was"]["reason"] == "open_not_in_15"
    assert short["now"]["valid"]
    assert [s["scores"] for s in game["scores"]["was"]] != [s["scores"] for s in game["scores"]["now"]]
    assert run(str(played), rules="family", board="b1") == 0
    shown = capsys.readouterr().out
    assert "Match play -> Family" in shown
    assert "round 1, shot 1: valid, reason" in shown
    assert "was: Foul" in shown
    assert "now: Valid" in shown


def test_a_clubs_own_rules_come_from_a_file(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "ours.toml"
    own.write_text('base = "match-play"\nscoring = "cumulative"\n')
    assert run(str(played), rules=str(own), board="b1", as_json=True) == 0
    (game,) = told(capsys)["boards"]["b1"]
    assert game["differences"] == []
    assert game["scores"]["now"][0]["scores"] != game["scores"]["was"][0]["scores"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.sqlite3"], "there is no such file"),
        (["mysql://x/y"], "expected sqlite:///FILE"),
        (["{text}"], "file is not a database"),
        (["{empty}"], "is no journal of this version"),
        (["{played}", "--rules", "clasic"], "classic"),
        (["{played}", "--rules", "nowhere.toml"], "nowhere.toml"),
        (["{played}", "--board", "b7"], "b1, b2"),
    ],
)
def test_bad_input_gets_one_line(played: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    text, empty = tmp_path / "text", tmp_path / "empty"
    text.write_text("no database, but long enough that nobody takes it for an empty one\n" * 99)
    sqlite3.connect(empty).execute("CREATE TABLE t (x)").connection.close()
    filled = [a.format(text=text, empty=empty, played=played) for a in arguments]
    done = subprocess.run(
        [sys.executable, "-m", "crokinole", "replay", *filled], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert said in line


def test_a_line_of_another_version_is_named(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy_of(played, tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE journal SET kind = 'swap_chairs' WHERE kind = 'correct'")
        (line,) = connection.execute("SELECT id FROM journal WHERE kind = 'swap_chairs'").fetchone()
    assert run(str(path), board="b1") == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"board b1, line {line}: unknown request 'swap_chairs'" in told.err


def test_a_refused_request_is_part_of_the_order_but_changes_nothing(played: Path) -> None:
    with JournalReader(str(played)) as journal:
        lines = list(journal.entries("b1"))
        (refused,) = [line for line in lines if line.refused]
        until = [line for line in lines if line.id <= refused.id]
        state, before = replay(TableState("b1"), until), replay(TableState("b1"), until[:-1])
    assert state.entry == refused.id
    assert msgspec.structs.replace(state, entry=before.entry) == before


def test_differences_name_the_path() -> None:
    one = {"a": {"b": [1, {"c": 2}]}, "d": [1]}
    other = {"a": {"b": [1, {"c": 3}]}, "d": [1, 2], "e": 0}
    assert list(differences(one, other)) == [("a.b[1].c", "2", "3"), ("d", "[1]", "[1, 2]"), ("e", "None", "0")]
    assert list(differences(Start(), Start())) == []
