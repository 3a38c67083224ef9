"""Rule sets: every variant is one field, presets are the columns of the table, unknown names are refused."""

from __future__ import annotations

import json
import tomllib
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.rules.errors import RulesError
from hub.rules.presets import PRESETS, from_table, load_ruleset, read_ruleset
from hub.rules.ruleset import CHOICES, VARIANTS, GameEnd, Ruleset, changed, parse_game_end, to_table

COLUMNS = ("classic", "source-a", "source-b", "source-c", "nca", "wcc")
TABLE = {
    "open_touch": ("touch_ok", "touch_ok", "inside_only", "touch_ok", "touch_ok", "touch_ok"),
    "open_subject": ("any_struck", "any_struck", "any_struck", "shooter_only", "any_struck", "any_struck"),
    "open_remove": ("all_struck", "all_struck", "all_struck", "shooter_only", "all_struck", "all_struck"),
    "no_hiding": ("on", "on", "on", "on", "on", "on"),
    "miss_chain": ("chain", "direct", "chain", "chain", "chain", "chain"),
    "damage": ("stays", "restore", "stays", "stays", "stays", "stays"),
    "spinner": ("any", "any", "any", "any", "any", "untouched"),
    "quadrant": ("half", "half", "touch_line", "half", "touch_line", "touch_line"),
    "commit": ("moved", "moved", "left_finger", "moved", "moved", "left_finger"),
    "scoring": ("differential", "differential", "cumulative", "differential", "match210", "match210"),
    "game_end": ("first_to 100", "first_to 100", "first_to 100", "first_to 100", "rounds 4", "rounds 4"),
    "tie_end": ("deciding_round", "deciding_round", "deciding_round", "deciding_round", "draw", "fifth_round"),
    "discs": ("12/6", "12/6", "12/6", "12/6", "8/6", "8/6"),
    "lip_disc": ("dead", "stays_0", "stays_0", "stays_0", "dead", "stays_0"),
    "three_way_tie": ("none", "none", "none", "none", "none", "none"),
    "discs_in_hand": ("no", "no", "no", "no", "no", "yes"),
    "chair": ("game", "round", "game", "game", "game", "game"),
    "one_finger": ("no", "no", "yes", "no", "no", "no"),
    "reshoots": (0, 0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("variant", TABLE)
def test_presets_are_the_columns_of_the_table(variant: str) -> None:
    assert tuple(getattr(load_ruleset(name), variant) for name in COLUMNS) == TABLE[variant]


def test_every_variant_is_in_the_table() -> None:
    assert set(TABLE) == set(VARIANTS)


def test_classic_is_the_default() -> None:
    assert load_ruleset("classic") == Ruleset() == load_ruleset({})


def test_match_play_is_classic_to_8_by_2_1_0() -> None:
    match_play = load_ruleset("match-play")
    assert match_play == replace(
        Ruleset(), name="match-play", title="Match play", scoring="match210", game_end="first_to 8"
    )


def test_family_hides_and_counts() -> None:
    assert load_ruleset("family") == replace(Ruleset(), name="family", title="Family", no_hiding="off")
    assert PRESETS["family"].level == "count"


def test_people_are_shown_five_titles() -> None:
    assert [preset.ruleset.title for preset in PRESETS.values() if preset.shown] == [
        "Club to 100",
        "Match play",
        "NCA",
        "WCC",
        "Family",
    ]
    assert {preset.level for name, preset in PRESETS.items() if name != "family"} == {"advise"}
    assert [name for name, preset in PRESETS.items() if not preset.shown] == ["source-a", "source-b", "source-c"]


@pytest.mark.parametrize(
    ("source", "code", "hint"),
    [
        ("clasic", "unknown_preset", "'classic'"),
        ("zzz", "unknown_preset", "there are classic, match-play"),
        ({"base": "ncaa"}, "unknown_preset", "'nca'"),
        ({"base": 3}, "bad_value", "name of a preset"),
        ({"open_tuch": "touch_ok"}, "unknown_variant", "'open_touch'"),
        ({"open_touch": "touchok"}, "bad_value", "'touch_ok'"),
        ({"open_touch": 3}, "bad_value", "touch_ok, inside_only"),
        ({"players": "triples"}, "bad_value", "singles"),
        ({"game_end": "first 100"}, "bad_value", "first_to 100"),
        ({"game_end": 100}, "bad_value", "a text"),
        ({"game_end": "rounds 0"}, "bad_value", "rounds 4"),
        ({"game_end": "rounds 4 lead 2"}, "bad_value", "rounds 4"),
        ({"discs": "12"}, "bad_value", "12/6"),
        ({"discs": "0/6"}, "bad_value", "12/6"),
        ({"discs": 12}, "bad_value", "a text"),
        ({"reshoots": -1}, "bad_value", "0 to 99"),
        ({"reshoots": 100}, "bad_value", "0 to 99"),
        ({"reshoots": True}, "bad_value", "0 to 99"),
        ({"name": 3}, "bad_value", "a text"),
        ({"title": 3}, "bad_value", "a text"),
        (["classic"], "bad_value", "a name or a table"),
    ],
)
def test_refused_with_what_was_expected(source: Any, code: str, hint: str) -> None:
    with pytest.raises(RulesError) as refused:
        load_ruleset(source)
    assert refused.value.code == code
    assert hint in refused.value.sentence
    assert str(refused.value) == refused.value.sentence


def test_custom_rules_are_named_after_what_changed() -> None:
    ruleset = load_ruleset({"base": "nca", "players": "doubles", "tie_end": "pairs", "reshoots": 2})
    assert (ruleset.name, ruleset.title) == ("nca, tie_end=pairs, reshoots=2", "NCA, tie_end=pairs, reshoots=2")
    assert load_ruleset({"base": "nca", "players": "doubles"}).name == "nca"
    assert load_ruleset({"base": "nca", "title": "Ours"}).title == "Ours"
    named = load_ruleset({"base": "nca", "name": "ours", "tie_end": "pairs"})
    assert (named.name, named.title) == ("ours", "NCA")


def test_toml_may_say_true_and_false() -> None:
    table = tomllib.loads('base = "family"\nno_hiding = true\ndiscs_in_hand = true\none_finger = false\n')
    ruleset = load_ruleset(table)
    assert (ruleset.no_hiding, ruleset.discs_in_hand, ruleset.one_finger) == ("on", "yes", "no")
    assert load_ruleset({"no_hiding": False}).no_hiding == "off"
    with pytest.raises(RulesError, match="touch_ok"):
        load_ruleset({"open_touch": True})


def test_a_club_writes_its_own_rules_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "club.toml"
    path.write_text('name = "club"\ntitle = "Our club"\nbase = "nca"\ntie_end = "pairs"\n')
    assert read_ruleset(path) == replace(load_ruleset("nca"), name="club", title="Our club", tie_end="pairs")


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        (None, "bad_file", "cannot be read as TOML"),
        ("base = ", "bad_file", "cannot be read as TOML"),
        ("tie_ends = 'draw'", "unknown_variant", "no rule is called 'tie_ends', did you mean 'tie_end'?"),
        ("[base]\nnca = 1", "bad_value", "expected the name of a preset"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str | None, code: str, told: str) -> None:
    path = tmp_path / "club.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(RulesError) as refused:
        read_ruleset(path)
    assert refused.value.code == code
    assert refused.value.sentence.startswith(f"{path}: ")
    assert told in refused.value.sentence


def test_a_rule_set_cannot_be_edited() -> None:
    with pytest.raises(FrozenInstanceError):
        Ruleset().players = "doubles"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("first_to 100", GameEnd(target=100)),
        ("rounds 4", GameEnd(rounds=4)),
        ("first_to 7 lead 2", GameEnd(target=7, lead=2)),
    ],
)
def test_game_end_is_read(text: str, end: GameEnd) -> None:
    assert parse_game_end(text) == end
    assert load_ruleset({"game_end": text}).end == end


def test_cutthroat_is_always_played_to_8() -> None:
    assert load_ruleset({"base": "nca", "players": "cutthroat"}).end == GameEnd(target=8)


rulesets = st.builds(
    Ruleset,
    name=st.text(),
    title=st.text(),
    game_end=st.sampled_from(["first_to 100", "first_to 8", "rounds 4", "first_to 7 lead 2", "rounds 12"]),
    discs=st.sampled_from(["12/6", "8/6", "3/2"]),
    reshoots=st.integers(0, 99),
    **{name: st.sampled_from(values) for name, values in CHOICES.items()},  # type: ignore[arg-type]
)


@given(rulesets)
def test_a_snapshot_gives_the_same_rules_again(ruleset: Ruleset) -> None:
    table = json.loads(json.dumps(to_table(ruleset)))
    assert set(table) == {f.name for f in fields(Ruleset)}
    assert from_table(table) == ruleset


@given(rulesets)
def test_changing_nothing_changes_nothing_but_names(ruleset: Ruleset) -> None:
    assert changed(ruleset, {}) == ruleset
