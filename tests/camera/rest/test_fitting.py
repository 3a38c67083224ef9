"""A disc drawn by its looks, and found again where it was drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firmware_py.camera.board.calibration import SHARP_MM, Calibration
from firmware_py.camera.picture.shade import REACH_PX, Shade
from firmware_py.camera.picture.view import MM_PER_PX, BoardView
from firmware_py.camera.rest.appearance import Look, Patch, cut_patch, draw, length_of, patch_offsets, planes
from firmware_py.camera.rest.fitting import fit_look
from hardware.board import TOURNAMENT

RADIUS_MM = TOURNAMENT.disc_radius_mm
WOOD = (120.0, 160.0, 200.0)


def view_of(soft_mm: float) -> BoardView:
    scale = 0.9
    matrix = (scale, 0.0, -640 * scale, 0.0, -scale, 480 * scale, 0.0, 0.0, 1.0)
    return BoardView(Calibration(TOURNAMENT, matrix, (1280, 960), (30.0, -20.0), 950.0, soft_mm=soft_mm), TOURNAMENT)


def wood_at(view: BoardView, at: tuple[float, float]) -> Patch:
    bare = np.full((view.side_px, view.side_px, 3), WOOD, np.float32)
    patch = cut_patch(view, bare.astype(np.uint8), bare, at)
    assert patch is not None
    return patch


def turned_face() -> Look:
    """A dark set with a lighter ring turned into its face."""
    look = Look.plain(RADIUS_MM, (40.0, 44.0, 60.0))
    look.face[14:18] += 25.0
    look.spread[:] = 4.0
    return look


@pytest.mark.parametrize("soft_mm", [SHARP_MM, 1.5, 3.5])
def test_a_drawn_disc_ends_at_its_rim_however_soft_the_picture_is(soft_mm: float) -> None:
    view, at = view_of(soft_mm), (60.0, -40.0)
    patch = wood_at(view, at)
    shade = Shade()
    shade.sum[:] = shade.count  # no shadow
    drawing = draw(view, (turned_face(), shade), patch, at)
    dx, dy = patch_offsets()
    (cx, cy), (sx, sy) = view.to_mm(patch.column, patch.row), view.base_shift(*at, view.wall_mm)
    beyond = length_of(dx + np.float32(cx - at[0] - sx / 2), dy + np.float32(cy - at[1] - sy / 2)) - RADIUS_MM
    beyond -= math.hypot(sx, sy) / 2
    assert drawing.open_wood[beyond < -4.5 * soft_mm].max(initial=0.0) < 0.01
    for far in (beyond > 4.5 * soft_mm, beyond > 10.0 * soft_mm):
        assert drawing.own[:, far].max(initial=0.0) < 1.0
        assert drawing.open_wood[far].min(initial=1.0) > 0.99
    assert drawing.own[:, beyond > 10.0 * soft_mm].max(initial=0.0) < 1e-3


@pytest.mark.parametrize("soft_mm", [SHARP_MM, 2.0])
@pytest.mark.parametrize("at", [(0.0, 0.0), (201.3, -88.7), (-60.4, 251.1)])
@pytest.mark.parametrize("off", [(0.2, 0.1), (1.6, -1.1), (-2.4, 2.2), (0.0, 3.5)])
def test_a_disc_is_found_where_it_was_drawn(soft_mm: float, at: tuple[float, float], off: tuple[float, float]) -> None:
    view, look, shade = view_of(soft_mm), turned_face(), Shade()
    guess = (at[0] + off[0], at[1] + off[1])
    wood = wood_at(view, guess)
    drawing = draw(view, (look, shade), wood, at)
    noise = np.random.default_rng(5).normal(0.0, 0.5, wood.seen.shape).astype(np.float32)
    patch = Patch(wood.column, wood.row, drawing.own + drawing.open_wood * wood.bare + noise, wood.bare, wood.weight)
    fit = fit_look(view, look, shade, patch, guess, rounds=9)
    assert fit is not None
    assert math.dist((fit.x_mm, fit.y_mm), at) < 0.05
    assert fit.explained > 0.9


def test_a_face_that_the_set_does_not_have_is_found_at_one_place_from_any_start() -> None:
    view, look, shade, at = view_of(SHARP_MM), turned_face(), Shade(), (-148.6, 97.3)
    other = Look.plain(RADIUS_MM, (46.0, 50.0, 66.0))
    other.face[8:13] -= 30.0
    chance = np.random.default_rng(11)
    apart = []
    for _ in range(24):
        there = (at[0] + chance.uniform(-1, 1), at[1] + chance.uniform(-1, 1))
        wood = wood_at(view, there)
        drawing = draw(view, (other, shade), wood, there)
        grain = chance.normal(0.0, 6.0, wood.seen.shape).astype(np.float32)
        seen = drawing.own + drawing.open_wood * wood.bare + grain
        patch = Patch(wood.column, wood.row, seen, wood.bare, wood.weight)
        starts = [(there[0] + 1.8 * math.cos(a), there[1] + 1.8 * math.sin(a)) for a in (0.3, 2.4, 4.5)]
        fits = [fit_look(view, look, shade, patch, start, rounds=9) for start in starts]
        apart += [math.dist((f.x_mm, f.y_mm), (g.x_mm, g.y_mm)) for f in fits for g in fits if f and g]
    assert np.percentile(apart, 95) < 0.05


def test_a_patch_is_what_the_picture_shows_plane_by_plane() -> None:
    picture = np.random.default_rng(2).integers(0, 256, (2 * REACH_PX + 1, 2 * REACH_PX + 1, 3), dtype=np.uint8)
    assert (planes(picture) == np.moveaxis(picture.astype(np.float32), -1, 0)).all()
    assert patch_offsets()[0][0, -1] == pytest.approx(REACH_PX * MM_PER_PX)
