"""Courses of rolling discs, and what they tell of blows that no frame shows."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from firmware_py.camera.motion.billiards import Body, Feel, Table, roll
from firmware_py.camera.motion.courses import Blow
from firmware_py.camera.motion.episodes import Episode, explain, without_faint
from firmware_py.camera.motion.tracker import Sighting, Xy
from firmware_py.camera.motion.ways import Path
from hardware.board import TOURNAMENT
from hardware.twin.world import World

TABLE = Table(
    pegs=TOURNAMENT.pegs,
    disc_mm=2 * TOURNAMENT.disc_radius_mm,
    peg_mm=TOURNAMENT.disc_radius_mm + TOURNAMENT.peg_radius_mm,
    edge_mm=TOURNAMENT.surface_radius_mm,
    hole_mm=10.0,
)
NO_PEGS = Table((), TABLE.disc_mm, TABLE.peg_mm, TABLE.edge_mm, TABLE.hole_mm)
MS = 1_000_000


def test_a_disc_slows_down_evenly_and_stops() -> None:
    rolled = roll([Body(0.0, -200.0, 0.0, 300.0)], [0.1, 5.0], NO_PEGS, Feel())
    assert rolled.places[0][0] == pytest.approx((0.0, -200.0 + 30 - 690 * 0.01 / 2), abs=0.1)
    assert rolled.places[1][0] == pytest.approx((0.0, -200.0 + 300**2 / 2 / 690), abs=0.1)
    assert rolled.velocities[0] == (0.0, 0.0)


def test_a_full_blow_gives_nearly_all_motion_on_and_keeps_the_momentum() -> None:
    feel = Feel(rim_friction=0.0)
    rolled = roll([Body(0.0, -100.0, 0.0, 800.0), Body(0.0, 0.0)], [0.09], NO_PEGS, feel)
    (knock,) = rolled.knocks
    assert (knock.a, knock.b) == (0, 1)
    (ax, ay), (bx, by) = rolled.velocities
    assert (ax, bx) == pytest.approx((0.0, 0.0), abs=1e-6)
    assert ay + by == pytest.approx(800.0 - 690 * 0.09 - 690 * (0.09 - knock.after_s), abs=8)
    assert by / (ay + by) == pytest.approx((1 + feel.disc_bounce) / 2, abs=0.03)


def test_a_disc_on_its_own_beyond_the_edge_meets_nothing() -> None:
    edge = TOURNAMENT.surface_radius_mm
    rolled = roll([Body(0.0, edge - 5, 0.0, 900.0), Body(0.0, edge + 40)], [0.1], NO_PEGS, Feel())
    assert rolled.knocks == ()


@pytest.mark.parametrize("seed", range(8))
def test_what_is_rolled_agrees_with_the_simulated_world(seed: int) -> None:
    chance = random.Random(seed)
    target = (chance.uniform(-30, 30), 150.0)
    speed, turn = chance.uniform(700, 1500), math.atan2(80.0, target[0]) + chance.gauss(0, 0.1)
    velocity = (speed * math.cos(turn), speed * math.sin(turn))
    world = World(TOURNAMENT, seed)
    world.place("p", "light", *target)
    world.place("s", "dark", 0.0, 70.0)
    world.flick("s", *velocity)
    world.step(100 * MS)
    rolled = roll([Body(0.0, 70.0, *velocity), Body(*target)], [0.1], TABLE, Feel())
    told = [("peg",) if k.b < 0 else ("hit",) for k in rolled.knocks]
    arena = world.events or (world._arena.events if world._arena else [])
    assert told == [event.words[:1] for event in arena if event.words[0] in {"hit", "peg"}]
    for name, place in zip("sp", rolled.places[0], strict=True):
        disc = world.discs[name]
        assert math.dist(place, (disc.x_mm, disc.y_mm)) < 6.0  # the world meets in steps of 0.75 mm


def filmed(world: World, rate_hz: float, *, noise_mm: float = 0.15, moved_mm: float = 2.5) -> dict[str, Path]:
    """The paths of a flicked world's discs, as a camera would see them."""
    chance = random.Random(7)
    before = world.discs
    points: dict[str, list[Sighting]] = {name: [] for name in before}
    rested = dict.fromkeys(before, 0)
    frame = 0
    while not world.at_rest():
        frame += 1
        at_ns = round(frame / rate_hz * 1e9)
        world.step(at_ns)
        for d in world.scene().discs:
            if points[d.id] or math.hypot(d.x_mm - before[d.id].x_mm, d.y_mm - before[d.id].y_mm) > moved_mm:
                x, y = d.x_mm + chance.gauss(0, noise_mm), d.y_mm + chance.gauss(0, noise_mm)
                points[d.id].append(Sighting(at_ns, x, y, 0.4, d.colour))
            else:
                rested[d.id] = at_ns
    ends: dict[str, Xy | None] = {n: None if d.where == "ditch" else (d.x_mm, d.y_mm) for n, d in world.discs.items()}
    return {
        n: Path(n, d.colour, (d.x_mm, d.y_mm), rested[n], tuple(points[n]), ends[n], _apart(ends[n], (d.x_mm, d.y_mm)))
        for n, d in before.items()
    }


