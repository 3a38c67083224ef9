"""Journals of older editions: what they decided stays, and a replay is exact from where a hub took over."""

from __future__ import annotations

import ast
import gzip
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

import hub.desk
import hub.edition
from hub.entries import HUB, Entry
from hub.link.snapshot import Table
from hub.proof import ReplayError, in_common, prove, steps
from hub.replay import run
from hub.state import Sensor, TableState
from hub.store.reader import JournalReader
from tests.hub.harness import TOKEN, Club
from tests.hub.table_bench import Bench

OLD = Path(__file__).with_name("old") / "before-chapters.journal.gz"
"""Two boards by a hub whose table states had no chapters, evening, event, level of a shot, nor edition."""


@pytest.fixture
def old(quick_path: Path) -> Path:
    path = quick_path / "hub.sqlite3"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    return path


def counted(table: Table) -> tuple[object, ...]:
    sides = {side: (view.score, view.twenties, view.board, view.shots_left) for side, view in table.sides.items()}
    return table.match_id, table.phase, table.round, table.shot, sides, table.rounds, len(table.questions)


def test_an_old_journal_replays_to_what_was_stored_as_far_as_both_know_it(old: Path) -> None:
    with JournalReader(str(old)) as journal:
        proof = prove(journal, "b2")
    assert (proof.unequal, proof.lines) == ((), 84)
    assert proof.state.chapters, "the state of today has more fields"


def test_where_an_edition_of_today_would_decide_otherwise_it_says_that_another_had_decided(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(old), board="b1", as_json=True) == 1
    (told,) = json.loads(capsys.readouterr().out)["boards"]
    assert told["other_edition"]
    assert run(str(old), board="b1") == 1
    assert "another edition of the program decided it" in capsys.readouterr().out


def test_a_hub_takes_an_old_journal_over_as_it_stands_and_from_there_the_replay_is_exact(old: Path) -> None:
    with JournalReader(str(old)) as journal:
        stored = {board: journal.matches(board) for board in journal.boards()}
    club = Club(old.parent, ("b1", "b2"))
    before = {board: counted(club.table(board)) for board in ("b1", "b2")}
    assert [round_.number for round_ in club.table("b1").rounds] == [1, 2]
    assert [json.loads(record)["rounds"] for record in stored["b1"].values()]
    bench = Bench(club)
    bench.at_ns = 10**13
    bench.shoot("A", (60.0, 10.0))
    assert counted(club.table("b2")) == before["b2"]
    assert counted(club.table("b1"))[5] == before["b1"][5]
    assert club.ask("correct", {"side": "A", "twenties": 1}).ok
    assert club.ask("undo", {}).ok
    club.restart()
    assert counted(club.table("b2")) == before["b2"]
    club.close()
    with JournalReader(club.url) as journal:
        for board in ("b1", "b2"):
            assert prove(journal, board).unequal == ()
            assert sum(entry.kind == "carried" for entry in journal.entries(board)) == 1
            assert journal.matches(board) == stored[board]
    assert run(str(old)) == 0


