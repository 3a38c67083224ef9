"""Score photos of a finished round: ``crokinole photo``.

One photo in, the board, every disc and the totals out, with no setting made for that photo. What cannot be decided is
said to be so disc by disc; what cannot be read at all is one named error, and the other photos are still read.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import cv2
import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.evidence import look_around, quarters_seen
from firmware_py.camera.board.ringfit import RingFit
from firmware_py.camera.board.rings import (
    Rings,
    circle_images,
    fit_lab,
    rings_of,
    scaling,
    second_board,
    shrink,
)
from firmware_py.camera.board.ringsearch import SIDE_PX
from firmware_py.camera.picture.lab import LINES, Array, Floats, Image, exposure_gain, to_lab
from firmware_py.camera.picture.picturefile import Picture, PictureError, read_picture
from firmware_py.camera.still.colours import assign, tell_sides
from firmware_py.camera.still.discs import CLEAR, disc_view, read_discs
from firmware_py.camera.still.greyness import is_grey, told_apart
from firmware_py.camera.still.locallight import relit
from firmware_py.camera.still.overlay import draw_overlay
from firmware_py.camera.still.photoreading import SIDES, PhotoDisc, PhotoError, PhotoReading, Side
from firmware_py.camera.still.seen import DiscReading, SeenDisc
from firmware_py.camera.still.surface import surface_colour
from firmware_py.camera.still.verdicts import Verdict, judge, trace_lines
from hardware.board import Board, BoardError, load_board

Scoring = Literal["differential", "cumulative", "match210"]

#: Photos are read at this long side at most: lines and discs are met no better in larger ones.
PHOTO_PX = 800
HOLE_UNCLEAR = "the hole has the colour of a team's discs; one lying in it, not told here, adds 20"
#: Less of the outer line than this in the picture, and the photo is refused.
LEAST_VISIBLE = 0.7
#: Rings met as limits of paints are a board's where so many clear discs of one size lie on them.
TELLING_DISCS = 3
#: So many discs on the surface can be cut into teams by themselves.
LEAST_TO_CUT = 4
#: A disc whose colour lies nearer to the middle between the teams than this is of doubtful side.
LEAST_CLEARNESS = 0.12


def score_photo(
    path: Path | str, board: Board | None = None, *, twenties: tuple[int, int] = (0, 0)
) -> PhotoReading | PhotoError:
    """Score one photo.

    Args:
        path: the file.
        board: what the board is, for its size in mm and the height of its discs; tournament if not known.
        twenties: banked twenties of light and dark that no longer lie on the board.
    """
    return _score(path, board, twenties)[0]


def score_picture(
    bgr: Image, *, name: str = "picture", board: Board | None = None, twenties: tuple[int, int] = (0, 0)
) -> PhotoReading | PhotoError:
    """Score a picture that is in memory: 8-bit, blue first; otherwise as :func:`score_photo`."""
    start = time.perf_counter()
    picture = Picture(bgr=bgr, size_wh=(bgr.shape[1], bgr.shape[0]), reduction=1)
    return _read(picture, name, board or load_board("tournament"), twenties, start)


def _score(
    path: Path | str, board: Board | None, twenties: tuple[int, int]
) -> tuple[PhotoReading | PhotoError, Picture | None]:
    start = time.perf_counter()
    name = str(path)
    try:
        picture = read_picture(Path(path))
    except PictureError as error:
        return PhotoError(photo=name, code=error.code, message=str(error)), None
    return _read(picture, name, board or load_board("tournament"), twenties, start), picture


def _read(
    picture: Picture, name: str, board: Board, twenties: tuple[int, int], start: float
) -> PhotoReading | PhotoError:
    work, _ = shrink(picture.bgr, PHOTO_PX)
    little, _ = shrink(work, SIDE_PX)
    gain = exposure_gain(work)
    lab = to_lab(work, gain)
    small = to_lab(little, gain)
    fit = fit_lab(lab, small)
    if fit is None:
        return PhotoError(photo=name, code="no_board", message=_no_board(name, work))
    if fit.visible[2] < LEAST_VISIBLE:
        shown = round(100 * fit.visible[2])
        return PhotoError(
            photo=name,
            code="cut_off",
            message=f"{name}: only {shown} % of the outer line is in the picture, at least 70 % is needed",
        )
    if second_board(lab, small, fit) is not None:
        return PhotoError(photo=name, code="two_boards", message=f"{name}: two boards are seen, one is expected")
    work_size = (work.shape[1], work.shape[0])
    calibration = Calibration.from_rings(rings_of(fit, np.eye(3), work_size), board)
    reading = read_discs(lab, disc_view(lab, calibration, small), calibration)
    if not _discs_on_a_board(reading, lab, fit):
        return PhotoError(photo=name, code="no_board", message=_no_board(name, work))
    doubtful = is_grey(lab) and not told_apart(reading, surface_colour(lab, calibration))
    shrunk = scaling(work.shape[1] / picture.bgr.shape[1], work.shape[0] / picture.bgr.shape[0])
    k = picture.reduction
    up = np.array([[k, 0.0, (k - 1) / 2], [0.0, k, (k - 1) / 2], [0.0, 0.0, 1.0]]) @ np.linalg.inv(shrunk)
    rings = rings_of(fit, up, picture.size_wh)
    return PhotoReading(
        photo=name,
        rings=rings,
        discs=_photo_discs(reading, calibration, rings, up, doubtful=doubtful),
        twenties=twenties,
        outer_line_mm=board.outer_line_mm,
        ms=(time.perf_counter() - start) * 1e3,
        hole_unclear=reading.hole_unclear,
    )


def _discs_on_a_board(reading: DiscReading, lab: Floats, fit: RingFit) -> bool:
    """Whether what lies there, or else the board itself, tells that rings are not those of a plate or a target."""
    if not reading.discs:
        seen = look_around(lab, fit)
        # A hole of the surface's colour is hardly seen, but neither a plate nor a target has quarter lines.
        return (seen.bare_board and fit.look is LINES) or (seen.edge and quarters_seen(lab, fit))
    clear = sum(disc.quality >= CLEAR and disc.place != "hole" for disc in reading.discs)
    return fit.look is LINES or clear >= TELLING_DISCS or quarters_seen(lab, fit)


def _no_board(name: str, bgr: Image) -> str:
    if float(np.percentile(bgr[::4, ::4], 99)) < 12:
        return f"{name}: the picture is black, so no board can be seen"
    return f"{name}: no crokinole board is seen: three printed rings around one centre are needed"


def _photo_discs(
    reading: DiscReading, calibration: Calibration, rings: Rings, up: Array, *, doubtful: bool
) -> tuple[PhotoDisc, ...]:
    if not reading.discs:
        return ()
    lean = calibration.homography @ np.linalg.inv(up) @ rings.image_from_board
    lines = trace_lines(calibration, rings.offsets, rings.widths, math.atan2(lean[1, 0], lean[0, 0]))
    colours = np.array([d.colour for d in reading.discs])
    usual = relit(colours, np.array([d.light for d in reading.discs]))
    weights = np.array([d.quality for d in reading.discs])
    team, clearness = _told_sides(reading, colours, weights, usual)
    top_radius = reading.radius_mm / (1.0 - calibration.board.disc_height_mm / calibration.camera_height_mm)
    image_from_board = up @ calibration.image_from_board
    middles, radii = circle_images(image_from_board, top_radius, np.array([d.top_xy_mm for d in reading.discs]))
    discs = []
    for disc, (x, y), r, which, clear in zip(reading.discs, middles, radii, team, clearness, strict=True):
        verdict: Verdict = judge(disc, lines)
        discs.append(
            PhotoDisc(
                x=float(x),
                y=float(y),
                r=float(r),
                side=SIDES[int(which)],
                zone=verdict.zone,
                margin_mm=verdict.margin_mm,
                sure=verdict.sure and (verdict.points == 0 or not (doubtful or _side_unclear(disc, float(clear)))),
            )
        )
    return tuple(discs)


def _told_sides(reading: DiscReading, colours: Array, weights: Array, usual: Array) -> tuple[Array, Array]:
    """Team (0 = light) of each disc and how clear that is.

    What lies beyond the surface may be dots of a cloth: the discs that count must make the same two teams alone. When
    they make two and are but one beside all the rest, the rest is no team.
    """
    sides = tell_sides(colours, weights, usual)
    team, clearness = sides.team.copy(), sides.clearness.copy()
    on_surface = np.array([d.place != "ditch" for d in reading.discs])
    if LEAST_TO_CUT <= on_surface.sum() < len(on_surface):
        alone = tell_sides(colours[on_surface], weights[on_surface], usual[on_surface])
        if alone.teams.dark is not None:
            clearness[on_surface] *= alone.team == team[on_surface]
            if (team[on_surface] == team[on_surface][0]).all():
                team = assign(colours, alone.teams)[0]
                team[on_surface] = alone.team
    return team, clearness


def _side_unclear(disc: SeenDisc, clearness: float) -> bool:
    return disc.odd or clearness < LEAST_CLEARNESS


def result_line(totals: dict[Side, int], scoring: Scoring) -> str:
    """What the round is worth in the game, in words, under one way of scoring (rules 50 and 54)."""
    light, dark = totals["light"], totals["dark"]
    if scoring == "cumulative":
        return f"light +{light}, dark +{dark}"
    if light == dark:
        return "a tie: one each" if scoring == "match210" else "a tie: nobody adds"
    winner = "light" if light > dark else "dark"
    return f"{winner} +{2 if scoring == 'match210' else abs(light - dark)}"


def describe(reading: PhotoReading, scoring: Scoring) -> str:
    """The reading as a few lines for people."""
    lines = []
    for side in SIDES:
        mine = [d for d in reading.discs if d.side == side]
        count = {zone: sum(1 for d in mine if d.zone == zone) for zone in (20, 15, 10, 5, 0, "ditch")}
        worth = ", ".join(f"{n} x {zone}" for zone, n in count.items() if n and zone != "ditch") or "none on the board"
        lines.append(f"  {side:5} {reading.totals[side]:3}   {worth}; {count['ditch']} in the ditch")
    lines += [
        f"  look: {d.side} disc at pixel ({d.x:.0f}, {d.y:.0f}) read as {d.zone}, {d.margin_mm:.1f} mm from a limit"
        for d in reading.discs
        if not d.sure
    ]
    if reading.hole_unclear:
        lines.append(f"  look: {HOLE_UNCLEAR}")
    bare = "" if reading.discs else "no disc is on the board, "
    return "\n".join([f"{reading.photo}: {bare}{result_line(reading.totals, scoring)}", *lines])


def parse_twenties(text: str) -> tuple[int, int]:
    """Read ``LIGHT,DARK``.

    Raises:
        ValueError: not two counts from 0 to 99.
    """
    if not text:
        return (0, 0)
    parts = text.split(",")
    if len(parts) != 2 or not all(p.strip().isdigit() and len(p.strip()) <= 2 for p in parts):
        raise ValueError(f"--twenties takes LIGHT,DARK, two counts from 0 to 99, got {text!r}")
    return (int(parts[0]), int(parts[1]))


def run(
    files: Iterable[Path | str],
    *,
    as_json: bool = False,
    overlay_dir: Path | None = None,
    scoring: Scoring = "differential",
    board: str = "",
    twenties: str = "",
) -> int:
    """Score photos and print the answers; a photo that fails never stops the others.

    Args:
        files: the photos.
        as_json: one JSON object for each photo on its own line instead of text.
        overlay_dir: folder for a picture of what was read in each photo; made if it is missing.
        scoring: how a round adds to the game, for the text.
        board: preset of the board; empty for the tournament board's size.
        twenties: ``LIGHT,DARK`` banked twenties.

    Returns:
        Exit status: 0, or 2 when any photo could not be read or an option was wrong.
    """
    try:
        preset = load_board(board or "tournament")
        banked = parse_twenties(twenties)
        if overlay_dir is not None:
            overlay_dir.mkdir(parents=True, exist_ok=True)
    except (BoardError, ValueError) as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"--overlay {overlay_dir}: cannot be made: {error.strerror or error}")
    status = 0
    taken: set[str] = set()
    for path in files:
        answer, picture = _score(path, preset, banked)
        if isinstance(answer, PhotoError):
            status = 2
            if not as_json:
                print(f"crokinole: {answer.message}", file=sys.stderr)
        elif not as_json:
            print(describe(answer, scoring))
        if as_json:
            print(json.dumps(answer.to_table()), flush=True)
            if isinstance(answer, PhotoReading) and answer.hole_unclear:
                print(f"crokinole: {answer.photo}: {HOLE_UNCLEAR}", file=sys.stderr)
        if overlay_dir is not None and isinstance(answer, PhotoReading) and picture is not None:
            status = max(status, _write_overlay(overlay_dir / _overlay_name(Path(path), taken), picture, answer))
    return status


def _overlay_name(path: Path, taken: set[str]) -> str:
    """``photo.png`` for ``photo.jpg``, numbered where two photos of different folders share a name."""
    name = path.stem
    count = 1
    while name in taken:
        count += 1
        name = f"{path.stem}-{count}"
    taken.add(name)
    return f"{name}.png"


def _write_overlay(path: Path, picture: Picture, reading: PhotoReading) -> int:
    ok, png = cv2.imencode(".png", draw_overlay(picture, reading), [cv2.IMWRITE_PNG_COMPRESSION, 3])
    if not ok:
        return _complain(f"{path}: the picture could not be encoded")
    try:
        path.write_bytes(png.tobytes())
    except OSError as error:
        return _complain(f"{path}: cannot be written: {error.strerror or error}")
    return 0


def _complain(text: str) -> int:
    print(f"crokinole: {text}", file=sys.stderr)
    return 2
