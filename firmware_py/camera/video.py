"""A recorded video as a camera: every frame in order, dated by the recording's own clock."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import numpy as np

from firmware_py.camera.lab import Image
from firmware_py.camera.source import Frame, SourceEndedError
from firmware_py.errors import DeviceMissingError
from hub.link.clock import Clock, ManualClock

#: Stored aspect ratios further from square pixels than this are stretched.
_SQUARE = 0.01


class VideoSource:
    """The frames of a file, as fast as they are taken.

    Raises:
        DeviceMissingError: it cannot be opened as a video.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise DeviceMissingError(f"[camera] device {path}: no such file; name a video")
        self._capture = cv2.VideoCapture(str(path))
        if not self._capture.isOpened():
            raise DeviceMissingError(f"[camera] device {path}: is not a video that OpenCV can read")
        self._rate = self._capture.get(cv2.CAP_PROP_FPS) or 25.0
        num, den = self._capture.get(cv2.CAP_PROP_SAR_NUM), self._capture.get(cv2.CAP_PROP_SAR_DEN)
        self._stretch = num / den if num > 0 and den > 0 and abs(num / den - 1) > _SQUARE else 1.0
        self._clock = ManualClock()
        self._number = 0
        # Something a selector can wait for: always readable.
        self._ready, write = os.pipe()
        os.write(write, b"x")
        os.close(write)
        self.lockstep = True
        self.dropped = 0

    @property
    def clock(self) -> Clock:
        """See :class:`firmware_py.camera.source.FrameSource`."""
        return self._clock

    def fileno(self) -> int:
        """See :class:`firmware_py.camera.source.FrameSource`."""
        return self._ready

    def next(self, timeout_s: float) -> Frame | None:  # a file never makes wait
        """See :class:`firmware_py.camera.source.FrameSource`."""
        del timeout_s
        good, picture = self._capture.read()
        if not good:
            raise SourceEndedError("the recording is at its end")
        pixels: Image = np.asarray(picture, dtype=np.uint8)
        if self._stretch != 1.0:
            size = (round(pixels.shape[1] * self._stretch), pixels.shape[0])
            pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
        self._number += 1
        at_ns = round(self._number * 1e9 / self._rate)
        self._clock.at_ns = at_ns
        return Frame(self._number, at_ns, 0, pixels)

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        """See :class:`firmware_py.camera.source.FrameSource`."""

    def close(self) -> None:
        """See :class:`firmware_py.camera.source.FrameSource`."""
        self._capture.release()
        os.close(self._ready)
