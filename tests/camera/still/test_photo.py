"""A photo of a finished round is scored right, or says by name why it is not."""

from __future__ import annotations

import json
import math
import os
import threading
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import pytest

from firmware_py.camera.picture.picturefile import PictureError, read_picture
from firmware_py.camera.still import photo
from firmware_py.camera.still.photo import describe, run, score_photo, score_picture
from firmware_py.camera.still.photoreading import PhotoDisc, PhotoError, PhotoReading

SIZE = (900, 820)

#: x, y, colour, height of the base, zone on every drawn board (lines differ by a few mm, these stand clear of them).
ROUND = [
    (0.0, 0.0, "light", -6.0, 20),
    (45.0, 40.0, "dark", 0.0, 15),
    (-30.0, 55.0, "light", 0.0, 15),
    (150.0, -20.0, "light", 0.0, 10),
    (-90.0, -115.0, "dark", 0.0, 10),
    (30.0, 245.0, "dark", 0.0, 5),
    (-190.0, -160.0, "light", 0.0, 5),
    (306.0, -20.0, "dark", 0.0, 0),
    (362.0, 60.0, "dark", -12.7, "ditch"),
    (-310.0, 185.0, "light", -12.7, "ditch"),
    (-60.0, -362.0, "dark", -12.7, "ditch"),
]


def drawn_round(drawn: ModuleType, look: str = "plain", camera=None, light=None) -> np.ndarray:
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, _ in ROUND]
    return drawn.draw(discs, drawn.LOOKS[look], camera or drawn.Camera(size_wh=SIZE), light)


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
    camera = drawn.Camera(size_wh=SIZE, tilt_deg=tilt_deg, azimuth_deg=130, turn_deg=20, shift_mm=(12, -8))
    reading = score_picture(drawn_round(drawn, look, camera))
    assert isinstance(reading, PhotoReading)
    assert len(reading.discs) == len(ROUND)
    for x, y, colour, base, zone in ROUND:
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
    camera = drawn.Camera(size_wh=SIZE)
    picture = drawn_round(drawn, look, camera)
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    a = math.radians(towards_deg)
    along = (x - SIZE[0] / 2) * math.cos(a) + (y - SIZE[1] / 2) * math.sin(a)
    light = 1 - 0.5 / (1 + np.exp(-(along - 40) / 3))
    reading = score_picture(np.rint(picture * light[..., None]).astype(np.uint8))
    assert isinstance(reading, PhotoReading)
    for px, py, colour, base, zone in ROUND:
        disc = seen_at(reading, camera, px, py, base + 9.5)
        assert disc.zone == zone
        assert disc.side == colour or not disc.sure or zone in (0, "ditch")
    assert reading.totals == {"light": 50, "dark": 30} or any(not d.sure for d in reading.discs)


def test_many_round_things_beyond_the_surface_exchange_no_side(drawn: ModuleType):
    look = replace(drawn.LOOKS["plain"], light=(165, 215, 240), dark=(70, 105, 150), peg=(150, 20, 130))
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, zone in ROUND if zone not in {"ditch", 20}]
    turns = [math.radians(a) for a in range(10, 350, 20)]
    discs += [drawn.Disc(364 * math.cos(a), 364 * math.sin(a), "peg", -12.7) for a in turns]
    camera = drawn.Camera(size_wh=SIZE)
    reading = score_picture(drawn.draw(discs, look, camera))
    assert isinstance(reading, PhotoReading)
    for x, y, colour, base, zone in ROUND:
        if zone not in {"ditch", 20}:
            disc = seen_at(reading, camera, x, y, base + 9.5)
            assert (disc.side, disc.zone) == (colour, zone)


@pytest.mark.parametrize("look", ["plain", "blue", "green"])
def test_disc_in_the_hole_under_a_lamp_of_its_own_is_no_empty_hole(drawn: ModuleType, look):
    camera = drawn.Camera(size_wh=SIZE)
    picture = drawn_round(drawn, look, camera)
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    away = ((x - SIZE[0] / 2) ** 2 + (y - SIZE[1] / 2) ** 2) / (SIZE[0] / 2) ** 2
    reading = score_picture(np.rint(picture * (1 - 0.55 * np.minimum(away, 1))[..., None]).astype(np.uint8))
    assert isinstance(reading, PhotoReading)
    middle = seen_at(reading, camera, 0.0, 0.0, 3.5)
    assert (middle.zone, middle.side) == (20, "light")


