"""How well photos are read when somebody else had taken them: turned, cropped, enlarged, in other light, from aside.

    python tests/bench/photo_retaken.py ../shared/photos [--only CHANGE] [--photo NAME] [--mixes 0:4] [--keep FOLDER]

Every photo is changed in each way by itself, and once for each seed of ``--mixes`` in all ways at a time, by chance.
Nothing is read that is not in the picture, so totals must stay, or what is wrong must be told. One line for each
reading with anything wrong, and a table.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from photo_accuracy import compare, line_errors, match, totals_possible
from photo_robustness import STILL, moved, tilted, told

from firmware_py.camera.board.rings import circle_image, scaling
from firmware_py.camera.picture.picturefile import read_picture
from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoReading

Image = np.ndarray
#: A picture, the outer line in it and the chance of this change to a changed picture and where its pixels went.
Change = Callable[[Image, list[float], np.random.Generator], tuple[Image, np.ndarray]]
#: Photos larger than this are brought to it first, so that a run takes minutes.
SIDE_PX = 1600


def _mirrored(picture: Image, _outer: list[float], _rng: np.random.Generator) -> tuple[Image, np.ndarray]:
    width = picture.shape[1]
    return cv2.flip(picture, 1), np.array([[-1.0, 0, width - 1], [0, 1, 0], [0, 0, 1]])


def _turned(degrees: float | None) -> Change:
    """Turned about the middle, all of it kept; None for any angle."""

    def change(picture: Image, _outer: list[float], rng: np.random.Generator) -> tuple[Image, np.ndarray]:
        height, width = picture.shape[:2]
        a = math.radians(float(rng.uniform(0, 360)) if degrees is None else degrees)
        c, s = math.cos(a), math.sin(a)
        out = (round(abs(width * c) + abs(height * s)), round(abs(width * s) + abs(height * c)))
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        middle = turn @ np.array([(width - 1) / 2, (height - 1) / 2, 1])
        turn[:2, 2] = (np.array(out) - 1) / 2 - middle[:2]
        return cv2.warpPerspective(picture, turn, out, borderMode=cv2.BORDER_REPLICATE), turn

    return change


def _cropped(reach: float | None) -> Change:
    """Cut off so far from the middle of the board, in outer radii; None for any reach that shows the ditch."""

    def change(picture: Image, outer: list[float], rng: np.random.Generator) -> tuple[Image, np.ndarray]:
        x, y, a, _, _ = outer
        edge = a * (float(rng.uniform(1.36, 1.8)) if reach is None else reach)
        left, top = max(0, round(x - edge)), max(0, round(y - edge))
        part = picture[top : round(y + edge), left : round(x + edge)].copy()
        return part, np.array([[1.0, 0, -left], [0, 1, -top], [0, 0, 1]])

    return change


def _sized(long_side: int | None) -> Change:
    def change(picture: Image, _outer: list[float], rng: np.random.Generator) -> tuple[Image, np.ndarray]:
        side = int(rng.choice([700, 800, 1000, 1280, 1600, 2400])) if long_side is None else long_side
        factor = side / max(picture.shape[:2])
        how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        out = cv2.resize(picture, None, fx=factor, fy=factor, interpolation=how)
        return out, scaling(out.shape[1] / picture.shape[1], out.shape[0] / picture.shape[0])

    return change


def _pixels(change: Callable[[Image, np.random.Generator], Image]) -> Change:
    """A change that moves nothing."""
    return lambda picture, _outer, rng: (change(picture, rng), STILL)


def _lit(*gains: float) -> Change:
    """Blue, green and red times so much of the light, as far as the camera goes."""

    def change(picture: Image, _rng: np.random.Generator) -> Image:
        linear = (picture / np.float32(255)) ** np.float32(2.2) * np.array(gains, np.float32)
        return np.rint(255 * np.clip(linear, 0, 1) ** (1 / 2.2)).astype(np.uint8)

    return _pixels(change)


def _other_light(picture: Image, rng: np.random.Generator) -> Image:
    exposure = math.exp(float(rng.uniform(math.log(0.3), math.log(1.5))))
    warmth = math.exp(float(rng.uniform(-0.35, 0.35)))
    return _lit(exposure / warmth, exposure, exposure * warmth)(picture, [], rng)[0]


def _jpeg(quality: int | None) -> Change:
    def change(picture: Image, rng: np.random.Generator) -> Image:
        q = int(rng.integers(35, 95)) if quality is None else quality
        return cv2.imdecode(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, q])[1], cv2.IMREAD_COLOR)

    return _pixels(change)


def _soft(part: float | None) -> Change:
    """Blurred by so much of the outer radius (sigma)."""

    def change(picture: Image, outer: list[float], rng: np.random.Generator) -> tuple[Image, np.ndarray]:
        sigma = outer[2] * (float(rng.uniform(0.0005, 0.004)) if part is None else part)
        return cv2.GaussianBlur(picture, (0, 0), max(0.1, sigma)), STILL

    return change


def _leaning(azimuth_deg: float | None) -> Change:
    """Seen from 10 degrees aside (None: up to 12 from anywhere); discs have no height in it."""

    def change(picture: Image, outer: list[float], rng: np.random.Generator) -> tuple[Image, np.ndarray]:
        a = float(rng.uniform(0, 360)) if azimuth_deg is None else azimuth_deg
        degrees = float(rng.uniform(2, 12)) if azimuth_deg is None else 10.0
        turned, there = _turned(a)(picture, outer, rng)
        leaning, lean = tilted(degrees)(turned)
        return leaning, lean @ there

    return change


def _toned(gamma: float, colour: float) -> Change:
    """Tones and colours as a phone's own taste changes them."""

    def change(picture: Image, _rng: np.random.Generator) -> Image:
        lab = cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
        lab[..., 0] = 100 * (np.clip(lab[..., 0], 0, 100) / 100) ** gamma
        lab[..., 1:] *= colour
        return np.rint(255 * np.clip(cv2.cvtColor(lab, cv2.COLOR_Lab2BGR), 0, 1)).astype(np.uint8)

    return _pixels(change)


