"""Switched on late: the reader begins on a board with discs on it, and learns the wood as they leave it."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from firmware_py.camera.live import LiveReader
from firmware_py.camera.place.relocate import LEAST_ALIKE
from firmware_py.camera.place.shelf import MOST_BOARDS, Shelf
from hardware.board import TOURNAMENT
from hardware.twin.hands import Errand, tidy
from hardware.twin.styles import NAMED
from hub.link.messages import Cleared, Layout, Shot
from tests.camera.live.filmed import HEIGHT_MM, Film, watch

LYING = {"A1": (-150.0, 110.0), "B1": (120.0, 95.0), "A2": (40.0, -185.0), "B2": (-60.0, -95.0), "A3": (75.0, 250.0)}


def occupied(style: str) -> Film:
    film = Film(style=NAMED[style])
    for name, (x, y) in LYING.items():
        film.world.place(name, "light" if name[0] == "A" else "dark", x, y)
    return film


@pytest.mark.parametrize("style", ["blue", "ebony"])
def test_discs_that_lie_there_are_told_within_a_second_with_what_is_not_known_of_the_wood(style: str) -> None:
    film, eye = occupied(style), LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
    (layout,) = watch(eye, film, 0.9)
    assert isinstance(layout, Layout)
    assert len(layout.discs) == len(LYING)
    for name, place in LYING.items():
        disc = min(layout.discs, key=lambda d, p=place: math.dist((d.x_mm, d.y_mm), p))
        assert math.dist((disc.x_mm, disc.y_mm), place) < 2.5 * disc.sigma_mm
        assert disc.colour == ("light" if name[0] == "A" else "dark")
        assert 0.4 < disc.sigma_mm < 1.2
    assert median(disc.sigma_mm for disc in layout.discs) < 0.75


def test_play_goes_on_and_the_wood_is_learned_as_discs_leave_it() -> None:
    film, eye = occupied("blue"), LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
    watch(eye, film, 0.9)
    assert eye.guessed is not None
    guessed = int(eye.guessed.sum())
    film.shot("B3", "dark", 1, 25.0, (0.0, 820.0))
    facts = watch(eye, film, 2.6)
    assert len([f for f in facts if isinstance(f, Shot)]) == 1
    lying = [film.world.discs[name] for name in LYING if film.world.discs[name].where == "surface"]
    film.hands.begin(tidy(1, [Errand(d) for d in lying], film.at_ns))
    facts = watch(eye, film, 7.0)
    assert int(eye.guessed.sum()) < 0.2 * guessed
    last = [f for f in facts if isinstance(f, Layout)][-1]
    on_board = [d for d in film.world.discs.values() if d.where != "ditch"]
    assert len([d for d in last.discs if d.state != "ditch"]) == len(on_board)
    assert bool([f for f in facts if isinstance(f, Cleared)]) == (not on_board)


def test_a_print_of_a_discs_size_is_no_disc() -> None:
    film, eye = Film(style=NAMED["white"]), LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
    (layout,) = watch(eye, film, 0.9)
    assert isinstance(layout, Layout)
    assert layout.discs == ()


def test_a_shelf_knows_a_board_again_and_keeps_no_more_than_some(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    assert list(shelf.boards()) == []
    eyes = {}
    for style in ("blue", "honey"):
        eyes[style] = LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
        watch(eyes[style], Film(style=NAMED[style]), 1.3)
    for style in ("blue", "honey", "blue"):
        eye = eyes[style]
        assert eye.calibration is not None
        assert eye.reader is not None
        shelf.keep(eye.calibration, eye.reader.bare)
    kept = list(shelf.boards())
    assert len(kept) == 2
    assert np.allclose(kept[0].bare, np.clip(eyes["blue"].reader.bare, 0, None), atol=0.1)  # type: ignore[union-attr]
    blue = eyes["blue"]
    assert blue.calibration is not None
    assert blue.reader is not None
    chance = np.random.default_rng(2)
    for _ in range(MOST_BOARDS + 1):
        shelf.keep(blue.calibration, chance.uniform(50, 200, blue.reader.bare.shape).astype(np.float32))
    assert len(list(shelf.boards())) == MOST_BOARDS
    assert LEAST_ALIKE > 0.2
