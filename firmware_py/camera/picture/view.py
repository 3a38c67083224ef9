"""The live camera's view of its board: places on the board to pixels and back, with the lens put right by the rings.

The live reader works in a straight view of the plane in which the upper rims of discs lie. There every disc is a
circle of one size whose centre is the place of its base: the parallax of a disc's height is undone by the view
itself, and only what lies lower (the wood, a disc in the hole or the ditch) appears shifted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from firmware_py.camera.board.calibration import SHARP_MM, Calibration
from firmware_py.camera.picture.lab import Array, Floats, Image
from hardware.board import Board

#: Scale of the straight view: a disc is some 21 pixels wide, and a whole frame takes about a millisecond.
MM_PER_PX = 1.5
#: How much of the table around the rail the view shows, for hands to be seen coming from outside.
TABLE_MM = 32.0
#: Discs are rounded at their edges: they are widest so far below the top face and above the base.
EDGE_MM = 0.8
_COARSE = 8
#: Rows whose places in the picture are worked out at a time.
_STRIP = 64

Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class RadialFix:
    """Carries measured radii to the board's own: ``r (1 + (1 - q)(a + b q))`` with ``q = (r / outer)^2``.

    A lens bends radii, and boards are turned by hand; either way a disc is judged against the printed lines, so
    the three lines are the truth that a place on the board is told by.

    Attributes:
        outer_mm: radius of the outer line, which stays where it is.
        a: correction at the centre, as a part of the radius.
        b: its change towards the outer line.
    """

    outer_mm: float
    a: float = 0.0
    b: float = 0.0

    @classmethod
    def from_lines(cls, measured: Board, true: Board) -> RadialFix:
        """The fix that carries the measured lines of a board to where they are."""
        outer = measured.outer_line_mm
        q1, q2 = (measured.line_15_mm / outer) ** 2, (measured.line_10_mm / outer) ** 2
        c1 = (true.line_15_mm / measured.line_15_mm - 1) / (1 - q1)
        c2 = (true.line_10_mm / measured.line_10_mm - 1) / (1 - q2)
        b = (c2 - c1) / (q2 - q1)
        return cls(outer_mm=outer, a=c1 - b * q1, b=b)

    def factor(self, r2_mm2: Array) -> Array:
        """True over measured radius at squared measured radii."""
        # Beyond the outer line no ring tells; the factor goes on as it was there and does not run away.
        q = np.minimum(r2_mm2 / self.outer_mm**2, 1.7)
        return np.asarray(1 + (1 - q) * (self.a + self.b * q))

    def to_true(self, points_mm: Array) -> Array:
        """Points ``(..., 2)`` as the camera measures them, where they are."""
        return np.asarray(points_mm * self.factor(np.sum(points_mm * points_mm, axis=-1, keepdims=True)))

    def to_measured(self, points_mm: Array) -> Array:
        """The inverse of :meth:`to_true`, to a micrometre for lenses that bend by a few per cent."""
        measured = points_mm
        for _ in range(4):
            measured = points_mm / self.factor(np.sum(measured * measured, axis=-1, keepdims=True))
        return np.asarray(measured)


class BoardView:
    """How the live camera sees its board; made from a calibration, never changes.

    Args:
        calibration: of this camera, its lines as measured.
        board: the board's true geometry.
    """

    def __init__(self, calibration: Calibration, board: Board) -> None:
        self.calibration = calibration
        self.board = board
        #: Height of a disc's upper rim above the surface, and how far below it the lower rim is.
        self.rim_mm = board.disc_height_mm - EDGE_MM
        self.wall_mm = board.disc_height_mm - 2 * EDGE_MM
        #: Softness of edges in the straight view, one sigma.
        self.soft_mm = calibration.soft_mm
        #: Whether the camera sees sharply in good light, as it is meant to.
        self.fair = calibration.gain == 1.0 and calibration.soft_mm == SHARP_MM
        self.fix = RadialFix.from_lines(calibration.board, board)
        self.half_mm = board.rail_radius_mm + TABLE_MM
        self.side_px = 2 * math.ceil(self.half_mm / MM_PER_PX) + 1
        self.middle_px = (self.side_px - 1) / 2
        across_mm = (np.arange(self.side_px) - self.middle_px) * MM_PER_PX
        seen = np.empty((self.side_px, self.side_px, 2), np.float32)
        # Strip by strip, for all at once takes tens of megabytes for a moment.
        for first in range(0, self.side_px, _STRIP):
            strip = seen[first : first + _STRIP]
            x, y = np.meshgrid(across_mm, -across_mm[first : first + _STRIP])
            strip[:] = self.pixels(np.stack([x, y], axis=-1), self.rim_mm)
        self._maps = cv2.convertMaps(seen[..., 0], seen[..., 1], cv2.CV_16SC2)
        self._coarse = np.ascontiguousarray(seen[::_COARSE, ::_COARSE])
        self.radius_mm = np.hypot(across_mm[:, None], across_mm).astype(np.float32)
        # The surface lies below the plane of this view, and seems smaller in it.
        foot_x, foot_y = calibration.foot_xy_mm
        lower = self.rim_mm / calibration.camera_height_mm
        low_x, low_y = ((a - lower * foot) / (1 - lower) for a, foot in ((across_mm, foot_x), (-across_mm, foot_y)))
        #: Pixels of the straight view in which the surface is seen, where nothing lies on it.
        self.surface = np.asarray(np.hypot(low_x, low_y[:, None]) < board.surface_radius_mm)
        width, height = calibration.size_wh
        #: Pixels of the straight view that the camera sees.
        self.visible = np.asarray(
            (seen[..., 0] >= 0) & (seen[..., 0] < width - 1) & (seen[..., 1] >= 0) & (seen[..., 1] < height - 1)
        )

    def pixels(self, points_mm: Array, height_mm: float | Array = 0.0) -> Array:
        """Pixels ``(..., 2)`` at which places on the board, at a height above the surface, are seen."""
        measured = self.fix.to_measured(np.asarray(points_mm, dtype=np.float64))
        foot = np.array(self.calibration.foot_xy_mm)
        lift = np.asarray(1.0 - np.asarray(height_mm) / self.calibration.camera_height_mm)
        plane = foot + (measured - foot) / (lift[..., None] if lift.ndim else lift)
        h = self.calibration.image_from_board
        w = plane[..., 0] * h[2, 0] + plane[..., 1] * h[2, 1] + h[2, 2]
        u = (plane[..., 0] * h[0, 0] + plane[..., 1] * h[0, 1] + h[0, 2]) / w
        v = (plane[..., 0] * h[1, 0] + plane[..., 1] * h[1, 1] + h[1, 2]) / w
        return np.stack([u, v], axis=-1)

    def straight(self, frame: Image) -> Image:
        """The straight view of the plane of upper rims, ``(side, side, 3)``, as bright as usual; +x right, +y up."""
        return self._bright(cv2.remap(frame, self._maps[0], self._maps[1], cv2.INTER_LINEAR))

    def _bright(self, seen: NDArray[Any]) -> Image:
        gain = self.calibration.gain
        return np.asarray(seen if gain == 1.0 else cv2.convertScaleAbs(seen, alpha=gain), dtype=np.uint8)

    def straight_mean(self, total: Array, count: int) -> Floats:
        """The straight view of a mean of frames, finer than 8 bits, from their sum."""
        straight = cv2.remap(total, self._maps[0], self._maps[1], cv2.INTER_LINEAR)
        return np.asarray(straight, dtype=np.float32) / np.float32(count)

    def straight_part(self, frame: Image, box: Box, canvas: Image) -> Box:
        """Refresh the part of a straight view that shows a box of the frame.

        Args:
            frame: the camera's picture.
            box: left, top, right and bottom in pixels of the frame.
            canvas: the straight view, changed in place.

        Returns:
            Left, top, right and bottom of that part in the straight view.
        """
        left, top, right, bottom = box
        rows, columns = np.nonzero(
            (self._coarse[..., 0] >= left)
            & (self._coarse[..., 0] <= right)
            & (self._coarse[..., 1] >= top)
            & (self._coarse[..., 1] <= bottom)
        )
        if not len(rows):
            return (0, 0, 0, 0)
        r0, c0 = max(0, (int(rows.min()) - 1) * _COARSE), max(0, (int(columns.min()) - 1) * _COARSE)
        r1 = min(self.side_px, (int(rows.max()) + 2) * _COARSE)
        c1 = min(self.side_px, (int(columns.max()) + 2) * _COARSE)
        part = (slice(r0, r1), slice(c0, c1))
        canvas[part] = self._bright(cv2.remap(frame, self._maps[0][part], self._maps[1][part], cv2.INTER_LINEAR))
        return (c0, r0, c1, r1)

    def to_px(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Column and row of a place in the straight view."""
        return (self.middle_px + x_mm / MM_PER_PX, self.middle_px - y_mm / MM_PER_PX)

    def to_mm(self, column: float, row: float) -> tuple[float, float]:
        """Place of a pixel of the straight view."""
        return ((column - self.middle_px) * MM_PER_PX, (self.middle_px - row) * MM_PER_PX)

    def sink(self, x_mm: float, y_mm: float, drop_mm: float) -> tuple[float, float]:
        """Where something stands that is seen at a place of the straight view but lies ``drop_mm`` lower."""
        foot_x, foot_y = self.calibration.foot_xy_mm
        height = self.calibration.camera_height_mm - self.rim_mm
        k = (height + drop_mm) / height
        return (foot_x + (x_mm - foot_x) * k, foot_y + (y_mm - foot_y) * k)

    def base_shift(self, x_mm: float, y_mm: float, height_mm: float) -> tuple[float, float]:
        """How far, in the straight view, the base of a disc of some height appears from its top face."""
        foot_x, foot_y = self.calibration.foot_xy_mm
        k = height_mm / self.calibration.camera_height_mm
        return (-k * (x_mm - foot_x), -k * (y_mm - foot_y))

    def straight_px(self, x_mm: Array, y_mm: Array, height_mm: float) -> tuple[Floats, Floats]:
        """Columns and rows, float32, at which a straight view shows places of a plane above the surface."""
        foot_x, foot_y = self.calibration.foot_xy_mm
        lower = (self.rim_mm - height_mm) / self.calibration.camera_height_mm
        u = (self.middle_px + (x_mm - lower * (x_mm - foot_x)) / MM_PER_PX).astype(np.float32)
        v = (self.middle_px - (y_mm - lower * (y_mm - foot_y)) / MM_PER_PX).astype(np.float32)
        return u, v

    def sample_straight(self, straight: Floats | Image, x_mm: Array, y_mm: Array, height_mm: float) -> Floats:
        """Bilinear samples of a straight view at places of a plane above the surface; float32 ``(n, m, channels)``.

        Args:
            straight: a straight view.
            x_mm: of the places, ``(n, m)``.
            y_mm: the same.
            height_mm: of their plane above the surface.
        """
        u, v = self.straight_px(x_mm, y_mm, height_mm)
        seen = cv2.remap(straight, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(seen, dtype=np.float32)

    def sample(self, picture: Floats | Image, points_mm: Array, height_mm: float) -> Floats:
        """Bilinear samples of a picture at places ``(n, m, 2)`` of a plane; float32 ``(n, m, channels)``."""
        seen = self.pixels(points_mm, height_mm).astype(np.float32)
        return np.asarray(
            cv2.remap(picture, seen[..., 0], seen[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
            dtype=np.float32,
        )
