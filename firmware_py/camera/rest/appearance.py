"""How a set of discs looks on this board in this light, learned from discs at rest, and the fit of a disc by its looks.

In the straight view of the plane of top faces a disc is drawn in three layers: the wood, darkened by the disc's shadow
(which belongs to the place of its base); the side wall, as far as the camera's slant shows it; the top face, a circle.
Edges alone err where a maple disc lies on a maple board; the whole drawing, fitted by least squares, does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.shade import REACH_PX, Shade
from firmware_py.camera.picture.view import EDGE_MM, MM_PER_PX, BoardView

_SIDE = 2 * REACH_PX + 1
RING_MM = 0.5
_ROW, _COLUMN = np.mgrid[-REACH_PX : REACH_PX + 1, -REACH_PX : REACH_PX + 1].astype(np.float32)
#: Offsets of the patch's pixels from its middle, mm, x right and y up.
_DX = (_COLUMN * np.float32(MM_PER_PX)).astype(np.float32)
_DY = (-_ROW * np.float32(MM_PER_PX)).astype(np.float32)


def _cover(inside_mm: Floats, soft_mm: float) -> Floats:
    """Share of a pixel, soft by so much, that is covered by what begins ``inside_mm`` away."""
    # A logistic of this slope follows the error function to 1 %.
    return np.asarray(1 / (1 + np.exp(-np.clip(inside_mm * np.float32(1.702 / soft_mm), -30, 30))), dtype=np.float32)


Xy = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Patch:
    """The pixels around a place of the straight view.

    Attributes:
        column: of its middle pixel.
        row: of its middle pixel.
        seen: what the camera sees, float32 ``(side, side, 3)``.
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


@dataclass(frozen=True, slots=True)
class LookFit:
    """A disc as fitted by its looks.

    Attributes:
        x_mm: centre of the top face, and so of the base, for a disc that lies flat on the surface.
        y_mm: likewise.
        sigma_mm: one standard deviation from the noise alone.
        gain: brightness of the disc against the set.
        explained: share of the change from the bare board that the disc explains, 1 at best.
        misfit: mean of what is left, grey levels.
        strange: how far the face's mean colour is from the set's, grey levels.
    """

    x_mm: float
    y_mm: float
    sigma_mm: float
    gain: float
    explained: float
    misfit: float
    strange: float

    @property
    def worth(self) -> float:
        """How well a disc of this set explains what is seen: 1 at best, below 0 where there is none."""
        return self.explained - 0.3 * abs(math.log(self.gain)) - self.strange / 90


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

    def colours(self, dx: Floats, dy: Floats) -> tuple[Floats, Floats]:
        """Expected colour, and its spread, of the face at offsets from the centre."""
        rho = np.sqrt(dx * dx + dy * dy)
        at = rho * np.float32(1 / RING_MM)
        flat, border = np.zeros_like(at), cv2.BORDER_REPLICATE
        mean = cv2.remap(self.face[None], at, flat, cv2.INTER_LINEAR, borderMode=border)
        spread = cv2.remap(self.spread[None], at, flat, cv2.INTER_NEAREST, borderMode=border)
        return np.asarray(mean, dtype=np.float32), np.asarray(spread, dtype=np.float32)


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
        middle = patch.seen[REACH_PX - 3 : REACH_PX + 4, REACH_PX - 3 : REACH_PX + 4].mean(axis=(0, 1))
        return sorted(self.looks.items(), key=lambda item: float(np.linalg.norm(item[1].rim_bgr - middle)))


Wear = tuple[Look, Shade]


def patch_offsets() -> tuple[Floats, Floats]:
    """Offsets in mm of a patch's pixels from its middle, x right and y up."""
    return _DX, _DY


def draw_disc(view: BoardView, shade: Shade, xy_mm: Xy) -> tuple[tuple[slice, slice], Floats]:
    """Where in the straight view a disc's shadow falls, and the factor by which it darkens the ground there."""
    u, v = view.to_px(*xy_mm)
    column, row = round(u), round(v)
    r0, r1 = max(0, row - REACH_PX), min(view.side_px, row + REACH_PX + 1)
    c0, c1 = max(0, column - REACH_PX), min(view.side_px, column + REACH_PX + 1)
    cx, cy = view.to_mm(column, row)
    sx, sy = view.base_shift(*xy_mm, view.rim_mm)
    dx, dy = _DX + np.float32(cx - xy_mm[0] - sx), _DY + np.float32(cy - xy_mm[1] - sy)
    factor = shade.at(dx, dy)
    inner = (slice(r0 - row + REACH_PX, r1 - row + REACH_PX), slice(c0 - column + REACH_PX, c1 - column + REACH_PX))
    return (slice(r0, r1), slice(c0, c1)), factor[inner]


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
        straight[part].astype(np.float32),
        bare[part].astype(np.float32),
        view.visible[part].astype(np.float32),
        light,
    )


