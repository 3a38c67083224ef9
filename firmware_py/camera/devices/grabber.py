"""A thread that owns a real camera, since reading one can block for ever: it alone opens, reads and closes it.

The work loop only ever sees the newest frame, so no stale one is read. A camera that is gone is reported as gone and
may be reopened; one that hangs cannot even be closed, so the process ends and its supervisor starts it again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from firmware_py.camera.picture.lab import Image
from firmware_py.camera.source import Frame, SourceGoneError
from firmware_py.errors import DeviceMissingError, FirmwareError
from hub.link.clock import Clock, MonotonicClock

log = logging.getLogger(__name__)

#: A camera that has not answered for so long will not: OpenCV itself waits 10 s for a frame.
HUNG_S = 12.0
#: Opening loads firmware, learns exposure, focus and white balance, and reads the first frame.
OPEN_S = 12.0
_CLOSE_S = 1.5
#: So many frames in a row dated before the last one, and the camera's clock is not to be trusted.
MOST_BACKWARDS = 30


class CameraError(Exception):
    """A camera that cannot be opened, or has nothing more to say; one line that says why."""


class CameraHungError(FirmwareError):
    """A camera that does not answer any more; only a new process can open it again."""


@dataclass(frozen=True, slots=True)
class Grab:
    """A frame as a camera gives it.

    Attributes:
        at_ns: middle of the exposure on the kernel's monotonic clock.
        exposure_ns: how long the shutter was open, 0 where unknown.
        pixels: uint8 ``(height, width, 3)``, blue first, the receiver's own.
    """

    at_ns: int
    exposure_ns: int
    pixels: Image


class Camera(Protocol):
    """A real camera, used by one thread."""

    def read(self) -> Grab | None:
        """Wait for the next frame; None when none will come any more."""
        ...

    def release(self) -> None:
        """Let it go."""
        ...


class Grabber:
    """A real camera as a :class:`firmware_py.camera.source.FrameSource`.

    Args:
        name: what people call it, for messages.
        open_camera: opens it, in the thread; raises :class:`CameraError`.
        hung_s: how long it may take for a frame.
        open_s: how long it may take to open.
        end: ends the process for certain once the camera hangs.

    Raises:
        DeviceMissingError: it cannot be opened.
        CameraHungError: opening it does not end.
    """

    def __init__(
        self,
        name: str,
        open_camera: Callable[[], Camera],
        *,
        hung_s: float = HUNG_S,
        open_s: float = OPEN_S,
        end: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.clock: Clock = MonotonicClock()
        self.lockstep = False
        self.dropped = 0
        self.backwards = 0
        self._hung_s = hung_s
        self._end = end or _end_soon
        self._lock = threading.Lock()
        self._newest: Grab | None = None
        self._number = 0
        self._gone = ""
        self._hung = ""
        self._closing = self._opened = False
        self._answered_s = time.monotonic()
        self._read_fd, self._write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        os.set_blocking(self._write_fd, False)
        opened = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(open_camera, opened), name=f"camera {name}", daemon=True
        )
        self._thread.start()
        if not opened.wait(open_s):
            self._hang(f"{name} does not answer when it is opened")
        if self._hung:
            self._hang(self._hung)
        if not self._opened:
            self.close()
            raise DeviceMissingError(self._gone)

    def fileno(self) -> int:
        """See :class:`firmware_py.camera.source.FrameSource`."""
        return self._read_fd

    def next(self, timeout_s: float) -> Frame | None:
        """See :class:`firmware_py.camera.source.FrameSource`.

        Raises:
            CameraHungError: it does not answer any more.
        """
        frame = self._take()
        if frame is None and timeout_s > 0 and not (self._gone or self._hung):
            select.select([self._read_fd], [], [], timeout_s)
            frame = self._take()
        if frame is not None:
            return frame
        if self._hung:
            self._hang(self._hung)
        if self._gone:
            raise SourceGoneError(self._gone)
        if time.monotonic() - self._answered_s > self._hung_s:
            self._hang(f"{self.name} has not answered for {self._hung_s:.0f} s")
        return None

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        """See :class:`firmware_py.camera.source.FrameSource`."""

    def close(self) -> None:
        """See :class:`firmware_py.camera.source.FrameSource`; does not wait for a camera that hangs."""
        self._closing = True
        self._thread.join(_CLOSE_S)
        if self._thread.is_alive():
            # The thread may still write into the pipe, so it is left to the end of the process.
            log.error("%s does not let itself be closed", self.name)
            return
        if self._read_fd >= 0:
            os.close(self._read_fd)
            os.close(self._write_fd)
            self._read_fd = self._write_fd = -1

    def _take(self) -> Frame | None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._read_fd, 4096)
        with self._lock:
            grab, self._newest = self._newest, None
            number = self._number
        return None if grab is None else Frame(number, grab.at_ns, grab.exposure_ns, grab.pixels)

    def _hang(self, why: str) -> None:
        self._closing = True
        self._end()
        raise CameraHungError(
            f"{why}; the process ends so that a new one can open it: look at the cable if this recurs"
        )

    # -- in the thread ---------------------------------------------------------------------------------------------

    def _run(self, open_camera: Callable[[], Camera], opened: threading.Event) -> None:
        camera: Camera | None = None
        try:
            camera = open_camera()
            self._answered_s = time.monotonic()
            self._opened = True
            opened.set()
            self._grab_all(camera)
        except CameraHungError as error:
            # Closing it would hang too.
            self._hung, camera = str(error), None
        except CameraError as error:
            self._gone = str(error)
        except Exception as error:  # an escaped error must reach the loop, or it would wait for ever
            log.exception("%s failed", self.name)
            self._gone = f"{self.name} failed: {error}"
        finally:
            if camera is not None:
                try:
                    camera.release()
                except Exception:  # a camera that is gone may refuse everything; there is nothing to save
                    log.exception("%s could not be let go", self.name)
            opened.set()
            self._wake()

    def _grab_all(self, camera: Camera) -> None:
        last_ns, back = -1, 0
        while not self._closing:
            grab = camera.read()
            self._answered_s = time.monotonic()
            if grab is None:
                raise CameraError(f"{self.name} gives no more frames: unplugged, or its cable is loose")
            if grab.at_ns <= last_ns:
                back += 1
                self.backwards += 1
                if back >= MOST_BACKWARDS:
                    raise CameraError(f"{self.name} dates its frames backwards; it is opened anew")
                continue
            last_ns, back = grab.at_ns, 0
            with self._lock:
                self.dropped += self._newest is not None
                self._newest = grab
                self._number += 1
            self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # a full pipe wakes the loop as well; a closed one needs no waking
            os.write(self._write_fd, b"!")


def _end_soon() -> None:
    """End the process even if a thread in the driver keeps the interpreter from ending."""
    last = threading.Timer(4.0, os._exit, (3,))
    last.daemon = True
    last.start()
