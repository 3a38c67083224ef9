"""At the end of a motion: the board read at rest, and the facts that come of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from firmware_py.camera.motion.between import Motion
from firmware_py.camera.motion.quiet import Quiet
from firmware_py.camera.motion.shots import conclude
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.rest.reader import LayoutReader
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.telling import layout_of, places_of, renamed
from hub.link.messages import Cleared, Fact


@dataclass(frozen=True, slots=True)
class Rest:
    """The board at rest.

    Attributes:
        discs: what lies there.
        next_number: for the next new disc's name.
        still: its straight view.
        at_ns: since when.
    """

    discs: tuple[Resting, ...]
    next_number: int
    still: Image
    at_ns: int


def tell(
    reader: LayoutReader, last: Rest | None, motion: Motion, quiet: Quiet, at_ns: int
) -> tuple[list[Fact], Rest | None, str]:
    """The facts about a motion that has ended, and the board as it lies now; the reader learns from it.

    Args:
        reader: of this view of the board.
        last: the rest before.
        motion: what was seen since.
        quiet: the views since all is still again, at least one.
        at_ns: time of the facts.

    Returns:
        The facts, the rest, and why the board cannot be read, for people: then nothing is told but new names of
        colours, and the rest is the one before.
    """
    straight, since_ns = quiet.picture(), quiet.since_ns
    before = () if last is None else last.discs
    number = 1 if last is None else last.next_number
    reading = reader.read(straight, None if last is None else last.still, before)
    if reader.teacher.renamed:
        before = tuple(renamed(d) for d in before)
    if reading.illegible:
        if not reader.teacher.renamed or last is None:
            return [], last, reading.illegible
        reader.teacher.renamed = False
        return [layout_of(at_ns, before, ())], replace(last, discs=before), reading.illegible
    watched = motion.watched(since_ns, nothing=not (reading.gone or reading.found or reading.nudged))
    done = conclude(reader.view.board, before, reading, watched, number)
    facts: list[Fact] = []
    if done.shot is not None:
        facts.append(done.shot)
    changed = reader.teacher.renamed or places_of(before) != places_of(done.discs) or done.shot is not None
    reader.teacher.renamed = False
    if changed:
        facts.append(layout_of(at_ns, done.discs, reading.unseen))
    if any(d.in_play for d in before) and not any(d.in_play for d in done.discs):
        facts.append(Cleared(at_ns=at_ns))
    reader.adapt(straight, done.discs)
    return facts, Rest(done.discs, done.next_number, straight, since_ns), ""
