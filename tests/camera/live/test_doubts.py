"""What a change of the board at rest proves about a blow, whatever the ways of the discs tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware_py.camera.motion.shots import conclude
from firmware_py.camera.rest.resting import Resting
from hardware.board import TOURNAMENT
from hub.link.messages import DiscState, Shot
from tests.camera.live.test_shots import lying, reading, track, watched


def knocked(before: Resting, now: Resting, *, opposing: Resting) -> Shot:
    """A shot that comes to rest beside the hole, where one disc lay so before and lies so now."""
    rolling = track("new-1", (2.0, -280.0), (0.0, 590.0), 14)
    shot_disc = lying("", 4.0, -34.5, "light")
    moved = {before.id: 5.0}
    seen = reading(stay=(replace(now, id=before.id), opposing), nudged=moved, found=(shot_disc,))
    shot = conclude(TOURNAMENT, (before, opposing), seen, watched(rolling), 9).shot
    assert shot is not None
    return shot


@pytest.mark.parametrize("at", [(-2.9, 2.7), (4.0, 3.0), (0.5, -4.6)])
@pytest.mark.parametrize("colour", ["dark", "light"])
def test_a_disc_that_leaned_in_the_hole_and_lies_flat_in_it_was_struck(colour: str, at: tuple[float, float]) -> None:
    """Nothing falls flat by itself, so no one need be asked; unless only a disc of one's own was."""
    leaner = lying("d1", *at, colour, "leaning")
    shot = knocked(leaner, lying("", 0.8, -0.1, colour, "hole"), opposing=lying("d2", 200.0, 60.0, "dark"))
    assert ("hit", "d9", "d1") in shot.events
    assert [d.kind for d in shot.doubts] == []


@pytest.mark.parametrize(
    ("lay", "lay_rival", "lies_rival"),
    [("hole", None, None), ("leaning", "hole", None), ("leaning", None, "leaning")],
)
def test_where_it_is_not_sure_how_the_disc_lay_the_blow_is_not_sure(
    lay: DiscState, lay_rival: DiscState | None, lies_rival: DiscState | None
) -> None:
    before = replace(lying("d1", -2.9, 2.7, "dark", lay), rival=lay_rival)
    now = replace(lying("", 0.8, -0.1, "dark", "hole"), rival=lies_rival)
    shot = knocked(before, now, opposing=lying("d2", 200.0, 60.0, "dark"))
    assert "contact" in {d.kind for d in shot.doubts}
