"""The height of the camera from what stands up: the sides of pegs and discs are seen the more, the lower it hangs.

Something upright and round is seen as the hull of two circles, its foot and its top, and the top is shifted away from
the point below the camera. How far tells how high the camera hangs. Only the length against the width counts, so it
matters little how well a peg was drilled to its place, and not at all where a disc lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.pose import camera_centre
from firmware_py.camera.picture.lab import Array, Image
from firmware_py.camera.picture.view import EDGE_MM, BoardView
from hardware.board import Board

Xy = tuple[float, float]
Kind = Literal["pegs", "discs"]

_RAYS = 48
_STEP_MM = 0.25
_TURNS = np.arange(_RAYS) * (2 * math.pi / _RAYS)
_OUT = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=-1)
#: Rays reach so far inside and outside the expected outline.
_INSIDE_MM, _OUTSIDE_MM = 3.5, 5.0
#: Steps of colour that count, in grey levels a millimetre; how far from the outline they may lie at last.
_LEAST_STEP, _FAR_MM = 4.0, 1.6
#: An edge so near to a printed line, or to another thing, may be theirs.
_NEAR_LINE_MM, _NEAR_OTHER_MM = 2.0, 2.5
#: How well pegs are drilled to their places and discs were found, and how far a radius may be from the preset's.
_PLACED_MM = {"pegs": 0.5, "discs": 4.0}
_RADIUS_MM = 1.0
#: Things of a kind that are needed, and the share of a thing's rays that must show an edge.
_LEAST_COUNT = {"pegs": 4, "discs": 2}
_LEAST_SEEN = 0.5
#: Visible walls differ so much in height (a part): edges are rounded by 0.4 to 1.2 mm, and pegs pressed in by hand.
_TALL_SPREAD = {"pegs": 0.06, "discs": 0.06}
#: A bevel, or the shadow beside a wall, makes all things of a kind seem so much longer or shorter.
_EDGE_MM = 0.15
#: What is left of the bend of a lens when the rings have put it right, as a part of what they put right.
_BEND_LEFT = 0.25
#: Neighbouring rays share pixels and shadows: a quarter of them are independent.
_SHARED = 4.0
#: A step counts as the outline when it has this share of the largest step beside it.
_OUTERMOST = 0.35
_ROUNDS = 10
_NEAR_ENOUGH, _NEARBY = 0.002, 0.01
#: Focal lengths that are weighed, in long sides of the picture.
_FOCALS = np.geomspace(0.4, 4.0, 60)
#: What tells another height than all the rest by more than so many sigma stands up otherwise than it should, and is
#: not believed.
_APART = 3.0
#: The axis of a lens does not meet the middle of the picture, and rings are not found, to the last hair.
_FOOT_MM = 5.0


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a camera hangs: its height, and the point of the surface below it, ``(2,)``."""

    height_mm: float
    foot_mm: Array


@dataclass(frozen=True, slots=True)
class Stands:
    """Cameras that a view of the board allows: one for each focal length.

    Attributes:
        log_height: ``(n,)``, logarithms of heights in mm, growing.
        foot_mm: ``(n, 2)``.
    """

    log_height: Array
    foot_mm: Array

    def at(self, log_height: float) -> Stand:
        """The one at a height."""
        foot = [np.interp(log_height, self.log_height, self.foot_mm[:, k]) for k in range(2)]
        return Stand(math.exp(log_height), np.array(foot))


@dataclass(frozen=True, slots=True)
class Lean:
    """What things of one kind tell of the camera's height.

    Attributes:
        kind: of the things.
        count: how many of them were seen well.
        log_height: logarithm of the height in mm.
        sigma: its standard deviation.
        turn_deg: by how much, clockwise, they stand turned about the centre against the places that were given.
    """

    kind: Kind
    count: int
    log_height: float
    sigma: float
    turn_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class _Shape:
    """An upright round thing: the height of its upper rim, and its radius."""

    tall_mm: float
    radius_mm: float


def stands_of(calibration: Calibration) -> Stands:
    """The cameras that fit a calibration's view of the surface."""
    width, height = calibration.size_wh
    principal = ((width - 1) / 2, (height - 1) / 2)
    view = calibration.image_from_board
    places = np.array([camera_centre(view, float(f), principal) for f in _FOCALS * max(width, height)])
    return Stands(np.log(places[:, 2]), places[:, :2])


