"""What there is to see at one moment: the value that the world makes and the optics draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Colour = Literal["light", "dark", "third"]


@dataclass(frozen=True, slots=True)
class SceneDisc:
    """One disc as it is at a moment; millimetres in the board frame, z above the playing surface.

    Attributes:
        id: the world's name for the disc, e.g. ``A3``.
        colour: which of the two or three sets it belongs to.
        x_mm: centre of the base.
        y_mm: centre of the base.
        z_mm: height of the base above the surface: 0 on it, minus the hole's depth in the hole, minus the
            surface's height in the ditch, a disc's height when it lies on another, more while a hand carries it.
        vx_mm_s: velocity along x while the shutter is open.
        vy_mm_s: velocity along y while the shutter is open.
        tilt_deg: how far the disc leans out of the horizontal (a leaner, a disc over the edge).
        tilt_towards_deg: board-frame angle (clockwise, 0 = seat 1) of its lowest point.
        turn_deg: rotation about its own axis, for the grain of its face.
    """

    id: str
    colour: Colour
    x_mm: float
    y_mm: float
    z_mm: float = 0.0
    vx_mm_s: float = 0.0
    vy_mm_s: float = 0.0
    tilt_deg: float = 0.0
    tilt_towards_deg: float = 0.0
    turn_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class SceneHand:
    """A hand with its forearm, reaching in from outside the rail.

    Attributes:
        x_mm: tip of the fingers.
        y_mm: tip of the fingers.
        from_deg: board-frame angle (clockwise, 0 = seat 1) from which the forearm comes.
        z_mm: height of the fingertips above the surface.
        width_mm: breadth of the palm.
        sleeve: index of the person, so that skin and sleeve differ from seat to seat.
        vx_mm_s: velocity along x while the shutter is open.
        vy_mm_s: velocity along y while the shutter is open.
    """

    x_mm: float
    y_mm: float
    from_deg: float
    z_mm: float = 20.0
    width_mm: float = 85.0
    sleeve: int = 0
    vx_mm_s: float = 0.0
    vy_mm_s: float = 0.0


@dataclass(frozen=True, slots=True)
class SceneLitter:
    """What does not belong on a board and must never be read as a disc.

    Attributes:
        kind: a coin, a mug, a phone, a sheet of paper, spilt wax, or the head of somebody bending over.
        x_mm: its middle.
        y_mm: its middle.
        turn_deg: board-frame angle (clockwise, 0 = seat 1) of its long side; for a head the side it comes from.
        look: index of its colours.
    """

    kind: Literal["coin", "mug", "phone", "sheet", "wax", "head"]
    x_mm: float
    y_mm: float
    turn_deg: float = 0.0
    look: int = 0


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything above the empty board at one moment, drawn in this order: ditch, surface, hands, heads."""

    at_ns: int
    discs: tuple[SceneDisc, ...] = ()
    hands: tuple[SceneHand, ...] = ()
    litter: tuple[SceneLitter, ...] = ()
