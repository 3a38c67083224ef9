"""Messages: what is encoded comes back, and nothing that is no message gets through or raises anything else."""

import json
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.link import asks, messages
from hub.link.messages import (
    KIND_OF,
    BeamCandidate,
    Doubt,
    Envelope,
    Layout,
    LayoutDisc,
    MessageError,
    Place,
    Shot,
    decode_envelope,
    decode_fact,
    encode,
)

SHOT = Shot(
    disc="d1",
    colour="light",
    placed=Place(304.8, 0),
    events=(("hit", "d1", "d2"), ("off", "d2")),
    rest={"d1": Place(10, 5, leaning=True), "d2": "ditch"},
    start_ns=1,
    end_ns=2,
    doubts=(Doubt("contact", ("d1",), ((("peg", "d1"),), ()), b"jpeg"),),
)
FACTS = [
    BeamCandidate(1, 2, 3),
    Layout(5, (LayoutDisc("d1", "dark", 1.5, -2.5, 0.3, "hole"),), ("d2",)),
    SHOT,
]


def envelope(fact: messages.Fact, **changes: object) -> bytes:
    body = msgspec.Raw(encode(fact))
    plain = Envelope("b", "camera", "m", "x", 1, 1, 0, 0, 0, True, KIND_OF[type(fact)], body)
    return encode(msgspec.structs.replace(plain, **changes))


@pytest.mark.parametrize("fact", FACTS, ids=lambda f: type(f).__name__)
def test_a_fact_round_trips_in_its_envelope(fact: messages.Fact) -> None:
    read, body = decode_envelope(envelope(fact))
    assert body == fact
    assert (read.board, read.seq) == ("b", 1)


@pytest.mark.parametrize(("first", "seq"), [(0, 0), (2, 1), (0, 5), (-1, 3)])
def test_sequence_numbers_that_cannot_be_are_refused(first: int, seq: int) -> None:
    with pytest.raises(MessageError, match="first"):
        decode_envelope(envelope(FACTS[0], first=first, seq=seq))


@pytest.mark.parametrize(
    "payload",
    [b'{"seq":', b"\xff\xfe", b"[]", b"null", b'{"seq": "1"}', b"[" * 50_000, b"x" * (messages.MAX_BYTES + 1)],
    ids=["cut", "not utf-8", "list", "null", "wrong type", "deep", "long"],
)
def test_what_is_no_envelope_is_a_message_error(payload: bytes) -> None:
    with pytest.raises(MessageError):
        decode_envelope(payload)


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_a_message_error(payload: bytes) -> None:
    for decode in (decode_envelope, lambda p: decode_fact("shot", p), lambda p: asks.decode_ask("start", p)):
        try:
            decode(payload)
        except MessageError:
            continue


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda c: st.dictionaries(st.text(), c)))
def test_no_json_raises_anything_but_a_message_error(value: object) -> None:
    for kind in messages.KINDS:
        try:
            decode_fact(kind, json.dumps(value).encode())
        except MessageError:
            continue


NUMBERS = [
    ("beam_candidate", BeamCandidate(1, 2, 3)),
    ("beam_episode", messages.BeamEpisode(1, 2, 3.0, 4)),
    ("beam_pass", messages.BeamPass(1, 2, 3.0)),
    ("beam_fault", messages.BeamFault("chatter", 1)),
    ("layout", Layout(5, (LayoutDisc("d1", "dark", 1.5, -2.5, 0.3),))),
    ("shot", SHOT),
    ("moved", messages.Moved(1, "board", 2.0)),
    ("cleared", messages.Cleared(1)),
]


def spoiled(value: object, number: float) -> Iterator[object]:
    """A message with one of its numbers, wherever it is, changed to another one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: changed} for changed in spoiled(inner, number))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in spoiled(inner, number))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield number


@pytest.mark.parametrize("number", [10**30, -(10**30), 2**63, 1e300, -1e300])
@pytest.mark.parametrize(("kind", "fact"), NUMBERS, ids=[kind for kind, _ in NUMBERS])
def test_a_number_that_no_board_can_report_is_refused_since_nobody_could_store_it(
    kind: str, fact: messages.Fact, number: float
) -> None:
    good = json.loads(encode(fact))
    wrong = [body for body in spoiled(good, number) if "confidence" not in body or body["confidence"] == 1.0]
    assert wrong
    for body in wrong:
        with pytest.raises(MessageError):
            decode_fact(kind, json.dumps(body).encode())


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(MessageError, match="wobble"):
        decode_fact("wobble", b"{}")


def test_a_message_over_64_kib_is_not_sent() -> None:
    with pytest.raises(MessageError, match="65536"):
        encode(Layout(0, (), ("d" * messages.MAX_BYTES,)))


@pytest.mark.parametrize(
    ("request_name", "body", "wrong"),
    [("dance", b"{}", "dance"), ("start", b'{"rulez": "nca"}', "rulez"), ("answer", b"{}", "question")],
)
def test_a_bad_ask_says_what_is_wrong(request_name: str, body: bytes, wrong: str) -> None:
    with pytest.raises(MessageError, match=wrong):
        asks.decode_ask(request_name, body)
