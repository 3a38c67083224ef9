"""The straight view of a moving board, of which each frame draws anew only what may have changed."""

from __future__ import annotations

from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.view import BoardView, Box


class Canvas:
    """The straight view of the last frame; owned by the camera's loop."""

    def __init__(self) -> None:
        self._straight: Image | None = None
        self._box: Box | None = None

    def forget(self) -> None:
        """The next frame is drawn whole."""
        self._straight = self._box = None

    def draw(self, view: BoardView, pixels: Image, box: Box, *, whole: bool = False) -> tuple[Image, Box]:
        """The straight view of a frame, and the part of it that may have changed since the last rest.

        Args:
            view: of the camera.
            pixels: the frame.
            box: what differs from the last rest, in pixels of the frame; an empty one if that is not known.
            whole: draw all of it.
        """
        if self._straight is None or whole or box[2] <= box[0]:
            self._straight = view.straight(pixels)
            return self._straight, (0, 0, view.side_px, view.side_px)
        # What changed in the last frame and does not differ any more must be refreshed too.
        left, top, right, bottom = box
        if self._box is not None:
            left, top = min(left, self._box[0]), min(top, self._box[1])
            right, bottom = max(right, self._box[2]), max(bottom, self._box[3])
        self._box = box
        return self._straight, view.straight_part(pixels, (left, top, right, bottom), self._straight)
