"""The camera module: opened and configured once, uncropped, locked, and never waited for without an end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fakes
import pytest
from fakes import FakePicamera2

from firmware_py.camera.devices.grabber import CameraError, CameraHungError
from firmware_py.camera.devices.locks import Locks
from firmware_py.camera.picamera import (
    ACT_FRAMES,
    SETTLE_FRAMES,
    PiCamera,
    choose_mode,
    import_picamera2,
    open_picamera,
)
from firmware_py.errors import DeviceMissingError
from hub.link.config import CameraSection

SETTINGS = CameraSection(source="picamera2", size_wh=(1280, 960), frame_rate_hz=30)
ID = "picamera2 /base/i2c/imx708@1a"


@pytest.fixture(autouse=True)
def forget_made() -> Iterator[None]:
    fakes.made.clear()
    yield
    fakes.made.clear()


def _camera(folder: Path, kind: type[FakePicamera2] = FakePicamera2) -> tuple[PiCamera, FakePicamera2]:
    camera = PiCamera(SETTINGS, Locks(folder), picamera2=kind)
    return camera, fakes.made[-1]


@pytest.mark.parametrize(
    ("rate_hz", "size_wh", "expected"),
    [
        (30, (1280, 960), (2304, 1296)),
        (56, (1280, 720), (2304, 1296)),
        (100, (1280, 720), (1536, 864)),
        (10, (4000, 2000), (4608, 2592)),
        (10, (1280, 720), (2304, 1296)),
        (200, (1280, 720), (1536, 864)),
    ],
    ids=[
        "usual",
        "as fast as it goes whole",
        "faster only cropped",
        "large",
        "no larger than needed",
        "too fast for all",
    ],
)
def test_the_mode_shows_everything_if_it_can(rate_hz: float, size_wh: tuple[int, int], expected: Any) -> None:
    assert choose_mode(FakePicamera2.modes, size_wh, rate_hz)["size"] == expected


def test_it_is_configured_once_for_few_buffers_and_no_raw_stream(tmp_path: Path) -> None:
    _, fake = _camera(tmp_path)
    assert fake.configured == 1
    assert fake.config["raw"] is None
    assert fake.config["buffer_count"] <= 4
    assert fake.config["main"] == {"size": (1280, 960), "format": "RGB888"}
    assert fake.config["sensor"] == {"output_size": (2304, 1296), "bit_depth": 10}
    assert fake.config["controls"]["FrameDurationLimits"] == (33333, 33333)


def test_what_it_adapted_to_is_locked_and_kept(tmp_path: Path) -> None:
    _, fake = _camera(tmp_path)
    assert fake.focused
    assert fake.controls["AeEnable"] is False
    assert fake.controls["AwbEnable"] is False
    assert fake.controls["AfMode"] == 0
    assert Locks(tmp_path).load(ID) == {
        "exposure_us": 9000,
        "gain": 2.0,
        "red": 1.7,
        "blue": 1.9,
        "dioptres": 0.97,
    }


def test_a_restarted_one_is_locked_to_the_same_values(tmp_path: Path) -> None:
    kept = {"exposure_us": 4000.0, "gain": 3.0, "red": 1.5, "blue": 1.6, "dioptres": 0.9}
    Locks(tmp_path).save(ID, kept)
    _, fake = _camera(tmp_path)
    assert not fake.focused
    assert (fake.controls["ExposureTime"], fake.controls["LensPosition"]) == (4000, 0.9)
    assert fake._frame <= ACT_FRAMES < SETTLE_FRAMES


@pytest.mark.parametrize(
    "kept",
    ['{"exposure_us": 4000}', '{"exposure_us": NaN, "gain": 3, "red": 1.5, "blue": 1.6}', '{"gain": "much"}', "[]"],
)
def test_kept_locks_that_are_not_whole_are_learned_anew(tmp_path: Path, kept: str) -> None:
    (tmp_path / "camera-locks.json").write_text(f'{{"{ID}": {kept}}}', encoding="utf-8")
    _, fake = _camera(tmp_path)
    assert fake.focused
    assert (Locks(tmp_path).load(ID) or {})["exposure_us"] == 9000


def test_a_module_without_a_motor_is_not_focused(tmp_path: Path) -> None:
    class Fixed(FakePicamera2):
        focuses = False

    _, fake = _camera(tmp_path, Fixed)
    assert not fake.focused
    assert "AfMode" not in fake.controls
    assert "dioptres" not in (Locks(tmp_path).load(ID) or {})


def test_a_frame_is_dated_by_the_middle_of_its_exposure(tmp_path: Path) -> None:
    camera, fake = _camera(tmp_path)
    grab = camera.read()
    assert grab is not None
    assert grab.exposure_ns == 9_000_000
    assert grab.at_ns == 1_000_000_000 + fake._frame * 33_000_000 - 4_500_000
    assert grab.pixels.shape == (960, 1280, 3)
    assert fake.open_requests == 0


def test_a_frame_that_does_not_come_in_time_is_a_hang(tmp_path: Path) -> None:
    class Stalled(FakePicamera2):
        frames = SETTLE_FRAMES + ACT_FRAMES + 1

    camera, fake = _camera(tmp_path, Stalled)
    while fake._frame < Stalled.frames:
        assert camera.read() is not None
    with pytest.raises(CameraHungError, match="no frame in 2 s"):
        camera.read()


@pytest.mark.parametrize(
    ("attributes", "words"),
    [({"known": []}, "camera 0 is not there, 0 found"), ({"busy": True}, "cannot be opened: .*busy")],
    ids=["no module", "in use"],
)
def test_what_cannot_be_opened_is_one_line(tmp_path: Path, attributes: dict[str, Any], words: str) -> None:
    kind = type("Refusing", (FakePicamera2,), attributes)
    with pytest.raises(CameraError, match=words):
        PiCamera(SETTINGS, Locks(tmp_path), picamera2=kind)


def test_releasing_stops_and_closes(tmp_path: Path) -> None:
    camera, fake = _camera(tmp_path)
    camera.release()
    assert (fake.stopped, fake.closed) == (True, True)


def test_it_is_a_source(tmp_path: Path) -> None:
    source = open_picamera(SETTINGS, tmp_path, picamera2=lambda: FakePicamera2)
    frame = source.next(5.0)
    while frame is None:
        frame = source.next(5.0)
    source.close()
    assert frame.pixels.shape == (960, 1280, 3)
    assert fakes.made[-1].closed


@pytest.mark.parametrize(
    ("device", "kind", "words"),
    [
        ("/dev/video0", FakePicamera2, "camera module's number, 0 or 1, got '/dev/video0'"),
        ("1", FakePicamera2, "camera 1 is not there, 1 found"),
    ],
    ids=["a path", "one too many"],
)
def test_a_wrong_device_is_one_line(tmp_path: Path, device: str, kind: Any, words: str) -> None:
    settings = CameraSection(source="picamera2", device=device)
    with pytest.raises(DeviceMissingError, match=words):
        open_picamera(settings, tmp_path, picamera2=lambda: kind)


def test_without_the_package_the_way_to_it_is_told() -> None:
    try:
        import picamera2  # noqa: F401
    except ImportError:
        with pytest.raises(DeviceMissingError, match="python3-picamera2"):
            import_picamera2()
    else:
        pytest.skip("picamera2 is installed here")
