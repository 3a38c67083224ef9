"""What the camera's word about a shot may mean: every reading that its doubts allow."""

from __future__ import annotations

from collections.abc import Sequence

from hub.link.messages import Shot
from hub.round import Events

SWEPT = 3
"""Hardly a shot takes so many discs off, two thirds of all that there are, and itself."""

FLICK_NS = 300_000_000
"""So long after the flick a hand over the board may be the shooter's own on its way back."""

MOST = 8
"""Readings beyond which the doubts of a shot are not combined any further."""


def readings(fact: Shot, theirs: Sequence[str]) -> tuple[Events, ...]:
    """All that may have happened, each doubt taken either way, the likeliest first.

    Args:
        fact: the shot.
        theirs: opposing discs in play before it; where the camera did not see the shot, it may have touched any.
    """
    found: list[Events] = [fact.events]
    for doubt in fact.doubts:
        others = [reading for reading in doubt.readings if reading != fact.events]
        if doubt.kind in {"not_seen", "contact"} and not doubt.readings and theirs:
            others.append((*fact.events, ("hit", fact.disc, theirs[0])))
        for reading in tuple(found):
            combined = [_combined(reading, fact.events, other) for other in others]
            found += [events for events in combined if events not in found]
    return tuple(found[:MOST])


def _combined(reading: Events, events: Events, other: Events) -> Events:
    """A reading in which one more doubt is taken the other way: ``other`` differs from ``events`` by that alone."""
    if reading == events:
        return other
    kept = tuple(event for event in reading if event in other or event not in events)
    return (*kept, *(event for event in other if event not in events and event not in kept))


def swept_along(fact: Shot, lay: Sequence[str], hands_ns: Sequence[int]) -> bool:
    """Whether hands began to clear the board before a shot came to rest.

    A hand was seen to come while the shot's discs moved, and with it many are gone; or none was seen, and with the
    shot's own disc most is gone that lay there.

    Args:
        fact: the last shot of a round.
        lay: discs that lay on the board before it.
        hands_ns: when hands came, on the clock of the shot.
    """
    gone = sum(fact.rest.get(disc) == "ditch" for disc in lay)
    if gone < SWEPT:
        return False
    if any(fact.start_ns + FLICK_NS < hand_ns <= fact.end_ns for hand_ns in hands_ns):
        return True
    return fact.rest.get(fact.disc) == "ditch" and 3 * gone >= 2 * len(lay)


def vague(fact: Shot) -> bool:
    """Whether a disc may have been in the hole though none lies there now.

    A hand can lift a 20 out before the camera has seen it at rest: then a disc is gone, and none leans in the hole
    that could have blocked the beam.
    """
    if any(doubt.kind in {"left", "not_seen"} for doubt in fact.doubts):
        return True
    leaning = any(not isinstance(where, str) and where.leaning for where in fact.rest.values())
    return "ditch" in fact.rest.values() and not leaning
