"""The verdict on a shot as a value: what it was, why, and what people must do now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hub.rules.position import Disc, Place, Position


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of a judgement.

    Attributes:
        code: machine code, for translation.
        rule: number of the rule in the table of the sources it came from.
        disc: the disc it is about, where there is one.
        side: the side it is about: the disc's owner.
    """

    code: str
    rule: int
    disc: str | None = None
    side: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say about a shot.

    Attributes:
        valid: whether the shot stands; ``None`` where people must decide.
        open: whether no opposing disc was in play before it, also when no-hiding is off.
        reason: why it is not valid: ``missed_opponent``, ``open_not_in_15``, ``illegal_placement`` or the code of
            a foul that people called; ``None`` for a valid shot.
        removed: every disc that is in the ditch once the judgement is carried out.
        fouled: those of ``removed`` that the foul takes away, wherever they lie.
        off: those of ``removed`` that lie in the ditch by themselves: nobody needs to touch them.
        take_off: those of ``removed`` that still lie on the board or in the hole: people must take them off.
        lift: discs flat in the hole that bank a 20: people lift them out and set them in view.
        restored: discs to put back, with the place before the shot (``damage`` restore only).
        twenties: 20s of this shot by side.
        banked: 20s of the round so far by side.
        board: what the discs left on the board would score now, by side.
        after: the position once the judgement is carried out.
        referee: no automatic verdict, people must decide; ``after`` then shows what was seen, nothing is banked.
        reasons: the steps in order, each with the rule it came from.
        doubts: codes of what was odd about the facts without changing the verdict.
        discs: every disc before the shot and the shot disc by id, where it was seen at rest; for texts.
    """

    valid: bool | None
    open: bool
    reason: str | None
    removed: frozenset[str]
    fouled: frozenset[str]
    off: frozenset[str]
    take_off: frozenset[str]
    lift: frozenset[str]
    restored: Mapping[str, Place]
    twenties: Mapping[str, int]
    banked: Mapping[str, int]
    board: Mapping[str, int]
    after: Position
    referee: bool
    reasons: tuple[Reason, ...]
    doubts: tuple[str, ...]
    discs: Mapping[str, Disc]

    @property
    def codes(self) -> tuple[str, ...]:
        """Machine codes of the reasons in order."""
        return tuple(reason.code for reason in self.reasons)
