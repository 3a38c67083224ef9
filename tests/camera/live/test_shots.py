"""From rests and tracks to the report of a shot."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from firmware_py.camera.motion.naming import Watched
from firmware_py.camera.motion.shots import conclude
from firmware_py.camera.motion.tracker import Sighting, Track, coast
from firmware_py.camera.rest.resting import Reading, Resting
from hardware.board import TOURNAMENT
from hub.link.messages import DiscState, Place

FRAME_NS = 33_333_333
SINCE_NS, UNTIL_NS = 0, 3_000_000_000


def lying(name: str, x: float, y: float, colour: str = "dark", state: str = "flat") -> Resting:
    return Resting(name, colour, x, y, 0.2, state, (x, y))  # type: ignore[arg-type]


def track(key: str, at: tuple[float, float], v: tuple[float, float], frames: int, **more: object) -> Track:
    points = tuple(
        Sighting((3 + k) * FRAME_NS, *coast(at, v, k * FRAME_NS / 1e9), 0.4, more.get("colour", "light"))  # type: ignore[arg-type]
        for k in range(frames)
    )
    origin = more.get("origin")
    return Track(key, more.get("colour", "light"), 2 * FRAME_NS if origin else 0, origin, points)  # type: ignore[arg-type]


def watched(*tracks: Track, hand_inner_mm: float = 290.0, **more: object) -> Watched:
    base = Watched(SINCE_NS, UNTIL_NS, tracks, (), hand_inner_mm, frozenset())
    return replace(base, **more)  # type: ignore[arg-type]


def reading(**more: object) -> Reading:
    base = Reading(stay=(), nudged={}, gone=(), found=(), unseen=(), odd=())
    return replace(base, **more)  # type: ignore[arg-type]


def test_a_disc_that_slid_in_from_the_line_was_shot() -> None:
    rolling = track("new-1", (0.0, -280.0), (0.0, 560.0), 14)
    end = rolling.points[-1].xy_mm
    done = conclude(TOURNAMENT, (), reading(found=(lying("", *end, "light"),)), watched(rolling), 1)
    assert done.shot is not None
    assert (done.shot.disc, done.shot.colour, done.shot.events) == ("d1", "light", ())
    assert isinstance(done.shot.rest["d1"], Place)
    assert [d.id for d in done.discs] == ["d1"]
    assert done.next_number == 2


def test_where_it_stood_on_the_line_is_reported_when_it_was_seen_there() -> None:
    rolling = track("new-1", (0.0, -280.0), (0.0, 560.0), 14)
    stood = Sighting(FRAME_NS, 0.3, -304.6, 0.4, "light")
    done = conclude(
        TOURNAMENT,
        (),
        reading(found=(lying("", *rolling.points[-1].xy_mm, "light"),)),
        watched(rolling, on_line=(stood,)),
        1,
    )
    assert done.shot is not None
    assert done.shot.placed is not None
    assert abs(done.shot.placed.r_mm - 304.6) < 0.1


def test_a_disc_that_a_hand_laid_down_is_no_shot() -> None:
    done = conclude(TOURNAMENT, (), reading(found=(lying("", 40.0, -100.0),)), watched(hand_inner_mm=60.0), 5)
    assert done.shot is None
    assert [d.id for d in done.discs] == ["d5"]


def test_discs_that_a_hand_took_away_are_no_shot() -> None:
    before = (lying("d1", 50, 50), lying("d2", -80, 20))
    done = conclude(
        TOURNAMENT,
        before,
        reading(stay=before[1:], gone=before[:1]),
        watched(hand_inner_mm=0.0, covered=frozenset({"d1"})),
        3,
    )
    assert done.shot is None
    assert [d.id for d in done.discs] == ["d2"]


def test_a_struck_disc_keeps_its_name_and_the_blow_is_told() -> None:
    target = lying("d4", 0.0, -100.0)
    rolling = track("new-1", (0.0, -280.0), (0.0, 700.0), 7)
    pushed = Track(
        "d4",
        "dark",
        8 * FRAME_NS,
        (0.0, -100.0),
        tuple(Sighting((9 + k) * FRAME_NS, 0.0, -90.0 + 14.0 * k, 0.4, "dark") for k in range(5)),
    )
    found = (lying("", 0.0, -30.0, "dark"), lying("", 0.0, -131.0, "light"))
    done = conclude(TOURNAMENT, (target,), reading(gone=(target,), found=found), watched(rolling, pushed), 9)
    assert done.shot is not None
    assert done.shot.events == (("hit", "d9", "d4"),)
    assert done.shot.doubts == ()
    assert {d.id: round(d.y_mm) for d in done.discs} == {"d4": -30, "d9": -131}


def test_a_shot_disc_that_left_the_board_rests_in_the_ditch() -> None:
    rolling = track("new-1", (0.0, -280.0), (900.0, 1400.0), 8)
    done = conclude(TOURNAMENT, (), reading(), watched(rolling), 1)
    assert done.shot is not None
    assert done.shot.rest == {"d1": "ditch"}
    assert [e[0] for e in done.shot.events] == ["off"]


@pytest.mark.parametrize(("r_mm", "events", "rest"), [(344.9, ["off"], "ditch"), (328.0, ["off", "back"], None)])
def test_a_disc_that_leans_over_the_edge_has_left_the_board(r_mm: float, events: list[str], rest: str | None) -> None:
    run = track("new-1", (0.0, 280.0), (0.0, 500.0), 5)
    rolling = replace(run, points=(*run.points, Sighting(12 * FRAME_NS, 0.0, 346.0, 0.4, "light")))
    seen = reading(found=(lying("", 0.0, r_mm, "light", "overhanging"),))
    done = conclude(TOURNAMENT, (), seen, watched(rolling), 1)
    assert done.shot is not None
    assert [e[0] for e in done.shot.events if e[0] != "cross"] == events
    assert done.shot.rest["d1"] == rest if rest else isinstance(done.shot.rest["d1"], Place)


@pytest.mark.parametrize(("r_mm", "state"), [(344.9, "overhanging"), (350.0, "ditch")])
def test_what_falls_on_a_disc_that_has_left_the_board_hits_none_in_play(r_mm: float, state: DiscState) -> None:
    dead = lying("d1", 0.0, r_mm, "dark", state)
    aside = replace(dead, id="", x_mm=9.0, top_xy_mm=(9.0, r_mm))
    rolling = track("new-1", (0.0, 200.0), (0.0, 900.0), 6)
    pushed = track("d1", (2.0, r_mm), (40.0, 0.0), 3, colour="dark", origin=(0.0, r_mm))
    late = replace(pushed, points=tuple(replace(p, at_ns=p.at_ns + 4 * FRAME_NS) for p in pushed.points))
    done = conclude(TOURNAMENT, (dead,), reading(gone=(dead,), found=(aside,)), watched(rolling, late), 2)
    assert done.shot is not None
    assert done.shot.events == (("off", "d2"),)
    assert done.shot.rest == {"d2": "ditch"}


def test_a_disc_in_the_hole_is_reported_so() -> None:
    rolling = track("new-1", (0.0, -280.0), (0.0, 640.0), 14)
    done = conclude(TOURNAMENT, (), reading(found=(lying("", 0.4, -0.3, "light", "hole"),)), watched(rolling), 1)
    assert done.shot is not None
    assert done.shot.rest["d1"] == "hole"
    assert ("hole", "d1") in done.shot.events


def test_a_new_disc_where_no_hand_was_must_have_been_shot_but_says_that_it_was_not_seen() -> None:
    other = lying("d1", 200.0, 50.0, "dark")
    done = conclude(
        TOURNAMENT,
        (other,),
        reading(stay=(other,), found=(lying("", 10.0, -60.0, "light"),)),
        watched(hand_inner_mm=math.inf),
        2,
    )
    assert done.shot is not None
    assert [d.kind for d in done.shot.doubts] == ["not_seen"]
    assert done.shot.confidence <= 0.5


def test_a_nudge_by_less_than_a_disc_still_is_a_blow() -> None:
    target = lying("d1", 0.0, -150.0)
    moved = replace(target, y_mm=-148.8, top_xy_mm=(0.0, -148.8))
    rolling = track("new-1", (0.0, -280.0), (0.0, 420.0), 9)
    end = rolling.points[-1].xy_mm
    done = conclude(
        TOURNAMENT,
        (target,),
        reading(stay=(moved,), nudged={"d1": 1.2}, found=(lying("", *end, "light"),)),
        watched(rolling),
        2,
    )
    assert done.shot is not None
    assert ("hit", "d2", "d1") in done.shot.events
    assert isinstance(done.shot.rest["d1"], Place)


def test_a_disc_laid_on_the_line_and_shot_later_keeps_its_name_and_is_the_shot_one() -> None:
    stood = lying("d3", 0.0, -304.8, "light")
    other = lying("d1", 120.0, 60.0)
    rolling = track("d3", (0.0, -280.0), (0.0, 560.0), 14, origin=(0.0, -304.8))
    end = rolling.points[-1].xy_mm
    done = conclude(
        TOURNAMENT,
        (stood, other),
        reading(stay=(other,), gone=(stood,), found=(lying("", *end, "light"),)),
        watched(rolling, hand_inner_mm=math.inf),
        4,
    )
    assert done.shot is not None
    assert done.shot.disc == "d3"
    assert done.shot.placed is not None
    assert abs(done.shot.placed.r_mm - 304.8) < 0.1
    assert done.next_number == 4
    assert {d.id for d in done.discs} == {"d1", "d3"}


def test_a_track_that_begins_standing_on_the_line_tells_where_the_disc_was_placed() -> None:
    run = track("new-1", (0.0, -280.0), (0.0, 560.0), 14)
    stood = tuple(Sighting(round((0.2 + 0.5 * k) * FRAME_NS), 0.1 * k, -304.7, 0.4, "light") for k in range(5))
    rolling = replace(run, points=(*stood, *run.points))
    done = conclude(TOURNAMENT, (), reading(found=(lying("", *run.points[-1].xy_mm, "light"),)), watched(rolling), 1)
    assert done.shot is not None
    assert done.shot.placed is not None
    assert abs(done.shot.placed.r_mm - 304.7) < 0.1
    assert done.shot.start_ns == stood[-1].at_ns


@pytest.mark.parametrize(
    ("state", "rival", "fell"), [("hole", "leaning", (True, False)), ("leaning", "hole", (False, True))]
)
def test_what_hardly_tells_a_twenty_from_a_leaner_is_told_both_ways(
    state: DiscState, rival: DiscState, fell: tuple[bool, bool]
) -> None:
    rolling = track("new-1", (0.0, -280.0), (0.0, 640.0), 14)
    found = replace(lying("", 0.4, -2.9, "light", state), rival=rival)
    done = conclude(TOURNAMENT, (), reading(found=(found,)), watched(rolling), 1)
    assert done.shot is not None
    (doubt,) = done.shot.doubts
    assert (doubt.kind, doubt.discs) == ("leaner", ("d1",))
    assert doubt.readings[0] == done.shot.events
    assert tuple(("hole", "d1") in reading for reading in doubt.readings) == fell


def test_a_struck_disc_that_the_rail_throws_back_is_not_taken_for_the_shot_one() -> None:
    """It was lost over the ditch and begins anew farther out than the shot disc did, but later."""
    target = lying("d4", 120.0, 240.0)
    rolling = track("new-1", (-150.0, -250.0), (700.0, 1250.0), 12)
    away = (Sighting(9 * FRAME_NS, 130.0, 262.0, 0.4, "dark"), Sighting(10 * FRAME_NS, 150.0, 300.0, 0.4, "dark"))
    struck = Track("d4", "dark", 8 * FRAME_NS, (120.0, 240.0), away)
    returned = tuple(
        Sighting((16 + k) * FRAME_NS, *coast((-98.0, 306.0), (420.0, -130.0), k * FRAME_NS / 1e9), 0.4, "dark")
        for k in range(14)
    )
    end = rolling.points[-1].xy_mm
    found = (lying("", *end, "light"), lying("", *returned[-1].xy_mm, "dark"))
    seen = watched(rolling, struck, Track("new-2", "dark", 0, None, returned), hand_inner_mm=math.inf)
    done = conclude(TOURNAMENT, (target,), reading(gone=(target,), found=found), seen, 9)
    assert done.shot is not None
    assert (done.shot.disc, done.shot.colour) == ("d9", "light")
    assert {d.id: d.colour for d in done.discs} == {"d9": "light", "d4": "dark"}
    assert ("back", "d4") in done.shot.events


@pytest.mark.parametrize("gap_mm", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("colour", ["light", "dark"])
def test_a_touch_that_moved_nothing_is_told_both_ways_also_with_a_disc_of_the_same_set(
    colour: str, gap_mm: float
) -> None:
    rolling = track("new-1", (0.0, -280.0), (0.0, 420.0), 14)
    end = rolling.points[-1].xy_mm
    beside = lying("d1", end[0], end[1] + 32.0 + gap_mm, colour)
    opposing = lying("d2", 200.0, 60.0, "dark")
    seen = reading(stay=(beside, opposing), found=(lying("", *end, "light"),))
    done = conclude(TOURNAMENT, (beside, opposing), seen, watched(rolling), 3)
    assert done.shot is not None
    (doubt,) = done.shot.doubts
    assert doubt.readings[0] == done.shot.events
    assert {("hit", "d3", "d1") in reading for reading in doubt.readings} == {True, False}


@pytest.mark.parametrize("driven_mm_s", [700.0, 0.0])
def test_a_shot_that_gives_its_motion_at_once_to_a_disc_near_the_line_is_a_shot(driven_mm_s: float) -> None:
    target = lying("d4", 0.0, -236.0)
    rolling = track("new-1", (0.0, -280.0), (0.0, 150.0), 10)
    points = tuple(
        Sighting((3 + k) * FRAME_NS, *coast((0.0, -232.0), (0.0, driven_mm_s), k * FRAME_NS / 1e9), 0.4, "dark")
        for k in range(12)
    )
    struck = Track("d4", "dark", 2 * FRAME_NS, (0.0, -236.0), points)
    found = (lying("", *rolling.points[-1].xy_mm, "light"), lying("", *points[-1].xy_mm, "dark"))
    reached_mm = 290.0 if driven_mm_s else 225.0
    seen = watched(rolling, struck, hand_inner_mm=reached_mm)
    done = conclude(TOURNAMENT, (target,), reading(gone=(target,), found=found), seen, 9)
    if not driven_mm_s:
        assert done.shot is None  # a hand laid one down and pushed the other aside
        return
    assert done.shot is not None
    assert (done.shot.disc, done.shot.events) == ("d9", (("hit", "d9", "d4"),))


def test_the_set_of_which_one_more_disc_lies_is_the_one_that_was_shot_whichever_track_began_first() -> None:
    """A light disc that stood at the line flies off at once; its track begins anew, and ran farther."""
    target = lying("d4", -70.0, 279.0, "light")
    short = track("new-1", (-62.0, 296.0), (120.0, -10.0), 14, colour="dark")
    driven = track("new-2", (-57.0, 227.0), (170.0, -650.0), 14, colour="light")
    found = (lying("", *short.points[-1].xy_mm, "dark"), lying("", *driven.points[-1].xy_mm, "light"))
    seen = watched(Track("d4", "light", FRAME_NS, (-70.0, 279.0), ()), short, driven)
    done = conclude(TOURNAMENT, (target,), reading(gone=(target,), found=found), seen, 9)
    assert done.shot is not None
    assert (done.shot.disc, done.shot.colour) == ("d9", "dark")
    assert ("hit", "d9", "d4") in done.shot.events
    assert {d.id: d.colour for d in done.discs} == {"d9": "dark", "d4": "light"}


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_whoever_shoots_the_new_disc_is_the_one_shot(colour: str) -> None:
    """Either side may shoot, also out of turn; two discs of its set stand at the line."""
    targets = (lying("d4", 20.0, -262.0, colour), lying("d5", -40.0, -270.0, colour))
    rolling = track("new-1", (0.0, -296.0), (60.0, 240.0), 12, colour=colour)
    pushed = track("d4", (24.0, -252.0), (150.0, 380.0), 12, colour=colour, origin=(20.0, -262.0))
    found = (lying("", *rolling.points[-1].xy_mm, colour), lying("", *pushed.points[-1].xy_mm, colour))
    seen = reading(stay=targets[1:], gone=targets[:1], found=found)
    done = conclude(TOURNAMENT, targets, seen, watched(rolling, pushed), 9)
    assert done.shot is not None
    assert (done.shot.disc, done.shot.colour) == ("d9", colour)
    assert {d.id: (d.x_mm, d.y_mm) for d in done.discs}["d4"] == pushed.points[-1].xy_mm


def test_what_was_struck_by_a_disc_that_was_not_seen_is_not_taken_for_the_shot_one() -> None:
    """Nearly all frames were lost: the struck disc's way is seen as a new one, the shot disc only where it lies."""
    target = lying("d4", 0.0, -100.0, "light")
    driven = track("new-1", (0.0, 20.0), (0.0, 600.0), 3, colour="light")
    found = (lying("", 3.0, -118.0, "dark"), lying("", 2.0, 280.0, "light"))
    seen = watched(Track("d4", "light", FRAME_NS, (0.0, -100.0), ()), driven)
    done = conclude(TOURNAMENT, (target,), reading(gone=(target,), found=found), seen, 9)
    assert done.shot is not None
    assert (done.shot.disc, done.shot.colour) == ("d9", "dark")
    assert {d.id: d.colour for d in done.discs} == {"d9": "dark", "d4": "light"}


