"""Starting on a board that is not empty: calibrate with discs lying, and guess what the wood under them looks like."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.lean import Lean, leant, measure_lean
from firmware_py.camera.board.quarters import faint_discs
from firmware_py.camera.board.start import find_start
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import Mask, disc_pixels
from firmware_py.camera.picture.view import MM_PER_PX, BoardView
from firmware_py.camera.still.colours import assign
from firmware_py.camera.still.discs import find_discs
from firmware_py.camera.still.seen import DiscReading, SeenDisc
from hardware.board import Board, base_from_seen

#: A disc darkens the wood around its base so far.
SHADOW_MM = 6.0
#: A disc that hardly differs from the wood is found to within so much.
_FAINT_MM = 5.0
_LEAST_RADIUS_MM = 11.0
_FILL_MM = 6.0
_AROUND_PX = 5
_SPREAD_PX = 7.0
_LEAST_TURNS = 2
#: The wood so far from the rim is darker than elsewhere by this part at least, on the side where a disc's shadow falls.
_BESIDE_MM = (1.5, 2.5, 3.5, 4.5)
_LEAST_SHADOW = 0.05


@dataclass(frozen=True, slots=True)
class Occupied:
    """A board as it was found, discs lying on it.

    Attributes:
        calibration: of the camera.
        board: the geometry, with the radius of the discs that lie there.
        view: the camera's view of it.
        bare: what the straight view would show without discs.
        guessed: pixels of ``bare`` that were under discs.
        discs: bases of the discs on the surface, in mm; prints of a disc's size are none.
        leans: what pegs and discs tell of the camera's height.
    """

    calibration: Calibration
    board: Board
    view: BoardView
    bare: Floats
    guessed: Mask
    discs: tuple[tuple[float, float], ...]
    leans: tuple[Lean, ...] = ()


def take_occupied(
    picture: Image, board: Board, *, first: Image | None = None, height_mm: float = 0.0, seat1_deg: float = 0.0
) -> Occupied:
    """Calibrate from a picture of a board with discs on it.

    An empty hole, being a shadowed recess, can look just as the darker discs do, so what looks like a dark disc in it
    is taken for the empty hole: twenties are taken out before the next shot.

    Args:
        picture: of the board; noise and what moves averaged away as far as possible.
        board: the geometry; the radius of its discs is replaced by what is seen.
        first: an earlier picture of the same scene, if there is one: tells whether the hole was empty then.
        height_mm: height of the lens above the surface if known, 0 to estimate it.
        seat1_deg: clockwise angle in the picture at which seat 1 sits.

    Raises:
        NoBoardError: no board, or not enough of it.
    """
    start = find_start(picture, board, height_mm=height_mm, seat1_deg=seat1_deg)
    calibration = start.calibration
    reading = find_discs(picture, calibration)
    if reading.radius_seen:
        radius = max(_LEAST_RADIUS_MM, reading.radius_mm)
        board = replace(
            board, disc_radius_mm=radius, hole_radius_mm=max(board.hole_radius_mm, radius + board.hole_play_mm)
        )
        calibration = replace(
            calibration,
            board=replace(calibration.board, disc_radius_mm=board.disc_radius_mm, hole_radius_mm=board.hole_radius_mm),
        )
    view = BoardView(calibration, board)
    plain = tuple(_true_place(view, d) for d in reading.discs if d.place == "surface")
    by_discs = measure_lean(view, picture, "discs", plain, board.pegs)
    if not height_mm:
        calibration = leant(calibration, by_discs)
        reading = replace(reading, discs=tuple(_base_anew(calibration, d) for d in reading.discs))
        view = BoardView(calibration, board)
    straight = view.straight(picture)
    guessed = np.zeros(straight.shape[:2], np.bool_)
    plain = tuple(_true_place(view, d) for d in reading.discs if d.place == "surface")
    faint = faint_discs(view, straight, plain)
    for place in plain:
        _cover(view, guessed, place, SHADOW_MM)
    for disc in reading.discs:
        if disc.place == "ditch":
            # Prints do not lie there: what passes for a disc is one, or does no harm when it is taken for one here.
            _cover(view, guessed, _raised(view, _true_place(view, disc)), SHADOW_MM)
    for place in faint:
        _cover(view, guessed, place, SHADOW_MM + _FAINT_MM)
    # What is early is not half gone yet: discs drop into the hole, and seldom one lies there when play begins.
    part, near = _hole_pixels(view)
    pictures = (first, picture) if first is not None else (picture,)
    opened = next((p for p in pictures if _hole_open(p, calibration)), None)
    if opened is None:
        guessed[part] |= near
    else:
        straight[part][near] = view.straight(opened)[part][near]
    bare = _fill(view, straight, guessed)
    prints = tuple(place for place in plain if not _casts_shadow(view, straight, bare, place))
    for place in prints:
        mask = np.zeros_like(guessed)
        _cover(view, mask, place, SHADOW_MM)
        bare[mask] = straight[mask]
        guessed &= ~mask
    return Occupied(
        calibration,
        board,
        view,
        bare,
        guessed,
        tuple(place for place in plain if place not in prints) + faint,
        tuple(lean for lean in (start.pegs, by_discs) if lean is not None),
    )


def _casts_shadow(view: BoardView, straight: Image, bare: Floats, place: tuple[float, float]) -> bool:
    """Whether something round stands up from the board: a print of a disc's size darkens no wood beside it."""
    sx, sy = view.base_shift(*place, view.rim_mm)
    turn = np.arange(72) * (2 * math.pi / 72)
    radii = view.board.disc_radius_mm + np.array(_BESIDE_MM)
    x = place[0] + sx / 2 + np.outer(radii, np.cos(turn))
    y = place[1] + sy / 2 + np.outer(radii, np.sin(turn))
    u = (view.middle_px + x / MM_PER_PX).astype(np.float32)
    v = (view.middle_px - y / MM_PER_PX).astype(np.float32)
    seen = cv2.remap(straight.astype(np.float32), u, v, cv2.INTER_LINEAR).sum(axis=2)
    empty = cv2.remap(bare, u, v, cv2.INTER_LINEAR).sum(axis=2)
    light = np.median(seen / np.maximum(empty, 20.0), axis=0)
    around = np.convolve(np.concatenate([light[-4:], light, light[:4]]), np.ones(9) / 9, mode="valid")
    return bool(around.min() < 1 - _LEAST_SHADOW)


