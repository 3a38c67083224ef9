"""A photo of a finished round is scored right, or says by name why it is not."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType

import cv2
import numpy as np
import pytest

from firmware_py.camera.still.photo import describe, score_picture
from firmware_py.camera.still.photoreading import PhotoDisc, PhotoError, PhotoReading


def seen_at(reading: PhotoReading, camera, x: float, y: float, height: float) -> PhotoDisc:
    px, py = camera.see(np.array([[x, y, height]]))[0]
    return min(reading.discs, key=lambda d: math.hypot(d.x - px, d.y - py))


@pytest.mark.parametrize(
    ("look", "tilt_deg"),
    [
        ("plain", 0),
        ("blue", 15),
        ("white", 0),
        ("oak", 15),
        ("oak", 0),
        ("green", 15),
        ("painted", 0),
        ("painted", 15),
        ("stepped", 10),
    ],
)
def test_drawn_round_is_scored_exactly(drawn: ModuleType, look, tilt_deg):
    camera = drawn.Camera(size_wh=drawn.SIZE, tilt_deg=tilt_deg, azimuth_deg=130, turn_deg=20, shift_mm=(12, -8))
    reading = score_picture(drawn.draw_round(look, camera))
    assert isinstance(reading, PhotoReading)
    assert len(reading.discs) == len(drawn.ROUND)
    for x, y, colour, base, zone in drawn.ROUND:
        disc = seen_at(reading, camera, x, y, base + 9.5)
        px, py = camera.see(np.array([[x, y, base + 9.5]]))[0]
        assert math.hypot(disc.x - px, disc.y - py) < 0.16 * disc.r
        assert (disc.side, disc.zone) == (colour, zone)
        assert disc.sure
    assert reading.totals == {"light": 50, "dark": 30}


@pytest.mark.parametrize(
    ("gap_mm", "zone", "sure"), [(-4.0, 5, True), (-0.1, None, False), (0.1, None, False), (4.0, 10, True)]
)
def test_disc_that_touches_a_line_has_the_lower_value_and_a_close_one_is_flagged(drawn, gap_mm, zone, sure):
    """Rule 47; the gap is between the disc's edge and the 10 line."""
    look = drawn.LOOKS["plain"]
    camera = drawn.Camera(size_wh=(1200, 1100))
    r = look.rings[1] - look.line_width / 2 - look.disc_radius - gap_mm
    discs = [drawn.Disc(r * math.cos(0.4), r * math.sin(0.4), "dark"), drawn.Disc(-140, -20), drawn.Disc(60, -150)]
    reading = score_picture(drawn.draw(discs, look, camera))
    assert isinstance(reading, PhotoReading)
    disc = seen_at(reading, camera, r * math.cos(0.4), r * math.sin(0.4), 9.5)
    assert disc.sure is sure
    if zone is not None:
        assert disc.zone == zone
    assert disc.margin_mm == pytest.approx(abs(gap_mm), abs=1.3)


@pytest.mark.parametrize("look", ["plain", "oak", "blue"])
@pytest.mark.parametrize("towards_deg", [20, 200])
def test_hard_shadow_across_the_board_exchanges_no_side(drawn: ModuleType, look, towards_deg):
    camera = drawn.Camera(size_wh=drawn.SIZE)
    picture = drawn.draw_round(look, camera)
    y, x = np.mgrid[: drawn.SIZE[1], : drawn.SIZE[0]]
    a = math.radians(towards_deg)
    along = (x - drawn.SIZE[0] / 2) * math.cos(a) + (y - drawn.SIZE[1] / 2) * math.sin(a)
    light = 1 - 0.5 / (1 + np.exp(-(along - 40) / 3))
    reading = score_picture(np.rint(picture * light[..., None]).astype(np.uint8))
    assert isinstance(reading, PhotoReading)
    for px, py, colour, base, zone in drawn.ROUND:
        disc = seen_at(reading, camera, px, py, base + 9.5)
        assert disc.zone == zone
        assert disc.side == colour or not disc.sure or zone in (0, "ditch")
    assert reading.totals == {"light": 50, "dark": 30} or any(not d.sure for d in reading.discs)


def test_many_round_things_beyond_the_surface_exchange_no_side(drawn: ModuleType):
    look = replace(drawn.LOOKS["plain"], light=(165, 215, 240), dark=(70, 105, 150), peg=(150, 20, 130))
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, zone in drawn.ROUND if zone not in {"ditch", 20}]
    turns = [math.radians(a) for a in range(10, 350, 20)]
    discs += [drawn.Disc(364 * math.cos(a), 364 * math.sin(a), "peg", -12.7) for a in turns]
    camera = drawn.Camera(size_wh=drawn.SIZE)
    reading = score_picture(drawn.draw(discs, look, camera))
    assert isinstance(reading, PhotoReading)
    for x, y, colour, base, zone in drawn.ROUND:
        if zone not in {"ditch", 20}:
            disc = seen_at(reading, camera, x, y, base + 9.5)
            assert (disc.side, disc.zone) == (colour, zone)


