"""What really happened: every shot judged by the rules from the world's own events, and the match it adds up to.

Nothing of this reaches the hub: it is written to a file that only the closing comparison reads, and simulated
players know it as people know what they have seen.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hardware.board import Board, to_polar
from hardware.twin.physics import Event
from hardware.twin.slider import DiscState
from hub.rules.game import GameSetup, GameState, RoundCounted, ShotTaken, apply, begin
from hub.rules.position import Disc, Place, Position, Rest, Shot
from hub.rules.presets import load_ruleset
from hub.rules.shot import judge_shot
from hub.rules.verdict import Verdict

LINE_MM = 2.0  # a disc whose centre is nearer than this to the limit of a zone is a line disc
_MOVED_MM = 0.05
COUNTS = ("fouls", "twenties_on_foul", "opponent_twenties", "line_discs")


@dataclass(frozen=True, slots=True)
class Judged:
    """A shot with its verdict.

    Attributes:
        number: of the shot within its round, from 1.
        shot: the facts.
        verdict: what the rules say.
    """

    number: int
    shot: Shot
    verdict: Verdict

    @property
    def twenty_on_foul(self) -> bool:
        """Whether a disc of the shooter dropped and the foul voided it."""
        own = [d for d, where in self.shot.rest.items() if where == "hole" and self._side(d) == self.shot.side]
        return self.verdict.valid is False and any(d in self.verdict.fouled for d in own)

    @property
    def opponent_twenty(self) -> bool:
        """Whether the shot gave the other side a 20."""
        return any(count for side, count in self.verdict.twenties.items() if side != self.shot.side)

    @property
    def twenty_side(self) -> str | None:
        """Whose 20 it was, None for nobody's."""
        return next((side for side, count in self.verdict.twenties.items() if count), None)

    def _side(self, disc: str) -> str:
        return self.shot.side if disc == self.shot.disc else self.verdict.discs[disc].side


def facts(
    state: GameState,
    shot: DiscState,
    events: Iterable[Event],
    before: Mapping[str, DiscState],
    after: Mapping[str, DiscState],
) -> Shot:
    """A shot in the words of the rules.

    Args:
        state: the game before it, for whose turn it was and which discs are in play.
        shot: the shot disc where it was placed.
        events: what happened, in order of time.
        before: every disc before the shot.
        after: every disc at rest after it.
    """
    side, seat = _turn(state)
    known = {*state.position.discs, shot.id}
    rest: dict[str, Rest] = {}
    for name in sorted(known & after.keys()):
        old, new = before.get(name), after[name]
        if name == shot.id or old is None or old.where != new.where or _moved(old, new):
            rest[name] = _rest(new)
    words = tuple(event.words for event in events if all(disc in known for disc in event.words[1:]))
    return Shot(side, seat, shot.id, words, rest, Place(*to_polar(shot.x_mm, shot.y_mm)))


def judge(state: GameState, shot: Shot) -> Verdict:
    """The verdict on a shot without taking it."""
    setup = state.setup
    return judge_shot(state.position, shot, setup.ruleset, setup.board, dealt=setup.dealt)


def line_discs(position: Position, board: Board) -> int:
    """How many discs in play lie within 2 mm of a zone's limit."""
    return sum(board.margin_mm(disc.r_mm) <= LINE_MM for disc in position.discs.values() if not disc.leaning)


