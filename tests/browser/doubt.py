"""What a camera would send of a disc at a line: rendered by the twin's optics, enlarged and drawn as on a board."""

from __future__ import annotations

import numpy as np

from firmware_py.camera.board.start import calibrate
from firmware_py.camera.clips.pictures import ClipView, Still, draw
from firmware_py.camera.picture.view import BoardView
from hardware.board import TOURNAMENT
from hardware.twin.optics import Renderer, nominal_optics, nominal_pose
from hardware.twin.scene import Scene, SceneDisc
from hardware.twin.styles import NAMED
from hub.link.pictures import Evidence, FrameAt, WantedDisc

LIMIT_MM = TOURNAMENT.line_10_mm - TOURNAMENT.disc_radius_mm
AT_LINE = SceneDisc("d4", "light", 12.0, -(LIMIT_MM + 0.1))
OTHERS = (SceneDisc("d2", "dark", 46.0, -168.0), SceneDisc("d3", "dark", -60.0, 30.0), SceneDisc("d5", "light", 90, 90))
STEP_MS, FRAMES = 40.0, 12


def evidence(case: str, text: str) -> tuple[Evidence, tuple[bytes, ...]]:
    """The case of a light disc at the 10 line with its pictures, and a clip in which it slides there."""
    pose = nominal_pose(TOURNAMENT)
    eye = Renderer(TOURNAMENT, NAMED["honey"], pose, nominal_optics(), 7)
    bare = np.mean([eye.render(Scene(at_ns=0), k) for k in range(4)], axis=0)
    view = BoardView(calibrate(np.rint(bare).astype(np.uint8), TOURNAMENT, height_mm=pose.height_mm), TOURNAMENT)
    clip = ClipView(view)
    frames = []
    for number in range(FRAMES):
        back_mm = 22.0 * max(0, FRAMES - 3 - number)
        slides = SceneDisc(AT_LINE.id, AT_LINE.colour, AT_LINE.x_mm, AT_LINE.y_mm - back_mm)
        frames.append(clip.frame(eye.render(Scene(at_ns=0, discs=(slides, *OTHERS)), 10 + number)))
    still = Still.of_frame(view, eye.render(Scene(at_ns=0, discs=(AT_LINE, *OTHERS)), 40), 0)
    told = draw(view, still, [WantedDisc("d4", "light", AT_LINE.x_mm, AT_LINE.y_mm, 0.2, LIMIT_MM)])
    times = tuple(FrameAt(STEP_MS * (number - FRAMES + 3), len(frame)) for number, frame in enumerate(frames))
    sizes = (len(told.drawn), len(told.plain))
    return Evidence(case, text, *sizes, times, told.margin_mm, told.sigma_mm), (told.drawn, told.plain, *frames)
