"""How well photos are read: every photo of a folder against its ``truth.json``, one line each and a summary.

    python tests/bench/photo_accuracy.py ../shared/photos [--verbose] [--json]

Targets (over all photos): boards found in all, lines within 0.6 % of the outer radius, all live discs found, none
invented, zones and totals right where the truth is sure with at most 4 discs flagged beyond, ditch discs recall
>= 92 % and precision >= 97 %, centres on the surface within 0.05 r (median) and 0.13 r (95 %).
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from firmware_py.camera.still.photo import score_photo
from firmware_py.camera.still.photoreading import PhotoDisc, PhotoError, PhotoReading

#: A read disc and a true one are the same when their centres are closer than this part of the radius.
SAME = 0.6
LINES = ("line_15", "line_10", "outer_line")


@dataclass
class Tally:
    """What one photo, or all of them, came to."""

    line_error: list[float] = field(default_factory=list)
    centre_error: list[float] = field(default_factory=list)
    ditch_centre_error: list[float] = field(default_factory=list)
    live: int = 0
    live_missed: int = 0
    live_invented: int = 0
    ditch_true: int = 0
    ditch_found: int = 0
    ditch_read: int = 0
    wrong_zone: int = 0
    wrong_side: int = 0
    flagged_beyond: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Sum another photo up."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def ellipse_points(ellipse: list[float], count: int = 180) -> np.ndarray:
    """Points on ``[cx, cy, a, b, degrees]``."""
    cx, cy, a, b, degrees = ellipse
    t, turn = np.linspace(0, 2 * np.pi, count, endpoint=False), math.radians(degrees)
    x, y = a * np.cos(t), b * np.sin(t)
    return np.stack(
        [cx + x * math.cos(turn) - y * math.sin(turn), cy + x * math.sin(turn) + y * math.cos(turn)], axis=1
    )


def line_errors(reading: PhotoReading, truth: dict) -> list[float]:
    """Largest distance of each line from the true one, in percent of the true outer radius."""
    outer = math.sqrt(truth["rings"]["outer_line"][2] * truth["rings"]["outer_line"][3])
    errors = []
    for k, name in enumerate(LINES):
        true = ellipse_points(truth["rings"][name])
        found = ellipse_points(list(reading.rings.ellipse(k)), 2000)
        gap = np.linalg.norm(true[:, None] - found[None], axis=-1).min(axis=1)
        errors.append(float(gap.max()) / outer * 100)
    return errors


def match(discs: list[PhotoDisc], truth: list[dict]) -> list[tuple[int, int]]:
    """Pairs (read, true), nearest first, each disc once."""
    if not discs or not truth:
        return []
    gap = np.array([[math.hypot(d.x - t["x"], d.y - t["y"]) / t["r"] for t in truth] for d in discs])
    pairs = []
    for k in np.argsort(gap, axis=None):
        i, j = divmod(int(k), len(truth))
        if gap[i, j] >= SAME:
            break
        if all(i != a and j != b for a, b in pairs):
            pairs.append((i, j))
    return pairs


def compare(reading: PhotoReading, truth: dict) -> Tally:
    """One photo against its truth."""
    tally = Tally(line_error=line_errors(reading, truth))
    discs, true = list(reading.discs), truth["discs"]
    pairs = match(discs, true)
    read_of = {j: discs[i] for i, j in pairs}
    for j, t in enumerate(true):
        in_ditch, found = t["zone"] == "ditch", read_of.get(j)
        tally.live += not in_ditch
        tally.ditch_true += in_ditch
        if found is None:
            if not in_ditch:
                tally.live_missed += 1
                tally.notes.append(f"missed {t['zone']} {t['team']} at ({t['x']:.0f},{t['y']:.0f})")
            continue
        gap = math.hypot(found.x - t["x"], found.y - t["y"]) / t["r"]
        (tally.ditch_centre_error if in_ditch else tally.centre_error).append(gap)
        tally.ditch_found += in_ditch and found.zone == "ditch"
        tally.flagged_beyond += t["sure"] and not found.sure
        if found.side != ("light" if t["team"] == "A" else "dark"):
            tally.wrong_side += 1
            tally.notes.append(f"side {found.side} at ({t['x']:.0f},{t['y']:.0f})")
        if t["sure"] and found.zone != t["zone"]:
            tally.wrong_zone += 1
            mark = "" if found.sure else " (flagged)"
            tally.notes.append(f"zone {found.zone} for {t['zone']} at ({t['x']:.0f},{t['y']:.0f}){mark}")
        elif t["sure"] and not found.sure:
            tally.notes.append(f"flagged {found.zone} at ({t['x']:.0f},{t['y']:.0f}) margin {found.margin_mm:.1f}")
    tally.ditch_read = sum(1 for d in discs if d.zone == "ditch")
    for i, d in enumerate(discs):
        if all(i != a for a, _ in pairs):
            if d.zone != "ditch":
                tally.live_invented += 1
            tally.notes.append(f"invented {d.zone} {d.side} at ({d.x:.0f},{d.y:.0f})")
    return tally


def totals_possible(reading: PhotoReading, truth: dict) -> bool:
    """Whether the totals are right, where a disc that the truth leaves open may have either value."""
    read_of = {j: reading.discs[i] for i, j in match(list(reading.discs), truth["discs"])}
    wanted = {"light": truth["totals"]["A"], "dark": truth["totals"]["B"]}
    for j, t in enumerate(truth["discs"]):
        if not t["sure"] and j in read_of:
            side = "light" if t["team"] == "A" else "dark"
            wanted[side] += read_of[j].points - (0 if t["zone"] == "ditch" else t["zone"])
    return reading.totals == wanted


def main() -> int:
    """Compare a folder of photos; status 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with photos and truth.json")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    parser.add_argument("--verbose", action="store_true", help="print every difference")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    truths = json.loads((options.folder / "truth.json").read_text(encoding="utf-8"))
    everything, boards, totals_right, times = Tally(), 0, 0, []
    for name, truth in sorted(truths.items()):
        reading = score_photo(options.folder / name)
        if isinstance(reading, PhotoError):
            everything.live += sum(t["zone"] != "ditch" for t in truth["discs"])
            everything.live_missed += sum(t["zone"] != "ditch" for t in truth["discs"])
            print(f"{name:16} {reading.code}: {reading.message}")
            continue
        boards += 1
        tally = compare(reading, truth)
        right = totals_possible(reading, truth)
        totals_right += right
        times.append(reading.ms)
        everything.add(tally)
        worst = max(tally.centre_error, default=0.0)
        print(
            f"{name:16} {'ok ' if right else 'BAD'} totals {reading.totals['light']:3}:{reading.totals['dark']:<3} "
            f"lines {max(tally.line_error):.2f} %  live {tally.live - tally.live_missed}/{tally.live} "
            f"+{tally.live_invented}  ditch {tally.ditch_found}/{tally.ditch_true} of {tally.ditch_read}  "
            f"worst centre {worst:.2f} r  zones wrong {tally.wrong_zone} flagged {tally.flagged_beyond} "
            f"sides wrong {tally.wrong_side}  {reading.ms:.0f} ms"
        )
        if options.verbose:
            for note in tally.notes:
                print(f"{'':20}{note}")
    summary = summarise(everything, boards, totals_right, len(truths), times)
    print(json.dumps(summary) if options.json else "\n".join(f"{k:28} {v}" for k, v in summary.items()))
    return 0 if summary["all_targets_met"] else 1


