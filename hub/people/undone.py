"""What an undo took back, or a redo did again, in words; names are never among them."""

from __future__ import annotations

from hub.entries import PEOPLE, Entry
from hub.link.asks import (
    Abandon,
    AnswerQuestion,
    AskBody,
    Concede,
    Confirm,
    Correct,
    Name,
    Rule,
    Start,
    Swap,
    TimeOut,
    WalkOver,
)
from hub.link.messages import MessageError
from hub.round import Question
from hub.state import TableState


def words(entry: Entry, before: TableState, after: TableState) -> str:
    """What people did with a line.

    Args:
        entry: the line of a person or of the button at the table.
        before: the table before it was undone or done again.
        after: the table then; one of the two has the question that the line answers.

    Returns:
        A few words without a full stop, empty of a line that cannot be read.
    """
    if entry.source != PEOPLE:
        return "the round's confirmation by the button"
    try:
        return _words(entry.request(), before, after)
    except MessageError:
        return ""


def _words(body: AskBody, before: TableState, after: TableState) -> str:
    match body:
        case Start():
            same = before.match is not None and after.match is not None and before.match.id == after.match.id
            told = "the names and rules of the match" if same else "the start of the match"
        case AnswerQuestion():
            told = f"the answer to {_asked(body.question, before, after)}"
        case Confirm():
            told = f"the confirmation of round {body.round}"
        case Correct():
            told = _corrected(body, before, after)
        case Rule():
            told = _ruled(body, before, after)
        case Abandon():
            told = "the end of the match"
        case TimeOut():
            told = "the time-out"
        case Swap():
            told = f"the swap of {body.what}"
        case Concede():
            told = f"that {_colour(body.side, before, after)} gave up the {body.what}"
        case WalkOver():
            told = f"the walk-over of {_colour(body.side, before, after)}"
        case Name():
            told = "the names of the match"
        case _:
            told = ""
    return told


def _corrected(body: Correct, before: TableState, after: TableState) -> str:
    where = f" of round {body.round}" if body.round else ""
    if body.side is not None:
        return f"the correction of the {_colour(body.side, before, after)} 20s{where} to {body.twenties}"
    if body.shot is not None:
        return f"the correction of shot {body.shot} to {'good' if body.valid else 'a foul'}"
    if body.disc is not None:
        return f"the correction of {_disc(body.disc, before)} to {body.value}"
    return f"the entered totals{where or ' of the round'}"


def _ruled(body: Rule, before: TableState, after: TableState) -> str:
    where = f" of round {body.round}" if body.round else ""
    if body.question:
        return f"the referee's ruling on {_asked(body.question, before, after)}"
    if body.shot is not None:
        return f"the referee's ruling that shot {body.shot}{where} was {'good' if body.valid else 'a foul'}"
    return f"the referee's ruling on the totals{where or ' of the round'}"


def _colour(side: str, before: TableState, after: TableState) -> str:
    found = after.match or before.match
    if found is None:
        return f"side {side}"
    return next((found.colour_of(known) for known in found.sides if known == side), f"side {side}")


def _disc(disc: str, state: TableState) -> str:
    return next((f"a {lying.colour} disc" for lying in state.layout if lying.id == disc), "a disc")


def _asked(question: str, before: TableState, after: TableState) -> str:
    found = next((q for state in (after, before) for q in _questions(state) if q.id == question), None)
    return "a question" if found is None else f"\u201c{found.text}\u201d"


def _questions(state: TableState) -> tuple[Question, ...]:
    match = state.match
    if match is None:
        return ()
    running = () if match.running is None else (match.running,)
    return tuple(question for playing in (*match.rounds, *running) for question in playing.questions)
