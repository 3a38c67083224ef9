"""Flat textures: the printed playing surface and the table under the board."""

from __future__ import annotations

import cv2
import numpy as np

from hardware.board import Board
from hardware.twin.sprites import Field, Picture, bgr, to_bytes
from hardware.twin.styles import BoardStyle

SURFACE_TEXEL_MM = 0.45


def _axes(half_mm: float, texel_mm: float) -> tuple[Field, Field]:
    """X and y in mm of each texel, row 0 at the far side."""
    n = round(2 * half_mm / texel_mm)
    along = ((np.arange(n) + 0.5) * texel_mm - half_mm).astype(np.float32)
    return along[None, :], -along[:, None]


def surface_texture(board: Board, style: BoardStyle) -> tuple[Picture, float]:
    """The playing surface seen straight from above, ``SURFACE_TEXEL_MM`` a texel, and half its side in mm."""
    half_mm = round((board.surface_radius_mm + 4) / SURFACE_TEXEL_MM) * SURFACE_TEXEL_MM
    x, y = _axes(half_mm, SURFACE_TEXEL_MM)
    r = np.sqrt(x * x + y * y)
    wood = np.empty((*r.shape, 3), np.float32)
    wood[:] = style.surface_bgr
    ink = np.zeros_like(r)
    for radius in (board.line_15_mm, board.line_10_mm, board.outer_line_mm):
        ink = np.maximum(
            ink, np.clip(0.5 + (board.line_width_mm / 2 - np.abs(r - np.float32(radius))) / SURFACE_TEXEL_MM, 0, 1)
        )
    wood += ink[..., None] * (bgr(style.line_bgr) - wood)
    return to_bytes(wood), half_mm


def table_texture(style: BoardStyle) -> Picture:
    """The table, 1 mm a texel, 2048 mm wide."""
    rng = np.random.default_rng([style.seed, 0x7AB1])
    speck = cv2.resize(rng.standard_normal((256, 64), dtype=np.float32), (2048, 2048), interpolation=cv2.INTER_CUBIC)
    return to_bytes(bgr(style.table_bgr) * (1 + 0.06 * speck[..., None]))
