"""Whatever well-formed facts come, in whatever order: every one can be taken in, shown, stored and replayed."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.entries import PEOPLE, Entry
from hub.link.messages import (
    KIND_OF,
    BeamCandidate,
    BeamEpisode,
    BeamFault,
    BeamWithdrawn,
    Button,
    Cleared,
    Doubt,
    Layout,
    LayoutDisc,
    Moved,
    Place,
    Shot,
)
from hub.state import TableState
from hub.table import replay, take
from hub.view import encoded, table_of

S = 1_000_000_000
IDS = st.sampled_from([f"d{n}" for n in range(1, 9)])
COLOURS = st.sampled_from(["light", "dark", "third"])
TIMES = st.integers(0, 60 * S)
PLACES = st.builds(Place, st.floats(0, 400), st.floats(0, 359), st.booleans())
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("hit"), IDS, IDS), st.tuples(st.sampled_from(["peg", "off", "back", "cross", "hole"]), IDS)
    ),
    max_size=5,
).map(tuple)
DOUBTS = st.builds(
    Doubt,
    st.sampled_from(["contact", "not_seen", "placement", "left", "leaner"]),
    st.just(()),
    st.lists(EVENTS, max_size=2).map(tuple),
)
DISCS = st.builds(
    LayoutDisc,
    IDS,
    COLOURS,
    st.floats(-330, 330),
    st.floats(-330, 330),
    st.floats(0, 2),
    st.sampled_from(["flat", "leaning", "hole", "overhanging", "stacked", "ditch"]),
)
FACTS = st.one_of(
    st.builds(
        Shot,
        IDS,
        COLOURS,
        st.none() | PLACES,
        EVENTS,
        st.dictionaries(IDS, PLACES | st.sampled_from(["hole", "ditch"]), max_size=4),
        TIMES,
        TIMES,
        st.just(1.0),
        st.lists(DOUBTS, max_size=2).map(tuple),
    ),
    st.builds(
        Layout,
        TIMES,
        st.lists(DISCS, max_size=8, unique_by=lambda d: d.id).map(tuple),
        st.lists(IDS, max_size=2).map(tuple),
    ),
    st.builds(Cleared, TIMES),
    st.builds(BeamCandidate, st.integers(1, 5), TIMES, TIMES),
    st.builds(BeamEpisode, st.integers(1, 5), TIMES, st.floats(200, 9000), st.integers(0, 3)),
    st.builds(BeamWithdrawn, st.integers(1, 5), st.just("chatter")),
    st.builds(BeamFault, st.sampled_from(["chatter", "receiver"]), TIMES, st.booleans()),
    st.builds(Moved, TIMES, st.sampled_from(["board", "camera"]), st.floats(0, 20)),
    st.builds(Button, TIMES, st.sampled_from(["confirm", "undo", "referee", "dance"])),
)
REQUESTS = st.one_of(
    st.tuples(
        st.just("start"),
        st.fixed_dictionaries(
            {
                "level": st.sampled_from(["count", "advise", "judge"]),
                "games": st.integers(1, 3),
                "players": st.sampled_from([None, None, "doubles", "two-v-one", "cutthroat"]),
            }
        ),
    ),
    st.tuples(
        st.just("correct"),
        st.one_of(
            st.fixed_dictionaries({"side": st.sampled_from("AB"), "twenties": st.integers(0, 3)}),
            st.fixed_dictionaries({"shot": st.integers(1, 4), "valid": st.booleans()}),
            st.fixed_dictionaries({"disc": IDS, "value": st.sampled_from([0, 5, 10, 15])}),
            st.fixed_dictionaries({"totals": st.fixed_dictionaries({"A": st.just(40), "B": st.just(35)})}),
        ),
    ),
    st.tuples(st.just("answer"), st.integers(0, 3)),
    st.tuples(st.sampled_from(["undo", "redo", "abandon"]), st.just({})),
    st.tuples(st.sampled_from(["pause", "resume", "time_out", "referee", "referee_done"]), st.just({})),
    st.tuples(st.just("swap"), st.fixed_dictionaries({"what": st.sampled_from(["colours", "seats"])})),
    st.tuples(
        st.just("concede"),
        st.fixed_dictionaries({"side": st.sampled_from("ABC"), "what": st.sampled_from(["round", "round", "game"])}),
    ),
    st.tuples(st.just("walk_over"), st.fixed_dictionaries({"side": st.sampled_from("ABC")})),
    st.tuples(st.just("name"), st.fixed_dictionaries({"names": st.just({"A": "p1", "B": ""})})),
    st.tuples(
        st.just("rule"),
        st.one_of(
            st.fixed_dictionaries(
                {
                    "reason": st.just("seen"),
                    "shot": st.integers(1, 3),
                    "valid": st.booleans(),
                    "round": st.integers(0, 2),
                    "game": st.integers(0, 2),
                }
            ),
            st.fixed_dictionaries(
                {
                    "reason": st.just("counted"),
                    "totals": st.fixed_dictionaries({"A": st.just(40), "B": st.just(35)}),
                    "round": st.integers(0, 2),
                }
            ),
        ),
    ),
    st.tuples(st.just("confirm"), st.fixed_dictionaries({"round": st.integers(1, 2)})),
)


def entry(number: int, state: TableState, what: Any) -> Entry:
    if isinstance(what, tuple):
        request, body = what
        if request == "answer":
            running = state.match.running if state.match is not None else None
            questions = running.questions if running is not None else ()
            question = questions[body % len(questions)] if questions else None
            body = {
                "question": question.id if question else "none",
                "choice": question.choices[body % len(question.choices)].key if question else "A",
            }
        return Entry(number, "b1", PEOPLE, f"p/{number}", 1, request, 0, msgspec.json.encode(body))
    source = "beam" if isinstance(what, BeamCandidate | BeamEpisode | BeamWithdrawn | BeamFault) else "camera"
    return Entry(
        number, "b1", source, "boot", number, KIND_OF[type(what)], number, msgspec.json.encode(what), "machine"
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(FACTS, REQUESTS), max_size=30))
def test_every_fact_is_taken_in_shown_stored_and_replayed(course: list[Any]) -> None:
    state = TableState("b1")
    taken: list[Entry] = []
    for number, what in enumerate(course, 1):
        line = entry(number, state, what)
        told = take(state, line, lambda since: chapter(since, taken), rev_seen=state.rev)
        refused = told.refused is not None
        assert not refused or told.refused.code != "internal"  # type: ignore[union-attr]  # refused says so
        taken.append(msgspec.structs.replace(line, refused=refused))
        assert told.state.unreadable == 0
        assert told.state.rev >= state.rev
        state = told.state
        encoded(table_of(state, {}))
        stored = msgspec.msgpack.encode(state)
        assert msgspec.msgpack.decode(stored, type=TableState) == state
    again = replay(TableState("b1"), taken)
    assert msgspec.structs.replace(again, entry=state.entry) == state


def chapter(since: int, taken: list[Entry]) -> Any:
    """What the desk reads from the journal: the state before a line and the lines from there on."""
    from hub.again import Chapter

    before = replay(TableState("b1"), [line for line in taken if line.id < since])
    return Chapter(before, [line for line in taken if line.id >= since])
