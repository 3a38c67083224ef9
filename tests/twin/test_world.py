"""The world's mechanics: what must hold for every shot, and what the hole, the edge and the beam do."""

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.board import TOURNAMENT, to_xy
from hardware.twin.feel import Feel
from hardware.twin.slider import DiscState
from hardware.twin.world import World, WorldError

MS = 1_000_000
LINE = TOURNAMENT.outer_line_mm


def until_rest(world: World, longest_ms: int = 12_000) -> int:
    start = world.at_ns
    while not world.at_rest():
        world.step(world.at_ns + MS)
        assert world.at_ns - start <= longest_ms * MS, "discs never came to rest"
    return (world.at_ns - start) // MS


def scattered(seed: int, count: int) -> World:
    """A world with discs that do not overlap, all on the surface."""
    chance = random.Random(seed)
    world = World(TOURNAMENT, seed)
    placed: list[tuple[float, float]] = []
    while len(placed) < count:
        at = to_xy(280 * math.sqrt(chance.random()), chance.uniform(0, 360))
        free = all(math.dist(at, other) > 32.1 for other in placed)
        clear = all(math.dist(at, peg) > 21 for peg in TOURNAMENT.pegs) and math.hypot(*at) > 40
        if free and clear:
            world.place(f"B{len(placed)}", "dark", *at)
            placed.append(at)
    return world


def energy(world: World) -> float:
    return sum(d.vx_mm_s**2 + d.vy_mm_s**2 for d in world.discs.values()) / 2


def words(world: World) -> list[tuple[str, ...]]:
    return [event.words for event in world.events]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(0, 14), speed=st.floats(200, 3000), aim=st.floats(-35, 35))
def test_energy_never_grows_and_discs_at_rest_do_not_overlap(seed: int, count: int, speed: float, aim: float) -> None:
    world = scattered(seed, count)
    world.place("A1", "light", 0.0, -LINE)
    a = math.radians(aim)
    world.flick("A1", speed * math.sin(a), speed * math.cos(a))
    last = energy(world)
    while not world.at_rest():
        world.step(world.at_ns + MS)
        now = energy(world)
        assert now <= last * (1 + 1e-6) + 1e-6
        last = now
    assert last == 0.0
    discs = sorted(world.discs.values(), key=lambda d: d.id)
    for k, a_disc in enumerate(discs):
        for b_disc in discs[k + 1 :]:
            if (a_disc.where == "ditch") == (b_disc.where == "ditch") and "stacked" not in {a_disc.where, b_disc.where}:
                assert math.dist((a_disc.x_mm, a_disc.y_mm), (b_disc.x_mm, b_disc.y_mm)) > 32 - 0.3


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(0, 12), speed=st.floats(300, 3000), aim=st.floats(-35, 35))
def test_what_lies_where_agrees_with_the_events(seed: int, count: int, speed: float, aim: float) -> None:
    world = scattered(seed, count)
    before = world.discs
    world.place("A1", "light", 0.0, -LINE)
    a = math.radians(aim)
    world.flick("A1", speed * math.sin(a), speed * math.cos(a))
    until_rest(world)
    told = words(world)
    assert [e.at_ns for e in world.events] == sorted(e.at_ns for e in world.events)
    touched = {"A1"} | {disc for event in told for disc in event[1:]}
    for disc in world.discs.values():
        r_mm = disc.r_mm
        off, back = told.count(("off", disc.id)), told.count(("back", disc.id))
        assert (disc.where == "ditch") == (off > back)
        if disc.where == "ditch":
            assert TOURNAMENT.surface_radius_mm + 15 < r_mm < TOURNAMENT.rail_radius_mm - 15
            assert disc.z_mm == -TOURNAMENT.surface_height_mm
        else:
            assert r_mm <= TOURNAMENT.surface_radius_mm
        assert (disc.where == "hole") == (("hole", disc.id) in told)
        if disc.where == "hole":
            assert TOURNAMENT.fits_hole(r_mm)
        if disc.where == "surface":
            assert r_mm >= TOURNAMENT.hole_radius_mm
        if disc.id not in touched:
            assert disc == before[disc.id]


