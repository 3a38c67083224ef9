"""Which way a board is turned under its camera, to a tenth of a degree: by its quarter lines, or by its pegs."""

from __future__ import annotations

import math

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Array, Floats
from firmware_py.camera.picture.view import MM_PER_PX, BoardView

STEP_DEG = 0.1
#: The pegs stand out when their comb of eight answers by so much more than other turns do; so do the quarter lines.
_CLEAR_COMB, _CLEAR_LINES = 3.0, 8.0
#: The middle of a peg with its shadow is told within so many degrees, step by step.
_MIDDLE_DEG, _MIDDLE_ROUNDS = 5.0, 6
#: Quarter lines are looked for where the pegs have them, to so many degrees.
_NEAR_PEGS_DEG = 5.0
#: Sides of a line are so far from its middle; it is looked at so far from the rings, in such steps outwards.
_SIDE_MM, _CLEAR_OF_RINGS_MM, _OUTWARDS_MM = 4.0, 6.0, 3.0
_MOST_DEPTH = 40.0


def turn_of(view: BoardView, bare: Floats) -> float | None:
    """By how much, clockwise, the board frame must be turned to be the board's; None where nothing tells.

    Only turns of less than half the pegs' distance can be told, so the seat must be known to that.

    Args:
        view: the camera's view, its turn a guess.
        bare: the board in it, float32.
    """
    pegs = _by_pegs(view, bare)
    lines = _by_lines(view, bare, pegs)
    return pegs if lines is None else lines


def _ring(view: BoardView, bare: Floats, radii_mm: Array, angle_deg: Array, height_mm: float) -> Floats:
    """Samples ``(radii, angles, 3)`` at a height above the surface, angles clockwise from seat 1."""
    a, r = np.radians(angle_deg), radii_mm[:, None]
    foot_x, foot_y = view.calibration.foot_xy_mm
    lower = (view.rim_mm - height_mm) / view.calibration.camera_height_mm
    x, y = -r * np.sin(a), -r * np.cos(a)
    u = (view.middle_px + (x - lower * (x - foot_x)) / MM_PER_PX).astype(np.float32)
    v = (view.middle_px - (y - lower * (y - foot_y)) / MM_PER_PX).astype(np.float32)
    return np.asarray(cv2.remap(bare, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.float32)


def _by_lines(view: BoardView, bare: Floats, near_deg: float | None) -> float | None:
    """The turn that the quarter lines tell; None where none are printed."""
    board = view.board
    angle = np.arange(0, 360, STEP_DEG)
    n = round(90 / STEP_DEG)
    best: tuple[float, float] | None = None
    # Some boards have them from the 15 line on, most only outside the 10 line.
    for low, high in ((board.line_15_mm, board.line_10_mm), (board.line_10_mm, board.outer_line_mm)):
        radii = np.arange(low + _CLEAR_OF_RINGS_MM, high - _CLEAR_OF_RINGS_MM, _OUTWARDS_MM)
        seen = _ring(view, bare, radii, angle, 0.0)
        side = np.maximum(1, np.rint(np.degrees(_SIDE_MM / radii) / STEP_DEG)).astype(int)
        depth = np.empty(seen.shape[:2], np.float32)
        for k, (row, off) in enumerate(zip(seen, side, strict=True)):
            left, right = row - np.roll(row, off, axis=0), row - np.roll(row, -off, axis=0)
            depth[k] = np.sqrt(np.maximum(np.einsum("nc,nc->n", left, right), 0.0))
        # All four must be seen: a scratch or the grain is not.
        quarter = np.sort(np.minimum(depth, _MOST_DEPTH).mean(axis=0).reshape(4, n), axis=0)[:2].mean(axis=0)
        # Quarter lines lie half a quarter from the seats; the middle of the array is no turn at all.
        offset = np.arange(n) * STEP_DEG - 45.0
        allowed = np.abs(offset) < 22.5 if near_deg is None else np.abs(offset - near_deg) < _NEAR_PEGS_DEG
        middle = float(np.median(quarter))
        spread = float(np.median(np.abs(quarter - middle))) + 0.1
        k = int(np.argmax(np.where(allowed, quarter, -1.0)))
        clear = float(quarter[k] - middle) / spread
        if clear > _CLEAR_LINES and (best is None or clear > best[0]):
            left3 = quarter[max(0, k - 5) : k + 6] - middle
            where = offset[max(0, k - 5) : k + 6]
            weight = np.maximum(left3, 0.0)
            best = (clear, float(np.sum(weight * where) / np.sum(weight)))
    return None if best is None else best[1]


def _by_pegs(view: BoardView, bare: Floats) -> float | None:
    """The turn at which the pegs stand where the board has them; None if they are not seen."""
    board = view.board
    if not board.peg_count:
        return None
    angle = np.arange(0, 360, STEP_DEG)
    radii = board.line_15_mm + np.arange(-board.peg_radius_mm, board.peg_radius_mm + 0.9, 0.8)
    # Half way up a peg's axis is within what is seen of it from any side; the line itself crosses pegs in the middle.
    ring = _ring(view, bare, radii, angle, board.peg_height_mm / 2)
    step = 360.0 / board.peg_count
    n = round(step / STEP_DEG)
    # A lamp's shine or a shadow lies on some stretch of the ring: what is odd is odd beside what is near.
    light = cv2.blur(np.concatenate([ring[:, -n:], ring, ring[:, :n]], axis=1), (n, 1))[:, n:-n]
    odd = np.linalg.norm(ring - light, axis=2)
    profile = np.minimum(odd, 60.0).mean(axis=0)
    # Shadows fall to one side of the picture, which over all pegs comes to nothing in the mean.
    each = profile[: n * board.peg_count].reshape(board.peg_count, n).mean(axis=0)
    width = 2 * math.degrees(math.asin(board.peg_radius_mm / board.line_15_mm)) * 0.8
    m = max(3, round(width / STEP_DEG) | 1)
    padded = np.concatenate([each[-m:], each, each[:m]])
    answer = np.convolve(padded, np.ones(m) / m, mode="same")[m:-m]
    spread = float(np.median(np.abs(answer - np.median(answer)))) + 0.3
    if answer.max() - np.median(answer) < _CLEAR_COMB * spread:
        return None
    # Pegs may look like the wood and only their shadows be seen, on one side of half of them and on the other of the
    # rest: not the strongest place is right but the middle of what is odd.
    turns = np.arange(n) * (2 * math.pi / n)
    phase = float(np.angle(np.sum(each * np.exp(1j * turns))))
    for _ in range(_MIDDLE_ROUNDS):
        beside = np.angle(np.exp(1j * (turns - phase)))
        weight = np.exp(-0.5 * (beside * step / (2 * math.pi) / _MIDDLE_DEG) ** 2) * (each - each.min())
        phase += float(np.sum(weight * beside) / max(1e-9, float(weight.sum())))
    at = phase * step / (2 * math.pi)
    off = (at - step / 2 + step / 2) % step - step / 2
    return float(off)
