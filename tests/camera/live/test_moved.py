"""Bumps of camera and board, boards that are carried, turned and exchanged, and things that are none of it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from firmware_py.camera.board.start import calibrate
from firmware_py.camera.live import LiveReader
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.place.likeness import Likeness
from firmware_py.camera.place.register import Register
from firmware_py.camera.place.relocate import LEAST_ALIKE, Known
from firmware_py.camera.place.steady import FOLLOW_MM, TELL_MM, Steady
from hardware.board import TOURNAMENT, to_xy
from hardware.twin.hands import Errand, tidy
from hardware.twin.optics import CameraPose, Renderer, nominal_pose
from hardware.twin.scene import SceneHand, SceneLitter
from hardware.twin.styles import NAMED, NOMINAL, BoardStyle
from hub.link.messages import Fact, Hand, Layout, Moved, Shot
from tests.camera.live.filmed import HEIGHT_MM, Film, watch

PLACES = {
    "A7": (-230.0, 150.0),
    "B7": (215.0, -170.0),
    "A8": (60.0, 255.0),
    "B8": (-120.0, -30.0),
    "A9": (70.0, 33.0),
    "B9": (20.0, -140.0),
}


def started(seed: int = 1, style: BoardStyle = NOMINAL, others: tuple[Known, ...] = ()) -> tuple[Film, LiveReader]:
    """A film of a board with discs that the reader has read."""
    film = Film(seed, style)
    eye = LiveReader(TOURNAMENT, height_mm=HEIGHT_MM, others=lambda: others)
    watch(eye, film, 0.7)
    lay_out(film)
    watch(eye, film, 0.8)
    assert eye.rest is not None
    assert len(eye.rest.discs) == len(PLACES)
    return film, eye


def lay_out(film: Film) -> None:
    for name, (x, y) in PLACES.items():
        film.world.place(name, "light" if name[0] == "A" else "dark", x, y)


def errors_mm(film: Film, eye: LiveReader) -> list[float]:
    assert eye.rest is not None
    lying = [(d.x_mm, d.y_mm) for d in film.world.discs.values()]
    return [min(math.dist((d.x_mm, d.y_mm), p) for p in lying) for d in eye.rest.discs]


def names(eye: LiveReader) -> dict[str, tuple[float, float]]:
    assert eye.rest is not None
    return {d.id: (d.x_mm, d.y_mm) for d in eye.rest.discs}


def told(facts: list[Fact], kind: type) -> list[Fact]:
    return [f for f in facts if isinstance(f, kind)]


def outer_shift_mm(before: Film, **bump: float) -> float:
    """By how much a bump moves the outer line in the picture, in mm on the board."""
    old = before.pose
    before.bump(**bump)
    ring = [to_xy(TOURNAMENT.outer_line_mm, a) for a in range(0, 360, 10)]
    x, y = np.array(ring).T
    there = old.ground(*np.moveaxis(before.pose.project(x, y), -1, 0))
    return float(np.linalg.norm(there - np.array(ring), axis=1).max())


@pytest.fixture(scope="module")
def bumped() -> tuple[Film, LiveReader]:
    return started()


@pytest.mark.parametrize(
    "bump",
    [
        {"dx_mm": 1.0},
        {"turn_deg": 0.35},
        {"dx_mm": 3.0, "dy_mm": -2.0, "turn_deg": -0.3},
        {"tilt_mm": 4.0},
        {"dx_mm": -3.5, "dy_mm": -3.5},
    ],
    ids=str,
)
def test_a_bump_is_told_and_followed_and_no_disc_moves(bumped: tuple[Film, LiveReader], bump: dict[str, float]) -> None:
    film, eye = bumped
    before = names(eye)
    true_mm = outer_shift_mm(film, **bump)
    facts = watch(eye, film, 1.2)
    (moved,) = told(facts, Moved)
    assert isinstance(moved, Moved)
    assert moved.shift_mm == pytest.approx(true_mm, abs=0.35)
    assert moved.what == "camera"
    assert told(facts, Shot) == []
    assert eye.at_rest
    assert max(errors_mm(film, eye)) < 0.6
    after = names(eye)
    assert after.keys() == before.keys()
    assert max(math.dist(after[n], before[n]) for n in after) < 0.3
    assert [f.present for f in told(facts, Hand)] in ([], [True, False])  # type: ignore[attr-defined]


def test_a_shot_right_after_a_bump_is_told_as_ever(bumped: tuple[Film, LiveReader]) -> None:
    film, eye = bumped
    film.shot("A1", "light", 1, -25.0, (350.0, 477.0))
    (shot,) = told(watch(eye, film, 2.6), Shot)
    assert isinstance(shot, Shot)
    assert shot.colour == "light"
    assert max(errors_mm(film, eye)) < 0.6


@pytest.mark.parametrize("style", ["maple", "ebony"])
def test_a_board_that_stays_is_never_taken_for_moved(style: str) -> None:
    """Thirty looks of each style: noise, discs anywhere, a hand over the board, the light going up and down."""
    film = Film(3, NAMED[style])
    frames = [film.next().pixels for _ in range(8)]
    view = BoardView(calibrate(np.mean(frames, axis=0).astype(np.uint8), TOURNAMENT, height_mm=HEIGHT_MM), TOURNAMENT)
    bare = np.mean([view.straight(f) for f in frames], axis=0, dtype=np.float32)
    steady = Steady(view, bare)
    chance = np.random.default_rng(5)
    for k in range(30):
        for n in range(12):
            x, y = to_xy(300 * math.sqrt(chance.random()), chance.uniform(0, 360))
            film.world.place(f"{'AB'[n % 2]}{n}", "light" if n % 2 else "dark", x, y)
        pixels = film.next().pixels
        if k % 3 == 1:
            pixels = np.clip(pixels * chance.uniform(0.6, 1.15), 0, 255).astype(np.uint8)
        if k % 3 == 2:
            hand = SceneHand(float(chance.uniform(-120, 120)), float(chance.uniform(-200, 0)), 0.0)
            scene = film.world.scene()
            pixels = film.eye.render(type(scene)(scene.at_ns, scene.discs, (hand,)), film.number)
        stand = steady.look(view.straight(pixels), bare)
        assert stand.state == "steady", (k, stand)


def test_discs_moved_by_a_shot_and_by_a_hand_are_no_bump() -> None:
    film, eye = started(2, NAMED["blue"])
    film.shot("A1", "light", 1, 0.0, (50.0, 900.0))
    facts = watch(eye, film, 2.8)
    film.hands.begin(tidy(1, [Errand(film.world.discs["A9"])], film.at_ns))
    facts += watch(eye, film, 2.6)
    assert told(facts, Moved) == []
    assert len(told(facts, Shot)) == 1


def test_a_bump_during_a_shot_loses_neither() -> None:
    film, eye = started(4, NAMED["blue"])
    reach = film.shot("A1", "light", 1, -25.0, (350.0, 477.0))
    until_flick_s = (next(d.at_ns for d in reach.deeds if d.what == "flick") - film.at_ns) / 1e9
    facts = watch(eye, film, until_flick_s + 0.1)
    film.bump(dx_mm=1.5, dy_mm=-1.0)
    facts += watch(eye, film, 2.4)
    assert len(told(facts, Moved)) == 1
    assert len(told(facts, Shot)) == 1
    assert max(errors_mm(film, eye)) < 0.7


@pytest.mark.parametrize(
    ("style", "shift", "turn_deg"),
    [("maple", (40.0, -20.0), 10.0), ("blue", (-15.0, 30.0), 90.0), ("maple", (10.0, 10.0), -140.0)],
)
def test_a_board_carried_with_its_discs_is_found_again_and_each_disc_keeps_its_name(
    style: str, shift: tuple[float, float], turn_deg: float
) -> None:
    film, eye = started(style=NAMED[style])
    before = names(eye)
    film.bump(*shift, turn_deg)
    start_ns = film.at_ns
    facts = watch(eye, film, 1.6)
    (moved,) = told(facts, Moved)
    assert isinstance(moved, Moved)
    assert moved.what == "board"
    assert moved.at_ns - start_ns < 1_500_000_000
    assert told(facts, Shot) == []
    after = names(eye)
    assert after.keys() == before.keys()
    # The frame goes by the seats: it turned by the quarters that bring seat 1 back to where it sits.
    quarters = round(turn_deg / 90) % 4
    for name, was in before.items():
        there = complex(*was) * (-1j) ** quarters
        assert math.dist(after[name], (there.real, there.imag)) < 2.0, name
    assert eye.trouble == ""
    film.shot("A1", "light", 1, -25.0, (350.0, 477.0))
    assert len(told(watch(eye, film, 2.6), Shot)) == 1


def test_a_board_that_was_exchanged_is_read_as_it_lies_and_known_when_it_returns() -> None:
    film, eye = started(style=NAMED["maple"])
    assert eye.reader is not None
    assert eye.calibration is not None
    maple = Known(eye.calibration, eye.reader.bare.copy())
    film, eye = started(style=NAMED["blue"], others=(maple,))
    old = set(names(eye))
    film.look_from(film.pose.nudged(3.0, 8.0, 4.0), NAMED["honey"])
    facts = watch(eye, film, 1.6)
    assert len(told(facts, Moved)) == 1
    (layout,) = told(facts, Layout)
    assert isinstance(layout, Layout)
    assert len(layout.discs) == len(PLACES)
    assert not {d.id for d in layout.discs} & old
    for disc in layout.discs:
        assert min(math.dist((disc.x_mm, disc.y_mm), p) for p in PLACES.values()) < 2.5 * disc.sigma_mm + 0.5
    film.look_from(film.pose.nudged(-6.0, 2.0, -7.0), NAMED["maple"])
    watch(eye, film, 1.6)
    assert eye.reader is not None
    likeness = Likeness(eye.reader.view)
    assert likeness.between(likeness.marks(eye.reader.bare), likeness.marks(maple.bare)) > 0.8
    assert len(names(eye)) == len(PLACES)


def test_a_mug_put_beside_the_board_does_not_keep_it_from_being_read() -> None:
    film, eye = started(style=NAMED["blue"])
    film.litter = (SceneLitter("mug", -(TOURNAMENT.rail_radius_mm + 34.0), 0.0),)
    facts = watch(eye, film, 5.2)
    assert eye.at_rest
    assert told(facts, Moved) == []
    assert told(facts, Shot) == []
    film.shot("A1", "light", 1, -25.0, (350.0, 477.0))
    facts = watch(eye, film, 2.8)
    assert len(told(facts, Shot)) == 1
    assert max(errors_mm(film, eye)) < 0.7


def test_a_cloth_over_half_the_board_takes_no_disc_away() -> None:
    film, eye = started(style=NAMED["blue"])
    before = names(eye)
    chance = np.random.default_rng(1)
    facts = []
    for frame in film.frames(2.2):
        pixels = frame.pixels.copy()
        cloth = pixels[:, 560:]
        cloth[:] = np.clip(70 + chance.normal(0, 2, cloth.shape), 0, 255)
        facts += eye.take(type(frame)(frame.number, frame.at_ns, 0, pixels))
    facts += watch(eye, film, 1.2)
    assert [type(f) for f in facts if not isinstance(f, Hand)] == []
    assert names(eye) == before


def test_a_hidden_board_is_told_and_goes_on_as_it_was() -> None:
    film, eye = started(style=NAMED["blue"])
    before = names(eye)
    dark = np.full_like(film.next().pixels, 70)
    chance = np.random.default_rng(1)
    frames = list(film.frames(3.5))
    facts = []
    for frame in frames:
        cloth = np.clip(dark + chance.normal(0, 2, dark.shape), 0, 255).astype(np.uint8)
        facts += eye.take(type(frame)(frame.number, frame.at_ns, 0, cloth))
    assert "board" in eye.trouble
    facts += watch(eye, film, 1.2)
    assert eye.trouble == ""
    assert names(eye) == before
    assert told(facts, Moved) == []
    assert told(facts, Shot) == []
    assert told(facts, Layout) == []


def test_pictures_of_another_size_are_read_on() -> None:
    film, eye = started(style=NAMED["blue"])
    before = names(eye)
    film.look_from(nominal_pose(TOURNAMENT, (960, 720)))
    facts = watch(eye, film, 1.6)
    assert eye.calibration is not None
    assert eye.calibration.size_wh == (960, 720)
    after = names(eye)
    assert after.keys() == before.keys()
    assert max(math.dist(after[n], before[n]) for n in after) < 1.5
    assert told(facts, Shot) == []


def test_different_boards_are_told_apart_by_their_marks() -> None:
    pose = nominal_pose(TOURNAMENT)
    film = Film()
    marks = {}
    likeness = None
    for name, style in sorted(NAMED.items()):
        bare = mean_frame(film, style, pose)
        lay_out(film)
        laid = mean_frame(film, style, pose.nudged(20, 5, 3))
        for disc in PLACES:
            film.world.remove(disc)
        views = [BoardView(calibrate(p, TOURNAMENT, height_mm=HEIGHT_MM), TOURNAMENT) for p in (bare, laid)]
        likeness = Likeness(views[0])
        marks[name] = tuple(likeness.marks(v.straight(p)) for v, p in zip(views, (bare, laid), strict=True))
    assert likeness is not None
    for a, b in itertools.product(marks, marks):
        like = likeness.between(marks[a][0], marks[b][1])
        assert like > LEAST_ALIKE + 0.05 if a == b else like < LEAST_ALIKE - 0.05, (a, b, like)


def mean_frame(film: Film, style: BoardStyle, pose: CameraPose) -> np.ndarray:
    eye = Renderer(TOURNAMENT, style, pose, film.optics, 1)
    return np.mean([eye.render(film.world.scene(), k) for k in range(6)], axis=0).astype(np.uint8)


def test_a_slip_beyond_reach_is_none() -> None:
    film = Film()
    frames = [film.next().pixels for _ in range(4)]
    view = BoardView(calibrate(frames[0], TOURNAMENT, height_mm=HEIGHT_MM), TOURNAMENT)
    bare = np.mean([view.straight(f) for f in frames], axis=0, dtype=np.float32)
    film.bump(dx_mm=30.0)
    slip = Register(view, bare).lay(view.straight(film.next().pixels))
    assert slip is None or slip.alike < 0.4
    assert FOLLOW_MM < TELL_MM < 1.0