def masks(view: BoardView, radius_mm: float, xy_mm: Xy, dx: Floats, dy: Floats) -> tuple[Floats, Floats]:
    """Cover of the top face and of the whole silhouette at offsets from the centre of the top face."""
    top = _cover(np.float32(radius_mm) - np.sqrt(dx * dx + dy * dy), view.soft_mm)
    sx, sy = view.base_shift(*xy_mm, view.wall_mm)
    length2 = sx * sx + sy * sy
    if length2 < 1e-6:
        return top, top
    # The hull of two circles of nearly one radius: the distance to the segment between their centres.
    along = np.clip((dx * np.float32(sx) + dy * np.float32(sy)) / np.float32(length2), 0, 1)
    qx, qy = dx - along * np.float32(sx), dy - along * np.float32(sy)
    shrink = np.float32(radius_mm) * (1 - along * np.float32(view.wall_mm / view.calibration.camera_height_mm))
    whole = _cover(shrink - np.sqrt(qx * qx + qy * qy), view.soft_mm)
    return top, np.maximum(whole, top)


def lit(
    view: BoardView, shade: Shade, radius_mm: float, offsets: tuple[Floats, Floats], top: Floats
) -> tuple[Floats, Floats]:
    """Factors of the light on the face with its bevel, and on the wall, at offsets from the centre of the top face."""
    (dx, dy), (lamp_x, lamp_y) = offsets, shade.lamp
    rho = np.sqrt(dx * dx + dy * dy)
    facing = (dx * np.float32(lamp_x) + dy * np.float32(lamp_y)) / np.maximum(rho, 1.0)
    bevel = 1 - _cover(np.float32(radius_mm - EDGE_MM) - rho, view.soft_mm) / np.maximum(top, 1e-3)
    return 1 + facing * np.clip(bevel, 0, 1), 1 + facing


def draw(
    view: BoardView, wear: Wear, patch: Patch, xy_mm: Xy, smear_mm: Xy = (0.0, 0.0)
) -> tuple[Floats, Floats, Floats]:
    """The disc's own light at gain 1, what it leaves of the wood's light, and the spread of the face."""
    look, shade = wear
    cx, cy = view.to_mm(patch.column, patch.row)
    length = math.hypot(*smear_mm)
    steps = (0.0,) if length < 1.0 else tuple(np.linspace(-0.5, 0.5, 2 * min(4, math.ceil(length / 3)) + 1)[1::2])
    own = np.zeros_like(patch.seen)
    open_wood = np.zeros(patch.seen.shape[:2], np.float32)
    texture = np.zeros(patch.seen.shape[:2], np.float32)
    for step in steps:
        ox, oy = xy_mm[0] + step * smear_mm[0], xy_mm[1] + step * smear_mm[1]
        dx, dy = _DX + np.float32(cx - ox), _DY + np.float32(cy - oy)
        top, whole = masks(view, look.radius_mm, (ox, oy), dx, dy)
        colour, spread = look.colours(dx, dy)
        sx, sy = view.base_shift(ox, oy, view.rim_mm)
        factor = shade.at(dx - np.float32(sx), dy - np.float32(sy))
        on_face, on_wall = lit(view, shade, look.radius_mm, (dx, dy), top)
        own += (top * on_face)[..., None] * colour + ((whole - top) * on_wall)[..., None] * look.wall_bgr
        open_wood += (1 - whole) * factor
        texture += top * spread
    n = np.float32(len(steps))
    return own * (np.float32(patch.light) / n), open_wood / n, texture / n


