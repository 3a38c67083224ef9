"""What people do at a table: start, answer, confirm, correct, abandon; pure, and refused with a code and a sentence."""

from __future__ import annotations

from msgspec.structs import replace

from hub import twenties
from hub.entries import Entry
from hub.link.asks import Abandon, AnswerQuestion, AskBody, Confirm, Correct, Start
from hub.link.snapshot import Side
from hub.referee import end_swept, judged_again, settle, told_of
from hub.rounds import begin_match, finish_round
from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset
from hub.rules.scoring import check_count
from hub.state import Match, Question, Round, Ruling, TableState
from hub.tally import board_points, game_score, shots_left, twenties_of


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


def act(state: TableState, entry: Entry, body: AskBody) -> TableState:
    """Carry out a request.

    Raises:
        RefusedError: it cannot be done now.
    """
    match body:
        case Start():
            return _start(state, entry, body)
        case AnswerQuestion():
            return _answer(state, entry, body)
        case Confirm():
            return _confirm(state, entry, body)
        case Correct():
            return _correct(state, entry, body)
        case Abandon():
            return _abandon(state)
        case _:
            raise RefusedError("not_here", f"{type(body).__name__} is not asked of a table")


def touches(body: AskBody) -> str:
    """Which mark of the state a request depends on: it is refused if that has changed since it was seen."""
    match body:
        case Start() | Abandon():
            return "match"
        case Confirm():
            return "round"
        case AnswerQuestion():
            return ""  # the question's own id says what was seen
        case _:
            return "action"


def _start(state: TableState, entry: Entry, body: Start) -> TableState:
    if state.match is not None and state.match.running is not None and not state.match.auto:
        raise RefusedError("match_running", "a match is being played here; finish or abandon it first")
    try:
        ruleset = load_ruleset(body.rules)
    except RulesError as error:
        raise RefusedError(error.code, error.sentence) from None
    if body.games < 1 or body.games > 99:
        raise RefusedError("bad_value", f"games: expected 1 to 99, got {body.games}")
    if "C" in {body.light, body.opener, *body.names} and ruleset.players != "cutthroat":
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
    )


def _running(state: TableState) -> tuple[Match, Round]:
    match = state.match
    if match is None or match.running is None:
        raise RefusedError("no_match", "no match is being played here; start one first")
    return match, match.running


def _answer(state: TableState, entry: Entry, body: AnswerQuestion) -> TableState:
    match = state.match
    if match is None:
        raise RefusedError("no_match", "no match is being played here")
    places = (*match.rounds, *((match.running,) if match.running is not None else ()))
    for playing in places:
        question = next((q for q in playing.questions if q.id == body.question), None)
        if question is None:
            continue
        if body.choice not in {choice.key for choice in question.choices}:
            keys = ", ".join(choice.key for choice in question.choices)
            raise RefusedError("no_choice", f"{body.choice!r} is no answer to this question; there are {keys}")
        if playing is match.running:
            return _answer_running(state, entry, question, body.choice)
        return _answer_finished(state, match, playing, question, body.choice)
    raise RefusedError("no_question", "this question is no longer open")


def _answer_running(state: TableState, entry: Entry, question: Question, choice: str) -> TableState:
    _, playing = _running(state)
    if question.kind == "round":
        return end_swept(state, entry, keep=choice == "keep")
    playing = _answered(playing, question, choice)
    state = state.with_running(playing)
    told = twenties.answered(state, question, choice)
    if told is not None:
        state, shot = told
        return settle(state, entry) if shot is None else told_of(state, entry, shot)
    if question.shot:
        return judged_again(state, entry, question.shot)
    return settle(state, entry)


def _answered(playing: Round, question: Question, choice: str) -> Round:
    questions = tuple(q for q in playing.questions if q.id != question.id)
    playing = replace(playing, questions=questions)
    if question.kind == "line":
        disc = next((d for d in playing.record if d.id == question.disc), None)
        if disc is None:
            return playing
        ruling = Ruling(int(choice), disc.x_mm, disc.y_mm)
        return replace(playing, rulings={**playing.rulings, disc.id: ruling})
    shots = []
    for shot in playing.shots:
        told = shot
        if shot.number == question.shot and question.kind == "valid":
            told = replace(shot, ruled=choice == "yes")
        elif shot.number == question.shot:
            told = replace(shot, owner_ruled=choice)
        shots.append(told)
    return replace(playing, shots=tuple(shots))


def _answer_finished(state: TableState, match: Match, playing: Round, question: Question, choice: str) -> TableState:
    """A question that was still open when the board was cleared."""
    told = _answered(playing, question, choice)
    shots = []
    for shot in told.shots:
        if shot.number == question.shot and question.kind == "valid":
            counts: dict[Side, int] = {}
            for side in shot.holed.values() if choice == "yes" else ():
                counts[side] = counts.get(side, 0) + 1
            shots.append(replace(shot, twenties=counts))
        elif shot.number == question.shot:
            shots.append(replace(shot, twenties={} if choice == "none" else {choice: 1}))
        else:
            shots.append(shot)
    if question.kind == "twenty" and not question.shot:
        extra = {side: told.extra.get(side, 0) + (side == choice) for side in match.sides}
        told = replace(told, extra=extra)
    return _with_round(state, match, replace(told, shots=tuple(shots)))


def _with_round(state: TableState, match: Match, changed: Round) -> TableState:
    rounds = tuple(changed if (r.game, r.number) == (changed.game, changed.number) else r for r in match.rounds)
    return _reopened(replace(state, match=replace(match, rounds=rounds)))


