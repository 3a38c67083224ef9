"""Discs and pegs as the camera sees them: true perspective of top face, rounded edge and side wall, and their shadows.

Coverage is computed, not painted: for a pixel the sight line is cut with the planes of the base, the edge and the
top, and the distance to the circle there, in pixels, is the share covered. A disc in motion covers a pixel for the
part of the shutter's time during which its circle does, which is a closed formula too.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.board import Board
from hardware.twin.scene import Colour, SceneDisc
from hardware.twin.sprites import Box, Field, Picture, Sprite, Stage, ramp, three, to_bytes
from hardware.twin.styles import BoardStyle, DiscStyle

_FACE_PX = 96
_COLOURS: tuple[Colour, ...] = ("light", "dark", "third")
_ROUND = np.array([(math.cos(k * math.pi / 6), math.sin(k * math.pi / 6)) for k in range(12)])
_SHARP_PX = 0.35
"""Below so much smear a disc counts as still."""


@dataclass(frozen=True, slots=True)
class _Smear:
    """Motion of a disc while the shutter is open: a direction and a length in mm."""

    ux: float
    uy: float
    length_mm: float


@dataclass(frozen=True, slots=True)
class _Slice:
    """A circle of the solid: its plane, its centre there, its radius."""

    x_mm: float
    y_mm: float
    z_mm: float
    radius_mm: float


@dataclass(frozen=True, slots=True)
class Body:
    """A short cylinder to draw: a disc or a peg."""

    x_mm: float
    y_mm: float
    z_mm: float
    radius_mm: float
    height_mm: float
    bevel_mm: float
    tilt_deg: float = 0.0
    tilt_towards_deg: float = 0.0
    turn_deg: float = 0.0
    vx_mm_s: float = 0.0
    vy_mm_s: float = 0.0

    @property
    def up(self) -> tuple[float, float, float]:
        """Unit vector of its axis, leaning away from its lowest point's direction by the tilt."""
        t, a = math.radians(self.tilt_deg), math.radians(self.tilt_towards_deg)
        return (-math.sin(a) * math.sin(t), -math.cos(a) * math.sin(t), math.cos(t))

    def in_ditch(self, board: Board) -> bool:
        """Whether it lies on the floor of the ditch, not in the hole or over the surface's edge."""
        over_ditch = math.hypot(self.x_mm, self.y_mm) > board.surface_radius_mm
        return over_ditch and self.z_mm < -0.7 * board.surface_height_mm

    def order(self, stage: Stage) -> tuple[float, ...]:
        """Level by level (ditch, surface, what lies or is carried higher); on each the far ones first.

        A disc's top leans away from the camera's foot point, so the nearer of two hides the farther one's side.
        """
        away = -math.dist((self.x_mm, self.y_mm), stage.pose.foot_xy_mm)
        if self.in_ditch(stage.board):
            return (0.0, away)
        return (1.0, away) if self.z_mm < 0.6 * self.height_mm else (2.0, self.z_mm, away)

    def slices(self, stage: Stage) -> list[_Slice]:
        """Circles from the base up to the top face; the top face is the last, its rim the one before.

        The union of the circles stands for the solid: the more of its side wall is seen, the closer they lie.
        """
        ux, uy, uz = self.up
        (fx, fy), h = stage.pose.foot_xy_mm, stage.pose.height_mm
        sight = (self.x_mm - fx, self.y_mm - fy, self.z_mm - h)
        along = abs(sight[0] * ux + sight[1] * uy + sight[2] * uz) / math.hypot(*sight)
        wall_mm = self.height_mm * math.sqrt(max(1 - along * along, 0))
        b = min(self.bevel_mm, self.height_mm / 3)
        low, high = b, self.height_mm - b
        # Below the rounded lower edge nothing is seen from above, and a smear hides what a few circles leave out.
        count = 1 if self.vx_mm_s or self.vy_mm_s else 1 + math.ceil(wall_mm / 1.8)
        between = {low + (high - low) * k / count for k in range(count + 1)}
        if low < -self.z_mm < high and not self.tilt_deg:
            between.add(-self.z_mm)
        cuts = [*((s, self.radius_mm) for s in sorted(between)), (self.height_mm, self.radius_mm - b)]
        return [_Slice(self.x_mm + ux * s, self.y_mm + uy * s, self.z_mm + uz * s, r) for s, r in cuts]


def disc_body(disc: SceneDisc, stage: Stage, style: DiscStyle) -> Body:
    """The solid of a disc of the scene."""
    return Body(
        x_mm=disc.x_mm,
        y_mm=disc.y_mm,
        z_mm=disc.z_mm,
        radius_mm=stage.board.disc_radius_mm,
        height_mm=stage.board.disc_height_mm,
        bevel_mm=style.bevel_mm,
        tilt_deg=disc.tilt_deg,
        tilt_towards_deg=disc.tilt_towards_deg,
        turn_deg=disc.turn_deg,
        vx_mm_s=disc.vx_mm_s,
        vy_mm_s=disc.vy_mm_s,
    )


