"""What is learned of discs from discs: no lasting error of the first looks, and names that fit all that was read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firmware_py.camera.board.start import calibrate
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.reader import LayoutReader
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.sunken import settled, state_at_hole
from hardware.board import TOURNAMENT
from hardware.twin.optics import Renderer, nominal_optics, nominal_pose
from hardware.twin.scene import Scene, SceneDisc
from hardware.twin.styles import NAMED

POSE = nominal_pose(TOURNAMENT)
#: Discs of both sets, apart from one another and from the pegs, all around the board.
PLACES = [
    (-190.0, 150.0),
    (205.0, 160.0),
    (20.0, 262.0),
    (-240.0, -30.0),
    (215.0, -120.0),
    (-30.0, -215.0),
    (150.0, -215.0),
    (-170.0, -180.0),
    (120.0, 225.0),
    (-110.0, 235.0),
]


class Bench:
    """A drawn board, found while it was empty, and the reader of its view."""

    def __init__(self, style: str, seed: int = 3) -> None:
        self.eye = Renderer(TOURNAMENT, NAMED[style], POSE, nominal_optics(), seed)
        self.frame = 0
        empty = self.picture(())
        calibration = calibrate(
            np.rint(empty).astype(np.uint8), TOURNAMENT, height_mm=POSE.height_mm, seat1_deg=POSE.turn_deg
        )
        view = BoardView(calibration, TOURNAMENT)
        bare = view.straight(np.rint(empty).astype(np.uint8)).astype(np.float32)
        self.reader = LayoutReader(view, bare, Wardrobe(), hole_xy_mm=calibration.hole_xy_mm, height_error=0.01)

    def picture(self, discs: tuple[SceneDisc, ...]) -> np.ndarray:
        self.frame += 4
        frames = [self.eye.render(Scene(at_ns=0, discs=discs), self.frame + k) for k in range(4)]
        return np.mean(frames, axis=0, dtype=np.float32)

    def read(self, *discs: SceneDisc) -> tuple[Resting, ...]:
        straight = self.reader.view.straight(np.rint(self.picture(discs)).astype(np.uint8))
        found = self.reader.read(straight, None, ()).found
        for _ in range(40):
            self.reader.study()
        return found


def disc(k: int, x: float, y: float, colour: str | None = None) -> SceneDisc:
    return SceneDisc(f"d{k}", colour or ("light" if k % 2 else "dark"), x, y, turn_deg=37.0 * k)  # type: ignore[arg-type]


def shift(found: tuple[Resting, ...], places: list[tuple[float, float]]) -> tuple[float, float]:
    """The error that all discs share."""
    offs = []
    for x, y in places:
        near = min(found, key=lambda d: math.dist((d.x_mm, d.y_mm), (x, y)))
        offs.append((near.x_mm - x, near.y_mm - y))
    x_mm, y_mm = np.median(offs, axis=0)
    return float(x_mm), float(y_mm)


@pytest.mark.parametrize("style", ["maple", "ebony"])
def test_no_shadow_or_lit_bevel_moves_discs_once_ten_were_seen(style: str) -> None:
    bench = Bench(style)
    bench.read(*(disc(k, x, y) for k, (x, y) in enumerate(PLACES)))
    turned = [(-y, x) for x, y in PLACES]
    found = bench.read(*(disc(k, x, y) for k, (x, y) in enumerate(turned)))
    assert len(found) == len(turned)
    assert math.hypot(*shift(found, turned)) < 0.2
    assert all(d.sigma_mm < 0.25 for d in found)


def test_the_first_board_that_is_read_is_read_twice_when_little_was_known() -> None:
    bench = Bench("maple")
    lay = [disc(k, x, y) for k, (x, y) in enumerate(PLACES)]
    found = bench.read(*lay)
    assert len(found) == len(PLACES)
    assert math.hypot(*shift(found, PLACES)) < 0.5


def test_discs_that_were_found_before_the_sets_changed_names_have_the_new_names_too() -> None:
    """Red is taken for the dark set until black is met, in the same picture."""
    bench = Bench("white")
    sets = ["light", "light", "light", "dark", "dark", "light", "dark", "light", "dark", "light"]
    lay = [disc(k, x, y, colour) for k, ((x, y), colour) in enumerate(zip(PLACES, sets, strict=True))]
    found = bench.read(*lay)
    assert len(found) == len(lay)
    for d in lay:
        near = min(found, key=lambda f: math.dist((f.x_mm, f.y_mm), (d.x_mm, d.y_mm)))
        assert near.colour == d.colour, d.id


def test_the_lamp_is_opposite_the_shadow_and_nowhere_before_a_shadow_was_seen() -> None:
    shade = Shade()
    assert math.hypot(*shade.lamp) < 0.01
    side = np.linspace(-30, 30, 81, dtype=np.float32)
    dx, dy = np.meshgrid(side, side)
    dark = np.where(dx > 0, np.float32(0.7), np.float32(1.0))
    for _ in range(3):
        shade.learn(dx, dy, dark, (np.hypot(dx, dy) > 16).astype(np.float32))
    x, y = shade.lamp
    assert -0.4 < x < -0.1
    assert abs(y) < 0.03


@pytest.mark.parametrize(
    ("off_mm", "state", "unsure"),
    [
        (0.0, "hole", False),
        (1.9, "hole", False),
        (2.2, "hole", True),
        (2.5, "leaning", True),
        (2.9, "leaning", False),
    ],
)
def test_how_far_off_the_hole_a_disc_is_seen_tells_whether_it_leans(off_mm: float, state: str, *, unsure: bool) -> None:
    view = Bench("maple").reader.view
    h = TOURNAMENT.hole_depth_mm
    seen = view.sink(
        off_mm,
        0.0,
        -h * (view.calibration.camera_height_mm - view.rim_mm) / (view.calibration.camera_height_mm - view.rim_mm + h),
    )
    told, rival = state_at_hole(view, seen, (0.0, 0.0))
    assert told == state
    assert (rival is not None) == unsure


def test_discs_in_the_hole_move_its_centre_to_their_mean_and_none_alone_moves_it_far() -> None:
    hole = settled((0.3, 0.0), (-1.4, 0.0), 1)
    assert 0.05 < hole[0] < 0.3
    for k in range(2, 120):
        hole = settled(hole, (1.4, 0.0) if k % 2 else (-1.4, 0.0), k)
    assert abs(hole[0]) < 0.12
