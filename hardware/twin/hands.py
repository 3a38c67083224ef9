"""Hands: how people reach over the board to shoot, to take discs off, to lift a 20 and to clear everything.

A reach is a value, planned at once: where the fingertips are at which time, and what they do on the way.
:class:`Hands` carries it out on a world. Brisk but human: about 1 m/s through the air, a quarter of a second over
a disc to take it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hardware.board import Board, to_polar, to_xy
from hardware.twin.scene import Colour, SceneHand
from hardware.twin.slider import DiscState, Where
from hardware.twin.world import World

AWAY_MM = 680.0  # where a hand, and what it holds, is outside every picture
_MS = 1_000_000
_ELBOW_DEG = 14.0  # people reach in from a little to the right of straight ahead
_HOLD_AHEAD_MM = 17.0  # a disc between thumb and finger lies this far in front of the fingertips' middle
_TOUCH_Z_MM = 9.0
_CARRY_Z_MM = 42.0
_HANDFUL = 5

Xy = tuple[float, float]
What = Literal["bring", "grab", "put", "flick", "fumble", "drop_out"]


@dataclass(frozen=True, slots=True)
class Key:
    """Where the fingertips are at a time; between two keys they move smoothly."""

    at_ns: int
    x_mm: float
    y_mm: float
    z_mm: float


@dataclass(frozen=True, slots=True)
class Deed:
    """What a hand does at a time.

    ``bring``: has the disc between its fingers as it comes; ``grab``: takes it off the board; ``put``: lays it down
    at the place; ``flick``: sets it in motion; ``fumble``: fingers are in the hole for ``lasts_ns``; ``drop_out``:
    the disc stays outside the picture.
    """

    at_ns: int
    what: What
    disc: str = ""
    colour: Colour = "light"
    x_mm: float = 0.0
    y_mm: float = 0.0
    vx_mm_s: float = 0.0
    vy_mm_s: float = 0.0
    where: Where = "surface"
    lasts_ns: int = 0


@dataclass(frozen=True, slots=True)
class Reach:
    """One reach of one hand over the board, from outside the picture and back."""

    seat: int
    keys: tuple[Key, ...]
    deeds: tuple[Deed, ...]

    @property
    def end_ns(self) -> int:
        """When the hand is gone."""
        return self.keys[-1].at_ns


@dataclass(frozen=True, slots=True)
class Errand:
    """A disc that a hand takes: to a place, by default in the ditch, or out of the picture (``to`` None)."""

    disc: DiscState
    to: Xy | None = None
    where: Where = "ditch"


class _Plan:
    """Strings keys and deeds together while a reach is planned."""

    def __init__(self, seat: int, start_ns: int) -> None:
        self.seat = seat
        self.at_ns = start_ns
        self.deeds: list[Deed] = []
        self.away = to_xy(AWAY_MM, _arm_deg(seat))
        self.keys = [Key(start_ns, *self.away, _CARRY_Z_MM)]

    def move(self, to: Xy, z_mm: float, ms: int) -> None:
        self.at_ns += ms * _MS
        self.keys.append(Key(self.at_ns, *to, z_mm))

    def stay(self, ms: int, z_mm: float | None = None) -> None:
        last = self.keys[-1]
        self.move((last.x_mm, last.y_mm), last.z_mm if z_mm is None else z_mm, ms)

    def go(self, to: Xy, z_mm: float, *, least_ms: int = 120, mm_per_ms: float = 1.0) -> None:
        """Move at a natural pace, in whole milliseconds."""
        last = self.keys[-1]
        self.move(to, z_mm, max(least_ms, round(math.hypot(to[0] - last.x_mm, to[1] - last.y_mm) / mm_per_ms)))

    def do(self, deed: Deed) -> None:
        self.deeds.append(replace(deed, at_ns=self.at_ns))

    def reach(self) -> Reach:
        return Reach(self.seat, tuple(self.keys), tuple(self.deeds))


def shoot(board: Board, seat: int, shot: DiscState, start_ns: int) -> Reach:
    """Bring a disc, lay it down where ``shot`` says, flick it with that velocity, and be gone 0.3 s later."""
    plan = _Plan(seat, start_ns)
    at = (shot.x_mm, shot.y_mm)
    plan.do(Deed(0, "bring", shot.id, shot.colour))
    inward = _unit((-at[0], -at[1]))
    plan.go(_step(at, inward, -_HOLD_AHEAD_MM), _TOUCH_Z_MM, mm_per_ms=1.1)
    plan.do(Deed(0, "put", shot.id, shot.colour, *at))
    aim = _unit((shot.vx_mm_s, shot.vy_mm_s))
    behind_mm = board.disc_radius_mm + 6
    plan.move(_step(at, aim, -behind_mm - 4), _TOUCH_Z_MM, 170)
    plan.stay(150)
    plan.move(_step(at, aim, -behind_mm), _TOUCH_Z_MM, 20)
    plan.do(Deed(0, "flick", shot.id, vx_mm_s=shot.vx_mm_s, vy_mm_s=shot.vy_mm_s))
    plan.move(_step(at, aim, -behind_mm + 8), _TOUCH_Z_MM, 20)
    plan.move(_step(at, aim, -behind_mm - 10), _TOUCH_Z_MM + 12, 50)
    plan.move(plan.away, _CARRY_Z_MM, 250)
    return plan.reach()


def tidy(seat: int, errands: Sequence[Errand], start_ns: int) -> Reach:
    """Take discs one by one: into the ditch, or in the hand out of the picture."""
    plan = _Plan(seat, start_ns)
    for errand in errands:
        disc = errand.disc
        at = (disc.x_mm, disc.y_mm)
        plan.go(at, _TOUCH_Z_MM)
        if disc.where in {"hole", "leaning", "stacked"}:
            plan.do(Deed(0, "fumble", lasts_ns=230 * _MS))
            plan.stay(130)
        else:
            plan.stay(60)
        plan.do(Deed(0, "grab", disc.id))
        plan.stay(110, _CARRY_Z_MM)
        if errand.to is not None:
            plan.go(errand.to, _TOUCH_Z_MM)
            plan.do(Deed(0, "put", disc.id, disc.colour, *errand.to, where=errand.where))
            plan.stay(60, _CARRY_Z_MM)
    _leave(plan, [errand.disc.id for errand in errands if errand.to is None])
    return plan.reach()


def poke(seat: int, hole_xy_mm: Xy, start_ns: int) -> Reach:
    """Put a finger into the hole and take it out again."""
    plan = _Plan(seat, start_ns)
    plan.go(hole_xy_mm, _TOUCH_Z_MM)
    plan.do(Deed(0, "fumble", lasts_ns=320 * _MS))
    plan.stay(350)
    plan.go(plan.away, _CARRY_Z_MM)
    return plan.reach()


def sweep(seat: int, discs: Sequence[DiscState], start_ns: int) -> Reach:
    """Gather some discs, wherever they lie, and carry them off."""
    plan = _Plan(seat, start_ns)
    for disc in discs:
        plan.go((disc.x_mm, disc.y_mm), _TOUCH_Z_MM, least_ms=90, mm_per_ms=1.3)
        if disc.where in {"hole", "leaning", "stacked"}:
            plan.do(Deed(0, "fumble", lasts_ns=180 * _MS))
            plan.stay(90)
        plan.do(Deed(0, "grab", disc.id))
        plan.stay(60, _CARRY_Z_MM)
    _leave(plan, [disc.id for disc in discs])
    return plan.reach()


def clearing(seats: Sequence[int], discs: Iterable[DiscState], start_ns: int) -> list[Reach]:
    """Clear everything, handful by handful, each disc by whoever sits nearer; reaches follow one another."""
    mine: dict[int, list[DiscState]] = {seat: [] for seat in seats}
    for disc in discs:
        mine[min(seats, key=lambda s: (math.dist((disc.x_mm, disc.y_mm), to_xy(300, _seat_deg(s))), s))].append(disc)
    reaches: list[Reach] = []
    for seat, heap in mine.items():
        # Round by angle, so that a handful lies together; the hole first, as people do.
        heap.sort(key=lambda d: (d.where not in {"hole", "leaning"}, (to_polar(d.x_mm, d.y_mm)[1] + 180) % 360, d.id))
        at_ns = start_ns
        for first in range(0, len(heap), _HANDFUL):
            reach = sweep(seat, heap[first : first + _HANDFUL], at_ns)
            at_ns = reach.end_ns + 60 * _MS
            reaches.append(reach)
    return reaches


def ditch_place(board: Board, seat: int, taken: Iterable[Xy]) -> Xy:
    """A free place in the ditch within reach of a seat; the least crowded one when there is none."""
    others = list(taken)
    r_mm = board.surface_radius_mm + board.ditch_width_mm / 2

    def room(place: Xy) -> float:
        return min((math.dist(place, other) for other in others), default=math.inf)

    places = [to_xy(r_mm, _seat_deg(seat) + side * step) for step in range(0, 89, 7) for side in (1, -1)]
    enough = 2 * board.disc_radius_mm + 1
    return next((place for place in places if room(place) > enough), max(places, key=room))


def hand_at(reach: Reach, at_ns: int) -> SceneHand | None:
    """The hand at a time, None before it comes and after it is gone."""
    keys = reach.keys
    if not keys[0].at_ns <= at_ns < keys[-1].at_ns:
        return None
    k = next(i for i, key in enumerate(keys[1:]) if at_ns < key.at_ns)
    a, b = keys[k], keys[k + 1]
    span_s = (b.at_ns - a.at_ns) / 1e9
    t = (at_ns - a.at_ns) / (b.at_ns - a.at_ns)
    s, rate = t * t * (3 - 2 * t), 6 * t * (1 - t) / span_s
    return SceneHand(
        x_mm=a.x_mm + (b.x_mm - a.x_mm) * s,
        y_mm=a.y_mm + (b.y_mm - a.y_mm) * s,
        from_deg=_arm_deg(reach.seat),
        z_mm=a.z_mm + (b.z_mm - a.z_mm) * s,
        sleeve=reach.seat - 1,
        vx_mm_s=(b.x_mm - a.x_mm) * rate,
        vy_mm_s=(b.y_mm - a.y_mm) * rate,
    )


class Hands:
    """Carries reaches out on a world, deed by deed at their times."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._reaches: list[Reach] = []
        self._due: list[tuple[Deed, Reach]] = []
        self._held: dict[str, tuple[Reach, Xy, float]] = {}

    @property
    def idle(self) -> bool:
        """Whether no hand is over the board or about to come."""
        return not self._reaches

    def begin(self, *reaches: Reach) -> None:
        """Let hands reach in; the reaches begin now or later."""
        self._reaches += reaches
        self._due += [(deed, reach) for reach in reaches for deed in reach.deeds]
        self._due.sort(key=lambda d: d[0].at_ns)

    def step(self, to_ns: int) -> None:
        """Move the world and the hands on to a time."""
        world = self._world
        while self._due and self._due[0][0].at_ns <= to_ns:
            deed, reach = self._due.pop(0)
            world.step(deed.at_ns)
            self._carry(deed.at_ns)
            self._do(deed, reach)
        if any(d.z_mm < 0 for d in world.discs.values() if d.id in self._held):
            # Only while a disc is being lifted through the beam does every millisecond of its way matter.
            for at_ns in range(world.at_ns + _MS, to_ns, _MS):
                self._carry(at_ns)
                world.step(at_ns)
        self._carry(to_ns)
        world.step(to_ns)
        seen = [hand for reach in self._reaches if (hand := hand_at(reach, to_ns)) is not None]
        world.hands = tuple(seen)
        self._reaches = [reach for reach in self._reaches if reach.end_ns > to_ns]

    def _carry(self, at_ns: int) -> None:
        for name, (reach, offset, below_mm) in self._held.items():
            hand = hand_at(reach, at_ns)
            if hand is not None:
                self._world.put(
                    replace(
                        self._world.discs[name],
                        x_mm=hand.x_mm + offset[0], y_mm=hand.y_mm + offset[1], z_mm=hand.z_mm - below_mm,
                        vx_mm_s=hand.vx_mm_s, vy_mm_s=hand.vy_mm_s, where="hand", tilt_deg=0.0,
                    )
                )  # fmt: skip

    def _do(self, deed: Deed, reach: Reach) -> None:
        world = self._world
        match deed.what:
            case "bring":
                ahead = _step((0.0, 0.0), _unit(to_xy(1, _seat_deg(reach.seat))), -_HOLD_AHEAD_MM)
                self._held[deed.disc] = (reach, ahead, _TOUCH_Z_MM)
                world.put(DiscState(deed.disc, deed.colour, *to_xy(AWAY_MM, _arm_deg(reach.seat)), where="hand"))
                self._carry(deed.at_ns)
            case "grab":
                disc, hand = world.discs[deed.disc], hand_at(reach, deed.at_ns)
                if hand is not None:
                    offset = (disc.x_mm - hand.x_mm, disc.y_mm - hand.y_mm)
                    self._held[deed.disc] = (reach, offset, hand.z_mm - disc.z_mm)
                    world.put(replace(disc, where="hand"))
            case "put":
                self._held.pop(deed.disc, None)
                world.place(deed.disc, deed.colour, deed.x_mm, deed.y_mm, deed.where)
            case "flick":
                world.flick(deed.disc, deed.vx_mm_s, deed.vy_mm_s)
            case "fumble":
                world.receiver.fingers(deed.at_ns, deed.lasts_ns)
            case "drop_out":
                self._held.pop(deed.disc, None)
                world.remove(deed.disc)


def _leave(plan: _Plan, held: list[str]) -> None:
    plan.go(plan.away, _CARRY_Z_MM, mm_per_ms=1.3)
    # One moment before the end, while the hand still is there to hold them.
    for disc in held:
        plan.deeds.append(Deed(plan.at_ns - _MS, "drop_out", disc))


def _seat_deg(seat: int) -> float:
    return (seat - 1) * 90.0


def _arm_deg(seat: int) -> float:
    return _seat_deg(seat) - _ELBOW_DEG


def _unit(v: Xy) -> Xy:
    length = math.hypot(*v)
    return (v[0] / length, v[1] / length)


def _step(at: Xy, along: Xy, mm: float) -> Xy:
    return (at[0] + along[0] * mm, at[1] + along[1] * mm)
