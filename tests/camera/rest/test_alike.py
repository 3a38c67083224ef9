"""Discs whose edge hardly shows: what looks alike at several places is a set, and what looks alike nowhere is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from firmware_py.camera.board.calibration import SHARP_MM
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.rest.alike import Suspect, agreed
from firmware_py.camera.rest.appearance import Look, Patch, draw
from hardware.twin.optics import Optics, nominal_optics
from hardware.twin.scene import SceneDisc
from hardware.twin.styles import NAMED, BoardStyle
from tests.camera.live.test_hard_optics import Sight, missed
from tests.camera.rest.test_fitting import RADIUS_MM, WOOD, view_of, wood_at

PLACES = ((60.0, -40.0), (-150.0, 90.0), (30.0, 210.0), (-120.0, -160.0), (215.0, 60.0))
#: Pale discs all over the board and some dark ones.
LAID = (
    SceneDisc("a", "light", -160.0, 196.0),
    SceneDisc("b", "light", 60.0, -15.0),
    SceneDisc("c", "light", -244.0, -97.0),
    SceneDisc("d", "light", -76.0, -244.0),
    SceneDisc("e", "light", 166.0, 90.0, turn_deg=70.0),
    SceneDisc("f", "light", 20.0, 262.0, turn_deg=140.0),
    SceneDisc("g", "dark", 210.0, -174.0),
    SceneDisc("h", "dark", 151.0, -220.0),
    SceneDisc("i", "dark", -238.0, 50.0),
    SceneDisc("j", "light", -150.0, 20.0, turn_deg=250.0),
)


def pale(style: BoardStyle) -> BoardStyle:
    """The board with a light set turned from its own wood, but for a dark spot in the middle."""
    b, g, r = (round(0.6 * v) for v in style.surface_bgr)
    own = replace(
        style.light, face_bgr=style.surface_bgr, wall_bgr=style.surface_bgr, mark_bgr=(b, g, r), face="recess"
    )
    return replace(style, light=own)


def sun() -> Optics:
    """A low lamp without a shade: short of it the shadow's edge is the strongest that is seen of a pale disc."""
    return replace(nominal_optics(), shadow_slope=1.0, shadow_soft_mm=3.5, shadow_strength=0.35, noise_sigma=5.0)


@pytest.mark.parametrize("style", ["maple", "amber", "honey"])
@pytest.mark.parametrize("shadow_deg", [57.0, 200.0])
def test_discs_of_the_boards_own_wood_are_found_by_what_they_share(style: str, shadow_deg: float) -> None:
    sight = Sight(pale(NAMED[style]), replace(sun(), shadow_deg=shadow_deg))
    reading = sight.read(LAID)
    assert missed(LAID, reading) == []
    assert len(reading.found) == len(LAID)


def ringed() -> Look:
    """A set of the wood's colour with a darker ring turned into its face."""
    b, g, r = WOOD
    look = Look.plain(RADIUS_MM, (b + 5, g + 2, r + 4))
    look.face[8:14] -= 30.0
    look.spread[:] = 3.0
    return look


def suspects(looks: list[Look]) -> list[Suspect]:
    """Discs of these looks, each seen in noise a little aside of where it was suspected."""
    view, chance, found = view_of(SHARP_MM), np.random.default_rng(4), []
    for look, at in zip(looks, PLACES, strict=True):
        guess = (at[0] + chance.uniform(-0.7, 0.7), at[1] + chance.uniform(-0.7, 0.7))
        wood = wood_at(view, guess)
        drawing = draw(view, (look, Shade()), wood, at)
        noise = chance.normal(0.0, 2.0, wood.seen.shape).astype(np.float32)
        seen = drawing.own + drawing.open_wood * wood.bare + noise
        found.append(Suspect(guess, 5.0, Patch(wood.column, wood.row, seen, wood.bare, wood.weight)))
    return found


def test_discs_of_one_set_agree_on_how_it_looks() -> None:
    taught = agreed(view_of(SHARP_MM), Shade(), suspects([ringed()] * 5))
    assert taught is not None
    assert len(taught.worths) == 4
    assert np.abs(taught.look.face[:28] - ringed().face[:28]).max() < 12.0


def test_a_look_that_is_hardly_known_stays_when_no_other_draws_more() -> None:
    assert agreed(view_of(SHARP_MM), Shade(), suspects([ringed()] * 5), [ringed()]) is None


def test_what_looks_alike_nowhere_is_no_set() -> None:
    looks = []
    for k in range(5):
        look = Look.plain(RADIUS_MM, WOOD)
        look.face[5 * k : 5 * k + 7] *= np.array([(0.5, 0.8, 0.6), (1.4, 0.9, 1.1), (0.7, 1.2, 1.2)][k % 3], np.float32)
        look.spread[:] = 3.0
        looks.append(look)
    assert agreed(view_of(SHARP_MM), Shade(), suspects(looks)) is None


@pytest.mark.parametrize("breadth_mm", [9.0, 20.0, 24.0])
def test_shadows_of_sticks_and_fingers_are_no_set(breadth_mm: float) -> None:
    sight = Sight(pale(NAMED["maple"]), nominal_optics())
    side = sight.view.side_px
    x, y = sight.view.to_mm(np.arange(side)[None, :] + np.zeros((side, 1)), np.arange(side)[:, None] + np.zeros(side))
    light = np.ones((side, side), np.float32)
    for k, (at_x, at_y) in enumerate(PLACES):
        c, s = np.cos(0.9 * k), np.sin(0.9 * k)
        across, along = np.abs((x - at_x) * c + (y - at_y) * s), np.abs((y - at_y) * c - (x - at_x) * s)
        beyond = np.maximum(across - breadth_mm, along - 45.0)
        light *= (1 - 0.35 / (1 + np.exp(beyond / 2.0))).astype(np.float32)
    seen = np.rint(sight.empty * light[..., None]).astype(np.uint8)
    assert sight.reader.read(seen, None, ()).found == ()


def test_two_suspects_are_too_few() -> None:
    assert agreed(view_of(SHARP_MM), Shade(), suspects([ringed()] * 5)[:2]) is None
