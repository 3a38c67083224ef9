"""How well photos of other boards are read, made of real ones: the discs of one laid on the board of another.

    python tests/bench/photo_recombined.py ../shared/photos [--seeds 0:4] [--only NAME] [--keep FOLDER] [--json]

Each board is cleared (what lay there is covered by the same board turned about its middle), real discs of other photos
are laid on it in a layout drawn by chance, each as far out and as turned as it was taken, with a shadow; some sets are
dyed, names and badges are printed in the field, spare discs lie beside the board, a lamp takes the lines from a part of
it. Then another camera takes the picture. One line for each picture with anything wrong, and a summary.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from photo_repainted import PAINTS, SIDE_PX, TEAMS, _all_moved, _lab, taken
from photo_retaken import COLUMNS, compared

from firmware_py.camera.board.rings import scaling

Image = np.ndarray
#: Discs differ to the eye from each other and from what they lie on by so much in Lab at least.
SEEN, APART = 16.0, 22.0
#: A disc this near to a limit, in radii, may have either value: where its base stands is known no better.
CLOSE = 0.25
#: How often a disc lies in the hole.
HOLE = 0.4
#: How much nearer to the middle than its top a disc stands, as a part of its distance.
LEAN = 0.012
LINES = ("line_15", "line_10", "outer_line")


@dataclass(frozen=True)
class Photo:
    """A real photo at working size: its board cleared, and how its outer line lies (unit circle to pixels)."""

    name: str
    picture: Image
    cleared: Image
    truth: dict
    board: np.ndarray


@dataclass(frozen=True)
class Sprite:
    """A real disc: a square of three radii around it, how far out and where around the board it lay."""

    picture: Image
    alpha: Image
    r: float
    out: float
    turn: float
    colour: np.ndarray


def loaded(path: Path, truth: dict) -> Photo:
    """A photo at working size, with its board cleared."""
    whole = cv2.imread(str(path))
    factor = min(1.0, SIDE_PX / max(whole.shape[:2]))
    picture = cv2.resize(whole, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    truth = _all_moved(truth, scaling(factor, factor), factor)
    cx, cy, a, b, degrees = truth["rings"]["outer_line"]
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    axes = np.array([[c, -s], [s, c]])
    board = np.eye(3)
    board[:2, :2] = axes @ np.diag([a, b]) @ axes.T
    board[:2, 2] = (cx, cy)
    return Photo(path.stem, picture, cleared(picture, truth, board), truth, board)


def cleared(picture: Image, truth: dict, board: np.ndarray) -> Image:
    """The picture without its discs: each place is taken from the same board turned, where nothing lies.

    Where every turn is covered, what is around flows in; a hole that was not empty gets a felt.
    """
    height, width = picture.shape[:2]
    taken_up = np.zeros((height, width), np.uint8)
    discs = truth["discs"]
    left: list[dict] = []
    for d in discs:
        cv2.circle(taken_up, (round(d["x"]), round(d["y"])), round(1.6 * d["r"]), 255, -1)
    out = picture.astype(np.float32)
    back = np.linalg.inv(board)
    for d in discs:
        hole = math.hypot(*(back @ np.array([d["x"], d["y"], 1.0]))[:2]) < 0.06
        steps = [] if hole else [90, 180, 270, 45, 135, 225, 315, *range(12, 360, 12)]
        for degrees in steps:
            t = math.radians(degrees)
            c, s = math.cos(t), math.sin(t)
            turn = board @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]) @ back
            x, y, _ = turn @ np.array([d["x"], d["y"], 1.0])
            reach = 1.7 * d["r"]
            x0, x1, y0, y1 = round(x - reach), round(x + reach), round(y - reach), round(y + reach)
            if x0 < 0 or y0 < 0 or x1 >= width or y1 >= height or taken_up[y0:y1, x0:x1].any():
                continue
            turned = cv2.warpPerspective(
                picture, turn, (width, height), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            ).astype(np.float32)
            mask = np.zeros((height, width), np.float32)
            cv2.circle(mask, (round(d["x"]), round(d["y"])), round(1.5 * d["r"]), 1.0, -1, cv2.LINE_AA)
            ring = np.zeros((height, width), np.uint8)
            cv2.circle(ring, (round(d["x"]), round(d["y"])), round(1.85 * d["r"]), 1, max(2, round(0.3 * d["r"])))
            ring[taken_up > 0] = 0
            if ring.sum() > 20:
                turned += np.median(picture[ring > 0] - turned[ring > 0], axis=0)
            mask = cv2.GaussianBlur(mask, (0, 0), 0.12 * d["r"])[..., None]
            out = out * (1 - mask) + turned * mask
            break
        else:
            left.append(d)
    out = np.clip(np.rint(out), 0, 255).astype(np.uint8)
    if left:
        mask = np.zeros((height, width), np.uint8)
        for d in left:
            cv2.circle(mask, (round(d["x"]), round(d["y"])), round(1.35 * d["r"]), 255, -1)
        out = cv2.inpaint(out, mask, 0.3 * left[0]["r"], cv2.INPAINT_TELEA)
        cx, cy, a, b, _ = truth["rings"]["hole"]
        felt = PAINTS[len(truth["discs"]) % len(PAINTS)]
        for grow, paint in ((1.0, tuple(0.5 * v for v in felt)), (0.95, felt)):
            cv2.circle(
                out, (round(16 * cx), round(16 * cy)), round(16 * grow * math.sqrt(a * b)), paint, -1, cv2.LINE_AA, 4
            )
    return out


def sprites(photo: Photo, team: str) -> list[Sprite]:
    """The discs of one set on the surface of a photo that nothing covers."""
    back = np.linalg.inv(photo.board)
    height, width = photo.picture.shape[:2]
    found = []
    for d in photo.truth["discs"]:
        x, y, r = d["x"], d["y"], d["r"]
        near = min((math.hypot(o["x"] - x, o["y"] - y) for o in photo.truth["discs"] if o is not d), default=9e9)
        half = math.ceil(1.5 * r)
        if d["team"] != team or near < 2.0 * r or not (half < x < width - half and half < y < height - half):
            continue
        u, v, _ = back @ np.array([x, y, 1.0])
        middle = (2 * half, 2 * half)
        patch = cv2.getRectSubPix(photo.picture, (4 * half + 1, 4 * half + 1), (x, y))
        alpha = np.zeros(patch.shape[:2], np.uint8)
        for lean in (0.0, 0.05, 0.1):
            at = [round(16 * (m - lean * r * p)) for m, p in zip(middle, (u, v), strict=True)]
            cv2.circle(alpha, (at[0], at[1]), round(16 * 0.985 * r), 255, -1, cv2.LINE_AA, 4)
        face = np.zeros(patch.shape[:2], np.uint8)
        cv2.circle(face, middle, round(0.7 * r), 255, -1)
        colour = np.median(patch[face > 0], axis=0)
        found.append(Sprite(patch, alpha / np.float32(255), r, math.hypot(u, v), math.atan2(v, u), colour))
    return found


def dyed(sprite: Sprite, colour: np.ndarray) -> Sprite:
    """A disc in another colour with its own grain and light."""
    gain = np.minimum((colour + 6.0) / (sprite.colour + 6.0), 2.0)
    picture = np.clip(sprite.picture * gain + (colour - sprite.colour * gain), 0, 255)
    return Sprite(picture, sprite.alpha, sprite.r, sprite.out, sprite.turn, colour)


def two_sets(photos: list[Photo], surface: np.ndarray, rng: np.random.Generator) -> list[list[Sprite]]:
    """Two sets of real discs that can be seen on this surface, the lighter first."""
    while True:
        one = photos[int(rng.integers(len(photos)))]
        other = one if rng.random() < 0.5 else photos[int(rng.integers(len(photos)))]
        sets = [sprites(one, "A"), sprites(other, "B")]
        if min(len(s) for s in sets) < 2:
            continue
        if rng.random() < 0.35:
            pair = TEAMS[int(rng.integers(len(TEAMS)))]
            sets = [
                [dyed(s, np.array(c, float) * rng.uniform(0.9, 1.05)) for s in team]
                for team, c in zip(sets, pair, strict=True)
            ]
        usual = [_lab(np.median([s.colour for s in team], axis=0)) for team in sets]
        seen = min(float(np.linalg.norm(u - _lab(surface))) for u in usual)
        if seen > SEEN and np.linalg.norm(usual[0] - usual[1]) > APART:
            return sets if usual[0][0] > usual[1][0] else sets[::-1]


def lay(
    picture: Image, at: tuple[float, float], r: float, turn: float, *, sprite: Sprite, shadow: tuple[float, ...]
) -> None:
    """One disc with its shadow, in place; ``turn`` in radians from how the sprite was taken."""
    dx, dy, strength, soft = shadow
    half = math.ceil(2.2 * r)
    x0, y0 = round(at[0]) - half, round(at[1]) - half
    if x0 < 0 or y0 < 0 or x0 + 2 * half >= picture.shape[1] or y0 + 2 * half >= picture.shape[0]:
        return
    part = picture[y0 : y0 + 2 * half, x0 : x0 + 2 * half]
    size = (2 * half, 2 * half)
    scale, middle = r / sprite.r, (sprite.picture.shape[1] - 1) / 2
    c, s = math.cos(turn) * scale, math.sin(turn) * scale
    tx, ty = at[0] - x0, at[1] - y0
    move = np.array([[c, -s, tx - c * middle + s * middle], [s, c, ty - s * middle - c * middle]])
    source, cover = sprite.picture.astype(np.float32), sprite.alpha
    if scale < 0.8:
        source, cover = (cv2.GaussianBlur(p, (0, 0), 0.4 / scale) for p in (source, cover))
    face = cv2.warpAffine(source, move, size, borderMode=cv2.BORDER_REPLICATE)
    alpha = cv2.warpAffine(cover, move, size)
    cast = np.zeros(size, np.float32)
    cv2.circle(
        cast, (round(16 * (tx + dx * r)), round(16 * (ty + dy * r))), round(16 * 1.02 * r), 1.0, -1, cv2.LINE_AA, 4
    )
    cast = cv2.GaussianBlur(cast, (0, 0), max(0.5, soft * r))[..., None] * strength
    touch = cv2.GaussianBlur(alpha, (0, 0), max(0.5, 0.07 * r))[..., None] * 0.4
    part *= (1 - cast) * (1 - touch)
    part[:] = part * (1 - alpha[..., None]) + face * alpha[..., None]


def layout(photo: Photo, r: float, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Places in outer radii: anywhere, at lines, in groups, in the hole, in the ditch."""
    ratios = [math.sqrt(photo.truth["rings"][n][2] * photo.truth["rings"][n][3]) for n in LINES]
    ratios = [v / ratios[2] for v in ratios]
    places: list[tuple[float, float]] = []

    def free(x: float, y: float, least: float = 2.03) -> bool:
        return all(math.hypot(x - a, y - b) > least * r for a, b in places)

    hx, hy, *_ = photo.truth["rings"]["hole"]
    back = np.linalg.inv(photo.board)
    u, v, _ = back @ np.array([hx, hy, 1.0])
    if rng.random() < HOLE and free(u, v):
        places.append((float(u), float(v)))
    wanted = int(rng.integers(2, 16))
    for _ in range(400):
        if len(places) >= wanted:
            break
        kind, a = rng.random(), float(rng.uniform(0, 2 * math.pi))
        out = math.sqrt(rng.uniform(0.02, 0.97))
        if kind < 0.25:
            out = ratios[int(rng.integers(3))] + float(rng.uniform(-1.4, 1.4)) * r
        x, y = out * math.cos(a), out * math.sin(a)
        if 0.25 <= kind < 0.5 and places:
            px, py = places[int(rng.integers(len(places)))]
            x, y = px + rng.uniform(2.03, 2.6) * r * math.cos(a), py + rng.uniform(2.03, 2.6) * r * math.sin(a)
        if free(x, y) and 1.6 * r < math.hypot(x, y) < 0.99:
            places.append((x, y))
    for _ in range(int(rng.integers(0, 16)) if photo.name != "white-1" else 0):
        out, a = float(rng.uniform(1.14, 1.21)), float(rng.uniform(0, 2 * math.pi))
        x, y = out * math.cos(a), out * math.sin(a)
        if free(x, y):
            places.append((x, y))
    return places


