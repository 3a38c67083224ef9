"""A disc that comes to lie where another had lain is not that other one, of whichever set both are."""

from __future__ import annotations

import pytest

from firmware_py.camera.motion.shots import conclude
from firmware_py.camera.motion.tracker import Sighting, Track
from hardware.board import TOURNAMENT
from hub.link.messages import Colour, Place
from tests.camera.live.test_shots import FRAME_NS, lying, reading, track, watched


def _incoming(place: tuple[float, float], off: tuple[float, float], colour: Colour) -> Track:
    """A shot disc that strikes one at a place, is thrown back, and rolls on to near that place in the end."""
    ways = [(0.0, -60.0 - 20 * k) for k in range(8, 0, -1)] + [(-8.0, -40.0), (-14.0, -50.0), (-10.0, -34.0)]
    ways += [(-7.0 + k, -24.0 + 5 * k) for k in range(5)] + [off] * 6
    points = tuple(
        Sighting((3 + k) * FRAME_NS, place[0] + x, place[1] + y, 0.4, colour) for k, (x, y) in enumerate(ways)
    )
    return Track("new-1", colour, 0, None, points)


@pytest.mark.parametrize("off", [(0.1, 0.1), (1.6, -2.0), (-3.4, 0.6)])
@pytest.mark.parametrize(("lay", "shot"), [("light", "dark"), ("dark", "light"), ("light", "light")])
def test_the_one_that_lay_there_is_gone_and_the_shot_one_lies(
    off: tuple[float, float], lay: Colour, shot: Colour
) -> None:
    place = (145.8, 32.0)
    target = lying("d4", *place, lay)
    away = track("d4", (150.0, 44.0), (330.0, 900.0), 9, colour=lay, origin=place)
    struck = Track(away.key, away.colour, 10 * FRAME_NS, place, tuple(_later(p, 8) for p in away.points))
    lies = lying("d4", place[0] + off[0], place[1] + off[1], lay)
    opposing = lying("d5", -200.0, 60.0, "dark" if shot == "light" else "light")
    seen = reading(
        stay=(lies, opposing),
        nudged={"d4": 2.5} if off[0] > 0.3 else {},
        found=(lying("", *struck.points[-1].xy_mm, lay, "ditch"),),
    )
    done = conclude(TOURNAMENT, (target, opposing), seen, watched(_incoming(place, off, shot), struck), 9)
    assert done.shot is not None
    assert (done.shot.disc, done.shot.colour) == ("d9", shot)
    there = done.shot.rest["d9"]
    assert isinstance(there, Place)
    assert done.shot.rest["d4"] == "ditch"
    assert ("hit", "d9", "d4") in done.shot.events
    assert ("off", "d4") in done.shot.events
    assert {d.id: (d.colour, d.state) for d in done.discs} == {
        "d9": (shot, "flat"),
        "d4": (lay, "ditch"),
        "d5": (opposing.colour, "flat"),
    }


def _later(seen: Sighting, frames: int) -> Sighting:
    return Sighting(seen.at_ns + frames * FRAME_NS, seen.x_mm, seen.y_mm, seen.sigma_mm, seen.colour)


def test_one_that_was_nudged_and_whose_name_went_to_the_disc_that_struck_it_stays() -> None:
    """Of one set, both are told apart by their ways only: the place was never empty."""
    place = (0.0, -140.0)
    target = lying("d4", *place, "light")
    opposing = lying("d5", -200.0, 60.0, "dark")
    ways = [(4.0, -80.0 - 20 * k) for k in range(6, 0, -1)]
    coming = tuple(Sighting((3 + k) * FRAME_NS, x, y - 140.0, 0.4, "light") for k, (x, y) in enumerate(ways))
    stays = tuple(Sighting((9 + k) * FRAME_NS, 0.5, -138.0, 0.4, "light") for k in range(12))
    passes = tuple(Sighting((9 + k) * FRAME_NS, 33.0 + 18 * k, -140.0 + 30 * k, 0.4, "light") for k in range(12))
    tracks = (Track("d4", "light", 8 * FRAME_NS, place, passes), Track("new-1", "light", 0, None, (*coming, *stays)))
    lies = lying("d4", 0.5, -138.0, "light")
    found = (lying("", *passes[-1].xy_mm, "light"),)
    seen = reading(stay=(lies, opposing), nudged={"d4": 2.1}, found=found)
    done = conclude(TOURNAMENT, (target, opposing), seen, watched(*tracks), 9)
    assert {d.id: round(d.x_mm) for d in done.discs if d.id == "d4"} == {"d4": 0}
