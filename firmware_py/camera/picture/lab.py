"""Colour as distance: pictures in float CIE Lab, and the measures of edges and lines that need no polarity.

Lab is used because a Euclidean step in it is about as visible anywhere: one set of thresholds then serves red
lines on blue, pencil on maple and black discs on dark ditches alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

#: An 8-bit picture, ``(h, w)`` or ``(h, w, 3)`` with blue first.
Image = NDArray[np.uint8]
#: Pictures and profiles in single precision. (numpy's and OpenCV's own annotations lose the precision on the way.)
Floats = NDArray[Any]
#: Places and matrices in double precision.
Array = NDArray[Any]

#: Brightness, of 255, to which the 97th percentile of a dim picture is lifted.
BRIGHT = 225.0
#: Gains below this are left alone: they would change nothing but the noise.
LEAST_GAIN = 1.15
#: Where the sides of a line differ from each other by less than the first share of its depth it is a line, by more
#: than the second it is an edge.
EVEN_SIDES, UNEVEN_SIDES = 0.3, 0.6
#: A step between two paints counts so much beside a line, whose middle a step off it must not outdo.
STEP_COUNTS = 0.35
#: Over so many samples the answer of a limit is smoothed.
MIDDLE = 5
#: Sobel 3x3 divided by this is the slope per pixel.
SOBEL_NORM = 8.0
#: Rows that are brought to Lab at a time.
_STRIP = 64


def exposure_gain(bgr: Image) -> float:
    """Factor that lifts a dim picture so that the thresholds, which are steps in Lab, hold for it too.

    Only a sample of the pixels is looked at.

    Args:
        bgr: 8-bit picture, blue first.

    Returns:
        A factor of at least 1; 1.0 when the picture is bright enough or black.
    """
    step = max(1, min(bgr.shape[:2]) // 160)
    some = bgr[::step, ::step]
    top = float(np.percentile(np.maximum(np.maximum(some[..., 0], some[..., 1]), some[..., 2]), 97))
    if top < 4.0:
        return 1.0
    gain = BRIGHT / top
    return gain if gain > LEAST_GAIN else 1.0


def to_lab(bgr: Image, gain: float = 1.0) -> Floats:
    """The picture in float CIE Lab (L 0..100) after ``gain``, bright pixels clipped."""
    level = np.minimum(np.arange(256) * (gain / 255.0), 1.0)
    linear = np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4).astype(np.float32)
    lab = np.empty(bgr.shape, np.float32)
    # Strip by strip: what lies between stays in the cache, and takes no memory of its own.
    for first in range(0, len(bgr), _STRIP):
        strip = slice(first, first + _STRIP)
        lab[strip] = cv2.cvtColor(cv2.LUT(bgr[strip], linear), cv2.COLOR_LBGR2Lab)
    return lab


def gradient(lab: Floats, sigma_px: float = 1.0) -> tuple[Floats, Floats, Floats]:
    """Slope of whichever Lab channel is steepest at each pixel.

    Args:
        lab: float Lab picture, shape ``(h, w, 3)``.
        sigma_px: blur before the slope is taken.

    Returns:
        ``(gx, gy, magnitude)``, each ``(h, w)``, in Lab units per pixel.
    """
    smooth = cv2.GaussianBlur(lab, (0, 0), sigma_px) if sigma_px > 0 else lab
    steepest: tuple[Floats, Floats, Floats] | None = None
    for channel in cv2.split(smooth):
        gx = np.asarray(cv2.Sobel(channel, cv2.CV_32F, 1, 0, scale=1 / SOBEL_NORM))
        gy = np.asarray(cv2.Sobel(channel, cv2.CV_32F, 0, 1, scale=1 / SOBEL_NORM))
        size = np.asarray(cv2.magnitude(gx, gy))
        if steepest is None:
            steepest = (gx, gy, size)
            continue
        steeper = cv2.compare(size, steepest[2], cv2.CMP_GT)
        for ours, best in zip((gx, gy, size), steepest, strict=True):
            cv2.copyTo(ours, steeper, best)
    if steepest is None:
        raise ValueError("a picture has channels")
    return steepest


def planes_of(samples: Floats) -> Floats:
    """The channels of samples ``(..., 3)`` as planes ``(3, ...)``: numpy is slow over a last axis of three."""
    planes = np.empty((samples.shape[-1], *samples.shape[:-1]), np.float32)
    flat = np.asarray(samples, dtype=np.float32).reshape(-1, 1, samples.shape[-1])
    for channel, plane in enumerate(planes):
        cv2.extractChannel(flat, channel, plane.reshape(-1, 1))
    return planes


def ridge(profiles: Floats, sides: tuple[int, ...]) -> Floats:
    """How much each sample differs from BOTH its sides in the same direction of colour: a line, whatever its colour.

    A step edge differs from one side only and gives about nothing, so inlay joints do not pass for printed lines. Nor
    does the groove around the playing surface, whose sides differ from each other as much as from the groove.

    Args:
        profiles: Lab samples along a direction, shape ``(..., n, 3)``.
        sides: distances to the sides, in samples; the strongest answer counts.

    Returns:
        Shape ``(..., n)``, in Lab units, 0 within the largest side of both ends and beside NaN.
    """
    answer = np.zeros(profiles.shape[:-1], dtype=np.float32)
    n = profiles.shape[-2]
    planes = planes_of(profiles)
    for side in sides:
        # What a sample differs by from its low side is what that one differs by from its high side.
        rise = planes[..., side:] - planes[..., : n - side]
        product = np.einsum("c...,c...->...", rise[..., : n - 2 * side], rise[..., side:])
        np.negative(product, out=product)
        square = np.einsum("c...,c...->...", rise, rise)
        low2, high2 = square[..., : n - 2 * side], square[..., side:]
        both, twice = low2 + high2, 2.0 * np.sqrt(low2 * high2)
        # |high - low|^2 over (|high| + |low|)^2, the share by which the sides differ from each other.
        uneven = (both - 2.0 * product) / (both + twice + 1e-6)
        trust = np.clip((UNEVEN_SIDES**2 - uneven) / (UNEVEN_SIDES**2 - EVEN_SIDES**2), 0.0, 1.0)
        part = answer[..., side : n - side]
        np.maximum(part, np.sqrt(np.maximum(product, 0.0)) * trust, out=part)
    edge = max(sides)
    answer[..., :edge] = 0.0
    answer[..., n - edge :] = 0.0
    return _none_outside(answer)


def boundary(profiles: Floats, sides: tuple[int, ...]) -> Floats:
    """How much of a limit between two areas each sample is: a line of its own colour, or a step from paint to paint.

    A line between two paints differs from both in a like direction, however much they differ from each other; a bare
    step does not, but what lies before it differs from what lies beyond it.

    Args:
        profiles: Lab samples along a direction, shape ``(..., n, 3)``.
        sides: distances to the sides, in samples, whose mean counts, so that broad lines are met in their middle;
            a step is taken over the largest.

    Returns:
        Shape ``(..., n)``, in Lab units, 0 within the largest side of both ends and beside NaN.
    """
    n, reach = profiles.shape[-2], max(sides)
    planes = planes_of(profiles)
    total = np.zeros((*planes.shape[:-1], n + 1), np.float32)
    np.cumsum(planes, axis=-1, out=total[..., 1:])
    inner = slice(reach, n - reach)
    before = total[..., inner] - total[..., : n - 2 * reach]
    beyond = total[..., 2 * reach + 1 :] - total[..., reach + 1 : n - reach + 1]
    step = beyond - before
    strength = np.zeros(profiles.shape[:-1], dtype=np.float32)
    strength[..., inner] = np.sqrt((step * step).sum(axis=0)) * np.float32(STEP_COUNTS / reach)
    for side in sides:
        middle = planes[..., side : n - side]
        product = ((middle - planes[..., : n - 2 * side]) * (middle - planes[..., 2 * side :])).sum(axis=0)
        strength[..., side : n - side] += np.sqrt(np.maximum(product, 0.0)) * np.float32(1 / len(sides))
    # A step's answer has a flat top when there is a line of an intermediate colour in it; its middle counts.
    flat = cv2.blur(strength.reshape(-1, n), (MIDDLE, 1), borderType=cv2.BORDER_REFLECT)
    answer: Floats = np.asarray(flat, dtype=np.float32).reshape(strength.shape)
    answer[..., :reach] = 0.0
    answer[..., n - reach :] = 0.0
    return _none_outside(answer)


def _none_outside(strength: Floats) -> Floats:
    """The strength with 0 for NaN, in place."""
    cv2.patchNaNs(strength.reshape(-1, strength.shape[-1]), 0.0)
    return strength


@dataclass(frozen=True, slots=True)
class Look:
    """A way of telling printed rings along profiles.

    Attributes:
        strength: :func:`ridge` or :func:`boundary`.
        sides: distances to the sides for fine profiles, in samples.
    """

    strength: Callable[[Floats, tuple[int, ...]], Floats]
    sides: tuple[int, ...]


#: Printed lines on wood or on one paint, 0.003 to 0.012 outer radii wide in samples of 0.0025; limits of paints, too.
LINES, LIMITS = Look(ridge, (3, 4)), Look(boundary, (3, 4, 6, 8))


def sample(lab: Floats, x_px: Array, y_px: Array) -> Floats:
    """Bilinear samples of a picture at ``x_px, y_px`` (same shape); NaN outside the picture."""
    return _remap(lab, x_px, y_px, cv2.BORDER_CONSTANT, float("nan"))


def sample_filled(lab: Floats, x_px: Array, y_px: Array) -> tuple[Floats, NDArray[np.bool_]]:
    """Bilinear samples that repeat the edge beyond the picture, and which of the points lie inside it."""
    height, width = lab.shape[:2]
    inside = (x_px >= 0) & (x_px <= width - 1) & (y_px >= 0) & (y_px <= height - 1)
    return _remap(lab, x_px, y_px, cv2.BORDER_REPLICATE, 0.0), inside


def _remap(lab: Floats, x_px: Array, y_px: Array, border: int, fill: float) -> Floats:
    # The points are laid out so that OpenCV's limit of 32767 rows is never met.
    shape = x_px.shape
    map_x = np.ascontiguousarray(x_px, dtype=np.float32).reshape(-1, shape[-1])
    map_y = np.ascontiguousarray(y_px, dtype=np.float32).reshape(-1, shape[-1])
    if map_x.shape[0] >= 32000:
        width = int(np.ceil(np.sqrt(map_x.size)))
        pad = (-map_x.size) % width
        map_x = np.pad(map_x.ravel(), (0, pad)).reshape(-1, width)
        map_y = np.pad(map_y.ravel(), (0, pad)).reshape(-1, width)
    values = np.asarray(cv2.remap(lab, map_x, map_y, cv2.INTER_LINEAR, borderMode=border, borderValue=(fill,) * 4))
    count = int(np.prod(shape))
    return values.reshape(-1, *lab.shape[2:])[:count].reshape(*shape, *lab.shape[2:])


def apply_homography(homography: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Map points (any shape) by a 3x3 homography."""
    h = homography
    w = h[2, 0] * x + h[2, 1] * y + h[2, 2]
    return (h[0, 0] * x + h[0, 1] * y + h[0, 2]) / w, (h[1, 0] * x + h[1, 1] * y + h[1, 2]) / w


