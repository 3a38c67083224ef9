"""Two teams are told apart, whatever their colours."""

from __future__ import annotations

import numpy as np
import pytest

from firmware_py.camera.still.colours import assign, learn, strangeness, tell_sides
from firmware_py.camera.still.locallight import relit

PAIRS = {
    "maple and walnut": ((70, 8, 28), (28, 5, 9)),
    "red and black": ((33, 57, 30), (14, 3, -4)),
    "wood and black": ((57, 16, 41), (25, 0, 5)),
    "yellow and blue": ((80, -2, 70), (35, 20, -50)),
    "two woods": ((72, 6, 26), (50, 14, 24)),
    "white and cream": ((95, 0, 2), (84, 2, 24)),
}


def clouds(pair, counts, seed=0, shade=6.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    spread = np.array([shade, 1.5, 2.0])
    colours = np.concatenate(
        [np.array(m) + rng.normal(0, 1, (n, 3)) * spread for m, n in zip(pair, counts, strict=True)]
    )
    return colours, np.repeat([0, 1], counts)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("counts", [(12, 12), (3, 9), (10, 2)])
def test_teams_are_told_apart(pair, counts):
    colours, member = clouds(pair, counts, shade=4.0)
    teams = learn(colours)
    assert teams is not None
    assert teams.dark is not None
    found, clearness = assign(colours, teams)
    assert (found == member).all()
    assert np.median(clearness) > 0.9


def test_light_is_the_lighter_one_in_any_order():
    colours, _ = clouds(PAIRS["red and black"], (5, 5))
    forward, backward = learn(colours), learn(colours[::-1])
    assert forward is not None
    assert backward is not None
    assert forward.light[0] > forward.dark[0]
    assert forward.light == pytest.approx(backward.light)


def test_glare_on_some_dark_discs_does_not_make_them_light():
    light = np.array([[99, -7, 22], [99, -6, 17], [98, -7, 24], [98, -8, 26]])
    dark = np.array([[54, 18, 30], [43, 18, 23], [59, 16, 22], [40, 20, 26], [61, 18, 33], [71, 5, -5], [63, 10, 2]])
    teams = learn(np.concatenate([light, dark]).astype(float))
    assert teams is not None
    found, _ = assign(np.concatenate([light, dark]).astype(float), teams)
    assert found.tolist() == [0] * 4 + [1] * 7


def test_one_colour_is_one_team():
    colours, _ = clouds(((70, 8, 28), (70, 8, 28)), (4, 4), shade=4.0)
    teams = learn(colours)
    assert teams is not None
    assert teams.dark is None
    assert set(assign(colours, teams)[0].tolist()) == {0}
    dark = learn(colours - np.array([45.0, 0, 0]))
    assert dark is not None
    assert set(assign(colours - np.array([45.0, 0, 0]), dark)[0].tolist()) == {1}


def test_nothing_teaches_nothing():
    assert learn(np.zeros((0, 3))) is None
    alone = learn(np.array([[60.0, 5, 20]]))
    assert alone is not None
    assert alone.dark is None


def test_foreign_colour_is_strange():
    colours, _ = clouds(PAIRS["maple and walnut"], (8, 8))
    teams = learn(colours)
    assert teams is not None
    assert strangeness(np.array([[28.0, 40, 13]]), teams)[0] > 5
    assert np.median(strangeness(colours, teams)) < 2.5


def test_darkest_disc_of_all_is_dark_however_wide_the_light_cloud_is():
    """Measured along a rail: maple discs lie in all shades, the darkest of walnut is reddish."""
    light = [
        (40, 14, 17),
        (42, 18, 26),
        (43, 16, 22),
        (49, 11, 26),
        (60, 15, 31),
        (66, 9, 27),
        (74, 10, 25),
        (78, 7, 21),
    ]
    dark = [(14, 9, 13), (23, 4, 5), (25, 7, 7), (27, 7, 10), (28, 6, 9), (29, 5, 8), (31, 6, 8), (34, 7, 9)]
    colours = np.array(light + dark, dtype=float)
    sides = tell_sides(colours, np.ones(len(colours)), colours)
    assert sides.team.tolist() == [0] * 8 + [1] * 8


def shaded(colours: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Colours in less light: the opposite of ``relit``."""
    return relit(colours, 1 / light)


@pytest.mark.parametrize("pair", ["maple and walnut", "wood and black", "two woods"])
def test_hard_shadow_over_half_of_the_board_does_not_exchange_sides(pair):
    colours, member = clouds(PAIRS[pair], (10, 10), seed=3, shade=3.0)
    light = np.where(np.arange(20) % 2, 1.0, 0.7)
    sides = tell_sides(shaded(colours, light), np.ones(20), colours)
    assert (sides.team == member).all()
    assert np.median(sides.clearness) > 0.8


def test_uneven_wood_is_not_taken_for_light_where_the_discs_tell_the_sides_by_themselves():
    colours, member = clouds(PAIRS["maple and walnut"], (8, 8), seed=4, shade=3.0)
    wrongly = relit(colours, np.random.default_rng(4).uniform(0.7, 1.35, 16))
    assert (tell_sides(colours, np.ones(16), wrongly).team == member).all()


def test_discs_that_two_ways_of_telling_the_sides_give_to_different_teams_are_doubtful():
    """Between a light and a dark cloud lie some that could be either, as under glare or behind a coloured lamp."""
    rng = np.random.default_rng(6)
    light, dark, between = ((80, 5, 20), (30, 12, 24), (55, 8.5, 22))
    spread = np.array([1.5, 1.0, 1.0])
    colours = np.concatenate(
        [np.array(m) + rng.normal(0, 1, (n, 3)) * spread for m, n in ((light, 6), (dark, 6), (between, 2))]
    )
    sides = tell_sides(colours, np.ones(14), colours)
    assert sides.team[:12].tolist() == [0] * 6 + [1] * 6
    assert (sides.clearness[12:] < 0.12).all()
    assert (sides.clearness[:12] > 0.5).all()


def test_one_colour_on_the_board_belongs_to_one_side():
    colours, _ = clouds(((70, 8, 28), (70, 8, 28)), (4, 4), shade=3.0)
    sides = tell_sides(colours, np.ones(8), colours)
    assert sides.teams.dark is None
    assert set(sides.team.tolist()) == {0}
    assert sides.clearness.min() == 1.0


@pytest.mark.parametrize(("lightness", "clear"), [(75, True), (20, True), (58, False), (40, False)])
def test_side_of_one_colour_is_doubtful_unless_it_is_surely_light_or_dark(lightness, clear):
    colours, _ = clouds(((lightness, 8, 20), (lightness, 8, 20)), (4, 4), shade=1.0)
    sides = tell_sides(colours, np.ones(8), colours)
    assert sides.teams.dark is None
    assert ((sides.clearness > 0.5) == clear).all()
