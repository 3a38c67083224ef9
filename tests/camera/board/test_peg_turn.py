"""The turn of a board that has no quadrant lines, as the places of its pegs tell it, from anywhere and in bad light."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from firmware_py.camera.board.start import calibrate
from firmware_py.camera.picture.view import BoardView
from hardware.board import TOURNAMENT
from hardware.twin.optics import CameraPose, Optics, Renderer, drawn_pose, hard_optics, nominal_optics, nominal_pose
from hardware.twin.scene import Scene
from hardware.twin.styles import BoardStyle, drawn_style

BOARD = TOURNAMENT


def turn_error_deg(style: BoardStyle, pose: CameraPose, optics: Optics, seat1_deg: float) -> float:
    """By how much places at the outer line are told turned, against where the twin drew them."""
    eye = Renderer(BOARD, replace(style, quadrants="none"), pose, optics, 3)
    empty = np.mean([eye.render(Scene(at_ns=0), k) for k in range(6)], axis=0)
    frame = np.rint(empty).astype(np.uint8)
    view = BoardView(calibrate(frame, BOARD, height_mm=pose.height_mm, seat1_deg=seat1_deg), BOARD)
    a = np.radians(np.arange(0, 360, 5.0))

    def seen(turn: float) -> np.ndarray:
        return view.pixels(BOARD.outer_line_mm * np.stack([np.cos(a + turn), np.sin(a + turn)], axis=-1))

    here, step = seen(0.0), 1e-3
    slope = (seen(step) - here) / step
    true = pose.project(BOARD.outer_line_mm * np.cos(a), BOARD.outer_line_mm * np.sin(a))
    return math.degrees(float(np.sum((true - here) * slope) / np.sum(slope * slope)))


@pytest.mark.parametrize("seed", [3, 11, 26])
def test_the_places_of_pegs_tell_the_turn_from_anywhere(seed: int) -> None:
    pose = drawn_pose(BOARD, seed)
    assert abs(turn_error_deg(drawn_style(seed), pose, nominal_optics(), pose.turn_deg)) < 0.1


@pytest.mark.parametrize("seat_off_deg", [-5.0, 3.0])
def test_however_the_seat_was_given(seat_off_deg: float) -> None:
    pose = nominal_pose(BOARD)
    assert abs(turn_error_deg(drawn_style(7), pose, nominal_optics(), pose.turn_deg + seat_off_deg)) < 0.1


@pytest.mark.parametrize("seed", [6910, 6916, 6919])
def test_in_bad_light_too(seed: int) -> None:
    pose = drawn_pose(BOARD, seed)
    assert abs(turn_error_deg(drawn_style(seed), pose, hard_optics(seed), pose.turn_deg)) < 0.12
