"""Discs that hardly differ from the wood, found by what the board's other quarters look like at the same place.

A maple disc on a maple board has an edge and a shadow but no colour of its own. Turned by quarters a board looks the
same, so the median of the three other quarters is a picture of the empty board: what differs from it and has a disc's
edge all around is a disc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from firmware_py.camera.picture.edges import fit_edge
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import Mask, circle_votes, difference, disc_pixels
from firmware_py.camera.picture.view import MM_PER_PX, BoardView

Xy = tuple[float, float]

#: Grey levels that differ; wood's grain stays below.
_DIFFERS = 9
#: An edge that is seen so far, of a circle of the right size, may belong to a disc; chance stays below 0.35.
LEAST_COVERAGE = 0.66
#: So much of the rim must differ in steps, and so much more than of a circle around it: worn wood has steps everywhere.
LEAST_RIM, LEAST_EXCESS = 0.9, 0.15
MOST_BIAS_MM = 0.8
LEAST_CONTRAST = 7.0
_LIGHT_PX = 14.0
_STEP = 8.0
_ACROSS_MM = 1.5
_NEAR_LINE_MM = 5.0
_OUTSIDE = 1.6
_TURN = np.arange(72) * (2 * math.pi / 72)
_LEAST_REGION = 0.12
_MOST_IN_REGION = 3


def other_quarters(straight: Image) -> Floats:
    """What the three other quarters of a board show at each place, in the light of the place itself."""
    seen = straight.astype(np.float32)
    middle = np.median([np.rot90(seen, k) for k in (1, 2, 3)], axis=0).astype(np.float32)
    light = cv2.GaussianBlur(np.clip(seen - middle, -25.0, 25.0), (0, 0), _LIGHT_PX)
    return np.asarray(middle + light, dtype=np.float32)


def faint_discs(view: BoardView, straight: Image, known: Sequence[Xy]) -> tuple[Xy, ...]:
    """Bases of discs that lie on the surface besides the known ones.

    Args:
        view: the camera's view, its board with the right radius of discs.
        straight: the straight view.
        known: bases of discs that were found already.
    """
    board = view.board
    empty = other_quarters(straight)
    empty8 = np.asarray(np.clip(np.rint(empty), 0, 255), dtype=np.uint8)
    inside = view.visible & (view.radius_mm < board.clear_of_outer_mm)
    unlike: Mask = (difference(straight, empty8) > _DIFFERS) & inside
    for x, y in (*known, view.calibration.hole_xy_mm):
        part, near = disc_pixels(view, x, y, board.disc_radius_mm + 4)
        unlike[part] &= ~near
    whole = cv2.morphologyEx(unlike.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, labels, stats, centroids = cv2.connectedComponentsWithStats(whole, connectivity=8, ltype=cv2.CV_32S)
    least_px = _LEAST_REGION * math.pi * board.disc_radius_mm**2 / MM_PER_PX**2
    found: list[Xy] = []
    for label in range(1, count):
        column, row, width, height, area = (int(v) for v in stats[label])
        if area < least_px:
            continue
        box = (column, row, width, height)
        own = labels[row : row + height, column : column + width] == label
        starts = [(x, y) for x, y, _ in circle_votes(view, straight, own, box, most=_MOST_IN_REGION)]
        starts.append(view.to_mm(float(centroids[label][0]), float(centroids[label][1])))
        for start in starts:
            place = _edge(view, straight, empty, start)
            if place is not None and all(math.dist(place, o) > 1.7 * board.disc_radius_mm for o in (*known, *found)):
                found.append(place)
    return tuple(found)


def _edge(view: BoardView, straight: Image, empty: Floats, start: Xy) -> Xy | None:
    edge = fit_edge(view, straight, empty, start, radius_mm=view.board.disc_radius_mm, below_mm=view.wall_mm)
    if edge is None or edge.coverage < LEAST_COVERAGE or abs(edge.radius_bias_mm) > MOST_BIAS_MM:
        return None
    if edge.contrast < LEAST_CONTRAST or math.hypot(edge.x_mm, edge.y_mm) > view.board.clear_of_outer_mm:
        return None
    if math.dist((edge.x_mm, edge.y_mm), view.calibration.hole_xy_mm) < view.board.hole_radius_mm:
        return None
    place = (edge.x_mm, edge.y_mm)
    rim, around = _steps(view, straight, empty, place)
    return place if rim >= LEAST_RIM and rim - around >= LEAST_EXCESS else None


def _steps(view: BoardView, straight: Image, empty: Floats, place: Xy) -> tuple[float, float]:
    """Shares of a disc's rim, and of a circle around it, where what is unlike the other quarters changes in a step.

    Near printed lines nothing is counted: quarters of a real board never match there to the pixel.
    """
    board = view.board
    off = cv2.GaussianBlur(straight.astype(np.float32) - empty, (0, 0), 0.6)
    wobble = np.arange(-2.0, 2.5)

    def sample(radii_mm: Floats) -> Floats:
        x = place[0] + np.outer(np.cos(_TURN), radii_mm)
        y = place[1] + np.outer(np.sin(_TURN), radii_mm)
        u = (view.middle_px + x / MM_PER_PX).astype(np.float32)
        v = (view.middle_px - y / MM_PER_PX).astype(np.float32)
        return np.asarray(cv2.remap(off, u, v, cv2.INTER_LINEAR), dtype=np.float32)

    def share(radius_mm: float) -> float:
        radii = np.asarray(radius_mm + wobble, dtype=np.float32)
        step = np.linalg.norm(sample(radii + _ACROSS_MM) - sample(radii - _ACROSS_MM), axis=2).max(axis=1)
        x, y = place[0] + radius_mm * np.cos(_TURN), place[1] + radius_mm * np.sin(_TURN)
        r = np.hypot(x, y)
        lines = (board.line_15_mm, board.line_10_mm, board.outer_line_mm)
        on_ring = np.min([np.abs(r - line) for line in lines], axis=0) < _NEAR_LINE_MM
        aside = np.radians(np.abs(np.degrees(np.arctan2(y, x)) % 90 - 45)) * r
        on_ray = (aside < _NEAR_LINE_MM) & (r > board.line_10_mm - _NEAR_LINE_MM)
        free = ~(on_ring | on_ray)
        return float((step[free] > _STEP).mean()) if free.sum() > len(_TURN) / 3 else 0.0

    return share(board.disc_radius_mm), share(_OUTSIDE * board.disc_radius_mm)
