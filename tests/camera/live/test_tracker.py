"""Strings of sightings: numbers in, tracks out."""

from __future__ import annotations

import math

import pytest

from firmware_py.camera.motion.tracker import SLOWING_MM_S2, Sighting, Track, coast, depart, follow, mend, standing

FRAME_NS = 33_333_333


def seen(at: int, x: float, y: float, colour: str | None = "light") -> Sighting:
    return Sighting(at * FRAME_NS, x, y, 0.4, colour)  # type: ignore[arg-type]


def sliding(x: float, y: float, vx: float, vy: float, frames: int, *, first: int = 1) -> list[Sighting]:
    return [seen(first + k, *coast((x, y), (vx, vy), k * FRAME_NS / 1e9)) for k in range(frames)]


def test_a_disc_that_nothing_meets_is_where_it_was_expected() -> None:
    tracks: tuple[Track, ...] = ()
    for s in sliding(0, -300, 100, 1200, 8):
        tracks = follow(tracks, [s], s.at_ns)
    assert len(tracks) == 1
    expected = coast((0, -300), (100, 1200), 8 * FRAME_NS / 1e9)
    assert math.dist(tracks[0].predict(9 * FRAME_NS), expected) < 2.0


def test_a_coasting_disc_stops_and_does_not_turn_round() -> None:
    reach = 300**2 / (2 * SLOWING_MM_S2)
    assert coast((0, 0), (300, 0), 60.0) == pytest.approx((reach, 0))


def test_two_discs_that_pass_each_other_keep_their_tracks() -> None:
    one, other = sliding(-100, 0, 900, 0, 7), sliding(100, 36, -900, 0, 7)
    tracks: tuple[Track, ...] = ()
    for a, b in zip(one, other, strict=True):
        tracks = follow(tracks, [b, a], a.at_ns)
    assert len(tracks) == 2
    assert {t.points for t in tracks} == {tuple(one), tuple(other)}


def test_colours_tell_crossing_discs_apart() -> None:
    tracks: tuple[Track, ...] = ()
    for k in range(6):
        at = (1 + k) * FRAME_NS
        light = seen(1 + k, -60 + 25 * k, 0, "light")
        dark = seen(1 + k, 60 - 25 * k, 1, "dark")
        tracks = follow(tracks, [dark, light], at)
    assert all(len({p.colour for p in t.points}) == 1 for t in tracks)


def test_after_a_blow_the_struck_disc_is_the_one_ahead_on_the_line_of_centres() -> None:
    """The shot disc comes from below and hits the right half of a disc at rest, which goes left; itself goes right."""
    tracks: tuple[Track, ...] = ()
    way = sliding(20.0, -120.0, 0.0, 900.0, 4)
    for s in way:
        tracks = follow(tracks, [s], s.at_ns)
    at = way[-1].at_ns + FRAME_NS
    tracks = depart(tracks, "d7", "light", (0.0, 0.0), way[-1].at_ns)
    # Contact at (20, -25): the line of centres points up and to the left.
    struck, hitter = seen(5, -9.0, 11.5), seen(5, 24.0, -14.0)
    tracks = follow(tracks, [hitter, struck], at)
    by_key = {t.key: t for t in tracks}
    assert by_key["d7"].points == (struck,)
    assert by_key["new-1"].points[-1] == hitter


def test_a_sighting_out_of_reach_begins_a_track_of_its_own() -> None:
    tracks = follow((), [seen(1, 0, 0)], FRAME_NS)
    tracks = follow(tracks, [seen(2, 3, 0), seen(2, 250, 100)], 2 * FRAME_NS)
    assert [t.key for t in tracks] == ["new-1", "new-2"]
    assert len(tracks[0].points) == 2


def test_a_track_not_seen_for_long_takes_no_more_sightings() -> None:
    tracks = follow((), [seen(1, 0, 0)], FRAME_NS)
    tracks = follow(tracks, [seen(30, 1, 0)], 30 * FRAME_NS)
    assert [len(t.points) for t in tracks] == [1, 1]


def test_more_discs_than_can_be_tried_in_every_way_are_still_shared_out() -> None:
    starts = [(-200 + 50 * k, 0.0) for k in range(9)]
    tracks: tuple[Track, ...] = ()
    for k in range(4):
        at = (1 + k) * FRAME_NS
        tracks = follow(tracks, [seen(1 + k, x, y + 10 * k) for x, y in starts], at)
    assert sorted(len(t.points) for t in tracks) == [4] * 9


def test_a_way_that_was_hidden_for_a_while_is_joined_again() -> None:
    way = sliding(0, -280, 0, 900, 20)
    first = Track("new-1", "light", points=tuple(way[:6]))
    second = Track("new-2", "light", points=tuple(way[14:]))
    other = Track("new-3", "light", points=tuple(sliding(200, 100, 0, 50, 4, first=14)))
    joined = {t.key: len(t.points) for t in mend((first, second, other))}
    assert joined == {"new-1": 12, "new-3": 4}


