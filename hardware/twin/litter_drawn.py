"""What people leave on a board or hold over it, and no disc: coins, mugs, phones, paper, wax, heads."""

from __future__ import annotations

import math
from typing import NamedTuple

import cv2
import numpy as np

from hardware.board import to_xy
from hardware.twin.discs_drawn import Body, draw_body, draw_shadow
from hardware.twin.hands_drawn import Limbs, balls_box, band_parts, draw_limb, seen_balls
from hardware.twin.scene import SceneLitter
from hardware.twin.sprites import Box, Picture, Sprite, Stage, three
from hardware.twin.styles import Bgr, DiscStyle

ABOVE_HANDS = 2e6


class Layers(NamedTuple):
    """Place in the order of drawing, and the sprites of body and shadow."""

    order: tuple[float, ...]
    body: Sprite
    shadow: Sprite | None


_METALS: tuple[Bgr, ...] = ((150, 156, 160), (70, 130, 180), (60, 90, 140))
_CHINA: tuple[Bgr, ...] = ((230, 232, 234), (60, 50, 160), (120, 84, 40), (40, 42, 44))
_DRINKS: tuple[Bgr, ...] = ((24, 34, 52), (40, 110, 190), (90, 140, 180), (30, 30, 90))
_PAPER: tuple[Bgr, ...] = ((232, 236, 238), (150, 220, 240))
_HAIR: tuple[Bgr, ...] = ((30, 34, 44), (44, 70, 110), (100, 150, 190), (150, 152, 156))


def draw_litter(item: SceneLitter, stage: Stage) -> Layers:
    """The sprites of one thing."""
    if item.kind in ("coin", "mug"):
        return _round(item, stage)
    if item.kind == "head":
        return _head(item, stage)
    if item.kind == "wax":
        return Layers((0.5, 0.0), _wax(item, stage), None)
    long_mm, wide_mm, z_mm = (148.0, 72.0, 8.0) if item.kind == "phone" else (150.0, 105.0, 0.3)
    colour = (28, 26, 26) if item.kind == "phone" else _PAPER[item.look % len(_PAPER)]
    return Layers((0.6, 0.0), _plate(item, stage, (long_mm, wide_mm, z_mm), colour), None)


def _round(item: SceneLitter, stage: Stage) -> Layers:
    if item.kind == "coin":
        metal = _METALS[item.look % len(_METALS)]
        body, wall, face = Body(item.x_mm, item.y_mm, 0.0, 11.6, 1.8, 0.3), metal, metal
    else:
        body = Body(item.x_mm, item.y_mm, 0.0, 37.0, 92.0, 3.0)
        wall, face = _CHINA[item.look % len(_CHINA)], _DRINKS[item.look % len(_DRINKS)]
    style = DiscStyle(wall, wall, wall, grain=0.0, gloss=0.8)
    picture = np.full((96, 96, 3), face, np.uint8)
    return Layers(body.order(stage), draw_body(body, stage, style, picture), draw_shadow(body, stage))


def _plate(item: SceneLitter, stage: Stage, size_mm: tuple[float, float, float], colour: Bgr) -> Sprite:
    """A flat thing with four corners and its thin side."""
    long_x, long_y = to_xy(size_mm[0] / 2, item.turn_deg)
    wide_x, wide_y = to_xy(size_mm[1] / 2, item.turn_deg + 90)
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    x = item.x_mm + signs[:, 0] * long_x + signs[:, 1] * wide_x
    y = item.y_mm + signs[:, 0] * long_y + signs[:, 1] * wide_y
    base, top = (stage.pose.project(x, y, z) for z in (0.0, size_mm[2]))
    corners = np.concatenate([base, top])
    box = stage.box(corners)
    layer = np.zeros((max(box.y1 - box.y0, 0), max(box.x1 - box.x0, 0), 4), np.uint8)
    if box.empty:
        return Sprite(box, layer[..., :3])
    light = float(stage.light[box.slices].mean())
    hull = cv2.convexHull(np.rint((corners - (box.x0, box.y0)) * 16).astype(np.int32))
    side, face = ((*(round(min(c * light * f, 255)) for c in colour), 255) for f in (0.6, 1.0))
    cv2.fillConvexPoly(layer, hull, side, cv2.LINE_AA, 4)
    cv2.fillConvexPoly(layer, np.rint((top - (box.x0, box.y0)) * 16).astype(np.int32), face, cv2.LINE_AA, 4)
    return _sprite(layer, box)


