"""What makes a picture one that cannot be read, and what does not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from firmware_py.camera.board.start import NoBoardError, calibrate
from firmware_py.camera.picture.regions import Changes, Region
from firmware_py.camera.picture.view import MM_PER_PX, BoardView
from firmware_py.camera.rest.appearance import Look, cut_patch
from firmware_py.camera.rest.learning import without_neighbours
from firmware_py.camera.rest.legible import blurred, drowned, like_discs, words
from hardware.board import TOURNAMENT
from hardware.twin.optics import Renderer, nominal_optics, nominal_pose
from hardware.twin.scene import Scene
from hardware.twin.styles import NAMED

RADIUS_MM = TOURNAMENT.disc_radius_mm


@pytest.fixture(scope="module")
def empty() -> np.ndarray:
    pose = nominal_pose(TOURNAMENT)
    return Renderer(TOURNAMENT, NAMED["maple"], pose, nominal_optics(), 3).render(Scene(at_ns=0), 1).copy()


@pytest.fixture(scope="module")
def view(empty: np.ndarray) -> BoardView:
    return BoardView(calibrate(empty, TOURNAMENT, height_mm=1010.0), TOURNAMENT)


@pytest.mark.parametrize(("softer_px", "told"), [(0.0, False), (0.7, False), (3.0, True)])
def test_only_a_picture_that_lost_its_lines_is_blurred(
    view: BoardView, empty: np.ndarray, softer_px: float, told: bool
) -> None:
    straight = view.straight(empty)
    now = cv2.GaussianBlur(straight, (0, 0), softer_px) if softer_px else straight
    assert blurred(view, now, straight.astype(np.float32)) is told


def test_discs_and_a_hand_that_hide_some_of_the_lines_blur_nothing(view: BoardView, empty: np.ndarray) -> None:
    straight = view.straight(empty)
    now = straight.copy()
    now[: view.side_px * 2 // 5] = (90, 120, 170)
    assert not blurred(view, now, straight.astype(np.float32))


def changed(view: BoardView, x_mm: float, y_mm: float, size_mm: tuple[float, float]) -> Changes:
    """An oval of changed pixels."""
    labels = np.zeros((view.side_px, view.side_px), np.int32)
    u, v = view.to_px(x_mm, y_mm)
    half = (round(size_mm[0] / MM_PER_PX), round(size_mm[1] / MM_PER_PX))
    cv2.ellipse(labels, (round(u), round(v)), half, 0, 0, 360, 1, -1)
    box = (round(u) - half[0], round(v) - half[1], 2 * half[0] + 1, 2 * half[1] + 1)
    return Changes(labels, (Region(1, 0.0, x_mm, y_mm, box, hand=False, inner_mm=0.0),))


@pytest.mark.parametrize(
    ("x_mm", "size_mm", "told"),
    [
        (100.0, (RADIUS_MM, RADIUS_MM), True),
        (100.0, (3 * RADIUS_MM, RADIUS_MM), True),  # a row of them
        (0.0, (RADIUS_MM, RADIUS_MM), True),  # in the hole
        (100.0, (40.0, 6.0), False),  # a pencil, a shadow's edge
        (100.0, (60.0, 50.0), False),  # a mug
        (360.0, (RADIUS_MM, RADIUS_MM), False),  # in the ditch, whose reading is a hint
    ],
)
def test_what_is_as_broad_as_a_disc_may_be_one(
    view: BoardView, empty: np.ndarray, x_mm: float, size_mm: tuple[float, float], told: bool
) -> None:
    changes = changed(view, x_mm, 0.0, size_mm)
    straight = view.straight(empty)
    painted = np.where(changes.labels[..., None] > 0, np.uint8(60), straight).astype(np.uint8)
    assert bool(like_discs(view, (painted, straight.astype(np.float32)), changes, changes.regions, (0.0, 0.0))) is told


@pytest.mark.parametrize("x_mm", [100.0, -202.0, 0.0])
@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("other light", False),
        ("half shadow", False),
        ("lossy colours", False),
        ("noise", False),
        ("a disc as grey as the wood", True),
        ("a deep shadow", True),  # and what lies in it
    ],
)
def test_wood_that_is_seen_in_hardly_other_light_is_no_disc(
    view: BoardView, empty: np.ndarray, x_mm: float, what: str, told: bool
) -> None:
    changes = changed(view, x_mm, 0.0, (RADIUS_MM, RADIUS_MM))
    bare = view.straight(empty).astype(np.float32)
    there, chance = changes.labels > 0, np.random.default_rng(3)
    seen = bare.copy()
    if what == "other light":
        seen[there] *= 0.92
    elif what == "half shadow":
        seen *= np.where(there, np.linspace(0.84, 1.08, view.side_px) ** 0.5, 1.0)[..., None]
    elif what == "lossy colours":
        seen[there] += (9.0, -2.0, 4.0)
    elif what == "noise":
        seen[there] += chance.normal(0.0, 4.0, (int(there.sum()), 3))
    elif what == "a disc as grey as the wood":
        seen[there] = np.median(bare[there], axis=0)
        deep = changed(view, x_mm, 0.0, (RADIUS_MM / 2, RADIUS_MM / 2)).labels > 0
        seen[deep] *= 0.65
    else:
        seen[there] *= 0.6
    straight = np.clip(np.rint(seen), 0, 255).astype(np.uint8)
    at_hole = x_mm == 0.0  # where a dark disc leaves little to be seen
    assert bool(like_discs(view, (straight, bare), changes, changes.regions, (0.0, 0.0))) is (told or at_hole)


@pytest.mark.parametrize(
    ("least", "differs", "told"), [(7.0, 4.0, ()), (12.0, 40.0, ()), (12.0, 12.0, ("dark",)), (30.0, 35.0, ("dark",))]
)
def test_a_set_that_differs_from_the_wood_by_less_than_noise_is_hidden_by_it(
    view: BoardView, least: float, differs: float, told: tuple[str, ...]
) -> None:
    bare = np.full((view.side_px, view.side_px, 3), 80.0, np.float32)
    look = Look.plain(RADIUS_MM, (80.0 - differs, 80.0 - differs, 80.0 - differs))
    assert drowned(view, bare, {"dark": look}, least) == told


def test_people_are_told_where_to_look(view: BoardView) -> None:
    assert words(False, (), ()) == ""
    assert "3 o'clock" in words(False, (), changed(view, 100.0, 0.0, (16.0, 16.0)).regions)
    assert "dark discs" in words(False, ("dark",), ())
    assert "blurred" in words(True, ("dark",), ())


def test_a_board_too_dark_to_be_read_is_refused_by_name(empty: np.ndarray) -> None:
    with pytest.raises(NoBoardError, match="too dark"):
        calibrate(np.rint(empty * 0.06).astype(np.uint8), TOURNAMENT)


def test_a_neighbour_has_no_say_in_what_a_shadow_is(view: BoardView) -> None:
    bare = np.full((view.side_px, view.side_px, 3), (120.0, 160.0, 200.0), np.float32)
    seen = bare.copy()
    u, v = view.to_px(0.0, 0.0)
    across = round(2 * RADIUS_MM / MM_PER_PX)
    cv2.circle(seen, (round(u), round(v)), round(RADIUS_MM / MM_PER_PX), (30.0, 25.0, 20.0), -1)
    cv2.circle(seen, (round(u) + across, round(v)), round(RADIUS_MM / MM_PER_PX), (20.0, 40.0, 180.0), -1)
    seen[round(v) - 18 : round(v) - 14] *= 0.6  # a shadow
    patch = cut_patch(view, seen.astype(np.uint8), bare, (0.0, 0.0))
    assert patch is not None
    weight = without_neighbours(view, patch, (0.0, 0.0), RADIUS_MM).weight
    middle = weight.shape[0] // 2
    assert weight[middle, middle] == 1  # the disc itself
    assert weight[middle, -4] == 0  # its neighbour
    assert weight[middle - 16, middle] == 1  # its shadow
    assert weight[middle + 15, middle] == 1  # wood
