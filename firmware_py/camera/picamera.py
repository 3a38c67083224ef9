"""A Raspberry Pi camera module through picamera2, which only the Pi's own system packages bring along.

It is opened once and configured once: doing it again leaks the memory that cameras share with the GPU. A frame that
does not come in time leaves picamera2 with a job that it cannot take back, so the process ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from firmware_py.camera.devices.grabber import CameraError, CameraHungError, Grab, Grabber
from firmware_py.camera.devices.locks import Locks
from firmware_py.errors import DeviceMissingError
from hub.link.config import CameraSection

log = logging.getLogger(__name__)

SETTLE_FRAMES = 60
#: Controls act some frames after they were set.
ACT_FRAMES = 12
_WAIT_S = 2.0
_BUFFERS = 3
#: Modes that show less of the picture than this part of the widest one are cropped.
_FULL_VIEW = 0.97
#: Locked values as libcamera names them.
_EXPOSURE, _GAIN, _RED, _BLUE, _FOCUS = "exposure_us", "gain", "red", "blue", "dioptres"
#: What every camera module has to lock; not all have a motor.
_LOCKED = {_EXPOSURE, _GAIN, _RED, _BLUE}


def import_picamera2() -> Any:
    """The class ``Picamera2``.

    Raises:
        DeviceMissingError: the package is missing.
    """
    try:
        from picamera2 import Picamera2
    except ImportError as error:
        raise DeviceMissingError(
            f'[camera] source "picamera2" needs the system package python3-picamera2 and a venv made with '
            f"--system-site-packages ({error})"
        ) from None
    return Picamera2


def choose_mode(modes: Sequence[Mapping[str, Any]], size_wh: tuple[int, int], rate_hz: float) -> Mapping[str, Any]:
    """The sensor mode to read: uncropped if one is fast enough, large enough, and no larger than needed.

    Args:
        modes: ``sensor_modes`` of picamera2.
        size_wh: size of the frames that are wanted.
        rate_hz: how many in a second.
    """

    def view(mode: Mapping[str, Any]) -> float:
        return float(mode["crop_limits"][2]) * float(mode["crop_limits"][3])

    widest = max(view(m) for m in modes)
    fast = [m for m in modes if float(m["fps"]) >= rate_hz - 0.5] or [max(modes, key=lambda m: float(m["fps"]))]
    whole = [m for m in fast if view(m) >= _FULL_VIEW * widest]
    if not whole:
        log.warning("no mode shows the whole picture at %.0f frames a second: a part of it is used", rate_hz)
        best = max(view(m) for m in fast)
        whole = [m for m in fast if view(m) >= _FULL_VIEW * best]
    large = [m for m in whole if m["size"][0] >= size_wh[0] and m["size"][1] >= size_wh[1]]
    if large:
        return min(large, key=lambda m: (m["size"][0] * m["size"][1], m["bit_depth"]))
    return max(whole, key=lambda m: m["size"][0] * m["size"][1])


class PiCamera:
    """One camera module, open and locked; used by one thread.

    Args:
        settings: ``[camera]``; ``device`` is the camera's number, empty for the first.
        locks: what it was locked to.
        picamera2: the class, or a stand-in for it.

    Raises:
        CameraError: there is no such camera, or it cannot be opened.
    """

    def __init__(self, settings: CameraSection, locks: Locks, *, picamera2: Any) -> None:
        number = int(settings.device) if settings.device.isdigit() else 0
        known = picamera2.global_camera_info()
        # Picamera2() itself would end in an IndexError.
        if number >= len(known):
            raise CameraError(
                f"[camera] camera {number} is not there, {len(known)} found: seat its cable, then restart the board"
            )
        name = f"picamera2 {known[number].get('Id', number)}"
        try:
            self._camera = picamera2(number)
        except (RuntimeError, IndexError) as error:
            raise CameraError(
                f"[camera] camera {number} cannot be opened: {error}; another program may use it"
            ) from None
        self._begin(settings, locks, name)

    def _begin(self, settings: CameraSection, locks: Locks, name: str) -> None:
        camera = self._camera
        mode = choose_mode(camera.sensor_modes, settings.size_wh, settings.frame_rate_hz)
        frame_us = round(1e6 / min(settings.frame_rate_hz, float(mode["fps"])))
        # picamera2's RGB888 has blue first in memory, as OpenCV wants it. A raw stream would cost a buffer each frame.
        config = camera.create_video_configuration(
            main={"size": settings.size_wh, "format": "RGB888"},
            raw=None,
            buffer_count=_BUFFERS,
            sensor={"output_size": mode["size"], "bit_depth": mode["bit_depth"]},
            controls={"FrameDurationLimits": (frame_us, frame_us)},
        )
        camera.align_configuration(config)
        camera.configure(config)
        camera.start()
        values = locks.load(name)
        if values is None or _LOCKED - values.keys():
            values = self._learn()
            locks.save(name, values)
        self._lock(values)

    def read(self) -> Grab | None:
        """See :class:`firmware_py.camera.devices.grabber.Camera`.

        Raises:
            CameraHungError: no frame came in time.
        """
        request = self._request()
        try:
            picture = np.array(request.make_array("main"), dtype=np.uint8)
            told = request.get_metadata()
        finally:
            request.release()
        exposure_ns = 1000 * round(float(told.get("ExposureTime", 0)))
        # The sensor's time is that of the first row's readout, which is the end of its exposure.
        ended_ns = int(told.get("SensorTimestamp") or time.monotonic_ns())
        return Grab(ended_ns - exposure_ns // 2, exposure_ns, picture)

    def release(self) -> None:
        """See :class:`firmware_py.camera.devices.grabber.Camera`."""
        self._camera.stop()
        self._camera.close()

    def _request(self) -> Any:
        try:
            return self._camera.capture_request(wait=_WAIT_S)
        except TimeoutError:
            raise CameraHungError(f"the camera module gave no frame in {_WAIT_S:.0f} s: look at its cable") from None

    def _metadata(self) -> dict[str, Any]:
        request = self._request()
        try:
            told: dict[str, Any] = request.get_metadata()
        finally:
            request.release()
        return told

    def _learn(self) -> dict[str, float]:
        """Let exposure, white balance and focus adapt and see what they came to."""
        if "AfMode" in self._camera.camera_controls:
            self._camera.autofocus_cycle()
        told: dict[str, Any] = {}
        for _ in range(SETTLE_FRAMES):
            told = self._metadata()
        red, blue = told["ColourGains"]
        values = {
            _EXPOSURE: float(told["ExposureTime"]),
            _GAIN: float(told["AnalogueGain"]),
            _RED: float(red),
            _BLUE: float(blue),
        }
        if "LensPosition" in told:
            values[_FOCUS] = float(told["LensPosition"])
        return values

    def _lock(self, values: Mapping[str, float]) -> None:
        controls: dict[str, Any] = {
            "AeEnable": False,
            "AwbEnable": False,
            "ExposureTime": round(values[_EXPOSURE]),
            "AnalogueGain": values[_GAIN],
            "ColourGains": (values[_RED], values[_BLUE]),
        }
        if _FOCUS in values and "AfMode" in self._camera.camera_controls:
            # 0 = AfModeEnum.Manual; the enum itself lives in libcamera, which is not there off a Pi.
            controls |= {"AfMode": 0, "LensPosition": values[_FOCUS]}
        self._camera.set_controls(controls)
        told: dict[str, Any] = {}
        for _ in range(ACT_FRAMES):
            told = self._metadata()
        if abs(float(told.get("ExposureTime", 0)) - values[_EXPOSURE]) > max(60.0, 0.03 * values[_EXPOSURE]):
            log.warning("the camera module did not take the exposure it was locked to")


def open_picamera(settings: CameraSection, folder: Path, *, picamera2: Callable[[], Any] = import_picamera2) -> Grabber:
    """The camera module that the configuration names.

    Args:
        settings: ``[camera]``.
        folder: the board's state folder, for what it is locked to.
        picamera2: gives the class.

    Raises:
        DeviceMissingError: picamera2 or the camera is not there.
        CameraHungError: it does not answer.
    """
    if settings.device and not settings.device.isdigit():
        raise DeviceMissingError(f"[camera] device is the camera module's number, 0 or 1, got {settings.device!r}")
    made = picamera2()
    locks = Locks(folder)
    return Grabber("camera module", lambda: PiCamera(settings, locks, picamera2=made), hung_s=3 * _WAIT_S)
