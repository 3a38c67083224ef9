"""Stand-ins for webcams and camera modules, written by hand; they do what their scripts say and note what was asked."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any, ClassVar

import cv2
import numpy as np

from firmware_py.camera.devices.grabber import Grab
from firmware_py.camera.source import FrameSource, SourceGoneError


def until_gone(source: FrameSource) -> str:
    """Take frames until the camera is gone; what is said of it."""
    while True:
        try:
            source.next(10.0)
        except SourceGoneError as error:
            return str(error)


def picture(level: int, size_wh: tuple[int, int] = (64, 48)) -> np.ndarray:
    return np.full((size_wh[1], size_wh[0], 3), level, np.uint8)


class ScriptedCamera:
    """A camera for the grabber: hands out what the test puts in, and blocks until it does.

    Put a :class:`Grab`, None for a camera that was unplugged, or an exception to be raised.
    """

    def __init__(self) -> None:
        self.script: queue.Queue[Grab | Exception | None] = queue.Queue()
        self.released = queue.Queue[bool]()

    def show(self, at_ns: int, level: int = 90) -> None:
        self.script.put(Grab(at_ns, 0, picture(level)))

    def read(self) -> Grab | None:
        item = self.script.get()
        if isinstance(item, Exception):
            raise item
        return item

    def release(self) -> None:
        self.released.put(True)


class FakeWebcam:
    """``cv2.VideoCapture`` of a webcam: adapts while its automatics are on, and keeps what it is told while off.

    Args:
        opens: whether it can be opened.
        frames: how many frames it gives before it is unplugged.
        stubborn: properties that it does not let be set.
        dates: the driver's time of each frame in ms, or None for a driver that tells nothing.
    """

    def __init__(
        self,
        *,
        opens: bool = True,
        frames: int = 10_000,
        stubborn: frozenset[int] = frozenset(),
        dates: Callable[[int], float] | None = None,
    ) -> None:
        self._opens, self._left, self._stubborn, self._dates = opens, frames, stubborn, dates
        self.asked: list[tuple[int, float]] = []
        self.read_count = 0
        self.released = False
        self.values: dict[int, float] = {
            cv2.CAP_PROP_AUTOFOCUS: 1,
            cv2.CAP_PROP_FOCUS: 35,
            cv2.CAP_PROP_AUTO_EXPOSURE: 3,
            cv2.CAP_PROP_EXPOSURE: 157,
            cv2.CAP_PROP_AUTO_WB: 1,
            cv2.CAP_PROP_WB_TEMPERATURE: 4600,
            cv2.CAP_PROP_GAIN: -1,
        }

    def isOpened(self) -> bool:  # noqa: N802 (OpenCV's name)
        return self._opens

    def set(self, what: int, value: float) -> bool:
        self.asked.append((what, value))
        if what in self._stubborn:
            return False
        self.values[what] = value
        return True

    def get(self, what: int) -> float:
        if what == cv2.CAP_PROP_POS_MSEC:
            return 0.0 if self._dates is None else self._dates(self.read_count)
        return self.values.get(what, 0.0)

    def read(self) -> tuple[bool, Any]:
        if self._left <= 0:
            return False, None
        self._left -= 1
        self.read_count += 1
        if self.values[cv2.CAP_PROP_AUTO_EXPOSURE] == 3:
            # It adapts: the exposure grows towards what the light wants.
            self.values[cv2.CAP_PROP_EXPOSURE] = min(300.0, self.values[cv2.CAP_PROP_EXPOSURE] + 10)
        return True, picture(self.read_count % 200)

    def release(self) -> None:
        self.released = True


class FakeRequest:
    """A completed request of picamera2."""

    def __init__(self, camera: FakePicamera2, number: int) -> None:
        self._camera, self._number = camera, number

    def make_array(self, name: str) -> np.ndarray:
        assert name == "main"
        return picture(self._number % 200, self._camera.config["main"]["size"])

    def get_metadata(self) -> dict[str, Any]:
        told = self._camera.controls
        return {
            "SensorTimestamp": 1_000_000_000 + self._number * 33_000_000,
            "ExposureTime": told["ExposureTime"],
            "AnalogueGain": told["AnalogueGain"],
            "ColourGains": told["ColourGains"],
            **({"LensPosition": told["LensPosition"]} if "AfMode" in self._camera.camera_controls else {}),
        }

    def release(self) -> None:
        self._camera.open_requests -= 1


class FakePicamera2:
    """The class ``Picamera2`` as version 0.3.36 behaves; what it does is set on the class of each test.

    ``controls_land_after`` frames pass before controls act; after ``frames`` frames none comes any more.
    """

    known: ClassVar[list[dict[str, Any]]] = [{"Model": "imx708", "Id": "/base/i2c/imx708@1a"}]
    frames = 10_000
    busy = False
    focuses = True
    controls_land_after = 4

    modes: ClassVar[list[dict[str, Any]]] = [
        {"size": (1536, 864), "fps": 120.1, "bit_depth": 10, "crop_limits": (768, 432, 3072, 1728)},
        {"size": (2304, 1296), "fps": 56.0, "bit_depth": 10, "crop_limits": (0, 0, 4608, 2592)},
        {"size": (4608, 2592), "fps": 14.4, "bit_depth": 10, "crop_limits": (0, 0, 4608, 2592)},
    ]

    def __init__(self, number: int) -> None:
        if self.busy:
            raise RuntimeError("Failed to acquire camera: Device or resource busy")
        self.number = number
        self.config: dict[str, Any] = {}
        self.configured = 0
        self.started = self.stopped = self.closed = self.focused = False
        self.open_requests = 0
        self._frame = 0
        self._pending: tuple[int, dict[str, Any]] | None = None
        self.controls: dict[str, Any] = {
            "ExposureTime": 9000,
            "AnalogueGain": 2.0,
            "ColourGains": (1.7, 1.9),
            "LensPosition": 0.5,
        }
        self.camera_controls = {"AfMode": (0, 2, 0)} if self.focuses else {}
        made.append(self)

    @classmethod
    def global_camera_info(cls) -> list[dict[str, Any]]:
        return cls.known

    @property
    def sensor_modes(self) -> list[dict[str, Any]]:
        assert not self.started, "reading the modes reconfigures the camera"
        return self.modes

    def create_video_configuration(self, **config: Any) -> dict[str, Any]:
        return config

    def align_configuration(self, config: dict[str, Any]) -> None:
        width, height = config["main"]["size"]
        config["main"]["size"] = (width // 32 * 32, height)

    def configure(self, config: dict[str, Any]) -> None:
        self.configured += 1
        assert self.configured == 1, "configuring again leaks memory"
        self.config = config

    def start(self) -> None:
        self.started = True

    def autofocus_cycle(self) -> bool:
        self.focused = True
        self.controls["LensPosition"] = 0.97
        return True

    def set_controls(self, controls: dict[str, Any]) -> None:
        self._pending = (self._frame + self.controls_land_after, controls)

    def capture_request(self, wait: float | None = None) -> FakeRequest:
        assert wait, "a wait without an end may never return"
        if self._frame >= self.frames:
            raise TimeoutError
        self._frame += 1
        if self._pending is not None and self._frame >= self._pending[0]:
            self.controls |= self._pending[1]
            self._pending = None
        self.open_requests += 1
        assert self.open_requests == 1, "a request was not given back"
        return FakeRequest(self, self._frame)

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        self.closed = True


made: list[FakePicamera2] = []
"""Every stand-in that was made, newest last."""
