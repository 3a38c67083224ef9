"""What people are shown of a table: the retained snapshot, made from the state and the players' names."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from hardware.board import clock_hour
from hub.judging.hole import as_told, words
from hub.judging.lines import at_outer_line, close_to_line, range_of
from hub.judging.twenties import camera_there, provisional
from hub.link import snapshot
from hub.link.messages import MessageError, encode
from hub.link.snapshot import Level, Phase, RoundView, Side, SideView, Table
from hub.remembered import Remembered
from hub.round import Question, Removal, Round, ShotRecord
from hub.rounds import too_high, winner_of
from hub.rules.scoring import added_points, play_round
from hub.rules.seats import SEATS
from hub.state import GEOMETRY, Match, Played, TableState, shot_key
from hub.store.archive import MatchRecord
from hub.tally import (
    board_points,
    certain_twenties,
    expected,
    game_score,
    games_won,
    radius_mm,
    score_before,
    shots_left,
    totals_of,
    twenties_of,
    value_of,
)

_VERDICTS = {
    "good": "good",
    "twenty": "20",
    "unseen": "not seen by the camera",
    "missed_opponent": "foul: no opposing disc was hit",
    "open_not_in_15": "foul: the open shot did not reach the 15",
    "illegal_placement": "foul: not placed on the line in its quadrant",
    "called_foul": "foul, as ruled by people",
    "removed": "foul, the discs were taken off",
    "referee": "people must decide this shot",
}


def table_of(state: TableState, names: Mapping[str, str], rates_hz: Mapping[str, float | None] | None = None) -> Table:
    """The snapshot of a table.

    Args:
        state: the table.
        names: of players by id; one that was erased is shown by colour.
        rates_hz: frames read in a second by source, from the sensors' health.
    """
    rates = rates_hz or {}
    sensors = {
        source: snapshot.SensorView(
            sensor.online,
            (*sensor.faults, *((f"{state.gaps[source]} facts lost",) if source in state.gaps else ())),
            rates.get(source),
        )
        for source, sensor in state.sensors.items()
    }
    empty = Table(
        board=state.board,
        rev=state.rev,
        at_ms=state.at_ms,
        seen=state.seen,
        sensors=sensors,
        flash=state.flash,
        practice=state.practice,
        can_undo=bool(state.actions),
        can_redo=bool(state.undone),
        referee=state.referee,
        case=state.case,
        call=_call(state),
        evening=tuple(_played(played, names) for played in state.evening),
    )
    match = state.match
    if match is None:
        return replace(empty, discs=_discs(state, None, None), message=state.message)
    shown = _shown(match)
    playing = match.running
    turn = expected(match, shown) if playing is shown and not _waits(match, shown) else None
    last = shown.shots[-1] if shown.shots else None
    return replace(
        empty,
        phase="paused" if state.paused and match.running is not None else phase_of(match),
        rules=match.ruleset.title,
        level=_level(state, match),
        match_id=match.id,
        game=shown.game,
        round=shown.number,
        turn=None if turn is None else turn[0],
        seat=0 if turn is None else match.chair(turn[1]),
        opener=match.order(shown)[0][0],
        shot=len(shown.shots),
        sides=_sides(state, match, shown, names),
        discs=_discs(state, match, shown),
        verdict=None if last is None else _verdict(match, shown, last),
        remove=tuple(_removal(removal) for removal in shown.removals),
        questions=tuple(_question(q) for r in (*match.rounds, *_running(match)) for q in r.questions),
        rounds=tuple(replace(round_view(match, r), ruled=_rulings(state, match, r)) for r in match.rounds),
        winner=winner_of(match),
        message=state.message or _message(state, match, shown),
        players=match.ruleset.players,
        seats=_seats(match),
        time_out=shown.time_out is not None,
        walk_over=match.walk_over,
        event=match.event,
        auto=match.auto,
    )


def encoded(table: Table) -> bytes:
    """A snapshot's bytes; pictures of questions are left out, the newest first, if it would be too long."""
    for kept in range(len(table.questions), -1, -1):
        questions = tuple(q if at < kept else replace(q, picture="") for at, q in enumerate(table.questions))
        try:
            return encode(replace(table, questions=questions))
        except MessageError:
            if not kept:
                raise
    return encode(table)


def phase_of(match: Match) -> Phase:
    """Where a match stands."""
    playing = match.running
    if playing is None:
        return "match_over"
    if _waits(match, playing):
        return "round_over"
    if not playing.done:
        return "round"
    unsettled = bool(playing.shots) and not playing.shots[-1].settled and not playing.swept
    return "settling" if playing.questions or unsettled else "round_over"


