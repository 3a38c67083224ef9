"""Where a moving disc is seen, however far it is from where it was expected."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firmware_py.camera.board.start import calibrate
from firmware_py.camera.motion.follow import Follower
from firmware_py.camera.motion.tracker import Sighting, Track
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.reader import LayoutReader
from hardware.board import TOURNAMENT, to_xy
from hardware.twin.optics import Renderer, nominal_optics, nominal_pose
from hardware.twin.scene import Colour, Scene, SceneDisc
from hardware.twin.styles import NAMED

FRAME_NS, EXPOSURE_NS = 33_333_333, 5_000_000
LAID = (
    SceneDisc("a", "light", -190.0, 150.0),
    SceneDisc("b", "dark", 205.0, 160.0),
    SceneDisc("c", "light", 20.0, 262.0),
    SceneDisc("d", "dark", -240.0, -30.0),
)


class Watched:
    """A board under a camera that knows both sets, and what a frame of it shows."""

    def __init__(self, style: str) -> None:
        pose = nominal_pose(TOURNAMENT)
        self.eye = Renderer(TOURNAMENT, NAMED[style], pose, nominal_optics(), 3)
        empty = self.picture()
        calibration = calibrate(empty, TOURNAMENT, height_mm=pose.height_mm, seat1_deg=pose.turn_deg)
        self.view = BoardView(calibration, TOURNAMENT)
        self.still = self.view.straight(empty)
        bare = self.still.astype(np.float32)
        self.reader = LayoutReader(self.view, bare, Wardrobe(), hole_xy_mm=calibration.hole_xy_mm)
        self.reader.read(self.view.straight(self.picture(*LAID)), None, ())

    def picture(self, *discs: SceneDisc) -> np.ndarray:
        return np.asarray(self.eye.render(Scene(at_ns=0, discs=discs), 1))

    def sightings(self, track: Track, *discs: SceneDisc) -> tuple[Sighting, ...]:
        """What a frame with moving discs shows, of which one track is known."""
        follower = Follower(self.reader, still=self.still, discs=())
        straight = self.view.straight(self.picture(*discs))
        whole = (0, 0, straight.shape[1], straight.shape[0])
        return follower.look(straight, whole, track.last_ns + FRAME_NS, EXPOSURE_NS, (track,)).sightings


@pytest.fixture(scope="module")
def boards() -> dict[str, Watched]:
    return {style: Watched(style) for style in ("maple", "blue")}


def led_to(place: tuple[float, float], colour: Colour) -> Track:
    """A track that was about to stop, so that it is expected near a place."""
    at = (Sighting(k * FRAME_NS, *place, 0.4, colour) for k in (1, 2))
    return Track("d1", colour, 0, None, tuple(at))


@pytest.mark.parametrize(("style", "colour"), [("maple", "dark"), ("blue", "light"), ("blue", "dark")])
@pytest.mark.parametrize("off_mm", [3.0, 8.0, 12.0, 15.0, 17.0, 25.0])
def test_a_disc_that_was_struck_is_seen_where_it_is_and_not_short_of_it(
    boards: dict[str, Watched], style: str, colour: Colour, off_mm: float
) -> None:
    """A blow between two frames makes the forecast worthless; the sighting must not be drawn towards it."""
    board, errors = boards[style], []
    for angle_deg in range(0, 360, 40):
        x, y = to_xy(130.0, angle_deg + 7.0)
        dx, dy = to_xy(off_mm, 3.0 * angle_deg)
        disc = SceneDisc("x", colour, x, y)
        (foreseen,) = board.sightings(led_to((x, y), colour), disc)
        (struck,) = board.sightings(led_to((x + dx, y + dy), colour), disc)
        assert math.dist(foreseen.xy_mm, (x, y)) < 1.5
        errors.append(math.dist(struck.xy_mm, foreseen.xy_mm))
    # Short of it were two to five millimetres; fits of one frame differ by half a millimetre.
    assert max(errors) < 1.0


@pytest.mark.parametrize(("style", "colour"), [("maple", "dark"), ("blue", "light"), ("blue", "dark")])
@pytest.mark.parametrize(("apart_mm", "share"), [(34.0, 0.5), (38.0, 0.5), (38.0, 0.35), (45.0, 0.6)])
def test_a_disc_that_is_expected_between_two_of_its_set_hides_neither(
    boards: dict[str, Watched], style: str, colour: Colour, apart_mm: float, share: float
) -> None:
    """After a blow that stopped it the shot disc is expected where the struck one is about to be."""
    for angle_deg in range(0, 360, 72):
        at, (dx, dy) = to_xy(150.0, angle_deg + 7.0), to_xy(apart_mm, 2.0 * angle_deg)
        discs = SceneDisc("x", colour, *at), SceneDisc("y", colour, at[0] + dx, at[1] + dy)
        seen = boards[style].sightings(led_to((at[0] + share * dx, at[1] + share * dy), colour), *discs)
        assert len(seen) == 2
        assert all(min(math.dist(s.xy_mm, (d.x_mm, d.y_mm)) for s in seen) < 2.0 for d in discs)
