"""Who is who after discs have moved: names for what lies now, and which disc was shot. Numbers only, no pictures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from firmware_py.camera.motion.tracker import SLOWING_MM_S2, Sighting, Track
from firmware_py.camera.rest.resting import Reading, Resting
from hardware.board import Board
from hub.link.messages import Colour

#: A disc must have run so far by itself to have been shot, at least this fast.
LEAST_RUN_MM = 25.0
LEAST_SPEED_MM_S = 120.0
#: A disc that runs is seen in frame after frame; one that is seen again only after so long may have been carried.
UNSEEN_NS = 100_000_000
#: One that struck another at once need not have run so far, if the other begins to run within this time.
SHORT_RUN_MM, SAME_BLOW_NS = 6.0, 100_000_000
#: Where a disc is found may be so far from where its track ended.
LOST_MM = 70.0
#: A disc that is gone without a track may have come to lie so far away.
FAR_MM = 400.0
WRONG_COLOUR_MM = 45.0
#: A hand that came no nearer than this cannot have laid a disc down.
_HAND_ROOM_MM = 41.0
#: A shot may have come and gone in a time without frames that is longer than this.
BLIND_NS = 150_000_000
_SHOT = "shot"
#: What speaks against a track that begins later than another: all motion comes from the shot.
LATE_PER_S = 10.0


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen from one rest to the next.

    Attributes:
        since_ns: when everything was last at rest.
        until_ns: when everything is at rest again.
        tracks: what moved by itself.
        on_line: discs seen at rest on the outer line under a hand.
        hand_inner_mm: how near to the middle a hand came while nothing moved by itself.
        covered: ids of discs that a hand covered at some time.
        blind_ns: the longest time between frames since then.
    """

    since_ns: int
    until_ns: int
    tracks: tuple[Track, ...]
    on_line: tuple[Sighting, ...]
    hand_inner_mm: float
    covered: frozenset[str]
    blind_ns: int = 0


@dataclass(frozen=True, slots=True)
class Shooter:
    """The disc that was shot.

    Attributes:
        id: its new name.
        track: how it moved; None if that was not seen.
        found: where it lies; None if it left the board.
    """

    id: str
    track: Track | None
    found: Resting | None


@dataclass(frozen=True, slots=True)
class Named:
    """Names for what lies now.

    Attributes:
        discs: the found discs by id.
        shooter: the disc that was shot, None if none was.
        next_number: for the next new disc's name.
    """

    discs: dict[str, Resting]
    shooter: Shooter | None
    next_number: int


def name_discs(reading: Reading, watched: Watched, number: int, board: Board) -> Named:
    """Give every found disc the id it had, or a new one; and find the disc that was shot."""
    left, fresh = reading.found, fresh_colours(reading)
    track = _shot_track(watched, board, fresh)
    taken = _by_track(reading, watched, track, fresh)
    _by_nearness(reading, watched, taken, track)
    by_itself = track is not None or _moved_by_itself(reading, watched)
    if by_itself:
        _by_count(reading, watched, taken, fresh, board)
    new = [k for k, d in enumerate(left) if k not in taken.values() and d.in_play and d.colour in fresh]
    if track is not None and _SHOT not in taken and new:
        # It is the only one that can be new, wherever its track was lost.
        taken[_SHOT] = min(new, key=lambda k: math.dist(track.last_xy, (left[k].x_mm, left[k].y_mm)))
    discs = {key: replace(left[k], id=key) for key, k in taken.items() if key != _SHOT}
    rest = [k for k in range(len(left)) if k not in taken.values()]
    shooter: Shooter | None = None
    if track is not None:
        name = f"d{number}" if track.origin is None else track.key
        shooter = Shooter(name, track, left[taken[_SHOT]] if _SHOT in taken else None)
    else:
        slid = next((k for k in new if by_itself or _in_a_gap(left[k], watched, board)), None)
        if slid is None:
            slid = next((k for k in rest if _must_be_shot(left[k], watched, board)), None)
        if slid is not None:
            rest.remove(slid)
            shooter = Shooter(f"d{number}", None, left[slid])
    if shooter is not None:
        number += shooter.id == f"d{number}"
        if shooter.found is not None:
            discs[shooter.id] = replace(shooter.found, id=shooter.id)
    for k in rest:
        discs[f"d{number}"] = replace(left[k], id=f"d{number}")
        number += 1
    return Named(discs, shooter, number)


def fresh_colours(reading: Reading) -> frozenset[Colour]:
    """Sets of which more discs lie in play than before: one of theirs is new, whatever the tracks say."""
    found = Counter(d.colour for d in reading.found if d.in_play)
    return frozenset(found - Counter(d.colour for d in reading.gone if d.in_play))


