"""The simulated camera: frames from the twin's shared memory, as a real camera would hand them out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from firmware_py.camera.source import Frame, SourceGoneError
from firmware_py.errors import DeviceMissingError
from hardware.line import FrameMemory, Line, LineError
from hub.link.clock import Clock, CounterClock, SimClock

_CONNECT_S = 10.0


class TwinSource:
    """Frames of the twin at a socket.

    Raises:
        DeviceMissingError: no twin listens there.
    """

    def __init__(self, path: Path, *, patience_s: float = _CONNECT_S) -> None:
        end_s = time.monotonic() + patience_s
        while True:
            try:
                self._line, welcome = Line.connect(path, "camera")
                self._memory = FrameMemory(Path(str(welcome["path"])))
                break
            except (LineError, KeyError) as error:
                if time.monotonic() >= end_s:
                    raise DeviceMissingError(f"{error}; start the twin, or correct [board] twin") from None
                time.sleep(0.1)
        self.lockstep = bool(welcome.get("lockstep", False))
        self.clock: Clock = (
            CounterClock(lambda: self._memory.clock_ns)
            if self.lockstep
            else SimClock(int(welcome.get("epoch_ns", 0)), float(welcome.get("speed", 1.0)))
        )
        self.dropped = 0

    def fileno(self) -> int:
        """See :class:`firmware_py.camera.source.FrameSource`."""
        return self._line.fileno()

    def next(self, timeout_s: float) -> Frame | None:
        """See :class:`firmware_py.camera.source.FrameSource`.

        At real speed only the newest of the frames that have come is read; those passed over are counted, and given
        back at once.
        """
        try:
            newest = self._frame(self._line.receive(timeout_s))
            if newest is None:
                return None
            for message in self._line.waiting():
                later = self._frame(message)
                if later is not None:
                    self._pass_over(newest)
                    newest = later
            return self._read(newest)
        except LineError as error:
            raise SourceGoneError(str(error)) from None

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        """See :class:`firmware_py.camera.source.FrameSource`."""
        try:
            self._line.send({"is": "taken", "number": frame.number, "boot": boot, "seq": seq})
        except LineError as error:
            raise SourceGoneError(str(error)) from None

    def close(self) -> None:
        """See :class:`firmware_py.camera.source.FrameSource`."""
        self._line.close()

    @staticmethod
    def _frame(message: dict[str, Any] | None) -> dict[str, Any] | None:
        return message if message is not None and message.get("is") == "frame" else None

    def _pass_over(self, message: dict[str, Any]) -> None:
        self.dropped += 1
        self._line.send({"is": "taken", "number": message["number"], "boot": "", "seq": 0})

    def _read(self, message: dict[str, Any]) -> Frame | None:
        slot, number = int(message["slot"]), int(message["number"])
        memory = self._memory
        pixels = np.frombuffer(memory.pixels(slot), np.uint8).reshape(memory.height, memory.width, memory.channels)
        if not self.lockstep:
            # The twin does not wait: what it writes over while we copy is no frame.
            pixels = pixels.copy()
        label, at_ns, exposure_ns = memory.label(slot)
        if label != number:
            self._pass_over(message)
            return None
        return Frame(number, at_ns, exposure_ns, pixels)