def _apart(end: Xy | None, start: Xy) -> bool:
    return end is None or math.dist(end, start) > 0.3


def told_by(world: World, rate_hz: float) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Contacts as explained and as they were, pairs in order of the alphabet."""
    paths = filmed(world, rate_hz)
    blows = [b for e in explain(TOURNAMENT, paths, "s") for b in e.blows]
    said = [(b.words[0], *sorted(b.words[1:])) for b in sorted(blows, key=lambda b: b.at_ns)]
    true = [(e.words[0], *sorted(e.words[1:])) for e in world.events if e.words[0] in {"hit", "peg"}]
    return said, true


@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
@pytest.mark.parametrize("aside_mm", [-3.0, 0.0, 2.0, 5.0])
def test_a_disc_struck_against_a_peg_comes_back_and_strikes_again_between_two_frames(
    rate_hz: float, aside_mm: float
) -> None:
    px, py = max(TOURNAMENT.pegs, key=lambda p: p[1] - abs(p[0]))
    world = World(TOURNAMENT, 1)
    world.place("p", "light", px, py + TABLE.peg_mm + 2.0)
    world.place("s", "dark", px + aside_mm, py + 200.0)
    world.flick("s", 0.0, -1100.0)
    said, true = told_by(world, rate_hz)
    assert ("peg", "p") in true
    assert len(true) >= 3
    assert said[:3] == true[:3]


@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
def test_a_disc_that_passes_a_peg_without_touching_it_did_not_touch_it(rate_hz: float) -> None:
    px, py = max(TOURNAMENT.pegs, key=lambda p: p[1] - abs(p[0]))
    world = World(TOURNAMENT, 1)
    world.place("s", "dark", px + TABLE.peg_mm + 1.2, py + 150.0)
    world.flick("s", 0.0, -900.0)
    said, true = told_by(world, rate_hz)
    assert said == true == []


@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
@pytest.mark.parametrize("overlap_mm", [2.0, 4.0])
def test_a_peg_that_was_grazed_is_told_by_the_bend_of_the_way(rate_hz: float, overlap_mm: float) -> None:
    px, py = max(TOURNAMENT.pegs, key=lambda p: p[1] - abs(p[0]))
    world = World(TOURNAMENT, 1)
    world.place("s", "dark", px + TABLE.peg_mm - overlap_mm, py + 150.0)
    world.flick("s", 0.0, -900.0)
    said, true = told_by(world, rate_hz)
    assert said == true == [("peg", "s")]


def test_a_blow_passed_on_from_disc_to_disc_is_told_in_order() -> None:
    world = World(TOURNAMENT, 1)
    for k, y in enumerate((150.0, 184.0, 230.0)):
        world.place(f"p{k}", "light", 0.0, y)
    world.place("s", "dark", 0.0, 60.0)
    world.flick("s", 0.0, 900.0)
    said, true = told_by(world, 60.0)
    assert said[:3] == true[:3] == [("hit", "p0", "s"), ("hit", "p0", "p1"), ("hit", "p1", "p2")]


@pytest.mark.parametrize("speed_mm_s", [1100.0, 1300.0, 1700.0])
@pytest.mark.parametrize("aside_mm", [-6.0, 3.0])
def test_a_blow_is_told_of_a_disc_that_was_seen_only_twice_before(speed_mm_s: float, aside_mm: float) -> None:
    """One frame after the other a disc hits another and is thrown back by a peg: only the course tells how."""
    px, py = max(TOURNAMENT.pegs, key=lambda p: p[1] - abs(p[0]))
    world = World(TOURNAMENT, 1)
    world.place("p", "light", px, py + TABLE.peg_mm + 2.0)
    world.place("s", "dark", px + aside_mm, py + TABLE.peg_mm + 34.0 + speed_mm_s * 2.6 / 30)
    world.flick("s", 0.0, -speed_mm_s)
    paths = filmed(world, 30.0)
    # Nobody saw where it stood before a hand let it go.
    paths["s"] = replace(paths["s"], start=None)
    blows = [b for e in explain(TOURNAMENT, paths, "s") for b in e.blows]
    said = [(b.words[0], *sorted(b.words[1:])) for b in sorted(blows, key=lambda b: b.at_ns)]
    true = [(e.words[0], *sorted(e.words[1:])) for e in world.events if e.words[0] in {"hit", "peg"}]
    assert said[:2] == true[:2] == [("hit", "p", "s"), ("peg", "p")]


@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
@pytest.mark.parametrize(("aside_mm", "speed_mm_s"), [(0.0, 1500.0), (4.0, 1300.0), (-6.0, 1100.0)])
def test_a_disc_that_crossed_the_hole_has_lost_speed_there_and_hit_no_more_than_it_hit(
    rate_hz: float, aside_mm: float, speed_mm_s: float
) -> None:
    world = World(TOURNAMENT, 3)
    world.place("p", "light", 3.0, -75.0)
    world.place("s", "dark", aside_mm, 130.0)
    world.flick("s", 0.0, -speed_mm_s)
    said, true = told_by(world, rate_hz)
    assert "hole" not in {e.words[0] for e in world.events}
    assert said == true


@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
@pytest.mark.parametrize("speed_mm_s", [1500.0, 1800.0])
def test_a_disc_that_is_driven_across_the_hole_was_struck_once(rate_hz: float, speed_mm_s: float) -> None:
    world = World(TOURNAMENT, 3)
    world.place("p", "light", 0.0, 50.0)
    world.place("s", "dark", 2.0, 200.0)
    world.flick("s", 0.0, -speed_mm_s)
    said, true = told_by(world, rate_hz)
    assert "hole" not in {e.words[0] for e in world.events}
    assert said == true


@pytest.mark.parametrize(
    ("blows", "off", "explained"), [(0, 3.9, True), (1, 4.2, False), (2, 4.2, True), (4, 5.4, True), (4, 5.6, False)]
)
def test_the_more_blows_a_course_has_the_farther_it_may_be_off(blows: int, off: float, *, explained: bool) -> None:
    blow = Blow(1, ("hit", "a", "b"), 1.0, 500.0)
    assert Episode(0, 10, frozenset("ab"), (blow,) * blows, off).explained is explained


@pytest.mark.parametrize(
    ("off", "moved", "seen_ms", "kept"),
    [
        (1.0, False, (), ["peg", "hit"]),  # explained so well that the faint one can be told
        (2.5, True, (1012, 1045), ["peg", "hit"]),  # what was seen to move was struck
        (2.5, True, (), ["peg"]),
        (2.5, True, (900, 933, 1012), ["peg"]),  # it moved already
        (2.5, False, (), ["peg"]),
    ],
)
def test_a_faint_blow_is_told_of_a_disc_that_began_to_move_by_it(
    off: float, seen_ms: tuple[int, ...], kept: list[str], *, moved: bool
) -> None:
    blows = (Blow(960 * MS, ("peg", "s"), 1.0, 440.0), Blow(975 * MS, ("hit", "s", "p"), 1.0, 79.0))
    points = tuple(Sighting(ms * MS, 50.0 + k, 0.0, 0.4, "light") for k, ms in enumerate(seen_ms))
    at = Path("s", "dark", (0.0, 0.0), 0, (Sighting(900 * MS, 0.0, 0.0, 0.4, "dark"),), None, moved=True)
    still_ns = 966 * MS if seen_ms != (900, 933, 1012) else 866 * MS
    struck = Path("p", "light", (50.0, 0.0), still_ns, points, (53.0, 0.0), moved=moved)
    episode = Episode(900 * MS, 1000 * MS, frozenset("sp"), blows, off)
    told = without_faint(episode, {"s": at, "p": struck})
    assert [b.words[0] for b in told.blows] == kept


def test_of_two_faint_blows_the_harder_one_set_a_disc_going() -> None:
    blows = (Blow(970 * MS, ("hit", "s", "p"), 1.0, 20.0), Blow(980 * MS, ("hit", "p", "q"), 1.0, 60.0))
    points = (Sighting(1012 * MS, 51.0, 0.0, 0.4, "light"),)
    lay = Path("p", "light", (50.0, 0.0), 966 * MS, points, (53.0, 0.0), moved=True)
    gone = Path("s", "dark", None, 0, (Sighting(900 * MS, 0.0, 0.0, 0.4, "dark"),), None, moved=True)
    episode = Episode(900 * MS, 1000 * MS, frozenset("spq"), blows, 2.0)
    told = without_faint(episode, {"s": gone, "p": lay, "q": gone})
    assert [b.words for b in told.blows] == [("hit", "p", "q")]
