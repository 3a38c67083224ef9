"""Whether the board still is where the calibration has it, and how a bump of it or of the camera is followed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np

from firmware_py.camera.board.calibration import Calibration
from firmware_py.camera.board.pose import camera_centre
from firmware_py.camera.picture.lab import Array, Floats, Image
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.place.register import Register, Slip
from hub.link.messages import Moved

#: A smaller slip is followed by nobody: it is a quarter of what a place may be wrong by.
FOLLOW_MM = 0.12
#: A slip of so much is told: the hub shows those of a millimetre.
TELL_MM = 0.7
#: So much of the board must be seen for a slip to be believed, or for the board to be where it was.
LEAST_ALIKE = 0.4
#: The empty picture is renewed when less of the board looks like it though it has not slipped: the light has changed.
FADED = 0.8
#: The table tells who was moved when so much more of it is alike one way than the other.
_TABLE_TELLS = 0.25
_MOST_FOOT_MM = 60.0

State = Literal["steady", "slipped", "lost"]


@dataclass(frozen=True, slots=True)
class Stand:
    """How a board stands.

    Attributes:
        state: where it was, slipped by millimetres, or not to be seen there at all.
        slip: the slip; None when lost.
    """

    state: State
    slip: Slip | None = None


class Steady:
    """Watches one board under one camera.

    Args:
        view: the camera's view.
        bare: the empty board in the straight view, float32.
    """

    def __init__(self, view: BoardView, bare: Floats) -> None:
        self._view = view
        self._register = Register(view, bare)

    def look(self, straight: Image, bare: Floats) -> Stand:
        """How the board of a straight view stands; ``bare`` is the empty board as it is known by now."""
        slip = self._register.lay(straight)
        if slip is None or slip.alike < LEAST_ALIKE:
            # A board that is half hidden may lead the fit astray though it is where it was.
            where_it_was = self._register.alike(straight) >= LEAST_ALIKE
            return Stand("steady") if where_it_was else Stand("lost")
        if slip.shift_mm >= FOLLOW_MM:
            return Stand("slipped", slip)
        if slip.alike < FADED:
            self._register = Register(self._view, bare)
        return Stand("steady", slip)


def moved_fact(slip: Slip, at_ns: int) -> Moved | None:
    """What is told of a slip; None where it is too small to matter."""
    if slip.shift_mm < TELL_MM:
        return None
    what: Literal["board", "camera"] = "camera"
    if slip.table_alike is not None and slip.table_stayed is not None:
        what = "board" if slip.table_stayed > slip.table_alike + _TABLE_TELLS else "camera"
    return Moved(at_ns=at_ns, what=what, shift_mm=round(slip.shift_mm, 2))


def followed(calibration: Calibration, view: BoardView, slip: Slip) -> Calibration:
    """The calibration after a slip: what is seen slipped is where it was on the board.

    Args:
        calibration: of before.
        view: made from it.
        slip: of the board in that view.
    """
    reach = np.arange(-1.0, 1.01, 0.1) * view.board.surface_radius_mm
    grid = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
    grid = grid[np.hypot(grid[:, 0], grid[:, 1]) < view.board.surface_radius_mm]
    then, now = view.pixels(grid, view.rim_mm), view.pixels(slip.at(grid), view.rim_mm)
    step, _ = cv2.findHomography(then, now, 0)
    new = step @ calibration.image_from_board
    foot, height = _camera(calibration, new)
    homography = np.linalg.inv(new)
    return replace(
        calibration,
        board_from_image=tuple(float(v) for v in (homography / homography[2, 2]).ravel()),
        foot_xy_mm=foot,
        camera_height_mm=height,
    )


def focal_px(calibration: Calibration) -> float:
    """The focal length with which a calibration's view has its camera at its height."""
    width, height = calibration.size_wh
    principal = ((width - 1) / 2, (height - 1) / 2)
    low, high = 0.3 * max(width, height), 5.0 * max(width, height)
    for _ in range(50):
        focal = math.sqrt(low * high)
        if camera_centre(calibration.image_from_board, focal, principal)[2] < calibration.camera_height_mm:
            low = focal
        else:
            high = focal
    return math.sqrt(low * high)


def _camera(before: Calibration, image_from_board: Array) -> tuple[tuple[float, float], float]:
    """Foot point and height of a camera whose lens is the same and whose view has changed a little."""
    width, height = before.size_wh
    principal, focal = ((width - 1) / 2, (height - 1) / 2), focal_px(before)
    then = camera_centre(before.image_from_board, focal, principal)
    now = camera_centre(image_from_board, focal, principal)
    step = now - then
    if math.hypot(step[0], step[1]) > _MOST_FOOT_MM:
        return before.foot_xy_mm, before.camera_height_mm
    foot_x, foot_y = before.foot_xy_mm
    return (foot_x + float(step[0]), foot_y + float(step[1])), before.camera_height_mm + float(step[2])
