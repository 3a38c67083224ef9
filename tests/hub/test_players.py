"""Doubles, one against two, and three players: the hub's order of play, seats, scores and hammers are the rules'."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hub.proof import prove
from hub.replay import run
from hub.rules.order import GameSetup, hammer_of, order_of_round
from hub.rules.presets import load_ruleset
from hub.rules.scoring import new_game, play_round
from hub.store.reader import JournalReader
from tests.hub.harness import Club
from tests.hub.test_games import answer_all, world_on
from tests.hub.world import Habits, Truth, World

CALM = Habits(foul=0.15, twenty=0.2, opponents_twenty=0.1, line=0.1)
DOUBLES = {1: "A", 2: "B", 3: "A", 4: "B"}


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path, ("b1",))
    yield club
    club.close()
    with JournalReader(club.url) as journal:
        assert prove(journal, "b1").unequal == ()


def setup_of(rules: Any, opener: int = 1, game: int = 1) -> GameSetup:
    return GameSetup(load_ruleset(rules), opener=opener, game_number=game)


def play(club: Club, world: World, order: tuple[tuple[str, int], ...]) -> Truth:
    """A round in the order of the rules; at every shot the table says whose it is."""
    world.start_round()
    for number, (side, seat) in enumerate(order):
        table = club.table()
        assert (table.turn, table.seat, table.shot) == (side, seat, number)
        world.shoot(side, seat)
        answer_all(club, world)
    world.lift()
    truth = world.finish()
    world.clear()
    answer_all(club, world)
    return truth


def check_game(club: Club, rules: dict[str, Any], world: World, most: int) -> int:
    """Play a game to its end beside the rules' own scoring; gives the number of rounds."""
    setup = setup_of(rules)
    score = new_game(setup.ruleset)
    for number in range(1, most + 1):
        order = order_of_round(setup, number)
        table = club.table()
        assert table.opener == order[0][0]
        assert {side for side, view in table.sides.items() if view.hammer} == {order[-1][0]}
        assert order[-1][1] == hammer_of(setup, number)
        truth = play(club, world, order)
        score = play_round(score, truth.totals, setup.ruleset).game
        assert club.table().rounds[-1].totals == truth.totals
        shown = club.table().sides
        assert {side: view.score for side, view in shown.items()} == score.scores or score.over
        if score.over:
            assert club.table().phase == "match_over"
            assert club.table().winner == score.winner
            return number
    raise AssertionError("the game does not end")


@pytest.mark.parametrize(("rules", "seed"), [("classic", 1), ("nca", 2), ("match-play", 3)])
def test_a_game_of_doubles_is_the_rules_own(club: Club, rules: str, seed: int) -> None:
    assert club.ask("start", {"rules": rules, "players": "doubles", "level": "judge"}).ok
    table = club.table()
    assert (table.players, table.seats) == ("doubles", DOUBLES)
    assert [view.shots_left for view in table.sides.values()] == [12, 12]
    world = world_on(club, seed, CALM)
    assert check_game(club, {"base": rules, "players": "doubles"}, world, 40) >= 4


def test_one_against_two_shoots_every_other_turn(club: Club) -> None:
    rules = {"base": "match-play", "players": "two-v-one"}
    assert club.ask("start", {"rules": rules, "level": "judge"}).ok
    assert club.table().seats == {1: "A", 2: "B", 4: "B"}
    world = world_on(club, 4, CALM)
    for number in (1, 2, 3):
        play(club, world, order_of_round(setup_of(rules), number))


@pytest.mark.parametrize("players", ["doubles", "two-v-one", "cutthroat"])
def test_a_match_is_judged_by_other_rules_for_those_who_played_it(
    club: Club, players: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = {"base": "classic", "players": players}
    assert club.ask("start", {"rules": rules, "level": "judge"}).ok
    world = world_on(club, 1, CALM)
    world.sides = "ABC" if players == "cutthroat" else "AB"
    play(club, world, order_of_round(setup_of(rules), 1))
    club.close()
    assert run(club.url, rules="classic") == 0
    told = capsys.readouterr().out
    assert "no verdict differs" in told
    assert "->" not in told.partition("\n")[2]


@pytest.mark.parametrize("seed", [5, 6])
def test_a_game_of_three_is_the_rules_own(club: Club, seed: int) -> None:
    rules = {"base": "classic", "players": "cutthroat"}
    assert club.ask("start", {"rules": rules, "level": "judge", "names": {"C": "Cleo"}}).ok
    table = club.table()
    assert table.seats == {1: "A", 2: "B", 3: "C"}
    assert [view.colour for view in table.sides.values()] == ["light", "dark", "third"]
    assert table.sides["C"].name == "Cleo"
    world = world_on(club, seed, CALM)
    world.sides = "ABC"
    check_game(club, rules, world, 20)


def test_a_deciding_round_between_two_of_three_is_theirs_alone(club: Club) -> None:
    rules = {"base": "classic", "players": "cutthroat"}
    assert club.ask("start", {"rules": rules, "level": "judge"}).ok
    level, first_a, first_b = {"A": 20, "B": 20}, {"A": 40, "B": 20}, {"A": 20, "B": 40}
    for number, totals in enumerate([first_a, first_b, first_a, first_b, level, level], 1):
        assert club.ask("correct", {"totals": {**totals, "C": 0}}).ok
        assert club.ask("confirm", {"round": number}).ok
    table = club.table()
    assert {side: view.score for side, view in table.sides.items()} == {"A": 8, "B": 8, "C": 0}
    assert {side: view.shots_left for side, view in table.sides.items()} == {"A": 12, "B": 12, "C": 0}
    order = order_of_round(setup_of(rules), 7, frozenset("AB"))
    world = world_on(club, 9, CALM)
    world.sides = "AB"
    truth = play(club, world, order)
    assert club.table().rounds[-1].totals == {**truth.totals, "C": 0}
    best = max(truth.totals, key=lambda side: truth.totals[side])
    assert (club.table().phase, club.table().winner) == ("match_over", best)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"rules": {"base": "klassik"}}, "unknown_preset"),
        ({"rules": {"base": "classic", "spiner": "any"}}, "unknown_variant"),
        ({"rules": {"base": "classic", "discs": "many"}}, "bad_value"),
        ({"rules": {"base": "classic", "reshoots": -1}}, "bad_value"),
        ({"rules": {"base": 3}}, "bad_value"),
        ({"players": "quartet"}, "bad_request"),
        ({"light": "C"}, "bad_side"),
        ({"opener": "C", "players": "doubles"}, "bad_side"),
    ],
)
def test_rules_that_are_none_are_refused_by_name(club: Club, body: dict[str, Any], code: str) -> None:
    assert club.ask("start", body).error.startswith(f"{code}:")
    assert club.table().phase == "idle"


def test_a_clubs_own_rules_hold(club: Club) -> None:
    rules = {"base": "nca", "discs": "6/3", "game_end": "rounds 2", "title": "Short evening"}
    assert club.ask("start", {"rules": rules}).ok
    table = club.table()
    assert (table.rules, [view.shots_left for view in table.sides.values()]) == ("Short evening", [6, 6])
