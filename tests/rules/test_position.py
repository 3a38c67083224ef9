"""Facts as they come from case files and cameras: read, or refused with what was expected."""

from __future__ import annotations

from typing import Any

import pytest

from hub.rules.errors import RulesError
from hub.rules.position import Disc, Place, Position, Shot, place_from, position_from, shot_from

DISC = {"id": "P", "side": "A", "r_mm": 130, "angle_deg": 20.5}
SHOT = {
    "side": "A",
    "seat": 1,
    "disc": "s",
    "placed": {"r_mm": 304.8, "angle_deg": 0},
    "events": [["hit", "s", "P"], ["hole", "P"]],
    "rest": {"s": {"r_mm": 10, "angle_deg": 0, "leaning": True}, "P": "hole", "Q": "ditch"},
}


def test_position_and_shot_are_read() -> None:
    assert position_from([DISC, {**DISC, "id": "Q", "leaning": True}], {"A": 2}) == Position(
        {"P": Disc("A", 130, 20.5), "Q": Disc("A", 130, 20.5, leaning=True)}, {"A": 2}
    )
    assert shot_from(SHOT) == Shot(
        side="A",
        seat=1,
        disc="s",
        placed=Place(304.8, 0),
        events=(("hit", "s", "P"), ("hole", "P")),
        rest={"s": Place(10, 0, leaning=True), "P": "hole", "Q": "ditch"},
    )
    assert shot_from({**SHOT, "placed": None}).placed is None
    assert Disc("A", 1, 2, leaning=True).place == Place(1, 2, leaning=True)


BAD_POSITIONS = [
    ([{**DISC, "id": 1}], None, "id: expected a text, got 1"),
    ([{**DISC, "id": ""}], None, "id: expected a text, got ''"),
    ([{**DISC, "r_mm": "130"}], None, "disc P: r_mm is '130', expected a number"),
    ([{**DISC, "r_mm": True}], None, "disc P: r_mm is True, expected a number"),
    ([{**DISC, "angle_deg": float("nan")}], None, "disc P: angle_deg is nan, expected a number"),
    ([{**DISC, "angle_deg": float("inf")}], None, "disc P: angle_deg is inf, expected a number"),
    ([{**DISC, "leaning": 1}], None, "disc P: leaning is 1, expected true or false"),
    ([{"id": "P", "side": "A", "r_mm": 1}], None, "disc P: angle_deg is missing"),
    (["P"], None, "disc or shot: expected an object, got 'P'"),
    ([DISC], {"A": -1}, "banked 20s of A: expected a whole number from 0, got -1"),
    ([DISC], {"A": 1.0}, "banked 20s of A: expected a whole number from 0, got 1.0"),
]


@pytest.mark.parametrize(("discs", "banked", "sentence"), BAD_POSITIONS)
def test_bad_positions(discs: Any, banked: Any, sentence: str) -> None:
    with pytest.raises(RulesError) as refused:
        position_from(discs, banked)
    assert (refused.value.code, refused.value.sentence) == ("bad_input", sentence)


def test_one_disc_cannot_lie_twice() -> None:
    with pytest.raises(RulesError) as refused:
        position_from([DISC, DISC])
    assert (refused.value.code, refused.value.sentence) == ("same_disc", "disc P stands in the position twice")


EVENTS = "expected one of hit, peg, off, back, cross, hole and its discs"
BAD_SHOTS = [
    ({"seat": "1"}, "seat of the shot: expected a number 1-4, got '1'"),
    ({"seat": True}, "seat of the shot: expected a number 1-4, got True"),
    ({"events": "hit"}, "events of the shot: expected a list, got 'hit'"),
    ({"events": 3}, "events of the shot: expected a list, got 3"),
    ({"events": [["hit", "s"]]}, f"event ['hit', 's']: {EVENTS}"),
    ({"events": [["hop", "s"]]}, f"event ['hop', 's']: {EVENTS}"),
    ({"events": [["off", 3]]}, f"event ['off', 3]: {EVENTS}"),
    ({"events": [[3, "s"]]}, f"event [3, 's']: {EVENTS}"),
    ({"events": [[]]}, f"event []: {EVENTS}"),
    ({"events": ["off"]}, f"event 'off': {EVENTS}"),
    ({"events": [3]}, f"event 3: {EVENTS}"),
    ({"rest": []}, "rest of the shot: expected an object, got []"),
    ({"rest": {"s": "gone"}}, "rest of s: expected an object, got 'gone'"),
    ({"placed": 3}, "placed: expected an object, got 3"),
    ({"side": None}, "side: expected a text, got None"),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD_SHOTS)
def test_bad_shots(changes: Any, sentence: str) -> None:
    with pytest.raises(RulesError) as refused:
        shot_from({**SHOT, **changes})
    assert (refused.value.code, refused.value.sentence) == ("bad_input", sentence)


@pytest.mark.parametrize("key", ["side", "seat", "disc", "events", "rest"])
def test_missing_parts_of_a_shot(key: str) -> None:
    with pytest.raises(RulesError, match=f"{key} is missing"):
        shot_from({name: value for name, value in SHOT.items() if name != key})


def test_a_place_is_named_in_its_error() -> None:
    with pytest.raises(RulesError, match="corner: r_mm is missing"):
        place_from({}, "corner")
