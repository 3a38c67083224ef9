"""Lines gone through again, as undo, redo and a late ruling need it; remembers where chapters begin on the way.

A chapter begins with a match. The state before its first line is kept, so taking back an action means to go through
the lines since then without it: facts that came after it get the meaning they have without it. The chapters of an
evening hang together: an action of an earlier match is taken back by going through all that was played since.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from hub.entries import PEOPLE, Entry, is_carried
from hub.people.refused import RefusedError
from hub.state import TableState


@dataclass(frozen=True, slots=True)
class Chapter:
    """What undo replays: the state before the first line, and all lines since."""

    base: TableState
    entries: Sequence[Entry]


Chapters = Callable[[int], Chapter | None]
"""Gives the chapter that begins with a line's id, up to the line before the one being taken in."""


@dataclass(slots=True)
class Taken:
    """What taking in a line led to.

    Attributes:
        state: the table's state after it.
        chapter: the state before the line if a new chapter begins with it.
        refused: why a request was not carried out; None if it was, or if the line is none.
        reopened: an earlier chapter, by its first line, and the state before it as another edition left it.
    """

    state: TableState
    chapter: TableState | None = None
    refused: RefusedError | None = None
    reopened: tuple[int, TableState] | None = None


Take = Callable[[TableState, Entry, Chapters], Taken]
"""Takes in one line."""


class Again:
    """Goes through lines and can give every chapter that began among them.

    Args:
        take: takes in one line.
        state: the state before the first.
        since: id of the chapter that begins with the first line, 0 if none does.
        older: gives chapters that began before.
    """

    def __init__(
        self,
        take: Take,
        state: TableState,
        since: int = 0,
        older: Chapters | None = None,
    ) -> None:
        self.state = state
        self._take = take
        self._older = older
        self._lines: list[Entry] = []
        self._begun: dict[int, tuple[TableState, int]] = {since: (state, 0)} if since else {}

    def line(self, entry: Entry) -> Taken | None:
        """Take in one more line; None for a request that was refused when it came."""
        taken = None if entry.refused else self._take(self.state, entry, self.chapter)
        if taken is not None:
            if taken.reopened is not None and taken.reopened[0] in self._begun:
                since, base = taken.reopened
                self._begun[since] = (base, self._begun[since][1])
            if taken.chapter is not None:
                self._begun[entry.id] = (taken.chapter, len(self._lines))
            self.state = taken.state
        self._lines.append(entry)
        return taken

    def lines(self, entries: Iterable[Entry], skipped: Collection[int]) -> None:
        """Take in what holds of many lines; a table taken over is where they begin, with what is known of it now."""
        for entry in entries:
            if holds(entry, skipped):
                self.line(entry)

    def chapter(self, since: int) -> Chapter | None:
        """See :data:`Chapters`."""
        if since in self._begun:
            base, at = self._begun[since]
            return Chapter(base, self._lines[at:])
        return self._older(since) if self._older is not None else None

    def forget_before(self, since: Sequence[int]) -> None:
        """Keep only what the chapters that begin with these lines need."""
        self._begun = {line: self._begun[line] for line in since if line in self._begun}
        first = min((at for _, at in self._begun.values()), default=len(self._lines))
        del self._lines[:first]
        self._begun = {line: (base, at - first) for line, (base, at) in self._begun.items()}


def holds(entry: Entry, gone: Collection[int]) -> bool:
    """Whether a line counts when lines are gone through again; ``gone`` are those that were taken back."""
    return not (entry.refused or entry.id in gone or takes_back(entry) or is_carried(entry))


def takes_back(entry: Entry) -> bool:
    """Whether a line is an undo or a redo, by a phone or by the button at the table."""
    if entry.source == PEOPLE:
        return entry.kind in {"undo", "redo"}
    return entry.pressed() == "undo"
