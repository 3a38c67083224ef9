"""The truth: shots judged from the world's events, and what players answer because they have seen it."""

import json
from pathlib import Path
from typing import Any

import pytest

from hardware.board import TOURNAMENT, to_xy
from hardware.twin import truth
from hardware.twin.physics import Event
from hardware.twin.slider import DiscState
from hub.rules.errors import RulesError
from hub.rules.position import Disc, Place, Position, Shot

LINE = Place(304.8, 0.0)


def lying(name: str, r_mm: float, angle_deg: float = 0.0, where: Any = "surface") -> DiscState:
    return DiscState(name, "light" if name[0] == "A" else "dark", *to_xy(r_mm, angle_deg), where=where)


def match_with(**shots: Shot) -> truth.Match:
    match = truth.new_match(TOURNAMENT, "match-play", 1)
    for shot in shots.values():
        match = truth.take_shot(match, shot)
    return match


def open_twenty(disc: str = "A1") -> Shot:
    return Shot("A", 1, disc, (("hole", disc),), {disc: "hole"}, LINE)


def test_only_what_moved_and_is_in_play_is_told() -> None:
    state = match_with(one=Shot("A", 1, "A1", (), {"A1": Place(60.0, 10.0)}, LINE)).state
    before = {"A1": lying("A1", 60.0, 10.0), "B0": lying("B0", 355.0, 90.0, "ditch")}
    shot = DiscState("B1", "dark", *to_xy(304.8, 180.0))
    after = {**before, "B0": lying("B0", 355.0, 95.0, "ditch"), "B1": lying("B1", 150.0, 180.0)}
    told = truth.facts(state, shot, [Event(1, ("hit", "B1", "B0")), Event(2, ("peg", "B1"))], before, after)
    assert (told.side, told.seat, told.disc) == ("B", 3, "B1")
    assert set(told.rest) == {"B1"}
    assert told.events == (("peg", "B1"),)
    assert told.placed is not None
    assert told.placed.angle_deg == pytest.approx(180.0)


def test_a_twenty_on_a_foul_and_an_opponents_twenty_are_counted() -> None:
    match = match_with(one=Shot("A", 1, "A1", (), {"A1": Place(60.0, 10.0)}, LINE))
    foul = Shot("B", 3, "B1", (("hole", "B1"),), {"B1": "hole"}, Place(304.8, 180.0))
    match = truth.take_shot(match, foul)
    assert match.counts == {"fouls": 1, "twenties_on_foul": 1, "opponent_twenties": 0}
    match = truth.take_shot(match, Shot("A", 1, "A2", (), {"A2": Place(250.0, 0.0)}, LINE))
    gift = Shot("B", 3, "B2", (("hit", "B2", "A1"), ("hole", "A1")), {"B2": Place(90.0, 180.0), "A1": "hole"})
    if match.state.position.discs.keys() == {"A1"}:
        match = truth.take_shot(match, gift)
        assert match.counts["opponent_twenties"] == 1


def test_two_discs_in_the_hole_are_left_to_the_players_who_bank_both() -> None:
    match = match_with(one=Shot("A", 1, "A1", (), {"A1": Place(60.0, 10.0)}, LINE))
    both = Shot("B", 3, "B1", (("hit", "B1", "A1"), ("hole", "A1"), ("hole", "B1")), {"A1": "hole", "B1": "hole"})
    match = truth.take_shot(match, both)
    assert match.state.position.discs == {}
    assert dict(match.state.position.banked) == {"A": 1, "B": 1}


@pytest.mark.parametrize(("r_mm", "lines"), [(84.8, 1), (86.7, 1), (87.0, 0), (186.4, 1), (286.1, 1), (285.9, 0)])
def test_a_line_disc_lies_within_two_millimetres_of_a_limit(r_mm: float, lines: int) -> None:
    assert truth.line_discs(Position({"A1": Disc("A", r_mm, 0.0)}), TOURNAMENT) == lines


def question(kind: str, keys: str, **told: Any) -> dict[str, Any]:
    return {"id": "q", "kind": kind, "choices": [{"key": key, "text": key} for key in keys.split()], "facts": told}


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (question("twenty", "A B none", shot=1), "A"),
        (question("twenty", "A B none", shot=2), "none"),
        (question("valid", "yes no", shot=1), "yes"),
        (question("valid", "yes no", shot=2), "no"),
        (question("line", "15 10", disc="d1", x_mm=0.0, y_mm=-84.0, limit_mm=84.8), "15"),
        (question("line", "15 10", disc="d1", x_mm=1.0, y_mm=84.0, limit_mm=84.8), "10"),
        (question("line", "5 0", disc="d1", x_mm=200.0, y_mm=200.0, limit_mm=288.0), "0"),
        (question("round", "keep none", round=1), "keep"),
        (question("unheard-of", "x y", shot=9), "y"),
    ],
)
def test_players_answer_what_they_have_seen(asked: dict[str, Any], wanted: str) -> None:
    match = match_with(one=open_twenty(), two=Shot("B", 3, "B1", (), {"B1": Place(250.0, 180.0)}, Place(304.8, 180.0)))
    discs = {"A3": lying("A3", 84.6, 0.0), "B3": lying("B3", 84.9, 180.0)}
    assert truth.answer(match, TOURNAMENT, discs, asked) == wanted


def test_a_round_is_counted_and_the_next_game_opens_with_the_other_side() -> None:
    match = truth.new_match(TOURNAMENT, "match-play", 3)
    game = 0
    openers = []
    while not match.over:
        match = truth.next_game(match)
        if match.state.setup.game_number != game:
            game = match.state.setup.game_number
            openers.append(match.state.opener[0])
        while match.state.turn is not None:
            side, seat = match.state.turn
            disc = f"{side}{match.state.taken}"
            placed = Place(304.8, (seat - 1) * 90.0)
            good = side == "A"
            rest = {disc: "hole" if good else "ditch"}
            match = truth.take_shot(match, Shot(side, seat, disc, ((("hole", disc),) if good else ()), rest, placed))
        match, entry = truth.count_round(match)
        assert entry["totals"] == {"A": 240, "B": 0}
        assert entry["twenties"] == {"A": 12, "B": 0}
    assert match.won == {"A": 2}
    assert match.games_played == 2
    assert match.rounds == 8
    assert openers == ["A", "B"]
    assert entry["scores"] == {"A": 8, "B": 0}


def test_an_unknown_rule_set_is_named() -> None:
    with pytest.raises(RulesError, match="darts"):
        truth.new_match(TOURNAMENT, "darts", 1)


def test_the_diary_is_one_object_a_line_written_at_once(tmp_path: Path) -> None:
    diary = truth.Diary(tmp_path / "truth.jsonl")
    diary.shot(match_with(one=open_twenty()).shots[0], 5)
    diary.write({"is": "final", "scores": {"A": 1, "B": 0}})
    lines = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text().splitlines()]
    assert [line["is"] for line in lines] == ["shot", "final"]
    assert lines[0]["twenties"]["A"] == 1
    diary.close()
    truth.Diary(None).write({"is": "nothing"})
