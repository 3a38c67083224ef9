"""Boards in bad light, seen softly or from aslant: what can be read is read, and what cannot be read is said."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from firmware_py.camera.board.sharpness import softness_mm
from firmware_py.camera.board.start import calibrate
from firmware_py.camera.live import LiveReader
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.reader import LayoutReader
from firmware_py.camera.rest.resting import Reading
from hardware.board import TOURNAMENT
from hardware.twin.optics import CameraPose, Optics, Renderer, drawn_pose, nominal_optics, nominal_pose
from hardware.twin.scene import Scene, SceneDisc
from hardware.twin.styles import NAMED, BoardStyle, drawn_style
from hub.link.messages import Layout, Shot
from tests.camera.live.filmed import HEIGHT_MM, Film, watch

POSE = nominal_pose(TOURNAMENT)
DISCS = (
    SceneDisc("a", "light", -190.0, 150.0),
    SceneDisc("b", "dark", 205.0, 160.0),
    SceneDisc("c", "light", 20.0, 262.0),
    SceneDisc("d", "dark", -240.0, -30.0),
    SceneDisc("e", "light", 215.0, -120.0),
    SceneDisc("f", "dark", -30.0, -215.0),
    SceneDisc("g", "dark", 60.0, -40.0),
)


class Sight:
    """One board under one camera, found while it was empty, and its reader."""

    def __init__(self, style: BoardStyle, optics: Optics, pose: CameraPose = POSE) -> None:
        self.eye, self.frame = Renderer(TOURNAMENT, style, pose, optics, 3), 0
        empty = np.rint(self.picture(())).astype(np.uint8)
        self.calibration = calibrate(empty, TOURNAMENT, height_mm=pose.height_mm, seat1_deg=pose.turn_deg)
        self.view = BoardView(self.calibration, TOURNAMENT)
        self.empty = self.view.straight(empty)
        bare = self.empty.astype(np.float32)
        self.reader = LayoutReader(self.view, bare, Wardrobe(), hole_xy_mm=self.calibration.hole_xy_mm)

    def picture(self, discs: tuple[SceneDisc, ...]) -> np.ndarray:
        self.frame += 6
        frames = [self.eye.render(Scene(at_ns=0, discs=discs), self.frame + k) for k in range(6)]
        return np.mean(frames, axis=0, dtype=np.float32)

    def read(self, discs: tuple[SceneDisc, ...]) -> Reading:
        return self.reader.read(self.view.straight(np.rint(self.picture(discs)).astype(np.uint8)), None, ())


def missed(discs: tuple[SceneDisc, ...], reading: Reading) -> list[str]:
    """Discs that are not read where they lie in their colour."""
    return [
        d.id
        for d in discs
        if not any(d.colour == f.colour and math.dist((d.x_mm, d.y_mm), (f.x_mm, f.y_mm)) < 2.5 for f in reading.found)
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"exposure": 0.2},
        {"exposure": 0.2, "noise_sigma": 4.0},
        {"blur_px": 2.4},
        {"noise_sigma": 11.0},
        {"shading": 0.55, "person_shadow": 0.5},
        {"jpeg_quality": 25, "noise_sigma": 6.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("style", ["maple", "blue"])
def test_discs_that_a_person_sees_are_read_in_bad_light(style: str, change: dict[str, float]) -> None:
    reading = Sight(NAMED[style], replace(nominal_optics(), **change)).read(DISCS)
    if style == "maple" and "noise_sigma" in change and "jpeg_quality" not in change:
        # Maple discs on maple differ from it by less than that noise: nobody can rely on what is read of them.
        assert "light discs" in reading.illegible
        return
    assert missed(DISCS, reading) == []
    assert (len(reading.found), reading.illegible) == (len(DISCS), "")


@pytest.mark.parametrize("blur_px", [1.2, 1.8, 2.4])
def test_how_soft_a_picture_is_is_measured_on_its_lines(blur_px: float) -> None:
    sight = Sight(NAMED["white"], replace(nominal_optics(), blur_px=blur_px))
    assert softness_mm(sight.view, sight.empty) == pytest.approx(blur_px / sight.calibration.px_per_mm(), abs=0.3)


@pytest.mark.parametrize("style", sorted(NAMED))
def test_a_fair_camera_is_as_sharp_and_bright_as_any(style: str) -> None:
    calibration = Sight(NAMED[style], nominal_optics()).calibration
    assert (calibration.soft_mm, calibration.gain) == (0.6, 1.0)


@pytest.mark.parametrize("seed", [5003, 5010, 5026, 5030])
def test_the_turn_is_told_from_aslant_and_by_pegs_that_look_like_the_wood(seed: int) -> None:
    pose = drawn_pose(TOURNAMENT, seed)
    sight = Sight(drawn_style(seed), replace(nominal_optics(), noise_sigma=4.0), pose)
    x, y = TOURNAMENT.line_10_mm, 0.0
    seen = sight.view.pixels(np.array([[x, y]]))[0]
    off_px = math.dist(seen, pose.project(x, y))
    assert off_px / sight.calibration.px_per_mm() < 2.0  # half a degree


def read_in_play(film: Film) -> LiveReader:
    reader = LiveReader(TOURNAMENT, height_mm=HEIGHT_MM, seat1_deg=film.pose.turn_deg)
    film.world.place("a", "light", -120.0, 150.0)
    film.world.place("b", "dark", 150.0, 120.0)
    watch(reader, film, 2.0)
    assert reader.rest is not None
    assert len(reader.rest.discs) == 2
    return reader


def test_a_lens_that_went_out_of_focus_is_told_and_nothing_is_judged_by_it_until_it_is_sharp() -> None:
    film = Film()
    reader = read_in_play(film)
    known = reader.rest
    sharp = film.optics
    film.optics = replace(sharp, blur_px=2.6)
    film.look_from(film.pose)
    film.world.place("c", "light", 60.0, -180.0)
    facts = watch(reader, film, 2.0)
    assert "lines are blurred" in reader.illegible
    assert not [f for f in facts if isinstance(f, (Layout, Shot))]
    assert reader.rest is known
    film.optics = sharp
    film.look_from(film.pose)
    facts = watch(reader, film, 3.0)
    assert reader.illegible == ""
    assert [len(f.discs) for f in facts if isinstance(f, Layout)][-1] == 3
