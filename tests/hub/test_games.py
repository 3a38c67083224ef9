"""Whole rounds at fact level: the score is the truth's, whatever players and sensors do."""

from __future__ import annotations

import random
from pathlib import Path

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
