"""Any picture file that people have is read as it is meant, or refused with one named error."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import pytest

from firmware_py.camera.picture.picturefile import PictureError, read_picture
from firmware_py.camera.still.photo import score_photo, score_picture
from firmware_py.camera.still.photoreading import PhotoError, PhotoReading


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


def test_turn_noted_by_the_camera_is_applied(drawn: ModuleType, tmp_path: Path):
    """EXIF orientation 6, as a phone held upright writes it."""
    camera = drawn.Camera(size_wh=(900, 760), shift_mm=(30, 0))
    upright = drawn.draw_round(camera=camera)
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