def _zone(photo: Photo, x: float, y: float, r: float) -> tuple[int | str, bool]:
    """What a disc whose top is seen at a pixel is worth, and whether that is sure."""

    def beyond(name: str) -> float:
        cx, cy, a, b, degrees = photo.truth["rings"][name]
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        p, q = ((1 - LEAN) * (x - cx), (1 - LEAN) * (y - cy))
        return (math.hypot((c * p + s * q) / a, (c * q - s * p) / b) - 1) * math.sqrt(a * b)

    if beyond("hole") < -0.9 * math.sqrt(np.prod(photo.truth["rings"]["hole"][2:4])):
        return 20, True
    if beyond("outer_line") > 2 * r:
        return "ditch", True
    sure, value = True, 0
    for name, worth in zip(LINES[::-1], (5, 10, 15), strict=True):
        gap = beyond(name) + photo.truth["line_widths"][name] / 2 + r
        sure &= abs(gap) > CLOSE * r
        value = worth if gap < 0 else value
    return value, sure


def printed(picture: Image, photo: Photo, rng: np.random.Generator) -> None:
    """Names, badges and stars in the field, in ink or burned."""
    ink = (30, 32, 38) if rng.random() < 0.6 else tuple(int(v) for v in rng.integers(20, 240, 3))
    unit = photo.board[0, 0]
    layer, cover = np.full(picture.shape, ink, np.float32), np.zeros(picture.shape[:2], np.uint8)
    for _ in range(int(rng.integers(1, 4))):
        out, a = float(rng.uniform(0.4, 0.9)), float(rng.uniform(0, 2 * math.pi))
        u, v, _ = photo.board @ np.array([out * math.cos(a), out * math.sin(a), 1.0])
        if rng.random() < 0.6:
            font = int(rng.choice([cv2.FONT_HERSHEY_TRIPLEX, cv2.FONT_HERSHEY_SCRIPT_COMPLEX, cv2.FONT_HERSHEY_DUPLEX]))
            word = str(rng.choice(["Crokinole", "MAPLES", "World Champion", "1876", "Club", "Walters & Co"]))
            size = float(rng.uniform(0.0015, 0.004)) * unit
            wh, _ = cv2.getTextSize(word, font, size, max(1, round(size * 2)))
            cv2.putText(
                cover, word, (round(u - wh[0] / 2), round(v)), font, size, 255, max(1, round(size * 2)), cv2.LINE_AA
            )
        else:
            reach = float(rng.uniform(0.04, 0.12)) * unit
            thick = -1 if rng.random() < 0.3 else max(1, round(0.08 * reach))
            cv2.circle(cover, (round(u), round(v)), round(reach), 255, thick, cv2.LINE_AA)
            if thick > 0:
                points = [(u + reach * f * math.cos(t), v + reach * f * math.sin(t)) for t, f in _star()]
                cv2.fillPoly(cover, [np.rint(points).astype(np.int32)], 255, cv2.LINE_AA)
    alpha = cover[..., None] / np.float32(255) * float(rng.uniform(0.6, 0.95))
    picture[:] = picture * (1 - alpha) + layer * alpha


