"""Discs at the edge of the board."""

from __future__ import annotations

import pytest

from firmware_py.camera.motion.contacts import Contact
from firmware_py.camera.motion.leaving import edge_events
from firmware_py.camera.motion.tracker import Sighting
from firmware_py.camera.motion.ways import Path
from firmware_py.camera.rest.resting import Resting
from hardware.board import TOURNAMENT

FRAME_NS = 33_333_333


def path(radii: list[float], end: float | None, start: float | None = 200.0) -> Path:
    points = tuple(Sighting((1 + k) * FRAME_NS, 0.0, r, 0.4, "light") for k, r in enumerate(radii))
    return Path(
        "p",
        "light",
        None if start is None else (0.0, start),
        0,
        points,
        None if end is None else (0.0, end),
        moved=True,
    )


def resting(r_mm: float, state: str = "flat") -> Resting:
    return Resting("p", "light", 0.0, r_mm, 0.2, state, (0.0, r_mm))  # type: ignore[arg-type]


def words(p: Path, now: Resting | None, contacts: tuple[Contact, ...] = ()) -> list[str]:
    after = {} if now is None else {"p": now}
    return [c.words[0] for c in edge_events(TOURNAMENT, {"p": p}, after, contacts, 10**9)]


@pytest.mark.parametrize(
    ("radii", "now", "expected"),
    [
        ([220, 260, 300, 340], None, ["off"]),
        ([220, 260, 300], None, ["off"]),
        ([220, 260, 300, 345, 350], resting(352, "ditch"), ["off"]),
        # It leans over the edge, a rim on the floor of the ditch.
        ([220, 260, 300, 345, 342], resting(345, "overhanging"), ["off"]),
        ([220, 260, 300], resting(333, "overhanging"), ["off"]),
        # It lies on the surface and reaches over its edge.
        ([220, 260, 300, 318, 322], resting(322, "overhanging"), ["cross"]),
        ([220, 260, 300, 336, 325], resting(322, "overhanging"), ["off", "back"]),
        ([220, 260, 300, 345, 320, 300, 290, 285], resting(284), ["off", "back"]),
        ([250, 270, 292, 300, 303], resting(303), ["cross"]),
        ([250, 270, 292, 296, 290, 284, 280], resting(278), ["cross"]),
        ([120, 60, 20, 2], resting(1, "hole"), ["hole"]),
        ([120, 160, 190], resting(200), []),
    ],
)
def test_what_a_way_means_at_the_edge(radii: list[float], now: Resting | None, expected: list[str]) -> None:
    end = None if now is None or now.state == "ditch" else now.r_mm
    assert words(path(radii, end), now) == expected


def test_a_disc_that_turned_round_over_the_edge_unseen_was_thrown_back_by_the_rail() -> None:
    way = path([230, 265, 300, 312, 296, 281, 270], 260)
    assert words(way, resting(260)) == ["off", "back"]


def test_a_disc_that_touched_one_in_the_ditch_and_sank_back_was_not_thrown_back() -> None:
    way = path([298.6, 312.8, 326.2, 332.9, 332.7, 331.7, 332.1, 338.6, 349.4], None)
    assert words(way, resting(350, "ditch")) == ["off"]


def test_a_disc_that_another_turned_round_was_not_thrown_back() -> None:
    way = path([230, 265, 300, 312, 296, 281, 270], 260)
    hit = Contact(round(3.5 * FRAME_NS), ("hit", "q", "p"), 1.0)
    assert "back" not in words(way, resting(260), (hit,))


def test_the_start_of_a_shot_on_the_line_is_no_crossing() -> None:
    assert words(path([300, 280, 240, 200], 150, start=304.8), resting(150)) == []


@pytest.mark.parametrize(
    ("radii", "fell_at"),
    [
        ([120, 60, 20, 9, 2], 5),
        ([120, 60, 20, 9, 2, 3, 1.5, 2, 1], 5),  # it rattles on in the hole
        ([60, 14, 3, 16, 40, 60, 40, 12, 3, 2], 9),  # it rolled over the hole, and was pushed back into it
        ([120, 60, 30], 3),  # it was not seen any more
        ([], None),
    ],
)
def test_a_disc_falls_when_it_comes_to_be_in_the_hole_for_good(radii: list[float], fell_at: int | None) -> None:
    told = edge_events(TOURNAMENT, {"p": path(radii, 1)}, {"p": resting(1, "hole")}, (), 10**9)
    assert [(c.words[0], c.at_ns) for c in told] == [("hole", 10**9 if fell_at is None else fell_at * FRAME_NS)]
