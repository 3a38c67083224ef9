"""The turn of a board as its quadrant lines tell it: finer than its pegs, and without pegs too."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.start import calibrate
from firmware_py.camera.picture.view import BoardView
from hardware.board import TOURNAMENT, Board
from hardware.twin.optics import CameraPose, Renderer, drawn_pose, nominal_optics, nominal_pose
from hardware.twin.scene import Scene
from hardware.twin.styles import NAMED, BoardStyle


def found(board: Board, style: BoardStyle, pose: CameraPose, seat1_deg: float) -> Calibration:
    eye = Renderer(board, style, pose, nominal_optics(), 3)
    empty = np.mean([eye.render(Scene(at_ns=0), k) for k in range(4)], axis=0)
    return calibrate(np.rint(empty).astype(np.uint8), board, height_mm=pose.height_mm, seat1_deg=seat1_deg)


def turn_error_deg(calibration: Calibration, board: Board, pose: CameraPose) -> float:
    """By how much places at the outer line are seen to be turned against where the twin drew them."""
    a = np.radians(np.arange(0, 360, 5.0))

    def seen(turn: float) -> np.ndarray:
        points = board.outer_line_mm * np.stack([np.cos(a + turn), np.sin(a + turn)], axis=-1)
        return BoardView(calibration, board).pixels(points)

    here, step = seen(0.0), 1e-3
    slope = (seen(step) - here) / step
    true = pose.project(board.outer_line_mm * np.cos(a), board.outer_line_mm * np.sin(a))
    return math.degrees(float(np.sum((true - here) * slope) / np.sum(slope * slope)))


@pytest.mark.parametrize("style", ["honey", "maple", "white", "ebony"])
def test_quadrant_lines_tell_the_turn_to_a_few_hundredths_of_a_degree(style: str) -> None:
    pose = nominal_pose(TOURNAMENT)
    calibration = found(TOURNAMENT, NAMED[style], pose, pose.turn_deg + 4)
    assert abs(turn_error_deg(calibration, TOURNAMENT, pose)) < 0.03


def test_without_pegs_the_lines_are_looked_for_as_far_as_the_seat_is_uncertain() -> None:
    board = replace(TOURNAMENT, peg_count=0)
    pose = drawn_pose(board, 5)
    calibration = found(board, NAMED["blue"], pose, pose.turn_deg - 9)
    assert abs(turn_error_deg(calibration, board, pose)) < 0.03


@pytest.mark.parametrize("style", ["maple", "honey"])
def test_grain_and_joints_pass_for_no_line_where_none_is_printed(style: str) -> None:
    pose = nominal_pose(TOURNAMENT)
    bare = replace(NAMED[style], quadrants="none", grain=0.9, grain_deg=45.0)
    calibration = found(TOURNAMENT, bare, pose, pose.turn_deg)
    # As the pegs tell it, which strong grain and shadows blur.
    assert abs(turn_error_deg(calibration, TOURNAMENT, pose)) < 0.7
