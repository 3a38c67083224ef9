"""What is printed on a board is no disc, and a disc of neither team's colour is told."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType

import cv2
import numpy as np
import pytest

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import to_lab
from firmware_py.camera.still.locallight import relit
from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoReading
from firmware_py.camera.still.printed import like_print, of_neither_team
from firmware_py.camera.still.surface import surface_colour
from hardware.board import TOURNAMENT

SIZE = (900, 820)
#: Four of each team, none near the place of the badge.
LYING = [(45, 40, "dark"), (-30, 55, "light"), (150, -20, "light"), (-90, -115, "dark")]
LYING += [(30, 245, "dark"), (-190, -160, "light"), (-240, 60, "dark"), (60, -240, "light")]


def with_badge(drawn: ModuleType, look, camera, xy: tuple[float, float], radius_mm: float) -> np.ndarray:
    """A board with a filled roundel of the lines' ink, worn like print."""
    picture = drawn.draw([drawn.Disc(x, y, c) for x, y, c in LYING], look, camera)
    turn = np.arange(72) * (2 * np.pi / 72)
    rim = np.stack([xy[0] + radius_mm * np.cos(turn), xy[1] + radius_mm * np.sin(turn), 0 * turn], axis=1)
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.rint(camera.see(rim) * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    share = 0.9 * mask[..., None] / 255
    return np.rint(picture * (1 - share) + np.array(look.line) * share).astype(np.uint8)


@pytest.mark.parametrize("look", ["blue", "green"])
@pytest.mark.parametrize("xy", [(-150.0, 130.0), (215.0, 120.0)])
def test_filled_badge_as_large_as_a_disc_is_no_disc(drawn: ModuleType, look, xy):
    look = drawn.LOOKS[look]
    camera = drawn.Camera(size_wh=SIZE)
    reading = score_picture(with_badge(drawn, look, camera, xy, look.disc_radius))
    assert isinstance(reading, PhotoReading)
    u, v = camera.see(np.array([[*xy, 0.0]]))[0]
    found = [d for d in reading.discs if math.hypot(d.x - u, d.y - v) < d.r]
    assert all(not d.sure for d in found)
    assert len(reading.discs) - len(found) == len(LYING)


@pytest.mark.parametrize("badge_mm", [22.0, 24.0])
@pytest.mark.parametrize("light", [[(150.0, -20.0, "light")], []], ids=["one light disc", "none"])
def test_light_badge_larger_than_the_discs_does_not_tell_their_size(drawn: ModuleType, badge_mm, light):
    """The dark discs bear out no badge."""
    look = drawn.LOOKS["plain"]
    camera = drawn.Camera(size_wh=SIZE)
    lying = [(x, y, c) for x, y, c in LYING if c == "dark"] + light
    picture = drawn.draw([drawn.Disc(x, y, c) for x, y, c in lying], look, camera)
    u, v = camera.see(np.array([[-150.0, 130.0, 0.0]]))[0]
    edge = camera.see(np.array([[-150.0 + badge_mm, 130.0, 0.0]]))[0]
    cv2.circle(picture, (round(u), round(v)), round(abs(edge[0] - u)), (120, 205, 235), -1, cv2.LINE_AA)
    reading = score_picture(picture)
    assert isinstance(reading, PhotoReading)
    for x, y, colour in lying:
        px, py = camera.see(np.array([[x, y, look.disc_height]]))[0]
        disc = min(reading.discs, key=lambda d, px=px, py=py: math.hypot(d.x - px, d.y - py))
        assert math.hypot(disc.x - px, disc.y - py) < 0.1 * disc.r
        assert disc.side == colour or not light
        rim = camera.see(np.array([[x + look.disc_radius, y, look.disc_height]]))[0]
        assert disc.r == pytest.approx(abs(rim[0] - px), rel=0.05)


@pytest.mark.parametrize("look", ["plain", "oak", "white"])
@pytest.mark.parametrize(("star", "wide_mm"), [(False, 2.5), (False, 4.0), (True, 1.5), (True, 2.5)])
def test_ring_of_ink_as_large_as_a_disc_is_no_disc(drawn: ModuleType, look, star, wide_mm):
    """The same wood is seen inside of it and outside, but for the ink."""
    look = drawn.LOOKS[look]
    camera = drawn.Camera(size_wh=SIZE)
    picture = drawn.draw([drawn.Disc(x, y, c) for x, y, c in LYING], look, camera)
    finer = 8
    (u, v), (edge, _) = camera.see(np.array([[215.0, 120.0, 0.0], [315.0, 120.0, 0.0]]))
    px = abs(edge - u) / 100 * finer
    r = look.disc_radius * px
    at = (round((u + 0.5) * finer), round((v + 0.5) * finer))
    mask = np.zeros((SIZE[1] * finer, SIZE[0] * finer), np.uint8)
    cv2.circle(mask, at, round(r - wide_mm * px / 2), 255, round(wide_mm * px))
    if star:
        points = [(0.65 * r * (1.0 if k % 2 else 0.42), k * math.pi / 5) for k in range(10)]
        tips = [(at[0] + out * math.cos(turn), at[1] + out * math.sin(turn)) for out, turn in points]
        cv2.fillPoly(mask, [np.rint(tips).astype(np.int32)], 255)
    share = 0.9 * cv2.resize(mask, SIZE, interpolation=cv2.INTER_AREA)[..., None] / 255
    reading = score_picture(np.rint(picture * (1 - share) + np.array(look.line) * share).astype(np.uint8))
    assert isinstance(reading, PhotoReading)
    assert len(reading.discs) == len(LYING)
    assert all(math.hypot(d.x - u, d.y - v) > d.r for d in reading.discs)


def test_brown_wood_is_no_print_beside_lines_of_red_and_ink_in_any_print_is(drawn: ModuleType):
    """Wood on blue differs from it in nearly the direction in which red ink does; ink does so exactly."""
    look, camera = drawn.LOOKS["blue"], drawn.Camera(size_wh=SIZE)
    calibration = Calibration.from_geometry(
        image_from_board=camera.homography,
        size_wh=camera.size_wh,
        camera_height_mm=camera.height_mm,
        foot_xy_mm=camera.foot,
        board=replace(TOURNAMENT, line_15_mm=look.rings[0], line_10_mm=look.rings[1]),
    )
    lab = to_lab(drawn.draw([], look, camera), 1.0)
    surface, ink = surface_colour(lab, calibration), to_lab(np.array([[look.line]], np.uint8), 1.0)[0, 0]
    woods = to_lab(np.array([[(46, 82, 145), (54, 80, 132), (80, 130, 180)]], np.uint8), 1.0)[0]
    prints = [surface + share * (ink - surface) for share in (0.7, 0.85, 1.0)]
    answer = like_print(np.array([*woods, *prints]), lab, calibration, surface)
    assert answer.tolist() == [False] * 3 + [True] * 3


def sets(counts=(6, 6)) -> np.ndarray:
    rng = np.random.default_rng(2)
    pair = np.repeat(np.array([(72.0, 8, 28), (28.0, 5, 9)]), counts, axis=0)
    return pair + rng.normal(0, 1, pair.shape) * np.array([4.0, 1.0, 1.5])


def test_disc_of_neither_colour_is_named_and_no_other():
    colours = np.concatenate([sets(), [(45.0, 55, 30)]])
    assert of_neither_team(colours, colours).tolist() == [False] * 12 + [True]


@pytest.mark.parametrize("counts", [(6, 2), (1, 6), (3, 3)])
def test_few_discs_of_a_team_are_not_taken_for_strangers(counts):
    assert not of_neither_team(sets(counts), sets(counts)).any()


@pytest.mark.parametrize("light_on_it", [0.5, 0.6, 0.7, 0.85, 1.2])
def test_disc_in_another_light_than_its_team_is_no_stranger(light_on_it):
    colours = sets()
    light = np.ones(12)
    light[2] = light_on_it
    assert not of_neither_team(relit(colours, 1 / light), colours).any()
