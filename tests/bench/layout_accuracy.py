"""Accuracy of the reading of boards at rest, on layouts drawn by chance, beside what is wanted.

Every sitting is one board under one camera: the empty board is found in its frames, then layout after layout is put
down and read from six frames by the reader of the live camera. The first layout of a sitting is read knowing nothing
of the discs (``cold``); after WARM layouts, about as many discs as a round has, they count as ``learned``.

    python tests/bench/layout_accuracy.py --set natural --from 0 --count 250 --save natural-0.json
    python tests/bench/layout_accuracy.py --of natural-*.json

Sets: ``natural`` (discs anywhere), ``drawn`` (a fifth of the discs within 2 mm of a line), ``lines`` (every disc within
2 mm of a line), ``hard`` (any board, camera and light).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from firmware_py.camera.board.start import NoBoardError, calibrate
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.reader import LayoutReader
from firmware_py.camera.rest.resting import Resting
from hardware.board import TOURNAMENT
from hardware.twin.layouts import drawn_layout
from hardware.twin.optics import Renderer, drawn_pose, hard_optics, nominal_optics, nominal_pose
from hardware.twin.scene import Scene, SceneDisc
from hardware.twin.styles import NAMED, drawn_style
from hub.judging.lines import CLOSE_SIGMAS

BOARD = TOURNAMENT
#: Layouts on one board, and how many of them teach the looks of the discs before they count as learned; in hard optics,
#: where boards, cameras and lights differ more than layouts do, fewer on each.
SITTING, WARM = 25, 3
HARD_SITTING, HARD_WARM = 5, 1
FRAMES = 6
MATCH_MM = 12.0
#: A disc under another of which less shows than some ten pixels of the frame cannot be told from the other's wall.
LEAST_SEEN_MM2 = 8.0
SETS = ("natural", "drawn", "lines", "hard")


@dataclass
class Figures:
    """Running figures of one state of learning."""

    off_mm: list[float] = field(default_factory=list)
    radial_mm: list[float] = field(default_factory=list)
    sigma_mm: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def add(self, other: dict[str, Any]) -> None:
        """Take in the figures of another run."""
        self.off_mm += other["off_mm"]
        self.radial_mm += other["radial_mm"]
        self.sigma_mm += other["sigma_mm"]
        self.counts.update(other["counts"])
        self.notes += other["notes"]


class Sitting:
    """One board under one camera, with the reader that found it."""

    def __init__(self, number: int, kind: str, style: str | None, *, height: bool) -> None:
        seed = 5000 + number
        self.hard = kind == "hard"
        if self.hard:
            look, pose, optics = drawn_style(seed), drawn_pose(BOARD, seed), hard_optics(seed)
        else:
            look = NAMED[style or sorted(NAMED)[number % len(NAMED)]]
            pose, optics = nominal_pose(BOARD), nominal_optics()
        self.look = look
        self.illegible = ""
        self.where = f"{look.name} #{number}"
        self.eye = Renderer(BOARD, look, pose, optics, seed)
        self.frame = 0
        frames = [self.shoot(Scene(at_ns=0)) for _ in range(12)]
        mean = np.rint(np.mean(frames, axis=0, dtype=np.float32)).astype(np.uint8)
        calibration = calibrate(mean, BOARD, height_mm=pose.height_mm if height else 0.0, seat1_deg=pose.turn_deg)
        view = BoardView(calibration, BOARD)
        bare = np.mean([view.straight(f) for f in frames], axis=0, dtype=np.float32)
        self.reader = LayoutReader(
            view,
            bare,
            Wardrobe(),
            hole_xy_mm=calibration.hole_xy_mm,
            height_error=min(0.3, max(0.01, calibration.height_spread - 1)),
        )

    def shoot(self, scene: Scene) -> Image:
        """One frame of a scene."""
        self.frame += 1
        return self.eye.render(scene, self.frame)

    def read(self, scene: Scene) -> tuple[Resting, ...]:
        """What the reader says that lies there."""
        self.frame += 150  # some seconds of the light's drift
        views = [self.reader.view.straight(self.shoot(scene)) for _ in range(FRAMES)]
        straight = np.rint(np.mean(views, axis=0, dtype=np.float32)).astype(np.uint8)
        reading = self.reader.read(straight, None, ())
        found, self.illegible = reading.found, reading.illegible
        self.reader.teacher.renamed = False
        if not self.illegible:
            self.reader.adapt(straight, found)
        for _ in range(25):
            self.reader.study()  # as while nothing happens
        return found


def layout(number: int, kind: str, hole_xy_mm: tuple[float, float]) -> Scene:
    """The scene of a number."""
    seed = 70_000 + number
    if kind == "lines":
        return drawn_layout(
            BOARD, seed, hole_xy_mm=hole_xy_mm, line_share=1.0, on_surface=(6, 14), in_ditch=(0, 6), odd=False
        )
    return drawn_layout(BOARD, seed, hole_xy_mm=hole_xy_mm, line_share=0.2 if kind == "drawn" else 0.0)


def where(disc: SceneDisc) -> str:
    """How a drawn disc lies, in the words of a layout."""
    r_mm = math.hypot(disc.x_mm, disc.y_mm)
    if disc.z_mm > 0:
        return "stacked"
    if r_mm < BOARD.hole_radius_mm + 3 and disc.z_mm < 0:  # a hole may be off the middle, with a disc flat beside it
        return "leaning" if disc.tilt_deg else "hole"
    if disc.z_mm < -0.7 * BOARD.surface_height_mm:
        return "ditch"
    if disc.tilt_deg:
        return "over edge"
    return "flat" if r_mm < BOARD.surface_radius_mm else "ditch"


def zone(state: str, r_mm: float) -> int:
    """What a disc is worth."""
    return 20 if state == "hole" else BOARD.value(r_mm)


def compare(figures: Figures, scene: Scene, found: tuple[Resting, ...], say: str) -> None:
    """Take the figures of one layout."""
    counts = figures.counts
    counts["layouts"] += 1
    pairs = sorted(
        (math.dist((s.x_mm, s.y_mm), (d.x_mm, d.y_mm)), n, k)
        for n, s in enumerate(found)
        for k, d in enumerate(scene.discs)
    )
    mine: dict[int, int] = {}
    for off, n, k in pairs:
        if n not in mine and k not in mine.values() and off < MATCH_MM:
            mine[n] = k
    hidden = {d.id for d in scene.discs if any(_on(o, d) for o in scene.discs)}
    for k, disc in enumerate(scene.discs):
        lies = where(disc)
        if k in mine.values():
            continue
        if lies == "ditch":
            counts["ditch missed"] += 1
        elif disc.id in hidden and (seen_mm2 := seen_of(disc, scene.discs)) < LEAST_SEEN_MM2:
            counts["unseen under another"] += 1
            figures.notes.append(f"{say}: {disc.id} under another shows {seen_mm2:.0f} mm2 and was not found")
        else:
            counts["missed"] += 1
            counts[f"missed {lies}"] += 1
            figures.notes.append(
                f"{say}: missed {lies} {disc.id} {disc.colour} at ({disc.x_mm:.0f}, {disc.y_mm:.0f}), "
                f"r {math.hypot(disc.x_mm, disc.y_mm):.1f}"
            )
    for disc in scene.discs:
        lies = where(disc)
        counts["ditch" if lies == "ditch" else "discs"] += 1
        counts[f"is {lies}"] += 1
    for n, seen in enumerate(found):
        if n not in mine:
            counts["ditch invented" if seen.state == "ditch" else "invented"] += 1
            if seen.state != "ditch":
                figures.notes.append(
                    f"{say}: invented {seen.colour} {seen.state} at ({seen.x_mm:.0f}, {seen.y_mm:.0f})"
                )
            continue
        match_disc(figures, scene.discs[mine[n]], seen, say, hidden)


def refuse(figures: Figures, scene: Scene, found: tuple[Resting, ...], say: str) -> None:
    """Count a layout that was called not readable, rightly if what was found in it is not what lies there."""
    would = Figures()
    compare(would, scene, found, say)
    figures.counts["not readable"] += 1
    figures.counts["not readable, rightly"] += would.counts["missed"] + would.counts["invented"] > 0
    figures.notes.append(say)


def match_disc(figures: Figures, disc: SceneDisc, seen: Resting, say: str, hidden: set[str]) -> None:
    """Take the figures of one disc that was found."""
    counts, lies = figures.counts, where(disc)
    r_mm = math.hypot(disc.x_mm, disc.y_mm)
    if seen.colour != disc.colour:
        counts["colour wrong" if lies != "ditch" else "ditch colour wrong"] += 1
        figures.notes.append(f"{say}: {disc.id} {lies} at {r_mm:.1f} is {disc.colour}, called {seen.colour}")
    if lies == "ditch":
        return
    if lies == "flat" and disc.id not in hidden:
        figures.off_mm.append(math.dist((seen.x_mm, seen.y_mm), (disc.x_mm, disc.y_mm)))
        figures.radial_mm.append(seen.r_mm - r_mm)
        figures.sigma_mm.append(seen.sigma_mm)
    wrong = zone(lies, r_mm) != (0 if seen.state == "ditch" else zone(seen.state, seen.r_mm))
    near = seen.state in {"flat", "stacked"} and BOARD.margin_mm(seen.r_mm) < CLOSE_SIGMAS * seen.sigma_mm
    flagged = near or seen.rival is not None
    counts["zones"] += 1
    counts["flagged"] += flagged
    counts["flagged at the hole"] += seen.rival is not None
    if wrong and flagged:
        counts["wrong but flagged"] += 1
    elif wrong:
        counts["wrong"] += 1
        figures.notes.append(
            f"{say}: {disc.id} {lies} at {r_mm:.2f} is called {seen.state} at {seen.r_mm:.2f} +- {seen.sigma_mm:.2f}"
        )
    if lies != seen.state and not (lies == "over edge" and seen.state in {"overhanging", "ditch"}):
        counts[f"{lies} called {seen.state}" + (" or the other" if seen.rival else "")] += 1


def _on(upper: SceneDisc, lower: SceneDisc) -> bool:
    near = math.dist((upper.x_mm, upper.y_mm), (lower.x_mm, lower.y_mm)) < 2 * BOARD.disc_radius_mm
    return near and upper.z_mm > lower.z_mm == 0


def seen_of(lower: SceneDisc, discs: Iterable[SceneDisc]) -> float:
    """How much of the top face of a disc the nominal camera sees beside those that lie on it, mm2."""
    pose, step = nominal_pose(BOARD), 0.5
    side = np.arange(-BOARD.disc_radius_mm, BOARD.disc_radius_mm, step)
    dx, dy = (a[np.hypot(*np.meshgrid(side, side)) < BOARD.disc_radius_mm] for a in np.meshgrid(side, side))
    (foot_x, foot_y), top_mm = pose.foot_xy_mm, lower.z_mm + BOARD.disc_height_mm
    free = np.ones(len(dx), dtype=bool)
    for upper in discs:
        if not _on(upper, lower):
            continue
        for z_mm in upper.z_mm + np.linspace(0, BOARD.disc_height_mm, 8):
            k = (pose.height_mm - z_mm) / (pose.height_mm - top_mm)
            x, y = (foot + (at + off - foot) * k for foot, at, off in (
                (foot_x, lower.x_mm, dx), (foot_y, lower.y_mm, dy)))  # fmt: skip
            free &= np.hypot(x - upper.x_mm, y - upper.y_mm) >= BOARD.disc_radius_mm
    return float(free.sum()) * step * step


def report(name: str, figures: Figures, kind: str) -> None:
    """Print the figures beside what is wanted."""
    counts, discs = figures.counts, max(1, figures.counts["discs"])
    print(f"-- {kind}, {name}: {counts['layouts']} layouts, {counts['discs']} discs")
    if figures.off_mm:
        off, radial, sigma = (np.array(v) for v in (figures.off_mm, figures.radial_mm, figures.sigma_mm))
        covered = float(np.mean(np.abs(radial) < 1.96 * sigma))
        print(
            f"   base: median {np.median(off):.3f} (<= 0.35), p95 {np.percentile(off, 95):.3f} (<= 0.9) mm, "
            f"largest {off.max():.2f}; radial mean {radial.mean():+.3f} sd {radial.std():.3f}, "
            f"sigma stated {np.median(sigma):.3f}; 95 % covers {covered:.1%} (93-99 %)"
        )
    wrong, zones = counts["wrong"], max(1, counts["zones"])
    bar = ("0", "3 %") if kind != "lines" else ("1 per 1,000", "15 %")
    print(
        f"   zones wrong unflagged {wrong} = {1e3 * wrong / zones:.2f} per 1,000 (<= {bar[0]}), "
        f"flagged {counts['flagged'] / zones:.1%} (<= {bar[1]}), rightly: {counts['wrong but flagged']}"
    )
    bad = counts["missed"] + counts["invented"]
    bar_found = "10" if kind == "hard" else "1"
    print(
        f"   missed {counts['missed']} + invented {counts['invented']} = {1e3 * bad / discs:.2f} per 1,000 "
        f"(<= {bar_found}); colours wrong {counts['colour wrong']}; "
        f"not readable {counts['not readable']} of {counts['read or not']} layouts "
        f"(rightly {counts['not readable, rightly']}); boards refused {counts['refused']} of {counts['sittings']}"
    )
    shown = {
        "layouts",
        "discs",
        "zones",
        "wrong",
        "flagged",
        "missed",
        "invented",
        "sittings",
        "refused",
        "read or not",
    }
    also = {k: v for k, v in sorted(counts.items()) if k not in shown and not k.startswith(("is ", "not readable"))}
    print("   also:", also)


def run(options: argparse.Namespace) -> dict[str, Figures]:
    """Read the layouts asked for."""
    figures = {"cold": Figures(), "learned": Figures()}
    sitting: Sitting | None = None
    size, warm = (HARD_SITTING, HARD_WARM) if options.set == "hard" else (SITTING, WARM)
    for number in range(options.first, options.first + options.count):
        at = number % size
        if at == 0 or number == options.first:
            figures["learned"].counts["sittings"] += 1
            try:
                sitting = Sitting(number // size, options.set, options.style, height=not options.no_height)
            except NoBoardError as error:
                sitting = None
                figures["learned"].counts["refused"] += 1
                figures["learned"].notes.append(f"sitting {number // size}: {error}")
            since = number
        if sitting is None:
            continue
        scene = layout(number, options.set, sitting.look.hole_offset_xy_mm)
        found = sitting.read(scene)
        turn = number - since
        say = f"{sitting.where} layout {number}"
        which = figures["cold"] if turn == 0 else figures["learned"] if turn >= warm else None
        if which is None:
            continue
        which.counts["read or not"] += 1
        if sitting.illegible:
            refuse(which, scene, found, f"{say}: {sitting.illegible}")
        else:
            compare(which, scene, found, say)
    return figures


def main() -> int:
    """Read, save, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="natural")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--style", choices=sorted(NAMED), help="one board instead of all named ones in turn")
    parser.add_argument("--no-height", action="store_true", help="let the reader estimate the camera's height")
    parser.add_argument("--save", type=Path, help="keep the raw figures of this part")
    parser.add_argument("--of", type=Path, nargs="+", help="print the sum of parts that were saved")
    parser.add_argument("--notes", type=int, default=30)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    kind: str = options.set
    if options.of:
        figures = {"cold": Figures(), "learned": Figures()}
        for path in options.of:
            part = json.loads(path.read_text())
            kind = part["set"]
            for name, values in part["figures"].items():
                figures[name].add(values)
    else:
        figures = run(options)
    if options.save:
        parts = {n: {k: getattr(f, k) for k in f.__dataclass_fields__} for n, f in figures.items()}
        options.save.write_text(json.dumps({"set": kind, "figures": parts}))
    for name, one in figures.items():
        for text in one.notes[: options.notes]:
            print(f"{name}: {text}", file=sys.stderr)
    for name, one in figures.items():
        report(name, one, kind)
    return 0


if __name__ == "__main__":
    sys.exit(main())
