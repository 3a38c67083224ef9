"""The views of a board on which nothing moves: averaged for a read, and for how long all was still.

A rest that ends is kept until the next one begins: if a hand turns out to have ended it, it is read after all.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from firmware_py.camera.picture.lab import Image, mean_picture

#: Views that are averaged for a read.
AVERAGED = 6
#: A rest this short is enough when a hand comes right after it.
SHORT_REST_NS = 90_000_000
#: A hand moves in the picture before it is over the rail, for no longer than this if it comes at once.
HAND_COMES_NS = 400_000_000


class Quiet:
    """Whole straight views since all is still; owned by the camera's loop."""

    def __init__(self) -> None:
        self._views: deque[tuple[int, Image]] = deque(maxlen=AVERAGED)
        self._began_ns = 0
        self._over = False

    @property
    def lasts(self) -> bool:
        """Whether all is still and was seen so."""
        return bool(self._views) and not self._over

    @property
    def since_ns(self) -> int:
        """When the first of the views was taken."""
        return self._views[0][0]

    def take(self, at_ns: int, straight: Image) -> None:
        """Take in the view of a still board."""
        if self._over:
            self.clear()
        if not self._views:
            self._began_ns = at_ns
        self._views.append((at_ns, straight))

    def end(self) -> None:
        """Something moves again."""
        self._over = True

    def clear(self) -> None:
        """There was no rest that could be read."""
        self._views.clear()
        self._over = False

    def just_before(self, at_ns: int) -> bool:
        """Whether all was still for long enough to be read, just before a hand came at a time."""
        if not self._views:
            return False
        last_ns = self._views[-1][0]
        return last_ns - self._began_ns >= SHORT_REST_NS and 0 <= at_ns - last_ns <= HAND_COMES_NS

    def picture(self) -> Image:
        """The mean of the views."""
        return np.rint(mean_picture([view for _, view in self._views])).astype(np.uint8)
