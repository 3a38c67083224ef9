"""How people behave at a simulated table beyond the shots: what a polite player never does, and a hostile one does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manners:
    """How often, in a hundred, somebody does what makes a score hard to keep.

    Attributes:
        finger: pokes into the hole before a shot.
        lift_late: leaves a 20 in the hole for the next shot.
        leave_foul: shoots on while the discs of a foul lie on the board.
        push: moves a disc by some millimetres when taking others off.
        sweep: clears the board as soon as the last disc has stopped.
    """

    finger: int = 0
    lift_late: int = 0
    leave_foul: int = 0
    push: int = 0
    sweep: int = 0


MANNERS: Mapping[str, Manners] = {
    "polite": Manners(),
    "hostile": Manners(finger=12, lift_late=40, leave_foul=40, push=15, sweep=50),
}
"""The players of a simulated evening by name."""
