"""Discs drawn as solids from anywhere: also seen edge-on, and as far over the edge as a disc can lie."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firmware_py.camera.board.calibration import SHARP_MM
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.rest.appearance import Look
from firmware_py.camera.rest.askew import leaning_over
from firmware_py.camera.rest.solids import Easel, Solid, Worn
from hardware.board import TOURNAMENT
from tests.camera.rest.test_fitting import RADIUS_MM, view_of, wood_at

DARK = Look.plain(RADIUS_MM, (30.0, 30.0, 30.0))


@pytest.mark.parametrize("off_mm", [0.0, 1e-6, 0.3, 20.0])
@pytest.mark.parametrize("tilt", [math.pi / 2, 1.19, 0.6])
@pytest.mark.parametrize("down", [(1.0, 0.0), (0.0, -1.0), (-0.6, 0.8)])
def test_a_disc_seen_edge_on_is_drawn(off_mm: float, tilt: float, down: tuple[float, float]) -> None:
    view = view_of(SHARP_MM)
    foot_x, foot_y = view.calibration.foot_xy_mm
    # Placed so that some line of sight runs along its faces: from the camera to where its axis is level.
    away = 40.0 if tilt < 1.5 else 0.0
    at = (foot_x + off_mm - away * down[0], foot_y - away * down[1])
    patch = wood_at(view, at)
    left = Easel(view, Shade(), patch).left([Worn(DARK, Solid(*at, 4.0, tilt, down))])
    assert math.isfinite(left)
    assert left > 0


def test_a_solid_whose_plane_holds_the_camera_hides_no_more_than_its_thickness() -> None:
    view = view_of(SHARP_MM)
    at = view.calibration.foot_xy_mm
    easel = Easel(view, Shade(), wood_at(view, at))
    upright = easel.left([Worn(DARK, Solid(*at, RADIUS_MM, math.pi / 2, (1.0, 0.0)))])
    flat = easel.left([Worn(DARK, Solid(*at))])
    # What is drawn where only wood is seen is left over: the edge of a disc is less than its face.
    assert 0 < upright < 0.8 * flat


@pytest.mark.parametrize("past_mm", np.arange(-14.0, 14.1, 1.0))
def test_a_disc_over_the_edge_leans_outwards_and_never_beyond_upright(past_mm: float) -> None:
    solid = leaning_over(TOURNAMENT, 40.0, float(past_mm))
    assert 0 < solid.tilt <= math.pi / 2
    assert math.hypot(solid.x_mm, solid.y_mm) >= TOURNAMENT.surface_radius_mm - 1e-9
