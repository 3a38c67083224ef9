"""The first look through a recording: its scenes, the frames that only repeat others, and what stays in place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Image
from firmware_py.camera.recorded.cadence import repeats, scenes
from firmware_py.camera.recorded.film import Film, FilmError

_SIDE_PX = 480
_BLOCK_PX = 7
#: Grey levels that count as changed when a cut is looked for.
_CHANGED = 24
#: A scene of fewer frames shows no shot.
_LEAST_FRAMES = 8
_SAMPLES = 21
_FIRST = 5


@dataclass(frozen=True, slots=True)
class Scene:
    """A stretch of a recording without a cut.

    Attributes:
        first: index of its first frame.
        end: index after its last frame.
        repeated: indices of its frames that only repeat the one before.
    """

    first: int
    end: int
    repeated: frozenset[int]


def survey(path: Path) -> tuple[Scene, ...]:
    """The scenes of a recording, short ones left out.

    Raises:
        FilmError: no video, or no frame of it can be read.
    """
    steps: list[float] = []
    shares: list[float] = []
    before: Image | None = None
    with Film(path) as film:
        for frame in film:
            small = _little(frame.pixels)
            if before is None:
                steps.append(0.0)
                shares.append(0.0)
            else:
                off = cv2.absdiff(small, before).max(axis=2)
                steps.append(float(cv2.blur(off.astype(np.float32), (_BLOCK_PX, _BLOCK_PX)).max()))
                shares.append(float((off > _CHANGED).mean()))
            before = small
    if not steps:
        raise FilmError(f"{path}: no frame of the video can be read")
    found = []
    for first, end in scenes(shares):
        again = repeats(steps[first:end])
        scene = Scene(first, end, frozenset(first + k for k, yes in enumerate(again) if yes))
        if end - first - len(scene.repeated) >= _LEAST_FRAMES:
            found.append(scene)
    return tuple(found)


def what_stays(path: Path, scene: Scene) -> tuple[Image, Image]:
    """The median of frames spread over a scene, in which what moves is not seen, and that of its first frames."""
    own = [k for k in range(scene.first, scene.end) if k not in scene.repeated]
    spread = {own[round(k * (len(own) - 1) / (_SAMPLES - 1))] for k in range(_SAMPLES)}
    early = set(own[:_FIRST])
    middle, first = [], []
    with Film(path) as film:
        film.skip(scene.first)
        for frame in film:
            if frame.index >= scene.end:
                break
            if frame.index in spread:
                middle.append(frame.pixels)
            if frame.index in early:
                first.append(frame.pixels)
    return _median(middle), _median(first)


def _little(picture: Image) -> Image:
    factor = _SIDE_PX / max(picture.shape[:2])
    if factor >= 1:
        return picture
    size = (max(1, round(picture.shape[1] * factor)), max(1, round(picture.shape[0] * factor)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _median(pictures: list[Image]) -> Image:
    # Row by row, since a stack of large frames as a whole would take hundreds of megabytes once more.
    out = np.empty_like(pictures[0])
    for row in range(0, out.shape[0], 64):
        out[row : row + 64] = np.median([p[row : row + 64] for p in pictures], axis=0)
    return out