def leant(calibration: Calibration, lean: Lean | None) -> Calibration:
    """The calibration with what a lean tells of the camera's place; as it was where both contradict each other."""
    if lean is None or not fits(calibration, lean):
        return calibration
    known, spread = math.log(calibration.camera_height_mm), math.log(max(calibration.height_spread, 1.001))
    weight = spread**2 / (spread**2 + lean.sigma**2)
    stand = stands_of(calibration).at(known + weight * (lean.log_height - known))
    return replace(
        calibration,
        camera_height_mm=stand.height_mm,
        foot_xy_mm=(float(stand.foot_mm[0]), float(stand.foot_mm[1])),
        height_spread=math.exp(math.sqrt(weight) * lean.sigma),
    )


def fits(calibration: Calibration, lean: Lean) -> bool:
    """Whether a lean and a calibration can both be right about the camera's height."""
    off = abs(lean.log_height - math.log(calibration.camera_height_mm))
    return off <= _APART * math.hypot(math.log(max(calibration.height_spread, 1.001)), lean.sigma)


def foot_error_mm(calibration: Calibration) -> float:
    """One standard deviation of the foot point's place: it moves with the height that is taken for the camera's."""
    stands, spread = stands_of(calibration), math.log(max(calibration.height_spread, 1.001))
    known = math.log(calibration.camera_height_mm)
    moved = stands.at(known + spread).foot_mm - stands.at(known - spread).foot_mm
    return math.hypot(float(np.linalg.norm(moved)) / 2, _FOOT_MM)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the edges say: ``(n, rays)`` but for ``outward``.

    Attributes:
        off: how far outside the outline each lies.
        outward: the way outwards there, ``(n, rays, 2)``.
        by_height: how ``off`` changes with the logarithm of the camera's height.
        use: which of them count.
    """

    off: Array
    outward: Array
    by_height: Array
    use: Array


def measure_lean(
    view: BoardView, picture: Image, kind: Kind, places: Sequence[Xy], others: Sequence[Xy] = ()
) -> Lean | None:
    """The camera's height from the pegs, or from the discs that lie on the surface.

    Args:
        view: the camera's view; its own height is where the search starts.
        picture: the camera's picture.
        kind: what the things are.
        places: where they stand: pegs as the board has them, discs to some millimetres.
        others: where things of the other kind stand.

    Returns:
        None where too few are seen to tell it.
    """
    board, pegs = view.board, kind == "pegs"
    shape = _Shape(
        (board.peg_height_mm if pegs else board.disc_height_mm) - EDGE_MM,
        board.peg_radius_mm if pegs else board.disc_radius_mm,
    )
    aside = board.disc_radius_mm if pegs else board.peg_radius_mm
    alone = [p for p in places if all(math.dist(p, o) > shape.radius_mm + aside + _NEAR_OTHER_MM for o in others)]
    alone = [p for p in alone if sum(math.dist(p, o) < 2 * shape.radius_mm + _NEAR_OTHER_MM for o in places) == 1]
    if len(alone) < _LEAST_COUNT[kind]:
        return None
    pixels = picture.astype(np.float32)
    stands = stands_of(view.calibration)
    stand = Stand(view.calibration.camera_height_mm, np.array(view.calibration.foot_xy_mm))
    start, usual, log_height = np.array(alone), shape.radius_mm, math.log(stand.height_mm)
    base = start.copy()
    low, high = float(stands.log_height[0]), float(stands.log_height[-1])
    for turn in range(_ROUNDS):
        stand = stands.at(log_height)
        edges, step = _edges(view, pixels, base, stand, shape, prior_mm=(2.0, 1.3, 0.9)[min(turn, 2)])
        off, outward = _off(edges, base, stand, shape)
        use = (step > _LEAST_STEP) & (np.abs(off) < _FAR_MM) & _clear_of_lines(board, edges)
        use &= (use.mean(axis=1) > _LEAST_SEEN)[:, None]
        count = int(use.any(axis=1).sum())
        if count < _LEAST_COUNT[kind]:
            return None
        higher, lower = (_off(edges, base, stands.at(log_height + d), shape)[0] for d in (_NEARBY, -_NEARBY))
        rows = _Rows(off, outward, (higher - lower) / (2 * _NEARBY), use)
        solved, sigma = _solve(rows, base - start, shape.radius_mm - usual, _PLACED_MM[kind])
        base = base + solved[:-2].reshape(-1, 2)
        shape = _Shape(shape.tall_mm, shape.radius_mm + float(solved[-2]))
        stride = float(np.clip(solved[-1], -0.25, 0.25))
        log_height = min(max(log_height + stride, low), high)
        if turn >= 3 and abs(stride) < _NEAR_ENOUGH:
            break
    if not low + _NEAR_ENOUGH < log_height < high - _NEAR_ENOUGH:
        return None
    lean = np.linalg.norm(start - stand.foot_mm, axis=1) * shape.tall_mm / stand.height_mm
    bend = _bend_left(view, start, shape, lean)
    edge = _EDGE_MM / math.sqrt(float(np.mean(lean * lean)))
    seen = use.any(axis=1)
    turn_deg = _turned_deg(start[seen], base[seen] - start[seen])
    return Lean(kind, count, log_height, math.hypot(sigma, bend, edge, _TALL_SPREAD[kind]), turn_deg)


def _turned_deg(places: Array, moved: Array) -> float:
    """The turn about the centre, clockwise, in how things moved; shadows, which all fall one way, shift them alike."""
    x, y = places.T
    one, none = np.ones_like(x), np.zeros_like(x)
    design = np.concatenate([np.stack([one, none, y], axis=1), np.stack([none, one, -x], axis=1)])
    fitted = np.linalg.lstsq(design, moved.T.ravel(), rcond=None)[0]
    return math.degrees(float(fitted[2]))


def _circles(base: Array, stand: Stand, shape: _Shape) -> tuple[Array, Array, float, float]:
    """Centres and radii, on the surface as seen, of the lower and the upper rim of things."""
    low, top = EDGE_MM / (stand.height_mm - EDGE_MM), shape.tall_mm / (stand.height_mm - shape.tall_mm)
    away = base - stand.foot_mm
    return base + away * low, base + away * top, shape.radius_mm * (1 + low), shape.radius_mm * (1 + top)


def _edges(
    view: BoardView, pixels: Array, base: Array, stand: Stand, shape: _Shape, *, prior_mm: float
) -> tuple[Array, Array]:
    """The likeliest outline of each thing along its rays: points ``(n, rays, 2)``, and the step of colour there."""
    c0, c1, r0, r1 = _circles(base, stand, shape)
    centre = (c0 + c1) / 2
    # Where a ray leaves the hull of two circles: the farther of the two ways out is within a hair of it.
    reach = np.maximum(_way_out(centre, c0, r0), _way_out(centre, c1, r1))
    steps = np.arange(-min(_INSIDE_MM, 0.7 * r0), _OUTSIDE_MM + _STEP_MM / 2, _STEP_MM)
    points = centre[:, None, None] + (reach[..., None] + steps)[..., None] * _OUT[None, :, None]
    seen = view.pixels(points, 0.0).astype(np.float32)
    rows = seen.reshape(len(base) * _RAYS, len(steps), 2)
    values = cv2.remap(pixels, rows[..., 0], rows[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    smooth = cv2.GaussianBlur(values, (0, 0), sigmaX=0.5 / _STEP_MM, sigmaY=1e-3, borderType=cv2.BORDER_REPLICATE)
    rise = np.zeros_like(smooth)
    rise[:, 1:-1] = (smooth[:, 2:] - smooth[:, :-2]) / (2 * _STEP_MM)
    strength = np.linalg.norm(rise, axis=2)
    weighed = strength * np.exp(-0.5 * (steps / prior_mm) ** 2)
    # The face ends in a rounded edge and a wall of other shades: the outline is the outermost clear step.
    peak = np.zeros(weighed.shape, np.bool_)
    peak[:, 1:-1] = (strength[:, 1:-1] >= strength[:, :-2]) & (strength[:, 1:-1] > strength[:, 2:])
    peak &= weighed >= _OUTERMOST * weighed.max(axis=1, keepdims=True)
    outermost = len(steps) - 1 - np.argmax(peak[:, ::-1], axis=1)
    k = np.clip(np.where(peak.any(axis=1), outermost, np.argmax(weighed, axis=1)), 1, len(steps) - 2)
    row = np.arange(len(k))
    left, mid, right = strength[row, k - 1], strength[row, k], strength[row, k + 1]
    curve = left - 2 * mid + right
    fine = np.where(np.abs(curve) > 1e-6, 0.5 * (left - right) / np.where(curve == 0, 1, curve), 0.0)
    at = (steps[k] + np.clip(fine, -0.7, 0.7) * _STEP_MM).reshape(len(base), _RAYS)
    return centre[:, None] + (reach + at)[..., None] * _OUT, mid.reshape(len(base), _RAYS)


def _way_out(centre: Array, circle: Array, radius: float) -> Array:
    """How far along each ray the circle is left."""
    off = circle - centre
    along = off @ _OUT.T
    return np.asarray(along + np.sqrt(np.maximum(radius**2 - (np.sum(off * off, axis=1)[:, None] - along**2), 0.0)))


def _off(points: Array, base: Array, stand: Stand, shape: _Shape) -> tuple[Array, Array]:
    """How far points ``(n, rays, 2)`` lie outside the outlines, and the way outwards there."""
    c0, c1, r0, r1 = _circles(base, stand, shape)
    axis = c1 - c0
    length2 = np.maximum(np.sum(axis * axis, axis=1), 1e-9)[:, None]
    to_top = np.clip(np.einsum("nrk,nk->nr", points - c0[:, None], axis) / length2, 0.0, 1.0)
    away = points - (c0[:, None] + to_top[..., None] * axis[:, None])
    far = np.maximum(np.linalg.norm(away, axis=2), 1e-6)
    return far - (r0 + to_top * (r1 - r0)), away / far[..., None]


def _clear_of_lines(board: Board, points: Array) -> Array:
    radius = np.linalg.norm(points, axis=2)
    lines = (board.line_15_mm, board.line_10_mm, board.outer_line_mm)
    return np.asarray(np.min([np.abs(radius - line) for line in lines], axis=0) > _NEAR_LINE_MM)


def _solve(rows: _Rows, moved: Array, grown: float, placed_mm: float) -> tuple[Array, float]:
    """One step of least squares for all bases, the radius and the height, and how sure the height then is."""
    off, use, n = rows.off, rows.use, len(rows.off)
    weight = use / (1 + (off / (2 * max(0.12, 1.48 * float(np.median(np.abs(off[use])))))) ** 2)
    design = np.zeros((n, _RAYS, 2 * n + 2))
    for k in range(n):
        design[k, :, 2 * k : 2 * k + 2] = rows.outward[k]
    design[..., -2] = 1.0
    design[..., -1] = -rows.by_height
    weighed = design * weight[..., None]
    lhs = np.tensordot(weighed, design, axes=((0, 1), (0, 1)))
    rhs = np.tensordot(weighed, off, axes=((0, 1), (0, 1)))
    noise2 = max(0.05**2, float(np.average(off**2, weights=weight)))
    worth = noise2 * _SHARED
    loose = np.full(2 * n + 2, worth / placed_mm**2)
    loose[-2:] = worth / _RADIUS_MM**2, 1e-9
    lhs += np.diag(loose)
    rhs -= loose * np.array([*moved.ravel(), grown, 0.0])
    inverse = np.linalg.inv(lhs)
    # The things' own votes, whatever shadow or grain made them differ, tell more than the noise along their edges.
    votes = np.einsum("k,nrk,nr->n", inverse[-1], weighed, off - design @ (inverse @ rhs))
    differ2 = float(np.sum(votes**2)) * n / (n - 1)
    return inverse @ rhs, math.sqrt(max(worth * float(inverse[-1, -1]), differ2))


def _bend_left(view: BoardView, places: Array, shape: _Shape, lean: Array) -> float:
    """What the rest of a lens's bend, which makes round things long too, may do to the height, as a part of it."""
    r = np.maximum(np.linalg.norm(places, axis=1, keepdims=True), 1.0)
    near = view.fix.to_measured(places * (1 - 1 / r)), view.fix.to_measured(places * (1 + 1 / r))
    along = np.linalg.norm(near[1] - near[0], axis=1) / 2
    across = np.linalg.norm(view.fix.to_measured(places), axis=1) / r[:, 0]
    long = np.abs(along / across - 1) * shape.radius_mm
    return _BEND_LEFT * float(np.sum(long * lean) / np.sum(lean * lean))
