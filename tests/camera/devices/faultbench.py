"""Cameras of every kind under the daemon's own loop, each fed picture by picture as a test's script says.

What stands below the driver is a stand-in (a webcam's and a camera module's library, the twin's end of its line, a
file written for the purpose); the driver, the grabber with its thread and the loop are the real ones.
"""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from fakes import FakePicamera2, FakeRequest, FakeWebcam

from firmware_py.camera.devices.grabber import Grabber
from firmware_py.camera.devices.locks import Locks
from firmware_py.camera.picamera import PiCamera
from firmware_py.camera.source import Frame, FrameSource, SourceEndedError
from firmware_py.camera.twin import TwinSource
from firmware_py.camera.usb import UsbCamera
from firmware_py.camera.video import VideoSource
from hardware.line import FrameMemory, Line, listen
from hub.link.clock import Clock
from hub.link.config import CameraSection

SIZE_WH = (320, 240)
SETTINGS = CameraSection(source="usb", device="/dev/video0", size_wh=SIZE_WH)
SILENCE_S = 0.25
_PATIENCE_S = 20.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture that comes, dated."""

    pixels: np.ndarray
    at_ns: int


class Silence:
    """A while, :data:`SILENCE_S`, in which nothing comes."""


class Gone:
    """The camera is no longer there: unplugged, its process killed, the module's cable loose."""


Step = Shown | Silence | Gone


class Kind(Protocol):
    """One kind of camera: opened anew as often as it is asked to, and fed by the test."""

    def __init__(self, folder: Path) -> None: ...

    def open(self) -> FrameSource: ...

    def show(self, shown: Shown) -> None:
        """Hand one picture to the driver, and return when it has been taken in."""
        ...

    def vanish(self) -> None: ...

    def let_go(self) -> None:
        """Whoever waits for a picture need not wait any longer."""
        ...

    def close(self) -> None: ...


class _Feed:
    """Pictures for a driver's thread, one at a time: the next is given when the one before has been taken in."""

    def __init__(self) -> None:
        self._pictures: queue.SimpleQueue[Shown | None] = queue.SimpleQueue()
        self._asked = threading.Semaphore(0)
        self._over = False

    def take(self) -> Shown | None:
        """In the driver's thread: waits for a picture; None when there will be none."""
        self._asked.release()
        return None if self._over else self._pictures.get()

    def give(self, shown: Shown) -> None:
        """In the test's thread."""
        self._wait()
        self._pictures.put(shown)
        self._wait()
        self._asked.release()

    def end(self) -> None:
        self._over = True
        self._pictures.put(None)

    def closed(self) -> None:
        """The driver will never ask again."""
        self._asked.release()

    def _wait(self) -> None:
        assert self._asked.acquire(timeout=_PATIENCE_S), "the driver does not ask for pictures"


class _FedWebcam(FakeWebcam):
    def __init__(self, feed: _Feed, learning: int) -> None:
        super().__init__()
        self._feed, self._learning = feed, learning
        self.at_ns = 1

    def get(self, what: int) -> float:
        return self.at_ns / 1e6 if what == cv2.CAP_PROP_POS_MSEC else super().get(what)

    def read(self) -> tuple[bool, Any]:
        if self._learning > 0:
            self._learning -= 1
            return super().read()
        shown = self._feed.take()
        if shown is None:
            return False, None
        self.at_ns = shown.at_ns
        return True, shown.pixels

    def release(self) -> None:
        self._feed.closed()


class _FedKind:
    """A camera whose driver is fed by the test."""

    def __init__(self, locks: Locks) -> None:
        self._locks = locks
        self._feed = _Feed()

    def show(self, shown: Shown) -> None:
        self._feed.give(shown)

    def vanish(self) -> None:
        self._feed.end()

    let_go = vanish

    def close(self) -> None:
        pass


