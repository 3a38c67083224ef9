"""The course of a match: it begins, rounds are counted, games and the match end, and what is announced on the way."""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging.questions import beam_question_id, prefix
from hub.judging.twenties import flashed, no_twenty, twenty_flash
from hub.link.snapshot import Event, Flash, Level, Side
from hub.round import Round, ShotRecord
from hub.rules.order import deciding_sides
from hub.rules.ruleset import Ruleset
from hub.state import LevelChange, Match, Played, TableState, rules_table
from hub.tally import game_score, games_won, totals_of, twenties_of

CHAPTERS = 24
"""Matches of an evening at one board that undo can go back through, and that can still be named."""


_LEVELS: tuple[Level, ...] = ("count", "advise", "judge")
_NEEDS: dict[Level, str] = {"judge": "contacts", "advise": "shots"}
"""What the camera must be able to tell for a level, the highest first; for counting nothing."""


_CHANGES_KEPT = 8


def begin_match(
    state: TableState,
    entry: Entry,
    *,
    rules: Ruleset,
    level: Level,
    auto: bool = False,
    light: Side = "A",
    opener: Side = "A",
    games: int = 1,
    names: dict[Side, str] | None = None,
    event: Event | None = None,
) -> TableState:
    """A new match, and with it a new chapter for undo; what lies on the board does not belong to it."""
    chapters = (*state.chapters, entry.id)[-CHAPTERS:]
    old = tuple(disc.id for disc in state.layout if disc.state != "ditch")
    reached = reachable(state, level)
    match = Match(
        id=f"{state.board}-{entry.id}",
        rules=rules_table(rules),
        level=reached,
        asked=None if reached == level else level,
        light=light,
        opener=opener,
        games=games,
        names=names or {},
        auto=auto,
        started_ms=entry.wall_ms,
        running=Round(number=1, old=old),
        event=event or Event(),
    )
    return replace(
        state,
        match=match,
        since=entry.id,
        fresh=False,
        candidates=tuple(replace(candidate, waiting=False) for candidate in state.candidates),
        practice=0,
        flash=None,
        actions=tuple(action for action in state.actions if action >= chapters[0]),
        undone=(),
        void=tuple(line for line in (*state.void, *state.undone) if line >= chapters[0]),
        chapters=chapters,
        evening=(*state.evening, *played(state.match))[-CHAPTERS:],
        message="",
        paused=False,
        ruled={key: verdict for key, verdict in state.ruled.items() if key.startswith(f"{match.id}-g")},
    )


def reachable(state: TableState, level: Level) -> Level:
    """The level, or the highest for which the board's camera tells enough; one that has not said tells all.

    Whether the camera is there now does not matter: what it saw may come late, and is worth no less then.
    """
    camera = state.sensors.get("camera")
    if camera is None or camera.able is None:
        return level
    for highest, needed in _NEEDS.items():
        if needed in camera.able:
            return min(level, highest, key=_LEVELS.index)
    return "count"


def levelled(state: TableState, boot: str = "", at_ns: int = 0) -> TableState:
    """The running match at the level that was wanted, or as near to it as its board's camera can tell enough for now.

    Shots keep the level under which they were shot, those too of which the hub hears only later.

    Args:
        state: the table.
        boot: the start of the board's machine on whose clock the time is.
        at_ns: when what the camera can tell changed; 0 if that is not known.
    """
    match = state.match
    if match is None or match.running is None:
        return state
    wanted = match.asked or match.level
    level = reachable(state, wanted)
    if level == match.level:
        return state
    told = too_high(level, wanted) if level != wanted else f"level {level} again: the camera tells enough for it"
    changes = match.changes
    if boot and at_ns:
        changes = (*changes, LevelChange(boot, at_ns, match.level))[-_CHANGES_KEPT:]
    match = replace(match, level=level, asked=None if level == wanted else wanted, changes=changes)
    return replace(state, match=match, message=told)


def too_high(level: Level, wanted: Level) -> str:
    """What people are told of a level that is lower than was wanted."""
    return f"level {level} instead of {wanted}: this board's camera cannot tell enough for it"


def played(match: Match | None) -> tuple[Played, ...]:
    """What the evening keeps of the match before: nothing of one that never counted a round."""
    if match is None or not match.rounds:
        return ()
    return (Played(match.id, match.sides, match.names, match.event),)


def finish_round(state: TableState, entry: Entry) -> TableState:
    """Count the running round; the next one, the next game or the end of the match follows."""
    match = state.match
    if match is None or match.running is None:
        return state
    finished = _pruned(match, _without_later(state, match.running, entry))
    state = followed(state, replace(match, rounds=(*match.rounds, finished), running=None), finished.number)
    if state.match is not None and state.match.running is not None:
        state = state.with_running(
            replace(state.match.running, machine_boot=entry.machine_boot, begun_ns=entry.mono_ns)
        )
    return flashed(state, _round_flash(state.match or match, finished, entry))


