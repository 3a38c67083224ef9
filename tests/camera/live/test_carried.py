"""What hands carry away and lay down is no shot, also where it is glimpsed on the way."""

from __future__ import annotations

import pytest

from firmware_py.camera.motion.naming import Watched
from firmware_py.camera.motion.shots import conclude
from firmware_py.camera.motion.tracker import Sighting, Track
from firmware_py.camera.rest.resting import Reading, Resting
from hardware.board import TOURNAMENT
from hub.link.messages import Colour, DiscState

Xy = tuple[float, float]

FRAME_NS = 16_666_667


def lying(name: str, x: float, y: float, colour: Colour, state: DiscState = "flat") -> Resting:
    return Resting(name, colour, x, y, 0.2, state, (x, y))


def seen_at(places: list[tuple[int, Xy]], colour: Colour) -> Track:
    """A disc that was not on the board, seen at places after so many frames."""
    return Track("new-1", colour, 0, None, tuple(Sighting(k * FRAME_NS, *at, 0.35, colour) for k, at in places))


def glimpsed(at: Xy, laid: Xy, unseen: int, colour: Colour = "light") -> Track:
    """A disc that was seen once between the fingers, and again where it was laid down, after so many frames."""
    return seen_at([(100, at), *((100 + unseen + k, laid) for k in range(20))], colour)


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("at", [(-12.4, -79.7), (150.0, 60.0), (-30.0, -250.0)])
@pytest.mark.parametrize("unseen", [8, 10, 20])
def test_a_disc_glimpsed_in_a_hand_and_seen_again_in_the_ditch_was_carried_there(
    at: Xy, unseen: int, colour: Colour
) -> None:
    """Frames came between the two sightings, and a disc that runs is seen in them."""
    lay = lying("d1", at[0] - 3.7, at[1] + 1.5, colour)
    laid = lying("", 43.4, -353.3, colour, "ditch")
    seen = Watched(
        since_ns=0,
        until_ns=200 * FRAME_NS,
        tracks=(Track("d1", colour, FRAME_NS, (lay.x_mm, lay.y_mm)), glimpsed(at, (43.4, -353.3), unseen, colour)),
        on_line=(),
        hand_inner_mm=1.5,
        covered=frozenset({"d1"}),
        blind_ns=FRAME_NS,
    )
    reading = Reading(stay=(), nudged={}, gone=(lay,), found=(laid,), unseen=(), odd=())
    assert conclude(TOURNAMENT, (lay,), reading, seen, 2).shot is None


def test_a_disc_that_was_not_seen_while_no_frame_came_may_have_run() -> None:
    """Then nothing says that a hand was needed: it came in from the line, and lies inside."""
    rolling = seen_at([(100, (0.0, -285.0)), (112, (0.0, -120.0))], "light")
    seen = Watched(0, 200 * FRAME_NS, (rolling,), (), 280.0, frozenset(), blind_ns=12 * FRAME_NS)
    found = lying("", 0.0, -100.0, "light")
    reading = Reading(stay=(), nudged={}, gone=(), found=(found,), unseen=(), odd=())
    shot = conclude(TOURNAMENT, (), reading, seen, 1).shot
    assert shot is not None
    assert shot.disc == "d1"


def carried_off(held: tuple[bool, ...]) -> Watched:
    """Hands that clear a board: between the fingers a disc shows that was not seen to lie anywhere, frame by frame."""
    steps = enumerate(held)
    way = tuple(Sighting((100 + k) * FRAME_NS, 166.0 - 3.1 * k, 233.0 - 6.4 * k, 0.35, "light", h) for k, h in steps)
    lifted = Track("d1", "light", FRAME_NS, (165.8, 234.3))
    return Watched(
        since_ns=0,
        until_ns=200 * FRAME_NS,
        tracks=(lifted, Track("new-1", "light", 0, None, way)),
        on_line=(),
        hand_inner_mm=15.0,
        covered=frozenset({"d1"}),
        blind_ns=FRAME_NS,
    )


@pytest.mark.parametrize(
    ("held", "shot"),
    [
        ((True,) * 14, False),
        ((False, False, True, True, False, True, True, True, False, False, True, True, True, True), False),
        ((True,) * 4 + (False,) * 10, True),
        ((False,) * 14, True),
    ],
    ids=["in a hand", "at times beside it", "let go", "by itself"],
)
def test_a_disc_runs_by_itself_only_while_it_is_seen_apart_from_hands(held: tuple[bool, ...], shot: bool) -> None:
    lay = lying("d1", 165.8, 234.3, "light")
    reading = Reading(stay=(), nudged={}, gone=(lay,), found=(), unseen=(), odd=())
    told = conclude(TOURNAMENT, (lay,), reading, carried_off(held), 2).shot
    assert (told is not None) is shot
