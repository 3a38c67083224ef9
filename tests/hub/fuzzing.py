"""Every decoder of the hub behind one entry: for ``make fuzz``, and without atheris for hypothesis (``test_fuzz.py``).

The first byte of an input names its decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hub.edition import carried, carrying
from hub.entries import CARRIED, HUB, Entry
from hub.link import asks, messages, topics
from hub.link.bus import BusError, broker_address
from hub.link.config import Config, ConfigError, config_toml, parse_config
from hub.link.pictures import Evidence, check_case, pack, unpack
from hub.link.snapshot import Table
from hub.rules import notation
from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset
from hub.sequence import checked
from hub.state import TableState
from hub.store.engine import StoreError, parse_url

TYPES = (
    messages.Envelope,
    messages.Ack,
    messages.Health,
    messages.Do,
    messages.Call,
    messages.Ask,
    messages.Answer,
    Table,
)
OWN_ERRORS = (messages.MessageError, topics.TopicError, ConfigError, RulesError, BusError, StoreError)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _typed(what: Any) -> Callable[[bytes], object]:
    return lambda data: messages.decode(data, what)


def _fact(kind: str) -> Callable[[bytes], object]:
    return lambda data: messages.decode_fact(kind, data)


def _ask(request: str) -> Callable[[bytes], object]:
    return lambda data: asks.decode_ask(request, data)


def _sequenced(data: bytes) -> object:
    return checked(messages.decode(data, messages.Envelope), topics.Topic("b1", "fact", "camera"))


def _carried(data: bytes) -> object:
    return carried(Entry(1, "b1", HUB, "h", 1, CARRIED, 0, data))


DECODERS: Mapping[str, Callable[[bytes], object]] = {
    **{what.__name__: _typed(what) for what in TYPES},
    **{f"fact {kind}": _fact(kind) for kind in messages.KINDS},
    **{f"ask {request}": _ask(request) for request in asks.REQUESTS},
    "sequenced": _sequenced,
    "carried": _carried,
    "pictures": unpack,
    "topic": lambda data: topics.parse(_text(data)),
    "board": lambda data: topics.check_board(_text(data)),
    "case": lambda data: check_case(_text(data)),
    "config": lambda data: parse_config(_text(data), "fuzz.toml"),
    "broker": lambda data: broker_address(_text(data)),
    "database": lambda data: parse_url(_text(data)),
    "rules": lambda data: load_ruleset(_text(data)),
    "position": lambda data: notation.parse_position(_text(data)),
    "shot": lambda data: notation.parse_shot(_text(data)),
    "round": lambda data: notation.parse_round(_text(data)),
}


def one_input(data: bytes) -> None:
    """Give an input to its decoder: it takes it, or refuses it with an error of the program's own."""
    if not data:
        return
    decoder = list(DECODERS.values())[data[0] % len(DECODERS)]
    try:
        decoder(data[1:])
    except OWN_ERRORS:
        return


def seeds() -> list[bytes]:
    """Inputs that are what they should be, to begin with."""
    from tests.hub.test_fuzz import ASKS, facts_of_an_evening

    good = {
        "carried": carrying(TableState("b1"), None),
        "pictures": pack(Evidence("m1.q1", "?", 3, 3, ()), (b"\xff\xd8\xff", b"\xff\xd8\xff")),
        "topic": b"crokinole/1/b1/fact/camera",
        "board": b"b1",
        "case": b"m1.q1",
        "config": config_toml(Config()).encode(),
        "broker": b"mqtt://user@hub.local:1883",
        "database": b"postgresql://user@[::1]:5432/hub",
        "rules": b"match-play",
        "position": b"A:P@130/20 B:B1@10/0~ +Ax2",
        "shot": b"A@1 s@304.8/0 : s>P s# P* = s@125/0 P*",
        "round": b"round 1\nA@1 s@304.8/0 : s* = s*\ncounted A=1x20+15 B=0x20+5\n",
    }
    facts = {f"fact {kind}": messages.encode(fact) for _, kind, fact, _ in facts_of_an_evening()}
    more: list[tuple[str, dict[str, Any]]] = [
        ("confirm", {"round": 1}),
        ("answer", {"question": "g1-r1-s2-valid", "choice": "yes"}),
        ("rule", {"reason": "seen", "round": 1, "shot": 2, "valid": True}),
        ("move", {"to": "b2", "restart": True}),
        ("forget", {"name": "Ann"}),
        ("login", {"board": "b1", "pin": "1234"}),
    ]
    requests = {f"ask {request}": messages.encode(body) for request, body in (*ASKS, *more)}
    names = list(DECODERS)
    return [bytes([names.index(name)]) + data for name, data in {**good, **facts, **requests}.items()]
