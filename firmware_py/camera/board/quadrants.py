"""The turn of a board from its printed quadrant lines, where it has them.

They bound the place from which a shot is played, so they, not the pegs, say where a quadrant is. Lying in the surface
they have neither parallax nor shadow: the pegs tell the turn to some tenths of a degree and these to some hundredths.
"""

from __future__ import annotations

import numpy as np

from firmware_py.camera.picture.lab import Array, Floats, Image
from firmware_py.camera.picture.view import BoardView

#: The outer lines run between the 10 line and the outer line; so near to those nothing is looked at.
_CLEAR_MM = 8.0
_ALONG_MM, _TURN_DEG = 1.0, 0.05
#: Where the pegs have told the turn, the lines are as near as this; else it is known to some degrees.
NEAR_DEG, FAR_DEG = 0.9, 18.0
#: So far beside the middle of a line there is wood.
_SIDE_DEG = 0.5
#: A line stands out on more than half of its length by so many grey levels, and so many times more than chance does.
_LEAST_RIDGE, _CLEARLY = 5.0, 2.5
#: Two lines or more say the same turn to so much.
_AGREE_DEG = 0.12
_LEAST_LINES = 2


def quadrant_turn_deg(view: BoardView, frame: Image, reach_deg: float) -> float | None:
    """By how much the board frame must be turned so that the quadrant lines are where they belong; None if unseen.

    Args:
        view: the camera's view.
        frame: the camera's picture of the empty board.
        reach_deg: how far from where they belong the lines are looked for, :data:`NEAR_DEG` or :data:`FAR_DEG`.
    """
    board = view.board
    radii = np.arange(board.line_10_mm + _CLEAR_MM, board.outer_line_mm - _CLEAR_MM, _ALONG_MM)
    most = round((reach_deg + _SIDE_DEG) / _TURN_DEG)
    turns = []
    for quarter in range(4):
        a = np.radians(45 + 90 * quarter + np.arange(-most, most + 1) * _TURN_DEG)
        points = radii[:, None, None] * np.stack([-np.sin(a), -np.cos(a)], axis=-1)[None]
        turn = _ridge_deg(view.sample(frame, points, 0.0))
        if turn is not None:
            turns.append(turn)
    if len(turns) < _LEAST_LINES:
        return None
    middle = float(np.median(turns))
    same = [t for t in turns if abs(t - middle) <= _AGREE_DEG]
    return float(np.mean(same)) if len(same) >= _LEAST_LINES else None


def _ridge_deg(strip: Floats) -> float | None:
    """Where across a strip ``(along, across, 3)`` a line runs all along it, from its middle; None without one."""
    n = round(_SIDE_DEG / _TURN_DEG)
    middle, left, right = strip[:, n:-n], strip[:, : -2 * n], strip[:, 2 * n :]
    ridge: Array = np.sqrt(np.maximum(np.einsum("ijk,ijk->ij", middle - left, middle - right), 0.0))
    # The median along the line: half of it may be worn, under a number or in a knot.
    strength = np.median(ridge, axis=0)
    k = int(np.argmax(strength))
    if k in {0, len(strength) - 1} or strength[k] < _LEAST_RIDGE:
        return None
    away = np.abs(np.arange(len(strength)) - k) > n
    if strength[k] < _CLEARLY * float(np.median(strength[away])):
        return None
    weight = np.maximum(np.where(away, 0.0, strength) - 0.3 * strength[k], 0.0)
    return float(np.sum(weight * (np.arange(len(strength)) - (len(strength) - 1) / 2)) / np.sum(weight)) * _TURN_DEG
