"""Boards, layouts and decoys drawn by chance stay within what the real ones do, and repeat by seed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.board import TOURNAMENT, load_board, to_polar
from hardware.twin.decoys import DECOYS, decoy
from hardware.twin.layouts import drawn_layout
from hardware.twin.optics import Optics, Renderer, hard_optics, nominal_pose
from hardware.twin.photos import drawn_photo, photo_optics, wide_board, wide_style
from hardware.twin.scene import Scene, SceneDisc
from hardware.twin.styles import NAMED, drawn_board, drawn_style, luma

SEEDS = st.integers(0, 2**31)
SMALL = (320, 240)


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS)
def test_a_drawn_style_is_one_that_people_could_play_on(seed: int) -> None:
    style = drawn_style(seed)
    assert style == drawn_style(seed)
    assert math.hypot(*style.hole_offset_xy_mm) <= 2.5
    assert luma(style.light.face_bgr) > luma(style.dark.face_bgr) + 20
    faces = [np.array(style.disc(c).face_bgr, float) for c in ("light", "dark", "third")]
    assert min(np.linalg.norm(faces[i] - faces[j]) for i, j in ((0, 1), (0, 2), (1, 2))) > 50
    assert abs(luma(style.line_bgr) - luma(style.surface_bgr)) > 20
    assert all(0 <= c <= 255 for c in (*style.surface_bgr, *style.line_bgr, *style.dark.wall_bgr))


def test_styles_differ_from_seed_to_seed_and_cover_wood_and_paint_light_and_dark_lines() -> None:
    styles = [drawn_style(s) for s in range(200)]
    assert len({s.surface_bgr for s in styles}) > 190
    assert 40 < sum(s.grain > 0.1 for s in styles) < 180
    lighter = sum(luma(s.line_bgr) > luma(s.surface_bgr) for s in styles)
    assert 40 < lighter < 160
    assert {s.quadrants for s in styles} == {"none", "outer", "full"}
    assert {s.light.face for s in styles} == {"plain", "groove", "recess", "ring", "two_tone"}


@pytest.mark.parametrize("name", NAMED)
def test_named_styles_keep_the_promises_of_drawn_ones(name: str) -> None:
    style = NAMED[name]
    assert style.name == name
    assert math.hypot(*style.hole_offset_xy_mm) <= 2.5
    assert luma(style.light.face_bgr) > luma(style.dark.face_bgr) + 20


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS, preset=st.sampled_from(["tournament", "hobby"]))
def test_a_drawn_board_has_ratios_that_real_boards_were_measured_to_have(seed: int, preset: str) -> None:
    board = drawn_board(load_board(preset), seed)
    outer = board.outer_line_mm
    assert 0.32 <= board.line_15_mm / outer <= 0.36
    assert 0.65 <= board.line_10_mm / outer <= 0.72
    assert 0.051 <= board.disc_radius_mm / outer <= 0.070
    assert board.disc_height_mm > board.hole_depth_mm


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS)
def test_hard_optics_stay_in_the_ranges_of_a_poor_camera(seed: int) -> None:
    optics = hard_optics(seed)
    assert optics == hard_optics(seed)
    assert 0.15 <= optics.exposure <= 1
    assert optics.noise_sigma <= 12
    assert optics.blur_px <= 2.5
    assert optics.jpeg_quality is None or 20 <= optics.jpeg_quality <= 95


def gap_mm(a: SceneDisc, b: SceneDisc) -> float:
    return math.dist((a.x_mm, a.y_mm), (b.x_mm, b.y_mm)) - 2 * TOURNAMENT.disc_radius_mm


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS)
def test_discs_of_a_drawn_layout_lie_where_discs_can_lie(seed: int) -> None:
    hole = (1.0, -0.8)
    scene = drawn_layout(TOURNAMENT, seed, hole_xy_mm=hole)
    assert scene == drawn_layout(TOURNAMENT, seed, hole_xy_mm=hole)
    assert len({d.id for d in scene.discs}) == len(scene.discs)
    level = [d for d in scene.discs if d.z_mm == 0 and not d.tilt_deg]
    assert all(gap_mm(a, b) > -1e-6 for k, a in enumerate(level) for b in level[:k])
    for disc in scene.discs:
        r = to_polar(disc.x_mm, disc.y_mm)[0]
        if disc.z_mm == -TOURNAMENT.hole_depth_mm:
            assert math.dist((disc.x_mm, disc.y_mm), hole) <= TOURNAMENT.hole_play_mm
        elif disc.z_mm == -TOURNAMENT.surface_height_mm:
            assert TOURNAMENT.surface_radius_mm + 16 <= r + 1e-6
            assert r <= TOURNAMENT.rail_radius_mm - 16 + 1e-6
        elif disc.tilt_deg:
            low = disc.z_mm - TOURNAMENT.disc_radius_mm * math.sin(math.radians(disc.tilt_deg))
            assert low == pytest.approx(-6.0, abs=0.05) or low == pytest.approx(-12.7, abs=0.05)
        else:
            assert r < TOURNAMENT.surface_radius_mm


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS)
def test_the_line_set_puts_every_disc_on_the_surface_within_two_mm_of_a_line(seed: int) -> None:
    scene = drawn_layout(TOURNAMENT, seed, line_share=1.0, on_surface=(6, 10), in_ditch=(0, 0), odd=False)
    assert len(scene.discs) >= 6
    assert all(TOURNAMENT.margin_mm(to_polar(d.x_mm, d.y_mm)[0]) <= 2 for d in scene.discs)


def test_layouts_hold_every_odd_case_within_a_few_hundred_seeds() -> None:
    discs = [d for s in range(300) for d in drawn_layout(TOURNAMENT, s).discs]
    radii = [to_polar(d.x_mm, d.y_mm)[0] for d in discs]
    assert any(d.z_mm == -6 for d in discs)
    assert any(d.z_mm == 9.5 for d in discs)
    assert any(d.tilt_deg and r < 20 for d, r in zip(discs, radii, strict=True))
    assert any(d.tilt_deg and r > 330 for d, r in zip(discs, radii, strict=True))
    assert any(d.z_mm == 0 and r > 330.2 - 16 for d, r in zip(discs, radii, strict=True))


@pytest.mark.parametrize("seed", range(DECOYS))
def test_decoys_are_pictures_that_repeat(seed: int) -> None:
    first = decoy(seed, SMALL)
    assert first.shape == (240, 320, 3)
    assert np.array_equal(first, decoy(seed, SMALL))
    assert not np.array_equal(first, decoy(seed + DECOYS, SMALL))


@pytest.mark.parametrize("name", NAMED)
def test_the_lines_of_a_named_board_can_be_seen_at_their_radius(name: str) -> None:
    """Across a ring the colour changes where the board's geometry has its line, and not beside it."""
    pose = nominal_pose(TOURNAMENT, (640, 480))
    frame = Renderer(TOURNAMENT, NAMED[name], pose, Optics()).render(Scene(0)).astype(float)
    angles = np.radians(np.arange(3, 360, 1.5))
    depth = {}
    for off in (-4.0, 0.0, 4.0):
        r = TOURNAMENT.line_10_mm + off
        u, v = np.rint(pose.project(r * np.cos(angles), r * np.sin(angles))).astype(int).T
        depth[off] = np.median(frame[v, u], axis=0)
    side = (depth[-4.0] + depth[4.0]) / 2
    assert np.linalg.norm(depth[0.0] - side) > 3 * np.linalg.norm(depth[-4.0] - side)
    assert np.linalg.norm(depth[0.0] - side) > 10


