"""The two readings that the sensors cannot tell apart, in words: what was seen if the one or the other is the truth."""

from __future__ import annotations

from hardware.board import clock_hour
from hub.round import Events, ShotRecord
from hub.state import Match


def contact_readings(match: Match, shot: ShotRecord, good: Events | None, foul: Events | None) -> tuple[str, str]:
    """What happened if a shot was good, and if it was a foul; empty where the evidence has only one reading."""
    if good is None or foul is None or good == foul:
        return "", ""
    more = [event for event in good if event not in foul]
    less = [event for event in foul if event not in good]
    return _told(match, shot, more, less), _told(match, shot, less, more)


def line_readings(inside: int, outside: int) -> tuple[str, str]:
    """A disc at a line, as seen straight from above."""
    return (
        f"clean wood shows between the disc and the line: {inside}",
        f"the disc touches the line, so the lower value holds: {outside}",
    )


def _told(match: Match, shot: ShotRecord, there: list[tuple[str, ...]], not_there: list[tuple[str, ...]]) -> str:
    if there:
        return "; ".join(_event(match, shot, event) for event in there)
    return "; ".join(f"not so: {_event(match, shot, event)}" for event in not_there)


def _event(match: Match, shot: ShotRecord, event: tuple[str, ...]) -> str:
    who = [_disc(match, shot, disc) for disc in event[1:]]
    match event[0], len(who):
        case "hit", 2:
            return f"{who[0]} touched {who[1]}"
        case "hole", 1:
            return f"{who[0]} fell into the hole"
        case "off", 1:
            return f"{who[0]} left the board"
        case "peg", 1:
            return f"{who[0]} struck a peg"
        case kind, _:
            return f"{' and '.join(who)}: {kind}"


def _disc(match: Match, shot: ShotRecord, disc: str) -> str:
    if disc == shot.disc:
        return f"the shot {match.colour_of(shot.side)} disc"
    known = next((known for known in shot.before if known.id == disc), None)
    if known is None:
        return f"disc {disc}"
    return f"the {known.colour} disc at {clock_hour(known.x_mm, known.y_mm)} o'clock"
