"""Find the three printed rings of a crokinole board in any picture, without a click and without knowing the board.

``find_rings`` is what a photo, a calibration of the live camera and a check after a bump all use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from firmware_py.camera.board.evidence import inner_limit, inner_line, look_around, quarters_seen
from firmware_py.camera.board.linecentre import centred
from firmware_py.camera.board.ringfit import COVERED, RingFit, fit_rings
from firmware_py.camera.board.ringsearch import (
    PEAKS,
    SIDE_PX,
    Sighting,
    Voters,
    edge_voters,
    lean_again,
    likely_tilts,
    look_again,
    ring_score,
    sight_rings,
)
from firmware_py.camera.picture.lab import (
    LIMITS,
    LINES,
    Array,
    Floats,
    Image,
    Look,
    apply_homography,
    exposure_gain,
    to_lab,
)

#: The rings are fitted in a picture of at most this long side; more pixels add time, not truth.
WORK_PX = 1280
#: Every line must be covered so far, and all together so far; boards reach 0.75 and more, other round things 0.3.
LEAST_COVERAGE = 0.5
MEAN_COVERAGE = 0.6
#: Places spread evenly over what counts as covered have an rms distance of 0.58 of it from the fit; lines less.
EVEN_SPREAD = 0.46
#: A fit of which two lines are covered so far has the plane right and perhaps another ring for the third line.
HALF_RIGHT = 0.6
#: And one of which a single line is covered so far has met one circle, and leans wrongly.
ONE_RIGHT = 0.7
#: A fit from the first look that is this good ends the search at once.
PLAIN_COVERAGE = 0.75
#: Limits of paints count before lines that are hardly seen when they are covered by so much more, unless they lie
#: farther out than the outer line by this factor, as the edge of the surface does.
CLEARLY_BETTER, LEAST_STRIP = 0.15, 0.98
#: The edge of the surface, and the edges of strips that are painted along it, are left for what lies inside so often.
MOST_STRIPS = 3
#: A second board is told when it is at least so large beside the first, and when so much of its outer line is seen.
SAME_SIZE, WHOLE = 0.6, 0.7
#: Boards do not lie on each other: beyond its outer line a board goes on by this share of that line's radius at least.
BEYOND = 1.15
#: A circle this share of whose radius lies beyond one side of the picture, or beyond each of two, shows the share
#: :data:`WHOLE` of its line: the cosines of (1 - WHOLE) pi and of half of that.
PAST_ONE_SIDE, PAST_TWO_SIDES = 0.588, 0.891
#: Rings of another board are sighted with at least this share of the first one's score; chance with less.
SAME_SCORE = 0.45
#: Centres looked at first; of a board seen from above it is nearly always one of these.
FIRST_PEAKS = 2
#: Tilts tried when the picture does not show a board from above.
TILTS = 6

Ellipse = tuple[float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Rings:
    """The rings of a board in one picture.

    Attributes:
        homography: board plane (outer line = unit circle, +y down the picture) to picture pixels, row by row.
        ratios: radii of the 15, 10 and outer line over the outer one.
        coverage: the least share of its visible angles at which any of the three lines was seen.
        visible: share of the outer line inside the picture.
        residual: rms distance of the seen lines from the fit, in outer radii.
        widths: widths of the three lines, in outer radii; NaN where not measured.
        offsets: where each line was seen relative to the fit, in outer radii, ``(3, angles)``, NaN where not.
        size_wh: width and height of the picture.
        alone: whether no other whole board of about its size is seen beside it.
    """

    homography: tuple[float, ...]
    ratios: tuple[float, float, float]
    coverage: float
    visible: float
    residual: float
    widths: tuple[float, float, float]
    offsets: Array
    size_wh: tuple[int, int]
    alone: bool = True

    @property
    def image_from_board(self) -> Array:
        """The homography as a 3x3 array."""
        return np.array(self.homography).reshape(3, 3)

    @property
    def outer_radius_px(self) -> float:
        """Mean radius of the outer line in the picture."""
        _, _, a, b, _ = self.ellipse(2)
        return math.sqrt(a * b)

    def ellipse(self, ring: int) -> Ellipse:
        """The ellipse ``(cx, cy, semi-major, semi-minor, degrees)`` that a ring makes in the picture.

        Args:
            ring: 0 = line 15, 1 = line 10, 2 = outer line.
        """
        return circle_image(self.image_from_board, self.ratios[ring])

    def residual_mm(self, outer_line_mm: float) -> float:
        """The rms distance of the seen lines from the fit, given the radius of the outer line."""
        return self.residual * outer_line_mm


def circle_image(homography: Array, radius: float, centre: tuple[float, float] = (0.0, 0.0)) -> Ellipse:
    """The ellipse ``(cx, cy, semi-major, semi-minor, degrees)`` a homography makes of a circle.

    Degrees run from +x towards +y of the picture, as OpenCV counts them.
    """
    cx, cy = centre
    conic = np.array([[1.0, 0.0, -cx], [0.0, 1.0, -cy], [-cx, -cy, cx * cx + cy * cy - radius * radius]])
    inverse = np.linalg.inv(homography)
    c = inverse.T @ conic @ inverse
    quadratic, linear = c[:2, :2], c[:2, 2]
    middle = -np.linalg.solve(quadratic, linear)
    scale = -(c[2, 2] + linear @ middle)
    values, vectors = np.linalg.eigh(quadratic / scale)
    minor, major = 1 / math.sqrt(abs(values[1])), 1 / math.sqrt(abs(values[0]))
    degrees = math.degrees(math.atan2(vectors[1, 0], vectors[0, 0])) % 180.0
    return (float(middle[0]), float(middle[1]), major, minor, degrees)


def circle_images(homography: Array, radius: float, centres: Array) -> tuple[Array, Array]:
    """Middles ``(n, 2)`` and mean radii ``(n,)`` of the ellipses that a homography makes of equal circles.

    Args:
        homography: from the plane of the circles to the picture.
        radius: of the circles.
        centres: theirs, ``(n, 2)``.
    """
    conics = np.tile(np.eye(3), (len(centres), 1, 1))
    conics[:, :2, 2] = conics[:, 2, :2] = -centres
    conics[:, 2, 2] = (centres**2).sum(axis=1) - radius**2
    inverse = np.linalg.inv(homography)
    c = inverse.T @ conics @ inverse
    quadratic, linear = c[:, :2, :2], c[:, :2, 2]
    middles = -np.linalg.solve(quadratic, linear[..., None])[..., 0]
    scale = np.abs(c[:, 2, 2] + (linear * middles).sum(axis=1))
    return middles, np.sqrt(scale / np.sqrt(np.abs(np.linalg.det(quadratic))))


def shrink(bgr: Image, long_side: int) -> tuple[Image, float]:
    """The picture with at most ``long_side`` pixels, and the factor by which it was made smaller (at most 1)."""
    factor = long_side / max(bgr.shape[:2])
    if factor >= 1.0:
        return bgr, 1.0
    size = (max(1, round(bgr.shape[1] * factor)), max(1, round(bgr.shape[0] * factor)))
    # Bilinear samples miss nothing while they lie closer than two pixels, and are several times faster.
    how = cv2.INTER_LINEAR if factor > 0.55 else cv2.INTER_AREA
    return np.asarray(cv2.resize(bgr, size, interpolation=how), dtype=np.uint8), factor


def scaling(factor_x: float, factor_y: float) -> Array:
    """Homography from a picture to its copy resized by the factors; pixel centres lie on whole numbers."""
    return np.array([[factor_x, 0.0, (factor_x - 1) / 2], [0.0, factor_y, (factor_y - 1) / 2], [0.0, 0.0, 1.0]])


def _best_fit(lab: Floats, sightings: list[Sighting], to_work: Array, look: Look) -> RingFit | None:
    best: RingFit | None = None
    for sighting in sightings:
        fit = fit_rings(lab, to_work @ sighting.homography, sighting.ratios, look)
        if fit is None:
            continue
        for again in (_same_plane, _same_circle):
            second = again(lab, fit, look) if min(fit.coverage) < PLAIN_COVERAGE else None
            better = None if second is None else fit_rings(lab, second.homography, second.ratios, look)
            if better is not None and min(better.coverage) > min(fit.coverage):
                fit = better
        if best is None or min(fit.coverage) > min(best.coverage):
            best = fit
        if min(best.coverage) >= PLAIN_COVERAGE:
            break
    return best


def _same_plane(lab: Floats, fit: RingFit, look: Look) -> Sighting | None:
    """Another guess where two lines are seen, so that the plane is right."""
    return look_again(lab, fit.homography, look) if sorted(fit.coverage)[1] > HALF_RIGHT else None


def _same_circle(lab: Floats, fit: RingFit, look: Look) -> Sighting | None:
    """Another guess where one line is seen, so that one circle is right."""
    ring = int(np.argmax(fit.coverage))
    return lean_again(lab, fit.homography, fit.ratios[ring], look) if fit.coverage[ring] > ONE_RIGHT else None


def _better(one: RingFit | None, other: RingFit | None) -> RingFit | None:
    if one is None or other is None:
        return one or other
    return one if min(one.coverage) >= min(other.coverage) else other


def _search(lab: Floats, small: Floats, *, tilted_too: bool, look: Look = LINES) -> RingFit | None:
    """The best fit in one version of the picture: from above first, tilted only if that is not clear."""
    voters = edge_voters(small)
    if len(voters.x) < 100:
        return None
    to_work = scaling(lab.shape[1] / small.shape[1], lab.shape[0] / small.shape[0])
    best = None
    for peaks in (FIRST_PEAKS, PEAKS):
        best = _better(best, _best_fit(lab, sight_rings(small, voters, peaks=peaks, look=look)[:3], to_work, look))
        if best is not None and min(best.coverage) >= PLAIN_COVERAGE:
            break
    if not tilted_too or (best is not None and min(best.coverage) >= PLAIN_COVERAGE):
        return best
    tilted = [
        sighting
        for warp in likely_tilts(voters, (small.shape[0], small.shape[1]), TILTS)
        for sighting in sight_rings(small, voters, warp, peaks=2, look=look)
    ]
    tilted.sort(key=lambda s: -s.score)
    return _better(best, _best_fit(lab, tilted[:4], to_work, look))


def fit_lab(lab: Floats, small: Floats) -> RingFit | None:
    """The rings of a Lab picture, with ``small`` the same picture at :data:`SIDE_PX`; None when there is no board."""
    best = _search(lab, small, tilted_too=True)
    if best is None or not _is_board(best):
        # Noise hides thin lines from a look of one pixel's width; a softer picture shows them.
        soft = cv2.GaussianBlur(lab, (0, 0), max(1.2, max(lab.shape[:2]) / 900))
        best = _better(best, _search(soft, cv2.GaussianBlur(small, (0, 0), 0.8), tilted_too=False))
    seen = None if best is None or not _is_board(best) else look_around(lab, best)
    if best is None or seen is None or not seen.board:
        return _fit_painted(lab, small)
    if min(best.coverage) < PLAIN_COVERAGE:
        # Lines that are hardly seen may be none, but chance beside the limits of paints.
        painted = _fit_painted(lab, small)
        if painted is not None and _clearly_better(painted, best) and quarters_seen(lab, painted):
            return painted
    return _without_edge(lab, best) if seen.further else best


def _clearly_better(painted: RingFit, plain: RingFit) -> bool:
    """Whether limits of paints explain a board better than lines; the edge around a faint outer line does not."""
    radius = [math.sqrt(a * b) for _, _, a, b, _ in (circle_image(f.homography, 1.0) for f in (painted, plain))]
    return min(painted.coverage) > min(plain.coverage) + CLEARLY_BETTER and radius[0] < radius[1] / LEAST_STRIP


def _without_edge(lab: Floats, fit: RingFit) -> RingFit:
    """The same rings with the true outer line where the edge of the surface, or of a strip, passed for it."""
    for _ in range(MOST_STRIPS):
        limit = inner_limit(lab, fit) if fit.look is LIMITS else None
        inner = inner_line(lab, fit) if limit is None else limit
        if inner is None:
            break
        scaled = fit.homography @ np.diag([inner, inner, 1.0])
        ratios = (fit.ratios[0] / inner, fit.ratios[1] / inner)
        seconds = (fit_rings(lab, scaled, ratios, look) for look in dict.fromkeys((fit.look, LIMITS)))
        second = next((s for s in seconds if s is not None and _is_told(lab, s)), None)
        if second is None:
            break
        fit = second
    return fit


def _fit_painted(lab: Floats, small: Floats) -> RingFit | None:
    """The rings of a board whose zones are painted, so that a line differs from one of its sides only, or is a step."""
    best = _search(lab, small, tilted_too=True, look=LIMITS)
    if best is None:
        return None
    best = _without_edge(lab, best)
    return centred(lab, best) if _is_told(lab, best) and look_around(lab, best).painted_board else None


def second_board(lab: Floats, small: Floats, fit: RingFit) -> RingFit | None:
    """Another whole board beside the one that was found, at least :data:`SAME_SIZE` of its size; None as a rule.

    Args:
        lab: see :func:`fit_lab`.
        small: likewise.
        fit: the board that was found.
    """
    x, y, a, b, _ = circle_image(fit.homography, 1.0)
    if not _room_beside((lab.shape[1], lab.shape[0]), (x, y), math.sqrt(a * b)):
        return None
    to_work = scaling(lab.shape[1] / small.shape[1], lab.shape[0] / small.shape[0])
    voters = edge_voters(small)
    # The edges of the first board, and of its discs and its rail, vote no more.
    col, row = apply_homography(np.linalg.inv(fit.homography) @ to_work, voters.x, voters.y)
    elsewhere = np.hypot(col, row) > 1.1
    if elsewhere.sum() < 100:
        return None
    rest = Voters(*(getattr(voters, name)[elsewhere] for name in ("x", "y", "nx", "ny")))
    least = SAME_SCORE * ring_score(small, np.linalg.inv(to_work) @ fit.homography, fit.ratios[:2], fit.look)

    def beside(homography: Array, slack: float) -> bool:
        other_x, other_y, other_a, other_b, _ = circle_image(homography, 1.0)
        apart = math.hypot(other_x - x, other_y - y) > math.sqrt(a * b)
        return apart and math.sqrt(other_a * other_b) > slack * SAME_SIZE * math.sqrt(a * b)

    for sighting in sight_rings(small, rest, peaks=2, look=fit.look):
        # What is seen first is good to a few hundredths; most often it is the rail of the first board again.
        if sighting.score < least or not beside(to_work @ sighting.homography, 0.9):
            continue
        other = fit_rings(lab, to_work @ sighting.homography, sighting.ratios, fit.look)
        if other is None or other.visible[2] < WHOLE or not _is_board(other) or not beside(other.homography, 1.0):
            continue
        if look_around(lab, other).board:
            return other
    return None


def _room_beside(size_wh: tuple[int, int], centre: tuple[float, float], radius: float) -> bool:
    """Whether another board of :data:`SAME_SIZE` fits into the picture so that enough of its outer line is seen."""
    other = SAME_SIZE * radius
    farthest = 0.0
    for past_x, past_y in ((1.0, PAST_ONE_SIDE), (PAST_ONE_SIDE, 1.0), (PAST_TWO_SIDES, PAST_TWO_SIDES)):
        inset = (past_x * other, past_y * other)
        if any(2 * by > side for by, side in zip(inset, size_wh, strict=True)):
            continue
        away = [max(abs(at - by), abs(side - by - at)) for at, by, side in zip(centre, inset, size_wh, strict=True)]
        farthest = max(farthest, math.hypot(*away))
    return farthest > BEYOND * (radius + other)


def _is_covered(fit: RingFit) -> bool:
    return min(fit.coverage) >= LEAST_COVERAGE and sum(fit.coverage) >= 3 * MEAN_COVERAGE


def _is_board(fit: RingFit) -> bool:
    """Whether lines were seen and not chance: what chance covers is spread evenly, what a line covers is not."""
    if not _is_covered(fit):
        return False
    return min(fit.coverage) >= PLAIN_COVERAGE or fit.residual < EVEN_SPREAD * COVERED


def _is_told(lab: Floats, fit: RingFit) -> bool:
    """The same of lines that are wide or faint: chance has no quarter lines."""
    return _is_board(fit) or (_is_covered(fit) and quarters_seen(lab, fit))


def find_rings(bgr: Image) -> Rings | None:
    """Find the rings of a crokinole board.

    Args:
        bgr: 8-bit colour picture of any size, blue first; a grey one may be given as three equal channels.

    Returns:
        The rings in pixels of ``bgr``, or None when no board is seen: then no three concentric thin lines in about
        the ratio 1:2:3 were covered to :data:`LEAST_COVERAGE`, or they are those of a target or of anything else.
    """
    work, _ = shrink(bgr, WORK_PX)
    little, _ = shrink(work, SIDE_PX)
    gain = exposure_gain(work)
    lab = to_lab(work, gain)
    small = to_lab(little, gain)
    fit = fit_lab(lab, small)
    if fit is None or (fit.look is LIMITS and not quarters_seen(lab, fit)):
        return None
    back = np.linalg.inv(scaling(work.shape[1] / bgr.shape[1], work.shape[0] / bgr.shape[0]))
    rings = rings_of(fit, back, (bgr.shape[1], bgr.shape[0]))
    return replace(rings, alone=second_board(lab, small, fit) is None)


def rings_of(fit: RingFit, picture_from_work: Array, size_wh: tuple[int, int]) -> Rings:
    """A fit made in a shrunken copy, told in pixels of the picture itself."""
    homography = picture_from_work @ fit.homography
    homography = homography / homography[2, 2]
    return Rings(
        homography=tuple(float(v) for v in homography.ravel()),
        ratios=fit.ratios,
        coverage=min(fit.coverage),
        visible=fit.visible[2],
        residual=fit.residual,
        widths=fit.widths,
        offsets=fit.offsets,
        size_wh=size_wh,
    )


def ring_points(rings: Rings, ring: int, count: int = 360) -> Array:
    """Points of a ring in the picture, ``(count, 2)``, for drawing."""
    angle = np.arange(count) * (2 * np.pi / count)
    radius = rings.ratios[ring]
    x, y = apply_homography(rings.image_from_board, radius * np.cos(angle), radius * np.sin(angle))
    return np.stack([x, y], axis=1)
