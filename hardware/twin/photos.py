"""Photos as people take them of boards of any workshop, drawn by chance: wider than what a mounted camera sees.

Zones may be painted, lines thick or in three colours, rails square, pegs few, many or none, discs like washers, the
cloth beneath printed; the sun throws hard shadows or a lamp shines from the lacquer; hands, phones and mugs lie about.
Nothing here is chosen by what any reader can do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hardware.board import Board, load_board, to_xy
from hardware.twin.layouts import drawn_layout
from hardware.twin.lens import CameraPose, drawn_pose
from hardware.twin.light import Optics, hard_optics, nominal_optics
from hardware.twin.optics import Renderer
from hardware.twin.scene import Scene, SceneDisc, SceneHand, SceneLitter
from hardware.twin.sprites import Picture
from hardware.twin.styles import Bgr, BoardStyle, DiscStyle, Face, TablePattern, drawn_style, luma

#: Sizes at which photos are passed on.
SIZES = ((1600, 1200), (1200, 1200), (1024, 768), (800, 800), (900, 1200))
#: Zones of neighbouring paint and lines differ to the eye by so many grey levels.
_SEEN = 28.0


@dataclass(frozen=True, slots=True)
class DrawnPhoto:
    """A photo with what it shows.

    Attributes:
        picture: uint8 BGR ``(H, W, 3)``.
        board: geometry.
        style: looks.
        scene: what lies where.
        pose: the camera, which tells the pixel of any point.
    """

    picture: Picture
    board: Board
    style: BoardStyle
    scene: Scene
    pose: CameraPose


def wide_style(seed: int) -> BoardStyle:
    """A board with its sets, over a wider range than :func:`hardware.twin.styles.drawn_style`, of which it starts."""
    rng = np.random.default_rng([seed, 0x31DE])
    style = drawn_style(seed)
    patterns: tuple[TablePattern, ...] = ("wood", "wood", "stripes", "chequers", "dots")
    style = replace(
        style,
        square=bool(rng.random() < 0.25),
        table_pattern=patterns[int(rng.integers(len(patterns)))],
        numbers=float(rng.uniform(9, 30)) if rng.random() < 0.75 else 0.0,
        art=float(rng.uniform(0.15, 0.5)) if rng.random() < 0.2 else 0.0,
        ditch_bgr=style.surface_bgr if rng.random() < 0.3 else style.ditch_bgr,
    )
    kind = rng.random()
    if kind < 0.3:
        style = _painted(rng, style)
    elif kind < 0.45:
        first, second, third = (_unlike(rng, style.surface_bgr) for _ in range(3))
        style = replace(style, ring_bgr=(first, second, third))
    sets = _hard_sets(rng, style)
    faces: tuple[Face, ...] = ("washer", "two_tone", "ring")
    if rng.random() < 0.35:
        face = faces[int(rng.integers(len(faces)))]
        sets = tuple(replace(s, face=face, mark_bgr=_mixed(s.face_bgr, (20, 24, 28), 0.6)) for s in sets)
    return replace(style, light=sets[0], dark=sets[1])


def _painted(rng: np.random.Generator, style: BoardStyle) -> BoardStyle:
    """Two or three zones in paints of their own, the lines between them still seen from either side."""
    first, second, third = (_unlike(rng, style.line_bgr) if rng.random() < 0.7 else None for _ in range(3))
    return replace(style, zone_bgr=(first, second, third))


def _unlike(rng: np.random.Generator, other: Bgr) -> Bgr:
    """A paint that differs from another to the eye."""
    while True:
        b, g, r = (int(v) for v in rng.integers(20, 240, 3))
        if abs(luma((b, g, r)) - luma(other)) > _SEEN:
            return (b, g, r)


def _mixed(one: Bgr, other: Bgr, share: float) -> Bgr:
    b, g, r = (round(share * p + (1 - share) * q) for p, q in zip(one, other, strict=True))
    return (b, g, r)


def _hard_sets(rng: np.random.Generator, style: BoardStyle) -> tuple[DiscStyle, ...]:
    """Sets as drawn, or such as are hard to see: one near the surface's colour, or red beside green."""
    light, dark = style.light, style.dark
    kind: Literal["drawn", "like", "hues"] = (
        "drawn" if rng.random() < 0.6 else ("like" if rng.random() < 0.6 else "hues")
    )
    if kind == "like":
        shift = float(rng.choice([-1, 1]) * rng.uniform(16, 30))
        near = _clipped(tuple(c + shift for c in style.surface_bgr))
        for k, other in ((0, dark), (1, light)):
            good = luma(near) > luma(other.face_bgr) + 25 if k == 0 else luma(near) < luma(other.face_bgr) - 25
            if good:
                changed = replace(light if k == 0 else dark, face_bgr=near, wall_bgr=_mixed(near, (0, 0, 0), 0.7))
                return (changed, dark) if k == 0 else (light, changed)
    if kind == "hues":
        red, green = (40, 34, 176), (60, 128, 50)
        pair = [replace(light, face_bgr=c, wall_bgr=_mixed(c, (0, 0, 0), 0.75)) for c in (green, red)]
        return (pair[0], pair[1]) if luma(green) > luma(red) else (pair[1], pair[0])
    return (light, dark)


def _clipped(colour: tuple[float, ...]) -> Bgr:
    b, g, r = (round(min(max(c, 8), 247)) for c in colour)
    return (b, g, r)


