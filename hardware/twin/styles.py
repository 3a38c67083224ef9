"""What a board and its discs look like: named boards, and any number generated from a seed.

Nothing here is chosen to be easy to read: sets may be black on dark blue or maple on birch, lines worn or pencil thin.
Colours are BGR. A set called ``light`` is always the lighter one to the eye; that is all the sets promise.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hardware.board import Board
from hardware.twin.scene import Colour

Bgr = tuple[int, int, int]
Face = Literal["plain", "groove", "recess", "ring", "two_tone", "washer"]
TablePattern = Literal["wood", "stripes", "chequers", "dots"]
Quadrants = Literal["none", "outer", "full"]


@dataclass(frozen=True, slots=True)
class DiscStyle:
    """One set of discs.

    Attributes:
        face_bgr: top face.
        wall_bgr: side wall; differs from the face on two-tone and painted discs.
        mark_bgr: colour of the groove, ring or recess.
        face: what is turned or painted on the face.
        grain: strength of the wood's grain, 0-1.
        bevel_mm: breadth of the rounded edge.
        gloss: how much of the lamp's glare the face throws back, 0-1.
    """

    face_bgr: Bgr
    wall_bgr: Bgr
    mark_bgr: Bgr
    face: Face = "plain"
    grain: float = 0.3
    bevel_mm: float = 0.8
    gloss: float = 0.3


@dataclass(frozen=True, slots=True)
class BoardStyle:
    """The looks of one physical board with its sets of discs.

    Attributes:
        name: of a named style, or ``seed-N``.
        seed: of everything drawn at random: grain, wear, places of knots and screws.
        surface_bgr: playing surface.
        ditch_bgr: floor of the ditch.
        rail_bgr: rail, its inner wall and the board's outside.
        wall_bgr: side of the raised surface.
        table_bgr: what the board lies on.
        line_bgr: rings, quadrant lines and numbers.
        grain: strength of the surface's grain, 0 (painted) to 1.
        grain_deg: direction of the grain.
        joints: number of glued planks; 1 = one sheet.
        joint_contrast: how much the planks differ, 0-1.
        line_wear: 0 = fresh, 1 = half rubbed off.
        quadrants: which quadrant lines are printed.
        numbers: size in mm of the printed values, 0 = none.
        logo: a maker's badge on the surface.
        octagon: the rail is an octagon around the round ditch's size, else a ring.
        square: the rail is a square around it.
        rail_width_mm: breadth of the rail's top.
        knots: dark knots in the wood.
        screws: screw heads in surface and ditch.
        specks: bits of dirt and scratches.
        hole_bgr: floor of the hole (felt, wood or paint).
        hole_offset_xy_mm: how far the hole is off the rings' centre, at most 2.5 mm.
        peg_bgr: pegs.
        varnish: how much glare the surface throws back, 0-1.
        zone_bgr: paint of the 15, 10 and 5 zone, from the inside; None for bare surface.
        ring_bgr: colours of the 15, 10 and outer line where they differ from :attr:`line_bgr`.
        art: strength of a large picture in the lines' colour on the surface, 0 = none.
        table_pattern: what is on the cloth that the board lies on.
        light: the lighter set.
        dark: the darker set.
        third: the set of a third player.
    """

    name: str
    seed: int
    surface_bgr: Bgr
    ditch_bgr: Bgr
    rail_bgr: Bgr
    wall_bgr: Bgr
    table_bgr: Bgr
    line_bgr: Bgr
    light: DiscStyle
    dark: DiscStyle
    third: DiscStyle
    hole_bgr: Bgr
    peg_bgr: Bgr
    grain: float = 0.5
    grain_deg: float = 0.0
    joints: int = 1
    joint_contrast: float = 0.3
    line_wear: float = 0.1
    quadrants: Quadrants = "outer"
    numbers: float = 14.0
    logo: bool = False
    octagon: bool = False
    square: bool = False
    rail_width_mm: float = 18.0
    knots: int = 0
    screws: int = 0
    specks: int = 0
    hole_offset_xy_mm: tuple[float, float] = (0.0, 0.0)
    varnish: float = 0.7
    zone_bgr: tuple[Bgr | None, Bgr | None, Bgr | None] = (None, None, None)
    ring_bgr: tuple[Bgr, Bgr, Bgr] | None = None
    art: float = 0.0
    table_pattern: TablePattern = "wood"

    def disc(self, colour: Colour) -> DiscStyle:
        """The set of that colour."""
        return {"light": self.light, "dark": self.dark, "third": self.third}[colour]


_MAPLE = DiscStyle((150, 196, 226), (120, 165, 198), (105, 150, 184), "groove", 0.35)
_WALNUT = DiscStyle((46, 58, 84), (36, 46, 68), (30, 38, 56), "groove", 0.4)
_BLACK = DiscStyle((36, 33, 32), (28, 26, 25), (58, 54, 52), "recess", 0.0, gloss=0.5)
_NATURAL = DiscStyle((140, 190, 222), (112, 160, 194), (98, 142, 172), "recess", 0.4)
_RED = DiscStyle((42, 34, 178), (34, 26, 138), (30, 22, 120), "recess", 0.0, gloss=0.5)
_GREEN = DiscStyle((70, 120, 48), (54, 94, 36), (46, 80, 30), "plain", 0.0, gloss=0.4)

# fmt: off
_MAPLE_BOARD = BoardStyle(
    name="maple", seed=11, surface_bgr=(140, 186, 218), ditch_bgr=(60, 92, 138), rail_bgr=(50, 82, 128),
    wall_bgr=(96, 138, 176), table_bgr=(150, 156, 160), line_bgr=(42, 44, 50), light=_MAPLE, dark=_WALNUT, third=_RED,
    hole_bgr=(72, 96, 128), peg_bgr=(40, 48, 60), grain=0.45, grain_deg=8.0, joints=3, joint_contrast=0.25,
    hole_offset_xy_mm=(0.6, -0.4), knots=1, specks=6,
)
_BOARDS = (
    _MAPLE_BOARD,
    replace(  # the same board under amber varnish, with raw maple and black discs
        _MAPLE_BOARD, name="amber", seed=16, surface_bgr=(104, 160, 206), hole_offset_xy_mm=(-0.3, 0.5),
        light=replace(_MAPLE, face_bgr=(168, 206, 230)), dark=_BLACK,
    ),
    BoardStyle(
        name="honey", seed=12, surface_bgr=(76, 136, 192), ditch_bgr=(52, 100, 158), rail_bgr=(44, 92, 150),
        wall_bgr=(64, 112, 164), table_bgr=(176, 190, 196), line_bgr=(30, 32, 38), light=_NATURAL, dark=_WALNUT,
        third=_RED, hole_bgr=(70, 34, 96), peg_bgr=(52, 78, 110), grain=0.8, grain_deg=90.0, joints=2,
        joint_contrast=0.7, octagon=True, line_wear=0.35, screws=4, specks=12, hole_offset_xy_mm=(-1.1, 0.9),
    ),
    BoardStyle(
        name="blue", seed=13, surface_bgr=(86, 58, 24), ditch_bgr=(58, 62, 196), rail_bgr=(66, 128, 196),
        wall_bgr=(60, 42, 20), table_bgr=(120, 142, 160), line_bgr=(62, 76, 214), light=_NATURAL, dark=_BLACK,
        third=_RED, hole_bgr=(66, 76, 206), peg_bgr=(150, 190, 214), grain=0.05, line_wear=0.3, octagon=True,
        specks=24, hole_offset_xy_mm=(1.6, 0.8), varnish=0.5,
    ),
    BoardStyle(
        name="white", seed=14, surface_bgr=(238, 238, 240), ditch_bgr=(228, 230, 232), rail_bgr=(150, 198, 220),
        wall_bgr=(190, 194, 200), table_bgr=(222, 224, 226), line_bgr=(56, 34, 190), light=_RED, dark=_BLACK,
        third=_GREEN, hole_bgr=(226, 226, 230), peg_bgr=(44, 30, 150), grain=0.0, quadrants="full", octagon=True,
        line_wear=0.0, logo=True, varnish=0.9,
    ),
    BoardStyle(
        name="ebony", seed=15, surface_bgr=(40, 44, 50), ditch_bgr=(96, 140, 178), rail_bgr=(84, 128, 166),
        wall_bgr=(30, 34, 40), table_bgr=(92, 96, 104), line_bgr=(170, 206, 226), light=replace(_MAPLE, face="ring"),
        dark=replace(_RED, face="plain"), third=_GREEN, hole_bgr=(30, 30, 34), peg_bgr=(160, 196, 216), grain=0.2,
        numbers=0.0, line_wear=0.15, specks=10, hole_offset_xy_mm=(0.2, 1.4),
    ),
)
# fmt: on
NAMED: dict[str, BoardStyle] = {style.name: style for style in _BOARDS}
NOMINAL = NAMED["maple"]


def _bgr(hue: float, saturation: float, value: float) -> Bgr:
    r, g, b = colorsys.hsv_to_rgb(hue % 1.0, min(max(saturation, 0.0), 1.0), min(max(value, 0.0), 1.0))
    return (round(b * 255), round(g * 255), round(r * 255))


def _scaled(colour: Bgr, factor: float) -> Bgr:
    b, g, r = (round(min(max(c * factor, 0), 255)) for c in colour)
    return (b, g, r)


def luma(colour: Bgr) -> float:
    """Brightness to the eye, 0-255 (ITU-R BT.601)."""
    return 0.114 * colour[0] + 0.587 * colour[1] + 0.299 * colour[2]


def _wood(rng: np.random.Generator, low: float = 0.25, high: float = 0.92) -> Bgr:
    value = float(rng.uniform(low, high))
    return _bgr(float(rng.uniform(0.045, 0.105)), float(rng.uniform(0.25, 0.7)) * (1.15 - 0.5 * value), value)


def _paint(rng: np.random.Generator, value: tuple[float, float] = (0.15, 0.85)) -> Bgr:
    """Paints that people use: more reds, blues and greens than violets."""
    hue = float(rng.choice([0.0, 0.02, 0.11, 0.36, 0.45, 0.58, 0.62, 0.66]) + rng.normal(0, 0.025))
    return _bgr(hue, float(rng.uniform(0.35, 0.92)), float(rng.uniform(*value)))


def _set(rng: np.random.Generator, face: Bgr, *, wooden: bool) -> DiscStyle:
    marks: tuple[Face, ...] = ("plain", "groove", "recess", "ring", "two_tone")
    kind = marks[int(rng.integers(len(marks)))]
    darker = _scaled(face, float(rng.uniform(0.6, 0.9)))
    other = _scaled(face, float(rng.uniform(0.55, 1.5)))
    return DiscStyle(
        face_bgr=face,
        wall_bgr=other if kind == "two_tone" else darker,
        mark_bgr=other if kind in ("ring", "two_tone") else _scaled(face, float(rng.uniform(0.65, 0.92))),
        face=kind,
        grain=float(rng.uniform(0.1, 0.8)) if wooden else 0.0,
        bevel_mm=float(rng.uniform(0.4, 1.4)),
        gloss=float(rng.uniform(0.1, 0.8)),
    )


def _sets(rng: np.random.Generator) -> tuple[DiscStyle, DiscStyle, DiscStyle]:
    """Three sets that people could tell apart in their hands: some 40 grey levels of colour distance, no more."""
    while True:
        wooden = [bool(rng.random() < 0.5) for _ in range(3)]
        faces = [
            _wood(rng, 0.18, 0.95)
            if wood
            else (_paint(rng) if rng.random() < 0.7 else _scaled((40, 38, 36), float(rng.uniform(0.6, 1.6))))
            for wood in wooden
        ]
        gaps = [float(np.linalg.norm(np.subtract(faces[i], faces[j]))) for i, j in ((0, 1), (0, 2), (1, 2))]
        if min(gaps) > 60 and abs(luma(faces[0]) - luma(faces[1])) > 25:
            break
    first, second, third = (_set(rng, face, wooden=wood) for face, wood in zip(faces, wooden, strict=True))
    if luma(first.face_bgr) < luma(second.face_bgr):
        first, second = second, first
    return first, second, third


def _painted_surface(rng: np.random.Generator) -> Bgr:
    kind = rng.random()
    if kind < 0.5:
        return _paint(rng, (0.15, 0.6))
    white, black = (236, 238, 240), (40, 40, 42)
    return _scaled(white if kind < 0.8 else black, float(rng.uniform(0.85, 1.05)))


def drawn_style(seed: int) -> BoardStyle:
    """A board that nobody has seen yet, the same for the same seed."""
    rng = np.random.default_rng([seed, 0x57E1])
    wooden = bool(rng.random() < 0.6)
    surface = _wood(rng) if wooden else _painted_surface(rng)
    while True:
        line = _wood(rng, 0.1, 0.95) if rng.random() < 0.3 else _paint(rng)
        if rng.random() < 0.5:
            line = _scaled((40, 40, 44), float(rng.uniform(0.5, 1.6))) if luma(surface) > 90 else (200, 220, 228)
        contrast = abs(luma(line) - luma(surface))
        if contrast > 45 or (contrast > 20 and np.linalg.norm(np.subtract(line, surface)) > 110):
            break  # players see their lines, red on blue too
    light, dark, third = _sets(rng)
    angle, off_mm = rng.uniform(0, 2 * np.pi), rng.uniform(0, 2.5)
    quadrants: tuple[Quadrants, ...] = ("none", "outer", "outer", "full")
    ditch = _wood(rng) if rng.random() < 0.6 else _paint(rng)
    return BoardStyle(
        name=f"seed-{seed}",
        seed=seed,
        surface_bgr=surface,
        ditch_bgr=surface if rng.random() < 0.15 else ditch,
        rail_bgr=_wood(rng, 0.12) if rng.random() < 0.85 else _paint(rng),
        wall_bgr=_scaled(surface, float(rng.uniform(0.5, 0.9))),
        table_bgr=_wood(rng) if rng.random() < 0.5 else _bgr(float(rng.random()), 0.2, float(rng.uniform(0.15, 0.9))),
        line_bgr=line,
        light=light,
        dark=dark,
        third=third,
        hole_bgr=_scaled(surface, float(rng.uniform(0.4, 0.95))) if rng.random() < 0.5 else _paint(rng),
        peg_bgr=_wood(rng) if rng.random() < 0.5 else _scaled((150, 150, 152), float(rng.uniform(0.2, 1.4))),
        grain=float(rng.uniform(0.3, 1.0)) if wooden else float(rng.uniform(0, 0.08)),
        grain_deg=float(rng.uniform(0, 180)),
        joints=int(rng.integers(1, 6)) if wooden else 1,
        joint_contrast=float(rng.uniform(0, 1)),
        line_wear=float(rng.uniform(0, 0.7)),
        quadrants=quadrants[int(rng.integers(len(quadrants)))],
        numbers=float(rng.uniform(9, 22)) if rng.random() < 0.7 else 0.0,
        logo=bool(rng.random() < 0.3),
        octagon=bool(rng.random() < 0.5),
        rail_width_mm=float(rng.uniform(10, 26)),
        knots=int(rng.integers(0, 4)) if wooden else 0,
        screws=int(rng.integers(0, 9)) if rng.random() < 0.5 else 0,
        specks=int(rng.integers(0, 40)),
        hole_offset_xy_mm=(float(off_mm * np.cos(angle)), float(off_mm * np.sin(angle))),
        varnish=float(rng.uniform(0.2, 1.0)),
    )


def drawn_board(board: Board, seed: int) -> Board:
    """The same kind of board as another workshop makes it: its own ring ratios, line width and discs."""
    rng = np.random.default_rng([seed, 0xB0A2])
    outer_mm = board.outer_line_mm
    disc_mm = float(rng.uniform(0.051, 0.059)) * outer_mm
    return replace(
        board,
        name=f"{board.name}-{seed}",
        line_15_mm=float(rng.uniform(0.32, 0.36)) * outer_mm,
        line_10_mm=float(rng.uniform(0.65, 0.72)) * outer_mm,
        line_width_mm=float(rng.uniform(1.0, 2.6)),
        disc_radius_mm=disc_mm,
        hole_radius_mm=disc_mm + float(rng.uniform(1.0, 2.0)),
        disc_height_mm=float(rng.uniform(8.0, 11.0)),
    )
