"""Which disc hit which, in order: told from tracks by geometry between the frames and by the jump of momentum.

Two discs touch when their centres are two radii apart, and a smooth blow pushes along the line between the centres.
So the way a disc takes at first, traced back to where it lay, names the place where the centre of the disc that hit
it must have been. Frames seldom show that moment; straight ways with even slowing do. Numbers only, no pictures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from firmware_py.camera.motion.episodes import explain
from firmware_py.camera.motion.touches import near_passes
from firmware_py.camera.motion.tracker import SLOWING_MM_S2, Xy
from firmware_py.camera.motion.ways import FRAME_NS, Leg, Mover, Path, legs
from hardware.board import Board

#: How far the centre of the disc that hit may be from where the other's way says it was: frame times, friction
#: between the rims (it turns a blow by up to 7 degrees) and the sightings.
NEAR_MM = 9.0
#: Two explanations of one blow that differ by less are not told apart.
RIVAL_MM = 3.5
#: A change of velocity that the sightings' errors do not make.
LEAST_JUMP_MM_S = 45.0
#: What is less likely was rather not touched; of a hit that the rolled courses tell, the doubts of the shot decide.
_RATHER = 0.5
#: How sure a blow is that no course of rolled discs shows.
_UNEXPLAINED = 0.4


@dataclass(frozen=True, slots=True)
class Contact:
    """One event of a shot.

    Attributes:
        at_ns: when.
        words: ``("hit", a, b)`` or ``("peg", a)``.
        sure: 0 to 1.
        rivals: other discs that may have struck the second one, as well as the evidence tells.
    """

    at_ns: int
    words: tuple[str, ...]
    sure: float
    rivals: tuple[str, ...] = ()


def find_contacts(board: Board, paths: Mapping[str, Path], shot: str) -> tuple[Contact, ...]:
    """Every contact of a shot in order of time.

    Args:
        board: geometry.
        paths: of all discs on the board, by id, those that did not move too.
        shot: id of the disc that was shot.
    """
    first = paths[shot]
    since = first.points[0].at_ns - FRAME_NS if first.points else first.start_ns
    movers = {shot: Mover(first, legs(first.points), since)}
    contacts: list[Contact] = []
    causes: dict[str, tuple[str, float]] = {}
    waiting = {k: p for k, p in paths.items() if p.moved and k != shot and p.start is not None}
    while waiting:
        best: tuple[float, int, str, str] | None = None
        for name, path in waiting.items():
            for other, mover in movers.items():
                answer = _struck_by(board, path, mover)
                if answer is not None and (best is None or answer[0] < best[0]):
                    best = (answer[0], answer[1], other, name)
        if best is None:
            break
        off, at_ns, a, b = best
        path = waiting.pop(b)
        movers[b] = Mover(path, legs(path.points) or (_nudge(path, at_ns),), at_ns)
        contacts.append(Contact(at_ns, ("hit", a, b), _sureness(off)))
        causes[b] = (a, off)
    contacts = [
        replace(c, rivals=_rivals(board, paths[c.words[2]], movers, causes)) if c.words[2] in causes else c
        for c in contacts
    ]
    for name, path in waiting.items():
        # Nothing that is known to move came near: something did, but it was not seen.
        contacts.append(Contact(path.start_ns, ("hit", _nearest(movers, path), name), 0.2))
    contacts += _later(board, paths, movers, contacts)
    contacts = _tried_out(board, paths, shot, contacts)
    contacts += _soft_touches(board, paths, contacts)
    return tuple(sorted(contacts, key=lambda c: c.at_ns))


def _tried_out(board: Board, paths: Mapping[str, Path], shot: str, known: Sequence[Contact]) -> list[Contact]:
    """The contacts as rolled discs tell them, where they tell them; the others as they were told."""
    episodes = explain(board, paths, shot, [(c.at_ns, c.words[1:]) for c in known])
    kept = [c for c in known if not any(e.covers(c.at_ns, c.words[1:]) for e in episodes)]
    told_blows = (b for e in episodes for b in e.blows if b.words[0] == "hit" or b.sure >= _RATHER)
    blows = [Contact(b.at_ns, b.words, b.sure, b.rivals) for b in told_blows]
    told = {c.words[2] for c in (*kept, *blows) if c.words[0] == "hit"}
    told |= {c.words[1] for c in (*kept, *blows) if c.words[0] == "hit"}
    # What moved was struck, also where no course that was rolled says by whom.
    kept += [
        replace(c, sure=min(c.sure, _UNEXPLAINED))
        for c in known
        if c.words[0] == "hit" and paths[c.words[2]].moved and c.words[2] not in told
    ]
    return kept + blows


def _rivals(
    board: Board, path: Path, movers: Mapping[str, Mover], causes: Mapping[str, tuple[str, float]]
) -> tuple[str, ...]:
    """Who else may have struck a disc: what explains its way nearly as well, and does not owe it its own motion."""
    taken, off_mm = causes[path.id]
    found: list[str] = []
    for name, mover in movers.items():
        cause = name
        while cause != path.id and cause in causes:
            cause = causes[cause][0]
        answer = None if path.id in {name, cause} or name == taken else _struck_by(board, path, mover)
        if answer is not None and answer[0] < min(off_mm + RIVAL_MM, NEAR_MM):
            found.append(name)
    return tuple(found)


def _sureness(off_mm: float) -> float:
    return max(0.3, min(1.0, 1.25 - off_mm / (1.6 * NEAR_MM)))


def _first_way(path: Path) -> Xy | None:
    """Unit vector of a disc's first motion from where it lay."""
    if path.start is None:
        return None
    target = path.end
    pieces = legs(path.points)
    if pieces:
        piece = pieces[0]
        if math.hypot(*piece.velocity) > 20 and math.dist(piece.place(piece.end_ns), path.start) > 3:
            target = piece.place(piece.end_ns)
    if target is None and path.points:
        target = path.points[0].xy_mm
    if target is None:
        return None
    length = math.dist(target, path.start)
    if length < 0.15:
        return None
    return ((target[0] - path.start[0]) / length, (target[1] - path.start[1]) / length)


