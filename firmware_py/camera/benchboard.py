"""A plainly drawn board for measuring speed by, without the twin's care for light and wood."""

from __future__ import annotations

import math

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Image
from hardware.board import Board, to_xy

#: The rail fills so much of the picture's height.
_FILL = 0.94
_RAIL_MM = 22.0
_SHIFT = 4
_TABLE, _RAIL, _DITCH = (70, 76, 84), (52, 74, 110), (32, 34, 38)
_WOOD, _LINE, _PEG, _HOLE = (132, 178, 214), (48, 56, 70), (46, 50, 58), (38, 44, 52)
_FACES = {"light": (188, 214, 232), "dark": (38, 42, 58)}


class DrawnBoard:
    """Draws a board seen straight from above.

    Args:
        board: the geometry.
        size_wh: of the pictures.
        seed: of grain and noise.
    """

    def __init__(self, board: Board, size_wh: tuple[int, int], seed: int = 1) -> None:
        self._board = board
        self._size_wh = size_wh
        self._chance = np.random.default_rng(seed)
        self.px_per_mm: float = _FILL * size_wh[1] / 2 / (board.rail_radius_mm + _RAIL_MM)
        self._bare = self._draw_bare()

    def picture(self, discs: list[tuple[str, float, float]], *, noise: float = 2.0) -> Image:
        """The board with discs: colour, x and y in mm."""
        out: Image = self._bare.copy()
        radius = self._board.disc_radius_mm
        for colour, x, y in discs:
            self._circle(out, (x + 1.2, y - 1.2), radius + 0.8, tuple(0.72 * v for v in _WOOD))
            face = _FACES[colour]
            self._circle(out, (x, y), radius, tuple(0.8 * v for v in face))
            self._circle(out, (x, y), radius - 1.2, face)
        out = np.asarray(cv2.GaussianBlur(out, (0, 0), 0.7), dtype=np.uint8)
        grain = self._chance.normal(0.0, noise, out.shape).astype(np.float32)
        return np.asarray(np.clip(np.rint(out + grain), 0, 255), dtype=np.uint8)

    def _draw_bare(self) -> Image:
        board, (width, height) = self._board, self._size_wh
        out: Image = np.full((height, width, 3), _TABLE, np.uint8)
        self._circle(out, (0, 0), board.rail_radius_mm + _RAIL_MM, _RAIL)
        self._circle(out, (0, 0), board.rail_radius_mm, _DITCH)
        self._circle(out, (0, 0), board.surface_radius_mm, _WOOD)
        streaks = cv2.resize(
            self._chance.normal(0, 7, (height // 3, width // 40)).astype(np.float32),
            (width, height),
            interpolation=cv2.INTER_CUBIC,
        )
        row, column = np.mgrid[:height, :width]
        surface = np.hypot(column - width / 2, row - height / 2) < board.surface_radius_mm * self.px_per_mm
        grained = np.clip(out.astype(np.float32) + streaks[..., None] * surface[..., None], 0, 255)
        out = np.asarray(np.rint(grained), dtype=np.uint8)
        for line_mm in (board.line_15_mm, board.line_10_mm, board.outer_line_mm):
            thick = max(1, round(board.line_width_mm * self.px_per_mm))
            cv2.circle(out, self._at((0, 0)), self._length(line_mm), _LINE, thick, cv2.LINE_AA, _SHIFT)
        for angle in (45, 135, 225, 315):
            inner, outer = to_xy(board.line_10_mm, angle), to_xy(board.outer_line_mm, angle)
            cv2.line(out, self._at(inner), self._at(outer), _LINE, 1, cv2.LINE_AA, _SHIFT)
        self._circle(out, (0, 0), board.hole_radius_mm, _HOLE)
        for peg in board.pegs:
            self._circle(out, peg, board.peg_radius_mm, _PEG)
        return out

    def _at(self, xy_mm: tuple[float, float]) -> tuple[int, int]:
        width, height = self._size_wh
        u, v = (width - 1) / 2 + xy_mm[0] * self.px_per_mm, (height - 1) / 2 - xy_mm[1] * self.px_per_mm
        return (round(u * 2**_SHIFT), round(v * 2**_SHIFT))

    def _length(self, mm: float) -> int:
        return round(mm * self.px_per_mm * (1 << _SHIFT))

    def _circle(self, out: Image, xy_mm: tuple[float, float], radius_mm: float, colour: tuple[float, ...]) -> None:
        cv2.circle(out, self._at(xy_mm), self._length(radius_mm), colour, -1, cv2.LINE_AA, _SHIFT)


def spread_discs(board: Board, count: int) -> list[tuple[str, float, float]]:
    """Discs spread over the surface, none near another, a peg or a line: colour, x and y in mm."""
    discs: list[tuple[str, float, float]] = []
    zones = (60.0, 145.0, 170.0, 240.0, 266.0)
    k = 0
    while len(discs) < count:
        r = zones[k % len(zones)]
        x, y = to_xy(r, 137.5 * k)
        free = all(math.dist((x, y), (a, b)) > 3 * board.disc_radius_mm for _, a, b in discs)
        if free:
            discs.append(("light" if len(discs) % 2 else "dark", x, y))
        k += 1
        if k > 500:
            break
    return discs