@dataclass(frozen=True, slots=True)
class Match:
    """A match as it truly stands.

    Attributes:
        state: the running game.
        games: games the match is played over.
        won: games won, by side.
        shots: the judged shots of the running round, of the last one between two rounds.
        counts: of the running round: fouls, twenties on fouls, the opponent's twenties.
        rounds: rounds played in the match.
    """

    state: GameState
    games: int
    won: Mapping[str, int] = field(default_factory=dict)
    shots: tuple[Judged, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    rounds: int = 0

    @property
    def over(self) -> bool:
        """Whether the match is decided or all its games are played."""
        return self.state.score.over and (
            max(self.won.values(), default=0) * 2 > self.games or self.state.setup.game_number >= self.games
        )

    @property
    def games_played(self) -> int:
        """Games that have come to their end."""
        return self.state.setup.game_number - (0 if self.state.score.over else 1)


def new_match(board: Board, rules: str, games: int) -> Match:
    """A match before its first shot; side A plays light at seat 1 and opens.

    Raises:
        RulesError: no rule set of this name.
    """
    setup = GameSetup(load_ruleset(rules), opener=1, board=board)
    return Match(begin(setup), games)


def take_shot(match: Match, shot: Shot) -> Match:
    """The match after a shot.

    Where the rules leave it to people (two discs in the hole), our players let everything stand as it was seen and
    bank what lies in the hole for its owners.
    """
    state = match.state if not match.state.score.over else _next_game(match.state)
    first = state.taken == 0
    step = apply(state, ShotTaken(shot))
    if step.refusal is not None:
        step = apply(state, ShotTaken(shot, ruling=_as_seen(state, shot)))
        if step.refusal is not None:
            raise step.refusal
    verdict = step.state.verdict
    if verdict is None:
        raise RuntimeError("a shot was taken without a verdict")
    judged = Judged(1 if first else len(match.shots) + 1, shot, verdict)
    counts = Counter({} if first else match.counts)
    counts["fouls"] += verdict.valid is False
    counts["twenties_on_foul"] += judged.twenty_on_foul
    counts["opponent_twenties"] += judged.opponent_twenty
    shots = (judged,) if first else (*match.shots, judged)
    return replace(match, state=step.state, shots=shots, counts=dict(counts))


def left_lying(match: Match, names: Iterable[str]) -> Match:
    """The match when the discs of a foul are not taken off and play goes on: they count where they lie."""
    last = match.shots[-1].verdict
    position = match.state.position
    discs = {**position.discs, **{name: last.discs[name] for name in names}}
    return replace(match, state=replace(match.state, position=replace(position, discs=discs)))


def pushed(match: Match, name: str, x_mm: float, y_mm: float) -> Match:
    """The match after a hand has pushed a disc and nobody minds: it counts where it lies."""
    position = match.state.position
    r_mm, angle_deg = to_polar(x_mm, y_mm)
    discs = {**position.discs, name: replace(position.discs[name], r_mm=r_mm, angle_deg=angle_deg)}
    return replace(match, state=replace(match.state, position=replace(position, discs=discs)))


def count_round(match: Match) -> tuple[Match, dict[str, Any]]:
    """Count a round whose shots are all taken: the match after it and the round's entry for the truth file."""
    position = match.state.position
    step = apply(match.state, RoundCounted())
    if step.refusal is not None:
        raise step.refusal
    played = step.state.rounds[-1]
    sides = sorted(played.round)
    counts = {name: match.counts.get(name, 0) for name in COUNTS}
    counts["line_discs"] = line_discs(position, match.state.setup.board)
    entry = {
        "is": "round",
        "number": match.rounds + 1,
        "totals": dict(played.round),
        "twenties": {side: position.banked.get(side, 0) for side in sides},
        "counts": counts,
        "scores": dict(step.state.score.scores),
    }
    won = dict(match.won)
    score = step.state.score
    if score.over and score.winner is not None:
        won[score.winner] = won.get(score.winner, 0) + 1
    return replace(match, state=step.state, won=won, rounds=match.rounds + 1), entry


def next_game(match: Match) -> Match:
    """The match with its next game begun, when one has ended and another follows; else the match as it is."""
    if match.state.score.over and not match.over:
        return replace(match, state=_next_game(match.state))
    return match


def answer(match: Match, board: Board, discs: Mapping[str, DiscState], question: Mapping[str, Any]) -> str:
    """The key of the choice that people at the table would tap, because they have seen what happened.

    Args:
        match: the truth.
        board: geometry.
        discs: what lies on the board now.
        question: an open question of the table's snapshot.
    """
    keys = [str(choice["key"]) for choice in question["choices"]]
    told = question.get("facts", {})
    kind = question["kind"]
    wanted = ""
    if kind == "line":
        wanted = _line_answer(board, discs, told, keys)
    elif kind == "round":
        wanted = "keep"
    else:
        judged = next(
            (j for j in match.shots if j.number == told.get("shot")), match.shots[-1] if match.shots else None
        )
        if judged is not None:
            wanted = (judged.twenty_side or "none") if kind == "twenty" else ("yes" if judged.verdict.valid else "no")
    return wanted if wanted in keys else keys[-1]


class Diary:
    """The truth file: one JSON object a line, written at once.

    Args:
        path: where; None writes nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else path.open("w", encoding="utf-8")

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add an entry."""
        if self._file is not None:
            self._file.write(json.dumps(entry, separators=(",", ":")) + "\n")
            self._file.flush()

    def shot(self, judged: Judged, at_ns: int) -> None:
        """Add a judged shot, for whoever looks for the cause of a mismatch."""
        self.write(
            {
                "is": "shot",
                "at_ns": at_ns,
                "number": judged.number,
                "side": judged.shot.side,
                "disc": judged.shot.disc,
                "valid": judged.verdict.valid,
                "reason": judged.verdict.reason,
                "events": judged.shot.events,
                "rest": {disc: _told(where) for disc, where in judged.shot.rest.items()},
                "twenties": dict(judged.verdict.twenties),
                "removed": sorted(judged.verdict.removed),
            }
        )

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _turn(state: GameState) -> tuple[str, int]:
    if state.turn is None:
        raise RuntimeError("nobody has a shot left in this round")
    return state.turn


def _next_game(state: GameState) -> GameState:
    return begin(replace(state.setup, game_number=state.setup.game_number + 1))


def _as_seen(state: GameState, shot: Shot) -> Position:
    discs = {**state.position.discs}
    banked = dict(state.position.banked)
    for name, where in shot.rest.items():
        side = shot.side if name == shot.disc else discs[name].side
        discs.pop(name, None)
        if where == "hole":
            banked[side] = banked.get(side, 0) + 1
        elif isinstance(where, Place) and where.r_mm < state.setup.board.limits_mm[2]:
            discs[name] = Disc(side, where.r_mm, where.angle_deg, where.leaning)
    return Position(discs, banked)


def _moved(old: DiscState, new: DiscState) -> bool:
    return math.dist((old.x_mm, old.y_mm), (new.x_mm, new.y_mm)) > _MOVED_MM


def _rest(disc: DiscState) -> Rest:
    if disc.where in {"hole", "stacked"}:
        return "hole"
    if disc.where == "ditch":
        return "ditch"
    return Place(*to_polar(disc.x_mm, disc.y_mm), leaning=disc.where == "leaning")


def _told(where: Rest) -> Any:
    return where if isinstance(where, str) else [round(where.r_mm, 2), round(where.angle_deg, 1), where.leaning]


def _line_answer(board: Board, discs: Mapping[str, DiscState], told: Mapping[str, Any], keys: list[str]) -> str:
    at = (float(told.get("x_mm", math.inf)), float(told.get("y_mm", math.inf)))
    near = min(discs.values(), key=lambda d: math.dist((d.x_mm, d.y_mm), at), default=None)
    values = sorted((int(key) for key in keys if key.isdigit()), reverse=True)
    if not values:
        return keys[-1]
    if near is None or near.where in {"ditch", "hand"} or math.dist((near.x_mm, near.y_mm), at) > board.disc_radius_mm:
        return str(values[-1])
    inside = near.r_mm < float(told.get("limit_mm", 0.0))
    return str(values[0] if inside else values[-1])
