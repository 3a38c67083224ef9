"""The gate: whether a frame differs from the one before or from the last still one, on a picture of 320 pixels.

Nearly all frames of an evening show a board on which nothing moves, so this is what decides the daemon's cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Image

WIDTH_PX = 320
#: Least grey levels in any channel that count as a change: eight sigmas of a fair camera's noise after shrinking.
LEAST_STEP = 5
#: So many pixels make a change: the edge of a disc that moved by a few tenths of a millimetre.
LEAST_PIXELS = 3
#: What changed is taken to reach so many pixels of the gate farther than it shows.
BOX_PAD_PX = 6
#: A change is more than so many sigmas of the noise after shrinking, up to the most grey levels.
_SIGMAS, _MOST_STEP = 9.0, 40.0
#: The lower three quarters of all differences tell the noise, whatever moves in the rest: their mean in its sigmas.
_QUIET_SHARE, _QUIET_MEAN = 0.75, 0.515
#: Share of the gate's picture that may change by slow light before it is taken for motion, none in one frame.
_FOLLOW = 0.05


@dataclass(frozen=True, slots=True)
class GateSeen:
    """What the gate says of a frame.

    Attributes:
        moving: it differs from the frame before.
        changed: it differs from the last still picture.
        pixels: how many of the gate's pixels differ from the frame before.
        box: left, top, right and bottom, in pixels of the frame, of all that differs from the last still picture.
    """

    moving: bool
    changed: bool
    pixels: int
    box: tuple[int, int, int, int] = (0, 0, 0, 0)


def shrink(frame: Image) -> Image:
    """The frame at the gate's width."""
    # Halving by linear interpolation is the mean of four pixels, and three times as fast as INTER_AREA.
    while frame.shape[1] >= 2 * WIDTH_PX and frame.shape[1] % 2 == 0 and frame.shape[0] % 2 == 0:
        half = (frame.shape[1] // 2, frame.shape[0] // 2)
        frame = np.asarray(cv2.resize(frame, half, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
    if frame.shape[1] != WIDTH_PX:
        size = (WIDTH_PX, round(frame.shape[0] * WIDTH_PX / frame.shape[1]))
        frame = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return frame


class Gate:
    """Compares small copies of frames; owned by the camera's loop.

    Until the noise was measured, or something was at rest, each frame tells anew how noisy the camera is: one that is
    noisier than most would seem to move for ever, so that its board was never looked for.
    """

    def __init__(self) -> None:
        self._before: Image | None = None
        self._still: Image | None = None
        self._slow: np.ndarray[tuple[int, ...], np.dtype[np.float32]] | None = None
        self._step = float(LEAST_STEP)
        self._learning = True

    def look(self, frame: Image) -> GateSeen:
        """Take a frame in; the first one only sets the scene."""
        small = shrink(frame)
        if self._before is None or self._before.shape != small.shape:
            self._before = small
            self._still = small
            self._slow = None
            return GateSeen(moving=False, changed=False, pixels=0)
        differences = np.asarray(cv2.absdiff(small, self._before), dtype=np.uint8)
        if self._learning:
            self._step = _step_above(_quiet_sigma(differences))
        pixels = self._count(differences)
        changed, box = self._against_still(small, frame.shape[1] / small.shape[1])
        self._before = small
        if not changed and pixels < LEAST_PIXELS and self._still is not None:
            self._drift(small, self._still)
        return GateSeen(moving=pixels >= LEAST_PIXELS, changed=changed, pixels=pixels, box=box)

    def settle(self) -> None:
        """What was seen last is the still picture from now on."""
        self._still = self._before
        self._slow = None
        self._learning = False

    def forget(self) -> None:
        """The camera was reopened: the next frame sets the scene."""
        self._before = self._still = self._slow = None
        self._learning = True

    def measure_noise(self, frames: list[Image]) -> None:
        """Set the step above the noise of still frames; a dim camera needs more."""
        smalls = [shrink(f).astype(np.float32) for f in frames]
        if len(smalls) >= 2:
            self._step = _step_above(float(np.std(smalls[1] - smalls[0]) / np.sqrt(2)))
            self._learning = False

    def _against_still(self, small: Image, scale: float) -> tuple[bool, tuple[int, int, int, int]]:
        if self._still is None:
            return False, (0, 0, 0, 0)
        _, over = cv2.threshold(cv2.absdiff(small, self._still), self._step, 1, cv2.THRESH_BINARY)
        flat = over.reshape(over.shape[0], -1)
        count = int(cv2.countNonZero(flat))
        if count < LEAST_PIXELS:
            return False, (0, 0, 0, 0)
        x, y, width, height = cv2.boundingRect(flat)
        channels = small.shape[2]
        left, right = x // channels, -(-(x + width) // channels)
        pad = BOX_PAD_PX
        return True, (
            round((left - pad) * scale),
            round((y - pad) * scale),
            round((right + pad) * scale),
            round((y + height + pad) * scale),
        )

    def _count(self, differences: Image) -> int:
        _, over = cv2.threshold(differences, self._step, 1, cv2.THRESH_BINARY)
        return int(cv2.countNonZero(over.reshape(over.shape[0], -1)))

    def _drift(self, small: Image, still: Image) -> None:
        """Let the still picture follow daylight."""
        if self._slow is None:
            self._slow = still.astype(np.float32)
        cv2.accumulateWeighted(small, self._slow, _FOLLOW)
        self._still = np.rint(self._slow).astype(np.uint8)


def _quiet_sigma(differences: Image) -> float:
    """Grey levels of noise, one sigma in one picture, of two pictures' differences."""
    counts = np.bincount(differences.ravel(), minlength=256).astype(np.float64)
    left = _QUIET_SHARE * counts.sum()
    taken = np.clip(left - (np.cumsum(counts) - counts), 0, counts)
    mean = float(np.dot(taken, np.arange(256.0))) / max(float(left), 1.0)
    return mean / _QUIET_MEAN / math.sqrt(2)


def _step_above(sigma: float) -> float:
    return float(np.clip(_SIGMAS * sigma, LEAST_STEP, _MOST_STEP))
