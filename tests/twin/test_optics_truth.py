"""What is drawn lies where the projection says, measured by means that share no code with the painter."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from hardware.board import TOURNAMENT
from hardware.twin.optics import CameraPose, Optics, Renderer, nominal_pose
from hardware.twin.scene import Scene, SceneDisc
from hardware.twin.styles import NOMINAL, BoardStyle, DiscStyle

BLACK = (0, 0, 0)
RED_FACE = DiscStyle((0, 0, 250), BLACK, BLACK, grain=0.0, bevel_mm=0.0, gloss=0.0)
ALL_BLACK = DiscStyle(BLACK, BLACK, BLACK, grain=0.0, bevel_mm=0.0, gloss=0.0)


def one_colour(board: tuple[int, int, int], disc: DiscStyle) -> BoardStyle:
    """A board of one colour on which nothing but the light set can be seen."""
    return replace(
        NOMINAL,
        surface_bgr=board,
        ditch_bgr=board,
        rail_bgr=board,
        wall_bgr=board,
        table_bgr=board,
        line_bgr=board,
        hole_bgr=board,
        peg_bgr=board,
        light=disc,
        grain=0.0,
        knots=0,
        specks=0,
        hole_offset_xy_mm=(0.0, 0.0),
    )


def centroid(red: np.ndarray) -> np.ndarray:
    v, u = np.mgrid[: red.shape[0], : red.shape[1]]
    weight = red.astype(float)
    return np.array([(u * weight).sum(), (v * weight).sum()]) / weight.sum()


def face_centroid(pose: CameraPose, x: float, y: float, z: float, radius: float) -> np.ndarray:
    """Mean pixel of a horizontal circle: a fine grid of its points, each weighted by the picture area it fills."""
    n = 120
    side = (np.arange(n) + 0.5) / n * 2 - 1
    p, q = np.meshgrid(side * radius, side * radius)
    inside = np.hypot(p, q) <= radius
    at = pose.project(x + p, y + q, z)
    (uu, uv), (vu, vv) = (np.gradient(at[..., k]) for k in (0, 1))
    area = np.abs(uu * vv - uv * vu)[inside]
    return (at[inside] * area[:, None]).sum(axis=0) / area.sum()


POSES = {
    "nominal": nominal_pose(TOURNAMENT),
    "straight down": CameraPose(),
    "tilted 25 deg": CameraPose(height_mm=900, foot_xy_mm=(300, -295), turn_deg=130, fov_deg=56, k1=-0.05),
    "low and bent": CameraPose(height_mm=600, foot_xy_mm=(-90, 60), fov_deg=72, k1=-0.12, k2=0.03),
}


@pytest.mark.parametrize("name", POSES)
def test_the_top_face_lies_where_the_projection_says(name: str) -> None:
    pose = POSES[name]
    renderer = Renderer(TOURNAMENT, one_colour(BLACK, RED_FACE), pose, Optics())
    rng = np.random.default_rng(5)
    misses = []
    for _ in range(30):
        r, a = rng.choice([rng.uniform(0, 75), rng.uniform(125, 290)]), rng.uniform(0, 2 * math.pi)
        x, y = r * math.cos(a), r * math.sin(a)
        u, v = (int(q) - 40 for q in pose.project(x, y))
        red = renderer.render(Scene(0, (SceneDisc("A1", "light", x, y),)))[v : v + 80, u : u + 80, 2]
        misses.append(centroid(red) + np.array([u, v]) - face_centroid(pose, x, y, 9.5, 16.0))
    assert np.abs(np.mean(misses, axis=0)).max() < 0.005
    assert np.abs(misses).max() < 0.02


@lru_cache(maxsize=1)
def white_board(name: str) -> Renderer:
    return Renderer(TOURNAMENT, one_colour((250, 250, 250), ALL_BLACK), POSES[name], Optics())


def brute_force(pose: CameraPose, disc: SceneDisc, box: tuple[int, int, int, int], per_pixel: int = 8) -> np.ndarray:
    """Share of each pixel whose sight lines meet the solid disc: many lines cut with a slab and a cylinder."""
    x0, y0, x1, y1 = box
    sub = (np.arange(per_pixel) + 0.5) / per_pixel - 0.5
    u = (np.arange(x0, x1)[:, None] + sub).ravel()[None, :]
    v = (np.arange(y0, y1)[:, None] + sub).ravel()[:, None]
    on_ground = pose.ground(u, v)
    lens = np.array([*pose.foot_xy_mm, pose.height_mm])
    way = np.concatenate([on_ground, np.zeros((*on_ground.shape[:2], 1))], axis=-1) - lens
    t, a = math.radians(disc.tilt_deg), math.radians(disc.tilt_towards_deg)
    axis = np.array([-math.sin(a) * math.sin(t), -math.cos(a) * math.sin(t), math.cos(t)])
    start = lens - (disc.x_mm, disc.y_mm, disc.z_mm)
    rise, height = way @ axis, start @ axis
    enter, leave = (9.5 - height) / rise, (0.0 - height) / rise
    across, beside = way - rise[..., None] * axis, start - height * axis
    qa, qb = (across**2).sum(axis=-1), 2 * (across @ beside)
    root = qb**2 - 4 * qa * (beside @ beside - 16.0**2)
    half = np.sqrt(np.maximum(root, 0))
    hit = (root > 0) & (np.maximum(enter, (-qb - half) / (2 * qa)) < np.minimum(leave, (-qb + half) / (2 * qa)))
    return hit.reshape(y1 - y0, per_pixel, x1 - x0, per_pixel).mean(axis=(1, 3))


@pytest.mark.parametrize(
    "disc",
    [
        SceneDisc("A1", "light", 203.3, -120.4),
        SceneDisc("A1", "light", -250.2, 77.7),
        SceneDisc("A1", "light", 40.6, 31.2, z_mm=9.5),
        SceneDisc("A1", "light", -140.1, -100.9, z_mm=6.0, tilt_deg=20.0, tilt_towards_deg=30.0),
        SceneDisc("A1", "light", 120.0, 160.0, z_mm=10.0, tilt_deg=35.0, tilt_towards_deg=200.0),
    ],
    ids=["right", "left", "stacked", "leaning", "leaning steeply"],
)
@pytest.mark.parametrize("name", ["nominal", "tilted 25 deg"])
def test_the_outline_of_the_solid_is_that_of_its_sight_lines(name: str, disc: SceneDisc) -> None:
    pose = POSES[name]
    renderer = white_board(name)
    u, v = pose.project(disc.x_mm, disc.y_mm, disc.z_mm)
    box = (int(u) - 40, int(v) - 40, int(u) + 40, int(v) + 40)
    bare, seen = (
        renderer.render(Scene(0, discs))[box[1] : box[3], box[0] : box[2], 2].astype(float) for discs in ((), (disc,))
    )
    cover, truth = 1 - seen / bare, brute_force(pose, disc, box)
    assert cover.sum() == pytest.approx(truth.sum(), rel=0.003)
    assert np.abs(centroid(cover) - centroid(truth)).max() < 0.02
    assert np.abs(cover - truth).max() < 0.12


@pytest.mark.parametrize("name", ["nominal", "tilted 25 deg"])
def test_the_rings_lie_at_their_radius(name: str) -> None:
    pose = POSES[name]
    white = one_colour((250, 250, 250), ALL_BLACK)
    lined = replace(white, line_bgr=BLACK, line_wear=0.0, numbers=0.0, quadrants="none")
    frame, bare = (
        Renderer(TOURNAMENT, style, pose, Optics()).render(Scene(0))[..., 1].astype(float) for style in (lined, white)
    )
    v, u = np.mgrid[: frame.shape[0], : frame.shape[1]]
    at = pose.ground(u, v)
    step = np.linalg.norm(np.gradient(at, axis=1), axis=2) * np.linalg.norm(np.gradient(at, axis=0), axis=2)
    r, angle = np.hypot(at[..., 0], at[..., 1]), np.arctan2(at[..., 0], at[..., 1])
    for radius in (TOURNAMENT.line_10_mm, TOURNAMENT.outer_line_mm):
        near = np.abs(r - radius) < 5
        ink = np.where(near, 1 - frame / np.maximum(bare, 1), 0) * step
        for quarter in range(-4, 4):
            part = near & (angle >= quarter * math.pi / 4) & (angle < (quarter + 1) * math.pi / 4)
            assert (ink[part] * r[part]).sum() / ink[part].sum() == pytest.approx(radius, abs=0.01)
        width = ink[near].sum() / (2 * math.pi * radius)
        assert width == pytest.approx(TOURNAMENT.line_width_mm, rel=0.01)
