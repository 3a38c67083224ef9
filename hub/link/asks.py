"""The bodies of what people ask of the hub: ``crokinole/1/<board>/ask/<request>``."""

from __future__ import annotations

from typing import Literal

import msgspec

from hub.link.messages import MessageError
from hub.link.snapshot import Event, Level, Side

Players = Literal["singles", "doubles", "two-v-one", "cutthroat"]


class Start(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Start a match.

    Attributes:
        names: of the sides; a missing one is shown by its colour.
        rules: name of a rule set, or a table of variants with the set it changes as ``base``.
        level: what the hub may decide by itself.
        light: the side that plays the light discs.
        opener: side that shoots first.
        games: games the match is played over; the first to win more than half.
        players: who plays, if not as the rules say.
        event: what the match is part of.
        match: id of the match that a first shot opened and that gets these names and rules though it is over; a
            running one gets them without.
    """

    names: dict[Side, str] = {}
    rules: str | dict[str, str | int | bool] = "match-play"
    level: Level = "count"
    light: Side = "A"
    opener: Side = "A"
    games: int = 1
    players: Players | None = None
    event: Event | None = None
    match: str = ""


class AnswerQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answer an open question with the key of one of its choices."""

    question: str
    choice: str


class Confirm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Confirm the finished round as it stands (``round`` guards against a second phone)."""

    round: int


class Correct(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Correct what the sensors said; exactly one of the groups is given.

    Attributes:
        side: whose twenties of the running (or given) round are corrected.
        twenties: the right number of twenties.
        shot: number of the shot of the running round whose verdict is corrected.
        valid: the right verdict.
        disc: a disc whose zone is corrected.
        value: the right value, 0 to 15.
        round: number of the finished round whose totals are corrected, 0 for the running one.
        totals: the right totals of the round, twenties included.
        among: the twenties among the totals, where they are told too, which answers whose they were; those that are
            known hold otherwise.
    """

    side: Side | None = None
    twenties: int | None = None
    shot: int | None = None
    valid: bool | None = None
    disc: str | None = None
    value: int | None = None
    round: int = 0
    totals: dict[Side, int] = {}
    among: dict[Side, int] = {}


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Take back the last human action."""


class Redo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Do again what was undone last."""


class Abandon(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """End the match without a winner."""


class Pause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Let play rest; a side that shoots ends the pause."""


class Resume(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """End the pause."""


class TimeOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The clock ran out: the side that has shot less takes one more shot, then the round is over.

    Attributes:
        round: the running one as it was seen, 0 for whichever runs.
    """

    round: int = 0


class Swap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Swap what the sides play with.

    Attributes:
        what: ``colours`` from the running round on, its shots so far included, and the seats they were shot from;
            or ``seats``, between rounds.
    """

    what: Literal["colours", "seats"]


class Concede(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A side gives up.

    Attributes:
        side: which.
        what: the running round or the whole game.
        round: the running one as it was seen, 0 for whichever runs.
    """

    side: Side
    what: Literal["round", "game"] = "round"
    round: int = 0


class WalkOver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A side did not come or does not go on: the match is the other's."""

    side: Side


class Name(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attach names and an event to a match of this evening; an empty name takes a name away.

    Attributes:
        names: of the sides that get another one.
        event: what the match is part of; None leaves it as it is.
        match: id of an earlier match of the evening at this board, empty for the running or last one.
    """

    names: dict[Side, str] = {}
    event: Event | None = None
    match: str = ""


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Go on with the match at another board, which must be free.

    Discs cannot be carried where they lie, so a round that has begun is played again there from its first shot.

    Attributes:
        to: the other board.
        restart: that the running round is to be played again, if it has begun.
        round: the running one as it was seen, 0 for whichever runs.
        there: a token that is good at the other board, where the asker's own is not; never journalled.
    """

    to: str
    restart: bool = False
    round: int = 0
    there: str = ""


class CloseEvening(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Close the evening at every board, asked of the hub and of no board: what was played stands as it is then.

    Attributes:
        abandon: end matches that are still being played, without a winner; else they are a reason to refuse.
    """

    abandon: bool = False


class Who(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask what a token is good for at a board; nothing is journalled."""


class CallReferee(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Call the referee to this table; play rests."""


class RefereeDone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The referee was here; play goes on."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The referee's ruling; it stands over every later reading and over what others correct.

    Attributes:
        reason: one line, shown with it.
        shot: number of the shot whose verdict is ruled; ``valid`` is the verdict.
        valid: whether it is good.
        round: number of the round, 0 for the running one.
        game: number of the game, 0 for the running or last one.
        totals: instead of a shot: the totals of the round, twenties included.
        among: the twenties among the totals, where they are ruled too.
        question: instead of both: an open question, which ``choice`` decides.
        choice: the key of one of its choices.
    """

    reason: str
    shot: int | None = None
    valid: bool | None = None
    round: int = 0
    game: int = 0
    totals: dict[Side, int] = {}
    among: dict[Side, int] = {}
    question: str = ""
    choice: str = ""


class Forget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Erase a person's name for ever, asked of the hub and of no board; what was played stays.

    Attributes:
        name: as it is shown; in a journal the player's id.
    """

    name: str


class Invite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for a token that is good at one table, to be shown there as a QR code; asked of the hub and of no board.

    Nothing is journalled, and an invitation ends after a day as one by PIN does.
    """

    board: str


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for a token: a board's PIN or an organiser's password."""

    board: str
    pin: str


AskBody = (
    Start
    | AnswerQuestion
    | Confirm
    | Correct
    | Undo
    | Redo
    | Abandon
    | Pause
    | Resume
    | TimeOut
    | Swap
    | Concede
    | WalkOver
    | Name
    | CallReferee
    | RefereeDone
    | Rule
    | Move
    | Forget
    | CloseEvening
    | Who
    | Invite
    | Login
)

REQUESTS: dict[str, type[AskBody]] = {
    "start": Start,
    "answer": AnswerQuestion,
    "confirm": Confirm,
    "correct": Correct,
    "undo": Undo,
    "redo": Redo,
    "abandon": Abandon,
    "pause": Pause,
    "resume": Resume,
    "time_out": TimeOut,
    "swap": Swap,
    "concede": Concede,
    "walk_over": WalkOver,
    "name": Name,
    "referee": CallReferee,
    "referee_done": RefereeDone,
    "rule": Rule,
    "move": Move,
    "forget": Forget,
    "close": CloseEvening,
    "who": Who,
    "invite": Invite,
    "login": Login,
}


def decode_ask(request: str, body: bytes) -> AskBody:
    """The body of a request.

    Raises:
        MessageError: an unknown request, or a body that does not fit it.
    """
    if request not in REQUESTS:
        raise MessageError(f"unknown request {request!r}, expected one of {', '.join(REQUESTS)}")
    try:
        return msgspec.json.decode(body, type=REQUESTS[request])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageError(f"request {request!r}: {error}") from None