def test_undo_does_not_go_back_behind_another_edition(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    club = Club(quick_path)
    assert club.ask("start", {"rules": "nca"}).ok
    assert club.ask("correct", {"totals": {"A": 40, "B": 20}}).ok
    assert club.ask("confirm", {"round": 1}).ok
    club.kill()
    for module in (hub.edition, hub.desk):
        monkeypatch.setattr(module, "EDITION", "another")
    club.restart()
    assert club.ask("correct", {"round": 1, "totals": {"A": 45, "B": 20}}).ok
    assert club.table().rounds[0].totals == {"A": 45, "B": 20}
    assert club.ask("undo", {}).ok
    assert club.table().rounds[0].totals == {"A": 40, "B": 20}
    assert club.ask("undo", {}).error.startswith("nothing_to_undo:")
    assert club.ask("redo", {}).ok
    assert club.ask("walk_over", {"side": "B"}).ok
    assert club.ask("start", {"rules": "nca"}).ok
    assert club.ask("correct", {"side": "A", "twenties": 1}).ok
    assert club.ask("undo", {}).ok
    assert club.table().sides["A"].twenties == 0
    club.close()
    with JournalReader(club.url) as journal:
        assert prove(journal, "b1").unequal == ()


def test_a_match_that_began_under_another_edition_gets_names_and_no_rules(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = Club(quick_path)
    bench = Bench(club)
    bench.shoot("A", (60.0, 10.0))
    club.kill()
    for module in (hub.edition, hub.desk):
        monkeypatch.setattr(module, "EDITION", "another")
    club.restart()
    bench.shoot("B", "ditch", ("off", "s"))
    assert club.ask("start", {"rules": "nca", "names": {"A": "Ann"}}).error.startswith("too_long_ago:")
    assert club.ask("name", {"names": {"A": "Ann"}}).ok
    assert (club.table().sides["A"].name, club.table().shot) == ("Ann", 2)
    club.close()
    with JournalReader(club.url) as journal:
        assert prove(journal, "b1").unequal == ()


def test_the_referee_rules_on_a_finished_round_since_another_edition_took_over(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = Club(quick_path)
    bench = Bench(club)
    bench.start(rules="nca")
    club.kill()
    for module in (hub.edition, hub.desk):
        monkeypatch.setattr(module, "EDITION", "another")
    club.restart()
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    bench.off("d2")
    assert club.ask("correct", {"totals": {"A": 15, "B": 0}}).ok
    assert club.ask("confirm", {"round": 1}).ok
    assert club.table().rounds[0].twenties == {"A": 0, "B": 0}
    ruling = {"reason": "it touched", "round": 1, "shot": 2, "valid": True}
    assert club.ask("rule", ruling, token=f"{TOKEN}-referee").ok
    assert club.table().rounds[0].twenties == {"A": 0, "B": 1}
    assert club.ask("undo", {}).ok
    assert club.table().rounds[0].twenties == {"A": 0, "B": 0}
    club.close()
    with JournalReader(club.url) as journal:
        assert prove(journal, "b1").unequal == ()


def test_lines_that_another_edition_could_not_use_are_no_hindrance_to_a_replay() -> None:
    kept = hub.edition.carrying(TableState("b1", unreadable=2))
    line = Entry(1, "b1", HUB, "h", 1, "carried", 0, kept)
    ((entry, taken),) = steps(TableState("b1"), [line])
    assert (entry, taken.state.unreadable) == (line, 2)
    with pytest.raises(ReplayError, match="'carried' of hub cannot be read"):
        list(steps(TableState("b1"), [replace(line, body=b"{")]))


def test_the_edition_is_of_all_code_that_a_table_needs() -> None:
    root = Path(hub.edition.__file__).parents[1]
    needed: set[Path] = set()
    open_ = ["hub.table"]
    while open_:
        path = root / f"{open_.pop().replace('.', '/')}.py"
        if path in needed or not path.is_file():
            continue
        needed.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                open_ += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                open_ += [alias.name for alias in node.names]
    assert len(needed) > 30
    assert needed - set(hub.edition.deciding()) == set()


def test_a_line_that_took_over_and_is_broken_is_counted_and_passed_over(old: Path) -> None:
    club = Club(old.parent, ("b1", "b2"))
    club.close()
    state = hub.edition.carrying(TableState("b1"))
    assert hub.edition.EDITION.encode() in state
    with JournalReader(club.url) as journal:
        (line,) = [entry for entry in journal.entries("b1") if entry.kind == "carried"]
    broken = line.__class__(**{name: getattr(line, name) for name in line.__struct_fields__} | {"body": b"{"})
    taken = hub.desk.take(TableState("b1"), broken, lambda _: None)
    assert (taken.state.unreadable, taken.state.entry) == (1, line.id)


def test_only_fields_that_both_editions_know_are_compared() -> None:
    now = TableState("b1", rev=3, sensors={"beam": Sensor(online=True, faults=("dirt",))})
    was = {"board": "b1", "rev": 4, "gone": 1, "sensors": {"beam": {"online": True}, "camera": {"online": False}}}
    one, other = in_common(was, now)
    assert one == {"board": "b1", "rev": 4, "sensors": {"beam": {"online": True}, "camera": {"online": False}}}
    assert other == {"board": "b1", "rev": 3, "sensors": {"beam": {"online": True}}}
