"""Unsettled doubts give a range."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset
from hub.rules.ranges import MOST_ANSWERS, Doubt, round_range
from hub.rules.scoring import new_game, play_round


def ranged(rules: Any, settled: dict[str, int], *doubts: Doubt, **more: Any) -> Any:
    ruleset = load_ruleset(rules)
    return round_range(new_game(ruleset), settled, doubts, ruleset, **more)


def test_without_doubt_a_round_is_a_number() -> None:
    found = ranged("classic", {"A": 60, "B": 35})
    assert (found.round, found.added) == ({"A": (60, 60), "B": (35, 35)}, {"A": (25, 25), "B": (0, 0)})


def test_a_doubt_that_changes_what_is_added() -> None:
    found = ranged("classic", {"A": 60, "B": 35}, Doubt("A", (15, 10)))
    assert found.round == {"A": (70, 75), "B": (35, 35)}
    assert found.added == {"A": (35, 40), "B": (0, 0)}


def test_a_doubt_may_change_the_points_and_not_what_is_added() -> None:
    found = ranged("nca", {"A": 60, "B": 35}, Doubt("A", (15, 10)), Doubt("B", (5, 0)))
    assert found.round == {"A": (70, 75), "B": (35, 40)}
    assert found.added == {"A": (2, 2), "B": (0, 0)}


def test_answers_count_in_every_combination() -> None:
    found = ranged("nca", {"A": 60, "B": 35}, Doubt("A", (15, 10)), Doubt("B", (20, 35)))
    assert found.added == {"A": (1, 2), "B": (0, 1)}


def test_play_offs_count_in_the_range() -> None:
    ruleset = load_ruleset("nca")
    game = new_game(ruleset)
    for _ in range(2):
        game = play_round(game, {"A": 2, "B": 0}, ruleset).game
    found = round_range(game, {"A": 10, "B": 10}, [Doubt("A", (5, 5))], ruleset, playoff=True)
    assert found.round["A"] == (15, 15)


def test_too_many_doubts_are_refused() -> None:
    with pytest.raises(RulesError) as refused:
        ranged("classic", {"A": 0, "B": 0}, *[Doubt("A", (15, 10))] * 15)
    assert refused.value.code == "too_many_doubts"
    assert refused.value.sentence == f"15 doubts have 32768 combined answers, at most {MOST_ANSWERS}"


def test_a_doubt_of_an_unknown_side_is_refused() -> None:
    with pytest.raises(RulesError) as refused:
        ranged("classic", {"A": 0, "B": 0}, Doubt("C", (15, 10)))
    assert refused.value.code == "bad_side"


def test_a_doubt_without_answers_leaves_no_round() -> None:
    with pytest.raises(RulesError) as refused:
        ranged("classic", {"A": 0, "B": 0}, Doubt("A", ()))
    assert refused.value.code == "bad_input"


worths = st.lists(st.sampled_from([0, 5, 10, 15, 20]), min_size=1, max_size=3).map(tuple)


@given(
    st.sampled_from(["classic", "nca", "source-b"]),
    st.tuples(st.integers(0, 20), st.integers(0, 20)),
    st.lists(st.builds(Doubt, st.sampled_from("AB"), worths), max_size=4),
    st.randoms(use_true_random=False),
)
def test_every_answer_lies_in_the_range(rules: str, fives: tuple[int, int], doubts: list[Doubt], random: Any) -> None:
    ruleset = load_ruleset(rules)
    game = new_game(ruleset)
    settled = {"A": 5 * fives[0], "B": 5 * fives[1]}
    found = round_range(game, settled, doubts, ruleset)
    totals = dict(settled)
    for doubt in doubts:
        totals[doubt.side] += random.choice(doubt.worth)
    played = play_round(game, totals, ruleset)
    for side in "AB":
        assert found.round[side][0] <= totals[side] <= found.round[side][1]
        assert found.added[side][0] <= played.added[side] <= found.added[side][1]
