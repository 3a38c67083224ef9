"""A calibration drawn over its picture: if a line lies beside a line, a person sees it at once."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from firmware_py.camera.board.rings import shrink
from firmware_py.camera.picture.lab import Array, Image
from firmware_py.camera.place.occupied import Occupied
from hardware.board import to_xy

SIDE_PX = 1400
_LINE, _PEG, _DISC, _SEAT, _FOOT = (90, 220, 60), (255, 200, 60), (60, 170, 255), (255, 255, 255), (220, 80, 255)
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_PLATE = (34, 34, 34)
_ROW_PX = 26
_TURN = np.radians(np.arange(0, 360, 1.5))
_RING = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=-1)


def draw_calibration(picture: Image, found: Occupied, lines: Sequence[str]) -> Image:
    """Lines, pegs, hole, discs, seats and the camera's foot point over the picture, with the report below.

    Args:
        picture: the picture that was calibrated by.
        found: what was found in it.
        lines: the report.
    """
    small, _ = shrink(picture, SIDE_PX)
    canvas: Image = small.copy()
    scale = canvas.shape[1] / picture.shape[1]
    view, board = found.view, found.board

    def curve(points_mm: Array, height_mm: float, colour: tuple[int, int, int], *, closed: bool = True) -> None:
        points = (view.pixels(points_mm, height_mm) + 0.5) * scale - 0.5
        cv2.polylines(canvas, [np.round(points * 16).astype(np.int32)], closed, colour, 1, cv2.LINE_AA, 4)

    for radius in (board.line_15_mm, board.line_10_mm, board.outer_line_mm):
        curve(_RING * radius, 0.0, _LINE)
    hole = np.array(view.calibration.hole_xy_mm)
    curve(hole + _RING * board.hole_radius_mm, 0.0, _LINE)
    for peg in board.pegs:
        curve(np.array(peg) + _RING * board.peg_radius_mm, 0.0, _PEG)
    for x, y in found.discs:
        curve(np.array([x, y]) + _RING * board.disc_radius_mm, view.rim_mm, _DISC)
    foot = np.array(view.calibration.foot_xy_mm)
    curve(foot + np.array([[-12.0, 0.0], [12.0, 0.0]]), 0.0, _FOOT, closed=False)
    curve(foot + np.array([[0.0, -12.0], [0.0, 12.0]]), 0.0, _FOOT, closed=False)
    for seat in range(4):
        at = (view.pixels(np.array(to_xy(board.outer_line_mm - 22, 90.0 * seat))) + 0.5) * scale - 0.5
        _text(canvas, f"seat {seat + 1}", (round(at[0]) - 28, round(at[1]) + 6), _SEAT)
    strip = np.full((_ROW_PX * (len(lines) + 1), canvas.shape[1], 3), _PLATE[0], np.uint8)
    for k, line in enumerate(lines):
        _text(strip, line, (14, _ROW_PX * (k + 1)), _SEAT)
    return np.vstack([canvas, strip])


def _text(picture: Image, text: str, at: tuple[int, int], colour: tuple[int, int, int]) -> None:
    """Text on a dark plate."""
    (width, height), base = cv2.getTextSize(text, _FONT, 0.55, 1)
    cv2.rectangle(picture, (at[0] - 3, at[1] - height - 3), (at[0] + width + 3, at[1] + base), _PLATE, -1)
    cv2.putText(picture, text, at, _FONT, 0.55, colour, 1, cv2.LINE_AA)
