"""Picture files of every kind: size from the header, whole or cut short, and refused before they fill the memory."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import PIL.Image
import PIL.ImageOps
import pytest

from firmware_py.camera.picture.picturefile import MOST_PIXELS, PictureError, read_picture
from firmware_py.camera.still.photo import score_photo
from firmware_py.camera.still.photoreading import PhotoError


def board(drawn: ModuleType) -> np.ndarray:
    """A picture with something in every part of it."""
    return drawn.draw([drawn.Disc(45.0, 40.0, "dark", 0.0)], drawn.LOOKS["plain"], drawn.Camera(size_wh=(900, 820)))


#: OpenCV 4 may be built without these; the pinned one must have them.
NEWER = [kind for kind in (".gif", ".avif") if int(cv2.__version__[0]) >= 5 or cv2.haveImageWriter(f"a{kind}")]
KINDS = [".jpg", ".png", ".bmp", ".webp", ".tiff", ".jp2", ".ppm", *NEWER]


def encoded(kind: str, width: int, height: int) -> bytes:
    """A picture file of one colour."""
    ok, content = cv2.imencode(kind, np.full((height, width, 3), 90, np.uint8))
    assert ok
    return content.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.2, 0.5, 0.97])
def test_file_that_ends_in_the_middle_of_the_picture_gives_none(kind, part, drawn: ModuleType, tmp_path: Path):
    """Whatever the decoder does: some fill up what is missing."""
    content = cv2.imencode(kind, board(drawn))[1].tobytes()
    path = tmp_path / f"cut{kind}"
    path.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(PictureError) as caught:
        read_picture(path)
    assert caught.value.code in {"incomplete", "not_a_picture"}


JPEGS = {
    "plain": [],
    "progressive": [cv2.IMWRITE_JPEG_PROGRESSIVE, 1],
    "restarts": [cv2.IMWRITE_JPEG_RST_INTERVAL, 7],
    "optimised": [cv2.IMWRITE_JPEG_OPTIMIZE, 1, cv2.IMWRITE_JPEG_QUALITY, 100],
}


@pytest.mark.parametrize("options", JPEGS.values(), ids=JPEGS)
def test_jpeg_is_whole_to_its_last_byte_and_with_whatever_follows(options, drawn: ModuleType, tmp_path: Path):
    ok, encoding = cv2.imencode(".jpg", board(drawn), options)
    assert ok
    content = encoding.tobytes()
    thumbnail = cv2.imencode(".jpg", np.zeros((16, 16, 3), np.uint8))[1].tobytes()
    exif = b"\xff\xe1" + (len(thumbnail) + 8).to_bytes(2, "big") + b"Exif\x00\x00" + thumbnail
    content = content[:2] + exif + content[2:]
    path = tmp_path / "photo.jpg"

    def code() -> str:
        try:
            read_picture(path)
        except PictureError as error:
            return error.code
        return ""

    path.write_bytes(content + b"\x00" * 100)  # some phones add a film, some programs fill up a block
    assert not code()
    for length in range(len(exif) + 300, len(content) - 60, 997):
        path.write_bytes(content[:length])
        assert code() in {"incomplete", "not_a_picture"}, length


@pytest.mark.parametrize("content", [b"", b"\xff\xd8 a text", b"\x89PNG\r\n\x1a\n" + bytes(range(99)), b"BM", b"RIFF"])
def test_what_is_no_picture_is_named_so(content: bytes, tmp_path: Path):
    path = tmp_path / "photo"
    path.write_bytes(content)
    with pytest.raises(PictureError) as caught:
        read_picture(path)
    assert caught.value.code == "not_a_picture"


@pytest.mark.parametrize("orientation", range(9))
@pytest.mark.parametrize("size_wh", [(90, 60), (2400, 1600)])
def test_photo_is_upright_whatever_its_exif_says(orientation: int, size_wh: tuple[int, int], tmp_path: Path):
    """Against Pillow's own turning; 0 is a broken note."""
    width, height = size_wh
    rows, columns = np.mgrid[:height, :width]
    picture = PIL.Image.fromarray(np.dstack([columns * 255 // width, rows * 255 // height, rows * 0]).astype(np.uint8))
    notes = PIL.Image.Exif()
    notes[0x0112] = orientation
    picture.save(tmp_path / "photo.jpg", exif=notes, quality=95)
    picture.getexif()[0x0112] = orientation
    upright = PIL.ImageOps.exif_transpose(picture)
    read = read_picture(tmp_path / "photo.jpg")
    assert read.size_wh == upright.size
    small = np.asarray(upright.resize(read.bgr.shape[1::-1]))[:, :, ::-1]
    assert np.abs(read.bgr.astype(int) - small).max() < 12


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_picture_bomb_is_refused_unopened(kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Limit lowered instead of a file of gigabytes; decoding would raise."""
    path = tmp_path / f"bomb{kind}"
    path.write_bytes(encoded(kind, 157, 93))
    monkeypatch.setattr("firmware_py.camera.picture.picturefile.MOST_PIXELS", 157 * 93 - 1)
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", None)
    with pytest.raises(PictureError) as caught:
        read_picture(path)
    assert caught.value.code == "too_big"


def test_bitmap_that_claims_gigabytes_is_refused(tmp_path: Path):
    content = bytearray(encoded(".bmp", 40, 40))
    content[18:22] = content[22:26] = (30000).to_bytes(4, "little")
    assert MOST_PIXELS < 30000**2
    (tmp_path / "bomb.bmp").write_bytes(content)
    answer = score_photo(tmp_path / "bomb.bmp")
    assert isinstance(answer, PhotoError)
    assert answer.code == "too_big"
