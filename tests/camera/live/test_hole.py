"""Discs at the 20-hole, filmed: flat in it, leaning in it, knocked from one to the other, beside neighbours."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from firmware_py.camera.live import LiveReader
from firmware_py.camera.rest.resting import Resting
from hardware.board import TOURNAMENT, to_xy
from hardware.twin.styles import NAMED
from tests.camera.live.filmed import HEIGHT_MM, Film, watch

APART_MM = 2 * TOURNAMENT.disc_radius_mm


class Hole:
    """A filmed board with both sets known, and discs put into and beside its hole."""

    def __init__(self, style: str, seed: int) -> None:
        self.film = Film(seed, NAMED[style])
        self.eye = LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
        watch(self.eye, self.film, 0.8)
        self.film.shot("A1", "light", 1, 20.0, (350.0, 477.0))
        self.film.shot("B1", "dark", 3, 20.0, (-350.0, -477.0))
        watch(self.eye, self.film, 2.2)

    def put(self, name: str, colour: str, off_mm: float, angle_deg: float, where: str) -> tuple[float, float]:
        x, y = to_xy(off_mm, angle_deg)
        hx, hy = self.film.world.hole_xy_mm
        self.film.world.place(name, colour, hx + x, hy + y, where)  # type: ignore[arg-type]
        return hx + x, hy + y

    def read(self) -> Resting:
        watch(self.eye, self.film, 0.6)
        assert self.eye.rest is not None
        (disc,) = [d for d in self.eye.rest.discs if d.r_mm < 20]
        return disc


@pytest.mark.parametrize(("style", "seed"), [("maple", 3), ("honey", 4), ("white", 5)])
def test_a_disc_at_the_hole_is_flat_in_it_or_leans_in_it_however_it_came_there(style: str, seed: int) -> None:
    board, chance = Hole(style, seed), random.Random(seed)
    wrong: list[str] = []
    for k in range(6):
        colour = "light" if k % 2 else "dark"
        leans_mm, leans_deg = chance.uniform(0.25, 0.55) * TOURNAMENT.hole_radius_mm, chance.uniform(0, 360)
        x, y = board.put("X", colour, leans_mm, leans_deg, "leaning")
        leaner = board.read()
        if leaner.state != "leaning" and leaner.rival != "leaning":
            wrong.append(f"leaner {colour} at {leans_mm:.1f} is {leaner.state}")
        # Knocked flat by a disc that comes to rest near it.
        flat_mm, flat_deg = TOURNAMENT.hole_play_mm * math.sqrt(chance.random()), chance.uniform(0, 360)
        x, y = board.put("X", colour, flat_mm, flat_deg, "hole")
        turn, gap = chance.uniform(0, 2 * math.pi), chance.uniform(0.05, 3.0)
        at = (x + (APART_MM + gap) * math.cos(turn), y + (APART_MM + gap) * math.sin(turn))
        board.film.world.place("Y", "dark" if colour == "light" else "light", *at)
        flat = board.read()
        if flat.state != "hole" and flat.rival != "hole":
            wrong.append(f"flat {colour} at {flat_mm:.1f}, was at {leans_mm:.1f}/{leans_deg:.0f} is {flat.state}")
        board.film.world.remove("X")
        board.film.world.remove("Y")
        watch(board.eye, board.film, 0.6)
    assert wrong == []


@pytest.mark.parametrize(("style", "seed"), [("maple", 13), ("honey", 12)])
@pytest.mark.parametrize("aside_mm", [-9.0, 9.0])
def test_the_first_dark_disc_that_was_only_seen_sliding_is_not_taken_for_flat_when_it_jams(
    style: str, seed: int, aside_mm: float
) -> None:
    """Drawn as sunk in the middle of a dark hole it explains something, but far less than where it is seen."""
    film = Film(seed, NAMED[style], rate_hz=60.0)
    film.world.feel = replace(film.world.feel, lean_chance=1.0)
    eye = LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
    watch(eye, film, 1.0)
    way_mm = TOURNAMENT.outer_line_mm
    speed = math.sqrt(2 * film.world.feel.slide_mm_s2() * way_mm + 190.0**2)
    hx, hy = film.world.hole_xy_mm
    aim = math.atan2(way_mm + hy, hx + aside_mm)
    film.shot("B1", "dark", 1, 0.0, (speed * math.cos(aim), speed * math.sin(aim)))
    watch(eye, film, 2.6)
    assert film.world.discs["B1"].where == "leaning"
    assert eye.rest is not None
    (disc,) = eye.rest.discs
    assert (disc.colour, disc.state) in {("dark", "leaning"), ("light", "leaning")}
    assert math.dist((disc.x_mm, disc.y_mm), (film.world.discs["B1"].x_mm, film.world.discs["B1"].y_mm)) < 2.5
