"""The mechanics of one shot: discs that slide, collide, drop into the hole and fall off, in steps of 1 ms.

Top-down pymunk without gravity. Sliding friction is a joint to the board of limited force, so a disc slows down by
a constant amount; what pymunk cannot know, being flat, is kept here and in :mod:`hardware.twin.hole`: heights, the
edge, the rail and the hole. An arena is built anew from resting discs, so that the same flick in a copy gives
exactly the same shot.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import pymunk

from hardware.board import Board, to_polar
from hardware.twin import ditch, hole
from hardware.twin.feel import Feel
from hardware.twin.slider import PEG, DiscState, Slider

STEP_NS = 1_000_000
_STEP_S = STEP_NS / 1e9
_TRAVEL_MM = 0.75  # longest way in one sub-step: contact normals stay within 2 degrees of the true ones
_STILL_MM_S = 0.5
_PUSHED_MM = 0.05  # overlap from which a falling disc moves its neighbour by something that can be seen
_TOUCH = 2.0  # impulse per mass, mm/s, below which a contact is the rest of an old one
_APART_TICKS = 4
_LONGEST_TICKS = 6000  # the longest roll takes 4 s; discs that push one another for ever are stopped


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, in the words of the worked cases: ``("hit", "A1", "B2")``, ``("off", "B2")``...

    Attributes:
        at_ns: when.
        words: what.
        push_mm_s: of a contact, the speed that it gave or took, so what of it there is to see.
    """

    at_ns: int
    words: tuple[str, ...]
    push_mm_s: float = 0.0


