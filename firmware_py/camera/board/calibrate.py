"""``crokinole calibrate``: find the board, say in millimetres how well, keep it, and draw it for a person to check."""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from firmware_py.camera.board.calibrate_overlay import draw_calibration
from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.lean import fits, foot_error_mm
from firmware_py.camera.board.rings import Rings, find_rings
from firmware_py.camera.board.start import NoBoardError
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.picturefile import PictureError, read_picture
from firmware_py.camera.place.keepsake import Keepsake
from firmware_py.camera.place.occupied import Occupied, take_occupied
from firmware_py.camera.source import SourceEndedError, SourceGoneError
from firmware_py.camera.sources import open_source
from firmware_py.errors import FirmwareError
from firmware_py.settings import DaemonLock, state_dir
from hardware.board import Board, BoardError, load_board
from hub.link.config import Config

#: Frames averaged, and how long to wait for them.
FRAMES = 12
PATIENCE_S = 15.0
#: Worse than this is told with what to do about it.
LEAST_COVERAGE, MOST_RESIDUAL_MM, MOST_PARALLAX_MM, LEAST_PX_PER_MM = 0.85, 0.5, 0.35, 0.8


@dataclass(frozen=True, slots=True)
class Report:
    """How well a camera sees its board; lengths in millimetres.

    Attributes:
        board: preset.
        size_wh: of the picture.
        coverage: least share of any line that was seen.
        residual_mm: rms distance of the lines from the fit.
        lines_mm: measured radii of the 15 and the 10 line, the outer line being as the preset says.
        lines_off_mm: by how much they differ from the preset's.
        widths_mm: of the three lines, None where not measured.
        camera_height_mm: of the lens above the surface.
        height_error_mm: one standard deviation of it.
        height_from: ``typed``, or what it was found by: the ``perspective``, ``pegs`` and ``discs``.
        heights_mm: what pegs and discs say of it by themselves, each with its standard deviation.
        foot_xy_mm: the point straight below the lens.
        foot_error_mm: one standard deviation of its place.
        parallax_error_mm: what that error does to a disc at the outer line.
        hole_xy_mm: centre of the hole against that of the rings.
        disc_radius_mm: of the discs that lie there, None without any.
        px_per_mm: scale at the centre.
        advice: what to do better, empty if nothing.
    """

    board: str
    size_wh: tuple[int, int]
    coverage: float
    residual_mm: float
    lines_mm: tuple[float, float]
    lines_off_mm: tuple[float, float]
    widths_mm: tuple[float | None, ...]
    camera_height_mm: float
    height_error_mm: float
    height_from: str
    heights_mm: dict[str, tuple[float, float]]
    foot_xy_mm: tuple[float, float]
    foot_error_mm: float
    parallax_error_mm: float
    hole_xy_mm: tuple[float, float]
    disc_radius_mm: float | None
    px_per_mm: float
    advice: tuple[str, ...]

    def to_table(self) -> dict[str, Any]:
        """The object that ``calibrate --json`` prints."""
        table: dict[str, Any] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, tuple):
                value = [round(v, 3) if isinstance(v, float) else v for v in value]
            elif isinstance(value, dict):
                value = {k: [round(v, 1) for v in pair] for k, pair in value.items()}
            table[name] = round(value, 4) if isinstance(value, float) else value
        return table

    def lines(self) -> list[str]:
        """For people."""
        widths = ", ".join("not measured" if w is None else f"{w:.1f}" for w in self.widths_mm)
        known = "as typed" if self.height_from == "typed" else f"found by {self.height_from}"
        seen = "; ".join(f"{kind} say {mm:.0f} +-{error:.0f} mm" for kind, (mm, error) in self.heights_mm.items())
        discs = "none lie there" if self.disc_radius_mm is None else f"radius {self.disc_radius_mm:.2f} mm"
        return [
            f"board        {self.board}, in a picture of {self.size_wh[0]} x {self.size_wh[1]} pixels",
            f"lines        {self.coverage:.0%} seen, {self.residual_mm:.2f} mm rms from the fit",
            (
                f"radii        15 line {self.lines_mm[0]:.1f} mm ({self.lines_off_mm[0]:+.1f}), "
                f"10 line {self.lines_mm[1]:.1f} mm ({self.lines_off_mm[1]:+.1f})"
            ),
            f"widths       {widths} mm",
            (
                f"camera       {self.camera_height_mm:.0f} +-{self.height_error_mm:.0f} mm up ({known}), "
                f"above ({self.foot_xy_mm[0]:.0f}, {self.foot_xy_mm[1]:.0f}) +-{self.foot_error_mm:.0f} mm"
            ),
            *([f"             {seen}"] if seen else []),
            f"             which puts a disc at the outer line wrong by {self.parallax_error_mm:.2f} mm",
            f"hole         ({self.hole_xy_mm[0]:+.1f}, {self.hole_xy_mm[1]:+.1f}) mm from the centre of the rings",
            f"discs        {discs}",
            f"scale        {self.px_per_mm:.2f} pixels per mm",
            *(f"better       {line}" for line in self.advice),
        ]


