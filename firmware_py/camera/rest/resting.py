"""What lies on the board: a disc at rest, and what a read of the still board found."""

from __future__ import annotations

import math
from dataclasses import dataclass

from firmware_py.camera.picture.regions import Region
from hub.link.messages import Colour, DiscState

Xy = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Resting:
    """A disc at rest.

    Attributes:
        id: the camera's name for it, empty while it has none.
        colour: its set.
        x_mm: centre of its base.
        y_mm: centre of its base.
        sigma_mm: one standard deviation along the radius.
        state: how it lies.
        top_xy_mm: centre of its top face in the straight view.
        learned: how many discs of its set were known when it was read.
        rival: how else it may lie, where the picture hardly tells; None where it does.
    """

    id: str
    colour: Colour
    x_mm: float
    y_mm: float
    sigma_mm: float
    state: DiscState
    top_xy_mm: Xy
    learned: float = 0.0
    rival: DiscState | None = None

    @property
    def r_mm(self) -> float:
        """Distance from the middle."""
        return math.hypot(self.x_mm, self.y_mm)

    @property
    def in_play(self) -> bool:
        """Whether it lies on the surface or in the hole."""
        return self.state != "ditch"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a read of a still board found.

    Attributes:
        stay: discs that lie where they lay, those nudged by less than :data:`NUDGED_MM` at their new place.
        nudged: ids of those among them that moved, and by how much.
        gone: discs that are not where they lay.
        found: discs where none lay, without ids.
        unseen: ids of discs in ``stay`` that a hand covers.
        odd: regions that no disc explains.
        illegible: why all this cannot be trusted, for people; empty when it can.
    """

    stay: tuple[Resting, ...]
    nudged: dict[str, float]
    gone: tuple[Resting, ...]
    found: tuple[Resting, ...]
    unseen: tuple[str, ...]
    odd: tuple[Region, ...]
    illegible: str = ""
