"""Which way a board is turned under its camera, by its pegs: to some tenths of a degree."""

from __future__ import annotations

import math

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Array, Floats
from firmware_py.camera.picture.view import BoardView

STEP_DEG = 0.1
#: The pegs stand out when their comb of eight answers by so much more than other turns do.
_CLEAR_COMB = 3.0
#: The middle of a peg with its shadow is told within so many degrees, step by step.
_MIDDLE_DEG, _MIDDLE_ROUNDS = 5.0, 6


def _ring(view: BoardView, bare: Floats, radii_mm: Array, angle_deg: Array, height_mm: float) -> Floats:
    """Samples ``(radii, angles, 3)`` at a height above the surface, angles clockwise from seat 1."""
    a, r = np.radians(angle_deg), radii_mm[:, None]
    return view.sample_straight(bare, -r * np.sin(a), -r * np.cos(a), height_mm)


def peg_turn_deg(view: BoardView, bare: Floats) -> float | None:
    """By how much, clockwise, the board frame must be turned so that the pegs stand where it has them.

    Only turns of less than half the pegs' distance can be told, so the seat must be known to that.

    Args:
        view: the camera's view, its turn a guess.
        bare: the board in it, float32.

    Returns:
        Degrees; None if no pegs are seen.
    """
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
