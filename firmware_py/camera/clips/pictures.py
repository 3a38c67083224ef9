"""What people see of a board: straight from above, nothing beyond the rail, and a doubt enlarged with its line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.view import BoardView
from hardware.board import Board
from hub.link.pictures import WantedDisc

#: Scale of the frames of a clip.
CLIP_MM_PER_PX = 1.6
CLIP_QUALITY, STILL_QUALITY, PICTURE_QUALITY = 72, 92, 90
#: Side of an enlarged picture.
PICTURE_PX = 760
#: Least half a side of what is shown around a disc, and what is shown beyond discs that lie apart.
CLOSE_MM, BEYOND_MM = 42.0, 34.0
#: What lies beyond the rail is painted over with this.
_MASK = (48, 44, 40)
_LINE, _DISC, _TEXT = (255, 200, 60), (60, 220, 255), (255, 255, 255)
_SHIFT = 4  # fractions of a pixel in OpenCV's drawing


class ClipView:
    """The board straight from above for clips: the plane of discs' upper rims, masked beyond the rail."""

    def __init__(self, view: BoardView) -> None:
        half_mm = view.board.rail_radius_mm
        side = 2 * math.ceil(half_mm / CLIP_MM_PER_PX) + 1
        grid = _grid((0.0, 0.0), CLIP_MM_PER_PX, side)
        seen = view.pixels(grid, view.rim_mm).astype(np.float32)
        self._maps = cv2.convertMaps(seen[..., 0], seen[..., 1], cv2.CV_16SC2)
        self._beyond = np.hypot(grid[..., 0], grid[..., 1]) > half_mm

    def frame(self, pixels: Image) -> bytes:
        """A camera's picture as one frame of a clip."""
        straight = cv2.remap(pixels, self._maps[0], self._maps[1], cv2.INTER_LINEAR)
        straight[self._beyond] = _MASK
        return jpeg(np.asarray(straight, dtype=np.uint8), CLIP_QUALITY)


@dataclass(frozen=True, slots=True)
class Still:
    """The board at rest.

    Attributes:
        at_ns: since when.
        picture: JPEG of the part of the frame with the board, or of the straight view where a hand had come already.
        corner: of that part, in pixels of the frame; None for the straight view.
    """

    at_ns: int
    picture: bytes
    corner: tuple[int, int] | None

    @classmethod
    def of_frame(cls, view: BoardView, pixels: Image, at_ns: int) -> Still:
        """The full sharpness of a frame that shows no hand."""
        angle = np.arange(72) * (2 * np.pi / 72)
        rim = np.stack([np.cos(angle), np.sin(angle)], axis=-1) * view.board.rail_radius_mm
        seen = view.pixels(rim, 0.0)
        height, width = pixels.shape[:2]
        left, top = (max(0, int(v)) for v in np.floor(seen.min(axis=0)) - 4)
        right, bottom = (int(v) for v in np.ceil(seen.max(axis=0)) + 5)
        part = pixels[top : min(bottom, height), left : min(right, width)]
        return cls(at_ns, jpeg(np.asarray(part, dtype=np.uint8), STILL_QUALITY), (left, top))

    @classmethod
    def of_straight(cls, straight: Image, at_ns: int) -> Still:
        """The live reader's view, from before the hand came."""
        return cls(at_ns, jpeg(straight, STILL_QUALITY), None)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture of a doubt.

    Attributes:
        drawn: with what is measured drawn in; empty where there is nothing to draw.
        plain: without it.
        margin_mm: of the disc from the line, positive inside, where a line is asked about.
        sigma_mm: one standard deviation of that.
    """

    drawn: bytes
    plain: bytes
    margin_mm: float | None = None
    sigma_mm: float | None = None


def draw(view: BoardView, still: Still, discs: Sequence[WantedDisc]) -> Drawn:
    """Enlarge what a doubt is about.

    Args:
        view: of the camera that saw it.
        still: the board at rest.
        discs: what it is about; none for the whole board.
    """
    middle, half_mm = _around(view.board, discs)
    mm_per_px = 2 * half_mm / PICTURE_PX
    plain = _enlarged(view, still, middle, mm_per_px)
    place = _Place(middle, half_mm, mm_per_px)
    if not discs:
        return Drawn(b"", jpeg(plain, PICTURE_QUALITY))
    drawn = plain.copy()
    asked = next((disc for disc in discs if disc.limit_mm), None)
    for disc in discs:
        _circle(drawn, place, (disc.x_mm, disc.y_mm), view.board.disc_radius_mm, _DISC)
    if asked is None:
        return Drawn(jpeg(drawn, PICTURE_QUALITY), jpeg(plain, PICTURE_QUALITY))
    margin_mm = asked.limit_mm - math.hypot(asked.x_mm, asked.y_mm)
    _margin(drawn, place, view.board, asked, margin_mm)
    return Drawn(jpeg(drawn, PICTURE_QUALITY), jpeg(plain, PICTURE_QUALITY), margin_mm, asked.sigma_mm)


def jpeg(picture: Image, quality: int) -> bytes:
    """A picture as JPEG."""
    _, data = cv2.imencode(".jpg", picture, (cv2.IMWRITE_JPEG_QUALITY, quality))
    return data.tobytes()


@dataclass(frozen=True, slots=True)
class _Place:
    middle: tuple[float, float]
    half_mm: float
    mm_per_px: float

    def px(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Column and row of a place on the board."""
        middle_px = (PICTURE_PX - 1) / 2
        return (
            middle_px + (x_mm - self.middle[0]) / self.mm_per_px,
            middle_px - (y_mm - self.middle[1]) / self.mm_per_px,
        )


