"""Still frames laid upon one another: their mean without keeping each of them, which would be tens of megabytes."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from firmware_py.camera.picture.lab import Image

#: So many frames of 8 bits fit into the sum of 16.
MOST = 257


class Pile:
    """A block of frames of one size; after ``size`` of them it begins anew with the next.

    Args:
        size: frames of a whole block, at most :data:`MOST`.
    """

    def __init__(self, size: int) -> None:
        if not 0 < size <= MOST:
            raise ValueError(f"a pile has 1 to {MOST} frames, got {size}")
        self._size = size
        self._sum: NDArray[np.uint16] | None = None
        self._ends: tuple[Image, Image] | None = None
        self.count = 0

    @property
    def whole(self) -> bool:
        """Whether the block is complete."""
        return self.count == self._size

    @property
    def ends(self) -> tuple[Image, Image]:
        """The first and the last frame, for their noise."""
        if self._ends is None:
            raise ValueError("an empty pile has no frames")
        return self._ends

    def clear(self) -> None:
        """Forget all frames."""
        self._sum = self._ends = None
        self.count = 0

    def add(self, pixels: Image) -> None:
        """Lay a frame on it; one of another size begins a new pile."""
        if self.whole or (self._sum is not None and self._sum.shape != pixels.shape):
            self.clear()
        frame = pixels.copy()
        if self._sum is None or self._ends is None:
            self._sum, self._ends = frame.astype(np.uint16), (frame, frame)
        else:
            self._sum += frame
            self._ends = (self._ends[0], frame)
        self.count += 1

    def total(self) -> NDArray[np.uint16]:
        """The sum of the frames."""
        if self._sum is None:
            raise ValueError("an empty pile has no sum")
        return self._sum

    def mean(self) -> Image:
        """The mean, rounded."""
        scaled: NDArray[Any] = cv2.convertScaleAbs(self.total(), alpha=1.0 / self.count)
        return np.asarray(scaled, dtype=np.uint8)
