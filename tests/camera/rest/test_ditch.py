"""Where discs in the ditch lie: in the rail's half shadow, beside the step down from a bright surface."""

from __future__ import annotations

import math

import pytest

from hardware.board import TOURNAMENT, to_xy
from hardware.twin.scene import SceneDisc
from tests.camera.live.test_learning import PLACES, Bench, disc

#: Beside the step, in the middle, at the rail.
ROUND_MM = (346.5, 352.0, 357.0, 361.0)


@pytest.fixture(scope="module", params=["maple", "honey", "white"])
def bench(request: pytest.FixtureRequest) -> Bench:
    """A board whose sets are known."""
    known = Bench(request.param)
    known.read(*(disc(k, x, y) for k, (x, y) in enumerate(PLACES)))
    known.read(*(disc(k, -y, x) for k, (x, y) in enumerate(PLACES)))
    return known


@pytest.mark.parametrize("first_deg", [7.0, 25.0])
def test_discs_in_the_ditch_lie_where_they_are_said_to(bench: Bench, first_deg: float) -> None:
    lay = [
        SceneDisc(
            f"e{k}",
            "light" if k % 3 == 1 else "dark",
            *to_xy(ROUND_MM[k % 4], first_deg + 36.0 * k),
            -TOURNAMENT.surface_height_mm,
            turn_deg=50.0 * k,
        )
        for k in range(10)
    ]
    found = bench.read(*lay)
    assert [d.state for d in found] == ["ditch"] * len(lay)
    for d in lay:
        near = min(found, key=lambda f: math.dist((f.x_mm, f.y_mm), (d.x_mm, d.y_mm)))
        assert near.colour == d.colour, d.id
        assert math.dist((near.x_mm, near.y_mm), (d.x_mm, d.y_mm)) < 4 * near.sigma_mm, d.id
