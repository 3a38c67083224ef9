"""The live reader on filmed simulated boards: from pixels to facts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from firmware_py.camera.live import LiveReader
from firmware_py.camera.motion.told import Rest
from firmware_py.camera.source import Frame
from hardware.board import TOURNAMENT, to_polar
from hardware.twin.hands import Errand, clearing, tidy
from hardware.twin.scene import Colour
from hardware.twin.slider import DiscState
from hub.link.messages import Cleared, Hand, Layout, Shot
from tests.camera.live.filmed import HEIGHT_MM, RATE_HZ, Film, watch


def reader() -> LiveReader:
    return LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)


@pytest.fixture(scope="module")
def evening() -> tuple[Film, LiveReader, list[list[object]]]:
    """One evening in six acts, filmed once: empty board, three shots, a disc lifted, the board cleared."""
    film, eye = Film(), reader()
    acts: list[list[object]] = [list(watch(eye, film, 1.2))]
    film.shot("A1", "light", 1, 0.0, (350.0, 477.0))  # stops at the right
    acts.append(list(watch(eye, film, 2.4)))
    film.shot("B1", "dark", 3, 30.0, (-5.0, -842.0))  # hits it
    acts.append(list(watch(eye, film, 2.6)))
    film.shot("A2", "light", 1, 30.0, (1500.0, 900.0))  # meets nothing and leaves
    acts.append(list(watch(eye, film, 2.2)))
    on_board = [d for d in film.world.discs.values() if d.where == "surface"]
    film.hands.begin(tidy(1, [Errand(on_board[0])], film.at_ns))
    acts.append(list(watch(eye, film, 2.6)))
    film.hands.begin(*clearing((1, 3), film.world.discs.values(), film.at_ns))
    acts.append(list(watch(eye, film, 4.5)))
    return film, eye, acts


def only(act: list[object], kind: type) -> list[object]:
    return [fact for fact in act if isinstance(fact, kind)]


def test_the_empty_board_is_found_and_reported(evening: tuple[Film, LiveReader, list[list[object]]]) -> None:
    _, _, acts = evening
    assert [type(f) for f in acts[0]] == [Layout]
    assert acts[0][0].discs == ()  # type: ignore[attr-defined]


def test_a_shot_that_stays_is_reported_before_its_layout(evening: tuple[Film, LiveReader, list[list[object]]]) -> None:
    _, _, acts = evening
    kinds = [type(f) for f in acts[1] if not isinstance(f, Hand)]
    assert kinds == [Shot, Layout]
    (layout,) = only(acts[1], Layout)
    (disc,) = layout.discs  # type: ignore[attr-defined]
    assert disc.colour == "light"
    assert disc.state == "flat"


def test_a_hand_comes_and_goes(evening: tuple[Film, LiveReader, list[list[object]]]) -> None:
    _, _, acts = evening
    assert [f.present for f in only(acts[1], Hand)] == [True, False]  # type: ignore[attr-defined]


def test_a_hit_is_told_with_both_names(evening: tuple[Film, LiveReader, list[list[object]]]) -> None:
    _, _, acts = evening
    (first,), (second,) = only(acts[1], Shot), only(acts[2], Shot)
    assert second.colour == "dark"  # type: ignore[attr-defined]
    assert second.events[0] == ("hit", second.disc, first.disc)  # type: ignore[attr-defined]
    assert first.disc in second.rest  # type: ignore[attr-defined]


def test_a_shot_off_the_board_rests_in_the_ditch(evening: tuple[Film, LiveReader, list[list[object]]]) -> None:
    _, _, acts = evening
    (shot,) = only(acts[3], Shot)
    assert shot.rest[shot.disc] == "ditch"  # type: ignore[attr-defined]
    assert ("off", shot.disc) in shot.events  # type: ignore[attr-defined]


def test_a_disc_lifted_by_hand_is_missing_from_the_next_layout_and_is_no_shot(
    evening: tuple[Film, LiveReader, list[list[object]]],
) -> None:
    _, _, acts = evening
    assert only(acts[4], Shot) == []
    (before,), (after,) = only(acts[3], Layout)[-1:], only(acts[4], Layout)[-1:]
    lying = [{d.id for d in layout.discs if d.state != "ditch"} for layout in (before, after)]  # type: ignore[attr-defined]
    assert len(lying[0] - lying[1]) == 1
    assert lying[1] < lying[0]


def test_a_cleared_board_is_told(evening: tuple[Film, LiveReader, list[list[object]]]) -> None:
    _, eye, acts = evening
    assert len(only([*acts[4], *acts[5]], Cleared)) == 1
    assert only(acts[5], Shot) == []
    assert eye.rest is not None
    assert [d for d in eye.rest.discs if d.in_play] == []


def test_places_are_those_of_the_bases(evening: tuple[Film, LiveReader, list[list[object]]]) -> None:
    """A layout read anew of discs at the edge of the field, where the parallax is 2.7 mm."""
    film, eye, _ = evening
    places = {"A7": (-230.0, 150.0), "B7": (215.0, -170.0), "A8": (60.0, 262.0), "B8": (-120.0, -30.0)}
    for name, (x, y) in places.items():
        film.world.place(name, "light" if name[0] == "A" else "dark", x, y)
    facts = watch(eye, film, 1.0)
    layout = next(f for f in facts if isinstance(f, Layout))
    assert len(layout.discs) == len(places)
    for disc in layout.discs:
        off = min(math.dist((disc.x_mm, disc.y_mm), place) for place in places.values())
        assert off < 0.9
        assert 0.1 < disc.sigma_mm < 0.6


def test_a_restart_in_mid_round_goes_on_with_the_same_names() -> None:
    film, eye = Film(seed=2), reader()
    watch(eye, film, 1.2)
    film.shot("A1", "light", 1, 0.0, (350.0, 477.0))
    before = [f for f in watch(eye, film, 2.4) if isinstance(f, Layout)][-1]
    assert eye.rest is not None
    assert eye.reader is not None
    woken = LiveReader(
        TOURNAMENT,
        calibration=eye.calibration,
        bare=eye.reader.bare,
        wardrobe=eye.wardrobe,
        rest=Rest(eye.rest.discs, eye.rest.next_number, eye.rest.still, 0),
    )
    assert watch(woken, film, 1.0) == []
    film.shot("B1", "dark", 3, 30.0, (-5.0, -842.0))
    after = watch(woken, film, 2.6)
    (shot,) = [f for f in after if isinstance(f, Shot)]
    assert shot.events[0] == ("hit", shot.disc, before.discs[0].id)


def test_a_board_that_is_not_there_is_said_and_found_when_it_comes() -> None:
    eye = reader()
    rng = np.random.default_rng(0)
    table = rng.integers(90, 110, (960, 1280, 3), dtype=np.uint8)
    for k in range(50):
        assert eye.take(Frame(k + 1, round((k + 1) * 1e9 / RATE_HZ), 0, table)) == []
    assert "no board" in eye.trouble
    film = Film(seed=3)
    film.number = 60
    facts = watch(eye, film, 2.0)
    assert [type(f) for f in facts] == [Layout]
    assert eye.trouble == ""


@pytest.mark.parametrize(
    ("colour", "flat_xy_mm"), [("light", (1.2, 0.6)), ("dark", (-0.6, 1.3)), ("dark", (1.4, -0.3))]
)
def test_a_leaner_that_is_knocked_flat_lies_in_the_hole(colour: Colour, flat_xy_mm: tuple[float, float]) -> None:
    film, eye = Film(), reader()
    watch(eye, film, 1.0)
    film.shot("A1", "light", 1, 20.0, (350.0, 477.0))
    film.shot("B1", "dark", 3, 20.0, (-350.0, -477.0))
    watch(eye, film, 2.4)
    x_mm, y_mm = (4.0 * v for v in flat_xy_mm)
    tilt = {"tilt_deg": 11.0, "tilt_towards_deg": to_polar(-x_mm, -y_mm)[1]}
    film.world.put(DiscState("X", colour, x_mm, y_mm, where="leaning", z_mm=-2.0, **tilt))
    (leaning,) = [f for f in watch(eye, film, 1.0) if isinstance(f, Layout)]
    assert [d.state for d in leaning.discs if math.hypot(d.x_mm, d.y_mm) < 20] == ["leaning"]
    film.world.put(DiscState("X", colour, *flat_xy_mm, where="hole", z_mm=-TOURNAMENT.hole_depth_mm))
    (flat,) = [f for f in watch(eye, film, 1.0) if isinstance(f, Layout)]
    assert [d.state for d in flat.discs if math.hypot(d.x_mm, d.y_mm) < 20] == ["hole"]


def test_a_shot_after_the_clock_was_set_back_is_told_as_ever() -> None:
    film, eye = Film(), reader()
    watch(eye, film, 0.6)
    film.shot("A1", "light", 1, 0.0, (350.0, 477.0))
    for frame in film.frames(0.6):
        eye.take(replace(frame, at_ns=frame.at_ns + 3_600_000_000_000))
    facts = watch(eye, film, 2.4)
    film.shot("B1", "dark", 3, 30.0, (-5.0, -842.0))
    facts += watch(eye, film, 2.6)
    assert eye.rest is not None
    assert {d.colour for d in eye.rest.discs} == {"light", "dark"}
    assert [f.colour for f in facts if isinstance(f, Shot)][-1:] == ["dark"]
    assert all(f.at_ns < 10_000_000_000 for f in facts if isinstance(f, Layout))
