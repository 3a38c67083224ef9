"""A recorded video, frame by frame: pixels made square, every frame with the time the recording gives it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Image

log = logging.getLogger(__name__)

#: Pixels whose shape is nearer to a square than this are taken for square.
_SQUARE = 0.01
#: Frames are made at most so long: more pixels add time, not truth.
MOST_PX = 1600
_USUAL_RATE_HZ = 25.0


class FilmError(ValueError):
    """A file that is no video, or one of which no frame can be read."""


@dataclass(frozen=True, slots=True)
class FilmFrame:
    """One frame as it is shown.

    Attributes:
        index: counts from 0.
        at_ns: when it is shown, from the start of the recording.
        pixels: uint8 ``(height, width, 3)``, blue first, square pixels.
    """

    index: int
    at_ns: int
    pixels: Image


class Film:
    """The frames of a file in order; a context manager.

    Args:
        path: any file that OpenCV can decode as a video.

    Raises:
        FilmError: missing, or no video.
    """

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise FilmError(f"{path}: is a folder; name a video")
        if not path.exists():
            raise FilmError(f"{path}: no such file; name a video")
        if not path.is_file():
            raise FilmError(f"{path}: is a device or a pipe, no file; name a video")
        self._path = path
        # FFmpeg's reader tells the shape of pixels; GStreamer's, which some systems prefer, does not.
        self._capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            self._capture = cv2.VideoCapture(str(path))
        if not self._capture.isOpened():
            raise FilmError(f"{path}: is not a video that OpenCV can read")
        rate = self._capture.get(cv2.CAP_PROP_FPS)
        #: Frames shown in a second.
        self.rate_hz = rate if 0.5 < rate < 2000 else _USUAL_RATE_HZ
        #: Width over height of a stored pixel, after the turn that the file asks for.
        self.pixel_aspect = self._pixel_aspect()
        self._index = 0
        self._last_ns, self._last_index = -1, 0
        self._went_back = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[FilmFrame]:
        while (frame := self.next()) is not None:
            yield frame

    def next(self) -> FilmFrame | None:
        """The next frame, None at the end."""
        good, picture = self._capture.read()
        if not good:
            return None
        index = self._index
        self._index += 1
        told_ns = round(self._capture.get(cv2.CAP_PROP_POS_MSEC) * 1e6)
        # Phones record at a varying rate and say when each frame was taken; some files say nothing or nonsense.
        at_ns = max(self._last_ns, 0) + round((index - self._last_index) * 1e9 / self.rate_hz)
        if self._last_ns < told_ns and (index == 0 or told_ns > 0):
            at_ns = told_ns
        elif 0 < told_ns < self._last_ns and not self._went_back:
            self._went_back = True
            log.warning("%s: dates frames backwards; those are dated by the frame rate", self._path)
        self._last_ns, self._last_index = at_ns, index
        return FilmFrame(index, at_ns, self._square(np.asarray(picture, dtype=np.uint8)))

    def skip(self, count: int) -> None:
        """Pass over frames without decoding more of them than must be."""
        for _ in range(count):
            if not self._capture.grab():
                return
            self._index += 1

    def close(self) -> None:
        """Let the file go."""
        self._capture.release()

    def _pixel_aspect(self) -> float:
        num, den = self._capture.get(cv2.CAP_PROP_SAR_NUM), self._capture.get(cv2.CAP_PROP_SAR_DEN)
        if not (num > 0 and den > 0) or abs(num / den - 1) <= _SQUARE:
            return 1.0
        aspect = float(num / den)
        turned = round(self._capture.get(cv2.CAP_PROP_ORIENTATION_META)) % 180 == 90
        return 1 / aspect if turned else aspect

    def _square(self, picture: Image) -> Image:
        height, width = picture.shape[:2]
        # Stretch and never squeeze: no pixel is thrown away, unless there are more than can be used.
        wide, tall = (self.pixel_aspect, 1.0) if self.pixel_aspect >= 1 else (1.0, 1 / self.pixel_aspect)
        factor = min(1.0, MOST_PX / max(width * wide, height * tall))
        size = (max(1, round(width * wide * factor)), max(1, round(height * tall * factor)))
        if size == (width, height):
            return picture
        how = cv2.INTER_AREA if factor < 0.55 else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(picture, size, interpolation=how), dtype=np.uint8)