@pytest.mark.parametrize("shooter", ["light", "dark"])
@pytest.mark.parametrize("driven_mm_s", [700.0, 1700.0, 2600.0])
def test_a_disc_right_at_the_line_is_driven_off_before_the_shot_one_was_seen_to_move(
    shooter: str, driven_mm_s: float
) -> None:
    """The first frame after the flick shows the shot disc hardly gone, and the light one that it struck far ahead."""
    stood = tuple(seen(k, -73.7, 296.2, shooter) for k in range(1, 6))
    origin = (-65.0, 263.0)
    poised = standing(stood, [origin], 32.0)
    assert poised == stood[-1:]
    tracks = depart((), "d7", "light", origin, 5 * FRAME_NS)
    way = sliding(-65.0 + 0.26 * 45, 263.0 - 0.97 * 45, 0.26 * driven_mm_s, -0.97 * driven_mm_s, 5, first=6)
    for k, struck in enumerate(way):
        hitter = seen(6 + k, -66.0 + 4.0 * k, 296.3 - 0.3 * k, shooter)
        tracks = follow(tracks, [hitter, struck], struck.at_ns, 32.0, poised=poised if k == 0 else ())
    by_key = {t.key: t for t in tracks}
    assert sorted(by_key) == ["d7", "new-1"]
    assert by_key["d7"].points == tuple(way)
    assert all(p.colour == shooter for p in by_key["new-1"].points)


def test_what_a_hand_shows_while_it_takes_a_disc_off_the_line_does_not_stand_there() -> None:
    wandering = (seen(1, -77, 312, "light"), seen(3, -56, 287, "dark"), seen(5, -41, 307, "dark"))
    assert standing(wandering, [], 32.0) == ()
    assert standing((), [], 32.0) == ()


def test_a_disc_that_lay_on_the_line_is_not_one_that_was_laid_there() -> None:
    still = tuple(seen(k, 0.0, -304.0) for k in range(1, 6))
    assert standing(still, [(1.0, -303.0)], 32.0) == ()
    assert standing(still, [(60.0, -297.0)], 32.0) == still[-1:]


def test_a_disc_that_waits_on_the_line_may_be_flicked_as_fast_as_any() -> None:
    tracks: tuple[Track, ...] = ()
    for k in range(6):
        tracks = follow(tracks, [seen(1 + k, 0.0, -304.0)], (1 + k) * FRAME_NS)
    tracks = follow(tracks, [seen(7, 4.0, -214.0)], 7 * FRAME_NS)
    assert [len(t.points) for t in tracks] == [7]


def test_a_disc_that_lay_in_the_ditch_does_not_come_up_when_one_is_thrown_back_from_beside_it() -> None:
    away = sliding(150.0, 262.0, 500.0, 940.0, 3)
    tracks = depart((), "d36", "light", (89.0, 150.0), 0)
    for s in away:
        tracks = follow(tracks, [s], s.at_ns, edge_mm=325.0)
    tracks = depart(tracks, "d30", "light", (190.0, 322.0), 3 * FRAME_NS)
    tracks = follow(tracks, [seen(4, 196, 325)], 4 * FRAME_NS, edge_mm=325.0)
    for k in range(5, 9):
        tracks = follow(tracks, [seen(k, 170 - 6 * k, 305 - 4 * k), seen(k, 198, 326)], k * FRAME_NS, edge_mm=325.0)
    ditch = next(t for t in tracks if t.key == "d30")
    assert all(p.r_mm > 325.0 for p in ditch.points)


@pytest.mark.parametrize("turn_deg", [0.0, 50.0, 200.0])
@pytest.mark.parametrize("crept_mm", [2.2, 5.0, 9.0])
def test_a_disc_that_stops_as_it_strikes_another_has_not_gone_through_it(turn_deg: float, crept_mm: float) -> None:
    """The struck one has only begun to move, and goes slowly on; the other was expected far beyond it."""
    c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))

    def seen(frame: int, x: float, y: float) -> Sighting:
        return Sighting(frame * FRAME_NS, c * x - s * y, s * x + c * y, 0.4, "light")

    shot = Track("new-1", "light", 0, None, tuple(seen(k, 0.0, -120.0 + 45.0 * k) for k in range(3)))
    struck = Track("d7", "light", 2 * FRAME_NS, seen(2, 0.0, 32.0).xy_mm)
    first = (seen(3, 0.0, 1.5), seen(3, 0.0, 32.0 + crept_mm))
    then = (seen(4, 0.3, 4.0), seen(4, -2.0, 36.0 + crept_mm))
    tracks = follow((shot, struck), first, 3 * FRAME_NS)
    tracks = follow(tracks, then, 4 * FRAME_NS)
    assert [t.points[-1].xy_mm for t in tracks] == [p.xy_mm for p in then]
