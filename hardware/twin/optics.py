"""What the camera above the board sees of a scene: frames with known truth.

>>> renderer = Renderer(TOURNAMENT, NOMINAL, nominal_pose(TOURNAMENT), nominal_optics(), seed=1)
>>> frame = renderer.render(Scene(at_ns=0), frame_number=0)

A frame depends on board, style, pose, optics, seed, scene and frame number alone. Only what changed since the last
call is drawn anew, and that never changes a pixel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardware.board import Board
from hardware.twin.board_drawn import BoardPainter, lit_picture, sight_of
from hardware.twin.discs_drawn import Body, disc_body, draw_body, draw_shadow, face_of, face_textures
from hardware.twin.hands_drawn import draw_hand, draw_hand_shadow
from hardware.twin.lens import CameraPose, drawn_pose, nominal_pose
from hardware.twin.light import Optics, Sensor, glare_field, hard_optics, light_field, nominal_optics
from hardware.twin.litter_drawn import draw_litter
from hardware.twin.scene import Scene, SceneDisc, SceneHand, SceneLitter
from hardware.twin.sprites import Box, Picture, Sprite, Stage
from hardware.twin.styles import BoardStyle, DiscStyle

__all__ = [
    "CameraPose",
    "Optics",
    "Renderer",
    "drawn_pose",
    "hard_optics",
    "nominal_optics",
    "nominal_pose",
]

Thing = SceneDisc | SceneHand | SceneLitter
_ABOVE_ALL = 1e6


class _Drawn:
    """A thing of the scene as sprites, with its place in the order of drawing."""

    __slots__ = ("body", "box", "order", "parts", "shadow")

    def __init__(self, order: tuple[float, ...], body: Sprite, shadow: Sprite | None) -> None:
        self.order, self.body, self.shadow = order, body, shadow
        self.box = body.box if shadow is None else body.box.around(shadow.box)
        layers = [body] if shadow is None else [body, shadow]
        self.parts = [part for layer in layers for part in layer.parts or (layer.box,)]


class Renderer:
    """Draws scenes of one board under one camera."""

    def __init__(self, board: Board, style: BoardStyle, pose: CameraPose, optics: Optics, seed: int = 0) -> None:
        self.board, self.style, self.pose, self.optics, self.seed = board, style, pose, optics, seed
        sight = sight_of(pose)
        gx, gy = sight.gx, sight.gy
        colour, varnish, rail_front = BoardPainter(board, style, sight, shadow_xy=optics.shadow_xy).paint()
        self._stage = Stage(
            board=board,
            pose=pose,
            optics=optics,
            hole_xy_mm=style.hole_offset_xy_mm,
            gx=gx,
            gy=gy,
            px_mm=sight.px_mm,
            light=light_field(optics, pose, gx, gy, seed),
            glare=glare_field(optics, gx, gy),
            rail_front=rail_front,
        )
        self._bare = lit_picture(colour, varnish, self._stage.light, self._stage.glare)
        self._faces = face_textures(style)
        peg = DiscStyle(style.peg_bgr, style.peg_bgr, style.peg_bgr, grain=0.0, gloss=0.4)
        self._pegs: list[_Drawn] = []
        flat = np.full((96, 96, 3), style.peg_bgr, np.uint8)
        for x, y in board.pegs:
            body = Body(x, y, 0.0, board.peg_radius_mm, board.peg_height_mm, 1.0)
            self._pegs.append(self._drawn(body, peg, flat))
        self._sensor = Sensor(optics, pose.size_wh, seed)
        self._margin = max(round(2.4 * optics.blur_px), 1) if optics.blur_px else 0
        self._things: dict[Thing, _Drawn] = {}
        self._light: float | None = None
        self._layer = self._bare.copy()
        self._exposed = np.empty_like(self._layer)
        self._refresh([Box(0, 0, *pose.size_wh)])

    def project(self, x_mm: ArrayLike, y_mm: ArrayLike, z_mm: ArrayLike = 0.0) -> NDArray[np.float64]:
        """Pixels ``(..., 2)`` of points of the board frame: the truth for tests."""
        return self.pose.project(x_mm, y_mm, z_mm)

    def render(self, scene: Scene, frame_number: int = 0, *, out: Picture | None = None) -> Picture:
        """One frame, uint8 BGR ``(H, W, 3)``; the scene is that of the middle of the exposure.

        Args:
            scene: what there is to see.
            frame_number: decides the noise and the slow drift of the light.
            out: where to put the frame, e.g. shared memory; a fresh array otherwise.
        """
        wanted: tuple[Thing, ...] = (*scene.discs, *scene.hands, *scene.litter)
        staying = set(wanted)
        dirty = [part for thing, drawn in self._things.items() if thing not in staying for part in drawn.parts]
        things: dict[Thing, _Drawn] = {}
        for thing in wanted:
            known = self._things.get(thing)
            if known is None:
                known = self._draw(thing)
                dirty.extend(known.parts)
            things[thing] = known
        self._things = things
        light = self.optics.light_at(frame_number)
        self._refresh(dirty)
        if light != self._light:
            self._light = light
            self._lut = self._sensor.lut(light)
            dirty = [Box(0, 0, *self.pose.size_wh)]
        for box in _merged(dirty):
            self._expose(box)
        return self._sensor.take(self._exposed, frame_number, out)

    def relight(self, optics: Optics) -> None:
        """Another strength and colour of the light from the next frame on; lamps and shadows stay where they are."""
        if (optics.exposure, optics.tint_bgr) != (self.optics.exposure, self.optics.tint_bgr):
            self.optics = replace(self.optics, exposure=optics.exposure, tint_bgr=optics.tint_bgr)
            self._sensor.relight(self.optics)
            self._light = None

    def _draw(self, thing: Thing) -> _Drawn:
        if isinstance(thing, SceneHand):
            order = (_ABOVE_ALL, thing.from_deg)
            return _Drawn(order, draw_hand(thing, self._stage), draw_hand_shadow(thing, self._stage))
        if isinstance(thing, SceneLitter):
            return _Drawn(*draw_litter(thing, self._stage))
        style = self.style.disc(thing.colour)
        return self._drawn(disc_body(thing, self._stage, style), style, face_of(thing, self._faces))

    def _drawn(self, body: Body, style: DiscStyle, face: Picture) -> _Drawn:
        stage = self._stage
        return _Drawn(body.order(stage), draw_body(body, stage, style, face), draw_shadow(body, stage))

    def _refresh(self, dirty: Iterable[Box]) -> None:
        """Draw the boxes anew from the bare board up: level by level, shadows before bodies."""
        everything = sorted([*self._pegs, *self._things.values()], key=lambda d: d.order)
        for box in _merged(dirty):
            part = self._bare[box.slices].copy()
            here = [d for d in everything if d.box.meets(box)]
            for level in sorted({d.order[:-1] for d in here}):
                for d in here:
                    if d.order[:-1] == level and d.shadow is not None:
                        d.shadow.lay_on(part, box)
                for d in here:
                    if d.order[:-1] == level:
                        d.body.lay_on(part, box)
            self._layer[box.slices] = part

    def _expose(self, box: Box) -> None:
        """Blur and expose the box and the margin into which its blur reaches."""
        size = self.pose.size_wh
        if self._margin:
            out, source = box.grown(self._margin, size), box.grown(2 * self._margin, size)
            k = 2 * self._margin + 1
            soft = cv2.GaussianBlur(
                self._layer[source.slices], (k, k), self.optics.blur_px, borderType=cv2.BORDER_REFLECT_101
            )
            x, y = out.x0 - source.x0, out.y0 - source.y0
            part = soft[y : y + out.y1 - out.y0, x : x + out.x1 - out.x0]
        else:
            out, part = box, self._layer[box.slices]
        cv2.LUT(part, self._lut, dst=self._exposed[out.slices])


def _merged(boxes: Iterable[Box]) -> list[Box]:
    """Boxes that overlap joined, so that no pixel is drawn twice."""
    left = [box for box in boxes if not box.empty]
    done: list[Box] = []
    while left:
        box = left.pop()
        for k, other in enumerate(left):
            if box.meets(other):
                left[k] = box.around(other)
                break
        else:
            done.append(box)
    return done
