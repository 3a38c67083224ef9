"""What people do at a table: start, answer, confirm, correct, abandon; pure, and refused with a code and a sentence."""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging import hole, twenties
from hub.judging.judged import judged_again, settle
from hub.judging.lines import with_line_questions
from hub.link.asks import (
    Abandon,
    AnswerQuestion,
    AskBody,
    CallReferee,
    CloseEvening,
    Concede,
    Confirm,
    Correct,
    Forget,
    Invite,
    Move,
    Name,
    Pause,
    RefereeDone,
    Resume,
    Rule,
    Start,
    TimeOut,
    WalkOver,
    Who,
)
from hub.link.snapshot import Side
from hub.people.conduct import conducted
from hub.people.corrections import corrected, with_20s_in, with_round
from hub.people.evening import of_the_evening, tidy
from hub.people.refused import RefusedError, running_match
from hub.people.rulings import open_question, ruling_reason
from hub.referee import end_swept, told_of
from hub.round import Question, Round, Ruling
from hub.rounds import begin_match, finish_round
from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset
from hub.rules.ruleset import changed
from hub.state import Match, TableState
from hub.tally import last_number, shots_left, twenties_of


def act(state: TableState, entry: Entry, body: AskBody) -> TableState:
    """Carry out a request.

    Raises:
        RefusedError: it cannot be done now.
    """
    match body:
        case Start():
            after = _start(state, entry, body)
        case AnswerQuestion():
            after = _answer(state, entry, body)
        case Confirm():
            after = _confirm(state, entry, body)
        case Correct():
            after = corrected(state, entry, body)
        case Abandon():
            after = _abandon(state)
        case Rule() if body.question:
            after = _answer(state, entry, body, ruling_reason(body))
        case Move() | Name() | CloseEvening():
            after = of_the_evening(state, body)
        case _:
            after = conducted(state, entry, body)
    return after


def touches(body: AskBody) -> str:
    """Which mark of the state a request depends on: it is refused if that has changed since it was seen."""
    match body:
        case Start() | Abandon() | WalkOver() | TimeOut() | Concede() | Move():
            return "match"
        case Confirm():
            return "round"
        case AnswerQuestion() | Pause() | Resume() | CallReferee() | RefereeDone() | Name() | Rule():
            return ""  # says itself what it is about, or is as right as before
        case Forget() | CloseEvening() | Who() | Invite():
            return ""  # asked of no table
        case _:
            return "action"


def _start(state: TableState, entry: Entry, body: Start) -> TableState:
    if state.match is not None and state.match.running is not None and not state.match.auto:
        raise RefusedError("match_running", "a match is being played here; finish or abandon it first")
    try:
        ruleset = load_ruleset(body.rules)
        if body.players is not None:
            ruleset = changed(ruleset, {"name": ruleset.name, "title": ruleset.title, "players": body.players})
    except RulesError as error:
        raise RefusedError(error.code, error.sentence) from None
    if body.games < 1 or body.games > 99:
        raise RefusedError("bad_value", f"games: expected 1 to 99, got {body.games}")
    if body.light == "C":
        raise RefusedError("bad_side", "light: expected side A or B; a third side plays discs of its own")
    if "C" in {body.opener, *body.names} and ruleset.players != "cutthroat":
        raise RefusedError("bad_side", "side C plays only in a game of three")
    return begin_match(
        state,
        entry,
        rules=ruleset,
        level=body.level,
        light=body.light,
        opener=body.opener,
        games=body.games,
        names=dict(body.names),
        event=None if body.event is None else tidy(body.event),
    )


def _answer(state: TableState, entry: Entry, body: AnswerQuestion | Rule, reason: str = "") -> TableState:
    match = state.match
    if match is None:
        raise RefusedError("no_match", "no match is being played here")
    playing, question = open_question(match, body.question)
    if body.choice not in {choice.key for choice in question.choices}:
        keys = ", ".join(choice.key for choice in question.choices)
        raise RefusedError("no_choice", f"{body.choice!r} is no answer to this question; there are {keys}")
    if playing is match.running:
        after = _answer_running(state, entry, question, body.choice, reason)
        return _with_20s_in(after, playing)
    return _answer_finished(state, entry, playing, question, body.choice, reason=reason)


