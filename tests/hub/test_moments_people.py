"""Hard moments of the course of play: starts, sweeps, levels and the tables that people keep."""

from __future__ import annotations

import pytest

from hub.link import topics
from hub.link.messages import Button, Hand
from tests.hub.harness import S
from tests.hub.table_bench import Bench, twenties


def test_a_fast_sweep_is_scored_from_the_record_before_the_hand(bench: Bench) -> None:
    bench.start()
    bench.rally(23)
    bench.shoot("B", (220, 180), ("hit", "s", "d1"), moved={"d1": (65, 10)}, seen_after=False)
    bench.discs.clear()
    bench.layout()
    assert [r.totals for r in bench.table.rounds] == [{"A": 15, "B": 5}]
    assert bench.table.round == 2
    assert bench.table.opener == "B"


@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize(("choice", "rounds"), [("keep", 1), ("none", 0)])
def test_a_sweep_before_the_last_shot_came_to_rest_leaves_what_lay_before_it(
    bench: Bench, choice: str, rounds: int, left: int
) -> None:
    bench.start()
    bench.rally(19)
    for number, side in enumerate("BABA"):
        bench.shoot(side, (150.0, 100.0 * number), ("hit", "s", "d1" if side == "B" else "d20"))
    lay = {side: view.board for side, view in bench.table.sides.items()}
    gone = dict.fromkeys(list(bench.discs)[left:], "ditch")
    bench.shoot("B", "ditch", ("hit", "s", "d1"), *(("off", disc) for disc in (*gone, "s")), moved=gone)
    assert [q.kind for q in bench.table.questions] == ["round"]
    bench.discs.clear()
    bench.layout()
    bench.answer(choice)
    assert [r.totals for r in bench.table.rounds] == [lay] * rounds
    assert bench.table.phase == "round"


def test_discs_taken_away_after_the_last_shot_still_count(bench: Bench) -> None:
    bench.start()
    bench.rally(23)
    last = bench.shoot("B", (220, 180), ("hit", "s", "d1"), moved={"d1": (65, 10)})
    assert bench.table.phase == "round_over"
    bench.off(last)
    assert bench.table.sides["B"].board == 5
    bench.off("d1")
    assert [r.totals for r in bench.table.rounds] == [{"A": 15, "B": 5}]


@pytest.mark.parametrize("shot_stays", [True, False])
@pytest.mark.parametrize(
    ("after_s", "swept"), [((0.2,), False), ((0.8,), True), ((2.5,), False), ((0.8, 2.5), True), ((0.2, 2.5), False)]
)
def test_a_hand_that_came_while_the_last_shot_moved_and_many_discs_gone_are_a_sweep(
    bench: Bench, after_s: tuple[float, ...], swept: bool, shot_stays: bool
) -> None:
    bench.start()
    bench.rally(18)
    for number, side in enumerate("ABABA", 1):
        hit = [d for d in bench.discs if bench.side(d) != side][-1:]
        bench.shoot(side, (50 + 5 * number, 40 * number), *((("hit", "s", hit[0]),) if hit else ()))
    lying = list(bench.discs)
    for came_s in after_s:
        for at_s, present in ((came_s, True), (came_s + 0.5, False)):
            bench.club.fact("camera", Hand(bench.at_ns + round((5 + at_s) * S), present=present), bench.at_ns)
    gone = lying[2:]
    assert len(gone) >= 3
    bench.shoot(
        "B",
        (200, 20) if shot_stays else "ditch",
        ("hit", "s", gone[0]),
        *(("off", disc) for disc in gone),
        moved=dict.fromkeys(gone, "ditch"),
        seen_after=False,
    )
    asked = [q.kind for q in bench.table.questions]
    assert ("round" in asked) == (swept or (not shot_stays and 3 * len(gone) >= 2 * len(lying)))


@pytest.mark.parametrize(("choice", "rounds"), [("keep", 1), ("none", 0)])
def test_a_round_swept_with_discs_unshot_is_asked_about(bench: Bench, choice: str, rounds: int) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    bench.discs.clear()
    bench.layout()
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("round", ["keep", "none"])]
    bench.answer(choice)
    assert len(bench.table.rounds) == rounds
    assert bench.table.phase == "round"
    assert bench.table.shot == 0


@pytest.mark.parametrize("first_out", ["the 20", "another disc", "all at once"])
def test_a_sure_twenty_lies_in_the_hole_and_nowhere_else_when_the_board_is_swept(bench: Bench, first_out: str) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    sunk = bench.shoot("A", "hole", ("hole", "s"), ("hit", "s", "d2"), beam=True)
    if first_out != "all at once":
        bench.off(sunk if first_out == "the 20" else "d2")
    bench.discs.clear()
    bench.layout()
    bench.answer("keep")
    assert [r.totals for r in bench.table.rounds] == [{"A": 15 + 20, "B": 10}]
    assert [r.twenties for r in bench.table.rounds] == [{"A": 1, "B": 0}]


