"""``crokinole bench memory``: what the camera's daemon takes while it finds the board, and over 100,000 frames.

The daemon's own loop with reader, clips, outbox and a hub that acknowledges, in a process of its own, over drawn frames
that come as fast as they are read. Every thousandth frame a shot begins, or the board is cleared after nine.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from firmware_py.camera.benchboard import DrawnBoard
from firmware_py.camera.clips.witness import open_witness
from firmware_py.camera.daemon import CameraLoop, SourceClock
from firmware_py.camera.memory import give_back, hold_little
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.source import Frame, SourceEndedError
from firmware_py.service import Service
from hardware.board import Board, load_board, to_xy
from hub.link import topics
from hub.link.bus import Message
from hub.link.clock import Clock, ManualClock
from hub.link.config import BoardSection, CameraSection, Config
from hub.link.memory import MemoryBroker
from hub.link.messages import Ack, Envelope, MessageError, decode, encode

FRAMES = 100_000
LARGE_FRAMES, LARGE_WH, SMALL_WH = 5000, (1280, 960), (800, 600)
BAR_MB, BAR_GROWTH_MB = 180.0, 4.0
_FRAME_NS = 33_333_333
_EVERY, _SHOTS = 1000, 10
_FLIGHT = 14
_SAMPLE = 500
#: Growth is told from here on: caches, rings and the allocator's own have filled up.
_SETTLED = 0.3


#: Colour, x and y in mm.
Disc = tuple[tuple[int, int, int], float, float]


class MemoryBenchError(Exception):
    """The process whose memory should be measured failed."""


def bench(frames: int = FRAMES) -> dict[str, Any]:
    """Memory in MB at the peak and at the end of some thousand large frames, and its growth over many small ones.

    Small frames are read sooner, and whatever is kept of a frame for ever, it is kept of them too.

    Args:
        frames: how many small ones are read.

    Raises:
        MemoryBenchError: a measured process failed, or did not see what was drawn.
    """
    large, small = _measured(LARGE_FRAMES, LARGE_WH), _measured(frames, SMALL_WH)
    figures = {f"{name}_mb": large[f"{name}_mb"] for name in ("before", "peak", "end")}
    figures |= {name: small[name] for name in ("frames", "shots", "growth_mb", "each_tenth_mb")}
    figures["bar_memory"] = figures["peak_mb"] < BAR_MB
    figures["bar_growth"] = figures["growth_mb"] < BAR_GROWTH_MB
    return figures


def _measured(frames: int, size_wh: tuple[int, int]) -> dict[str, Any]:
    argv = [sys.executable, "-m", "firmware_py.camera.endurance", str(frames), *map(str, size_wh)]
    child = subprocess.run(argv, capture_output=True, text=True, check=False)
    try:
        figures: dict[str, Any] = json.loads(child.stdout)
    except ValueError:
        raise MemoryBenchError(f"it ended with {child.returncode}: {child.stderr.strip()[-500:]}") from None
    drawn = frames // _EVERY * (_SHOTS - 1) / _SHOTS
    if figures["shots"] < 0.8 * drawn:
        raise MemoryBenchError(f"{figures['shots']} shots told of {drawn:.0f} drawn")
    return figures


@dataclass(slots=True)
class _Shown:
    """A picture of the board with discs that can be taken out of it again."""

    picture: Image
    discs: tuple[Disc, ...] = ()
    under: list[tuple[tuple[slice, slice], Image]] = field(default_factory=list)

    def draw(self, discs: tuple[Disc, ...], radius_mm: float, px_per_mm: float) -> None:
        """Show these discs and no others."""
        for part, wood in reversed(self.under):
            self.picture[part] = wood
        self.under.clear()
        self.discs = discs
        radius = radius_mm * px_per_mm
        for colour, x, y in discs:
            height, width = self.picture.shape[:2]
            u, v = width / 2 + x * px_per_mm, height / 2 - y * px_per_mm
            left, top, side = int(u - radius) - 2, int(v - radius) - 2, int(2 * radius) + 6
            part = (slice(top, top + side), slice(left, left + side))
            self.under.append((part, self.picture[part].copy()))
            centre = (round(u * 16), round(v * 16))
            cv2.circle(self.picture, centre, round(radius * 16), colour, -1, cv2.LINE_AA, 4)


class DrawnSource:
    """A camera that shows play on a drawn board as fast as it is looked at.

    Args:
        board: its geometry.
        frames: after so many it ends.
        size_wh: of the frames.
    """

    def __init__(self, board: Board, frames: int, size_wh: tuple[int, int]) -> None:
        self.clock: Clock = ManualClock()
        self.lockstep = False
        self.dropped = 0
        self.samples: list[tuple[int, float]] = []
        self._board, self._frames = board, frames
        drawn = DrawnBoard(board, size_wh)
        # Two, for a sensor never shows the same noise twice; what lies there is drawn in and taken out again.
        self._shown = [_Shown(drawn.picture([])), _Shown(drawn.picture([]))]
        self._px_per_mm = drawn.px_per_mm
        self._number = 0
        self._read, self._write = os.pipe()
        os.write(self._write, b"x")

    def fileno(self) -> int:
        """Always readable."""
        return self._read

    def next(self, timeout_s: float) -> Frame | None:
        """The next frame; see :class:`firmware_py.camera.source.FrameSource`."""
        del timeout_s
        if self._number >= self._frames:
            raise SourceEndedError("enough")
        self._number += 1
        if self._number % _SAMPLE == 0:
            self.samples.append((self._number, memory_mb("VmRSS")))
        shown = self._shown[self._number % 2]
        discs = self._discs()
        if shown.discs != discs:
            shown.draw(discs, self._board.disc_radius_mm, self._px_per_mm)
        return Frame(self._number, self._number * _FRAME_NS, 5_000_000, shown.picture)

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        """The frame's pixels may be drawn over."""

    def close(self) -> None:
        """Nothing to let go but the pipe."""
        os.close(self._read)
        os.close(self._write)

    def _discs(self) -> tuple[Disc, ...]:
        """Colour and place of what lies there, and of what is on its way."""
        turn, within = divmod(self._number, _EVERY)
        discs: list[Disc] = []
        for k in range(1, turn % _SHOTS + 1):
            colour = (190, 216, 232) if k % 2 else (40, 44, 60)
            way = 1.0 if k < turn % _SHOTS else min(1.0, within / _FLIGHT)
            slowed = 1.0 - (1.0 - way) ** 2
            x, y = to_xy(304.8 + (60.0 + 21.0 * k - 304.8) * slowed, 36.0 * k + 12.0)
            discs.append((colour, x, y))
        return tuple(discs)


