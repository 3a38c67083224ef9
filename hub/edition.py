"""Which edition of the program decides: a hash of the code that does, so that nobody has to remember to count it up.

A newer edition may judge the lines of a journal otherwise than the one that took them in. What was decided stays
decided: the first thing that a hub of another edition writes about a board is the table as it took it over, and from
that line on a replay gives exactly what is stored. It begins a chapter: undo does not go back behind it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from hardware import board
from hub.entries import HUB, Entry
from hub.link.messages import MessageError
from hub.state import GEOMETRY, TableState

CARRIED: Final = "carried"
"""The kind of the hub's line that takes a table over from another edition."""

_DECIDING = (
    *("rules/*.py", "judging/*.py", "people/*.py", "link/asks.py", "link/messages.py", "link/snapshot.py"),
    *(
        "again.py",
        "edition.py",
        "entries.py",
        "referee.py",
        "round.py",
        "rounds.py",
        "state.py",
        "table.py",
        "tally.py",
    ),
)


class Carried(msgspec.Struct, frozen=True):
    """A table as it was taken over from another edition, and the one that took it over."""

    edition: str
    state: TableState


def deciding() -> tuple[Path, ...]:
    """The files whose code decides, or says what is decided about."""
    room = Path(__file__).parent
    return (Path(board.__file__), *sorted(path for pattern in _DECIDING for path in room.glob(pattern)))


def _edition() -> str:
    told = hashlib.sha256(repr(GEOMETRY).encode())
    for path in deciding():
        told.update(path.name.encode())
        told.update(path.read_bytes())
    return told.hexdigest()[:12]


EDITION: Final = _edition()


def is_carried(entry: Entry) -> bool:
    """Whether a line takes a table over."""
    return entry.source == HUB and entry.kind == CARRIED


def carrying(state: TableState) -> bytes:
    """The body of the line that takes over a table; it may be longer than a message."""
    kept = replace(state, actions=(), undone=(), void=())
    return msgspec.json.encode(Carried(EDITION, kept))


def carried(entry: Entry) -> TableState:
    """The table that a line takes over.

    Raises:
        MessageError: it cannot be read.
    """
    try:
        told = msgspec.json.decode(entry.body, type=Carried)
    except msgspec.DecodeError as error:
        raise MessageError(f"{CARRIED}: {error}") from None
    return replace(told.state, edition=told.edition, entry=entry.id, since=entry.id, chapters=(entry.id,))
