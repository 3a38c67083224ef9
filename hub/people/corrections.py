"""People correct what the sensors said: a twenty, a shot, a disc, the totals of a round; pure functions."""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging.judged import judged_again, settle
from hub.link.asks import Correct, Rule
from hub.link.snapshot import Side
from hub.people.refused import RefusedError, running_match
from hub.round import Round, Ruling
from hub.rounds import following_round
from hub.rules.errors import RulesError
from hub.rules.scoring import check_count
from hub.state import Match, TableState
from hub.tally import board_points, certain_twenties, game_score, last_number, twenties_of


def corrected(state: TableState, entry: Entry, body: Correct) -> TableState:
    """Carry out a correction.

    Raises:
        RefusedError: it is none, cannot be, or the referee has ruled on it.
    """
    groups = {
        "twenties": body.side is not None or body.twenties is not None,
        "shot": body.shot is not None or body.valid is not None,
        "disc": body.disc is not None or body.value is not None,
        "totals": bool(body.totals or body.among),
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
    playing = round_to_correct(match, body.round)
    _check_unruled(playing.reason)
    told = given == ["twenties"]
    changed = _with_twenties(match, playing, body) if told else with_totals(match, playing, body.totals, body.among)
    if body.among:  # who tells the 20s has told whose they were
        changed = replace(changed, questions=tuple(q for q in changed.questions if q.kind != "twenty"))
        if not playing.confirmed:
            state = replace(state, candidates=tuple(replace(c, waiting=False) for c in state.candidates))
    return with_round(state, entry, match, changed)


def _check_unruled(reason: str) -> None:
    """What the referee ruled, the referee alone changes."""
    if reason:
        raise RefusedError("ruled", f"the referee has ruled on this: {reason}")


def round_to_correct(match: Match, number: int, game: int = 0) -> Round:
    """A round by its number, 0 for the running one; the last one of that number unless the game is told.

    Raises:
        RefusedError: ``no_round``.
    """
    if game and game != match.game:
        found = next((r for r in match.rounds if (r.game, r.number) == (game, number)), None)
        if found is None:
            raise RefusedError("no_round", f"there is no round {number} in game {game}")
        return found
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
    _check(match, playing, points, {**twenties_of(match, playing), body.side: body.twenties})
    off = body.twenties - twenties_of(match, playing)[body.side]
    extra = {**playing.extra, body.side: playing.extra.get(body.side, 0) + off}
    totals = dict(playing.totals)
    if totals:  # they may have been told without the 20s, and then be too low for those that were known
        totals[body.side] = max(20 * body.twenties, totals[body.side] + 20 * off)
        _check_total(totals[body.side], _dealt(match, playing)[body.side])
    return replace(playing, extra=extra, totals=totals)


def with_totals(match: Match, playing: Round, totals: dict[Side, int], among: dict[Side, int] | None = None) -> Round:
    """A round with the totals that people say, and with the twenties among them if they say those too.

    Raises:
        RefusedError: not those of the sides, or not to be made with the discs that were dealt.
    """
    if set(totals) != set(match.sides):
        raise RefusedError("bad_correction", f"expected the totals of {', '.join(match.sides)}")
    dealt = _dealt(match, playing)
    for side, total in totals.items():
        _check_total(total, dealt[side])
    if not among:
        return with_20s_in(match, replace(playing, totals=dict(totals)))
    if set(among) != set(match.sides):
        raise RefusedError("bad_correction", f"expected the twenties of {', '.join(match.sides)}, or none")
    _check(match, playing, {side: totals[side] - 20 * among[side] for side in totals}, among)
    counted = twenties_of(match, playing)
    extra = {side: playing.extra.get(side, 0) + among[side] - counted[side] for side in match.sides}
    return replace(playing, totals=dict(totals), extra=extra)


def _check_total(total: int, dealt: int) -> None:
    if total < 0 or total % 5 or total > 20 * dealt:
        raise RefusedError("impossible_score", f"{total} points cannot be made with {dealt} discs")


def with_20s_in(match: Match, playing: Round) -> Round:
    """A round whose told totals hold the twenties, too, that became known since, by an answer or a ruling."""
    if not playing.totals:
        return playing
    certain = certain_twenties(match, playing)
    return replace(playing, totals={side: max(20 * certain[side], told) for side, told in playing.totals.items()})


def check_told(state: TableState, body: Correct | Rule) -> None:
    """Whether totals that are told now can be what a round came to, by the twenties on which no question is open.

    Only of what is told now: totals that were taken stand when a ruling has made another twenty good since.

    Raises:
        RefusedError: ``below_twenties``.
    """
    match = state.match
    if match is None or not body.totals or body.among:
        return
    playing = round_to_correct(match, body.round, body.game if isinstance(body, Rule) else 0)
    for side, count in certain_twenties(match, playing).items():
        total = body.totals.get(side, 20 * count)
        if total < 20 * count:
            told = f"the 20s of {match.colour_of(side)} alone are {20 * count} points, so {total} in all cannot be"
            raise RefusedError("below_twenties", f"{told}; count the 20s in, or correct them too")


def _dealt(match: Match, playing: Round) -> dict[str, int]:
    """Discs dealt, by side."""
    dealt: dict[str, int] = dict.fromkeys(match.sides, 0)
    for side, _ in match.order(playing):
        dealt[side] += 1
    return dealt


def _check(match: Match, playing: Round, points: dict[Side, int], counts: dict[Side, int]) -> None:
    try:
        check_count(
            {str(s): p for s, p in points.items()}, {str(s): c for s, c in counts.items()}, _dealt(match, playing)
        )
    except RulesError as error:
        raise RefusedError(error.code, error.sentence) from None


def _correct_shot(state: TableState, entry: Entry, body: Correct) -> TableState:
    _, playing = running_match(state)
    if body.valid is None or body.shot is None:
        raise RefusedError("bad_correction", "expected the number of a shot and whether it is valid")
    if not any(shot.number == body.shot for shot in playing.shots):
        raise RefusedError("no_shot", f"there is no shot {body.shot} in this round")
    _check_unruled(next(shot.reason for shot in playing.shots if shot.number == body.shot))
    shots = tuple(replace(s, ruled=body.valid) if s.number == body.shot else s for s in playing.shots)
    return judged_again(state.with_running(replace(playing, shots=shots)), entry, body.shot)


def _correct_disc(state: TableState, entry: Entry, body: Correct) -> TableState:
    _, playing = running_match(state)
    lying = (*playing.record, *(removal.disc for removal in playing.removals if removal.why == "out"))
    disc = next((d for d in lying if d.id == body.disc), None)
    if disc is None:
        raise RefusedError("no_disc", f"there is no disc {body.disc!r} on the board")
    if body.value not in {0, 5, 10, 15}:
        raise RefusedError("bad_correction", f"a disc on the board is worth 0, 5, 10 or 15, not {body.value}")
    known = playing.rulings.get(disc.id)
    if known is not None and (known.x_mm, known.y_mm) == (disc.x_mm, disc.y_mm):
        _check_unruled(known.reason)
    rulings = {**playing.rulings, disc.id: Ruling(body.value, disc.x_mm, disc.y_mm, shots=last_number(playing))}
    return settle(state.with_running(replace(playing, rulings=rulings)), entry)


def with_round(state: TableState, entry: Entry, match: Match, changed: Round) -> TableState:
    """The state with a changed round, running or finished."""
    running = match.running
    if running is not None and (running.game, running.number) == (changed.game, changed.number):
        return settle(state.with_running(changed), entry)
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
    if match.walk_over is not None or last.game in match.conceded:
        return state
    if running is None and not score.over:
        running = following_round(match, last.number + 1, last.game)
    elif running is not None and not running.shots and running.game == last.game and score.over:
        running = None
    return replace(state, match=replace(match, running=running))