def _struck_by(board: Board, path: Path, mover: Mover) -> tuple[float, int] | None:
    """How far off, and when, a moving disc would have hit a resting one; None if it cannot have been.

    The distance is between where the mover's centre was and where it must have been for the way the other took.
    """
    way = _first_way(path)
    if path.start is None:
        return None
    apart = 2 * board.disc_radius_mm
    begin, end = path.start_ns - FRAME_NS // 2, _onset_end(path)
    left = mover.left_ns(board.surface_radius_mm)
    if left is not None:
        end = min(end, left)
    places = mover.places(begin, end)
    lay = mover.path.start
    if lay is not None and mover.since_ns <= end and math.dist(lay, path.start) < apart + 4:
        # It lay touching: it passed the blow on at once.
        places = [*places, (max(begin, mover.since_ns), lay, _toward(lay, path.start))]
    best: tuple[float, int] | None = None
    for at_ns, place, velocity in places:
        gap = math.dist(place, path.start)
        if gap > apart + 25:
            continue
        if way is None:
            off = abs(gap - apart)
        else:
            must = (path.start[0] - way[0] * apart, path.start[1] - way[1] * apart)
            off = math.dist(place, must)
            if velocity[0] * way[0] + velocity[1] * way[1] < 0:
                off += 6.0
        if best is None or off < best[0]:
            best = (off, at_ns)
    if best is None or best[0] > 3 * NEAR_MM:
        return None
    return best


def _toward(a: Xy, b: Xy) -> Xy:
    return (b[0] - a[0], b[1] - a[1])


def _onset_end(path: Path) -> int:
    """Until when a disc must have been hit."""
    if path.points:
        return path.points[0].at_ns
    return path.start_ns + 2_500_000_000


def _nudge(path: Path, at_ns: int) -> Leg:
    """The way of a disc that moved too little to be followed."""
    start, end = path.start or (0.0, 0.0), path.end or path.start or (0.0, 0.0)
    way = math.dist(start, end)
    if way < 1e-6:
        return Leg(at_ns, at_ns, start, (0.0, 0.0))
    speed = math.sqrt(2 * SLOWING_MM_S2 * way)
    return Leg(at_ns, at_ns, start, ((end[0] - start[0]) / way * speed, (end[1] - start[1]) / way * speed))


def _nearest(movers: Mapping[str, Mover], path: Path) -> str:
    def gap(name: str) -> float:
        points = movers[name].path.points
        start = path.start or (0.0, 0.0)
        return min((math.dist(p.xy_mm, start) for p in points), default=math.inf)

    return min(movers, key=gap)