def test_a_shot_of_which_nothing_was_seen_but_what_it_changed_is_a_shot() -> None:
    target, other = lying("d4", 0.0, -100.0, "light"), lying("d5", 150.0, 60.0, "light")
    found = (lying("", 40.0, -268.0, "dark"),)
    seen = watched(hand_inner_mm=280.0, blind_ns=900_000_000)
    done = conclude(TOURNAMENT, (target, other), reading(stay=(other,), gone=(target,), found=found), seen, 9)
    assert done.shot is not None
    assert (done.shot.disc, done.shot.colour, done.shot.rest["d4"]) == ("d9", "dark", "ditch")


def test_a_disc_whose_track_was_lost_is_the_new_one_of_its_set_wherever_it_lies() -> None:
    target = lying("d4", 0.0, -100.0, "light")
    rolling = track("new-1", (0.0, -290.0), (0.0, 900.0), 2, colour="dark")
    found = (lying("", 210.0, 90.0, "dark"),)
    done = conclude(TOURNAMENT, (target,), reading(gone=(target,), found=found), watched(rolling), 9)
    assert done.shot is not None
    assert done.shot.disc == "d9"
    assert isinstance(done.shot.rest["d9"], Place)
    assert [d.id for d in done.discs] == ["d9"]


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_a_disc_beside_the_hole_that_looks_moved_when_another_drops_in_may_lie_where_it_lay(colour: str) -> None:
    target = lying("d4", -28.8, 5.8, colour)
    seems = replace(target, x_mm=-31.8, y_mm=6.3, top_xy_mm=(-31.8, 6.3))
    opposing = lying("d5", 180.0, 60.0, "dark")
    rolling = track("new-1", (0.0, -280.0), (0.0, 620.0), 14)
    found = (lying("", 0.4, -0.3, "light", "hole"),)
    seen = reading(stay=(seems, opposing), nudged={"d4": 3.0}, found=found)
    done = conclude(TOURNAMENT, (target, opposing), seen, watched(rolling), 9)
    assert done.shot is not None
    (doubt,) = done.shot.doubts
    assert (doubt.kind, doubt.discs) == ("contact", ("d4",))
    assert [any("d4" in e for e in events) for events in doubt.readings] == [True, False]


