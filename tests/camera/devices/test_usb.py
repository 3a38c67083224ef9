"""Webcams: found by name, locked to what they adapted to, the same again after each reconnect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import pytest
from fakes import FakeWebcam, until_gone

from firmware_py.camera.devices.grabber import CameraError
from firmware_py.camera.devices.locks import Locks
from firmware_py.camera.sources import open_source
from firmware_py.camera.usb import STALE_FRAMES, UsbCamera, find_device, open_usb
from firmware_py.errors import DeviceMissingError
from hub.link.config import BoardSection, CameraSection, Config

SETTINGS = CameraSection(source="usb", device="/dev/video0", size_wh=(1280, 960), frame_rate_hz=30)
NOW_NS = 5_000_000_000


def _camera(webcam: FakeWebcam, folder: Path, *, now_ns: Callable[[], int] = lambda: NOW_NS) -> UsbCamera:
    return UsbCamera("/dev/video0", SETTINGS, Locks(folder), open_device=lambda _: webcam, now_ns=now_ns)


def test_motion_jpeg_is_asked_for_before_the_size(tmp_path: Path) -> None:
    webcam = FakeWebcam()
    _camera(webcam, tmp_path)
    asked = [what for what, _ in webcam.asked]
    assert webcam.values[cv2.CAP_PROP_FOURCC] == cv2.VideoWriter.fourcc(*"MJPG")
    assert asked.index(cv2.CAP_PROP_FOURCC) < asked.index(cv2.CAP_PROP_FRAME_WIDTH)
    assert webcam.values[cv2.CAP_PROP_FPS] == 30


def test_what_it_adapted_to_is_locked(tmp_path: Path) -> None:
    webcam = FakeWebcam()
    camera = _camera(webcam, tmp_path)
    assert camera.unlocked == ()
    assert webcam.values[cv2.CAP_PROP_AUTO_EXPOSURE] == 1
    assert webcam.values[cv2.CAP_PROP_AUTOFOCUS] == 0
    assert webcam.values[cv2.CAP_PROP_AUTO_WB] == 0
    # It had time to adapt before.
    assert webcam.values[cv2.CAP_PROP_EXPOSURE] == 300


def test_a_reconnected_camera_is_locked_to_the_same_values(tmp_path: Path) -> None:
    _camera(FakeWebcam(), tmp_path)
    again = FakeWebcam()
    again.values |= {cv2.CAP_PROP_EXPOSURE: 20, cv2.CAP_PROP_FOCUS: 99, cv2.CAP_PROP_WB_TEMPERATURE: 2800}
    _camera(again, tmp_path)
    assert again.values[cv2.CAP_PROP_EXPOSURE] == 300
    assert again.values[cv2.CAP_PROP_FOCUS] == 35
    assert again.values[cv2.CAP_PROP_WB_TEMPERATURE] == 4600
    # Only what was exposed before the locks held is thrown away.
    assert again.read_count == STALE_FRAMES


def test_forgotten_locks_are_learned_anew(tmp_path: Path) -> None:
    _camera(FakeWebcam(), tmp_path)
    Locks(tmp_path).forget("/dev/video0")
    again = FakeWebcam()
    again.values[cv2.CAP_PROP_FOCUS] = 80
    _camera(again, tmp_path)
    assert again.values[cv2.CAP_PROP_FOCUS] == 80


def test_what_does_not_let_itself_be_locked_is_named(tmp_path: Path) -> None:
    Locks(tmp_path).save("/dev/video0", {"focus": 35, "exposure": 250})
    webcam = FakeWebcam(stubborn=frozenset({cv2.CAP_PROP_EXPOSURE}))
    assert _camera(webcam, tmp_path).unlocked == ("exposure",)


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"/dev/video0": 3}', '{"/dev/video0": {"focus": "near"}}'])
def test_kept_locks_that_cannot_be_read_are_learned_anew(tmp_path: Path, content: str) -> None:
    (tmp_path / "camera-locks.json").write_text(content, encoding="utf-8")
    webcam = FakeWebcam()
    _camera(webcam, tmp_path)
    assert webcam.values[cv2.CAP_PROP_EXPOSURE] == 300
    assert (Locks(tmp_path).load("/dev/video0") or {})["exposure"] == 300


@pytest.mark.parametrize(
    ("told_ms", "expected_ns"),
    [(4990.0, 4_990_000_000), (0.0, NOW_NS), (9_999_999.0, NOW_NS), (1000.0, NOW_NS)],
    ids=["the driver's", "not told", "in the future", "of another clock"],
)
def test_a_frame_is_dated_by_the_driver_if_its_clock_is_ours(tmp_path: Path, told_ms: float, expected_ns: int) -> None:
    Locks(tmp_path).save("/dev/video0", {"exposure": 100})
    grab = _camera(FakeWebcam(dates=lambda _: told_ms), tmp_path).read()
    assert grab is not None
    assert grab.exposure_ns == 10_000_000
    assert grab.at_ns == expected_ns - 5_000_000


def test_an_unplugged_webcam_gives_no_more_frames(tmp_path: Path) -> None:
    Locks(tmp_path).save("/dev/video0", {"focus": 1})
    camera = _camera(FakeWebcam(frames=STALE_FRAMES + 1), tmp_path)
    assert camera.read() is not None
    assert camera.read() is None


@pytest.mark.parametrize(
    ("webcam", "words"),
    [(FakeWebcam(opens=False), "cannot be opened"), (FakeWebcam(frames=3), "gives no frames")],
    ids=["busy", "open but mute"],
)
def test_a_webcam_that_is_of_no_use_is_let_go(tmp_path: Path, webcam: FakeWebcam, words: str) -> None:
    with pytest.raises(CameraError, match=words):
        _camera(webcam, tmp_path)
    assert webcam.released


def test_the_only_webcam_need_not_be_named(tmp_path: Path) -> None:
    for name in ("usb-Logi_C920-video-index0", "usb-Logi_C920-video-index1"):
        (tmp_path / name).touch()
    assert find_device("", tmp_path) == str(tmp_path / "usb-Logi_C920-video-index0")


@pytest.mark.parametrize(
    ("there", "asked", "words"),
    [
        ([], "", "none is plugged in"),
        (["a-video-index0", "b-video-index0"], "", "must name the usb camera; there are .*a-video.*b-video"),
        (["a-video-index0"], "/dev/v4l/by-id/gone", "gone: no such usb camera; there are .*a-video"),
    ],
    ids=["none", "two", "another"],
)
def test_a_webcam_that_cannot_be_told_is_one_line(tmp_path: Path, there: list[str], asked: str, words: str) -> None:
    for name in there:
        (tmp_path / name).touch()
    with pytest.raises(DeviceMissingError, match=words):
        find_device(asked, tmp_path)


def test_a_webcam_without_its_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DeviceMissingError, match="none is plugged in"):
        find_device("", tmp_path / "by-id")


def test_a_webcam_is_a_source_that_can_be_opened_again(tmp_path: Path) -> None:
    device = tmp_path / "video"
    device.touch()
    settings = CameraSection(source="usb", device=str(device))
    for _ in range(2):
        source = open_usb(settings, tmp_path, open_device=lambda _: FakeWebcam(frames=100))
        assert "unplugged" in until_gone(source)
        source.close()


def test_the_configuration_names_what_is_missing(tmp_path: Path) -> None:
    config = Config(
        board=BoardSection(state_dir=str(tmp_path)),
        camera=CameraSection(source="usb", device=str(tmp_path / "camera")),
    )
    with pytest.raises(DeviceMissingError, match="no such usb camera"):
        open_source(config)
