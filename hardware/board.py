"""The crokinole board in millimetres: where its lines are and what a resting disc is worth.

Everything in the project takes its geometry from here. Origin at the centre of the rings, x to the right and
y away from seat 1; angles clockwise seen from above, 0 = the middle of seat 1's quadrant, so
``x = -r sin a`` and ``y = -r cos a``. A disc's position is that of its base on the wood.

Sources: the presets follow the NCA board standard S17; a disc that touches a line has the lower value (NCA 6d).
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field, fields
from importlib import resources


class BoardError(ValueError):
    """A board preset that cannot be read or describes no possible board."""


@dataclass(frozen=True, slots=True)
class Board:
    """One kind of board and the discs played on it; all lengths in millimetres.

    Attributes:
        name: preset name, e.g. ``tournament``.
        title: what people are shown.
        line_15_mm: radius of the centre of the printed line around the 15 zone; the pegs stand on it.
        line_10_mm: radius of the centre of the line around the 10 zone.
        outer_line_mm: radius of the centre of the shooting line around the 5 zone.
        line_width_mm: width of the printed lines.
        surface_radius_mm: radius of the raised playing surface.
        surface_height_mm: height of the playing surface above the ditch.
        ditch_width_mm: from the edge of the surface to the rail.
        rail_height_mm: height of the rail above the ditch.
        hole_radius_mm: radius of the 20-hole.
        hole_depth_mm: depth of the 20-hole.
        peg_count: pegs on the 15 line, evenly spaced, the first half a step off the quadrant lines.
        peg_radius_mm: radius of a peg.
        peg_height_mm: height of a peg above the surface.
        disc_radius_mm: radius of a disc.
        disc_height_mm: thickness of a disc.
        limits_mm: radii below which a disc's centre is in 15, 10 and 5; 84.8, 186.4 and 288.0 on the tournament board.
    """

    name: str
    title: str
    line_15_mm: float
    line_10_mm: float
    outer_line_mm: float
    line_width_mm: float
    surface_radius_mm: float
    surface_height_mm: float
    ditch_width_mm: float
    rail_height_mm: float
    hole_radius_mm: float
    hole_depth_mm: float
    peg_count: int
    peg_radius_mm: float
    peg_height_mm: float
    disc_radius_mm: float
    disc_height_mm: float
    limits_mm: tuple[float, float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        order = (
            self.disc_radius_mm,
            self.hole_radius_mm,
            self.line_15_mm,
            self.line_10_mm,
            self.outer_line_mm,
            self.surface_radius_mm,
        )
        if list(order) != sorted(set(order)):
            raise BoardError(
                f"board {self.name}: disc, hole, 15 line, 10 line, outer line and surface must grow in this "
                f"order, got {order}"
            )
        if self.line_width_mm <= 0 or self.disc_height_mm <= self.hole_depth_mm:
            raise BoardError(f"board {self.name}: lines need a width and a disc must stand proud of the hole")
        lines_mm = (self.line_15_mm, self.line_10_mm, self.outer_line_mm)
        object.__setattr__(self, "limits_mm", tuple(line_mm - self.reach_mm for line_mm in lines_mm))

    @property
    def reach_mm(self) -> float:
        """Distance between the centre of a disc and the centre of a line it just touches."""
        return self.disc_radius_mm + self.line_width_mm / 2

    @property
    def touches_15_mm(self) -> float:
        """Largest radius of a disc that still touches the 15 line: the test of an open shot (118.4 mm)."""
        return self.line_15_mm + self.reach_mm

    @property
    def clear_of_outer_mm(self) -> float:
        """Radius from which a disc lies beyond the outer line without touching it (321.6 mm)."""
        return self.outer_line_mm + self.reach_mm

    @property
    def hole_play_mm(self) -> float:
        """How far off the centre a disc can lie flat in the hole (1.465 mm)."""
        return self.hole_radius_mm - self.disc_radius_mm

    @property
    def proud_mm(self) -> float:
        """How far a disc in the hole stands above the surface."""
        return self.disc_height_mm - self.hole_depth_mm

    @property
    def rail_radius_mm(self) -> float:
        """Inner radius of the rail."""
        return self.surface_radius_mm + self.ditch_width_mm

    @property
    def pegs(self) -> tuple[tuple[float, float], ...]:
        """Centres ``(x_mm, y_mm)`` of the pegs, clockwise from seat 1; none lies on a quadrant line."""
        if not self.peg_count:
            return ()
        step_deg = 360 / self.peg_count
        return tuple(to_xy(self.line_15_mm, (k + 0.5) * step_deg) for k in range(self.peg_count))

    def value(self, r_mm: float) -> int:
        """Points of a disc lying flat with its centre ``r_mm`` from the middle: 15, 10, 5 or 0.

        A disc over the rim of the hole or leaning in it has 15; a 20 needs :meth:`fits_hole` and a disc that
        has dropped, which no radius alone tells (rules 38 and 41).
        """
        l15_mm, l10_mm, l5_mm = self.limits_mm
        if r_mm < l10_mm:
            return 15 if r_mm < l15_mm else 10
        return 5 if r_mm < l5_mm else 0

    def margin_mm(self, r_mm: float) -> float:
        """Distance of a disc's centre from the nearest limit of a zone, always positive."""
        return min(abs(r_mm - limit_mm) for limit_mm in self.limits_mm)

    def fits_hole(self, r_mm: float) -> bool:
        """Whether a disc so far off the centre can lie flat in the hole."""
        return r_mm <= self.hole_play_mm

    def touches_outer(self, r_mm: float) -> bool:
        """Whether a disc touches the outer line: where a shot is placed from, and where a disc at rest is out."""
        return abs(r_mm - self.outer_line_mm) <= self.reach_mm

    def on_surface(self, r_mm: float) -> bool:
        """Whether a disc's centre is over the raised surface, so that it stays up."""
        return r_mm <= self.surface_radius_mm


