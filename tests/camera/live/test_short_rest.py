"""A rest that is over almost at once, because a hand comes: what lay there is read, if it lay still at all."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from firmware_py.camera.live import LiveReader
from firmware_py.camera.motion.quiet import HAND_COMES_NS, SHORT_REST_NS, Quiet
from hardware.board import TOURNAMENT
from hardware.twin.hands import clearing, poke
from hardware.twin.world import World
from hub.link.messages import Cleared, Fact, Layout, Shot
from tests.camera.live.filmed import HEIGHT_MM, Film, watch

#: The first discs of an evening are placed no better, before the reader has learned how they look.
FIRST_DISCS_MM = 4.0
VIEW = np.zeros((4, 4, 3), np.uint8)


def rested(rate_hz: int, for_ns: int) -> Quiet:
    quiet = Quiet()
    for k in range(for_ns * rate_hz // 1_000_000_000 + 1):
        quiet.take(round(k * 1e9 / rate_hz), VIEW)
    return quiet


@pytest.mark.parametrize("rate_hz", [30, 60, 120])
def test_how_long_all_was_still_does_not_hang_on_the_frame_rate(rate_hz: int) -> None:
    quiet = rested(rate_hz, 2 * SHORT_REST_NS)
    quiet.end()
    assert quiet.just_before(2 * SHORT_REST_NS + 100_000_000)
    assert not rested(rate_hz, SHORT_REST_NS // 2).just_before(SHORT_REST_NS)


def test_a_rest_that_is_over_is_none_any_more_and_is_forgotten_when_the_next_begins() -> None:
    quiet = rested(30, 2 * SHORT_REST_NS)
    assert quiet.lasts
    quiet.end()
    assert not quiet.lasts
    assert not quiet.just_before(2 * SHORT_REST_NS + HAND_COMES_NS + 1_000_000)
    quiet.take(300_000_000, VIEW)
    assert quiet.lasts
    assert quiet.since_ns == 300_000_000
    assert not quiet.just_before(310_000_000)


def shot_at_a_disc(rate_hz: float) -> tuple[Film, LiveReader]:
    """A board on which one disc lies, while another is shot at it."""
    film = Film(rate_hz=rate_hz)
    eye = LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
    watch(eye, film, 0.6)
    film.world.place("A1", "light", 150.0, 0.0)
    watch(eye, film, 0.6)
    film.shot("B1", "dark", 3, 30.0, (0.0, -700.0))
    return film, eye


def until(film: Film, eye: LiveReader, done: Callable[[World], bool]) -> list[Fact]:
    """All facts until the disc that is shot has left the line and something is so."""
    facts: list[Fact] = []
    while "B1" not in film.world.discs or film.world.discs["B1"].r_mm > TOURNAMENT.outer_line_mm - 5:
        facts += eye.take(film.next())
    while not done(film.world):
        facts += eye.take(film.next())
    return facts


@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
def test_discs_swept_off_as_soon_as_they_lie_still_are_read_before(rate_hz: float) -> None:
    film, eye = shot_at_a_disc(rate_hz)
    facts = until(film, eye, lambda world: world.at_rest())
    film.hands.begin(*clearing((1, 3), film.world.discs.values(), film.at_ns))
    lay = {name: (disc.x_mm, disc.y_mm) for name, disc in film.world.discs.items()}
    facts += watch(eye, film, 2.0)
    told = [type(f) for f in facts if isinstance(f, Shot | Layout | Cleared)]
    assert told == [Shot, Layout, Layout, Cleared]
    shot = next(f for f in facts if isinstance(f, Shot))
    layout = next(f for f in facts if isinstance(f, Layout))
    assert shot.events[0][:2] == ("hit", shot.disc)
    assert not [e for e in shot.events if e[0] == "off"]
    for spot in layout.discs:
        true = lay["B1" if spot.colour == "dark" else "A1"]
        assert math.dist((spot.x_mm, spot.y_mm), true) < FIRST_DISCS_MM


def test_discs_that_still_move_when_the_hand_comes_are_not_said_to_lie_there() -> None:
    film, eye = shot_at_a_disc(60.0)
    facts = until(film, eye, lambda world: world.discs["B1"].y_mm < 90.0)
    film.hands.begin(poke(1, (0.0, 0.0), film.at_ns - 200_000_000))
    facts += watch(eye, film, 0.3)
    assert not [f for f in facts if isinstance(f, Shot | Layout)]