def _moved_by_itself(reading: Reading, watched: Watched) -> bool:
    """Whether a disc ran, or is gone from where no hand has been."""
    beyond = any(d.in_play and _no_hand_at(d, watched) for d in reading.gone)
    return beyond or any(_ran(t, watched) for t in watched.tracks)


def _in_a_gap(disc: Resting, watched: Watched, board: Board) -> bool:
    """Whether a new disc may have been shot while no frame came: a hand that laid it down would have covered it."""
    inside = disc.in_play and disc.r_mm <= board.limits_mm[2]
    return inside and watched.blind_ns > BLIND_NS and watched.hand_inner_mm > disc.r_mm - 2 * board.disc_radius_mm


def _no_hand_at(disc: Resting, watched: Watched) -> bool:
    return disc.id not in watched.covered and watched.hand_inner_mm > disc.r_mm + _HAND_ROOM_MM


def _by_track(reading: Reading, watched: Watched, shot: Track | None, fresh: frozenset[Colour]) -> dict[str, int]:
    """Which found disc each track leads to."""
    gone = {d.id: d.colour for d in reading.gone}
    there = {d.colour for d in reading.found}
    pairs: list[tuple[float, str, int]] = []
    for track in watched.tracks:
        key = _SHOT if track is shot else track.key
        if key != _SHOT and key not in gone:
            continue
        for k, disc in enumerate(reading.found):
            if key == _SHOT and fresh and disc.in_play and disc.colour not in fresh:
                continue
            if key != _SHOT and disc.colour != gone[key] and gone[key] in there:
                continue
            cost = _rests_at(track, disc)
            if cost is not None:
                pairs.append((cost, key, k))
    taken: dict[str, int] = {}
    for _, key, k in sorted(pairs):
        if key not in taken and k not in taken.values():
            taken[key] = k
    return taken


def _by_nearness(reading: Reading, watched: Watched, taken: dict[str, int], shot: Track | None) -> None:
    """What no track leads to: discs that are gone and discs that are found, nearest first, of one colour."""
    left = reading.found
    shot_id = None if shot is None else shot.key
    spare = sorted(
        (math.dist((d.x_mm, d.y_mm), (left[k].x_mm, left[k].y_mm)), d.id, k)
        for d in reading.gone
        if d.id not in taken and d.id not in watched.covered and d.id != shot_id
        for k in range(len(left))
        if left[k].colour == d.colour
    )
    tracked = {t.key for t in watched.tracks if len(t.points) >= 2}
    for distance, key, k in spare:
        if key in taken or k in taken.values():
            continue
        # What lies where no hand was cannot be new, so however far off, it is one of those that are gone.
        slid = watched.hand_inner_mm > left[k].r_mm + _HAND_ROOM_MM
        if not slid and distance > (LOST_MM if key in tracked else FAR_MM):
            continue
        fresh = any(s.colour in {None, left[k].colour} for s in watched.on_line)
        if shot is None and distance > 40.0 and fresh:
            continue
        taken[key] = k


def _by_count(
    reading: Reading, watched: Watched, taken: dict[str, int], fresh: frozenset[Colour], board: Board
) -> None:
    """After a shot only one disc is new: every other one that lies within the lines is one of those that are gone."""
    left = reading.found
    gone = [d for d in reading.gone if d.in_play and d.id not in taken and d.id not in watched.covered]
    free = [k for k, d in enumerate(left) if k not in taken.values() and d.in_play and d.r_mm < board.limits_mm[2]]
    new = {colour: int(_SHOT not in taken) for colour in fresh}
    pairs = sorted(
        (math.dist((d.x_mm, d.y_mm), (left[k].x_mm, left[k].y_mm)), d.id, k)
        for d in gone
        for k in free
        if left[k].colour == d.colour
    )
    for _, key, k in pairs:
        same = [o for o in free if left[o].colour == left[k].colour and o not in taken.values()]
        if key not in taken and k in same and len(same) > new.get(left[k].colour, 0):
            taken[key] = k


