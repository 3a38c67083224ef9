"""Hard moments at the 20-hole, one by one: each is a few facts and what the wall must then say."""

from __future__ import annotations

import pytest

from hub.link import topics
from hub.link.messages import BeamWithdrawn, Doubt
from tests.hub.harness import S
from tests.hub.table_bench import Bench, clips, provisional, twenties


def test_a_candidate_is_provisional_at_once_and_confirmed_by_the_camera(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(6) + S)
    assert provisional(bench) == {"A": 1, "B": 0}
    assert clips(bench) == ["twenty_light"]
    bench.at_ns -= 6 * S
    bench.shoot("A", "hole", ("hole", "s"))
    assert (twenties(bench), provisional(bench)) == ({"A": 1, "B": 0}, {"A": 0, "B": 0})
    assert clips(bench) == ["twenty_light"]
    assert [r.why for r in bench.table.remove] == ["twenty"]
    bench.off("d1")
    assert not bench.table.remove


def test_an_opponents_disc_in_the_hole_is_the_owners_twenty_and_called_once(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), ("hole", "d1"), moved={"d1": "hole"}, beam=True)
    assert twenties(bench) == {"A": 1, "B": 0}
    assert clips(bench) == ["twenty_dark"]  # a correction replaces, never adds a second call
    assert bench.table.flash is not None
    assert bench.table.flash.side == "A"


def test_a_twenty_on_a_foul_is_void_and_must_be_taken_out(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert twenties(bench) == {"A": 0, "B": 0}
    assert [(r.why, r.disc) for r in bench.table.remove] == [("foul", "d2")]
    assert bench.table.verdict is not None
    assert not bench.table.verdict.valid


def test_a_leaner_withdraws_what_the_beam_called(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(6) + S)
    bench.at_ns -= 6 * S
    bench.shoot("A", (17.0, 0.0))
    assert provisional(bench) == {"A": 0, "B": 0}
    assert twenties(bench) == {"A": 0, "B": 0}
    assert clips(bench) == ["twenty_light"]


def test_a_finger_in_the_hole_is_withdrawn_when_the_same_side_shoots(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(3))
    assert provisional(bench) == {"A": 1, "B": 0}
    bench.shoot("A", (60, 10))
    assert provisional(bench) == {"A": 0, "B": 0}
    assert not bench.table.questions


def test_a_finger_of_which_the_beam_tells_after_the_next_shot_calls_nothing(bench: Bench) -> None:
    bench.start()
    finger_ns = bench.later(3)
    bench.shoot("A", (60, 10))
    bench.beam(finger_ns)
    assert (provisional(bench), clips(bench)) == ({"A": 0, "B": 0}, [])
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), moved={"d1": (200, 10)})
    bench.shoot("A", (60, 90), ("hit", "s", "d2"), moved={"d2": (210, 200)})
    assert (bench.table.shot, bench.table.questions) == (3, ())


def test_a_missed_shot_of_which_the_beam_tells_after_the_next_one_is_asked_about(bench: Bench) -> None:
    bench.start()
    missed_ns = bench.later(3)
    bench.shoot("B", (60, 10))
    bench.beam(missed_ns)
    assert provisional(bench) == {"A": 1, "B": 0}
    bench.shoot("B", (70, 90))
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer("A")
    assert (twenties(bench), bench.table.shot) == ({"A": 1, "B": 0}, 3)


