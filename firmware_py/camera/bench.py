"""How fast reading is, beside a baseline in the same run: ratios hold where a machine's speed drifts.

All times are processor time of one thread. The full read is measured against the circle search that people write
first: scikit-image's ``canny`` and ``hough_circle`` with five radii on the straight board of 961 px. It comes with the
extra ``bench``; where it is not installed the same votes are counted with OpenCV (``Canny``, then ``filter2D`` with
each circle), which takes some 70 % of the time, and ``read_baseline`` says so.

The read is measured twice: with as many discs as usually lie there, for which the bar is meant, and with all 24 that
there are (``read_all_*``).
"""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from firmware_py.camera.benchboard import DrawnBoard, spread_discs
from firmware_py.camera.live import LiveReader
from firmware_py.camera.memory import give_back, hold_little
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.source import Frame
from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoReading
from hardware.board import Board, load_board

LIVE_WH, PHOTO_WH = (1280, 960), (1600, 1200)
#: What a reader that was measured beforehand took for one photo.
OTHERS_PHOTO_MS = 76_000.0
IDLE_BAR, MOVING_BAR, READ_BAR, PHOTO_BAR_MS, FASTER_BAR, MEMORY_BAR_MB = 1.5, 6.0, 0.5, 150.0, 300.0, 180.0
_FRAME_NS = 33_333_333
_STRAIGHT_PX = 961
_SOME_DISCS, _ALL_DISCS = 12, 24


class BenchError(Exception):
    """What should be measured did not happen."""


def bench() -> dict[str, Any]:
    """Times in ms, ratios to the baselines, memory in MB, and which bars hold (``bar_*``).

    Raises:
        BenchError: the drawn board was not read.
    """
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        board = load_board("tournament")
        live = _Live(board)
        figures: dict[str, Any] = dict(live.measure())
        figures |= _memory()
        figures |= _photo(board)
    finally:
        cv2.setNumThreads(threads)
    figures |= {
        "bar_idle": figures["idle_ratio"] <= IDLE_BAR,
        "bar_moving": figures["moving_ratio"] <= MOVING_BAR,
        "bar_read": figures["read_ratio"] <= READ_BAR,
        "bar_photo_ms": figures["photo_ms"] <= PHOTO_BAR_MS,
        "bar_photo_faster": figures["photo_times_faster"] >= FASTER_BAR,
        "bar_memory": figures["memory_mb"] <= MEMORY_BAR_MB,
        "read_baseline": _circle_search()[0],
    }
    return figures