def to_xy(r_mm: float, angle_deg: float) -> tuple[float, float]:
    """Board-frame ``(x_mm, y_mm)`` of a radius and a clockwise angle (0 = the middle of seat 1's quadrant)."""
    a = math.radians(angle_deg)
    return (-r_mm * math.sin(a), -r_mm * math.cos(a))


def to_polar(x_mm: float, y_mm: float) -> tuple[float, float]:
    """Radius in mm and clockwise angle in degrees, 0 <= angle < 360, of a board-frame point."""
    angle_deg = math.degrees(math.atan2(-x_mm, -y_mm)) % 360.0
    return (math.hypot(x_mm, y_mm), angle_deg if angle_deg < 360.0 else 0.0)


def clock_hour(x_mm: float, y_mm: float) -> int:
    """The hour, 1 to 12, at which seat 1 sees a point; 12 o'clock is opposite seat 1, 3 on its right hand."""
    return round(math.degrees(math.atan2(x_mm, y_mm)) / 30) % 12 or 12


def base_from_seen(
    x_mm: float, y_mm: float, *, height_mm: float, foot_xy_mm: tuple[float, float], camera_height_mm: float
) -> tuple[float, float]:
    """Undo parallax: where a point at ``height_mm`` stands, given where it is seen against the surface.

    Args:
        x_mm: seen place, projected on the playing surface.
        y_mm: seen place, projected on the playing surface.
        height_mm: height of the seen point above the surface.
        foot_xy_mm: the point of the surface plane straight below the camera.
        camera_height_mm: height of the camera above the surface.

    Raises:
        BoardError: the camera is not above the point.
    """
    if camera_height_mm <= height_mm:
        raise BoardError(f"camera at {camera_height_mm} mm is not above a point at {height_mm} mm")
    k = (camera_height_mm - height_mm) / camera_height_mm
    foot_x, foot_y = foot_xy_mm
    return (foot_x + (x_mm - foot_x) * k, foot_y + (y_mm - foot_y) * k)


def seen_from_base(
    x_mm: float, y_mm: float, *, height_mm: float, foot_xy_mm: tuple[float, float], camera_height_mm: float
) -> tuple[float, float]:
    """Parallax: where a point at ``height_mm`` above ``(x_mm, y_mm)`` is seen against the surface; see the inverse."""
    if camera_height_mm <= height_mm:
        raise BoardError(f"camera at {camera_height_mm} mm is not above a point at {height_mm} mm")
    k = camera_height_mm / (camera_height_mm - height_mm)
    foot_x, foot_y = foot_xy_mm
    return (foot_x + (x_mm - foot_x) * k, foot_y + (y_mm - foot_y) * k)


def preset_names() -> tuple[str, ...]:
    """Names of the boards that ship with the project."""
    folder = resources.files("hardware") / "presets"
    return tuple(sorted(p.name.removesuffix(".toml") for p in folder.iterdir() if p.name.endswith(".toml")))


def load_board(name: str) -> Board:
    """The preset called ``name``.

    Raises:
        BoardError: no such preset, or its file names a wrong or missing key.
    """
    if name not in preset_names():
        raise BoardError(f"no board preset {name!r}; there are {', '.join(preset_names())}")
    text = (resources.files("hardware") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    wanted = {f.name for f in fields(Board) if f.init} - {"name"}
    if set(table) != wanted:
        raise BoardError(f"preset {name}: keys differ from Board: {sorted(set(table) ^ wanted)}")
    return Board(name=name, **table)


TOURNAMENT = load_board("tournament")