@pytest.mark.parametrize("look", ["plain", "white", "green"])
@pytest.mark.parametrize("size", [(1000, 1000), (1600, 1200)])
@pytest.mark.parametrize("tilt_deg", [0, 12])
def test_empty_hole_like_a_dark_disc_but_wider_is_no_20(drawn: ModuleType, look, size, tilt_deg):
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, zone in ROUND if zone != 20]
    board = replace(drawn.LOOKS[look], hole=(30, 30, 35))
    reading = score_picture(drawn.draw(discs, board, drawn.Camera(size_wh=size, tilt_deg=tilt_deg)))
    assert isinstance(reading, PhotoReading)
    assert not [d for d in reading.discs if d.zone == 20 and d.sure]


def test_disc_in_a_hole_of_its_very_colour_is_not_passed_over_in_silence(drawn: ModuleType):
    look = replace(drawn.LOOKS["plain"], hole=drawn.LOOKS["plain"].dark)
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, zone in ROUND if zone != 20]
    discs.append(drawn.Disc(0.0, 0.0, "dark", -6.0))
    reading = score_picture(drawn.draw(discs, look, drawn.Camera(size_wh=SIZE)))
    assert isinstance(reading, PhotoReading)
    assert reading.hole_unclear or any(d.zone == 20 for d in reading.discs)
    assert ("look: the hole" in describe(reading, "differential")) == reading.hole_unclear


def test_hole_of_a_strange_colour_is_clear(drawn: ModuleType):
    reading = score_picture(drawn_round(drawn, "blue"))
    assert isinstance(reading, PhotoReading)
    assert not reading.hole_unclear


def test_empty_board_is_all_nought(drawn: ModuleType):
    for look in ("plain", "blue", "oak"):
        reading = score_picture(drawn.draw([], drawn.LOOKS[look], drawn.Camera(size_wh=SIZE)))
        assert isinstance(reading, PhotoReading)
        assert reading.discs == ()
        assert reading.totals == {"light": 0, "dark": 0}


@pytest.mark.parametrize("look", ["plain", "green", "painted"])
def test_empty_board_whose_hole_is_not_seen_is_a_board(drawn: ModuleType, look):
    hidden = replace(drawn.LOOKS[look], hole_radius=0.1)
    reading = score_picture(drawn.draw([], hidden, drawn.Camera(size_wh=SIZE)))
    assert isinstance(reading, PhotoReading)
    assert reading.discs == ()


def test_disc_over_the_edge_of_the_hole_has_15(drawn: ModuleType):
    """Rule 41: only flat in the hole is 20."""
    camera = drawn.Camera(size_wh=SIZE)
    discs = [drawn.Disc(15.0, 4.0, "dark"), drawn.Disc(-150, 0), drawn.Disc(30, 240, "dark"), drawn.Disc(160, 40)]
    reading = score_picture(drawn.draw(discs, camera=camera))
    assert isinstance(reading, PhotoReading)
    assert seen_at(reading, camera, 15.0, 4.0, 9.5).zone == 15
    assert reading.totals == {"light": 20, "dark": 20}


def test_more_discs_than_the_rules_deal_are_all_counted(drawn: ModuleType):
    angle = [k * 2 * math.pi / 15 for k in range(15)]
    discs = [drawn.Disc(262 * math.cos(a), 262 * math.sin(a), "dark") for a in angle]
    discs += [drawn.Disc(155 * math.cos(a + 0.1), 155 * math.sin(a + 0.1)) for a in angle[::2]]
    reading = score_picture(drawn.draw(discs, camera=drawn.Camera(size_wh=SIZE)))
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
    reading = score_picture(change(drawn_round(drawn)))
    assert isinstance(reading, PhotoReading)
    assert reading.totals == {"light": 50, "dark": 30}


