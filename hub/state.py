"""The state of one table as frozen values: what the referee remembers, what is stored with every batch.

Everything that can be derived (scores, turn, banked twenties) is derived, so that a correction needs no bookkeeping.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec.structs import replace

from hardware.board import TOURNAMENT, Board
from hub.link.messages import Colour, LayoutDisc
from hub.link.snapshot import Event, Flash, Level, Seen, Side
from hub.remembered import Remembered
from hub.round import Candidate, Round, ShotRecord
from hub.rules.game import GameSetup, order_of_round
from hub.rules.ruleset import Ruleset, changed, to_table
from hub.rules.seats import seat_of, sides_of

RulesTable = dict[str, str | int]


class LevelChange(msgspec.Struct, frozen=True, gc=False):
    """When a match's level changed, on the clock of the machine that started as ``boot``, and what it was before."""

    boot: str
    at_ns: int
    before: Level


class Match(msgspec.Struct, frozen=True, gc=False):
    """A match and its rounds; scores are derived from them.

    Attributes:
        id: unique in the club.
        rules: the rule set as it was when the match began.
        level: what the hub may decide by itself.
        light: the side that plays the light discs.
        opener: the side that opened the first round.
        games: games it is played over.
        names: ids of the players by side.
        auto: opened by a first shot and not by people.
        started_ms: wall time.
        rounds: finished rounds of all games.
        running: the running round, None when the match is over.
        abandoned: ended without a winner.
        conceded: games that were given up, and by which side.
        walk_over: the side that did not come or does not go on; the match is the others'.
        turned: by how many seats clockwise everybody sits from where the rules' seats are counted.
        event: what it is part of.
        asked: the level that was wanted where the board's camera cannot tell enough for it now; None where it can.
        changes: the last changes of the level.
    """

    id: str
    rules: RulesTable
    level: Level
    light: Side
    opener: Side
    games: int
    names: dict[Side, str]
    auto: bool
    started_ms: int
    rounds: tuple[Round, ...] = ()
    running: Round | None = None
    abandoned: bool = False
    conceded: dict[int, Side] = {}
    walk_over: Side | None = None
    turned: int = 0
    event: Event = Event()
    asked: Level | None = None
    changes: tuple[LevelChange, ...] = ()

    @property
    def ruleset(self) -> Ruleset:
        """The rules as a value."""
        return _rulesets.of((self.rules,), lambda: _ruleset(tuple(self.rules.items())))

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that play."""
        return sides_of(self.ruleset.players)  # type: ignore[return-value]  # the rules' sides are these letters

    def named(self, side: str) -> Side:
        """A side by its letter, as the rules and the choices of a question name it.

        Raises:
            KeyError: it does not play.
        """
        for one in self.sides:
            if one == side:
                return one
        raise KeyError(side)

    def side_of(self, colour: Colour) -> Side:
        """Whose discs have a colour."""
        if colour == "third":
            return "C"
        dark: Side = "B" if self.light == "A" else "A"
        return self.light if colour == "light" else dark

    def colour_of(self, side: Side) -> Colour:
        """The colour of a side's discs."""
        if side == "C":
            return "third"
        return "light" if side == self.light else "dark"

    def order(self, playing: Round) -> tuple[tuple[str, int], ...]:
        """Side and seat of every shot of a round."""
        at = (self.opener, playing.game, playing.number, playing.only)
        return _orders.of((self.rules,), lambda: _order(self.ruleset, *at), *at)

    def at(self, playing: Round) -> Match:
        """The match with the colours that were played with in a round."""
        return self if playing.light in {None, self.light} else replace(self, light=playing.light)

    def judging(self, shot: ShotRecord) -> Match:
        """The match at the level under which a shot was shot."""
        return self if shot.level in {None, self.level} else replace(self, level=shot.level)

    def level_at(self, boot: str, at_ns: int) -> Level:
        """The level that held at a time on the clock of the machine that started as ``boot``.

        What another start's clock says of it cannot be compared: of what is told since, the level of now is taken.
        """
        level = self.level
        for change in reversed(self.changes):
            if change.boot != boot or change.at_ns <= at_ns:
                break
            level = change.before
        return level

    def chair(self, seat: int) -> int:
        """Where at the table the seat is that the rules count as ``seat``; 0 stays 0."""
        return (seat - 1 + self.turned) % 4 + 1 if seat else 0

    @property
    def game(self) -> int:
        """Number of the running game, of the last one when the match is over."""
        if self.running is not None:
            return self.running.game
        return max((1, *self.conceded, *(finished.game for finished in self.rounds[-1:])))


class Played(msgspec.Struct, frozen=True, gc=False):
    """An earlier match of the evening: what can still be said about it afterwards.

    Attributes:
        id: of the match.
        sides: that played.
        names: ids of the players by side.
        event: what it was part of.
    """

    id: str
    sides: tuple[Side, ...]
    names: dict[Side, str] = {}
    event: Event = Event()


class Sensor(msgspec.Struct, frozen=True, gc=False):
    """What the hub knows of a sensor: whether it is there, its standing faults, what it says that it can tell."""

    online: bool
    faults: tuple[str, ...] = ()
    able: tuple[str, ...] | None = None


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """A referee's ruling on a shot.

    Attributes:
        valid: whether the shot is good.
        reason: one line.
        line: id of the ruling's journal line; of two rulings on a shot the later holds.
        applied: whether the shot has been judged by it.
    """

    valid: bool
    reason: str
    line: int
    applied: bool = False