def _grid(
    middle: tuple[float, float], mm_per_px: float, side: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Places on the board of the pixels of a square picture, +x right, +y up."""
    row, column = np.mgrid[:side, :side].astype(np.float64)
    off = (side - 1) / 2
    return np.stack([middle[0] + (column - off) * mm_per_px, middle[1] + (off - row) * mm_per_px], axis=-1)


def _around(board: Board, discs: Sequence[WantedDisc]) -> tuple[tuple[float, float], float]:
    """Middle and half the side of what is to be shown."""
    if not discs:
        return (0.0, 0.0), board.rail_radius_mm
    xs, ys = [disc.x_mm for disc in discs], [disc.y_mm for disc in discs]
    spread = max(max(xs) - min(xs), max(ys) - min(ys)) / 2
    half_mm = min(board.rail_radius_mm, max(CLOSE_MM, spread + BEYOND_MM))
    return ((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2), half_mm


def _enlarged(view: BoardView, still: Still, middle: tuple[float, float], mm_per_px: float) -> Image:
    """The wood's plane around a place; there the printed lines are where they are."""
    source = cv2.imdecode(np.frombuffer(still.picture, np.uint8), cv2.IMREAD_COLOR)
    grid = _grid(middle, mm_per_px, PICTURE_PX)
    if still.corner is not None:
        seen = view.pixels(grid, 0.0) - np.array(still.corner)
    else:
        # The straight view is of the plane of rims: the wood's places appear a little towards the foot in it.
        foot = np.array(view.calibration.foot_xy_mm)
        k = 1.0 - view.rim_mm / view.calibration.camera_height_mm
        lifted = foot + (grid - foot) * k
        column, row = view.to_px(0.0, 0.0)
        scale = view.to_px(1.0, 0.0)[0] - column
        seen = np.stack([column + lifted[..., 0] * scale, row - lifted[..., 1] * scale], axis=-1)
    seen = seen.astype(np.float32)
    shown = cv2.remap(np.asarray(source), seen[..., 0], seen[..., 1], cv2.INTER_CUBIC, borderValue=_MASK)
    shown[np.hypot(grid[..., 0], grid[..., 1]) > view.board.rail_radius_mm] = _MASK
    return np.asarray(shown, dtype=np.uint8)


def _circle(
    picture: Image, place: _Place, xy_mm: tuple[float, float], radius_mm: float, colour: tuple[int, int, int]
) -> None:
    """A circle of any size; OpenCV's own are polygons of few corners, which a line must not be."""
    steps = max(90, min(3600, round(2 * np.pi * radius_mm / place.mm_per_px / 6)))
    angle = np.arange(steps) * (2 * np.pi / steps)
    column, row = place.px(xy_mm[0], xy_mm[1])
    r_px = radius_mm / place.mm_per_px
    points = np.stack([column + r_px * np.cos(angle), row + r_px * np.sin(angle)], axis=-1)
    cv2.polylines(picture, [np.rint(points * (1 << _SHIFT)).astype(np.int32)], True, colour, 1, cv2.LINE_AA, _SHIFT)


def _margin(picture: Image, place: _Place, board: Board, disc: WantedDisc, margin_mm: float) -> None:
    """The line's near edge, and the outermost point of the disc's base with twice its uncertainty on either side."""
    edge_mm = disc.limit_mm + board.disc_radius_mm
    _circle(picture, place, (0.0, 0.0), edge_mm, _LINE)
    r_mm = math.hypot(disc.x_mm, disc.y_mm) or 1.0
    ux, uy = disc.x_mm / r_mm, disc.y_mm / r_mm
    outermost_mm = r_mm + board.disc_radius_mm
    for off_mm, half_mm in ((-2 * disc.sigma_mm, 3.0), (0.0, 6.0), (2 * disc.sigma_mm, 3.0)):
        x_mm, y_mm = ux * (outermost_mm + off_mm), uy * (outermost_mm + off_mm)
        ends = [place.px(x_mm - uy * s * half_mm, y_mm + ux * s * half_mm) for s in (-1, 1)]
        one, other = ((round(c), round(r)) for c, r in ends)
        cv2.line(picture, one, other, _DISC, 2 if not off_mm else 1, cv2.LINE_AA)
    words = f"{abs(margin_mm):.1f} mm {'inside' if margin_mm >= 0 else 'over'}, +/- {2 * disc.sigma_mm:.1f} mm"
    for colour, width in (((0, 0, 0), 5), (_TEXT, 2)):
        cv2.putText(picture, words, (16, PICTURE_PX - 20), cv2.FONT_HERSHEY_SIMPLEX, 0.9, colour, width, cv2.LINE_AA)