def followed(state: TableState, match: Match, number: int) -> TableState:
    """What comes after the last counted round, which had a number, or after a game that was given up."""
    game = match.game
    score = game_score(match, game)
    old = tuple(disc.id for disc in state.layout if disc.state != "ditch")
    if not score.over:
        running: Round | None = following_round(match, number + 1, game, old)
    elif match_decided(match):
        running = None
    else:
        running = Round(number=1, game=game + 1, old=old)
    return replace(
        state,
        match=replace(match, running=running),
        fresh=running is None and not old,
        candidates=tuple(replace(candidate, waiting=False) for candidate in state.candidates),
        paused=False,
        message="",
    )


def following_round(match: Match, number: int, game: int, old: tuple[str, ...] = ()) -> Round:
    """The next round of a game; a deciding one between two of three is played by those two."""
    deciding = deciding_sides(match.ruleset, game_score(match, game))
    only: tuple[Side, ...] = tuple(side for side in match.sides if side in deciding)
    return Round(number=number, game=game, old=old, only=() if only == match.sides else only)


def match_decided(match: Match) -> bool:
    """Whether enough games are won, or all are played."""
    won = games_won(match)
    played = sum(game_score(match, game).over for game in range(1, match.game + 1))
    return played >= match.games or any(2 * games > match.games for games in won.values())


def winner_of(match: Match) -> Side | None:
    """Who won a finished match; None for a draw, an abandoned or a running one."""
    if match.running is not None or match.abandoned:
        return None
    if match.walk_over is not None:
        others = [side for side in match.sides if side != match.walk_over]
        return others[0] if len(others) == 1 else None
    won = games_won(match)
    best = max(won.values())
    leaders: list[Side] = [side for side, games in won.items() if games == best and best > 0]
    return leaders[0] if len(leaders) == 1 else None


def announce(state: TableState, entry: Entry, match: Match, shot: ShotRecord, *, in_doubt: bool) -> TableState:
    """What the wall flashes after a shot was judged."""
    playing = match.running
    if playing is None or in_doubt:
        return state
    if shot.twenties:
        side = next(iter(shot.twenties))
        flash = twenty_flash(entry, match, playing, shot.number, side)
        known = state.flash
        if known is not None and known.id == flash.id:
            flash = replace(flash, at_ms=known.at_ms)
        elif flash.id in state.flashed:
            return state
        return flashed(state, flash)
    state = no_twenty(state, match, playing, shot.number)
    if shot.valid is False and match.judging(shot).level != "count":
        flash = Flash(
            id=f"{match.id}-{prefix(playing)}-s{shot.number}-foul",
            clip="foul",
            text=f"foul {match.colour_of(shot.side)}",
            side=shot.side,
            at_ms=entry.wall_ms,
        )
        return state if flash.id in state.flashed else flashed(state, flash)
    return state


def _without_later(state: TableState, playing: Round, entry: Entry) -> Round:
    """A round without questions about what blocked the beam after its end, while the camera's word was on its way."""
    later = {
        beam_question_id(playing, candidate.key)
        for candidate in state.candidates
        if candidate.machine_boot == entry.machine_boot and candidate.start_ns > entry.mono_ns
    }
    return replace(playing, questions=tuple(question for question in playing.questions if question.id not in later))


def _pruned(match: Match, playing: Round) -> Round:
    """A finished round: shots are kept only while a question is open about them."""
    doubtful = {question.shot for question in playing.questions if question.shot}
    kept = tuple(shot for shot in playing.shots if shot.number in doubtful)
    counted = twenties_of(match, playing)
    for shot in kept:
        for side, count in shot.twenties.items():
            counted[side] -= count
    return replace(
        playing,
        shots=kept,
        banked=counted,
        extra={},
        removals=(),
        lying=(),
        old=(),
        questions=tuple(question for question in playing.questions if question.kind != "round"),
        done=True,
        confirmed=True,
    )


def _round_flash(match: Match, finished: Round, entry: Entry) -> Flash:
    totals = totals_of(match, finished)
    standing = {side: -1 if side == finished.conceded else total for side, total in totals.items()}
    best = max(standing.values())
    leaders = [side for side in match.sides if standing[side] == best]
    side = leaders[0] if len(leaders) == 1 else None
    over = match.running is None
    winner = winner_of(match)
    if over and winner is not None:
        colour = match.colour_of(winner)
        return Flash(f"{match.id}-end", f"match_{colour}", f"{colour} wins the match", winner, entry.wall_ms)
    told = ", ".join(f"{match.colour_of(s)} {totals[s]}" for s in match.sides)
    if finished.conceded is not None:
        told += f", given up by {match.colour_of(finished.conceded)}"
    clip = "round_tied" if side is None else f"round_{match.colour_of(side)}"
    return Flash(f"{match.id}-{prefix(finished)}-end", clip, f"round {finished.number}: {told}", side, entry.wall_ms)
