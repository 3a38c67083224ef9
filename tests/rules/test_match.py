"""Matches of several games, and shoot-outs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.rules.errors import RulesError
from hub.rules.match import MatchScore, MatchSetup, ShootOut, new_match, play_game, shoot
from hub.rules.scoring import GameScore


def ended(winner: str | None, **scores: int) -> GameScore:
    return GameScore(scores or {"A": 5, "B": 3}, over=True, winner=winner, next="none")


def play(setup: MatchSetup, *winners: str | None) -> MatchScore:
    match = new_match(setup)
    for winner in winners:
        match = play_game(match, ended(winner))
    return match


MATCHES = [
    (MatchSetup(), ["A"], True, "A"),
    (MatchSetup(), [None], True, None),
    (MatchSetup(best_of=3), ["A"], False, None),
    (MatchSetup(best_of=3), ["A", "A"], True, "A"),
    (MatchSetup(best_of=3), ["A", "B"], False, None),
    (MatchSetup(best_of=3), ["A", "B", "B"], True, "B"),
    (MatchSetup(best_of=3), ["A", None, "B"], False, None),
    (MatchSetup(best_of=3), ["A", None, "B", "A"], True, "A"),
    (MatchSetup(best_of=1), [None], False, None),
    (MatchSetup(games=2), ["A"], False, None),
    (MatchSetup(games=2), ["A", "B"], True, None),
    (MatchSetup(games=2), ["A", None], True, "A"),
    (MatchSetup(games=3), ["A", "A"], False, None),
    (MatchSetup("cutthroat", games=3), ["A", "C", "C"], True, "C"),
]


@pytest.mark.parametrize(("setup", "winners", "over", "winner"), MATCHES)
def test_match(setup: MatchSetup, winners: list[str | None], over: bool, winner: str | None) -> None:
    match = play(setup, *winners)
    assert (match.over, match.winner) == (over, winner)
    assert match.game_number == len(winners) + (0 if over else 1)
    assert len(match.games) == len(winners)
    assert sum(match.wins.values()) == sum(won is not None for won in winners)


def test_the_points_of_each_game_are_kept() -> None:
    match = play_game(new_match(MatchSetup(games=2)), ended("A", A=6, B=2))
    assert [dict(points) for points in match.games] == [{"A": 6, "B": 2}]


def test_no_game_after_the_end() -> None:
    with pytest.raises(RulesError) as refused:
        play(MatchSetup(), "A", "A")
    assert refused.value.code == "match_over"


def test_only_finished_games_count() -> None:
    with pytest.raises(RulesError) as refused:
        play_game(new_match(MatchSetup()), GameScore({"A": 0, "B": 0}))
    assert refused.value.code == "game_not_over"


@pytest.mark.parametrize("more", [{"best_of": 2}, {"best_of": -1}, {"games": 0}])
def test_lengths_that_cannot_be(more: dict[str, Any]) -> None:
    with pytest.raises(RulesError) as refused:
        MatchSetup(**more)
    assert refused.value.code == "bad_value"
    assert "best of 3, 5" in refused.value.sentence


def shot(made: str, **more: Any) -> ShootOut:
    """A shoot-out of A and B with a letter for each shot: ``x`` a 20, ``-`` none."""
    shoot_out = ShootOut(("A", "B"), **more)
    for letter in made:
        shoot_out = shoot(shoot_out, made=letter == "x")
    return shoot_out


def test_a_shoot_out_is_12_shots_each() -> None:
    begun = shot("")
    assert (begun.turn, begun.winner, begun.twenties) == ("A", None, {"A": 0, "B": 0})
    almost = shot("x-" * 11 + "x")
    assert (almost.turn, almost.winner) == ("B", None)
    done = shoot(almost, made=True)
    assert (done.turn, done.winner, done.twenties) == (None, "A", {"A": 12, "B": 1})
    with pytest.raises(RulesError) as refused:
        shoot(done, made=True)
    assert refused.value.code == "shoot_out_over"
    assert refused.value.sentence == "the shoot-out is over, A has won it"


def test_a_level_shoot_out_goes_on_one_by_one() -> None:
    level = shot("xxxx", shots=2)
    assert (level.turn, level.winner) == ("A", None)
    assert shot("xxxx-", shots=2).winner is None
    assert shot("xxxx-x", shots=2).winner == "B"
    assert shot("xxxxxx", shots=2).turn == "A"


@given(st.lists(st.booleans(), max_size=30))
def test_whoever_wins_a_shoot_out_has_more(made: list[bool]) -> None:
    shoot_out = ShootOut(("A", "B"), shots=3)
    for one in made:
        if shoot_out.winner:
            break
        shoot_out = shoot(shoot_out, made=one)
    assert sum(shoot_out.twenties.values()) == sum(shoot_out.made)
    if shoot_out.winner:
        assert shoot_out.twenties[shoot_out.winner] == max(shoot_out.twenties.values())
        assert len(set(shoot_out.twenties.values())) == 2
        assert len(shoot_out.made) >= 6