@pytest.mark.parametrize("speed", [200.0, 400.0, 650.0])
def test_a_free_disc_slides_as_far_as_friction_lets_it(speed: float) -> None:
    world = World(TOURNAMENT, 1)
    way = speed**2 / (2 * world.feel.slide_mm_s2())
    world.place("A1", "light", 250.0, -way / 2)
    world.flick("A1", 0.0, speed)
    lasted = until_rest(world)
    assert world.discs["A1"].y_mm == pytest.approx(way / 2, abs=1.0)
    assert lasted == pytest.approx(1000 * speed / world.feel.slide_mm_s2(), abs=12)


@pytest.mark.parametrize("beside", [0.0, 10.0, 25.0, 31.0])
@pytest.mark.parametrize("speed", [300.0, 3000.0])
def test_a_free_collision_keeps_momentum_and_loses_only_what_wood_loses(beside: float, speed: float) -> None:
    feel = Feel(slide_friction=0.0, rim_friction=0.0)
    world = World(TOURNAMENT, 1, feel=feel)
    world.place("A1", "light", -200.0, 150.0 + beside)
    world.place("B1", "dark", -100.0, 150.0)
    world.flick("A1", speed, 0.0)
    while not words(world) and world.discs["B1"].vx_mm_s == 0.0:
        world.step(world.at_ns + MS)
    world.step(world.at_ns + 3 * MS)
    a, b = world.discs["A1"], world.discs["B1"]
    assert a.vx_mm_s + b.vx_mm_s == pytest.approx(speed, rel=1e-6)
    assert a.vy_mm_s + b.vy_mm_s == pytest.approx(0.0, abs=1e-6 * speed)
    assert speed**2 * feel.disc_bounce**2 * 0.98 <= a.vx_mm_s**2 + a.vy_mm_s**2 + b.vx_mm_s**2 + b.vy_mm_s**2
    # The struck disc leaves along the line of centres at the moment of contact.
    angle = math.degrees(math.atan2(-b.vy_mm_s, b.vx_mm_s))
    assert angle == pytest.approx(math.degrees(math.asin(beside / 32)), abs=4.0)


def test_the_fastest_disc_does_not_pass_through_another() -> None:
    for beside in (-12.0, 0.0, 12.0):
        world = World(TOURNAMENT, 1)
        world.place("B1", "dark", beside, 150.0)
        world.place("A1", "light", 0.0, -LINE + 200)
        world.flick("A1", 0.0, 3000.0)
        until_rest(world)
        assert ("hit", "A1", "B1") in words(world)


def test_the_same_seed_gives_the_same_shot_and_a_rehearsal_foretells_it() -> None:
    results = []
    for _ in range(2):
        world = scattered(7, 12)
        shot = DiscState("A1", "light", 20.0, -LINE, vx_mm_s=-60.0, vy_mm_s=1400.0)
        foretold = world.rehearse(shot)
        world.place("A1", "light", shot.x_mm, shot.y_mm)
        world.flick("A1", shot.vx_mm_s, shot.vy_mm_s)
        until_rest(world)
        assert foretold.discs == world.discs
        assert [e.words for e in foretold.events] == words(world)
        results.append((world.discs, words(world), world.take_edges()))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("arrive", "beside", "lies"),
    [
        (150.0, 0.0, {"hole"}),
        (450.0, 0.0, {"hole"}),
        (450.0, 5.0, {"hole", "leaning"}),
        (250.0, 12.0, {"hole", "leaning", "surface"}),
        (1200.0, 0.0, {"surface", "ditch"}),
        (2500.0, 0.0, {"surface", "ditch"}),
        (450.0, 18.0, {"surface"}),
    ],
)
def test_a_disc_drops_when_it_is_slow_enough_and_near_enough(arrive: float, beside: float, lies: set[str]) -> None:
    for seed in range(6):
        world = World(TOURNAMENT, seed)
        world.place("A1", "light", beside, -60.0)
        world.flick("A1", 0.0, math.sqrt(arrive**2 + 2 * world.feel.slide_mm_s2() * 60))
        until_rest(world)
        assert world.discs["A1"].where in lies


