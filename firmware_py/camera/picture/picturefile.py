"""Read a photo from disk as people see it: upright, in colour, 8-bit, no larger than the reading needs.

Big JPEGs are decoded at a half, a quarter or an eighth of their size straight away, which saves most of the time and
memory of a 50 megapixel photo. Whatever cannot be read says why in one line.
"""

from __future__ import annotations

import io
import os
import stat
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import PIL.Image
from numpy.typing import NDArray

from firmware_py.camera.picture.lab import Image

#: Photos beyond this are refused: decoding one would take gigabytes.
MOST_PIXELS = 200_000_000
#: A decoded photo keeps at least this long side when it is reduced while decoding.
KEEP_PX = 800
#: A decoded 8-bit picture with no pixel brighter than this may be a 16-bit one with a few bits in use.
DEEP_MAX = 24

_ORIENTATION = 0x0112
#: How a picture is turned upright for each EXIF orientation that is not upright.
_TURNS: dict[int, Callable[[Image], Image]] = {
    2: np.fliplr,
    3: lambda picture: np.rot90(picture, 2),
    4: np.flipud,
    5: lambda picture: np.swapaxes(picture, 0, 1),
    6: lambda picture: np.rot90(picture, -1),
    7: lambda picture: np.swapaxes(np.rot90(picture, 2), 0, 1),
    8: np.rot90,
}
_ON_ITS_SIDE = (5, 6, 7, 8)
#: Modes of Pillow with more than 8 bits a colour; OpenCV brings those down to 8 bits as it should.
_DEEP_MODES = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")

PIL.Image.MAX_IMAGE_PIXELS = None  # the limit is ours, above


class PictureError(Exception):
    """A file that gives no picture.

    Attributes:
        code: short name: ``missing``, ``unreadable``, ``incomplete``, ``not_a_picture`` or ``too_big``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Picture:
    """A decoded photo.

    Attributes:
        bgr: 8-bit colour, blue first, upright.
        size_wh: size of the photo in the file, upright.
        reduction: the photo's pixels per pixel of ``bgr``.
    """

    bgr: Image
    size_wh: tuple[int, int]
    reduction: int


def read_picture(path: Path) -> Picture:
    """Read a photo, of a film the first picture; its EXIF orientation is applied.

    Args:
        path: any file Pillow can decode.

    Raises:
        PictureError: the file is missing, unreadable, ends too early, no picture, or far too big.
    """
    content = _content(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is odd about a file but does not hinder its reading
        with _opened(path, content) as file:
            width, height = file.size
            if width * height > MOST_PIXELS:
                raise PictureError("too_big", f"{path}: {width} x {height} pixels, at most 200 megapixels are read")
            reduction = 1
            if file.format == "JPEG":
                reduction = next((k for k in (8, 4, 2) if max(width, height) / k >= KEEP_PX), 1)
                file.draft("RGB", (width // reduction, height // reduction))
            bgr = _decoded(path, file, content)
            orientation = _orientation(file)
    if orientation in _TURNS:
        bgr = np.ascontiguousarray(_TURNS[orientation](bgr))
    if orientation in _ON_ITS_SIDE:
        width, height = height, width
    return Picture(bgr=bgr, size_wh=(width, height), reduction=reduction)


def _content(path: Path) -> bytes:
    """All bytes of a file, or of a pipe that somebody writes into; a pipe without a writer is empty."""
    try:
        with io.FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            kind = os.fstat(file.fileno()).st_mode
            if not (stat.S_ISCHR(kind) or stat.S_ISBLK(kind)):
                os.set_blocking(file.fileno(), True)  # whoever writes may take their time
                return file.readall()
        raise PictureError("unreadable", f"{path}: cannot be read: is a device, no file")
    except FileNotFoundError as error:
        raise PictureError("missing", f"{path}: no such file") from error
    except OSError as error:
        raise PictureError("unreadable", f"{path}: cannot be read: {error.strerror or error}") from error


def _opened(path: Path, content: bytes) -> PIL.Image.Image:
    """The picture with only its header read."""
    try:
        return PIL.Image.open(io.BytesIO(content))
    except Exception as error:  # decoders raise what they like at a broken header
        kinds = "JPEG, PNG, WebP, ..."
        raise PictureError("not_a_picture", f"{path}: is not a picture that can be decoded ({kinds})") from error


def _decoded(path: Path, file: PIL.Image.Image, content: bytes) -> Image:
    """Its pixels as they lie in the file, blue first."""
    try:
        file.load()
        bgr = cv2.cvtColor(np.asarray(file.convert("RGB")), cv2.COLOR_RGB2BGR)
        if file.mode in _DEEP_MODES or (file.format != "JPEG" and int(bgr.max()) <= DEEP_MAX):
            flags = cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
            deep = cv2.imdecode(np.frombuffer(content, np.uint8), flags)
            if deep is not None and deep.dtype != np.uint8:
                return _spread_deep(deep)
    except Exception as error:  # as above, in the middle of the picture
        why = "ends in the middle of the picture, or is damaged; copy the file again"
        raise PictureError("incomplete", f"{path}: {why}") from error
    return np.asarray(bgr, np.uint8)


def _spread_deep(picture: NDArray[np.number[Any]]) -> Image:
    """An 8-bit copy of a 16-bit (or deeper) picture that uses the range its pixels really have."""
    values = picture.astype(np.float32)
    top = float(np.percentile(values[::4, ::4], 99.8))
    return np.asarray(np.clip(values * (255.0 / max(top, 1.0)), 0, 255).astype(np.uint8))


def _orientation(file: PIL.Image.Image) -> int:
    """EXIF's word for how the photo must be turned, 1 for not at all."""
    try:
        return int(file.getexif().get(_ORIENTATION, 1))
    except Exception:  # a photo with broken notes is a photo all the same
        return 1
