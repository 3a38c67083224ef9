"""How a set of discs looks on this board in this light, learned from discs at rest, and a disc drawn by its looks.

In the straight view of the plane of top faces a disc is drawn in three layers: the wood, darkened by the disc's shadow
(which belongs to the place of its base); the side wall, as far as the camera's slant shows it; the top face, a circle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.shade import REACH_PX, Shade
from firmware_py.camera.picture.view import EDGE_MM, MM_PER_PX, BoardView

_SIDE = 2 * REACH_PX + 1
RING_MM = 0.5
#: Colours between two rings are told in so many steps.
_STEPS = 64
#: Beyond its rim by so many times its softness nothing is covered by a disc.
_NOTHING = 8.0
_RAMP = (np.arange(_STEPS) / _STEPS).astype(np.float32)
_ROW, _COLUMN = np.mgrid[-REACH_PX : REACH_PX + 1, -REACH_PX : REACH_PX + 1].astype(np.float32)
#: Offsets of the patch's pixels from its middle, mm, x right and y up.
_DX = (_COLUMN * np.float32(MM_PER_PX)).astype(np.float32)
_DY = (-_ROW * np.float32(MM_PER_PX)).astype(np.float32)


def cover(inside_mm: Floats, soft_mm: float) -> Floats:
    """Share of a pixel, soft by so much, that is covered by what begins ``inside_mm`` away."""
    # A logistic of this slope follows the error function to 1 %.
    grown = np.exp(np.minimum(inside_mm * np.float32(-1.702 / soft_mm), np.float32(30)))
    grown += np.float32(1)
    return np.asarray(np.reciprocal(grown, out=grown), dtype=np.float32)


Xy = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Patch:
    """The pixels around a place of the straight view, plane by plane: numpy is slow over a last axis of three.

    Attributes:
        column: of its middle pixel.
        row: of its middle pixel.
        seen: what the camera sees, float32 ``(3, side, side)``.
        bare: what it would see without the disc.
        weight: 0 where another disc, a hand or the end of the picture is.
        light: there, against the usual light on this board.
    """

    column: int
    row: int
    seen: Floats
    bare: Floats
    weight: Floats
    light: float = 1.0


@dataclass(slots=True)
class Look:
    """How one set of discs looks: colour by distance from the centre, and the wall.

    The face is taken to look the same all around, but for the bevel and the wall, which are brighter on the lamp's
    side. By how much the shadow tells; to learn it from the faces would let an error of the first fits pass for light,
    for that the face is round is what tells where its centre is.

    Attributes:
        radius_mm: of the discs.
        face: mean colour by distance, ``(rings, 3)``.
        spread: standard deviation of single discs from the mean by distance, grey levels.
        wall_bgr: colour of the side wall.
        learned: how many discs were looked at; 0 for a guess that the next good look replaces.
    """

    radius_mm: float
    face: Floats
    spread: Floats
    wall_bgr: Floats
    learned: float = 0.0

    @classmethod
    def plain(cls, radius_mm: float, bgr: tuple[float, float, float]) -> Look:
        """The look of a disc of which only the colour is known."""
        n = math.ceil(radius_mm / RING_MM) + 4
        face = np.tile(np.array(bgr, np.float32), (n, 1))
        return cls(radius_mm, face, np.full(n, 12.0, np.float32), face[0] * 0.85)

    @property
    def rim_bgr(self) -> Floats:
        """Mean colour of the outer part of the face, which is what the fit of an edge sees of a disc."""
        low, high = round((self.radius_mm - 5.4) / RING_MM), round((self.radius_mm - 1.5) / RING_MM)
        return np.asarray(self.face[low:high].mean(axis=0), dtype=np.float32)

    def fine(self) -> Floats:
        """Blue, green, red and spread of the face by distance from the centre, ``(4, n)``, for :func:`at_distance`."""
        face = self.face.T
        fine = np.empty((4, len(self.face), _STEPS), np.float32)
        fine[:3] = face[..., None]
        fine[:3, :-1] += (face[:, 1:] - face[:, :-1])[..., None] * _RAMP
        fine[3] = self.spread[:, None]
        fine[3, :-1, _STEPS // 2 :] = self.spread[1:, None]
        return fine.reshape(4, -1)

    def colours(self, rho: Floats) -> Floats:
        """Expected colour of the face at distances from the centre, plane by plane, and its spread as a fourth."""
        return at_distance(self.fine(), rho)


def at_distance(fine: Floats, rho: Floats) -> Floats:
    """The planes ``(k, h, w)`` of a table of ``k`` rows as :meth:`Look.fine`, at distances in mm ``(h, w)``."""
    step = (rho * np.float32(_STEPS / RING_MM) + np.float32(0.5)).astype(np.intp)
    return np.asarray(fine.take(step.ravel(), axis=1, mode="clip").reshape(len(fine), *rho.shape))


@dataclass(slots=True)
class Wardrobe:
    """Everything learned about looks: the shadow, and each set of discs by its colour name.

    Attributes:
        shade: the shadow.
        looks: by ``light``, ``dark``, ``third``.
    """

    shade: Shade = field(default_factory=Shade)
    looks: dict[str, Look] = field(default_factory=dict)

    def likeliest_first(self, patch: Patch) -> list[tuple[str, Look]]:
        """The sets by how near their colour is to that in the middle of a patch."""
        if len(self.looks) < 2:
            return list(self.looks.items())
        middle = patch.seen[:, REACH_PX - 3 : REACH_PX + 4, REACH_PX - 3 : REACH_PX + 4].reshape(3, -1).mean(axis=1)
        return sorted(self.looks.items(), key=lambda item: math.dist(item[1].rim_bgr, middle))


Wear = tuple[Look, Shade]


def patch_offsets() -> tuple[Floats, Floats]:
    """Offsets in mm of a patch's pixels from its middle, x right and y up."""
    return _DX, _DY


