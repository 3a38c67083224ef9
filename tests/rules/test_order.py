"""Order of play: seats, openers, hammers, shots per seat, the clock (rules 13-19, NCA 4, 5, 8b)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.rules.errors import RulesError
from hub.rules.order import (
    GameSetup,
    deciding_sides,
    extra_shot,
    hammer_of,
    opener_of,
    order_of_round,
)
from hub.rules.presets import load_ruleset
from hub.rules.scoring import GameScore
from hub.rules.seats import (
    SEATS,
    dealt_per_side,
    opener_after,
    seat_of,
    shots_per_seat,
    side_of_seat,
    sides_of,
    turn_cycle,
)


def setup(players: str = "singles", base: str = "classic", **more: Any) -> GameSetup:
    return GameSetup(load_ruleset({"base": base, "players": players}), **more)


def seats(setup: GameSetup, round_number: int = 1, **more: Any) -> list[int]:
    return [seat for _, seat in order_of_round(setup, round_number, **more)]


ORDERS = [
    ("singles", 1, [1, 3, 1, 3], 24),
    ("singles", 3, [3, 1, 3, 1], 24),
    ("doubles", 2, [2, 3, 4, 1], 24),
    ("two-v-one", 1, [1, 2, 1, 4], 24),
    ("two-v-one", 2, [2, 1, 4, 1], 24),
    ("two-v-one", 4, [4, 1, 2, 1], 24),
    ("cutthroat", 1, [1, 2, 3, 1], 36),
    ("cutthroat", 3, [3, 1, 2, 3], 36),
]


@pytest.mark.parametrize(("players", "opener", "first", "shots"), ORDERS)
def test_order_of_a_round(players: str, opener: int, first: list[int], shots: int) -> None:
    order = seats(setup(players, opener=opener))
    assert order[:4] == first
    assert len(order) == shots
    counted = {seat: order.count(seat) for seat in set(order)}
    assert counted == dict(shots_per_seat(players, "12/6"))


@pytest.mark.parametrize(
    ("players", "discs", "shots", "dealt"),
    [
        ("singles", "12/6", {1: 12, 3: 12}, {"A": 12, "B": 12}),
        ("singles", "8/6", {1: 8, 3: 8}, {"A": 8, "B": 8}),
        ("doubles", "8/6", {1: 6, 2: 6, 3: 6, 4: 6}, {"A": 12, "B": 12}),
        ("two-v-one", "8/6", {1: 12, 2: 6, 4: 6}, {"A": 12, "B": 12}),
        ("two-v-one", "12/5", {1: 10, 2: 5, 4: 5}, {"A": 10, "B": 10}),
        ("cutthroat", "12/6", {1: 12, 2: 12, 3: 12}, {"A": 12, "B": 12, "C": 12}),
    ],
)
def test_discs_of_seats_and_sides(players: str, discs: str, shots: dict[int, int], dealt: dict[str, int]) -> None:
    assert dict(shots_per_seat(players, discs)) == shots
    assert dict(dealt_per_side(players, discs)) == dealt


def test_the_lead_goes_round_clockwise() -> None:
    assert [opener_of(setup("singles"), k) for k in (1, 2, 3)] == [1, 3, 1]
    assert [opener_of(setup("doubles", opener=3), k) for k in (1, 2, 3, 4, 5)] == [3, 4, 1, 2, 3]
    assert [opener_of(setup("two-v-one"), k) for k in (1, 2, 3, 4)] == [1, 2, 4, 1]
    assert [opener_of(setup("cutthroat"), k) for k in (1, 2, 3, 4)] == [1, 2, 3, 1]


def test_the_lead_passes_on_with_each_game() -> None:
    assert [opener_of(setup("doubles", game_number=k), 1) for k in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert [opener_of(setup("singles", game_number=k), 2) for k in (1, 2)] == [3, 1]


def test_the_hammer_is_the_last_shot() -> None:
    assert hammer_of(setup("singles"), 1) == 3
    assert hammer_of(setup("doubles", opener=3), 1) == 2
    assert hammer_of(setup("two-v-one"), 2) == 1


def test_fewer_discs_for_one_seat() -> None:
    fewer = setup("singles", discs={1: 2}, base="nca")
    assert fewer.dealt == {"A": 2, "B": 8}
    assert seats(fewer) == [1, 3, 1, 3, 3, 3, 3, 3, 3, 3]
    doubles = setup("doubles", discs={1: 2, 4: 5})
    assert doubles.dealt == {"A": 8, "B": 11}
    assert doubles.shots == {1: 2, 2: 6, 3: 6, 4: 5}


def test_deciding_round_between_two_of_three() -> None:
    three = setup("cutthroat")
    assert seats(three, 3, only=frozenset("AB"))[:3] == [1, 2, 1]
    assert seats(three, 2, only=frozenset("BC"))[:3] == [2, 3, 2]
    assert len(seats(three, 3, only=frozenset("AB"))) == 24


@pytest.mark.parametrize(
    ("players", "scores", "following", "playing"),
    [
        ("cutthroat", {"A": 8, "B": 8, "C": 4}, "deciding_round", "AB"),
        ("cutthroat", {"A": 8, "B": 8, "C": 8}, "deciding_round", "ABC"),
        ("cutthroat", {"A": 7, "B": 7, "C": 4}, "round", "ABC"),
        ("singles", {"A": 8, "B": 8}, "deciding_round", "AB"),
        ("singles", {"A": 9, "B": 8}, "deciding_round", "AB"),
    ],
)
def test_who_plays_a_deciding_round(players: str, scores: dict[str, int], following: Any, playing: str) -> None:
    assert deciding_sides(load_ruleset({"players": players}), GameScore(scores, next=following)) == frozenset(playing)


SINGLES = order_of_round(setup(), 1)
THREE = order_of_round(setup("cutthroat"), 1)


@pytest.mark.parametrize(
    ("taken", "order", "side"),
    [
        ({"A": 5, "B": 4}, SINGLES, "B"),
        ({"A": 4, "B": 5}, SINGLES, "A"),
        ({"A": 4, "B": 4}, SINGLES, None),
        ({"A": 6, "B": 3}, SINGLES, "B"),
        ({}, SINGLES, None),
        ({"A": 5, "B": 4, "C": 4}, THREE, "B"),
        ({"A": 5, "B": 5, "C": 4}, THREE, "C"),
        ({"A": 4, "B": 5, "C": 4}, THREE, "C"),
        ({"A": 12, "B": 12, "C": 11}, THREE, "C"),
        ({"A": 12, "B": 11, "C": 12}, THREE, "B"),
    ],
)
def test_one_more_shot_at_time_out(taken: dict[str, int], order: Any, side: str | None) -> None:
    assert extra_shot(taken, order) == side


@pytest.mark.parametrize(
    ("taken", "code"), [({"C": 1}, "bad_side"), ({"A": -1}, "negative"), ({"A": 0.5}, "bad_input")]
)
def test_time_out_with_impossible_shots(taken: Any, code: str) -> None:
    with pytest.raises(RulesError) as refused:
        extra_shot(taken, SINGLES)
    assert refused.value.code == code


BAD_SETUPS = [
    ({"opener": 2}, "bad_seat"),
    ({"game_number": 0}, "negative"),
    ({"head_start": {"C": 5}}, "bad_side"),
    ({"head_start": {"A": -5}}, "negative"),
    ({"discs": {2: 5}}, "bad_seat"),
    ({"discs": {1: 0}}, "bad_value"),
    ({"discs": {1: 13}}, "bad_value"),
    ({"discs": {1: True}}, "bad_value"),
]


@pytest.mark.parametrize(("more", "code"), BAD_SETUPS)
def test_setups_that_cannot_be(more: dict[str, Any], code: str) -> None:
    with pytest.raises(RulesError) as refused:
        setup(**more)
    assert refused.value.code == code
    assert refused.value.sentence


def test_seats_and_sides() -> None:
    assert sides_of("cutthroat") == ("A", "B", "C")
    assert sides_of("doubles") == ("A", "B")
    assert [side_of_seat("two-v-one", seat) for seat in (1, 2, 3, 4)] == ["A", "B", None, "B"]
    assert [seat_of("doubles", who) for who in ("A", "B", 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: turn_cycle("singles", 2), "bad_seat"),
        (lambda: opener_after("singles", 2, 1), "bad_seat"),
        (lambda: seat_of("singles", "C"), "bad_side"),
        (lambda: seat_of("singles", 4), "bad_seat"),
    ],
)
def test_nobody_sits_there(call: Any, code: str) -> None:
    with pytest.raises(RulesError) as refused:
        call()
    assert refused.value.code == code


@given(st.sampled_from(sorted(SEATS)), st.integers(1, 40), st.integers(1, 9), st.sampled_from(["12/6", "8/6", "3/2"]))
def test_every_round_deals_every_disc_and_nobody_shoots_twice_running(
    players: str, round_number: int, game_number: int, discs: str
) -> None:
    ruleset = load_ruleset({"players": players, "discs": discs})
    game = GameSetup(ruleset, game_number=game_number)
    order = order_of_round(game, round_number)
    assert {seat: sum(turn[1] == seat for turn in order) for seat in game.shots} == game.shots
    assert all(one[0] != other[0] for one, other in pairwise(order))
    assert order[0][1] == opener_of(game, round_number)
