"""What happens to a camera on an evening that nobody plays: somebody knocks against the table, and the day goes.

Scripts name them, for tests: ``bump@900=2.5,-1,0.3`` moves the camera in frame 900 by 2.5 mm along x and -1 mm along y
and turns it by 0.3 degrees; ``dusk@300-36300=0.6`` takes the light from noon to a lamp of 0.6 of its strength.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardware.twin.lens import CameraPose
from hardware.twin.light import Optics
from hardware.twin.optics import Renderer
from hardware.twin.scene import Scene

#: White balance of a warm lamp to a camera locked at noon: less blue, more red.
_LAMP_BGR = (0.78, 0.97, 1.06)
#: The light goes in so small steps that eight bits hardly tell.
_STEPS = 250
_NUMBER = r"-?\d+(?:\.\d+)?"


class HappeningError(ValueError):
    """A script that names nothing that can happen."""


@dataclass(frozen=True, slots=True)
class Bump:
    """The mount is knocked: from ``frame`` on the camera hangs elsewhere."""

    frame: int
    dx_mm: float
    dy_mm: float
    turn_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class Dusk:
    """From frame ``start`` to frame ``end`` the daylight goes, until a lamp of ``strength`` is left."""

    start: int
    end: int
    strength: float

    def light(self, frame_number: int, noon: Optics) -> Optics:
        """The optics of a frame."""
        part = min(1.0, max(0.0, (frame_number - self.start) / max(1, self.end - self.start)))
        part = round(part * _STEPS) / _STEPS
        tint = tuple(t * (1 + part * (lamp - 1)) for t, lamp in zip(noon.tint_bgr, _LAMP_BGR, strict=True))
        return replace(
            noon,
            exposure=noon.exposure * (1 + part * (self.strength - 1)),
            tint_bgr=(tint[0], tint[1], tint[2]),
        )


Happening = Bump | Dusk


def read_happening(script: str) -> Happening:
    """What a script names.

    Raises:
        HappeningError: nothing that can happen.
    """
    if bump := re.fullmatch(rf"bump@(\d+)=({_NUMBER}),({_NUMBER})(?:,({_NUMBER}))?", script):
        frame, dx, dy, turn = bump.groups()
        return Bump(int(frame), float(dx), float(dy), float(turn or 0))
    if dusk := re.fullmatch(rf"dusk@(\d+)-(\d+)=({_NUMBER})", script):
        start, end, strength = dusk.groups()
        if int(start) < int(end) and 0 < float(strength) <= 2 and math.isfinite(float(strength)):
            return Dusk(int(start), int(end), float(strength))
    raise HappeningError(f"happening {script!r}: expected bump@FRAME=X_MM,Y_MM[,DEG] or dusk@FRAME-FRAME=STRENGTH")


class UnsteadyEye:
    """Draws frames of a camera to which something happens.

    Args:
        make: makes what draws, from where the camera hangs and its optics.
        pose: where it hangs at first.
        optics: at first.
        happenings: what happens, bumps in the order of their frames.
    """

    def __init__(
        self,
        make: Callable[[CameraPose, Optics], Renderer],
        pose: CameraPose,
        optics: Optics,
        happenings: Iterable[Happening],
    ) -> None:
        self._make, self.pose, self._noon = make, pose, optics
        events = tuple(happenings)
        self._bumps = sorted((e for e in events if isinstance(e, Bump)), key=lambda b: b.frame)
        self._dusk = next((e for e in events if isinstance(e, Dusk)), None)
        self._eye = make(pose, optics)

    def render(self, scene: Scene, frame_number: int = 0) -> NDArray[np.uint8]:
        """One frame, blue green red."""
        while self._bumps and self._bumps[0].frame <= frame_number:
            bump = self._bumps.pop(0)
            self.pose = self.pose.nudged(bump.dx_mm, bump.dy_mm, bump.turn_deg)
            self._eye = self._make(self.pose, self._noon)
        if self._dusk is not None:
            self._eye.relight(self._dusk.light(frame_number, self._noon))
        return self._eye.render(scene, frame_number)
