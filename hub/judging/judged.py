"""Judging as a change of state: a shot is judged, new or again, and whatever hangs on it is brought up to date."""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging import twenties
from hub.judging.hole import at_hole, undecided, words
from hub.judging.lines import with_line_questions
from hub.judging.record import after_shot, with_out
from hub.judging.verdicts import judge
from hub.link.snapshot import Side
from hub.round import Round, ShotRecord
from hub.rounds import announce
from hub.state import Match, TableState, shot_key
from hub.tally import expected


def running_of(state: TableState) -> tuple[Match | None, Round | None]:
    """The match and its running round, None where there is none."""
    match = state.match
    return (match, match.running) if match is not None else (None, None)


def playing_of(state: TableState) -> Round:
    """The running round.

    Raises:
        ValueError: there is none.
    """
    playing = running_of(state)[1]
    if playing is None:
        raise ValueError(f"board {state.board}: no round is running")
    return playing


def settle(state: TableState, entry: Entry) -> TableState:
    """After any change: the round may be over, and line questions come and go."""
    match, playing = running_of(state)
    if match is None or playing is None or playing.swept:
        return state
    if not playing.done and playing.shots and expected(match, playing) is None:
        playing = replace(playing, done=True)
    if playing.done and any(shot.waits and shot.settled for shot in playing.shots):
        return asked(state.with_running(playing), entry)
    if playing.shots and playing.shots[-1].settled:
        playing = with_line_questions(match, with_out(match, playing, state.layout))
    return state.with_running(playing)


def judged_again(state: TableState, entry: Entry, number: int) -> TableState:
    """Judge a shot of the running round again after its evidence or a ruling has changed; 0 is no shot."""
    playing = running_of(state)[1]
    shot = next((shot for shot in playing.shots if shot.number == number), None) if playing is not None else None
    if playing is None or shot is None:
        return state
    told = words(playing, number + 1)
    state = judged(state, entry, shot)
    if words(playing_of(state), number + 1) != told:  # later shots were judged with another disc at the hole
        for later in range(number + 1, len(playing.shots) + 1):
            state = judged(state, entry, playing_of(state).shots[later - 1])
    return settle(state, entry)


def judged(
    state: TableState,
    entry: Entry,
    shot: ShotRecord,
    *,
    onward: bool = False,
    asks: bool = False,
    picture: bytes | None = None,
) -> TableState:
    """Judge a shot, new or again, and bring record, removals, questions and the flash up to date.

    Args:
        state: the table.
        entry: the line that led to it.
        shot: to be judged.
        onward: play has gone on since.
        asks: people are asked what is in doubt, also while a disc lies in the hole that a hand would tell of.
        picture: JPEG of the doubt, for people.
    """
    match, playing = running_of(state)
    if match is None or playing is None:
        return state
    key = shot_key(match, playing, shot.number)
    verdict = state.ruled.get(key)
    if verdict is not None:
        shot = replace(shot, ruled=verdict.valid, reason=verdict.reason)
        state = replace(state, ruled={**state.ruled, key: replace(verdict, applied=True)})
    is_last = shot.number >= len(playing.shots)
    over = playing.done or shot.number >= len(match.order(playing))
    known = next((q for q in playing.questions if q.shot == shot.number), None)
    lies = _lies_at_hole(state, shot)
    told = judge(
        match,
        playing,
        shot,
        beam_tells=twenties.beam_tells(state, shot),
        onward=onward or not is_last or over,
        lies_there=lies and not (over or asks or known),
        picture=picture,
    )
    earlier = tuple(s for s in playing.shots if s.number != shot.number)
    shots = tuple(sorted((*earlier, told.shot), key=lambda s: s.number))
    questions = tuple(q for q in playing.questions if q.shot != shot.number)
    asked = playing.asked
    if told.question is not None:
        question = told.question
        if known is not None:
            question = replace(question, picture=question.picture or known.picture)
        asked += known is None or known.id != question.id
        questions = (*questions, question)
    playing = replace(playing, shots=shots, questions=questions, asked=asked)
    if is_last:
        playing = after_shot(match, playing, told.shot, state.layout, in_doubt=told.in_doubt)
    state = announce(state.with_running(playing), entry, match, told.shot, in_doubt=told.in_doubt)
    return settle(state, entry) if is_last else state


def asked(state: TableState, entry: Entry, shooter: Side | None = None) -> TableState:
    """Hands have told nothing about what waited for them: people are asked.

    Not yet of a disc that lies at the hole still, since a hand will tell of it, unless the shot that comes now is
    another one by it: the only disc that it could have to touch.

    Args:
        state: the table.
        entry: the line that led to it.
        shooter: whose shot comes now; None where play is over.
    """
    for shot in playing_of(state).shots:
        if shot.waits:
            asks = shooter is None or _decides(state, shot, shooter)
            state = judged(state, entry, shot, onward=True, asks=asks)
    return state


def _lies_at_hole(state: TableState, shot: ShotRecord) -> bool:
    """Whether a disc lies at the hole still of which it is in doubt whether it lies in it, or that nothing noticed."""
    doubted = {*undecided(shot), *(disc for disc, where in shot.rest.items() if where == "hole")}
    return any(disc.id in doubted and disc.state != "ditch" and at_hole(disc) for disc in state.layout)


def _decides(state: TableState, shot: ShotRecord, shooter: Side) -> bool:
    """Whether what a shot must do hangs on a doubtful disc at the hole: no other opposing disc is there."""
    match, playing = running_of(state)
    if match is None or playing is None:
        return True
    theirs = {disc.id for disc in state.layout if disc.state != "ditch" and match.side_of(disc.colour) != shooter}
    doubted = undecided(shot)
    return bool(theirs & doubted) and not theirs - doubted - set(playing.old) - set(playing.lying)
