"""Frames are repeatable whatever was drawn before, and show what they should."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.board import TOURNAMENT, load_board
from hardware.twin.optics import CameraPose, Optics, Renderer, drawn_pose, hard_optics, nominal_optics, nominal_pose
from hardware.twin.scene import Scene, SceneDisc, SceneHand, SceneLitter
from hardware.twin.styles import NAMED, NOMINAL

SMALL = (320, 240)
LITTER = ("coin", "mug", "phone", "sheet", "wax", "head")


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(TOURNAMENT, NOMINAL, nominal_pose(TOURNAMENT, SMALL), replace(nominal_optics(), drift=0.1), seed=3)


@pytest.fixture(scope="module")
def fresh() -> Renderer:
    return Renderer(TOURNAMENT, NOMINAL, nominal_pose(TOURNAMENT, SMALL), replace(nominal_optics(), drift=0.1), seed=3)


def scenes() -> st.SearchStrategy[Scene]:
    mm, speed = st.floats(-380, 380), st.sampled_from([0.0, 0.0, 40.0, -700.0, 3000.0])
    disc = st.builds(
        SceneDisc,
        id=st.sampled_from("ABCDEFGH"),
        colour=st.sampled_from(["light", "dark", "third"]),
        x_mm=mm,
        y_mm=mm,
        z_mm=st.sampled_from([0.0, 0.0, -12.7, -6.0, 9.5, 40.0]),
        vx_mm_s=speed,
        vy_mm_s=speed,
        tilt_deg=st.sampled_from([0.0, 0.0, 0.0, 15.0]),
        turn_deg=st.floats(0, 360),
    )
    hand = st.builds(SceneHand, x_mm=mm, y_mm=mm, from_deg=st.floats(0, 360), sleeve=st.integers(0, 9), vx_mm_s=speed)
    litter = st.builds(SceneLitter, kind=st.sampled_from(LITTER), x_mm=mm, y_mm=mm, turn_deg=st.floats(0, 360))
    return st.builds(
        Scene,
        at_ns=st.just(0),
        discs=st.lists(disc, max_size=8).map(tuple),
        hands=st.lists(hand, max_size=2).map(tuple),
        litter=st.lists(litter, max_size=2).map(tuple),
    )


@settings(max_examples=40, deadline=None)
@given(history=st.lists(st.tuples(scenes(), st.integers(0, 100_000)), min_size=1, max_size=4), data=st.data())
def test_what_was_drawn_before_never_changes_a_pixel(
    renderer: Renderer, fresh: Renderer, history: list[tuple[Scene, int]], data: st.DataObject
) -> None:
    for scene, number in history:
        frame = renderer.render(scene, number)
    fresh.render(Scene(0), 0)
    assert np.array_equal(frame, fresh.render(scene, number))


def test_a_second_renderer_draws_the_same_frames() -> None:
    scene = Scene(0, (SceneDisc("A1", "light", 40, 60, turn_deg=77), SceneDisc("B1", "dark", -90, 10, vx_mm_s=900)))
    optics = replace(hard_optics(4), jpeg_quality=60)
    frames = [
        Renderer(TOURNAMENT, NAMED["honey"], drawn_pose(TOURNAMENT, 4, SMALL), optics, 9).render(scene, 123)
        for _ in range(2)
    ]
    assert np.array_equal(*frames)
    assert frames[0].shape == (240, 320, 3)
    assert frames[0].dtype == np.uint8


def test_each_frame_has_its_own_noise_and_the_seed_decides_it(renderer: Renderer) -> None:
    first, second = (renderer.render(Scene(0), n).astype(int) for n in (10, 11))
    assert 1.8 < (first - second).std() / np.sqrt(2) < 2.2
    assert abs((first - second).mean()) < 0.05
    other = Renderer(TOURNAMENT, NOMINAL, nominal_pose(TOURNAMENT, SMALL), replace(nominal_optics(), drift=0.1), seed=4)
    assert not np.array_equal(other.render(Scene(0), 10), first)


def test_noise_has_the_strength_asked_for() -> None:
    grey = replace(NOMINAL, surface_bgr=(128, 128, 128), line_bgr=(128, 128, 128), grain=0.0, knots=0, specks=0)
    clean, noisy = (
        Renderer(TOURNAMENT, grey, nominal_pose(TOURNAMENT, SMALL), Optics(noise_sigma=s), 1)
        .render(Scene(0))
        .astype(float)
        for s in (0.0, 9.0)
    )
    middle = (slice(60, 180), slice(100, 220))
    assert (noisy - clean)[middle].std() == pytest.approx(9.0, rel=0.05)


def test_a_frame_may_be_drawn_into_shared_memory(renderer: Renderer) -> None:
    scene = Scene(0, (SceneDisc("A1", "light", 40, 60),))
    out = np.zeros((240, 320, 3), np.uint8)
    assert renderer.render(scene, 5, out=out) is out
    assert np.array_equal(out, renderer.render(scene, 5))


def test_a_returned_frame_is_the_callers_own(renderer: Renderer) -> None:
    frame = renderer.render(Scene(0), 1)
    before = frame.copy()
    renderer.render(Scene(0, (SceneDisc("A1", "light", 0, 100),)), 2)
    assert np.array_equal(frame, before)


def changed(renderer: Renderer, scene: Scene) -> np.ndarray:
    """Pixels that a scene changes on the bare board."""
    bare = renderer.render(Scene(0)).astype(int)
    return np.abs(renderer.render(scene).astype(int) - bare).max(axis=2) > 6


@pytest.fixture(scope="module")
def sharp() -> Renderer:
    optics = Optics(shadow_strength=0.4, shutter_ms=10)
    return Renderer(TOURNAMENT, NOMINAL, nominal_pose(TOURNAMENT, (640, 480)), optics)


def test_a_disc_in_the_ditch_is_hidden_by_the_surface_and_lies_outside_it(sharp: Renderer) -> None:
    """Snug against the raised surface its inner edge is out of sight for a camera above the middle."""
    mask = changed(sharp, Scene(0, (SceneDisc("B1", "dark", 346.2, 0, z_mm=-12.7),)))
    v, u = np.nonzero(mask)
    at = sharp.pose.ground(u, v)
    assert np.hypot(at[:, 0], at[:, 1]).min() > TOURNAMENT.surface_radius_mm - 1.5


def test_a_disc_in_the_hole_shows_only_within_the_hole_and_above_it(sharp: Renderer) -> None:
    bare, sunk = sharp.render(Scene(0)), sharp.render(Scene(0, (SceneDisc("B1", "dark", 0.5, 0.5, z_mm=-6.0),)))
    flat = sharp.render(Scene(0, (SceneDisc("B1", "dark", 0.5, 0.5),)))
    areas = [int((np.abs(f.astype(int) - bare).max(axis=2) > 40).sum()) for f in (sunk, flat)]
    assert 0 < areas[0] < areas[1]


def test_a_hand_covers_discs_and_throws_a_shadow(sharp: Renderer) -> None:
    disc, hand = SceneDisc("B1", "dark", 60, -140), SceneHand(60, -50, 0)
    bare, under = (sharp.render(Scene(0, discs, (hand,))) for discs in ((), (disc,)))
    u, v = np.rint(sharp.project(60, -140, 9.5)).astype(int)
    assert np.array_equal(bare[v - 3 : v + 4, u - 3 : u + 4], under[v - 3 : v + 4, u - 3 : u + 4])
    darker = sharp.render(Scene(0)).astype(int) - bare
    assert (darker.min(axis=2) > 8).sum() > 200


@pytest.mark.parametrize("kind", LITTER)
def test_litter_can_be_seen_and_does_not_hide_the_board(sharp: Renderer, kind: str) -> None:
    share = changed(sharp, Scene(0, litter=(SceneLitter(kind, 40, -200),))).mean()
    assert 2e-4 < share < 0.3


def test_a_moving_disc_is_smeared_along_its_way_as_many_still_frames_would_be(sharp: Renderer) -> None:
    quiet = replace(sharp.optics, shadow_strength=0.0)
    still = Renderer(TOURNAMENT, NOMINAL, sharp.pose, quiet)
    n, vx, vy = 48, 1800.0, -900.0
    steps = (np.arange(n) + 0.5) / n - 0.5
    mean = np.mean(
        [
            still.render(Scene(0, (SceneDisc("B1", "dark", -150 + vx * 0.01 * t, 60 + vy * 0.01 * t),))).astype(float)
            for t in steps
        ],
        axis=0,
    )
    moving = still.render(Scene(0, (SceneDisc("B1", "dark", -150, 60, vx_mm_s=vx, vy_mm_s=vy),)))
    assert np.abs(moving - mean).max() < 30
    assert np.abs(moving - mean)[np.abs(mean - still.render(Scene(0))).max(axis=2) > 3].mean() < 3


def test_discs_keep_their_piece_of_wood_and_turn_with_their_angle(sharp: Renderer) -> None:
    a, b, c = (
        sharp.render(Scene(0, (SceneDisc(i, "light", 0, 150, turn_deg=t),)))
        for i, t in (("A1", 0), ("A1", 0), ("A1", 90))
    )
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_light_and_dark_sets_and_a_third_look_different(sharp: Renderer) -> None:
    u, v = np.rint(sharp.project(0, 150, 9.5)).astype(int)
    seen = [
        sharp.render(Scene(0, (SceneDisc("A1", colour, 0, 150),)))[v - 4 : v + 5, u - 4 : u + 5].mean(axis=(0, 1))
        for colour in ("light", "dark", "third")
    ]
    assert seen[0].mean() > seen[1].mean() + 20
    assert all(np.linalg.norm(seen[2] - s) > 20 for s in seen[:2])


@pytest.mark.parametrize("seed", range(4))
def test_the_hardest_optics_and_every_board_still_draw(seed: int) -> None:
    board = load_board("hobby") if seed % 2 else TOURNAMENT
    renderer = Renderer(board, NAMED["blue"], drawn_pose(board, seed, SMALL), hard_optics(seed), seed)
    discs = tuple(SceneDisc(f"A{k}", "dark", 60.0 * k - 150, 20.0 * k) for k in range(6))
    frame = renderer.render(Scene(0, discs, (SceneHand(0, -150, 10, vx_mm_s=800),)), 7)
    assert frame.shape == (240, 320, 3)
    assert frame.std() > 2


def test_slow_light_changes_the_brightness_of_the_whole_frame(renderer: Renderer) -> None:
    quarter = renderer.optics.drift_period_frames // 4
    bright, dark = (renderer.render(Scene(0), n).mean() for n in (quarter, 3 * quarter))
    assert bright / dark == pytest.approx(1.1 / 0.9, rel=0.03)


def test_a_nudged_camera_sees_the_same_board_elsewhere() -> None:
    pose = nominal_pose(TOURNAMENT, SMALL)
    moved = pose.nudged(3.0, -2.0, 0.5)
    shift = moved.project(100, 50) - pose.project(100, 50)
    assert 0.3 < np.linalg.norm(shift) < 3
    assert moved.tilt_deg == pytest.approx(pose.tilt_deg)


@pytest.mark.parametrize(
    "wrong", [{"height_mm": 0.0}, {"fov_deg": 170.0}, {"aim_xy_mm": (4000.0, 0.0)}, {"size_wh": (8, 8)}], ids=str
)
def test_a_camera_that_cannot_be_is_refused_in_one_line(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="camera pose"):
        CameraPose(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"exposure": 0.0}, {"noise_sigma": -1.0}, {"jpeg_quality": 0}], ids=str)
def test_optics_that_cannot_be_are_refused_in_one_line(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="optics"):
        Optics(**wrong)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(x=st.floats(-330, 330), y=st.floats(-330, 330), z=st.floats(-12, 40), seed=st.integers(0, 500))
def test_projecting_a_point_and_looking_back_gives_the_point(x: float, y: float, z: float, seed: int) -> None:
    pose = drawn_pose(TOURNAMENT, seed)
    u, v = pose.project(x, y, z)
    assert np.allclose(pose.ground(u, v, z), (x, y), atol=1e-6)


def test_opencv_lays_layers_with_the_same_rounding_at_every_offset() -> None:
    """The cache relies on it: a pixel drawn in the vector part of a row equals one drawn in its tail."""
    a, b = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    whole = cv2.multiply(a, b, scale=1 / 255)
    for cut in (1, 3, 7, 250):
        assert np.array_equal(cv2.multiply(a[:, cut:], b[:, cut:], scale=1 / 255), whole[:, cut:])
