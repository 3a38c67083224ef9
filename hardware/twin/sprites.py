"""What lies on the picture in layers: a sprite lets part of the picture through and adds its own light.

``picture = picture * keep + add``. Each sprite is computed once over its own box, whatever is redrawn around it, so
that a pixel never depends on which part of the picture was refreshed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.board import Board
from hardware.twin.lens import CameraPose
from hardware.twin.light import Optics

Picture = NDArray[np.uint8]
Field = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Box:
    """Pixels ``[x0, x1) x [y0, y1)``."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def empty(self) -> bool:
        """Whether no pixel lies in it."""
        return self.x0 >= self.x1 or self.y0 >= self.y1

    @property
    def area(self) -> int:
        """Pixels in it."""
        return max(self.x1 - self.x0, 0) * max(self.y1 - self.y0, 0)

    @property
    def slices(self) -> tuple[slice, slice]:
        """Rows and columns."""
        return (slice(self.y0, self.y1), slice(self.x0, self.x1))

    def grown(self, by: int, size_wh: tuple[int, int]) -> Box:
        """The box with a margin, cut at the picture's edge."""
        return Box(
            max(self.x0 - by, 0), max(self.y0 - by, 0), min(self.x1 + by, size_wh[0]), min(self.y1 + by, size_wh[1])
        )

    def meets(self, other: Box) -> bool:
        """Whether both have a pixel in common."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1

    def common(self, other: Box) -> Box:
        """The pixels in both."""
        return Box(max(self.x0, other.x0), max(self.y0, other.y0), min(self.x1, other.x1), min(self.y1, other.y1))

    def around(self, other: Box) -> Box:
        """The smallest box that holds both."""
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))


@dataclass(frozen=True, slots=True)
class Sprite:
    """A layer over ``box``.

    Attributes:
        box: pixels that it may change.
        keep: what it lets through, uint8 ``(h, w, 3)``, 255 = all.
        add: its own light likewise; None = it only darkens.
        parts: smaller boxes outside of which it changes nothing; none = the whole box.
    """

    box: Box
    keep: Picture
    add: Picture | None = None
    parts: tuple[Box, ...] = ()

    def lay_on(self, picture: Picture, within: Box) -> None:
        """Lay what falls in ``within`` on ``picture``, which shows just that box."""
        if not self.box.meets(within):
            return
        part = self.box.common(within)
        at = picture[part.y0 - within.y0 : part.y1 - within.y0, part.x0 - within.x0 : part.x1 - within.x0]
        cut = (
            slice(part.y0 - self.box.y0, part.y1 - self.box.y0),
            slice(part.x0 - self.box.x0, part.x1 - self.box.x0),
        )
        cv2.multiply(at, self.keep[cut], dst=at, scale=1 / 255)
        if self.add is not None:
            cv2.add(at, self.add[cut], dst=at)


@dataclass(frozen=True, slots=True)
class Stage:
    """What every painter needs: the board, the camera, the light, and what each pixel sees.

    Attributes:
        board: geometry.
        pose: camera.
        optics: light.
        hole_xy_mm: true centre of the hole.
        gx: x in mm of the surface-plane point seen at each pixel, ``(H, W)``.
        gy: y likewise.
        px_mm: size of a pixel on the surface plane, ``(H, W)``.
        light: part of the light that reaches each pixel's point.
        glare: grey levels that a mirror-like surface would add.
        rail_front: 0-1, how much of the pixel is a rail standing between camera and board.
    """

    board: Board
    pose: CameraPose
    optics: Optics
    hole_xy_mm: tuple[float, float]
    gx: Field
    gy: Field
    px_mm: Field
    light: Field
    glare: Field
    rail_front: Field

    def box(self, points_px: NDArray[np.float64], pad: int = 2) -> Box:
        """Box around projected points, cut at the picture's edge."""
        low, high = np.floor(points_px.min(axis=0)).astype(int), np.ceil(points_px.max(axis=0)).astype(int)
        w, h = self.pose.size_wh
        x0, y0 = max(int(low[0]) - pad, 0), max(int(low[1]) - pad, 0)
        return Box(x0, y0, min(int(high[0]) + pad + 1, w), min(int(high[1]) + pad + 1, h))

    def plane(self, box: Box, z_mm: float) -> tuple[Field, Field]:
        """Points of the plane at ``z_mm`` that the box's pixels see."""
        h_mm = self.pose.height_mm
        k = np.float32((h_mm - z_mm) / h_mm)
        fx, fy = self.pose.foot_xy_mm
        rows, columns = box.slices
        x = (self.gx[rows, columns] - np.float32(fx)) * k + np.float32(fx)
        y = (self.gy[rows, columns] - np.float32(fy)) * k + np.float32(fy)
        return x, y


def ramp(inside_mm: Field, px_mm: Field | float) -> Field:
    """Share of a pixel covered by what begins ``inside_mm`` away (positive = inside)."""
    return np.asarray(np.clip(inside_mm / px_mm + np.float32(0.5), 0, 1), dtype=np.float32)


def bgr(colour: tuple[int, int, int]) -> Field:
    """A colour to reckon with."""
    return np.array(colour, np.float32)


def three(grey: Picture) -> Picture:
    """A grey picture as three equal channels."""
    return np.asarray(cv2.merge([grey, grey, grey]), dtype=np.uint8)


def to_bytes(values: Field) -> Picture:
    """Rounded and cut to 0-255."""
    return np.asarray(np.clip(np.rint(values), 0, 255), dtype=np.uint8)