class UsbKind(_FedKind):
    """A webcam; locked to what it chose when it was opened first."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Locks(folder))
        self._locks.save("/dev/video0", {"exposure": 157.0})

    def open(self) -> FrameSource:
        self._feed = _Feed()
        webcam = _FedWebcam(self._feed, learning=8)

        def camera() -> UsbCamera:
            return UsbCamera(
                "/dev/video0", SETTINGS, self._locks, open_device=lambda _: webcam, now_ns=lambda: webcam.at_ns
            )

        return Grabber("/dev/video0", camera, end=lambda: None)


class PicameraKind(_FedKind):
    """A camera module."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Locks(folder))
        self._locks.save("picamera2 /base/i2c/imx708@1a", {"exposure_us": 9000, "gain": 2, "red": 1.7, "blue": 1.9})

    def open(self) -> FrameSource:
        feed = self._feed = _Feed()

        class Request(FakeRequest):
            def __init__(self, camera: Fed, shown: Shown) -> None:
                super().__init__(camera, 0)
                self._shown = shown

            def make_array(self, name: str) -> np.ndarray:
                return self._shown.pixels

            def get_metadata(self) -> dict[str, Any]:
                return {**super().get_metadata(), "SensorTimestamp": self._shown.at_ns}

        class Fed(FakePicamera2):
            learning = 12

            def capture_request(self, wait: float | None = None) -> FakeRequest:
                if self.learning > 0:
                    self.learning -= 1
                    return super().capture_request(wait)
                shown = feed.take()
                if shown is None:
                    raise TimeoutError
                self.open_requests += 1
                return Request(self, shown)

            def close(self) -> None:
                feed.closed()

        return Grabber(
            "camera module", lambda: PiCamera(SETTINGS, self._locks, picamera2=Fed), hung_s=6.0, end=lambda: None
        )


class TwinKind:
    """The twin's end of the line."""

    lockstep = False

    def __init__(self, folder: Path) -> None:
        self._path = folder / "twin.sock"
        self._memory = FrameMemory(folder / "frames", size_wh=SIZE_WH)
        self._server: socket.socket = listen(self._path)
        self._line: Line | None = None
        self._number = 0

    def open(self) -> FrameSource:
        welcoming = threading.Thread(target=self._welcome)
        welcoming.start()
        source = TwinSource(self._path, patience_s=0.0)
        welcoming.join(_PATIENCE_S)
        return source

    def show(self, shown: Shown) -> None:
        self._number += 1
        slot = self._number % self._memory.slots
        self._memory.pixels(slot)[:] = shown.pixels.tobytes()
        self._memory.clock_ns = max(self._memory.clock_ns, shown.at_ns)
        self._memory.publish(slot, self._number, shown.at_ns, 0)
        assert self._line is not None
        self._line.send({"is": "frame", "number": self._number, "at_ns": shown.at_ns, "slot": slot})

    def vanish(self) -> None:
        assert self._line is not None
        self._line.close()

    def let_go(self) -> None:
        pass

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
        self._server.close()

    def _welcome(self) -> None:
        line = Line(self._server.accept()[0])
        assert line.receive(_PATIENCE_S) is not None
        line.send({"is": "welcome", "path": str(self._memory.path), "lockstep": self.lockstep, "epoch_ns": 0})
        if self._line is not None:
            self._line.close()
        self._line = line


class LockstepKind(TwinKind):
    """A twin that waits for whoever reads its frames."""

    lockstep = True


class VideoKind:
    """A file, dated by its frame rate; written when it is opened, with all pictures of the script."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "board.avi"
        self.pictures: Sequence[np.ndarray] = ()

    def open(self) -> FrameSource:
        writer = cv2.VideoWriter(str(self.path), cv2.VideoWriter_fourcc(*"MJPG"), 10.0, SIZE_WH)
        for picture in self.pictures:
            writer.write(picture)
        writer.release()
        self.written()
        return VideoSource(self.path)

    def written(self) -> None:
        """What becomes of the file before it is read."""

    def show(self, shown: Shown) -> None:
        pass

    def vanish(self) -> None:
        pass

    let_go = close = vanish


class Fed:
    """The source that the loop sees: the real one, with one step of the script before each look at it.

    Attributes:
        seen: which faults stood before each step.
        steps: what is still to come; shared by all sources of one kind, so that a reopened one goes on.
    """

    def __init__(self, kind: Kind, steps: list[Step], standing: Callable[[], tuple[str, ...]], pass_s: Any) -> None:
        self._kind, self._source = kind, kind.open()
        self.steps, self._standing, self._pass_s = steps, standing, pass_s
        self.seen: list[tuple[str, ...]] = []

    @property
    def clock(self) -> Clock:
        return self._source.clock

    @property
    def lockstep(self) -> bool:
        return self._source.lockstep

    @property
    def dropped(self) -> int:
        return self._source.dropped

    def fileno(self) -> int:
        return self._source.fileno()

    def next(self, timeout_s: float) -> Frame | None:
        self.seen.append(self._standing())
        if not self.steps:
            raise SourceEndedError("the script is at its end")
        step = self.steps.pop(0)
        match step:
            case Silence():
                self._pass_s(SILENCE_S)
            case Gone():
                self._kind.vanish()
                for _ in range(1000):  # the driver notices in its own thread, and says so by an exception
                    self._source.next(0.02)
            case Shown():
                self._kind.show(step)
        return self._source.next(timeout_s)

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        self._source.done(frame, boot, seq)

    def close(self) -> None:
        self._kind.let_go()
        self._source.close()
