"""Where discs stand, given a known camera; how their common radius is learned; what is no disc."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType

import cv2
import numpy as np
import pytest

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.picture.lab import to_lab
from firmware_py.camera.still.discs import disc_view, find_discs, read_discs
from firmware_py.camera.still.surface import find_surface_radius
from hardware.board import TOURNAMENT

PLACES = [(60, 20), (-75, 110), (140, -90), (-230, -60), (20, 262), (170, 190), (-120, -210), (250, -110)]


def scene(drawn: ModuleType, look, camera):
    discs = [drawn.Disc(x, y, ("light", "dark")[k % 2]) for k, (x, y) in enumerate(PLACES)]
    calibration = Calibration.from_geometry(
        image_from_board=camera.homography,
        size_wh=camera.size_wh,
        camera_height_mm=camera.height_mm,
        foot_xy_mm=camera.foot,
        board=replace(TOURNAMENT, line_15_mm=look.rings[0], line_10_mm=look.rings[1]),
    )
    return drawn.draw(discs, look, camera), calibration


@pytest.mark.parametrize("look", ["plain", "blue", "oak"])
@pytest.mark.parametrize("tilt_deg", [0, 12])
def test_bases_are_placed_to_a_millimetre(drawn: ModuleType, look, tilt_deg):
    camera = drawn.Camera(size_wh=(1200, 1100), tilt_deg=tilt_deg, azimuth_deg=80, height_mm=900, focal=0.9)
    picture, calibration = scene(drawn, drawn.LOOKS[look], camera)
    reading = find_discs(picture, calibration)
    assert len(reading.discs) == len(PLACES)
    gaps = [min(math.dist((d.x_mm, d.y_mm), p) for d in reading.discs) for p in PLACES]
    assert np.median(gaps) < 0.9
    assert max(gaps) < 2.0
    assert reading.radius_mm == pytest.approx(drawn.LOOKS[look].disc_radius, rel=0.045)
    assert all(d.place == "surface" for d in reading.discs)


@pytest.mark.parametrize("light", [(150, 205, 235), (108, 165, 214)], ids=["plain", "of nearly the board's colour"])
def test_hole_of_a_washer_is_not_its_rim(drawn: ModuleType, light):
    look = replace(drawn.LOOKS["plain"], light=light, washer=10.5)
    picture, calibration = scene(drawn, look, drawn.Camera(size_wh=(1200, 1100)))
    reading = find_discs(picture, calibration)
    assert reading.radius_mm == pytest.approx(look.disc_radius, rel=0.045)


def test_two_outlines_of_unlike_sizes_alone_tell_one_of_the_two(drawn: ModuleType):
    """A light disc and a light badge half as large again, and nothing that bears out either."""
    look, camera = drawn.LOOKS["plain"], drawn.Camera(size_wh=(1200, 1100))
    _, calibration = scene(drawn, look, camera)
    picture = drawn.draw([drawn.Disc(60.0, 150.0)], look, camera)
    (u, v), (edge, _) = camera.see(np.array([[-150.0, 130.0, 0.0], [-126.0, 130.0, 0.0]]))
    cv2.circle(picture, (round(u), round(v)), round(abs(edge - u)), (120, 205, 235), -1, cv2.LINE_AA)
    reading = find_discs(picture, calibration)
    assert min(abs(reading.radius_mm / size - 1.0) for size in (look.disc_radius, 24.0)) < 0.06


def test_known_radius_and_colours_are_taken(drawn: ModuleType):
    picture, calibration = scene(drawn, drawn.LOOKS["plain"], drawn.Camera(size_wh=(900, 820)))
    first = find_discs(picture, calibration)
    again = find_discs(picture, calibration, radius_mm=16.0, teams=first.teams)
    assert not again.radius_seen
    assert again.radius_mm == pytest.approx(16.0)
    assert again.teams == first.teams
    assert len(again.discs) == len(PLACES)


@pytest.mark.parametrize("long_side", [300, 620], ids=["too coarse", "fine enough"])
def test_smaller_copy_gives_the_same_discs(drawn: ModuleType, long_side):
    picture, calibration = scene(drawn, drawn.LOOKS["plain"], drawn.Camera(size_wh=(1200, 1100)))
    lab = to_lab(picture)
    size = (long_side, round(long_side * 11 / 12))
    copy = to_lab(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
    reading = read_discs(lab, disc_view(lab, calibration, copy), calibration)
    expected = read_discs(lab, disc_view(lab, calibration), calibration)
    assert len(reading.discs) == len(expected.discs) == len(PLACES)
    for one, other in zip(reading.discs, expected.discs, strict=True):
        assert (one.x_mm, one.y_mm) == pytest.approx((other.x_mm, other.y_mm), abs=0.5)


def test_stated_uncertainty_grows_with_that_of_the_camera_height(drawn: ModuleType):
    picture, calibration = scene(drawn, drawn.LOOKS["plain"], drawn.Camera(size_wh=(900, 820)))
    known = find_discs(picture, calibration).discs[-1]
    guessed = find_discs(picture, replace(calibration, height_spread=1.35)).discs[-1]
    assert guessed.sigma_mm > known.sigma_mm + 0.3


def test_edge_of_the_surface_is_seen(drawn: ModuleType):
    look = replace(drawn.LOOKS["plain"], edge=338.0)
    picture, calibration = scene(drawn, look, drawn.Camera(size_wh=(900, 820)))
    assert find_surface_radius(to_lab(picture), calibration) == pytest.approx(338.0, abs=3.0)


def test_numbers_quadrant_lines_and_pegs_are_no_discs(drawn: ModuleType):
    for look in drawn.LOOKS.values():
        camera = drawn.Camera(size_wh=(900, 820))
        calibration = Calibration.from_geometry(
            image_from_board=camera.homography,
            size_wh=camera.size_wh,
            camera_height_mm=camera.height_mm,
            foot_xy_mm=camera.foot,
            board=TOURNAMENT,
        )
        assert find_discs(drawn.draw([], look, camera), calibration).discs == ()


@pytest.mark.parametrize("dark_dots", [True, False])
def test_cloth_full_of_round_dots_takes_no_disc_away(drawn: ModuleType, dark_dots):
    """Every dot is as round as a disc and clearer than most; discs on the surface are looked at first all the same."""
    look = replace(drawn.LOOKS["plain"], floor=(190, 190, 190))
    picture, calibration = scene(drawn, look, drawn.Camera(size_wh=(900, 900), focal=0.9))
    cloth = np.abs(picture.astype(int) - np.array(look.floor)).max(axis=2) < 40
    dots = np.zeros(picture.shape[:2], np.uint8)
    for row in range(0, picture.shape[0], 38):
        for column in range(0, picture.shape[1], 38):
            cv2.circle(dots, (column, row), 15, 255, -1, cv2.LINE_AA)
    picture[(dots > 0) & cloth] = (30, 25, 35) if dark_dots else (250, 250, 250)
    seen = [(d.x_mm, d.y_mm) for d in find_discs(picture, calibration).discs if d.place == "surface"]
    assert len(seen) == len(PLACES)
    assert max(min(math.dist(place, s) for s in seen) for place in PLACES) < 3.0