def _wax(item: SceneLitter, stage: Stage) -> Sprite:
    """Glide wax or powder: a spill of pale grains that lets the wood shine through."""
    rng = np.random.default_rng([item.look, round(item.x_mm * 10) & 0xFFFF, round(item.y_mm * 10) & 0xFFFF])
    grains = rng.normal(0, 14, (140, 2)) + np.array([item.x_mm, item.y_mm])
    at = stage.pose.project(grains[:, 0], grains[:, 1])
    box = stage.box(at)
    layer = np.zeros((max(box.y1 - box.y0, 0), max(box.x1 - box.x0, 0), 4), np.uint8)
    if box.empty:
        return Sprite(box, layer[..., :3])
    scale = 16 / float(stage.px_mm[box.slices].mean())
    for (u, v), r in zip((at - (box.x0, box.y0)) * 16, rng.uniform(0.3, 1.1, len(at)) * scale, strict=True):
        cv2.circle(layer, (round(u), round(v)), max(round(r), 4), (150, 160, 164, 170), -1, cv2.LINE_AA, 4)
    return _sprite(layer, box)


def _head(item: SceneLitter, stage: Stage) -> Layers:
    """Hair seen from above and the shoulders behind it, 320 mm above the board."""
    back_x, back_y = to_xy(1.0, item.turn_deg)
    side_x, side_y = to_xy(1.0, item.turn_deg + 90)
    places = [(0, 0, 320, 82), (45, 0, 320, 84), (150, -170, 230, 75), (150, 170, 230, 75), (330, 190, 200, 90)]
    balls = np.array(
        [(item.x_mm + a * back_x + b * side_x, item.y_mm + a * back_y + b * side_y, z, r) for a, b, z, r in places]
    )
    seen = seen_balls(balls, stage)
    box = balls_box(seen, stage, 8)
    if box.empty:
        return Layers((ABOVE_HANDS, 0.0), Sprite(box, np.zeros((0, 0, 3), np.uint8)), None)
    limbs = Limbs(seen, [2, 3], box, 2)
    layer = limbs.blank(4)
    head, shoulders = limbs.shapes()
    light = float(stage.light[box.slices].mean())
    for shape, colour in ((shoulders, _CHINA[(item.look + 2) % len(_CHINA)]), (head, _HAIR[item.look % len(_HAIR)])):
        draw_limb(layer, shape, (*(round(min(c * light, 255)) for c in colour), 255))
    soft = np.asarray(cv2.blur(layer, (5, 5)), dtype=np.uint8)
    full = cv2.resize(soft, None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR)[: box.y1 - box.y0, : box.x1 - box.x0]
    sprite = _sprite(np.asarray(full, dtype=np.uint8), box)
    whole = Sprite(box, sprite.keep, sprite.add, band_parts(soft[..., 3], box, 2))
    return Layers((ABOVE_HANDS, math.hypot(item.x_mm, item.y_mm)), whole, None)


def _sprite(layer: Picture, box: Box) -> Sprite:
    """A sprite of colours that are multiplied by their cover already, which is the fourth channel."""
    keep = cv2.bitwise_not(cv2.extractChannel(layer, 3))
    colour = np.asarray(cv2.cvtColor(layer, cv2.COLOR_BGRA2BGR), dtype=np.uint8)
    return Sprite(box, three(np.asarray(keep, dtype=np.uint8)), colour)
