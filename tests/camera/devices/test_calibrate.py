"""The command that calibrates: what it reports, what it keeps, and what it says when it cannot."""

from __future__ import annotations

import json
import math
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from crokinole import main
from firmware_py.camera.benchboard import DrawnBoard, spread_discs
from firmware_py.camera.board.calibrate import run
from firmware_py.camera.place.keepsake import Keepsake
from firmware_py.settings import DaemonLock
from hardware.board import TOURNAMENT
from hub.link.config import BoardSection, CameraSection, Config

DISCS = spread_discs(TOURNAMENT, 6)


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("board") / "board.png"
    assert cv2.imwrite(str(path), DrawnBoard(TOURNAMENT, (1280, 960)).picture(DISCS))
    return path


def _config(folder: Path, **camera: object) -> Config:
    return Config(board=BoardSection(state_dir=str(folder)), camera=CameraSection(**camera))


def test_the_report_tells_the_board_as_it_is(photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(_config(tmp_path, height_mm=1100.0), image=photo, as_json=True) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["coverage"] > 0.95
    assert report["residual_mm"] < 0.4
    assert all(abs(off) < 0.5 for off in report["lines_off_mm"])
    assert report["camera_height_mm"] == 1100.0
    assert report["height_from"] == "typed"
    assert math.hypot(*report["hole_xy_mm"]) < 1.0
    # The drawn discs have no height and so look a little smaller than real ones would.
    assert abs(report["disc_radius_mm"] - TOURNAMENT.disc_radius_mm) < 0.8
    assert report["advice"] == []


def test_an_unmeasured_height_is_said_and_what_it_costs(
    photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(_config(tmp_path), image=photo, as_json=True) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["height_from"] == "perspective"
    assert report["parallax_error_mm"] > 0.35
    assert any("height_mm" in line for line in report["advice"])


def test_what_was_found_is_kept_for_the_daemon_and_drawn(photo: Path, tmp_path: Path) -> None:
    (tmp_path / "camera-layout.json").write_text("{}", encoding="utf-8")
    assert run(_config(tmp_path, height_mm=1100.0), image=photo) == 0
    kept = Keepsake(tmp_path).load_board()
    assert kept is not None
    calibration, bare = kept
    assert calibration.camera_height_mm == 1100.0
    # What an earlier calibration saw lying is not carried over.
    assert not (tmp_path / "camera-layout.json").exists()
    # Where a dark disc lies the kept board shows wood.
    dark = next((x, y) for colour, x, y in DISCS if colour == "dark")
    middle = (bare.shape[0] - 1) / 2
    row, column = round(middle - dark[1] / 1.5), round(middle + dark[0] / 1.5)
    assert bare[row, column].mean() > 120
    drawn = cv2.imread(str(tmp_path / "camera-calibration.png"))
    assert drawn is not None
    assert drawn.shape[1] == 1280
    assert drawn.shape[0] > 960


def test_without_keeping_only_the_overlay_is_written(photo: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "look.png"
    assert run(_config(tmp_path / "state"), image=photo, overlay=overlay, keep=False) == 0
    assert overlay.stat().st_size > 10_000
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (None, 2, "no such file"),
        (b"no picture", 2, "not a picture"),
        (np.full((600, 800, 3), 90, np.uint8), 1, "no board"),
    ],
    ids=["missing", "no picture", "no board"],
)
def test_what_cannot_be_calibrated_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | np.ndarray | None, status: int, words: str
) -> None:
    path = tmp_path / "picture.png"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        assert cv2.imwrite(str(path), content)
    assert run(_config(tmp_path), image=path) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


def test_a_running_daemon_keeps_its_camera(photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = DaemonLock(tmp_path, "camera")
    try:
        assert run(_config(tmp_path), image=photo) == 3
    finally:
        lock.release()
    assert "stop it first" in capsys.readouterr().err


def test_frames_come_from_the_configured_camera(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = DrawnBoard(TOURNAMENT, (960, 720)).picture(DISCS)
    path = tmp_path / "board.avi"
    video = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 30.0, (960, 720))
    for _ in range(14):
        video.write(picture)
    video.release()
    assert run(_config(tmp_path, source="video", device=str(path), height_mm=1000.0), as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["coverage"] > 0.9


def test_too_few_frames_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "short.avi"
    video = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 30.0, (64, 48))
    for _ in range(3):
        video.write(np.full((48, 64, 3), 90, np.uint8))
    video.release()
    assert run(_config(tmp_path, source="video", device=str(path))) == 3
    assert "gave no 12 frames" in capsys.readouterr().err


def test_the_command_line_reads_its_options(photo: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "look.png"
    answer = CliRunner().invoke(main, ["calibrate", "--image", str(photo), "--overlay", str(overlay), "--json"])
    assert answer.exit_code == 0, answer.output
    assert overlay.exists()