def resident_mb() -> float:
    """Memory of this process that is in RAM, NaN where the kernel does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return float("nan")
    return pages * 4096 / 1e6


def timed(work: Callable[..., object], *args: object) -> float:
    """Processor time of a call in ms."""
    begin = time.thread_time_ns()
    work(*args)
    return (time.thread_time_ns() - begin) / 1e6


class _Live:
    """A live reader over the drawn board, brought to where discs lie."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._drawn = DrawnBoard(board, LIVE_WH)
        self._reader = LiveReader(board, height_mm=1000.0)
        self._number = 0
        self._lying = spread_discs(board, _SOME_DISCS)
        for _ in range(60):
            self._take(self._drawn.picture([]))
            if self._reader.reader is not None:
                break
        # As the daemon does.
        give_back()
        if self._reader.reader is None:
            raise BenchError(f"the drawn board was not found: {self._reader.trouble}")
        self._settle(self._lying)
        rest = self._reader.rest
        if rest is None or len(rest.discs) != len(self._lying):
            raise BenchError(f"{len(self._lying)} drawn discs, {0 if rest is None else len(rest.discs)} read")

    def measure(self) -> dict[str, float]:
        """All live figures."""
        idle, idle_base = [], []
        pictures = [self._drawn.picture(self._lying) for _ in range(6)]
        before = cv2.resize(pictures[0], (320, 240), interpolation=cv2.INTER_AREA)
        for k in range(60):
            picture = pictures[k % len(pictures)]
            idle.append(self._timed(picture))
            idle_base.append(timed(_shrink_and_compare, picture, before))
        moving, moving_base = self._moving()
        search = _circle_search()[1]
        read, read_base = self._read(self._lying, search)
        read_all, all_base = self._read(spread_discs(self._board, _ALL_DISCS), search)
        return {
            "idle_ms": statistics.median(idle),
            "idle_ratio": statistics.median(idle) / statistics.median(idle_base),
            "moving_ms": statistics.median(moving),
            "moving_ratio": statistics.median(moving) / statistics.median(moving_base),
            "moving_worst_ratio": max(moving) / statistics.median(moving_base),
            "read_ms": statistics.median(read),
            "read_ratio": statistics.median(read) / statistics.median(read_base),
            "read_all_ms": statistics.median(read_all),
            "read_all_ratio": statistics.median(read_all) / statistics.median(all_base),
            "read_baseline_ms": statistics.median(read_base + all_base),
            "read_after_shot_ms": self._after_shot(),
        }

    def memory(self, frames: int = 1000) -> tuple[float, float]:
        """Memory of the process in MB after motion and a read, and by how many kB it then grows over idle frames."""
        pictures = [self._drawn.picture([*self._lying, ("dark", 45.0, -150.0)]) for _ in range(3)]
        # What drawing took is not the reader's.
        give_back()
        for k in range(frames // 5):
            self._take(pictures[k % 3])
        begin = resident_mb()
        for k in range(frames):
            self._take(pictures[k % 3])
        return begin, (resident_mb() - begin) * 1000

    def _moving(self) -> tuple[list[float], list[float]]:
        """A disc slides in from the line, past the others."""
        own, base = [], []
        for k in range(16):
            at = ("dark", 20.0 - 2.0 * k, -300.0 + 15.0 * k)
            picture = self._drawn.picture([*self._lying, at])
            own.append(self._timed(picture))
            base.append(timed(cv2.GaussianBlur, picture, (5, 5), 0))
        return own, base

    def _read(
        self, discs: list[tuple[str, float, float]], search: Callable[[Image, list[float]], float]
    ) -> tuple[list[float], list[float]]:
        """The whole straight view is read anew, as after a restart, and searched for circles."""
        reader = self._reader.reader
        if reader is None:
            raise BenchError("the drawn board was lost")
        picture = self._drawn.picture(discs)
        straight = reader.view.straight(picture)
        found = len(reader.read(straight, None, ()).found)
        if found != len(discs):
            raise BenchError(f"{len(discs)} drawn discs, {found} read")
        large = cv2.resize(straight, (_STRAIGHT_PX, _STRAIGHT_PX), interpolation=cv2.INTER_LINEAR)
        scale = _STRAIGHT_PX / (2 * reader.view.half_mm)
        radii = [self._board.disc_radius_mm * scale * f for f in (0.9, 0.95, 1.0, 1.05, 1.1)]
        own, base = [], []
        for _ in range(7):
            own.append(timed(lambda: reader.read(reader.view.straight(picture), None, ())))
            base.append(timed(search, large, radii))
        return own, base

    def _after_shot(self) -> float:
        """The read when one disc came to those that lay there, as after nearly every shot."""
        reader, rest = self._reader.reader, self._reader.rest
        if reader is None or rest is None:
            raise BenchError("the drawn board was lost")
        picture = self._drawn.picture([*self._lying, ("dark", 45.0, -150.0)])
        straight = reader.view.straight(picture)
        return statistics.median(timed(reader.read, straight, rest.still, rest.discs) for _ in range(5))

    def _settle(self, discs: list[tuple[str, float, float]]) -> None:
        for _ in range(40):
            self._take(self._drawn.picture(discs))

    def _take(self, picture: Image) -> None:
        self._number += 1
        self._reader.take(Frame(self._number, self._number * _FRAME_NS, 5_000_000, picture))

    def _timed(self, picture: Image) -> float:
        return timed(self._take, picture)


def _memory() -> dict[str, float]:
    """Memory of a process that only reads live, since this one holds the baselines' pictures too."""
    code = "from firmware_py.camera import bench; bench.print_memory()"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    try:
        resident, growth = (float(v) for v in child.stdout.split())
    except ValueError:
        raise BenchError(
            f"the process whose memory is measured ended with {child.returncode}: {child.stderr}"
        ) from None
    return {"memory_mb": resident, "memory_growth_kb_per_1000_frames": growth}


def print_memory() -> None:
    """Read live for a while and print MB of memory and kB of growth; for a process of its own."""
    cv2.setNumThreads(1)
    hold_little()
    print(*_Live(load_board("tournament")).memory())


def _shrink_and_compare(picture: Image, before: Image) -> int:
    small = cv2.resize(picture, (320, 240), interpolation=cv2.INTER_AREA)
    _, over = cv2.threshold(cv2.absdiff(small, before), 12, 255, cv2.THRESH_BINARY)
    return cv2.countNonZero(over.reshape(240, -1))


def _circle_search() -> tuple[str, Callable[[Image, list[float]], float]]:
    """What the full read is compared with, by name."""
    try:
        importlib.import_module("skimage.transform")
    except ImportError:
        return "cv2.Canny and cv2.filter2D with 5 circles, the votes of skimage.transform.hough_circle", _circle_votes
    return "skimage.feature.canny and skimage.transform.hough_circle with 5 radii", _hough_circles


def _hough_circles(picture: Image, radii_px: list[float]) -> float:
    """The strongest vote of scikit-image's circle search."""
    feature, transform = (importlib.import_module(f"skimage.{name}") for name in ("feature", "transform"))
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) / 255.0
    return float(transform.hough_circle(feature.canny(grey), np.rint(radii_px).astype(int)).max())


def _circle_votes(picture: Image, radii_px: list[float]) -> float:
    """The strongest vote for a circle of any of the radii, as ``hough_circle`` counts them."""
    edges = (cv2.Canny(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), 40, 100) > 0).astype(np.float32)
    best = 0.0
    for radius in radii_px:
        reach = round(radius) + 1
        ring = np.zeros((2 * reach + 1, 2 * reach + 1), np.float32)
        cv2.circle(ring, (reach, reach), round(radius), 1.0, 1)
        best = max(best, float(cv2.filter2D(edges, cv2.CV_32F, ring / ring.sum()).max()))
    return best


def _photo(board: Board) -> dict[str, float]:
    picture = DrawnBoard(board, PHOTO_WH, seed=2).picture(spread_discs(board, 20))
    took = []
    discs = 0
    for _ in range(4):
        begin = time.thread_time_ns()
        answer = score_picture(picture, board=board)
        took.append((time.thread_time_ns() - begin) / 1e6)
        if not isinstance(answer, PhotoReading):
            raise BenchError(f"the drawn photo was not read: {answer}")
        discs = len(answer.discs)
    ms = statistics.median(took)
    return {"photo_ms": ms, "photo_discs_read": float(discs), "photo_times_faster": OTHERS_PHOTO_MS / ms}
