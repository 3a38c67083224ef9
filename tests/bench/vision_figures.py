"""Draw the pictures of docs/vision.md from a drawn board, step by step, by the very code that reads photos.

python tests/bench/vision_figures.py docs/vision
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.rings import find_rings, shrink
from firmware_py.camera.board.ringsearch import SIDE_PX, edge_voters, turned, upright, vote
from firmware_py.camera.picture.lab import apply_homography, to_lab
from firmware_py.camera.picture.picturefile import Picture
from firmware_py.camera.still import rims
from firmware_py.camera.still.discs import VIEW_PX, VIEW_REACH, find_discs
from firmware_py.camera.still.discvotes import rim_votes
from firmware_py.camera.still.overlay import draw_overlay
from firmware_py.camera.still.photo import score_picture
from firmware_py.camera.still.photoreading import PhotoReading
from firmware_py.camera.still.surface import straight_view
from hardware.board import TOURNAMENT

GREEN, YELLOW, RED, BLUE = (90, 220, 60), (0, 200, 255), (40, 40, 255), (255, 140, 40)


def load_drawn() -> ModuleType:
    """The drawn boards of the tests."""
    path = Path(__file__).resolve().parents[1] / "camera" / "still" / "drawn.py"
    spec = importlib.util.spec_from_file_location("crokinole_drawn_boards", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def heat(values: np.ndarray, top: float | None = None) -> np.ndarray:
    """A map of values as colours."""
    scaled = np.clip(values / (top or float(values.max())), 0, 1)
    return cv2.applyColorMap((scaled * 255).astype(np.uint8), cv2.COLORMAP_INFERNO)


def beside(*pictures: np.ndarray) -> np.ndarray:
    """Pictures side by side at one height."""
    height = 470
    return np.hstack([cv2.resize(p, (round(p.shape[1] * height / p.shape[0]), height)) for p in pictures])


def save(folder: Path, name: str, picture: np.ndarray) -> None:
    """Write one figure, small."""
    cv2.imwrite(str(folder / name), picture, [cv2.IMWRITE_JPEG_QUALITY, 82])


def round_picture(drawn: ModuleType, camera) -> np.ndarray:
    """A finished round on a drawn board."""
    at = [
        (0, 0, "light", -6),
        (62, 30, "dark", 0),
        (-40, 70, "light", 0),
        (150, -40, "light", 0),
        (-88, -118, "dark", 0),
        (187, 60, "dark", 0),
        (20, 250, "dark", 0),
        (-200, -170, "light", 0),
        (250, -110, "light", 0),
        (300, 60, "dark", 0),
        (-362, 60, "dark", -12.7),
        (-330, 160, "light", -12.7),
        (90, -352, "dark", -12.7),
        (360, -60, "light", -12.7),
        (355, -98, "dark", -12.7),
    ]
    discs = [drawn.Disc(float(x), float(y), colour, float(base)) for x, y, colour, base in at]
    return drawn.draw(discs, drawn.LOOKS["oak"], camera)


def centre_figure(folder: Path, drawn: ModuleType) -> None:
    """Votes for the centre of a tilted board: as it is, and turned upright."""
    camera = drawn.Camera(size_wh=(1000, 900), tilt_deg=26, azimuth_deg=-90)
    small, _ = shrink(round_picture(drawn, camera), SIDE_PX)
    shape = (small.shape[0], small.shape[1])
    voters = edge_voters(to_lab(small))
    plain = vote(voters, shape)
    warp = upright(26, 90, shape)
    straight = vote(turned(voters, warp), shape)
    top = float(straight.max())
    save(folder, "1-centre.jpg", beside(small, heat(plain, top), heat(straight, top)))


def rings_figure(folder: Path, picture: np.ndarray) -> None:
    """The seen points of the three lines over the fit, ten times enlarged."""
    rings = find_rings(picture)
    assert rings is not None
    canvas = picture.copy()
    count = rings.offsets.shape[1]
    angle = np.arange(count) * (2 * np.pi / count)
    for k, colour in enumerate((GREEN, YELLOW, BLUE)):
        for scale, line in ((0.0, None), (10.0, colour)):
            radius = rings.ratios[k] + scale * np.nan_to_num(rings.offsets[k])
            x, y = apply_homography(rings.image_from_board, radius * np.cos(angle), radius * np.sin(angle))
            if line is None:
                cv2.polylines(canvas, [np.round(np.stack([x, y], 1)).astype(np.int32)], True, (255, 255, 255), 1)
                continue
            for u, v, seen in zip(x, y, np.isfinite(rings.offsets[k]), strict=True):
                cv2.circle(canvas, (round(u), round(v)), 2, line if seen else RED, -1, cv2.LINE_AA)
    save(folder, "2-rings.jpg", canvas)


def votes_figure(folder: Path, picture: np.ndarray, calibration: Calibration) -> None:
    """The straight view and the votes of the rims."""
    scale = TOURNAMENT.outer_line_mm / VIEW_PX
    view = straight_view(picture, calibration, scale, VIEW_REACH * TOURNAMENT.outer_line_mm)
    votes = rim_votes(to_lab(view), np.array([15.6 / scale]))[0]
    save(folder, "3-votes.jpg", beside(view, heat(votes, 1.2)))


def rim_figure(folder: Path, picture: np.ndarray, calibration: Calibration) -> None:
    """Three discs enlarged: the fitted rim, and the base moved back towards the camera's foot."""
    reading = find_discs(picture, calibration)
    live = [d for d in reading.discs if d.place == "surface"]
    tiles = []
    for disc in (live[0], live[-3], live[-1]):
        at = calibration.image_from_board @ [*disc.top_xy_mm, 1.0]
        u, v = at[:2] / at[2]
        zoom = 420 / (4.2 * calibration.disc_radius_px())
        matrix = np.array([[zoom, 0, 210 - zoom * u], [0, zoom, 210 - zoom * v]])
        tile = cv2.warpAffine(picture, matrix, (420, 420), flags=cv2.INTER_CUBIC)
        circle = np.stack([np.cos(np.linspace(0, 6.3, 120)), np.sin(np.linspace(0, 6.3, 120))], axis=1)
        lift = calibration.camera_height_mm / (calibration.camera_height_mm - 9.5)
        for centre, radius, colour in (
            (disc.top_xy_mm, reading.radius_mm * lift, YELLOW),
            ((disc.x_mm, disc.y_mm), reading.radius_mm, GREEN),
        ):
            points = calibration.to_pixels(np.array(centre) + circle * radius)
            points = points @ matrix[:, :2].T + matrix[:, 2]
            cv2.polylines(tile, [np.round(points * 16).astype(np.int32)], True, colour, 2, cv2.LINE_AA, 4)
        for direction in rims.DIRECTIONS[::4]:
            ends = calibration.to_pixels(
                np.array(disc.top_xy_mm) + np.outer([0.5, 1.45], direction) * reading.radius_mm
            )
            ends = np.round(ends @ matrix[:, :2].T + matrix[:, 2]).astype(np.int32)
            cv2.line(tile, tuple(int(c) for c in ends[0]), tuple(int(c) for c in ends[1]), (190, 190, 190), 1)
        tiles.append(tile)
    save(folder, "4-rims.jpg", np.hstack(tiles))


def main() -> int:
    """Draw all figures into the folder given."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    drawn = load_drawn()
    camera = drawn.Camera(size_wh=(1000, 900), tilt_deg=8, azimuth_deg=200, height_mm=800, focal=0.8)
    picture = round_picture(drawn, camera)
    centre_figure(folder, drawn)
    rings_figure(folder, picture)
    rings = find_rings(picture)
    assert rings is not None
    calibration = Calibration.from_rings(rings, TOURNAMENT)
    votes_figure(folder, picture, calibration)
    rim_figure(folder, picture, calibration)
    reading = score_picture(picture)
    assert isinstance(reading, PhotoReading)
    overlay = draw_overlay(Picture(bgr=picture, size_wh=(1000, 900), reduction=1), reading)
    save(folder, "5-overlay.jpg", cv2.resize(overlay, None, fx=0.9, fy=0.9, interpolation=cv2.INTER_AREA))
    return 0


if __name__ == "__main__":
    sys.exit(main())
