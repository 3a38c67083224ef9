"""The drawing: discs where the camera sees them, turned the right way, and marked."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.drawing import Mark, drawing, empty_board, half_mm, marks
from hardware.board import TOURNAMENT, Board, load_board, preset_names, to_xy
from hub.link.snapshot import Removal
from tests.dashboard.samples import DISCS, QUESTION, REMOVAL, disc, playing

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*discs: object, **more: object) -> dict[str, Mark]:
    return {m.id: m for m in marks(playing(discs=discs, **more), TOURNAMENT)}


@pytest.mark.parametrize(
    ("angle_deg", "where"),
    [(0, "below"), (90, "left"), (180, "above"), (270, "right")],
)
def test_seat_1_sits_below_and_seat_2_on_its_left(angle_deg: float, where: str) -> None:
    mark = drawn(disc("d", "light", *to_xy(200.0, angle_deg), 5))["d"]
    expected = {"below": (0, 200), "left": (-200, 0), "above": (0, -200), "right": (200, 0)}[where]
    assert (mark.x, mark.y) == pytest.approx(expected, abs=0.1)


def test_a_disc_shows_its_value_its_colour_and_how_it_lies() -> None:
    found = drawn(*DISCS)
    assert {m.id: (m.colour, m.label, m.state) for m in found.values()} | {} == {
        d.id: (d.colour, "" if d.state == "ditch" else str(d.value), d.state) for d in DISCS
    }
    assert found["d8"].title == "dark disc, in the hole, 20 points"


@pytest.mark.parametrize(
    ("removal", "label"),
    [
        (None, "20"),
        (Removal("d", "dark", 0.0, 0.0, "twenty", "lift"), "20"),
        (Removal("d", "dark", 0.0, 0.0, "foul", "off"), "0"),
    ],
)
def test_a_disc_in_the_hole_is_a_20_although_it_scores_nothing_on_the_board(
    removal: Removal | None, label: str
) -> None:
    banked = disc("d", "dark", 0.0, 0.0, 0, state="hole")
    assert drawn(banked, remove=() if removal is None else (removal,))["d"].label == label


def test_only_the_disc_close_to_a_line_is_marked_so() -> None:
    assert [m.id for m in drawn(*DISCS).values() if m.close] == ["d4"]


def test_discs_to_remove_and_discs_in_question_are_marked() -> None:
    found = drawn(*DISCS, remove=(REMOVAL,), questions=(QUESTION,))
    assert [m.id for m in found.values() if m.remove] == ["d5"]
    assert [m.id for m in found.values() if m.asked] == ["d8"]
    assert REMOVAL.text in found["d5"].title


def test_a_disc_to_remove_that_the_camera_lost_is_drawn_where_it_was() -> None:
    mark = drawn(remove=(REMOVAL,))["d5"]
    assert (mark.x, mark.y, mark.remove) == (105.0, 80.0, True)


@pytest.mark.parametrize("name", preset_names())
def test_every_board_is_drawn_whole_to_its_own_measure(name: str) -> None:
    board = load_board(name)
    root = ET.fromstring(empty_board(board))
    radii = {float(c.get("r", 0)) for c in root.iter(f"{SVG}circle")}
    assert {board.line_15_mm, board.line_10_mm, board.outer_line_mm, board.hole_radius_mm} <= radii
    assert sum(float(c.get("r", 0)) == board.peg_radius_mm for c in root.iter(f"{SVG}circle")) == 2 * board.peg_count
    _, _, width, height = map(float, root.get("viewBox", "").split())
    assert width == height >= 2 * board.rail_radius_mm


def test_pegs_stand_half_a_step_off_the_quadrant_lines() -> None:
    root = ET.fromstring(empty_board(TOURNAMENT))
    angles = {
        round(math.degrees(math.atan2(float(c.get("cy", 0)), float(c.get("cx", 0)))) % 45, 1)
        for c in root.iter(f"{SVG}circle")
        if c.get("fill") == "url(#peg)"
    }
    assert angles == {22.5}


def test_a_drawing_stands_alone() -> None:
    root = ET.fromstring(drawing(TOURNAMENT, marks(playing(), TOURNAMENT)))
    groups = [g for g in root.iter(f"{SVG}g") if "disc" in g.get("class", "").split()]
    assert len(groups) == len(DISCS)
    assert ".disc.light .face" in "".join(style.text or "" for style in root.iter(f"{SVG}style"))


@given(
    name=st.text(max_size=20),
    colour=st.sampled_from(["light", "dark", "third"]),
    x_mm=st.floats(-400, 400),
    y_mm=st.floats(-400, 400),
    title=st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=40),
)
def test_any_text_stays_text(name: str, colour: str, x_mm: float, y_mm: float, title: str) -> None:
    mark = Mark(name, x_mm, y_mm, 16.0, colour, "flat", "5", close=True, remove=True, asked=False, title=title)
    root = ET.fromstring(drawing(TOURNAMENT, [mark]).replace("\ufffe", "").replace("\uffff", ""))
    assert len(list(root.iter(f"{SVG}g"))) == 1


def test_the_whole_board_fits_into_the_picture() -> None:
    board: Board = TOURNAMENT
    assert half_mm(board) > board.rail_radius_mm
