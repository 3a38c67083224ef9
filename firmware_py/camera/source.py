"""Where frames come from: the door that the twin, a video file and real cameras stand behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from firmware_py.camera.lab import Image
from firmware_py.errors import DeviceMissingError
from firmware_py.settings import state_dir
from hub.link.clock import Clock
from hub.link.config import Config


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


def open_source(config: Config, *, patience_s: float = 10.0) -> FrameSource:
    """The source that the configuration names.

    Args:
        config: the whole configuration.
        patience_s: how long to wait, in real seconds, for a twin that is about to start.

    Raises:
        DeviceMissingError: it is not there, or its library is not.
        CameraHungError: it is there and does not answer.
    """
    camera = config.camera
    match camera.source:
        case "twin":
            from firmware_py.camera.twin import TwinSource

            if not config.board.twin:
                raise DeviceMissingError("[camera] source is twin, but [board] twin names no socket")
            return TwinSource(Path(config.board.twin), patience_s=patience_s)
        case "video":
            from firmware_py.camera.video import VideoSource

            return VideoSource(Path(camera.device))
        case "usb":
            from firmware_py.camera.usb import open_usb

            return open_usb(camera, state_dir(config))
        case "picamera2":
            from firmware_py.camera.picamera import open_picamera

            return open_picamera(camera, state_dir(config))
        case _:
            raise DeviceMissingError('[camera] source is "none": this board has no camera; set it to start the daemon')