def rim_points(body: Body, stage: Stage, reach_mm: float = 0.0) -> NDArray[np.float64]:
    """Pixels of points around the solid, with its smear and ``reach_mm`` to spare."""
    half_s = stage.optics.shutter_ms / 2000
    r = body.radius_mm / math.cos(math.pi / len(_ROUND)) + reach_mm
    lift = body.radius_mm * math.sin(math.radians(body.tilt_deg))
    ux, uy, uz = body.up
    along = np.array([(s, sign) for s in (0.0, body.height_mm) for sign in (-1, 1)])[:, :, None]
    s, sign = along[:, 0], along[:, 1]
    x = body.x_mm + ux * s + sign * body.vx_mm_s * half_s + r * _ROUND[:, 0]
    y = body.y_mm + uy * s + sign * body.vy_mm_s * half_s + r * _ROUND[:, 1]
    return stage.pose.project(x, y, body.z_mm + uz * s + sign * lift + 0 * x).reshape(-1, 2)


def _smear(body: Body, stage: Stage, px_mm: float) -> _Smear | None:
    speed = math.hypot(body.vx_mm_s, body.vy_mm_s)
    length_mm = speed * stage.optics.shutter_ms / 1000
    if length_mm < _SHARP_PX * px_mm:
        return None
    return _Smear(body.vx_mm_s / speed, body.vy_mm_s / speed, length_mm)


def _offsets(body: Body, cut: _Slice, stage: Stage, box: Box) -> tuple[Field, Field]:
    """Where each pixel's sight line meets the slice's plane, from the slice's centre, in the plane's own axes."""
    if not body.tilt_deg:
        x, y = stage.plane(box, cut.z_mm)
        return x - np.float32(cut.x_mm), y - np.float32(cut.y_mm)
    gx, gy = stage.plane(box, 0.0)
    (fx, fy), h = stage.pose.foot_xy_mm, stage.pose.height_mm
    nx, ny, nz = body.up
    dx, dy = gx - np.float32(fx), gy - np.float32(fy)
    over = nx * (cut.x_mm - fx) + ny * (cut.y_mm - fy) + nz * (cut.z_mm - h)
    s = np.float32(over) / (np.float32(nx) * dx + np.float32(ny) * dy - np.float32(nz * h))
    x, y, z = fx + dx * s - cut.x_mm, fy + dy * s - cut.y_mm, h - h * s - cut.z_mm
    a = math.radians(body.tilt_towards_deg)
    down, side = (-math.sin(a), -math.cos(a)), (math.cos(a), -math.sin(a))
    t = math.radians(body.tilt_deg)
    along = (x * down[0] + y * down[1]) * math.cos(t) - z * math.sin(t)
    across = x * side[0] + y * side[1]
    return (
        np.asarray(along * down[0] + across * side[0], dtype=np.float32),
        np.asarray(along * down[1] + across * side[1], dtype=np.float32),
    )


def _cover(dx: Field, dy: Field, radius_mm: float, px_mm: Field | float, smear: _Smear | None) -> Field:
    r = np.float32(radius_mm)
    if smear is None:
        return ramp(r - np.sqrt(dx * dx + dy * dy), px_mm)
    ux, uy, half = np.float32(smear.ux), np.float32(smear.uy), np.float32(smear.length_mm / 2)
    along, across = dx * ux + dy * uy, dx * uy - dy * ux
    # The half pixel by which the ends are softened is what a still disc's edge has; two lines of sight per pixel
    # soften the sides.
    pixel = np.float32(np.mean(px_mm))
    reach = np.hypot(half, pixel / 2)
    total = np.zeros_like(dx)
    for aside in (-0.27, 0.27):
        off = across + np.float32(aside) * pixel
        chord = np.sqrt(np.maximum(r * r - off * off, 0))
        low, high = np.maximum(along - chord, -reach), np.minimum(along + chord, reach)
        total += np.maximum(high - low, 0)
    return np.asarray(np.minimum(total / (4 * reach), 1), dtype=np.float32)


def _slanted_px(dx: Field, dy: Field, px_mm: Field) -> Field:
    """How fast the distance from the axis changes from pixel to pixel on a leaning disc."""
    dv, du = np.gradient(np.sqrt(dx * dx + dy * dy))
    return np.asarray(np.maximum(np.hypot(du, dv), px_mm * np.float32(0.3)))


