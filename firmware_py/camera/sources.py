"""Opens the camera that a configuration names, of whatever kind."""

from __future__ import annotations

from pathlib import Path

from firmware_py.camera.source import FrameSource
from firmware_py.camera.twin import TwinSource
from firmware_py.camera.video import VideoSource
from firmware_py.errors import DeviceMissingError
from firmware_py.settings import state_dir
from hub.link.config import Config


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
            if not config.board.twin:
                raise DeviceMissingError("[camera] source is twin, but [board] twin names no socket")
            return TwinSource(Path(config.board.twin), patience_s=patience_s)
        case "video":
            if not camera.device:
                raise DeviceMissingError("[camera] source is video, but device names no video file")
            return VideoSource(Path(camera.device))
        case "usb":
            from firmware_py.camera.usb import open_usb

            return open_usb(camera, state_dir(config))
        case "picamera2":
            from firmware_py.camera.picamera import open_picamera

            return open_picamera(camera, state_dir(config))
        case _:
            raise DeviceMissingError('[camera] source is "none": this board has no camera; set it to start the daemon')