@pytest.fixture(scope="module")
def folder(drawn: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files as people have them, good and bad."""
    place = tmp_path_factory.mktemp("photos")
    picture = drawn_round(drawn)
    cv2.imwrite(str(place / "good.jpg"), picture)
    cv2.imwrite(str(place / "grey.png"), cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))
    cv2.imwrite(str(place / "deep.png"), picture.astype(np.uint16) * 257)
    cv2.imwrite(str(place / "twelve bits.png"), picture.astype(np.uint16) * 16)
    cv2.imwrite(str(place / "large.jpg"), cv2.resize(picture, None, fx=4.5, fy=4.5))
    cv2.imwrite(str(place / "black.png"), np.zeros((480, 640, 3), np.uint8))
    cv2.imwrite(str(place / "floor.jpg"), np.random.default_rng(1).integers(0, 255, (300, 400, 3)).astype(np.uint8))
    cv2.imwrite(str(place / "cut.jpg"), picture[:, 400:])
    cv2.imwrite(str(place / "dot.png"), picture[:1, :1])
    (place / "text.jpg").write_text("not a picture at all")
    (place / "empty.jpg").write_bytes(b"")
    (place / "half.jpg").write_bytes((place / "good.jpg").read_bytes()[:900])
    return place


@pytest.mark.parametrize("name", ["good.jpg", "grey.png", "deep.png", "twelve bits.png", "large.jpg"])
def test_any_kind_of_picture_file_is_read(folder: Path, name):
    reading = score_photo(folder / name)
    assert isinstance(reading, PhotoReading)
    assert reading.totals == {"light": 50, "dark": 30}


def test_places_are_told_in_pixels_of_the_full_photo(folder: Path):
    small, large = score_photo(folder / "good.jpg"), score_photo(folder / "large.jpg")
    assert isinstance(small, PhotoReading)
    assert isinstance(large, PhotoReading)
    assert read_picture(folder / "large.jpg").reduction > 1
    assert large.rings.size_wh == (4050, 3690)
    assert len(small.discs) == len(large.discs)
    for a in small.discs:
        b = min(large.discs, key=lambda d: math.hypot(d.x - 4.5 * a.x, d.y - 4.5 * a.y))
        assert b.r == pytest.approx(4.5 * a.r, rel=0.03)
        assert math.hypot(b.x - 4.5 * a.x, b.y - 4.5 * a.y) < 0.1 * b.r


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("text.jpg", "not_a_picture"),
        ("empty.jpg", "not_a_picture"),
        ("half.jpg", "incomplete"),
        ("nothing.jpg", "missing"),
        ("", "unreadable"),
        ("black.png", "no_board"),
        ("floor.jpg", "no_board"),
        ("dot.png", "no_board"),
        ("cut.jpg", "cut_off"),
    ],
)
def test_what_cannot_be_scored_is_one_named_error(folder: Path, name, code):
    answer = score_photo(folder / name)
    assert isinstance(answer, PhotoError)
    assert answer.code == code
    assert str(folder / name) in answer.message
    assert "\n" not in answer.message


def test_a_pipe_is_read_if_somebody_writes_and_a_device_never(tmp_path: Path):
    pipe = tmp_path / "pipe.jpg"
    os.mkfifo(pipe)
    with pytest.raises(PictureError, match=r"pipe\.jpg: is not a picture"):
        read_picture(pipe)
    with pytest.raises(PictureError, match="/dev/zero: cannot be read: is a device"):
        read_picture(Path("/dev/zero"))
    picture = cv2.imencode(".jpg", np.zeros((40, 60, 3), np.uint8))[1].tobytes()
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writing = os.open(pipe, os.O_WRONLY)
    os.write(writing, picture[:100])

    def rest() -> None:
        os.write(writing, picture[100:])
        os.close(writing)

    later = threading.Timer(0.1, rest)
    later.start()
    assert read_picture(pipe).size_wh == (60, 40)
    later.join()
    os.close(reading)


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
    first = drawn_round(drawn, "plain", drawn.Camera(size_wh=(760, 760)))
    second = cv2.resize(drawn_round(drawn, "blue", drawn.Camera(size_wh=(760, 760))), None, fx=size, fy=size)
    answer = score_picture(beside(first, second))
    assert isinstance(answer, PhotoError)
    assert answer.code == "two_boards"


def test_small_board_far_behind_does_not_disturb(drawn: ModuleType):
    first = drawn_round(drawn, "plain", drawn.Camera(size_wh=(900, 900)))
    second = cv2.resize(first, None, fx=0.35, fy=0.35, interpolation=cv2.INTER_AREA)
    reading = score_picture(beside(first, second))
    assert isinstance(reading, PhotoReading)
    assert reading.totals == {"light": 50, "dark": 30}


def shades(light: tuple[int, int, int], dark: tuple[int, int, int], drawn: ModuleType) -> np.ndarray:
    """A grey picture of a round on the plain board with discs of two colours."""
    look = replace(drawn.LOOKS["plain"], light=light, dark=dark)
    discs = [drawn.Disc(x, y, colour, base) for x, y, colour, base, _ in ROUND]
    picture = drawn.draw(discs, look, drawn.Camera(size_wh=SIZE))
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


def test_turn_noted_by_the_camera_is_applied(drawn: ModuleType, tmp_path: Path):
    """EXIF orientation 6, as a phone held upright writes it."""
    camera = drawn.Camera(size_wh=(900, 760), shift_mm=(30, 0))
    upright = drawn_round(drawn, camera=camera)
    stored = cv2.imencode(".jpg", cv2.rotate(upright, cv2.ROTATE_90_COUNTERCLOCKWISE))[1].tobytes()
    tiff = b"MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
    exif = b"Exif\x00\x00" + tiff
    path = tmp_path / "phone.jpg"
    path.write_bytes(stored[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + stored[2:])
    reading, plain = score_photo(path), score_picture(upright)
    assert isinstance(reading, PhotoReading)
    assert isinstance(plain, PhotoReading)
    assert reading.rings.size_wh == (900, 760)
    assert reading.rings.ellipse(2)[:2] == pytest.approx(plain.rings.ellipse(2)[:2], abs=0.5)


def test_json_has_one_object_for_each_file_and_a_failure_stops_none(folder: Path, capsys: pytest.CaptureFixture[str]):
    files = [folder / "text.jpg", folder / "good.jpg", folder / "cut.jpg"]
    assert run(files, as_json=True) == 2
    text, good, cut = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert text["error"]["code"] == "not_a_picture"
    assert cut["error"]["code"] == "cut_off"
    assert good["photo"] == str(folder / "good.jpg")
    assert set(good) == {"photo", "board", "discs", "totals", "ms"}
    assert set(good["board"]) == {
        "found",
        "outer_line",
        "line_10",
        "line_15",
        "coverage",
        "residual_mm",
        "visible",
    }
    assert all(set(d) == {"x", "y", "r", "side", "zone", "margin_mm", "sure"} for d in good["discs"])
    assert good["totals"] == {"light": 50, "dark": 30}


def test_people_get_lines_and_pictures(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "deep" / "overlays"
    assert run([folder / "good.jpg", folder / "good.jpg"], overlay_dir=out, twenties="2,1") == 0
    said = capsys.readouterr().out
    assert "light +40" in said
    assert "light  90" in said
    pictures = sorted(p.name for p in out.iterdir())
    assert pictures == ["good-2.png", "good.png"]
    overlay = cv2.imread(str(out / "good.png"))
    assert overlay is not None
    assert overlay.shape[1] >= 900


def test_people_are_told_that_a_board_is_empty(drawn: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "bare.png"
    cv2.imwrite(str(path), drawn.draw([], camera=drawn.Camera(size_wh=SIZE)))
    assert run([path]) == 0
    assert capsys.readouterr().out.startswith(f"{path}: no disc is on the board, a tie: nobody adds")
    assert run([path], twenties="2,1") == 0
    assert capsys.readouterr().out.startswith(f"{path}: no disc is on the board, light +20")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"board": "chess"}, "no board preset 'chess'"),
        ({"twenties": "3"}, "LIGHT,DARK"),
        ({"twenties": "a,b"}, "LIGHT,DARK"),
        ({"twenties": "-1,2"}, "LIGHT,DARK"),
    ],
)
def test_wrong_option_is_told_in_one_line(folder: Path, options, says, capsys: pytest.CaptureFixture[str]):
    assert run([folder / "good.jpg"], **options) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.out == ""


def test_folder_that_cannot_be_made_is_told(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run([folder / "good.jpg"], overlay_dir=folder / "text.jpg") == 2
    assert "cannot be made" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scoring", "light", "dark", "says"),
    [
        ("differential", 60, 35, "light +25"),
        ("differential", 35, 60, "dark +25"),
        ("differential", 40, 40, "nobody adds"),
        ("match210", 35, 60, "dark +2"),
        ("match210", 35, 35, "one each"),
        ("cumulative", 35, 60, "light +35, dark +60"),
    ],
)
def test_result_is_worded_by_the_rules(scoring, light, dark, says):
    assert says in photo.result_line({"light": light, "dark": dark}, scoring)
