"""Journals of older editions: what they decided stays, and a replay is exact from where a hub took over."""

from __future__ import annotations

import ast
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import hub.desk
import hub.edition
import hub.referee
from hub.entries import HUB, Entry
from hub.link.messages import Button
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


def take_over(club: Club, monkeypatch: pytest.MonkeyPatch, *, otherwise: bool = False, name: str = "another") -> None:
    """A hub of another edition goes on, which perhaps reads shots otherwise than the one before."""
    club.kill()
    for module in (hub.edition, hub.desk):
        monkeypatch.setattr(module, "EDITION", name)
    if otherwise:
        monkeypatch.setattr(hub.referee, "readings", lambda fact, theirs: ((("peg", fact.disc),),))
    club.restart()


def proven(club: Club) -> None:
    club.close()
    with JournalReader(club.url) as journal:
        assert prove(journal, "b1").unequal == ()


def round_with_a_20(bench: Bench, *events: tuple[str, ...], totals: dict[str, int]) -> None:
    """A 15 of A, a disc of B in the hole, and what people say that the round came to."""
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", *events, moved={"d1": (62, 10)}, beam=True)
    bench.off("d2")
    assert bench.club.ask("correct", {"totals": totals}).ok
    assert bench.club.ask("confirm", {"round": 1}).ok


def ruled(club: Club, reason: str, *, valid: bool, shot: int = 2) -> Any:
    """The referee's word on a shot of the first round."""
    body = {"reason": reason, "round": 1, "shot": shot, "valid": valid}
    return club.ask("rule", body, token=f"{TOKEN}-referee")


