"""The course of an evening: what the simulated players do next, and what they ask of the hub.

They know what they have seen (the truth) and what the table shows, and act by hand and by ``ask`` as people do:
start a match, shoot in turn, take fouled discs off, lift 20s, answer questions, clear the board, play on. A table
that is slow or silent makes them wait a little, never for ever, except for the start of the match.
"""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Literal

from hardware.board import Board, to_xy
from hardware.line import Json
from hardware.twin import truth
from hardware.twin.hands import Errand, Hands, clearing, ditch_place, poke, shoot, tidy
from hardware.twin.manners import MANNERS, Manners
from hardware.twin.player import Player, Skill
from hardware.twin.scene import Colour
from hardware.twin.slider import DiscState, Where
from hardware.twin.world import World
from hub.rules.seats import SEATS

Stage = Literal[
    "starting", "thinking", "shooting", "looking", "tidying", "counting", "clearing", "leaving", "resting", "over"
]

_MS = 1_000_000
_STILL_NS = 450 * _MS  # nobody touches the board at once: people look first, and so does the camera
_VERDICT_NS = 1_500 * _MS
_AFTER_TIDY_NS = 400 * _MS
_ROUND_NS = 20_000 * _MS
_REFEREE_NS = 60_000 * _MS
_ANSWER_NS = 1_000 * _MS
_AGAIN_NS = 3_000 * _MS
_REST_NS = 8_000 * _MS
_WELL_WITHIN_MM = 2.0
_PUSH_MM = 7.0
_COLOURS: dict[str, Colour] = {"A": "light", "B": "dark", "C": "third"}


@dataclass(frozen=True, slots=True)
class Evening:
    """What is to be played.

    Attributes:
        rules: name of the rule set.
        rounds: end after so many rounds; 0 = no such end.
        games: end after a match over so many games; 0 = no such end. With neither, match follows match.
        names: of the sides.
        manners: of the players.
    """

    rules: str = "match-play"
    rounds: int = 0
    games: int = 0
    names: tuple[str, str] = ("Ada", "Ben")
    manners: Manners = MANNERS["polite"]

    @property
    def match_games(self) -> int:
        """Over how many games the match is played: so many that it does not end before the rounds are played."""
        return 2 * self.rounds + 1 if self.rounds else max(self.games, 1)


@dataclass(frozen=True, slots=True)
class Wish:
    """Something players ask of the hub."""

    id: str
    request: str
    body: Json


