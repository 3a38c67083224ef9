"""Boards as a round may leave them, drawn by chance: discs anywhere, on lines, touching, leaning, in hole and ditch.

The world plays its own rounds; these are for asking a reader many different boards at little cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from hardware.board import Board, to_polar, to_xy
from hardware.twin.scene import Colour, Scene, SceneDisc

_COLOURS: tuple[Colour, ...] = ("light", "dark", "third")


@dataclass(slots=True)
class _Table:
    """A layout in the making."""

    board: Board
    hole_xy_mm: tuple[float, float]
    rng: np.random.Generator
    colours: int
    discs: list[SceneDisc] = field(default_factory=list)

    def free(self, x: float, y: float) -> bool:
        """Whether a disc fits on the surface at this place."""
        r, board = self.board.disc_radius_mm, self.board
        if math.dist((x, y), self.hole_xy_mm) < board.hole_radius_mm + 1:
            return False
        if any(math.dist((x, y), peg) < r + board.peg_radius_mm for peg in board.pegs):
            return False
        return all(math.dist((x, y), (d.x_mm, d.y_mm)) >= 2 * r for d in self.discs if d.z_mm > -0.9 * r)

    def lay(self, x: float, y: float, z: float = 0.0, tilt: float = 0.0, towards: float = 0.0) -> None:
        """Put the next disc down."""
        n = len(self.discs)
        colour = int(self.rng.integers(self.colours))
        turn = float(self.rng.uniform(0, 360))
        self.discs.append(SceneDisc(f"{'ABC'[colour]}{n + 1}", _COLOURS[colour], x, y, z, 0, 0, tilt, towards, turn))


def drawn_layout(
    board: Board,
    seed: int,
    *,
    hole_xy_mm: tuple[float, float] = (0.0, 0.0),
    line_share: float = 0.2,
    on_surface: tuple[int, int] = (0, 18),
    in_ditch: tuple[int, int] = (0, 12),
    colours: int = 2,
    odd: bool = True,
) -> Scene:
    """A board at rest.

    Args:
        board: geometry.
        seed: the same layout for the same seed.
        hole_xy_mm: true centre of the hole, as the style has it.
        line_share: share of the discs on the surface that lie within 2 mm of the limit of a zone.
        on_surface: fewest and most discs on the surface.
        in_ditch: fewest and most discs in the ditch.
        colours: sets in play, 2 or 3.
        odd: also discs in the hole, leaning in it, leaning over the edge, hanging over the edge, and stacked.
    """
    rng = np.random.default_rng([seed, 0x1A70])
    table = _Table(board, hole_xy_mm, rng, colours)
    if odd:
        _lay_at_hole(table)
    for _ in range(int(rng.integers(on_surface[0], on_surface[1] + 1))):
        _lay_on_surface(table, line_share, odd=odd)
    if odd:
        _lay_odd(table)
    for _ in range(int(rng.integers(in_ditch[0], in_ditch[1] + 1))):
        _lay_in_ditch(table)
    return Scene(at_ns=0, discs=tuple(table.discs))


def _lay_at_hole(table: _Table) -> None:
    board, rng, (hx, hy) = table.board, table.rng, table.hole_xy_mm
    kind = rng.random()
    angle = float(rng.uniform(0, 360))
    if kind < 0.3:
        dx, dy = to_xy(board.hole_play_mm * math.sqrt(rng.random()), angle)
        table.lay(hx + dx, hy + dy, -board.hole_depth_mm)
    elif kind < 0.4:
        off = float(rng.uniform(0.3, 0.9)) * board.hole_radius_mm
        tilt = _slope_deg(board.hole_depth_mm, board.hole_radius_mm - off, board.disc_radius_mm)
        dx, dy = to_xy(off, angle)
        z = (off - board.hole_radius_mm) * math.tan(math.radians(tilt))
        table.lay(hx + dx, hy + dy, z, tilt, (angle + 180) % 360)


def _slope_deg(drop_mm: float, overhang_mm: float, radius_mm: float) -> float:
    """Tilt of a disc lying on an edge, its centre ``overhang_mm`` past it, its rim down by ``drop_mm``."""
    tilt = 0.2
    for _ in range(20):
        tilt = math.atan2(drop_mm, overhang_mm + radius_mm * math.cos(tilt))
    return math.degrees(tilt)


def _lay_on_surface(table: _Table, line_share: float, *, odd: bool) -> None:
    board, rng = table.board, table.rng
    on_line = rng.random() < line_share
    touching = not on_line and bool(table.discs) and rng.random() < 0.25
    reach = board.surface_radius_mm if odd and rng.random() < 0.1 else board.limits_mm[2] + 2
    for _ in range(200):
        near_limit = float(rng.choice(board.limits_mm) + rng.uniform(-2, 2))
        r = near_limit if on_line else reach * math.sqrt(rng.random())
        x, y = to_xy(r, float(rng.uniform(0, 360)))
        if touching:
            other = table.discs[int(rng.integers(len(table.discs)))]
            dx, dy = to_xy(2 * board.disc_radius_mm + 1e-6, float(rng.uniform(0, 360)))
            x, y = other.x_mm + dx, other.y_mm + dy
        if math.hypot(x, y) < reach and table.free(x, y):
            table.lay(x, y)
            return


def _lay_odd(table: _Table) -> None:
    board, rng = table.board, table.rng
    if rng.random() < 0.08:
        past = float(rng.uniform(1, 7))
        angle = float(rng.uniform(0, 360))
        tilt = _slope_deg(board.surface_height_mm, past, board.disc_radius_mm)
        x, y = to_xy(board.surface_radius_mm + past, angle)
        if table.free(x, y):
            table.lay(x, y, -past * math.tan(math.radians(tilt)), tilt, angle)
    flat = [d for d in table.discs if d.z_mm == 0 and math.hypot(d.x_mm, d.y_mm) < board.outer_line_mm]
    if flat and rng.random() < 0.04:
        under = flat[int(rng.integers(len(flat)))]
        dx, dy = to_xy(float(rng.uniform(0, 0.7)) * board.disc_radius_mm, float(rng.uniform(0, 360)))
        x, y = under.x_mm + dx, under.y_mm + dy
        others = [d for d in flat if d is not under]
        if all(math.dist((x, y), (d.x_mm, d.y_mm)) > 2 * board.disc_radius_mm for d in others):
            table.lay(x, y, board.disc_height_mm)


def _lay_in_ditch(table: _Table) -> None:
    board, rng = table.board, table.rng
    low, high = board.surface_radius_mm + board.disc_radius_mm, board.rail_radius_mm - board.disc_radius_mm
    for _ in range(60):
        x, y = to_xy(float(rng.uniform(low, high)), float(rng.uniform(0, 360)))
        near = [d for d in table.discs if to_polar(d.x_mm, d.y_mm)[0] > board.surface_radius_mm - board.disc_radius_mm]
        if all(math.dist((x, y), (d.x_mm, d.y_mm)) >= 2 * board.disc_radius_mm for d in near):
            table.lay(x, y, -board.surface_height_mm)
            return