def test_slower_is_never_worse_through_the_middle() -> None:
    """There is one speed above which a disc does not drop any more (chance decides only near it)."""
    sunk = []
    for arrive in range(100, 1600, 100):
        drops = 0
        for seed in range(5):
            world = World(TOURNAMENT, seed)
            world.place("A1", "light", 0.0, -40.0)
            world.flick("A1", 0.0, math.sqrt(arrive**2 + 2 * world.feel.slide_mm_s2() * 40))
            while not world.at_rest() and world.discs["A1"].y_mm < 60:
                world.step(world.at_ns + MS)
            drops += world.discs["A1"].where == "hole"
        sunk.append(drops)
    assert sunk[:4] == [5, 5, 5, 5]
    assert sunk[-3:] == [0, 0, 0]
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(sunk))


def test_a_disc_in_the_hole_stands_proud_and_stays_when_it_is_hit() -> None:
    world = World(TOURNAMENT, 3)
    world.place("B1", "dark", 0.5, 0.0, "hole")
    world.place("A1", "light", 0.0, -100.0)
    world.flick("A1", 0.0, 500.0)
    until_rest(world)
    assert ("hit", "A1", "B1") in words(world)
    assert world.discs["B1"].where == "hole"
    assert (world.discs["B1"].x_mm, world.discs["B1"].y_mm) == pytest.approx((0.5, 0.0), abs=0.05)
    assert world.discs["A1"].where == "surface"


def test_a_leaner_is_knocked_in_or_out_but_never_through_the_board() -> None:
    ends = set()
    for seed in range(12):
        world = World(TOURNAMENT, seed)
        world.place("B1", "dark", 0.0, -6.0, "leaning")
        assert world.discs["B1"].tilt_deg > 5
        world.place("A1", "light", 2.0 * (seed % 5 - 2), -120.0)
        world.flick("A1", 0.0, 380.0 + 60 * seed)
        until_rest(world)
        assert words(world)[0] == ("hit", "A1", "B1")
        ends.add(world.discs["B1"].where)
        assert (world.discs["B1"].where == "hole") == (("hole", "B1") in words(world))
    assert "hole" in ends
    assert "surface" in ends


def test_a_disc_over_the_edge_falls_into_the_ditch_with_its_height() -> None:
    world = World(TOURNAMENT, 1)
    world.place("A1", "light", 0.0, 280.0)
    world.flick("A1", 0.0, 600.0)
    heights = []
    while not world.at_rest():
        world.step(world.at_ns + MS)
        heights.append(world.discs["A1"].z_mm)
    assert heights[0] == 0.0
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] == -TOURNAMENT.surface_height_mm
    assert words(world) == [("off", "A1")]


def test_the_rail_now_and_then_throws_a_hard_disc_back_onto_the_surface() -> None:
    back = 0
    for seed in range(40):
        world = World(TOURNAMENT, seed)
        world.place("A1", "light", 60.0, 0.0)
        world.flick("A1", 500.0, 2800.0)
        until_rest(world)
        if ("back", "A1") in words(world):
            back += 1
            assert words(world).index(("off", "A1")) < words(world).index(("back", "A1"))
    assert 0 < back < 36


def test_a_slow_disc_never_comes_back() -> None:
    for seed in range(10):
        world = World(TOURNAMENT, seed)
        world.place("A1", "light", 0.0, 300.0)
        world.flick("A1", 0.0, 700.0)
        until_rest(world)
        assert world.discs["A1"].where == "ditch"


def test_crossing_the_outer_line_is_told_for_who_comes_back_and_not_for_the_start() -> None:
    world = World(TOURNAMENT, 1)
    world.place("A1", "light", 0.0, -LINE)
    world.flick("A1", 0.0, 500.0)
    until_rest(world)
    assert words(world) == []
    world = World(TOURNAMENT, 1)
    world.place("B1", "dark", 0.0, 270.0)
    world.flick("B1", 0.0, 200.0)
    until_rest(world)
    assert world.discs["B1"].where == "surface"
    assert words(world) == [("cross", "B1")]


