"""How looks are learned from discs at rest: from one after another, and again from the last ones all at once.

Whoever learns a look from places that were fitted by that look keeps the error of the first fit for ever: the shadow
takes what sticks out on its side for shadow, and the next fit agrees. So the last views of discs are kept. Moved all
together they are drawn best by what they themselves teach when they lie where the discs do: the shadow must be the same
for all, the face round, the wood under the rim that of the empty board. That place is searched for; then every view
is fitted by what all of them taught, and all is learned anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import (
    RING_MM,
    Look,
    Patch,
    Wardrobe,
    draw,
    length_of,
    lit,
    masks,
    patch_offsets,
)
from firmware_py.camera.rest.fitting import fit_look

Xy = tuple[float, float]

#: So many views of each set are kept.
VIEWS = 8
#: Fewer, of all sets together, do not tell shadow from disc.
_LEAST_VIEWS = 4
#: All views are moved by steps of so much at first, and down to the last step.
_FIRST_STEP_MM, _LAST_STEP_MM = 0.8, 0.2
#: So many views of each set tell where they all lie, before the last step.
_ALIGNED_VIEWS = 4
#: Then each is fitted, and all is learned anew, so many times.
_FIRST_FITS, _LATER_FITS = 2, 1
#: A view whose fit goes farther away than this, or explains less, shows no such disc.
_REACH_MM, _LEAST_EXPLAINED = 2.5, 0.2
#: So far beside a disc its own edge and wall end; what is there has the wood's colour but for so many grey levels, and
#: shadows leave so much of its light.
_BESIDE_MM, _OTHER_COLOUR, _DEEPEST = 4.0, 20.0, 0.3
#: What is left of a pixel counts up to so many grey levels.
_MOST_LEFT = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """A disc at rest, seen with nothing near it."""

    look: Look
    patch: Patch
    xy_mm: Xy

    def moved(self, x_mm: float, y_mm: float) -> _View:
        return replace(self, xy_mm=(self.xy_mm[0] + x_mm, self.xy_mm[1] + y_mm))


@dataclass(slots=True)
class _Owed:
    """What is still to be done: a search with this step, and so many fits after it; perhaps all once more."""

    step_mm: float = 0.0
    fits: int = 0
    again: bool = False


class Album:
    """The last views of discs of each set, from which their looks are learned in turns.

    Args:
        view: the camera's view.
        wardrobe: what is taught.
    """

    def __init__(self, view: BoardView, wardrobe: Wardrobe) -> None:
        self._view, self._wardrobe = view, wardrobe
        self._views: list[_View] = []
        self._owed = _Owed()

    @property
    def owed(self) -> bool:
        """Whether another turn is worth its time."""
        return self._owed.step_mm >= _LAST_STEP_MM or self._owed.fits > 0 or self._owed.again

    def add(self, look: Look, patch: Patch, xy_mm: Xy) -> None:
        """Keep a view of a disc of a set; the oldest of many goes."""
        own = [v for v in self._views if v.look is look]
        self._views = [v for v in self._views if len(own) < VIEWS or v is not own[0]]
        self._views.append(_View(look, patch, xy_mm))
        young = look.learned <= VIEWS
        step = _FIRST_STEP_MM if young else _LAST_STEP_MM
        self._owed = _Owed(max(step, self._owed.step_mm), _FIRST_FITS if young else _LATER_FITS, again=young)

    def turn(self) -> None:
        """One turn of learning; each takes some tens of milliseconds."""
        looks = list(self._wardrobe.looks.values())
        # A set may have been replaced by a better first look since.
        self._views = [v for v in self._views if any(v.look is look for look in looks)]
        counts = [sum(v.look is look for v in self._views) for look in looks]
        owed = self._owed
        # What many discs taught is not given up for what a few teach.
        few = any(n < min(VIEWS, math.floor(look.learned)) // 2 for n, look in zip(counts, looks, strict=True))
        if few or len(self._views) < _LEAST_VIEWS:
            self._owed = _Owed()
            return
        if owed.step_mm >= _LAST_STEP_MM:
            self._align(owed)
        elif owed.fits > 0:
            owed.fits -= 1
            self._learn()
            self._views = self._fitted()
        elif owed.again:
            self._owed = _Owed(_LAST_STEP_MM, _LATER_FITS)
        if not self.owed:
            self._learn()

    def _align(self, owed: _Owed) -> None:
        """Move all views by a step if that draws them better, or make the step smaller."""
        looks = {id(v.look): v.look for v in self._views}
        step = owed.step_mm
        most = VIEWS if step <= _LAST_STEP_MM else _ALIGNED_VIEWS
        few = [v for look in looks.values() for v in [u for u in self._views if u.look is look][-most:]]
        tries = [(0.0, 0.0), (step, 0.0), (-step, 0.0), (0.0, step), (0.0, -step)]
        left = [self._left([v.moved(*way) for v in few]) for way in tries]
        best = left.index(min(left))
        if best:
            self._views = [v.moved(*tries[best]) for v in self._views]
            return
        if step <= _LAST_STEP_MM:
            # Between the steps the least lies where a parabola through three of them has it.
            ways = [0.5 * step * (m - p) / max(p + m - 2 * left[0], 1e-6) for p, m in (left[1:3], left[3:5])]
            self._views = [v.moved(ways[0], ways[1]) for v in self._views]
        owed.step_mm = step / 2

    def _taught(self, views: list[_View]) -> tuple[dict[int, Look], Shade]:
        """What views teach, by themselves."""
        shade = Shade()
        looks = {id(v.look): v.look for v in views}
        fresh = {key: _copy(look) for key, look in looks.items()}
        for v in views:
            learn_look(self._view, fresh[id(v.look)], shade, v.patch, v.xy_mm)
        return fresh, shade

    def _left(self, views: list[_View]) -> float:
        """How much of the views is left undrawn by what they teach."""
        fresh, shade = self._taught(views)
        off_x, off_y = patch_offsets()
        total = 0.0
        for v in views:
            drawing = draw(self._view, (fresh[id(v.look)], shade), v.patch, v.xy_mm)
            own = drawing.own
            rest = v.patch.seen - drawing.open_wood * v.patch.bare
            weighed = v.patch.weight * own
            gain = float(np.vdot(weighed, rest)) / max(1e-3, float(np.vdot(weighed, own)))
            cx, cy = self._view.to_mm(v.patch.column, v.patch.row)
            near = length_of(off_x + np.float32(cx - v.xy_mm[0]), off_y + np.float32(cy - v.xy_mm[1]))
            off = np.minimum(np.abs(rest - np.float32(gain) * own), _MOST_LEFT).sum(axis=0) * v.patch.weight
            total += float(off[near < v.look.radius_mm + 6].sum())
        return total

    def _learn(self) -> None:
        fresh, shade = self._taught(self._views)
        self._wardrobe.shade.become(shade)
        for look in self._wardrobe.looks.values():
            new = fresh.get(id(look))
            if new is not None:
                look.face, look.spread, look.wall_bgr = new.face, new.spread, new.wall_bgr

    def _fitted(self) -> list[_View]:
        good = []
        for v in self._views:
            fit = fit_look(self._view, v.look, self._wardrobe.shade, v.patch, v.xy_mm, reach_mm=_REACH_MM)
            if fit is not None and fit.explained > _LEAST_EXPLAINED:
                good.append(replace(v, xy_mm=(fit.x_mm, fit.y_mm)))
        return good


def _copy(look: Look) -> Look:
    """A look of its own with the same values, that the first view replaces."""
    return Look(look.radius_mm, look.face.copy(), look.spread.copy(), look.wall_bgr.copy(), learned=0.0)


def without_neighbours(view: BoardView, patch: Patch, xy_mm: Xy, radius_mm: float) -> Patch:
    """The patch of a disc with no weight where it shows something beside the disc that is neither wood nor shadow.

    Discs that touch are found one after the other: the first must not take its neighbour for its shadow.
    """
    cx, cy = view.to_mm(patch.column, patch.row)
    off_x, off_y = patch_offsets()
    beside = length_of(off_x + np.float32(cx - xy_mm[0]), off_y + np.float32(cy - xy_mm[1])) > radius_mm + _BESIDE_MM
    seen, bare = (np.stack([cv2.blur(plane, (3, 3)) for plane in planes]) for planes in (patch.seen, patch.bare))
    share = np.einsum("kij,kij->ij", seen, bare) / np.maximum(np.einsum("kij,kij->ij", bare, bare), 1.0)
    off = np.abs(seen - share * bare).max(axis=0)
    other = beside & ((off > _OTHER_COLOUR) | (share < _DEEPEST))
    wide = cv2.dilate(other.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    return replace(patch, weight=np.where(wide & beside, np.float32(0), patch.weight))


def learn_look(view: BoardView, look: Look, shade: Shade | None, patch: Patch, xy_mm: Xy) -> None:
    """Take in how a disc at a known place looks; its shadow too, unless it casts none (in the hole)."""
    x_mm, y_mm = xy_mm
    cx, cy = view.to_mm(patch.column, patch.row)
    off_x, off_y = patch_offsets()
    dx, dy = off_x + np.float32(cx - x_mm), off_y + np.float32(cy - y_mm)
    rho = length_of(dx, dy)
    sx, sy = view.base_shift(x_mm, y_mm, view.rim_mm)
    top, whole = masks(view, look.radius_mm, xy_mm, (dx, dy, rho))
    side = whole - top
    rate = max(0.06, 1.0 / (1.0 + look.learned))
    look.learned += 1
    ground = 1 - whole
    on_face = top
    if shade is not None:
        ground *= shade.around(cx - x_mm - sx, cy - y_mm - sy)
        light_face, light_wall = lit(view, shade, look.radius_mm, (dx, dy, rho), top)
        on_face, side = top * light_face, side * light_wall
    light = np.float32(patch.light)
    on_face, side = on_face * light, side * light
    # What is not wood; at the rim a pixel shows some face, some wall and some wood.
    above = patch.seen - ground * patch.bare
    certain = patch.weight > 0.5
    inside = certain & (top > 0.35)
    core = inside & (rho < 0.85 * look.radius_mm)
    scale = 1.0
    if look.learned > 2:
        # Single discs are lighter or darker: what is learned is the set's mean pattern.
        expected = light * _median(look.colours(rho[core])[:3])
        middle = _median(patch.seen[:, core])
        scale = float(np.clip(middle.sum() / max(1.0, expected.sum()), 0.7, 1.4))
    face = above[:, inside] - side[inside] * look.wall_bgr[:, None]
    face /= np.maximum(on_face[inside], 0.3 * light)
    values = np.clip(face / np.float32(scale ** (1 - rate)), 0, 255)
    _learn_rings(look, (rho[inside] / RING_MM).astype(int), values, rate)
    own = np.float32(scale) * on_face * look.colours(rho)[:3]
    seen_side = side * certain
    share = float(np.vdot(seen_side, seen_side))
    if share > 3:
        wall = np.einsum("ij,kij->k", seen_side, above - own) / share
        look.wall_bgr = look.wall_bgr + np.float32(rate * min(1.0, share / 15)) * (
            np.clip(wall, 0, 255) - look.wall_bgr
        )
    if shade is None:
        return
    own += side * look.wall_bgr[:, None, None]
    ground_light = np.maximum(patch.bare.sum(axis=0), 18.0) * np.maximum(1 - whole, 0.05)
    factor = (patch.seen - own).sum(axis=0) / ground_light
    weight = np.where((whole < 0.9) & certain, (1 - whole) ** 2, 0).astype(np.float32)
    shade.learn(dx - np.float32(sx), dy - np.float32(sy), factor, weight)


def _median(values: Floats) -> Floats:
    """The median of each row; numpy's own takes several times as long on short ones."""
    ordered = np.sort(values, axis=1)
    count = ordered.shape[1]
    return np.asarray((ordered[:, (count - 1) // 2] + ordered[:, count // 2]) / 2)


def _learn_rings(look: Look, ring: Floats, values: Floats, rate: float) -> None:
    """Take in colours ``(3, n)`` seen at distances ``ring`` from the centre; each ring learns of its neighbours too."""
    count = len(look.face)
    near = ring < count + 2
    ring, values = ring[near], values[:, near].astype(np.float64)
    sums = np.stack([np.bincount(ring, w, count + 2) for w in (None, *values, (values * values).sum(axis=0))], axis=1)
    upto = np.concatenate([np.zeros((1, 5)), np.cumsum(sums, axis=0)])
    k = np.arange(count)
    reach = np.where(k > 3, 1, 2)
    total = upto[k + reach + 1] - upto[np.maximum(k - reach, 0)]
    number = np.maximum(total[:, 0], 1)
    mean = total[:, 1:4] / number[:, None]
    spread = np.sqrt(np.maximum(total[:, 4] / number - (mean * mean).sum(axis=1), 0.0) / 3)
    seen = (k * RING_MM <= look.radius_mm) & (total[:, 0] >= 6)
    look.face[seen] += rate * (mean[seen] - look.face[seen])
    look.spread[seen] += rate * (np.minimum(spread[seen], 25.0) - look.spread[seen])
    for blind in np.nonzero(~seen)[0]:
        if blind:
            look.face[blind], look.spread[blind] = look.face[blind - 1], look.spread[blind - 1]
