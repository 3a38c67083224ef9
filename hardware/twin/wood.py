"""Flat textures: grained wood in glued planks, paint, felt and cloth, as seen straight from above."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from hardware.twin.sprites import Field, Picture, bgr, to_bytes
from hardware.twin.styles import Bgr, BoardStyle

TABLE_HALF_MM = 1024
DITCH_TEXEL_MM = 0.9
_WARM = (np.float32(1.25), np.float32(1.0), np.float32(0.82))
"""Dark streaks of wood are redder than the wood: they take more of the blue."""


def axes(half_mm: float, texel_mm: float) -> tuple[Field, Field]:
    """X and y in mm of each texel of a square texture, row 0 at the far side."""
    n = round(2 * half_mm / texel_mm)
    along = ((np.arange(n) + 0.5) * texel_mm - half_mm).astype(np.float32)
    return along[None, :], -along[:, None]


def clouds(rng: np.random.Generator, shape: tuple[int, int], cells: tuple[int, int]) -> Field:
    """Smooth noise of about unit strength, ``cells`` bumps down and across."""
    coarse = rng.standard_normal((max(cells[0], 2), max(cells[1], 2)), dtype=np.float32)
    return np.asarray(cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def grain_field(rng: np.random.Generator, n: int, texel_mm: float, direction_deg: float) -> Field:
    """Grain of a square of wood: fibres, bands of growth and rays, zero mean, about unit strength."""
    side_mm = n * texel_mm
    across = (np.arange(n, dtype=np.float32) * np.float32(texel_mm))[:, None]
    fibres = clouds(rng, (n, n), (int(side_mm / 0.9), int(side_mm / 30)))
    middling = clouds(rng, (n, n), (int(side_mm / 7), int(side_mm / 140)))
    warp = clouds(rng, (n, n), (int(side_mm / 130) + 2, int(side_mm / 260) + 2))
    period_mm = rng.uniform(7, 22)
    bands = np.sin((across / np.float32(period_mm) + np.float32(rng.uniform(0.8, 3.0)) * warp) * np.float32(2 * np.pi))
    grain = np.float32(0.5) * fibres + np.float32(0.35) * middling + np.float32(0.55) * bands
    half = (n - 1) / 2
    turn = cv2.getRotationMatrix2D((half, half), direction_deg, 1.0)
    turned = cv2.warpAffine(grain, turn, (n, n), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(turned, dtype=np.float32)


def planks(
    rng: np.random.Generator,
    colour: Bgr,
    half_mm: float,
    texel_mm: float,
    *,
    grain: float,
    direction_deg: float,
    joints: int,
    contrast: float,
) -> Field:
    """Boards glued side by side along the grain, float32 BGR; one joint-free sheet for ``joints`` = 1."""
    x, y = axes(half_mm, texel_mm)
    n = x.shape[1]
    wood = np.empty((n, n, 3), np.float32)
    wood[:] = colour
    if grain > 0.02:
        streaks = grain_field(rng, n, texel_mm, direction_deg)
        across = np.float32(np.sin(np.radians(direction_deg))) * x + np.float32(np.cos(np.radians(direction_deg))) * y
        tint = np.ones((n, n), np.float32)
        cuts = np.sort(rng.uniform(-0.75, 0.75, joints - 1)) * half_mm
        for cut in cuts:
            beyond = across > cut
            tint = np.where(beyond, np.float32(1 + contrast * rng.uniform(-0.28, 0.28)), tint)
            streaks = np.where(beyond, np.flip(streaks), streaks)
            tint *= 1 - np.float32(0.35 * contrast) * np.exp(-(((across - np.float32(cut)) / np.float32(0.45)) ** 2))
        tone = tint - 1 + np.float32(0.11 * grain) * streaks
        for k, warm in enumerate(_WARM):
            wood[..., k] *= 1 + warm * tone
    blotches = clouds(rng, (n, n), (5, 5)) * np.float32(0.5) + clouds(rng, (n, n), (23, 23)) * np.float32(0.25)
    wood *= (1 + np.float32(0.025) * blotches)[..., None]
    return wood


def stamp(texture: Field, cover: Field, colour: Field) -> None:
    """Lay a colour on a texture in place, where ``cover`` is 1 wholly."""
    texture += cover[..., None] * (colour - texture)


def blemishes(rng: np.random.Generator, texture: Field, texel_mm: float, reach_mm: float, style: BoardStyle) -> None:
    """Knots, screw heads, dirt and scratches within ``reach_mm`` of the middle, in place."""
    n = texture.shape[0]

    def place() -> tuple[float, float]:
        r, a = reach_mm * np.sqrt(rng.random()), rng.uniform(0, 2 * np.pi)
        return float(n / 2 + r * np.cos(a) / texel_mm), float(n / 2 + r * np.sin(a) / texel_mm)

    wood = bgr(style.surface_bgr)
    for _ in range(style.knots):
        at, size = place(), float(rng.uniform(3, 9)) / texel_mm
        _spot(texture, at, (size * 1.5, size * 0.9), wood * 0.55, deg=style.grain_deg, strength=0.75)
        _spot(texture, at, (size * 0.6, size * 0.45), wood * 0.25, deg=style.grain_deg, strength=0.8)
    for _ in range(style.screws):
        at, size = place(), float(rng.uniform(2.5, 4.5)) / texel_mm
        metal = np.full(3, rng.uniform(70, 200), np.float32)
        _spot(texture, at, (size, size), metal, strength=1.0, hard=True)
        slot = (size * 0.9, size * 0.18)
        _spot(texture, at, slot, metal * 0.3, deg=float(rng.uniform(0, 180)), strength=1.0, hard=True)
    for _ in range(style.specks):
        at, shade = place(), wood * np.float32(rng.choice([0.3, 0.5, 1.5]))
        long = float(rng.uniform(4, 30)) if rng.random() < 0.4 else float(rng.uniform(0.4, 1.3))
        wide = 0.35 if long > 2 else long
        deg, strength = float(rng.uniform(0, 180)), float(rng.uniform(0.3, 0.9))
        _spot(texture, at, (long / texel_mm, wide / texel_mm), shade, deg=deg, strength=strength)


def _spot(
    texture: Field,
    at: tuple[float, float],
    half_axes: tuple[float, float],
    colour: Field,
    *,
    strength: float,
    deg: float = 0.0,
    hard: bool = False,
) -> None:
    """An elliptic spot, measures in texels; soft like a stain, or hard like a screw."""
    (u, v), (a, b) = at, half_axes
    reach = int(2 * max(a, b)) + 3
    x0, y0 = max(int(u) - reach, 0), max(int(v) - reach, 0)
    part = texture[y0 : int(v) + reach, x0 : int(u) + reach]
    if not part.size:
        return
    py, px = np.mgrid[y0 : y0 + part.shape[0], x0 : x0 + part.shape[1]].astype(np.float32)
    c, s = np.cos(np.radians(deg)), np.sin(np.radians(deg))
    p, q = ((px - u) * c + (py - v) * s) / a, ((py - v) * c - (px - u) * s) / b
    r = np.sqrt(p * p + q * q)
    cover = np.clip((1 - r) * min(a, b) + 0.5, 0, 1) if hard else np.exp(-r * r)
    stamp(part, np.float32(strength) * cover, colour)


@lru_cache(maxsize=2)
def ditch_texture(style: BoardStyle, half_mm: float) -> Picture:
    """The floor of the ditch, ``DITCH_TEXEL_MM`` a texel: wood, paint or felt."""
    rng = np.random.default_rng([style.seed, 0xD17C])
    floor = planks(
        rng, style.ditch_bgr, half_mm, DITCH_TEXEL_MM,
        grain=style.grain * 0.8, direction_deg=style.grain_deg + 40, joints=1, contrast=0.0,
    )  # fmt: skip
    floor *= 1 + np.float32(0.03) * rng.standard_normal(floor.shape[:2], dtype=np.float32)[..., None]
    blemishes(rng, floor, DITCH_TEXEL_MM, half_mm, style)
    return to_bytes(floor)


@lru_cache(maxsize=2)
def table_texture(style: BoardStyle) -> Picture:
    """What the board lies on with what people left there, 1 mm a texel, 2 m wide."""
    rng = np.random.default_rng([style.seed, 0x7AB1])
    strength, turn_deg, joints = float(rng.uniform(0, 0.8)), float(rng.uniform(0, 180)), int(rng.integers(1, 9))
    table = planks(
        rng, style.table_bgr, TABLE_HALF_MM, 2.0, grain=strength, direction_deg=turn_deg, joints=joints, contrast=0.6
    )
    table = np.asarray(cv2.resize(table, None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR), dtype=np.float32)
    _pattern(table, style)
    for _ in range(int(rng.integers(2, 7))):
        a, r = rng.uniform(0, 2 * np.pi), rng.uniform(480, 640)
        _clutter(rng, table, TABLE_HALF_MM + float(r * np.cos(a)), TABLE_HALF_MM + float(r * np.sin(a)))
    return to_bytes(table)


def _pattern(table: Field, style: BoardStyle) -> None:
    """A printed cloth instead of a bare table top, in place."""
    if style.table_pattern == "wood":
        return
    rng = np.random.default_rng([style.seed, 0xC107])
    step, turn = float(rng.uniform(18, 90)), float(rng.uniform(0, np.pi))
    v, u = np.mgrid[: table.shape[0], : table.shape[1]].astype(np.float32)
    p, q = (u * np.cos(turn) + v * np.sin(turn)) / step, (v * np.cos(turn) - u * np.sin(turn)) / step
    if style.table_pattern == "stripes":
        cover = (np.mod(p, 1) < 0.4).astype(np.float32)
    elif style.table_pattern == "chequers":
        cover = (np.mod(np.floor(p) + np.floor(q), 2) == 0).astype(np.float32)
    else:
        cover = (np.hypot(np.mod(p, 1) - 0.5, np.mod(q, 1) - 0.5) < 0.33).astype(np.float32)
    blue, green, red = (int(c) for c in rng.integers(15, 245, 3))
    stamp(table, 0.8 * cover, bgr((blue, green, red)))


def _clutter(rng: np.random.Generator, table: Field, u: float, v: float) -> None:
    """A mug, a phone, a sheet of paper or a spare disc on the table."""
    at = (round(u), round(v))
    kind = int(rng.integers(4))
    colour = tuple(float(c) for c in rng.uniform(15, 245, 3))
    if kind == 0:
        cv2.circle(table, at, 42, colour, -1, cv2.LINE_AA)
        cv2.circle(table, at, 36, tuple(0.35 * c for c in colour), -1, cv2.LINE_AA)
    elif kind == 1:
        box = cv2.boxPoints((at, (72.0, 148.0), float(rng.uniform(0, 180)))).astype(np.int32)
        cv2.fillConvexPoly(table, box, (28.0, 26.0, 26.0), cv2.LINE_AA)
    elif kind == 2:
        box = cv2.boxPoints((at, (148.0, 210.0), float(rng.uniform(0, 180)))).astype(np.int32)
        cv2.fillConvexPoly(table, box, (232.0, 236.0, 238.0), cv2.LINE_AA)
    else:
        cv2.circle(table, at, 16, colour, -1, cv2.LINE_AA)
