"""The rings are found on any board, from any sane camera, and on nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType

import cv2
import numpy as np
import pytest

from firmware_py.camera.board.rings import Rings, circle_image, circle_images, find_rings
from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoError


def error_of_outer_line(rings: Rings, camera) -> float:
    """Largest distance of the true outer line from the found one, in outer radii."""
    angle = np.linspace(0, 2 * np.pi, 120)
    circle = np.stack([304.8 * np.cos(angle), 304.8 * np.sin(angle), np.zeros(120)], axis=1)
    seen = np.c_[camera.see(circle), np.ones(120)] @ np.linalg.inv(rings.image_from_board).T
    return float(np.abs(np.hypot(seen[:, 0] / seen[:, 2], seen[:, 1] / seen[:, 2]) - 1).max())


@pytest.mark.parametrize(
    ("look", "paint"), [("green", (60, 190, 230)), ("blue", (150, 195, 222)), ("white", (150, 70, 30))]
)
@pytest.mark.parametrize("fainter", [9, 11])
def test_outer_line_too_faint_for_a_limit_is_met_inside_of_the_edge(drawn: ModuleType, look, paint, fainter):
    """The innermost zone has a paint of its own, so that its line is none; the others are fainter than the edge."""
    board = drawn.LOOKS[look]
    away = fainter if np.mean(board.surface) < 150 else -fainter
    line = tuple(part + away for part in board.surface)
    board = replace(board, line=line, zones=(board.surface, board.surface, paint))
    camera = drawn.Camera(size_wh=(800, 740))
    lying = [drawn.Disc(x, y, colour, base) for x, y, colour, base, _ in drawn.ROUND]
    rings = find_rings(drawn.draw(lying, board, camera, drawn.Light(noise=1.0)))
    assert rings is not None
    assert error_of_outer_line(rings, camera) < 0.006


@pytest.mark.parametrize(
    ("look", "tilt_deg", "azimuth_deg"),
    [
        ("plain", 0, 0),
        ("blue", 0, 0),
        ("white", 12, 70),
        ("green", 18, 170),
        ("oak", 25, 300),
        ("blue", 25, 45),
        ("painted", 20, 45),
        ("stepped", 0, 0),
    ],
)
def test_rings_of_any_board_are_found_from_any_sane_camera(drawn: ModuleType, look, tilt_deg, azimuth_deg):
    camera = drawn.Camera(tilt_deg=tilt_deg, azimuth_deg=azimuth_deg, turn_deg=31, shift_mm=(20, -15))
    discs = [drawn.Disc(101, 10), drawn.Disc(-200, 40, "dark"), drawn.Disc(30, 290)]
    rings = find_rings(drawn.draw(discs, drawn.LOOKS[look], camera))
    assert rings is not None
    # A line of a neighbouring paint's colour is seen at one of its edges only, half its width off.
    slack = 0.006 if drawn.LOOKS[look].zones else 0.003
    assert error_of_outer_line(rings, camera) < slack
    wanted = np.array(drawn.LOOKS[look].rings) / 304.8
    assert np.allclose(rings.ratios, wanted, atol=slack)
    assert rings.coverage > 0.8


@pytest.mark.parametrize("look", ["white", "oak", "painted"])
@pytest.mark.parametrize("edge_mm", [322.0, 345.0])
def test_outlined_edge_of_the_surface_does_not_pass_for_the_outer_line(drawn: ModuleType, look, edge_mm):
    camera = drawn.Camera(size_wh=(1000, 1000), tilt_deg=8, azimuth_deg=40)
    board = drawn.LOOKS[look]
    board = replace(board, ditch=board.surface, edge=edge_mm, outlined=max(3.0, 1.5 * board.line_width))
    rings = find_rings(drawn.draw([drawn.Disc(-200, 40, "dark"), drawn.Disc(30, 290)], board, camera))
    assert rings is not None
    assert error_of_outer_line(rings, camera) < 0.005


@pytest.mark.parametrize("line", [(75, 170, 205), (165, 95, 55)], ids=["like the 10 zone", "like the 5 zone"])
def test_line_of_nearly_a_neighbouring_paint_is_met_in_its_middle(drawn: ModuleType, line):
    camera = drawn.Camera(size_wh=(1000, 1000), tilt_deg=8, azimuth_deg=40)
    board = replace(drawn.PAINTED, line=line, line_width=4.0, numbers=False)
    rings = find_rings(drawn.draw([drawn.Disc(-200, 40, "dark"), drawn.Disc(30, 290)], board, camera))
    assert rings is not None
    assert error_of_outer_line(rings, camera) < 0.003
    assert np.allclose(rings.ratios, np.array(board.rings) / 304.8, atol=0.003)
    assert np.array(rings.widths) * 304.8 == pytest.approx(4.0, abs=1.2)


@pytest.mark.parametrize("focal", [0.6, 2.0])
def test_tilted_board_is_found_through_short_and_long_lenses(drawn: ModuleType, focal):
    camera = drawn.Camera(height_mm=1000 * focal, tilt_deg=24, azimuth_deg=130, focal=focal)
    rings = find_rings(drawn.draw([], drawn.LOOKS["oak"], camera))
    assert rings is not None
    assert error_of_outer_line(rings, camera) < 0.003


def test_part_of_the_board_outside_the_picture_is_told(drawn: ModuleType):
    rings = find_rings(drawn.draw([], camera=drawn.Camera(shift_mm=(-300, 0))))
    assert rings is not None
    assert 0.6 < rings.visible < 0.95


def circles(radii: list[int], *, thick: int = 3, board: bool = False) -> np.ndarray:
    """Dark rings on grey; with ``board`` around a hole and on a surface that ends in a ditch."""
    picture = np.full((800, 800, 3), 180, np.uint8)
    if board:
        picture[:] = 60
        cv2.circle(picture, (400, 400), 334, (180, 180, 180), -1, cv2.LINE_AA)
        cv2.circle(picture, (400, 400), 16, (90, 90, 90), -1, cv2.LINE_AA)
    for radius in radii:
        cv2.circle(picture, (400, 400), radius, (20, 20, 20), thick, cv2.LINE_AA)
    return picture


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(np.zeros((480, 640, 3), np.uint8), id="black"),
        pytest.param(np.full((480, 640, 3), 127, np.uint8), id="plain grey"),
        pytest.param(
            np.random.default_rng(3).integers(0, 255, (480, 640, 3), dtype=np.uint8).astype(np.uint8), id="noise"
        ),
        pytest.param(circles([300]), id="a plate"),
        pytest.param(circles([60, 300]), id="a record"),
        pytest.param(circles([40, 80, 120, 160, 200, 240, 280, 320], thick=40), id="a shooting target"),
        pytest.param(circles([100, 200, 300]), id="three bare rings"),
        pytest.param(circles([110, 230, 340], thick=2), id="three bare rings a little uneven"),
        pytest.param(circles([95, 190, 285, 380]), id="an archery target of lines"),
        pytest.param(circles([75, 150, 225, 300, 375]), id="five rings"),
        pytest.param(circles([38 * k for k in range(1, 11)], thick=2), id="ten rings"),
        pytest.param(circles([round(7.6 * k) for k in range(1, 51)], thick=2), id="a record's fifty grooves"),
        pytest.param(np.zeros((3, 5, 3), np.uint8), id="a few pixels"),
    ],
)
def test_what_is_no_board_has_no_rings(picture):
    assert find_rings(picture) is None


def painted(radii: list[int], paints: list[tuple[int, int, int]], *, wires: int = 0) -> np.ndarray:
    """Nested discs of paint on a pale wall, largest first, with the wires of a dartboard between the outer two."""
    picture = np.full((800, 800, 3), 205, np.uint8)
    for radius, paint in zip(radii, paints, strict=True):
        cv2.circle(picture, (400, 400), radius, paint, -1, cv2.LINE_AA)
    for k in range(wires):
        a = 2 * np.pi * (k + 0.5) / wires
        ends = [(round(400 + r * np.cos(a)), round(400 + r * np.sin(a))) for r in (radii[-2], radii[0])]
        cv2.line(picture, ends[0], ends[1], (190, 190, 190), 2, cv2.LINE_AA)
    return picture


RED, BLUE, YELLOW, WHITE, BLACK = (40, 30, 190), (170, 60, 30), (60, 210, 240), (240, 240, 240), (30, 30, 30)


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(painted([300, 200, 100], [BLUE, WHITE, RED]), id="a roundel"),
        pytest.param(painted([330, 300, 200, 100, 16], [BLACK, BLUE, WHITE, RED, BLACK]), id="a roundel with a hub"),
        pytest.param(
            painted([375, 300, 225, 150, 75, 20], [WHITE, BLACK, BLUE, RED, YELLOW, BLACK]), id="an archery target"
        ),
        pytest.param(painted([340, 300, 190, 100, 22], [BLACK, RED, WHITE, BLACK, RED], wires=20), id="a dartboard"),
        pytest.param(painted([380, 250], [WHITE, BLUE]), id="a plate with a painted rim"),
    ],
)
def test_painted_rings_alone_are_no_board(picture):
    assert find_rings(picture) is None
    assert isinstance(score_picture(picture), PhotoError)


def test_ring_outside_the_board_does_not_pass_for_the_outer_line():
    """A round rail, as many hobby boards have."""
    rings = find_rings(circles([90, 180, 265, 340, 352], board=True))
    assert rings is not None
    assert rings.outer_radius_px == pytest.approx(265, abs=2)


def test_target_with_a_spot_in_the_middle_is_no_board():
    picture = circles([95, 190, 285, 380])
    cv2.circle(picture, (400, 400), 15, (0, 0, 200), -1, cv2.LINE_AA)
    assert find_rings(picture) is None


def test_noise_does_not_hide_the_lines():
    noise = np.random.default_rng(4).normal(0, 28, (800, 800, 3))
    picture = np.clip(circles([100, 200, 300], board=True) + noise, 0, 255).astype(np.uint8)
    rings = find_rings(picture)
    assert rings is not None
    assert rings.outer_radius_px == pytest.approx(300, abs=2)


def test_circle_image_is_the_ellipse_of_the_circle():
    homography = np.array([[200.0, 12, 500], [-9, 180, 400], [1e-2, 2e-2, 1]])
    cx, cy, a, b, degrees = circle_image(homography, 0.8)
    angle = np.linspace(0, 2 * np.pi, 50)
    p = np.stack([0.8 * np.cos(angle), 0.8 * np.sin(angle), np.ones(50)]).T @ homography.T
    x, y = p[:, 0] / p[:, 2] - cx, p[:, 1] / p[:, 2] - cy
    t = np.radians(degrees)
    u, v = x * np.cos(t) + y * np.sin(t), y * np.cos(t) - x * np.sin(t)
    assert np.allclose((u / a) ** 2 + (v / b) ** 2, 1.0, atol=1e-9)
    assert a >= b


def test_circle_images_are_those_of_each_circle():
    homography = np.array([[200.0, 12, 500], [-9, 180, 400], [1e-2, 2e-2, 1]])
    centres = np.array([[0.0, 0.0], [0.5, -0.3], [-0.9, 0.8]])
    middles, radii = circle_images(homography, 0.06, centres)
    for (x, y), middle, radius in zip(centres, middles, radii, strict=True):
        cx, cy, a, b, _ = circle_image(homography, 0.06, (x, y))
        assert middle == pytest.approx((cx, cy))
        assert radius == pytest.approx(math.sqrt(a * b))


@pytest.mark.parametrize("azimuth_deg", [15, 140, 260])
def test_wide_lens_at_an_angle_over_a_chequered_cloth_is_met(drawn: ModuleType, azimuth_deg):
    """Such a lens makes the board lean more than a usual one, and the cloth has more edges than the board."""
    look = replace(drawn.LOOKS["plain"], line_width=1.3)
    camera = drawn.Camera(size_wh=(1000, 1000), tilt_deg=25, azimuth_deg=azimuth_deg, focal=0.52, height_mm=560)
    picture = drawn.draw([drawn.Disc(90, 30), drawn.Disc(-60, 140, "dark")], look, camera)
    cloth = np.abs(picture.astype(int) - np.array(look.floor)).max(axis=2) < 30
    y, x = np.mgrid[: picture.shape[0], : picture.shape[1]]
    picture[cloth & ((x // 9 + y // 9) % 2 == 0)] = (60, 50, 90)
    rings = find_rings(picture)
    assert rings is not None
    assert error_of_outer_line(rings, camera) < 0.01