def test_a_disc_that_vanished_on_the_board_may_lie_in_the_hole_though_none_is_read_there() -> None:
    """One that hangs over the hole hides it."""
    beside = lying("d4", 20.0, 10.0)
    rolling = track("new-1", (0.0, -280.0), (0.0, 620.0), 14)
    done = conclude(TOURNAMENT, (beside,), reading(stay=(beside,)), watched(rolling), 9)
    assert done.shot is not None
    doubt = next(d for d in done.shot.doubts if d.kind == "left")
    assert [("hole", "d9") in events for events in doubt.readings] == [False, True]


def test_frames_that_failed_to_come_are_told_where_no_opposing_disc_moved() -> None:
    other = lying("d1", 200.0, 50.0, "dark")
    rolling = track("new-1", (0.0, -280.0), (0.0, 560.0), 14)
    found = (lying("", *rolling.points[-1].xy_mm, "light"),)
    for blind_ns, kinds in ((33_000_000, []), (400_000_000, ["not_seen"])):
        seen = watched(rolling, blind_ns=blind_ns)
        done = conclude(TOURNAMENT, (other,), reading(stay=(other,), found=found), seen, 2)
        assert done.shot is not None
        assert [d.kind for d in done.shot.doubts] == kinds


def test_a_new_disc_that_no_hand_covered_came_while_no_frame_did() -> None:
    found = (lying("", 60.0, -262.0, "light"),)
    other = lying("d1", 200.0, 50.0, "dark")
    for blind_ns, reached_mm, shot in (
        (900_000_000, 285.0, True),
        (900_000_000, 180.0, False),
        (33_000_000, 285.0, False),
    ):
        seen = watched(hand_inner_mm=reached_mm, blind_ns=blind_ns)
        done = conclude(TOURNAMENT, (other,), reading(stay=(other,), found=found), seen, 2)
        assert (done.shot is not None) == shot
        if done.shot is not None:
            assert [d.kind for d in done.shot.doubts] == ["not_seen"]


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_no_disc_is_lost_and_none_made_when_a_shot_was_hardly_seen(colour: str) -> None:
    """Only one disc can be new: the other of its set is the one that is gone, however far it was driven."""
    lay = lying("d1", 69.2, 48.5)
    found = (lying("", 52.1, -68.6), lying("", 199.3, 141.4))
    stood = Sighting(FRAME_NS, 200.0, 230.0, 0.4, "dark")
    seen = watched(
        track("new-1", (119.1, 96.4), (0.0, 0.0), 1, colour="dark"),
        hand_inner_mm=278.0,
        on_line=(replace(stood, colour=colour),),
        blind_ns=330_000_000,
    )
    done = conclude(TOURNAMENT, (lay,), reading(gone=(lay,), found=found), seen, 2)
    assert done.shot is not None
    assert sorted(d.id for d in done.discs) == ["d1", "d2"]
    assert "ditch" not in done.shot.rest.values()
    assert not [e for e in done.shot.events if e[0] == "off"]


def test_a_disc_that_a_hand_covered_and_is_gone_is_not_one_that_was_laid_down_elsewhere() -> None:
    """Discs are taken off while the next one is laid on the line: these are two."""
    lay = lying("d1", 100.0, 200.0)
    laid = lying("", 0.0, -304.8)
    seen = watched(hand_inner_mm=180.0, covered=frozenset({"d1"}))
    done = conclude(TOURNAMENT, (lay,), reading(gone=(lay,), found=(laid,)), seen, 2)
    assert done.shot is None
    assert [d.id for d in done.discs] == ["d2"]
