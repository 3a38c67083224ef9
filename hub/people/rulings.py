"""The referee's word: a verdict on any shot of the match or the totals of any round, with a reason, above all others'.

A ruling on a shot of the running round judges the shot again. One on a shot of an earlier round goes through the match
again with the ruling known (:func:`preset`), since only there is the shot's evidence: see :mod:`hub.table`.
"""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging.judged import judged_again
from hub.link.asks import Rule
from hub.people.corrections import round_to_correct, with_round, with_totals
from hub.people.refused import RefusedError
from hub.round import Question, Round
from hub.state import Match, TableState, Verdict, shot_key

REASON_CHARS = 200


def ruled(state: TableState, entry: Entry, body: Rule) -> TableState:
    """Carry out a ruling on a shot of the running round, or on the totals of any round.

    Raises:
        RefusedError: it says nothing, or not about a round or shot that there is.
    """
    match, playing = round_ruled_on(state, body)
    if body.totals or body.among:
        changed = replace(with_totals(match, playing, body.totals, body.among), reason=_reason(body), questions=())
        return with_round(state, entry, match, changed)
    if not any(shot.number == body.shot for shot in playing.shots):
        raise RefusedError("no_shot", f"there is no shot {body.shot} in this round")
    if is_known(state, entry, body):
        return state
    return judged_again(preset(state, entry, state, body), entry, body.shot or 0)


def open_question(match: Match, wanted: str) -> tuple[Round, Question]:
    """An open question of a match, and its round.

    Raises:
        RefusedError: ``no_question``.
    """
    for playing in (*match.rounds, *((match.running,) if match.running is not None else ())):
        for question in playing.questions:
            if question.id == wanted:
                return playing, question
    raise RefusedError("no_question", "this question is no longer open")


def as_ruling(state: TableState, body: Rule) -> Rule:
    """A ruling on an open question about a shot's verdict is one on the shot; any other stays what it is.

    Raises:
        RefusedError: it has no reason, or says something else beside it.
    """
    if not body.question:
        return body
    ruling_reason(body)
    if body.totals or body.among or body.shot is not None or body.valid is not None or state.match is None:
        raise RefusedError("bad_ruling", "expected a question and choice, or shot and valid, or totals")
    playing, question = open_question(state.match, body.question)
    if question.kind != "valid" or body.choice not in {"yes", "no"}:
        return body
    valid = body.choice == "yes"
    return Rule(body.reason, question.shot, valid, round=playing.number, game=playing.game)


def ruling_reason(body: Rule) -> str:
    """The reason, as it is kept.

    Raises:
        RefusedError: there is none.
    """
    reason = _reason(body)
    if not reason:
        raise RefusedError("no_reason", "a ruling needs its reason in a few words")
    return reason


def round_ruled_on(state: TableState, body: Rule) -> tuple[Match, Round]:
    """The match and the round that a ruling is about.

    Raises:
        RefusedError: the ruling says nothing, or there is no such round.
    """
    ruling_reason(body)
    shot = body.shot is not None and body.valid is not None
    told = bool(body.totals or body.among)
    if shot == told or (not shot and (body.shot is not None or body.valid is not None)):
        raise RefusedError("bad_ruling", "expected either shot and valid, or totals")
    if state.match is None:
        raise RefusedError("no_match", "no match is being played here")
    return state.match, round_to_correct(state.match, body.round, body.game)


def is_earlier(state: TableState, body: Rule) -> bool:
    """Whether a ruling is about a shot of a finished round."""
    playing = round_ruled_on(state, body)[1]
    return body.shot is not None and playing.confirmed


def is_known(state: TableState, entry: Entry, body: Rule) -> bool:
    """Whether a ruling on a shot, or a later one on the same, has been applied; so it is when a match is replayed."""
    match, playing = round_ruled_on(state, body)
    known = state.ruled.get(shot_key(match, playing, body.shot or 0))
    return known is not None and known.applied and known.line >= entry.id


def preset(state: TableState, entry: Entry, seen: TableState, body: Rule) -> TableState:
    """``state`` with a ruling that holds as soon as its shot is judged; ``seen`` is the state it was made in."""
    match, playing = round_ruled_on(seen, body)
    key = shot_key(match, playing, body.shot or 0)
    return replace(state, ruled={**seen.ruled, key: Verdict(bool(body.valid), _reason(body), entry.id)})


def _reason(body: Rule) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in body.reason).split())[:REASON_CHARS]