def _any_tone(picture: Image, rng: np.random.Generator) -> Image:
    gamma, colour = math.exp(float(rng.uniform(-0.3, 0.3))), float(rng.uniform(0.6, 1.4))
    return _toned(gamma, colour)(picture, [], rng)[0]


CHANGES: dict[str, Change] = {
    "mirrored": _mirrored,
    "turned 90": _turned(90),
    "turned 180": _turned(180),
    "turned 33": _turned(33),
    "cropped to the rail": _cropped(1.4),
    "800 px": _sized(800),
    "3000 px": _sized(3000),
    "half the light": _lit(0.5, 0.5, 0.5),
    "a quarter of the light": _lit(0.25, 0.25, 0.25),
    "half as much light again": _lit(1.5, 1.5, 1.5),
    "warmer": _lit(0.65, 1.0, 1.25),
    "cooler": _lit(1.3, 1.0, 0.7),
    "JPEG 40": _jpeg(40),
    "slightly soft": _soft(0.003),
    "lean 10 down": _leaning(0),
    "lean 10 right": _leaning(90),
    "lean 10 up": _leaning(180),
    "lean 10 aslant": _leaning(235),
    "flat tones": _toned(0.75, 0.7),
    "deep tones": _toned(1.35, 1.3),
}
#: In this order all happen to one picture, each with the chance beside it.
MIX: tuple[tuple[float, Change], ...] = (
    (0.5, _mirrored),
    (0.7, _turned(None)),
    (0.7, _leaning(None)),
    (0.8, _cropped(None)),
    (0.5, _soft(None)),
    (0.7, _pixels(_any_tone)),
    (0.7, _pixels(_other_light)),
    (0.8, _sized(None)),
    (0.7, _jpeg(None)),
)


def _mixed(seed: int) -> Change:
    def change(picture: Image, outer: list[float], _rng: np.random.Generator) -> tuple[Image, np.ndarray]:
        rng = np.random.default_rng([seed, 0x3E7A])
        matrix = STILL
        for chance, one in MIX:
            happens = rng.random() < chance
            if happens:
                picture, step = one(picture, _line(matrix, outer), rng)
                matrix = step @ matrix
        return picture, matrix

    return change


def _line(matrix: np.ndarray, ellipse: list[float]) -> list[float]:
    """What becomes of an ellipse."""
    x, y, a, b, degrees = ellipse
    t = math.radians(degrees)
    c, s = math.cos(t), math.sin(t)
    unit = np.array([[a * c, -b * s, x], [a * s, b * c, y], [0, 0, 1.0]])
    return list(circle_image(matrix @ unit, 1.0))


def _true(truth: dict, matrix: np.ndarray) -> dict:
    rings = {name: _line(matrix, line) for name, line in truth["rings"].items()}
    return {**moved(truth, matrix), "rings": rings}


