"""Hard moments of shots and discs: doubts, fouls left lying, hands, cameras that were away."""

from __future__ import annotations

import pytest

from hub.link import topics
from hub.link.messages import Doubt, LayoutDisc, Shot
from tests.hub.harness import S
from tests.hub.table_bench import Bench, provisional, twenties


def test_shooting_on_with_a_foul_lying_makes_it_count(bench: Bench) -> None:
    bench.start()
    foul = bench.shoot("A", (200, 10))
    assert [r.disc for r in bench.table.remove] == [foul]
    assert bench.table.sides["A"].board == 0
    bench.shoot("B", (150, 200), ("hit", "s", foul), moved={foul: (220, 10)})
    assert not bench.table.remove
    assert bench.table.sides["A"].board == 5
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid


def test_a_foul_left_lying_and_missed_makes_the_next_shot_a_foul_too(bench: Bench) -> None:
    """At first the foul is taken to be gone, and the shot open; the layout shows that it was not."""
    bench.start()
    bench.shoot("A", (200, 10))
    bench.shoot("B", (60, 200))
    assert bench.table.verdict is not None
    assert bench.table.verdict.code == "missed_opponent"
    assert bench.table.sides["A"].board == 5


def test_a_foul_taken_off_just_before_the_next_shot_leaves_that_shot_open(bench: Bench) -> None:
    bench.start()
    foul = bench.shoot("A", (200, 10))
    del bench.discs[foul]
    bench.shoot("B", (60, 200))
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid


def test_a_doubt_is_asked_and_the_answer_holds(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    grazed = (("hit", "s", "d1"), ("hole", "s"))
    bench.shoot("B", "hole", ("hole", "s"), doubts=(Doubt("contact", (), ((("hole", "s"),), grazed)),), beam=True)
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("valid", ["yes", "no"])]
    assert (twenties(bench)["B"], provisional(bench)["B"]) == (0, 0)
    bench.answer("yes")
    assert twenties(bench)["B"] == 1