def _reopened(state: TableState) -> TableState:
    """A correction may bring an ended game back to life, or end it."""
    match = state.match
    if match is None or match.abandoned or not match.rounds:
        return state
    last = match.rounds[-1]
    score = game_score(match, last.game)
    running = match.running
    if running is None and not score.over:
        running = Round(number=last.number + 1, game=last.game)
    elif running is not None and not running.shots and running.game == last.game and score.over:
        running = None
    return replace(state, match=replace(match, running=running))


def confirm_by_button(state: TableState, entry: Entry) -> TableState:
    """The button at the table: confirm whatever round is running.

    Raises:
        RefusedError: it is not finished.
    """
    _, playing = _running(state)
    return _confirm(state, entry, Confirm(playing.number))


def _confirm(state: TableState, entry: Entry, body: Confirm) -> TableState:
    match, playing = _running(state)
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
    match, _ = _running(state)
    lying = any(disc.state != "ditch" for disc in state.layout)
    return replace(state, match=replace(match, running=None, abandoned=True), fresh=not lying)


def _correct(state: TableState, entry: Entry, body: Correct) -> TableState:
    groups = {
        "twenties": body.side is not None or body.twenties is not None,
        "shot": body.shot is not None or body.valid is not None,
        "disc": body.disc is not None or body.value is not None,
        "totals": bool(body.totals),
    }
    given = [name for name, there in groups.items() if there]
    if len(given) != 1:
        raise RefusedError("bad_correction", "expected exactly one of side+twenties, shot+valid, disc+value, totals")
    match = state.match
    if match is None:
        raise RefusedError("no_match", "no match is being played here")
    if given == ["shot"]:
        return _correct_shot(state, entry, body)
    if given == ["disc"]:
        return _correct_disc(state, entry, body)
    playing = _round_to_correct(match, body.round)
    change = _with_twenties if given == ["twenties"] else _with_totals
    changed = change(match, playing, body)
    if match.running is not None and playing is match.running:
        return settle(state.with_running(changed), entry)
    return _with_round(state, match, changed)


def _round_to_correct(match: Match, number: int) -> Round:
    if number == 0 or (match.running is not None and number == match.running.number):
        if match.running is None:
            raise RefusedError("no_round", "no round is running; name the finished one")
        return match.running
    for playing in reversed(match.rounds):
        if playing.number == number:
            return playing
    raise RefusedError("no_round", f"there is no round {number}")


def _with_twenties(match: Match, playing: Round, body: Correct) -> Round:
    if body.side not in match.sides or body.twenties is None:
        raise RefusedError("bad_correction", f"expected a side ({', '.join(match.sides)}) and its twenties")
    points = board_points(match, playing)
    _check(match, points, {**twenties_of(match, playing), body.side: body.twenties})
    off = body.twenties - twenties_of(match, playing)[body.side]
    extra = {**playing.extra, body.side: playing.extra.get(body.side, 0) + off}
    totals = {side: total + (20 * off if side == body.side else 0) for side, total in playing.totals.items()}
    return replace(playing, extra=extra, totals=totals)


def _with_totals(match: Match, playing: Round, body: Correct) -> Round:
    if set(body.totals) != set(match.sides):
        raise RefusedError("bad_correction", f"expected the totals of {', '.join(match.sides)}")
    dealt = dict.fromkeys(match.sides, 0)
    for side, _ in match.order(playing.game, playing.number):
        dealt[side] += 1  # type: ignore[index]  # the rules' sides are these letters
    for side, total in body.totals.items():
        if total < 0 or total % 5 or total > 20 * dealt[side]:
            raise RefusedError("impossible_score", f"{total} points cannot be made with {dealt[side]} discs")
    return replace(playing, totals=dict(body.totals))


def _check(match: Match, points: dict[Side, int], counts: dict[Side, int]) -> None:
    dealt: dict[str, int] = dict.fromkeys(match.sides, 0)
    for side, _ in match.order(1, 1):
        dealt[side] += 1
    try:
        check_count({str(s): p for s, p in points.items()}, {str(s): c for s, c in counts.items()}, dealt)
    except RulesError as error:
        raise RefusedError(error.code, error.sentence) from None


def _correct_shot(state: TableState, entry: Entry, body: Correct) -> TableState:
    _, playing = _running(state)
    if body.valid is None or body.shot is None:
        raise RefusedError("bad_correction", "expected the number of a shot and whether it is valid")
    if not any(shot.number == body.shot for shot in playing.shots):
        raise RefusedError("no_shot", f"there is no shot {body.shot} in this round")
    shots = tuple(replace(s, ruled=body.valid) if s.number == body.shot else s for s in playing.shots)
    return judged_again(state.with_running(replace(playing, shots=shots)), entry, body.shot)


def _correct_disc(state: TableState, entry: Entry, body: Correct) -> TableState:
    _, playing = _running(state)
    lying = (*playing.record, *(removal.disc for removal in playing.removals if removal.why == "out"))
    disc = next((d for d in lying if d.id == body.disc), None)
    if disc is None:
        raise RefusedError("no_disc", f"there is no disc {body.disc!r} on the board")
    if body.value not in {0, 5, 10, 15}:
        raise RefusedError("bad_correction", f"a disc on the board is worth 0, 5, 10 or 15, not {body.value}")
    rulings = {**playing.rulings, disc.id: Ruling(body.value, disc.x_mm, disc.y_mm)}
    return settle(state.with_running(replace(playing, rulings=rulings)), entry)
