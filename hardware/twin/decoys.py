"""Pictures without a crokinole board, which a reader must refuse: what a camera sees when the board is not there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from hardware.twin.light import Optics, Sensor, hard_optics
from hardware.twin.sprites import Field, Picture, to_bytes
from hardware.twin.wood import clouds, planks

_Painter = Callable[[np.random.Generator, int], Field]


def _colour(rng: np.random.Generator) -> tuple[float, float, float]:
    b, g, r = rng.uniform(10, 245, 3).tolist()
    return (b, g, r)


def _wooden(rng: np.random.Generator, n: int) -> Field:
    value = float(rng.uniform(60, 220))
    tint = (round(value * 0.6), round(value * 0.8), round(value))
    return planks(
        rng, tint, n / 2, 1.0, grain=float(rng.uniform(0.2, 1)), direction_deg=float(rng.uniform(0, 180)),
        joints=int(rng.integers(1, 9)), contrast=float(rng.uniform(0, 1)),
    )  # fmt: skip


def _table_set(rng: np.random.Generator, n: int) -> Field:
    """Plates, cups and coasters: circles enough, never three rings around one centre in a board's ratios."""
    table = _wooden(rng, n)
    for _ in range(int(rng.integers(3, 9))):
        at = tuple(int(v) for v in rng.uniform(0.1 * n, 0.9 * n, 2))
        radius = int(rng.uniform(0.03, 0.2) * n)
        cv2.circle(table, at, radius, _colour(rng), -1)
        cv2.circle(table, at, int(radius * rng.uniform(0.75, 0.95)), _colour(rng), int(rng.integers(1, 5)))
    return table


def _round_table(rng: np.random.Generator, n: int) -> Field:
    floor = _wooden(rng, n)
    cv2.circle(floor, (n // 2 + int(rng.integers(-30, 30)), n // 2), int(n * rng.uniform(0.25, 0.36)), _colour(rng), -1)
    return floor


def _chequers(rng: np.random.Generator, n: int) -> Field:
    board = _wooden(rng, n)
    side, light, dark = int(n * 0.08), _colour(rng), _colour(rng)
    start = n // 2 - 4 * side
    for row in range(8):
        for column in range(8):
            u, v = start + column * side, start + row * side
            cv2.rectangle(board, (u, v), (u + side - 1, v + side - 1), light if (row + column) % 2 else dark, -1)
            if rng.random() < 0.3:
                cv2.circle(board, (u + side // 2, v + side // 2), int(side * 0.38), _colour(rng), -1)
    return board


def _darts(rng: np.random.Generator, n: int) -> Field:
    """A dartboard: rings and spokes, but in its own ratios (double 170, treble 107, bull 16 mm)."""
    wall = np.full((n, n, 3), rng.uniform(120, 230), np.float32)
    middle, outer = (n // 2, n // 2), 0.36 * n
    for radius, colour in ((225, (25, 25, 25)), (170, (40, 40, 200)), (162, (190, 220, 225)), (107, (60, 130, 40))):
        cv2.circle(wall, middle, int(outer * radius / 225), colour, -1)
    cv2.circle(wall, middle, int(outer * 99 / 225), (190, 220, 225), -1)
    for k in range(20):
        a = (k + 0.5) * math.pi / 10
        end = (int(n / 2 + outer * 0.755 * math.cos(a)), int(n / 2 + outer * 0.755 * math.sin(a)))
        cv2.line(wall, middle, end, (160, 160, 165), 2)
    cv2.circle(wall, middle, int(outer * 16 / 225), (60, 130, 40), -1)
    return wall


def _page(rng: np.random.Generator, n: int) -> Field:
    paper = np.full((n, n, 3), round(rng.uniform(190, 245)), np.uint8)
    for row in range(40, n - 20, 34):
        text = "".join(chr(int(c)) for c in rng.integers(48, 122, 60))
        cv2.putText(paper, text, (40, row), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (40, 40, 40), 2)
    return paper.astype(np.float32)


def _tiles(rng: np.random.Generator, n: int) -> Field:
    floor = np.empty((n, n, 3), np.float32)
    floor[:] = _colour(rng)
    side = int(rng.uniform(0.06, 0.25) * n)
    floor *= (1 + 0.05 * clouds(rng, (n, n), (n // side, n // side)))[..., None]
    floor[::side] = floor[1::side] = 60
    floor[:, ::side] = floor[:, 1::side] = 60
    return floor


def _cloth(rng: np.random.Generator, n: int) -> Field:
    cloth = np.empty((n, n, 3), np.float32)
    cloth[:] = _colour(rng)
    cloth *= (1 + 0.3 * clouds(rng, (n, n), (6, 6)) + 0.1 * clouds(rng, (n, n), (80, 80)))[..., None]
    return cloth


def _dark(rng: np.random.Generator, n: int) -> Field:
    return np.full((n, n, 3), rng.uniform(0, 8), np.float32)


_PAINTERS: tuple[_Painter, ...] = (
    _wooden, _table_set, _round_table, _chequers, _darts, _page, _tiles, _cloth, _dark,
)  # fmt: skip
DECOYS = len(_PAINTERS)
"""Kinds of decoys; seeds 0 to ``DECOYS - 1`` show each of them once."""


def decoy(seed: int, size_wh: tuple[int, int] = (1280, 960), optics: Optics | None = None) -> Picture:
    """A picture of something else, uint8 BGR ``(H, W, 3)``, taken by a poor camera unless ``optics`` says otherwise."""
    rng = np.random.default_rng([seed, 0xDEC0])
    w, h = size_wh
    n = max(w, h)
    whole = _PAINTERS[seed % DECOYS](rng, n)
    optics = replace(hard_optics(seed), exposure=0.9) if optics is None else optics
    top = (n - h) // 2
    picture = to_bytes(whole[top : top + h, (n - w) // 2 : (n - w) // 2 + w])
    if optics.blur_px:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), optics.blur_px), dtype=np.uint8)
    sensor = Sensor(optics, size_wh, seed)
    return sensor.take(np.asarray(cv2.LUT(picture, sensor.lut(optics.light_at(0))), dtype=np.uint8), 0)