def test_a_finger_while_a_twenty_is_lifted_calls_nothing(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"), beam=True)
    bench.beam(bench.later(4))
    assert provisional(bench) == {"A": 0, "B": 0}
    assert clips(bench) == ["twenty_light"]


def test_a_withdrawn_candidate_is_taken_back(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(3))
    bench.club.fact("beam", BeamWithdrawn(1, "chatter"), bench.later())
    assert provisional(bench) == {"A": 0, "B": 0}
    assert bench.table.flash is not None
    assert bench.table.flash.clip == ""


def test_a_twenty_that_a_hand_lifted_out_stands_when_the_beam_takes_its_word_back_later(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"), beam=True)
    bench.off("d1")
    bench.club.fact("beam", BeamWithdrawn(1, "chatter"), bench.later())
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (1, 0)
    bench.shoot("B", (60, 200))
    assert not bench.table.questions


def test_a_twenty_lifted_before_the_camera_saw_it_is_asked_about(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "ditch", ("off", "s"), beam=True)
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("twenty", ["A", "B", "none"])]
    bench.answer("A")
    assert twenties(bench) == {"A": 1, "B": 0}
    assert not bench.table.questions


def test_a_shot_that_only_the_beam_noticed_is_asked_about_when_the_other_side_shoots(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(3))
    bench.shoot("B", (60, 10))
    assert bench.table.shot == 2
    assert bench.table.turn == "A"
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer("A")
    assert twenties(bench) == {"A": 1, "B": 0}


@pytest.mark.parametrize(("answer", "count"), [("A", 1), ("none", 0)])
def test_a_leaner_breaks_the_beam_like_a_twenty_so_people_are_asked(bench: Bench, answer: str, count: int) -> None:
    bench.start()
    leans, fell = (), (("hole", "s"),)
    bench.shoot("A", (3.0, 0.0), doubts=(Doubt("leaner", (), (leans, fell)),), beam=True)
    assert not bench.table.questions, "a hand may lift it out"
    bench.shoot("B", "ditch", ("off", "s"))
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer(answer)
    assert twenties(bench) == {"A": count, "B": 0}
    assert not bench.table.questions


@pytest.mark.parametrize("fell_first", [True, False])
@pytest.mark.parametrize(("answer", "count"), [("A", 1), ("none", 0)])
def test_a_silent_beam_tells_nothing_of_a_disc_that_is_seen_at_the_hole(
    bench: Bench, answer: str, count: int, fell_first: bool
) -> None:
    """It would have noticed a leaner as well: its word is late, or it is blind."""
    bench.start()
    leans, fell = (), (("hole", "s"),)
    likelier = fell if fell_first else leans
    bench.shoot("A", "hole" if fell_first else (3.0, 0.0), *likelier, doubts=(Doubt("leaner", (), (leans, fell)),))
    assert not bench.table.questions, "a hand may lift it out"
    bench.shoot("B", "ditch", ("off", "s"))
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer(answer)
    assert twenties(bench) == {"A": count, "B": 0}
    assert bench.table.sides["A"].board == 15 * (1 - count)


def test_a_disc_that_is_gone_and_that_a_working_beam_did_not_notice_was_no_twenty(bench: Bench) -> None:
    bench.start()
    left, fell = (("off", "s"),), (("hole", "s"),)
    bench.shoot("A", "ditch", *left, doubts=(Doubt("left", (), (left, fell)),))
    bench.shoot("B", (150, 200))
    assert twenties(bench) == {"A": 0, "B": 0}
    assert not bench.table.questions


@pytest.mark.parametrize("how", ["answer", "confirm", "next shot"])
@pytest.mark.parametrize(("whose", "dark"), [("B", (1, 0)), ("none", (0, 15))])
def test_a_disc_at_the_hole_is_asked_about_when_a_round_given_up_counts(
    bench: Bench, how: str, whose: str, dark: tuple[int, int]
) -> None:
    bench.start()
    for number in range(14):
        bench.shoot("AB"[number % 2], (60 + number, 25 * number), *([("hit", "s", f"d{number}")] if number else []))
    hit, fell = (("hit", "s", "d14"),), (("hit", "s", "d14"), ("hole", "d14"))
    at_hole = {"d14": (3.0, 0.0)}
    bench.shoot("A", "ditch", *fell, ("off", "s"), moved=at_hole, doubts=(Doubt("leaner", (), (fell, hit)),), beam=True)
    bench.off("d1", "d2", "d3", "d4")
    bench.discs.clear()
    bench.layout()
    assert [q.kind for q in bench.table.questions] == ["round"]
    if how == "answer":
        bench.answer("keep")
    elif how == "confirm":
        assert bench.club.ask("confirm", {"round": 1}).ok
    else:
        bench.shoot("B", (60, 10))
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    (told,) = bench.table.rounds
    assert (told.low["B"], told.high["B"]) == (15 * 6 + 15, 15 * 6 + 20)
    bench.answer(whose)
    (told,) = bench.table.rounds
    assert (told.twenties["B"], told.totals["B"]) == (dark[0], 15 * 6 + 20 * dark[0] + dark[1])


def test_without_a_beam_the_camera_alone_counts_and_calls(bench: Bench) -> None:
    bench.club.bus.publish(topics.status("b1", "beam"), b"offline", retain=True)
    bench.club.turn()
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"))
    assert twenties(bench) == {"A": 1, "B": 0}
    assert clips(bench) == ["twenty_light"]


def test_twenties_outside_a_match_are_practice(bench: Bench) -> None:
    bench.beam(bench.later())
    bench.beam(bench.later(4))
    assert bench.table.practice == 2
    assert not clips(bench)


def test_a_twenty_that_only_the_camera_sees_is_provisional_until_a_hand_lifts_it(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"))
    assert not bench.table.questions
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (0, 1)
    bench.off("d1")
    assert not bench.table.questions
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (1, 0)
    assert clips(bench) == ["twenty_light"]
    bench.shoot("B", (60, 10))
    assert not bench.table.questions
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid


def test_a_twenty_that_only_the_camera_sees_is_asked_about_in_the_end(bench: Bench) -> None:
    bench.start()
    bench.rally(23)
    bench.shoot("B", "hole", ("hit", "s", "d1"), ("hole", "s"))
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer("none")
    assert twenties(bench) == {"A": 0, "B": 0}
    assert bench.table.sides["B"].board == 15


def test_a_twenty_that_only_the_camera_sees_is_provisional_while_it_lies_there_until_the_beam_agrees(
    bench: Bench,
) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"))
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (0, 1)
    bench.shoot("B", (60, 200))
    assert not bench.table.questions, "a hand will lift it out"
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (0, 1)
    bench.beam(bench.at_ns - 15 * S)
    assert not bench.table.questions
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (1, 0)
    assert clips(bench) == ["twenty_light"]


def test_a_twenty_that_only_the_camera_sees_is_asked_about_when_the_round_is_given_up(bench: Bench) -> None:
    bench.start(rules="nca")
    bench.shoot("A", "hole", ("hole", "s"))
    bench.shoot("B", (60, 200))
    assert bench.club.ask("concede", {"side": "B"}).ok
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer("none")
    assert bench.table.rounds[0].twenties == {"A": 0, "B": 0}


def test_a_twenty_that_only_the_camera_sees_is_lifted_out_some_shots_later(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"))
    bench.shoot("B", (60, 200))
    bench.shoot("A", (70, 90), ("hit", "s", "d2"), moved={"d2": (61, 201)})
    bench.off("d1")
    assert not bench.table.questions
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (1, 0)


def test_a_twenty_that_only_the_camera_saw_and_that_is_gone_with_others_is_asked_about(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"))
    bench.shoot("B", (60, 200))
    bench.shoot("A", (70, 90), ("hit", "s", "d2"), moved={"d2": (61, 201)})
    bench.off("d1", "d3")
    bench.shoot("B", (80, 180))
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer("A")
    assert twenties(bench)["A"] == 1


def test_a_leaner_that_blocks_the_beam_is_knocked_in_without_a_question(bench: Bench) -> None:
    bench.start()
    leaner = bench.shoot("A", (17.0, 0.0), beam=True)
    bench.put(leaner, "A", 17.0, 0.0, state="leaning")
    bench.shoot("B", (150, 200), ("hit", "s", leaner), ("hole", leaner), moved={leaner: "hole"})
    assert not bench.table.questions
    assert twenties(bench) == {"A": 1, "B": 0}


def test_a_20_that_would_be_void_anyway_is_not_asked_about(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"))
    assert not bench.table.questions
    bench.off("d2")
    bench.shoot("A", (70, 90), ("off", "s"), beam=True)
    assert not bench.table.questions


def test_two_discs_in_the_hole_count_as_they_lie(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    events = (("hit", "s", "d1"), ("hole", "d1"), ("hole", "s"))
    bench.shoot("B", "hole", *events, moved={"d1": "hole"}, beam=True)
    assert twenties(bench) == {"A": 1, "B": 1}
    assert not bench.table.questions


def test_a_twenty_told_of_while_the_camera_was_away_is_not_counted_again_when_it_sees_it(bench: Bench) -> None:
    bench.start()
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.beam(bench.later(3))
    bench.answer("A")
    bench.club.bus.publish(topics.status("b1", "camera"), b"online", retain=True)
    bench.club.turn()
    bench.put("d7", "A", 0.3, state="hole")
    bench.layout()
    bench.off("d7")
    assert twenties(bench) == {"A": 1, "B": 0}
    assert (bench.table.shot, bench.table.turn) == (1, "B")


def test_a_twenty_told_of_and_lifted_while_the_camera_was_away_takes_its_turn(bench: Bench) -> None:
    bench.start()
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.beam(bench.later(3))
    bench.answer("A")
    bench.shoot("B", (60, 10))
    assert bench.table.verdict is not None
    assert "out of turn" not in bench.table.verdict.text
    assert (bench.table.shot, bench.table.turn) == (2, "A")


def test_a_camera_that_dies_during_a_20_finds_it_in_the_hole(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(3))
    bench.club.outboxes["b1", "camera"].restart("boot-2")
    bench.put("d1", "A", 0.3, state="hole")
    bench.layout()
    assert (twenties(bench), provisional(bench)) == ({"A": 1, "B": 0}, {"A": 0, "B": 0})
    assert clips(bench) == ["twenty_light"]
    assert not bench.table.questions
    bench.off("d1")
    bench.shoot("B", (60, 10))
    assert (bench.table.shot, bench.table.turn) == (2, "A")
    assert twenties(bench) == {"A": 1, "B": 0}


def test_what_blocked_the_beam_in_the_next_round_is_no_question_of_the_one_that_the_camera_tells_of_late(
    bench: Bench,
) -> None:
    bench.start()
    bench.rally(23)
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.beam(bench.at_ns + 60 * S)
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.shoot("B", (150.0, 180.0), ("hit", "s", "d1"), moved={"d1": (65.0, 10.0)})
    bench.discs.clear()
    bench.layout()
    assert [r.totals for r in bench.table.rounds] == [{"A": 15, "B": 10}]
    assert not bench.table.questions
