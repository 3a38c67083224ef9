"""Strings of sightings: numbers in, tracks out."""

from __future__ import annotations

import math

import pytest

from firmware_py.camera.tracker import SLOWING_MM_S2, Sighting, Track, coast, depart, follow, mend

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