class Course:
    """The state of an evening at one board; :meth:`step` moves it on.

    Args:
        board: geometry.
        world: the world it is played in.
        hands: the players' hands in that world.
        evening: what is to be played.
        seed: of the players.
        diary: where the truth is written.
        alone: play without a hub, for harnesses that have none.
        rehearsals: how many a thinking player makes in one step; a step may not take longer than a frame.
        skill: how well the players play.
    """

    def __init__(
        self,
        board: Board,
        world: World,
        hands: Hands,
        evening: Evening,
        *,
        seed: int,
        diary: truth.Diary,
        alone: bool = False,
        rehearsals: int = 2,
        skill: Skill | None = None,
    ) -> None:
        self._board, self._world, self._hands, self._evening = board, world, hands, evening
        self._diary, self._alone, self._rehearsals = diary, alone, rehearsals
        self._players = {side: Player(board, f"player-{seed}-{side}", skill) for side in _COLOURS}
        self._seats = tuple(seat for seat, _ in SEATS["singles"])
        self.match = truth.new_match(board, evening.rules, evening.match_games)
        self.stage: Stage = "starting"
        self.table: Json | None = None
        self.rounds = 0
        self.wishes: list[Wish] = []
        self._since_ns = 0
        self._unanswered: set[str] = set()
        self._asked: dict[str, int] = {}
        self._start_at_ns = 0
        self._started = False
        self._thought: Generator[None, None, DiscState] | None = None
        self._shot: DiscState | None = None
        self._before: dict[str, DiscState] = {}
        self._events_from = 0
        self._tidied = False
        self._whims = random.Random(f"whims-{seed}")
        self._poked = self._hurried = False
        self._to_lift: set[str] = set()
        self._called_ns: int | None = None

    @property
    def over(self) -> bool:
        """Whether the evening is over."""
        return self.stage == "over"

    def see(self, table: Json) -> None:
        """The players look at the table's new snapshot."""
        self.table = table

    def answered(self, wish: str) -> None:
        """The hub has answered a wish, kindly or not."""
        self._unanswered.discard(wish)

    def step(self, now_ns: int) -> None:
        """Decide what to do now; called once a frame, when world and hands have come to this time."""
        if self._waits(now_ns):
            return
        if self.table is not None:
            self._answer_questions(self.table, now_ns)
        self._steps[self.stage](now_ns)

    def _waits(self, now_ns: int) -> bool:
        """Whether nobody shoots, answers or touches a disc as the referee is called or play rests; not for ever."""
        if self.table is None or not (self.table.get("referee") or self._shows("paused")):
            self._called_ns = None
            return False
        if self._called_ns is None:
            self._called_ns = now_ns
        return self.stage in {"thinking", "looking", "counting"} and now_ns - self._called_ns < _REFEREE_NS

    @property
    def _steps(self) -> dict[Stage, Callable[[int], None]]:
        return {
            "starting": self._start,
            "thinking": self._think,
            "shooting": self._watch,
            "looking": self._look,
            "tidying": self._tidied_up,
            "counting": self._count,
            "clearing": self._cleared,
            "leaving": self._leave,
            "resting": self._rest,
            "over": lambda _: None,
        }

    def _enter(self, stage: Stage, now_ns: int) -> None:
        self.stage, self._since_ns = stage, now_ns

    def _shows(self, *phases: str) -> bool:
        return self.table is not None and self.table.get("phase") in phases

    def _ask(self, request: str, body: Json) -> None:
        wish = Wish(secrets.token_hex(8), request, body)
        self.wishes.append(wish)
        self._unanswered.add(wish.id)

    def _start(self, now_ns: int) -> None:
        """Ask for a match until the table shows one; a match that we did not start is abandoned first."""
        if self._alone or (self._started and self._shows("round")):
            self._enter("thinking", now_ns)
        elif self.table is not None and now_ns >= self._start_at_ns and not self._unanswered:
            self._start_at_ns = now_ns + _AGAIN_NS
            if self._shows("idle", "match_over"):
                self._started = True
                evening = self._evening
                names = dict(zip(("A", "B"), evening.names, strict=True))
                body: Json = {"names": names, "rules": evening.rules, "level": "judge", "light": "A", "opener": "A"}
                self._ask("start", {**body, "games": evening.match_games})
            else:
                self._ask("abandon", {})

    def _think(self, now_ns: int) -> None:
        if self._abandoned():
            if self._ends and self._shows("match_over"):
                self._finish(now_ns)
            else:
                self._clear(now_ns)
            return
        turn = self.match.state.turn
        if turn is None:
            raise RuntimeError("nobody has a shot left")
        side, seat = turn
        if self._thought is None and not self._poked and self._feels_like(self._evening.manners.finger):
            self._poked = True
            self._hands.begin(poke(seat, self._world.hole_xy_mm, now_ns))
        if not self._hands.idle:
            return
        if self._thought is None:
            number = 1 + sum(1 for s, _ in self.match.state.order[: self.match.state.taken] if s == side)
            disc = DiscState(f"{side}{number}", _COLOURS[side], 0.0, 0.0)
            self._thought = self._players[side].think(self._world, self.match.state, disc)
        try:
            for _ in range(self._rehearsals):
                next(self._thought)
        except StopIteration as done:
            shot: DiscState = done.value
            self._thought, self._shot, self._poked = None, shot, False
            self._before = self._world.discs
            self._events_from = len(self._world.events)
            self._hands.begin(shoot(self._board, seat, shot, now_ns))
            self._enter("shooting", now_ns)

    def _abandoned(self) -> bool:
        """Whether somebody at the table has ended the match that is being played."""
        return not self._alone and self._shows("idle", "match_over")

    def _watch(self, now_ns: int) -> None:
        if self._shot is None or not (self._hands.idle and self._world.at_rest()):
            return
        events = self._world.events[self._events_from :]
        told = truth.facts(self.match.state, self._shot, events, self._before, self._world.discs)
        self.match = truth.take_shot(self.match, told)
        self._diary.shot(self.match.shots[-1], now_ns)
        self._shot = None
        self._hurried = self._feels_like(self._evening.manners.sweep)
        self._enter("looking", now_ns)

    def _look(self, now_ns: int) -> None:
        """Wait until everybody has seen how it ended, then take off and lift what the rules say."""
        waited_ns = now_ns - self._since_ns
        if self._sweeps(now_ns):
            return
        judged = self._alone or (self.table is not None and self.table.get("shot", 0) >= len(self.match.shots))
        if waited_ns < _STILL_NS or (not judged and waited_ns < _VERDICT_NS):
            return
        last = self.match.shots[-1]
        discs = self._world.discs
        manners = self._evening.manners
        over = self.match.state.turn is None
        left = self._left_lying(last) if not over and self._feels_like(manners.leave_foul) else frozenset()
        if left:
            self.match = truth.left_lying(self.match, left)
        spots = [(d.x_mm, d.y_mm) for d in discs.values() if d.where == "ditch"]
        errands = []
        for name in sorted((last.verdict.take_off & discs.keys()) - left):
            if discs[name].where != "ditch":
                spot = ditch_place(self._board, last.shot.seat, spots)
                spots.append(spot)
                errands.append(Errand(discs[name], spot))
        self._to_lift |= self._lifted(last)
        if over or not self._feels_like(manners.lift_late):
            errands += [Errand(discs[name]) for name in sorted(self._to_lift & discs.keys())]
            self._to_lift.clear()
        for name, place in sorted(last.verdict.restored.items()):
            where: Where = "leaning" if place.leaning else "surface"
            errands.append(Errand(discs[name], to_xy(place.r_mm, place.angle_deg), where))
        if errands and not over and self._feels_like(manners.push):
            errands += self._push({errand.disc.id for errand in errands})
        if errands:
            self._hands.begin(tidy(last.shot.seat, errands, now_ns))
        self._tidied = bool(errands)
        self._enter("tidying", now_ns)

    def _feels_like(self, percent: int) -> bool:
        return percent > 0 and self._whims.randrange(100) < percent

    def _left_lying(self, last: truth.Judged) -> frozenset[str]:
        """What a foul takes, if all of it lies well within the outer line."""
        discs, limit_mm = self._world.discs, self._board.limits_mm[2] - _WELL_WITHIN_MM
        gone = last.verdict.take_off & discs.keys()
        lies = all(discs[name].where == "surface" and discs[name].r_mm < limit_mm for name in gone)
        return gone if lies and gone <= last.verdict.fouled else frozenset()

    def _push(self, taken: set[str]) -> list[Errand]:
        """A disc in play is pushed aside where there is room for it."""
        discs = self._world.discs
        limit_mm = self._board.limits_mm[2] - _WELL_WITHIN_MM
        for name in self._whims.sample(sorted(self.match.state.position.discs), len(self.match.state.position.discs)):
            disc = discs.get(name)
            if disc is None or name in taken or disc.where != "surface":
                continue
            a = self._whims.uniform(0, 2 * math.pi)
            to = (disc.x_mm + _PUSH_MM * math.cos(a), disc.y_mm + _PUSH_MM * math.sin(a))
            others = [(d.x_mm, d.y_mm) for d in discs.values() if d.id != name and d.where != "ditch"]
            pegs = all(
                math.dist(to, peg) > self._board.disc_radius_mm + _WELL_WITHIN_MM + 5 for peg in self._board.pegs
            )
            room = all(math.dist(to, other) > 2 * self._board.disc_radius_mm + 1 for other in others)
            if pegs and room and 2 * self._board.hole_radius_mm < math.hypot(*to) < limit_mm:
                self.match = truth.pushed(self.match, name, *to)
                return [Errand(disc, to, "surface")]
        return []

    def _lifted(self, last: truth.Judged) -> set[str]:
        """What is lifted out of the hole; where the rules left it to people, everything that lies there."""
        if last.verdict.referee:
            return {name for name, where in last.shot.rest.items() if where == "hole"}
        return set(last.verdict.lift)

    def _tidied_up(self, now_ns: int) -> None:
        if not self._hands.idle:
            self._since_ns = now_ns
            return
        if self._tidied and now_ns - self._since_ns < _AFTER_TIDY_NS:
            return
        if self.match.state.turn is not None:
            self._enter("thinking", now_ns)
            return
        self.match, entry = truth.count_round(self.match)
        self.rounds += 1
        self._diary.write(entry)
        self._enter("counting", now_ns)

    def _count(self, now_ns: int) -> None:
        """Nothing is moved until the round is counted (rule 48)."""
        waited_ns = now_ns - self._since_ns
        settled = self._shows("round_over", "match_over") and not (self.table or {}).get("questions")
        if waited_ns >= (_STILL_NS if self._alone or settled else _ROUND_NS):
            self._clear(now_ns)

    def _sweeps(self, now_ns: int) -> bool:
        """Whether the board is cleared as soon as the last disc has stopped."""
        last = self.match.shots[-1].verdict
        if self.match.state.turn is not None or last.take_off or not self._hurried:
            return False
        self.match, entry = truth.count_round(self.match)
        self.rounds += 1
        self._diary.write(entry)
        self._clear(now_ns)
        return True

    def _clear(self, now_ns: int) -> None:
        self._to_lift.clear()
        self._thought = None
        discs = self._world.discs.values()
        self._hands.begin(*clearing(self._seats, discs, now_ns))
        self._enter("clearing", now_ns)

    def _cleared(self, now_ns: int) -> None:
        if self._hands.idle:
            self._enter("leaving", now_ns)

    def _rest(self, now_ns: int) -> None:
        if now_ns - self._since_ns >= _REST_NS:
            self.match = truth.new_match(self._board, self._evening.rules, self._evening.match_games)
            self._started = False
            self._enter("starting", now_ns)

    def _leave(self, now_ns: int) -> None:
        """The board is empty: on to the next round as soon as the table is ready for it."""
        last = self.match.over or self.rounds == self._evening.rounds
        if not last and (self.match.state.taken or self._abandoned()):
            # Somebody has ended the match before its time.
            self._enter("resting", now_ns)
            return
        ready = self._shows("match_over") or (self._shows("round") and (self.table or {}).get("shot", 0) == 0)
        if now_ns - self._since_ns < (_STILL_NS if self._alone or ready else _ROUND_NS):
            return
        if last and self._ends:
            self._finish(now_ns)
        elif last:
            self._write_final()
            self._enter("resting", now_ns)
        else:
            self.match = truth.next_game(self.match)
            self._enter("thinking", now_ns)

    @property
    def _ends(self) -> bool:
        return bool(self._evening.rounds or self._evening.games)

    def _write_final(self) -> None:
        self._diary.write({"is": "final", "scores": dict(self.match.state.score.scores)})

    def _finish(self, now_ns: int) -> None:
        self._write_final()
        self._enter("over", now_ns)

    def _answer_questions(self, table: Json, now_ns: int) -> None:
        """Answer each open question about a second after it came up, and again if it stays open."""
        for question in table.get("questions", ()):
            name = str(question["id"])
            due_ns = self._asked.setdefault(name, now_ns + _ANSWER_NS)
            if now_ns >= due_ns and not self._unanswered:
                self._asked[name] = now_ns + _AGAIN_NS
                choice = self._choice(question)
                self._ask("answer", {"question": name, "choice": choice})

    def _choice(self, question: dict[str, Any]) -> str:
        return truth.answer(self.match, self._board, self._world.discs, question)