def round_view(match: Match, finished: Round) -> RoundView:
    """A finished round; low and high differ from the totals while it is in doubt."""
    at = (match.light, finished.game, finished.number)
    return _views.of((match.rounds, match.rules, finished), lambda: _round_view(match, finished), *at)


_views: Remembered[RoundView] = Remembered(2048)


def _round_view(match: Match, finished: Round) -> RoundView:
    totals = totals_of(match, finished)
    told, _ = range_of(match, finished)
    return RoundView(
        number=finished.number,
        game=finished.game,
        totals=_by_side(match, totals),
        twenties=twenties_of(match, finished),
        added=_by_side(match, _added(match, finished, totals)),
        low={side: told.round[side][0] for side in match.sides} if told is not None else {},
        high={side: told.round[side][1] for side in match.sides} if told is not None else {},
        questions=finished.asked,
        conceded=finished.conceded,
    )


def match_record(board: str, match: Match) -> MatchRecord:
    """A match for the archive."""
    return MatchRecord(
        id=match.id,
        board=board,
        started_ms=match.started_ms,
        rules=match.ruleset.title,
        players=match.names,
        rounds=tuple(round_view(match, finished) for finished in match.rounds),
        games=games_won(match),
        winner=winner_of(match),
        over=match.running is None,
        event=match.event,
    )


def _by_side(match: Match, table: Mapping[str, int]) -> dict[Side, int]:
    return {side: table[side] for side in match.sides}


def _added(match: Match, finished: Round, totals: Mapping[str, int]) -> Mapping[str, int]:
    before = score_before(match, finished)
    if finished.conceded is None or before.over:
        return added_points(totals, match.ruleset)
    return play_round(before, totals, match.ruleset, conceded=finished.conceded).added


def _rulings(state: TableState, match: Match, finished: Round) -> tuple[str, ...]:
    """What the referee ruled on a finished round, in the order of the shots, its totals last."""
    prefix = shot_key(match, finished, 0)[:-1]
    shots = sorted((int(key.removeprefix(prefix)), v) for key, v in state.ruled.items() if key.startswith(prefix))
    told = [f"shot {number} {'good' if v.valid else 'a foul'}: {v.reason}" for number, v in shots]
    told += [f"a disc at the line is worth {r.value}: {r.reason}" for r in finished.rulings.values() if r.reason]
    return (*told, *((f"totals: {finished.reason}",) if finished.reason else ()))


def _played(played: Played, names: Mapping[str, str]) -> snapshot.PlayedView:
    known = {side: names.get(played.names.get(side, ""), "") for side in played.sides}
    return snapshot.PlayedView(played.id, {side: name or side for side, name in known.items()}, played.event)


def _seats(match: Match) -> dict[int, Side]:
    seats: dict[int, Side] = {match.chair(seat): side for seat, side in SEATS[match.ruleset.players]}  # type: ignore[misc]  # the rules' sides are these letters
    return dict(sorted(seats.items()))


def _running(match: Match) -> tuple[Round, ...]:
    return (match.running,) if match.running is not None else ()


def _waits(match: Match, playing: Round) -> bool:
    """Whether a confirmed round still lies on the board."""
    return bool(playing.old) and not playing.shots and bool(match.rounds)


def _shown(match: Match) -> Round:
    """The round on the wall: the running one, or the finished one as long as it lies on the board."""
    playing = match.running
    if playing is None:
        return match.rounds[-1] if match.rounds else Round(number=1)
    return match.rounds[-1] if _waits(match, playing) else playing


def _sides(state: TableState, match: Match, shown: Round, names: Mapping[str, str]) -> dict[Side, SideView]:
    scores = game_score(match, shown.game).scores
    won = games_won(match)
    now, counted, points = twenties_of(match, shown), certain_twenties(match, shown), board_points(match, shown)
    earlier = [round_view(match, finished).twenties for finished in match.rounds if finished is not shown]
    left = dict.fromkeys(match.sides, 0) if shown.confirmed else shots_left(match, shown)
    hammer = match.order(shown)[-1][0]
    views: dict[Side, SideView] = {}
    for side in match.sides:
        colour = match.colour_of(side)
        doubtful = now[side] - counted[side]
        views[side] = SideView(
            name=names.get(match.names.get(side, ""), "") or colour,
            colour=colour,
            score=scores[side],
            games=won[side],
            twenties=counted[side],
            provisional=doubtful + (provisional(state, side) if shown is match.running else 0),
            total_twenties=sum(twenties[side] for twenties in earlier) + counted[side],
            board=points[side],
            shots_left=left[side],
            hammer=hammer == side,
            entered=shown.totals.get(side),
        )
    return views