def wide_board(seed: int) -> Board:
    """A tournament or hobby board with the ratios, lines, pegs and discs of any workshop."""
    rng = np.random.default_rng([seed, 0xB0A3])
    board = load_board("tournament" if rng.random() < 0.65 else "hobby")
    outer_mm = board.outer_line_mm
    inner = float(rng.uniform(0.305, 0.37))
    disc_mm = float(rng.uniform(0.049, 0.071)) * outer_mm
    rubber = bool(rng.random() < 0.3)
    return replace(
        board,
        name=f"{board.name}-wide-{seed}",
        line_15_mm=inner * outer_mm,
        line_10_mm=float(np.clip(2 * inner + rng.uniform(-0.04, 0.04), 0.63, 0.74)) * outer_mm,
        line_width_mm=float(rng.uniform(0.9, 4.2)),
        ditch_width_mm=board.ditch_width_mm * float(rng.uniform(0.8, 1.35)) + disc_mm / 3,
        peg_count=int(rng.choice([0, 8, 8, 8, 12, 16])),
        peg_radius_mm=float(rng.uniform(5.0, 7.0)) if rubber else float(rng.uniform(2.0, 4.5)),
        disc_radius_mm=disc_mm,
        hole_radius_mm=disc_mm + float(rng.uniform(1.0, 3.0)),
        disc_height_mm=float(rng.uniform(7.5, 12.0)),
    )


def photo_optics(seed: int) -> Optics:
    """A phone's picture in a room, under a lamp, or in the sun, as a message or a web page hands it on."""
    rng = np.random.default_rng([seed, 0x0F70])
    kind = rng.random()
    jpeg = int(rng.integers(35, 96))
    if kind < 0.4:
        return replace(
            nominal_optics(),
            jpeg_quality=jpeg,
            noise_sigma=float(rng.uniform(1, 5)),
            blur_px=float(rng.uniform(0.4, 1.3)),
            vignette=float(rng.uniform(0, 0.4)),
            shading=float(rng.uniform(0, 0.4)),
            shading_deg=float(rng.uniform(0, 360)),
        )
    if kind < 0.7:  # the sun: hard shadows, and that of whoever takes the picture
        return replace(
            nominal_optics(),
            jpeg_quality=jpeg,
            shadow_deg=float(rng.uniform(0, 360)),
            shadow_slope=float(rng.uniform(0.4, 1.6)),
            shadow_soft_mm=float(rng.uniform(0.8, 2.5)),
            shadow_strength=float(rng.uniform(0.45, 0.7)),
            person_shadow=float(rng.uniform(0.3, 0.55)) if rng.random() < 0.6 else 0.0,
            person_soft_mm=float(rng.uniform(1.5, 12)),
            glare=float(rng.uniform(0, 60)),
        )
    return replace(hard_optics(seed), jpeg_quality=jpeg, exposure=float(rng.uniform(0.4, 1.0)))


def photo_scene(board: Board, style: BoardStyle, seed: int) -> Scene:
    """A round's end with what lies about: discs upon discs in the ditch, things and a hand beside the board."""
    rng = np.random.default_rng([seed, 0x5CE0])
    scene = drawn_layout(board, seed, hole_xy_mm=style.hole_offset_xy_mm, on_surface=(1, 16), in_ditch=(0, 18))
    discs = list(scene.discs)
    ditch = [d for d in discs if d.z_mm <= -0.9 * board.surface_height_mm and not d.tilt_deg]
    for below in ditch[: int(rng.integers(0, 3))]:
        dx, dy = rng.uniform(-0.25, 0.25, 2) * board.disc_radius_mm
        discs.append(_upon(below, float(dx), float(dy), board))
    beside_mm = (board.rail_radius_mm + style.rail_width_mm) * (1.45 if style.square else 1.1) + 60
    litter = []
    for _ in range(int(rng.integers(0, 4))):
        x, y = to_xy(beside_mm + float(rng.uniform(0, 80)), float(rng.uniform(0, 360)))
        kind: Literal["coin", "mug", "phone", "sheet"] = ("coin", "mug", "phone", "sheet")[int(rng.integers(4))]
        litter.append(SceneLitter(kind, x, y, float(rng.uniform(0, 360)), int(rng.integers(8))))
    hands = []
    if rng.random() < 0.2:
        angle = float(rng.uniform(0, 360))
        x, y = to_xy(board.rail_radius_mm + float(rng.uniform(0, 60)), angle)
        hands.append(SceneHand(x, y, angle, z_mm=25.0, sleeve=int(rng.integers(8))))
    return Scene(at_ns=0, discs=tuple(discs), hands=tuple(hands), litter=tuple(litter))


def _upon(below: SceneDisc, dx: float, dy: float, board: Board) -> SceneDisc:
    return replace(
        below,
        id=f"{below.id}u",
        x_mm=below.x_mm + dx,
        y_mm=below.y_mm + dy,
        z_mm=below.z_mm + board.disc_height_mm,
    )


def drawn_photo(seed: int, max_tilt_deg: float = 25.0) -> DrawnPhoto:
    """A photo that nobody has seen yet, the same for the same seed."""
    rng = np.random.default_rng([seed, 0xF071])
    board, style = wide_board(seed), wide_style(seed)
    pose = drawn_pose(board, seed, SIZES[int(rng.integers(len(SIZES)))], max_tilt_deg=max_tilt_deg)
    pose = replace(pose, k1=0.6 * pose.k1, k2=0.6 * pose.k2)
    width, height = pose.size_wh
    if width < height:  # the board fills the short side
        half = math.atan(math.tan(math.radians(pose.fov_deg) / 2) * height / width)
        pose = replace(pose, fov_deg=min(2 * math.degrees(half), 95.0))
    scene = photo_scene(board, style, seed)
    picture = Renderer(board, style, pose, photo_optics(seed), seed).render(scene).copy()
    return DrawnPhoto(picture, board, style, scene, pose)
