"""How well drawn photos of boards that nobody has seen are read: boards, cameras and light of the twin, by seed.

    python tests/bench/photo_twin.py [--seeds 200:242] [--wide] [--keep FOLDER] [--json]

With ``--wide`` boards, cameras and light are those of ``hardware.twin.photos``: anything that people own. Otherwise
every second board (odd seeds) is taken in hard optics, the others in a fair light; the camera stands anywhere up to 20
degrees off the vertical. Leaning and stacked discs are not counted, for a photo is not asked about them. One line for
each board on which anything was missed, invented or silently wrong, and a summary.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from photo_accuracy import match

from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoDisc, PhotoError, PhotoReading
from hardware.board import Board, load_board
from hardware.twin import photos
from hardware.twin.layouts import drawn_layout
from hardware.twin.lens import CameraPose, drawn_pose
from hardware.twin.light import hard_optics, nominal_optics
from hardware.twin.optics import Renderer
from hardware.twin.scene import Scene, SceneDisc
from hardware.twin.styles import drawn_board, drawn_style

SIZES = ((1600, 1200), (1200, 1200), (1024, 768), (800, 800))


def drawn_photo(seed: int, *, hard: bool) -> tuple[np.ndarray, dict]:
    """A picture and its truth: discs in the form of a photo's ``truth.json``, ``counted`` false for odd ones."""
    rng = np.random.default_rng([seed, 0xF070])
    style = drawn_style(seed)
    board = drawn_board(load_board("tournament" if seed % 3 else "hobby"), seed)
    pose = drawn_pose(board, seed, SIZES[int(rng.integers(len(SIZES)))], max_tilt_deg=20.0)
    if not hard:
        pose = replace(pose, k1=pose.k1 / 3, k2=pose.k2 / 3)
    optics = hard_optics(seed) if hard else nominal_optics()
    renderer = Renderer(board, style, pose, optics, seed)
    scene = drawn_layout(board, seed, hole_xy_mm=style.hole_offset_xy_mm, odd=True)
    discs = [_truth(disc, scene, board, pose) for disc in scene.discs]
    return renderer.render(scene).copy(), {"seed": seed, "discs": discs, "board": board}


def wide_photo(seed: int) -> tuple[np.ndarray, dict]:
    """The same of ``hardware.twin.photos``."""
    photo = photos.drawn_photo(seed)
    discs = [_truth(disc, photo.scene, photo.board, photo.pose) for disc in photo.scene.discs]
    return photo.picture, {"seed": seed, "discs": discs, "board": photo.board}


def _truth(disc: SceneDisc, scene: Scene, board: Board, pose: CameraPose) -> dict:
    top = disc.z_mm + board.disc_height_mm
    x, y = pose.project(disc.x_mm, disc.y_mm, top)
    turn = np.arange(24) * (2 * np.pi / 24)
    rim = pose.project(
        disc.x_mm + board.disc_radius_mm * np.cos(turn), disc.y_mm + board.disc_radius_mm * np.sin(turn), top
    )
    r_mm = math.hypot(disc.x_mm, disc.y_mm)
    stacked = any(
        other is not disc and math.dist((disc.x_mm, disc.y_mm), (other.x_mm, other.y_mm)) < 1.9 * board.disc_radius_mm
        for other in scene.discs
    )
    zone: int | str = board.value(r_mm)
    if disc.z_mm == -board.hole_depth_mm:
        zone = 20
    elif disc.z_mm <= -0.9 * board.surface_height_mm and not disc.tilt_deg:
        zone = "ditch"
    return {
        "x": float(x),
        "y": float(y),
        "r": float(np.hypot(rim[:, 0] - x, rim[:, 1] - y).mean()),
        "zone": zone,
        "team": "A" if disc.colour == "light" else "B",
        "margin_mm": board.margin_mm(r_mm),
        "counted": not disc.tilt_deg and not stacked,
        "sure": True,
    }


def told(disc: PhotoDisc) -> bool:
    """Whether a person is asked to look at a disc."""
    return not disc.sure


def compared(reading: PhotoReading, truth: list[dict], count: Counter[str], centres: list[float]) -> list[str]:
    """Add one board to the counts; what was wrong with it, in words."""
    discs, hole_unclear = list(reading.discs), reading.hole_unclear
    pairs = match(discs, truth)
    read_of, notes = {j: discs[i] for i, j in pairs}, []
    for j, t in enumerate(truth):
        if not t["counted"]:
            continue
        place = "ditch" if t["zone"] == "ditch" else "live"
        count[place] += 1
        found = read_of.get(j)
        at = f"({t['x']:.0f},{t['y']:.0f})"
        if found is None:
            count[f"{place} missed"] += 1
            if place == "live":
                asked = t["zone"] == 20 and hole_unclear
                count["hole told"] += asked
                notes.append(f"missed {t['zone']} {t['team']} {at}{' told' if asked else ''}")
            continue
        if place == "live":
            centres.append(math.hypot(found.x - t["x"], found.y - t["y"]) / t["r"])
        silent = "told" if told(found) else "silent"
        if found.zone != t["zone"]:
            count[f"zone {silent}"] += 1
            if silent == "silent":
                notes.append(f"zone {found.zone} for {t['zone']} {at} margin {t['margin_mm']:.1f}")
        elif told(found):
            count["right but told"] += 1
        if (found.side == "light") != (t["team"] == "A"):
            count[f"side {silent}"] += 1
            notes.append(f"side {found.side} {at} {silent}")
    for i, d in enumerate(discs):
        if all(i != a for a, _ in pairs):
            place = "ditch" if d.zone == "ditch" else "live"
            count[f"{place} invented" + ("" if d.sure else " told")] += 1
            notes.append(f"invented {d.zone} {d.side} ({d.x:.0f},{d.y:.0f}) {'told' if told(d) else ''}")
    return notes


def summed_up(count: Counter[str], centres: list[float], *, as_json: bool) -> str:
    """What :func:`compared` has counted, and how far centres were off, in radii of a disc."""
    summary: dict[str, float] = dict(sorted(count.items()))
    if centres:
        summary["centre_median_r"] = round(float(np.median(centres)), 3)
        summary["centre_p95_r"] = round(float(np.percentile(centres, 95)), 3)
    return json.dumps(summary) if as_json else "\n".join(f"{k:24} {v}" for k, v in summary.items())


def main() -> int:
    """Draw and read boards; status 0 always, for nothing here is a bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="200:242", help="FIRST:PAST, one board each")
    parser.add_argument("--wide", action="store_true", help="boards, cameras and light of any kind")
    parser.add_argument("--keep", type=Path, help="folder for the pictures of boards with anything wrong")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    first, past = (int(v) for v in options.seeds.split(":"))
    count: Counter[str] = Counter()
    centres: list[float] = []
    for seed in range(first, past):
        picture, truth = wide_photo(seed) if options.wide else drawn_photo(seed, hard=bool(seed % 2))
        reading = score_picture(picture, board=replace(truth["board"], name="drawn"))
        count["boards"] += 1
        if isinstance(reading, PhotoError):
            count[f"refused {'hard' if seed % 2 else 'fair'}"] += 1
            notes = [f"refused: {reading.code}"]
        else:
            notes = compared(reading, truth["discs"], count, centres)
        if notes:
            print(f"{seed} {'hard' if seed % 2 else 'fair'} {picture.shape[1]}x{picture.shape[0]}: {'; '.join(notes)}")
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                cv2.imwrite(str(options.keep / f"{seed}.png"), picture)
    print(summed_up(count, centres, as_json=options.json))
    return 0


if __name__ == "__main__":
    sys.exit(main())
