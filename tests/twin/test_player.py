"""Whole matches at the level of physics: legal play to the end, rich in what the sensors must cope with."""

import math
from collections import Counter
from typing import Any

import pytest

from hardware.board import TOURNAMENT, Board, load_board
from hardware.twin import truth
from hardware.twin.player import Player, Skill
from hardware.twin.slider import DiscState
from hardware.twin.world import World
from hub.rules.game import GameState

MS = 1_000_000


def play_rounds(
    seed: int, rounds: int, skill: Skill | None = None, *, board: Board = TOURNAMENT, rules: str = "match-play"
) -> tuple[truth.Match, list[dict[str, Any]], Counter[str]]:
    """Play without hands and pictures, as the course does with them."""
    world = World(board, seed)
    match = truth.new_match(board, rules, 2 * rounds + 1)
    players = {side: Player(board, f"player-{seed}-{side}", skill) for side in "AB"}
    entries, happened = [], Counter[str]()
    for _ in range(rounds):
        match = truth.next_game(match)
        while match.state.turn is not None:
            match = one_shot(world, match, players, happened)
        match, entry = truth.count_round(match)
        entries.append(entry)
        for disc in list(world.discs):
            world.remove(disc)
    return match, entries, happened


def one_shot(world: World, match: truth.Match, players: dict[str, Player], happened: Counter[str]) -> truth.Match:
    assert match.state.turn is not None
    side, _ = match.state.turn
    disc = DiscState(f"{side}{match.state.taken}", "light" if side == "A" else "dark", 0.0, 0.0)
    before, first = world.discs, len(world.events)
    shot = players[side].choose(world, match.state, disc)
    lying = [d for d in before.values() if d.where != "ditch"]
    assert all(math.hypot(shot.x_mm - d.x_mm, shot.y_mm - d.y_mm) > 2 * world.board.disc_radius_mm for d in lying)
    world.place(shot.id, shot.colour, shot.x_mm, shot.y_mm)
    world.flick(shot.id, shot.vx_mm_s, shot.vy_mm_s)
    while not world.at_rest():
        world.step(world.at_ns + 10 * MS)
    events = world.events[first:]
    match = truth.take_shot(match, truth.facts(match.state, shot, events, before, world.discs))
    judged = match.shots[-1]
    for name in {event.words[0] for event in events}:
        happened[name] += 1
    happened["leaner"] += any(d.where == "leaning" and d != before.get(n) for n, d in world.discs.items())
    happened["dead_placement"] += "illegal_placement" in judged.verdict.codes
    for name in judged.verdict.lift | judged.verdict.take_off:
        world.remove(name)
    # What is left on the wood is exactly what the rules say is in play.
    assert {n for n, d in world.discs.items() if d.where != "ditch"} == set(match.state.position.discs)
    return match


@pytest.fixture(scope="module")
def evenings() -> dict[int, tuple[truth.Match, list[dict[str, Any]], Counter[str]]]:
    return {seed: play_rounds(seed, rounds) for seed, rounds in ((1, 1), (2, 1), (3, 1), (4, 2))}


def test_five_rounds_hold_half_of_what_scoring_is_tested_with_in_ten(evenings: dict[int, Any]) -> None:
    totals = Counter[str]()
    for _, entries, _ in evenings.values():
        for entry in entries:
            totals.update(entry["counts"])
    assert totals["fouls"] >= 5
    assert totals["twenties_on_foul"] >= 1
    assert totals["opponent_twenties"] >= 1
    assert totals["line_discs"] >= 8
    # And yet it is play, not a collection of oddities.
    assert totals["fouls"] <= 0.35 * 120
    assert totals["twenties_on_foul"] <= 0.12 * 120


def test_leaners_and_spinners_happen(evenings: dict[int, Any]) -> None:
    happened = sum((h for _, _, h in evenings.values()), Counter[str]())
    for name in ("hit", "peg", "off", "hole", "cross", "leaner"):
        assert happened[name] > 0, name
    assert happened["dead_placement"] == 0


def test_every_round_is_whole_and_worth_what_lies_there(evenings: dict[int, Any]) -> None:
    for match, entries, _ in evenings.values():
        assert match.rounds == len(entries)
        for entry in entries:
            for side, total in entry["totals"].items():
                assert total % 5 == 0
                assert 0 <= 20 * entry["twenties"][side] <= total <= 12 * 20
            assert sum(entry["scores"].values()) % 2 == 0


@pytest.mark.parametrize(("board", "rules", "shots"), [("hobby", "classic", 24), ("tournament", "nca", 16)])
def test_other_boards_and_rules_are_played_too(board: str, rules: str, shots: int) -> None:
    match, entries, _ = play_rounds(6, 1, Skill(tries=1, finer=0), board=load_board(board), rules=rules)
    assert len(match.shots) == shots
    assert len(entries) == 1


def test_the_same_seed_plays_the_same_round_and_another_does_not() -> None:
    quick = Skill(tries=2, finer=1)
    first, again, other = (play_rounds(seed, 1, quick)[1] for seed in (11, 11, 12))
    assert first == again
    assert first != other


def test_a_better_player_makes_fewer_fouls_and_more_twenties() -> None:
    hardly = Skill(aim_deg=3.5, pace=0.2, greed=0.0, tries=1, finer=0)
    well = Skill(aim_deg=0.2, pace=0.02, greed=0.0, tries=1, finer=0)
    fouls = {}
    for name, skill in (("hardly", hardly), ("well", well)):
        fouls[name] = sum(entry["counts"]["fouls"] for entry in play_rounds(5, 2, skill)[1])
    assert fouls["well"] < fouls["hardly"]


def test_thinking_yields_between_rehearsals_and_leaves_the_world_alone() -> None:
    world = World(TOURNAMENT, 1)
    state: GameState = truth.new_match(TOURNAMENT, "match-play", 1).state
    thinking = Player(TOURNAMENT, "p").think(world, state, DiscState("A1", "light", 0.0, 0.0))
    steps = 0
    try:
        while True:
            next(thinking)
            steps += 1
            assert world.discs == {}
            assert world.at_ns == 0
    except StopIteration as done:
        shot = done.value
    assert steps >= Skill().tries
    assert TOURNAMENT.touches_outer(shot.r_mm)
    assert shot.vy_mm_s > 0
