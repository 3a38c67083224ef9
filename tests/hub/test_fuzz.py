"""Whatever comes in, the hub goes on, answers, and its journal still gives exactly the state that it stored."""

from __future__ import annotations

import contextlib
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.link import asks, messages, topics
from hub.link.messages import KINDS, MAX_BYTES, Answer, Ask, Envelope, MessageError, decode, encode
from hub.link.snapshot import Table
from hub.replay import run as replay
from tests.hub import fuzzing
from tests.hub.conftest import MEMORY
from tests.hub.harness import TOKEN, Club, S
from tests.hub.test_durability import evening
from tests.hub.test_games import HABITS

TMP = MEMORY if MEMORY.is_dir() else None
TYPES = [Envelope, messages.Ack, messages.Health, messages.Do, messages.Call, Ask, Answer, Table]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("what", TYPES, ids=lambda what: what.__name__)
@given(payload=st.binary(max_size=200) | JSON.map(msgspec.json.encode))
def test_no_payload_raises_anything_but_a_message_error(what: Any, payload: bytes) -> None:
    with contextlib.suppress(MessageError):
        assert isinstance(decode(payload, what), what)


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_every_decoder_takes_what_comes_or_refuses_it_in_its_own_words(data: st.DataObject) -> None:
    """The entry of ``make fuzz``, from good inputs with some bytes exchanged, dropped or doubled."""
    good = data.draw(st.sampled_from(good_inputs()))
    at, length = data.draw(st.integers(1, len(good))), data.draw(st.integers(0, 9))
    put = data.draw(st.binary(max_size=4) | st.just(good[at : at + 2 * length]))
    fuzzing.one_input(good[:at] + put + good[at + length :])
    fuzzing.one_input(data.draw(st.binary(max_size=80)))


def test_what_the_fuzzer_begins_with_is_good() -> None:
    decoders = list(fuzzing.DECODERS.values())
    for good in good_inputs():
        decoders[good[0]](good[1:])


@given(st.text(max_size=60) | st.lists(st.text(max_size=8)).map("/".join).map(f"{topics.ROOT}/".__add__))
def test_no_topic_raises_anything(topic: str) -> None:
    parsed = topics.parse(topic)
    assert parsed is None or topic.startswith(topics.ROOT)


@cache
def good_inputs() -> tuple[bytes, ...]:
    return tuple(fuzzing.seeds())


@cache
def facts_of_an_evening() -> tuple[tuple[str, str, Any, int], ...]:
    with tempfile.TemporaryDirectory(dir=TMP) as folder:
        steps, _, _ = evening(Path(folder), 3, HABITS["all-at-once"])
    return tuple(
        (step.source, messages.KIND_OF[type(step.fact)], msgspec.to_builtins(step.fact), step.at_ns)
        for step in steps
        if step.fact is not None
    )


WILD = (0, -1, 1, 0.0, -1e9, 1e308, 2**62, "", "d1", "d2", "hole", "ditch", "light", "third", "hit", None, [], {}, True)


def spoilt(value: Any, chance: random.Random, rate: float) -> Any:
    """A fact with some of its parts exchanged, dropped, doubled or wild."""
    if chance.random() < rate / 4:
        return chance.choice(WILD)
    if isinstance(value, dict):
        kept = {k: spoilt(v, chance, rate) for k, v in value.items() if chance.random() > rate / 8}
        if kept and chance.random() < rate:
            one, other = chance.choice(list(kept)), chance.choice(list(kept))
            kept[one], kept[other] = kept[other], kept[one]
        return kept
    if isinstance(value, list | tuple):
        items = [spoilt(v, chance, rate) for v in value for _ in range(chance.choice([1] * 20 + [0, 2]))]
        if chance.random() < rate:
            chance.shuffle(items)
        return items
    return value


