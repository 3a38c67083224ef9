"""The line between the twin and the drivers that stand in for a board's devices; standard library only.

One twin process serves one board. It listens on a Unix socket on which both ends speak JSON objects, one a line,
each with the key ``is``; frames and the clock lie in a memory-mapped file. The peers and what they say:

========== ============================================== =====================================================
who        says                                           meaning
========== ============================================== =====================================================
any peer   ``hello {role, pid}``                          role = beam | camera | players
twin       ``welcome {path, lockstep, epoch_ns, speed,    the mapped file, how time runs, the board's preset;
           board, size_wh, slots, frame_rate_hz,          epoch_ns and speed make a SimClock when not lockstep;
           blocked}``                                     blocked: the receiver's level now, for the beam
twin       ``edge {at_ns, blocked}``                      to beam: the receiver's level changed
twin       ``tick {at_ns}``                               to beam: the clock has reached at_ns, all edges before
                                                          it have been sent
beam       ``emitter {on, at_ns}``                        switch the emitter then (self-test), or as soon as that can
                                                          be if the time is over already
twin       ``emitter {on, at_ns}``                        to beam: the emitter was switched, then and not before; said
                                                          in order of time with the edges
beam       ``taken {at_ns, boot, seq, wake_ns}``          everything up to at_ns is done and acknowledged; the
                                                          beam wants a tick at wake_ns (0 = none)
twin       ``frame {number, at_ns, slot}``                to camera: a frame lies in a slot
camera     ``taken {number, boot, seq}``                  it is done with, its facts are acknowledged up to seq
twin       ``wish {id, request, body}``                   to players: somebody wants to ask the hub something
players    ``table {table}``                              a new snapshot of the table
players    ``answered {id, ok, error, rev}``              the hub's answer to a wish
twin       ``over {}``                                    to players: the evening is over
========== ============================================== =====================================================

In lock-step the twin moves its clock on only when every ``taken`` has come and the players have seen the snapshot
that follows from the facts up to those ``seq``, and when every wish has been answered. A peer that comes back after
its end hears the frame or tick that it had not taken, or the open wishes, once more. At real speed nobody is waited
for: a frame that would be late, or that a slow camera could not take, is left out together with its number.
"""

from __future__ import annotations

import json
import mmap
import os
import selectors
import socket
import struct
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAGIC = b"CROKTWN1"
_HEADER = struct.Struct("<8sQQIIII")  # magic, clock_ns, newest frame, width, height, channels, slots
_SLOT = struct.Struct("<QQQ")  # number, at_ns, exposure_ns
_CLOCK = struct.Struct("<Q")
_CLOCK_AT = 8
_NEWEST_AT = 16
_FIRST_SLOT_AT = 64
_WELCOME_S = 30.0  # a twin paints its board before it speaks, on a busy machine for long
_MAX_LINE = 4 * 1024 * 1024

Json = dict[str, Any]


class LineError(Exception):
    """The other end of the line is missing, gone or speaks another language."""


class FrameMemory:
    """The memory-mapped file with the twin's clock and its last frames.

    A frame is ``height * width * channels`` bytes, rows from the top, blue green red.
    """

    def __init__(self, path: Path, *, size_wh: tuple[int, int] | None = None, slots: int = 4) -> None:
        """Make the file when ``size_wh`` is given (the twin), else open it (a driver).

        Raises:
            LineError: there is no such file, or it is not a twin's.
        """
        self.path = path
        if size_wh is not None:
            width, height = size_wh
            stride = _stride(width, height, 3)
            with path.open("wb") as file:
                file.truncate(_FIRST_SLOT_AT + slots * stride)
        try:
            fd = os.open(path, os.O_RDWR)
        except OSError as error:
            raise LineError(f"{path}: the twin's memory cannot be opened: {error.strerror}") from None
        try:
            self._map = mmap.mmap(fd, 0)
        finally:
            os.close(fd)
        if size_wh is not None:
            _HEADER.pack_into(self._map, 0, MAGIC, 0, 0, size_wh[0], size_wh[1], 3, slots)
        magic, _, _, width, height, channels, slots = _HEADER.unpack_from(self._map, 0)
        if magic != MAGIC:
            raise LineError(f"{path}: is not a twin's memory")
        self.width, self.height, self.channels, self.slots = width, height, channels, slots
        self._stride = _stride(width, height, channels)

    @property
    def clock_ns(self) -> int:
        """The twin's clock."""
        return int(_CLOCK.unpack_from(self._map, _CLOCK_AT)[0])

    @clock_ns.setter
    def clock_ns(self, at_ns: int) -> None:
        _CLOCK.pack_into(self._map, _CLOCK_AT, at_ns)

    @property
    def newest(self) -> int:
        """Number of the newest frame, 0 before the first."""
        return int(_CLOCK.unpack_from(self._map, _NEWEST_AT)[0])

    def pixels(self, slot: int) -> memoryview:
        """The bytes of a slot's frame, writable and not copied."""
        start = _FIRST_SLOT_AT + slot * self._stride + _SLOT.size
        return memoryview(self._map)[start : start + self.width * self.height * self.channels]

    def publish(self, slot: int, number: int, at_ns: int, exposure_ns: int) -> None:
        """Name the frame whose pixels were just written to a slot."""
        _SLOT.pack_into(self._map, _FIRST_SLOT_AT + slot * self._stride, number, at_ns, exposure_ns)
        _CLOCK.pack_into(self._map, _NEWEST_AT, number)

    def retract(self, slot: int) -> None:
        """Mark a slot as being written, so that a slow reader notices that its frame is gone."""
        _SLOT.pack_into(self._map, _FIRST_SLOT_AT + slot * self._stride, 0, 0, 0)

    def label(self, slot: int) -> tuple[int, int, int]:
        """Number, time (ns) and exposure (ns) of a slot's frame; number 0 while it is being written."""
        number, at_ns, exposure_ns = _SLOT.unpack_from(self._map, _FIRST_SLOT_AT + slot * self._stride)
        return int(number), int(at_ns), int(exposure_ns)


