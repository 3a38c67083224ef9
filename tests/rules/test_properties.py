"""What holds for every verdict, whatever was seen and whatever the rules."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from hub.rules.outcome import board_points
from hub.rules.position import Disc, Place, Position, Shot
from hub.rules.presets import PRESETS, load_ruleset
from hub.rules.ruleset import CHOICES, Ruleset
from hub.rules.seats import SEATS, sides_of
from hub.rules.shot import judge_shot
from hub.rules.verdict import Verdict
from hub.rules.words import explain, say

IDS = ["s", "p", "q", "x", "y"]
SHOT_VARIANTS = [name for name in CHOICES if name not in {"players", "scoring", "tie_end", "three_way_tie"}]

radii = st.sampled_from([0.0, 10.0, 60.0, 84.8, 100.0, 118.4, 130.0, 186.4, 250.0, 288.0, 304.8, 321.6, 325.0, 330.2])
angles = st.sampled_from([0.0, 45.0, 50.0, 90.0, 180.0, 300.0])
places = st.builds(Place, radii, angles, st.booleans())
ids = st.sampled_from(IDS)
events = st.lists(
    st.tuples(st.just("hit"), ids, ids)
    | st.tuples(st.sampled_from(["peg", "off", "back", "cross"]), ids)
    | st.tuples(st.just("hole"), ids),
    max_size=8,
).map(tuple)


@st.composite
def judged(draw: st.DrawFn) -> tuple[Position, Shot, Ruleset, Verdict]:
    """A verdict on something that could have been seen."""
    changes: dict[str, Any] = {name: draw(st.sampled_from(CHOICES[name])) for name in SHOT_VARIANTS}
    players = draw(st.sampled_from(CHOICES["players"]))
    ruleset = load_ruleset({"base": draw(st.sampled_from(sorted(PRESETS))), "players": players, **changes})
    seat, side = draw(st.sampled_from(SEATS[players]))
    sides = st.sampled_from(sides_of(players))
    position = Position(
        draw(st.dictionaries(st.sampled_from(IDS[1:]), st.builds(Disc, sides, radii, angles, st.booleans()))),
        draw(st.dictionaries(sides, st.integers(0, 5))),
    )
    known = ["s", *position.discs]
    happened = tuple(event for event in draw(events) if set(event[1:]) <= set(known))
    rest = draw(st.dictionaries(st.sampled_from(known), places | st.sampled_from(["hole", "ditch"])))
    rest["s"] = draw(places | st.sampled_from(["hole", "ditch"]))
    shot = Shot(side, seat, "s", happened, rest, draw(st.none() | places))
    return position, shot, ruleset, judge_shot(position, shot, ruleset)


@given(judged())
def test_every_verdict_is_whole(case: tuple[Position, Shot, Ruleset, Verdict]) -> None:
    position, shot, ruleset, verdict = case
    assert (verdict.valid is None) == verdict.referee
    assert (verdict.reason is None) == (verdict.valid is not False)
    assert verdict.open == all(disc.side == shot.side for disc in position.discs.values())
    assert dict(verdict.board) == board_points(verdict.after.discs.values(), ruleset.players)
    assert verdict.reasons
    assert say(verdict).endswith(".")
    assert explain(verdict)


@given(judged())
def test_no_disc_is_lost_or_doubled(case: tuple[Position, Shot, Ruleset, Verdict]) -> None:
    position, shot, ruleset, verdict = case
    if verdict.referee:
        assert verdict.after == position
        return
    assert {*verdict.after.discs, *verdict.removed, *verdict.lift} == {*position.discs, shot.disc}
    assert len(verdict.after.discs) + len(verdict.removed) + len(verdict.lift) == len(position.discs) + 1
    assert verdict.take_off | verdict.off == verdict.removed
    assert not verdict.take_off & verdict.off
    assert sum(verdict.twenties.values()) == len(verdict.lift) <= 1
    for side in sides_of(ruleset.players):
        assert verdict.banked[side] == position.banked.get(side, 0) + verdict.twenties[side]


@given(judged())
def test_a_foul_takes_the_shot_disc_and_never_one_of_the_other_side(
    case: tuple[Position, Shot, Ruleset, Verdict],
) -> None:
    position, shot, _, verdict = case
    assume(not verdict.referee)
    assert verdict.fouled <= verdict.removed
    assert all(disc == shot.disc or position.discs[disc].side == shot.side for disc in verdict.fouled)
    assert (shot.disc in verdict.fouled) == (verdict.valid is False)


@given(judged())
def test_only_damage_is_put_back_and_to_where_it_was(case: tuple[Position, Shot, Ruleset, Verdict]) -> None:
    position, _, ruleset, verdict = case
    for disc, place in verdict.restored.items():
        assert ruleset.damage == "restore"
        assert place == position.discs[disc].place


@given(judged())
def test_nothing_stays_where_it_may_not(case: tuple[Position, Shot, Ruleset, Verdict]) -> None:
    _, shot, ruleset, verdict = case
    assume(not verdict.referee)
    for disc in verdict.after.discs.values():
        on_lip = disc.r_mm > 321.6 + 1e-6 and ruleset.lip_disc == "stays_0"
        assert disc.leaning or disc.r_mm < 288.0 or on_lip
    for disc, where in shot.rest.items():
        if where == "ditch":
            assert disc in verdict.removed or disc in verdict.restored


numbers = st.sampled_from([0, 1, 60, 118.4, 200, 331, -1, float("nan"), float("inf")])
anything = st.builds(
    Shot,
    side=st.sampled_from(["A", "B", "C", "D", ""]),
    seat=st.integers(-1, 6),
    disc=ids,
    events=events,
    rest=st.dictionaries(ids, st.builds(Place, numbers, numbers, st.booleans()) | st.sampled_from(["hole", "ditch"])),
    placed=st.none() | st.builds(Place, numbers, numbers),
)


@given(
    st.dictionaries(ids, st.builds(Disc, st.sampled_from("ABCD"), numbers, numbers, st.booleans())),
    st.dictionaries(st.sampled_from("ABCD"), st.integers(-3, 15)),
    anything,
    st.builds(
        lambda base, players: load_ruleset({"base": base, "players": players}),
        st.sampled_from(sorted(PRESETS)),
        st.sampled_from(CHOICES["players"]),
    ),
    st.none() | st.dictionaries(st.sampled_from("ABCD"), st.integers(0, 12)),
)
def test_whatever_was_seen_there_is_a_verdict(
    discs: dict[str, Disc], banked: dict[str, int], shot: Shot, ruleset: Ruleset, dealt: dict[str, int] | None
) -> None:
    verdict = judge_shot(Position(discs, banked), shot, ruleset, dealt=dealt)
    assert say(verdict)
    assert explain(verdict)