ASKS = [
    ("start", {"level": "judge"}),
    ("start", {"rules": "nca", "level": "advise", "games": 3}),
    ("confirm", {}),
    ("undo", {}),
    ("undo", {}),
    ("redo", {}),
    ("abandon", {}),
    ("correct", {"side": "A", "twenties": 3}),
    ("correct", {"shot": 2, "valid": False}),
    ("correct", {"disc": "d2", "value": 15}),
    ("correct", {"round": 1, "totals": {"A": 40, "B": 0}, "among": {"A": 0, "B": 0}}),
    ("correct", {}),
    ("pause", {}),
    ("referee", {}),
    ("time_out", {}),
    ("swap", {"what": "colours"}),
    ("swap", {"what": "seats"}),
    ("concede", {"side": "B"}),
    ("concede", {"side": "A", "what": "game"}),
    ("walk_over", {"side": "A"}),
    ("name", {"names": {"A": "Ann", "B": ""}}),
]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), rate=st.sampled_from([0.0, 0.02, 0.1, 0.4]))
def test_spoilt_facts_and_odd_requests_leave_a_hub_whose_journal_proves_its_state(seed: int, rate: float) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=TMP) as folder:
        club = Club(Path(folder))
        for source, kind, body, at_ns in facts_of_an_evening():
            if chance.random() < 0.1:
                continue
            sent = club.outboxes["b1", source].put(messages.Cleared(at_ns), at_ns)
            tree = spoilt(body, chance, rate)
            wrong = chance.choice(list(KINDS)) if chance.random() < rate / 10 else kind
            club.publish(msgspec.structs.replace(sent, kind=wrong, body=msgspec.Raw(msgspec.json.encode(tree))))
            if chance.random() < 0.1:
                request, wanted = chance.choice(ASKS)
                answer = club.ask(request, wanted)
                assert answer.ok or ": " in answer.error
            for question in club.table().questions[:1]:
                if chance.random() < 0.5:
                    club.ask("answer", {"question": question.id, "choice": chance.choice(question.choices).key})
        club.turn()
        assert not any(outbox.waiting for outbox in club.outboxes.values())
        assert len(club.broker.retained[topics.table("b1")]) <= MAX_BYTES
        table = club.table()
        for view in table.sides.values():
            assert view.shots_left >= 0
            assert view.twenties >= 0
        club.restart()
        assert club.table() == table
        club.close()
        assert replay(club.url) == 0


@settings(max_examples=60, deadline=None)
@given(
    requests=st.lists(
        st.tuples(st.sampled_from([*asks.REQUESTS, "dance"]), JSON.map(msgspec.json.encode), st.integers(-5, 9)),
        max_size=12,
    )
)
def test_every_request_gets_an_answer_and_a_bad_one_changes_nothing(
    requests: list[tuple[str, bytes, int]],
) -> None:
    with tempfile.TemporaryDirectory(dir=TMP) as folder:
        club = Club(Path(folder))
        club.fact("camera", messages.Cleared(S), S)
        for number, (request, body, rev) in enumerate(requests):
            before = club.table()
            ask = Ask(f"a{number}", "phone", f"{TOKEN}-b1", rev, msgspec.Raw(body))
            club.bus.publish(topics.ask("b1", request), encode(ask))
            club.turn()
            answer = club.answers[f"a{number}"]
            if not answer.ok:
                assert answer.error
                assert club.table() == before
        club.close()
        assert replay(club.url) == 0


@pytest.mark.parametrize("word", ["x", "\U000e0001"])
@pytest.mark.parametrize(
    ("request_", "body"),
    [
        ("move", {"to": "b1"}),
        ("start", {"match": "m1"}),
        ("start", {"rules": "nca"}),
        ("start", {"rules": {"base": "nca"}}),
        ("name", {"match": "m1"}),
        ("correct", {"disc": "d1", "value": 10}),
        ("answer", {"question": "q1", "choice": "yes"}),
        ("rule", {"question": "q1", "choice": "yes", "reason": "seen"}),
    ],
)
def test_a_refusal_is_answered_however_long_the_words_it_is_about(
    quick_path: Path, request_: str, body: dict[str, Any], word: str
) -> None:
    club = Club(quick_path)
    assert club.ask("start", {}).ok or request_ == "start"
    if request_ == "start":
        club.ask("abandon", {})
    longest = MAX_BYTES - 1000

    def swollen(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: swollen(inner) for key, inner in value.items()}
        return word * (longest // len(body) // len(word.encode())) if isinstance(value, str) else value

    answer = club.ask(request_, swollen(body), token=f"{TOKEN}-organiser")
    assert not answer.ok
    assert ": " in answer.error
    assert len(answer.error) < 1000
    club.close()
