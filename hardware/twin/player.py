"""Simulated players: what they try, how well they do it, and what comes of it.

A player looks for a shot as people do: for the 20 when the board is open, else for a disc of the other side that can
be reached, else for a way around. Hand and eye then add their error. Where several executions of the same plan are
as likely as one another, the player takes the one that makes the evening richer for the sensors (fouls, 20s on
fouls, discs on lines, leaners, discs that come back), by rehearsing them in the world first.
"""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hardware.board import Board, to_xy
from hardware.twin import truth
from hardware.twin.slider import DiscState
from hardware.twin.world import Outcome, World
from hub.rules.game import GameState
from hub.rules.verdict import Verdict

_QUADRANT_DEG = 42.0
_PLACES = 13
_LATE_SHOTS = 12  # discs placed on a line early in the round rarely stay there
_MAX_MM_S = 2900.0
_FINGER_MM = 1.0  # so much room a hand leaves between the disc that it sets down and another

Xy = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Skill:
    """How well somebody plays; the defaults are a good club player.

    Attributes:
        aim_deg: standard deviation of the direction.
        pace: relative standard deviation of the speed.
        greed: how often a player goes for the 20 although an opposing disc must be struck.
        tries: executions that are rehearsed for each shot.
        finer: how often, late in a round, as many again nearer to a line are looked for.
    """

    aim_deg: float = 1.7
    pace: float = 0.1
    greed: float = 0.05
    tries: int = 4
    finer: int = 4


@dataclass(frozen=True, slots=True)
class Relish:
    """How much likelier than one without it an execution is taken that has these traits."""

    foul: float = 0.25
    twenty_on_foul: float = 2.0
    opponent_twenty: float = 2.0
    line_disc: float = 25.0
    leaner: float = 6.0
    back: float = 8.0
    cross: float = 3.0
    knocked_in: float = 4.0


@dataclass(frozen=True, slots=True)
class Target:
    """A plan: from where, towards which point, how fast on arrival."""

    start: Xy
    at: Xy
    arrive_mm_s: float
    worth: float