def memory_mb(name: str) -> float:
    """``VmRSS`` (resident now) or ``VmHWM`` (its peak) of this process; NaN where the kernel does not tell."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return math.nan
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return math.nan if found is None else int(found[1]) * 1024 / 1e6


def _forget_peak() -> None:
    """Let ``VmHWM`` count from now on, where the kernel lets a process do that."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def measure(frames: int, size_wh: tuple[int, int]) -> dict[str, Any]:
    """Read so many frames of a size in this process."""
    cv2.setNumThreads(1)
    hold_little()
    board = load_board("tournament")
    counts: dict[str, int] = {"shot": 0, "layout": 0}
    with tempfile.TemporaryDirectory(prefix="crokinole-memory-") as folder:
        token = Path(folder, "token")
        token.touch(mode=0o600)
        token.write_text("no page is ever sent to", encoding="ascii")
        config = Config(
            board=BoardSection(id="b1", state_dir=folder, pages="http://127.0.0.1:9", token_file=str(token)),
            camera=CameraSection(source="video", height_mm=1000.0),
        )
        broker = MemoryBroker()
        hub = broker.bus()

        def acknowledge(message: Message) -> None:
            try:
                fact = decode(message.payload, Envelope)
            except MessageError:
                return
            counts[fact.kind] = counts.get(fact.kind, 0) + 1
            hub.publish(topics.ack("b1", "camera"), encode(Ack(fact.boot, fact.seq)))

        hub.subscribe(topics.fact("b1", "camera"), acknowledge)
        hub.start()
        source = DrawnSource(board, frames, size_wh)
        give_back()  # what drawing took is not the daemon's, nor is its peak
        _forget_peak()
        before = memory_mb("VmRSS")
        clock = SourceClock()
        clock.of_source = source.clock
        with Service(config, "camera", clock, bus=broker.bus(), signals=False) as service:
            CameraLoop(config, board, service, source, clock, witness=open_witness(config)).run()
        hub.close()
    settled = np.array([s for s in source.samples if s[0] >= _SETTLED * frames])
    slope = float(np.polyfit(settled[:, 0], settled[:, 1], 1)[0]) if len(settled) > 2 else math.nan
    return {
        "frames": frames,
        "shots": counts["shot"],
        "layouts": counts["layout"],
        "before_mb": round(before, 1),
        "peak_mb": round(memory_mb("VmHWM"), 1),
        "end_mb": round(source.samples[-1][1], 1),
        "growth_mb": round(slope * frames, 2),
        "each_tenth_mb": [round(mb, 1) for _, mb in source.samples[:: max(1, len(source.samples) // 10)]],
    }


if __name__ == "__main__":
    count, *size = map(int, sys.argv[1:])
    print(json.dumps(measure(count, (size[0], size[1]))))
