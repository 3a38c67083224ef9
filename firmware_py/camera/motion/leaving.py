"""A disc at the edge of the board: leaving it, thrown back by the rail, on the outer line, or falling into the hole.

Numbers only, no pictures. A frame seldom shows a disc over the ditch that the rail throws back at once. But nothing
else turns a disc round that met no other, so its way tells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from firmware_py.camera.motion.contacts import Contact
from firmware_py.camera.motion.tracker import Sighting
from firmware_py.camera.motion.ways import Path
from firmware_py.camera.rest.resting import Resting
from hardware.board import Board

#: A disc seen so far over the edge has left the surface; one seen so far within it is on it again.
OUT_MM, IN_MM = 3.0, 6.0
#: Radial speeds from which a disc goes outward, and comes back.
_OUTWARD_MM_S, _INWARD_MM_S = 80.0, -15.0
_FRAME_NS = 34_000_000
#: The hole need not lie in the very middle (2.5 mm), and what lies in it is seen so well.
_ASIDE_MM = 3.0


def off_board(board: Board, disc: Resting) -> bool:
    """Whether a disc at rest has left the raised surface: it lies in the ditch, or leans over the edge into it."""
    return disc.state == "ditch" or disc.r_mm > board.surface_radius_mm


def edge_events(
    board: Board, paths: Mapping[str, Path], after: Mapping[str, Resting], contacts: Sequence[Contact], until_ns: int
) -> list[Contact]:
    """``off``, ``back``, ``cross`` and ``hole`` of every disc that moved.

    Args:
        board: geometry.
        paths: of the discs on the board, by id.
        after: what lies there now, by id.
        contacts: hits and pegs; a disc that met something may have turned round by that.
        until_ns: when everything was at rest.
    """
    found: list[Contact] = []
    for name, path in paths.items():
        if not path.moved:
            continue
        met = [c.at_ns for c in contacts if name in c.words[1:]]
        way, out, crossed_ns = _on_the_way(board, path, _turns(board, path, met))
        found += way
        last_ns = path.points[-1].at_ns if path.points else until_ns
        found += _at_the_end(board, name, after.get(name), (out, crossed_ns, last_ns), _fell_ns(board, path, last_ns))
    return found


def _on_the_way(board: Board, path: Path, turns: set[int]) -> tuple[list[Contact], bool, int | None]:
    """Events while it moved; whether it is off the surface at the end; since when it is on or over the outer line."""
    found: list[Contact] = []
    edge, line = board.surface_radius_mm, board.limits_mm[2]
    inside = path.start is not None and math.hypot(*path.start) < line
    out = returned = False
    crossed_ns: int | None = None
    for k, p in enumerate(path.points):
        if not out and p.r_mm > edge + OUT_MM:
            out = True
            found.append(Contact(p.at_ns, ("off", path.id), 0.95))
        elif out and p.r_mm < edge - IN_MM:
            out, returned = False, True
            found.append(Contact(p.at_ns, ("back", path.id), 0.9))
        if not out and not returned and k in turns:
            returned = True
            found += [Contact(p.at_ns, ("off", path.id), 0.8), Contact(p.at_ns + 1, ("back", path.id), 0.8)]
        if out or returned:
            crossed_ns = None
        elif p.r_mm < line:
            if crossed_ns is not None:
                found.append(Contact(crossed_ns, ("cross", path.id), 0.8))
            inside, crossed_ns = True, None
        elif inside and crossed_ns is None:
            crossed_ns = p.at_ns
    return found, out, crossed_ns


def _fell_ns(board: Board, path: Path, last_ns: int) -> int:
    """When a disc that lies in the hole at last came to be in it, not to leave it any more; there it rattles on.

    One that is over the hole has not fallen yet: it tips, and may roll on for some frames.
    """
    fell_ns = last_ns
    for p in reversed(path.points):
        if p.r_mm > board.hole_play_mm + _ASIDE_MM:
            break
        fell_ns = p.at_ns
    return fell_ns


def _at_the_end(
    board: Board, name: str, now: Resting | None, state: tuple[bool, int | None, int], fell_ns: int
) -> list[Contact]:
    """What its resting place adds to what was seen on the way."""
    out, crossed_ns, last_ns = state
    if now is None or off_board(board, now):
        return [] if out else [Contact(last_ns, ("off", name), 0.9)]
    found: list[Contact] = []
    if out:
        found.append(Contact(last_ns, ("back", name), 0.7))
    elif now.r_mm >= board.limits_mm[2] and crossed_ns is not None:
        found.append(Contact(crossed_ns, ("cross", name), 0.8))
    if now.state in {"hole", "stacked"}:
        found.append(Contact(fell_ns, ("hole", name), 0.95))
    return found


def _turns(board: Board, path: Path, met: Sequence[int]) -> set[int]:
    """Indices of the sightings after which the rail threw the disc back."""
    p = path.points
    inner_mm = board.surface_radius_mm - IN_MM
    # One that only touched what lies in the ditch and sank back was not on the surface again.
    last_in = max((k for k, s in enumerate(p) if s.r_mm < inner_mm), default=-1)
    last_in = len(p) if path.end is not None and math.hypot(*path.end) < inner_mm else last_in
    turns = {k for k in range(1, len(p) - 2) if k < last_in and _thrown_back(board, p[k - 1 : k + 3], met)}
    if len(p) >= 2 and path.end is not None:
        # It was not seen again before it lay still.
        outward, reach = _outward(p[-2], p[-1], p[-1].at_ns + 2 * _FRAME_NS)
        lies = math.hypot(*path.end)
        near = any(abs(at_ns - p[-1].at_ns) < 2 * _FRAME_NS for at_ns in met)
        if outward > _OUTWARD_MM_S and reach > board.surface_radius_mm and lies < p[-1].r_mm - 4 and not near:
            turns.add(len(p) - 1)
    return turns


def _thrown_back(board: Board, points: Sequence[Sighting], met: Sequence[int]) -> bool:
    """Whether a disc turned round between the second and the third of four sightings, and nothing met it there."""
    before, a, b, after = points
    if max(a.r_mm, b.r_mm) > board.surface_radius_mm + OUT_MM:
        return False  # that is seen, and needs no inference
    if any(a.at_ns - _FRAME_NS < at_ns < b.at_ns + _FRAME_NS for at_ns in met):
        return False
    outward, reach = _outward(before, a, b.at_ns)
    inward, _ = _outward(b, after, after.at_ns)
    return outward > _OUTWARD_MM_S and inward < _INWARD_MM_S and reach > board.surface_radius_mm - 4


def _outward(a: Sighting, b: Sighting, at_ns: int) -> tuple[float, float]:
    """Radial speed between two sightings, and the radius that it leads to at a time."""
    since_s = (b.at_ns - a.at_ns) / 1e9
    if since_s <= 0:
        return (0.0, b.r_mm)
    speed = (b.r_mm - a.r_mm) / since_s
    return (speed, b.r_mm + speed * (at_ns - b.at_ns) / 1e9)
