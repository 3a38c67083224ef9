"""Discs that lie flat in the hole or lean in it, as is told then or later; and what that means for every shot since."""

from __future__ import annotations

import pytest

from hub.link.messages import Doubt
from tests.hub.harness import S
from tests.hub.table_bench import Bench, twenties

FELL, LEANS = (("hole", "s"),), ()


def at_the_hole(bench: Bench, side: str, *events: tuple[str, ...], x_mm: float, seen: str = "hole") -> str:
    """A shot after which a disc leans in the hole or lies in it: the beam is broken, the camera cannot tell."""
    doubt = Doubt("leaner", (), ((*events, *FELL), events))
    if seen == "hole":
        disc = bench.shoot(side, "hole", *events, *FELL, doubts=(doubt,), beam=True, seen_after=False)
        bench.put(disc, side, x_mm, state="hole")
    else:
        disc = bench.shoot(side, (x_mm, 0.0), *events, doubts=(doubt,), beam=True, seen_after=False)
        bench.put(disc, side, x_mm, state="leaning")
    bench.layout()
    return disc


@pytest.mark.parametrize("seen", ["hole", "leaning"])
@pytest.mark.parametrize("late", [False, True], ids=["one shot later", "two shots later"])
def test_a_disc_that_is_no_20_leans_for_the_next_shot_too(bench: Bench, *, seen: str, late: bool) -> None:
    bench.start()
    leaner = at_the_hole(bench, "A", x_mm=2.2, seen=seen)
    bench.shoot("B", (60, 200), ("hit", "s", leaner), moved={leaner: (4.0, 90.0)})
    if not late:
        bench.answer("none")
        assert bench.table.verdict is not None
        assert bench.table.verdict.valid
        assert {side: view.board for side, view in bench.table.sides.items()} == {"A": 15, "B": 15}
    bench.shoot("A", (70, 100), ("hit", "s", "d2"), moved={"d2": (90.0, 200.0)})
    if late:
        bench.answer("none")
    assert {side: view.board for side, view in bench.table.sides.items()} == {"A": 30, "B": 10}
    bench.shoot("B", (60, 20), ("hit", "s", leaner), ("hole", leaner), moved={leaner: "hole"})
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid
    assert twenties(bench) == {"A": 1, "B": 0}
    bench.off(leaner)
    bench.shoot("A", "hole", ("hole", "s"), beam=True)
    assert bench.table.verdict.code == "missed_opponent"
    assert twenties(bench) == {"A": 1, "B": 0}
    assert not bench.table.questions


def test_a_disc_that_a_later_shot_knocks_into_the_hole_had_leaned(bench: Bench) -> None:
    bench.start()
    leaner = at_the_hole(bench, "A", x_mm=2.2)
    bench.shoot("B", (60, 200), ("hit", "s", leaner), ("hole", leaner), moved={leaner: "hole"})
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid
    assert twenties(bench) == {"A": 1, "B": 0}
    assert not bench.table.questions


@pytest.mark.parametrize(("choice", "totals"), [("none", {"A": 15 + 15, "B": 0}), ("A", {"A": 20 + 15, "B": 0})])
def test_a_beams_word_that_comes_after_the_round_does_not_tell_a_leaner_from_a_20(
    bench: Bench, choice: str, totals: dict[str, int]
) -> None:
    bench.start()
    bench.rally(22)
    bench.shoot("B", "ditch", ("hit", "s", "d1"), ("off", "s"), moved={"d1": (60.0, 10.0)})
    fell, leans = (("peg", "s"), *FELL), (("peg", "s"),)
    bench.shoot("A", "hole", *fell, doubts=(Doubt("leaner", (), (fell, leans)),), seen_after=False)
    rested_ns = bench.at_ns
    bench.discs.clear()
    bench.layout()
    bench.beam(rested_ns - 2 * S)
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer(choice)
    assert [r.totals for r in bench.table.rounds] == [totals]


@pytest.mark.parametrize(("x_mm", "asked"), [(2.2, ["twenty"]), (4.6, [])], ids=["in doubt", "taken for a leaner"])
def test_a_disc_that_a_shot_may_have_struck_that_nobody_saw_was_not_lifted_out_by_a_hand(
    bench: Bench, x_mm: float, asked: list[str]
) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (100, 200), ("hit", "s", "d1"), moved={"d1": (61, 10)})
    leaner = at_the_hole(bench, "A", ("hit", "s", "d2"), x_mm=x_mm)
    bench.put("d9", "B", 150, 90)
    bench.off(leaner)
    assert (bench.table.shot, bench.table.turn) == (4, "A")
    bench.shoot("A", (200, 270), ("hit", "s", "d2"), moved={"d2": (101, 200)})
    assert [q.kind for q in bench.table.questions] == asked
    assert twenties(bench) == {"A": 0, "B": 0}


