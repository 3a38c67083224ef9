"""What survives a restart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.place.keepsake import Keepsake, Remembered
from firmware_py.camera.rest.appearance import Look, Wardrobe
from firmware_py.camera.rest.resting import Resting
from hardware.board import TOURNAMENT
from hub.link.messages import Cleared, Layout, LayoutDisc

CALIBRATION = Calibration(
    board=TOURNAMENT,
    board_from_image=(0.9, 0.0, -500.0, 0.0, -0.9, 400.0, 0.0, 0.0, 1.0),
    size_wh=(1280, 960),
    foot_xy_mm=(3.0, -4.0),
    camera_height_mm=1000.0,
)


def test_nothing_kept_is_nothing_known(tmp_path: Path) -> None:
    keepsake = Keepsake(tmp_path)
    assert keepsake.load_board() is None
    assert keepsake.load_rest() is None
    assert keepsake.load_looks().looks == {}


def test_calibration_and_empty_board_come_back(tmp_path: Path) -> None:
    bare = np.random.default_rng(1).uniform(0, 255, (40, 40, 3)).astype(np.float32)
    Keepsake(tmp_path).save_board(CALIBRATION, bare)
    kept = Keepsake(tmp_path).load_board()
    assert kept is not None
    assert kept[0] == CALIBRATION
    assert np.abs(kept[1] - bare).max() < 0.04


def test_the_last_rest_and_its_facts_come_back(tmp_path: Path) -> None:
    rest = Remembered(
        discs=(Resting("d3", "dark", 1.5, -80.25, 0.21, "flat", (1.6, -80.5), 4.0),),
        next_number=7,
        still=np.random.default_rng(1).integers(0, 255, (30, 30, 3), dtype=np.uint8),
        boot="abc",
        seq=12,
        pending=(Layout(at_ns=5, discs=(LayoutDisc("d3", "dark", 1.5, -80.25, 0.21),)), Cleared(at_ns=6)),
    )
    Keepsake(tmp_path).save_rest(rest)
    kept = Keepsake(tmp_path).load_rest()
    assert kept is not None
    assert kept.discs == rest.discs
    assert (kept.next_number, kept.boot, kept.seq, kept.pending) == (7, "abc", 12, rest.pending)
    assert np.array_equal(kept.still, rest.still)


def test_looks_come_back(tmp_path: Path) -> None:
    wardrobe = Wardrobe(looks={"light": Look.plain(16.0, (150.0, 190.0, 220.0))})
    wardrobe.looks["light"].learned = 5.0
    Keepsake(tmp_path).save_looks(wardrobe)
    kept = Keepsake(tmp_path).load_looks()
    assert kept.looks.keys() == {"light"}
    assert kept.looks["light"].learned == 5.0
    assert np.array_equal(kept.looks["light"].face, wardrobe.looks["light"].face)
    assert np.array_equal(kept.shade.map, wardrobe.shade.map)


@pytest.mark.parametrize(
    "name",
    ["camera-calibration.json", "camera-empty.png", "camera-layout.json", "camera-still.png", "camera-looks.npz"],
)
@pytest.mark.parametrize("content", [b"", b"{}", b"\x00\xff rubbish", b'{"format": 99}'])
def test_a_spoilt_file_is_as_good_as_none(tmp_path: Path, name: str, content: bytes) -> None:
    keepsake = Keepsake(tmp_path)
    still = np.zeros((8, 8, 3), np.uint8)
    keepsake.save_board(CALIBRATION, still.astype(np.float32))
    keepsake.save_rest(Remembered((), 1, still))
    keepsake.save_looks(Wardrobe(looks={"dark": Look.plain(16.0, (9.0, 9.0, 9.0))}))
    (tmp_path / name).write_bytes(content)
    spoilt = {
        "camera-calibration.json": keepsake.load_board,
        "camera-empty.png": keepsake.load_board,
        "camera-layout.json": keepsake.load_rest,
        "camera-still.png": keepsake.load_rest,
    }
    if name in spoilt:
        assert spoilt[name]() is None
    else:
        assert keepsake.load_looks().looks == {}


def test_a_full_disk_costs_only_the_memory(tmp_path: Path) -> None:
    keepsake = Keepsake(tmp_path / "gone")
    keepsake.save_rest(Remembered((), 1, np.zeros((8, 8, 3), np.uint8)))
    keepsake.save_looks(Wardrobe())
    assert keepsake.load_rest() is None