def report_on(found: Occupied, rings: Rings, preset: Board, *, typed_height: bool) -> Report:
    """The report of a calibration.

    Args:
        found: the calibration, and the board with its own discs.
        rings: the rings of the same picture.
        preset: the board as it should be.
        typed_height: whether somebody measured the camera's height.
    """
    calibration = found.calibration
    measured, outer = calibration.board, preset.outer_line_mm
    height, error = calibration.camera_height_mm, max(0.0, calibration.height_spread - 1.0)
    believed = [] if typed_height else [lean.kind for lean in found.leans if fits(calibration, lean)]
    far = outer + math.hypot(*calibration.foot_xy_mm)
    parallax = preset.disc_height_mm * far / (height - preset.disc_height_mm) * error
    advice = []
    if rings.coverage < LEAST_COVERAGE:
        advice.append("a line is partly hidden or pale: clear the board, and light it evenly")
    if calibration.residual_mm > MOST_RESIDUAL_MM:
        advice.append("the lines are not where a flat board has them: look for a bent board or a wide lens")
    if typed_height and not all(fits(calibration, lean) for lean in found.leans):
        advice.append("the sides of pegs or discs show another height than [camera] height_mm: measure again")
    if parallax > MOST_PARALLAX_MM and not typed_height:
        advice.append("measure from the surface up to the lens and set [camera] height_mm")
    if calibration.px_per_mm() < LEAST_PX_PER_MM:
        advice.append("the board is small in the picture: bring the camera nearer, or ask for larger frames")
    return Report(
        board=preset.name,
        size_wh=calibration.size_wh,
        coverage=rings.coverage,
        residual_mm=calibration.residual_mm,
        lines_mm=(measured.line_15_mm, measured.line_10_mm),
        lines_off_mm=(measured.line_15_mm - preset.line_15_mm, measured.line_10_mm - preset.line_10_mm),
        widths_mm=tuple(w * outer if math.isfinite(w) else None for w in rings.widths),
        camera_height_mm=height,
        height_error_mm=error * height,
        height_from="typed" if typed_height else " and ".join([*believed, "perspective"]),
        heights_mm={
            lean.kind: (math.exp(lean.log_height), math.exp(lean.log_height) * lean.sigma) for lean in found.leans
        },
        foot_xy_mm=calibration.foot_xy_mm,
        foot_error_mm=foot_error_mm(calibration),
        parallax_error_mm=parallax,
        hole_xy_mm=calibration.hole_xy_mm,
        disc_radius_mm=found.board.disc_radius_mm if found.discs else None,
        px_per_mm=calibration.px_per_mm(),
        advice=tuple(advice),
    )


def run(
    config: Config,
    *,
    image: Path | None = None,
    overlay: Path | None = None,
    keep: bool = True,
    as_json: bool = False,
) -> int:
    """Calibrate and print the report.

    Args:
        config: the board's configuration.
        image: a picture to calibrate by, instead of the camera.
        overlay: where to draw what was found; ``camera-calibration.png`` in the state folder without it.
        keep: whether the daemon is to use what was found.
        as_json: one JSON object instead of text.

    Returns:
        Exit status: 0, 1 no board was found, 2 bad input, 3 the camera is missing.
    """
    try:
        preset = load_board(config.board.preset)
        if not keep:
            return _calibrate(config, preset, image, overlay, None, as_json=as_json)
        folder = state_dir(config)
        lock = DaemonLock(folder, "camera")
        try:
            return _calibrate(config, preset, image, overlay, folder, as_json=as_json)
        finally:
            lock.release()
    except FirmwareError as error:
        return _complain(str(error), error.status)
    except NoBoardError as error:
        return _complain(str(error), 1)
    except (BoardError, PictureError) as error:
        return _complain(str(error), 2)
    except (SourceGoneError, SourceEndedError) as error:
        return _complain(f"the camera gave no {FRAMES} frames: {error}", 3)


def _calibrate(
    config: Config, preset: Board, image: Path | None, overlay: Path | None, folder: Path | None, *, as_json: bool
) -> int:
    camera = config.camera
    picture = _from_camera(config) if image is None else read_picture(image).bgr
    found = take_occupied(picture, preset, height_mm=camera.height_mm, seat1_deg=camera.seat1_deg)
    rings = find_rings(picture)
    if rings is None:
        raise NoBoardError("the board was found and lost again; hold the camera still")
    report = report_on(found, rings, preset, typed_height=camera.height_mm > 0)
    if folder is not None:
        _keep(folder, found.calibration, found)
        overlay = overlay or folder / "camera-calibration.png"
    if overlay is not None:
        good, png = cv2.imencode(".png", draw_calibration(picture, found, report.lines()))
        try:
            overlay.write_bytes(png.tobytes() if good else b"")
        except OSError as error:
            return _complain(f"{overlay}: cannot be written: {error.strerror or error}", 2)
    print(json.dumps(report.to_table()) if as_json else "\n".join(report.lines()))
    return 0


def _keep(folder: Path, calibration: Calibration, found: Occupied) -> None:
    """Have the daemon use this calibration; what an earlier one saw no longer fits."""
    keepsake = Keepsake(folder)
    keepsake.save_board(calibration, found.bare)
    keepsake.save_guessed(found.guessed)
    for name in ("camera-layout.json", "camera-still.png"):
        (folder / name).unlink(missing_ok=True)


def _from_camera(config: Config) -> Image:
    """The mean of some frames, so that noise does not blur lines."""
    source = open_source(config)
    frames: list[Image] = []
    end_s = time.monotonic() + PATIENCE_S
    try:
        while len(frames) < FRAMES:
            frame = source.next(0.5)
            if frame is not None:
                frames.append(frame.pixels.copy())
                source.done(frame, "", 0)
            elif time.monotonic() > end_s:
                raise SourceGoneError(f"{len(frames)} came in {PATIENCE_S:.0f} s")
    finally:
        source.close()
    total = np.zeros(frames[0].shape, np.float32)
    for pixels in frames:
        total += pixels
    return np.asarray(np.rint(total / len(frames)), dtype=np.uint8)


def _complain(text: str, status: int) -> int:
    print(f"crokinole: {text}", file=sys.stderr)
    return status
