"""One batch of messages: what it writes into the journal, and what is published when that is done."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from hub.link.messages import Ask
from hub.store.journal import Batch


@dataclass(frozen=True, slots=True)
class PinTry:
    """A PIN that must be checked outside the loop, since that is slow on purpose."""

    ask: Ask
    board: str
    pin: str


@dataclass(slots=True)
class Output:
    """What is to be published after a batch, in this order.

    Attributes:
        acks: topic and payload.
        tables: boards whose snapshot changed.
        answers: topic and payload.
        calls: topic and payload.
        wanted: pictures of the boards' cameras, topic and payload.
        cleared: topics of which the broker is to keep nothing any more.
        pin_tries: to be checked and handed to :meth:`hub.people.requests.Requests.pin_checked`.
    """

    acks: list[tuple[str, bytes]] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    answers: list[tuple[str, bytes]] = field(default_factory=list)
    calls: list[tuple[str, bytes]] = field(default_factory=list)
    wanted: list[tuple[str, bytes]] = field(default_factory=list)
    cleared: list[str] = field(default_factory=list)
    pin_tries: list[PinTry] = field(default_factory=list)


class Work:
    """One batch on its way into the journal; ``next_id`` is the id of the journal's last line."""

    def __init__(self, next_id: int) -> None:
        self.batch = Batch()
        self.out = Output()
        self.next_id = next_id
        self.acks: dict[tuple[str, str, str], int] = {}
        self.touched: dict[str, None] = {}

    def line_id(self) -> int:
        """The id of the next line."""
        self.next_id += 1
        return self.next_id


class Answers:
    """The last answers that were given, so that a repeated request gets the same one at once."""

    _KEPT = 2000

    def __init__(self) -> None:
        self._answers: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, board: str, boot: str, payload: bytes) -> None:
        """Keep the answer to a request; the oldest gives way."""
        self._answers[f"{board}/{boot}"] = payload
        while len(self._answers) > self._KEPT:
            self._answers.popitem(last=False)

    def find(self, board: str, boot: str) -> bytes | None:
        """The answer to a request if it is kept."""
        return self._answers.get(f"{board}/{boot}")
