"""Finding a known board again that was lifted, turned or pushed far, discs lying on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.start import calibrate, turned
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.view import MM_PER_PX, BoardView
from firmware_py.camera.place.likeness import Likeness
from firmware_py.camera.place.register import Register
from firmware_py.camera.place.steady import focal_px, followed
from firmware_py.camera.rest.resting import Resting
from hardware.board import Board

#: A board must be so much alike to be that board, and so much more than turned otherwise; strangers reach 0.14.
LEAST_ALIKE, LEAST_AHEAD = 0.25, 0.12
#: So much of it must be seen for its place to be polished.
SEEN = 0.5
_TURNS = 8
_POLISH_MM = 6.0
#: Light is compared in cells of so many pixels, over so many cells; a gain of one counts so much.
_COARSE, _LIGHT_CELLS, _PER_UNIT = 4, 21, 100


@dataclass(frozen=True, slots=True)
class Known:
    """A board as it is known.

    Attributes:
        calibration: of the camera when it was seen last.
        bare: its empty picture.
        discs: what lay on it.
    """

    calibration: Calibration
    bare: Floats
    discs: tuple[Resting, ...] = ()


@dataclass(frozen=True, slots=True)
class Relocated:
    """Where a known board is now.

    Attributes:
        calibration: of the camera as it sees the board now.
        bare: the empty board in the new straight view, as far as it was known.
        discs: what lay on the board, carried along by the board.
        alike: share of the board that looks like its empty picture.
        shift_mm: how far the farthest point of the outer line went.
        turn_deg: by how much the board was turned clockwise.
    """

    calibration: Calibration
    bare: Floats
    discs: tuple[Resting, ...]
    alike: float
    shift_mm: float
    turn_deg: float


def find_again(picture: Image, board: Board, known: Known, *, seat1_deg: float = 0.0) -> Relocated | None:
    """The known board in a picture; None when it is another one.

    Rings and pegs look the same whichever way a board is turned; its grain, prints and quadrant lines tell the turn.

    Args:
        picture: the camera's picture.
        board: the board's geometry.
        known: as it was.
        seat1_deg: clockwise angle in the picture at which seat 1 sits; the board's frame goes by the nearest quarter.

    Raises:
        NoBoardError: no board, or not enough of it.
    """
    same_size = (picture.shape[1], picture.shape[0]) == known.calibration.size_wh
    focal = focal_px(known.calibration) if same_size else None
    found = calibrate(picture, board, seat1_deg=seat1_deg, focal_px=focal)
    found = replace(found, hole_xy_mm=known.calibration.hole_xy_mm)
    if focal is not None:
        found = replace(found, height_spread=known.calibration.height_spread)
    straight = BoardView(found, board).straight(picture)
    likeness = Likeness(BoardView(found, board))
    marks = likeness.marks(known.bare)
    step_deg = 360 / _TURNS
    likes = [likeness.between(likeness.marks(_rotated(straight, k * step_deg)), marks) for k in range(_TURNS)]
    order = sorted(range(_TURNS), key=lambda k: -likes[k])
    best, second = order[0], order[1]
    if likes[best] < LEAST_ALIKE or likes[best] - likes[second] < LEAST_AHEAD:
        return None
    found = turned(found, -best * step_deg)
    view = BoardView(found, board)
    slip = Register(view, known.bare).lay(view.straight(picture), reach_mm=_POLISH_MM)
    if slip is not None and slip.alike >= SEEN:
        found = followed(found, view, slip)
    quarters = -round(_wrapped(_facing_deg(found) - seat1_deg) / 90)
    shift, turn = _way(known.calibration, found)
    return Relocated(
        calibration=_quartered(found, quarters),
        bare=np.ascontiguousarray(np.rot90(known.bare, quarters)),
        discs=tuple(_carried(d, quarters) for d in known.discs),
        alike=likes[best],
        shift_mm=shift,
        turn_deg=turn,
    )


def relit(bare: Floats, straight: Image) -> Floats:
    """The empty board as it was known elsewhere in the light of a view: lamps and shine stay where they were."""
    side = bare.shape[0] // _COARSE
    small = cv2.resize(straight, (side, side), interpolation=cv2.INTER_AREA).astype(np.float32)
    known = cv2.resize(bare, (side, side), interpolation=cv2.INTER_AREA)
    ratio = np.clip(np.rint((small + 8) / (known + 8) * _PER_UNIT), 0, 255).astype(np.uint8)
    # What lies on the board is narrow, light is not.
    middle = cv2.medianBlur(ratio, _LIGHT_CELLS).astype(np.float32) / np.float32(_PER_UNIT)
    light = cv2.resize(cv2.GaussianBlur(middle, (0, 0), 2.0), (bare.shape[1], bare.shape[0]))
    return np.asarray((bare + 8) * light - 8, dtype=np.float32)


def refreshed(view: BoardView, bare: Floats, straight: Image, lying: Sequence[tuple[float, float]]) -> Floats:
    """The empty board as it is seen now where no disc lies, and as it was known, in today's light, where one does.

    Args:
        view: the camera's view.
        bare: the empty board as it was known.
        straight: the view of now.
        lying: centres of top faces in the view.
    """
    known = np.ones(straight.shape[:2], np.uint8)
    row, column = np.mgrid[: view.side_px, : view.side_px].astype(np.float32)
    reach = (view.board.disc_radius_mm + 16) / MM_PER_PX
    for x, y in lying:
        u, v = view.to_px(x, y)
        known[(column - u) ** 2 + (row - v) ** 2 < reach * reach] = 0
    seen = straight.astype(np.float32)
    ratio = np.where(known[..., None] > 0, (seen + 8) / (bare + 8), 0).astype(np.float32)
    weight = cv2.GaussianBlur(known.astype(np.float32), (0, 0), 12.0)
    light = cv2.GaussianBlur(np.clip(ratio, 0, 3), (0, 0), 12.0) / np.maximum(weight, 1e-3)[..., None]
    return np.where(known[..., None] > 0, seen, bare * light).astype(np.float32)


def _rotated(straight: Image, turn_deg: float) -> Image:
    """A straight view turned clockwise about its middle."""
    if turn_deg % 90 == 0:
        return np.ascontiguousarray(np.rot90(straight, -round(turn_deg / 90)))
    middle = (straight.shape[0] - 1) / 2
    turn = cv2.getRotationMatrix2D((middle, middle), -turn_deg, 1.0)
    size = (straight.shape[1], straight.shape[0])
    return np.asarray(cv2.warpAffine(straight, turn, size, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)


def _facing_deg(calibration: Calibration) -> float:
    """Clockwise angle in the picture, 0 = down, at which seat 1 of a calibration's frame is."""
    middle, seat = calibration.to_pixels(np.array([[0.0, 0.0], [0.0, -calibration.board.line_15_mm]]))
    return math.degrees(math.atan2(-(seat[0] - middle[0]), seat[1] - middle[1]))


