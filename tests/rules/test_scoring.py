"""Rounds and games as numbers: what a round adds, when a game is over, what follows (rules 48-54, 16)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset
from hub.rules.scoring import (
    GameScore,
    added_points,
    check_count,
    new_game,
    play_round,
    round_total,
    rounds_to_level,
    score_round,
    standing,
)

CUT = {"players": "cutthroat"}
PAIRS_8 = {"base": "match-play", "tie_end": "pairs"}
PAIRS_4 = {"base": "nca", "tie_end": "pairs"}


def table(text: str) -> dict[str, int]:
    """``"A2 B-1"`` as points by side."""
    return {word[0]: int(word[1:]) for word in text.split()}


ADDED = [
    ("A60 B35", "classic", "A25 B0"),
    ("A35 B60", "classic", "A0 B25"),
    ("A35 B35", "classic", "A0 B0"),
    ("A60 B35", "source-b", "A60 B35"),
    ("A60 B35", "nca", "A2 B0"),
    ("A35 B60", "nca", "A0 B2"),
    ("A35 B35", "nca", "A1 B1"),
    ("A0 B0", "nca", "A1 B1"),
    ("A80 B55 C30", CUT, "A2 B1 C0"),
    ("A30 B55 C80", CUT, "A0 B1 C2"),
    ("A80 B80 C30", CUT, "A1 B1 C0"),
    ("A30 B80 C80", CUT, "A0 B1 C1"),
    ("A80 B30 C30", CUT, "A2 B0 C0"),
    ("A30 B30 C80", CUT, "A0 B0 C2"),
    ("A30 B30 C30", CUT, "A0 B0 C0"),
    ("A30 B30 C30", {**CUT, "three_way_tie": "one_each"}, "A1 B1 C1"),
    ("A80 B55 C30", {**CUT, "base": "nca"}, "A2 B1 C0"),
    ("A80 B55 C30", {**CUT, "base": "source-b"}, "A2 B1 C0"),
]


@pytest.mark.parametrize(("totals", "rules", "added"), ADDED)
def test_added(totals: str, rules: Any, added: str) -> None:
    assert added_points(table(totals), load_ruleset(rules)) == table(added)


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_differential_never_adds_to_both(a: int, b: int) -> None:
    added = added_points({"A": a, "B": b}, load_ruleset("classic"))
    assert min(added.values()) == 0
    assert max(added.values()) == abs(a - b)


@given(st.integers(0, 300), st.integers(0, 300))
def test_match_play_always_gives_two_points(a: int, b: int) -> None:
    assert sum(added_points({"A": a, "B": b}, load_ruleset("nca")).values()) == 2


def test_each_disc_counts_once() -> None:
    assert round_total(3, 25) == 85


# rules, play-off, rounds played one after the other, then: over, winner, next, deciding rounds played
GAMES = [
    ("classic", False, ["A100 B0"], True, "A", "none", 0),
    ("classic", False, ["A95 B0", "A0 B95"], False, None, "round", 0),
    ("match-play", False, ["A2 B0"] * 3 + ["A1 B1"], False, None, "round", 0),
    ("match-play", False, ["A2 B0"] * 4, True, "A", "none", 0),
    ("match-play", False, ["A1 B1"] * 8, False, None, "deciding_round", 0),
    ("match-play", False, ["A1 B1"] * 9, False, None, "deciding_round", 1),
    ("match-play", False, ["A1 B1"] * 9 + ["A0 B2"], True, "B", "none", 2),
    ({"base": "match-play", "tie_end": "draw"}, False, ["A1 B1"] * 8, True, None, "none", 0),
    ({"base": "match-play", "tie_end": "draw"}, True, ["A1 B1"] * 8, True, None, "none", 0),
    ({"base": "match-play", "tie_end": "fifth_round"}, False, ["A1 B1"] * 8, True, None, "none", 0),
    ({"base": "match-play", "tie_end": "fifth_round"}, True, ["A1 B1"] * 8, False, None, "deciding_round", 0),
    (PAIRS_8, False, ["A1 B1"] * 8, False, None, "deciding_round", 0),
    (PAIRS_8, False, ["A1 B1"] * 8 + ["A2 B0"], False, None, "deciding_round", 1),
    (PAIRS_8, False, ["A1 B1"] * 8 + ["A2 B0", "A1 B1"], True, "A", "none", 2),
    (PAIRS_8, False, ["A1 B1"] * 8 + ["A2 B0", "A0 B2"], False, None, "deciding_round", 2),
    (PAIRS_8, False, ["A1 B1"] * 8 + ["A2 B0", "A0 B2", "A0 B2"], False, None, "deciding_round", 3),
    (PAIRS_8, False, ["A1 B1"] * 8 + ["A2 B0", "A0 B2", "A0 B2", "A0 B2"], True, "B", "none", 4),
    ("nca", False, ["A2 B0"] * 3, False, None, "round", 0),
    ("nca", True, ["A2 B0"] * 2, False, None, "round", 0),
    ("nca", True, ["A2 B0"] * 2 + ["A1 B1"], True, "A", "none", 0),
    ("nca", True, ["A2 B0", "A0 B2", "A1 B1", "A1 B1"], True, None, "none", 0),
    ("nca", False, ["A2 B0", "A2 B0", "A2 B0", "A0 B2"], True, "A", "none", 0),
    ("wcc", True, ["A1 B1"] * 4, False, None, "deciding_round", 0),
    ("wcc", True, ["A1 B1"] * 5, False, None, "deciding_round", 1),
    ("wcc", True, ["A1 B1"] * 5 + ["A0 B2"], True, "B", "none", 2),
    ({"base": "nca", "tie_end": "deciding_round"}, False, ["A1 B1"] * 4, False, None, "deciding_round", 0),
    (PAIRS_4, True, ["A1 B1"] * 4 + ["A2 B0"], False, None, "deciding_round", 1),
    (PAIRS_4, False, ["A1 B1"] * 4 + ["A2 B0", "A2 B0"], True, "A", "none", 2),
    ({"base": "nca", "scoring": "differential"}, True, ["A100 B0"], False, None, "round", 0),
    ({"base": "nca", "scoring": "differential"}, False, ["A10 B0"] * 4, True, "A", "none", 0),
    ({"base": "nca", "game_end": "rounds 6"}, True, ["A2 B0"] * 3, False, None, "round", 0),
    ({"base": "nca", "game_end": "rounds 6"}, True, ["A2 B0"] * 4, True, "A", "none", 0),
    ({"base": "match-play", "game_end": "first_to 7 lead 2"}, False, ["A1 B1"] * 7, False, None, "round", 0),
    ({"base": "match-play", "game_end": "first_to 7 lead 2"}, False, ["A1 B1"] * 7 + ["A2 B0"], True, "A", "none", 0),
    (
        {"base": "match-play", "game_end": "first_to 7 lead 4"},
        False,
        ["A1 B1"] * 6 + ["A2 B0"],
        False,
        None,
        "round",
        0,
    ),
    ({"base": "match-play", "game_end": "first_to 7 lead 4"}, False, ["A2 B0"] * 3, False, None, "round", 0),
    ({"base": "match-play", "game_end": "first_to 7 lead 2"}, False, ["A1 B1"] * 5 + ["A2 B0"], True, "A", "none", 0),
    (CUT, False, ["A2 B1 C0"] * 4, True, "A", "none", 0),
    (CUT, False, ["A2 B2 C0"] * 8, False, None, "deciding_round", 0),
    (CUT, False, ["A2 B2 C0"] * 8 + ["A0 B2 C0"], True, "B", "none", 1),
    ({**CUT, "three_way_tie": "one_each"}, False, ["A2 B2 C2"] * 8, False, None, "deciding_round", 0),
    ({**CUT, "base": "nca", "tie_end": "draw"}, False, ["A2 B2 C0"] * 8, True, None, "none", 0),
]


@pytest.mark.parametrize("row", GAMES)
def test_game_after_rounds(row: tuple[Any, bool, list[str], bool, str | None, str, int]) -> None:
    rules, playoff, rounds, over, winner, following, deciding = row
    ruleset = load_ruleset(rules)
    game = new_game(ruleset)
    for totals in rounds:
        assert not game.over
        game = play_round(game, table(totals), ruleset, playoff=playoff).game
    assert (game.over, game.winner, game.next, game.deciding) == (over, winner, following, deciding)
    assert game.rounds == len(rounds)
    assert game.level_end is (following == "deciding_round" or deciding > 0)


def test_no_round_after_the_end() -> None:
    game = GameScore({"A": 100, "B": 0}, over=True)
    with pytest.raises(RulesError) as refused:
        play_round(game, {"A": 5, "B": 0}, load_ruleset("classic"))
    assert refused.value.code == "game_over"
    assert refused.value.sentence == "the game is over, no round follows"


def test_round_keeps_totals_and_what_they_added() -> None:
    played = play_round(GameScore({"A": 10, "B": 20}), {"A": 35, "B": 60}, load_ruleset("classic"))
    assert (dict(played.round), dict(played.added)) == ({"A": 35, "B": 60}, {"A": 0, "B": 25})
    assert dict(played.game.scores) == {"A": 10, "B": 45}


@pytest.mark.parametrize(
    ("totals", "code", "sentence"),
    [
        ({"A": 5}, "bad_side", "round totals: side B is missing"),
        ({"A": 5, "B": 0, "C": 0}, "bad_side", "round totals: no side 'C' in this game, expected A, B"),
        ({"A": 5, "B": -5}, "negative", "round totals of B: cannot be -5"),
        ({"A": 5, "B": 0.5}, "bad_input", "round totals of B: expected a whole number, got 0.5"),
    ],
)
def test_round_totals_that_cannot_be(totals: Any, code: str, sentence: str) -> None:
    with pytest.raises(RulesError) as refused:
        play_round(GameScore({"A": 0, "B": 0}), totals, load_ruleset("classic"))
    assert refused.value.code == code
    assert refused.value.sentence == sentence


@pytest.mark.parametrize(
    ("head_start", "code", "sentence"),
    [
        ({"C": 5}, "bad_side", "head start: no side 'C', expected A, B"),
        ({"A": -5}, "negative", "head start of A: cannot be -5"),
        ({"A": "5"}, "bad_input", "head start of A: expected a whole number, got '5'"),
    ],
)
def test_head_starts_that_cannot_be(head_start: Any, code: str, sentence: str) -> None:
    with pytest.raises(RulesError) as refused:
        new_game(load_ruleset("classic"), head_start)
    assert (refused.value.code, refused.value.sentence) == (code, sentence)


CONCEDED = [
    ("classic", "A60 B35", "A", "A0 B0"),
    ("classic", "A60 B35", "B", "A25 B0"),
    ("source-b", "A60 B35", "A", "A35 B35"),
    ("source-b", "A60 B35", "B", "A60 B35"),
    ("nca", "A60 B35", "A", "A0 B2"),
    ("nca", "A0 B0", "A", "A0 B2"),
    ("nca", "A0 B0", "B", "A2 B0"),
    (CUT, "A60 B35 C20", "A", "A0 B2 C1"),
    (CUT, "A60 B0 C0", "A", "A0 B1 C1"),
    ({**CUT, "scoring": "cumulative"}, "A60 B35 C20", "C", "A2 B1 C0"),
]


@pytest.mark.parametrize(("rules", "totals", "side", "added"), CONCEDED)
def test_a_conceded_round_never_pays_the_side_that_gives_up(rules: Any, totals: str, side: str, added: str) -> None:
    ruleset = load_ruleset(rules)
    played = play_round(new_game(ruleset), table(totals), ruleset, conceded=side)
    assert dict(played.added) == table(added)
    assert dict(played.round) == table(totals)


def test_head_start_is_where_a_side_begins() -> None:
    ruleset = load_ruleset("classic")
    game = new_game(ruleset, {"B": 40})
    assert dict(game.scores) == {"A": 0, "B": 40}
    assert dict(play_round(game, {"A": 0, "B": 60}, ruleset).game.scores) == {"A": 0, "B": 100}


STANDINGS = [
    ("match-play", "A7 B7", 7, None, False, 0),
    ("match-play", "A8 B8", 8, None, True, 0),
    ("match-play", "A9 B9", 9, None, True, 1),
    ("match-play", "A8 B6", 7, None, False, 0),
    ("match-play", "A10 B8", 9, None, True, 1),
    ("match-play", "A8 B4", 4, {"A": 4}, False, 0),
    ("match-play", "A8 B8", 6, {"A": 4}, True, 0),
    ("match-play", "A9 B9", 7, {"A": 4}, True, 1),
    ("source-b", "A140 B140", 4, None, True, 0),
    ("source-b", "A95 B95", 4, None, False, 0),
    ("source-b", "A140 B135", 4, None, False, 0),
    ("classic", "A95 B95", 30, None, False, 0),
    ("nca", "A4 B4", 4, None, True, 0),
    ("nca", "A3 B3", 3, None, False, 0),
    ("nca", "A6 B2", 4, None, False, 0),
    ("nca", "A6 B4", 5, None, True, 1),
    ("nca", "A6 B6", 6, None, True, 2),
    ({"base": "match-play", "game_end": "first_to 7 lead 2"}, "A7 B7", 7, None, False, 0),
    ({"base": "match-play", "game_end": "first_to 7 lead 2"}, "A9 B9", 9, None, False, 0),
    (CUT, "A8 B8 C4", 9, None, True, 0),
    (CUT, "A8 B4 C8", 9, None, True, 0),
    (CUT, "A7 B7 C4", 9, None, False, 0),
    (CUT, "A9 B8 C8", 12, None, False, 0),
    ({**CUT, "base": "match-play"}, "A9 B9 C5", 12, None, True, 0),
]


@pytest.mark.parametrize("row", STANDINGS)
def test_standing_told_by_points_alone(row: tuple[Any, str, int, dict[str, int] | None, bool, int]) -> None:
    rules, scores, rounds, head_start, level_end, deciding = row
    game = standing(table(scores), rounds, load_ruleset(rules), head_start=head_start)
    assert (game.level_end, game.deciding, game.rounds) == (level_end, deciding, rounds)
    assert game.next == ("deciding_round" if level_end else "round")
    assert (game.over, game.winner, dict(game.scores)) == (False, None, table(scores))


def test_rounds_to_level() -> None:
    assert rounds_to_level(load_ruleset("match-play")) == 8
    assert rounds_to_level(load_ruleset("match-play"), {"B": 2}) == 7


IMPOSSIBLE = [
    ("match-play", "A8 B7", None, "impossible_score"),
    ("match-play", "A3 B0", {"A": 1}, None),
    ("match-play", "A2 B0", {"A": 1}, "impossible_score"),
    ("match-play", "A0 B2", {"A": 1}, "impossible_score"),
    ("classic", "A5 B3", None, "impossible_score"),
    ("classic", "A3 B5", None, "impossible_score"),
    ("classic", "A8 B5", {"A": 3}, None),
    ("source-b", "A5 B3", None, "impossible_score"),
    (CUT, "A3 B2 C2", None, None),
    ({**CUT, "base": "nca"}, "A3 B2 C2", None, None),
    ("classic", "A-5 B0", None, "negative"),
    ("classic", "A5 D0", None, "bad_side"),
]


@pytest.mark.parametrize(("rules", "scores", "head_start", "code"), IMPOSSIBLE)
def test_scores_that_cannot_be(rules: Any, scores: str, head_start: dict[str, int] | None, code: str | None) -> None:
    if code is None:
        assert standing(table(scores), 3, load_ruleset(rules), head_start=head_start)
        return
    with pytest.raises(RulesError) as refused:
        standing(table(scores), 3, load_ruleset(rules), head_start=head_start)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("scores", "rounds", "code", "sentence"),
    [
        ({"A": 0, "B": 0}, -1, "negative", "rounds of the game: cannot be -1"),
        ({"A": 0, "B": 0}, 1.5, "bad_input", "rounds of the game: expected a whole number, got 1.5"),
        ({"A": 0, "B": 0}, True, "bad_input", "rounds of the game: expected a whole number, got True"),
        ({"A": 0, "B": -5}, 1, "negative", "scores of B: cannot be -5"),
    ],
)
def test_a_standing_that_cannot_be(scores: Any, rounds: Any, code: str, sentence: str) -> None:
    with pytest.raises(RulesError) as refused:
        standing(scores, rounds, load_ruleset("classic"))
    assert (refused.value.code, refused.value.sentence) == (code, sentence)


def count(**changes: Any) -> Any:
    given: dict[str, Any] = {
        "scores": {"A": 0, "B": 0},
        "twenties": {"A": 0, "B": 0},
        "ruleset": load_ruleset("classic"),
        "points": {"A": 0, "B": 0},
    }
    given |= changes
    return score_round(given.pop("scores"), given.pop("twenties"), given.pop("ruleset"), **given)


BAD_ROUNDS = [
    ({"scores": {"A": 0}}, "bad_side"),
    ({"scores": {"A": 0, "B": 0, "C": 0}}, "bad_side"),
    ({"scores": [0, 0]}, "bad_input"),
    ({"scores": {"A": 0, "B": "5"}}, "bad_input"),
    ({"scores": {"A": 0, "B": -5}}, "negative"),
    ({"twenties": {"A": 0, "B": -1}}, "negative"),
    ({"twenties": {"A": 0, "B": 1.5}}, "bad_input"),
    ({"twenties": {"A": 0, "B": True}}, "bad_input"),
    ({"twenties": {"A": 13, "B": 0}}, "too_many_discs"),
    ({"points": {"A": 0}}, "bad_side"),
    ({"points": {"A": 0, "B": -5}}, "negative"),
    ({"points": {"A": 0, "B": 3}}, "impossible_score"),
    ({"points": {"A": 185, "B": 0}}, "too_many_discs"),
    ({"points": {"A": 16 * 15, "B": 3}}, "too_many_discs"),
    ({"points": {"A": 5, "B": 0}, "twenties": {"A": 12, "B": 0}}, "too_many_discs"),
    ({"points": None}, "bad_input"),
    ({"board_mm": {"A": [60]}}, "bad_side"),
    ({"board_mm": {"A": [60], "B": []}, "twenties": {"A": 0, "B": -1}}, "negative"),
    ({"board_mm": {"A": [60], "B": ["x"]}}, "bad_input"),
    ({"board_mm": {"A": [60], "B": [True]}}, "bad_input"),
    ({"board_mm": {"A": [60], "B": [float("nan")]}}, "bad_input"),
    ({"board_mm": {"A": [60], "B": [float("inf")]}}, "bad_input"),
    ({"board_mm": {"A": [60], "B": [-1]}}, "negative"),
    ({"board_mm": {"A": [60] * 13, "B": []}}, "too_many_discs"),
    ({"board_mm": {"A": [325] * 13, "B": []}}, "too_many_discs"),
    ({"round_number": 0}, "negative"),
    ({"round_number": "1"}, "bad_input"),
    ({"dealt": {"A": 1, "B": 12}, "twenties": {"A": 2, "B": 0}}, "too_many_discs"),
]


@pytest.mark.parametrize(("changes", "code"), BAD_ROUNDS)
def test_rounds_that_cannot_be(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(RulesError) as refused:
        count(**changes)
    assert refused.value.code == code
    assert refused.value.sentence


def test_a_full_round_is_possible() -> None:
    assert count(points={"A": 180, "B": 0}).round == {"A": 180, "B": 0}
    assert count(twenties={"A": 12, "B": 0}).round == {"A": 240, "B": 0}
    assert count(board_mm={"A": [0] * 12, "B": [84.8, 186.4, 288, 330]}).round == {"A": 180, "B": 15}
    assert count(points={"A": 15, "B": 0}, twenties={"A": 11, "B": 0}).round == {"A": 235, "B": 0}


def test_more_discs_where_more_were_dealt() -> None:
    assert count(twenties={"A": 13, "B": 0}, dealt={"A": 13, "B": 12}).round == {"A": 260, "B": 0}


def test_a_play_off_is_told_to_the_count() -> None:
    given: dict[str, Any] = {"scores": {"A": 4, "B": 0}, "ruleset": load_ruleset("nca"), "round_number": 3}
    assert count(**given, playoff=True).game.over
    assert not count(**given, playoff=False).game.over


def test_head_start_is_told_to_the_count() -> None:
    given: dict[str, Any] = {"scores": {"A": 3, "B": 0}, "ruleset": load_ruleset("match-play")}
    assert dict(count(**given, head_start={"A": 1}).game.scores) == {"A": 4, "B": 1}


def test_unless_told_it_is_the_first_round_and_no_play_off() -> None:
    assert count().game.rounds == 1
    given: dict[str, Any] = {"scores": {"A": 4, "B": 0}, "ruleset": load_ruleset("nca"), "round_number": 3}
    assert not count(**given).game.over
    assert not play_round(GameScore({"A": 4, "B": 0}, rounds=2), {"A": 5, "B": 0}, load_ruleset("nca")).game.over


def test_a_new_game_waits_for_its_first_round() -> None:
    assert new_game(load_ruleset("classic")) == GameScore({"A": 0, "B": 0}, 0, 0, False, False, None, "round")


@pytest.mark.parametrize(
    ("points", "twenties", "code"),
    [
        ({"A": 180}, {"A": 0}, None),
        ({"A": 0}, {"A": 12}, None),
        ({"A": 185}, {"A": 0}, "too_many_discs"),
        ({"A": 5}, {"A": 12}, "too_many_discs"),
        ({"A": 7}, {"A": 0}, "impossible_score"),
        ({"C": 5}, {"A": 0}, "bad_side"),
        ({"A": 5}, {"C": 0}, "bad_side"),
        ({"A": 5}, {"A": -1}, "negative"),
    ],
)
def test_points_that_so_many_discs_can_have(points: dict[str, int], twenties: dict[str, int], code: str | None) -> None:
    if code is None:
        check_count(points, twenties, {"A": 12})
        return
    with pytest.raises(RulesError) as refused:
        check_count(points, twenties, {"A": 12})
    assert refused.value.code == code
    if code == "negative":
        assert refused.value.sentence == "twenties of A: cannot be -1"


TELLING = [
    ({"points": {"A": 0, "B": 3}}, "points of B: 3 is no multiple of five"),
    ({"twenties": {"A": 13, "B": 0}}, "side A: 0 on the board and 13 banked, but 12 discs were dealt"),
    ({"scores": {"A": 33, "B": 0}}, "33 to 0: game points go in fives"),
    (
        {"scores": {"A": 8, "B": 7}, "ruleset": load_ruleset("nca")},
        "8 to 7: each round gives two points in all, the sum cannot be odd",
    ),
    ({"scores": {"A": 0, "B": -5}}, "scores of B: cannot be -5"),
    ({"scores": {"A": 0, "B": "5"}}, "scores of B: expected a whole number, got '5'"),
    ({"scores": {"A": 0}}, "scores: side B is missing"),
    ({"scores": {"A": 0, "B": 0, "C": 0}}, "scores: no side 'C' in this game, expected A, B"),
    (
        {"board_mm": {"A": [60], "B": []}, "twenties": {"A": 0, "C": 1}},
        "twenties: no side 'C' in this game, expected A, B",
    ),
    ({"round_number": 0}, "round number: expected a whole number from 1, got 0"),
    ({"board_mm": {"A": ["x"], "B": []}}, "board of A: expected radii in mm, got 'x'"),
    ({"board_mm": {"A": [-1], "B": []}}, "board of A: a radius cannot be -1"),
    ({"points": {"A": 0}}, "points: side B is missing"),
    ({"points": {"A": 0, "B": -5}}, "points of B: cannot be -5"),
    ({"board_mm": {"A": []}}, "board: side B is missing"),
    ({"board_mm": {"A": [], "B": []}, "twenties": {"A": 0, "B": -5}}, "twenties of B: cannot be -5"),
    ({"twenties": {"A": 0, "B": -5}}, "twenties of B: cannot be -5"),
    ({"scores": [0, 0]}, "scores: expected an object by side, got [0, 0]"),
    ({"points": None}, "a round needs the discs on the board or their points"),
]


@pytest.mark.parametrize(("changes", "sentence"), TELLING)
def test_errors_say_what_where_and_what_was_expected(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RulesError) as refused:
        count(**changes)
    assert refused.value.sentence == sentence


def test_less_than_the_head_start_is_impossible() -> None:
    with pytest.raises(RulesError) as refused:
        standing({"A": 0, "B": 0}, 0, load_ruleset("classic"), head_start={"A": 5})
    assert refused.value.code == "impossible_score"
    assert refused.value.sentence == "0 to 0: less than the head start"
