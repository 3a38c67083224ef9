"""Another ring that passes for the outer line: told by the board that lies there, and only by a line that is seen."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from firmware_py.camera.board.outer import with_outer_line
from firmware_py.camera.board.rings import Rings, find_rings
from firmware_py.camera.picture.lab import Image
from hardware.board import TOURNAMENT, Board
from hardware.twin.optics import Renderer, nominal_optics, nominal_pose
from hardware.twin.scene import Scene
from hardware.twin.styles import NAMED

BOARD = TOURNAMENT


@lru_cache(maxsize=1)
def plain() -> tuple[Image, Rings]:
    eye = Renderer(BOARD, NAMED["maple"], nominal_pose(BOARD), nominal_optics(), 3)
    frame = np.rint(np.mean([eye.render(Scene(at_ns=0), k) for k in range(6)], axis=0)).astype(np.uint8)
    rings = find_rings(frame)
    assert rings is not None
    return frame, rings


def grown(rings: Rings, factor: float) -> Rings:
    """The same rings with a circle so much larger taken for the outer line."""
    homography = rings.image_from_board @ np.diag([factor, factor, 1.0])
    q15, q10, outer = rings.ratios
    return replace(rings, homography=tuple(homography.ravel()), ratios=(q15 / factor, q10 / factor, outer))


@pytest.mark.parametrize("factor", [1.08, 1.16, 1.24])
def test_the_outer_line_is_found_where_the_board_has_it(factor: float) -> None:
    frame, rings = plain()
    found = with_outer_line(grown(rings, factor), frame, BOARD)
    assert found.outer_radius_px == pytest.approx(rings.outer_radius_px, rel=0.002)
    assert found.ratios == pytest.approx(rings.ratios, abs=0.002)


@pytest.mark.parametrize("share", [0.9, 0.94, 1.06, 1.1])
def test_a_board_with_lines_of_its_own_keeps_them(share: float) -> None:
    frame, rings = plain()
    other: Board = replace(BOARD, line_15_mm=BOARD.line_15_mm * share, line_10_mm=BOARD.line_10_mm * share)
    assert with_outer_line(rings, frame, other) is rings
