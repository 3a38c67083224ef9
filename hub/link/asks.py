"""The bodies of what people ask of the hub: ``crokinole/1/<board>/ask/<request>``."""

from __future__ import annotations

import msgspec

from hub.link.messages import MessageError
from hub.link.snapshot import Level, Side


class Start(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Start a match.

    Attributes:
        names: of the sides; a missing one is shown by its colour.
        rules: name of a rule set.
        level: what the hub may decide by itself.
        light: the side that plays the light discs.
        opener: side that shoots first.
        games: games the match is played over; the first to win more than half.
    """

    names: dict[Side, str] = {}
    rules: str = "match-play"
    level: Level = "count"
    light: Side = "A"
    opener: Side = "A"
    games: int = 1


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
    """

    side: Side | None = None
    twenties: int | None = None
    shot: int | None = None
    valid: bool | None = None
    disc: str | None = None
    value: int | None = None
    round: int = 0
    totals: dict[Side, int] = {}


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Take back the last human action."""


class Redo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Do again what was undone last."""


class Abandon(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """End the match without a winner."""


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for a token: a board's PIN or an organiser's password."""

    board: str
    pin: str


AskBody = Start | AnswerQuestion | Confirm | Correct | Undo | Redo | Abandon | Login

REQUESTS: dict[str, type[AskBody]] = {
    "start": Start,
    "answer": AnswerQuestion,
    "confirm": Confirm,
    "correct": Correct,
    "undo": Undo,
    "redo": Redo,
    "abandon": Abandon,
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
