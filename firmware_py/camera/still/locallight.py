"""How much light falls on each disc, told by the wood beside it: in a hard shadow all colours are half as bright.

The wood itself may differ from ring to ring (zones are painted) but hardly around one ring. So each place of the
playing surface is compared with the usual lightness at its distance from the centre, discs left out.
"""

from __future__ import annotations

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import Array, Floats, along_rays, directions, sample

#: The surface is looked at in so many directions and at so many distances from there to there, in outer radii.
ANGLES, RINGS, REACH = 90, 18, (0.13, 0.97)
#: Nearer to a disc than this, in radii, there are its rim and its shadow.
BESIDE = 1.4
#: The wood up to so far from a disc tells its light, in radii; a disc in the ditch is lit like the surface next to it.
NEIGHBOURHOOD = 3.2
#: At least so many places must be seen there.
LEAST_PLACES = 6
#: Light on the surface is not believed to differ by more.
MOST = 2.2
#: Lab's cube root begins here: light times k makes (L + 16), a and b larger by the cube root of k.
FOOT = 16.0


def local_light(lab: Floats, calibration: Calibration, xy_mm: Array, radius_mm: float) -> Array:
    """Light on each disc, as the factor by which it enlarges ``L + 16``, a and b; 1 where nothing can be told.

    Args:
        lab: float Lab picture.
        calibration: of its camera.
        xy_mm: centres of the discs as seen on the board plane, ``(n, 2)``.
        radius_mm: their radius there.
    """
    outer = calibration.board.outer_line_mm
    ways = directions(ANGLES)
    reach = np.linspace(REACH[0], REACH[1], RINGS) * outer
    seen = sample(lab, *along_rays(calibration.image_from_board, ways, reach))
    lightness = seen[..., 0].astype(np.float64) + FOOT
    flat = (ways[:, None] * reach[:, None]).reshape(-1, 2)
    beside = _distances2(flat, xy_mm) > (BESIDE * radius_mm) ** 2
    wood = beside.all(axis=1).reshape(lightness.shape) & np.isfinite(lightness)
    usual = np.array([np.median(lightness[wood[:, k], k]) if wood[:, k].any() else np.nan for k in range(RINGS)])
    ratio = (lightness / usual).ravel()
    told = wood.ravel() & np.isfinite(ratio)
    far = np.maximum(np.hypot(*xy_mm.T), 1e-6)
    nearest = xy_mm * np.minimum(1.0, REACH[1] * outer / far)[:, None]
    near = told[:, None] & (_distances2(flat, nearest) < (NEIGHBOURHOOD * radius_mm) ** 2)
    light = np.ones(len(xy_mm))
    for k in np.nonzero(near.sum(axis=0) >= LEAST_PLACES)[0]:
        light[k] = float(np.clip(np.median(ratio[near[:, k]]), 1 / MOST, MOST))
    return light


def _distances2(places: Array, others: Array) -> Array:
    """Squared distances of places ``(m, 2)`` from others ``(n, 2)``, ``(m, n)``."""
    return np.asarray((places[:, :1] - others[:, 0]) ** 2 + (places[:, 1:] - others[:, 1]) ** 2)


def relit(colours: Array, light: Array) -> Array:
    """Lab colours ``(n, 3)`` as they would be in the usual light."""
    foot = np.array([FOOT, 0.0, 0.0])
    return np.asarray((colours + foot) / light[:, None] - foot)
