"""Discs in the glare of a lamp or a window: the colour of their set under a veil, and all of a rim to be seen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from firmware_py.camera.board.calibration import SHARP_MM
from firmware_py.camera.picture.edges import Edge
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.rest.appearance import Look, Patch, Wardrobe, draw
from firmware_py.camera.rest.glare import whole_disc
from hardware.twin.optics import nominal_optics
from hardware.twin.scene import SceneDisc
from hardware.twin.styles import NAMED
from tests.camera.live.test_hard_optics import DISCS, Sight, missed
from tests.camera.rest.test_fitting import RADIUS_MM, view_of, wood_at

LIGHT, DARK = Look.plain(RADIUS_MM, (110.0, 150.0, 190.0)), Look.plain(RADIUS_MM, (30.0, 26.0, 120.0))
AT = (90.0, -60.0)


@pytest.mark.parametrize("window", [True, False])
@pytest.mark.parametrize("style", ["blue", "white"])
def test_discs_in_glare_are_read_as_those_beside_it(style: str, window: bool) -> None:
    lamp = replace(
        nominal_optics(), glare=60.0, glare_xy_mm=(40.0, -70.0), glare_size_mm=(110.0, 80.0), glare_window=window
    )
    gloss = {name: replace(getattr(NAMED[style], name), gloss=0.7) for name in ("light", "dark")}
    sight = Sight(replace(NAMED[style], **gloss), lamp)
    away = tuple(d for d in DISCS if math.dist((d.x_mm, d.y_mm), (40.0, -70.0)) > 170)
    assert missed(away, sight.read(away)) == []
    lit = (
        *away,
        SceneDisc("p", "light", 60.0, -40.0),
        SceneDisc("q", "dark", 20.0, -110.0, turn_deg=80.0),
        SceneDisc("r", "light", 90.0, -120.0, turn_deg=33.0),
        SceneDisc("s", "dark", -30.0, -75.0),
    )
    reading = sight.read(lit)
    assert missed(lit, reading) == []
    assert (len(reading.found), reading.illegible) == (len(lit), "")


def veiled(look: Look, light: float, veil: float) -> tuple[Patch, Edge]:
    """A disc in glare that lies on it and on the wood alike, and its edge."""
    view = view_of(SHARP_MM)
    wood = wood_at(view, AT)
    drawing = draw(view, (look, Shade()), wood, AT)
    seen = light * drawing.own + drawing.open_wood * wood.bare + veil
    b, g, r = (float(v) for v in light * look.rim_bgr + veil)
    patch = Patch(wood.column, wood.row, seen.astype(np.float32), wood.bare + np.float32(veil), wood.weight)
    return patch, Edge(*AT, 0.2, 0.97, 0.1, (b, g, r), 30.0, 0.2)


@pytest.mark.parametrize("veil", [0.0, 30.0, 60.0])
@pytest.mark.parametrize("light", [0.85, 1.0, 1.15])
@pytest.mark.parametrize(("look", "colour"), [(LIGHT, "light"), (DARK, "dark")])
def test_a_veil_hides_neither_set_nor_place(look: Look, colour: str, light: float, veil: float) -> None:
    view = view_of(SHARP_MM)
    known = Wardrobe(looks={"light": replace(LIGHT, learned=5.0), "dark": replace(DARK, learned=5.0)})
    patch, edge = veiled(look, light, veil)
    seen = whole_disc(view, known, replace(edge, x_mm=AT[0] + 0.8, y_mm=AT[1] - 0.5), patch)
    assert seen is not None
    assert seen[0] == colour
    assert math.dist((seen[1].x_mm, seen[1].y_mm), AT) < 0.3


@pytest.mark.parametrize(
    "change",
    [{"coverage": 0.7}, {"radius_bias_mm": 1.4}, {"contrast": 8.0}, {"inside_bgr": (60.0, 160.0, 40.0)}],
    ids=str,
)
def test_half_a_rim_another_size_or_colour_is_no_disc(change: dict[str, float]) -> None:
    known = Wardrobe(looks={"light": replace(LIGHT, learned=5.0), "dark": replace(DARK, learned=5.0)})
    patch, edge = veiled(LIGHT, 1.0, 30.0)
    assert whole_disc(view_of(SHARP_MM), known, replace(edge, **change), patch) is None
    assert whole_disc(view_of(SHARP_MM), known, None, patch) is None