def test_the_beam_is_blocked_by_what_lies_in_the_hole_and_by_nothing_that_slides_over_it() -> None:
    world = World(TOURNAMENT, 1)
    world.place("A1", "light", 0.0, -60.0)
    world.flick("A1", 0.0, 2000.0)
    until_rest(world)
    lamp_ms = [at_ns / MS for at_ns, _ in world.take_edges()]
    assert lamp_ms == []
    world.place("A2", "light", 0.0, 0.0, "hole")
    world.step(world.at_ns + 2 * MS)
    assert world.receiver.blocked
    world.remove("A2")
    world.step(world.at_ns + 2 * MS)
    assert not world.receiver.blocked
    world.place("A3", "light", 5.0, 3.0, "leaning")
    world.step(world.at_ns + 2 * MS)
    assert world.receiver.blocked


def test_edges_come_in_order_alternate_and_end_at_the_level() -> None:
    for seed in range(20):
        world = World(TOURNAMENT, seed)
        world.place("A1", "light", 2.0, -60.0)
        world.flick("A1", 0.0, 400.0 + 30 * seed)
        until_rest(world)
        world.step(world.at_ns + 5 * MS)
        edges = world.take_edges()
        times = [at_ns for at_ns, _ in edges]
        assert times == sorted(set(times))
        assert [blocked for _, blocked in edges] == [k % 2 == 0 for k in range(len(edges))]
        assert (edges[-1][1] if edges else False) == world.receiver.blocked
        assert world.take_edges() == []


def test_what_cannot_be_is_refused_in_a_sentence() -> None:
    world = World(TOURNAMENT, 1)
    with pytest.raises(WorldError, match="no disc 'A9' on the board"):
        world.flick("A9", 1.0, 1.0)
    world.place("A1", "light", 0.0, 100.0)
    world.flick("A1", 0.0, 100.0)
    with pytest.raises(WorldError, match="while discs are moving"):
        world.remove("A1")
    with pytest.raises(WorldError, match="whole millisecond"):
        World(TOURNAMENT, 1, start_ns=5)


@pytest.mark.parametrize("hole_xy_mm", [(0.0, 0.0), (1.6, 0.8), (-1.5, 2.0)])
def test_discs_fall_lie_and_block_the_beam_where_the_hole_is(hole_xy_mm: tuple[float, float]) -> None:
    fallen = 0
    for seed in range(40):
        world = World(TOURNAMENT, seed, hole_xy_mm=hole_xy_mm)
        world.place("A1", "light", hole_xy_mm[0], -60.0)
        world.flick("A1", 0.0, 420.0)
        until_rest(world)
        disc = world.discs["A1"]
        off = math.dist((disc.x_mm, disc.y_mm), hole_xy_mm)
        if disc.where == "hole":
            assert off <= TOURNAMENT.hole_play_mm
        elif disc.where == "leaning":
            assert TOURNAMENT.hole_play_mm < off < TOURNAMENT.hole_radius_mm
        else:
            assert off >= TOURNAMENT.hole_radius_mm
        world.step(world.at_ns + 2 * MS)
        assert world.receiver.blocked is (disc.where in {"hole", "leaning"})
        fallen += disc.where == "hole"
    assert fallen > 20


@pytest.mark.parametrize("angle_deg", [0.0, 75.0, 190.0])
def test_a_disc_that_falls_beside_another_and_pushes_it_has_touched_it(angle_deg: float) -> None:
    pushed = 0
    for seed in range(8):
        world = World(TOURNAMENT, seed)
        world.place("B1", "dark", *to_xy(31.0, angle_deg))
        world.place("A1", "light", *to_xy(4.0, angle_deg + 180))
        was = world.discs["B1"]
        world.flick("A1", *to_xy(1.0, angle_deg))
        until_rest(world)
        now = world.discs["B1"]
        moved = math.dist((was.x_mm, was.y_mm), (now.x_mm, now.y_mm)) > 0.1
        pushed += moved
        assert (("hit", "A1", "B1") in words(world)) == moved
    assert pushed