def _slopes(own: Floats, open_wood: Floats, bare: Floats) -> tuple[Floats, Floats]:
    """How the drawn picture changes for each mm by which the disc moves to +x and to +y."""
    per = 0.5 / MM_PER_PX
    own_x = cv2.filter2D(own, -1, np.array([[per, 0.0, -per]]), borderType=cv2.BORDER_REPLICATE)
    own_y = cv2.filter2D(own, -1, np.array([[-per], [0.0], [per]]), borderType=cv2.BORDER_REPLICATE)
    wood_x = cv2.filter2D(open_wood, -1, np.array([[per, 0.0, -per]]), borderType=cv2.BORDER_REPLICATE)
    wood_y = cv2.filter2D(open_wood, -1, np.array([[-per], [0.0], [per]]), borderType=cv2.BORDER_REPLICATE)
    return own_x + wood_x[..., None] * bare, own_y + wood_y[..., None] * bare


def fit_look(
    view: BoardView,
    look: Look,
    shade: Shade,
    patch: Patch,
    guess_xy_mm: tuple[float, float],
    *,
    smear_mm: tuple[float, float] = (0.0, 0.0),
    noise: float = 3.0,
    rounds: int = 4,
    reach_mm: float = 12.0,
    close_mm: float = 0.03,
) -> LookFit | None:
    """Fit a disc of a known set by its looks.

    Args:
        view: the camera's view.
        look: of its set.
        shade: the shadow.
        patch: the pixels.
        guess_xy_mm: where it is, to some millimetres.
        smear_mm: way of the disc while the shutter was open.
        noise: of the picture, grey levels.
        rounds: of least squares.
        reach_mm: how far from the guess it may be.
        close_mm: a step shorter than this is the last.

    Returns:
        The fit, whatever it is worth (see ``explained``); None if it runs away.
    """
    x, y = guess_xy_mm
    gain, sigma = 1.0, 9.9
    wood_noise = noise * noise + (0.02 * float(patch.bare.mean())) ** 2
    own, open_wood, texture = draw(view, (look, shade), patch, (x, y), smear_mm)
    for turn in range(rounds):
        base = patch.weight / (wood_noise + texture * texture)
        rest = patch.seen - open_wood[..., None] * patch.bare
        weighed = base[..., None] * own
        gain = float(np.clip(np.vdot(weighed, rest) / max(1e-3, float(np.vdot(weighed, own))), 0.6, 1.5))
        off = rest - np.float32(gain) * own
        size = np.sqrt(np.einsum("ijk,ijk->ij", off, off) * base)
        w3 = (base / np.maximum(1.0, size / 2.5))[..., None]
        # What is drawn moves with the disc, the bare board does not.
        jx, jy = _slopes(own * np.float32(gain), open_wood, patch.bare)
        wx, wy = w3 * jx, w3 * jy
        xx, xy, yy = float(np.vdot(wx, jx)) + 1e-3, float(np.vdot(wx, jy)), float(np.vdot(wy, jy)) + 1e-3
        bx, by = float(np.vdot(wx, off)), float(np.vdot(wy, off))
        det = xx * yy - xy * xy
        step_x, step_y = (yy * bx - xy * by) / det, (xx * by - xy * bx) / det
        length = math.hypot(step_x, step_y)
        if length > 2.5:
            step_x, step_y = step_x * 2.5 / length, step_y * 2.5 / length
        x, y = x + step_x, y + step_y
        # Neighbouring pixels share the resampling: about a third of them are independent.
        sigma = math.sqrt(1.5 * (xx + yy) / det)
        if math.dist((x, y), guess_xy_mm) > reach_mm:
            return None
        own, open_wood, texture = draw(view, (look, shade), patch, (x, y), smear_mm)
        if length < close_mm and turn >= 1:
            break
    cx, cy = view.to_mm(patch.column, patch.row)
    rho2 = (_DX + np.float32(cx - x)) ** 2 + (_DY + np.float32(cy - y)) ** 2
    near = patch.weight * (rho2 < (look.radius_mm + 3) ** 2)
    wood = open_wood[..., None] * patch.bare
    off = patch.seen - wood - np.float32(gain) * own
    left_over = np.minimum(np.abs(off), 60.0).sum(axis=2) * near
    face = (rho2 < (0.8 * look.radius_mm) ** 2) & (patch.weight > 0.5)
    strange = float(np.linalg.norm(off[face].mean(axis=0))) if face.any() else 0.0
    change = np.minimum(np.abs(patch.seen - patch.bare), 60.0).sum(axis=2) * near
    explained = 1 - float(left_over.sum()) / max(1.0, float(change.sum()))
    return LookFit(x, y, sigma, gain, explained, float(left_over.sum() / max(1.0, 3 * near.sum())), strange)
