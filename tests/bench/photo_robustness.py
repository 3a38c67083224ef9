"""How many totals of photos survive what happens to photos: noise, blur, compression, light, tilt.

    python tests/bench/photo_robustness.py ../shared/photos [--only NAME] [--json]

Every photo is changed in each way and compared with the folder's ``truth.json``. A wrong total counts as told when a
disc worth points, or one that should be, is flagged; as silent when everything is said to be sure.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from photo_accuracy import totals_possible

from firmware_py.camera.board.rings import circle_image, scaling
from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoDisc, PhotoReading

#: Photos are brought to this long side before they are changed, so that pixels mean the same for all.
SIDE_PX = 1000

Image = np.ndarray
Change = Callable[[Image], tuple[Image, np.ndarray]]
STILL = np.eye(3)


@dataclass
class Row:
    """What one change did to all photos."""

    photos: int = 0
    boards: int = 0
    totals: int = 0
    told: int = 0
    silent: int = 0


def _pixels(change: Callable[[Image], Image]) -> Change:
    """A change that moves nothing."""
    return lambda picture: (change(picture), STILL)


def _jpeg(picture: Image) -> Image:
    return cv2.imdecode(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 20])[1], cv2.IMREAD_COLOR)


def _noise(picture: Image) -> Image:
    noise = np.random.default_rng(5).normal(0, 12, picture.shape)
    return np.clip(np.rint(picture + noise), 0, 255).astype(np.uint8)


def _scaled(factor: float) -> Change:
    def change(picture: Image) -> tuple[Image, np.ndarray]:
        small = cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        return small, scaling(small.shape[1] / picture.shape[1], small.shape[0] / picture.shape[0])

    return change


def _motion(picture: Image) -> Image:
    kernel = np.zeros((11, 11), np.float32)
    cv2.line(kernel, (0, 3), (10, 7), 1.0, 1)
    return cv2.filter2D(picture, -1, kernel / kernel.sum())


def _shading(picture: Image) -> Image:
    height, width = picture.shape[:2]
    light = np.linspace(0.45, 1.0, width)[None, :, None]
    y, x = np.mgrid[:height, :width]
    spot = 110 * np.exp(-((x - 0.6 * width) ** 2 + (y - 0.4 * height) ** 2) / (2 * (0.05 * width) ** 2))
    return np.clip(picture * light + spot[..., None], 0, 255).astype(np.uint8)


def tilted(degrees: float) -> Change:
    """The picture as a camera turned by so much sees it; discs have no height in it."""

    def change(picture: Image) -> tuple[Image, np.ndarray]:
        height, width = picture.shape[:2]
        focal, turn = 1.2 * max(height, width), math.radians(degrees)
        k = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])
        rotation = np.array([[1, 0, 0], [0, math.cos(turn), -math.sin(turn)], [0, math.sin(turn), math.cos(turn)]])
        # Turned about the middle of the board's plane, one focal length away, not about the camera.
        plane = np.array([[1, 0, -width / 2], [0, 1, -height / 2], [0, 0, 1]], dtype=float)
        lift = rotation[:, [0, 1]]
        to_camera = np.column_stack([lift, [0, 0, focal]])
        warp = k @ to_camera @ plane
        corners = np.array([[0, width, width, 0], [0, 0, height, height], [1, 1, 1, 1]], dtype=float)
        seen = warp @ corners
        seen = seen[:2] / seen[2]
        low, size = seen.min(axis=1), np.ptp(seen, axis=1)
        warp = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1]]) @ warp
        out = (math.ceil(size[0]), math.ceil(size[1]))
        return cv2.warpPerspective(picture, warp, out, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE), warp

    return change


CHANGES: dict[str, Change] = {
    "as it is": _pixels(lambda p: p),
    "JPEG 20": _pixels(_jpeg),
    "noise 12": _pixels(_noise),
    "scale 0.5": _scaled(0.5),
    "scale 0.33": _scaled(0.33),
    "blur 2.5": _pixels(lambda p: cv2.GaussianBlur(p, (0, 0), 2.5)),
    "motion 11": _pixels(_motion),
    "exposure 0.3": _pixels(lambda p: np.rint(p * 0.3).astype(np.uint8)),
    "exposure 0.15": _pixels(lambda p: np.rint(p * 0.15).astype(np.uint8)),
    "shading and glare": _pixels(_shading),
    "grey": _pixels(lambda p: cv2.cvtColor(cv2.cvtColor(p, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)),
    "tilt 10": tilted(10),
    "tilt 20": tilted(20),
    "tilt 30": tilted(30),
}


def moved(truth: dict, matrix: np.ndarray) -> dict:
    """The truth with its discs where a change of the picture put them."""
    discs = []
    for disc in truth["discs"]:
        x, y, a, b, _ = circle_image(matrix, disc["r"], (disc["x"], disc["y"]))
        discs.append({**disc, "x": x, "y": y, "r": math.sqrt(a * b)})
    return {**truth, "discs": discs}


def told(discs: tuple[PhotoDisc, ...]) -> bool:
    """Whether any disc that may be worth points is flagged."""
    return any(not d.sure and d.zone != "ditch" for d in discs)


def main() -> int:
    """Change a folder of photos in every way; status 1 when the unchanged ones are not all right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with photos and truth.json")
    parser.add_argument("--only", default="", help="one change by its name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.only and options.only not in CHANGES:
        parser.error(f"--only takes one of {', '.join(CHANGES)}, got {options.only!r}")
    cv2.setNumThreads(1)
    truths = json.loads((options.folder / "truth.json").read_text(encoding="utf-8"))
    rows = {name: Row() for name in CHANGES if options.only in ("", name)}
    for photo, truth in sorted(truths.items()):
        whole = cv2.imread(str(options.folder / photo))
        factor = min(1.0, SIDE_PX / max(whole.shape[:2]))
        picture = cv2.resize(whole, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        shrunk = scaling(picture.shape[1] / whole.shape[1], picture.shape[0] / whole.shape[0])
        for name, row in rows.items():
            changed, matrix = CHANGES[name](picture)
            reading = score_picture(changed)
            row.photos += 1
            if not isinstance(reading, PhotoReading):
                continue
            row.boards += 1
            right = totals_possible(reading, moved(truth, matrix @ shrunk))
            row.totals += right
            row.told += not right and told(reading.discs)
            row.silent += not right and not told(reading.discs)
    if options.json:
        print(json.dumps({name: vars(row) for name, row in rows.items()}))
    else:
        print(f"{'change':20} boards  totals kept  wrong and told  wrong and silent")
        for name, row in rows.items():
            print(f"{name:20} {row.boards:3}/{row.photos:<3} {row.totals:9} {row.told:14} {row.silent:15}")
    return 0 if all(row.totals == row.photos for name, row in rows.items() if name == "as it is") else 1


if __name__ == "__main__":
    sys.exit(main())
