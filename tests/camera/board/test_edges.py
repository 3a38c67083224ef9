"""The edge of something round, fitted along rays."""

from __future__ import annotations

import numpy as np
import pytest

from firmware_py.camera.benchboard import DrawnBoard
from firmware_py.camera.board.start import calibrate
from firmware_py.camera.picture.edges import fit_edge
from firmware_py.camera.picture.view import BoardView
from hardware.board import TOURNAMENT


@pytest.fixture(scope="module")
def view() -> BoardView:
    picture = DrawnBoard(TOURNAMENT, (640, 480)).picture([], noise=0.5)
    return BoardView(calibrate(picture, TOURNAMENT, height_mm=1000.0), TOURNAMENT)


@pytest.mark.parametrize("level", [0, 255])
def test_there_is_no_edge_in_a_picture_without_any_step(view: BoardView, level: int) -> None:
    flat = np.full(view.straight(np.zeros((480, 640, 3), np.uint8)).shape, level, np.uint8)
    edge = fit_edge(view, flat, flat.astype(np.float32), (60.0, 20.0), radius_mm=15.9, below_mm=0.0)
    assert edge is not None
    assert edge.coverage == 0.0
    assert edge.contrast == pytest.approx(0.0, abs=1e-9)