def test_a_doubt_that_decides_nothing_is_not_asked(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    grazed = (("hit", "s", "d1"), ("off", "s"))
    bench.shoot("B", "ditch", ("off", "s"), doubts=(Doubt("contact", (), ((("off", "s"),), grazed)),))
    assert not bench.table.questions


def _foul_that_may_have_struck_an_own_disc(bench: Bench, *, before: int = 0) -> tuple[str, str]:
    """B misses all of A's discs and may have touched B's own one: the shot disc, and that one."""
    bench.start()
    bench.rally(before)
    bench.shoot("A", (60, 10), *((("hit", "s", _one_of(bench, "B")),) if _one_of(bench, "B") else ()))
    own = bench.shoot("B", (150, 200), ("hit", "s", _one_of(bench, "A")))
    bench.shoot("A", (70, 90), ("hit", "s", own))
    shot = bench.shoot("B", (150, 260), doubts=(Doubt("contact", (), ((), (("hit", "s", own),))),))
    return shot, own


def _one_of(bench: Bench, side: str) -> str:
    return next((disc for disc in bench.discs if bench.side(disc) == side), "")


@pytest.mark.parametrize("before", [0, 20])
@pytest.mark.parametrize("struck", [False, True])
def test_hands_tell_which_discs_a_foul_took_where_only_that_is_in_doubt(
    bench: Bench, before: int, struck: bool
) -> None:
    shot, own = _foul_that_may_have_struck_an_own_disc(bench, before=before)
    assert not bench.table.questions
    assert bench.table.verdict is not None
    assert (bench.table.verdict.code, bench.table.verdict.provisional) == ("missed_opponent", False)
    assert [(r.disc, r.why) for r in bench.table.remove] == [(shot, "foul")]
    bench.off(*((shot, own) if struck else (shot,)))
    assert bench.table.sides["B"].board == (0 if struck else 10)
    if before == 20:
        assert bench.table.phase == "round_over"
        bench.discs.clear()
        bench.layout()
        assert [r.totals["B"] for r in bench.table.rounds] == [0 if struck else 10]


def test_a_sweep_after_the_last_shot_does_not_tell_which_discs_a_foul_took(bench: Bench) -> None:
    shot, own = _foul_that_may_have_struck_an_own_disc(bench, before=20)
    bench.off(shot)
    bench.off(own, _one_of(bench, "A"))
    bench.discs.clear()
    bench.layout()
    assert [r.totals["B"] for r in bench.table.rounds] == [10]


def test_shooting_on_with_what_a_foul_may_have_taken_leaves_it_in_play(bench: Bench) -> None:
    shot, own = _foul_that_may_have_struck_an_own_disc(bench)
    bench.off(shot)
    bench.shoot("A", (100, 90), ("hit", "s", own), moved={own: (80, 200)})
    assert bench.table.verdict is not None
    assert (bench.table.verdict.code, bench.table.sides["B"].board) == ("good", 15)


@pytest.mark.parametrize("dead", [False, True])
def test_hands_tell_whether_a_disc_had_left_the_board_before_it_came_back(bench: Bench, dead: bool) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    hit = ("hit", "s", "d1")
    back = (hit, ("off", "d1"), ("back", "d1"))
    bench.shoot("B", (150, 200), *back, moved={"d1": (70, 12)}, doubts=(Doubt("left", (), (back, (hit,))),))
    assert not bench.table.questions
    assert not bench.table.remove
    assert bench.table.sides["A"].board == 15
    if dead:
        bench.off("d1")
    assert bench.table.sides["A"].board == (0 if dead else 15)


def test_whether_a_fouls_own_disc_fell_into_the_hole_decides_nothing(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    gone = (("off", "s"),)
    bench.shoot("B", "ditch", *gone, doubts=(Doubt("left", (), (gone, (("hole", "s"),))),))
    assert not bench.table.questions
    assert not bench.table.remove


def test_after_a_ruling_on_the_verdict_only_what_counts_is_asked(bench: Bench) -> None:
    """Was A's disc touched, and was B's own: people say no to the first, and their hands tell the second."""
    bench.start()
    bench.shoot("A", (60, 10))
    own = bench.shoot("B", (150, 200), ("hit", "s", "d1"))
    bench.shoot("A", (70, 90), ("hit", "s", own))
    theirs, mine = ("hit", "s", "d1"), ("hit", "s", own)
    doubts = (Doubt("contact", (), ((), (theirs,))), Doubt("contact", (), ((), (mine,))))
    shot = bench.shoot("B", (150, 260), doubts=doubts)
    assert [q.kind for q in bench.table.questions] == ["valid"]
    bench.answer("no")
    assert not bench.table.questions
    assert [r.disc for r in bench.table.remove] == [shot]


def test_a_doubtful_foul_taken_off_by_hand_was_one(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    grazed = (("hit", "s", "d1"),)
    disc = bench.shoot("B", (150, 200), doubts=(Doubt("contact", (), ((), grazed)),))
    assert [q.kind for q in bench.table.questions] == ["valid"]
    bench.off(disc)
    assert not bench.table.questions
    assert bench.table.verdict is not None
    assert not bench.table.verdict.valid


def test_a_shot_that_was_not_seen_may_have_touched(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), doubts=(Doubt("not_seen"),))
    assert [q.kind for q in bench.table.questions] == ["valid"]
    bench.answer("yes")
    assert bench.table.sides["B"].board == 10


def test_a_shot_out_of_turn_counts_for_who_shot_it_and_the_order_waits(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("A", (70, 90))
    assert bench.table.verdict is not None
    assert "out of turn" in bench.table.verdict.text
    assert bench.table.turn == "B"
    assert {side: view.shots_left for side, view in bench.table.sides.items()} == {"A": 10, "B": 12}


def test_a_disc_moved_by_hand_counts_where_play_goes_on_from(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.put("d1", "A", 150, 10)
    bench.layout()
    assert bench.table.sides["A"].board == 10
    bench.shoot("B", (220, 200), ("hit", "s", "d1"), moved={"d1": (152, 12)})
    assert bench.table.sides["A"].board == 10


def test_discs_under_a_hand_are_not_gone(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.layout(unseen=("d1",))
    assert bench.table.sides["A"].board == 15
    assert [d.id for d in bench.table.discs] == ["d1"]


def test_a_camera_that_was_away_finds_the_shot_it_did_not_see(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.put("d9", "B", 150, 200)
    bench.layout()
    assert bench.table.shot == 2
    assert bench.table.turn == "A"
    assert bench.table.sides["B"].board == 10


def test_a_restarted_camera_that_names_all_discs_anew_changes_nothing(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    renamed = {"x1": bench.discs["d1"], "x2": bench.discs["d2"]}
    bench.discs = {name: LayoutDisc(name, d.colour, d.x_mm + 0.4, d.y_mm, 0.3) for name, d in renamed.items()}
    bench.club.outboxes["b1", "camera"].restart("boot-2")
    bench.layout()
    assert bench.table.shot == 2
    assert {s: v.board for s, v in bench.table.sides.items()} == {"A": 15, "B": 10}


def test_a_disc_pushed_while_the_camera_names_it_anew_is_no_shot_that_nobody_saw(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    for disc, name, r_mm in (("d1", "x1", 70.0), ("d2", "x2", 159.0)):  # too far to be known again by their places
        bench.put(name, bench.side(disc), r_mm, 12.0 if disc == "d1" else 200.0)
        del bench.discs[disc]
    bench.layout()
    for number, side in enumerate("ABAB", 3):
        bench.shoot(side, "ditch", ("hit", "s", "x2" if side == "A" else "x1"), ("off", "s"))
        assert (bench.table.shot, bench.table.turn) == (number, "AB"[number % 2])
    assert {s: v.board for s, v in bench.table.sides.items()} == {"A": 15, "B": 10}


def test_a_camera_that_comes_back_takes_over_what_people_said(bench: Bench) -> None:
    bench.start()
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.beam(bench.later(6) + S)
    bench.answer("A")
    assert twenties(bench) == {"A": 1, "B": 0}
    bench.at_ns -= 6 * S
    bench.shoot("A", "hole", ("hole", "s"))
    assert twenties(bench) == {"A": 1, "B": 0}


def test_pictures_of_many_doubts_do_not_make_a_snapshot_too_long(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    for number in range(6):
        bench.serial += 1
        disc = f"d{bench.serial}"
        grazed = (("hit", disc, "d1"), ("hole", disc))
        doubt = Doubt("contact", (), ((("hole", disc),), grazed), b"\xff" * 12_000)
        shot = Shot(
            disc, "dark", None, (("hole", disc),), {disc: "hole"}, bench.later(5), bench.later(), doubts=(doubt,)
        )  # type: ignore[arg-type]
        bench.beam(bench.at_ns - S)
        bench.club.fact("camera", shot, bench.later())
        bench.layout()
        assert len(bench.table.questions) == number + 1
    pictures = [question.picture for question in bench.table.questions]
    assert pictures[0]
    assert not pictures[-1]
