"""The topics of the contract, written in one place: ``crokinole/1/...``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

ROOT = "crokinole/1"
RESERVED = frozenset({"hub", "answer"})
_BOARD = re.compile(r"[a-z0-9-]{1,32}")
_WORD = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KNOWN = 4096
"""A club's topics come again and again; so many of them are taken apart and compared with a filter but once."""

ALL_FACTS = f"{ROOT}/+/fact/+"
ALL_STATUS = f"{ROOT}/+/status/+"
ALL_HEALTH = f"{ROOT}/+/health/+"
ALL_ASKS = f"{ROOT}/+/ask/+"
ALL_TABLES = f"{ROOT}/+/table"
HUB_STATUS = f"{ROOT}/hub/status"


class TopicError(ValueError):
    """A board id or topic word that the contract does not allow."""


class Topic(NamedTuple):
    """A topic taken apart: ``crokinole/1/<board>/<what>[/<which>]``."""

    board: str
    what: str
    which: str


def check_board(board: str) -> str:
    """The id itself if a board may be called so.

    Raises:
        TopicError: it does not match ``[a-z0-9-]{1,32}`` or is reserved.
    """
    if not _BOARD.fullmatch(board) or board in RESERVED:
        raise TopicError(f"board id {board!r}: expected 1 to 32 of a-z, 0-9 and '-', and neither 'hub' nor 'answer'")
    return board


@lru_cache(maxsize=_KNOWN)
def parse(topic: str) -> Topic | None:
    """Take a topic apart; None for anything that is not of this contract (brokers may deliver such)."""
    parts = topic.split("/")
    if len(parts) not in {4, 5} or "/".join(parts[:2]) != ROOT or not _BOARD.fullmatch(parts[2]):
        return None
    if not all(_WORD.fullmatch(p) for p in parts[3:]):
        return None
    return Topic(parts[2], parts[3], parts[4] if len(parts) == 5 else "")


def fact(board: str, source: str) -> str:
    """Envelopes of one source, never retained."""
    return f"{ROOT}/{board}/fact/{source}"


def status(board: str, source: str) -> str:
    """``online`` or ``offline``, retained, also the last will."""
    return f"{ROOT}/{board}/status/{source}"


def health(board: str, source: str) -> str:
    """A source's health as JSON, retained."""
    return f"{ROOT}/{board}/health/{source}"


def ack(board: str, source: str) -> str:
    """Hub to board: everything of a boot up to a sequence number is stored."""
    return f"{ROOT}/{board}/ack/{source}"


def do(board: str, request: str) -> str:
    """Hub to board: a request to a daemon, never retained."""
    return f"{ROOT}/{board}/do/{request}"


def picture(board: str, picture_id: str) -> str:
    """A JPEG of at most 64 KiB, QoS 0, not retained."""
    return f"{ROOT}/{board}/picture/{picture_id}"


def table(board: str) -> str:
    """The whole state of a table, retained."""
    return f"{ROOT}/{board}/table"


def call(board: str) -> str:
    """What the speakers are to say, QoS 0."""
    return f"{ROOT}/{board}/call"


def ask(board: str, request: str) -> str:
    """A person's request to the hub; board ``hub`` for what belongs to no board."""
    return f"{ROOT}/{board}/ask/{request}"


def answer(client: str) -> str:
    """The hub's answer to one asker."""
    return f"{ROOT}/answer/{client}"


@lru_cache(maxsize=_KNOWN)
def matches(topic_filter: str, topic: str) -> bool:
    """Whether a topic belongs to an MQTT filter with ``+`` and a closing ``#``."""
    wanted, got = topic_filter.split("/"), topic.split("/")
    for position, word in enumerate(wanted):
        if word == "#":
            return True
        if position >= len(got) or word not in {"+", got[position]}:
            return False
    return len(wanted) == len(got)
