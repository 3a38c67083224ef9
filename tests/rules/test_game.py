"""A game event by event: turns, rounds, time-outs, concessions, reshoots; what cannot be changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from hub.rules.game import (
    Conceded,
    GameEvent,
    GameState,
    RoundCounted,
    ShotAgain,
    ShotTaken,
    ShotUnseen,
    TimeOut,
    apply,
    begin,
)
from hub.rules.notation import parse_position, parse_shot
from hub.rules.order import GameSetup
from hub.rules.presets import load_ruleset


def new(rules: Any = "nca", **more: Any) -> GameState:
    return begin(GameSetup(load_ruleset(rules), **more))


def play(state: GameState, *events: GameEvent) -> GameState:
    """The state after events that must all be taken."""
    for event in events:
        step = apply(state, event)
        assert step.refusal is None, step.refusal
        state = step.state
    return state


def refused(state: GameState, event: GameEvent) -> tuple[str, str]:
    """Code and sentence of the refusal; the state must be the same object as before."""
    step = apply(state, event)
    assert step.state is state
    assert step.refusal is not None
    return step.refusal.code, step.refusal.sentence


def shot(text: str, **more: Any) -> ShotTaken:
    return ShotTaken(parse_shot(text), **more)


def counted(a: int, b: int, **more: int) -> RoundCounted:
    return RoundCounted(points={"A": a, "B": b, **more}, early=True)


def test_a_game_begins_with_its_opener() -> None:
    state = new()
    assert (state.round_number, state.turn, state.opener, state.hammer) == (1, ("A", 1), ("A", 1), ("B", 3))
    assert state.shots_left == {1: 8, 3: 8}
    assert (state.verdict, state.before, state.conceded, state.extra) == (None, None, None, None)


def test_a_shot_changes_the_position_and_the_turn() -> None:
    state = play(new(), shot("A@1 s : = s@60/0"))
    assert state.turn == ("B", 3)
    assert state.shots_left == {1: 7, 3: 8}
    assert state.position == parse_position("A:s@60/0 +Ax0 +Bx0")
    assert state.verdict is not None
    assert state.verdict.valid
    state = play(state, shot("B@3 t : = t@60/180"))
    assert state.verdict is not None
    assert state.verdict.reason == "missed_opponent"
    assert state.position == parse_position("A:s@60/0 +Ax0 +Bx0")


def test_shots_out_of_turn_are_refused() -> None:
    assert refused(new(), shot("B@3 s : = s@60/0")) == (
        "out_of_turn",
        "side B at seat 3 shot, but it is the turn of side A at seat 1",
    )
    assert refused(new(), shot("B@1 s : = s@60/0"))[0] == "out_of_turn"
    assert refused(new(), ShotUnseen(3)) == (
        "out_of_turn",
        "seat 3 shot, but it is the turn of side A at seat 1",
    )


def test_people_decide_what_no_rule_can() -> None:
    state = play(new(), shot("A@1 p : = p@40/0"), shot("B@3 x : x>p = x@150/180"))
    two = "A@1 s : s>x s>p p* s* = s* p*"
    assert refused(state, shot(two)) == ("two_in_hole", "people must decide this shot first (two_in_hole, rule 38)")
    ruled = play(state, shot(two, ruling=parse_position("B:x@150/180 +Ax1")))
    assert ruled.position == parse_position("B:x@150/180 +Ax1")
    assert ruled.verdict is not None
    assert ruled.verdict.referee
    assert ruled.turn == ("B", 3)


def test_people_decide_where_a_disturbed_shot_disc_goes() -> None:
    state = play(new("source-a"), shot("A@1 x : = x@60/0"))
    state = play(state, shot("B@3 y : y>x = y@250/180"))
    assert refused(state, shot(r"A@1 s : s>y y/ y\ y>s = s@200/0 y@230/0"))[0] == "shot_disc_disturbed"


@pytest.mark.parametrize(
    ("left", "code"),
    [
        ("+Ax2", "too_many_discs"),
        ("A:p@60/0 +Ax1", "too_many_discs"),
        ("B:p@60/0", "too_many_discs"),
        ("C:p@60/0", "unknown_side"),
        ("+Cx1", "unknown_side"),
        ("A:p@331/0", "off_the_board"),
        ("A:p@-1/0", "off_the_board"),
    ],
)
def test_what_people_say_must_be_possible(left: str, code: str) -> None:
    assert refused(new(), ShotUnseen(1, parse_position(left)))[0] == code
    assert refused(new(), shot("A@1 s : = s@60/0", ruling=parse_position(left)))[0] == code


def test_an_unseen_shot_keeps_the_order_going() -> None:
    state = play(new(), shot("A@1 s : = s@60/0"), ShotUnseen(3))
    assert (state.turn, state.verdict) == (("A", 1), None)
    assert state.position == parse_position("A:s@60/0 +Ax0 +Bx0")
    assert refused(state, ShotUnseen(1, parse_position("A:s@60/0 +Ax2"))) == (
        "too_many_discs",
        "side A has 3 discs on the board and banked, but shot 2",
    )
    state = play(state, ShotUnseen(1, parse_position("A:s@330.2/0 B:t@0/0 +Ax1")))
    assert state.position == parse_position("A:s@330.2/0 B:t@0/0 +Ax1")


def test_called_fouls_reach_the_judgement() -> None:
    state = play(new(), shot("A@1 s : = s@60/0", called="pushed"))
    assert state.verdict is not None
    assert (state.verdict.reason, dict(state.position.discs)) == ("pushed", {})


def test_all_shots_taken_then_counted() -> None:
    state = new()
    for k in range(16):
        assert state.turn is not None
        assert refused(state, RoundCounted()) == ("shots_left", f"{16 - k} shots of this round are not taken yet")
        state = play(state, ShotUnseen(state.turn[1]))
    assert state.turn is None
    assert set(state.shots_left.values()) == {0}
    assert refused(state, ShotUnseen(1)) == (
        "no_shots_left",
        "all shots of this round are taken, it waits to be counted",
    )
    state = play(state, RoundCounted({"A": 1, "B": 0}, {"A": 15, "B": 20}))
    assert dict(state.rounds[0].round) == {"A": 35, "B": 20}
    assert dict(state.score.scores) == {"A": 2, "B": 0}
    assert (state.round_number, state.turn, state.opener, state.hammer) == (2, ("B", 3), ("B", 3), ("A", 1))
    assert state.shots_left == {1: 8, 3: 8}


def test_a_round_is_counted_as_it_lies() -> None:
    state = play(new("classic"), shot("A@1 s : s* = s*"), shot("B@3 t : = t@60/180"), RoundCounted(early=True))
    assert dict(state.rounds[0].round) == {"A": 20, "B": 15}
    assert dict(state.score.scores) == {"A": 5, "B": 0}
    assert not state.position.discs
    assert not state.position.banked


def test_people_may_correct_a_part_of_the_count() -> None:
    state = play(new("classic"), shot("A@1 s : s* = s*"), RoundCounted({"B": 2}, {"A": 5}, early=True))
    assert dict(state.rounds[0].round) == {"A": 25, "B": 40}


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (RoundCounted({"A": 9}, early=True), "too_many_discs"),
        (RoundCounted({"C": 1}, early=True), "bad_side"),
        (RoundCounted(points={"C": 5}, early=True), "bad_side"),
        (RoundCounted(points={"A": 3}, early=True), "impossible_score"),
        (RoundCounted(points={"A": -5}, early=True), "negative"),
        (RoundCounted(points={"A": "5"}, early=True), "bad_input"),  # type: ignore[dict-item]
        (Conceded("C"), "bad_side"),
        (Conceded("C", "game"), "bad_side"),
        (ShotAgain(), "nothing_to_retake"),
    ],
)
def test_what_cannot_be_changes_nothing(event: GameEvent, code: str) -> None:
    found, sentence = refused(new(), event)
    assert found == code
    assert sentence


def test_a_game_to_its_end() -> None:
    state = play(new(), counted(10, 0), counted(10, 0), counted(10, 0))
    assert (state.score.over, state.round_number) == (False, 4)
    state = play(state, counted(0, 10))
    assert (state.score.over, state.score.winner, state.round_number) == (True, "A", 4)
    assert state.turn is None
    assert refused(state, counted(0, 10))[0] == "game_over"
    assert refused(state, Conceded("A"))[0] == "game_over"


def test_a_play_off_ends_early() -> None:
    state = play(new(playoff=True), counted(10, 0), counted(10, 0), counted(10, 0))
    assert (state.score.over, state.score.winner) == (True, "A")


def test_head_start_counts() -> None:
    state = play(new("classic", head_start={"B": 90}), counted(0, 10))
    assert (dict(state.score.scores), state.score.winner) == ({"A": 0, "B": 100}, "B")


def test_handicap_discs_bound_the_shots() -> None:
    state = new(discs={1: 1})
    assert state.shots_left == {1: 1, 3: 8}
    assert refused(state, ShotUnseen(1, parse_position("+Bx1")))[0] == "too_many_discs"
    assert refused(state, RoundCounted({"A": 2}, early=True))[0] == "too_many_discs"


def test_time_out_with_uneven_shots() -> None:
    state = play(new(), ShotUnseen(1), TimeOut())
    assert (state.extra, state.turn) == ("B", ("B", 3))
    assert refused(state, TimeOut()) == ("already_timed_out", "the clock of this round has already run out")
    assert refused(state, RoundCounted())[0] == "shots_left"
    assert refused(state, ShotUnseen(1))[0] == "out_of_turn"
    state = play(state, shot("B@3 t : = t@60/180"))
    assert state.turn is None
    state = play(state, RoundCounted())
    assert dict(state.rounds[0].round) == {"A": 0, "B": 15}
    assert state.extra is None


def test_time_out_of_the_side_that_is_not_next() -> None:
    three = new({"players": "cutthroat"})
    state = play(three, ShotUnseen(1), ShotUnseen(2), TimeOut())
    assert state.turn == ("C", 3)
    state = play(play(three, ShotUnseen(1), ShotUnseen(2), ShotUnseen(3), ShotUnseen(1)), TimeOut())
    assert state.turn == ("B", 2)


def test_time_out_with_even_shots_ends_the_shooting() -> None:
    state = play(new(), ShotUnseen(1), ShotUnseen(3), TimeOut())
    assert (state.extra, state.turn) == ("", None)
    assert refused(state, ShotUnseen(1))[0] == "no_shots_left"
    assert play(state, RoundCounted()).round_number == 2


def test_time_out_when_only_the_stronger_side_has_discs_left() -> None:
    state = new(discs={1: 1})
    state = play(state, ShotUnseen(1), ShotUnseen(3), ShotUnseen(3), TimeOut())
    assert (state.extra, state.turn) == ("A", None)


def test_novices_shoot_again() -> None:
    state = new({"base": "nca", "reshoots": 1})
    state = play(state, shot("A@1 s : = s@60/0"), shot("B@3 t : = t@150/180"))
    again = play(state, ShotAgain())
    assert again.turn == ("B", 3)
    assert again.position == parse_position("A:s@60/0 +Ax0 +Bx0")
    assert again.verdict is None
    assert again.reshoots == {1: 1, 3: 0}
    assert refused(again, ShotAgain())[0] == "nothing_to_retake"
    shot_again = play(again, shot("B@3 t : t>s = t@150/180"))
    assert refused(shot_again, ShotAgain()) == (
        "no_reshoots_left",
        "seat 3 has no shot left to take again in this round",
    )
    later = play(shot_again, shot("A@1 u : u>t = u@70/0"), ShotAgain())
    assert later.reshoots == {1: 0, 3: 0}
    assert play(later, counted(5, 0)).reshoots == {1: 1, 3: 1}


def test_a_call_can_have_a_shot_taken_again() -> None:
    state = play(new({"base": "nca", "reshoots": 1}), shot("A@1 s : = s@60/0"), shot("B@3 t : t>s = t@150/180"))
    again = play(state, ShotAgain("pushed"))
    assert (again.turn, dict(again.reshoots)) == (("B", 3), {1: 1, 3: 1})
    assert refused(state, ShotAgain("two_fingers")) == (
        "bad_call",
        "nothing is shot again for 'two_fingers' under these rules",
    )
    assert refused(state, ShotAgain("placed_early"))[0] == "bad_call"


def test_an_unseen_shot_can_be_taken_again() -> None:
    state = play(new({"base": "nca", "reshoots": 1}), ShotUnseen(1, parse_position("A:s@60/0")), ShotAgain())
    assert (state.turn, dict(state.position.discs)) == (("A", 1), {})


def test_nothing_is_taken_again_after_time_out() -> None:
    state = play(new({"base": "nca", "reshoots": 1}), ShotUnseen(1), TimeOut(), ShotUnseen(3))
    assert refused(state, ShotAgain())[0] == "nothing_to_retake"


def test_without_agreement_nobody_shoots_again() -> None:
    assert refused(play(new(), ShotUnseen(1)), ShotAgain())[0] == "no_reshoots_left"


def test_a_conceded_round() -> None:
    state = play(new(), shot("A@1 s : = s@60/0"), Conceded("A"))
    assert dict(state.rounds[0].round) == {"A": 15, "B": 0}
    assert dict(state.rounds[0].added) == {"A": 0, "B": 2}
    assert state.round_number == 2


def test_a_conceded_game() -> None:
    state = play(new(), counted(10, 0), Conceded("A", "game"))
    assert (state.score.over, state.score.winner, state.score.next, state.conceded) == (True, "B", "none", "A")
    assert dict(state.score.scores) == {"A": 2, "B": 0}
    assert state.round_number == 1
    assert refused(state, ShotUnseen(1))[0] == "game_over"


def test_a_conceded_game_of_three() -> None:
    three = {"players": "cutthroat"}
    assert play(new(three), Conceded("A", "game")).score.winner is None
    assert play(new(three), counted(0, 5, C=0), Conceded("A", "game")).score.winner == "B"
    assert play(new(three), counted(5, 0, C=0), Conceded("A", "game")).score.winner is None


def test_a_deciding_round_between_two_of_three() -> None:
    state = new({"players": "cutthroat"})
    for _ in range(8):
        state = play(state, counted(10, 10, C=0))
    assert state.score.next == "deciding_round"
    assert state.shots_left == {1: 12, 2: 12, 3: 0}
    assert state.opener == ("A", 1)
    assert play(state, counted(5, 10, C=0)).score.winner == "B"


def test_the_lead_passes_over_the_third_in_a_deciding_round() -> None:
    state = new({"players": "cutthroat"}, opener=2)
    for _ in range(9):
        state = play(state, counted(10, 10, C=0))
    assert state.opener == ("B", 2)
    state = new({"players": "cutthroat"}, opener=3)
    for _ in range(8):
        state = play(state, counted(10, 10, C=0))
    assert state.opener == ("B", 2)
