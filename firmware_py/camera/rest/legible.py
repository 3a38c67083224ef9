"""Whether a still picture can be read at all: what the reader says of a picture that it cannot trust.

Three things tell. The printed lines are as deep as they were when the board was empty, unless the picture is blurred,
hazy or washed out. Each set of discs differs from the wood by more than noise does. And everything that is new on the
surface is a disc that was read, or thinner or broader than one, or the wood itself, a little darker or lighter: what is
as broad as one, hides the wood and cannot be read may be one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping

import cv2
import numpy as np

from firmware_py.camera.board.sharpness import profiles
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import Changes, Region, disc_pixels
from firmware_py.camera.picture.view import MM_PER_PX, BoardView
from firmware_py.camera.rest.appearance import Look
from hardware.board import clock_hour

Xy = tuple[float, float]

#: A stretch of a line tells when it is so deep on the empty board, grey levels; so many must tell.
_LEAST_DEPTH, _LEAST_STRETCHES = 5.0, 12
#: Lines that have lost more than half of their depth are not the lines that the reader was set up by: light divided
#: out, discs and hands hide some of them, and only another focus or a veil takes from all.
LEAST_LINES = 0.5
#: The middle of a line, and what lies beside it, in steps of its profile.
_MIDDLE, _ASIDE = slice(16, 21), (slice(2, 8), slice(29, 35))
#: Noise of which so many grey levels do not count hides discs that differ by less than so many times that.
NOISY, STANDS_OUT = 10.0, 1.3
#: Half the breadth of what may be a disc, in radii of discs. Shadows beside discs are thinner, sleeves broader.
_THIN, _BROAD = 0.6, 1.3
#: Half shadows, a light that moved and what a lossy picture does to colours leave the wood and all that is on it to be
#: seen, up to so many times what counts as a change (1.4 was seen), in light that differs by no more than this share;
#: discs turned from the board's own wood differed by 2.3 times and more. That is looked at within so many radii.
_WOOD, _WOOD_LIGHT, _CORE = 1.8, 0.15, 0.8


def blurred(view: BoardView, straight: Image, bare: Floats) -> bool:
    """Whether the printed lines have lost most of their depth.

    Args:
        view: the camera's view.
        straight: a still board in it.
        bare: the empty board in the same light.
    """
    kept: list[float] = []
    board = view.board
    for radius in (board.line_15_mm, board.line_10_mm, board.outer_line_mm):
        now, then = _depth(profiles(view, straight, radius)), _depth(profiles(view, bare, radius))
        size = np.linalg.norm(then, axis=1)
        good = size > _LEAST_DEPTH
        kept += list(np.einsum("sc,sc->s", now, then)[good] / (size[good] * size[good]))
    return len(kept) >= _LEAST_STRETCHES and float(np.median(kept)) < LEAST_LINES


def _depth(stretches: Floats) -> Floats:
    beside = (stretches[:, _ASIDE[0]].mean(axis=1) + stretches[:, _ASIDE[1]].mean(axis=1)) / 2
    return np.asarray(stretches[:, _MIDDLE].mean(axis=1) - beside, dtype=np.float32)


def like_discs(
    view: BoardView, pictures: tuple[Image, Floats], changes: Changes, regions: Iterable[Region], hole_xy_mm: Xy
) -> tuple[Region, ...]:
    """Those of changed regions on the surface that may be discs: somewhere as broad as one, and there no plain wood.

    Args:
        view: the camera's view.
        pictures: what is seen in it, and the empty board in the same light.
        changes: to which the regions belong.
        regions: what no disc explains.
        hole_xy_mm: where a disc in the hole is seen; in its shadow nothing passes for wood.
    """
    radius = view.board.disc_radius_mm
    found = []
    for region in regions:
        column, row, width, height = region.box
        own = changes.labels[row : row + height, column : column + width] == region.label
        deep = cv2.distanceTransform(np.pad(own.astype(np.uint8), 1), cv2.DIST_L2, 3)
        _, half_px, _, (u, v) = cv2.minMaxLoc(deep)
        x, y = view.to_mm(column + u - 1, row + v - 1)
        on_surface = math.hypot(x, y) < view.board.surface_radius_mm
        if not (on_surface and _THIN * radius < half_px * MM_PER_PX < _BROAD * radius):
            continue
        if math.dist((x, y), hole_xy_mm) < view.board.hole_radius_mm or not _wood(
            view, pictures, (x, y), changes.least
        ):
            found.append(region)
    return tuple(found)


def _wood(view: BoardView, pictures: tuple[Image, Floats], at: Xy, least: float) -> bool:
    """Whether the board is seen at a place in hardly other light, with all that is on it."""
    straight, bare = pictures
    part, near = disc_pixels(view, *at, _CORE * view.board.disc_radius_mm)
    seen, wood = straight[part][near].astype(np.float32), bare[part][near]
    light = float(np.vdot(seen, wood)) / max(1.0, float(np.vdot(wood, wood)))
    off = float(np.abs(seen - np.float32(light) * wood).max(axis=1).mean()) if near.any() else 0.0
    return abs(light - 1) <= _WOOD_LIGHT and off <= _WOOD * least


def drowned(view: BoardView, bare: Floats, looks: Mapping[str, Look], least: float) -> tuple[str, ...]:
    """Sets of discs that noise hides: somewhere on the surface they differ from it hardly more than noise does.

    Args:
        view: the camera's view.
        bare: the empty board in the light of now.
        looks: of the sets, by name.
        least: grey levels that count as a change, above the noise.
    """
    if least < NOISY:
        return ()
    board, radius = view.board, view.radius_mm[::4, ::4]
    limits = (board.hole_radius_mm + 4, board.line_15_mm, board.line_10_mm, board.outer_line_mm)
    wood = [
        np.median(bare[::4, ::4][(radius > low) & (radius < high)], axis=0) for low, high in itertools.pairwise(limits)
    ]
    found = []
    for name, look in looks.items():
        contrast = min(float(np.abs(look.rim_bgr - ground).max()) for ground in wood)
        if contrast < STANDS_OUT * least:
            found.append(name)
    return tuple(found)


def words(blur: bool, pale: Iterable[str], odd: Iterable[Region]) -> str:
    """Why a picture cannot be read, for people; empty when it can."""
    if blur:
        return "the board's lines are blurred: wipe the lens, or focus it, then calibrate"
    sets = " and ".join(sorted(pale))
    if sets:
        return f"the picture is too dark or noisy to tell the {sets} discs from the board: more light helps"
    hours = sorted({clock_hour(region.x_mm, region.y_mm) for region in odd})
    if not hours:
        return ""
    where = " and ".join(f"{hour} o'clock" for hour in hours)
    return f"something at {where} may be a disc and cannot be read: more light, or none that shines there, helps"