def _seen_below(stage: Stage, box: Box) -> Field:
    """Share of each pixel whose sight line passes the surface plane through the ditch or the hole."""
    gx, gy = stage.plane(box, 0.0)
    px = stage.px_mm[box.slices]
    ditch = ramp(np.sqrt(gx * gx + gy * gy) - np.float32(stage.board.surface_radius_mm), px)
    hx, hy = gx - np.float32(stage.hole_xy_mm[0]), gy - np.float32(stage.hole_xy_mm[1])
    hole = ramp(np.float32(stage.board.hole_radius_mm) - np.sqrt(hx * hx + hy * hy), px)
    return np.maximum(ditch, hole)


def draw_body(body: Body, stage: Stage, style: DiscStyle, face: Picture) -> Sprite:
    """The solid itself, without its shadow."""
    box = stage.box(rim_points(body, stage))
    if box.empty:
        return Sprite(box, np.zeros((0, 0, 3), np.uint8))
    px = stage.px_mm[box.slices]
    smear = _smear(body, stage, float(px.mean()))
    below = _seen_below(stage, box) if body.z_mm < 0 or body.tilt_deg else None
    covers: list[Field] = []
    for cut in body.slices(stage):
        dx, dy = _offsets(body, cut, stage, box)
        cover = _cover(dx, dy, cut.radius_mm, px if not body.tilt_deg else _slanted_px(dx, dy, px), smear)
        if below is not None:
            cover = _hidden(cover, below, body, cut, (dx, dy))
        covers.append(cover)
    top = covers[-1]
    rim = np.maximum(top, covers[-2])
    whole = np.maximum.reduce([rim, *covers[:-2]])
    if body.z_mm + body.height_mm < stage.board.rail_height_mm - stage.board.surface_height_mm:
        clear = 1 - stage.rail_front[box.slices]
        top, rim, whole = top * clear, rim * clear, whole * clear
    light = stage.light[box.slices]
    colour = _face_colour(dx, dy, body, face, smear)
    r = np.sqrt(dx * dx + dy * dy) + np.float32(1e-3)
    lx, ly = stage.optics.shadow_xy
    length = math.hypot(lx, ly) or 1.0
    facing = -(dx * np.float32(lx / length) + dy * np.float32(ly / length)) / r
    edge, wall = (rim - top) * (1.02 + 0.22 * facing) * light, (whole - rim) * (0.8 + 0.2 * facing) * light
    glare = stage.glare[box.slices] * np.float32(style.gloss) * top
    face_light = top * light
    planes = [  # plane by plane: far quicker than a broadcast over three channels
        to_bytes(
            face_light * colour[k] + edge * np.float32(style.face_bgr[k]) + wall * np.float32(style.wall_bgr[k]) + glare
        )
        for k in range(3)
    ]
    keep = to_bytes(255 - 255 * whole)
    return Sprite(box, three(keep), np.asarray(cv2.merge(planes), dtype=np.uint8))


def _hidden(cover: Field, below: Field, body: Body, cut: _Slice, offsets: tuple[Field, Field]) -> Field:
    """Take away what of a slice lies under the surface plane and is not seen through ditch or hole."""
    if not body.tilt_deg:
        return cover * below if cut.z_mm < 0 else cover
    dx, dy = offsets
    a, t = math.radians(body.tilt_towards_deg), math.radians(body.tilt_deg)
    z = cut.z_mm + (dx * np.float32(math.sin(a)) + dy * np.float32(math.cos(a))) * np.float32(math.sin(t))
    return np.where(z < 0, cover * below, cover)


