"""What the evidence of a shot cannot tell, where that could decide the verdict. Numbers only, no pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firmware_py.camera.motion.alike import exchanges
from firmware_py.camera.motion.contacts import Contact, find_contacts
from firmware_py.camera.motion.leaving import edge_events
from firmware_py.camera.motion.naming import BLIND_NS, Shooter, Watched
from firmware_py.camera.motion.touches import Pass, near_passes
from firmware_py.camera.motion.tracker import SLOWING_MM_S2
from firmware_py.camera.motion.ways import Path, legs
from firmware_py.camera.rest.resting import Resting
from hardware.board import Board
from hub.link.messages import DiscState, Doubt

Events = tuple[tuple[str, ...], ...]

#: A time without frames in which the rail may throw a disc back.
RETURN_NS = 70_000_000
#: A disc that moved by no more may have been read wrongly, if nothing explains who struck it.
NUDGED_MM = 6.0
#: A contact that is less sure than this does not stand by itself.
UNSURE = 0.5
#: What is left of the way to the edge when a track ends, beyond which the disc cannot have left the surface.
_SHORT_MM = 25.0
_ENDED = 3
#: A disc whose rim is so near to the hole's lies beside it.
_BESIDE_MM = 8.0


@dataclass(frozen=True, slots=True)
class Told:
    """A shot as it is told.

    Attributes:
        paths: of all discs on the board, by id.
        shooter: the shot disc.
        happenings: its events in order, with how sure they are.
        before: what lay there, by id.
        after: what lies there now, by id.
        watched: what was seen.
    """

    paths: Mapping[str, Path]
    shooter: Shooter
    happenings: Sequence[Contact]
    before: Mapping[str, Resting]
    after: Mapping[str, Resting]
    watched: Watched

    @property
    def events(self) -> Events:
        """The events as the rules take them."""
        return tuple(c.words for c in self.happenings)


def find_doubts(board: Board, told: Told) -> tuple[Doubt, ...]:
    """Every doubt about a shot, with the readings between which the evidence cannot decide."""
    return (
        *_contact_doubts(board, told),
        *_hole_doubts(told),
        *_rival_doubts(told),
        *_return_doubts(told),
        *_vanished_doubts(board, told),
        *_exchange_doubts(board, told),
    )


def _contact_doubts(board: Board, told: Told) -> list[Doubt]:
    """Whether discs were touched that did not move by it, where no opposing one was struck for sure."""
    paths, shooter = told.paths, told.shooter
    mine = paths[shooter.id].colour
    theirs = {n for n, p in paths.items() if p.colour != mine}
    hits = [c for c in told.happenings if c.words[0] == "hit"]
    faint = {n for n in paths if n != shooter.id and _may_not_be_struck(board, told, n)}
    if any(d in theirs - faint for c in hits for d in c.words[1:]):
        return []
    # Without an opposing disc struck for sure, one's own that was struck goes off the board with the shot.
    weak = [c for c in hits if faint & set(c.words[1:])]
    doubts: list[Doubt] = []
    if weak:
        without = tuple(e for e in told.events if e not in {c.words for c in weak})
        struck = tuple(sorted({d for c in weak for d in c.words[1:]} & faint))
        doubts.append(Doubt("contact", struck, (told.events, without)))
    pairs = {frozenset(c.words[1:]) for c in hits}
    for soft in near_passes(board, paths):
        if frozenset(soft.words[1:]) not in pairs:
            happenings: list[Contact | Pass] = sorted([*told.happenings, soft], key=lambda c: c.at_ns)
            doubts.append(Doubt("contact", (soft.words[2],), (told.events, tuple(c.words for c in happenings))))
    if doubts:
        return doubts
    if theirs and (shooter.track is None or told.watched.blind_ns > BLIND_NS):
        return [Doubt("not_seen", (shooter.id,))]
    return []


def _may_not_be_struck(board: Board, told: Told, name: str) -> bool:
    """Whether a disc may lie where it lay: it did not move, or so little that it may have been read wrongly.

    A disc beside the hole looks another when one has dropped into the hole. One that leaned in the hole and lies flat
    in it now was knocked down, however little it moved.
    """
    path = told.paths[name]
    if not path.moved:
        return True
    if _lies(told.before, name) == "leaning" and _lies(told.after, name) == "hole":
        return False
    if path.start is None or path.end is None or math.dist(path.start, path.end) > NUDGED_MM:
        return False
    beside = math.hypot(*path.start) < board.hole_radius_mm + board.disc_radius_mm + _BESIDE_MM
    fell = any(c.words[0] == "hole" and c.words[1] != name for c in told.happenings)
    blows = [c.sure for c in told.happenings if c.words[0] == "hit" and name in c.words[1:]]
    return (beside and fell) or max(blows, default=0.0) < UNSURE


def _lies(discs: Mapping[str, Resting], name: str) -> DiscState | None:
    """How a disc lies; None where that is not sure."""
    disc = discs.get(name)
    return None if disc is None or disc.rival is not None else disc.state


def _hole_doubts(told: Told) -> list[Doubt]:
    """Discs of which the picture hardly tells whether they lie flat in the hole or lean in it."""
    doubts: list[Doubt] = []
    for name, path in told.paths.items():
        disc = told.after.get(name)
        if disc is None or disc.rival is None or not path.moved:
            continue
        fell = ("hole", name)
        other = tuple(e for e in told.events if e != fell) if fell in told.events else (*told.events, fell)
        doubts.append(Doubt("leaner", (name,), (told.events, other)))
    return doubts


def _rival_doubts(told: Told) -> list[Doubt]:
    """Blows that another disc may have given as well: the reading of each."""
    events = told.events
    return [
        Doubt(
            "contact",
            (rival, c.words[2]),
            (events, (*events[:k], ("hit", rival, c.words[2]), *events[k + 1 :])),
        )
        for k, c in enumerate(told.happenings)
        for rival in c.rivals
    ]


def _return_doubts(told: Told) -> list[Doubt]:
    """Discs that lie on the board and may have been thrown back by the rail while no frame came."""
    doubts: list[Doubt] = []
    if told.watched.blind_ns <= RETURN_NS:
        return doubts
    for name in {c.words[1] for c in told.happenings if c.words[0] == "back" and c.sure < 0.9}:
        without = tuple(e for e in told.events if e not in {("off", name), ("back", name)})
        doubts.append(Doubt("left", (name,), (told.events, without)))
    return doubts


def _vanished_doubts(board: Board, told: Told) -> list[Doubt]:
    """Discs that are said to have left the board, though their way ended on it: they may lie where nothing is read."""
    doubts: list[Doubt] = []
    for name, path in told.paths.items():
        off = ("off", name)
        if not path.moved or path.end is not None or off not in told.events or name in told.watched.covered:
            continue
        if len(path.points) < _ENDED or not _ends_on_board(board, path):
            continue
        hole = (*(e for e in told.events if e != off), ("hole", name))
        doubts.append(Doubt("left", (name,), (told.events, hole)))
    return doubts


def _exchange_doubts(board: Board, told: Told) -> list[Doubt]:
    """Discs of one set that may go by one another's name since frames were lost."""
    doubts: list[Doubt] = []
    for a, b, paths in exchanges(board, told.paths, told.shooter.id, told.watched.until_ns):
        after = {**told.after}
        for name, other in ((a, b), (b, a)):
            after.pop(name, None)
            if other in told.after:
                after[name] = told.after[other]
        contacts = find_contacts(board, paths, told.shooter.id)
        happenings = [*contacts, *edge_events(board, paths, after, contacts, told.watched.until_ns)]
        # What lies in the hole lies there by either name.
        events = [c.words for c in sorted(happenings, key=lambda c: c.at_ns) if c.words[0] != "hole"]
        events += [words for words in told.events if words[0] == "hole"]
        doubts.append(Doubt("contact", (a, b), (told.events, tuple(events))))
    return doubts


def _ends_on_board(board: Board, path: Path) -> bool:
    """Whether a disc was too slow, where it was seen last, to get off the surface, or was at the hole."""
    last = path.points[-1]
    if last.r_mm < board.hole_radius_mm + board.disc_radius_mm:
        return True
    speed = math.hypot(*legs(path.points)[-1].speed_at(last.at_ns))
    return last.r_mm + speed * speed / (2 * SLOWING_MM_S2) < board.surface_radius_mm - _SHORT_MM
