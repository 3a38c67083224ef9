"""Who sits where, in which order they shoot, and how many discs each has (rules 1, 8, 13-16, 18, 19)."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

from hub.rules.errors import RulesError

SEATS: Final = MappingProxyType(
    {
        "singles": ((1, "A"), (3, "B")),
        "doubles": ((1, "A"), (2, "B"), (3, "A"), (4, "B")),
        "two-v-one": ((1, "A"), (2, "B"), (4, "B")),
        "cutthroat": ((1, "A"), (2, "B"), (3, "C")),
    }
)
"""The seats in use, clockwise from seat 1, each with its side."""


@lru_cache(maxsize=8)
def sides_of(players: str) -> tuple[str, ...]:
    """The sides of a game: ``A``, ``B`` and in cutthroat ``C``."""
    return tuple(dict.fromkeys(side for _, side in SEATS[players]))


def side_of_seat(players: str, seat: int) -> str | None:
    """The side whose seat it is, ``None`` where nobody sits."""
    return dict(SEATS[players]).get(seat)


def turn_cycle(players: str, opener: int) -> tuple[int, ...]:
    """The seats in order of shooting, once round, beginning with ``opener``.

    Clockwise (rule 18); against two partners the solo player shoots every other turn (rule 15).

    Raises:
        RulesError: ``bad_seat``, nobody sits there.
    """
    cycle = (1, 2, 1, 4) if players == "two-v-one" else tuple(seat for seat, _ in SEATS[players])
    if opener not in cycle:
        raise RulesError("bad_seat", f"nobody sits at seat {opener} in {players}, expected one of {sorted(set(cycle))}")
    at = cycle.index(opener)
    return cycle[at:] + cycle[:at]


def opener_after(players: str, opener: int, rounds: int) -> int:
    """The seat that opens ``rounds`` rounds after ``opener`` did: the lead passes to the left, clockwise (rule 19)."""
    seats = tuple(seat for seat, _ in SEATS[players])
    if opener not in seats:
        raise RulesError("bad_seat", f"nobody sits at seat {opener} in {players}, expected one of {list(seats)}")
    return seats[(seats.index(opener) + rounds) % len(seats)]


def seat_of(players: str, who: str | int) -> int:
    """A seat given by its number or by its side (the side's first seat clockwise from seat 1).

    Raises:
        RulesError: ``bad_seat`` or ``bad_side``.
    """
    if isinstance(who, str):
        for seat, side in SEATS[players]:
            if side == who:
                return seat
        raise RulesError("bad_side", f"no side {who!r} in {players}, expected one of {', '.join(sides_of(players))}")
    return opener_after(players, who, 0)


@lru_cache(maxsize=64)
def shots_per_seat(players: str, discs: str) -> MappingProxyType[int, int]:
    """Discs each seat has at the start of a round (rules 13-16; variant ``discs``, singles/doubles).

    A solo player against two has as many as both partners together; in cutthroat everyone has a set as in singles.
    """
    singles, doubles = (int(n) for n in discs.split("/"))
    if players == "two-v-one":
        return MappingProxyType({1: 2 * doubles, 2: doubles, 4: doubles})
    each = doubles if players == "doubles" else singles
    return MappingProxyType({seat: each for seat, _ in SEATS[players]})


@lru_cache(maxsize=64)
def dealt_per_side(players: str, discs: str) -> MappingProxyType[str, int]:
    """Discs each side has at the start of a round: what lies on the board and is banked never exceeds it."""
    totals = dict.fromkeys(sides_of(players), 0)
    for seat, each in shots_per_seat(players, discs).items():
        totals[dict(SEATS[players])[seat]] += each
    return MappingProxyType(totals)
