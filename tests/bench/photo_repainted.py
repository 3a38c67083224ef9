"""How well photos of other boards are read, made of real ones: their zones, lines, ditch and discs painted anew.

    python tests/bench/photo_repainted.py ../shared/photos [--seeds 0:4] [--only NAME] [--keep FOLDER] [--json]

Wood, shadows, glare and noise stay those of a real picture; colours, the width of the lines, the turn of the picture,
the light, the size and the compression are drawn by chance. Seeds that are 3 of 4 paint the zones in colours of their
own. One line for each picture with anything wrong, and a summary.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from pathlib import Path

import cv2
import numpy as np
from photo_accuracy import line_errors
from photo_robustness import moved
from photo_twin import compared, summed_up

from firmware_py.camera.board.rings import circle_image, scaling
from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoError

#: Long side that photos are painted at; what is passed on is smaller.
SIDE_PX = 1600
#: Two things side by side differ by so much in Lab at least.
SEEN = 28.0
#: Surface and its teams: pairs of discs that people own, BGR.
TEAMS = (
    ((150, 200, 232), (36, 40, 52)),
    ((175, 215, 238), (60, 80, 120)),
    ((60, 60, 190), (40, 42, 46)),
    ((150, 205, 235), (150, 70, 30)),
    ((70, 150, 60), (50, 40, 170)),
    ((90, 200, 235), (140, 60, 40)),
    ((225, 228, 230), (40, 40, 44)),
    ((40, 120, 230), (60, 90, 40)),
)
WOODS = ((150, 195, 222), (95, 150, 200), (60, 105, 160), (40, 62, 95), (185, 215, 232))
PAINTS = ((40, 42, 46), (150, 70, 30), (50, 40, 170), (60, 110, 40), (235, 236, 238), (60, 190, 230), (120, 110, 105))

Image = np.ndarray


def repainted(picture: Image, truth: dict, rng: np.random.Generator, *, zones: bool) -> Image:
    """The photo of a board as it would be in other colours; places and sizes stay."""
    out = picture.astype(np.float32)
    size = picture.shape[:2]
    rings = [truth["rings"][name] for name in ("line_15", "line_10", "outer_line")]
    discs = _disc_mask(size, truth)
    ground = PAINTS if rng.random() < 0.35 else WOODS
    surface = np.array(ground[rng.integers(len(ground))], np.float32)
    edge = float(rng.uniform(1.045, 1.1))
    areas = [
        (_ellipse(size, rings[0]), surface),
        (_ellipse(size, rings[1]), surface),
        (_ellipse(size, rings[2]), surface),
    ]
    areas.append((_ellipse(size, rings[2], edge), surface))
    if zones:
        paints = [_unlike(rng, surface) if rng.random() < 0.7 else surface for _ in range(4)]
        areas = [(mask, paint) for (mask, _), paint in zip(areas, paints, strict=True)]
    ditch = _unlike(rng, areas[3][1])
    teams = _teams(rng, [paint for _, paint in areas[:3]])
    inner = np.zeros(size, np.float32)
    for mask, paint in areas:
        out = _tinted(out, picture, (mask - inner) * (1 - discs), paint)
        inner = mask
    beyond = _ellipse(size, rings[2], 1.33)
    if rng.random() < 0.7:
        out = _tinted(out, picture, (beyond - inner) * (1 - discs), ditch)
    hole = _ellipse(size, truth["rings"]["hole"])
    if rng.random() < 0.6:
        out = _tinted(out, picture, hole * (1 - discs), np.array(PAINTS[rng.integers(len(PAINTS))], np.float32))
    line = _unlike(rng, *(paint for _, paint in areas))
    wider = float(rng.uniform(1.0, 1.25))
    light = cv2.GaussianBlur(picture.astype(np.float32).mean(axis=2), (0, 0), 6.0)
    for ring, name in zip(rings, ("line_15", "line_10", "outer_line"), strict=True):
        width = max(1.5, wider * truth["line_widths"][name] + 0.6)
        outer = _ellipse(size, ring, 1.0 + width / 2 / ring[2])
        mask = (outer - _ellipse(size, ring, 1.0 - width / 2 / ring[2])) * (1 - discs)
        shade = np.clip(light / max(1.0, float(np.median(light[mask > 0.5]))), 0.6, 1.5)[..., None]
        out = out * (1 - mask[..., None]) + line * shade * mask[..., None]
    for k, team in enumerate("AB"):
        mine = {**truth, "discs": [d for d in truth["discs"] if d["team"] == team]}
        if mine["discs"]:
            out = _tinted(out, picture, _disc_mask(size, mine), teams[k])
    return np.clip(np.rint(out), 0, 255).astype(np.uint8)


def _lab(bgr: np.ndarray) -> np.ndarray:
    return cv2.cvtColor((np.asarray(bgr, np.float32) / 255.0).reshape(1, 1, 3), cv2.COLOR_BGR2Lab)[0, 0]


def _unlike(rng: np.random.Generator, *others: np.ndarray) -> np.ndarray:
    """A paint or wood that differs from all others to the eye."""
    choice = [np.array(c, np.float32) for c in (*PAINTS, *WOODS)]
    far = [c for c in choice if all(float(np.linalg.norm(_lab(c) - _lab(o))) > SEEN for o in others)]
    return far[rng.integers(len(far))] if far else choice[int(rng.integers(2)) * 4]


def _teams(rng: np.random.Generator, paints: list[np.ndarray]) -> list[np.ndarray]:
    """Discs that can be seen on all the zones."""
    pairs = [[np.array(c, np.float32) for c in pair] for pair in TEAMS]
    far = [min(float(np.linalg.norm(_lab(c) - _lab(p))) for c in pair for p in paints) for pair in pairs]
    good = [pair for pair, apart in zip(pairs, far, strict=True) if apart > SEEN / 2]
    return good[rng.integers(len(good))] if good else pairs[int(np.argmax(far))]


def _ellipse(size: tuple[int, int], ellipse: list[float], grow: float = 1.0) -> np.ndarray:
    cx, cy, a, b, degrees = ellipse
    mask = np.zeros(size, np.uint8)
    at, axes = (round(cx * 16), round(cy * 16)), (round(a * grow * 16), round(b * grow * 16))
    cv2.ellipse(mask, at, axes, degrees, 0, 360, 255, -1, cv2.LINE_AA, 4)
    return mask.astype(np.float32) / 255.0


def _disc_mask(size: tuple[int, int], truth: dict) -> np.ndarray:
    """Faces and walls of discs; walls show on the side of the middle."""
    cx, cy, a, *_ = truth["rings"]["outer_line"]
    mask = np.zeros(size, np.uint8)
    for d in truth["discs"]:
        for lean in (0.0, 0.07, 0.14):
            x, y = (p - lean * d["r"] * (p - c) / a for p, c in ((d["x"], cx), (d["y"], cy)))
            cv2.circle(mask, (round(x * 16), round(y * 16)), round(d["r"] * 16), 255, -1, cv2.LINE_AA, 4)
    return mask.astype(np.float32) / 255.0


def _tinted(out: Image, picture: Image, mask: np.ndarray, colour: np.ndarray) -> Image:
    """The masked part in another colour, with its light and its grain."""
    inside = mask > 0.5
    if not inside.any():
        return out
    usual = np.median(picture[inside], axis=0).astype(np.float32)
    gain = np.minimum((colour + 6.0) / (usual + 6.0), 3.0)
    painted = picture * gain + (colour - usual * gain)
    return out * (1 - mask[..., None]) + painted * mask[..., None]


def taken(picture: Image, rng: np.random.Generator) -> tuple[Image, np.ndarray]:
    """The picture as another camera takes it: turned, tilted, in other light, of another size; and the homography."""
    height, width = picture.shape[:2]
    long_side = int(rng.choice([700, 900, 1200, 1600]))
    scale = long_side / max(height, width)
    angle, mirror = math.radians(float(rng.uniform(0, 360))), float(rng.choice([-1.0, 1.0]))
    c, s = math.cos(angle) * scale, math.sin(angle) * scale
    turn = np.array([[c * mirror, -s, 0], [s * mirror, c, 0], [0, 0, 1.0]])
    centre = np.array([[1, 0, -width / 2], [0, 1, -height / 2], [0, 0, 1.0]])
    lean = np.eye(3)
    lean[2, :2] = rng.uniform(-0.1, 0.1, 2) / long_side
    warp = lean @ turn @ centre
    corners = warp @ np.array([[0, width, width, 0], [0, 0, height, height], [1, 1, 1, 1.0]])
    corners = corners[:2] / corners[2]
    low, span = corners.min(axis=1), np.ptp(corners, axis=1)
    shrink = min(1.0, 1800 / float(span.max()))
    warp = scaling(shrink, shrink) @ np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1.0]]) @ warp
    wh = (math.ceil(span[0] * shrink), math.ceil(span[1] * shrink))
    fill = tuple(float(v) for v in rng.integers(20, 240, 3))
    seen = cv2.warpPerspective(
        picture, warp, wh, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_CONSTANT, borderValue=fill
    )
    bgr = seen.astype(np.float32) / 255.0
    y, x = np.mgrid[: wh[1], : wh[0]].astype(np.float32)
    slope = rng.uniform(-0.35, 0.35, 2)
    bgr *= np.clip(1.0 + slope[0] * (x / wh[0] - 0.5) + slope[1] * (y / wh[1] - 0.5), 0.5, 1.3)[..., None]
    bgr *= np.array([rng.uniform(0.75, 1.1), 1.0, rng.uniform(0.9, 1.15)], np.float32) * rng.uniform(0.6, 1.1)
    bgr = np.clip(bgr, 0, 1) ** float(rng.uniform(0.8, 1.25))
    bgr += np.random.default_rng(int(rng.integers(1 << 30))).normal(0, rng.uniform(0.0, 0.015), bgr.shape)
    blur = float(rng.uniform(0.0, 1.2))
    if blur > 0.3:
        bgr = cv2.GaussianBlur(bgr, (0, 0), blur)
    eight = np.clip(np.rint(bgr * 255), 0, 255).astype(np.uint8)
    quality = int(rng.integers(45, 96))
    return cv2.imdecode(cv2.imencode(".jpg", eight, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR), warp


def main() -> int:
    """Repaint and read; status 0 always, for nothing here is a bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", default="0:4", help="FIRST:PAST, one change of every photo each")
    parser.add_argument("--only", default="", help="photos whose name holds this")
    parser.add_argument("--keep", type=Path, help="folder for the pictures with anything wrong")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    truths = json.loads((options.folder / "truth.json").read_text(encoding="utf-8"))
    first, past = (int(v) for v in options.seeds.split(":"))
    count: Counter[str] = Counter()
    centres: list[float] = []
    for number, (name, truth) in enumerate(sorted(truths.items())):
        if options.only not in name:
            continue
        original = cv2.imread(str(options.folder / name))
        factor = min(1.0, SIDE_PX / max(original.shape[:2]))
        small = cv2.resize(original, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        at_size = _all_moved(truth, scaling(factor, factor), factor)
        for seed in range(first, past):
            rng = np.random.default_rng([seed, number, 0x9A17])
            picture, warp = taken(repainted(small, at_size, rng, zones=seed % 4 != 0), rng)
            notes = _read(picture, _all_moved(at_size, warp, 1.0), count, centres)
            if notes:
                print(f"{name} {seed}: {'; '.join(notes)}", flush=True)
                if options.keep is not None:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    cv2.imwrite(str(options.keep / f"{Path(name).stem}-{seed}.png"), picture)
    print(summed_up(count, centres, as_json=options.json))
    return 0


def _all_moved(truth: dict, matrix: np.ndarray, factor: float) -> dict:
    rings = {}
    for name, (cx, cy, a, b, degrees) in truth["rings"].items():
        turn = math.radians(degrees)
        c, s = math.cos(turn), math.sin(turn)
        to_ellipse = np.array([[a * c, -b * s, cx], [a * s, b * c, cy], [0, 0, 1.0]])
        rings[name] = list(circle_image(matrix @ to_ellipse, 1.0))
    widths = {k: v * factor for k, v in truth["line_widths"].items()}
    return {**moved(truth, matrix), "rings": rings, "line_widths": widths}


def _read(picture: Image, truth: dict, count: Counter[str], centres: list[float]) -> list[str]:
    reading = score_picture(picture)
    count["pictures"] += 1
    if isinstance(reading, PhotoError):
        count["refused"] += 1
        return [f"refused: {reading.code}"]
    discs = [{**d, "counted": d["sure"], "margin_mm": 0.0} for d in truth["discs"]]
    notes = compared(reading, discs, count, centres)
    error = max(line_errors(reading, truth))
    if error > 0.6:
        count["lines off"] += 1
        notes.append(f"lines {error:.2f} %")
    return notes


if __name__ == "__main__":
    sys.exit(main())