def _face_colour(dx: Field, dy: Field, body: Body, face: Picture, smear: _Smear | None) -> list[Field]:
    """Blue, green and red of the top face at each pixel, averaged over the smear."""
    a = math.radians(body.turn_deg)
    scale = (_FACE_PX / 2 - 2) / body.radius_mm
    c, s = np.float32(math.cos(a) * scale), np.float32(math.sin(a) * scale)
    middle = np.float32((_FACE_PX - 1) / 2)
    u, v = dx * c - dy * s + middle, dx * s + dy * c + middle
    if smear is None:
        still = cv2.remap(face, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return [np.asarray(plane, dtype=np.float32) for plane in cv2.split(still)]
    su, sv = smear.ux * c - smear.uy * s, smear.ux * s + smear.uy * c
    total = np.zeros((*dx.shape, 3), np.float32)
    steps = (-0.25, 0.25) if smear.length_mm < 0.3 * body.radius_mm else (-0.375, -0.125, 0.125, 0.375)
    for step in steps:
        shift = np.float32(step * smear.length_mm)
        total += cv2.remap(face, u + shift * su, v + shift * sv, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return [np.asarray(plane, dtype=np.float32) for plane in cv2.split(total / np.float32(len(steps)))]


def draw_shadow(body: Body, stage: Stage) -> Sprite | None:
    """The soft shadow of a solid on what it stands on, and the darkness where it touches."""
    optics = stage.optics
    if not optics.shadow_strength:
        return None
    ground_z = body.z_mm if body.in_ditch(stage.board) else 0.0
    rise = max(body.z_mm - ground_z, 0.0)
    tall = body.z_mm + body.height_mm - ground_z
    lx, ly = optics.shadow_xy
    soft = optics.shadow_soft_mm * (1 + rise / 40)
    smear_mm = math.hypot(body.vx_mm_s, body.vy_mm_s) * optics.shutter_ms / 1000
    r = body.radius_mm * 1.04 + soft + smear_mm / 2 + 4
    ends = np.array([(body.x_mm + lx * q, body.y_mm + ly * q) for q in (rise, tall)])
    around = (ends[:, None] + r * _ROUND).reshape(-1, 2)
    box = stage.box(stage.pose.project(around[:, 0], around[:, 1], ground_z), pad=1)
    if box.empty:
        return None
    gx, gy = stage.plane(box, ground_z)
    px, py = gx - np.float32(ends[0][0]), gy - np.float32(ends[0][1])
    ox, oy = lx * (tall - rise), ly * (tall - rise)
    length2 = ox * ox + oy * oy
    t = np.clip((px * np.float32(ox) + py * np.float32(oy)) / np.float32(length2 or 1), 0, 1)
    qx, qy = px - t * np.float32(ox), py - t * np.float32(oy)
    reach = np.sqrt(qx * qx + qy * qy) - np.float32(body.radius_mm)
    cast = np.clip(0.5 - reach / np.float32(soft + smear_mm), 0, 1)
    dark = np.float32(optics.shadow_strength) * cast * cast * (3 - 2 * cast)
    if rise < 3:
        near = np.clip(1 - (np.sqrt(px * px + py * py) - np.float32(body.radius_mm)) / np.float32(3 + smear_mm), 0, 1)
        dark = 1 - (1 - dark) * (1 - np.float32(0.3) * near * near)
    surface = ramp(np.float32(stage.board.surface_radius_mm) - np.sqrt(gx * gx + gy * gy), stage.px_mm[box.slices])
    dark = dark * (surface if ground_z == 0 else _seen_below(stage, box))
    keep = to_bytes(255 - 255 * dark)
    return Sprite(box, three(keep))


def face_textures(style: BoardStyle) -> dict[str, list[Picture]]:
    """Top faces of each set, four different pieces of wood for each."""
    return {
        colour: [_face(style.disc(colour), style.seed * 31 + k * 7 + n) for k in range(4)]
        for n, colour in enumerate(_COLOURS)
    }


def face_of(disc: SceneDisc, textures: dict[str, list[Picture]]) -> Picture:
    """The piece of wood that a disc is made of: the same for all its life."""
    choice = textures[disc.colour]
    return choice[zlib.crc32(disc.id.encode()) % len(choice)]


def _face(style: DiscStyle, seed: int) -> Picture:
    rng = np.random.default_rng([seed, 0xFACE])
    half = (_FACE_PX - 1) / 2
    v, u = np.mgrid[:_FACE_PX, :_FACE_PX].astype(np.float32)
    rho = np.hypot(u - half, v - half) / (_FACE_PX / 2 - 2)
    image = np.empty((_FACE_PX, _FACE_PX, 3), np.float32)
    image[:] = style.face_bgr
    if style.grain:
        streaks = cv2.GaussianBlur(rng.standard_normal((_FACE_PX, _FACE_PX), dtype=np.float32), (0, 0), 14, sigmaY=1.1)
        image *= 1 + np.float32(style.grain * 0.18) * (streaks / streaks.std())[..., None]
        image *= np.float32(1 + style.grain * rng.uniform(-0.12, 0.12))
    mark = np.array(style.mark_bgr, np.float32)
    weight = {
        "plain": np.zeros_like(rho),
        "groove": np.exp(-(((rho - 0.72) / 0.05) ** 2)),
        "recess": 1 / (1 + np.exp((rho - 0.66) * 40)),
        "ring": 1 / (1 + np.exp((rho - 0.45) * 60)),
        "two_tone": 1 / (1 + np.exp((np.abs(rho - 0.55) - 0.16) * 60)),
        "washer": 1 / (1 + np.exp((rho - 0.28) * 60)),
    }[style.face]
    image += weight[..., None] * (mark * (image.mean(axis=2, keepdims=True) / max(np.mean(style.face_bgr), 1)) - image)
    return to_bytes(image)