def _discs(state: TableState, match: Match | None, shown: Round | None) -> tuple[snapshot.DiscView, ...]:
    views: list[snapshot.DiscView] = []
    for disc in state.layout if shown is None else as_told(state.layout, words(shown)):
        r_mm = radius_mm(disc)
        value = 0
        close = False
        if match is not None and shown is not None and disc.state not in {"hole", "ditch"}:
            value = value_of(disc, shown)
            close = close_to_line(disc, shown) is not None
        views.append(
            snapshot.DiscView(
                id=disc.id,
                colour=disc.colour,
                x_mm=disc.x_mm,
                y_mm=disc.y_mm,
                sigma_mm=disc.sigma_mm,
                state=disc.state,
                value=value,
                margin_mm=GEOMETRY.margin_mm(r_mm),
                close=close,
            )
        )
    return tuple(views)


def _verdict(match: Match, shown: Round, shot: ShotRecord) -> snapshot.VerdictView:
    text = _VERDICTS.get(shot.code, shot.code)
    if shot.twenties:
        text = "20 for " + " and ".join(match.colour_of(side) for side in shot.twenties)
    elif shot.holed and shot.valid is False:
        text += "; the 20 does not count"
    if shot.out_of_turn:
        text += "; out of turn"
    return snapshot.VerdictView(
        shot=shot.number,
        side=shot.side,
        valid=shot.valid is not False,
        code=shot.code,
        text=text,
        provisional=shot.reading is None or any(q.shot == shot.number for q in shown.questions),
        ruled=shot.reason,
    )


def _call(state: TableState) -> snapshot.RefereeCall | None:
    called, match = state.called, state.match
    if not state.referee or called is None:
        return None
    if match is None or match.id != called.match:
        return snapshot.RefereeCall(called.at_ms)
    call = snapshot.RefereeCall(called.at_ms, called.game, called.round, called.shot)
    for playing in (*match.rounds, *_running(match)):
        for shot in playing.shots:
            if (playing.game, playing.number, shot.number) == (called.game, called.round, called.shot):
                verdict = _verdict(match, playing, shot)
                return replace(call, valid=verdict.valid, text=verdict.text)
    return call


def _removal(removal: Removal) -> snapshot.Removal:
    disc = removal.disc
    if removal.why == "twenty":
        text = f"lift the {disc.colour} 20 out of the hole"
    elif disc.state == "hole":
        text = f"remove: {disc.colour} disc in the hole, it does not count"
    else:
        text = f"remove: {disc.colour} disc at {clock_hour(disc.x_mm, disc.y_mm)} o'clock"
    return snapshot.Removal(disc.id, disc.colour, disc.x_mm, disc.y_mm, removal.why, text)


def _question(question: Question) -> snapshot.Question:
    return snapshot.Question(
        id=question.id,
        kind=question.kind,
        text=question.text,
        choices=question.choices,
        discs=question.discs,
        picture=question.picture,
        facts=question.facts,
    )


def _level(state: TableState, match: Match) -> Level:
    """The level that is held now, without a camera none but counting; of a match that is over, the one it had."""
    return match.level if match.running is None or camera_there(state) else "count"


def _message(state: TableState, match: Match, shown: Round) -> str:
    playing = match.running
    if match.walk_over is not None:
        return f"walk-over: {match.colour_of(match.walk_over)} did not go on"
    if playing is None:
        return "the match is over" if not match.abandoned else "the match was abandoned"
    if playing.old:
        return "clear the board"
    if playing.done and not playing.questions and shown is playing:
        return "the round is over: clear the board or confirm"
    if playing.totals and not playing.done and shown is playing:
        return "these totals were entered by people: confirm the round if they are right"
    return _note(state, match, playing)


def _note(state: TableState, match: Match, playing: Round) -> str:
    """What people should know while a round is played."""
    wanted = match.asked or match.level
    if wanted != "count" and not camera_there(state):
        camera = state.sensors.get("camera")
        away = "this board has no camera" if camera is None else "the camera is away"
        if camera is not None and camera.online:
            away = "the camera cannot read the board, so people tell what lies there"
        return f"level count instead of {wanted}: {away}"
    if match.asked is not None and not playing.shots:
        return too_high(match.level, match.asked)
    near = next((disc for disc in playing.record if at_outer_line(disc, playing) is not None), None)
    if near is not None and match.level != "count" and not playing.done:
        hour = clock_hour(near.x_mm, near.y_mm)
        return (
            f"the {near.colour} disc at {hour} o'clock is too close to the line to call: take it off if it touches it"
        )
    return ""
