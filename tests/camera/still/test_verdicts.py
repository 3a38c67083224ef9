"""Zones, margins and doubts, from places alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.still.seen import Place, SeenDisc
from firmware_py.camera.still.verdicts import Lines, judge, trace_lines
from hardware.board import TOURNAMENT, to_xy

LINES = Lines(
    radii_mm=(101.6, 203.2, 304.8),
    widths_mm=(1.6, 1.6, 1.6),
    waves_mm=np.zeros((3, 13)),
)


def disc(r_mm: float, angle_deg: float = 30.0, place: Place = "surface", sigma_mm: float = 0.8) -> SeenDisc:
    x, y = to_xy(r_mm, angle_deg)
    return SeenDisc(
        x_mm=x,
        y_mm=y,
        top_xy_mm=(x, y),
        radius_mm=16.0,
        quality=0.95,
        colour=(50.0, 0.0, 0.0),
        sigma_mm=sigma_mm,
        place=place,
    )


@pytest.mark.parametrize(
    ("r_mm", "zone"),
    [(50, 15), (84.7, 15), (84.9, 10), (186.3, 10), (186.5, 5), (287.9, 5), (288.1, 0), (321.6, 0), (335, 0)],
)
def test_value_changes_where_the_disc_meets_the_line(r_mm, zone):
    assert judge(disc(r_mm), LINES).zone == zone


@given(st.floats(18, 340), st.floats(0, 360))
def test_verdict_is_that_of_the_board(r_mm: float, angle_deg: float):
    verdict = judge(disc(r_mm, angle_deg), LINES)
    assert verdict.margin_mm == pytest.approx(TOURNAMENT.margin_mm(r_mm), abs=1e-6)
    if verdict.margin_mm > 1e-6:
        assert verdict.points == TOURNAMENT.value(r_mm)


@given(st.floats(18, 340), st.floats(0.1, 3.0))
def test_only_what_is_nearer_than_its_own_uncertainty_is_doubtful(r_mm: float, sigma_mm: float):
    verdict = judge(disc(r_mm, sigma_mm=sigma_mm), LINES)
    assert verdict.sure or verdict.margin_mm < 2.0 * math.hypot(sigma_mm, 0.3)
    assert not verdict.sure or verdict.margin_mm > 0.9 * sigma_mm


def test_hole_and_ditch_speak_for_themselves():
    assert judge(disc(1.0, place="hole"), LINES).zone == 20
    ditch = judge(disc(360.0, place="ditch"), LINES)
    assert (ditch.zone, ditch.points, ditch.sure) == ("ditch", 0, True)


def test_disc_is_judged_by_the_line_as_it_runs_there():
    waves = np.zeros((3, 13))
    waves[1, 3] = 3.0  # the 10 line is 3 mm farther out towards +x and -x, nearer towards +y and -y
    bent = Lines(radii_mm=LINES.radii_mm, widths_mm=LINES.widths_mm, waves_mm=waves)
    assert judge(disc(188.0, 270.0), bent).zone == 10
    assert judge(disc(188.0, 180.0), bent).zone == 5
    assert judge(disc(188.0, 270.0), LINES).zone == 5


def test_waves_of_a_line_are_followed():
    calibration = Calibration.from_geometry(
        image_from_board=np.array([[1.0, 0, 400], [0, -1.0, 400], [0, 0, 1]]),
        size_wh=(800, 800),
        camera_height_mm=1000.0,
        foot_xy_mm=(0.0, 0.0),
        board=TOURNAMENT,
    )
    angle = np.arange(240) * (2 * np.pi / 240)
    offsets = np.zeros((3, 240))
    # Angles of the fit run clockwise in the picture, those of the board the other way.
    offsets[2] = 2.0 / 304.8 * np.cos(3 * -angle)
    offsets[2, ::7] = np.nan
    offsets[0] = np.nan
    lines = trace_lines(calibration, offsets, (float("nan"), 0.006, 0.006), 0.0)
    for a in (0.0, 0.7, 2.0, 4.4):
        assert lines.radii_at_mm(a)[2] == pytest.approx(304.8 + 2.0 * math.cos(3 * a), abs=0.15)
        assert lines.radii_at_mm(a)[0] == pytest.approx(101.6)
    assert lines.widths_mm[0] == TOURNAMENT.line_width_mm
    assert lines.widths_mm[1] == pytest.approx(0.006 * 304.8)
