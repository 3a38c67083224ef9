"""Discs that do not lie flat on the wood: over the edge of the surface, on one another, in the hole."""

from __future__ import annotations

import math

import pytest

from firmware_py.camera.rest.askew import leaning_over
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.sunken import leaning_in
from hardware.board import TOURNAMENT, to_xy
from hardware.twin.scene import SceneDisc
from hub.link.messages import Colour
from tests.camera.live.test_learning import PLACES, Bench, disc

HIGH_MM = TOURNAMENT.disc_height_mm


@pytest.fixture(scope="module", params=["amber", "blue"])
def bench(request: pytest.FixtureRequest) -> Bench:
    """A board whose sets are known."""
    known = Bench(request.param)
    known.read(*(disc(k, x, y) for k, (x, y) in enumerate(PLACES)))
    known.read(*(disc(k, -y, x) for k, (x, y) in enumerate(PLACES)))
    return known


def nearest(found: tuple[Resting, ...], at: tuple[float, float]) -> Resting:
    return min(found, key=lambda d: math.dist((d.x_mm, d.y_mm), at))


def over_the_edge(colour: Colour, past_mm: float, towards_deg: float) -> SceneDisc:
    solid = leaning_over(TOURNAMENT, towards_deg, past_mm)
    tilt_deg = math.degrees(solid.tilt)
    return SceneDisc(
        "over", colour, solid.x_mm, solid.y_mm, solid.z_mm, tilt_deg=tilt_deg, tilt_towards_deg=towards_deg
    )


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize(("past_mm", "towards_deg"), [(1.5, 20.0), (4.0, 140.0), (6.5, 255.0)])
def test_a_disc_over_the_edge_is_found_and_overhangs(
    bench: Bench, colour: Colour, past_mm: float, towards_deg: float
) -> None:
    lying = over_the_edge(colour, past_mm, towards_deg)
    (found,) = bench.read(lying)
    assert (found.colour, found.state) == (colour, "overhanging")
    assert math.dist((found.x_mm, found.y_mm), (lying.x_mm, lying.y_mm)) < 2.5


@pytest.mark.parametrize("state", ["ditch", "overhanging"])
def test_level_discs_at_the_edge_do_not_lean(bench: Bench, state: str) -> None:
    r_mm, z_mm = (348.0, -TOURNAMENT.surface_height_mm) if state == "ditch" else (327.0, 0.0)
    lay = [
        SceneDisc(f"e{k}", "light" if k % 2 else "dark", *to_xy(r_mm, 31.0 + 60 * k), z_mm, turn_deg=50.0 * k)
        for k in range(6)
    ]
    found = bench.read(*lay)
    assert sorted(d.state for d in found) == [state] * 6
    for d in lay:
        assert math.dist((nearest(found, (d.x_mm, d.y_mm)).x_mm, nearest(found, (d.x_mm, d.y_mm)).y_mm),
                         (d.x_mm, d.y_mm)) < 2.0  # fmt: skip


@pytest.mark.parametrize("upper", ["light", "dark"])
@pytest.mark.parametrize("lower", ["light", "dark"])
@pytest.mark.parametrize(("apart_mm", "turn_deg"), [(8.0, 75.0)])
def test_of_two_discs_on_one_another_both_are_found(
    bench: Bench, upper: Colour, lower: Colour, apart_mm: float, turn_deg: float
) -> None:
    x, y = -150.0, 190.0
    dx, dy = to_xy(apart_mm, turn_deg)
    found = bench.read(
        SceneDisc("low", lower, x, y),
        SceneDisc("top", upper, x + dx, y + dy, HIGH_MM, turn_deg=70.0),
        SceneDisc("alone", "dark", 120.0, 60.0),
    )
    assert len(found) == 3
    (top,) = [d for d in found if d.state == "stacked"]
    assert top.colour == upper
    assert math.dist((top.x_mm, top.y_mm), (x + dx, y + dy)) < 2.5 * top.sigma_mm
    (low,) = [d for d in found if d is not top and d.r_mm > 200]
    assert (low.colour, low.state) == (lower, "flat")
    assert math.dist((low.x_mm, low.y_mm), (x, y)) < max(1.5, 2.5 * low.sigma_mm)


def test_discs_that_touch_are_no_stack(bench: Bench) -> None:
    lay = []
    for k in range(6):
        x, y = to_xy(255.0, 20.0 + 60 * k)
        turn = math.radians(40.0 * k)
        colours: tuple[Colour, Colour] = ("light", "dark") if k % 2 else ("light", "light")
        lay.append(SceneDisc(f"a{k}", colours[0], x, y))
        lay.append(SceneDisc(f"b{k}", colours[1], x + 32.01 * math.cos(turn), y + 32.01 * math.sin(turn)))
    found = bench.read(*lay)
    assert len(found) == len(lay)
    assert {d.state for d in found} <= {"flat", "overhanging"}


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("off_mm", [5.5, 9.0, 14.0])
def test_a_leaning_disc_lies_where_its_base_is(bench: Bench, colour: Colour, off_mm: float) -> None:
    hole = bench.eye.style.hole_offset_xy_mm
    towards = 25.0 * off_mm
    solid = leaning_in(TOURNAMENT, hole, towards, off_mm)
    lying = SceneDisc(
        "lean",
        colour,
        solid.x_mm,
        solid.y_mm,
        solid.z_mm,
        tilt_deg=math.degrees(solid.tilt),
        tilt_towards_deg=(towards + 180) % 360,
    )
    (found,) = bench.read(lying)
    assert found.colour == colour
    assert found.state == "leaning" or found.rival == "leaning"
    assert math.dist((found.x_mm, found.y_mm), (lying.x_mm, lying.y_mm)) < (1.2 if found.state == "leaning" else 6.0)


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("off_mm", [0.0, 1.4])
def test_a_disc_in_the_hole_lies_within_its_play_even_with_neighbours(
    bench: Bench, colour: Colour, off_mm: float
) -> None:
    x, y = bench.eye.style.hole_offset_xy_mm
    dx, dy = to_xy(off_mm, 200.0)
    beside = [SceneDisc(f"n{k}", "dark", *to_xy(34.5, turn)) for k, turn in enumerate((150.0, 265.0))]
    found = bench.read(SceneDisc("in", colour, x + dx, y + dy, -TOURNAMENT.hole_depth_mm), *beside)
    assert len(found) == 3
    sunk = nearest(found, (x, y))
    assert (sunk.colour, sunk.state) == (colour, "hole")
    assert math.dist((sunk.x_mm, sunk.y_mm), (x + dx, y + dy)) < 0.8
