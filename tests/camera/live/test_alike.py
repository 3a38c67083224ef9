"""Two discs of one set: which is which after a time without frames, and when that is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware_py.camera.motion.alike import GAP_NS, exchanges
from firmware_py.camera.motion.naming import Watched
from firmware_py.camera.motion.shots import conclude
from firmware_py.camera.motion.tracker import Sighting, Track
from firmware_py.camera.motion.ways import Path
from firmware_py.camera.rest.resting import Reading, Resting
from hardware.board import TOURNAMENT
from hardware.twin.scene import Colour
from hardware.twin.world import World
from tests.camera.live.test_episodes import filmed

MS = 1_000_000
LOST_NS = 70 * MS


def hit_at(aside_mm: float, colour: Colour = "light") -> World:
    """A light disc shot at another disc, not in the middle."""
    world = World(TOURNAMENT, 1)
    world.place("p", colour, aside_mm, 60.0)
    world.place("q", "dark", -200.0, 0.0)
    world.place("s", "light", 0.0, 270.0)
    world.flick("s", 0.0, -1000.0)
    return world


def without(paths: dict[str, Path], from_ns: int, to_ns: int) -> dict[str, Path]:
    """The paths as they are seen when no frame comes for a time."""
    before_ns = max((p.at_ns for path in paths.values() for p in path.points if p.at_ns <= from_ns), default=0)
    return {
        name: replace(
            path,
            points=tuple(p for p in path.points if not from_ns < p.at_ns < to_ns),
            start_ns=min(path.start_ns, before_ns) if from_ns < path.start_ns < to_ns else path.start_ns,
        )
        for name, path in paths.items()
    }


def taken_for_one_another(paths: dict[str, Path], since_ns: int) -> dict[str, Path]:
    """The paths when ``s`` and ``p`` go by one another's name from a time on."""

    def then(name: str, other: str) -> Path:
        early = tuple(p for p in paths[name].points if p.at_ns < since_ns)
        late = tuple(p for p in paths[other].points if p.at_ns >= since_ns)
        return replace(paths[name], points=(*early, *late), end=paths[other].end)

    return {**paths, "s": then("s", "p"), "p": then("p", "s")}


def blow_ns(world: World) -> int:
    return next(e.at_ns for e in world.events if e.words[0] == "hit")


def last_ns(paths: dict[str, Path]) -> int:
    return max(p.at_ns for path in paths.values() for p in path.points)


@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
@pytest.mark.parametrize("aside_mm", [-14.0, 0.0, 8.0])
def test_while_frames_come_names_are_sure(rate_hz: float, aside_mm: float) -> None:
    paths = filmed(hit_at(aside_mm), rate_hz)
    assert list(exchanges(TOURNAMENT, paths, "s", last_ns(paths))) == []


@pytest.mark.parametrize("aside_mm", [-14.0, -5.0, 8.0])
def test_a_disc_that_goes_by_the_name_of_another_is_doubted_when_no_frame_showed_the_blow(aside_mm: float) -> None:
    world = hit_at(aside_mm)
    paths = filmed(world, 60.0)
    blow = blow_ns(world)
    wrong = taken_for_one_another(without(paths, blow - LOST_NS, blow + LOST_NS), blow)
    assert [(a, b) for a, b, _ in exchanges(TOURNAMENT, wrong, "s", last_ns(paths))] == [("p", "s")]


def test_discs_of_two_sets_are_never_taken_for_one_another() -> None:
    world = hit_at(5.0, "dark")
    paths = filmed(world, 60.0)
    blow = blow_ns(world)
    lost = without(paths, blow - LOST_NS, blow + LOST_NS)
    assert list(exchanges(TOURNAMENT, lost, "s", last_ns(paths))) == []


def test_discs_that_slide_freely_through_a_time_without_frames_are_who_they_were() -> None:
    world = hit_at(8.0)
    paths = filmed(world, 60.0)
    later = blow_ns(world) + 100 * MS
    lost = without(paths, later, later + 2 * GAP_NS)
    assert list(exchanges(TOURNAMENT, lost, "s", last_ns(paths))) == []


def resting(name: str, colour: Colour, path: Path) -> Resting:
    """A disc where it lay before the shot."""
    assert path.start is not None
    x_mm, y_mm = path.start
    return Resting(name, colour, x_mm, y_mm, 0.2, "flat", path.start)


def test_a_shot_tells_both_readings_where_names_are_not_sure() -> None:
    world = hit_at(-5.0)
    paths = filmed(world, 60.0)
    blow = blow_ns(world)
    wrong = taken_for_one_another(without(paths, blow - LOST_NS, blow + LOST_NS), blow)
    tracks = tuple(
        Track("new-1" if n == "s" else n, "light", 0 if n == "s" else path.start_ns, None if n == "s" else path.start,
              path.points)
        for n, path in wrong.items() if n in {"s", "p"}
    )  # fmt: skip
    lay = [resting("p", "light", paths["p"]), resting("q", "dark", paths["q"])]
    found = tuple(replace(lay[0], id="", x_mm=end[0], y_mm=end[1]) for n in "sp" if (end := wrong[n].end))
    reading = Reading(stay=(lay[1],), nudged={}, gone=(lay[0],), found=found, unseen=(), odd=())
    seen = Watched(0, last_ns(paths), tracks, (Sighting(1, 0.0, 290.0, 0.4, "light"),), 280.0, frozenset(), 140 * MS)
    shot = conclude(TOURNAMENT, lay, reading, seen, 1).shot
    assert shot is not None
    assert {"p", shot.disc} in [set(doubt.discs) for doubt in shot.doubts]