class Player:
    """One player.

    Args:
        board: geometry.
        seed: makes aim, error and choice repeatable.
        skill: how well the player plays.
        relish: what the player's luck is fond of.
    """

    def __init__(self, board: Board, seed: str, skill: Skill | None = None, relish: Relish | None = None) -> None:
        self.skill, self.relish = skill or Skill(), relish or Relish()
        self._board = board
        self._random = random.Random(seed)

    def choose(self, world: World, state: GameState, disc: DiscState) -> DiscState:
        """The next shot at once; see :meth:`think`."""
        thinking = self.think(world, state, disc)
        while True:
            try:
                next(thinking)
            except StopIteration as done:
                shot: DiscState = done.value
                return shot

    def think(self, world: World, state: GameState, disc: DiscState) -> Generator[None, None, DiscState]:
        """Find the next shot: the disc as it will be placed, with the velocity it will get.

        Yields after each rehearsal, so that frames can be made in between; the world must not change meanwhile.

        Args:
            world: at rest.
            state: the game, whose turn is this player's.
            disc: the disc to be shot; only its id and colour matter.
        """
        if state.turn is None:
            raise ValueError("nobody has a shot left in this round")
        side, seat = state.turn
        plan = self._plan(world, state, side, seat)
        tries = [self._execute(plan, disc, world) for _ in range(self.skill.tries)]
        outcomes: list[Outcome] = []
        late = len(state.order) - state.taken <= _LATE_SHOTS
        for look in range(1 + (self.skill.finer if late else 0)):
            if look:
                tries += self._near_lines(world, tries, outcomes)
            for shot in tries[len(outcomes) :]:
                outcomes.append(world.rehearse(shot))
                yield
        weights = [
            self._weight(state, world, shot, outcome, late=late) for shot, outcome in zip(tries, outcomes, strict=True)
        ]
        return self._random.choices(tries, weights)[0] if any(weights) else tries[0]

    def _plan(self, world: World, state: GameState, side: str, seat: int) -> Target:
        discs = {name: world.discs[name] for name in state.position.discs if name in world.discs}
        theirs = [d for name, d in discs.items() if state.position.discs[name].side != side]
        starts = [
            to_xy(self._board.outer_line_mm, (seat - 1) * 90 + _QUADRANT_DEG * (2 * k / (_PLACES - 1) - 1))
            for k in range(_PLACES)
        ]
        starts = self._standable(starts, world.discs.values())
        chance = self._random
        if not theirs or chance.random() < self.skill.greed:
            return self._for_the_hole(starts, discs.values(), world.hole_xy_mm)
        plans = [p for start in starts for p in self._at_discs(start, theirs, discs)]
        if plans:
            plans.sort(key=lambda p: -p.worth)
            return chance.choice(plans[:3])
        return self._around(starts, theirs)

    def _standable(self, starts: Sequence[Xy], discs: Iterable[DiscState]) -> list[Xy]:
        """The places at which a disc can stand beside what lies there; the widest when there is none."""
        places = [(d.x_mm, d.y_mm) for d in discs if d.where not in {"ditch", "hand"}]
        gaps = {start: min((math.dist(start, place) for place in places), default=math.inf) for start in starts}
        free = [start for start, gap in gaps.items() if gap > 2 * self._board.disc_radius_mm + _FINGER_MM]
        return free or [max(gaps, key=gaps.__getitem__)]

    def _for_the_hole(self, starts: Sequence[Xy], discs: Iterable[DiscState], hole: Xy) -> Target:
        obstacles = [
            ((d.x_mm, d.y_mm), self._board.disc_radius_mm) for d in discs if d.where not in {"hole", "stacked"}
        ]
        free = [s for s in starts if self._room(s, hole, obstacles) > 0]
        if not free:
            free = sorted(starts, key=lambda s: -self._room(s, hole, obstacles))[:1]
        return Target(self._random.choice(free), hole, self._random.uniform(250, 520), 0.0)

    def _at_discs(self, start: Xy, theirs: Sequence[DiscState], discs: Mapping[str, DiscState]) -> list[Target]:
        """Every opposing disc that can be reached in a straight line from a place, with what hitting it is worth."""
        plans = []
        for target in theirs:
            at = (target.x_mm, target.y_mm)
            others = [((d.x_mm, d.y_mm), self._board.disc_radius_mm) for d in discs.values() if d.id != target.id]
            room = self._room(start, at, others)
            if room <= 0:
                continue
            # Hit a little beside the middle, so that the shot disc runs on towards the centre.
            aside = self._random.gauss(0, 0.25) * self._board.disc_radius_mm
            dx, dy = at[0] - start[0], at[1] - start[1]
            length = math.hypot(dx, dy)
            aim = (at[0] - dy / length * aside, at[1] + dx / length * aside)
            arrive = (
                self._random.uniform(300, 1200)
                if target.r_mm > self._board.limits_mm[0]
                else self._random.uniform(250, 900)
            )
            worth = self._board.value(target.r_mm) + min(room, 20.0) / 5 + (6 if target.where == "leaning" else 0)
            plans.append(Target(start, aim, arrive, worth + self._random.uniform(0, 6)))
        return plans

    def _around(self, starts: Sequence[Xy], theirs: Sequence[DiscState]) -> Target:
        """Nothing can be reached directly: through own discs or off a peg, and hope."""
        target = self._random.choice(theirs)
        start = self._random.choice(list(starts))
        if self._random.random() < 0.5:
            pegs = sorted(
                self._board.pegs, key=lambda p: math.dist(p, start) + math.dist(p, (target.x_mm, target.y_mm))
            )
            at = self._random.choice(pegs[:3])
            at = (at[0] + self._random.gauss(0, 6), at[1] + self._random.gauss(0, 6))
        else:
            at = (target.x_mm, target.y_mm)
        return Target(start, at, self._random.uniform(900, 1900), 0.0)

    def _room(self, start: Xy, at: Xy, others: Iterable[tuple[Xy, float]]) -> float:
        """How much space is left beside a disc that slides from a place to a point; negative when it is blocked."""
        pegs = [(peg, self._board.peg_radius_mm) for peg in self._board.pegs]
        lane = self._board.disc_radius_mm
        return min((_apart(start, at, place) - radius - lane for place, radius in (*others, *pegs)), default=99.0)

    def _execute(self, plan: Target, disc: DiscState, world: World) -> DiscState:
        """The plan with the error of hand and eye."""
        chance = self._random
        dx, dy = plan.at[0] - plan.start[0], plan.at[1] - plan.start[1]
        way_mm = math.hypot(dx, dy)
        speed = math.sqrt(plan.arrive_mm_s**2 + 2 * world.feel.slide_mm_s2() * way_mm)
        speed = min(_MAX_MM_S, speed * max(0.3, 1 + chance.gauss(0, self.skill.pace)))
        a = math.atan2(dy, dx) + math.radians(chance.gauss(0, self.skill.aim_deg))
        return replace(
            disc, x_mm=plan.start[0], y_mm=plan.start[1], where="surface", z_mm=0.0, tilt_deg=0.0,
            vx_mm_s=speed * math.cos(a), vy_mm_s=speed * math.sin(a),
        )  # fmt: skip

    def _near_lines(self, world: World, tries: Sequence[DiscState], outcomes: Sequence[Outcome]) -> list[DiscState]:
        """Executions a hair away from the one that leaves a disc it moved nearest to a line; none if one is there."""

        def miss_mm(outcome: Outcome) -> float:
            moved = [d for d in outcome.discs.values() if d.where == "surface" and d != world.discs.get(d.id)]
            return min((self._board.margin_mm(d.r_mm) for d in moved), default=math.inf)

        misses = [miss_mm(outcome) for outcome in outcomes]
        best = min(range(len(tries)), key=misses.__getitem__)
        if misses[best] < truth.LINE_MM:
            return []
        base, finer = tries[best], []
        for _ in range(self.skill.tries):
            k = 1 + self._random.gauss(0, min(0.02, misses[best] / 1500))
            a = math.radians(self._random.gauss(0, 0.1))
            vx, vy = base.vx_mm_s * k, base.vy_mm_s * k
            turned = (vx * math.cos(a) - vy * math.sin(a), vx * math.sin(a) + vy * math.cos(a))
            finer.append(replace(base, vx_mm_s=turned[0], vy_mm_s=turned[1]))
        return finer

    def _weight(self, state: GameState, world: World, shot: DiscState, outcome: Outcome, *, late: bool) -> float:
        told = truth.facts(state, shot, outcome.events, world.discs, outcome.discs)
        verdict = truth.judge(state, told)
        if verdict.referee:
            return 0.0
        judged = truth.Judged(0, told, verdict)
        happened = {event.words[0] for event in outcome.events}
        relish = self.relish
        weight = 1.0
        if verdict.valid is False:
            weight *= relish.foul
        for trait, factor in (
            (judged.twenty_on_foul, relish.twenty_on_foul),
            (judged.opponent_twenty, relish.opponent_twenty),
            ("back" in happened, relish.back),
            (_returned(outcome, verdict), relish.cross),
            (any(d.leaning for n, d in verdict.after.discs.items() if n not in state.position.discs), relish.leaner),
            (_knocked_in(state, verdict), relish.knocked_in),
        ):
            weight *= factor if trait else 1.0
        if late:
            gained = truth.line_discs(verdict.after, self._board) - truth.line_discs(state.position, self._board)
            weight *= relish.line_disc**gained
        return weight


def _returned(outcome: Outcome, verdict: Verdict) -> bool:
    """Whether a disc crossed the outer line and came back inside by itself."""
    return any(event.words[0] == "cross" and event.words[1] in verdict.after.discs for event in outcome.events)


def _knocked_in(state: GameState, verdict: Verdict) -> bool:
    """Whether a disc that leaned in the hole was knocked flat."""
    return any(disc.leaning and name in verdict.lift for name, disc in state.position.discs.items())


def _apart(start: Xy, end: Xy, place: Xy) -> float:
    """Distance of a point from the way between two others."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    t = ((place[0] - start[0]) * dx + (place[1] - start[1]) * dy) / (dx * dx + dy * dy)
    t = min(1.0, max(0.0, t))
    return math.dist(place, (start[0] + t * dx, start[1] + t * dy))
