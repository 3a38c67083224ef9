"""Pixels and millimetres agree in both directions, at every height, and survive the disk."""

from __future__ import annotations

import json
from types import ModuleType

import cv2
import numpy as np
import pytest

from firmware_py.camera.board.calibration import Calibration, CalibrationError
from firmware_py.camera.board.pose import estimate_pose
from firmware_py.camera.board.rings import find_rings
from hardware.board import TOURNAMENT

POINTS = np.array([[0.0, 0.0], [120.0, -40.0], [-250.0, 130.0], [10.0, 300.0]])


def known(drawn: ModuleType, camera) -> Calibration:
    return Calibration.from_geometry(
        image_from_board=camera.homography,
        size_wh=camera.size_wh,
        camera_height_mm=camera.height_mm,
        foot_xy_mm=camera.foot,
        board=TOURNAMENT,
    )


@pytest.mark.parametrize("height_mm", [0.0, 9.5, -12.7])
@pytest.mark.parametrize("tilt_deg", [0, 8, 25])
def test_known_camera_sees_points_where_a_pinhole_does(drawn: ModuleType, tilt_deg, height_mm):
    camera = drawn.Camera(tilt_deg=tilt_deg, azimuth_deg=40, shift_mm=(30, 5))
    calibration = known(drawn, camera)
    seen = camera.see(np.c_[POINTS, np.full(len(POINTS), height_mm)])
    assert np.allclose(calibration.to_pixels(POINTS, height_mm), seen, atol=1e-6)
    assert np.allclose(calibration.to_board_xy_mm(seen, height_mm), POINTS, atol=1e-6)


def test_found_rings_place_points_on_the_board(drawn: ModuleType):
    camera = drawn.Camera(tilt_deg=14, azimuth_deg=200)
    rings = find_rings(drawn.draw([], camera=camera))
    assert rings is not None
    calibration = Calibration.from_rings(rings, TOURNAMENT)
    seen = camera.see(np.c_[POINTS, np.zeros(len(POINTS))])
    # Circles do not show the turn; this camera is not turned, so the places agree to a small angle.
    assert np.allclose(calibration.to_board_xy_mm(seen), POINTS, atol=4.0)
    assert calibration.camera_height_mm == pytest.approx(1000, rel=0.08)
    assert np.hypot(*calibration.foot_xy_mm) == pytest.approx(np.hypot(*camera.foot), rel=0.12)


@pytest.mark.parametrize(("seat1_deg", "west"), [(0, (-1, 0)), (90, (0, 1)), (180, (1, 0)), (-90, (0, -1))])
def test_seat_1_sits_where_the_calibration_says(drawn: ModuleType, seat1_deg, west):
    """Seat 1 lies at -y, whichever side of the picture it sits on; -x of the board is then on its left."""
    camera = drawn.Camera()
    rings = find_rings(drawn.draw([], camera=camera))
    assert rings is not None
    calibration = Calibration.from_rings(rings, TOURNAMENT, seat1_deg=seat1_deg)
    middle = calibration.to_pixels(np.zeros(2))
    toward = calibration.to_pixels(np.array([-200.0, 0.0])) - middle
    # Picture rows run down, so "up the picture" is negative.
    assert np.allclose(toward / np.linalg.norm(toward), (west[0], -west[1]), atol=0.02)


def test_straight_view_shows_the_board_upright(drawn: ModuleType):
    camera = drawn.Camera(tilt_deg=10, azimuth_deg=90)
    calibration = known(drawn, camera)
    rectifier = calibration.rectifier(mm_per_px=1.0, half_mm=340.0)
    assert np.allclose(rectifier.to_mm(rectifier.to_px(POINTS)), POINTS)
    picture = np.zeros((camera.size_wh[1], camera.size_wh[0], 3), np.uint8)
    x, y = camera.see(np.array([[150.0, 200.0, 0.0]]))[0]
    cv2.circle(picture, (round(x), round(y)), 5, (255, 255, 255), -1, cv2.LINE_AA)
    straight = rectifier.apply(picture)[..., 0].astype(float)
    rows, columns = np.mgrid[: rectifier.side_px, : rectifier.side_px]
    spot = np.array([(columns * straight).sum(), (rows * straight).sum()]) / straight.sum()
    assert np.allclose(rectifier.to_mm(spot), (150, 200), atol=1.0)


def test_calibration_survives_the_disk(drawn: ModuleType):
    calibration = known(drawn, drawn.Camera(tilt_deg=5, azimuth_deg=10))
    assert Calibration.from_json(calibration.to_json()) == calibration


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 99}, "format 1"),
        ({"size_wh": "wide"}, "wrong value"),
        ({"camera_height_mm": 3.0}, "above the discs"),
        ({"surprise": 1}, "keys"),
    ],
)
def test_spoilt_calibration_is_refused(drawn: ModuleType, change, says):
    table = json.loads(known(drawn, drawn.Camera()).to_json()) | change
    with pytest.raises(CalibrationError, match=says):
        Calibration.from_json(json.dumps(table))


def test_text_that_is_not_json_is_refused():
    with pytest.raises(CalibrationError, match="not JSON"):
        Calibration.from_json("{")


@pytest.mark.parametrize("tilt_deg", [0, 6, 20])
def test_known_lens_gives_foot_and_height(drawn: ModuleType, tilt_deg):
    camera = drawn.Camera(height_mm=900, tilt_deg=tilt_deg, azimuth_deg=250, shift_mm=(15, 25), focal=0.9)
    pose = estimate_pose(camera.homography, camera.size_wh, focal_px=0.9 * max(camera.size_wh))
    assert pose.height_mm == pytest.approx(900, rel=1e-6)
    assert pose.foot_xy_mm == pytest.approx(camera.foot, abs=1e-3)


def test_unknown_lens_of_a_level_view_is_said_to_be_unsure(drawn: ModuleType):
    level = estimate_pose(drawn.Camera().homography, (1200, 1100))
    tilted = estimate_pose(drawn.Camera(tilt_deg=20).homography, (1200, 1100))
    assert level.height_spread > 1.25 > tilted.height_spread
    assert tilted.height_mm == pytest.approx(1000, rel=0.05)
