"""From what lay before, what moved, and what lies after, to the report of one shot. Numbers only, no pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from firmware_py.camera.motion.contacts import find_contacts
from firmware_py.camera.motion.doubts import Told, find_doubts
from firmware_py.camera.motion.leaving import edge_events, off_board
from firmware_py.camera.motion.naming import Shooter, Watched, name_discs
from firmware_py.camera.motion.replaced import put_right
from firmware_py.camera.motion.tracker import Sighting, Track, Xy
from firmware_py.camera.motion.ways import Path
from firmware_py.camera.rest.resting import Reading, Resting
from hardware.board import Board, to_polar
from hub.link.messages import Colour, Place, Shot

_FRAME_NS = 34_000_000
#: A disc that stands on the line is seen to move by less.
STANDS_MM = 2.0

Rest = Place | Literal["hole", "ditch"]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What came of it.

    Attributes:
        discs: every disc that lies on the board now, named.
        shot: the shot, None if hands were the cause.
        next_number: for the next new disc's name.
    """

    discs: tuple[Resting, ...]
    shot: Shot | None
    next_number: int


def conclude(
    board: Board, before: Sequence[Resting], reading: Reading, watched: Watched, next_number: int
) -> Conclusion:
    """Name the discs that lie now, and tell whether there was a shot and how it went."""
    reading = put_right(board, before, reading, watched)
    named = name_discs(reading, watched, next_number, board)
    after = {d.id: d for d in reading.stay} | named.discs
    shot = None
    if named.shooter is not None:
        moved = frozenset(reading.nudged) | frozenset(named.discs)
        shot = _tell(board, _Story(tuple(before), after, moved, watched), named.shooter)
    return Conclusion(tuple(after.values()), shot, named.next_number)


# -- what happened -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Story:
    """What lay before, what lies after by id, which of it moved, and what was seen between."""

    before: tuple[Resting, ...]
    after: Mapping[str, Resting]
    moved: frozenset[str]
    watched: Watched


def _paths(board: Board, story: _Story, shooter: Shooter, placed: Sighting | None, start_ns: int) -> dict[str, Path]:
    """The path of every disc on the surface, the shot one first."""
    watched, after = story.watched, story.after
    tracks = {t.key: t for t in watched.tracks}
    paths = {
        shooter.id: Path(
            id=shooter.id,
            colour=_colour(shooter),
            start=None if placed is None else placed.xy_mm,
            start_ns=start_ns,
            points=_moving(shooter.track, start_ns),
            end=None if shooter.found is None else (shooter.found.x_mm, shooter.found.y_mm),
            moved=True,
        )
    }
    for disc in story.before:
        if off_board(board, disc) or disc.id == shooter.id:
            continue
        track, now = tracks.get(disc.id), after.get(disc.id)
        lifted = disc.id in watched.covered and track is None and now is None
        paths[disc.id] = Path(
            id=disc.id,
            colour=disc.colour,
            start=(disc.x_mm, disc.y_mm),
            start_ns=track.rested_ns if track else start_ns,
            points=track.points if track else (),
            end=None if now is None else (now.x_mm, now.y_mm),
            moved=not lifted and (now is None or disc.id in story.moved),
        )
    return paths


def _moving(track: Track | None, start_ns: int) -> tuple[Sighting, ...]:
    """The sightings after the flick, the last one before it included: a way from where the disc stood."""
    if track is None:
        return ()
    before = [p for p in track.points if p.at_ns <= start_ns]
    return (*before[-1:], *(p for p in track.points if p.at_ns > start_ns))


def _colour(shooter: Shooter) -> Colour:
    if shooter.found is not None:
        return shooter.found.colour
    return (shooter.track.colour if shooter.track else None) or "light"


def _tell(board: Board, story: _Story, shooter: Shooter) -> Shot:
    watched, after = story.watched, story.after
    before = {d.id: d for d in story.before}
    placed = _placed(shooter, watched, board)
    points = shooter.track.points if shooter.track else ()
    start_ns = points[0].at_ns - _FRAME_NS if points else watched.since_ns
    if placed is not None:
        start_ns = max(start_ns, placed.at_ns)
    paths = _paths(board, story, shooter, placed, start_ns)
    contacts = find_contacts(board, paths, shooter.id)
    happenings = [*contacts, *edge_events(board, paths, after, contacts, watched.until_ns)]
    happenings.sort(key=lambda c: c.at_ns)
    events = tuple(c.words for c in happenings)
    rest: dict[str, Rest] = {shooter.id: _rest(board, shooter.found)}
    for name, path in paths.items():
        if path.moved and name != shooter.id:
            rest[name] = _rest(board, after.get(name))
    doubts = find_doubts(board, Told(paths, shooter, happenings, before, after, watched))
    sure = min((c.sure for c in contacts), default=1.0)
    return Shot(
        disc=shooter.id,
        colour=_colour(shooter),
        placed=None if placed is None else _polar(placed.xy_mm),
        events=events,
        rest=rest,
        start_ns=start_ns,
        end_ns=watched.until_ns,
        confidence=round(min(sure, 0.5 if doubts else 1.0), 2),
        doubts=doubts,
        events_ns=tuple(c.at_ns for c in happenings),
    )


def _polar(xy: Xy, *, leaning: bool = False) -> Place:
    r_mm, angle_deg = to_polar(*xy)
    return Place(round(r_mm, 2), round(angle_deg, 2), leaning)


def _rest(board: Board, disc: Resting | None) -> Rest:
    if disc is None or off_board(board, disc):
        return "ditch"
    if disc.state in {"hole", "stacked"}:
        return "hole"
    return _polar((disc.x_mm, disc.y_mm), leaning=disc.state == "leaning")


def _placed(shooter: Shooter, watched: Watched, board: Board) -> Sighting | None:
    """Where the shot disc stood before it was flicked: the last look at it on the line, on the way it then took."""
    track = shooter.track
    stood = _stood(track, board)
    if stood is not None:
        return stood
    seen = [s for s in watched.on_line if board.touches_outer(s.r_mm)]
    if track is None or len(track.points) < 2:
        return seen[-1] if seen and track is None else None
    first = track.points[0]
    vx, vy = track.points[1].x_mm - first.x_mm, track.points[1].y_mm - first.y_mm
    length = math.hypot(vx, vy)
    if length < 1e-6:
        return None
    for s in reversed(seen):
        if s.at_ns > first.at_ns or (s.colour and track.colour and s.colour != track.colour):
            continue
        back = (first.x_mm - s.x_mm, first.y_mm - s.y_mm)
        aside = abs(back[0] * vy - back[1] * vx) / length
        along = (back[0] * vx + back[1] * vy) / length
        if aside < 6 + 0.08 * abs(along) and along > -6:
            return s
    return None


def _stood(track: Track | None, board: Board) -> Sighting | None:
    """The last look at a disc on the line when its own track begins there, at rest."""
    if track is None or not track.points:
        return None
    if track.origin is not None:
        x_mm, y_mm = track.origin
        return Sighting(track.rested_ns, x_mm, y_mm, 0.3, track.colour)
    first = track.points[0]
    still = list(takewhile(lambda p: math.dist(p.xy_mm, first.xy_mm) < STANDS_MM, track.points))
    return still[-1] if len(still) >= 2 and board.touches_outer(first.r_mm) else None
