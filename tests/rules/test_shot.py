"""Shots, judged: each row names the rule it is about; the worked cases beside the project cover the plain ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hardware.board import TOURNAMENT, load_board
from hub.rules.notation import parse_position, parse_shot
from hub.rules.position import Place, Position, Shot
from hub.rules.presets import load_ruleset
from hub.rules.shot import UNDECIDED_RULES, judge_shot, placement_fault
from tests.rules.table import judge, rows


def counts(text: str) -> dict[str, int]:
    return {word[0]: int(word[1:]) for word in text.split()}


@pytest.mark.parametrize("row", [pytest.param(row, id=row["title"]) for row in rows("shots")])
def test_verdict(row: dict[str, Any]) -> None:
    verdict = judge(row["before"], row["shot"], row["rules"])
    foul = row.get("foul")
    assert (verdict.valid, verdict.reason, verdict.referee) == (foul is None, foul, False)
    assert verdict.removed == set(row["removed"].split())
    assert dict(verdict.banked) == counts(row["banked"])
    assert dict(verdict.board) == counts(row["board"])


UNDECIDED = [
    ("unknown_disc", 2, "-", "A@1 s : s>X = s@60/0", "classic"),
    ("unknown_disc", 2, "-", "A@1 s : X>s = s@60/0", "classic"),
    ("unknown_disc", 2, "-", "A@1 s : X# = s@60/0", "classic"),
    ("unknown_disc", 2, "-", "A@1 s : = s@60/0 X@60/90", "classic"),
    ("unknown_side", 2, "D:X@60/0", "A@1 s : s>X = s@60/90", "classic"),
    ("unknown_side", 2, "+Cx1", "A@1 s : = s@60/90", "classic"),
    ("same_disc", 2, "A:s@60/0", "A@1 s : = s@60/90", "classic"),
    ("rest_missing", 22, "-", "A@1 s : =", "classic"),
    ("lifted_too_early", 38, "-", "A@1 s : s* = s/", "classic"),
    ("lifted_too_early", 38, "A:P@30/0", "A@1 s : s>P P* = s@60/0 P/", "classic"),
    ("off_the_board", 42, "-", "A@1 s : = s@330.3/0", "classic"),
    ("off_the_board", 42, "-", "A@1 s : = s@-1/0", "classic"),
    ("off_the_board", 42, "A:P@331/0", "A@1 s : = s@60/0", "classic"),
    ("off_the_board", 42, "A:P@-1/0", "A@1 s : = s@60/0", "classic"),
    ("wrong_seat", 18, "-", "A@3 s : = s@60/0", "classic"),
    ("wrong_seat", 18, "-", "A@2 s : = s@60/0", "classic"),
    ("wrong_seat", 18, "-", "A@9 s : = s@60/0", "classic"),
    ("too_many_discs", 13, "A:P@60/0 +Ax11", "A@1 s : = s@60/90", "classic"),
    ("too_many_discs", 13, "B:P@60/0 +Bx12", "A@1 s : s>P = s@60/90", "classic"),
    ("two_in_hole", 38, "A:P@30/0", "A@1 s : s>P P* s* = s* P*", "classic"),
    ("maybe_not_left_finger", 26, "-", "A@1 s@304.8/0 : = s@301.8/0", "source-b"),
    ("maybe_not_left_finger", 26, "-", "A@1 s@304.8/0 : = s@289/0", "wcc"),
    ("shot_disc_disturbed", 44, "B:X@250/0", "A@1 s : s>X X/ X\\ X>s = s@200/0 X@230/0", "source-a"),
]


@pytest.mark.parametrize(("code", "rule", "position", "shot", "rules"), UNDECIDED)
def test_people_must_decide(code: str, rule: int, position: str, shot: str, rules: str) -> None:
    verdict = judge(position, shot, rules)
    assert verdict.referee
    assert (verdict.valid, verdict.reason, verdict.codes[-1]) == (None, None, code)
    assert verdict.reasons[-1].rule == rule
    assert verdict.after == parse_position(position)
    assert verdict.removed == verdict.take_off == verdict.off == verdict.lift == verdict.fouled == frozenset()
    assert sum(verdict.twenties.values()) == 0
    assert not verdict.restored


def test_every_undecided_code_is_reached() -> None:
    assert {row[0] for row in UNDECIDED} == set(UNDECIDED_RULES)


def test_what_was_banked_and_lies_there_is_shown_while_people_decide() -> None:
    verdict = judge("B:X@60/0 A:P@100/0~ A:Q@150/0 +Bx2", "A@3 s : s>X = s@60/90")
    assert dict(verdict.banked) == {"A": 0, "B": 2}
    assert dict(verdict.board) == {"A": 25, "B": 15}
    assert dict(verdict.twenties) == {"A": 0, "B": 0}
    assert verdict.open is False
    assert set(verdict.discs) == {"X", "P", "Q"}


@pytest.mark.parametrize(
    ("shot", "why"),
    [
        ("A@1 s@304.8/0 : = s@285/0", "moved further than a disc's radius"),
        ("A@1 s@300/0 : = s@284/0", "moved just a disc's radius"),
        ("A@1 s : = s@301.8/0", "nobody saw where it was placed"),
        ("A@1 s@304.8/0 : s# = s@301.8/0", "it met a peg, so it was on its way"),
        ("A@1 s@304.8/0 : = s/", "it is in the ditch"),
    ],
)
def test_disc_that_surely_left_the_finger(shot: str, why: str) -> None:
    assert not judge("-", shot, "source-b").referee, why


def test_hardly_moved_is_a_shot_where_moving_is_enough() -> None:
    assert judge("-", "A@1 s@304.8/0 : = s@301.8/0", {"commit": "moved"}).reason == "open_not_in_15"


PLACEMENTS = [
    (304.8, 0, 1, "half", None),
    (288.0, 0, 1, "half", None),
    (287.9, 0, 1, "half", "off_the_start_line"),
    (321.6, 0, 1, "half", None),
    (321.7, 0, 1, "half", "off_the_start_line"),
    (304.8, 45, 1, "half", None),
    (304.8, 315, 1, "half", None),
    (304.8, 45.1, 1, "half", "outside_the_quadrant"),
    (304.8, 314.9, 1, "half", "outside_the_quadrant"),
    (304.8, -45, 1, "half", None),
    (304.8, 405, 1, "half", None),
    (304.8, 135, 2, "half", None),
    (304.8, 45, 2, "half", None),
    (304.8, 44, 2, "half", "outside_the_quadrant"),
    (304.8, 225, 4, "half", None),
    (304.8, 180, 3, "half", None),
    (304.8, 270, 4, "half", None),
    (304.8, 0, 3, "half", "outside_the_quadrant"),
    (304.8, 48.1, 1, "touch_line", None),
    (304.8, 48.2, 1, "touch_line", "outside_the_quadrant"),
    (304.8, 311.9, 1, "touch_line", None),
    (304.8, 311.8, 1, "touch_line", "outside_the_quadrant"),
    (304.8, 180, 1, "touch_line", "outside_the_quadrant"),
    (304.8, 224, 1, "touch_line", "outside_the_quadrant"),
    (280, 48, 1, "touch_line", "off_the_start_line"),
]


@pytest.mark.parametrize(("r_mm", "angle_deg", "seat", "quadrant", "fault"), PLACEMENTS)
def test_placement(r_mm: float, angle_deg: float, seat: int, quadrant: str, fault: str | None) -> None:
    shot = Shot("A", seat, "s", (), {}, Place(r_mm, angle_deg))
    assert placement_fault(shot, load_ruleset({"quadrant": quadrant})) == fault


def test_unseen_placement_is_no_fault() -> None:
    assert placement_fault(Shot("A", 1, "s", (), {}), load_ruleset("classic")) is None


@pytest.mark.parametrize(
    ("shot", "code", "rule"),
    [("A@1 s@280/0 : = s@60/0", "off_the_start_line", 23), ("A@1 s@304.8/90 : = s@60/0", "outside_the_quadrant", 24)],
)
def test_placement_is_the_first_reason_and_takes_the_disc(shot: str, code: str, rule: int) -> None:
    verdict = judge("-", shot)
    assert (verdict.reasons[0].code, verdict.reasons[0].rule) == (code, rule)
    taken = next(reason for reason in verdict.reasons if reason.code == "removed_by_foul")
    assert (taken.disc, taken.rule) == ("s", rule)


def test_a_called_foul_takes_the_shot_disc_and_what_it_did_stays() -> None:
    verdict = judge("B:X@200/0 A:P@180/0", "A@1 s@280/0 : s>X X/ X>P = s@60/0 X/", called="pushed")
    assert (verdict.valid, verdict.reason) == (False, "pushed")
    assert verdict.removed == {"s", "X"}
    assert verdict.fouled == {"s"}
    assert (verdict.reasons[0].code, verdict.reasons[0].rule) == ("pushed", 25)


def test_a_called_foul_without_a_row_of_its_own_comes_under_touching() -> None:
    assert judge("-", "A@1 s : = s@60/0", called="shook the table").reasons[0].rule == 27


def test_removed_tells_what_people_must_take_off_from_what_is_gone() -> None:
    verdict = judge("A:P@60/0 A:Q@200/0 B:X@150/90", "A@1 s : s>P s>Q Q/ = s@50/60 P@62/0 Q/")
    assert verdict.removed == verdict.fouled == {"s", "P", "Q"}
    assert verdict.off == {"Q"}
    assert verdict.take_off == {"s", "P"}


def test_a_disc_of_no_side_is_shown_too_while_people_decide() -> None:
    assert dict(judge("D:X@60/0", "A@1 s : s>X = s@60/90").board) == {"A": 0, "B": 0, "D": 15}


def test_a_struck_disc_that_did_not_move_must_be_taken_off_too() -> None:
    verdict = judge("A:P@60/0 B:X@150/90", "A@1 s : s>P = s/")
    assert verdict.take_off == {"P"}
    assert verdict.off == {"s"}


def test_a_twenty_is_lifted_and_leaves_the_position() -> None:
    verdict = judge("A:P@60/0 +Ax2", "A@1 s : s* = s*")
    assert verdict.lift == {"s"}
    assert dict(verdict.twenties) == {"A": 1, "B": 0}
    assert dict(verdict.after.banked) == {"A": 3, "B": 0}
    assert set(verdict.after.discs) == {"P"}


def test_after_keeps_where_discs_came_to_rest_and_who_owns_them() -> None:
    verdict = judge("A:P@60/0 B:X@150/0 B:Y@10/5~", "A@1 s : s>X = s@200/10 X@160/5")
    assert {name: (d.side, d.r_mm, d.angle_deg, d.leaning) for name, d in verdict.after.discs.items()} == {
        "P": ("A", 60, 0, False),
        "X": ("B", 160, 5, False),
        "Y": ("B", 10, 5, True),
        "s": ("A", 200, 10, False),
    }
    assert verdict.discs == verdict.after.discs


def test_a_disc_put_back_keeps_its_lean() -> None:
    verdict = judge("A:P@10/0~ B:X@250/0", "A@1 s : s>X X/ X\\ X>P P* = s@240/0 X@90/0 P*", "source-a")
    assert verdict.restored == {"P": Place(10, 0, leaning=True)}
    assert verdict.after.discs["P"].leaning
    assert dict(verdict.banked) == {"A": 0, "B": 0}
    assert [r.code for r in verdict.reasons].count("put_back") == 1


def test_a_disc_put_back_from_the_ditch_is_nobodys_to_remove() -> None:
    verdict = judge("A:P@200/200 B:X@250/0", "A@1 s : s>X X/ X\\ X>P P/ = s@240/0 X@90/0 P/", "source-a")
    assert verdict.removed == verdict.take_off == {"X"}
    assert verdict.off == frozenset()


def test_the_disturbed_shot_disc_needs_nobody_when_the_foul_takes_it() -> None:
    verdict = judge("A:P@250/0 B:X@150/90", "A@1 s : s>P P/ P\\ P>s = s@200/0 P@230/0", "source-a")
    assert (verdict.referee, verdict.reason) == (False, "missed_opponent")


def test_the_disturbed_shot_disc_stays_where_damage_stays() -> None:
    verdict = judge("B:X@250/0", r"A@1 s : s>X X/ X\ X>s = s@200/0 X@230/0")
    assert (verdict.referee, verdict.valid, verdict.removed) == (False, True, {"X"})


def test_open_shot_is_told_even_where_no_hiding_is_off() -> None:
    assert judge("A:P@60/0", "A@1 s : = s@200/0", {"no_hiding": "off"}).open
    assert not judge("A:P@60/0 B:X@60/90", "A@1 s : = s@200/0", {"no_hiding": "off"}).open


def test_reasons_come_in_order_with_their_rules() -> None:
    verdict = judge("A:P@30/0 A:Q@300/90 B:X@150/90", "A@1 s@280/0 : s>P P* = s@200/0 P*", {"lip_disc": "stays_0"})
    assert [(r.code, r.rule, r.disc, r.side) for r in verdict.reasons] == [
        ("off_the_start_line", 23, "s", "A"),
        ("missed_opponent", 37, "s", "A"),
        ("twenty_void", 39, "P", "A"),
        ("removed_by_foul", 37, "P", "A"),
        ("removed_by_foul", 23, "s", "A"),
        ("on_the_outer_line", 46, "Q", "A"),
    ]


@pytest.mark.parametrize("row", [pytest.param(row, id=row["shot"]) for row in rows("reasons")])
def test_reasons(row: dict[str, Any]) -> None:
    reasons = judge(row["before"], row["shot"], row["rules"]).reasons
    assert [f"{r.code} {r.rule} {r.disc or '-'} {r.side or '-'}" for r in reasons] == row["reasons"]


@pytest.mark.parametrize(
    ("position", "shot", "rules", "doubts"),
    [
        ("B:X@150/0", "A@1 s : s>X X\\ = s@200/0 X@150/3", "classic", ("back_without_off",)),
        ("B:X@150/0", "A@1 s : s>X X/ X\\ = s@200/0 X@150/3", "classic", ()),
        ("B:X@150/0", "A@1 s : s>X s* X>s = s@30/0", "classic", ("out_of_the_hole_again",)),
        ("B:X@150/0", "A@1 s : s>X X/ X\\ X* = s@200/0 X@30/0", "classic", ()),
        ("B:X@250/0 A:L@270/30", "A@1 s : s>X X| X>L = s@230/0 X@270/20", "wcc", ("maybe_struck_while_out",)),
        ("B:X@250/0 A:L@256/30", "A@1 s : s>X X| X>L = s@230/0 X@270/20", "wcc", ("maybe_struck_while_out",)),
        ("B:X@250/0 A:L@255.9/30", "A@1 s : s>X X| X>L = s@230/0 X@270/20", "wcc", ()),
        ("B:X@250/0 A:L@319.9/30", "A@1 s : s>X X| X>L = s@230/0 X@270/20", "wcc", ("maybe_struck_while_out",)),
        ("B:X@250/0 A:L@320/30", "A@1 s : s>X X| X>L = s@230/0 X@270/20", "wcc", ()),
        ("B:X@250/0 A:L@270/30", "A@1 s : s>X X| X>s = s@230/0 X@270/20", "wcc", ()),
        ("B:X@250/0 A:L@270/30", "A@1 s : s>X X| X>L = s@230/0 X@270/20", "nca", ()),
    ],
)
def test_what_is_odd_is_told_and_changes_nothing(position: str, shot: str, rules: str, doubts: tuple[str, ...]) -> None:
    assert judge(position, shot, rules).doubts == doubts


def test_dealt_discs_can_be_other_than_the_rules_say() -> None:
    assert judge("A:P@60/0", "A@1 s : = s@60/90", dealt={"A": 1, "B": 12}).codes == ("too_many_discs",)
    assert not judge("A:P@60/0", "A@1 s : = s@60/90", dealt={"A": 2, "B": 12}).referee


def test_every_disc_that_was_dealt_may_be_used() -> None:
    assert not judge("B:X@60/0", "A@1 s : s>X = s@60/90", dealt={"A": 1, "B": 1}).referee
    assert not judge("A:P@60/0 B:X@60/0", "A@1 s : s>X = s@60/90", dealt={"A": 2, "B": 1}).referee
    assert not judge("B:X@60/0 +Ax1 +Bx1", "A@1 s : s>X = s@60/90", dealt={"A": 2, "B": 2}).referee


@pytest.mark.parametrize("position", ["B:X@0/0", "B:X@330.2/0"])
def test_discs_may_lie_from_the_middle_to_the_edge(position: str) -> None:
    assert not judge(position, "A@1 s : s>X = s@60/90").referee
    assert not judge("B:Y@60/0", f"A@1 s : s>Y = s{position.removeprefix('B:X')}").referee


def test_a_dead_disc_that_drops_and_is_taken_out_is_no_contradiction() -> None:
    verdict = judge("B:X@150/0", r"A@1 s : s>X X/ X\ X* = s@200/0 X@60/0")
    assert (verdict.referee, verdict.removed) == (False, {"X"})


def test_a_side_that_was_dealt_nothing_has_no_disc() -> None:
    assert judge("B:X@60/0", "A@1 s : s>X = s@60/90", dealt={"A": 2}).codes == ("too_many_discs",)


def test_another_board_has_its_own_limits() -> None:
    hobby = load_board("hobby")
    assert hobby.limits_mm != TOURNAMENT.limits_mm
    inside = hobby.touches_15_mm - 0.1
    shot = Shot("A", 1, "s", (), {"s": Place(inside, 0)})
    assert judge_shot(Position(), shot, load_ruleset("classic"), hobby).valid
    beyond = replace(shot, rest={"s": Place(hobby.touches_15_mm + 0.1, 0)})
    assert not judge_shot(Position(), beyond, load_ruleset("classic"), hobby).valid
    edge = replace(shot, rest={"s": Place(hobby.surface_radius_mm + 0.1, 0)})
    assert judge_shot(Position(), edge, load_ruleset("classic"), hobby).codes == ("off_the_board",)


def test_the_facts_stay_as_they_were() -> None:
    position, shot = parse_position("A:P@60/0 B:X@150/0 +Ax1"), parse_shot("A@1 s : s>X X/ = s@200/0 X/")
    judge_shot(position, shot, load_ruleset("classic"))
    assert position == parse_position("A:P@60/0 B:X@150/0 +Ax1")
    assert shot == parse_shot("A@1 s : s>X X/ = s@200/0 X/")