def _star() -> list[tuple[float, float]]:
    return [(k * math.pi / 5, 0.75 if k % 2 else 0.32) for k in range(10)]


def lamp(picture: Image, photo: Photo, rng: np.random.Generator) -> None:
    """The light of a lamp or window on the lacquer, where lines are hardly seen."""
    height, width = picture.shape[:2]
    u, v, _ = photo.board @ np.array([*rng.uniform(-0.8, 0.8, 2), 1.0])
    a, b, turn = *(rng.uniform(0.1, 0.35, 2) * photo.board[0, 0]), rng.uniform(0, math.pi)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    x, y = x - u, y - v
    p, q = (x * math.cos(turn) + y * math.sin(turn)) / a, (y * math.cos(turn) - x * math.sin(turn)) / b
    veil = np.exp(-((p * p + q * q) ** 1.5))[..., None] * float(rng.uniform(0.3, 0.75))
    picture[:] = picture * (1 - veil) + 250 * veil


def recombined(photo: Photo, photos: list[Photo], rng: np.random.Generator) -> tuple[Image, dict]:
    """One board with other photos' discs, and the truth."""
    picture = photo.cleared.astype(np.float32)
    cx, cy, a, *_ = photo.truth["rings"]["outer_line"]
    hole = math.sqrt(photo.truth["rings"]["hole"][2] * photo.truth["rings"]["hole"][3])
    r_px = float(np.clip(hole / rng.uniform(1.04, 1.2), 0.05 * a, 0.07 * a))
    r = r_px / a
    ring = np.zeros(picture.shape[:2], np.uint8)
    cv2.circle(ring, (round(cx), round(cy)), round(0.5 * a), 255, round(0.2 * a))
    sets = two_sets(photos, np.median(picture[ring > 0], axis=0), rng)
    if rng.random() < 0.4:
        printed(picture, photo, rng)
    way, far = float(rng.uniform(0, 2 * math.pi)), float(rng.uniform(0.03, 0.3))
    shadow = (far * math.cos(way), far * math.sin(way), float(rng.uniform(0.15, 0.5)), float(rng.uniform(0.06, 0.2)))
    discs, places = [], layout(photo, r, rng)
    height, width = picture.shape[:2]
    spare = [(1.75 * math.cos(t), 1.75 * math.sin(t)) for t in rng.uniform(0, 2 * math.pi, int(rng.integers(0, 5)))]
    for x, y in places + spare:
        u, v, _ = photo.board @ np.array([x, y, 1.0])
        if not (2.3 * r_px < u < width - 2.3 * r_px and 2.3 * r_px < v < height - 2.3 * r_px):
            continue
        which = int(rng.integers(2))
        out = math.hypot(x, y)
        near = sorted(sets[which], key=lambda s, out=out: abs(s.out - out))[:4]
        sprite = near[int(rng.integers(len(near)))]
        here = shadow if out > 1.2 * r else (0.0, 0.0, 0.0, 0.1)
        lay(picture, (u, v), r_px, math.atan2(y, x) - sprite.turn, sprite=sprite, shadow=here)
        if (x, y) in spare:
            continue
        zone, sure = _zone(photo, float(u), float(v), r_px)
        discs.append({"x": u, "y": v, "r": r_px, "team": "AB"[which], "zone": zone, "sure": sure})
    if rng.random() < 0.3:
        lamp(picture, photo, rng)
    totals = {t: sum(d["zone"] for d in discs if d["team"] == t and d["zone"] != "ditch") for t in "AB"}
    truth = {**photo.truth, "discs": discs, "totals": totals}
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8), truth