def _with_20s_in(state: TableState, playing: Round) -> TableState:
    """Told totals hold a twenty, too, that an answer has given somebody."""
    match = state.match
    running = match.running if match is not None else None
    if match is None or running is None or (running.game, running.number) != (playing.game, playing.number):
        return state
    return state.with_running(with_20s_in(match, running))


def _answer_running(state: TableState, entry: Entry, question: Question, choice: str, reason: str) -> TableState:
    match, playing = running_match(state)
    if question.kind == "round":
        return end_swept(state, entry, keep=choice == "keep")
    playing = _answered(match, playing, question, choice, reason)
    state = state.with_running(playing)
    told = twenties.answered(state, question, choice)
    if told is not None:
        state, shot = told
        return settle(state, entry) if shot is None else told_of(state, entry, shot)
    if question.shot:
        return _leaners_back(judged_again(state, entry, question.shot), question.shot)
    return settle(state, entry)


def _leaners_back(state: TableState, number: int) -> TableState:
    """On a board that was swept no layout shows a disc again that people say had leaned in the hole."""
    match = state.match
    playing = match.running if match is not None else None
    if match is None or playing is None or not playing.swept:
        return state
    shot = next((shot for shot in playing.shots if shot.number == number), None)
    return state if shot is None else state.with_running(hole.leaners_told(match, playing, shot))


def _answered(match: Match, playing: Round, question: Question, choice: str, reason: str) -> Round:
    questions = tuple(q for q in playing.questions if q.id != question.id)
    playing = replace(playing, questions=questions)
    if question.kind == "line":
        disc = next((d for d in playing.record if d.id == question.disc), None)
        if disc is None:
            return playing
        ruling = Ruling(int(choice), disc.x_mm, disc.y_mm, reason, last_number(playing))
        return replace(playing, rulings={**playing.rulings, disc.id: ruling})
    shots = []
    for shot in playing.shots:
        told = shot
        if shot.number == question.shot and question.kind == "valid":
            told = replace(shot, ruled=choice == "yes")
        elif shot.number == question.shot:
            told = replace(hole.answered(match, shot, choice), reason=reason or shot.reason)
        shots.append(told)
    return replace(playing, shots=tuple(shots))


def _answer_finished(
    state: TableState, entry: Entry, playing: Round, question: Question, choice: str, *, reason: str
) -> TableState:
    """A question that was still open when the board was cleared."""
    match = state.match
    if match is None:
        return state
    told = _answered(match, playing, question, choice, reason)
    shots = []
    for shot in told.shots:
        if shot.number == question.shot and question.kind == "valid":
            counts: dict[Side, int] = {}
            for side in shot.holed.values() if choice == "yes" else ():
                counts[side] = counts.get(side, 0) + 1
            shots.append(replace(shot, twenties=counts))
        elif shot.number == question.shot:
            told = hole.leaners_told(match, told, shot)
            shots.append(replace(shot, twenties={} if choice == "none" else {choice: 1}))
        else:
            shots.append(shot)
    if question.kind == "twenty" and not question.shot:
        extra = {side: told.extra.get(side, 0) + (side == choice) for side in match.sides}
        told = replace(told, extra=extra)
    told = with_line_questions(match, replace(told, shots=tuple(shots)))
    return with_round(state, entry, match, with_20s_in(match, told))


def confirm_by_button(state: TableState, entry: Entry) -> TableState:
    """The button at the table: confirm whatever round is running.

    Raises:
        RefusedError: it is not finished.
    """
    _, playing = running_match(state)
    return _confirm(state, entry, Confirm(playing.number))


def _confirm(state: TableState, entry: Entry, body: Confirm) -> TableState:
    match, playing = running_match(state)
    if body.round != playing.number:
        raise RefusedError("stale", f"round {body.round} is not the running one, that is round {playing.number}")
    if playing.swept:
        return end_swept(state, entry, keep=True)
    if not playing.done and not playing.totals and twenties.camera_there(state):
        left = sum(shots_left(match, playing).values())
        raise RefusedError("not_finished", f"round {playing.number} is not finished, {left} discs are not yet shot")
    if not playing.done and not playing.totals and not sum(twenties_of(match, playing).values()):
        raise RefusedError("no_totals", "nobody saw this round; enter its totals first")
    return finish_round(state.with_running(replace(playing, questions=())), entry)


def _abandon(state: TableState) -> TableState:
    match, _ = running_match(state)
    lying = any(disc.state != "ditch" for disc in state.layout)
    return replace(state, match=replace(match, running=None, abandoned=True), fresh=not lying)
