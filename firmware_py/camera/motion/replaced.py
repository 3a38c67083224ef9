"""A disc that came to lie where another had lain: at rest it looks as if that one had hardly moved.

A read of the still board takes what lies within a few millimetres of a disc's old place for that disc, of whichever set
it is. What was seen in between tells better: one went away, the place was empty, and another came. Numbers only, no
pictures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from firmware_py.camera.motion.naming import Watched
from firmware_py.camera.motion.tracker import Track
from firmware_py.camera.rest.reader import NUDGED_MM
from firmware_py.camera.rest.resting import Reading, Resting
from hardware.board import Board

#: A track that leads to a place was seen so near to it at last.
_THERE_MM = 2 * NUDGED_MM


def put_right(board: Board, before: Sequence[Resting], reading: Reading, watched: Watched) -> Reading:
    """A reading in which discs that took the places of others are found ones, and those others are gone.

    Args:
        board: geometry.
        before: what lay there.
        reading: the board at rest now.
        watched: what was seen in between.
    """
    lay = {d.id: d for d in before}
    tracks = {t.key: t for t in watched.tracks}
    came: dict[str, Track] = {}
    for disc in reading.stay:
        own = tracks.get(disc.id)
        if own is not None and disc.id in lay:
            other = next((t for t in watched.tracks if _took_its_place(board, disc, own, t)), None)
            if other is not None:
                came[disc.id] = other
    if not came:
        return reading
    new = tuple(
        replace(disc, id="", colour=came[disc.id].colour or disc.colour) for disc in reading.stay if disc.id in came
    )
    return replace(
        reading,
        stay=tuple(d for d in reading.stay if d.id not in came),
        nudged={name: way for name, way in reading.nudged.items() if name not in came},
        gone=(*reading.gone, *(lay[name] for name in came)),
        found=(*reading.found, *new),
    )


def _took_its_place(board: Board, disc: Resting, own: Track, other: Track) -> bool:
    """Whether a disc was seen to leave, and then another one, from elsewhere, to come to where it lay."""
    place, apart_mm = (disc.x_mm, disc.y_mm), 2 * board.disc_radius_mm
    if other.key == own.key or not own.points or not other.points:
        return False
    if math.dist(own.points[-1].xy_mm, place) < apart_mm or math.dist(other.points[-1].xy_mm, place) > _THERE_MM:
        return False
    left_ns = next(p.at_ns for p in own.points if math.dist(p.xy_mm, place) >= apart_mm)
    # Two that only exchanged their names: one of them lies there all the while.
    return any(p.at_ns >= left_ns and math.dist(p.xy_mm, place) > _THERE_MM for p in other.points)
