"""Hands as the camera sees them: fingers, palm, forearm and sleeve above the board, with their soft shadow.

Nobody measures a hand, so it is painted at half the picture's size from balls and the rods between them; what counts
is that it covers discs and lines, darkens what lies beside it, and has the colours of skin and cloth.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.board import to_xy
from hardware.twin.scene import SceneHand
from hardware.twin.sprites import Box, Picture, Sprite, Stage, three

Bgr = tuple[int, int, int]
Ball = tuple[float, float, float, float]
"""mm behind the fingertips, mm to the side, mm above the fingertips, radius in mm."""

_SKINS: tuple[Bgr, ...] = ((128, 158, 208), (92, 126, 182), (150, 178, 222), (52, 78, 122), (74, 104, 158))
_SLEEVES: tuple[Bgr | None, ...] = ((96, 62, 40), (40, 40, 44), None, (62, 70, 150), (196, 200, 204), (70, 110, 70))

_BAND_PX = 64

_FINGERS: tuple[tuple[Ball, ...], ...] = (
    ((45, 38, 16, 7), (66, 34, 26, 8), (92, 28, 32, 10)),
    ((32, 27, 14, 8), (54, 24, 28, 9), (86, 16, 34, 10)),
    ((18, 15, 10, 8), (46, 12, 28, 9), (82, 4, 36, 10)),
    ((7.5, 0, 7, 7.5), (38, -3, 22, 8.5), (82, -14, 36, 10)),
)
_PALM: tuple[Ball, ...] = (
    (88, -20, 36, 17),
    (92, 22, 34, 17),
    (128, 14, 44, 22),
    (126, -14, 44, 22),
    (88, -20, 36, 17),
)
_THUMB: tuple[Ball, ...] = ((26, -25, 9, 8.5), (56, -36, 22, 10), (104, -24, 38, 15))
_FOREARM: tuple[Ball, ...] = ((136, 0, 46, 25), (240, 0, 62, 31), (440, 0, 98, 42), (800, 0, 150, 48))
_SLEEVE: tuple[Ball, ...] = ((222, 0, 60, 38), (440, 0, 98, 50), (800, 0, 150, 58))


class Limbs:
    """Chains of balls with rods between neighbours, ready to be drawn on a small picture that covers a box."""

    def __init__(self, balls: NDArray[np.float64], lengths: list[int], box: Box, shrink: int) -> None:
        self._box, self._shrink = box, shrink
        # In sixteenths of the small picture's pixels, as OpenCV draws with four fractional bits.
        self._at = ((balls[:, :2] - (box.x0, box.y0) + 0.5) / shrink - 0.5) * 16
        self._radius = np.maximum(balls[:, 2:] * (16 / shrink), 1)
        self._ends = np.cumsum(lengths).tolist()
        along = np.diff(self._at, axis=0)
        self._side = np.column_stack([-along[:, 1], along[:, 0]]) / np.maximum(np.hypot(*along.T), 1)[:, None]

    def blank(self, channels: int) -> Picture:
        """An empty small picture."""
        h, w = -(-(self._box.y1 - self._box.y0) // self._shrink), -(-(self._box.x1 - self._box.x0) // self._shrink)
        return np.zeros((h, w) if channels == 1 else (h, w, channels), np.uint8)

    def shapes(self, grow: float = 1.0) -> list[tuple[list[list[int]], NDArray[np.int32]]]:
        """For each chain its balls ``[u, v, radius]`` and its rods ``(n, 4, 2)``."""
        at, radius = self._at, self._radius * grow
        near, far = self._side * radius[:-1], self._side * radius[1:]
        rods = np.empty((len(near), 4, 2))
        rods[:, 0], rods[:, 1], rods[:, 2], rods[:, 3] = at[:-1] + near, at[1:] + far, at[1:] - far, at[:-1] - near
        whole = np.rint(rods).astype(np.int32)
        balls = np.rint(np.hstack([at, radius])).astype(int).tolist()
        starts = [0, *self._ends[:-1]]
        return [(balls[a:b], whole[a : b - 1]) for a, b in zip(starts, self._ends, strict=True)]


def draw_limb(picture: Picture, shape: tuple[list[list[int]], NDArray[np.int32]], colour: tuple[int, ...]) -> None:
    """Draw one chain of :class:`Limbs` on a small picture."""
    balls, rods = shape
    for u, v, r in balls:
        cv2.circle(picture, (u, v), r, colour, -1, cv2.LINE_AA, 4)
    for rod in rods:
        cv2.fillConvexPoly(picture, rod, colour, cv2.LINE_AA, 4)


def _balls(hand: SceneHand, balls: tuple[Ball, ...]) -> NDArray[np.float64]:
    """``(n, 4)``: place in the board frame and radius, mm."""
    size = hand.width_mm / 85
    back_x, back_y = to_xy(1.0, hand.from_deg)
    side = size if hand.sleeve % 3 else -size  # every third person is left-handed
    a, b, z, r = np.array(balls, float).T
    a, b = a * size, b * side
    return np.stack(
        [hand.x_mm + a * back_x + b * back_y, hand.y_mm + a * back_y - b * back_x, hand.z_mm + z * size, r * size],
        axis=1,
    )


def seen_balls(balls: NDArray[np.float64], stage: Stage) -> NDArray[np.float64]:
    """Balls in pixels: ``(u, v, radius)``."""
    x, y, z, r = balls.T
    z = np.minimum(z, stage.pose.height_mm * 0.8)
    depth = (np.stack([x, y, z], axis=1) - [*stage.pose.foot_xy_mm, stage.pose.height_mm]) @ stage.pose.axes[2]
    return np.column_stack([stage.pose.project(x, y, z), r * stage.pose.focal_px / np.maximum(depth, 50)])


def balls_box(balls: NDArray[np.float64], stage: Stage, pad: float) -> Box:
    """Box around balls ``(u, v, radius)`` in pixels, on a grid of four pixels so that it can be shrunk."""
    low, high = (balls[:, :2] - balls[:, 2:] - pad).min(axis=0), (balls[:, :2] + balls[:, 2:] + pad).max(axis=0)
    w, h = stage.pose.size_wh
    x0, y0 = max(int(low[0]) // 4 * 4, 0), max(int(low[1]) // 4 * 4, 0)
    return Box(x0, y0, min(-(-int(high[0]) // 4) * 4, w), min(-(-int(high[1]) // 4) * 4, h))


def _limbs(
    hand: SceneHand, stage: Stage, chains: tuple[tuple[Ball, ...], ...], *, cast: bool, shrink: int, pad_px: float
) -> tuple[Box, Limbs]:
    """Chains as the camera sees them, or their shadows on the surface, and the box that holds them."""
    balls = _balls(hand, tuple(ball for chain in chains for ball in chain))
    if cast:
        balls[:, :2] += balls[:, 2:3] * stage.optics.shadow_xy
        balls[:, 2] = 0.0
    seen = seen_balls(balls, stage)
    box = balls_box(seen, stage, pad_px)
    return box, Limbs(seen, [len(chain) for chain in chains], box, shrink)


def draw_hand(hand: SceneHand, stage: Stage) -> Sprite:
    """The hand itself, without its shadow."""
    skin = _SKINS[hand.sleeve % len(_SKINS)]
    sleeve = _SLEEVES[hand.sleeve % len(_SLEEVES)]
    step_s = stage.optics.shutter_ms / 1000
    ends = np.array([0.0, step_s])
    ahead = stage.pose.project(hand.x_mm + hand.vx_mm_s * ends, hand.y_mm + hand.vy_mm_s * ends, hand.z_mm)
    smear_px = ahead[1] - ahead[0]
    parts = (_FOREARM, _PALM, *_FINGERS, _THUMB, _SLEEVE)[: None if sleeve is not None else -1]
    pad_px = 4 + float(np.abs(smear_px).max()) / 2
    box, limbs = _limbs(hand, stage, parts, cast=False, shrink=2, pad_px=pad_px)
    if box.empty:
        return Sprite(box, np.zeros((0, 0, 3), np.uint8))
    light = _light_at(stage, box)
    layer = limbs.blank(4)
    for part, wide, narrow in zip(parts, limbs.shapes(), limbs.shapes(0.86), strict=True):
        lit = [min(c * light, 255) for c in (sleeve if part is _SLEEVE and sleeve is not None else skin)]
        draw_limb(layer, wide, (*(round(0.8 * c) for c in lit), 255))
        draw_limb(layer, narrow, (*(round(c) for c in lit), 255))
        if part is _PALM:
            corners = np.array([ball[:2] for ball in narrow[0]], np.int32)
            cv2.fillConvexPoly(layer, corners, (*(round(c) for c in lit), 255), cv2.LINE_AA, 4)
    layer = _smeared(_rounded(layer), smear_px / 2)
    full = cv2.resize(layer, None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR)[: box.y1 - box.y0, : box.x1 - box.x0]
    keep = cv2.bitwise_not(cv2.extractChannel(full, 3))
    colour = np.asarray(cv2.cvtColor(full, cv2.COLOR_BGRA2BGR), np.uint8)
    return Sprite(box, three(np.asarray(keep, np.uint8)), colour, band_parts(layer[..., 3], box, 2))


def draw_hand_shadow(hand: SceneHand, stage: Stage) -> Sprite | None:
    """The soft shadow of hand and forearm on the board."""
    optics = stage.optics
    if not optics.shadow_strength:
        return None
    parts = (_FINGERS[1], _FINGERS[3], (*_PALM, _PALM[2]), _THUMB, _FOREARM)
    soft_px = (optics.shadow_soft_mm + 0.25 * (hand.z_mm + 30)) * stage.pose.focal_px / stage.pose.height_mm
    box, limbs = _limbs(hand, stage, parts, cast=True, shrink=4, pad_px=soft_px + 4)
    if box.empty:
        return None
    dark = limbs.blank(1)
    for shape in limbs.shapes():
        draw_limb(dark, shape, (round(255 * optics.shadow_strength),))
    k = max(int(soft_px / 4) | 1, 3)
    soft = cv2.blur(cv2.blur(dark, (k, k)), (k, k))
    full = cv2.resize(soft, None, fx=4, fy=4, interpolation=cv2.INTER_LINEAR)[: box.y1 - box.y0, : box.x1 - box.x0]
    keep = three(np.asarray(cv2.bitwise_not(full), np.uint8))
    return Sprite(box, keep, parts=band_parts(np.asarray(soft, np.uint8), box, 4))


def band_parts(cover: Picture, box: Box, shrink: int) -> tuple[Box, ...]:
    """Boxes around what a small picture covers, one for each band of rows of a grid that all frames share.

    An arm lies askew in its box; most of the box need not be drawn anew.
    """
    parts = []
    for y in range(box.y0 // _BAND_PX * _BAND_PX, box.y1, _BAND_PX):
        # Enlarging spreads a pixel over its neighbours: one more on each side.
        low = max((y - box.y0) // shrink - 1, 0)
        columns = np.flatnonzero(cover[low : (y + _BAND_PX - box.y0) // shrink + 2].any(axis=0))
        if columns.size:
            x0, x1 = box.x0 + (int(columns[0]) - 1) * shrink, box.x0 + (int(columns[-1]) + 2) * shrink
            parts.append(box.common(Box(x0, y, x1, y + _BAND_PX)))
    return tuple(parts)


def _light_at(stage: Stage, box: Box) -> float:
    rows, columns = box.slices
    return float(stage.light[rows, columns][::16, ::16].mean())


def _rounded(layer: Picture) -> Picture:
    """Darker towards the outlines, as round limbs are."""
    bulge = cv2.blur(cv2.extractChannel(layer, 3), (13, 13))
    shade = cv2.addWeighted(bulge, 0.5, bulge, 0, 128)
    rounded = cv2.multiply(layer, cv2.merge([shade, shade, shade, np.full_like(shade, 255)]), scale=1 / 255)
    return np.asarray(rounded, dtype=np.uint8)


def _smeared(layer: Picture, smear_px: NDArray[np.float64]) -> Picture:
    """The layer averaged along a short line, as a shutter leaves it."""
    length = math.hypot(*smear_px)
    if length < 1.5:
        return layer
    length = min(length, 10.0)
    unit = smear_px / math.hypot(*smear_px)
    kernel = np.zeros((11, 11), np.float32)
    for t in np.linspace(-length / 2, length / 2, 11):
        kernel[round(5 + unit[1] * t), round(5 + unit[0] * t)] += 1
    return np.asarray(cv2.filter2D(layer, -1, kernel / kernel.sum()), dtype=np.uint8)
