"""What ``crokinole photo`` prints and writes for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import cv2
import pytest

from firmware_py.camera.still.photo import result_line, run


def test_json_has_one_object_for_each_file_and_a_failure_stops_none(folder: Path, capsys: pytest.CaptureFixture[str]):
    files = [folder / "text.jpg", folder / "good.jpg", folder / "cut.jpg"]
    assert run(files, as_json=True) == 2
    text, good, cut = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert text["error"]["code"] == "not_a_picture"
    assert cut["error"]["code"] == "cut_off"
    assert good["photo"] == str(folder / "good.jpg")
    assert set(good) == {"photo", "board", "discs", "totals", "ms"}
    assert set(good["board"]) == {
        "found",
        "outer_line",
        "line_10",
        "line_15",
        "coverage",
        "residual_mm",
        "visible",
    }
    assert all(set(d) == {"x", "y", "r", "side", "zone", "margin_mm", "sure"} for d in good["discs"])
    assert good["totals"] == {"light": 50, "dark": 30}


def test_people_get_lines_and_pictures(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "deep" / "overlays"
    assert run([folder / "good.jpg", folder / "good.jpg"], overlay_dir=out, twenties="2,1") == 0
    said = capsys.readouterr().out
    assert "light +40" in said
    assert "light  90" in said
    pictures = sorted(p.name for p in out.iterdir())
    assert pictures == ["good-2.png", "good.png"]
    overlay = cv2.imread(str(out / "good.png"))
    assert overlay is not None
    assert overlay.shape[1] >= 900


def test_people_are_told_that_a_board_is_empty(drawn: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "bare.png"
    cv2.imwrite(str(path), drawn.draw([], camera=drawn.Camera(size_wh=drawn.SIZE)))
    assert run([path]) == 0
    assert capsys.readouterr().out.startswith(f"{path}: no disc is on the board, a tie: nobody adds")
    assert run([path], twenties="2,1") == 0
    assert capsys.readouterr().out.startswith(f"{path}: no disc is on the board, light +20")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"board": "chess"}, "no board preset 'chess'"),
        ({"twenties": "3"}, "LIGHT,DARK"),
        ({"twenties": "a,b"}, "LIGHT,DARK"),
        ({"twenties": "-1,2"}, "LIGHT,DARK"),
    ],
)
def test_wrong_option_is_told_in_one_line(folder: Path, options, says, capsys: pytest.CaptureFixture[str]):
    assert run([folder / "good.jpg"], **options) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.out == ""


def test_folder_that_cannot_be_made_is_told(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run([folder / "good.jpg"], overlay_dir=folder / "text.jpg") == 2
    assert "cannot be made" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scoring", "light", "dark", "says"),
    [
        ("differential", 60, 35, "light +25"),
        ("differential", 35, 60, "dark +25"),
        ("differential", 40, 40, "nobody adds"),
        ("match210", 35, 60, "dark +2"),
        ("match210", 35, 35, "one each"),
        ("cumulative", 35, 60, "light +35, dark +60"),
    ],
)
def test_result_is_worded_by_the_rules(scoring, light, dark, says):
    assert says in result_line({"light": light, "dark": dark}, scoring)