class Arena:
    """Discs in motion, until all are at rest.

    Args:
        board: geometry.
        feel: material figures.
        discs: every disc on the board, in the hole or in the ditch; those with a velocity move.
        at_ns: time of the start.
        seed: of the little that is chance (the hole's rim, the rail).
        hole_xy_mm: where the middle of the hole is.
    """

    def __init__(
        self,
        board: Board,
        feel: Feel,
        discs: Iterable[DiscState],
        *,
        at_ns: int,
        seed: int,
        hole_xy_mm: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.board, self.feel, self.at_ns = board, feel, at_ns
        self.random = random.Random(seed)
        self._hole = pymunk.Vec2d(*hole_xy_mm)
        self._inside_mm, self._edge_mm = board.limits_mm[2], board.surface_radius_mm
        self.events: list[Event] = []
        self._space = pymunk.Space()
        self._space.iterations = 8
        self._space.collision_slop = 0.005
        self._space.collision_bias = 1e-20  # a disc that falls on others in the ditch pushes them aside in 0.1 s
        self._space.on_collision(1, 1, post_solve=self._struck)
        self._space.on_collision(1, 2, post_solve=self._pegged)
        for x_mm, y_mm in board.pegs:
            peg = pymunk.Circle(self._space.static_body, board.peg_radius_mm, (x_mm, y_mm))
            peg.elasticity = feel.peg_bounce / math.sqrt(feel.disc_bounce)
            peg.friction = 0.4
            peg.collision_type = 2
            peg.filter = pymunk.ShapeFilter(categories=PEG)
            self._space.add(peg)
        self._discs: dict[str, Slider] = {}
        self._of_shape: dict[pymunk.Shape, Slider] = {}
        self._touched: dict[tuple[str, str], int] = {}
        self._contacts: dict[tuple[str, str], int] = {}
        self._tick = 0
        for state in sorted(discs, key=lambda d: d.id):
            disc = Slider(state, board, feel, self._space)
            self._discs[state.id] = disc
            self._of_shape[disc.shape] = disc
            disc.lay(state.where)
        self._moving: dict[str, Slider] = {}
        for disc in self._discs.values():
            if disc.speed > 0:
                self._wake(disc)

    @property
    def at_rest(self) -> bool:
        """Whether nothing moves any more."""
        return not self._moving

    def states(self) -> dict[str, DiscState]:
        """Every disc at this moment; those that never moved are the very values that were handed in."""
        return {name: disc.now() if disc.stirred else disc.state for name, disc in self._discs.items()}

    def in_hole(self) -> list[DiscState]:
        """The discs of which a part is below the surface in the hole."""
        return [
            d.now()
            for d in self._discs.values()
            if (d.z < 0 or d.tilt_deg > 0) and d.where != "ditch" and not d.climbing
        ]

    def tick(self) -> None:
        """Go on by 1 ms."""
        self._tick += 1
        fastest = max((disc.speed for disc in self._moving.values()), default=0.0)
        parts = max(1, math.ceil(fastest * _STEP_S / _TRAVEL_MM))
        step_s = _STEP_S / parts
        for part in range(parts):
            self._space.step(step_s)
            now_ns = self.at_ns + STEP_NS * (part + 1) // parts
            for disc in list(self._moving.values()):
                self._heed(disc, step_s, now_ns)
        self.at_ns += STEP_NS
        for name, disc in list(self._moving.items()):
            disc.speed = disc.body.velocity.length
            busy = disc.speed > _STILL_MM_S or disc.pocket is not None or disc.vz != 0
            disc.quiet = 0 if busy else disc.quiet + 1
            if disc.quiet > 5 or self._tick > _LONGEST_TICKS:
                disc.body.velocity, disc.body.angular_velocity, disc.speed = (0.0, 0.0), 0.0, 0.0
                self._settle(disc)
                if (disc.pocket is None and disc.vz == 0) or self._tick > 2 * _LONGEST_TICKS:
                    del self._moving[name]
        if not self._moving:
            self._part()
            self.events.sort(key=lambda e: e.at_ns)

    def _happen(self, at_ns: int, *words: str, push_mm_s: float = 0.0) -> None:
        self.events.append(Event(at_ns, words, push_mm_s))

    def _wake(self, disc: Slider) -> None:
        disc.quiet, disc.stirred = 0, True
        self._moving[disc.state.id] = disc

    def _struck(self, arbiter: pymunk.Arbiter, _space: pymunk.Space, _data: object) -> None:
        first, second = (self._of_shape[s] for s in arbiter.shapes)
        force = arbiter.total_impulse.length
        if force < _TOUCH:
            return
        a, b = (first, second) if (first.speed, first.state.id) >= (second.speed, second.state.id) else (second, first)
        key = (min(a.state.id, b.state.id), max(a.state.id, b.state.id))
        fresh = self._touch(key)
        self._wake(a)
        self._wake(b)
        if "ditch" in {a.where, b.where}:
            return
        if not fresh:
            self._push_on(key, force)
        else:
            self._contacts[key] = len(self.events)
            self._happen(self.at_ns, "hit", a.state.id, b.state.id, push_mm_s=force)
            if b.where == "hole" and force > 900 and self.random.random() < self.feel.climb_chance:
                a.pocket = hole.climb(a.body.position - self._hole, self.board)

    def _pegged(self, arbiter: pymunk.Arbiter, _space: pymunk.Space, _data: object) -> None:
        disc = self._of_shape[arbiter.shapes[0]]
        force = arbiter.total_impulse.length
        if force < _TOUCH:
            return
        key = (disc.state.id, "peg")
        if self._touch(key):
            self._contacts[key] = len(self.events)
            self._happen(self.at_ns, "peg", disc.state.id, push_mm_s=force)
        else:
            self._push_on(key, force)

    def _touch(self, key: tuple[str, str]) -> bool:
        """Note that two touch in this tick; whether they were apart before."""
        fresh = self._tick - self._touched.get(key, -_APART_TICKS) >= _APART_TICKS
        self._touched[key] = self._tick
        return fresh

    def _push_on(self, key: tuple[str, str], force: float) -> None:
        """A contact that was told goes on."""
        told = self._contacts.get(key)
        if told is not None:
            event = self.events[told]
            self.events[told] = replace(event, push_mm_s=event.push_mm_s + force)

    def _heed(self, disc: Slider, step_s: float, now_ns: int) -> None:
        """What the flat world does not know: the hole, the edge and the ditch."""
        if disc.pocket is not None:
            self._fall(disc, step_s, now_ns)
            return
        x_mm, y_mm = disc.body.position
        r_mm = math.hypot(x_mm, y_mm)
        if disc.where == "ditch":
            if ditch.fly(disc, r_mm, step_s, self.random):
                self._happen(now_ns, "back", disc.state.id)
        elif disc.where in {"surface", "leaning"}:
            off_mm = (disc.body.position - self._hole).length
            if off_mm < self.board.hole_radius_mm:
                if not disc.passed:
                    self._cross_hole(disc, off_mm, step_s)
            else:
                disc.passed = False
                disc.dip = disc.drop = disc.tilt_deg = 0.0
                if disc.where == "leaning":
                    disc.lay("surface")
                    disc.z = 0.0
            self._edge(disc, r_mm, now_ns)

    def _edge(self, disc: Slider, r_mm: float, now_ns: int) -> None:
        if r_mm < self._inside_mm:
            if disc.crossed_ns >= 0 and not disc.back:
                self._happen(disc.crossed_ns, "cross", disc.state.id)
            disc.inside, disc.crossed_ns = True, -1
        elif disc.inside and disc.crossed_ns < 0:
            disc.crossed_ns = now_ns
        if r_mm > self._edge_mm:
            self._happen(now_ns, "off", disc.state.id)
            disc.crossed_ns = -1
            disc.lay("ditch")
            disc.friction(0.0)

    def _cross_hole(self, disc: Slider, off_mm: float, step_s: float) -> None:
        if disc.where == "leaning":
            if disc.speed < 30:
                return
            disc.lay("surface")
            disc.dip, disc.z = self.feel.catch_mm + 1, 0.0
        disc.dip, disc.drop = hole.tip(disc.dip, disc.drop, off_mm, step_s, self.board)
        disc.tilt_deg = math.degrees(math.atan2(disc.dip, 2 * self.board.disc_radius_mm))
        vx, vy = disc.body.velocity
        x_mm, y_mm = disc.body.position - self._hole
        if abs(vx) + abs(vy) > 0:
            disc.tilt_towards_deg = to_polar(vx, vy)[1]
        outward = (x_mm * vx + y_mm * vy) > 0 and off_mm > self.board.hole_play_mm
        slow = disc.body.velocity.length < 15
        if not (outward or slow) or disc.dip == 0.0:
            return
        choice = hole.decide(
            (x_mm, y_mm), (vx, vy), dip_mm=disc.dip, board=self.board, feel=self.feel, chance=self.random
        )
        if isinstance(choice, hole.Fall):
            disc.pocket = choice
            disc.body.velocity, disc.body.angular_velocity = (0.0, 0.0), 0.0
            disc.friction(math.inf)
        else:
            disc.body.velocity = choice
            disc.passed = True  # the far rim is behind it: the rest of the way over the hole cannot catch it again

    def _fall(self, disc: Slider, step_s: float, now_ns: int) -> None:
        fall = disc.pocket
        if fall is None:
            return
        before, fall = fall, hole.go_on(fall, step_s)
        disc.pocket = fall
        place = hole.pose(fall, self.board)
        disc.body.position = self._hole + pymunk.Vec2d(place.x_mm, place.y_mm)
        self._space.reindex_shapes_for_body(disc.body)
        disc.body.velocity = (0.0, 0.0)
        disc.z, disc.tilt_deg, disc.tilt_towards_deg = place.z_mm, place.tilt_deg, place.tilt_towards_deg
        self._elbow(disc, now_ns)
        if before.age_s < fall.floor_s <= fall.age_s:
            disc.lay(fall.ends)
            disc.friction(math.inf)
            if fall.ends in {"hole", "stacked"}:
                self._happen(now_ns, "hole", disc.state.id)
        if fall.age_s >= fall.last_s:
            disc.pocket = None
            disc.lay(fall.ends)

    def _elbow(self, disc: Slider, now_ns: int) -> None:
        """A disc that falls touches whatever stands where it comes to lie, and pushes it aside, however gently."""
        for other in self._discs.values():
            close_mm = 2 * self.board.disc_radius_mm - (other.body.position - disc.body.position).length
            if other is disc or other.where != "surface" or close_mm < _PUSHED_MM:
                continue
            key = (min(disc.state.id, other.state.id), max(disc.state.id, other.state.id))
            if self._touch(key) and key not in self._contacts:
                self._contacts[key] = len(self.events)
                self._happen(now_ns, "hit", disc.state.id, other.state.id)

    def _settle(self, disc: Slider) -> None:
        """A disc has stopped: over the hole it drops, on the outer line it has touched it, climbing it slides back."""
        over = disc.body.position - self._hole
        if disc.where == "surface" and over.length < self.board.hole_radius_mm:
            disc.pocket = hole.drop(over, self.board, self.feel, self.random)
            disc.friction(math.inf)
        elif disc.climbing:
            disc.climbing = False
            disc.lay("ditch")
            disc.z, disc.vz = -self.feel.lip_mm - 0.1, -1.0
        if disc.crossed_ns >= 0:
            self._happen(disc.crossed_ns, "cross", disc.state.id)
            disc.crossed_ns = -1

    def _part(self) -> None:
        """Undo what little overlap the solver left, so that discs at rest touch at most."""
        apart = 2 * self.board.disc_radius_mm
        for _ in range(8):
            for a, b in combinations(self._discs.values(), 2):
                same = (a.where == "ditch") == (b.where == "ditch")
                gap = b.body.position - a.body.position
                free = [d for d in (a, b) if d.where in {"surface", "ditch"}]
                if not same or not free or "stacked" in {a.where, b.where} or not 0 < gap.length < apart:
                    continue
                push = gap.normalized() * ((apart - gap.length) / len(free) + 1e-6)
                for d in free:
                    d.stirred = True
                    d.body.position = ditch.kept(d, d.body.position + (push if d is b else -push))