def _wrapped(deg: float) -> float:
    return (deg + 180) % 360 - 180


def _quartered(calibration: Calibration, quarters: int) -> Calibration:
    """The calibration with its frame turned by quarters, as :func:`numpy.rot90` turns its straight view."""
    if quarters % 4 == 0:
        return calibration
    x, y = calibration.hole_xy_mm
    for _ in range(quarters % 4):
        x, y = -y, x
    return replace(turned(calibration, 90.0 * quarters), hole_xy_mm=(x, y))


def _carried(disc: Resting, quarters: int) -> Resting:
    x, y = disc.x_mm, disc.y_mm
    u, v = disc.top_xy_mm
    for _ in range(quarters % 4):
        x, y, u, v = -y, x, -v, u
    return replace(disc, x_mm=x, y_mm=y, top_xy_mm=(u, v))


def _way(before: Calibration, now: Calibration) -> tuple[float, float]:
    """How far the board went at its outer line, and by how much it turned, on the table of before."""
    a = np.arange(0, 360, 30) * (math.pi / 180)
    ring = before.board.outer_line_mm * np.stack([np.cos(a), np.sin(a)], axis=-1)
    there = before.to_board_xy_mm(now.to_pixels(ring))
    shift = float(np.linalg.norm(there - ring, axis=1).max())
    turn = np.degrees(np.arctan2(there[:, 1] - there[:, 1].mean(), there[:, 0] - there[:, 0].mean()) - a)
    return shift, float(-np.median([_wrapped(t) for t in turn]))
