"""Finding the board without a click: rings, the turn of the board by its pegs, the camera's height, the hole."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.lean import Lean, leant, measure_lean
from firmware_py.camera.board.outer import with_outer_line
from firmware_py.camera.board.pegs import peg_turn_deg
from firmware_py.camera.board.pose import camera_centre, estimate_pose
from firmware_py.camera.board.quadrants import FAR_DEG, NEAR_DEG, quadrant_turn_deg
from firmware_py.camera.board.rings import find_rings
from firmware_py.camera.board.sharpness import softness_mm
from firmware_py.camera.picture.edges import fit_edge
from firmware_py.camera.picture.lab import Array, Image
from firmware_py.camera.picture.view import BoardView
from hardware.board import Board

#: Least share of the printed lines that must be seen.
LEAST_COVERAGE = 0.6
#: A board whose brightest parts (the 97th percentile of it, rail and all) are darker than ``DIM`` of 255 is dim; it is
#: brought to ``BRIGHT``, which leaves room for discs that are brighter than all of the board.
#: Below ``BLACK`` so few steps of brightness are left that sets of discs cannot be told apart.
BLACK, DIM, BRIGHT = 16.0, 120.0, 180.0


class NoBoardError(Exception):
    """The picture shows no board; says what is missing, and under which name it is told."""

    fault = "no_board"


class TwoBoardsError(NoBoardError):
    """The picture shows two boards, and nobody knows which is meant."""

    fault = "two_boards"


@dataclass(frozen=True, slots=True)
class Start:
    """A board that was found.

    Attributes:
        calibration: of the camera, its height from the pegs where nobody measured it.
        pegs: what the pegs tell of that height; None where they do not.
    """

    calibration: Calibration
    pegs: Lean | None


def calibrate(
    frame: Image, board: Board, *, height_mm: float = 0.0, seat1_deg: float = 0.0, focal_px: float | None = None
) -> Calibration:
    """The calibration of :func:`find_start`; arguments and errors as there."""
    return find_start(frame, board, height_mm=height_mm, seat1_deg=seat1_deg, focal_px=focal_px).calibration


def find_start(
    frame: Image, board: Board, *, height_mm: float = 0.0, seat1_deg: float = 0.0, focal_px: float | None = None
) -> Start:
    """Find the board and calibrate by it.

    Args:
        frame: the camera's picture, noise averaged away.
        board: the board's geometry.
        height_mm: height of the lens above the surface if somebody measured it, 0 to estimate it.
        seat1_deg: clockwise angle in the picture, 0 = down, at which seat 1 sits, to some 20 degrees: the pegs tell
            the rest.
        focal_px: focal length of the lens where an earlier calibration told it.

    Raises:
        NoBoardError: no board, or not enough of it.
        TwoBoardsError: two of them.
    """
    rings = find_rings(frame)
    if rings is None:
        raise NoBoardError("no board in the picture: three rings were not found; clear it and look at the camera")
    if rings.coverage < LEAST_COVERAGE:
        raise NoBoardError(f"only {rings.coverage:.0%} of the board's lines can be seen; clear the board")
    if not rings.alone:
        raise TwoBoardsError("two boards are in the picture: turn the camera so that it sees one of them alone")
    rings = with_outer_line(rings, frame, board)
    calibration = Calibration.from_rings(rings, board, seat1_deg=seat1_deg)
    if focal_px is not None:
        pose = estimate_pose(calibration.image_from_board, rings.size_wh, focal_px=focal_px)
        calibration = replace(calibration, foot_xy_mm=pose.foot_xy_mm, camera_height_mm=pose.height_mm)
    elif height_mm > 0:
        calibration = _at_height(calibration, height_mm)
    view = BoardView(calibration, board)
    gain = _gain(view, view.straight(frame))
    if gain != 1.0:
        calibration = replace(calibration, gain=gain)
        view = BoardView(calibration, board)
    soft_mm = softness_mm(view, view.straight(frame))
    if soft_mm != calibration.soft_mm:
        calibration = replace(calibration, soft_mm=soft_mm)
        view = BoardView(calibration, board)
    turn_deg = peg_turn_deg(view, view.straight(frame).astype(np.float32))
    calibration = turned(calibration, turn_deg or 0.0)
    finer_deg = quadrant_turn_deg(BoardView(calibration, board), frame, FAR_DEG if turn_deg is None else NEAR_DEG)
    calibration = turned(calibration, finer_deg or 0.0)
    view = BoardView(calibration, board)
    pegs = None
    if turn_deg is not None and (focal_px is None or finer_deg is None):
        pegs = measure_lean(view, frame, "pegs", board.pegs)
        if focal_px is None and not height_mm:
            calibration = leant(calibration, pegs)
        if finer_deg is None and pegs is not None:
            # Without quadrant lines where each peg stands tells the turn, far finer than their comb does.
            calibration = turned(calibration, pegs.turn_deg)
        view = BoardView(calibration, board)
    return Start(replace(calibration, hole_xy_mm=find_hole(view, view.straight(frame))), pegs)


def _gain(view: BoardView, straight: Image) -> float:
    """Factor that brings a dim board to usual brightness; 1.0 where it is bright enough."""
    on_board = view.visible & (view.radius_mm < view.board.rail_radius_mm)
    top = float(np.percentile(straight[on_board][::7].max(axis=1), 97))
    if top < BLACK:
        raise NoBoardError("the board is too dark to be read: switch a light on, or let the camera expose longer")
    return BRIGHT / top if top < DIM else 1.0


def turned(calibration: Calibration, turn_deg: float) -> Calibration:
    """The same camera with the board frame turned clockwise by an angle, so that what is seen turns back."""
    a = math.radians(turn_deg)
    c, s = math.cos(a), math.sin(a)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    homography = turn @ calibration.homography
    foot = turn[:2, :2] @ np.array(calibration.foot_xy_mm)
    return replace(
        calibration,
        board_from_image=tuple(float(v) for v in homography.ravel()),
        foot_xy_mm=(float(foot[0]), float(foot[1])),
    )


def find_hole(view: BoardView, bare: Image) -> tuple[float, float]:
    """Centre of the hole on the surface: it may be off the rings' by 2.5 mm. (0, 0) where its edge is not seen."""
    board = view.board
    lift = view.calibration.camera_height_mm / (view.calibration.camera_height_mm - view.rim_mm)
    # In the straight view, which shows the plane of top faces, the surface appears a little smaller and shifted.
    sx, sy = view.base_shift(0.0, 0.0, view.rim_mm)
    flat = np.full((*bare.shape[:2], 3), np.median(bare.reshape(-1, 3), axis=0), np.float32)
    edge = fit_edge(view, bare, flat, (sx, sy), radius_mm=board.hole_radius_mm / lift, below_mm=0.0)
    if edge is None or edge.coverage < 0.6:
        return (0.0, 0.0)
    x, y = view.sink(edge.x_mm, edge.y_mm, view.rim_mm)
    return (x, y) if math.hypot(x, y) < 3.5 else (0.0, 0.0)


def _at_height(calibration: Calibration, height_mm: float) -> Calibration:
    """The calibration for a measured height: the focal length that gives it also tells the foot point."""
    image_from_board: Array = calibration.image_from_board
    width, height = calibration.size_wh
    principal = ((width - 1) / 2, (height - 1) / 2)
    low, high = 0.3 * max(width, height), 5.0 * max(width, height)
    for _ in range(50):
        focal = math.sqrt(low * high)
        if camera_centre(image_from_board, focal, principal)[2] < height_mm:
            low = focal
        else:
            high = focal
    x, y, _ = camera_centre(image_from_board, math.sqrt(low * high), principal)
    return replace(calibration, foot_xy_mm=(float(x), float(y)), camera_height_mm=height_mm, height_spread=1.01)