@pytest.mark.parametrize("struck", [True, False])
def test_a_disc_that_a_later_shot_strikes_off_the_board_had_leaned_and_one_that_is_just_gone_perhaps_not(
    bench: Bench, *, struck: bool
) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (100, 200), ("hit", "s", "d1"), moved={"d1": (61, 10)})
    leaner = at_the_hole(bench, "A", ("hit", "s", "d2"), x_mm=2.2)
    blow = (("hit", "s", leaner),) if struck else (("hit", "s", "d1"),)
    bench.shoot("B", (200, 90), *blow, ("off", leaner), moved={leaner: "ditch"})
    bench.shoot("A", (200, 270), ("hit", "s", "d2"), moved={"d2": (101, 200)})
    assert [q.facts["shot"] for q in bench.table.questions] == ([] if struck else [3])
    assert twenties(bench) == {"A": 0, "B": 0}
    assert bench.table.sides["A"].board == 15 + 5


@pytest.mark.parametrize("late", [False, True], ids=["one shot later", "two shots later"])
def test_a_disc_that_is_a_20_lies_in_nobodys_way(bench: Bench, *, late: bool) -> None:
    bench.start()
    at_the_hole(bench, "A", x_mm=2.2, seen="leaning")
    bench.shoot("B", (60, 200))
    if late:
        bench.shoot("A", (70, 90), ("hit", "s", "d2"), moved={"d2": (62.0, 200.0)})
    bench.answer("A")
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid
    assert twenties(bench) == {"A": 1, "B": 0}
    assert {side: view.board for side, view in bench.table.sides.items()} == {"A": 15 * late, "B": 15}


@pytest.mark.parametrize("seen", ["hole", "leaning"])
def test_a_disc_too_far_from_the_middle_to_lie_flat_leans_and_nobody_is_asked(bench: Bench, seen: str) -> None:
    bench.start()
    leaner = at_the_hole(bench, "A", x_mm=4.6, seen=seen)
    assert bench.table.rounds == ()
    assert not bench.table.questions
    assert twenties(bench) == {"A": 0, "B": 0}
    assert bench.table.sides["A"].board == 15
    bench.shoot("B", (150, 200))
    assert bench.table.verdict is not None
    assert bench.table.verdict.code == "missed_opponent"
    assert leaner in {disc.id for disc in bench.table.discs if disc.state == "leaning"}


@pytest.mark.parametrize(("x_mm", "seen", "leans"), [(4.2, "leaning", True), (4.2, "hole", False), (4.6, "hole", True)])
def test_a_place_speaks_against_a_flat_disc_only_if_it_outweighs_its_looks(
    bench: Bench, x_mm: float, seen: str, *, leans: bool
) -> None:
    """The last shot of a round, so that neither hand nor play tells: beyond 1.465 mm of play by 4.7 and 5.4 sigma."""
    bench.start()
    bench.rally(22)
    at_the_hole(
        bench, "A", ("hit", "s", one_of(bench, "B")) if one_of(bench, "B") else ("peg", "s"), x_mm=x_mm, seen=seen
    )
    bench.shoot("B", "ditch", ("hit", "s", "d1"), ("off", "s"), moved={"d1": (60.0, 10.0)})
    assert [q.kind for q in bench.table.questions] == ([] if leans else ["twenty"])
    if not leans:
        bench.answer("A")
        assert twenties(bench) == {"A": 1, "B": 0}


def one_of(bench: Bench, side: str) -> str:
    return next((disc for disc in bench.discs if bench.side(disc) == side), "")


@pytest.mark.parametrize("x_mm", [2.2, 4.6], ids=["in doubt", "taken for a leaner"])
def test_what_a_hand_lifts_out_of_the_hole_was_a_20(bench: Bench, x_mm: float) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    disc = at_the_hole(bench, "B", ("hit", "s", "d1"), x_mm=x_mm)
    bench.off(disc)
    assert not bench.table.questions
    assert twenties(bench) == {"A": 0, "B": 1}
    assert bench.table.sides["B"].board == 0


@pytest.mark.parametrize("shots", [1, 2])
def test_nobody_is_asked_about_a_disc_at_the_hole_as_long_as_a_hand_may_tell(bench: Bench, shots: int) -> None:
    """Players often lift a 20 out only after the next shot or two."""
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (100, 200), ("hit", "s", "d1"), moved={"d1": (61, 10)})
    disc = at_the_hole(bench, "A", ("hit", "s", "d2"), x_mm=2.2)
    for side, target in (("B", "d1"), ("A", "d2"))[:shots]:
        bench.shoot(side, (200, 90 + 180 * (side == "A")), ("hit", "s", target), moved={target: bench.where(target)})
        assert bench.table.verdict is not None
        assert bench.table.verdict.valid
        assert not bench.table.questions
        assert (twenties(bench)["A"], bench.table.sides["A"].provisional) == (0, 1)
    bench.off(disc)
    assert not bench.table.questions
    assert twenties(bench) == {"A": 1, "B": 0}


