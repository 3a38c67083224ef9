"""Where a straight view differs from what lay there before, and which of it is a hand.

A hand is what reaches in from the table: a changed region that goes on beyond the rail. Everything it covers, and
the ground its shadow darkens together with it, is not seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from firmware_py.camera.picture.lab import Array, Floats, Image, gradient
from firmware_py.camera.picture.view import MM_PER_PX, BoardView, Box

#: Grey levels, after smoothing, that count as a change; the noise of a fair camera stays below a third of it.
CHANGE = 7
#: In a noisy picture so many times the lower quartile of all differences count, which noise reaches nowhere. Every so
#: manieth pixel tells that quartile.
_OVER_NOISE, _SAMPLE_PX, _LEAST_SAMPLES = 2.6, 6, 200
#: A region beyond the rail by so much comes from outside.
OUTSIDE_MM = 9.0
#: Regions smaller than this part of a disc's face are specks.
SPECK = 0.06

#: Centres with less than this share of the strongest one's votes are chance.
WEAK_VOTES = 0.2

Mask = NDArray[np.bool_]
Labels = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Region:
    """A connected changed region.

    Attributes:
        label: its number in the label picture.
        area_mm2: its size.
        x_mm: its centroid.
        y_mm: its centroid.
        box: column, row, width and height in the straight view.
        hand: whether it reaches in from the table.
        inner_mm: its least distance from the middle of the board.
    """

    label: int
    area_mm2: float
    x_mm: float
    y_mm: float
    box: tuple[int, int, int, int]
    hand: bool
    inner_mm: float


@dataclass(frozen=True, slots=True)
class Changes:
    """All changed regions of a view.

    Attributes:
        labels: number of the region of each pixel, 0 for none.
        regions: those larger than specks.
        least: grey levels that counted as a change, more than :data:`CHANGE` where noise would reach that.
    """

    labels: Labels
    regions: tuple[Region, ...]
    least: float = CHANGE

    @property
    def hand_regions(self) -> tuple[Region, ...]:
        """Those that are hands."""
        return tuple(r for r in self.regions if r.hand)

    def at(self, view: BoardView, x_mm: float, y_mm: float) -> int:
        """Label at a place, 0 for none."""
        u, v = view.to_px(x_mm, y_mm)
        column, row = round(u), round(v)
        if not (0 <= column < view.side_px and 0 <= row < view.side_px):
            return 0
        return int(self.labels[row, column])


def difference(straight: Image, layer: Image) -> Image:
    """Largest smoothed step of any channel from ``layer``, per pixel."""
    diff = cv2.blur(cv2.absdiff(straight, layer), (3, 3))
    return np.asarray(cv2.max(cv2.max(diff[..., 0], diff[..., 1]), diff[..., 2]), dtype=np.uint8)


def _above_noise(diff: Image) -> float:
    """The least difference that counts as a change in a picture of differences, most of which are noise."""
    few = diff[::_SAMPLE_PX, ::_SAMPLE_PX].ravel()
    # What changed fills less than three quarters of the part that is looked at, but for a small part around a disc.
    if len(few) < _LEAST_SAMPLES:
        return CHANGE
    return max(float(CHANGE), _OVER_NOISE * float(np.partition(few, len(few) // 4)[len(few) // 4]))


class Differ:
    """Finds the changed regions in views of one board; keeps the masks that do not change."""

    def __init__(self, view: BoardView) -> None:
        self._view = view
        board = view.board
        # What the camera hardly sees, and the rows at the very end of the view, tell nothing.
        self._live = (view.visible & (view.radius_mm < view.half_mm - 2)).astype(np.uint8)
        self._live_mask = self._live * np.uint8(255)
        self._outside = (view.radius_mm > board.rail_radius_mm + OUTSIDE_MM) & view.visible
        self._radius = view.radius_mm
        self._speck_px = SPECK * math.pi * board.disc_radius_mm**2 / MM_PER_PX**2

    def changes(self, straight: Image, layer: Image, within: Box | None = None) -> Changes:
        """Changed regions between a view and what it should show.

        Args:
            straight: the view.
            layer: what it should show.
            within: left, top, right and bottom of the part to look at; everything without it.
        """
        side = self._view.side_px
        c0, r0, c1, r1 = within if within is not None else (0, 0, side, side)
        if c1 <= c0 or r1 <= r0:
            return Changes(np.zeros((side, side), np.int32), ())
        look = (slice(r0, r1), slice(c0, c1))
        diff = difference(straight[look], layer[look])
        least = _above_noise(diff)
        _, mask = cv2.threshold(diff, least, 255, cv2.THRESH_BINARY)
        mask = cv2.bitwise_and(mask, self._live_mask[look])
        count, found, stats, centroids = cv2.connectedComponentsWithStats(mask, connectivity=8, ltype=cv2.CV_32S)
        labels = np.asarray(found, dtype=np.int32)
        if labels.shape != (side, side):
            labels = np.zeros((side, side), np.int32)
            labels[look] = found
        regions = []
        for label in range(1, count):
            column, row, width, height, area = (int(v) for v in stats[label])
            if area < self._speck_px:
                continue
            column, row = column + c0, row + r0
            part = (slice(row, row + height), slice(column, column + width))
            own = labels[part] == label
            x, y = self._view.to_mm(float(centroids[label][0]) + c0, float(centroids[label][1]) + r0)
            outside = int(np.count_nonzero(own & self._outside[part]))
            radius = self._radius[part]
            regions.append(
                Region(
                    label=label,
                    area_mm2=area * MM_PER_PX**2,
                    x_mm=x,
                    y_mm=y,
                    box=(column, row, width, height),
                    hand=outside * MM_PER_PX**2 > 60,
                    inner_mm=float(radius[own].min()),
                )
            )
        return Changes(labels, tuple(regions), least)


def circle_votes(
    view: BoardView, straight: Image, mask: Mask, box: tuple[int, int, int, int], *, most: int = 6
) -> list[tuple[float, float, float]]:
    """Likely centres of discs among changed pixels: where lines across the edges of a disc's radius meet.

    Args:
        view: the camera's view.
        straight: the view that shows the discs.
        mask: pixels in ``box`` that changed.
        box: column, row, width and height.
        most: how many centres are wanted at most.

    Returns:
        ``(x_mm, y_mm, votes)``, strongest first.
    """
    radius_px = view.board.disc_radius_mm / MM_PER_PX
    pad = math.ceil(radius_px) + 3
    column, row, width, height = box
    c0, r0 = max(0, column - 4), max(0, row - 4)
    c1, r1 = min(view.side_px, column + width + 4), min(view.side_px, row + height + 4)
    part = cv2.GaussianBlur(straight[r0:r1, c0:c1].astype(np.float32), (3, 3), 0.8)
    gx, gy, size = gradient(part, 0.0)
    near = np.zeros(size.shape, np.uint8)
    near[row - r0 : row - r0 + height, column - c0 : column - c0 + width] = mask
    wide = cv2.dilate(near, np.ones((3, 3), np.uint8))
    v, u = np.nonzero((size > 2.5) & (wide > 0))
    if len(u) < 12:
        return []
    m = size[v, u]
    weight = np.minimum(m / 8.0, 1.0)
    nx, ny = gx[v, u] / m, gy[v, u] / m
    shape = (r1 - r0 + 2 * pad, c1 - c0 + 2 * pad)
    # The margin is broad enough for every vote.
    across, down = radius_px * nx, radius_px * ny
    cu = np.rint(np.concatenate([u - across, u + across])).astype(int) + pad
    cv = np.rint(np.concatenate([v - down, v + down])).astype(int) + pad
    cells = np.bincount(cv * shape[1] + cu, np.concatenate([weight, weight]), shape[0] * shape[1])
    votes = np.asarray(cv2.GaussianBlur(cells.reshape(shape).astype(np.float32), (7, 7), 1.3), dtype=np.float32)
    found: list[tuple[float, float, float]] = []
    apart = round(1.2 * radius_px)
    for _ in range(most):
        _, top, _, (cu0, cv0) = cv2.minMaxLoc(votes)
        if top <= max(0.25, WEAK_VOTES * (found[0][2] if found else 0.0)):
            break
        x, y = view.to_mm(cu0 - pad + c0, cv0 - pad + r0)
        found.append((x, y, float(top)))
        votes[max(0, cv0 - apart) : cv0 + apart + 1, max(0, cu0 - apart) : cu0 + apart + 1] = 0
    return found


def disc_pixels(view: BoardView, x_mm: float, y_mm: float, radius_mm: float) -> tuple[tuple[slice, slice], Mask]:
    """Slices of the straight view around a place, and in them the pixels within a radius."""
    u, v = view.to_px(x_mm, y_mm)
    reach = radius_mm / MM_PER_PX
    r0, r1 = max(0, math.floor(v - reach)), min(view.side_px, math.ceil(v + reach) + 1)
    c0, c1 = max(0, math.floor(u - reach)), min(view.side_px, math.ceil(u + reach) + 1)
    down, across = np.arange(r0, r1) - v, np.arange(c0, c1) - u
    inside = np.asarray((down * down)[:, None] + across * across <= reach * reach)
    return (slice(r0, r1), slice(c0, c1)), inside


def gain_between(straight: Image, still: Floats | Image, quiet: Mask) -> Array:
    """How much brighter each channel of a view is than a still one, from the median over quiet pixels ``[::3]``."""
    step = (slice(None, None, 4), slice(None, None, 4))
    use = quiet[step]
    now, then = (np.asarray(part[step]).transpose(2, 0, 1)[:, use].astype(np.float32) for part in (straight, still))
    good = (then > 12).all(axis=0)
    if int(good.sum()) < 200:
        return np.ones(3)
    # The mean of the middle half: finer than a median of whole numbers, and as deaf to what changed.
    ratio = now[:, good] / then[:, good]
    quarter = ratio.shape[1] // 4
    # One bound after the other: numpy is several times slower with both at once.
    ratio.partition(quarter, axis=1)
    ratio[:, quarter:].partition(ratio.shape[1] - 2 * quarter - 1, axis=1)
    return np.asarray(ratio[:, quarter:-quarter].mean(axis=1), dtype=np.float64)
