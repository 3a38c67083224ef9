"""What a reading of one picture says: the discs, where their bases stand, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from firmware_py.camera.still.colours import TeamColours

Place = Literal["surface", "ditch", "hole"]


@dataclass(frozen=True, slots=True)
class SeenDisc:
    """One disc as seen.

    Attributes:
        x_mm: place of its base on the board.
        y_mm: place of its base on the board.
        top_xy_mm: where the centre of its top face is seen on the board plane.
        radius_mm: radius of the disc; the same for all discs of a reading.
        quality: how much of a disc was seen, about 0.5 (barely) to 1.
        colour: median Lab of its face.
        sigma_mm: one sigma of the base's place along the radius.
        place: on the surface (also when hanging over its edge), in the ditch, or flat in the hole.
        light: light on it beside the usual, as :func:`firmware_py.camera.still.locallight.local_light` tells it.
        odd: whether its colour is neither team's.
    """

    x_mm: float
    y_mm: float
    top_xy_mm: tuple[float, float]
    radius_mm: float
    quality: float
    colour: tuple[float, float, float]
    sigma_mm: float
    place: Place
    light: float = 1.0
    odd: bool = False

    @property
    def r_mm(self) -> float:
        """Distance of the base's centre from the centre of the rings."""
        return math.hypot(self.x_mm, self.y_mm)


@dataclass(frozen=True, slots=True)
class DiscReading:
    """All discs of a picture.

    Attributes:
        discs: from the centre outwards.
        radius_mm: common radius of the discs, from the picture or as it was given.
        radius_seen: whether the radius was learned from this picture.
        teams: the colours learned from these discs, None without any.
        surface_radius_mm: radius of the playing surface, as seen or else as the board says.
        hole_unclear: whether a disc in the hole could hardly be told from the empty hole.
    """

    discs: tuple[SeenDisc, ...]
    radius_mm: float
    radius_seen: bool
    teams: TeamColours | None
    surface_radius_mm: float
    hole_unclear: bool = False
