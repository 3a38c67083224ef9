"""Where frames come from: a twin on its line, a video file, and what is not there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from firmware_py.camera.source import SourceEndedError, SourceGoneError
from firmware_py.camera.sources import open_source
from firmware_py.camera.twin import TwinSource
from firmware_py.camera.video import VideoSource
from firmware_py.errors import DeviceMissingError
from hardware.line import FrameMemory, Line, listen
from hub.link.config import BoardSection, CameraSection, Config


class FakeTwin:
    """The twin's end of the line, worked by the test."""

    def __init__(self, folder: Path, *, lockstep: bool) -> None:
        self.path = folder / "twin.sock"
        self.memory = FrameMemory(folder / "frames", size_wh=(64, 48), slots=4)
        self._server = listen(self.path)
        self._lockstep = lockstep
        self.line: Line | None = None
        self._thread = threading.Thread(target=self._welcome)
        self._thread.start()

    def _welcome(self) -> None:
        sock, _ = self._server.accept()
        line = Line(sock)
        assert line.receive(5.0) is not None
        line.send(
            {"is": "welcome", "path": str(self.memory.path), "lockstep": self._lockstep, "epoch_ns": 0, "speed": 1.0}
        )
        self.line = line

    def peer(self) -> Line:
        self._thread.join(5.0)
        assert self.line is not None
        return self.line

    def show(self, number: int, grey: int) -> None:
        slot = number % 4
        self.memory.pixels(slot)[:] = bytes([grey]) * (64 * 48 * 3)
        self.memory.publish(slot, number, number * 1000, 5)
        self.peer().send({"is": "frame", "number": number, "at_ns": number * 1000, "slot": slot})

    def close(self) -> None:
        self.peer().close()
        self._server.close()


@pytest.fixture(params=[True, False], ids=["lock-step", "real speed"])
def twin(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FakeTwin]:
    fake = FakeTwin(tmp_path, lockstep=request.param)
    yield fake
    fake.close()


def test_frames_come_with_their_time_and_are_given_back(twin: FakeTwin) -> None:
    source = TwinSource(twin.path)
    twin.show(1, 77)
    frame = source.next(5.0)
    assert frame is not None
    assert (frame.number, frame.at_ns, frame.exposure_ns) == (1, 1000, 5)
    assert frame.pixels.shape == (48, 64, 3)
    assert int(frame.pixels.mean()) == 77
    source.done(frame, "boot", 9)
    assert twin.peer().receive(5.0) == {"is": "taken", "number": 1, "boot": "boot", "seq": 9}
    source.close()


def test_no_frame_is_none(twin: FakeTwin) -> None:
    source = TwinSource(twin.path)
    assert source.next(0.0) is None
    source.close()


def test_a_twin_that_hangs_up_is_gone(tmp_path: Path) -> None:
    twin = FakeTwin(tmp_path, lockstep=True)
    source = TwinSource(twin.path)
    twin.close()
    with pytest.raises(SourceGoneError):
        source.next(5.0)
    source.close()


def test_at_real_speed_the_newest_frame_is_read_and_the_others_are_counted(tmp_path: Path) -> None:
    twin = FakeTwin(tmp_path, lockstep=False)
    source = TwinSource(twin.path)
    for number in (1, 2, 3):
        twin.show(number, number)
    frame = source.next(5.0)
    while frame is not None and frame.number < 3:
        frame = source.next(5.0)
    assert frame is not None
    assert int(frame.pixels.mean()) == 3
    twin.close()
    source.close()


def test_a_frame_that_was_written_over_is_no_frame(tmp_path: Path) -> None:
    twin = FakeTwin(tmp_path, lockstep=False)
    source = TwinSource(twin.path)
    twin.show(1, 1)
    twin.memory.retract(1)
    assert source.next(5.0) is None
    assert source.dropped == 1
    twin.close()
    source.close()


def video(path: Path, frames: int) -> Path:
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 25.0, (64, 48))
    for k in range(frames):
        writer.write(np.full((48, 64, 3), 40 + 10 * k, np.uint8))
    writer.release()
    return path


def test_a_video_gives_all_its_frames_and_ends(tmp_path: Path) -> None:
    source = VideoSource(video(tmp_path / "v.avi", 5))
    frames = [source.next(0.0) for _ in range(5)]
    with pytest.raises(SourceEndedError):
        source.next(0.0)
    times = [frame.at_ns for frame in frames if frame is not None]
    assert {frame.pixels.shape for frame in frames if frame is not None} == {(48, 64, 3)}
    assert np.diff(times).tolist() == [40_000_000] * 4
    source.close()


@pytest.mark.parametrize(
    ("camera", "board", "says"),
    [
        (CameraSection(source="video", device="/nowhere.mp4"), BoardSection(), "no such file"),
        (CameraSection(source="usb", device="/dev/video9"), BoardSection(), "usb"),
        (CameraSection(source="picamera2"), BoardSection(), "picamera2"),
        (CameraSection(source="twin"), BoardSection(), "twin"),
        (CameraSection(source="twin"), BoardSection(twin="/nowhere/twin.sock"), "twin"),
    ],
)
def test_a_missing_camera_is_one_clear_line(camera: CameraSection, board: BoardSection, says: str) -> None:
    with pytest.raises(DeviceMissingError) as caught:
        open_source(Config(camera=camera, board=board), patience_s=0.0)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_text_file_is_no_video(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    path.write_text("not a video")
    with pytest.raises(DeviceMissingError, match="not a video"):
        VideoSource(path)
