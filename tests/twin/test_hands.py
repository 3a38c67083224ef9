"""Hands: they come from their seat, do what was planned, hold what they took, and are gone."""

import math

import pytest

from hardware.board import TOURNAMENT, to_xy
from hardware.twin.hands import AWAY_MM, Errand, Hands, clearing, ditch_place, hand_at, shoot, tidy
from hardware.twin.slider import DiscState
from hardware.twin.world import World

MS = 1_000_000
FRAME_NS = 33_333_333


def until_done(world: World, hands: Hands) -> list[tuple[int, int, int]]:
    """Steps until all is done: at each frame time, hands in the picture and discs in it."""
    seen = []
    while not (hands.idle and world.at_rest()):
        hands.step(world.at_ns + FRAME_NS)
        scene = world.scene()
        seen.append((scene.at_ns, len(scene.hands), len(scene.discs)))
        assert scene.at_ns < 60_000 * MS
    return seen


@pytest.mark.parametrize("seat", [1, 2, 3, 4])
def test_a_shot_is_placed_seen_flicked_and_left_alone(seat: int) -> None:
    world = World(TOURNAMENT, 1)
    hands = Hands(world)
    x_mm, y_mm = to_xy(TOURNAMENT.outer_line_mm, (seat - 1) * 90 + 20)
    shot = DiscState("A1", "light", x_mm, y_mm, vx_mm_s=-2 * x_mm, vy_mm_s=-2 * y_mm)
    reach = shoot(TOURNAMENT, seat, shot, 10 * MS)
    flick_ns = next(deed.at_ns for deed in reach.deeds if deed.what == "flick")
    hands.begin(reach)
    at_rest_on_line = 0
    while world.at_ns < flick_ns:
        hands.step(min(world.at_ns + FRAME_NS, flick_ns - MS) if world.at_ns < flick_ns - MS else flick_ns)
        disc = world.discs.get("A1")
        at_rest_on_line += disc is not None and disc.where == "surface" and math.isclose(disc.x_mm, x_mm)
    assert at_rest_on_line >= 5  # several frames show it before it moves
    assert not world.at_rest()
    assert (reach.end_ns - flick_ns) / MS <= 330
    until_done(world, hands)
    assert world.hands == ()
    assert world.discs["A1"].where != "hand"


def test_hands_come_from_their_seat_at_a_human_pace() -> None:
    shot = DiscState("A1", "light", 0.0, -TOURNAMENT.outer_line_mm, vy_mm_s=900.0)
    reach = shoot(TOURNAMENT, 1, shot, 0)
    for at_ns in range(0, reach.end_ns, 5 * MS):
        hand = hand_at(reach, at_ns)
        assert hand is not None
        assert hand.y_mm < 0
        assert math.hypot(hand.vx_mm_s, hand.vy_mm_s) < 2600
    first = hand_at(reach, 0)
    assert first is not None
    assert math.hypot(first.x_mm, first.y_mm) == pytest.approx(AWAY_MM)
    assert hand_at(reach, reach.end_ns) is None


def test_a_twenty_is_lifted_out_of_the_picture_and_fingers_chatter_the_beam() -> None:
    world = World(TOURNAMENT, 2)
    hands = Hands(world)
    world.place("A1", "light", 0.4, 0.2, "hole")
    world.step(500 * MS)
    first = world.take_edges()
    assert first[-1][1] is True
    hands.begin(tidy(1, [Errand(world.discs["A1"])], world.at_ns))
    until_done(world, hands)
    assert world.discs == {}
    edges = world.take_edges()
    assert len(edges) >= 1
    assert edges[-1][1] is False
    assert not world.receiver.blocked


def test_fouled_discs_are_laid_into_the_ditch_without_overlap() -> None:
    world = World(TOURNAMENT, 2)
    hands = Hands(world)
    for k in range(4):
        world.place(f"A{k}", "light", 40.0 * k - 60, 50.0)
    taken: list[tuple[float, float]] = []
    errands = []
    for disc in world.discs.values():
        taken.append(ditch_place(TOURNAMENT, 3, taken))
        errands.append(Errand(disc, taken[-1]))
    hands.begin(tidy(3, errands, 0))
    until_done(world, hands)
    discs = list(world.discs.values())
    assert [d.where for d in discs] == ["ditch"] * 4
    assert all(d.z_mm == -TOURNAMENT.surface_height_mm for d in discs)
    apart = [math.dist((a.x_mm, a.y_mm), (b.x_mm, b.y_mm)) for k, a in enumerate(discs) for b in discs[k + 1 :]]
    assert min(apart) > 32


def test_a_disc_is_put_back_where_it_lay() -> None:
    world = World(TOURNAMENT, 2)
    hands = Hands(world)
    world.place("B1", "dark", 355.0, 0.0, "ditch")
    hands.begin(tidy(3, [Errand(world.discs["B1"], (70.0, -20.0), "surface")], 0))
    until_done(world, hands)
    back = world.discs["B1"]
    assert (back.x_mm, back.y_mm, back.z_mm, back.where) == (70.0, -20.0, 0.0, "surface")


def test_clearing_takes_everything_in_several_sweeps() -> None:
    world = World(TOURNAMENT, 2)
    hands = Hands(world)
    for k in range(9):
        world.place(f"A{k}", "light", *to_xy(60 + 24 * k, 40 * k))
        world.place(f"B{k}", "dark", *to_xy(355, 40 * k), "ditch")
    world.place("B9", "dark", 0.0, 0.0, "hole")
    reaches = clearing((1, 3), world.discs.values(), 0)
    assert len(reaches) >= 4
    hands.begin(*reaches)
    seen = until_done(world, hands)
    assert world.discs == {}
    assert world.hands == ()
    assert max(hands_seen for _, hands_seen, _ in seen) <= 2
    assert seen[-1][0] <= 9_000 * MS


def test_the_ditch_is_used_near_the_seat_and_gets_full_gracefully() -> None:
    taken: list[tuple[float, float]] = []
    for _ in range(40):
        taken.append(ditch_place(TOURNAMENT, 1, taken))
        assert taken[-1][1] < 20
