"""Read a photo from disk as people see it: upright, in colour, 8-bit, no larger than the reading needs.

Big JPEGs are decoded at a half, a quarter or an eighth of their size straight away, which saves most of the time and
memory of a 50 megapixel photo. Whatever cannot be read says why in one line.
"""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.picturesize import jpeg_size, told_size
from firmware_py.camera.picture.picturewhole import ends_early

#: Photos beyond this are refused: decoding one would take gigabytes.
MOST_PIXELS = 200_000_000
#: A decoded photo keeps at least this long side when it is reduced while decoding.
KEEP_PX = 1200
#: A decoded 8-bit picture with no pixel brighter than this may be a 16-bit one with a few bits in use.
DEEP_MAX = 24

_REDUCED = {2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4, 8: cv2.IMREAD_REDUCED_COLOR_8}


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


def _decode(content: bytes, flags: int) -> Image | None:
    try:
        picture = cv2.imdecode(np.frombuffer(content, np.uint8), flags)
    except cv2.error:
        return None
    return None if picture is None else np.asarray(picture)


def _spread_deep(picture: Image) -> Image:
    """An 8-bit copy of a 16-bit (or deeper) picture that uses the range its pixels really have."""
    values = picture.astype(np.float32)
    top = float(np.percentile(values[::4, ::4], 99.8))
    return np.asarray(np.clip(values * (255.0 / max(top, 1.0)), 0, 255).astype(np.uint8))


def _content(path: Path) -> bytes:
    """All bytes of a file, or of a pipe that somebody writes into; a pipe without a writer is empty."""
    with io.FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        kind = os.fstat(file.fileno()).st_mode
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise OSError("is a device, no file")
        os.set_blocking(file.fileno(), True)  # whoever writes may take their time
        return file.readall()


def read_picture(path: Path) -> Picture:
    """Read a photo; its EXIF orientation is applied, as ``cv2.imread`` does.

    Args:
        path: any file OpenCV can decode.

    Raises:
        PictureError: the file is missing, unreadable, ends too early, no picture, or far too big.
    """
    try:
        content = _content(path)
    except FileNotFoundError as error:
        raise PictureError("missing", f"{path}: no such file") from error
    except OSError as error:
        raise PictureError("unreadable", f"{path}: cannot be read: {error.strerror or error}") from error
    if ends_early(content):
        raise PictureError("incomplete", f"{path}: ends in the middle of the picture; copy the file again")
    told = jpeg_size(content)
    known = told_size(content)
    if known is None:
        raise PictureError("not_a_picture", f"{path}: is not a picture that can be decoded (JPEG, PNG, WebP, ...)")
    if known[0] * known[1] > MOST_PIXELS:
        raise PictureError("too_big", f"{path}: {known[0]} x {known[1]} pixels, at most 200 megapixels are read")
    reduction = 1
    if told is not None:
        reduction = next((k for k in (8, 4, 2) if max(told) / k >= KEEP_PX), 1)
    bgr = _decode(content, _REDUCED.get(reduction, cv2.IMREAD_COLOR))
    if bgr is None or bgr.ndim != 3 or min(bgr.shape[:2]) < 1:
        raise PictureError("not_a_picture", f"{path}: is not a picture that can be decoded (JPEG, PNG, WebP, ...)")
    if told is None and int(bgr.max()) <= DEEP_MAX:
        deep = _decode(content, cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH)
        if deep is not None and deep.dtype != np.uint8:
            bgr = _spread_deep(deep)
    height, width = bgr.shape[:2]
    size = (width, height)
    if told is not None and reduction > 1:
        turned = (told[0] > told[1]) != (width > height) and told[0] != told[1]
        size = (told[1], told[0]) if turned else told
    return Picture(bgr=bgr, size_wh=size, reduction=reduction)
