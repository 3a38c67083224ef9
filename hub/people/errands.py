"""Requests that concern more than one table: a match moves, a person is forgotten, the evening closes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

import msgspec

from hub.again import Chapter, Taken
from hub.entries import ARRIVED, PEOPLE, Entry
from hub.link.asks import AskBody, CloseEvening, Forget, Move
from hub.link.messages import Ask, encode
from hub.people.evening import Arrived, check_free, departing
from hub.people.names import Names
from hub.people.refused import RefusedError
from hub.people.roles import Grant, People
from hub.state import TableState
from hub.store.engine import StoreBusyError
from hub.store.journal import Journal, people_boot
from hub.work import Work

log = logging.getLogger(__name__)

MATCHES_TOLD = 1000
"""Whose pictures go at once when a person is forgotten, the newest; older matches hardly have any, and an answer must
stay short enough to be sent. What pictures there still are of others, the pages find by themselves."""


class Tables(Protocol):
    """The hub's tables, as an errand sees them."""

    @property
    def boards(self) -> tuple[str, ...]:
        """Boards that were ever heard of, or that have a PIN or a token of their own."""

    def state(self, board: str) -> TableState:
        """The state of a table."""

    def take(self, work: Work, entry: Entry, rev_seen: int | None = None) -> Taken:
        """Take in a line."""

    def own(self, work: Work, board: str, kind: str, body: bytes) -> None:
        """Take in a line of the hub's own."""

    def leaving(self, work: Work, board: str) -> Chapter | None:
        """What a table's match takes along if it moves: the state before it, and its lines; None if not kept."""


class Errands:
    """Carries such requests out; one transaction for all tables concerned, since all lines go into one batch.

    Args:
        tables: the hub's.
        names: of the players.
        people: tokens.
        journal: for what is erased.
        now_ms: wall time.
    """

    def __init__(
        self, tables: Tables, names: Names, people: People, journal: Journal, *, now_ms: Callable[[], int]
    ) -> None:
        self._tables = tables
        self._names = names
        self._people = people
        self._journal = journal
        self._now_ms = now_ms

    def check_target(self, ask: Ask, board: str, body: Move) -> None:
        """Whether a match may go on where it is wanted.

        Raises:
            DeniedError: the asker may not do anything there.
            RefusedError: nobody knows that board, or a match is being played there.
        """
        if body.to == board:
            return
        self._people.allow(body.there or ask.token, body.to, "move", self._now_ms())
        if body.to not in self._tables.boards:
            known = ", ".join(self._tables.boards)
            raise RefusedError("no_board", f"there is no board {body.to!r}; there are {known}")
        check_free(self._tables.state(body.to))

    def departure(self, work: Work, board: str, grant: Grant) -> Arrived | None:
        """What would travel if a board's match moved now; None without a match."""
        state = self._tables.state(board)
        if state.match is None or state.match.running is None:
            return None
        return departing(state, grant.who, self._tables.leaving(work, board))

    def arrive(self, work: Work, body: Move, match: Arrived) -> None:
        """Let a match that has left go on at the other board."""
        self._tables.own(work, body.to, ARRIVED, msgspec.json.encode(match))

    def close(self, work: Work, ask: Ask, grant: Grant, body: CloseEvening) -> list[str]:
        """Close the evening at every table that has anything of it.

        Raises:
            RefusedError: matches are being played and are not to be abandoned.
        """
        states = [self._tables.state(board) for board in self._tables.boards]
        playing = [state.board for state in states if state.match is not None and state.match.running is not None]
        if playing and not body.abandon:
            raise RefusedError("match_running", f"matches are being played at {', '.join(playing)}")
        for board in playing:
            self._tables.take(work, self._line(work, ask, grant, board, kind="abandon", body=b"{}", suffix="abandon"))
        closed = [state.board for state in states if state.match is not None or state.evening]
        for board in closed:
            self._tables.take(work, self._line(work, ask, grant, board, kind="close", body=encode(body)))
        log.info("the evening was closed by %s", grant.who)
        return closed

    def forget(self, work: Work, ask: Ask, grant: Grant, body: Forget) -> dict[str, list[str]]:
        """Erase a name; tables that show it get a line, so that their snapshots go out without it.

        Returns:
            The boards that showed it, and the matches whose pictures must go with it.

        Raises:
            RefusedError: nobody is called so, or the database cannot be written just now.
        """
        player = self._names.id_of(body.name)
        if player is None:
            raise RefusedError("no_person", "nobody is called so here")
        try:
            self._journal.forget_player(player)
            played = self._journal.matches_of(player, MATCHES_TOLD)
        except StoreBusyError as error:
            raise RefusedError("busy", str(error)) from None
        self._names.forget(player)
        if player in work.batch.players:
            work.batch.players[player] = ""
        shown = []
        for board in self._tables.boards:
            state = self._tables.state(board)
            told = [] if state.match is None else [(state.match.id, state.match.names)]
            here = [
                match for match, names in (*told, *((p.id, p.names) for p in state.evening)) if player in names.values()
            ]
            if here:
                shown.append(board)
                played += [match for match in here if match not in played]
        for board in shown or self._tables.boards[:1]:  # if nowhere else, it is journalled at the first
            self._tables.take(work, self._line(work, ask, grant, board, kind="forget", body=encode(Forget(player))))
        log.info("a person's name was erased by %s", grant.who)
        return {"boards": shown, "matches": played}

    def _line(
        self, work: Work, ask: Ask, grant: Grant, board: str, *, kind: str, body: bytes, suffix: str = ""
    ) -> Entry:
        """A person's line at a board that was not asked itself."""
        boot = people_boot(ask.client, f"{ask.id}.{suffix}" if suffix else ask.id)
        return Entry(
            id=work.line_id(),
            board=board,
            source=PEOPLE,
            boot=boot,
            seq=1,
            kind=kind,
            wall_ms=self._now_ms(),
            body=body,
            who=grant.who,
        )


OF_THE_CLUB: tuple[type[AskBody], ...] = (Forget, CloseEvening)
"""Asked of the hub and of no board."""
