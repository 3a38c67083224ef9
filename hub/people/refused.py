"""A request that is not carried out, and the one check that most requests share."""

from __future__ import annotations

from hub.round import Round
from hub.state import Match, TableState


class RefusedError(Exception):
    """A request that is not carried out; changes nothing.

    Attributes:
        code: for programs: ``stale``, ``no_match``, ``no_question`` ...
        sentence: for people.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(f"{code}: {sentence}")
        self.code = code
        self.sentence = sentence


def running_match(state: TableState) -> tuple[Match, Round]:
    """The match that is being played and its running round.

    Raises:
        RefusedError: ``no_match``.
    """
    match = state.match
    if match is None or match.running is None:
        raise RefusedError("no_match", "no match is being played here; start one first")
    return match, match.running