def planes(part: Image | Floats) -> Floats:
    """Part of a picture ``(h, w, 3)`` as float32 ``(3, h, w)``."""
    return np.asarray(part.transpose(2, 0, 1).astype(np.float32, order="C"))


def cut_patch(view: BoardView, straight: Image, bare: Floats, xy_mm: Xy, *, light: float = 1.0) -> Patch | None:
    """The patch around a place; None if it leaves the straight view."""
    u, v = view.to_px(*xy_mm)
    column, row = round(u), round(v)
    if not (REACH_PX <= column < view.side_px - REACH_PX and REACH_PX <= row < view.side_px - REACH_PX):
        return None
    part = (slice(row - REACH_PX, row + REACH_PX + 1), slice(column - REACH_PX, column + REACH_PX + 1))
    return Patch(
        column,
        row,
        planes(straight[part]),
        planes(bare[part]),
        view.visible[part].astype(np.float32),
        light,
    )


def masks(
    view: BoardView, radius_mm: float, xy_mm: Xy, offsets: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats]:
    """Cover of the top face and of the whole silhouette at offsets from the centre of the top face.

    Args:
        view: the camera's view.
        radius_mm: of the disc.
        xy_mm: the centre.
        offsets: to the right, upwards, and straight.
    """
    top = cover(np.float32(radius_mm) - offsets[2], view.soft_mm)
    return top, _silhouette(view, radius_mm, xy_mm, offsets, top)


def _silhouette(
    view: BoardView, radius_mm: float, xy_mm: Xy, offsets: tuple[Floats, Floats, Floats], top: Floats
) -> Floats:
    """Cover of the whole silhouette, given that of the top face; see :func:`masks`."""
    dx, dy, rho = offsets
    sx, sy = view.base_shift(*xy_mm, view.wall_mm)
    length2 = sx * sx + sy * sy
    if length2 < 1e-6:
        return top
    # The hull of two circles of nearly one radius: the distance to the segment between their centres.
    dot = dx * np.float32(sx)
    dot += dy * np.float32(sy)
    along = np.maximum(dot, np.float32(0))
    along *= np.float32(1 / length2)
    np.minimum(along, np.float32(1), out=along)
    dot += dot
    dot -= along * np.float32(length2)
    dot *= along
    away = rho * rho
    away -= dot
    np.sqrt(np.maximum(away, np.float32(0), out=away), out=away)
    along *= np.float32(-radius_mm * view.wall_mm / view.calibration.camera_height_mm)
    along -= away
    along += np.float32(radius_mm)
    whole = cover(along, view.soft_mm)
    return np.asarray(np.maximum(whole, top, out=whole))


def length_of(x: Floats, y: Floats) -> Floats:
    """Length of vectors."""
    square = x * x
    square += y * y
    return np.asarray(np.sqrt(square, out=square))


def lit(
    view: BoardView, shade: Shade, radius_mm: float, offsets: tuple[Floats, Floats, Floats], top: Floats
) -> tuple[Floats, Floats]:
    """Factors of the light on the face with its bevel, and on the wall, at offsets as for :func:`masks`."""
    facing = _facing(shade, offsets)
    return 1 + facing * _bevel(view.soft_mm, radius_mm, offsets[2], top), 1 + facing


def _facing(shade: Shade, offsets: tuple[Floats, Floats, Floats]) -> Floats:
    """How much more light than on the mean falls on what faces outwards there."""
    (dx, dy, rho), (lamp_x, lamp_y) = offsets, shade.lamp
    facing = dx * np.float32(lamp_x)
    facing += dy * np.float32(lamp_y)
    facing /= np.maximum(rho, np.float32(1))
    return facing


