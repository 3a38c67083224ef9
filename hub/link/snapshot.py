"""The retained snapshot of one table: everything a wall, a phone, an overlay or a simulated player needs to know.

The hub alone writes it, after every transaction; ``rev`` grows with each change that people can see or act on and
``seen`` says up to which fact of each source it has been brought.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from hub.link.messages import Colour

Side = Literal["A", "B", "C"]
Level = Literal["count", "advise", "judge"]
Phase = Literal["idle", "round", "settling", "round_over", "match_over", "paused"]


class Event(msgspec.Struct, frozen=True, gc=False):
    """What a match is part of, as the wall and the archive say it; any of it may be empty.

    Attributes:
        name: of the event.
        stage: final, group B ...
        table: number or name of the table in the event.
    """

    name: str = ""
    stage: str = ""
    table: str = ""


class PlayedView(msgspec.Struct, frozen=True, gc=False):
    """An earlier match of the evening at this board, to which names can still be attached."""

    id: str
    names: dict[Side, str]
    event: Event = Event()


class Seen(msgspec.Struct, frozen=True, gc=False):
    """How far the facts of one source have been taken in."""

    boot: str
    seq: int


class SideView(msgspec.Struct, frozen=True, gc=False):
    """One side as the wall shows it.

    Attributes:
        name: of the player or team.
        colour: of its discs.
        score: points of the running game.
        games: games of the match won.
        twenties: banked in this round, confirmed.
        provisional: twenties of this round that still wait for the camera or for people.
        total_twenties: confirmed twenties of the match, this round's included.
        board: what its discs on the board would score now.
        shots_left: discs not yet shot in this round.
        hammer: whether it has the last shot of this round.
        entered: the total of this round that people entered, 20s included; None where it is counted.
    """

    name: str
    colour: Colour
    score: int = 0
    games: int = 0
    twenties: int = 0
    provisional: int = 0
    total_twenties: int = 0
    board: int = 0
    shots_left: int = 0
    hammer: bool = False
    entered: int | None = None


class DiscView(msgspec.Struct, frozen=True, gc=False):
    """A disc as the camera sees it, with what it would score; ``close`` = too close to a line to call."""

    id: str
    colour: Colour
    x_mm: float
    y_mm: float
    sigma_mm: float
    state: str
    value: int
    margin_mm: float
    close: bool = False


class Choice(msgspec.Struct, frozen=True, gc=False):
    """One answer that people can tap; ``reading`` = what was seen if this is the truth, where that can be said."""

    key: str
    text: str
    reading: str = ""


class Question(msgspec.Struct, frozen=True, gc=False):
    """Something the sensors cannot decide and that decides something.

    Attributes:
        id: stable while the question is open.
        kind: ``twenty`` (whose was it), ``valid`` (a shot), ``line`` (a disc at one) or ``round`` (swept early).
        text: the question in one sentence.
        choices: what can be answered.
        discs: ids of the discs concerned, for the drawing.
        picture: base64 JPEG or empty.
        facts: machine-readable particulars, e.g. ``{"disc": "d5", "x_mm": 80.1, "y_mm": 27.4, "limit_mm": 84.8}``.
    """

    id: str
    kind: str
    text: str
    choices: tuple[Choice, ...]
    discs: tuple[str, ...] = ()
    picture: str = ""
    facts: dict[str, str | float | int] = {}


class Removal(msgspec.Struct, frozen=True, gc=False):
    """A disc that people must take off the board, or lift out of the hole (``why`` = ``foul``, ``twenty``, ``out``)."""

    disc: str
    colour: Colour
    x_mm: float
    y_mm: float
    why: str
    text: str


class VerdictView(msgspec.Struct, frozen=True, gc=False):
    """The last shot's judgement in words and codes; ``ruled`` = the referee's reason, empty where none has ruled."""

    shot: int
    side: Side
    valid: bool
    code: str
    text: str
    provisional: bool = False
    ruled: str = ""


class RoundView(msgspec.Struct, frozen=True, gc=False):
    """A finished round: totals with twenties, what the rules made of them; ``low``/``high`` differ while in doubt.

    ``questions`` counts what people were asked of it, answered or not; ``conceded`` is the side that gave it up,
    ``ruled`` what the referee ruled on it, one line each.
    """

    number: int
    game: int
    totals: dict[Side, int]
    twenties: dict[Side, int]
    added: dict[Side, int]
    low: dict[Side, int] = {}
    high: dict[Side, int] = {}
    questions: int = 0
    conceded: Side | None = None
    ruled: tuple[str, ...] = ()


class SensorView(msgspec.Struct, frozen=True, gc=False):
    """A sensor as the hub knows it."""

    online: bool
    faults: tuple[str, ...] = ()
    frame_rate_hz: float | None = None


class Flash(msgspec.Struct, frozen=True, gc=False):
    """What the wall flashes and speaks: a 20 and whose, a foul, the round's result; ``id`` so that it is shown once."""

    id: str
    clip: str
    text: str
    side: Side | None = None
    at_ms: int = 0
    provisional: bool = False


