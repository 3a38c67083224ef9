"""What a fitted disc says of where it lies, how it lies, and how far that may be wrong."""

from __future__ import annotations

import math

from firmware_py.camera.appearance import LookFit
from firmware_py.camera.resting import Resting
from firmware_py.camera.sunken import state_at_hole
from firmware_py.camera.view import BoardView
from hub.link.messages import Colour, DiscState

Xy = tuple[float, float]

#: What no noise figure tells: the light's side, the grain of the disc, the lens between the rings.
SYSTEMATIC_MM = 0.11
#: And what comes on top while a set is hardly known: an error of its first looks is shared by all its discs.
UNKNOWN_MM = 0.5
#: It has halved (in square) after so many discs.
_KNOWN_DISCS = 2.0


def lying(
    view: BoardView, colour: Colour, fit: LookFit, hole_xy_mm: Xy, *, learned: float, height_error: float
) -> Resting:
    """The disc of a fit, without a name.

    Args:
        view: the camera's view.
        colour: its set.
        fit: where its top face is seen.
        hole_xy_mm: centre of the hole on the surface.
        learned: how many discs of its set are known.
        height_error: relative error of the camera's height.
    """
    board = view.board
    x, y = fit.x_mm, fit.y_mm
    state: DiscState = "flat"
    at_hole, rival = state_at_hole(view, (x, y), hole_xy_mm)
    if at_hole == "hole":
        state, (x, y) = "hole", view.sink(x, y, board.hole_depth_mm)
    elif at_hole is not None:
        state = at_hole
    elif math.hypot(x, y) > board.surface_radius_mm:
        state, (x, y) = "ditch", view.sink(x, y, board.surface_height_mm)
    elif math.hypot(x, y) > board.surface_radius_mm - board.disc_radius_mm:
        state = "overhanging"
    foot_x, foot_y = view.calibration.foot_xy_mm
    lift = view.rim_mm * math.hypot(x - foot_x, y - foot_y) / view.calibration.camera_height_mm
    unknown = UNKNOWN_MM**2 / (1 + (learned / _KNOWN_DISCS) ** 2)
    sigma = math.sqrt(fit.sigma_mm**2 + SYSTEMATIC_MM**2 + unknown + (lift * height_error) ** 2)
    return Resting("", colour, x, y, sigma, state, (fit.x_mm, fit.y_mm), learned, rival)
