"""Verdicts in words: the reason with its rule, and what people must do now."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hub.rules import words
from hub.rules.people import CALL_RULES, CALLS, calls_for
from hub.rules.presets import load_ruleset
from hub.rules.shot import UNDECIDED_RULES
from hub.rules.words import SENTENCES, Act, acts, explain, say, say_act
from tests.rules.table import judge

COLOURS = {"A": "dark", "B": "light"}

SAID = [
    (
        "B:X@150/90",
        "A@1 s : = s@50/0",
        "classic",
        "Foul: missed every opposing disc: rule 37.",
        ["remove: dark disc at 6 o'clock"],
    ),
    (
        "-",
        "A@1 s : = s@60/240",
        "classic",
        "Valid: the dark disc at 2 o'clock came to rest in or touching the 15: rule 31.",
        [],
    ),
    (
        "B:X@40/0",
        "A@1 s : s>X X* = s@90/0 X*",
        "classic",
        (
            "Valid: hit the light disc: rule 35; 20 for the other side: the light disc was knocked into the hole "
            "and counts for its owner: rule 40."
        ),
        ["lift out and set in view: light disc in the hole"],
    ),
    (
        "B:X@150/90",
        "A@1 s : s* = s*",
        "classic",
        "Foul: missed every opposing disc: rule 37; the dark disc dropped on a foul, the 20 is void: rule 39.",
        ["remove: dark disc in the hole"],
    ),
    (
        "-",
        "A@1 s@280/0 : = s@60/0",
        "classic",
        "Foul: the dark disc at 6 o'clock was not placed on the start line: rule 23.",
        ["remove: dark disc at 6 o'clock"],
    ),
    (
        "-",
        "A@1 s : = s@200/0",
        "family",
        "Valid: the no-hiding rule is not in use, an open shot may end anywhere: rule 34.",
        [],
    ),
    (
        "B:X@150/90",
        "A@1 s : s>X X/ = s@200/0 X/",
        "classic",
        "Valid: hit the light disc: rule 35.",
        [],
    ),
    (
        "A:P@70/180 B:X@250/20",
        r"A@1 s : s>X X/ X\ X>P = s@240/0 X@120/150 P@200/190",
        "source-a",
        "Valid: hit the light disc at 11 o'clock: rule 35.",
        ["remove: light disc at 11 o'clock", "put back: dark disc to 12 o'clock, 70 mm from the middle"],
    ),
    (
        "A:P@10/90~ B:X@250/20",
        r"A@1 s : s>X X/ X\ X>P P* = s@240/0 X/ P*",
        "source-a",
        "Valid: hit the light disc: rule 35.",
        ["put back: dark disc to 9 o'clock, 10 mm from the middle"],
    ),
    (
        "-",
        "A@3 s : = s@60/0",
        "classic",
        "People must decide: the disc was shot from a seat that is not its side's: rule 18.",
        [],
    ),
]


@pytest.mark.parametrize(("position", "shot", "rules", "sentence", "to_do"), SAID)
def test_said(position: str, shot: str, rules: str, sentence: str, to_do: list[str]) -> None:
    verdict = judge(position, shot, rules)
    assert say(verdict, COLOURS) == sentence
    assert [say_act(act, COLOURS) for act in acts(verdict)] == to_do


def test_a_called_foul_is_said() -> None:
    assert say(judge("B:X@60/0", "A@1 s : s>X = s@90/0", called="pushed")) == (
        "Foul: the disc was pushed, not flicked: rule 25."
    )


def test_a_code_that_nobody_knows_is_still_said() -> None:
    verdict = judge("B:X@60/0", "A@1 s : s>X = s@90/0", called="shook_the_table")
    assert say(verdict) == "Foul: shook the table: rule 27."


def test_every_step_is_explained_in_order_and_then_what_to_do() -> None:
    verdict = judge("A:P@60/0 B:X@150/90", "A@1 s : s>P = s@50/60 P@62/0", "classic")
    assert explain(verdict) == (
        "missed every opposing disc: rule 37",
        "the A disc at 6 o'clock goes to the ditch for the foul: rule 37",
        "the A disc at 8 o'clock goes to the ditch for the foul: rule 37",
        "remove: A disc at 6 o'clock",
        "remove: A disc at 8 o'clock",
    )


def test_acts_are_values_for_translation() -> None:
    verdict = judge("B:X@150/90", "A@1 s : = s@50/0")
    assert acts(verdict) == (Act("remove", "s", "A", 6),)
    assert acts(judge("-", "A@1 s : s* = s*")) == (Act("lift", "s", "A", None),)


def test_a_reason_without_a_disc_on_the_table_names_its_side() -> None:
    verdict = judge("-", "A@1 s : = s@60/0 X@60/90")
    assert explain(verdict) == ("a disc was seen that was not in play: rule 2",)


def test_every_code_of_a_reason_has_a_sentence() -> None:
    folder = Path(words.__file__).parent
    codes = set(UNDECIDED_RULES) | set(CALL_RULES)
    for name in ("shot", "outcome", "course"):
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"because", "goes"}:
                codes |= {
                    leaf.value
                    for leaf in ast.walk(node)
                    if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
                }
    codes -= {"disc", "side", "s"}
    assert codes <= set(SENTENCES)


def test_people_are_offered_what_the_rules_leave_open() -> None:
    classic = {call.code for call in calls_for(load_ruleset("classic"))}
    assert {"discs_in_hand", "pushed", "left_the_chair", "moved_chair_in_game"} <= classic
    assert not {"two_fingers", "moved_chair_in_round"} & classic
    assert "moved_chair_in_round" in {call.code for call in calls_for(load_ruleset("source-a"))}
    assert "moved_chair_in_game" not in {call.code for call in calls_for(load_ruleset("source-a"))}
    assert "two_fingers" in {call.code for call in calls_for(load_ruleset("source-b"))}
    assert "discs_in_hand" not in {call.code for call in calls_for(load_ruleset("wcc"))}


def test_every_call_names_its_rule_and_what_may_follow() -> None:
    assert len({call.code for call in CALLS}) == len(CALLS)
    for call in CALLS:
        assert 20 <= call.rule <= 56
        assert call.effects
        assert set(call.effects) <= {"remind", "foul", "shoot_again"}
