"""People's requests: who may ask, what was answered before, and whether a table or the whole club is meant."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from hub.again import Taken
from hub.entries import PEOPLE, Entry
from hub.link import topics
from hub.link.asks import AskBody, CloseEvening, Forget, Invite, Login, Move, Name, Start, Who, decode_ask
from hub.link.messages import Answer, Ask, MessageError, decode, encode
from hub.link.snapshot import Side
from hub.people import undone
from hub.people.errands import Errands, Tables
from hub.people.names import Names
from hub.people.refused import RefusedError
from hub.people.roles import CLUB, DeniedError, Grant, People, digest
from hub.state import TableState
from hub.store.engine import StoreBusyError
from hub.store.journal import Journal, people_boot
from hub.work import Answers, PinTry, Work

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_HALF_CHARS = 300
"""Of a longer refusal the beginning and the end are told: what it names came from the asker, however long."""


class Requests:
    """Takes people's requests for the hub's tables.

    Args:
        tables: the hub's.
        names: of the players.
        people: tokens and PINs.
        journal: for tokens, and for answers given before.
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
        self._answers = Answers()
        self._errands = Errands(tables, names, people, journal, now_ms=now_ms)

    def pin_checked(self, tried: PinTry, *, right: bool) -> tuple[str, bytes]:
        """The answer to a ``login`` whose PIN was checked.

        Raises:
            StoreBusyError: the token could not be stored; it may be tried again.
        """
        now_ms = self._now_ms()
        self._people.tried(tried.board, now_ms, right=right)
        if not right:
            return _answer(tried.ask, Answer(tried.ask.id, ok=False, error="wrong_pin: this is not the PIN"))
        return self._handed_out(tried.ask, tried.board)

    def _handed_out(self, ask: Ask, board: str) -> tuple[str, bytes]:
        """The answer with a new token."""
        now_ms = self._now_ms()
        self._people.drop_expired(now_ms)
        token, grant = self._people.hand_out(board, now_ms)
        self._journal.drop_tokens(now_ms)
        self._journal.add_token(digest(token), grant.role, grant.board, grant.expires_ms)
        body = {"token": token, "role": grant.role, "board": grant.board, "expires": grant.expires_ms}
        return _answer(ask, Answer(ask.id, ok=True, body=body))

    def _invited(self, ask: Ask, body: Invite) -> tuple[str, bytes]:
        """The answer to an organiser who wants a table's people let in."""
        if body.board not in self._tables.boards:
            raise DeniedError("no_board", f"there is no board {body.board!r} here")
        try:
            where, payload = self._handed_out(ask, body.board)
        except StoreBusyError as error:
            raise DeniedError("busy", f"the invitation could not be kept, try again: {error}") from None
        self._answers.keep(CLUB, people_boot(ask.client, ask.id), payload)
        return where, payload

    def take(self, work: Work, topic: topics.Topic, payload: bytes) -> None:
        """Take in a request.

        Raises:
            MessageError: it is none.
        """
        ask = decode(payload, Ask)
        if not _ID.fullmatch(ask.id) or not _ID.fullmatch(ask.client):
            raise MessageError("Ask: id and client must be 1 to 64 of A-Z, a-z, 0-9 and _.:-")
        known = self._answer_again(topic.board, ask)
        if known is not None:
            work.out.answers.append((topics.answer(ask.client), known))
            return
        try:
            body = decode_ask(topic.which, bytes(ask.body))
            if isinstance(body, Login):
                self._login(work, topic.board, ask, body)
                return
            grant = self._people.allow(ask.token, topic.board, topic.which, self._now_ms())
        except DeniedError as denied:
            work.out.answers.append(_answer(ask, Answer(ask.id, ok=False, error=str(denied))))
            return
        except MessageError as error:
            work.out.answers.append(_answer(ask, Answer(ask.id, ok=False, error=f"bad_request: {error}")))
            return
        try:
            self._carry_out(work, topic, ask, grant, body)
        except DeniedError as denied:
            work.out.answers.append(_answer(ask, Answer(ask.id, ok=False, error=str(denied))))

    def _carry_out(self, work: Work, topic: topics.Topic, ask: Ask, grant: Grant, body: AskBody) -> None:
        match body:
            case Forget() | CloseEvening():
                self._errand(work, ask, grant, body)
            case Move():
                self._move(work, topic, ask, grant, body)
            case Who():
                told = {"role": grant.role, "board": grant.board, "expires": grant.expires_ms}
                work.out.answers.append(_answer(ask, Answer(ask.id, ok=True, body=told)))
            case Invite():
                work.out.answers.append(self._invited(ask, body))
            case Start():
                body = replace(body, names=self._named(work, body.names))
                self._act(work, topic, ask, grant, encode(body))
            case Name():
                body = replace(body, names={**dict.fromkeys(body.names, ""), **self._named(work, body.names)})
                self._act(work, topic, ask, grant, encode(body))
            case _:
                self._act(work, topic, ask, grant, encode(body))

    def _errand(self, work: Work, ask: Ask, grant: Grant, body: Forget | CloseEvening) -> None:
        """Carry out what concerns the whole club."""
        try:
            if isinstance(body, Forget):
                told = self._errands.forget(work, ask, grant, body)
            else:
                told = {"boards": self._errands.close(work, ask, grant, body)}
        except RefusedError as refused:
            work.out.answers.append(_answer(ask, Answer(ask.id, ok=False, error=str(refused))))
            return
        where, payload = _answer(ask, Answer(ask.id, ok=True, body=told))
        boot = people_boot(ask.client, ask.id)
        self._answers.keep(CLUB, boot, payload)
        work.batch.answers |= {entry.id: payload for entry in work.batch.entries if entry.boot == boot}
        work.out.answers.append((where, payload))

    def _move(self, work: Work, topic: topics.Topic, ask: Ask, grant: Grant, body: Move) -> None:
        """Let a match go on at another board: a line in the journal of each, in one transaction."""
        try:
            self._errands.check_target(ask, topic.board, body)
        except RefusedError as refused:
            work.out.answers.append(_answer(ask, Answer(ask.id, ok=False, error=str(refused))))
            return
        match = self._errands.departure(work, topic.board, grant)
        taken = self._act(work, topic, ask, grant, encode(replace(body, there="")))
        if taken.refused is None and match is not None:
            self._errands.arrive(work, body, match)

    def _act(self, work: Work, topic: topics.Topic, ask: Ask, grant: Grant, body: bytes) -> Taken:
        entry = Entry(
            id=work.line_id(),
            board=topic.board,
            source=PEOPLE,
            boot=people_boot(ask.client, ask.id),
            seq=1,
            kind=topic.which,
            wall_ms=self._now_ms(),
            body=body,
            who=grant.who,
        )
        before = self._tables.state(topic.board)
        taken = self._tables.take(work, entry, rev_seen=ask.rev)
        rev = {"rev": taken.state.rev}
        if taken.refused is None:
            told = self._undone(work, topic.which, before, taken.state)
            answer = Answer(ask.id, ok=True, body={**rev, "told": told} if told else rev)
        else:
            answer = Answer(ask.id, ok=False, error=str(taken.refused), body=rev)
        where, payload = _answer(ask, answer)
        work.batch.answers[entry.id] = payload
        self._answers.keep(topic.board, entry.boot, payload)
        work.out.answers.append((where, payload))
        return taken

    def _undone(self, work: Work, request: str, before: TableState, after: TableState) -> str:
        """What an undo or redo was about, in words; empty of every other request."""
        lines = {"undo": before.actions, "redo": before.undone}.get(request, ())
        if not lines:
            return ""
        fresh = (entry for entry in work.batch.entries if entry.id == lines[-1])
        stored = self._journal.entries(before.board, lines[-1], lines[-1])
        entry = next(fresh, None) or next(stored, None)
        return "" if entry is None else undone.words(entry, before, after)

    def _answer_again(self, board: str, ask: Ask) -> bytes | None:
        kept = self._answers.find(board, people_boot(ask.client, ask.id))
        boards = (
            self._tables.boards if board == CLUB else (board,)
        )  # what concerns the club stands in its tables' journals
        found = (self._journal.answer_to(known, ask.client, ask.id) for known in boards)
        return kept or next((answer for answer in found if answer is not None), None)

    def _login(self, work: Work, board: str, ask: Ask, body: Login) -> None:
        if board not in {CLUB, body.board}:
            raise DeniedError("other_board", f"sign in to board {body.board} at its own table")
        self._people.may_try(body.board, self._now_ms())
        work.out.pin_tries.append(PinTry(ask, body.board, body.pin))

    def _named(self, work: Work, names: dict[Side, str]) -> dict[Side, str]:
        """Ids of the players for the journal; names stay in their one table."""
        ids, new = self._names.ids(names)
        work.batch.players.update(new)
        return ids


def _answer(ask: Ask, answer: Answer) -> tuple[str, bytes]:
    if len(answer.error) > 2 * _HALF_CHARS:
        answer = replace(answer, error=f"{answer.error[:_HALF_CHARS]} ... {answer.error[-_HALF_CHARS:]}")
    return topics.answer(ask.client), encode(answer)
