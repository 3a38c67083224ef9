"""What the first disc of a set teaches that a board ever sees, when it lies where the light is not that of the surface.

In the ditch the rail's shadow halves a set's colours, and in the hole the hole's own. What is seen there is no more
than a hint of how the set looks, and the first disc on the surface takes its place.
"""

from __future__ import annotations

import math

import pytest

from firmware_py.camera.rest.resting import Resting
from hardware.board import TOURNAMENT, to_xy
from hardware.twin.scene import SceneDisc
from hub.link.messages import Colour
from tests.camera.live.test_learning import PLACES, Bench, disc
from tests.camera.rest.test_askew import over_the_edge

DITCH_MM = -TOURNAMENT.surface_height_mm
STYLES = ["amber", "ebony", "white"]


def sunk(place: str, colour: Colour, turn_deg: float) -> SceneDisc:
    """A disc that does not lie on the surface."""
    if place == "over the edge":
        return over_the_edge(colour, 3.0, turn_deg)
    if place == "hole":
        return SceneDisc("first", colour, 0.0, 0.0, -TOURNAMENT.hole_depth_mm)
    return SceneDisc("first", colour, *to_xy(349.0, turn_deg), DITCH_MM)


def agree(found: tuple[Resting, ...], lay: list[SceneDisc]) -> None:
    """All discs were found, with their colours, and no others."""
    assert len(found) == len(lay)
    for d in lay:
        near = min(found, key=lambda f: math.dist((f.x_mm, f.y_mm), (d.x_mm, d.y_mm)))
        assert math.dist((near.x_mm, near.y_mm), (d.x_mm, d.y_mm)) < 3.0, d.id
        assert near.colour == d.colour, d.id


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize(("place", "turn_deg"), [("ditch", 200.0), ("over the edge", 178.0), ("hole", 0.0)])
def test_a_first_disc_below_the_surface_hides_none_of_its_set(
    style: str, colour: Colour, place: str, turn_deg: float
) -> None:
    bench, first = Bench(style), sunk(place, colour, turn_deg)
    # One that leans over the edge may need its set to be found; it is there when the next ones are.
    assert len(bench.read(first)) <= 1
    lay = [first, *(disc(k, x, y) for k, (x, y) in enumerate(PLACES))]
    agree(bench.read(*lay), lay)


@pytest.mark.parametrize("style", STYLES)
def test_supply_of_both_sets_in_the_ditch_hides_none_on_the_surface(style: str) -> None:
    bench = Bench(style)
    supply = [
        SceneDisc(f"s{k}", "light" if k % 2 else "dark", *to_xy(350.0, 20.0 + 44.0 * k), DITCH_MM) for k in range(8)
    ]
    found = bench.read(*supply)
    assert [d.state for d in found] == ["ditch"] * 8
    assert {d.colour for d in found} <= {"light", "dark"}
    lay = [disc(k, x, y) for k, (x, y) in enumerate(PLACES)]
    agree(bench.read(*lay, *supply), [*lay, *supply])