@pytest.mark.parametrize("look", ["plain", "blue", "green"])
def test_disc_in_the_hole_under_a_lamp_of_its_own_is_no_empty_hole(drawn: ModuleType, look):
    camera = drawn.Camera(size_wh=drawn.SIZE)
    picture = drawn.draw_round(look, camera)
    y, x = np.mgrid[: drawn.SIZE[1], : drawn.SIZE[0]]
    away = ((x - drawn.SIZE[0] / 2) ** 2 + (y - drawn.SIZE[1] / 2) ** 2) / (drawn.SIZE[0] / 2) ** 2
    reading = score_picture(np.rint(picture * (1 - 0.55 * np.minimum(away, 1))[..., None]).astype(np.uint8))
    assert isinstance(reading, PhotoReading)
    middle = seen_at(reading, camera, 0.0, 0.0, 3.5)
    assert (middle.zone, middle.side) == (20, "light")


@pytest.mark.parametrize("look", ["plain", "white", "green"])
@pytest.mark.parametrize("size", [(1000, 1000), (1600, 1200)])
@pytest.mark.parametrize("tilt_deg", [0, 12])
def test_empty_hole_like_a_dark_disc_but_wider_is_no_20(drawn: ModuleType, look, size, tilt_deg):
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, zone in drawn.ROUND if zone != 20]
    board = replace(drawn.LOOKS[look], hole=(30, 30, 35))
    reading = score_picture(drawn.draw(discs, board, drawn.Camera(size_wh=size, tilt_deg=tilt_deg)))
    assert isinstance(reading, PhotoReading)
    assert not [d for d in reading.discs if d.zone == 20 and d.sure]


def test_disc_in_a_hole_of_its_very_colour_is_not_passed_over_in_silence(drawn: ModuleType):
    look = replace(drawn.LOOKS["plain"], hole=drawn.LOOKS["plain"].dark)
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, zone in drawn.ROUND if zone != 20]
    discs.append(drawn.Disc(0.0, 0.0, "dark", -6.0))
    reading = score_picture(drawn.draw(discs, look, drawn.Camera(size_wh=drawn.SIZE)))
    assert isinstance(reading, PhotoReading)
    assert reading.hole_unclear or any(d.zone == 20 for d in reading.discs)
    assert ("look: the hole" in describe(reading, "differential")) == reading.hole_unclear


@pytest.mark.parametrize("look", ["blue", "white", "green"])
@pytest.mark.parametrize("hole_mm", [18.2, 19.0, 20.0])
def test_disc_of_a_hue_in_a_wide_hole_is_a_20(drawn: ModuleType, look, hole_mm):
    """The rim of the hole is the clearer outline, yet no shade has the colour of a light set."""
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, zone in drawn.ROUND if zone != 20]
    discs.append(drawn.Disc(0.6, -0.5, "light", -6.0))
    board = replace(drawn.LOOKS[look], hole_radius=hole_mm)
    reading = score_picture(drawn.draw(discs, board, drawn.Camera(size_wh=drawn.SIZE)))
    assert isinstance(reading, PhotoReading)
    assert [d.side for d in reading.discs if d.zone == 20] == ["light"]


def test_hole_of_a_strange_colour_is_clear(drawn: ModuleType):
    reading = score_picture(drawn.draw_round("blue"))
    assert isinstance(reading, PhotoReading)
    assert not reading.hole_unclear


def test_empty_board_is_all_nought(drawn: ModuleType):
    for look in ("plain", "blue", "oak"):
        reading = score_picture(drawn.draw([], drawn.LOOKS[look], drawn.Camera(size_wh=drawn.SIZE)))
        assert isinstance(reading, PhotoReading)
        assert reading.discs == ()
        assert reading.totals == {"light": 0, "dark": 0}


@pytest.mark.parametrize("look", ["plain", "green", "painted"])
def test_empty_board_whose_hole_is_not_seen_is_a_board(drawn: ModuleType, look):
    hidden = replace(drawn.LOOKS[look], hole_radius=0.1)
    reading = score_picture(drawn.draw([], hidden, drawn.Camera(size_wh=drawn.SIZE)))
    assert isinstance(reading, PhotoReading)
    assert reading.discs == ()


def test_disc_over_the_edge_of_the_hole_has_15(drawn: ModuleType):
    """Rule 41: only flat in the hole is 20."""
    camera = drawn.Camera(size_wh=drawn.SIZE)
    discs = [drawn.Disc(15.0, 4.0, "dark"), drawn.Disc(-150, 0), drawn.Disc(30, 240, "dark"), drawn.Disc(160, 40)]
    reading = score_picture(drawn.draw(discs, camera=camera))
    assert isinstance(reading, PhotoReading)
    assert seen_at(reading, camera, 15.0, 4.0, 9.5).zone == 15
    assert reading.totals == {"light": 20, "dark": 20}


