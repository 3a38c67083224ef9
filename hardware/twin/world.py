"""The world of one board: its discs, the hands over it, and the beam in its hole, moved on in steps of 1 ms.

``World(board, seed)`` can be used by itself: place discs, flick one, step, look. The same calls with the same seed
give the same world to the last bit.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hardware.board import Board
from hardware.twin import hole
from hardware.twin.feel import Feel
from hardware.twin.physics import STEP_NS, Arena, Event
from hardware.twin.receiver import CHORD_DEG, DEPTH_MM, Receiver
from hardware.twin.scene import Colour, Scene, SceneDisc, SceneHand
from hardware.twin.slider import DiscState, Where

_LONGEST_TICKS = 12_000

Xy = tuple[float, float]


class WorldError(ValueError):
    """Something was asked of a disc that the board does not hold, or that cannot be."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a shot ended: what happened and where every disc on the board came to rest."""

    events: tuple[Event, ...]
    discs: dict[str, DiscState]


class World:
    """One board with everything on it.

    Args:
        board: geometry.
        seed: makes what is chance repeatable.
        feel: material figures.
        start_ns: what the clock shows at first; a whole number of milliseconds.
        hole_xy_mm: where the middle of the hole is; boards have it up to 2.5 mm off the middle of the rings.
    """

    def __init__(
        self,
        board: Board,
        seed: int,
        *,
        feel: Feel | None = None,
        start_ns: int = 0,
        hole_xy_mm: Xy = (0.0, 0.0),
    ) -> None:
        if start_ns % STEP_NS:
            raise WorldError(f"the clock must start at a whole millisecond, got {start_ns} ns")
        self.board, self.seed, self.feel, self.hole_xy_mm = board, seed, feel or Feel(), hole_xy_mm
        self.at_ns = start_ns
        self.events: list[Event] = []
        self.hands: tuple[SceneHand, ...] = ()
        self.receiver = Receiver(f"beam-{seed}")
        self._ticked_ns = start_ns
        self._discs: dict[str, DiscState] = {}
        self._arena: Arena | None = None
        self._flicks = 0
        self._disc_in_beam = False

    @property
    def discs(self) -> dict[str, DiscState]:
        """Every disc in the picture, by id, as it is at the last whole millisecond."""
        if self._arena is not None:
            return {**self._discs, **self._arena.states()}
        return dict(self._discs)

    def at_rest(self) -> bool:
        """Whether no disc moves by itself."""
        return self._arena is None

    def place(self, disc: str, colour: Colour, x_mm: float, y_mm: float, where: Where = "surface") -> None:
        """Put a disc down: flat on the surface, in the ditch, or in the hole as it would lie there.

        Raises:
            WorldError: discs are moving.
        """
        z_mm, tilt, towards = 0.0, 0.0, 0.0
        if where in {"hole", "leaning", "stacked"}:
            z_mm, tilt, towards = hole.resting(where, self._in_hole_frame(x_mm, y_mm), self.board)
        elif where == "ditch":
            z_mm = -self.board.surface_height_mm
        self.put(DiscState(disc, colour, x_mm, y_mm, where, z_mm, tilt_deg=tilt, tilt_towards_deg=towards))

    def put(self, state: DiscState) -> None:
        """Put a disc as it is described, also in a hand.

        Raises:
            WorldError: discs are moving.
        """
        if self._arena is not None:
            raise WorldError(f"disc {state.id} cannot be put while discs are moving")
        self._discs[state.id] = state
        self._look()

    def remove(self, disc: str) -> None:
        """Take a disc out of the picture.

        Raises:
            WorldError: it is not there, or discs are moving.
        """
        self._known(disc)
        if self._arena is not None:
            raise WorldError(f"disc {disc} cannot be removed while discs are moving")
        del self._discs[disc]
        self._look()

    def flick(self, disc: str, vx_mm_s: float, vy_mm_s: float) -> None:
        """Set a disc in motion, also while others still move.

        Raises:
            WorldError: no such disc.
        """
        shot = replace(self._known(disc), vx_mm_s=vx_mm_s, vy_mm_s=vy_mm_s)
        self._keep_arena()
        self._flicks += 1
        self._arena = self._build({**self._discs, disc: shot}.values(), self._flicks)

    def rehearse(self, shot: DiscState) -> Outcome:
        """How the next flick would end, without flicking.

        Args:
            shot: the disc to be shot, where it would be placed and with the velocity it would get.

        Raises:
            WorldError: discs are moving.
        """
        if self._arena is not None:
            raise WorldError("a shot cannot be rehearsed while discs are moving")
        arena = self._build({**self._discs, shot.id: shot}.values(), self._flicks + 1)
        for _ in range(_LONGEST_TICKS):
            if arena.at_rest:
                break
            arena.tick()
        return Outcome(tuple(arena.events), arena.states())

    def step(self, to_ns: int) -> None:
        """Move the world on to a time; does nothing when it is already there."""
        while self._ticked_ns + STEP_NS <= to_ns:
            self._ticked_ns += STEP_NS
            if self._arena is not None:
                self._arena.tick()
                if self._arena.at_rest:
                    self._keep_arena()
                self._look()
            self.receiver.observe(self._ticked_ns, disc_inside=self._disc_in_beam)
        self.at_ns = max(self.at_ns, to_ns)

    def take_edges(self) -> list[tuple[int, bool]]:
        """The beam's edges since they were taken last: time in ns and whether it is blocked from then on."""
        return self.receiver.take(self.at_ns)

    def scene(self) -> Scene:
        """What there is to see now."""
        ahead_s = (self.at_ns - self._ticked_ns) / 1e9
        discs = [_seen(d, ahead_s) for d in self.discs.values()]
        # What lies lower is drawn first.
        discs.sort(key=lambda d: (d.z_mm, d.id))
        return Scene(self.at_ns, tuple(discs), self.hands)

    def _known(self, disc: str) -> DiscState:
        discs = self.discs
        if disc not in discs:
            raise WorldError(f"no disc {disc!r} on the board, there are {', '.join(sorted(discs)) or 'none'}")
        return discs[disc]

    def _build(self, discs: Iterable[DiscState], flick: int) -> Arena:
        on_board = [d for d in discs if d.where != "hand"]
        seed = random.Random(f"shot-{self.seed}-{flick}").getrandbits(62)
        return Arena(
            self.board, self.feel, on_board, at_ns=self._ticked_ns, seed=seed, hole_xy_mm=self.hole_xy_mm
        )  # fmt: skip

    def _keep_arena(self) -> None:
        if self._arena is not None:
            self._discs.update(self._arena.states())
            self.events.extend(self._arena.events)
            self._arena = None

    def _in_hole_frame(self, x_mm: float, y_mm: float) -> Xy:
        return (x_mm - self.hole_xy_mm[0], y_mm - self.hole_xy_mm[1])

    def _look(self) -> None:
        """Whether a disc is in the beam now."""
        held = self._discs.values() if self._arena is None else self._arena.in_hole()
        self._disc_in_beam = any(self._in_beam(d) for d in held)

    def _in_beam(self, d: DiscState) -> bool:
        x_mm, y_mm = self._in_hole_frame(d.x_mm, d.y_mm)
        away = math.hypot(x_mm, y_mm) > 2 * self.board.disc_radius_mm
        if d.where == "ditch" or not (d.z_mm < 0 or d.tilt_deg > 0) or away:
            return False
        place = hole.Pose(x_mm, y_mm, d.z_mm, d.tilt_deg, d.tilt_towards_deg)
        return hole.lowest_mm(place, CHORD_DEG, self.board) < -DEPTH_MM


def _seen(d: DiscState, ahead_s: float) -> SceneDisc:
    return SceneDisc(
        id=d.id, colour=d.colour, x_mm=d.x_mm + d.vx_mm_s * ahead_s, y_mm=d.y_mm + d.vy_mm_s * ahead_s, z_mm=d.z_mm,
        vx_mm_s=d.vx_mm_s, vy_mm_s=d.vy_mm_s, tilt_deg=d.tilt_deg, tilt_towards_deg=d.tilt_towards_deg,
        turn_deg=d.turn_deg % 360,
    )  # fmt: skip