def compared(picture: Image, truth: dict, row: Counter[str]) -> list[str]:
    """Read one changed picture into a row of the table; what was wrong with it, in words."""
    row["photos"] += 1
    height, width = picture.shape[:2]
    inside = [d for d in truth["discs"] if 0 <= d["x"] < width and 0 <= d["y"] < height]
    truth = {**truth, "discs": inside}
    reading = score_picture(picture)
    if not isinstance(reading, PhotoReading):
        return [f"refused: {reading.code}"]
    row["boards"] += 1
    tally = compare(reading, truth)
    right = totals_possible(reading, truth)
    paired = {i for i, _ in match(list(reading.discs), inside)}
    asked = told(reading.discs) or reading.hole_unclear
    row["totals"] += right
    row["told"] += not right and asked
    row["silent"] += not right and not asked
    row["missed"] += tally.live_missed
    row["invented"] += sum(d.zone != "ditch" for i, d in enumerate(reading.discs) if i not in paired)
    row["flagged"] += tally.flagged_beyond
    row["ditch"] += tally.ditch_true
    row["ditch found"] += tally.ditch_found
    row["ditch read"] += tally.ditch_read
    off = max(line_errors(reading, truth))
    row["lines off"] += off > 0.6
    notes = [note for note in tally.notes if " ditch " not in note]
    if not right:
        notes.append("told" if asked else "SILENT")
    if off > 0.6:
        notes.append(f"lines {off:.2f} %")
    return notes


COLUMNS = ("photos", "boards", "totals", "told", "silent", "missed", "invented", "flagged", "lines off")


def main() -> int:
    """Change a folder of photos in every way; status 0 always, for nothing here is a bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with photos and truth.json")
    parser.add_argument("--only", default="", help="one change by its name")
    parser.add_argument("--photo", default="", help="photos whose names begin so")
    parser.add_argument("--mixes", default="0:0", help="FIRST:PAST, seeds of all changes at a time")
    parser.add_argument("--keep", type=Path, help="folder for the pictures with anything wrong")
    parser.add_argument("--json", action="store_true", help="print the table as one JSON object")
    options = parser.parse_args()
    if options.only and options.only not in CHANGES:
        parser.error(f"--only takes one of {', '.join(CHANGES)}, got {options.only!r}")
    cv2.setNumThreads(1)
    first, past = (int(v) for v in options.mixes.split(":"))
    changes = {**CHANGES, **{f"mix {seed}": _mixed(seed) for seed in range(first, past)}}
    if options.only:
        changes = {options.only: CHANGES[options.only]}
    elif past > first:
        changes = {name: change for name, change in changes.items() if name.startswith("mix ")}
    truths = json.loads((options.folder / "truth.json").read_text(encoding="utf-8"))
    rows: dict[str, Counter[str]] = {name: Counter() for name in changes}
    for k, (photo, truth) in enumerate(sorted(truths.items())):
        if not photo.startswith(options.photo):
            continue
        whole = read_picture(options.folder / photo).bgr
        factor = min(1.0, SIDE_PX / max(truth["size"]))
        picture = cv2.resize(
            whole, (round(truth["size"][0] * factor), round(truth["size"][1] * factor)), interpolation=cv2.INTER_AREA
        )
        shrunk = scaling(picture.shape[1] / truth["size"][0], picture.shape[0] / truth["size"][1])
        outer = _line(shrunk, truth["rings"]["outer_line"])
        for name, change in changes.items():
            number = 1000 * int(name.split()[1]) + k if name.startswith("mix ") else k
            one = _mixed(number) if name.startswith("mix ") else change
            changed, matrix = one(picture, outer, np.random.default_rng([k, 0x3E7A]))
            notes = compared(changed, _true(truth, matrix @ shrunk), rows[name])
            if notes:
                print(f"{photo} {name} {changed.shape[1]}x{changed.shape[0]}: {'; '.join(notes)}", flush=True)
                if options.keep is not None:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    cv2.imwrite(str(options.keep / f"{Path(photo).stem}-{name.replace(' ', '_')}.png"), changed)
    total = sum(rows.values(), Counter())
    if options.json:
        print(json.dumps({**{name: dict(row) for name, row in rows.items()}, "all": dict(total)}))
        return 0
    print(f"{'change':26}" + "".join(f"{column:>10}" for column in COLUMNS) + "   ditch: recall, precision")
    for name, row in {**rows, "all": total}.items():
        recall = row["ditch found"] / max(1, row["ditch"])
        precision = row["ditch found"] / max(1, row["ditch read"])
        print(f"{name:26}" + "".join(f"{row[column]:10}" for column in COLUMNS) + f"   {recall:.3f}, {precision:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