def main() -> int:
    """Recombine and read; status 0 always, for nothing here is a bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", default="0:4", help="FIRST:PAST, one picture of every board each")
    parser.add_argument("--only", default="", help="boards whose name holds this")
    parser.add_argument("--keep", type=Path, help="folder for the pictures with anything wrong")
    parser.add_argument("--all", action="store_true", help="keep the others, too")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    truths = json.loads((options.folder / "truth.json").read_text(encoding="utf-8"))
    photos = [loaded(options.folder / name, truth) for name, truth in sorted(truths.items())]
    first, past = (int(v) for v in options.seeds.split(":"))
    row: Counter[str] = Counter()
    for number, photo in enumerate(photos):
        if options.only not in photo.name:
            continue
        for seed in range(first, past):
            rng = np.random.default_rng([seed, number, 0xC0B1])
            laid, truth = recombined(photo, photos, rng)
            picture, warp = taken(laid, rng)
            notes = compared(picture, _all_moved(truth, warp, 1.0), row)
            if notes:
                print(f"{photo.name} {seed}: {'; '.join(notes)}", flush=True)
            if options.keep is not None and (notes or options.all):
                options.keep.mkdir(parents=True, exist_ok=True)
                cv2.imwrite(str(options.keep / f"{photo.name}-{seed}.png"), picture)
    recall, precision = (row["ditch found"] / max(1, row[k]) for k in ("ditch", "ditch read"))
    if options.json:
        print(json.dumps(dict(row)))
        return 0
    print("; ".join(f"{column} {row[column]}" for column in COLUMNS), f"ditch {recall:.3f}, {precision:.3f}", sep="; ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
