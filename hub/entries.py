"""One line of the journal: a fact of a sensor, something a person did, or something the hub noticed itself."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from hub.link.asks import AskBody, decode_ask
from hub.link.messages import Button, Fact, MessageError, decode_fact

Origin = Literal["beam", "camera", "button", "people", "hub"]
PEOPLE: Final = "people"
HUB: Final = "hub"
CARRIED: Final = "carried"
"""The kind of the hub's line that takes a table over from another edition of the program."""
NAMED: Final = "named"
"""The kind of the hub's first line about a board that it knows by a PIN or token alone: so it is known later, too."""
ARRIVED: Final = "arrived"
"""The kind of the hub's line with which a match comes from another board."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One line of the journal; (board, source, boot, seq) is its identity and ``id`` its place in the order.

    Attributes:
        id: grows by one with every line of the whole journal.
        board: the board's id.
        source: the sensor, ``people`` or ``hub``.
        boot: of the sensor's daemon; of people the client and the ask's id; of the hub its own start.
        seq: within the boot; 1 for people.
        kind: which fact, request, or notice (``gap``, ``sensor``, ``called``, ``standing``, ``named``, ``arrived``,
            ``carried``).
        wall_ms: wall time, milliseconds since 1970.
        body: JSON.
        machine_boot: the kernel's boot id; the board's times compare only within it.
        mono_ns: when the fact became known, on the board's clock.
        sent_ns: when it was sent, on the board's clock.
        synced: whether the board's wall clock was synchronised.
        who: the person's role and board, empty for sensors.
        refused: a person's request that was not carried out, kept for the repeated answer only.
    """

    id: int
    board: str
    source: Origin
    boot: str
    seq: int
    kind: str
    wall_ms: int
    body: bytes
    machine_boot: str = ""
    mono_ns: int = 0
    sent_ns: int = 0
    synced: bool = True
    who: str = ""
    refused: bool = False

    @property
    def age_ns(self) -> int:
        """How old the fact was when it was sent."""
        return max(0, self.sent_ns - self.mono_ns)

    def fact(self) -> Fact:
        """The sensor's fact.

        Raises:
            MessageError: of an unknown kind, or not one.
        """
        return decode_fact(self.kind, self.body)

    def pressed(self) -> str:
        """Which button at the table was pressed, empty for all other lines."""
        if self.kind != "button":
            return ""
        try:
            fact = self.fact()
        except MessageError:
            return ""
        return fact.name if isinstance(fact, Button) else ""

    def request(self) -> AskBody:
        """What a person asked for.

        Raises:
            MessageError: of an unknown kind, or not one.
        """
        return decode_ask(self.kind, self.body)


def is_carried(entry: Entry) -> bool:
    """Whether a line takes a table over, see :mod:`hub.edition`."""
    return entry.source == HUB and entry.kind == CARRIED


def has_arrived(entry: Entry) -> bool:
    """Whether with a line a match comes from another board."""
    return entry.source == HUB and entry.kind == ARRIVED


class Gap(msgspec.Struct, frozen=True, gc=False):
    """Facts that the board no longer has and the journal never got, as after a restored database."""

    source: str
    boot: str
    first: int
    last: int
    count: int


class SensorNotice(msgspec.Struct, frozen=True, gc=False):
    """A sensor came, went, has other faults than before, or can tell other things.

    Attributes:
        source: the sensor.
        online: whether it is there.
        faults: that stand.
        able: what it can tell, None while it has not said.
        machine_boot: the time below compares only within it.
        since_ns: since when it can tell just that, on the board's clock; 0 if it does not say.
    """

    source: str
    online: bool
    faults: tuple[str, ...] = ()
    able: tuple[str, ...] | None = None
    machine_boot: str = ""
    since_ns: int = 0


class Called(msgspec.Struct, frozen=True, gc=False):
    """The button at the table called the referee."""
