"""A simulated board filmed for a live reader: hands, shots and layouts played out frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2

from firmware_py.camera.live import LiveReader
from firmware_py.camera.source import Frame
from hardware.board import TOURNAMENT, to_xy
from hardware.twin.hands import Hands, Reach, shoot
from hardware.twin.optics import CameraPose, Renderer, nominal_optics, nominal_pose
from hardware.twin.scene import Colour, SceneLitter
from hardware.twin.slider import DiscState
from hardware.twin.styles import NOMINAL, BoardStyle
from hardware.twin.world import World
from hub.link.messages import Fact

RATE_HZ = 30.0
HEIGHT_MM = 1010.0

cv2.setNumThreads(1)


class Film:
    """A board whose frames are made as they are asked for."""

    def __init__(self, seed: int = 1, style: BoardStyle = NOMINAL, *, rate_hz: float = RATE_HZ) -> None:
        self.rate_hz = rate_hz
        self.world = World(TOURNAMENT, seed, hole_xy_mm=style.hole_offset_xy_mm)
        self.hands = Hands(self.world)
        self.style, self.seed = style, seed
        self.pose = nominal_pose(TOURNAMENT)
        self.optics = nominal_optics()
        self.eye = Renderer(TOURNAMENT, style, self.pose, self.optics, seed)
        self.litter: tuple[SceneLitter, ...] = ()
        self.number = 0

    @property
    def at_ns(self) -> int:
        """Time of the last frame."""
        return round(self.number * 1e9 / self.rate_hz)

    def next(self) -> Frame:
        """The next frame."""
        self.number += 1
        self.hands.step(self.at_ns)
        return Frame(
            self.number,
            self.at_ns,
            5_000_000,
            self.eye.render(replace(self.world.scene(), litter=self.litter), self.number),
        )

    def frames(self, seconds: float) -> Iterator[Frame]:
        """The frames of some seconds."""
        for _ in range(round(seconds * self.rate_hz)):
            yield self.next()

    def bump(self, dx_mm: float = 0.0, dy_mm: float = 0.0, turn_deg: float = 0.0, tilt_mm: float = 0.0) -> None:
        """Move the camera over the board, or the board under it; ``tilt_mm`` shifts only where it looks."""
        pose = self.pose.nudged(dx_mm, dy_mm, turn_deg)
        x, y = pose.aim_xy_mm
        self.look_from(replace(pose, aim_xy_mm=(x + tilt_mm, y)))

    def look_from(self, pose: CameraPose, style: BoardStyle | None = None) -> None:
        """Another view, perhaps of another board."""
        self.pose, self.style = pose, style or self.style
        self.eye = Renderer(TOURNAMENT, self.style, pose, self.optics, self.seed)

    def shot(self, name: str, colour: Colour, seat: int, aim_deg: float, velocity: tuple[float, float]) -> Reach:
        """Let a hand place a disc on the line of a seat and flick it."""
        x, y = to_xy(TOURNAMENT.outer_line_mm, (seat - 1) * 90 + aim_deg)
        disc = DiscState(name, colour, x, y, vx_mm_s=velocity[0], vy_mm_s=velocity[1])
        reach = shoot(TOURNAMENT, seat, disc, self.at_ns)
        self.hands.begin(reach)
        return reach


def watch(reader: LiveReader, film: Film, seconds: float) -> list[Fact]:
    """All facts of some seconds."""
    return [fact for frame in film.frames(seconds) for fact in reader.take(frame)]
