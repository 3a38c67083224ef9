"""The fit of a disc by its looks: the whole drawing of it, moved until least is left of what is seen.

Edges alone err where a maple disc lies on a maple board; the whole drawing, fitted by least squares, does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats
from firmware_py.camera.picture.shade import REACH_PX, Shade
from firmware_py.camera.picture.view import MM_PER_PX, BoardView
from firmware_py.camera.rest.appearance import Drawing, Look, Patch, draw, length_of, patch_offsets, round_table

#: The pixel before against the pixel after.
_BACK = np.array([[1.0, 0.0, -1.0]])
_PER_MM = 0.5 / MM_PER_PX
#: A fit whose last step was longer than this is still on its way, and gets so many rounds more.
_ON_ITS_WAY_MM, _MANY_ROUNDS = 0.1, 30
#: Parts of a disc and of what lies around it that are wrong each as a whole, as by shadow, shine, grain or a neighbour:
#: so many around, both within this share of the radius and beyond.
_SECTORS, _RIM = 12, 0.8


@dataclass(frozen=True, slots=True)
class LookFit:
    """A disc as fitted by its looks.

    Attributes:
        x_mm: centre of the top face, and so of the base, for a disc that lies flat on the surface.
        y_mm: likewise.
        sigma_mm: one standard deviation from the noise alone.
        spread_mm: one standard deviation from what the drawing leaves of the picture, whatever made it differ.
        gain: brightness of the disc against the set.
        explained: share of the change from the bare board that the disc explains, 1 at best.
        misfit: mean of what is left, grey levels.
        strange: how far the face's mean colour is from the set's, grey levels.
        step_mm: the last step, by which it may be still on its way.
    """

    x_mm: float
    y_mm: float
    sigma_mm: float
    spread_mm: float
    gain: float
    explained: float
    misfit: float
    strange: float
    step_mm: float

    @property
    def worth(self) -> float:
        """How well a disc of this set explains what is seen: 1 at best, below 0 where there is none."""
        return self.explained - 0.3 * abs(math.log(self.gain)) - self.strange / 90


def _slopes(drawing: Drawing, gain: float, bare: Floats) -> tuple[Floats, Floats]:
    """How the drawn picture changes for each mm by which the disc moves to +x and to +y, at a gain of the disc."""
    layers = drawing.layers
    rows = layers.reshape(-1, layers.shape[2])
    across = np.asarray(cv2.filter2D(rows, -1, _BACK, borderType=cv2.BORDER_REPLICATE)).reshape(layers.shape)
    up = np.empty_like(layers)
    np.subtract(layers[:, 2:], layers[:, :-2], out=up[:, 1:-1])
    np.subtract(layers[:, 1], layers[:, 0], out=up[:, 0])
    np.subtract(layers[:, -1], layers[:, -2], out=up[:, -1])
    for slope in (across, up):
        own = slope[:3]
        own *= np.float32(gain * _PER_MM)
        slope[3] *= np.float32(_PER_MM)
        own += slope[3] * bare
    return across[:3], up[:3]


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
    gain, sigma, spread = 1.0, 9.9, 9.9
    wood_noise = np.float32(noise * noise + (0.02 * float(patch.bare.mean())) ** 2)
    table = round_table(view, look)
    before, length = (0.0, 0.0), 0.0
    for turn in range(rounds):
        drawing = draw(view, (look, shade), patch, (x, y), smear_mm, table=table)
        weight = _open(view, patch, (x, y)) / (wood_noise + drawing.texture * drawing.texture)
        gain, off = _gain(patch, drawing, weight)
        size = np.sqrt(np.einsum("kij,kij->ij", off, off) * weight)
        weight /= np.maximum(size * np.float32(1 / 2.5), np.float32(1))
        # What is drawn moves with the disc, the bare board does not.
        jx, jy = _slopes(drawing, gain, patch.bare)
        wx, wy = weight * jx, weight * jy
        xx, xy, yy = float(np.vdot(wx, jx)) + 1e-3, float(np.vdot(wx, jy)), float(np.vdot(wy, jy)) + 1e-3
        bx, by = float(np.vdot(wx, off)), float(np.vdot(wy, off))
        det = xx * yy - xy * xy
        step_x, step_y = (yy * bx - xy * by) / det, (xx * by - xy * bx) / det
        length = math.hypot(step_x, step_y)
        if length > 2.5:
            step_x, step_y = step_x * 2.5 / length, step_y * 2.5 / length
        if step_x * before[0] + step_y * before[1] < -0.5 * (before[0] ** 2 + before[1] ** 2):
            # Robust weights can send it to and fro between two places for ever; it comes to rest half way.
            step_x, step_y, length = step_x / 2, step_y / 2, length / 2
        before = (step_x, step_y)
        x, y = x + step_x, y + step_y
        # Neighbouring pixels share the resampling: about a third of them are independent.
        sigma = math.sqrt(1.5 * (xx + yy) / det)
        if math.dist((x, y), guess_xy_mm) > reach_mm:
            return None
        if (length < close_mm and turn >= 1) or turn == rounds - 1:
            off -= np.float32(step_x) * jx + np.float32(step_y) * jy
            spread = _spread(np.array([[xx, xy], [xy, yy]]), (wx, wy), off, look.radius_mm)
        if length < close_mm and turn >= 1:
            break
    else:
        drawing = draw(view, (look, shade), patch, (x, y), smear_mm, table=table)
    (dx, dy), (cx, cy) = patch_offsets(), view.to_mm(patch.column, patch.row)
    rho = length_of(dx + np.float32(cx - x), dy + np.float32(cy - y))
    shown = _open(view, patch, (x, y))
    near = shown * (rho < look.radius_mm + 3)
    off = patch.seen - drawing.open_wood * patch.bare
    off -= np.float32(gain) * drawing.own
    face = (rho < 0.8 * look.radius_mm) & (shown > 0.5)
    strange = float(np.linalg.norm(off[:, face].mean(axis=1))) if face.any() else 0.0
    left_over = float(np.vdot(_cut(off), near))
    change = float(np.vdot(_cut(patch.seen - patch.bare), near))
    explained = 1 - left_over / max(1.0, change)
    misfit = left_over / max(1.0, 3 * float(near.sum()))
    return LookFit(x, y, sigma, spread, gain, explained, misfit, strange, length)


def _spread(normal: Floats, weighed: tuple[Floats, Floats], off: Floats, radius_mm: float) -> float:
    """How far a place may be off for all that its drawing leaves: the sandwich of least squares over the sectors.

    Noise alone says far too little, since what a drawing lacks is wrong over whole stretches of the rim: each sector
    pulls as a whole, and their pulls, which come to nothing together, show how far chance may have taken the place.
    """
    sectors = _sectors(radius_mm)
    pulls = np.stack(
        [np.bincount(sectors, np.einsum("kij,kij->ij", way, off).ravel(), 2 * _SECTORS) for way in weighed]
    )
    moved = np.linalg.solve(normal, pulls)
    return math.sqrt(float(np.sum(moved * moved)) / 2)


@lru_cache(maxsize=8)
def _sectors(radius_mm: float) -> Floats:
    """Which sector each pixel of a patch is of, in one row."""
    x, y = np.broadcast_arrays(*patch_offsets())
    around = np.floor((np.arctan2(y, x) / (2 * math.pi) % 1.0) * _SECTORS).astype(np.intp) % _SECTORS
    return np.asarray((around + _SECTORS * (np.hypot(x, y) > _RIM * radius_mm)).ravel())


def arrived(view: BoardView, look: Look, shade: Shade, patch: Patch, fit: LookFit) -> LookFit:
    """A fit brought to its end: in the half shadow of the rail a way of some millimetres takes many steps.

    Args:
        view: the camera's view.
        look: of its set.
        shade: the shadow.
        patch: the pixels.
        fit: after few rounds, which tell what it is worth.
    """
    if fit.step_mm <= _ON_ITS_WAY_MM:
        return fit
    on = fit_look(view, look, shade, patch, (fit.x_mm, fit.y_mm), rounds=_MANY_ROUNDS)
    return on if on is not None and on.worth > fit.worth else fit


def _open(view: BoardView, patch: Patch, xy_mm: tuple[float, float]) -> Floats:
    """The weight of pixels for a disc there: the surface hides some of what lies in the ditch, without its shadow."""
    if math.hypot(*xy_mm) <= view.board.surface_radius_mm:
        return patch.weight
    rows, columns = (slice(middle - REACH_PX, middle + REACH_PX + 1) for middle in (patch.row, patch.column))
    return np.where(view.surface[rows, columns], np.float32(0), patch.weight)


def _gain(patch: Patch, drawing: Drawing, weight: Floats) -> tuple[float, Floats]:
    """How bright the disc is against the set, and what is left of the picture with it drawn so."""
    rest = patch.seen - drawing.open_wood * patch.bare
    weighed = weight * drawing.own
    gain = float(np.vdot(weighed, rest)) / max(1e-3, float(np.vdot(weighed, drawing.own)))
    gain = min(max(gain, 0.6), 1.5)
    np.multiply(drawing.own, np.float32(gain), out=weighed)
    return gain, np.subtract(rest, weighed, out=rest)


def _cut(off: Floats) -> Floats:
    """All channels of a difference together, each up to so much."""
    size = np.abs(off)
    return np.asarray(np.minimum(size, np.float32(60), out=size).sum(axis=0))