def _later(
    board: Board, paths: Mapping[str, Path], movers: Mapping[str, Mover], known: Sequence[Contact]
) -> list[Contact]:
    """Contacts between discs that move already, with pegs, and with discs that did not yield."""
    found: list[Contact] = []
    for name, mover in movers.items():
        for a, b in zip(mover.pieces, mover.pieces[1:], strict=False):
            begin, end = a.end_ns, b.start_ns
            if end <= begin:
                end = begin + FRAME_NS
            before, after = a.speed_at(begin), b.speed_at(max(b.start_ns, end))
            jump = (after[0] - before[0], after[1] - before[1])
            if math.hypot(*jump) < LEAST_JUMP_MM_S:
                continue
            if any(name in c.words[1:] and begin - FRAME_NS // 2 <= c.at_ns <= end + FRAME_NS // 2 for c in known):
                continue
            contact = _explain(board, paths, movers, mover, ((a, b), jump))
            if contact is not None and not any(_same(contact, c) for c in found):
                found.append(contact)
    return found


def _soft_touches(board: Board, paths: Mapping[str, Path], known: Sequence[Contact]) -> list[Contact]:
    """Discs that came up to one that did not visibly yield, and rather touched it than not."""
    pairs = {frozenset(c.words[1:]) for c in known if c.words[0] == "hit"}
    return [
        Contact(p.at_ns, p.words, p.chance)
        for p in near_passes(board, paths)
        if p.chance >= _RATHER and frozenset(p.words[1:]) not in pairs
    ]


def _same(a: Contact, b: Contact) -> bool:
    return a.words[0] == b.words[0] and set(a.words[1:]) == set(b.words[1:]) and abs(a.at_ns - b.at_ns) < 2 * FRAME_NS


def _explain(
    board: Board,
    paths: Mapping[str, Path],
    movers: Mapping[str, Mover],
    mover: Mover,
    kink: tuple[tuple[Leg, Leg], Xy],
) -> Contact | None:
    """What a disc that moves already met, given its jump of velocity."""
    (a, b), jump = kink
    name = mover.path.id
    size = math.hypot(*jump)
    away = (jump[0] / size, jump[1] / size)
    best: tuple[float, Contact] | None = None
    end = max(b.start_ns, a.end_ns + 1)
    for at_ns in range(a.end_ns - 4_000_000, end + 4_000_000, 1_000_000):
        place = a.place(at_ns)
        if math.hypot(*place) > board.surface_radius_mm:
            continue
        for px, py in board.pegs:
            # The blow comes from the peg: the jump points away from it.
            must = (
                px + away[0] * (board.disc_radius_mm + board.peg_radius_mm),
                py + away[1] * (board.disc_radius_mm + board.peg_radius_mm),
            )
            off = math.dist(place, must)
            if off < NEAR_MM and (best is None or off < best[0]):
                best = (off, Contact(at_ns, ("peg", name), _sureness(off)))
        for other, path in paths.items():
            if other == name or (other not in movers and not _held(board, path, away)):
                continue
            spot = _where(path, movers.get(other), at_ns)
            if spot is None:
                continue
            must = (spot[0] + away[0] * 2 * board.disc_radius_mm, spot[1] + away[1] * 2 * board.disc_radius_mm)
            off = math.dist(place, must) + (0.0 if other in movers else 2.0)
            if off < NEAR_MM and (best is None or off < best[0]):
                sure = _sureness(off) if other in movers else 0.5 * _sureness(off)
                best = (off, Contact(at_ns, ("hit", name, other), sure))
    return None if best is None else best[1]


def _held(board: Board, path: Path, away: Xy) -> bool:
    """Whether a disc that did not move could have taken a blow: what stands behind it, or the hole, held it.

    Whatever throws one disc aside is thrown the other way itself, unless it cannot yield.
    """
    if path.start is None:
        return False
    x, y = path.start
    if math.hypot(x, y) < board.hole_radius_mm:
        return True
    reach = board.disc_radius_mm + board.peg_radius_mm + 1.5
    return any(
        math.dist(peg, path.start) < reach and (peg[0] - x) * -away[0] + (peg[1] - y) * -away[1] > 0.3 * reach
        for peg in board.pegs
    )


def _where(path: Path, mover: Mover | None, at_ns: int) -> Xy | None:
    """Where a disc was at a time."""
    if mover is None or at_ns <= mover.since_ns:
        return path.start
    best: Leg | None = None
    for piece in mover.pieces:
        if piece.start_ns <= at_ns or best is None:
            best = piece
    return None if best is None else best.place(at_ns)
