"""Which edition of the program decides: a hash of the code that does, so that nobody has to remember to count it up.

A newer edition may judge the lines of a journal otherwise than the one that took them in. What was decided stays
decided: the first thing that a hub of another edition writes about a board is the table as it took it over, and from
that line on a replay gives exactly what is stored. It begins a chapter. Undo goes back behind it, to the beginning of
the match, if this edition reads the match's lines just as they were read then (:mod:`hub.reread`), else not.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from hardware import board
from hub.again import Taken
from hub.entries import CARRIED, Entry
from hub.link.messages import MessageError
from hub.state import GEOMETRY, TableState

_DECIDING = (
    *("rules/*.py", "judging/*.py", "people/*.py", "link/asks.py", "link/messages.py", "link/snapshot.py"),
    *(
        "again.py",
        "edition.py",
        "entries.py",
        "referee.py",
        "remembered.py",
        "reread.py",
        "round.py",
        "rounds.py",
        "state.py",
        "table.py",
        "tally.py",
    ),
)


class Carried(msgspec.Struct, frozen=True):
    """A table as it was taken over from another edition.

    Attributes:
        edition: the one that took it over.
        state: the table, with what can be undone.
        base: the state before the first line of its match, None if there is none or it cannot be read.
        whole: whether the line was written by an edition that keeps what can be undone.
    """

    edition: str
    state: TableState
    base: TableState | None = None
    whole: bool = False


def deciding() -> tuple[Path, ...]:
    """The files whose code decides, or says what is decided about."""
    room = Path(__file__).parent
    return (Path(board.__file__), *sorted(path for pattern in _DECIDING for path in room.glob(pattern)))


def _edition() -> str:
    told = hashlib.sha256(repr(GEOMETRY).encode())
    for path in deciding():
        told.update(path.name.encode())
        told.update(bare(path.read_text(encoding="utf-8")).encode())
    return told.hexdigest()[:12]


def bare(code: str) -> str:
    """What decides of a file's code: all but comments, docstrings and layout."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [one for one in body if not _is_text(one)]
    return ast.unparse(tree)


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a string alone: it documents what stands before or after it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


EDITION: Final = _edition()


def carrying(state: TableState, base: TableState | None) -> bytes:
    """The body of the line that takes over a table; it may be longer than a message.

    Args:
        state: the table.
        base: the state before its match, as it is kept.
    """
    return msgspec.json.encode(Carried(EDITION, state, base, whole=True))


def carried(entry: Entry) -> Taken:
    """What a line that takes a table over leads to.

    Raises:
        MessageError: it cannot be read.
    """
    try:
        told = msgspec.json.decode(entry.body, type=Carried)
    except msgspec.DecodeError as error:
        raise MessageError(f"{CARRIED}: {error}") from None
    over = replace(told.state, edition=told.edition, entry=entry.id, renewed=entry.id if told.whole else 0)
    if told.base is None or not over.since:
        over = replace(over, since=entry.id, chapters=(entry.id,))
        return Taken(over, chapter=over)
    over = replace(over, chapters=(over.since, entry.id))
    return Taken(over, chapter=over, reopened=(over.since, told.base))
