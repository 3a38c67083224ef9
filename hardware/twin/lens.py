"""Where the simulated camera hangs, and where its pinhole and lens put a point of the board.

Pixels follow OpenCV: ``(u, v)`` with the centre of the top left pixel at ``(0, 0)``. The board frame is that of
:mod:`hardware.board`, with z up from the playing surface.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardware.board import Board

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CameraPose:
    """A camera above the board.

    Attributes:
        size_wh: picture size in pixels.
        height_mm: height of the lens above the playing surface.
        foot_xy_mm: point of the surface plane straight below the lens.
        aim_xy_mm: point of the surface plane in the middle of the picture; with the foot point it gives the tilt.
        turn_deg: how far the board is turned clockwise in the picture; at 0 seat 1 sits at the lower edge.
        fov_deg: vertical field of view, lens distortion apart.
        k1: radial distortion, first term (negative = barrel), on normalised image coordinates.
        k2: radial distortion, second term.
    """

    size_wh: tuple[int, int] = (1280, 960)
    height_mm: float = 1000.0
    foot_xy_mm: tuple[float, float] = (0.0, 0.0)
    aim_xy_mm: tuple[float, float] = (0.0, 0.0)
    turn_deg: float = 0.0
    fov_deg: float = 47.0
    k1: float = 0.0
    k2: float = 0.0

    def __post_init__(self) -> None:
        if self.height_mm <= 0 or not 5 <= self.fov_deg <= 120 or min(self.size_wh) < 16:
            raise ValueError(
                f"camera pose: height {self.height_mm} mm, field of view {self.fov_deg} deg and size {self.size_wh} px "
                "must be positive, 5..120 and at least 16"
            )
        half_diagonal_deg = math.degrees(math.atan(math.hypot(*self.size_wh) / 2 / self.focal_px))
        if self.tilt_deg + half_diagonal_deg > 85:
            raise ValueError(f"camera pose: tilted by {self.tilt_deg:.0f} deg it would see the horizon")

    @property
    def focal_px(self) -> float:
        """Focal length in pixels."""
        return self.size_wh[1] / 2 / math.tan(math.radians(self.fov_deg) / 2)

    @property
    def centre_px(self) -> tuple[float, float]:
        """Principal point ``(u, v)``: the middle of the picture."""
        return ((self.size_wh[0] - 1) / 2, (self.size_wh[1] - 1) / 2)

    @property
    def tilt_deg(self) -> float:
        """Angle between the optical axis and the vertical."""
        reach_mm = math.dist(self.foot_xy_mm, self.aim_xy_mm)
        return math.degrees(math.atan2(reach_mm, self.height_mm))

    @property
    def axes(self) -> Floats:
        """Rows: the picture's right, its down, and the optical axis as unit vectors of the board frame."""
        return _axes(self)

    def project(self, x_mm: ArrayLike, y_mm: ArrayLike, z_mm: ArrayLike = 0.0) -> Floats:
        """Pixels ``(..., 2)`` at which points of the board frame are seen; the arguments broadcast."""
        fx, fy = self.foot_xy_mm
        x, y, z = np.asarray(x_mm, float) - fx, np.asarray(y_mm, float) - fy, np.asarray(z_mm, float) - self.height_mm
        right, down, forward = self.axes.tolist()
        depth = x * forward[0] + y * forward[1] + z * forward[2]
        u = (x * right[0] + y * right[1] + z * right[2]) / depth
        v = (x * down[0] + y * down[1] + z * down[2]) / depth
        r2 = u * u + v * v
        scale = (1 + r2 * (self.k1 + r2 * self.k2)) * self.focal_px
        out = np.empty((*np.shape(scale), 2))
        out[..., 0], out[..., 1] = u * scale + self.centre_px[0], v * scale + self.centre_px[1]
        return out

    def ground(self, u: ArrayLike, v: ArrayLike, z_mm: float = 0.0) -> Floats:
        """Points ``(..., 2)`` in mm of the plane at ``z_mm`` that are seen at pixels ``(u, v)``."""
        x = (np.asarray(u, float) - self.centre_px[0]) / self.focal_px
        y = (np.asarray(v, float) - self.centre_px[1]) / self.focal_px
        if self.k1 or self.k2:
            bent2 = x * x + y * y
            shrink = np.ones_like(bent2)
            for _ in range(5):  # Newton on the ratio of true to bent radius; a mild lens is exact to 1e-9 after three
                q = shrink * shrink * bent2
                miss = shrink * (1 + q * (self.k1 + q * self.k2)) - 1
                shrink -= miss / (1 + q * (3 * self.k1 + q * (5 * self.k2)))
                if np.abs(miss).max() < 1e-7:  # the next miss would be its square
                    break
            x, y = x * shrink, y * shrink
        right, down, forward = self.axes.tolist()
        depth = (x * right[2] + y * down[2] + forward[2]) / (z_mm - self.height_mm)
        out = np.empty((*np.shape(depth), 2))
        for k in range(2):
            out[..., k] = self.foot_xy_mm[k] + (x * right[k] + y * down[k] + forward[k]) / depth
        return out

    def nudged(self, dx_mm: float = 0.0, dy_mm: float = 0.0, turn_deg: float = 0.0) -> CameraPose:
        """The pose after the mount was bumped: moved sideways and turned, its tilt unchanged."""
        (fx, fy), (ax, ay) = self.foot_xy_mm, self.aim_xy_mm
        return replace(
            self,
            foot_xy_mm=(fx + dx_mm, fy + dy_mm),
            aim_xy_mm=(ax + dx_mm, ay + dy_mm),
            turn_deg=self.turn_deg + turn_deg,
        )


