"""How far the straight view of a board has slipped since its empty picture was taken: a bump of camera or board.

The view is laid over the empty board to a small part of a pixel, by all of its lines, pegs, prints and grain at once.
What lies on the board, hands and shadows differ from the empty board wherever it is laid, and get no say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Array, Floats, Image
from firmware_py.camera.picture.regions import Mask
from firmware_py.camera.picture.view import MM_PER_PX, BoardView
from firmware_py.camera.place.likeness import contrast

#: Scales at which the pictures are compared, coarse to fine; the coarsest catches a slip of a dozen millimetres.
_SCALES = (8, 4, 2, 1)
_ROUNDS = (6, 4, 3, 2)
_MOST_POINTS = 3000
#: The board is compared patch by patch; a patch shows the board if it is so much like its empty picture.
_PATCH_MM = 45.0
_ALIKE = 0.55
_LEAST_IN_PATCH = 12
_MOST_COMPARED = 16_000
_LEAST_PATCHES = 12
#: A first step this short, to where so much of the board looks alike, needs no search.
_AT_ONCE_MM = 0.3
_CLEARLY = 0.7


@dataclass(frozen=True, slots=True)
class Slip:
    """Where the board is seen now, against where its empty picture has it.

    Attributes:
        terms: the eight numbers of the slip, see :func:`displacement`; lengths in mm, places in outer lines.
        outer_mm: radius of the outer line.
        shift_mm: largest slip of any point of the outer line.
        alike: share of the board that looks like its empty picture there, 0 to 1.
        table_alike: the same of the table around it, slipping along; None where it shows nothing to tell.
        table_stayed: the same of the table if it did not slip; None where it shows nothing to tell.
    """

    terms: tuple[float, ...]
    outer_mm: float
    shift_mm: float
    alike: float
    table_alike: float | None = None
    table_stayed: float | None = None

    def at(self, points_mm: Array) -> Array:
        """Where in the straight view points ``(..., 2)`` of the board are seen now."""
        return np.asarray(points_mm + displacement(np.array(self.terms), points_mm / self.outer_mm))


def displacement(terms: Array, places: Array) -> Array:
    """The slip ``(..., 2)`` in mm at places ``(..., 2)`` in outer lines: that of a plane seen from a moved camera."""
    u, v = places[..., 0], places[..., 1]
    bend = terms[6] * u + terms[7] * v
    return np.stack(
        [terms[0] + terms[1] * u + terms[2] * v + bend * u, terms[3] + terms[4] * u + terms[5] * v + bend * v], axis=-1
    )


class Register:
    """Lays views over one empty board.

    Args:
        view: the camera's view.
        bare: the empty board in the straight view, float32.
    """

    def __init__(self, view: BoardView, bare: Floats) -> None:
        self._view = view
        board = view.board
        self._levels = [_Level(view, bare, scale, board.rail_radius_mm - 4.0) for scale in _SCALES]
        self._patches = _Patches(view, bare, view.visible & (view.radius_mm < board.rail_radius_mm - 4.0))
        self._table = _Patches(view, bare, view.visible & (view.radius_mm > board.rail_radius_mm + 26.0))

    def lay(self, straight: Image, *, reach_mm: float = 12.0) -> Slip | None:
        """How the board of a view lies against the empty one; None where that runs away.

        Args:
            straight: the view.
            reach_mm: the largest slip that is looked for.
        """
        outer = self._view.board.outer_line_mm
        terms = np.zeros(8)
        finest = contrast(straight.astype(np.float32))
        # Nearly always it is where it was, which is seen at once.
        near = self._levels[-1].step(finest, terms)
        if near is not None and _largest(near) < _AT_ONCE_MM and self._patches.alike(finest, near)[0] > _CLEARLY:
            levels: list[tuple[_Level, int]] = [(self._levels[-1], _ROUNDS[-1])]
        else:
            levels = list(zip(self._levels, _ROUNDS, strict=True))
        for level, rounds in levels:
            picture = finest if level.scale == 1 else level.shrunk(straight)
            for _ in range(rounds):
                step = level.step(picture, terms)
                if step is None:
                    return None
                terms = terms + step
                if _largest(terms) > 2 * reach_mm:
                    return None
                if _largest(step) < 0.004 * level.scale:
                    break
        shift = _largest(terms)
        if shift > reach_mm:
            return None
        alike, count = self._patches.alike(finest, terms)
        if count < _LEAST_PATCHES:
            return None
        along, told = self._table.alike(finest, terms)
        stayed, _ = self._table.alike(finest, np.zeros(8))
        with_table = told >= _LEAST_PATCHES // 2
        return Slip(
            terms=tuple(float(t) for t in terms),
            outer_mm=outer,
            shift_mm=shift,
            alike=alike,
            table_alike=along if with_table else None,
            table_stayed=stayed if with_table else None,
        )

    def alike(self, straight: Image) -> float:
        """Share of the board that looks like its empty picture where it is."""
        return self._patches.alike(contrast(straight.astype(np.float32)), np.zeros(8))[0]


class _Level:
    """One scale: the points of the empty board that have contrast, and how each answers to a slip."""

    def __init__(self, view: BoardView, bare: Floats, scale: int, within_mm: float) -> None:
        self.scale = scale
        self._side = view.side_px // scale
        picture = contrast(_shrunk(bare, self._side))
        self._outer = view.board.outer_line_mm
        # Pixels of the shrunk view to mm: it covers the same field.
        self._mm = view.side_px * MM_PER_PX / self._side
        self._middle = (self._side - 1) / 2
        gx = (np.roll(picture, -1, axis=1) - np.roll(picture, 1, axis=1)) / 2
        gy = (np.roll(picture, -1, axis=0) - np.roll(picture, 1, axis=0)) / 2
        power = (gx * gx + gy * gy).max(axis=2)
        radius = cv2.resize(view.radius_mm, (self._side, self._side), interpolation=cv2.INTER_AREA)
        seen = cv2.resize(view.visible.astype(np.uint8), (self._side, self._side), interpolation=cv2.INTER_NEAREST)
        power = np.where((radius < within_mm) & (seen > 0), power, 0.0)
        power[[0, 1, -2, -1]] = 0.0
        power[:, [0, 1, -2, -1]] = 0.0
        wanted = min(_MOST_POINTS, int(np.count_nonzero(power)) // 2)
        least = np.partition(power.ravel(), -wanted)[-wanted] if wanted else 0.0
        self._rows, self._columns = np.nonzero((power >= least) & (power > 0))
        best = np.argmax(gx[self._rows, self._columns] ** 2 + gy[self._rows, self._columns] ** 2, axis=1)
        self._channel = best
        self._value = picture[self._rows, self._columns, best]
        # Per mm of the board: rows run against y.
        dx = gx[self._rows, self._columns, best] / self._mm
        dy = -gy[self._rows, self._columns, best] / self._mm
        x = (self._columns - self._middle) * self._mm
        y = (self._middle - self._rows) * self._mm
        self._places = np.stack([x, y], axis=-1) / self._outer
        u, v = self._places[:, 0], self._places[:, 1]
        along = dx * u + dy * v
        self._answers = np.column_stack([dx, dx * u, dx * v, dy, dy * u, dy * v, along * u, along * v])

    def shrunk(self, straight: Image) -> Floats:
        """A view at this scale as contrast."""
        return contrast(_shrunk(straight.astype(np.float32), self._side))

    def step(self, picture: Floats, terms: Array) -> Array | None:
        """The next step of least squares, hardly minding what differs by more than the rest; None if it has none."""
        if len(self._rows) < 100:
            return np.zeros(8)
        shift = displacement(terms, self._places) / self._mm
        u = (self._columns + shift[:, 0]).astype(np.float32)
        v = (self._rows - shift[:, 1]).astype(np.float32)
        found = cv2.remap(picture, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        seen = found.reshape(len(u), -1)[np.arange(len(u)), self._channel]
        off = self._value - seen
        spread = max(0.004, 1.48 * float(np.median(np.abs(off))))
        weight = 1 / (1 + (off / (1.5 * spread)) ** 2)
        weighed = self._answers * weight[:, None]
        lhs = weighed.T @ self._answers
        # A coarse picture tells no perspective: what it does not know stays as it is.
        lhs += np.diag(np.full(8, 1e-4 * float(np.trace(lhs)) / 8))
        try:
            return np.asarray(np.linalg.solve(lhs, weighed.T @ off))
        except np.linalg.LinAlgError:
            return None


class _Patches:
    """The board in patches, each compared by itself, so that what covers some of them spoils no others."""

    def __init__(self, view: BoardView, bare: Floats, use: Mask) -> None:
        picture = contrast(bare)
        self._middle = view.middle_px
        self._outer = view.board.outer_line_mm
        size = round(_PATCH_MM / MM_PER_PX)
        strong = np.abs(picture).max(axis=2)
        least = max(0.02, float(np.percentile(strong[use], 55))) if use.any() else 0.0
        rows, columns = np.nonzero(use & (strong > least))
        every = max(1, -(-len(rows) // _MOST_COMPARED))
        rows, columns = rows[::every], columns[::every]
        which = (rows // size) * (view.side_px // size + 1) + columns // size
        _, inverse, counts = np.unique(which, return_inverse=True, return_counts=True)
        good = counts[inverse] >= _LEAST_IN_PATCH
        self._rows, self._columns = rows[good], columns[good]
        self._patch = np.unique(inverse[good], return_inverse=True)[1] if good.any() else np.zeros(0, int)
        self._count = int(self._patch.max()) + 1 if len(self._patch) else 0
        channel = np.argmax(np.abs(picture[self._rows, self._columns]), axis=1)
        self._channel = channel
        self._value = picture[self._rows, self._columns, channel]
        x = (self._columns - self._middle) * MM_PER_PX
        y = (self._middle - self._rows) * MM_PER_PX
        self._places = np.stack([x, y], axis=-1) / self._outer

    def alike(self, picture: Floats, terms: Array) -> tuple[float, int]:
        """Share of the patches that look alike after a slip, and how many patches there are."""
        if not self._count:
            return 0.0, 0
        shift = displacement(terms, self._places) / MM_PER_PX
        u = (self._columns + shift[:, 0]).astype(np.float32)
        v = (self._rows - shift[:, 1]).astype(np.float32)
        found = cv2.remap(picture, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        seen = found.reshape(len(u), -1)[np.arange(len(u)), self._channel]

        def total(values: Array) -> Array:
            return np.bincount(self._patch, weights=values, minlength=self._count)

        n = np.maximum(total(np.ones(len(u))), 1)
        a = self._value - (total(self._value) / n)[self._patch]
        b = seen - (total(seen) / n)[self._patch]
        like = total(a * b) / np.sqrt(np.maximum(total(a * a) * total(b * b), 1e-12))
        return float((like > _ALIKE).mean()), self._count


def _shrunk(picture: Floats, side: int) -> Floats:
    if picture.shape[0] == side:
        return picture
    return np.asarray(cv2.resize(picture, (side, side), interpolation=cv2.INTER_AREA), dtype=np.float32)


def _largest(terms: Array) -> float:
    turn = np.arange(16) * (2 * math.pi / 16)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    return float(np.linalg.norm(displacement(terms, ring), axis=-1).max())