def test_more_discs_than_the_rules_deal_are_all_counted(drawn: ModuleType):
    angle = [k * 2 * math.pi / 15 for k in range(15)]
    discs = [drawn.Disc(262 * math.cos(a), 262 * math.sin(a), "dark") for a in angle]
    discs += [drawn.Disc(155 * math.cos(a + 0.1), 155 * math.sin(a + 0.1)) for a in angle[::2]]
    reading = score_picture(drawn.draw(discs, camera=drawn.Camera(size_wh=drawn.SIZE)))
    assert isinstance(reading, PhotoReading)
    assert reading.totals == {"light": 80, "dark": 75}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda p: cv2.flip(p, 1), id="mirrored"),
        pytest.param(lambda p: cv2.rotate(p, cv2.ROTATE_180), id="upside down"),
        pytest.param(lambda p: (p * 0.25).astype(np.uint8), id="dark"),
        pytest.param(lambda p: cv2.GaussianBlur(p, (0, 0), 1.6), id="soft"),
        pytest.param(lambda p: cv2.imdecode(cv2.imencode(".jpg", p, [1, 25])[1], 1), id="much compressed"),
        pytest.param(lambda p: cv2.resize(p, None, fx=0.45, fy=0.45, interpolation=cv2.INTER_AREA), id="small"),
        pytest.param(lambda p: cv2.cvtColor(cv2.cvtColor(p, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR), id="grey"),
        pytest.param(lambda p: p[..., ::-1].copy(), id="red and blue exchanged"),
    ],
)
def test_totals_survive_what_happens_to_photos(drawn: ModuleType, change):
    reading = score_picture(change(drawn.draw_round()))
    assert isinstance(reading, PhotoReading)
    assert reading.totals == {"light": 50, "dark": 30}


def test_plate_and_target_without_a_disc_are_no_boards():
    """Each has one of the two things beside three rings that an empty board has."""
    rings = np.full((900, 900, 3), 235, np.uint8)
    plate = np.full((900, 900, 3), 90, np.uint8)
    cv2.circle(plate, (450, 450), 420, (235, 235, 235), -1, cv2.LINE_AA)
    for picture in (rings, plate):
        for radius in (126, 252, 378):
            cv2.circle(picture, (450, 450), radius, (150, 60, 40), 3, cv2.LINE_AA)
    cv2.circle(rings, (450, 450), 22, (40, 40, 210), -1, cv2.LINE_AA)
    for picture in (rings, plate):
        answer = score_picture(picture)
        assert isinstance(answer, PhotoError)
        assert answer.code == "no_board"


def beside(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    height = max(left.shape[0], right.shape[0])
    return np.hstack([cv2.copyMakeBorder(p, 0, height - p.shape[0], 0, 0, cv2.BORDER_REPLICATE) for p in (left, right)])


@pytest.mark.parametrize("size", [1.0, 0.75])
def test_two_boards_in_one_picture_are_told(drawn: ModuleType, size):
    first = drawn.draw_round("plain", drawn.Camera(size_wh=(760, 760)))
    second = cv2.resize(drawn.draw_round("blue", drawn.Camera(size_wh=(760, 760))), None, fx=size, fy=size)
    answer = score_picture(beside(first, second))
    assert isinstance(answer, PhotoError)
    assert answer.code == "two_boards"


def test_small_board_far_behind_does_not_disturb(drawn: ModuleType):
    first = drawn.draw_round("plain", drawn.Camera(size_wh=(900, 900)))
    second = cv2.resize(first, None, fx=0.35, fy=0.35, interpolation=cv2.INTER_AREA)
    reading = score_picture(beside(first, second))
    assert isinstance(reading, PhotoReading)
    assert reading.totals == {"light": 50, "dark": 30}


def shades(light: tuple[int, int, int], dark: tuple[int, int, int], drawn: ModuleType) -> np.ndarray:
    """A grey picture of a round on the plain board with discs of two colours."""
    look = replace(drawn.LOOKS["plain"], light=light, dark=dark)
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, _ in drawn.ROUND]
    picture = drawn.draw(discs, look, drawn.Camera(size_wh=drawn.SIZE))
    return cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)


def test_grey_picture_of_teams_that_differ_in_hue_alone_is_not_sure(drawn: ModuleType):
    reading = score_picture(shades((60, 60, 200), (150, 105, 40), drawn))
    assert isinstance(reading, PhotoReading)
    assert any(d.points for d in reading.discs)
    assert not any(d.sure for d in reading.discs if d.points)


def test_grey_picture_of_black_and_white_discs_is_sure(drawn: ModuleType):
    reading = score_picture(shades((245, 245, 245), (20, 20, 20), drawn))
    assert isinstance(reading, PhotoReading)
    assert reading.totals == {"light": 50, "dark": 30}
    assert all(d.sure for d in reading.discs if d.points)
