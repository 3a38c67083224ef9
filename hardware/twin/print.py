"""What is printed on the playing surface: rings, quadrant lines, numbers and a badge, with their wear."""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np

from hardware.board import Board, to_xy
from hardware.twin.sprites import Field, Picture, bgr, to_bytes
from hardware.twin.styles import BoardStyle
from hardware.twin.wood import axes, blemishes, clouds, planks, stamp

SURFACE_TEXEL_MM = 0.45
_FONT = cv2.FONT_HERSHEY_DUPLEX


@lru_cache(maxsize=2)
def surface_texture(board: Board, style: BoardStyle) -> tuple[Picture, float]:
    """The playing surface seen straight from above, ``SURFACE_TEXEL_MM`` a texel, and half its side in mm."""
    rng = np.random.default_rng([style.seed, 0x5F5F])
    half_mm = round((board.surface_radius_mm + 4) / SURFACE_TEXEL_MM) * SURFACE_TEXEL_MM
    wood = planks(
        rng, style.surface_bgr, half_mm, SURFACE_TEXEL_MM,
        grain=style.grain, direction_deg=style.grain_deg, joints=style.joints, contrast=style.joint_contrast,
    )  # fmt: skip
    _paint_zones(wood, board, style, half_mm)
    blemishes(rng, wood, SURFACE_TEXEL_MM, board.surface_radius_mm - 8, style)
    if style.art:
        stamp(wood, np.float32(style.art) * _picture(board, style, half_mm), bgr(style.line_bgr))
    ink = line_ink(board, style, half_mm)
    _write_numbers(ink, board, style, half_mm)
    if style.logo:
        _badge(ink, rng, board, half_mm)
    wear = _wear(rng, ink.shape[0], style.line_wear)
    stamp(wood, ink * wear, bgr(style.line_bgr))
    if style.ring_bgr is not None:
        for radius_mm, colour in zip(
            (board.line_15_mm, board.line_10_mm, board.outer_line_mm), style.ring_bgr, strict=True
        ):
            stamp(wood, _ring_ink(board, radius_mm, half_mm) * wear, bgr(colour))
    return to_bytes(wood), half_mm


def line_ink(board: Board, style: BoardStyle, half_mm: float) -> Field:
    """Share of each texel covered by rings and quadrant lines, exact to the texel's share of the line's edge."""
    x, y = axes(half_mm, SURFACE_TEXEL_MM)
    r = np.sqrt(x * x + y * y)
    half_line = np.float32(board.line_width_mm / 2)

    def line(from_middle: Field) -> Field:
        return np.asarray(np.clip((half_line - np.abs(from_middle)) / SURFACE_TEXEL_MM + 0.5, 0, 1), dtype=np.float32)

    off = np.abs(r - np.float32(board.outer_line_mm))
    for radius_mm in (board.line_15_mm, board.line_10_mm):
        off = np.minimum(off, np.abs(r - np.float32(radius_mm)))
    ink = line(off)
    if style.quadrants != "none":
        start_mm = board.line_10_mm if style.quadrants == "outer" else 2.2 * board.hole_radius_mm
        diagonal = np.minimum(np.abs(x - y), np.abs(x + y)) * np.float32(math.sqrt(0.5))
        ink = np.maximum(ink, np.where((r > start_mm) & (r < board.outer_line_mm), line(diagonal), 0))
    return ink


def _ring_ink(board: Board, radius_mm: float, half_mm: float) -> Field:
    """Share of each texel covered by one ring."""
    x, y = axes(half_mm, SURFACE_TEXEL_MM)
    off = np.abs(np.sqrt(x * x + y * y) - np.float32(radius_mm))
    return np.asarray(np.clip((board.line_width_mm / 2 - off) / SURFACE_TEXEL_MM + 0.5, 0, 1), dtype=np.float32)


def _paint_zones(wood: Field, board: Board, style: BoardStyle, half_mm: float) -> None:
    """Zones in paints of their own, through which the grain hardly shows, in place."""
    x, y = axes(half_mm, SURFACE_TEXEL_MM)
    r = np.sqrt(x * x + y * y)
    inner = 0.0
    for colour, outer in zip(style.zone_bgr, (board.line_15_mm, board.line_10_mm, board.outer_line_mm), strict=True):
        if colour is not None:
            cover = np.clip(np.minimum(r - np.float32(inner), np.float32(outer) - r) / SURFACE_TEXEL_MM + 0.5, 0, 1)
            stamp(wood, np.float32(0.9) * cover, bgr(colour))
        inner = outer


