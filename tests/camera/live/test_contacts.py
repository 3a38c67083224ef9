"""Who hit whom, told from tracks: by hand-made cases, and against the simulated world."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from firmware_py.camera.motion import contacts as finder
from firmware_py.camera.motion.contacts import find_contacts
from firmware_py.camera.motion.courses import Blow
from firmware_py.camera.motion.episodes import Episode
from firmware_py.camera.motion.tracker import Sighting, coast
from firmware_py.camera.motion.ways import Mover, Path, legs
from hardware.board import TOURNAMENT
from tests.camera.live.worlds import play

FRAME_NS = 33_333_333


def sighting(at_ns: int, x: float, y: float) -> Sighting:
    return Sighting(at_ns, x, y, 0.4, "light")


def free_way(x: float, y: float, vx: float, vy: float, frames: int, *, first: int = 1) -> tuple[Sighting, ...]:
    return tuple(sighting((first + k) * FRAME_NS, *coast((x, y), (vx, vy), k * FRAME_NS / 1e9)) for k in range(frames))


def at_rest(name: str, x: float, y: float, colour: str = "dark") -> Path:
    return Path(name, colour, (x, y), 0, (), (x, y), moved=False)  # type: ignore[arg-type]


def test_a_straight_slowing_way_is_one_leg() -> None:
    pieces = legs(free_way(0, -300, 40, 1100, 12))
    assert len(pieces) == 1
    assert pieces[0].velocity == pytest.approx((40, 1100), abs=15)


def test_a_way_breaks_where_the_disc_was_turned() -> None:
    first = free_way(0, -200, 0, 900, 5)
    second = free_way(first[-1].x_mm, first[-1].y_mm, 600, 0, 5, first=6)
    assert len(legs((*first, *second[1:]))) == 2


def test_a_shot_that_meets_nothing_has_no_contact() -> None:
    shot = Path("s", "light", (0, -304.8), 0, free_way(0, -260, 0, 700, 10), (0, -20), moved=True)
    paths = {"s": shot, "p": at_rest("p", 60, -120)}
    assert find_contacts(TOURNAMENT, paths, "s") == ()


def test_a_disc_that_moved_was_hit_also_when_it_moved_too_little_to_be_followed() -> None:
    shot = Path("s", "light", (0, -304.8), 0, free_way(31.5, -250, 0, 900, 10), (31.5, 100), moved=True)
    nudged = Path("p", "dark", (0.0, -100.0), 0, (), (-1.2, -99.9), moved=True)
    contacts = find_contacts(TOURNAMENT, {"s": shot, "p": nudged}, "s")
    assert [c.words for c in contacts] == [("hit", "s", "p")]


@pytest.mark.parametrize(
    ("words", "sure", "told"),
    [
        (("peg", "s"), 0.42, False),
        (("peg", "s"), 0.58, True),
        (("hit", "s", "p"), 0.42, True),  # an opposing disc that may have been touched becomes a doubt of the shot
    ],
)
def test_a_peg_that_was_rather_not_touched_is_not_told(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sure: float, *, told: bool
) -> None:
    episode = Episode(0, 10**9, frozenset("sp"), (Blow(2 * FRAME_NS, words, sure, 30.0),), 0.9)
    monkeypatch.setattr(finder, "explain", lambda *_: [episode])
    shot = Path("s", "light", (0, -304.8), 0, free_way(0, -260, 0, 700, 10), (0, -20), moved=True)
    contacts = find_contacts(TOURNAMENT, {"s": shot, "p": at_rest("p", 60, -120)}, "s")
    assert [c.words for c in contacts] == ([words] if told else [])


@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
def test_the_struck_discs_are_those_of_the_simulated_world(rate_hz: float) -> None:
    """What decides a verdict; a few shots in which two causes explain the same motion may differ."""
    wrong = []
    for seed in range(1000, 1060):
        played = play(seed, rate_hz)
        told = {d for c in find_contacts(TOURNAMENT, played.paths, "s") if c.words[0] == "hit" for d in c.words[1:]}
        true = {d for e in played.events if e[0] == "hit" for d in e[1:]}
        if told != true:
            wrong.append((seed, told ^ true))
    assert len(wrong) <= 2, wrong


def test_most_hits_are_told_with_the_right_pair() -> None:
    both = told = true = 0
    for seed in range(2000, 2060):
        played = play(seed, 60.0)
        a = Counter(frozenset(c.words[1:]) for c in find_contacts(TOURNAMENT, played.paths, "s") if c.words[0] == "hit")
        b = Counter(frozenset(e[1:]) for e in played.events if e[0] == "hit")
        both, told, true = both + (a & b).total(), told + a.total(), true + b.total()
    assert 2 * both / (told + true) > 0.85


@pytest.mark.parametrize(("gap_mm", "touched"), [(-0.1, True), (0.0, True), (0.2, False), (0.6, False)])
def test_a_disc_that_comes_to_lie_against_another_touched_it_though_it_did_not_move(
    gap_mm: float, touched: bool
) -> None:
    """Of one that lies there with a gap that two readings show it was rather not; the shot is in doubt of either."""
    way = free_way(0, -200, 0, 330, 12)
    shot = Path("s", "light", (0, -304.8), 0, way, (0.0, -121.0), moved=True)
    paths = {"s": shot, "p": at_rest("p", 0.0, -89.0 + gap_mm), "q": at_rest("q", 60.0, -121.0)}
    contacts = find_contacts(TOURNAMENT, paths, "s")
    assert [c.words for c in contacts] == ([("hit", "s", "p")] if touched else [])
    assert all(c.sure < 0.7 for c in contacts)


def test_a_disc_that_is_off_the_board_hits_nothing_any_more() -> None:
    gone = Path("s", "light", (0.0, -304.8), 0, free_way(200, -200, 900, -900, 5), None, moved=True)
    last = gone.points[-1]
    beside = Path("p", "dark", (last.x_mm + 10, last.y_mm - 10), 0, (), (last.x_mm + 12, last.y_mm - 12), moved=True)
    left = Mover(gone, legs(gone.points), 0).left_ns(TOURNAMENT.surface_radius_mm)
    assert left is not None
    assert math.hypot(*gone.points[-1].xy_mm) > TOURNAMENT.surface_radius_mm
    told = find_contacts(TOURNAMENT, {"s": gone, "p": beside}, "s")
    assert all(c.sure <= 0.2 for c in told)


def test_a_blow_that_two_discs_may_have_given_names_both() -> None:
    """One disc drives another, and both graze a third on the same lane: its short way tells them not apart."""
    lane = -31.7
    shot_way = (*free_way(lane, -284, 0, 700, 3), *free_way(lane, -171, 0, 330, 12, first=4))
    shot = Path("s", "light", (lane, -304.8), 0, shot_way, shot_way[-1].xy_mm, moved=True)
    driven = free_way(lane, -185, 0, 620, 12, first=4)
    other = Path("q", "light", (lane, -199.0), 3 * FRAME_NS, driven, driven[-1].xy_mm, moved=True)
    struck = Path("p", "dark", (0.0, -120.0), 0, (), (1.2, -119.9), moved=True)
    contacts = find_contacts(TOURNAMENT, {"s": shot, "q": other, "p": struck}, "s")
    (blow,) = [c for c in contacts if c.words[2] == "p"]
    assert {blow.words[1], *blow.rivals} == {"s", "q"}