class Line:
    """One end of a connection: JSON objects out and in, without waiting unless asked to."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._sock.setblocking(True)
        self._pending = bytearray()
        self._received: deque[Json] = deque()
        self._selector = selectors.DefaultSelector()
        self._selector.register(sock, selectors.EVENT_READ)

    @classmethod
    def connect(cls, path: Path, role: str) -> tuple[Line, Json]:
        """Reach a twin and introduce ourselves; returns the line and its ``welcome``.

        Raises:
            LineError: nobody listens there, or it is not a twin.
        """
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(str(path))
        except OSError as error:
            sock.close()
            raise LineError(f"twin at {path}: {error.strerror}") from None
        line = cls(sock)
        try:
            line.send({"is": "hello", "role": role, "pid": os.getpid()})
            welcome = line.receive(timeout_s=_WELCOME_S)
        except LineError:
            line.close()
            raise
        if welcome is None or welcome.get("is") != "welcome":
            line.close()
            raise LineError(f"twin at {path}: expected a welcome, got {welcome!r}")
        return line, welcome

    def fileno(self) -> int:
        """So that a selector can wait for several lines; empty :meth:`waiting` first (a packet may hold two)."""
        return self._sock.fileno()

    def send(self, message: Json) -> None:
        """Send one message.

        Raises:
            LineError: the other end is gone.
        """
        try:
            self._sock.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            raise LineError(f"the other end of the line is gone: {error.strerror}") from None

    def receive(self, timeout_s: float | None = None) -> Json | None:
        """The next message; None when ``timeout_s`` passes first (None waits for ever).

        Raises:
            LineError: the other end is gone, or sent something that is no JSON object.
        """
        while not self._received:
            if not self._selector.select(timeout_s):
                return None
            self._read()
        return self._received.popleft()

    def waiting(self) -> Iterator[Json]:
        """Every message that has already come, without waiting; errors as in :meth:`receive`."""
        while self._received or self._selector.select(0):
            if not self._received:
                self._read()
            while self._received:
                yield self._received.popleft()

    def close(self) -> None:
        """Hang up."""
        self._selector.close()
        self._sock.close()

    def _read(self) -> None:
        try:
            chunk = self._sock.recv(1 << 16)
        except OSError as error:
            raise LineError(f"the other end of the line is gone: {error.strerror}") from None
        if not chunk:
            raise LineError("the other end of the line has hung up")
        self._pending += chunk
        *lines, rest = self._pending.split(b"\n")
        self._pending = bytearray(rest)
        if len(self._pending) > _MAX_LINE:
            raise LineError(f"a message of more than {_MAX_LINE} bytes")
        for text in lines:
            try:
                message = json.loads(text)
            except ValueError:
                raise LineError(f"expected a JSON object, got {bytes(text[:80])!r}") from None
            if not isinstance(message, dict):
                raise LineError(f"expected a JSON object, got {bytes(text[:80])!r}")
            self._received.append(message)


def listen(path: Path) -> socket.socket:
    """A listening socket at ``path``; what a dead twin left there is removed first.

    Raises:
        LineError: the path cannot be used (too long, no such folder).
    """
    path.unlink(missing_ok=True)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind(str(path))
    except OSError as error:
        sock.close()
        raise LineError(f"{path}: cannot listen there: {error}") from None
    sock.listen(8)
    return sock


def _stride(width: int, height: int, channels: int) -> int:
    return -(-(_SLOT.size + width * height * channels) // 64) * 64
