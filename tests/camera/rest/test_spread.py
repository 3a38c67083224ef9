"""What is stated of how far a disc may be off its place: what its drawing leaves of the picture tells it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from firmware_py.camera.board.calibration import SHARP_MM
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Patch, draw, patch_offsets
from firmware_py.camera.rest.fitting import LookFit, fit_look
from firmware_py.camera.rest.lying import lying
from hardware.board import TOURNAMENT
from hardware.twin.optics import Optics, nominal_optics
from hardware.twin.scene import SceneDisc
from hardware.twin.styles import NAMED
from tests.camera.live.test_hard_optics import DISCS, Sight
from tests.camera.rest.test_fitting import turned_face, view_of, wood_at

AT = (-148.6, 97.3)
SOFT = replace(nominal_optics(), blur_px=2.5, noise_sigma=9.0)


def fitted(disturbance: np.ndarray | float, noise: float, seed: int = 5) -> LookFit:
    """A disc drawn at :data:`AT` with something over it, fitted by the look that it was drawn by."""
    view, look, shade = view_of(SHARP_MM), turned_face(), Shade()
    wood = wood_at(view, AT)
    drawing = draw(view, (look, shade), wood, AT)
    grain = np.random.default_rng(seed).normal(0.0, noise, wood.seen.shape)
    seen = (drawing.own + drawing.open_wood * wood.bare + grain + disturbance).astype(np.float32)
    fit = fit_look(view, look, shade, Patch(wood.column, wood.row, seen, wood.bare, wood.weight), AT, rounds=9)
    assert fit is not None
    return fit


def blots(seed: int, depth: float) -> np.ndarray:
    """Dark and light places as broad as a shadow or a shine, here and there about a disc."""
    chance = np.random.default_rng(seed)
    x, y = patch_offsets()
    total = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    for _ in range(4):
        a, r = chance.uniform(0, 2 * math.pi), chance.uniform(8, 20)
        total += chance.normal(0, depth) * np.exp(-((x - r * math.cos(a)) ** 2 + (y - r * math.sin(a)) ** 2) / 32)
    return total


def test_a_disc_that_is_just_as_it_is_drawn_is_where_it_is_said_to_be() -> None:
    fit = fitted(0.0, 0.5)
    assert fit.spread_mm < 0.02


def test_what_is_drawn_amiss_says_how_far_it_may_have_moved_the_disc() -> None:
    off, spread = [], []
    for seed in range(40):
        fit = fitted(blots(seed, 25.0), 1.0, seed)
        off.append(math.dist((fit.x_mm, fit.y_mm), AT) / math.sqrt(2))
        spread.append(fit.spread_mm)
    ratio = np.array(off) / np.array(spread)
    assert 0.5 < math.sqrt(float(np.mean(ratio**2))) < 2.5


def test_more_amiss_is_less_sure() -> None:
    spreads = [fitted(blots(3, depth), 0.5).spread_mm for depth in (2.0, 8.0, 32.0)]
    assert spreads == sorted(spreads)
    assert spreads[2] > 3 * spreads[0]


@pytest.mark.parametrize("learned", [1.0, 20.0])
def test_the_stated_uncertainty_grows_with_all_that_it_comes_from(learned: float) -> None:
    view, fit = view_of(SHARP_MM), fitted(0.0, 0.5)
    rough = BoardView(replace(view.calibration, residual_mm=1.0), TOURNAMENT)

    def sigma(fit: LookFit, view: BoardView = view, learned: float = learned, height_error: float = 0.0) -> float:
        return lying(view, "dark", fit, (0.0, 0.0), learned=learned, height_error=height_error).sigma_mm

    plain = sigma(fit)
    assert sigma(replace(fit, spread_mm=0.2)) > plain + 0.1
    assert sigma(fit, rough) > plain + 0.01
    assert sigma(fit, height_error=0.2) > plain
    assert sigma(fit, learned=learned / 2) > plain


def turned(discs: tuple[SceneDisc, ...]) -> tuple[SceneDisc, ...]:
    """The same places a quarter turn on."""
    return tuple(replace(d, x_mm=-d.y_mm, y_mm=d.x_mm) for d in discs)


def zs_and_sigmas(optics: Optics) -> tuple[np.ndarray, np.ndarray]:
    """How many of their own standard deviations discs of known sets are off along the radius, and these."""
    zs, sigmas = [], []
    for style in ("maple", "ebony"):
        sight = Sight(NAMED[style], optics)
        lying_now = DISCS
        for _ in range(3):
            sight.read(lying_now)
            for _ in range(25):
                sight.reader.study()
            lying_now = turned(lying_now)
        for disc in sight.read(lying_now).found:
            true: SceneDisc = min(lying_now, key=lambda t, d=disc: math.dist((d.x_mm, d.y_mm), (t.x_mm, t.y_mm)))
            zs.append((disc.r_mm - math.hypot(true.x_mm, true.y_mm)) / disc.sigma_mm)
            sigmas.append(disc.sigma_mm)
    return np.array(zs), np.array(sigmas)


def test_a_soft_noisy_picture_is_said_to_be_less_sure_and_is_as_sure_as_it_is_said_to_be() -> None:
    good, bad = zs_and_sigmas(nominal_optics()), zs_and_sigmas(SOFT)
    for zs, _ in (good, bad):
        assert len(zs) >= 12
        assert np.mean(np.abs(zs) < 1.96) >= 0.75
    assert np.median(good[1]) < 0.2
    assert np.median(bad[1]) > 1.1 * np.median(good[1])