def test_the_hole_lies_off_the_rings_as_the_style_says() -> None:
    pose, black = nominal_pose(TOURNAMENT), (0, 0, 0)
    style = replace(NAMED["blue"], surface_bgr=black, line_bgr=black, hole_bgr=(255, 255, 255), numbers=0.0)
    frame = Renderer(TOURNAMENT, style, pose, Optics()).render(Scene(0))
    u0, v0 = pose.project(*style.hole_offset_xy_mm)
    v, u = np.nonzero(frame[int(v0) - 30 : int(v0) + 31, int(u0) - 30 : int(u0) + 31].min(axis=2) > 60)
    middle = np.array([u.mean() + int(u0) - 30, v.mean() + int(v0) - 30])
    assert np.abs(middle - (u0, v0)).max() < 0.4


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS)
def test_boards_of_photos_are_ones_that_people_could_play_on(seed: int) -> None:
    style, board = wide_style(seed), wide_board(seed)
    assert style == wide_style(seed)
    assert board == wide_board(seed)
    assert luma(style.light.face_bgr) > luma(style.dark.face_bgr)
    painted = [z for z in style.zone_bgr if z is not None]
    assert all(abs(luma(z) - luma(style.line_bgr)) > 25 for z in painted)
    assert 0.3 < board.line_15_mm / board.outer_line_mm < 0.38
    assert 0.62 < board.line_10_mm / board.outer_line_mm < 0.75
    assert len(board.pegs) == board.peg_count
    optics = photo_optics(seed)
    assert optics.jpeg_quality is not None
    assert 35 <= optics.jpeg_quality <= 95


def test_photos_hold_every_kind_of_board_within_a_few_hundred_seeds() -> None:
    styles = [wide_style(s) for s in range(150)]
    assert {s.table_pattern for s in styles} == {"wood", "stripes", "chequers", "dots"}
    assert {len(wide_board(s).pegs) for s in range(150)} == {0, 8, 12, 16}
    assert any(s.square for s in styles)
    assert any(s.art for s in styles)
    assert any(s.ring_bgr is not None for s in styles)
    assert any(all(z is not None for z in s.zone_bgr) for s in styles)
    assert any(s.light.face == "washer" for s in styles)
    assert any(s.ditch_bgr == s.surface_bgr for s in styles)


def test_a_drawn_photo_repeats_and_its_truth_lies_where_its_discs_are_seen() -> None:
    photo = drawn_photo(302)
    assert (drawn_photo(302).picture == photo.picture).all()
    bare = Renderer(photo.board, photo.style, photo.pose, photo_optics(302), 302).render(Scene(at_ns=0))
    changed = np.abs(photo.picture.astype(int) - bare.astype(int)).max(axis=2) > 25
    shown = []
    for disc in photo.scene.discs:
        u, v = photo.pose.project(disc.x_mm, disc.y_mm, disc.z_mm + photo.board.disc_height_mm)
        shown.append(changed[round(v) - 4 : round(v) + 5, round(u) - 4 : round(u) + 5].mean())
    # One set is nearly of the board's own colour.
    dark = [share for share, disc in zip(shown, photo.scene.discs, strict=True) if disc.colour == "dark"]
    assert len(dark) > 4
    assert min(dark) > 0.5


def test_a_board_may_have_no_pegs() -> None:
    assert replace(TOURNAMENT, peg_count=0).pegs == ()
