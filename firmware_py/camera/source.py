"""Where frames come from: the door that the twin, a video file and real cameras stand behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from firmware_py.camera.picture.lab import Image
from hub.link.clock import Clock


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture.

    Attributes:
        number: counts the camera's frames; a gap means frames that were not handed out.
        at_ns: middle of the exposure on the board's clock.
        exposure_ns: how long the shutter was open, 0 where unknown.
        pixels: uint8 ``(height, width, 3)``, blue first; valid until the frame is given back.
    """

    number: int
    at_ns: int
    exposure_ns: int
    pixels: Image


class SourceGoneError(Exception):
    """The camera is gone (unplugged, its process ended); reopening may help."""


class SourceEndedError(Exception):
    """The recording is at its end."""


class FrameSource(Protocol):
    """A camera, whatever kind."""

    @property
    def clock(self) -> Clock:
        """The clock that frames are dated on."""
        ...

    @property
    def lockstep(self) -> bool:
        """Whether the world waits until a frame is done with; then a pause is no fault."""
        ...

    @property
    def dropped(self) -> int:
        """Frames that came and were not read, because reading took too long."""
        ...

    def fileno(self) -> int:
        """Readable when a frame may have come."""
        ...

    def next(self, timeout_s: float) -> Frame | None:
        """The newest frame; None when none comes in real ``timeout_s``.

        Raises:
            SourceGoneError: the camera is gone.
            SourceEndedError: there will be no more.
        """
        ...

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        """Give a frame back; all facts that it led to are acknowledged up to ``seq`` of ``boot``."""
        ...

    def close(self) -> None:
        """Let the camera go."""
        ...