def test_what_the_next_shot_had_to_touch_is_asked_at_once(bench: Bench) -> None:
    """Whether the disc at the hole is in play decides whether this is an open shot."""
    bench.start()
    at_the_hole(bench, "A", x_mm=2.2)
    bench.shoot("B", (60, 200))
    assert [q.facts["shot"] for q in bench.table.questions] == [1]
    bench.shoot("A", (150, 90), ("hit", "s", "d2"), moved={"d2": (62.0, 200.0)})
    assert [q.facts["shot"] for q in bench.table.questions] == [1], "what was asked stays asked"


def test_a_disc_that_lies_at_the_hole_to_the_end_is_asked_about_then(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (100, 200), ("hit", "s", "d1"), moved={"d1": (61, 10)})
    at_the_hole(bench, "A", ("hit", "s", "d2"), x_mm=2.2)
    bench.rally(20, "B")
    assert not bench.table.questions
    bench.rally(1, "B")
    assert [q.facts["shot"] for q in bench.table.questions] == [3]
    bench.answer("none")
    assert twenties(bench) == {"A": 0, "B": 0}


@pytest.mark.parametrize(("answer", "counted"), [("none", (30, 0)), ("A", (15, 1))])
def test_what_was_taken_out_of_the_hole_first_as_the_board_was_swept_is_asked_and_counts_as_people_say(
    bench: Bench, answer: str, counted: tuple[int, int]
) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (100, 200), ("hit", "s", "d1"), moved={"d1": (61, 10)})
    leaner = at_the_hole(bench, "A", ("hit", "s", "d2"), x_mm=2.2)
    bench.shoot("B", (200, 90), ("hit", "s", "d1"), moved={"d1": bench.where("d1")})
    bench.off(leaner)
    bench.off(*list(bench.discs))
    assert [q.kind for q in bench.table.questions] == ["twenty", "round"]
    bench.answer(answer)
    assert (bench.table.sides["A"].board, twenties(bench)["A"]) == counted
    bench.answer("keep")
    (told,) = bench.table.rounds
    assert (told.totals["A"], told.twenties["A"]) == (counted[0] + 20 * counted[1], counted[1])


def test_hands_that_begin_to_clear_lift_no_20(bench: Bench) -> None:
    bench.start()
    bench.rally(23)
    leaner = at_the_hole(bench, "B", ("hit", "s", "d1"), x_mm=4.6)
    bench.off(leaner)
    bench.off(*list(bench.discs))
    assert [r.totals for r in bench.table.rounds] == [{"A": 15, "B": 15}]


@pytest.mark.parametrize(("answer", "total"), [("B", 20), ("none", 15)])
def test_a_last_disc_that_may_lean_is_worth_15_or_20_however_late_people_say(
    bench: Bench, answer: str, total: int
) -> None:
    bench.start(rules="classic")
    bench.rally(23)
    at_the_hole(bench, "B", ("hit", "s", "d1"), x_mm=2.2)
    bench.discs.clear()
    bench.layout()
    (told,) = bench.table.rounds
    assert (told.low["B"], told.high["B"]) == (15, 20)
    bench.answer(answer)
    assert [r.totals for r in bench.table.rounds] == [{"A": 15, "B": total}]
    assert bench.table.rounds[0].twenties == {"A": 0, "B": int(answer == "B")}


@pytest.mark.parametrize("answer", ["A", "none"])
def test_a_doubt_about_the_hole_waits_for_the_layout_and_no_longer(bench: Bench, answer: str) -> None:
    bench.start()
    doubt = Doubt("leaner", (), (FELL, LEANS))
    bench.shoot("A", "hole", ("hole", "s"), doubts=(doubt,), beam=True, seen_after=False)
    assert not bench.table.questions
    bench.shoot("B", (60, 200), seen_after=False)
    assert [q.facts["shot"] for q in bench.table.questions] == [1]
    bench.answer(answer)
    assert twenties(bench)["A"] == int(answer == "A")
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid == (answer == "A")


def test_a_blow_and_a_fall_that_are_both_in_doubt_are_read_in_every_way(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    hit = ("hit", "s", "d1")
    doubts = (Doubt("leaner", (), ((hit, *FELL), (hit,))), Doubt("contact", (), ((hit, *FELL), FELL)))
    bench.shoot("B", "hole", hit, *FELL, doubts=doubts, beam=True, seen_after=False)
    bench.put("d2", "B", 2.2, state="hole")
    bench.layout()
    bench.answer("no")
    assert bench.table.verdict is not None
    assert not bench.table.verdict.valid
    assert twenties(bench) == {"A": 0, "B": 0}
    assert [r.disc for r in bench.table.remove] == ["d2"]
    assert not bench.table.questions
