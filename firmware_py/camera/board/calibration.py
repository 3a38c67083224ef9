"""From pixels to millimetres and back: what a camera needs to know of its board, kept on disk between starts.

A :class:`Calibration` is made from found rings or from a known camera, never changes, and is the only thing that turns
a pixel into a place. Heights count: a point above the surface is seen farther from the camera's foot than it stands.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import cv2
import numpy as np

from firmware_py.camera.board.pose import Pose, estimate_pose
from firmware_py.camera.board.rings import Rings
from firmware_py.camera.picture.lab import Array, Image
from hardware.board import Board

#: Softness of edges in the straight view of a sharp picture, one sigma in mm: the lens and the resampling.
SHARP_MM = 0.6
FORMAT = 1


class CalibrationError(ValueError):
    """A calibration that cannot be read or describes no possible camera."""


@dataclass(frozen=True, slots=True)
class Rectifier:
    """A straight-down view of the board plane: +x right, +y up, the centre of the rings in the middle.

    Attributes:
        mm_per_px: scale of the straight view.
        half_mm: from its middle to its edge.
        side_px: its width and height.
        maps: fixed-point maps for ``cv2.remap``.
    """

    mm_per_px: float
    half_mm: float
    side_px: int
    maps: tuple[Array, Array]

    def apply(self, picture: Image, border: int = 0) -> Image:
        """The straight view of an 8-bit picture, colour or grey; ``border`` fills what the camera does not see."""
        straight = cv2.remap(
            picture,
            self.maps[0],
            self.maps[1],
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(border, border, border),
        )
        return np.asarray(straight, dtype=np.uint8)

    def to_mm(self, points_px: Array) -> Array:
        """Millimetres on the board plane of points ``(n, 2)`` in the straight view."""
        middle = (self.side_px - 1) / 2
        return np.stack(
            [(points_px[..., 0] - middle) * self.mm_per_px, (middle - points_px[..., 1]) * self.mm_per_px], axis=-1
        )

    def to_px(self, points_mm: Array) -> Array:
        """Pixels of the straight view of points ``(n, 2)`` in millimetres on the board plane."""
        middle = (self.side_px - 1) / 2
        return np.stack(
            [middle + points_mm[..., 0] / self.mm_per_px, middle - points_mm[..., 1] / self.mm_per_px], axis=-1
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """How one camera sees one board.

    Attributes:
        board: the board's geometry with the line radii, widths and disc radius as measured, in mm.
        board_from_image: homography from pixels to millimetres on the playing surface, row by row.
        size_wh: size in pixels of the pictures it holds for.
        foot_xy_mm: point of the surface plane straight below the camera.
        camera_height_mm: height of the camera above the surface.
        height_spread: one sigma of the camera height as a factor; 1.0 when measured.
        hole_xy_mm: centre of the 20-hole; boards are off by up to 2.5 mm.
        coverage: share of the printed lines that was seen, 0 to 1.
        residual_mm: rms distance of the seen lines from the fit.
        gain: factor that brings a dim picture to the brightness that the reader's steps of colour are meant for.
        soft_mm: softness of edges in the straight view, one sigma.
    """

    board: Board
    board_from_image: tuple[float, ...]
    size_wh: tuple[int, int]
    foot_xy_mm: tuple[float, float]
    camera_height_mm: float
    height_spread: float = 1.0
    hole_xy_mm: tuple[float, float] = (0.0, 0.0)
    coverage: float = 1.0
    residual_mm: float = 0.0
    gain: float = 1.0
    soft_mm: float = SHARP_MM

    def __post_init__(self) -> None:
        if len(self.board_from_image) != 9 or not all(math.isfinite(v) for v in self.board_from_image):
            raise CalibrationError(f"a homography has nine finite numbers, got {self.board_from_image}")
        if self.camera_height_mm <= self.board.disc_height_mm:
            raise CalibrationError(
                f"the camera must be above the discs ({self.board.disc_height_mm} mm), got {self.camera_height_mm} mm"
            )

    @classmethod
    def from_rings(cls, rings: Rings, board: Board, *, pose: Pose | None = None, seat1_deg: float = 0.0) -> Calibration:
        """The calibration that found rings give.

        Args:
            rings: rings of this board in a picture of this camera.
            board: the preset; its outer line sets the scale, its other lines are replaced by the measured ones.
            pose: the camera's place if known, otherwise it is estimated from the perspective.
            seat1_deg: direction of seat 1 in the picture, clockwise from straight down.
        """
        outer = board.outer_line_mm
        # Circles do not show a turn: take the one that keeps the picture's axes at the centre of the board.
        h = rings.image_from_board
        jacobian = (h[:2, :2] - np.outer(h[:2, 2], h[2, :2]) / h[2, 2]) / h[2, 2]
        u, _, vt = np.linalg.svd(jacobian)
        keep = np.eye(3)
        keep[:2, :2] = (u @ vt).T
        a = math.radians(seat1_deg)
        # Seat 1 straight down the picture is -y of the board; a seat 1 that sits farther clockwise turns the axes.
        turn = np.array(
            [
                [outer * math.cos(a), outer * math.sin(a), 0.0],
                [outer * math.sin(a), -outer * math.cos(a), 0.0],
                [0.0, 0.0, 1.0],
            ]
        )
        mm_from_image = turn @ np.linalg.inv(h @ keep)
        measured = replace(
            board,
            line_15_mm=rings.ratios[0] * outer,
            line_10_mm=rings.ratios[1] * outer,
        )
        if pose is None:
            pose = estimate_pose(np.linalg.inv(mm_from_image), rings.size_wh)
        return cls(
            board=measured,
            board_from_image=_flat(mm_from_image),
            size_wh=rings.size_wh,
            foot_xy_mm=pose.foot_xy_mm,
            camera_height_mm=pose.height_mm,
            height_spread=pose.height_spread,
            coverage=rings.coverage,
            residual_mm=rings.residual * outer,
        )

    @classmethod
    def from_geometry(
        cls,
        *,
        image_from_board: Array,
        size_wh: tuple[int, int],
        camera_height_mm: float,
        foot_xy_mm: tuple[float, float],
        board: Board,
    ) -> Calibration:
        """The calibration of a camera whose place is known, e.g. of a simulated one.

        Args:
            image_from_board: 3x3 homography from board millimetres (y away from seat 1) to pixels.
            size_wh: size of the picture.
            camera_height_mm: height above the playing surface.
            foot_xy_mm: point of the surface straight below the camera.
            board: the board's geometry.
        """
        return cls(
            board=board,
            board_from_image=_flat(np.linalg.inv(image_from_board)),
            size_wh=size_wh,
            foot_xy_mm=foot_xy_mm,
            camera_height_mm=camera_height_mm,
        )

    @property
    def homography(self) -> Array:
        """Pixels to millimetres on the surface, 3x3."""
        return np.array(self.board_from_image).reshape(3, 3)

    @property
    def image_from_board(self) -> Array:
        """Millimetres on the surface to pixels, 3x3."""
        return np.asarray(np.linalg.inv(self.homography))

    @property
    def ring_radii_mm(self) -> tuple[float, float, float]:
        """Radii of the centres of the 15, 10 and outer line."""
        return (self.board.line_15_mm, self.board.line_10_mm, self.board.outer_line_mm)

    def to_board_xy_mm(self, points_px: Array, height_mm: float = 0.0) -> Array:
        """Where points seen in the picture stand on the board.

        Args:
            points_px: ``(n, 2)`` or ``(2,)`` pixels.
            height_mm: height of what is seen above the surface; negative in the ditch.

        Returns:
            ``(n, 2)`` or ``(2,)``: the point straight below on the surface, in mm.
        """
        plane = _project(self.homography, points_px)
        foot = np.array(self.foot_xy_mm)
        return np.asarray(foot + (plane - foot) * (1.0 - height_mm / self.camera_height_mm))

    def to_pixels(self, points_mm: Array, height_mm: float = 0.0) -> Array:
        """Where points ``height_mm`` above places on the board are seen; the inverse of :meth:`to_board_xy_mm`."""
        foot = np.array(self.foot_xy_mm)
        plane = foot + (np.asarray(points_mm, dtype=np.float64) - foot) / (1.0 - height_mm / self.camera_height_mm)
        return _project(self.image_from_board, plane)

    def px_per_mm(self, xy_mm: tuple[float, float] = (0.0, 0.0)) -> float:
        """Scale of the picture at a place on the surface (geometric mean of both directions)."""
        h = self.image_from_board
        x, y = xy_mm
        w = float(h[2] @ (x, y, 1.0))
        return math.sqrt(abs(float(np.linalg.det(h))) / abs(w) ** 3)

    def disc_radius_px(self, xy_mm: tuple[float, float] = (0.0, 0.0)) -> float:
        """Radius in the picture of the top face of a disc at a place on the surface."""
        lift = self.camera_height_mm / (self.camera_height_mm - self.board.disc_height_mm)
        return self.board.disc_radius_mm * self.px_per_mm(xy_mm) * lift

    def rectifier(self, mm_per_px: float, half_mm: float) -> Rectifier:
        """Maps that give a straight-down view of the board plane.

        Args:
            mm_per_px: scale of the view.
            half_mm: how far it reaches from the centre of the rings.
        """
        side = 2 * math.ceil(half_mm / mm_per_px) + 1
        middle = (side - 1) / 2
        to_mm = np.array(
            [[mm_per_px, 0.0, -middle * mm_per_px], [0.0, -mm_per_px, middle * mm_per_px], [0.0, 0.0, 1.0]]
        )
        h = self.image_from_board @ to_mm
        column, row = np.meshgrid(np.arange(side, dtype=np.float32), np.arange(side, dtype=np.float32))
        h32 = h.astype(np.float32)
        w = h32[2, 0] * column + h32[2, 1] * row + h32[2, 2]
        x = (h32[0, 0] * column + h32[0, 1] * row + h32[0, 2]) / w
        y = (h32[1, 0] * column + h32[1, 1] * row + h32[1, 2]) / w
        fixed = cv2.convertMaps(x, y, cv2.CV_16SC2)
        return Rectifier(mm_per_px=mm_per_px, half_mm=half_mm, side_px=side, maps=(fixed[0], fixed[1]))

    def to_json(self) -> str:
        """The calibration as JSON text for the disk."""
        given = {f.name for f in fields(self.board) if f.init}  # the rest follows from it
        board = {name: value for name, value in asdict(self.board).items() if name in given}
        return json.dumps({"format": FORMAT, **asdict(self), "board": board}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """Read what :meth:`to_json` wrote.

        Raises:
            CalibrationError: not JSON, another format, or a wrong or missing key.
        """
        try:
            table: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise CalibrationError(f"calibration is not JSON: {error}") from error
        wanted = {f.name for f in fields(cls)} | {"format"}
        if isinstance(table, dict):
            table = {"gain": 1.0, "soft_mm": SHARP_MM} | table  # kept before these were measured
        if not isinstance(table, dict) or table.get("format") != FORMAT or set(table) != wanted:
            raise CalibrationError(f"calibration needs format {FORMAT} and the keys {sorted(wanted)}; calibrate again")
        try:
            return cls(
                board=Board(**table["board"]),
                board_from_image=tuple(float(v) for v in table["board_from_image"]),
                size_wh=(int(table["size_wh"][0]), int(table["size_wh"][1])),
                foot_xy_mm=(float(table["foot_xy_mm"][0]), float(table["foot_xy_mm"][1])),
                camera_height_mm=float(table["camera_height_mm"]),
                height_spread=float(table["height_spread"]),
                hole_xy_mm=(float(table["hole_xy_mm"][0]), float(table["hole_xy_mm"][1])),
                coverage=float(table["coverage"]),
                residual_mm=float(table["residual_mm"]),
                gain=float(table["gain"]),
                soft_mm=float(table["soft_mm"]),
            )
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise CalibrationError(f"calibration has a wrong value: {error}; calibrate again") from error


def _flat(homography: Array) -> tuple[float, ...]:
    return tuple(float(v) for v in (homography / homography[2, 2]).ravel())


def _project(homography: Array, points: Array) -> Array:
    p = np.asarray(points, dtype=np.float64)
    w = p[..., 0] * homography[2, 0] + p[..., 1] * homography[2, 1] + homography[2, 2]
    return np.stack(
        [
            (p[..., 0] * homography[0, 0] + p[..., 1] * homography[0, 1] + homography[0, 2]) / w,
            (p[..., 0] * homography[1, 0] + p[..., 1] * homography[1, 1] + homography[1, 2]) / w,
        ],
        axis=-1,
    )
