"""The geometry of the board against the figures of the standard."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.board import (
    TOURNAMENT,
    BoardError,
    base_from_seen,
    clock_hour,
    load_board,
    preset_names,
    seen_from_base,
    to_polar,
    to_xy,
)


@pytest.mark.parametrize(
    ("r_mm", "points"),
    [(0, 15), (84.79, 15), (84.8, 10), (186.39, 10), (186.4, 5), (287.99, 5), (288.0, 0), (330.0, 0)],
)
def test_a_disc_that_touches_a_line_has_the_lower_value(r_mm: float, points: int) -> None:
    assert TOURNAMENT.value(r_mm) == points


def test_limits_are_those_of_the_standard() -> None:
    assert TOURNAMENT.limits_mm == pytest.approx((84.8, 186.4, 288.0))
    assert TOURNAMENT.touches_15_mm == pytest.approx(118.4)
    assert TOURNAMENT.clear_of_outer_mm == pytest.approx(321.6)
    assert TOURNAMENT.hole_play_mm == pytest.approx(1.465)


def test_pegs_stand_on_the_15_line_clear_of_the_quadrant_lines() -> None:
    pegs = [to_polar(*peg) for peg in TOURNAMENT.pegs]
    assert [r for r, _ in pegs] == pytest.approx([101.6] * 8)
    assert [a % 90 for _, a in pegs] == pytest.approx([22.5, 67.5] * 4)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_loads(name: str) -> None:
    assert load_board(name).value(0) == 15


def test_an_unknown_preset_is_refused_by_name() -> None:
    with pytest.raises(BoardError, match="kitchen"):
        load_board("kitchen")


@pytest.mark.parametrize(("xy", "hour"), [((0, 1), 12), ((1, 0), 3), ((0, -1), 6), ((-1, 0), 9), ((0.5, 0.866), 1)])
def test_clock_hours_are_those_seen_from_seat_1(xy: tuple[float, float], hour: int) -> None:
    assert clock_hour(*xy) == hour


@given(st.floats(0.01, 400), st.floats(0, 359.99))
def test_polar_and_plane_coordinates_are_inverse(r_mm: float, angle_deg: float) -> None:
    r, a = to_polar(*to_xy(r_mm, angle_deg))
    assert r == pytest.approx(r_mm)
    assert math.cos(math.radians(a - angle_deg)) == pytest.approx(1)


@given(st.floats(-400, 400), st.floats(-400, 400), st.floats(-200, 200), st.floats(500, 1500))
def test_parallax_and_its_correction_are_inverse(x: float, y: float, foot: float, camera_mm: float) -> None:
    seen = seen_from_base(x, y, height_mm=9.5, foot_xy_mm=(foot, -foot), camera_height_mm=camera_mm)
    assert base_from_seen(*seen, height_mm=9.5, foot_xy_mm=(foot, -foot), camera_height_mm=camera_mm) == pytest.approx(
        (x, y), abs=1e-6
    )


def test_parallax_at_the_outer_line_is_about_three_millimetres() -> None:
    x, _ = seen_from_base(304.8, 0, height_mm=9.5, foot_xy_mm=(0, 0), camera_height_mm=1000)
    assert x - 304.8 == pytest.approx(2.92, abs=0.01)
