"""Whole rounds at fact level: the score is the truth's, whatever players and sensors do."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from hub.link.snapshot import Table
from tests.hub.harness import Club
from tests.hub.world import Habits, Truth, World

HABITS = {
    "plain": Habits(),
    "doubts": Habits(contact_doubt=0.5, line=0.3),
    "late-lifting": Habits(lift_late=0.6, twenty=0.5),
    "fouls-left-lying": Habits(foul=0.5, leave_foul=0.5),
    "fingers": Habits(finger=0.3),
    "blind-beam": Habits(beam_blind=0.5, twenty=0.5),
    "camera-restarts": Habits(camera_restart=0.3, line=0.2),
    "unseen-shots": Habits(unseen_shot=0.15, foul=0.0),
    "fast-sweeps": Habits(fast_sweep=1.0),
    "all-at-once": Habits(0.3, 0.3, 0.2, 0.2, 0.3, 0.2, 0.2, 0.3, 0.2),
}


def answer_all(club: Club, world: World, board: str = "b1") -> None:
    """The players answer what is asked, truthfully."""
    for _ in range(40):
        questions = club.table(board).questions
        if not questions:
            return
        for question in questions:
            club.ask("answer", {"question": question.id, "choice": world.answer(question)}, board)
    raise AssertionError("there is no end of questions")


def play_round(club: Club, world: World, opener: str, board: str = "b1") -> Truth:
    world.start_round()
    for number in range(2 * world.dealt):
        side = opener if number % 2 == 0 else "AB".replace(opener, "")
        world.shoot(side)
        answer_all(club, world, board)
        holds(club.table(board), world.dealt)
    if not world.habits.fast_sweep:
        world.lift()
    answer_all(club, world, board)
    truth = world.finish()
    if world.discs and not (world.habits.fast_sweep or world.habits.unseen_shot):
        # With nothing but lifted 20s the board is cleared already, and the round counted.
        assert club.table(board).phase == "round_over"
    world.clear()
    answer_all(club, world, board)
    return truth


def holds(table: Table, dealt: int) -> None:
    """On the board + banked + unshot never exceeds dealt."""
    for side, view in table.sides.items():
        counted = sum(d.value > 0 and d.colour == view.colour and d.state != "hole" for d in table.discs)
        assert counted + view.twenties + view.shots_left <= dealt, (side, view)


def world_on(club: Club, seed: int, habits: Habits, board: str = "b1") -> World:
    return World(lambda source, fact, at_ns: club.fact(source, fact, at_ns, board), random.Random(seed), habits)


@pytest.mark.parametrize("habits", HABITS.values(), ids=HABITS.keys())
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_score_of_two_rounds_is_the_truths(quick_path: Path, habits: Habits, seed: int) -> None:
    club = Club(quick_path)
    assert club.ask("start", {"rules": "match-play", "level": "judge"}).ok
    world = world_on(club, seed, habits)
    truths = [play_round(club, world, opener) for opener in "AB"]
    rounds = club.table().rounds
    assert [r.totals for r in rounds] == [t.totals for t in truths]
    assert [r.twenties for r in rounds] == [t.twenties for t in truths]
    assert all(view.provisional == 0 for view in club.table().sides.values())
    club.close()


def differential(totals: dict[str, int]) -> dict[str, int]:
    high, low = max(totals.values()), min(totals.values())
    return {side: high - low if total == high else 0 for side, total in totals.items()}


def two_one_nothing(totals: dict[str, int]) -> dict[str, int]:
    if totals["A"] == totals["B"]:
        return {"A": 1, "B": 1}
    return {side: 2 if total == max(totals.values()) else 0 for side, total in totals.items()}


@pytest.mark.parametrize(
    ("rules", "dealt", "added", "over"),
    [
        (
            "match-play",
            12,
            two_one_nothing,
            lambda scores, rounds: max(scores.values()) >= 8 and scores["A"] != scores["B"],
        ),
        ("classic", 12, differential, lambda scores, rounds: max(scores.values()) >= 100),
        ("nca", 8, two_one_nothing, lambda scores, rounds: rounds == 4),
    ],
)
@pytest.mark.parametrize("seed", [11, 12])
def test_a_whole_match_ends_when_and_as_it_should(
    quick_path: Path, *, rules: str, dealt: int, added: Any, over: Any, seed: int
) -> None:
    club = Club(quick_path)
    assert club.ask("start", {"rules": rules, "level": "judge"}).ok
    world = world_on(club, seed, Habits(line=0.2, contact_doubt=0.1))
    world.dealt = dealt
    scores = {"A": 0, "B": 0}
    rounds = 0
    while not over(scores, rounds):
        assert club.table().phase in {"round", "round_over"}
        assert rounds < 30
        truth = play_round(club, world, "AB"[rounds % 2])
        rounds += 1
        scores = {side: scores[side] + points for side, points in added(truth.totals).items()}
        assert {side: view.score for side, view in club.table().sides.items()} == scores
    table = club.table()
    assert table.phase == "match_over"
    assert len(table.rounds) == rounds
    leader = max(scores, key=lambda side: scores[side])
    assert table.winner == (None if scores["A"] == scores["B"] else leader)
    club.close()


def test_a_match_over_several_games_alternates_the_opener_game_by_game(quick_path: Path) -> None:
    club = Club(quick_path)
    assert club.ask("start", {"rules": "nca", "level": "judge", "games": 3}).ok
    world = world_on(club, 21, Habits())
    world.dealt = 8
    openers = []
    while club.table().phase != "match_over":
        table = club.table()
        assert table.opener is not None
        openers.append((table.game, table.round, table.opener))
        play_round(club, world, table.opener)
    assert openers[:8] == [(1, n, "ABAB"[n - 1]) for n in range(1, 5)] + [(2, n, "BABA"[n - 1]) for n in range(1, 5)]
    won = {side: view.games for side, view in club.table().sides.items()}
    assert sum(won.values()) <= 3
    assert max(won.values()) >= 2 or len(openers) == 12
    club.close()
