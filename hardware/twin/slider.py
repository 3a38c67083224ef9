"""A disc: as the world knows it at rest, and as a body of the flat world with what that world lacks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import pymunk

from hardware.board import Board
from hardware.twin import hole
from hardware.twin.feel import GRAVITY_MM_S2, Feel
from hardware.twin.scene import Colour

Where = Literal["surface", "hole", "leaning", "stacked", "ditch", "hand"]

UPPER, LOWER, PEG = 1, 2, 4  # layers of the flat world: discs meet those of their own, pegs only those on the surface


@dataclass(frozen=True, slots=True)
class DiscState:
    """A disc as the world knows it: the base's centre, its motion, and where it lies.

    ``where``: ``surface``, ``hole`` (flat in it), ``leaning`` (in it, not flat), ``stacked`` (on the disc in the
    hole), ``ditch`` (also while it is falling off) or ``hand``.
    """

    id: str
    colour: Colour
    x_mm: float
    y_mm: float
    where: Where = "surface"
    z_mm: float = 0.0
    vx_mm_s: float = 0.0
    vy_mm_s: float = 0.0
    tilt_deg: float = 0.0
    tilt_towards_deg: float = 0.0
    turn_deg: float = 0.0

    @property
    def r_mm(self) -> float:
        """Distance from the middle."""
        return math.hypot(self.x_mm, self.y_mm)


class Slider:
    """One disc inside an arena: its pymunk body and what the flat world lacks."""

    __slots__ = (
        "back",
        "board",
        "body",
        "climbing",
        "crossed_ns",
        "dip",
        "drop",
        "feel",
        "grip",
        "hold",
        "inside",
        "passed",
        "pocket",
        "quiet",
        "shape",
        "speed",
        "state",
        "stirred",
        "tilt_deg",
        "tilt_towards_deg",
        "vz",
        "where",
        "z",
    )

    def __init__(self, state: DiscState, board: Board, feel: Feel, space: pymunk.Space) -> None:
        radius = board.disc_radius_mm
        self.state, self.board, self.feel = state, board, feel
        self.body = pymunk.Body(1.0, radius * radius / 2)
        self.body.position = (state.x_mm, state.y_mm)
        self.body.velocity = (state.vx_mm_s, state.vy_mm_s)
        self.body.angle = math.radians(state.turn_deg)
        self.shape = pymunk.Circle(self.body, radius)
        self.shape.elasticity = math.sqrt(feel.disc_bounce)
        self.shape.friction = math.sqrt(feel.rim_friction)
        self.shape.collision_type = 1
        self.hold = pymunk.PivotJoint(space.static_body, self.body, (0, 0), (0, 0))
        self.hold.max_bias = 0.0
        self.grip = pymunk.GearJoint(space.static_body, self.body, 0.0, 1.0)
        self.grip.max_bias = 0.0
        space.add(self.body, self.shape, self.hold, self.grip)
        self.where: Where = state.where
        self.z, self.vz = state.z_mm, 0.0
        self.tilt_deg, self.tilt_towards_deg = state.tilt_deg, state.tilt_towards_deg
        self.dip, self.drop = 0.0, 0.0
        self.pocket: hole.Fall | None = None
        self.climbing = self.back = self.passed = self.stirred = False
        self.inside = state.r_mm < board.limits_mm[2]
        self.crossed_ns = -1
        self.quiet = 0
        self.speed = math.hypot(state.vx_mm_s, state.vy_mm_s)

    def lay(self, where: Where) -> None:
        """It lies there from now on: which discs it can meet, and how strongly the ground holds it."""
        self.where = where
        if where == "ditch":
            self.layer(LOWER)
            self.friction(self.feel.ditch_friction * GRAVITY_MM_S2)
        else:
            self.layer(UPPER)
            self.friction(math.inf if where in {"hole", "stacked"} else self.feel.slide_mm_s2())

    def layer(self, category: int) -> None:
        """Which discs it can meet: those on the surface or those in the ditch."""
        mask = UPPER | PEG if category == UPPER else LOWER
        self.shape.filter = pymunk.ShapeFilter(categories=category, mask=mask)

    def friction(self, deceleration_mm_s2: float) -> None:
        """How fast the ground slows it down; infinite for a disc that lies in the hole."""
        self.hold.max_force = deceleration_mm_s2
        self.grip.max_force = deceleration_mm_s2 * self.board.disc_radius_mm * 2 / 3

    def now(self) -> DiscState:
        """Its state at this moment."""
        x_mm, y_mm = self.body.position
        vx, vy = self.body.velocity
        return replace(
            self.state,
            x_mm=x_mm, y_mm=y_mm, where=self.where, z_mm=self.z, vx_mm_s=vx, vy_mm_s=vy, tilt_deg=self.tilt_deg,
            tilt_towards_deg=self.tilt_towards_deg, turn_deg=math.degrees(self.body.angle),
        )  # fmt: skip
