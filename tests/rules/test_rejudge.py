"""A recorded match judged again by other rules."""

from __future__ import annotations

import pytest

from hub.rules.notation import parse_position, parse_shot
from hub.rules.presets import load_ruleset
from hub.rules.rejudge import RecordedRound, RecordedShot, rejudge

CLASSIC, SOURCE_A, SOURCE_B, NCA = (load_ruleset(name) for name in ("classic", "source-a", "source-b", "nca"))


def recorded(position: str, shot: str, called: str | None = None) -> RecordedShot:
    return RecordedShot(parse_position(position), parse_shot(shot), called)


SAME = recorded("-", "A@1 s : = s@60/0")
ON_THE_LINE = recorded("-", "B@3 t : = t@101.6/180")
CHAIN = recorded("A:P@200/0 A:Q@150/0 B:X@150/180", "A@1 s : s>P P>Q = s@230/0 P@180/10 Q@100/0")


def test_only_the_shots_that_differ_are_told() -> None:
    rounds = [RecordedRound([SAME, ON_THE_LINE]), RecordedRound([CHAIN, SAME])]
    found = rejudge(rounds, CLASSIC, SOURCE_B).differences
    assert [(d.round_number, d.shot_number, d.parts) for d in found] == [
        (1, 2, ("valid", "reason", "removed", "board"))
    ]
    assert (found[0].was.valid, found[0].now.valid) == (True, False)
    found = rejudge(rounds, CLASSIC, SOURCE_A).differences
    assert [(d.round_number, d.shot_number, d.parts) for d in found] == [(2, 1, ("removed", "board"))]
    assert rejudge(rounds, CLASSIC, CLASSIC).differences == ()


def test_a_call_and_handicaps_go_with_the_shot() -> None:
    called = recorded("-", "A@1 s : = s@101.6/0", "pushed")
    assert rejudge([RecordedRound([called])], CLASSIC, SOURCE_B).differences == ()
    twelfth = recorded("+Ax11", "A@1 s : = s@60/0")
    assert [d.parts for d in rejudge([RecordedRound([twelfth])], CLASSIC, NCA).differences] == [
        ("valid", "board", "referee")
    ]
    assert rejudge([RecordedRound([twelfth])], CLASSIC, NCA, dealt={"A": 12, "B": 12}).differences == ()


def test_the_counted_rounds_go_through_both_scoring_rules() -> None:
    rounds = [RecordedRound([], {"A": 60, "B": 35}), RecordedRound([SAME]), RecordedRound([], {"A": 20, "B": 100})]
    found = rejudge(rounds, CLASSIC, NCA)
    assert [dict(game.scores) for game in found.was] == [{"A": 25, "B": 0}, {"A": 25, "B": 80}]
    assert [dict(game.scores) for game in found.now] == [{"A": 2, "B": 0}, {"A": 2, "B": 2}]


def test_a_game_that_ends_earlier_by_the_other_rules() -> None:
    rounds = [RecordedRound([], {"A": 60, "B": 35})] * 5
    found = rejudge(rounds, CLASSIC, NCA, playoff=True)
    assert (len(found.was), len(found.now)) == (4, 3)
    assert (found.was[-1].winner, found.now[-1].winner) == ("A", "A")


@pytest.mark.parametrize(
    ("loser", "scores"), [("A", {"A": 0, "B": 2}), ("B", {"A": 2, "B": 0}), (None, {"A": 2, "B": 0})]
)
def test_a_round_that_was_given_up_is_lost_by_other_rules_too(loser: str | None, scores: dict[str, int]) -> None:
    played = RecordedRound([], {"A": 60, "B": 10}, loser)
    told = rejudge([played], load_ruleset("classic"), load_ruleset("match-play"))
    assert told.now[0].scores == scores
    assert told.was[0].scores == {"A": 0 if loser == "A" else 50, "B": 0}, "by points a lost lead adds nothing"
