"""The closing comparison: a mismatch cannot hide."""

from pathlib import Path

import pytest

from firmware_py.outbox import Outbox
from hub.club.report import (
    BoardReport,
    RoundReport,
    Truth,
    TruthRound,
    compare,
    doubled,
    missing,
    read_truth,
)
from hub.link.messages import Call
from hub.link.snapshot import RoundView, SideView, Table

TRUTH = Truth((TruthRound(1, {"A": 45, "B": 30}, {"A": 1, "B": 0}, {"fouls": 2}),), {"A": 2, "B": 0})


def table(**changes: object) -> Table:
    view = {"totals": {"A": 45, "B": 30}, "twenties": {"A": 1, "B": 0}, "added": {"A": 2, "B": 0}, **changes}
    sides = {"A": SideView("A", "light", score=2), "B": SideView("B", "dark")}
    return Table("b", 1, 0, {}, rounds=(RoundView(1, 1, **view),), sides=sides)


@pytest.mark.parametrize(
    ("changes", "mismatches"),
    [
        ({}, 0),
        ({"totals": {"A": 45, "B": 25}}, 1),
        ({"totals": {"A": 40, "B": 30}, "low": {"A": 40}, "high": {"A": 45}}, 1),
        ({"twenties": {"A": 0, "B": 0}}, 1),
    ],
)
def test_a_round_that_differs_from_the_truth_is_a_mismatch(changes: dict[str, object], mismatches: int) -> None:
    assert compare("b", TRUTH, table(**changes)).mismatches == mismatches


def test_a_round_that_the_hub_does_not_have_is_a_mismatch() -> None:
    assert compare("b", TRUTH, None).mismatches == 2


def test_a_false_final_score_is_a_mismatch() -> None:
    assert compare("b", Truth(TRUTH.rounds, {"A": 4, "B": 0}), table()).mismatches == 1


def test_a_call_told_twice_and_a_twenty_too_many_are_doubled() -> None:
    told = RoundReport({}, {}, {"A": 1}, {"A": 3}, 0, {})
    board = BoardReport("b", (told,), {}, {}, 0)
    calls = [Call("1", "twenty", ""), Call("1", "twenty", ""), Call("2", "twenty", "")]
    assert doubled(calls, [board]) == 3


def test_truth_is_read_as_the_twin_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "truth.jsonl"
    path.write_text(
        '{"is":"shot","number":1}\n'
        '{"is":"round","number":1,"totals":{"A":45,"B":30},"twenties":{"A":1,"B":0},"counts":{"fouls":2}}\n'
        '{"is":"final","scores":{"A":2,"B":0}}\n'
    )
    assert read_truth(path) == TRUTH
    assert read_truth(tmp_path / "none") == Truth((), {})


def test_numbers_that_were_given_out_and_are_in_no_journal_are_lost(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "beam-outbox.sqlite3")
    for _ in range(3):
        outbox.put(machine_boot="m", mono_ns=0, wall_ms=0, synced=True, kind="moved", body=b"{}")
    outbox.close()
    journalled = {1, 2, 3}

    class Known:
        def journalled(self, board: str, source: str, boot: str) -> set[int]:
            assert (board, source, boot) == ("b1", "beam", outbox.boot)
            return journalled

    assert missing(Known(), "b1", tmp_path) == 0
    journalled.remove(2)
    assert missing(Known(), "b1", tmp_path) == 1