def _picture(board: Board, style: BoardStyle, half_mm: float) -> Field:
    """A large picture on the surface: petals or rays, whose edges are seen from the middle to the outer line."""
    rng = np.random.default_rng([style.seed, 0xA27])
    x, y = axes(half_mm, SURFACE_TEXEL_MM)
    r, angle = np.sqrt(x * x + y * y), np.arctan2(y, x)
    rays, bend = int(rng.integers(4, 13)), float(rng.uniform(0, 2))
    wave = np.cos(rays * angle + bend * r / np.float32(60))
    low, high = (float(v) * board.outer_line_mm for v in (rng.uniform(0.1, 0.4), rng.uniform(0.6, 0.97)))
    return np.asarray((wave > rng.uniform(-0.2, 0.6)) & (r > low) & (r < high), dtype=np.float32)


def _wear(rng: np.random.Generator, n: int, wear: float) -> Field:
    """What is left of the ink: rubbed off in patches and grain-sized flecks."""
    if wear <= 0:
        return np.ones((n, n), np.float32)
    side_mm = n * SURFACE_TEXEL_MM
    patches = clouds(rng, (n, n), (int(side_mm / 26), int(side_mm / 26)))
    flecks = clouds(rng, (n, n), (int(side_mm / 1.6), int(side_mm / 1.6)))
    worn = np.clip(0.35 * patches + 0.45 * flecks + (wear - 0.55) * 1.3, 0, 1)
    return np.asarray(1 - np.clip(1.4 * worn, 0, 0.9) - 0.15 * wear, dtype=np.float32)


def _write(
    ink: Field, text: str, xy_mm: tuple[float, float], *, height_mm: float, turn_deg: float, half_mm: float
) -> None:
    """Print a text centred on a point; turned clockwise, 0 = read from seat 1."""
    scale = 3.0
    (w, h), _ = cv2.getTextSize(text, _FONT, scale, 6)
    pad = 12
    plate = np.zeros((h + 2 * pad, w + 2 * pad), np.uint8)
    cv2.putText(plate, text, (pad, h + pad), _FONT, scale, 255, 6, cv2.LINE_AA)
    zoom = height_mm / SURFACE_TEXEL_MM / h
    a = math.radians(turn_deg)
    c, s = math.cos(a) * zoom, math.sin(a) * zoom
    u, v = (xy_mm[0] + half_mm) / SURFACE_TEXEL_MM, (half_mm - xy_mm[1]) / SURFACE_TEXEL_MM
    reach = int(math.hypot(*plate.shape) * zoom / 2) + 2
    x0, y0 = int(u) - reach, int(v) - reach
    part = ink[y0 : y0 + 2 * reach, x0 : x0 + 2 * reach]
    cu, cv = plate.shape[1] / 2, plate.shape[0] / 2
    move = np.array([[c, -s, u - x0 - c * cu + s * cv], [s, c, v - y0 - s * cu - c * cv]])
    small = cv2.GaussianBlur(plate, (0, 0), 0.35 / zoom)
    laid = cv2.warpAffine(small, move, (part.shape[1], part.shape[0]), flags=cv2.INTER_LINEAR)
    np.maximum(part, laid.astype(np.float32) / 255, out=part)


def _write_numbers(ink: Field, board: Board, style: BoardStyle, half_mm: float) -> None:
    if not style.numbers:
        return
    zones = {
        "20": 1.0 * board.hole_radius_mm + style.numbers + 6,
        "15": board.line_15_mm - style.numbers - 6,
        "10": (board.line_15_mm + board.line_10_mm) / 2,
        "5": (board.line_10_mm + board.outer_line_mm) / 2,
    }
    for seat_deg in (0, 90, 180, 270):
        for text, r_mm in zones.items():
            _write(ink, text, to_xy(r_mm, seat_deg), height_mm=style.numbers, turn_deg=seat_deg, half_mm=half_mm)


def _badge(ink: Field, rng: np.random.Generator, board: Board, half_mm: float) -> None:
    """A maker's badge: a filled roundel, about as large as a disc, or an oval with a name."""
    at = to_xy(float(rng.uniform(0.4, 0.85)) * board.outer_line_mm, float(rng.uniform(0, 360)))
    u, v = round((at[0] + half_mm) / SURFACE_TEXEL_MM), round((half_mm - at[1]) / SURFACE_TEXEL_MM)
    size = round(float(rng.uniform(11, 24)) / SURFACE_TEXEL_MM)
    turn_deg = float(rng.integers(4)) * 90
    if rng.random() < 0.5:
        cv2.circle(ink, (u, v), size, 1.0, -1, cv2.LINE_AA)
        cv2.circle(ink, (u, v), round(size * 0.75), 0.0, 2, cv2.LINE_AA)
    else:
        axes_px = (size * 2, size) if turn_deg % 180 == 0 else (size, size * 2)
        cv2.ellipse(ink, (u, v), axes_px, 0, 0, 360, 1.0, 3, cv2.LINE_AA)
        _write(ink, "TWIN", at, height_mm=size * SURFACE_TEXEL_MM * 0.7, turn_deg=turn_deg, half_mm=half_mm)