class StandingView(msgspec.Struct, frozen=True, gc=False):
    """What the club set for matches that nobody set anything for: the name of the rules, and the level."""

    rules: str
    level: Level


class RefereeCall(msgspec.Struct, frozen=True, gc=False):
    """A call of the referee, and the shot that was the last one then, which it stays about though others follow.

    Attributes:
        at_ms: wall time of the call.
        game: number of the game it was called in, 0 outside a match.
        round: number of the round.
        shot: number of the last shot in that round, 0 if there was none.
        valid: how that shot stands now; None once its round is counted.
        text: the same in words, empty then.
    """

    at_ms: int
    game: int = 0
    round: int = 0
    shot: int = 0
    valid: bool | None = None
    text: str = ""


class Table(msgspec.Struct, frozen=True, gc=False):
    """The whole state of one table.

    Attributes:
        board: the board's id.
        rev: grows with each visible change.
        at_ms: wall time of the last change.
        seen: per source, how far its facts have been taken in.
        phase: idle (no match), round, settling (all shot, something open), round_over (waits for the board to be
            cleared), match_over, paused.
        rules: title of the rule set.
        level: what the hub may decide by itself.
        match_id: empty without a match.
        game: number of the running game, from 1.
        round: number of the running round, from 1.
        turn: side whose shot is expected, None between rounds.
        seat: seat whose shot is expected, 0 when nobody's.
        opener: side that opened the round.
        shot: shots taken in this round.
        sides: A, B (and C) as shown.
        discs: what lies on the board and in the ditch.
        verdict: of the last shot.
        remove: discs that people must take away now.
        questions: open questions.
        rounds: the finished rounds of the match.
        winner: of the match.
        sensors: beam, camera.
        flash: the last thing worth a flash.
        practice: twenties outside a match.
        message: one line for people, e.g. ``clear the board``.
        can_undo: whether undo would do something.
        can_redo: whether redo would.
        players: singles, doubles, two-v-one or cutthroat; empty without a match.
        seats: the side at each seat in use, by the number of the chair clockwise from where seat 1 is set up.
        referee: the referee is called to this table.
        time_out: the clock of the round has run out.
        walk_over: the side that did not come or did not go on.
        event: what the match is part of.
        evening: the earlier matches of the evening at this board, oldest first.
        auto: whether a first shot opened the match, so that people may still give it its rules.
        case: under what the pictures of a call of the referee are kept, empty while there is none.
        call: when the referee was called and about which shot; None while nobody calls.
        standing: under what a first shot opens a match here.
    """

    board: str
    rev: int
    at_ms: int
    seen: dict[str, Seen]
    phase: Phase = "idle"
    rules: str = ""
    level: Level = "count"
    match_id: str = ""
    game: int = 1
    round: int = 0
    turn: Side | None = None
    seat: int = 0
    opener: Side | None = None
    shot: int = 0
    sides: dict[Side, SideView] = {}
    discs: tuple[DiscView, ...] = ()
    verdict: VerdictView | None = None
    remove: tuple[Removal, ...] = ()
    questions: tuple[Question, ...] = ()
    rounds: tuple[RoundView, ...] = ()
    winner: Side | None = None
    sensors: dict[str, SensorView] = {}
    flash: Flash | None = None
    practice: int = 0
    message: str = ""
    can_undo: bool = False
    can_redo: bool = False
    players: str = ""
    seats: dict[int, Side] = {}
    referee: bool = False
    time_out: bool = False
    walk_over: Side | None = None
    event: Event = Event()
    evening: tuple[PlayedView, ...] = ()
    case: str = ""
    auto: bool = False
    call: RefereeCall | None = None
    standing: StandingView | None = None
