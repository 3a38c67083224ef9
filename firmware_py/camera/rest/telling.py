"""How what lies at rest is told: as the fact ``layout``, and whether there is anything new to tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from firmware_py.camera.rest.resting import Resting
from hub.link.messages import Layout, LayoutDisc


def renamed(disc: Resting) -> Resting:
    """A disc after ``light`` and ``dark`` have changed places."""
    if disc.colour == "third":
        return disc
    return replace(disc, colour="dark" if disc.colour == "light" else "light")


def places_of(discs: Sequence[Resting]) -> list[tuple[str, float, float, str, str]]:
    """What of discs at rest would be told, to compare by."""
    return sorted((d.id, round(d.x_mm, 2), round(d.y_mm, 2), d.state, d.colour) for d in discs)


def layout_of(at_ns: int, discs: Sequence[Resting], unseen: Sequence[str]) -> Layout:
    """The fact.

    Args:
        at_ns: when it was so.
        discs: what lies at rest.
        unseen: ids of those that are covered.
    """
    return Layout(
        at_ns=at_ns,
        discs=tuple(
            LayoutDisc(
                id=d.id,
                colour=d.colour,
                x_mm=round(d.x_mm, 3),
                y_mm=round(d.y_mm, 3),
                sigma_mm=round(d.sigma_mm, 3),
                state=d.state,
            )
            for d in discs
        ),
        unseen=tuple(unseen),
    )
