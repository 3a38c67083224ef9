"""Positions, shots and rounds as text and back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.rules.errors import RulesError
from hub.rules.notation import (
    RoundText,
    format_names,
    format_position,
    format_round,
    format_shot,
    parse_position,
    parse_round,
    parse_shot,
)
from hub.rules.position import Disc, Place, Position, Shot

POSITIONS = [
    ("-", Position()),
    ("A:P@130/20", Position({"P": Disc("A", 130, 20)})),
    (
        "A:P@130/20.5 B:X@10/0~ +Ax2",
        Position({"P": Disc("A", 130, 20.5), "X": Disc("B", 10, 0, leaning=True)}, {"A": 2}),
    ),
    ('A:"disc 1"@-0.5/1e-05', Position({"disc 1": Disc("A", -0.5, 1e-5)})),
]


@pytest.mark.parametrize(("text", "position"), POSITIONS)
def test_position(text: str, position: Position) -> None:
    assert format_position(position) == text
    assert parse_position(text) == position


def test_an_empty_text_is_an_empty_board() -> None:
    assert parse_position("  ") == Position()


SHOTS = [
    ("A@1 s : = s@60/0", Shot("A", 1, "s", (), {"s": Place(60, 0)})),
    (
        "B@3 s@304.8/180 : s>P P# P/ P\\ P| P* = s/ P* Q@10/0~",
        Shot(
            "B",
            3,
            "s",
            (("hit", "s", "P"), ("peg", "P"), ("off", "P"), ("back", "P"), ("cross", "P"), ("hole", "P")),
            {"s": "ditch", "P": "hole", "Q": Place(10, 0, leaning=True)},
            Place(304.8, 180),
        ),
    ),
    ("A@1 s : =", Shot("A", 1, "s", (), {})),
    (r'A@1 "a\"b" : "a\"b">":" = "a\"b"/', Shot("A", 1, 'a"b', (("hit", 'a"b', ":"),), {'a"b': "ditch"})),
]


@pytest.mark.parametrize(("text", "shot"), SHOTS)
def test_shot(text: str, shot: Shot) -> None:
    assert format_shot(shot) == text
    assert parse_shot(text) == shot


def test_round() -> None:
    text = "round 3\nA@1 s : = s@60/0\nB@3 t : t>s = t/\ncounted A=1x20+25 B=2x20+0"
    written = RoundText(
        3,
        (parse_shot("A@1 s : = s@60/0"), parse_shot("B@3 t : t>s = t/")),
        {"A": 1, "B": 2},
        {"A": 25, "B": 0},
    )
    assert format_round(written) == text
    assert parse_round(text) == written
    assert parse_round("round 1\ncounted") == RoundText(1)
    assert format_round(RoundText(1)) == "round 1\ncounted"


def test_sides_of_a_round_need_not_stand_in_both() -> None:
    assert format_round(RoundText(1, (), {"A": 1}, {"B": 5})) == "round 1\ncounted A=1x20+0 B=0x20+5"


def test_names_in_order() -> None:
    assert format_names({"t", "a b", "P"}) == 'P "a b" t'
    assert format_names([]) == "-"


MISREAD = [
    (parse_position, "A:P@130", "'A:P@130' in 'A:P@130': expected side:disc@radius/angle or +sidexcount"),
    (parse_position, "A:P@1/2 B:P@1/2", "'B:P@1/2' in 'A:P@1/2 B:P@1/2': expected disc ids that differ"),
    (parse_position, "- -", "expected side:disc@radius/angle"),
    (parse_position, r'A:"\x"@1/2', "expected a name in JSON's quotes"),
    (parse_position, 'A:P@1/2 "', "expected side:disc@radius/angle"),
    (parse_position, "+Ax2 +Ax3", "'+Ax3' in '+Ax2 +Ax3': expected each side's 20s once"),
    (parse_shot, "A@1 s = s@1/2", "expected side@seat disc@radius/angle : events = rests"),
    (parse_shot, "A@1 s : s@1/2", "expected side@seat disc@radius/angle : events = rests"),
    (parse_shot, "A@1 : = s@1/2", "expected side@seat disc@radius/angle : events = rests"),
    (parse_shot, "A@1 s = : s@1/2", "expected side@seat disc@radius/angle : events = rests"),
    (parse_shot, "A s : = s@1/2", "'A s' in 'A s : = s@1/2': expected side@seat disc@radius/angle"),
    (parse_shot, "A@1 s@3 : = s@1/2", "expected side@seat disc@radius/angle"),
    (parse_shot, "A@1 s : s^ = s@1/2", r"expected an event: a>b, a#, a/, a\, a| or a*"),
    (parse_shot, "A@1 s : = s", "expected a rest: a@radius/angle, a* or a/"),
    (parse_shot, "A@1 s : = s#", "expected a rest: a@radius/angle, a* or a/"),
    (parse_shot, "A@1 s : = s* s/", "'s/' in 'A@1 s : = s* s/': expected each disc's rest once"),
    (parse_round, "", "expected 'round N'"),
    (parse_round, "round 1", "expected 'round N'"),
    (parse_round, "rond 1\ncounted", "expected 'round N'"),
    (parse_round, "round 1\ncountedA", "expected 'round N'"),
    (parse_round, "round 1\ncounted A=2", "'A=2' in 'counted A=2': expected side=20sx20+points"),
    (parse_round, "round 1\nA@1\ncounted", "expected side@seat"),
]


@pytest.mark.parametrize(("parse", "text", "sentence"), MISREAD)
def test_misread_text_is_told(parse: Callable[[str], object], text: str, sentence: str) -> None:
    with pytest.raises(RulesError) as refused:
        parse(text)
    assert refused.value.code == "bad_notation"
    assert sentence in refused.value.sentence


names = st.text(min_size=1, max_size=5) | st.sampled_from(["A", "B", "s", "P", ":", "=", "-"])
numbers = st.floats(allow_nan=False, allow_infinity=False)
places = st.builds(Place, numbers, numbers, st.booleans())
positions = st.builds(
    Position,
    st.dictionaries(names, st.builds(Disc, names, numbers, numbers, st.booleans()), max_size=4),
    st.dictionaries(names, st.integers(0, 99), max_size=3),
)
events = st.tuples(st.just("hit"), names, names) | st.tuples(
    st.sampled_from(["peg", "off", "back", "cross", "hole"]), names
)
shots = st.builds(
    Shot,
    side=names,
    seat=st.integers(-9, 99),
    disc=names,
    events=st.lists(events, max_size=6).map(tuple),
    rest=st.dictionaries(names, places | st.sampled_from(["hole", "ditch"]), max_size=4),
    placed=st.none() | places,
)
counts = st.dictionaries(names, st.integers(0, 300), max_size=3)


@given(positions)
def test_positions_round_trip(position: Position) -> None:
    assert parse_position(format_position(position)) == position


@given(shots)
def test_shots_round_trip(shot: Shot) -> None:
    text = format_shot(shot)
    assert "\n" not in text
    assert parse_shot(text) == shot


@given(st.integers(0, 99), st.lists(shots, max_size=3).map(tuple), counts)
def test_rounds_round_trip(number: int, played: tuple[Shot, ...], counted: dict[str, int]) -> None:
    written = RoundText(number, played, counted, {side: 5 * count for side, count in counted.items()})
    assert parse_round(format_round(written)) == written


@given(st.text(max_size=40), st.sampled_from([parse_position, parse_shot, parse_round]))
def test_any_text_is_read_or_refused(text: str, parse: Callable[[str], object]) -> None:
    with contextlib.suppress(RulesError):
        assert parse(text) is not None
