"""What each seen disc is worth, how near it is to being worth something else, and whether that is too close to call.

A disc is judged by its base: it is in a zone when it does not touch the line around it. The lines of the board in the
picture decide, with their measured radii and the small waves a lens or a hand-turned board gives them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import Array
from firmware_py.camera.still.seen import SeenDisc

Zone = Literal[20, 15, 10, 5, 0, "ditch"]

#: A disc nearer to the limit of a zone than this many sigma is too close to call.
CLOSE_SIGMA = 2.0
#: A disc on the surface of which less than this was seen is doubtful as such.
DOUBTFUL_QUALITY = 0.56
#: Waves of a line of up to this many per turn are followed.
WAVES = 6
#: One sigma of where a well-seen line is, in mm.
LINE_SIGMA_MM = 0.3


@dataclass(frozen=True, slots=True)
class Lines:
    """The three printed lines as they really run.

    Attributes:
        radii_mm: mean radii of their centres: 15, 10, outer.
        widths_mm: their widths.
        waves_mm: departure from the mean as a Fourier series in the plane's angle, ``(3, 1 + 2 * WAVES)``.
    """

    radii_mm: tuple[float, float, float]
    widths_mm: tuple[float, float, float]
    waves_mm: Array

    def radii_at_mm(self, angle: float) -> list[float]:
        """Radius of each line's centre in a direction (radians from +x towards +y of the board)."""
        waves = self.waves_mm @ _basis(np.array([angle]))[0]
        return [radius + float(wave) for radius, wave in zip(self.radii_mm, waves, strict=True)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one disc is worth.

    Attributes:
        zone: 20, 15, 10, 5, 0 (on the surface but dead) or ``ditch``.
        margin_mm: distance of its base from the nearest limit between zones.
        sure: whether the picture decides it.
    """

    zone: Zone
    margin_mm: float
    sure: bool

    @property
    def points(self) -> int:
        """The zone as points."""
        return 0 if self.zone == "ditch" else int(self.zone)


def _basis(angle: Array) -> Array:
    turns = np.arange(1, WAVES + 1) * angle[:, None]
    terms = np.ones((len(angle), 1 + 2 * WAVES))
    terms[:, 1::2], terms[:, 2::2] = np.cos(turns), np.sin(turns)
    return terms


def trace_lines(calibration: Calibration, offsets: Array, widths: tuple[float, float, float], turn: float) -> Lines:
    """Follow the lines from where they were seen.

    Args:
        calibration: of the picture; gives the mean radii.
        offsets: departures of the seen line points in outer radii, ``(3, angles)``, NaN where none was seen; angles
            run evenly from the fit's own +x, clockwise in the picture.
        widths: measured widths in outer radii, NaN where unknown.
        turn: angle of the fit's +x in the board's frame, radians.
    """
    outer = calibration.board.outer_line_mm
    count = offsets.shape[1]
    angle = turn - np.arange(count) * (2 * np.pi / count)
    basis = _basis(angle)
    waves = np.zeros((3, basis.shape[1]))
    # High waves need more evidence than low ones.
    hold = np.diag([0.0] + [0.4 * k * k for k in range(1, WAVES + 1) for _ in (0, 1)])
    for line in range(3):
        seen = np.isfinite(offsets[line])
        if seen.sum() < count / 3:
            continue
        value = offsets[line, seen] * outer
        rows = basis[seen]
        weight = np.ones(len(value))
        for _ in range(4):
            normal = rows.T @ (rows * weight[:, None]) + hold + 1e-6 * np.eye(rows.shape[1])
            waves[line] = np.linalg.solve(normal, rows.T @ (weight * value))
            rest = value - rows @ waves[line]
            sigma = max(0.05, 1.4826 * float(np.median(np.abs(rest))))
            weight = 1.0 / (1.0 + (rest / (2.0 * sigma)) ** 2)
    usual = calibration.board.line_width_mm
    measured = [w * outer if math.isfinite(w) else usual for w in widths]
    return Lines(
        radii_mm=calibration.ring_radii_mm,
        widths_mm=(measured[0], measured[1], measured[2]),
        waves_mm=waves,
    )


def judge(disc: SeenDisc, lines: Lines) -> Verdict:
    """The worth of one disc.

    A disc that touches a line has the lower value (rule 47). In the hole it is a 20, in the ditch nothing.
    """
    r_mm = disc.r_mm
    angle = math.atan2(disc.y_mm, disc.x_mm)
    radii = lines.radii_at_mm(angle)
    limits = [radius - width / 2 - disc.radius_mm for radius, width in zip(radii, lines.widths_mm, strict=True)]
    margin = min(abs(r_mm - limit) for limit in limits)
    if disc.place == "hole":
        return Verdict(zone=20, margin_mm=margin, sure=disc.quality >= 0.75)
    if disc.place == "ditch":
        return Verdict(zone="ditch", margin_mm=margin, sure=True)
    zones: tuple[Zone, Zone, Zone] = (15, 10, 5)
    zone: Zone = next((z for z, limit in zip(zones, limits, strict=True) if r_mm < limit), 0)
    sigma = math.hypot(disc.sigma_mm, LINE_SIGMA_MM)
    sure = margin >= CLOSE_SIGMA * sigma and (zone == 0 or disc.quality >= DOUBTFUL_QUALITY)
    return Verdict(zone=zone, margin_mm=margin, sure=sure)
