"""Undo, redo and corrections are replays; whatever happens in whatever order, nothing raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.rules.errors import RulesError
from hub.rules.game import (
    Conceded,
    GameEvent,
    RoundCounted,
    ShotAgain,
    ShotTaken,
    ShotUnseen,
    TimeOut,
    apply,
    begin,
)
from hub.rules.history import correct, record, redo, replay, start, undo
from hub.rules.order import GameSetup
from hub.rules.position import Disc, Place, Position, Shot
from hub.rules.presets import PRESETS, load_ruleset
from hub.rules.ruleset import CHOICES

NCA = GameSetup(load_ruleset({"base": "nca", "reshoots": 1}))
ROUND = RoundCounted(points={"A": 10, "B": 0}, early=True)


def test_record_refuses_and_keeps() -> None:
    history = start(NCA)
    after, refusal = record(history, ShotUnseen(3))
    assert after is history
    assert refusal is not None
    assert refusal.code == "out_of_turn"
    after, refusal = record(history, ShotUnseen(1))
    assert refusal is None
    assert after.events == (ShotUnseen(1),)
    assert after.state.taken == 1


def test_undo_and_redo() -> None:
    history = replay(NCA, [ROUND, ShotUnseen(3)])
    assert history.conflicts == ()
    back = undo(undo(history))
    assert back.state == begin(NCA)
    assert back.undone == (ShotUnseen(3), ROUND)
    assert undo(back) is back
    assert redo(redo(back)) == history
    assert redo(history) is history


def test_recording_forgets_what_was_undone() -> None:
    history, _ = record(undo(replay(NCA, [ROUND, ShotUnseen(3)])), ROUND)
    assert history.undone == ()
    assert redo(history) is history


def test_a_correction_derives_all_that_follows_anew() -> None:
    history = replay(NCA, [ROUND, ROUND, ROUND])
    corrected = correct(history, 0, RoundCounted(points={"A": 0, "B": 10}, early=True))
    assert dict(corrected.state.score.scores) == {"A": 4, "B": 2}
    assert correct(corrected, 0, ROUND) == history
    assert dict(correct(history, 1, None).state.score.scores) == {"A": 4, "B": 0}


def test_what_no_longer_fits_is_told() -> None:
    history = replay(NCA, [ROUND, ShotUnseen(3), ShotUnseen(1)])
    corrected = correct(history, 0, None)
    assert [(c.at, c.event, c.refusal.code) for c in corrected.conflicts] == [(0, ShotUnseen(3), "out_of_turn")]
    assert corrected.state.taken == 1
    assert corrected.events == (ShotUnseen(3), ShotUnseen(1))


@pytest.mark.parametrize("at", [-1, 1])
def test_nothing_happened_there(at: int) -> None:
    with pytest.raises(RulesError) as refused:
        correct(replay(NCA, [ROUND]), at, None)
    assert refused.value.code == "no_such_event"
    assert refused.value.sentence == f"event {at}: expected 0 to 0"


discs = st.sampled_from(["p", "q", "x", "y", "s", "t"])
places = st.builds(
    Place,
    st.sampled_from([-1.0, 0.0, 10.0, 60.0, 118.4, 150.0, 250.0, 300.0, 325.0, 331.0]),
    st.floats(0, 360),
    st.booleans(),
)
hits = st.tuples(st.just("hit"), discs, discs)
others = st.tuples(st.sampled_from(["peg", "off", "back", "cross", "hole"]), discs)
sides = st.sampled_from(["A", "A", "B", "B", "C", "D"])
shots = st.builds(
    Shot,
    side=sides,
    seat=st.integers(0, 5),
    disc=discs,
    events=st.lists(hits | others, max_size=8).map(tuple),
    rest=st.dictionaries(discs, places | st.sampled_from(["hole", "ditch"]), max_size=4),
    placed=st.none() | places,
)
positions = st.builds(
    Position,
    st.dictionaries(discs, st.builds(Disc, sides, st.floats(-5, 335), st.floats(0, 360), st.booleans()), max_size=4),
    st.dictionaries(sides, st.integers(0, 13), max_size=3),
)
some_counts = st.none() | st.dictionaries(sides, st.integers(-5, 200), max_size=3)
events: st.SearchStrategy[GameEvent] = st.one_of(
    st.builds(ShotTaken, shots, st.none() | st.just("pushed"), st.none() | positions),
    st.builds(ShotUnseen, st.integers(1, 4), st.none() | positions),
    st.builds(ShotUnseen, st.integers(1, 4)),
    st.builds(ShotAgain, st.sampled_from([None, "pushed", "shook"])),
    st.just(TimeOut()),
    st.builds(RoundCounted, some_counts, some_counts, st.booleans()),
    st.just(ROUND),
    st.just(RoundCounted(early=True)),
    st.builds(Conceded, sides, st.sampled_from(["round", "round", "game"])),
)
setups = st.builds(
    lambda base, players, reshoots, playoff: GameSetup(
        load_ruleset({"base": base, "players": players, "reshoots": reshoots}), playoff=playoff
    ),
    st.sampled_from(sorted(PRESETS)),
    st.sampled_from(CHOICES["players"]),
    st.integers(0, 1),
    st.booleans(),
)


@given(setups, st.lists(events, max_size=12))
def test_no_sequence_of_events_raises_and_nobody_ever_has_more_than_was_dealt(
    setup: GameSetup, happened: list[GameEvent]
) -> None:
    state = begin(setup)
    for event in happened:
        step = apply(state, event)
        assert (step.state is state) == (step.refusal is not None)
        state = step.state
        used = {side: state.position.banked.get(side, 0) for side in setup.dealt}
        for disc in state.position.discs.values():
            used[disc.side] += 1
        for side, _ in state.order[state.taken :]:
            used[side] += 1
        assert all(used[side] <= setup.dealt[side] for side in used)
        assert all(left >= 0 for left in state.shots_left.values())
        assert (state.turn is None) or not state.score.over


@given(setups, st.data())
def test_legal_shots_are_never_refused(setup: GameSetup, data: st.DataObject) -> None:
    state = begin(setup)
    for k in range(data.draw(st.integers(0, 14))):
        turn = state.turn
        if turn is None:
            break
        theirs = sorted(name for name, disc in state.position.discs.items() if disc.side != turn[0])
        hit = tuple(("hit", f"s{k}", name) for name in theirs[:1])
        where = data.draw(st.sampled_from([Place(60.0, 5.0), Place(250.0, 5.0), "hole", "ditch"]))
        step = apply(state, ShotTaken(Shot(*turn, f"s{k}", hit, {f"s{k}": where})))
        assert step.refusal is None
        state = step.state


@given(setups, st.lists(events, max_size=10), st.integers(0, 10))
def test_replay_of_a_prefix_and_the_rest_is_the_whole(setup: GameSetup, happened: list[GameEvent], cut: int) -> None:
    whole = replay(setup, happened)
    part = replay(setup, happened[:cut]).state
    for event in happened[cut:]:
        part = apply(part, event).state
    assert part == whole.state


@given(setups, st.lists(events, max_size=10))
def test_undo_then_redo_is_the_identity(setup: GameSetup, happened: list[GameEvent]) -> None:
    history = start(setup)
    for event in happened:
        history, _ = record(history, event)
    if history.events:
        assert redo(undo(history)) == history
        assert undo(history).state == replay(setup, history.events[:-1]).state
    assert replay(setup, history.events) == history


@given(setups, st.lists(events, max_size=8), st.integers(0, 7), events)
def test_a_correction_taken_back_is_the_identity(
    setup: GameSetup, happened: list[GameEvent], at: int, event: GameEvent
) -> None:
    history = replay(setup, happened)
    if at < len(happened):
        assert correct(correct(history, at, event), at, happened[at]).state == history.state
