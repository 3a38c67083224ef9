"""What is decided by going through lines again: undo, redo, late names and rules, late rulings, a match that came.

The lines of a chapter are read as they would have been without what was taken back, or with what is now known. Where
another edition of the program has decided meanwhile (:mod:`hub.edition`), that is done only if this one reads the lines
up to there just as they were read then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from hub.again import Again, Chapter, Chapters, Take, holds
from hub.edition import carried
from hub.entries import PEOPLE, Entry, has_arrived, is_carried
from hub.link.asks import Rule, Start
from hub.link.messages import MessageError, encode
from hub.people.actions import act
from hub.people.evening import Arrived, arrived, read_arrived, travelling
from hub.people.refused import RefusedError
from hub.people.rulings import is_known, preset, round_ruled_on
from hub.round import Round
from hub.state import TableState, Verdict, shot_key

_OUTLASTS_ADOPTION = frozenset(
    {"pause", "resume", "referee", "referee_done", "time_out", "concede", "walk_over", "rule"}
)
"""What people did before a match got its names and rules, and what still holds under them."""

_NOT_KEPT: Final = "this match's beginning is no longer kept"
_PROGRAM_CHANGED: Final = "the hub's program was changed since"
_READS_OTHERWISE: Final = f"{_PROGRAM_CHANGED} and would read what was played before in another way"
_RULE_ON_TOTALS: Final = "rule on the totals of the round instead"


@dataclass(frozen=True, slots=True)
class Rereading:
    """A table whose lines can be gone through again.

    Attributes:
        take: takes in one line.
        state: the table now.
        chapters: gives the chapters that hold, with their lines.
    """

    take: Take
    state: TableState
    chapters: Chapters

    # ---- undo and redo

    def undone(self) -> TableState:
        """The last action is taken back.

        Raises:
            RefusedError: there is none, or what was before it is not kept, or read otherwise now.
        """
        actions, undone = self.state.actions, self.state.undone
        if not actions:
            raise RefusedError("nothing_to_undo", "there is nothing to take back")
        return self._without(actions[-1], (*undone, actions[-1]), "undo")

    def done_again(self) -> TableState:
        """What was taken back last is done again; errors as in :meth:`undone`."""
        undone = self.state.undone
        if not undone:
            raise RefusedError("nothing_to_redo", "there is nothing to do again")
        return self._without(undone[-1], undone[:-1], "redo")

    def _without(self, action: int, undone: tuple[int, ...], what: str) -> TableState:
        """Go through everything since the chapter of an action again, without the lines that do not hold."""
        since = max((line for line in self._held() if line <= action), default=0)
        chapter = self.chapters(since) if since else None
        if chapter is None and action < self.state.renewed:
            raise RefusedError("other_edition", f"cannot {what} further: {_PROGRAM_CHANGED}; correct it instead")
        if chapter is None:
            raise RefusedError("too_long_ago", f"cannot {what} further: {_NOT_KEPT}")
        if not self._reads_alike(chapter, since):
            raise RefusedError("other_edition", f"cannot {what} further: {_READS_OTHERWISE}; correct it instead")
        return self._through(chapter, since, undone)

    # ---- late names, rules and rulings

    def adopted(self, entry: Entry, body: Start) -> TableState:
        """A match that a first shot opened gets its names and rules: it is played again under them.

        Raises:
            RefusedError: its beginning is not kept, or read otherwise now, or lies at another board.
        """
        state = self.state
        chapter = self._chapter(state.since)
        if chapter is None or state.since == state.renewed or _came_with(chapter) is not None:
            raise RefusedError("too_long_ago", f"{_NOT_KEPT}; it can get names, and no rules")
        if not self._reads_alike(chapter, state.since):
            raise RefusedError("other_edition", f"{_READS_OTHERWISE}; the match can get names, and no rules")
        again = Again(self.take, chapter.base, entry.id)
        body = replace(body, match="")
        again.line(replace(entry, body=encode(body)))
        if again.state.since != entry.id:
            act(chapter.base, entry, body)  # says why not
        held = again.state.actions
        earlier = [line for line in chapter.entries if line.source != PEOPLE or line.kind in _OUTLASTS_ADOPTION]
        again.lines(earlier, frozenset({*state.undone, *state.void}))
        return replace(
            again.state,
            since=state.since,
            chapters=tuple(line for line in self._held() if line <= state.since),
            actions=held,
            undone=(),
            void=(*state.void, *state.undone),
            flash=state.flash,
            flashed=state.flashed,
            edition=state.edition,
            renewed=state.renewed,
        )

    def ruled(self, entry: Entry, body: Rule) -> TableState:
        """A ruling on a shot of a finished round: the match is gone through again with the ruling known.

        Raises:
            RefusedError: there is no such shot, or its evidence is not kept, or read otherwise now.
        """
        state = self.state
        if is_known(state, entry, body):
            return state
        playing = round_ruled_on(state, body)[1]
        for since in sorted({state.since, *(line for line in self._held() if line > state.since)}, reverse=True):
            chapter = self._chapter(since)
            if chapter is None:
                raise RefusedError("too_long_ago", f"{_NOT_KEPT}; {_RULE_ON_TOTALS}")
            if not self._reads_alike(chapter, since):
                raise RefusedError("other_edition", f"{_READS_OTHERWISE}; {_RULE_ON_TOTALS}")
            came = _came_with(chapter)
            if came is not None:
                self._check_brought(came, playing)
            base = preset(chapter.base, entry, state, body)
            now = self._through(Chapter(base, chapter.entries), since, state.undone)
            if now.match is None or state.match is None or now.match.id != state.match.id:
                told = "with this ruling the match would have been over before what was played since"
                raise RefusedError("ends_match", f"{told}; {_RULE_ON_TOTALS}")
            if is_known(now, entry, body):
                return now
            if since == state.since == state.renewed and _finished(chapter.base, playing):
                raise RefusedError("other_edition", f"{_PROGRAM_CHANGED}; {_RULE_ON_TOTALS}")
        raise RefusedError("no_shot", f"there is no shot {body.shot} in round {playing.number}")

    def _check_brought(self, came: Arrived, playing: Round) -> None:
        """Whether the shots of a round can be judged again that a match has brought from another board.

        Raises:
            RefusedError: its lines did not come along, or are read otherwise now.
        """
        if not any((brought.game, brought.number) == (playing.game, playing.number) for brought in came.match.rounds):
            return
        if came.before is None or not came.lines:
            raise RefusedError("too_long_ago", f"this round was played at {came.board}; {_RULE_ON_TOTALS}")
        left = self._as_it_left(came, {})
        if left is None or left.match is None or travelling(left.match) != came.match:
            raise RefusedError("other_edition", f"{_READS_OTHERWISE}; {_RULE_ON_TOTALS}")

    # ---- a match that came from another board

    def came(self, entry: Entry, body: Arrived) -> TableState:
        """A match goes on here; what has been ruled since on the rounds that it brought is known to them."""
        fresh = dict(_rulings_to_come(self.state, body))
        left = self._as_it_left(body, {**body.ruled, **fresh}) if fresh else None
        if left is not None and left.match is not None:
            body = replace(body, match=travelling(left.match), ruled=left.ruled)
        return arrived(self.state, entry, body)

    def _as_it_left(self, body: Arrived, ruled: dict[str, Verdict]) -> TableState | None:
        """The table that a match left, gone through again with rulings known; None if it is not the same match then."""
        if body.before is None or not body.lines:
            return None
        base = replace(body.before, ruled={**body.before.ruled, **ruled})
        again = Again(self.take, base, body.lines[0].id)
        again.lines(body.lines, ())
        left = again.state
        return left if left.match is not None and left.match.id == body.match.id else None

    def leaving(self) -> Chapter | None:
        """What a match takes along: the state before its first line, and the lines that hold; None if not kept."""
        chapter = self._chapter(self.state.since) if self.state.since else None
        if chapter is None:
            return None
        gone = {*self.state.undone, *self.state.void}
        return Chapter(chapter.base, [line for line in chapter.entries if holds(line, gone)])

    # ---- chapters

    def _held(self) -> tuple[int, ...]:
        """Chapters whose beginnings hold; of a state that an older program stored, the current one."""
        return self.state.chapters or ((self.state.since,) if self.state.since else ())

    def _chapter(self, since: int) -> Chapter | None:
        """The chapter that begins with a line, as it is now.

        What was stored of a chapter holds no longer once an action before it was taken back: then it is made anew by
        going through the lines since the last chapter that still holds.
        """
        if since in self._held():
            return self.chapters(since)
        start = max((line for line in self._held() if line < since), default=0)
        whole = self.chapters(start) if start else None
        if whole is None:
            return None
        again = Again(self.take, whole.base, start)
        again.lines(whole.entries, frozenset({*self.state.undone, *self.state.void}))
        return again.chapter(since)

    def _through(self, chapter: Chapter, since: int, undone: tuple[int, ...]) -> TableState:
        state = self.state
        again = Again(self.take, chapter.base, since)
        again.lines(chapter.entries, frozenset({*undone, *state.void}))
        return replace(
            again.state,
            chapters=tuple(line for line in self._held() if line <= since),
            undone=undone,
            void=state.void,
            flash=state.flash,
            flashed=state.flashed,
            sensors=state.sensors,
            edition=state.edition,
            renewed=state.renewed,
        )

    def _reads_alike(self, chapter: Chapter, since: int) -> bool:
        """Whether this edition makes of a chapter's lines what those before it made of them, where any did."""
        over = [(at, line) for at, line in enumerate(chapter.entries) if is_carried(line) and line.id > since]
        if not over:
            return True
        at, line = over[-1]
        with suppress(MessageError):
            was = carried(line).state
            again = Again(self.take, chapter.base, since)
            again.lines(chapter.entries[:at], frozenset({*was.undone, *was.void}))
            return _counts(again.state) == _counts(was)
        return False


def _rulings_to_come(state: TableState, body: Arrived) -> Iterator[tuple[str, Verdict]]:
    """Rulings on shots of the rounds that a match brings, made after it came."""
    brought = tuple(shot_key(body.match, finished, 0)[:-1] for finished in body.match.rounds)
    for key, verdict in state.ruled.items():
        known = body.ruled.get(key)
        if key.startswith(brought) and (known is None or known.line != verdict.line):
            yield key, replace(verdict, applied=False)


def _came_with(chapter: Chapter) -> Arrived | None:
    """What a chapter's match brought from another board, None if it began here."""
    first = chapter.entries[0] if chapter.entries else None
    if first is None or not has_arrived(first):
        return None
    with suppress(MessageError):
        return read_arrived(first)
    return None


def _finished(state: TableState, playing: Round) -> bool:
    """Whether a round had been counted already."""
    rounds = () if state.match is None else state.match.rounds
    return any((finished.game, finished.number) == (playing.game, playing.number) for finished in rounds)


def _counts(state: TableState) -> tuple[object, ...]:
    """What counts of a table, and what decides how its next lines are read."""
    return state.match, state.evening, state.layout, state.practice, state.fresh, state.ruled