def test_an_empty_board_amid_a_round_is_no_sweep_if_it_is_known_why(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"), beam=True)
    bench.off("d1")
    foul = bench.shoot("B", (200, 180))
    bench.off(foul)
    assert bench.table.phase == "round"
    assert not bench.table.questions
    assert bench.table.shot == 2


def test_the_first_shot_on_a_cleared_board_opens_a_match(bench: Bench) -> None:
    bench.shoot("A", (60, 10))
    table = bench.table
    assert (table.phase, table.shot, table.level) == ("round", 1, "count")
    assert [view.name for view in table.sides.values()] == ["light", "dark"]


def test_names_and_rules_given_later_are_taken_over_with_all_shots(bench: Bench) -> None:
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hit", "s", "d1"), ("hole", "s"), moved={"d1": (62, 10)}, beam=True)
    bench.start(names={"A": "Ann", "B": "Ben"}, light="B")
    table = bench.table
    assert table.shot == 2
    assert table.level == "judge"
    assert {s: (v.name, v.colour, v.twenties, v.board) for s, v in table.sides.items()} == {
        "A": ("Ann", "dark", 1, 0),
        "B": ("Ben", "light", 0, 15),
    }
    assert bench.club.ask("undo", {}).ok
    assert bench.table.sides["A"].name == "light"
    assert bench.table.shot == 2


def test_old_discs_at_the_start_do_not_count(bench: Bench) -> None:
    bench.put("x1", "A", 60, 0)
    bench.put("x2", "B", 150, 180)
    bench.layout()
    bench.start()
    assert bench.table.message == "clear the board"
    assert bench.table.sides["A"].board == 0
    bench.discs.clear()
    bench.layout()
    assert bench.table.phase == "round"
    assert bench.table.message == ""
    assert not bench.table.rounds


def test_level_count_voids_nothing(bench: Bench) -> None:
    bench.start(level="count")
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert twenties(bench) == {"A": 0, "B": 1}
    assert not bench.table.questions
    assert [r.why for r in bench.table.remove] == ["twenty"]


def test_level_advise_shows_the_foul_and_asks_before_it_voids_a_twenty(bench: Bench) -> None:
    bench.start(level="advise")
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert [q.kind for q in bench.table.questions] == ["valid"]
    assert bench.table.verdict is not None
    assert bench.table.verdict.code == "missed_opponent"
    bench.answer("no")
    assert twenties(bench) == {"A": 0, "B": 0}


def test_without_a_camera_people_say_whose_twenty_it_was_and_what_the_round_came_to(bench: Bench) -> None:
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.start()
    bench.beam(bench.later(3))
    bench.answer("B")
    assert twenties(bench) == {"A": 0, "B": 1}
    assert not bench.club.ask("correct", {"totals": {"A": 33, "B": 50}}).ok
    assert bench.club.ask("correct", {"totals": {"A": 35, "B": 50}}).ok
    assert bench.club.ask("confirm", {"round": 1}).ok
    assert [(r.totals, r.twenties, r.added) for r in bench.table.rounds] == [
        ({"A": 35, "B": 50}, {"A": 0, "B": 1}, {"A": 0, "B": 2})
    ]


def test_a_confirmed_round_waits_for_the_board_to_be_cleared(bench: Bench) -> None:
    bench.start()
    bench.rally(24)
    assert bench.table.phase == "round_over"
    assert bench.club.ask("confirm", {"round": 1}).ok
    assert bench.table.phase == "round_over"
    assert bench.table.round == 1
    assert len(bench.table.rounds) == 1
    assert not bench.club.ask("confirm", {"round": 1}).ok
    bench.discs.clear()
    bench.layout()
    assert (bench.table.phase, bench.table.round, bench.table.opener) == ("round", 2, "B")
    assert len(bench.table.rounds) == 1


def test_the_button_at_the_table_confirms(bench: Bench) -> None:
    bench.start()
    bench.rally(24)
    bench.club.fact("button", Button(bench.later(), "confirm"), bench.at_ns)
    assert len(bench.table.rounds) == 1
    bench.club.fact("button", Button(bench.later(), "undo"), bench.at_ns)
    assert not bench.table.rounds
    assert bench.table.phase == "round_over"


def test_a_match_ends_and_the_next_shot_on_a_cleared_board_opens_another(bench: Bench) -> None:
    bench.start(rules="match-play")
    for number in range(4):
        bench.rally(24, "AB"[number % 2])
        assert bench.club.ask("correct", {"totals": {"A": 100, "B": 0}}).ok
        bench.discs.clear()
        bench.layout()
    assert (bench.table.phase, bench.table.winner) == ("match_over", "A")
    assert bench.table.sides["A"].score == 8
    bench.shoot("B", (60, 10))
    assert (bench.table.phase, bench.table.shot) == ("round", 1)
    assert not bench.table.rounds