class Standing(msgspec.Struct, frozen=True, gc=False):
    """The rules and the level under which a first shot opens a match."""

    rules: RulesTable
    level: Level


_HANDS_KEPT = 8


class HandAt(msgspec.Struct, frozen=True, gc=False):
    """When hands came over the board last, on the clock of the machine that started as ``boot``.

    Attributes:
        boot: the machine's start.
        at_ns: the last one.
        earlier_ns: a few before it, since hands may come again before the camera tells of the shot.
    """

    boot: str = ""
    at_ns: int = 0
    earlier_ns: tuple[int, ...] = ()

    def again(self, boot: str, at_ns: int) -> HandAt:
        """One more hand has come."""
        earlier = (*self.earlier_ns, self.at_ns)[-_HANDS_KEPT:] if boot == self.boot else ()
        return HandAt(boot, at_ns, earlier)

    def came_ns(self, boot: str) -> tuple[int, ...]:
        """When they came, if on that machine's clock."""
        return (*self.earlier_ns, self.at_ns) if boot == self.boot else ()


class CalledAt(msgspec.Struct, frozen=True, gc=False):
    """When and where in a match the referee was called; ``shot`` is the number of the last one then, 0 for none."""

    at_ms: int
    match: str = ""
    game: int = 0
    round: int = 0
    shot: int = 0


class TableState(msgspec.Struct, frozen=True, gc=False):
    """Everything the hub knows about one table.

    Attributes:
        board: the board's id.
        rev: grows with each change that people can see.
        at_ms: wall time of the last change.
        entry: id of the last journal line that was taken in.
        since: id of the first line of the chapter: a match and what follows it.
        seen: how far each source has been taken in.
        sensors: by source.
        layout: discs as the camera last saw them, those under a hand included.
        fresh: whether the board was empty after the last match, so that a first shot opens a new one.
        match: the running or last match.
        candidates: the last beam candidates, whether or not a shot has claimed them.
        practice: twenties outside a match.
        flash: the last thing worth a flash.
        flashed: ids of the last ones, so that nothing is announced twice.
        actions: ids of the lines with people's actions that hold, in order.
        undone: ids of those that were undone and can be done again, the last undone last.
        void: ids of those that were undone for good.
        marks: the revision at which what people can touch last changed: ``match``, ``round``, ``action``.
        gaps: facts lost for ever, by source.
        unreadable: facts that could not be read.
        message: one line for people.
        paused: play rests, until people resume it or a side shoots on.
        referee: the referee is called to this table.
        ruled: the referee's rulings on shots of the match, by :func:`shot_key`.
        standing: what the club set for matches that a first shot opens, None for the project's own choice.
        chapters: first lines of the chapters of this evening from which undo may go through the lines again.
        evening: the earlier matches of the evening, oldest first.
        case: under what the pictures of the last call of the referee are kept.
        called: when that call came, and after which shot; None while nobody calls.
        hand: when hands came over the board last.
        edition: of the program that decided all this last, see :mod:`hub.edition`; empty of an early one.
        renewed: id of the line at which that edition took the table over from another, 0 if none did.
    """

    board: str
    rev: int = 0
    at_ms: int = 0
    entry: int = 0
    since: int = 0
    seen: dict[str, Seen] = {}
    sensors: dict[str, Sensor] = {}
    layout: tuple[LayoutDisc, ...] = ()
    fresh: bool = True
    match: Match | None = None
    candidates: tuple[Candidate, ...] = ()
    practice: int = 0
    flash: Flash | None = None
    flashed: tuple[str, ...] = ()
    actions: tuple[int, ...] = ()
    undone: tuple[int, ...] = ()
    void: tuple[int, ...] = ()
    marks: dict[str, int] = {}
    gaps: dict[str, int] = {}
    unreadable: int = 0
    message: str = ""
    paused: bool = False
    referee: bool = False
    ruled: dict[str, Verdict] = {}
    standing: Standing | None = None
    chapters: tuple[int, ...] = ()
    evening: tuple[Played, ...] = ()
    case: str = ""
    called: CalledAt | None = None
    hand: HandAt = HandAt()
    edition: str = ""
    renewed: int = 0

    def with_match(self, match: Match | None) -> TableState:
        """The state with another match."""
        return replace(self, match=match)

    def with_running(self, running: Round) -> TableState:
        """The state with another running round.

        Raises:
            ValueError: there is no match.
        """
        if self.match is None:
            raise ValueError(f"board {self.board}: there is no match whose round could change")
        return replace(self, match=replace(self.match, running=running))


GEOMETRY: Board = TOURNAMENT


def shot_key(match: Match, playing: Round, number: int) -> str:
    """What a shot of a match is called in :attr:`TableState.ruled`."""
    return f"{match.id}-g{playing.game}-r{playing.number}-s{number}"


def rules_table(ruleset: Ruleset) -> RulesTable:
    """A rule set as it is stored with a match."""
    return dict(to_table(ruleset))


_rulesets: Remembered[Ruleset] = Remembered()
_orders: Remembered[tuple[tuple[str, int], ...]] = Remembered()


@lru_cache(maxsize=64)
def _ruleset(items: tuple[tuple[str, str | int], ...]) -> Ruleset:
    return changed(Ruleset(), dict(items))


def _order(
    ruleset: Ruleset, opener: Side, game: int, number: int, only: tuple[Side, ...]
) -> tuple[tuple[str, int], ...]:
    setup = GameSetup(ruleset, opener=seat_of(ruleset.players, opener), game_number=game)
    return order_of_round(setup, number, frozenset(only) or None)