@lru_cache(maxsize=64)
def _axes(pose: CameraPose) -> Floats:
    (fx, fy), (ax, ay) = pose.foot_xy_mm, pose.aim_xy_mm
    forward = np.array([ax - fx, ay - fy, -pose.height_mm], float)
    forward /= np.linalg.norm(forward)
    turn = math.radians(pose.turn_deg)
    right = np.cross(forward, [-math.sin(turn), math.cos(turn), 0.0])
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(forward, right), forward])
    axes.flags.writeable = False
    return axes


def _fov_for(board: Board, height_mm: float, spare: float) -> float:
    """Field of view that shows the board up to its rail, times ``spare``."""
    half_mm = (board.rail_radius_mm + 22) * spare
    return 2 * math.degrees(math.atan2(half_mm, height_mm))


def nominal_pose(board: Board, size_wh: tuple[int, int] = (1280, 960)) -> CameraPose:
    """A good mount as people build it: 1 m up, three degrees off the vertical, not quite above the middle."""
    return CameraPose(
        size_wh=size_wh,
        height_mm=1010.0,
        foot_xy_mm=(34.0, -47.0),
        aim_xy_mm=(5.0, -3.0),
        turn_deg=1.7,
        fov_deg=_fov_for(board, 1010.0, 1.06),
        k1=-0.045,
        k2=0.008,
    )


def drawn_pose(
    board: Board, seed: int, size_wh: tuple[int, int] = (1280, 960), max_tilt_deg: float = 25.0
) -> CameraPose:
    """Any sane mount: 600-1200 mm up, tilted up to ``max_tilt_deg``, off-centre, turned at will, barrel or cushion."""
    rng = np.random.default_rng([seed, 0x9059])
    height_mm = float(rng.uniform(600, 1200))
    towards = rng.uniform(0, 2 * math.pi)
    reach_mm = height_mm * math.tan(math.radians(float(rng.uniform(0, max_tilt_deg))))
    aim = rng.uniform(-15, 15, 2)
    slant_mm = math.hypot(reach_mm, height_mm)
    near_mm = max(slant_mm - board.rail_radius_mm * reach_mm / slant_mm, 0.4 * slant_mm)
    return CameraPose(
        size_wh=size_wh,
        height_mm=height_mm,
        foot_xy_mm=(float(aim[0] + reach_mm * math.cos(towards)), float(aim[1] + reach_mm * math.sin(towards))),
        aim_xy_mm=(float(aim[0]), float(aim[1])),
        turn_deg=float(rng.uniform(-180, 180)),
        fov_deg=min(_fov_for(board, near_mm, float(rng.uniform(1.06, 1.2))), 84.0),
        k1=float(rng.uniform(-0.12, 0.03)),
        k2=float(rng.uniform(-0.01, 0.03)),
    )