def test_undo_goes_back_behind_another_edition_that_read_the_same(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = Club(quick_path)
    bench = Bench(club)
    bench.start(rules="nca")
    started = counted(club.table())
    bench.shoot("A", (60, 10))
    bench.shoot("B", (60, 40), ("hit", "s", "d1"))
    assert club.ask("correct", {"side": "A", "twenties": 1}).ok
    take_over(club, monkeypatch)
    assert club.ask("correct", {"totals": {"A": 40, "B": 15}}).ok
    take_over(club, monkeypatch, name="a third")
    assert club.ask("confirm", {"round": 1}).ok
    shown = counted(club.table())
    for _ in range(3):
        assert club.ask("undo", {}).ok
    assert (club.table().shot, club.table().sides["A"].twenties, club.table().sides["A"].board) == (2, 0, 15)
    club.restart()
    for _ in range(3):
        assert club.ask("redo", {}).ok
    assert counted(club.table()) == shown
    for _ in range(4):
        assert club.ask("undo", {}).ok
    assert club.ask("undo", {}).error.startswith("nothing_to_undo:")
    assert club.table().match_id != started[0], "the shots open a match of their own, as without the start"
    for _ in range(4):
        assert club.ask("redo", {}).ok
    assert counted(club.table()) == shown
    proven(club)


def test_undo_does_not_go_back_behind_an_edition_that_reads_otherwise_and_says_so(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = Club(quick_path)
    bench = Bench(club)
    bench.start(rules="nca")
    bench.shoot("A", (60, 10))
    assert club.ask("correct", {"totals": {"A": 40, "B": 20}}).ok
    take_over(club, monkeypatch, otherwise=True)
    assert club.ask("confirm", {"round": 1}).ok
    assert club.ask("correct", {"round": 1, "totals": {"A": 45, "B": 20}}).ok
    for _ in range(2):
        assert club.ask("undo", {}).ok
    refused = club.ask("undo", {}).error
    assert refused.startswith("other_edition: cannot undo further: the hub's program was changed since")
    assert "correct it instead" in refused
    assert club.table().sides["A"].entered == 40
    assert club.table().can_redo
    at_ns = bench.later()
    club.fact("button", Button(at_ns, "undo"), at_ns)
    assert club.table().message.startswith("cannot undo further:")
    for _ in range(2):
        assert club.ask("redo", {}).ok
    assert club.table().rounds[0].totals == {"A": 45, "B": 20}
    proven(club)


def test_undo_goes_back_to_the_beginning_of_the_match_that_another_edition_took_over_and_says_why_not_further(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = Club(quick_path)
    assert club.ask("start", {"rules": "nca"}).ok
    assert club.ask("walk_over", {"side": "B"}).ok
    assert club.ask("start", {"rules": "nca"}).ok
    assert club.ask("correct", {"side": "A", "twenties": 1}).ok
    take_over(club, monkeypatch)
    for _ in range(2):
        assert club.ask("undo", {}).ok
    assert club.table().winner == "A", "the match before stands"
    refused = club.ask("undo", {}).error
    assert refused == ("other_edition: cannot undo further: the hub's program was changed since; correct it instead")
    assert club.ask("redo", {}).ok
    assert club.ask("walk_over", {"side": "A"}).ok
    assert club.ask("start", {"rules": "nca"}).ok
    for _ in range(3):
        assert club.ask("undo", {}).ok
    assert club.ask("undo", {}).error == refused
    proven(club)


@pytest.mark.parametrize("otherwise", [False, True])
def test_a_match_that_began_under_another_edition_gets_names_and_rules_if_that_one_read_the_same(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, *, otherwise: bool
) -> None:
    club = Club(quick_path)
    bench = Bench(club)
    bench.shoot("A", (60.0, 10.0))
    take_over(club, monkeypatch, otherwise=otherwise)
    bench.shoot("B", "ditch", ("off", "s"))
    told = club.ask("start", {"rules": "nca", "names": {"A": "Ann"}})
    if otherwise:
        assert told.error.startswith("other_edition: the hub's program was changed since")
        assert told.error.endswith("; the match can get names, and no rules")
        assert club.ask("name", {"names": {"A": "Ann"}}).ok
    else:
        assert told.ok
        assert club.table().rules == "NCA"
        assert club.ask("correct", {"side": "A", "twenties": 1}).ok
        assert club.ask("undo", {}).ok
    assert (club.table().sides["A"].name, club.table().shot) == ("Ann", 2)
    proven(club)


@pytest.mark.parametrize("otherwise", [False, True])
def test_the_referee_rules_on_a_shot_of_a_round_that_was_counted_by_another_edition(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, *, otherwise: bool
) -> None:
    club = Club(quick_path)
    bench = Bench(club)
    bench.start(rules="nca")
    round_with_a_20(bench, ("hit", "s", "d1"), ("hole", "s"), totals={"A": 15, "B": 20})
    assert club.table().rounds[0].twenties == {"A": 0, "B": 1}
    take_over(club, monkeypatch, otherwise=otherwise)
    told = ruled(club, "no touch", valid=False)
    if otherwise:
        assert told.error.startswith("other_edition:")
        assert told.error.endswith("rule on the totals of the round instead")
    else:
        assert told.ok
        assert club.table().rounds[0].twenties == {"A": 0, "B": 0}
        assert club.ask("undo", {}).ok
        assert club.table().rounds[0].twenties == {"A": 0, "B": 1}
    missing = ruled(club, "?", shot=9, valid=True)
    assert missing.error.startswith("other_edition:" if otherwise else "no_shot:")
    proven(club)


def test_only_what_decides_makes_an_edition() -> None:
    code = '''"""A file."""
LIMIT = 3
"""Of discs."""

def over(count: int) -> bool:
    """Whether there are too many."""
    return count > LIMIT  # none lies on another
'''
    told = code.replace("A file", "One file").replace("Of discs", "Discs").replace("# none", "# never one")
    told = told.replace("\n\n", "\n\n\n").replace("count > LIMIT", "(count > LIMIT)")
    assert hub.edition.bare(told) == hub.edition.bare(code)
    for changed in (code.replace("3", "4"), code.replace(" > ", " >= "), code.replace("bool", "str"), code + "x = 1\n"):
        assert hub.edition.bare(changed) != hub.edition.bare(code)


def test_the_referee_rules_on_a_finished_round_since_another_edition_took_over(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = Club(quick_path)
    bench = Bench(club)
    bench.start(rules="nca")
    take_over(club, monkeypatch)
    round_with_a_20(bench, ("hole", "s"), totals={"A": 15, "B": 0})
    assert club.table().rounds[0].twenties == {"A": 0, "B": 0}
    assert ruled(club, "it touched", valid=True).ok
    assert club.table().rounds[0].twenties == {"A": 0, "B": 1}
    assert club.ask("undo", {}).ok
    assert club.table().rounds[0].twenties == {"A": 0, "B": 0}
    proven(club)


def test_lines_that_another_edition_could_not_use_are_no_hindrance_to_a_replay() -> None:
    kept = hub.edition.carrying(TableState("b1", unreadable=2), None)
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
    state = hub.edition.carrying(TableState("b1"), None)
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
