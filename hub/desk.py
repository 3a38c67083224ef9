"""The hub's desk: messages in, one transaction, and what is to be published then.

Owned by one loop; knows no broker.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from hub import pictures
from hub.again import Chapter, Chapters, Taken
from hub.edition import EDITION, carrying
from hub.entries import CARRIED, HUB, NAMED, Called, Entry, Gap, SensorNotice
from hub.link import topics
from hub.link.bus import Message
from hub.link.messages import (
    Ack,
    Call,
    Envelope,
    Health,
    MessageError,
    decode,
    encode,
)
from hub.link.snapshot import StandingView
from hub.people.names import Names
from hub.people.requests import Requests
from hub.people.roles import People
from hub.referee import STANDING_LEVEL, STANDING_RULES
from hub.reread import Rereading
from hub.rows import changed_row, gone, renamed, renamed_row
from hub.rules.presets import load_ruleset
from hub.sequence import Sequencer, checked
from hub.state import Sensor, Standing, TableState, rules_table
from hub.store.journal import Batch, Journal
from hub.table import replay, take
from hub.view import encoded, table_of
from hub.work import Output, Work

log = logging.getLogger(__name__)

CALL_AGE_NS = 5_000_000_000
"""An older fact is not announced: the hub is catching up."""

ONLINE, OFFLINE = b"online", b"offline"
_SOURCES: frozenset[str] = frozenset({"beam", "camera", "button"})
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")

STANDING = Standing(rules_table(load_ruleset(STANDING_RULES)), STANDING_LEVEL)
"""Under what a first shot opens a match if the club sets nothing else."""

_encode_state = msgspec.msgpack.Encoder().encode
_decode_state = msgspec.msgpack.Decoder(TableState).decode


_OFF_THE_WALL = (
    "neither pin_file nor token_file names it any more, none of its sensors is online and no match is played there: it "
    "is taken off the wall; its journal stays, and it is back as soon as it is heard of"
)


class Desk:
    """Everything the hub knows, and what it makes of messages; people's are taken by :attr:`requests`.

    Args:
        journal: opened by this hub alone.
        people: tokens and PINs.
        run: id of this start of the hub, for its own lines.
        now_ms: wall time.
        standing: under what a first shot opens a match.

    Raises:
        StoreError: the journal cannot be read.
    """

    def __init__(
        self, journal: Journal, people: People, *, run: str, now_ms: Callable[[], int], standing: Standing = STANDING
    ) -> None:
        self._journal = journal
        self._run = run
        self._now_ms = now_ms
        self._standing = standing
        self._standing_view = StandingView(str(standing.rules["name"]), standing.level)
        self._own_seq = 0
        self._sequencer = Sequencer(journal.last_seq)
        self._states = {board: self._restored(board, state) for board, state in journal.states().items()}
        self._new = tuple(sorted(people.boards - set(self._states)))  # one without a sensor says nothing by itself
        for board in self._new:
            self._states[board] = self.state(board)
        self._gone = {board for board, state in self._states.items() if people.boards and _nobodys(state, people)}
        for board in sorted(self._gone):
            log.warning("board %s: %s", board, _OFF_THE_WALL)
        self._foreign = tuple(board for board, state in self._states.items() if state.edition != EDITION)
        self._names = Names(journal.players())
        self._rates: dict[str, dict[str, float | None]] = {}
        self.requests = Requests(self, self._names, people, journal, now_ms=now_ms)
        self._told: set[str] = set()
        self.bad_messages = 0

    @property
    def boards(self) -> tuple[str, ...]:
        """Boards that were ever heard of and not given up since, or that have a PIN or a token of their own."""
        return tuple(board for board in self._states if board not in self._gone)

    @property
    def gone(self) -> tuple[str, ...]:
        """Boards that were given up: nothing of them is to be shown."""
        return tuple(sorted(self._gone))

    def state(self, board: str) -> TableState:
        """The state of a table; of an unknown one, an idle table."""
        return self._states.get(board) or TableState(board, edition=EDITION)

    def snapshot(self, board: str) -> bytes | None:
        """The encoded snapshot of a table; None if it cannot be made, which must not stop the other tables."""
        try:
            table = table_of(self.state(board), self._names.by_id, self._rates.get(board))
            return encoded(replace(table, standing=self._standing_view))
        except Exception:  # whatever it is, it would come back at every start
            if board not in self._told:
                self._told.add(board)
                log.exception("board %s: cannot be shown", board)
            return None

    def work(self, messages: Iterable[Message]) -> tuple[Batch, Output]:
        """Take in messages in order; what comes back is to be stored first and published then."""
        work = Work(self._journal.last_id)
        for board in self._foreign:
            state = self.state(board)
            self.own(work, board, CARRIED, carrying(state, self._base(work, board, state.since)))
        self._foreign = ()
        for board in self._new:
            self.own(work, board, NAMED, b"{}")
        self._new = ()
        for message in messages:
            topic = topics.parse(message.topic)
            if topic is None:
                continue
            try:
                self._message(work, topic, message)
            except MessageError as error:
                self._skip(message.topic, str(error))
        for (board, source, boot), seq in work.acks.items():
            if seq:
                work.out.acks.append((topics.ack(board, source), encode(Ack(boot, seq))))
        for board in work.touched:
            state = self.state(board)
            work.batch.states[board] = (state.entry, _encode_state(state))
        work.out.tables = list(work.touched)
        return work.batch, work.out

    def _message(self, work: Work, topic: topics.Topic, message: Message) -> None:
        match topic.what:
            case "fact" if not message.retain:
                self._fact(work, topic, message.payload)
            case "ask" if not message.retain:
                self.requests.take(work, topic, message.payload)
            case "status" if topic.board in self._gone and message.payload == OFFLINE:
                work.out.cleared += [message.topic, topics.health(topic.board, topic.which)]
            case "status" if message.payload and topic.board not in topics.RESERVED and topic.which in _SOURCES:
                self._sensor(work, topic.board, topic.which, online=message.payload == ONLINE)
            case "health" if message.payload and topic.board not in topics.RESERVED and topic.which in _SOURCES:
                health = decode(message.payload, Health)
                self._rates.setdefault(topic.board, {})[topic.which] = health.frame_rate_hz
                self._sensor(work, topic.board, topic.which, health=health)
            case _:
                return

    def _skip(self, topic: str, why: str) -> None:
        self.bad_messages += 1
        if topic not in self._told:
            self._told.add(topic)
            log.warning("%s: skipped, and further ones without a word: %s", topic, why)

    def _fact(self, work: Work, topic: topics.Topic, payload: bytes) -> None:
        envelope = checked(decode(payload, Envelope), topic)
        key = (envelope.board, envelope.source, envelope.boot)
        lost, ready = self._sequencer.offer(envelope)
        if lost is not None:
            gap = Gap(envelope.source, envelope.boot, lost.first, lost.last, lost.count)
            log.warning("board %s: %s facts %d to %d are lost", envelope.board, envelope.source, lost.first, lost.last)
            self.own(work, envelope.board, "gap", encode(gap))
        if ready and (self.state(envelope.board).standing or STANDING) != self._standing:
            self.own(work, envelope.board, "standing", encode(self._standing))
        for following in ready:
            entry = Entry(
                id=work.line_id(),
                board=following.board,
                source=following.source,
                boot=following.boot,
                seq=following.seq,
                kind=following.kind,
                wall_ms=following.wall_ms,
                body=bytes(following.body),
                machine_boot=following.machine_boot,
                mono_ns=following.mono_ns,
                sent_ns=following.sent_ns,
                synced=following.synced,
            )
            self.take(work, entry)
            if entry.pressed() == "referee" and not self.state(entry.board).referee:
                self.own(work, entry.board, "called", encode(Called()))
        work.acks[key] = self._sequencer.last(*key)

    def _sensor(
        self, work: Work, board: str, source: str, *, online: bool | None = None, health: Health | None = None
    ) -> None:
        """Journal it if a sensor came, went, has other faults or can tell other things."""
        known = self.state(board).sensors.get(source)
        was = known or Sensor(online=False)
        now = was if online is None else replace(was, online=online)
        if health is not None:
            now = replace(now, faults=health.faults, able=health.capabilities or None)
        if known is None or now != was:
            notice = SensorNotice(source, now.online, now.faults, now.able)
            if health is not None:
                notice = replace(notice, machine_boot=health.machine_boot, since_ns=health.able_since_ns)
            self.own(work, board, "sensor", encode(notice))

    def own(self, work: Work, board: str, kind: str, body: bytes) -> None:
        """Take in a line of the hub's own."""
        self._own_seq += 1
        entry = Entry(
            id=work.line_id(),
            board=board,
            source=HUB,
            boot=self._run,
            seq=self._own_seq,
            kind=kind,
            wall_ms=self._now_ms(),
            body=body,
        )
        self.take(work, entry)

    def leaving(self, work: Work, board: str) -> Chapter | None:
        """What a table's match takes along if it moves."""
        return Rereading(take, self.state(board), self._chapters(work, board)).leaving()

    def take(self, work: Work, entry: Entry, rev_seen: int | None = None) -> Taken:
        """Take in a line; what it led to is stored and published with the batch."""
        before = self.state(entry.board)
        taken = take(before, entry, self._chapters(work, entry.board), rev_seen=rev_seen)
        after = taken.state
        if after.unreadable > before.unreadable:
            self._skip(topics.fact(entry.board, entry.source), f"{entry.kind} {entry.seq} could not be used")
        self._states[entry.board] = after
        self._gone.discard(entry.board)
        work.batch.entries.append(entry if taken.refused is None else replace(entry, refused=True))
        work.touched[entry.board] = None
        if taken.chapter is not None:
            work.batch.checkpoints[entry.board, entry.id] = _encode_state(taken.chapter)
        self._call(work, entry, before, after)
        if entry.age_ns <= CALL_AGE_NS:
            work.out.wanted += pictures.requests(before, after)
        self._match_rows(work, entry, before, after)
        return taken

    def _call(self, work: Work, entry: Entry, before: TableState, after: TableState) -> None:
        flash = after.flash
        if flash is None or not flash.clip or flash.id in before.flashed or entry.age_ns > CALL_AGE_NS:
            return
        totals = after.match.rounds[-1].totals if after.match is not None and after.match.rounds else {}
        numbers = {str(side): total for side, total in totals.items()}
        call = Call(id=flash.id, clip=flash.clip, text=flash.text, numbers=numbers, age_ms=entry.age_ns // 1_000_000)
        work.out.calls.append((topics.call(entry.board), encode(call)))

    def _match_rows(self, work: Work, entry: Entry, before: TableState, after: TableState) -> None:
        old = gone(entry, before, after)
        if old:
            work.batch.matches.pop(old, None)
            work.batch.gone.add(old)
        row = changed_row(entry, before, after)
        if row is not None:
            work.batch.matches[row.id] = row
            work.batch.gone.discard(row.id)
        for played in renamed(before, after):
            known = work.batch.matches.get(played.id) or self._journal.match_row(played.id)
            if known is not None:
                work.batch.matches[played.id] = renamed_row(known, played)

    def _chapters(self, work: Work, board: str) -> Chapters:
        def chapter(since: int) -> Chapter | None:
            base = self._base(work, board, since)
            if base is None:
                return None
            stored = list(self._journal.entries(board, since))
            fresh = [entry for entry in work.batch.entries if entry.board == board and entry.id >= since]
            return Chapter(base, [*stored, *fresh])

        return chapter

    def _base(self, work: Work, board: str, since: int) -> TableState | None:
        """The state before a chapter's first line, None if it is not kept or cannot be read."""
        base = work.batch.checkpoints.get((board, since)) or self._journal.checkpoint(board, since)
        if base is None:
            return None
        try:
            return _decode_state(base)
        except msgspec.DecodeError:
            log.warning(
                "board %s: the state before line %d cannot be read, so nothing since can be undone", board, since
            )
            return None

    def _restored(self, board: str, stored: bytes) -> TableState:
        """A stored state; one of an older program's making is made again from the journal."""
        try:
            return _decode_state(stored)
        except msgspec.DecodeError:
            log.warning("board %s: the stored state is of another version, replaying the journal", board)
            state = replace(replay(TableState(board), self._journal.entries(board)), edition=EDITION)
        if state.unreadable:
            log.warning("board %s: %d lines of the journal cannot be read and are passed over", board, state.unreadable)
        return state


def _nobodys(state: TableState, people: People) -> bool:
    """Whether a board was given up: nobody may ask anything for it, none of its sensors is there, and nobody plays."""
    playing = state.match is not None and state.match.running is not None
    online = any(sensor.online for sensor in state.sensors.values())
    return not (playing or online or state.board in people.boards)