def lying(view: BoardView, picture: Image, straight: Image) -> tuple[tuple[float, float], ...]:
    """Bases of what looks like discs on a surface whose empty picture is not to be trusted.

    Args:
        view: the camera's view.
        picture: the camera's picture.
        straight: its straight view.
    """
    reading = find_discs(picture, view.calibration)
    plain = tuple(_true_place(view, d) for d in reading.discs if d.place == "surface")
    return plain + faint_discs(view, straight, plain)


def _fill(view: BoardView, straight: Image, hidden: Mask) -> Floats:
    """The straight view with the hidden wood taken from elsewhere on the board.

    A board looks nearly the same when it is turned by a quarter: its lines, pegs and prints fall on one another. What
    lies around the hidden part tells how the light differs.
    """
    out = straight.astype(np.float32)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(hidden.astype(np.uint8), connectivity=8)
    row, column = np.mgrid[: view.side_px, : view.side_px].astype(np.float32) - np.float32(view.middle_px)
    usable = (view.visible & ~hidden).astype(np.uint8)
    for label in range(1, count):
        left, top, width, height = (int(v) for v in stats[label][:4])
        pad = _AROUND_PX
        r0, r1 = max(0, top - pad), min(view.side_px, top + height + pad)
        c0, c1 = max(0, left - pad), min(view.side_px, left + width + pad)
        part = (slice(r0, r1), slice(c0, c1))
        inside = labels[part] == label
        around = (usable[part] > 0) & (cv2.dilate(inside.astype(np.uint8), np.ones((2 * pad + 1,) * 2, np.uint8)) > 0)
        others: list[Floats] = []
        for k in range(1, 4):
            a = math.pi * k / 2
            u = column[part] * np.float32(math.cos(a)) - row[part] * np.float32(math.sin(a)) + view.middle_px
            v = column[part] * np.float32(math.sin(a)) + row[part] * np.float32(math.cos(a)) + view.middle_px
            u, v = u.astype(np.float32), v.astype(np.float32)
            good = cv2.remap(usable, u, v, cv2.INTER_NEAREST) > 0
            both = around & good
            if not good[inside].all() or np.count_nonzero(both) < 30:
                continue
            other = np.asarray(cv2.remap(straight, u, v, cv2.INTER_LINEAR), dtype=np.float32)
            gain = np.median(out[part][both], axis=0) / np.maximum(np.median(other[both], axis=0), 1.0)
            other *= gain.astype(np.float32)
            others.append(other)
        if len(others) < _LEAST_TURNS:
            filled = cv2.inpaint(straight, hidden.astype(np.uint8), _FILL_MM / MM_PER_PX, cv2.INPAINT_TELEA)
            out[part][inside] = filled[part][inside]
        else:
            middle = np.median(others, axis=0).astype(np.float32)
            out[part][inside] = (middle + _spread(out[part] - middle, around))[inside]
    return out


