"""A recorded video as a camera: every frame in order, dated by the recording's own clock."""

from __future__ import annotations

import os
from pathlib import Path

from firmware_py.camera.recorded.film import Film, FilmError
from firmware_py.camera.source import Frame, SourceEndedError
from firmware_py.errors import DeviceMissingError
from hub.link.clock import Clock, ManualClock


class VideoSource:
    """The frames of a file, as fast as they are taken.

    Raises:
        DeviceMissingError: it cannot be opened as a video.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._film = Film(path)
        except FilmError as error:
            raise DeviceMissingError(f"[camera] device {error}") from None
        self._clock = ManualClock()
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
        shown = self._film.next()
        if shown is None:
            raise SourceEndedError("the recording is at its end")
        self._clock.at_ns = shown.at_ns
        return Frame(shown.index + 1, shown.at_ns, 0, shown.pixels)

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        """See :class:`firmware_py.camera.source.FrameSource`."""

    def close(self) -> None:
        """See :class:`firmware_py.camera.source.FrameSource`."""
        self._film.close()
        os.close(self._ready)
