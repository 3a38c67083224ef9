"""Hard moments at the lines: discs too close to call, each a few facts and what the wall must then say."""

from __future__ import annotations

import pytest

from tests.hub.table_bench import Bench, close_round


def test_a_disc_that_touches_the_outer_line_must_go(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (292, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    assert [(r.why, r.text) for r in bench.table.remove] == [("out", "remove: dark disc at 1 o'clock")]
    bench.off("d2")
    assert not bench.table.remove


@pytest.mark.parametrize("r_mm", [287.8, 288.2])
def test_a_disc_too_close_to_the_outer_line_to_call_is_in_when_play_goes_on_with_it(bench: Bench, r_mm: float) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (r_mm, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    assert not bench.table.remove
    assert not bench.table.questions
    assert bench.table.message.startswith("the dark disc at 1 o'clock is too close to the line to call")
    bench.shoot("A", (150, 90), ("hit", "s", "d2"))
    assert not bench.table.questions
    assert not bench.table.remove
    assert bench.table.message == "decided by play: the dark disc at the outer line is in."
    assert bench.table.sides["B"].board == 5


@pytest.mark.parametrize("r_mm", [287.8, 288.2])
def test_a_disc_too_close_to_the_outer_line_to_call_is_out_when_it_is_taken_off(bench: Bench, r_mm: float) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    disc = bench.shoot("B", (r_mm, 200), ("hit", "s", "d1"), moved={"d1": (290.5, 12)})
    assert [r.disc for r in bench.table.remove] == ["d1"]
    bench.off("d1", disc)
    bench.shoot("A", (70, 90))
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid, "nothing of the other side's lay on the board"
    assert {side: view.board for side, view in bench.table.sides.items()} == {"A": 15, "B": 0}
    assert not bench.table.questions


@pytest.mark.parametrize("level", ["count", "advise", "judge"])
def test_a_disc_at_a_line_that_is_moved_again_was_never_asked_about(bench: Bench, level: str) -> None:
    bench.start(level=level, rules="classic")
    bench.shoot("A", (60, 10))
    for number, r_mm in enumerate((84.7, 186.5, 287.9)):
        bench.shoot("B", (r_mm, 200 + 20 * number), ("hit", "s", "d1"), moved={"d1": (61 + number, 12)})
        assert not bench.table.questions
        struck = f"d{bench.serial}"
        bench.shoot("A", "ditch", ("hit", "s", struck), ("off", "s"), moved={struck: (140.0, 200 + 20 * number)})
        assert not bench.table.questions
    assert bench.table.sides["B"].board == 30


@pytest.mark.parametrize("r_mm", [287.8, 288.2])
def test_a_last_disc_too_close_to_the_outer_line_leaves_a_range_where_nothing_hangs_on_it(
    bench: Bench, r_mm: float
) -> None:
    bench.start(rules={"base": "match-play", "discs": "8/6"})
    bench.shoot("A", (60, 10))
    for number in range(7):
        bench.shoot("B", (150, 200 + 12 * number), ("hit", "s", "d1"), moved={"d1": (60 + number, 12)})
        bench.shoot("A", (60, 40 + 45 * number), ("hit", "s", "d2"), moved={"d2": (150, 200 + number)})
    bench.shoot("B", (r_mm, 120), ("hit", "s", "d1"), moved={"d1": (62, 12)})
    bench.discs.clear()
    bench.layout()
    (told,) = bench.table.rounds
    assert told.high["B"] - told.low["B"] == 5


def test_a_disc_over_the_edge_of_the_board_scores_nothing(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.put("d1", "A", 323.5, 10, state="overhanging")
    bench.layout()
    assert bench.table.sides["A"].board == 0


def test_a_disc_at_the_line_on_which_only_points_hang_is_asked_about_and_left_as_a_range_if_nobody_answers(
    bench: Bench,
) -> None:
    close_round(bench, 60.0, 186.3)
    assert bench.table.phase == "settling"
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("line", ["10", "5"])]
    assert [d.close for d in bench.table.discs].count(True) == 1
    bench.discs.clear()
    bench.layout()
    told = bench.table.rounds[0]
    assert (told.totals, told.low, told.high) == ({"A": 30, "B": 10}, {"A": 30, "B": 5}, {"A": 30, "B": 10})


def test_the_same_disc_is_asked_about_where_every_point_counts(bench: Bench) -> None:
    close_round(bench, 60.0, 186.3, rules="classic")
    assert bench.table.phase == "settling"
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("line", ["10", "5"])]
    assert bench.table.questions[0].facts["limit_mm"] == 186.4
    bench.answer("5")
    assert bench.table.phase == "round_over"
    bench.discs.clear()
    bench.layout()
    assert bench.table.rounds[0].added == {"A": 25, "B": 0}


def test_discs_at_the_line_are_asked_about_one_at_a_time_and_only_while_they_matter(bench: Bench) -> None:
    bench.start()
    bench.rally(21)
    bench.shoot("B", (186.3, 180.0), ("hit", "s", "d1"), moved={"d1": (84.9, 12)})
    bench.shoot("A", "ditch", ("hit", "s", "d22"), ("off", "s"), moved={"d22": (186.3, 180.0)})
    bench.shoot("B", (186.45, 220.0), ("hit", "s", "d1"), moved={"d1": (84.9, 12)})
    assert len(bench.table.questions) == 1
    asked = []
    while bench.table.questions:
        question = bench.table.questions[0]
        asked.append(question.facts["disc"])
        assert len(bench.table.questions) == 1
        bench.answer(question.choices[0].key)
    assert len(asked) == len(set(asked))
    assert bench.table.phase == "round_over"


def test_confirming_takes_the_likelier_value_of_what_is_open(bench: Bench) -> None:
    close_round(bench, 60.0, 186.3, rules="classic")
    assert bench.club.ask("confirm", {"round": 1}).ok
    assert bench.table.rounds[0].totals == {"A": 30, "B": 10}
    assert not bench.table.questions


def test_what_is_open_when_the_board_is_cleared_can_be_answered_later(bench: Bench) -> None:
    close_round(bench, 60.0, 186.3, rules="classic")
    bench.discs.clear()
    bench.layout()
    assert bench.table.round == 2
    assert bench.table.rounds[0].low != bench.table.rounds[0].high
    bench.shoot("B", (60, 190))
    bench.answer("5")
    assert bench.table.rounds[0].totals == {"A": 30, "B": 5}
    assert bench.table.rounds[0].low in ({}, bench.table.rounds[0].totals)
    assert bench.table.sides["A"].score == 25
    assert bench.table.shot == 1


def test_a_late_answer_about_a_line_holds_while_another_doubt_of_the_round_is_open(bench: Bench) -> None:
    bench.start(rules="classic")
    bench.rally(22)
    bench.shoot("A", "ditch", ("off", "s"), beam=True)
    bench.shoot("B", (186.3, 180.0), ("hit", "s", "d1"), moved={"d1": (84.9, 12)})
    bench.discs.clear()
    bench.layout()
    for _ in range(2):
        line = next(question for question in bench.table.questions if question.kind == "line")
        choice = line.choices[0].key
        assert bench.club.ask("answer", {"question": line.id, "choice": choice}).ok
        assert line.id not in {question.id for question in bench.table.questions}
    assert [question.kind for question in bench.table.questions] == ["twenty"]


def test_an_undone_answer_is_told_with_its_question(bench: Bench) -> None:
    close_round(bench, 186.3, 130)
    question = bench.table.questions[0]
    bench.answer("5")
    told = bench.club.ask("undo", {}).body["told"]
    assert told == f"the answer to \u201c{question.text}\u201d"
    assert bench.table.questions == (question,)
    assert bench.club.ask("redo", {}).body["told"] == told
