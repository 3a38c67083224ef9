"""Lines are told from edges by colour alone, and dim pictures are lifted."""

from __future__ import annotations

import numpy as np
import pytest

from firmware_py.camera.picture.lab import (
    LIMITS,
    along_rays,
    apply_homography,
    directions,
    exposure_gain,
    ridge,
    sample,
    sample_filled,
    to_lab,
)

MAPLE, WALNUT, INK, RED, BLUE = (75, 8, 28), (35, 8, 12), (15, 2, 4), (50, 60, 40), (25, 8, -35)


def profile(*parts: tuple[tuple[int, int, int], int]) -> np.ndarray:
    return np.concatenate([np.tile(np.array(colour, np.float32), (count, 1)) for colour, count in parts])[None]


@pytest.mark.parametrize(("ground", "ink"), [(MAPLE, INK), (BLUE, RED), (WALNUT, MAPLE)])
def test_line_of_any_colour_is_seen_in_its_middle(ground, ink):
    strength = ridge(profile((ground, 12), (ink, 3), (ground, 12)), (3, 4))[0]
    assert int(strength.argmax()) in (12, 13, 14)
    assert strength.max() > 0.9 * np.linalg.norm(np.subtract(ground, ink))
    assert strength[:8].max() == 0


def test_edge_is_no_line():
    assert ridge(profile((MAPLE, 14), (WALNUT, 14)), (3, 4)).max() == 0


def test_groove_around_the_surface_is_no_line():
    groove = ridge(profile((MAPLE, 12), (INK, 3), (WALNUT, 12)), (3, 4)).max()
    line = ridge(profile((MAPLE, 12), (INK, 3), (MAPLE, 12)), (3, 4)).max()
    assert groove < 0.3 * line


@pytest.mark.parametrize("line", [0, 2, 4, 6])
@pytest.mark.parametrize(("before", "ink", "beyond"), [(MAPLE, INK, BLUE), (BLUE, RED, WALNUT), (BLUE, MAPLE, RED)])
def test_limit_between_two_paints_is_seen_in_the_middle_of_its_line(before, ink, beyond, line):
    samples = profile((before, 24 - line // 2), (ink, line), (beyond, 24 - line // 2))
    strength = LIMITS.strength(samples, LIMITS.sides)[0]
    near = strength[20:28]
    assert strength.argmax() in range(20, 28)
    assert (near * np.arange(20, 28)).sum() / near.sum() == pytest.approx(23.5, abs=0.8)


def test_dim_picture_is_lifted_and_a_bright_one_left_alone():
    bright = np.full((300, 300, 3), 210, np.uint8)
    assert exposure_gain(bright) == 1.0
    assert exposure_gain(bright // 4) == pytest.approx(225 / 52, rel=0.02)
    assert exposure_gain(bright * 0) == 1.0
    lifted = to_lab(bright // 4, exposure_gain(bright // 4))
    assert lifted[0, 0, 0] == pytest.approx(to_lab(np.full((1, 1, 3), 225, np.uint8))[0, 0, 0], abs=1)


def test_samples_know_what_lies_outside():
    picture = np.arange(12, dtype=np.float32).reshape(3, 4, 1).repeat(3, axis=2)
    x, y = np.array([[0.5, 2.5, 9.0]]), np.array([[1.0, 1.5, 1.0]])
    inside = sample(picture, x, y)[0, :, 0]
    assert inside[:2].tolist() == [4.5, 8.5]
    assert np.isnan(inside[2])
    filled, seen = sample_filled(picture, x, y)
    assert seen.tolist() == [[True, True, False]]
    assert filled[0, 2, 0] == 7.0


def test_any_number_of_samples_is_taken():
    """OpenCV itself refuses maps of more than 32767 rows."""
    picture = np.ones((4, 4, 3), np.float32)
    assert sample(picture, np.ones((40000, 2)), np.ones((40000, 2))).shape == (40000, 2, 3)


@pytest.mark.parametrize("strength", [ridge, LIMITS.strength], ids=["lines", "limits"])
def test_nothing_is_seen_beyond_the_picture(strength):
    profile = np.zeros((1, 30, 3), np.float32)
    profile[:, 10] = 20.0
    profile[:, 20:] = np.nan
    seen = strength(profile, (2, 3))
    assert np.isfinite(seen).all()
    assert abs(int(seen[0].argmax()) - 10) <= 1
    assert not seen[0, 20:].any()


def test_points_along_rays_are_those_of_the_homography():
    homography = np.array([[200.0, 12, 500], [-9, 180, 400], [1e-2, 2e-2, 1]])
    ways, reach = directions(7), np.array([0.1, 0.5, 1.3])
    x, y = along_rays(homography, ways, reach)
    u, v = apply_homography(homography, ways[:, :1] * reach, ways[:, 1:] * reach)
    assert np.allclose(x, u)
    assert np.allclose(y, v)
