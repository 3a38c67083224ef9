"""The runner of worked cases: it finds every mismatch, and bad files get one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hub.rules.cases import CaseFileError, kind_of, load_cases, run_case

SHOT = {
    "id": "s",
    "rules": "classic",
    "given": {
        "discs": [],
        "shot": {"side": "A", "seat": 1, "disc": "s", "events": [], "rest": {"s": {"r_mm": 60, "angle_deg": 0}}},
    },
    "expect": {"valid": True},
}
ROUND = {
    "id": "r",
    "rules": "classic",
    "given": {"scores": {"A": 0, "B": 0}, "points": {"A": 25, "B": 0}, "twenties": {"A": 0, "B": 0}},
    "expect": {"added": {"A": 25, "B": 0}},
}
GAME = {"id": "g", "rules": "classic", "given": {"opener": 1}, "expect": {"openers": [1, 3], "extra_shot": None}}


def case(base: dict[str, Any], expect: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**base, **changes, "expect": expect}


@pytest.mark.parametrize("passing", [SHOT, ROUND, GAME])
def test_what_is_right_passes(passing: dict[str, Any]) -> None:
    assert run_case(passing) == []


@pytest.mark.parametrize(
    ("failing", "mismatch"),
    [
        (case(SHOT, {"valid": False}), "valid: expected False, found True"),
        (case(SHOT, {"valid": 1}), "valid: expected 1, found True"),
        (case(SHOT, {"banked": {"A": 0}}), "banked: expected {'A': 0}, found {'A': 0, 'B': 0}"),
        (case(SHOT, {"board": {"A": 10, "B": 0}}), "board: expected {'A': 10, 'B': 0}, found {'A': 15, 'B': 0}"),
        (case(SHOT, {"removed": ["s"]}), "removed: expected ['s'], found []"),
        (case(SHOT, {"restored": {"s": {"r_mm": 1.5}}}), "restored: expected {'s': {'r_mm': 1.5}}, found {}"),
        (case(SHOT, {"colour": "red"}), "colour: expected 'red', found None"),
        (case(ROUND, {"winner": "A"}), "winner: expected 'A', found None"),
        (case(GAME, {"openers": [3]}), "openers: expected [3], found [1]"),
        (
            case(SHOT, {"valid": True}, rules="clasic"),
            "valid: expected True, found None (no rules are called 'clasic', did you mean 'classic'?)",
        ),
        (
            case(ROUND, {"winner": None, "error": "negative"}, given={**ROUND["given"], "points": {"A": 3, "B": 0}}),
            "error: expected 'negative', found 'impossible_score' (points of A: 3 is no multiple of five)",
        ),
        (case(SHOT, {"valid": True}, given={"shot": {}}), "valid: expected True, found None (KeyError: 'discs')"),
        (case(SHOT, {}, given={"what": 1}), "'given' has neither a shot, a round, a game nor edges of the beam"),
    ],
)
def test_what_is_wrong_is_told(failing: dict[str, Any], mismatch: str) -> None:
    assert mismatch in run_case(failing)


def test_removed_has_no_order_and_figures_may_be_rounded() -> None:
    given = {
        "discs": [
            {"id": "P", "side": "A", "r_mm": 70.1, "angle_deg": 180},
            {"id": "L", "side": "A", "r_mm": 10, "angle_deg": 90, "leaning": True},
            {"id": "X", "side": "B", "r_mm": 250, "angle_deg": 20},
        ],
        "shot": {
            "side": "A",
            "seat": 1,
            "disc": "s",
            "events": [["hit", "s", "X"], ["off", "X"], ["back", "X"], ["hit", "X", "P"], ["hit", "X", "L"]],
            "rest": {"s": "ditch", "X": "ditch", "P": {"r_mm": 1, "angle_deg": 0}},
        },
    }
    expect = {
        "removed": ["s", "X"],
        "restored": {
            "P": {"r_mm": 70.1 + 1e-9, "angle_deg": 180.0},
            "L": {"r_mm": 10, "angle_deg": 90, "leaning": True},
        },
    }
    assert run_case({"id": "x", "rules": "source-a", "given": given, "expect": expect}) == []
    expect["removed"] = ["X", "s"]
    assert run_case({"id": "x", "rules": "source-a", "given": given, "expect": expect}) == []
    expect["restored"] = {"P": {"r_mm": 71.0, "angle_deg": 180.0}}
    assert len(run_case({"id": "x", "rules": "source-a", "given": given, "expect": expect})) == 1


def test_a_finished_game_has_no_next_order() -> None:
    over = case(
        GAME,
        {"order": [], "shots": {"1": 0, "3": 0}, "game_over": True},
        given={"opener": "A", "rounds": [{"A": 120, "B": 0}]},
    )
    assert run_case(over) == []


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"shot": {}}, "shot"),
        ({"edges": []}, "beam"),
        ({"twenties": {}}, "round"),
        ({"time_out": {}}, "game"),
        ({}, "unknown"),
    ],
)
def test_kind_is_told_from_what_is_given(given: dict[str, Any], kind: str) -> None:
    assert kind_of({"given": given}) == kind


def test_cases_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([SHOT, ROUND]))
    assert load_cases(path) == [SHOT, ROUND]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("{}", "expected a list of cases, found dict"),
        ("[3]", "case 1: expected an object with an 'id'"),
        ('[{"id": 3}]', "case 1: expected an object with an 'id'"),
        ('[{"id": "x", "expect": {}}]', "case x: expected an object 'given'"),
        ('[{"id": "x", "given": {}, "expect": []}]', "case x: expected an object 'expect'"),
        (None, "no such file"),
    ],
)
def test_bad_files_get_one_line(tmp_path: Path, text: str | None, told: str) -> None:
    path = tmp_path / "cases.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CaseFileError) as refused:
        load_cases(path)
    assert told in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
