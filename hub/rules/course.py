"""What happened during a shot, taken from its events in order of time: chains, discs out of play, damage."""

from __future__ import annotations

from hardware.board import Board
from hub.rules.position import Position, Shot
from hub.rules.ruleset import Ruleset


class Course:
    """What the events of one shot say about its discs.

    Attributes:
        struck: the shot disc and all that it moved while in play, through others as well.
        touched: what the shot disc itself touched while in play.
        dead: discs out of play, each with the code of its reason.
        disturbed: what a dead disc touched, or what was touched through others that it had.
        crossed: discs that touched or crossed the outer line on the wood.
        holed: discs that were seen to fall flat into the hole.
        doubts: codes of what is odd and changes nothing.
        problem: code of what makes the events impossible, ``None`` for nothing.
    """

    __slots__ = ("crossed", "dead", "disturbed", "doubts", "holed", "problem", "shot_disc", "struck", "touched")

    def __init__(self, shot_disc: str) -> None:
        self.shot_disc = shot_disc
        self.struck = {shot_disc}
        self.touched: set[str] = set()
        self.dead: dict[str, str] = {}
        self.disturbed: set[str] = set()
        self.crossed: set[str] = set()
        self.holed: set[str] = set()
        self.doubts: list[str] = []
        self.problem: str | None = None

    def contact(self, disc: str, other: str) -> None:
        """``disc`` touches ``other``: a stroke of the shot, damage by a dead disc, or neither (rules 35, 43, 44)."""
        dead = self.dead
        if disc in dead or other in dead:
            self.disturbed.update(d for d in (disc, other) if d not in dead)
            return
        if disc in self.struck:
            self.struck.add(other)
        elif other in self.struck and disc not in self.disturbed:
            self.struck.add(disc)
        if disc in self.disturbed:
            self.disturbed.add(other)
        if disc == self.shot_disc:
            self.touched.add(other)
        elif other == self.shot_disc:
            self.touched.add(disc)

    def contact_while_out(self, position: Position, pair: tuple[str, str], board: Board) -> None:
        """Under spinner ``untouched``: a disc beyond the outer line that strikes another there is dead (rule 45).

        Only the place of the other disc before the shot tells where the contact was.
        """
        reach_mm = 2 * board.disc_radius_mm
        outside_mm = board.limits_mm[2]
        for disc, other in (pair, pair[::-1]):
            if disc in self.crossed and disc not in self.dead and other in position.discs:
                r_mm = position.discs[other].r_mm
                if r_mm - reach_mm >= outside_mm:
                    self.dead[disc] = "struck_while_out"
                elif r_mm + reach_mm >= outside_mm:
                    self.doubts.append("maybe_struck_while_out")


def follow(position: Position, shot: Shot, ruleset: Ruleset, board: Board) -> Course:
    """Go through the events of a shot.

    A disc that has left the surface is dead: what it touches afterwards is damage and no stroke (rules 43, 44).
    """
    course = Course(shot.disc)
    known = position.discs
    shot_disc = shot.disc
    dead_on_cross = ruleset.spinner == "dead_on_cross"
    for event in shot.events:
        kind = event[0]
        disc = event[1]
        if disc not in known and disc != shot_disc:
            course.problem = "unknown_disc"
        elif kind == "hit":
            other = event[2]
            if other not in known and other != shot_disc:
                course.problem = "unknown_disc"
            else:
                course.contact(disc, other)
                if ruleset.spinner == "untouched":
                    course.contact_while_out(position, (disc, other), board)
        elif kind != "peg":
            _alone(course, kind, disc, dead_on_cross=dead_on_cross)
    return course


def _alone(course: Course, kind: str, disc: str, *, dead_on_cross: bool) -> None:
    """An event of one disc by itself."""
    if kind == "off":
        course.dead.setdefault(disc, "off")
    elif kind == "hole":
        course.holed.add(disc)
    elif kind == "cross":
        course.crossed.add(disc)
        if dead_on_cross:
            course.dead.setdefault(disc, "crossed")
    else:
        if disc not in course.dead:
            course.doubts.append("back_without_off")
        course.dead.setdefault(disc, "off")