def directions(count: int) -> Array:
    """Unit vectors in as many directions evenly all around, ``(count, 2)``, from +x towards +y."""
    angle = np.arange(count) * (2 * np.pi / count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def along_rays(homography: Array, ways: Array, reach: Array) -> tuple[Array, Array]:
    """Where points on rays from the middle of a plane are seen; all that is linear along a ray is worked out once.

    Args:
        homography: of the plane to the picture.
        ways: directions of the rays, ``(..., rays, 2)``.
        reach: distances along them, one for each ray or the same for all: ``(..., n)``.

    Returns:
        x and y in the picture, ``(..., rays, n)`` each.
    """
    way = ways @ homography[:, :2].T
    u, v, w = (homography[k, 2] + way[..., k, None] * reach for k in range(3))
    np.divide(u, w, out=u)
    np.divide(v, w, out=v)
    return u, v


def mean_picture(pictures: Iterable[Image]) -> Floats:
    """The mean of pictures of one size, without stacking them."""
    total: Floats | None = None
    count = 0
    for picture in pictures:
        if total is None:
            total = np.zeros(picture.shape, np.float32)
        total += picture
        count += 1
    if total is None:
        raise ValueError("a mean needs at least one picture")
    return np.asarray(total / np.float32(count), dtype=np.float32)
