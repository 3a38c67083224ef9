"""Frames of a file: shape of pixels, times, and files that are none."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from firmware_py.camera.recorded.film import MOST_PX, Film, FilmError
from firmware_py.camera.source import SourceEndedError
from firmware_py.camera.video import VideoSource
from firmware_py.errors import DeviceMissingError


class FakeCapture:
    """Stands for ``cv2.VideoCapture``: tells what it is told to and hands out grey frames."""

    def __init__(self, tells: Mapping[int, float], size_wh: tuple[int, int], times_ms: list[float]) -> None:
        self._tells, self._size_wh, self._times_ms = tells, size_wh, times_ms
        self._read = 0

    def isOpened(self) -> bool:  # noqa: N802 (OpenCV's name)
        return True

    def get(self, what: int) -> float:
        if what == cv2.CAP_PROP_POS_MSEC:
            return self._times_ms[self._read - 1]
        return self._tells.get(what, 0.0)

    def grab(self) -> bool:
        self._read += 1
        return self._read <= len(self._times_ms)

    def read(self) -> tuple[bool, np.ndarray | None]:
        if not self.grab():
            return False, None
        width, height = self._size_wh
        return True, np.full((height, width, 3), 90, np.uint8)

    def release(self) -> None:
        pass


def _open(
    monkeypatch: pytest.MonkeyPatch,
    path: Path,
    tells: Mapping[int, float],
    *,
    size_wh: tuple[int, int] = (72, 58),
    times_ms: list[float] | None = None,
) -> Film:
    path.write_bytes(b"video")
    fake = FakeCapture(tells, size_wh, [0.0, 40.0, 80.0] if times_ms is None else times_ms)
    monkeypatch.setattr(cv2, "VideoCapture", lambda *_: fake)
    return Film(path)


@pytest.mark.parametrize(
    ("aspect", "turned", "expected"),
    [
        ((664, 465), 0, (103, 58)),
        ((8, 9), 0, (72, 65)),
        ((0, 0), 0, (72, 58)),
        ((1, 0), 0, (72, 58)),
        ((1000, 1001), 0, (72, 58)),
        ((664, 465), 90, (72, 83)),
    ],
    ids=["wide", "tall", "not told", "nonsense", "square but for rounding", "turned by the player"],
)
def test_pixels_are_made_square(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, aspect: tuple[int, int], turned: int, expected: tuple[int, int]
) -> None:
    tells = {
        cv2.CAP_PROP_SAR_NUM: aspect[0],
        cv2.CAP_PROP_SAR_DEN: aspect[1],
        cv2.CAP_PROP_ORIENTATION_META: turned,
        cv2.CAP_PROP_FPS: 25,
    }
    with _open(monkeypatch, tmp_path / "v.mp4", tells) as film:
        frame = film.next()
    assert frame is not None
    assert frame.pixels.shape[1::-1] == expected


def test_large_frames_are_made_smaller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with _open(monkeypatch, tmp_path / "v.mp4", {cv2.CAP_PROP_FPS: 30}, size_wh=(3840, 2160)) as film:
        frame = film.next()
    assert frame is not None
    assert frame.pixels.shape == (900, MOST_PX, 3)


@pytest.mark.parametrize(
    ("times_ms", "rate", "expected_ms"),
    [
        ([0.0, 33.0, 70.0], 30.0, [0, 33, 70]),
        ([0.0, 0.0, 0.0], 25.0, [0, 40, 80]),
        ([0.0, 40.0, 20.0], 25.0, [0, 40, 80]),
        ([0.0, 0.0, 0.0], 0.0, [0, 40, 80]),
        ([0.0, 9000.0, 40.0, 80.0, 9200.0], 25.0, [0, 9000, 9040, 9080, 9200]),
    ],
    ids=["varying rate", "no times told", "times that go back", "not even a rate told", "a time far ahead"],
)
def test_frames_are_dated_by_the_recording(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, times_ms: list[float], rate: float, expected_ms: list[int]
) -> None:
    with _open(monkeypatch, tmp_path / "v.mp4", {cv2.CAP_PROP_FPS: rate}, times_ms=times_ms) as film:
        told = [frame.at_ns for frame in film]
    assert [round(t / 1e6) for t in told] == expected_ms
    assert all(b > a for a, b in pairwise(told))


def test_a_recording_that_dates_frames_backwards_is_named_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with _open(monkeypatch, tmp_path / "v.mp4", {cv2.CAP_PROP_FPS: 25}, times_ms=[0.0, 40.0, 20.0, 60.0, 30.0]) as film:
        list(film)
    assert [r.message for r in caplog.records] == [
        f"{tmp_path / 'v.mp4'}: dates frames backwards; those are dated by the frame rate"
    ]


def test_passed_over_frames_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with _open(monkeypatch, tmp_path / "v.mp4", {cv2.CAP_PROP_FPS: 25}) as film:
        film.skip(2)
        frame = film.next()
        assert frame is not None
        assert (frame.index, frame.at_ns) == (2, 80_000_000)
        film.skip(5)
        assert film.next() is None


@pytest.mark.parametrize("content", [None, b"", b"no video at all"])
def test_what_is_no_video_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "shot.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FilmError, match=r"shot\.mp4: (no such file|is not a video)"):
        Film(path)
    with pytest.raises(DeviceMissingError, match=r"\[camera\] device .*shot\.mp4"):
        VideoSource(path)


def test_a_video_is_a_camera_that_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    path.write_bytes(b"video")
    fake = FakeCapture({cv2.CAP_PROP_FPS: 25}, (64, 48), [0.0, 40.0])
    monkeypatch.setattr(cv2, "VideoCapture", lambda *_: fake)
    source = VideoSource(path)
    try:
        numbers = []
        for _ in range(2):
            frame = source.next(0.0)
            assert frame is not None
            numbers.append((frame.number, frame.at_ns, source.clock.now_ns()))
        assert numbers == [(1, 0, 0), (2, 40_000_000, 40_000_000)]
        with pytest.raises(SourceEndedError):
            source.next(0.0)
    finally:
        source.close()