def summarise(tally: Tally, boards: int, totals_right: int, photos: int, times: list[float]) -> dict:
    """The figures of all photos, and whether every target is met."""
    centre = np.array(tally.centre_error or [0.0])
    recall = tally.ditch_found / max(tally.ditch_true, 1)
    precision = tally.ditch_found / max(tally.ditch_read, 1) if tally.ditch_read else 1.0
    figures = {
        "photos": photos,
        "boards_found": boards,
        "totals_right": totals_right,
        "line_error_percent_max": round(max(tally.line_error, default=0.0), 3),
        "live_discs": tally.live,
        "live_missed": tally.live_missed,
        "live_invented": tally.live_invented,
        "wrong_zone": tally.wrong_zone,
        "wrong_side": tally.wrong_side,
        "flagged_beyond_truth": tally.flagged_beyond,
        "ditch_recall": round(recall, 4),
        "ditch_precision": round(precision, 4),
        "centre_median_r": round(float(np.median(centre)), 4),
        "centre_p95_r": round(float(np.percentile(centre, 95)), 4),
        "ditch_centre_median_r": round(float(np.median(np.array(tally.ditch_centre_error or [0.0]))), 4),
        "ms_median": round(float(np.median(times or [0.0])), 1),
        "ms_max": round(max(times, default=0.0), 1),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    figures["all_targets_met"] = bool(
        boards == totals_right == photos
        and figures["line_error_percent_max"] <= 0.6
        and not (tally.live_missed or tally.live_invented or tally.wrong_zone or tally.wrong_side)
        and tally.flagged_beyond <= 4
        and recall >= 0.92
        and precision >= 0.97
        and figures["centre_median_r"] <= 0.05
        and figures["centre_p95_r"] <= 0.13
    )
    return figures


if __name__ == "__main__":
    sys.exit(main())
