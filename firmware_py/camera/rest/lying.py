"""What a fitted disc says of where it lies, how it lies, and how far that may be wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence

from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.fitting import LookFit
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.sunken import state_at_hole
from hardware.board import Board
from hub.link.messages import Colour, DiscState

Xy = tuple[float, float]

#: What nothing shows that a disc's drawing leaves: the light's side, the grain of the disc, the lens between the rings.
_SYSTEMATIC_MM = 0.02
#: So many times what its drawing leaves may have moved a disc: whatever is drawn amiss is drawn alike on its other side
#: and on the other discs of its set, and only the differences show. So it was, within a tenth, of soft pictures and
#: sharp ones, dim and bright, noisy and clear: some 1,150 discs in hard optics.
_HIDDEN = 3.6
#: While a set is hardly known, an error of its first looks is shared by all its discs: that much more of the same, in
#: square, and what comes on top.
_YOUNG, _UNKNOWN_MM = 3.0, 0.4
#: Both have halved (in square) after so many discs, and soon are gone: it takes four to tell shadow from disc.
_KNOWN_DISCS = 3.0
#: The rings are found to such a part of what their lines are off by at single places.
_RINGS = 0.2
#: In the ditch the half shadow of the rail pulls a disc by so much more.
_DITCH_MM = 0.2
#: A peg so near the rim of a disc, or another disc's centre so many radii from its own, spoils the view of it.
_NEAR_PEG_MM, _NEAR_DISC = 22.0, 3.8


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
    young = 1 / (1 + (learned / _KNOWN_DISCS) ** 4)
    sigma = math.hypot(
        _SYSTEMATIC_MM,
        _HIDDEN * fit.spread_mm * math.sqrt(1 + _YOUNG * young),
        _UNKNOWN_MM * math.sqrt(young),
        _DITCH_MM if state == "ditch" else 0.0,
        _RINGS * view.calibration.residual_mm,
        lift * height_error,
    )
    return Resting("", colour, x, y, sigma, state, (fit.x_mm, fit.y_mm), learned, rival)


def crowded(board: Board, disc: Resting, others: Sequence[Xy]) -> bool:
    """Whether pegs or other discs are so near a disc that nothing should be learned from how it looks.

    Args:
        board: geometry.
        disc: the disc.
        others: places of the top faces of the others.
    """
    near_mm = board.disc_radius_mm + _NEAR_PEG_MM
    peg_near = any(math.dist((disc.x_mm, disc.y_mm), peg) < near_mm for peg in board.pegs)
    return peg_near or any(math.dist(disc.top_xy_mm, o) < _NEAR_DISC * board.disc_radius_mm for o in others)
