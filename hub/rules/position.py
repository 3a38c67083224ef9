"""What lies on the board and what a shot did: the facts that a verdict is made from, worded as in the case files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from hub.rules.errors import RulesError

HOLE: Final = "hole"
DITCH: Final = "ditch"

EVENT_ARITY: Final[Mapping[str, int]] = {"hit": 3, "peg": 2, "off": 2, "back": 2, "cross": 2, "hole": 2}
"""Kinds of event and their length: the kind and the discs it names."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a disc rests on the board.

    Attributes:
        r_mm: distance of its centre from the middle.
        angle_deg: clockwise seen from above, 0 = the middle of seat 1's quadrant.
        leaning: whether it leans in the hole.
    """

    r_mm: float
    angle_deg: float
    leaning: bool = False


@dataclass(frozen=True, slots=True)
class Disc:
    """A disc in play.

    Attributes:
        side: whose it is.
        r_mm: distance of its centre from the middle.
        angle_deg: clockwise seen from above, 0 = the middle of seat 1's quadrant.
        leaning: whether it leans in the hole.
    """

    side: str
    r_mm: float
    angle_deg: float
    leaning: bool = False

    @property
    def place(self) -> Place:
        """Where it rests."""
        return Place(self.r_mm, self.angle_deg, self.leaning)


@dataclass(frozen=True, slots=True)
class Position:
    """The board at rest between two shots.

    Attributes:
        discs: discs in play by id.
        banked: 20s lifted out of the hole so far this round, by side; a side that is absent has none.
    """

    discs: Mapping[str, Disc] = field(default_factory=dict)
    banked: Mapping[str, int] = field(default_factory=dict)


EMPTY: Final = Position()

Rest = Place | Literal["hole", "ditch"]
Event = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shot:
    """One shot as it was seen.

    Attributes:
        side: whose disc was shot.
        seat: from which seat, 1-4 clockwise from south.
        disc: id of the shot disc; it is not among the discs in play before.
        events: in order of time, worded as in the case files: ``("hit", a, b)``, ``("peg", a)``, ``("off", a)``,
            ``("back", a)``, ``("cross", a)``, ``("hole", a)``.
        rest: where each disc that moved came to rest, always the shot disc too: a place, ``"hole"`` (flat in it) or
            ``"ditch"`` (off the board).
        placed: where it was placed before the shot, ``None`` when nobody saw it.
    """

    side: str
    seat: int
    disc: str
    events: Sequence[Event]
    rest: Mapping[str, Rest]
    placed: Place | None = None


def position_from(discs: Iterable[Mapping[str, Any]], banked: Mapping[str, int] | None = None) -> Position:
    """The position of a list of ``{"id", "side", "r_mm", "angle_deg", "leaning"}``.

    Raises:
        RulesError: ``bad_input``, a key or type is wrong; ``same_disc``, an id stands there twice.
    """
    by_id: dict[str, Disc] = {}
    for table in discs:
        disc = _text(table, "id")
        if disc in by_id:
            raise RulesError("same_disc", f"disc {disc} stands in the position twice")
        place = place_from(table, f"disc {disc}")
        by_id[disc] = Disc(_text(table, "side"), place.r_mm, place.angle_deg, place.leaning)
    counts = dict(banked or {})
    for side, count in counts.items():
        if type(count) is not int or count < 0:
            raise RulesError("bad_input", f"banked 20s of {side}: expected a whole number from 0, got {count!r}")
    return Position(by_id, counts)


def shot_from(table: Mapping[str, Any]) -> Shot:
    """The shot of a case file or of the camera's fact: ``{"side", "seat", "disc", "placed", "events", "rest"}``.

    Raises:
        RulesError: ``bad_input``, with what was read and what was expected.
    """
    seat = _get(table, "seat", "shot")
    if type(seat) is not int:
        raise RulesError("bad_input", f"seat of the shot: expected a number 1-4, got {seat!r}")
    events = _get(table, "events", "shot")
    if not isinstance(events, Sequence) or isinstance(events, str):
        raise RulesError("bad_input", f"events of the shot: expected a list, got {events!r}")
    rest = _get(table, "rest", "shot")
    if not isinstance(rest, Mapping):
        raise RulesError("bad_input", f"rest of the shot: expected an object, got {rest!r}")
    placed = table.get("placed")
    return Shot(
        side=_text(table, "side"),
        seat=seat,
        disc=_text(table, "disc"),
        events=tuple(_event(event) for event in events),
        rest={disc: _rest(disc, where) for disc, where in rest.items()},
        placed=None if placed is None else place_from(placed, "placed"),
    )


def place_from(table: Any, what: str) -> Place:
    """A place of ``{"r_mm", "angle_deg", "leaning"}``; ``what`` names it in errors.

    Raises:
        RulesError: ``bad_input``.
    """
    leaning = _get(table, "leaning", what, default=False)
    if not isinstance(leaning, bool):
        raise RulesError("bad_input", f"{what}: leaning is {leaning!r}, expected true or false")
    return Place(_number(table, "r_mm", what), _number(table, "angle_deg", what), leaning)


def _event(event: Any) -> Event:
    if isinstance(event, Sequence) and event and not isinstance(event, str):
        wanted = EVENT_ARITY.get(event[0]) if isinstance(event[0], str) else None
        if wanted == len(event) and all(isinstance(word, str) for word in event):
            return tuple(event)
    raise RulesError("bad_input", f"event {event!r}: expected one of {', '.join(EVENT_ARITY)} and its discs")


def _rest(disc: str, where: Any) -> Rest:
    if where == HOLE:
        return "hole"
    if where == DITCH:
        return "ditch"
    return place_from(where, f"rest of {disc}")


_NOTHING: Final = object()


def _get(table: Any, key: str, what: str, default: Any = _NOTHING) -> Any:
    if not isinstance(table, Mapping):
        raise RulesError("bad_input", f"{what}: expected an object, got {table!r}")
    value = table.get(key, default)
    if value is _NOTHING:
        raise RulesError("bad_input", f"{what}: {key} is missing")
    return value


def _text(table: Any, key: str) -> str:
    value = _get(table, key, "disc or shot")
    if not isinstance(value, str) or not value:
        raise RulesError("bad_input", f"{key}: expected a text, got {value!r}")
    return value


def _number(table: Any, key: str, what: str) -> float:
    value = _get(table, key, what)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e6 < value < 1e6:
        raise RulesError("bad_input", f"{what}: {key} is {value!r}, expected a number")
    return value