def _bevel(soft_mm: float, radius_mm: float, rho: Floats, top: Floats) -> Floats:
    """The share of the bevel in what of the top face is seen at distances from its centre."""
    bevel = 1 - cover(np.float32(radius_mm - EDGE_MM) - rho, soft_mm) / np.maximum(top, np.float32(1e-3))
    return np.asarray(np.minimum(np.maximum(bevel, np.float32(0), out=bevel), np.float32(1), out=bevel))


def round_table(view: BoardView, look: Look) -> Floats:
    """All that is the same around a disc, in the rows of a table by distance from its centre for :func:`at_distance`.

    Three rows of the face's colours, three of what of them is bevel, the spread, and the cover of the top face.
    """
    fine, (top, bevel) = look.fine(), _round_cover(view.soft_mm, look.radius_mm)
    known = min(fine.shape[1], len(top))
    table = np.empty((8, len(top)), np.float32)
    # A soft disc reaches beyond the rings of its look, whose last one goes on.
    table[:3, :known], table[6, :known] = fine[:3, :known], fine[3, :known]
    table[:3, known:], table[6, known:] = fine[:3, -1:], fine[3, -1]
    table[7] = 1
    table[:3] *= top
    table[6:] *= top
    np.multiply(table[:3], bevel, out=table[3:6])
    return table


@lru_cache(maxsize=4)
def _round_cover(soft_mm: float, radius_mm: float) -> tuple[Floats, Floats]:
    """Cover of the top face, and the share of the bevel in it, in the steps of a table that ends where both do."""
    steps = math.ceil((radius_mm + _NOTHING * soft_mm) * _STEPS / RING_MM)
    rho = np.arange(steps, dtype=np.float32) * np.float32(RING_MM / _STEPS)
    top = cover(np.float32(radius_mm) - rho, soft_mm)
    top[-1] = 0
    return top, _bevel(soft_mm, radius_mm, rho, top)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A disc drawn over a patch.

    Attributes:
        layers: four planes: the disc's own light at gain 1 in blue, green and red, and what it leaves of the wood's.
        texture: the spread of the face.
    """

    layers: Floats
    texture: Floats

    @property
    def own(self) -> Floats:
        """The disc's own light, ``(3, side, side)``."""
        return self.layers[:3]

    @property
    def open_wood(self) -> Floats:
        """What it leaves of the wood's light, ``(side, side)``."""
        return np.asarray(self.layers[3])


def draw(
    view: BoardView, wear: Wear, patch: Patch, xy_mm: Xy, smear_mm: Xy = (0.0, 0.0), *, table: Floats | None = None
) -> Drawing:
    """Draw a disc over a patch.

    Args:
        view: the camera's view.
        wear: how it looks, and the shadow.
        patch: the place.
        xy_mm: centre of its top face.
        smear_mm: way of the disc while the shutter was open.
        table: the :func:`round_table` of its look, for those who draw it often.
    """
    look, shade = wear
    table = round_table(view, look) if table is None else table
    cx, cy = view.to_mm(patch.column, patch.row)
    length = math.hypot(*smear_mm)
    steps = (0.0,) if length < 1.0 else tuple(np.linspace(-0.5, 0.5, 2 * min(4, math.ceil(length / 3)) + 1)[1::2])
    drawn: Drawing | None = None
    for step in steps:
        ox, oy = xy_mm[0] + step * smear_mm[0], xy_mm[1] + step * smear_mm[1]
        dx, dy = _DX + np.float32(cx - ox), _DY + np.float32(cy - oy)
        offsets = (dx, dy, length_of(dx, dy))
        rows = at_distance(table, offsets[2])
        layers, bevel, texture, top = rows[:4], rows[3:6], rows[6], rows[7]
        facing = _facing(shade, offsets)
        bevel *= facing
        layers[:3] += bevel
        whole = _silhouette(view, look.radius_mm, (ox, oy), offsets, top)
        facing += np.float32(1)
        facing *= whole - top
        layers[:3] += facing * look.wall_bgr[:, None, None]
        sx, sy = view.base_shift(ox, oy, view.rim_mm)
        np.subtract(np.float32(1), whole, out=layers[3])
        layers[3] *= shade.around(cx - ox - sx, cy - oy - sy)
        if drawn is None:
            drawn = Drawing(layers, texture)
        else:
            np.add(drawn.layers, layers, out=drawn.layers)
            np.add(drawn.texture, texture, out=drawn.texture)
    if drawn is None:
        raise ValueError("a smear has steps")
    if len(steps) > 1:
        np.multiply(drawn.layers, np.float32(1 / len(steps)), out=drawn.layers)
        np.multiply(drawn.texture, np.float32(1 / len(steps)), out=drawn.texture)
    if patch.light != 1.0:
        np.multiply(drawn.own, np.float32(patch.light), out=drawn.own)
    return drawn
