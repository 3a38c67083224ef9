"""Starting with discs lying: all are found, and the wood under them is guessed well enough to find them again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from filming import Clip, film

from firmware_py.camera.benchboard import DrawnBoard, spread_discs
from firmware_py.camera.board.start import NoBoardError
from firmware_py.camera.place.occupied import take_occupied
from hardware.board import TOURNAMENT

LYING = (
    ("a", "dark", 70.0, 37.0),
    ("b", "light", 22.0, -77.0),
    ("c", "dark", -120.0, 100.0),
    ("d", "light", -200.0, 60.0),
    ("e", "light", 140.0, -60.0),
)


@pytest.mark.parametrize("style", ["maple", "blue"])
def test_discs_are_found_also_where_they_hardly_differ_from_the_wood(style: str) -> None:
    filmed = film(Clip(LYING, style=style), most=5)
    picture = np.median(filmed.pictures, axis=0).astype(np.uint8)
    found = take_occupied(picture, TOURNAMENT)
    for name, _, x, y in LYING:
        assert min(math.dist((x, y), place) for place in found.discs) < 7.0, name
    # Besides them only the disc that is about to be shot.
    assert len(found.discs) <= len(LYING) + 1


def test_the_guessed_wood_is_that_of_the_empty_board() -> None:
    drawn = DrawnBoard(TOURNAMENT, (1280, 960))
    discs = spread_discs(TOURNAMENT, 8)
    found = take_occupied(drawn.picture(discs), TOURNAMENT)
    empty = found.view.straight(drawn.picture([])).astype(np.float32)
    off = np.abs(found.bare - empty).max(axis=2)
    assert found.guessed.mean() > 0.01
    # Its grain cannot be known, its colour can.
    assert np.median(off[found.guessed]) < 12
    assert abs(float((found.bare - empty)[found.guessed].mean())) < 4
    assert len(found.discs) == 8


def test_an_empty_board_has_no_discs() -> None:
    found = take_occupied(DrawnBoard(TOURNAMENT, (1280, 960)).picture([]), TOURNAMENT)
    assert found.discs == ()
    assert not found.guessed.any()


def test_a_picture_without_a_board_is_refused() -> None:
    with pytest.raises(NoBoardError):
        take_occupied(np.full((480, 640, 3), 90, np.uint8), TOURNAMENT)
