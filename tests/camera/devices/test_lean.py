"""The camera's height and foot point from the sides of pegs and discs, against the twin's known camera."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from firmware_py.camera.benchboard import DrawnBoard
from firmware_py.camera.board.calibrate import run
from firmware_py.camera.board.lean import Lean, fits, foot_error_mm, leant
from firmware_py.camera.board.start import calibrate
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.place.occupied import take_occupied
from hardware.board import TOURNAMENT, to_xy
from hardware.twin.lens import CameraPose, nominal_pose
from hardware.twin.optics import Renderer, nominal_optics
from hardware.twin.scene import Scene, SceneDisc
from hardware.twin.styles import NAMED
from hub.link.config import BoardSection, CameraSection, Config


def _pose(height_mm: float, tilt_deg: float, *, k1: float = 0.0) -> CameraPose:
    """A camera in which the board fills the height of the picture; it leans towards seat 2."""
    reach = height_mm * math.tan(math.radians(tilt_deg))
    slant = math.hypot(height_mm, reach)
    half = (TOURNAMENT.rail_radius_mm + 25) * 1.06
    near = slant - half * reach / slant
    return replace(
        nominal_pose(TOURNAMENT),
        height_mm=height_mm,
        foot_xy_mm=(-reach, 12.0),
        aim_xy_mm=(0.0, 0.0),
        fov_deg=2 * math.degrees(math.atan2(half, near)),
        k1=k1,
        k2=0.0,
    )


POSES = {
    "level and high": _pose(1200, 2),
    "level and low": _pose(650, 3),
    "nominal": nominal_pose(TOURNAMENT),
    "leaning by 12 degrees": _pose(950, 12),
    "leaning by 25 degrees": _pose(900, 25),
    "barrel": _pose(850, 6, k1=-0.09),
    "cushion": _pose(850, 6, k1=0.03),
}
DISCS = tuple(
    SceneDisc(f"d{a}", colour, *to_xy(r, a))
    for colour, r, a in (
        ("dark", 250, 10),
        ("light", 255, 75),
        ("dark", 245, 130),
        ("light", 250, 200),
        ("dark", 255, 250),
        ("light", 248, 320),
        ("dark", 150, 45),
        ("light", 150, 215),
    )
)


@lru_cache(maxsize=4)
def _picture(pose: CameraPose, discs: tuple[SceneDisc, ...] = ()) -> Image:
    eye = Renderer(TOURNAMENT, NAMED["ebony"], pose, nominal_optics(), seed=3)
    frames = [eye.render(Scene(at_ns=0, discs=discs), k).astype(np.float32) for k in range(2)]
    return np.rint(sum(frames) / len(frames)).astype(np.uint8)


@pytest.mark.parametrize("name", POSES)
def test_height_and_foot_are_right_within_what_is_stated(name: str) -> None:
    pose = POSES[name]
    found = take_occupied(_picture(pose, DISCS), TOURNAMENT, seat1_deg=pose.turn_deg)
    calibration = found.calibration
    assert {lean.kind for lean in found.leans} == {"pegs", "discs"}
    off = abs(math.log(calibration.camera_height_mm / pose.height_mm))
    assert off < 2.5 * math.log(calibration.height_spread)
    # Without pegs and discs a level view leaves a third open.
    assert calibration.height_spread < 1.12
    foot_off = math.dist(calibration.foot_xy_mm, pose.foot_xy_mm)
    assert foot_off < 2.5 * foot_error_mm(calibration)


@pytest.mark.parametrize("height_mm", [700.0, 1150.0])
def test_the_pegs_of_an_empty_board_tell_a_level_camera_s_height(height_mm: float) -> None:
    calibration = calibrate(_picture(_pose(height_mm, 1)), TOURNAMENT)
    off = abs(math.log(calibration.camera_height_mm / height_mm))
    assert calibration.height_spread < 1.2
    assert off < 2.5 * math.log(calibration.height_spread)


def test_flat_prints_in_place_of_pegs_and_discs_tell_nothing() -> None:
    picture = DrawnBoard(TOURNAMENT, (1280, 960)).picture([("dark", 150.0, 60.0), ("light", -120.0, 200.0)])
    found = take_occupied(picture, TOURNAMENT)
    assert found.calibration.height_spread > 1.2


def test_what_contradicts_the_perspective_altogether_is_not_believed() -> None:
    pose = POSES["nominal"]
    calibration = calibrate(_picture(pose), TOURNAMENT, seat1_deg=pose.turn_deg)
    lean = Lean("discs", 8, math.log(2.5 * pose.height_mm), 0.05)
    assert not fits(calibration, lean)
    assert leant(calibration, lean) == calibration
    assert leant(calibration, None) == calibration


def test_two_that_agree_leave_less_open_than_either() -> None:
    pose = POSES["nominal"]
    calibration = calibrate(_picture(pose), TOURNAMENT, seat1_deg=pose.turn_deg)
    same = Lean("discs", 8, math.log(calibration.camera_height_mm), 0.05)
    both = leant(calibration, same)
    assert both.camera_height_mm == pytest.approx(calibration.camera_height_mm, rel=1e-3)
    assert math.log(both.height_spread) < min(0.05, math.log(calibration.height_spread))
    assert foot_error_mm(both) < foot_error_mm(calibration)


@pytest.mark.parametrize(
    ("typed_mm", "words"), [(1010.0, []), (1500.0, ["another height than [camera] height_mm"])], ids=["right", "wrong"]
)
def test_a_typed_height_counts_and_is_held_against_what_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], typed_mm: float, words: list[str]
) -> None:
    pose = POSES["nominal"]
    path = tmp_path / "board.png"
    assert cv2.imwrite(str(path), _picture(pose, DISCS))
    config = Config(
        board=BoardSection(state_dir=str(tmp_path)), camera=CameraSection(height_mm=typed_mm, seat1_deg=pose.turn_deg)
    )
    assert run(config, image=path, as_json=True) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["camera_height_mm"], report["height_from"]) == (typed_mm, "typed")
    for kind in ("pegs", "discs"):
        mm, error_mm = report["heights_mm"][kind]
        assert abs(mm - pose.height_mm) < 3 * error_mm
    told = [line for line in report["advice"] if "height_mm" in line]
    assert len(told) == len(words)
    assert all(word in line for word, line in zip(words, told, strict=True))


def test_the_report_states_height_and_foot_how_they_were_found_and_how_surely(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pose = POSES["nominal"]
    path = tmp_path / "board.png"
    assert cv2.imwrite(str(path), _picture(pose, DISCS))
    config = Config(board=BoardSection(state_dir=str(tmp_path)), camera=CameraSection(seat1_deg=pose.turn_deg))
    assert run(config, image=path, as_json=True) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["height_from"] == "pegs and discs and perspective"
    assert abs(report["camera_height_mm"] - pose.height_mm) < 2.5 * report["height_error_mm"]
    assert math.dist(report["foot_xy_mm"], pose.foot_xy_mm) < 2.5 * report["foot_error_mm"]
    assert report["parallax_error_mm"] < 0.3
