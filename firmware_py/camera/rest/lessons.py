"""Which discs of a read teach how discs look: those with nothing near them, as far as all of the read tells.

While a read goes on, neighbours are still to be found, and what is not known yet passes for shadow or wood. So a disc
only promises to teach, and keeps it when everything is found. A set that is hardly known cannot wait so long: without
its first discs the next ones would not be found. What these teach amiss is learned anew soon.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Patch, Wardrobe, patch_offsets
from firmware_py.camera.rest.layers import Painter
from firmware_py.camera.rest.learning import VIEWS, Album, learn_look
from firmware_py.camera.rest.lying import crowded
from firmware_py.camera.rest.resting import Resting
from hub.link.messages import Colour

Xy = tuple[float, float]

#: With so many discs of a set seen, another look at it changes nothing.
MATURE = 8.0
#: Of a set that is known so many discs of each read follow the light.
_LESSONS = 3
#: The shadows of neighbours and of pegs reach so far.
_SHADOW_MM, _PEG_SHADOW_MM = 10.0, 8.0


class Lessons:
    """Teaches a wardrobe from the reads of one view.

    Args:
        view: the camera's view.
        wardrobe: what is taught.
        painter: cuts the views of discs out.
    """

    def __init__(self, view: BoardView, wardrobe: Wardrobe, painter: Painter) -> None:
        self._view, self._wardrobe, self._painter = view, wardrobe, painter
        self._album = Album(view, wardrobe)
        self._promised: list[Resting] = []
        self._taught: Counter[Colour] = Counter()

    @property
    def owed(self) -> bool:
        """Whether another turn is worth its time."""
        return self._album.owed

    def turn(self) -> None:
        """One turn of learning from all that is kept; takes some tens of milliseconds."""
        self._album.turn()

    def begin(self) -> None:
        """A new read."""
        self._promised.clear()
        self._taught.clear()

    def promise(self, disc: Resting) -> None:
        """A disc may teach when the read is done."""
        self._promised.append(disc)

    def first(self, straight: Image, bare: Floats, disc: Resting, others: Sequence[Xy]) -> None:
        """Learn from a disc at once if its set is hardly known.

        Args:
            straight: the view.
            bare: the empty board in its light.
            disc: the disc.
            others: places of the top faces of discs known so far.
        """
        look = self._wardrobe.looks[disc.colour]
        if look.learned >= MATURE or not self._free(disc, others):
            return
        patch = self._painter.cut(straight, bare, disc.top_xy_mm)
        if patch is not None:
            learn_look(self._view, look, self._wardrobe.shade, patch, disc.top_xy_mm)

    def close(self, straight: Image, bare: Floats, discs: Iterable[Resting]) -> None:
        """Keep the views of the discs that promised, now that all are known.

        Args:
            straight: the view.
            bare: the empty board in its light.
            discs: all that lie there.
        """
        there = list(discs)
        promised = {id(d): d for p in self._promised for d in there if math.dist(d.top_xy_mm, p.top_xy_mm) < 0.01}
        self._promised.clear()
        others = {key: [d.top_xy_mm for d in there if d is not now] for key, now in promised.items()}
        # Those with nothing near them first: of the others only a part can be used.
        for key, now in sorted(promised.items(), key=lambda item: not self._free(item[1], others[item[0]])):
            look = self._wardrobe.looks[now.colour]
            mature, free = look.learned >= MATURE, self._free(now, others[key])
            if now.state != "flat" or self._taught[now.colour] >= (_LESSONS if mature or not free else VIEWS):
                continue
            if mature and not free:
                continue
            patch = self._painter.cut(straight, bare, now.top_xy_mm)
            if patch is None:
                continue
            if not free:
                self._mask(patch, others[key])
            self._taught[now.colour] += 1
            self._album.add(look, patch, now.top_xy_mm)
            if mature:
                learn_look(self._view, look, self._wardrobe.shade, patch, now.top_xy_mm)

    def _mask(self, patch: Patch, others: Sequence[Xy]) -> None:
        """Give no weight to what shows neighbours, or their shadows."""
        board = self._view.board
        dx, dy = patch_offsets()
        cx, cy = self._view.to_mm(patch.column, patch.row)
        for reach_mm, places in (
            (board.disc_radius_mm + _SHADOW_MM, others),
            (board.peg_radius_mm + _PEG_SHADOW_MM, board.pegs),
        ):
            for x, y in places:
                patch.weight[np.hypot(dx + np.float32(cx - x), dy + np.float32(cy - y)) < reach_mm] = 0

    def _free(self, disc: Resting, others: Sequence[Xy]) -> bool:
        return disc.state == "flat" and not crowded(self._view.board, disc, others)
