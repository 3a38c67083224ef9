"""Rounds that no camera saw: people tell what they came to, with the 20s, and everything else follows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.link import topics
from hub.link.snapshot import Table
from hub.proof import prove
from hub.store.reader import JournalReader
from tests.hub.harness import TOKEN, Club
from tests.hub.table_bench import Bench

REFEREE = f"{TOKEN}-referee"


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path, ())
    yield club
    club.close()
    with JournalReader(club.url) as journal:
        assert [prove(journal, board).unequal for board in journal.boards()] == [()]


def tell(club: Club, totals: dict[str, int], among: dict[str, int] | None = None, round_: int = 0) -> str:
    body = {"totals": totals, "round": round_} | ({} if among is None else {"among": among})
    return club.ask("correct", body, "b1", token=REFEREE).error


def twenties(table: Table) -> dict[str, int]:
    return {side: view.twenties for side, view in table.sides.items()}


def test_a_match_is_played_by_what_people_tell_of_each_round(club: Club) -> None:
    assert club.ask("start", {"rules": "nca"}, "b1", token=REFEREE).ok
    for number in (1, 2, 3, 4):
        assert not tell(club, {"A": 60, "B": 45}, {"A": 2, "B": 1})
        assert twenties(club.table()) == {"A": 2, "B": 1}
        assert club.ask("confirm", {"round": number}, "b1", token=REFEREE).ok
    table = club.table()
    assert (table.phase, table.winner, table.sides["A"].score) == ("match_over", "A", 8)
    assert [(r.totals, r.twenties) for r in table.rounds] == [({"A": 60, "B": 45}, {"A": 2, "B": 1})] * 4
    assert [view.total_twenties for view in table.sides.values()] == [8, 4]


def test_what_was_told_is_told_again_taken_back_and_corrected_later(club: Club) -> None:
    assert club.ask("start", {"rules": "nca"}, "b1", token=REFEREE).ok
    assert not tell(club, {"A": 60, "B": 45}, {"A": 3, "B": 0})
    assert not tell(club, {"A": 40, "B": 45}, {"A": 1, "B": 1})
    assert twenties(club.table()) == {"A": 1, "B": 1}
    assert club.ask("undo", {}, "b1", token=REFEREE).ok
    assert (twenties(club.table()), club.table().sides["A"].entered) == ({"A": 3, "B": 0}, 60)
    assert club.ask("confirm", {"round": 1}, "b1", token=REFEREE).ok
    assert not tell(club, {"A": 55, "B": 45}, {"A": 2, "B": 2}, round_=1)
    assert club.table().rounds[0].twenties == {"A": 2, "B": 2}
    assert not tell(club, {"A": 50, "B": 45}, round_=1)
    assert club.table().rounds[0].twenties == {"A": 2, "B": 2}, "the 20s that are known hold"


def test_totals_and_20s_told_one_after_the_other_never_make_each_other_impossible(club: Club) -> None:
    assert club.ask("start", {"rules": "nca"}, "b1", token=REFEREE).ok
    assert not tell(club, {"A": 20, "B": 160}, {"A": 1, "B": 8})
    for count, total in ((1, 20), (2, 40), (0, 0)):
        assert club.ask("correct", {"side": "A", "twenties": count}, "b1", token=REFEREE).ok
        assert (club.table().sides["A"].entered, twenties(club.table())["A"]) == (total, count)
    assert tell(club, {"A": 155, "B": 160}, {"A": 0, "B": 8}).startswith("too_many_discs:")
    assert not tell(club, {"A": 155, "B": 160})
    told = club.ask("correct", {"side": "A", "twenties": 1}, "b1", token=REFEREE)
    assert told.error == "impossible_score: 175 points cannot be made with 8 discs"
    assert (club.table().sides["A"].entered, twenties(club.table())) == (155, {"A": 0, "B": 8})


def test_totals_below_the_20s_that_are_known_are_refused_with_what_to_do(club: Club) -> None:
    assert club.ask("start", {"rules": "nca"}, "b1", token=REFEREE).ok
    assert not tell(club, {"A": 60, "B": 45}, {"A": 2, "B": 1})
    refused = (
        "below_twenties: the 20s of light alone are 40 points, so 35 in all cannot be; "
        "count the 20s in, or correct them too"
    )
    assert tell(club, {"A": 35, "B": 45}) == refused
    ruling = {"reason": "the lip", "totals": {"A": 35, "B": 45}}
    assert club.ask("rule", ruling, "b1", token=REFEREE).error == refused
    assert (club.table().sides["A"].entered, twenties(club.table())) == (60, {"A": 2, "B": 1})
    assert not tell(club, {"A": 40, "B": 20}), "the 20s and nothing else"
    assert not tell(club, {"A": 35, "B": 45}, {"A": 1, "B": 2}), "the 20s corrected with them"
    assert club.ask("confirm", {"round": 1}, "b1", token=REFEREE).ok
    assert tell(club, {"A": 35, "B": 35}, round_=1).startswith("below_twenties: the 20s of dark alone are 40 points")
    assert club.ask("rule", {**ruling, "round": 1, "among": {"A": 0, "B": 0}}, "b1", token=REFEREE).ok
    (finished,) = club.table().rounds
    assert (finished.totals, finished.twenties) == ({"A": 35, "B": 45}, {"A": 0, "B": 0})
    assert tell(club, {"A": 40, "B": 45}, round_=1).startswith("ruled:")


def test_20s_without_totals_are_no_ruling(club: Club) -> None:
    assert club.ask("start", {"rules": "nca"}, "b1", token=REFEREE).ok
    told = club.ask("rule", {"reason": "the lip", "among": {"A": 1, "B": 0}}, "b1", token=REFEREE)
    assert told.error == "bad_correction: expected the totals of A, B"


def test_a_20_in_doubt_holds_no_total_back_and_counts_in_once_it_is_somebodys(bench: Bench) -> None:
    bench.start(rules="nca")
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.beam(bench.later(5))
    assert bench.table.questions
    assert bench.club.ask("correct", {"totals": {"A": 0, "B": 45}}).ok
    bench.answer("A")
    assert twenties(bench.table) == {"A": 1, "B": 0}
    assert bench.club.ask("confirm", {"round": 1}).ok
    assert bench.table.rounds[0].totals == {"A": 20, "B": 45}


def test_who_tells_the_20s_has_told_whose_they_were(bench: Bench) -> None:
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.start(rules="nca")
    bench.beam(bench.later(5))
    (question,) = bench.table.questions
    body = {"totals": {"A": 60, "B": 45}, "among": {"A": 1, "B": 0}}
    assert bench.club.ask("correct", body).ok
    assert (bench.table.questions, bench.table.sides["A"].provisional) == ((), 0)
    late = bench.club.ask("answer", {"question": question.id, "choice": "A"})
    assert late.error.startswith("no_question:")
    assert twenties(bench.table) == {"A": 1, "B": 0}
    assert bench.club.ask("undo", {}).ok
    assert (len(bench.table.questions), bench.table.sides["A"].provisional) == (1, 1)
    bench.answer("A")
    assert bench.club.ask("correct", body).ok
    assert twenties(bench.table) == {"A": 1, "B": 0}


@pytest.mark.parametrize(
    ("totals", "among", "code"),
    [
        ({"A": 60, "B": 45}, {"A": 4, "B": 0}, "negative"),
        ({"A": 60, "B": 45}, {"A": 2}, "bad_correction"),
        ({"A": 60, "B": 45}, {"A": 2, "B": 0, "C": 0}, "bad_correction"),
        ({"A": 60, "B": 45}, {"A": -1, "B": 0}, "negative"),
        ({"A": 130, "B": 45}, {"A": 0, "B": 0}, "too_many_discs"),
        ({}, {"A": 1, "B": 0}, "bad_correction"),
    ],
)
def test_twenties_that_cannot_be_are_refused(
    club: Club, totals: dict[str, int], among: dict[str, int], code: str
) -> None:
    assert club.ask("start", {"rules": "nca"}, "b1", token=REFEREE).ok
    assert tell(club, totals, among).startswith(f"{code}:")
    assert club.table().sides["A"].entered is None
