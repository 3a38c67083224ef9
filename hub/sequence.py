"""Puts each source's facts in order: nothing twice, nothing before what came first, gaps only where facts are gone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hub.link import topics
from hub.link.messages import KINDS, Envelope, MessageError

_HELD = 512
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_KIND = re.compile(r"[a-z_]{1,32}")
_INT64 = 2**63
_LARGEST_SEQ = 2**48  # a fact a microsecond for nine years; sums of gaps stay far within what can be stored

Known = Callable[[str, str, str], int]
"""The last stored sequence number of (board, source, boot), 0 for none."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Facts that the board no longer has and the journal never got: the first, the last, and how many."""

    first: int
    last: int
    count: int


@dataclass(slots=True)
class _Boot:
    last: int
    held: dict[int, Envelope] = field(default_factory=dict)


class Sequencer:
    """Remembers how far each boot of each source has been taken in.

    Args:
        known: asks the journal about a boot that is seen for the first time.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._boots: dict[tuple[str, str, str], _Boot] = {}

    def last(self, board: str, source: str, boot: str) -> int:
        """The last sequence number taken in."""
        return self._boot(board, source, boot).last

    def offer(self, envelope: Envelope) -> tuple[Lost | None, list[Envelope]]:
        """A fact has come.

        Returns:
            What is lost for ever, None for nothing, and the facts that can be taken in now, in order: none for a
            duplicate or for one that waits for those before it, more when others were waiting for this one.
        """
        boot = self._boot(envelope.board, envelope.source, envelope.boot)
        if envelope.seq > boot.last and len(boot.held) < _HELD:
            boot.held[envelope.seq] = envelope
        ready: list[Envelope] = []
        lost = None
        if boot.last + 1 < envelope.first:
            came = sorted(seq for seq in boot.held if seq < envelope.first)
            lost = _between(boot.last, envelope.first, came)
            ready = [boot.held.pop(seq) for seq in came]
            boot.last = envelope.first - 1
        while boot.last + 1 in boot.held:
            boot.last += 1
            ready.append(boot.held.pop(boot.last))
        return lost, ready

    def _boot(self, board: str, source: str, boot: str) -> _Boot:
        key = (board, source, boot)
        if key not in self._boots:
            self._boots[key] = _Boot(self._known(board, source, boot))
        return self._boots[key]


def _between(last: int, first: int, came: list[int]) -> Lost | None:
    """What never came between two numbers; counted and not listed, since there may be any number of them."""
    count = first - last - 1 - len(came)
    if not count:
        return None
    low, high = last + 1, first - 1
    there = set(came)
    while low in there:
        low += 1
    while high in there:
        high -= 1
    return Lost(low, high, count)


def checked(envelope: Envelope, topic: topics.Topic) -> Envelope:
    """An envelope that may enter the journal.

    Raises:
        MessageError: another topic's, or values that cannot be.
    """
    if topic.board in topics.RESERVED:
        raise MessageError(f"Envelope: no board may be called {topic.board!r}")
    if (envelope.board, envelope.source) != (topic.board, topic.which):
        raise MessageError(f"Envelope: of {envelope.board}/{envelope.source}, expected {topic.board}/{topic.which}")
    if not 1 <= envelope.first <= envelope.seq <= _LARGEST_SEQ:
        raise MessageError(f"Envelope: first {envelope.first} and seq {envelope.seq}, expected 1 <= first <= seq")
    if not _ID.fullmatch(envelope.boot) or not _ID.fullmatch(envelope.machine_boot):
        raise MessageError("Envelope: boot and machine_boot must be 1 to 64 of A-Z, a-z, 0-9 and _.:-")
    if not _KIND.fullmatch(envelope.kind):
        raise MessageError(f"Envelope: unknown kind of fact, expected one of {', '.join(KINDS)}")
    if max(abs(envelope.mono_ns), abs(envelope.sent_ns), abs(envelope.wall_ms)) >= _INT64:
        raise MessageError("Envelope: a time beyond what a journal can hold")
    return envelope
