"""First sight of a board in a picture: the common centre of its rings, how it is tilted, about which radii.

Every edge votes along its gradient for the centre it may be bent around, then the best centres are unwrapped and
three thin rings in about the ratio 1:2:3 are looked for. A tilted board is met by turning the votes upright, not the
picture. The answer is rough (about 3 % of the outer radius); :mod:`firmware_py.camera.board.ringfit` makes it exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from firmware_py.camera.picture.lab import (
    LINES,
    Array,
    Floats,
    Look,
    along_rays,
    apply_homography,
    directions,
    gradient,
    sample,
)

#: Long side of the picture in which the centre is looked for.
SIDE_PX = 480
#: Votes are cast this far from an edge, in parts of the long side.
VOTE_RANGE = (0.04, 0.56)
#: At most so many edges vote; they are thinned, the more the denser they stand within so many pixels.
VOTERS, CROWD_PX, LEAST_CROWD = 6000, 25, 0.1
#: Peaks of the vote that are tried as centres.
PEAKS = 4
#: Outer radius looked for, in parts of the long side.
RADIUS_RANGE = (0.10, 0.56)
#: Radius of the 15 line over that of the outer line.
INNER_RATIO = (0.285, 0.40)
#: Radius of the 10 line over that of the outer line departs from twice the inner ratio by at most this much.
MIDDLE_SLACK = 0.06
ANGLES = 120
#: Steps in which radii, in pixels of the small picture, and ratios of the rings are tried.
OUTER_STEP, RATIO_STEP = 1.5, 0.007
#: Votes of an edge are cast so many pixels of the small picture apart.
VOTE_STEP = 4.0
#: So many edges cast their votes at a time.
AT_ONCE = 200
#: Tilts tried when a plain look fails.
TILTS_DEG = (15.0, 26.0, 36.0)
#: Where the centre of the rings may be seen beside where it was taken to be, in parts of the outer radius for the
#: outer line and less for smaller ones, and in how many ways.
LEANS, LEAN_WAYS = (0.05, 0.1, 0.15), 12
#: Focal length over the long side assumed for turning a view upright.
FOCAL = 1.0


@dataclass(frozen=True, slots=True)
class Sighting:
    """A rough guess of the board's place.

    Attributes:
        homography: board (outer line = unit circle) to picture, shape ``(3, 3)``.
        ratios: radius of the 15 and the 10 line over that of the outer line.
        score: how much ring was seen; comparable only within one picture.
    """

    homography: Array
    ratios: tuple[float, float]
    score: float


@dataclass(frozen=True, slots=True)
class Voters:
    """Edges of the small picture that vote for a centre: places and unit normals, each ``(n,)``."""

    x: Floats
    y: Floats
    nx: Floats
    ny: Floats


def edge_voters(lab: Floats) -> Voters:
    """The edges of a small Lab picture, thinned, that may belong to a ring."""
    gx, gy, magnitude = gradient(lab, 1.0)
    some = magnitude[::2, ::2].ravel()
    strong = round(0.75 * (some.size - 1))
    least = max(1.0, float(np.partition(some, strong)[strong]))
    keep = magnitude > least
    keep[:2], keep[-2:], keep[:, :2], keep[:, -2:] = False, False, False, False
    # Places are counted through the whole picture: numpy is slow over two indices.
    at = np.flatnonzero(keep)
    if len(at) > VOTERS:
        # Where edges crowd, on a printed cloth or in strong grain, fewer of them speak.
        crowd = cv2.blur(keep.astype(np.float32), (CROWD_PX, CROWD_PX), borderType=cv2.BORDER_REFLECT)
        upto = np.cumsum(1.0 / np.maximum(crowd.ravel()[at], LEAST_CROWD))
        at = at[np.searchsorted(upto, np.linspace(0.0, upto[-1], VOTERS, endpoint=False), side="right")]
    ys, xs = np.divmod(at, magnitude.shape[1])
    size = np.maximum(magnitude.ravel()[at], 1e-6)
    return Voters(x=xs.astype(np.float32), y=ys.astype(np.float32), nx=gx.ravel()[at] / size, ny=gy.ravel()[at] / size)


def upright(tilt_deg: float, azimuth_deg: float, shape: tuple[int, int]) -> Array:
    """The homography that shows a picture as if its camera had been turned back by a tilt.

    A turn of the camera needs no knowledge of where the board is, only of the lens: :data:`FOCAL` is assumed. The
    middle of the picture stays where it is, at its scale.

    Args:
        tilt_deg: angle between the view and the straight-down one.
        azimuth_deg: direction in the picture that is turned away.
        shape: height and width of the picture.
    """
    focal = FOCAL * max(shape)
    cx, cy = (shape[1] - 1) / 2, (shape[0] - 1) / 2
    a, t = math.radians(azimuth_deg), math.radians(tilt_deg)
    axis = np.array([-math.sin(a), math.cos(a), 0.0])
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    rotation = np.eye(3) + math.sin(t) * cross + (1 - math.cos(t)) * (cross @ cross)
    k = np.array([[focal, 0.0, cx], [0.0, focal, cy], [0.0, 0.0, 1.0]])
    h = k @ rotation @ np.linalg.inv(k)
    x, y = apply_homography(h, np.array(cx), np.array(cy))
    scale = math.cos(t) ** 1.5
    back = np.array([[scale, 0.0, cx - scale * float(x)], [0.0, scale, cy - scale * float(y)], [0.0, 0.0, 1.0]])
    return np.asarray(back @ h)


def turned(voters: Voters, warp: Array) -> Voters:
    """The same edges after the picture was warped by a homography."""
    x, y = voters.x.astype(np.float64), voters.y.astype(np.float64)
    w = warp[2, 0] * x + warp[2, 1] * y + warp[2, 2]
    u, v = apply_homography(warp, x, y)
    # A normal turns with the inverse transpose of the Jacobian, up to scale its matrix of cofactors.
    ux, uy = (warp[0, 0] - u * warp[2, 0]) / w, (warp[0, 1] - u * warp[2, 1]) / w
    vx, vy = (warp[1, 0] - v * warp[2, 0]) / w, (warp[1, 1] - v * warp[2, 1]) / w
    nx, ny = vy * voters.nx - vx * voters.ny, ux * voters.ny - uy * voters.nx
    norm = np.hypot(nx, ny) + 1e-12
    return Voters(
        x=u.astype(np.float32),
        y=v.astype(np.float32),
        nx=(nx / norm).astype(np.float32),
        ny=(ny / norm).astype(np.float32),
    )


def vote(voters: Voters, shape: tuple[int, int], step: int = 1) -> Floats:
    """Votes for the common centre of the rings.

    Args:
        voters: the edges.
        shape: height and width of the small picture.
        step: cast every so-manyth vote only.

    Returns:
        Blurred votes at half the resolution of the small picture.
    """
    height, width = (shape[0] + 1) // 2, (shape[1] + 1) // 2
    long_side = max(shape)
    reach = np.arange(VOTE_RANGE[0] * long_side, VOTE_RANGE[1] * long_side, VOTE_STEP * step, dtype=np.float32)
    reach = np.concatenate([reach, -reach]) * np.float32(0.5)
    # A margin collects the votes that fall outside; a voter far outside (of a turned picture) casts none.
    pad = math.ceil(VOTE_RANGE[1] * long_side / 2) + 2
    wide, high = width + 2 * pad, height + 2 * pad
    x, y = voters.x * np.float32(0.5), voters.y * np.float32(0.5)
    near = np.flatnonzero((x > -1) & (x < width) & (y > -1) & (y < height))
    cells = np.empty((len(near), len(reach)), np.intp)
    # Few at a time, so that what is in between stays in the cache.
    for part in (slice(k, k + AT_ONCE) for k in range(0, len(near), AT_ONCE)):
        some = near[part]
        col = x[some, None] + voters.nx[some, None] * reach + np.float32(pad)
        row = y[some, None] + voters.ny[some, None] * reach + np.float32(pad)
        np.multiply(row.astype(np.int32), wide, out=cells[part])
        cells[part] += col.astype(np.int32)
    cells = np.bincount(cells.ravel(), minlength=wide * high)
    votes = cells.reshape(high, wide)[pad : pad + height, pad : pad + width].astype(np.float32)
    return np.asarray(cv2.GaussianBlur(votes, (0, 0), 1.5), dtype=np.float32)


def peaks_of(votes: Floats, count: int) -> list[tuple[float, float, float]]:
    """The strongest separate peaks as ``(x, y, votes)`` in pixels of the small picture."""
    rest = votes.copy()
    found = []
    for _ in range(count):
        _, value, _, (col, row) = cv2.minMaxLoc(rest)
        if value <= 0:
            break
        found.append((2.0 * col + 0.5, 2.0 * row + 0.5, float(value)))
        cv2.circle(rest, (col, row), 6, 0.0, -1)
    return found


def _ring_profiles(lab: Floats, centres: Array, unwarp: Array, radii: Floats, look: Look = LINES) -> Floats:
    """Share of angles at which a line is seen, per centre and radius, shape ``(centres, radii)``."""
    around = [
        along_rays(unwarp @ np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]]), directions(ANGLES), radii)
        for x, y in centres
    ]
    seen = sample(lab, *(np.stack(places) for places in zip(*around, strict=True)))
    lines = np.clip(look.strength(seen, (2, 3)) / np.float32(6.0), np.float32(0.0), np.float32(1.0))
    count = lines.shape[0]
    wide = cv2.dilate(lines.reshape(count * ANGLES, -1), np.ones((1, 5), np.uint8))
    share = np.asarray(wide).reshape(count, ANGLES, -1).mean(axis=1)
    background = cv2.blur(share, (41, 1), borderType=cv2.BORDER_REFLECT)
    return np.asarray(share - background, dtype=np.float32)


def _three_rings(p1: Array, p2: Array, p3: Array, inner_ratio: Array, middle_ratio: Array) -> Array:
    """How much board there is in the shares of three rings; the usual ratios are favoured a little."""
    seen = p1 + p2 + p3 + 1.5 * np.minimum(np.minimum(p1, p2), p3)
    return np.asarray(seen - 1.5 * np.abs(inner_ratio - 1 / 3) - np.abs(middle_ratio - 2 / 3))


def _best_rings(profile: Floats, radii: Floats, outers: Array) -> tuple[float, float, float, float]:
    """Outer radius (one of ``outers``), both ratios and score of the three rings that fit one profile best."""
    inner_ratio = np.arange(INNER_RATIO[0], INNER_RATIO[1], RATIO_STEP)
    slack = np.arange(-MIDDLE_SLACK, MIDDLE_SLACK + 1e-9, RATIO_STEP)
    middle_ratio = 2 * inner_ratio[:, None] + slack
    p3 = np.interp(outers, radii, profile)[:, None, None]
    p1 = np.interp(outers[:, None] * inner_ratio, radii, profile)[:, :, None]
    p2 = np.interp(outers[:, None, None] * middle_ratio, radii, profile)
    score = _three_rings(p1, p2, p3, inner_ratio[:, None], middle_ratio)
    best = int(np.argmax(score))
    i, j, k = np.unravel_index(best, score.shape)
    return float(outers[i]), float(inner_ratio[j]), float(middle_ratio[j, k]), float(score[i, j, k])


def look_again(lab: Floats, homography: Array, look: Look = LINES) -> Sighting:
    """The best three rings around a centre and in a plane that are known already.

    Where a rail or the edge of the surface passed for a line, the plane is right all the same, and in it the true
    lines are sharp.

    Args:
        lab: float Lab picture, not the small one.
        homography: board plane to its pixels, of a fit of which at least two rings were seen.
        look: how lines are told along profiles.
    """
    radii = np.arange(0.06, 1.75, 0.004, dtype=np.float32)
    seen = sample(lab, *along_rays(homography, directions(ANGLES), radii))
    lines = np.clip(look.strength(seen, (2, 3)) / np.float32(6.0), np.float32(0.0), np.float32(1.0))
    share = cv2.dilate(lines, np.ones((1, 3), np.uint8)).mean(axis=0)
    share = share - cv2.blur(share[None], (41, 1), borderType=cv2.BORDER_REFLECT)[0]
    outer, inner_ratio, middle_ratio, score = _best_rings(share, radii, np.arange(0.5, 1.72, 0.004))
    scaled = homography @ np.diag([outer, outer, 1.0])
    return Sighting(homography=scaled, ratios=(inner_ratio, middle_ratio), score=score)


def ring_score(lab: Floats, homography: Array, ratios: tuple[float, float], look: Look = LINES) -> float:
    """The score that rings which are known already would have been sighted with; see :class:`Sighting`.

    Args:
        lab: small Lab picture of :data:`SIDE_PX`.
        homography: board (outer line = unit circle) to its pixels.
        ratios: radius of the 15 and the 10 line over that of the outer line.
        look: how lines are told along profiles.
    """
    scale = math.sqrt(abs(float(np.linalg.det(homography[:2, :2] / homography[2, 2]))))
    radii = np.arange(2.0, 1.2 * scale + 6.0, 1.0, dtype=np.float32)
    profile = _ring_profiles(lab, np.zeros((1, 2)), homography @ np.diag([1 / scale, 1 / scale, 1.0]), radii, look)[0]
    p1, p2, p3 = (np.interp(scale * q, radii, profile) for q in (*ratios, 1.0))
    return float(_three_rings(p1, p2, p3, np.array(ratios[0]), np.array(ratios[1])))


def lean_again(lab: Floats, homography: Array, radius: float, look: Look = LINES) -> Sighting:
    """The best three rings where one circle is known already but not which of its inner points is its centre.

    A lens wider than the usual one makes a tilted board lean more than was assumed. One ring is met all the same,
    and all planes in which it is a circle differ by two figures: where its centre is.

    Args:
        lab: float Lab picture, not the small one.
        homography: board plane to its pixels.
        radius: of the ring that was seen, in that plane.
        look: how lines are told along profiles.
    """
    best = look_again(lab, homography, look)
    unit = np.diag([radius, radius, 1.0])
    for lean in np.array(LEANS) * radius:
        grow = 1.0 / math.sqrt(1.0 - float(lean) ** 2)
        along = np.array([[grow, 0.0, grow * lean], [0.0, 1.0, 0.0], [grow * lean, 0.0, grow]])
        for turn in np.arange(LEAN_WAYS) * (2 * np.pi / LEAN_WAYS):
            c, s = math.cos(turn), math.sin(turn)
            way = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
            again = look_again(lab, homography @ unit @ way @ along @ way.T @ np.linalg.inv(unit), look)
            best = max(best, again, key=lambda sighting: sighting.score)
    return best


def sight_rings(
    lab: Floats, voters: Voters, warp: Array | None = None, *, peaks: int = PEAKS, look: Look = LINES
) -> list[Sighting]:
    """Rough rings around the best centres for one assumed tilt, best first.

    Args:
        lab: small Lab picture of :data:`SIDE_PX`.
        voters: its edges.
        warp: homography that shows the picture upright, see :func:`upright`; None for a view from above.
        peaks: centres to try.
        look: how lines are told along profiles.

    Returns:
        Sightings in pixels of the small picture; empty when nothing votes.
    """
    shape = (lab.shape[0], lab.shape[1])
    unwarp = np.eye(3) if warp is None else np.linalg.inv(warp)
    centres = peaks_of(vote(voters if warp is None else turned(voters, warp), shape), peaks)
    if not centres:
        return []
    long_side = max(shape)
    radii = np.arange(2.0, RADIUS_RANGE[1] * long_side + 6.0, 1.0, dtype=np.float32)
    outers = np.arange(RADIUS_RANGE[0] * long_side, RADIUS_RANGE[1] * long_side, OUTER_STEP)
    places = np.array([c[:2] for c in centres])
    profiles = _ring_profiles(lab, places, unwarp, radii, look)
    sightings = []
    for (x, y), profile in zip(places, profiles, strict=True):
        outer, inner_ratio, middle_ratio, score = _best_rings(profile, radii, outers)
        circle = np.array([[outer, 0.0, x], [0.0, outer, y], [0.0, 0.0, 1.0]])
        sightings.append(Sighting(homography=unwarp @ circle, ratios=(inner_ratio, middle_ratio), score=score))
    return sorted(sightings, key=lambda s: -s.score)


def likely_tilts(voters: Voters, shape: tuple[int, int], count: int) -> list[Array]:
    """The warps, of a grid of tilts to 40 deg, under which the votes for one centre agree best."""
    thin = max(1, len(voters.x) // 1500)
    few = Voters(x=voters.x[::thin], y=voters.y[::thin], nx=voters.nx[::thin], ny=voters.ny[::thin])
    warps = [upright(t, a, shape) for t in TILTS_DEG for a in np.arange(0.0, 360.0, 15.0)]
    heights = [float(vote(turned(few, warp), shape, step=4).max()) for warp in warps]
    return [warps[k] for k in np.argsort(heights)[::-1][:count]]
