"""Frames that show nothing: black ones, and the same one again and again. Pure: frames in, names of faults out."""

from __future__ import annotations

import numpy as np

from firmware_py.camera.picture.lab import Image

BLACK, STUCK = "black", "stuck"
#: What each fault means, for people.
MEANING = {
    BLACK: "the picture is black: take the cap off the lens, or switch the light on",
    STUCK: "the camera shows the same picture again and again; it is opened anew if that goes on",
}
#: A fault must last so long to be one: somebody may pass a hand over the lens.
LASTING_NS = 2_000_000_000
#: A camera that shows the same picture for so long must be opened anew.
HOPELESS_NS = 8_000_000_000
#: The brightest of a black picture's pixels, but for a hot one here and there.
_BLACK_LEVEL = 16
_HOT = 0.005
_STEP_PX = 8


class Sanity:
    """Watches the frames of one camera."""

    def __init__(self) -> None:
        self._before: Image | None = None
        self._since_ns: dict[str, int] = {}

    def look(self, pixels: Image, at_ns: int) -> tuple[str, ...]:
        """The faults that stand with this frame; a frame with one of them must not be read."""
        small = pixels[::_STEP_PX, ::_STEP_PX]
        # The noise of any lit sensor makes two pictures differ; only a copy is the same in all pixels.
        stuck = self._before is not None and self._before.shape == small.shape and np.array_equal(small, self._before)
        black = np.count_nonzero(small >= _BLACK_LEVEL) < _HOT * small.size
        self._before = small.copy()
        standing = []
        for name, now in ((BLACK, black), (STUCK, stuck and not black)):
            if not now:
                self._since_ns.pop(name, None)
            elif at_ns - self._since_ns.setdefault(name, at_ns) >= LASTING_NS:
                standing.append(name)
        return tuple(standing)

    def hopeless(self, at_ns: int) -> bool:
        """Whether the camera has been stuck for so long that it must be opened anew."""
        since_ns = self._since_ns.get(STUCK)
        return since_ns is not None and at_ns - since_ns >= HOPELESS_NS