def _spread(off: Floats, known: Mask) -> Floats:
    """What is known of a slowly changing picture, carried into its gaps."""
    weight = known.astype(np.float32)
    size = (0, 0)
    share = cv2.GaussianBlur(weight, size, _SPREAD_PX)
    # Shadows and specks at the border must not be carried along.
    calm = np.clip(off, -25.0, 25.0) * weight[..., None]
    return np.asarray(cv2.GaussianBlur(calm, size, _SPREAD_PX) / np.maximum(share, 1e-4)[..., None], dtype=np.float32)


def _base_anew(calibration: Calibration, disc: SeenDisc) -> SeenDisc:
    """A disc whose base stands where a camera at another height has it."""
    board = calibration.board
    sunk_mm = {"ditch": board.surface_height_mm, "hole": board.hole_depth_mm}.get(disc.place, 0.0)
    x, y = base_from_seen(
        *disc.top_xy_mm,
        height_mm=board.disc_height_mm - sunk_mm,
        foot_xy_mm=calibration.foot_xy_mm,
        camera_height_mm=calibration.camera_height_mm,
    )
    return replace(disc, x_mm=x, y_mm=y)


def _true_place(view: BoardView, disc: SeenDisc) -> tuple[float, float]:
    """A disc's base by the board's own lines, not by those as this lens bends them."""
    x, y = view.fix.to_true(np.array([[disc.x_mm, disc.y_mm]]))[0]
    return (float(x), float(y))


def _raised(view: BoardView, place: tuple[float, float]) -> tuple[float, float]:
    """Where the straight view shows the top face of a disc that stands in the ditch; the inverse of ``view.sink``."""
    foot_x, foot_y = view.calibration.foot_xy_mm
    height = view.calibration.camera_height_mm - view.rim_mm
    k = height / (height + view.board.surface_height_mm)
    return (foot_x + (place[0] - foot_x) * k, foot_y + (place[1] - foot_y) * k)


def _cover(view: BoardView, mask: Mask, place: tuple[float, float], around_mm: float) -> None:
    x, y = place
    sx, sy = view.base_shift(x, y, view.rim_mm)
    for step in (0.0, 1.0):
        part, near = disc_pixels(view, x + step * sx, y + step * sy, view.board.disc_radius_mm + around_mm)
        mask[part] |= near


def _hole_pixels(view: BoardView) -> tuple[tuple[slice, slice], Mask]:
    return disc_pixels(view, *view.calibration.hole_xy_mm, view.board.hole_radius_mm + 2.5)


def _hole_open(first: Image, calibration: Calibration) -> bool:
    """Whether a picture shows no bright disc in the hole."""
    reading = find_discs(first, calibration)
    return not any(d.place == "hole" and not _darker(reading, d) for d in reading.discs)


def _darker(reading: DiscReading, disc: SeenDisc) -> bool:
    """Whether a disc is of the darker of the colours that the other discs show."""
    if reading.teams is None:
        return True
    which, _ = assign(np.array([disc.colour]), reading.teams)
    return int(which[0]) == 1
