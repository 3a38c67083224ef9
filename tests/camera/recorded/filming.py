"""Recordings of simulated shots, written as video files the way people's cameras and converters make them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
import numpy as np

from hardware.board import TOURNAMENT, to_xy
from hardware.twin.optics import Renderer, nominal_optics, nominal_pose
from hardware.twin.scene import SceneHand
from hardware.twin.styles import NAMED
from hardware.twin.world import World

_BEFORE_NS, _AFTER_NS = 300_000_000, 500_000_000


@dataclass(frozen=True)
class Clip:
    """A shot to be filmed.

    Attributes:
        lying: discs before it: name, colour, x and y in mm.
        shot: name, colour and placement angle of the shot disc.
        aim: towards which point it is flicked.
        speed_mm_s: how fast.
        style: of the board.
        rate_hz: frames taken in a second.
        repeat_every: every so many frames one is shown twice and a later one dropped; 0 for none.
        size_wh: of the frames.
        hand: whether the shooter's hand stays on the rail all the time.
        sweep: whether a hand comes over the board as soon as everything lies still.
    """

    lying: tuple[tuple[str, str, float, float], ...]
    shot: tuple[str, str, float] = ("s", "light", 0.0)
    aim: tuple[float, float] = (0.0, 0.0)
    speed_mm_s: float = 900.0
    style: str = "maple"
    rate_hz: float = 30.0
    repeat_every: int = 0
    size_wh: tuple[int, int] = (960, 720)
    hand: bool = True
    seed: int = 3


@dataclass
class Filmed:
    """What was filmed, and the truth of it."""

    pictures: list[np.ndarray] = field(default_factory=list)
    world: World | None = None
    flick_ns: int = 0


def film(clip: Clip, most: int = 900) -> Filmed:
    """Play a shot and picture it, or its first frames."""
    world = World(TOURNAMENT, clip.seed)
    pose = nominal_pose(TOURNAMENT, clip.size_wh)
    eye = Renderer(TOURNAMENT, NAMED[clip.style], pose, nominal_optics(), clip.seed)
    for name, colour, x, y in clip.lying:
        world.place(name, colour, x, y)
    name, colour, angle = clip.shot
    x, y = to_xy(TOURNAMENT.outer_line_mm, angle)
    world.place(name, colour, x, y)
    hx, hy = to_xy(TOURNAMENT.surface_radius_mm + 12, angle - 9)
    if clip.hand:
        world.hands = (SceneHand(hx, hy, angle - 9, width_mm=70.0),)
    out = Filmed(world=world, flick_ns=_BEFORE_NS)
    ended_ns: int | None = None
    k = 0
    while k < most and (ended_ns is None or k / clip.rate_hz * 1e9 < ended_ns + _AFTER_NS):
        at_ns = round(k * 1e9 / clip.rate_hz)
        if at_ns >= _BEFORE_NS and world.at_ns < _BEFORE_NS:
            world.step(_BEFORE_NS)
            length = math.dist(clip.aim, (x, y))
            world.flick(
                name, (clip.aim[0] - x) / length * clip.speed_mm_s, (clip.aim[1] - y) / length * clip.speed_mm_s
            )
        world.step(at_ns)
        scene = world.scene()
        out.pictures.append(eye.render(replace(scene, hands=world.hands), k))
        if ended_ns is None and at_ns > _BEFORE_NS and world.at_rest():
            ended_ns = at_ns
        k += 1
    return out


def shown(pictures: list[np.ndarray], repeat_every: int) -> list[np.ndarray]:
    """The pictures as a converter shows them: now and then one twice, and a later one not at all."""
    if not repeat_every:
        return pictures
    out, late = [], False
    for k, picture in enumerate(pictures):
        phase = k % repeat_every
        if phase == repeat_every - 1 and not late:
            out += [picture, picture]
            late = True
        elif phase == repeat_every // 2 and late:
            late = False
        else:
            out.append(picture)
    return out


def write(path: Path, pictures: list[np.ndarray], rate_hz: float, codec: str = "MJPG") -> Path:
    """Write a video file."""
    height, width = pictures[0].shape[:2]
    video = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*codec), rate_hz, (width, height))
    assert video.isOpened()
    for picture in pictures:
        video.write(picture)
    video.release()
    return path