def _shot_track(watched: Watched, board: Board, fresh: frozenset[Colour]) -> Track | None:
    """The track of a disc that ran by itself from the outer line and was not in play before.

    People also lay a disc on the line, take the hand away, and shoot later: then it was seen at rest there.
    """
    runs: list[Track] = []
    for track in watched.tracks:
        on_line = track.origin is not None and board.touches_outer(math.hypot(*track.origin))
        if len(track.points) < 2 or (track.origin is not None and not on_line):
            continue
        if not _ran(track, watched) or track.points[0].r_mm > board.surface_radius_mm + 5 or _odd(track, fresh):
            continue
        runs.append(track)
    short = _stopped_short(watched, board, fresh)
    if short is not None:
        runs.append(short)
    if not runs:
        return None
    first_ns = min(track.points[0].at_ns for track in runs)
    return max(runs, key=lambda track: _as_shot(track, first_ns, board))


def _odd(track: Track, fresh: frozenset[Colour]) -> bool:
    """Whether a track is of another set than the disc that is new on the board; discs at rest are counted for sure."""
    return bool(fresh) and track.origin is None and track.colour is not None and track.colour not in fresh


def _ran(track: Track, watched: Watched) -> bool:
    """Whether a disc was seen to go as far and as fast as none does by a touch of the hand."""
    unseen_ns = max(UNSEEN_NS, watched.blind_ns)
    first = 0
    for k, (a, b) in enumerate(pairwise(track.points), start=1):
        # What a hand carries is seen in one piece with it, and may show between its fingers now and then.
        if b.at_ns - a.at_ns > unseen_ns or b.held:
            first = k
            continue
        way = track.points[first : k + 1]
        if _far(way) >= LEAST_RUN_MM and _fastest(way) >= LEAST_SPEED_MM_S:
            return True
    return False


def _far(points: Sequence[Sighting]) -> float:
    return max(math.dist(points[0].xy_mm, p.xy_mm) for p in points)


def _fastest(points: Sequence[Sighting]) -> float:
    return max(math.dist(a.xy_mm, b.xy_mm) / max(1e-3, (b.at_ns - a.at_ns) / 1e9) for a, b in pairwise(points))


def _stopped_short(watched: Watched, board: Board, fresh: frozenset[Colour]) -> Track | None:
    """A new disc that came in from the line and gave its motion at once to one that lay near it, which then ran."""
    moved = [t for t in watched.tracks if len(t.points) >= 2]
    driven = [t for t in moved if _ran(t, watched)]
    new = [
        t
        for t in moved
        if t.origin is None
        and not _odd(t, fresh)
        and board.line_10_mm < t.points[0].r_mm < board.surface_radius_mm
        and _far(t.points) >= SHORT_RUN_MM
        and t.points[-1].r_mm < t.points[0].r_mm
        and any(o is not t and abs(t.points[0].at_ns - o.points[0].at_ns) < SAME_BLOW_NS for o in driven)
    ]
    return max(new, key=lambda t: _far(t.points), default=None)


def _as_shot(track: Track, first_ns: int, board: Board) -> float:
    """How well a track looks like a shot's: it was not on the board, begins far out, goes on, and moves first.

    A disc that the rail throws back is lost over the ditch and begins anew, far out too, but later.
    """
    fresh = 1.0 if track.origin is None else 0.0
    out = min(track.points[0].r_mm, board.outer_line_mm) / 100
    late_s = (track.points[0].at_ns - first_ns) / 1e9
    return out + min(6, len(track.points)) * 0.3 + fresh - LATE_PER_S * late_s


def _rests_at(track: Track, disc: Resting) -> float | None:
    """How far a found disc is from where a track leads; None if it cannot be the same."""
    # Blur and light make a colour in motion less sure than one at rest.
    wrong = WRONG_COLOUR_MM if track.colour is not None and track.colour != disc.colour else 0.0
    here = (disc.x_mm, disc.y_mm)
    if not track.points:
        off = math.dist(track.last_xy, here)
        return off + wrong if off + wrong < LOST_MM else None
    last = track.points[-1]
    vx, vy = track.velocity()
    speed = math.hypot(vx, vy)
    reach = speed * speed / (2 * SLOWING_MM_S2)
    off = math.dist(last.xy_mm, here)
    if speed > 30:
        # It may have stopped anywhere on the rest of its way.
        ux, uy = vx / speed, vy / speed
        along = max(0.0, min(reach, (here[0] - last.x_mm) * ux + (here[1] - last.y_mm) * uy))
        off = math.dist((last.x_mm + ux * along, last.y_mm + uy * along), here) + 0.1 * along
    return off + wrong if off + wrong < LOST_MM else None


def _must_be_shot(disc: Resting, watched: Watched, board: Board) -> bool:
    """Whether a new disc lies where no hand has been, so that it must have slid there."""
    if not disc.in_play or disc.r_mm > board.limits_mm[2]:
        return False
    return watched.hand_inner_mm > disc.r_mm + _HAND_ROOM_MM
