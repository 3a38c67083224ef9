"""A USB webcam through V4L2: motion JPEG, named by maker and number, and locked once it has adapted."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np

from firmware_py.camera.devices.grabber import CameraError, Grab, Grabber
from firmware_py.camera.devices.locks import Locks
from firmware_py.errors import DeviceMissingError
from hub.link.config import CameraSection

log = logging.getLogger(__name__)

BY_ID = Path("/dev/v4l/by-id")
#: A webcam needs about two seconds to adapt; then what it chose is locked.
SETTLE_FRAMES = 60
#: Frames that were exposed before the locks held.
STALE_FRAMES = 8
_MANUAL_EXPOSURE, _AUTO_EXPOSURE = 1.0, 3.0
#: V4L2 counts exposure in 100 us.
_EXPOSURE_NS = 100_000
_MJPG = cv2.VideoWriter.fourcc(*"MJPG")
#: By name: what switches the automatic off and on, and what holds the value.
_CONTROLS: dict[str, tuple[int | None, float, float, int]] = {
    "focus": (cv2.CAP_PROP_AUTOFOCUS, 0.0, 1.0, cv2.CAP_PROP_FOCUS),
    "exposure": (cv2.CAP_PROP_AUTO_EXPOSURE, _MANUAL_EXPOSURE, _AUTO_EXPOSURE, cv2.CAP_PROP_EXPOSURE),
    "white_balance": (cv2.CAP_PROP_AUTO_WB, 0.0, 1.0, cv2.CAP_PROP_WB_TEMPERATURE),
    "gain": (None, 0.0, 0.0, cv2.CAP_PROP_GAIN),
}


class Device(Protocol):
    """What is used of ``cv2.VideoCapture``."""

    def isOpened(self) -> bool:  # noqa: N802 (OpenCV's name)
        """Whether it could be opened."""
        ...

    def set(self, what: int, value: float) -> bool:
        """Set a property; False if it does not exist."""
        ...

    def get(self, what: int) -> float:
        """A property, 0 or -1 if it does not exist."""
        ...

    def read(self) -> tuple[bool, Any]:
        """The next frame; blocks."""
        ...

    def release(self) -> None:
        """Let it go."""
        ...


OpenDevice = Callable[[str], Device]


def _open_v4l2(path: str) -> Device:
    return cv2.VideoCapture(path, cv2.CAP_V4L2)


class UsbCamera:
    """One webcam, open and locked; used by one thread.

    Args:
        path: of the device.
        settings: size and rate that are wanted.
        locks: what it was locked to.
        open_device: opens it.
        now_ns: the monotonic clock.

    Raises:
        CameraError: it cannot be opened, or gives no frames.
    """

    def __init__(
        self,
        path: str,
        settings: CameraSection,
        locks: Locks,
        *,
        open_device: OpenDevice = _open_v4l2,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._path, self._now_ns = path, now_ns
        self._device = open_device(path)
        if not self._device.isOpened():
            self._device.release()
            raise CameraError(
                f"[camera] device {path} cannot be opened: another program may use it, or it is no camera"
            )
        try:
            self._begin(settings, locks)
        except CameraError:
            self._device.release()
            raise

    def _begin(self, settings: CameraSection, locks: Locks) -> None:
        device, (width, height) = self._device, settings.size_wh
        # The format first: raw frames of this size would not fit through USB, and drivers then refuse the size.
        device.set(cv2.CAP_PROP_FOURCC, _MJPG)
        device.set(cv2.CAP_PROP_FRAME_WIDTH, width)
        device.set(cv2.CAP_PROP_FRAME_HEIGHT, height)
        device.set(cv2.CAP_PROP_FPS, settings.frame_rate_hz)
        device.set(cv2.CAP_PROP_BUFFERSIZE, 2)
        given = (round(device.get(cv2.CAP_PROP_FRAME_WIDTH)), round(device.get(cv2.CAP_PROP_FRAME_HEIGHT)))
        if given != (width, height):
            log.warning("%s gives %d x %d pixels, not the %d x %d asked for", self._path, *given, width, height)
        values = locks.load(self._path)
        if values is None:
            values = self._learn()
            locks.save(self._path, values)
        self.unlocked = self._lock(values)
        self._exposure_ns = round(values.get("exposure", 0.0) * _EXPOSURE_NS)
        if self.unlocked:
            log.warning("%s does not let %s be locked", self._path, ", ".join(self.unlocked))
        self._drain(STALE_FRAMES)

    def read(self) -> Grab | None:
        """See :class:`firmware_py.camera.devices.grabber.Camera`."""
        good, picture = self._device.read()
        now_ns = self._now_ns()
        if not good or picture is None or np.ndim(picture) != 3:
            return None
        # The driver dates a frame when its first row arrives, on the same clock; some drivers do not.
        told_ns = round(self._device.get(cv2.CAP_PROP_POS_MSEC) * 1e6)
        arrived_ns = told_ns if 0 <= now_ns - told_ns < 1_000_000_000 else now_ns
        return Grab(arrived_ns - self._exposure_ns // 2, self._exposure_ns, np.asarray(picture, dtype=np.uint8))

    def release(self) -> None:
        """See :class:`firmware_py.camera.devices.grabber.Camera`."""
        self._device.release()

    def _learn(self) -> dict[str, float]:
        """Let the camera adapt and see what it chose."""
        for switch, _, auto, _ in _CONTROLS.values():
            if switch is not None:
                self._device.set(switch, auto)
        self._drain(SETTLE_FRAMES)
        values = {}
        for name, (_, _, _, holder) in _CONTROLS.items():
            value = self._device.get(holder)
            # What a camera does not have reads as 0 or -1.
            if value > 0 or (name == "focus" and value == 0):
                values[name] = value
        return values

    def _lock(self, values: dict[str, float]) -> tuple[str, ...]:
        """Set everything to kept values; names what does not hold."""
        loose = []
        for name, (switch, manual, _, holder) in _CONTROLS.items():
            if name not in values:
                continue
            if switch is not None:
                self._device.set(switch, manual)
            self._device.set(holder, values[name])
            if abs(self._device.get(holder) - values[name]) > max(1.0, 0.02 * abs(values[name])):
                loose.append(name)
        return tuple(loose)

    def _drain(self, count: int) -> None:
        for _ in range(count):
            good, _ = self._device.read()
            if not good:
                raise CameraError(f"[camera] device {self._path} is open but gives no frames: try another USB socket")


def find_device(asked: str, by_id: Path = BY_ID) -> str:
    """The path of the webcam.

    Args:
        asked: ``[camera] device``; empty for the only one there is.
        by_id: the folder in which udev names cameras by maker and number.

    Raises:
        DeviceMissingError: it is not there, or there is more than one to choose from.
    """
    there = sorted(str(p) for p in by_id.glob("*-video-index0")) if by_id.is_dir() else []
    listed = "; there are " + ", ".join(there) if there else "; none is plugged in"
    if asked:
        if not Path(asked).exists():
            raise DeviceMissingError(f"[camera] device {asked}: no such usb camera{listed}")
        return asked
    if len(there) != 1:
        raise DeviceMissingError(f"[camera] device must name the usb camera{listed}")
    return there[0]


def open_usb(settings: CameraSection, folder: Path, *, open_device: OpenDevice = _open_v4l2) -> Grabber:
    """The webcam that the configuration names.

    Args:
        settings: ``[camera]``.
        folder: the board's state folder, for what it is locked to.
        open_device: opens it.

    Raises:
        DeviceMissingError: it is not there or cannot be opened.
        CameraHungError: opening it does not end.
    """
    path = find_device(settings.device)
    locks = Locks(folder)
    return Grabber(path, lambda: UsbCamera(path, settings, locks, open_device=open_device))
