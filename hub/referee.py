"""Joins what beam and camera report into shots, twenties and removals; pure functions of state and fact.

The camera is believed about what lies where and who shot; the beam calls a twenty at once, decides where the camera
cannot tell, and is overruled where it can. What lies on the board when a side shoots on answers what was open.
"""

from __future__ import annotations

from msgspec.structs import replace

from hub import twenties
from hub.doubts import readings, vague
from hub.entries import Entry
from hub.hole import doubtful, lifted, moved_on, seen_again, words
from hub.judging import judge
from hub.lines import with_line_questions
from hub.link.messages import BeamCandidate, BeamEpisode, BeamWithdrawn, Cleared, Layout, LayoutDisc, Place, Shot
from hub.link.snapshot import Level, Side
from hub.questions import swept_round
from hub.record import (
    SWEPT_DISCS,
    after_shot,
    places_after,
    recorded,
    renamed,
    surface,
    surplus,
    told_twenties,
    with_out,
    with_unseen,
    without_gone,
)
from hub.rounds import announce, begin_match, finish_round
from hub.rules.presets import from_table, load_ruleset
from hub.silence import decided_by_play, played_on
from hub.state import Match, Round, ShotRecord, TableState, shot_key
from hub.tally import expected, shots_left, twenties_of

STANDING_RULES = "match-play"
STANDING_LEVEL: Level = "count"
"""What a first shot opens a match under, unless the club has set something else."""


def on_candidate(state: TableState, entry: Entry, fact: BeamCandidate) -> TableState:
    """The beam has been blocked for the dwell."""
    return _reheard(twenties.on_candidate(state, entry, fact), entry, fact.start_ns)


def on_episode(state: TableState, entry: Entry, fact: BeamEpisode) -> TableState:
    """The beam is clear again."""
    return _reheard(twenties.on_episode(state, entry, fact), entry, fact.start_ns)


def on_withdrawn(state: TableState, entry: Entry, fact: BeamWithdrawn) -> TableState:
    """A candidate was none after all."""
    return _reheard(twenties.on_withdrawn(state, entry, fact), entry, 0)


def on_shot(state: TableState, entry: Entry, fact: Shot) -> TableState:
    """A shot: closes what was open before it, joins the beam, is judged, and changes the record."""
    state = _opened(state, entry)
    state = _round_for_shot(state, entry)
    state = _unseen_after(state, entry)
    match, playing = running_of(state)
    if match is None or playing is None:
        return state
    side = match.side_of(fact.colour)
    if side not in match.sides:
        return replace(state, message=f"a {fact.colour} disc was shot, nobody here plays {fact.colour}")
    playing = _without_unseen(match, playing, side)
    if playing.done:
        return replace(state, message="a shot after the end of the round is not counted; clear the board")
    state, beam, given, missed = twenties.claim(state.with_running(playing), entry, fact, side)
    if missed is not None:
        state = _judged(state, entry, missed)
    message = decided_by_play(_playing(state))
    playing, absent = played_on(_playing(state), fact)
    turn = expected(match, playing)
    hidden = {fact.disc, *absent, *playing.old, *(disc for disc in playing.lying if disc not in words(playing))}
    before = tuple(disc for disc in state.layout if disc.state != "ditch" and disc.id not in hidden)
    shot = ShotRecord(
        number=len(playing.shots) + 1,
        side=side,
        seat=turn[1] if turn is not None and turn[0] == side else _seat(match, playing, side),
        disc=fact.disc,
        machine_boot=entry.machine_boot,
        start_ns=fact.start_ns,
        end_ns=fact.end_ns,
        placed=None if any(doubt.kind == "placement" for doubt in fact.doubts) else _as_seated(match, fact.placed),
        readings=readings(fact, _theirs(match, playing, before, side)),
        rest=dict(fact.rest),
        before=before,
        absent=absent,
        vague=vague(fact),
        owner_ruled=given,
        beam=beam,
        out_of_turn=turn is not None and turn[0] != side,
    )
    picture = next((doubt.picture for doubt in fact.doubts if doubt.picture), None)
    state = replace(state.with_running(playing), message=message, paused=False)
    return _leaned(_judged(state, entry, shot, picture=picture), entry)


def on_layout(state: TableState, entry: Entry, fact: Layout) -> TableState:
    """What lies on the board now."""
    was = state.layout
    layout = with_unseen(was, fact)
    state = replace(state, layout=layout)
    lying = [disc for disc in layout if disc.state != "ditch"]
    match, playing = running_of(state)
    if match is None or playing is None:
        return replace(state, fresh=state.fresh or not lying)
    if not lying:
        return _on_empty(state, entry)
    playing = renamed(playing, layout)
    ids = {disc.id for disc in lying}
    playing = replace(
        playing,
        old=tuple(disc for disc in playing.old if disc in ids),
        lying=tuple(disc for disc in playing.lying if disc in ids),
    )
    state, first = _settled(state.with_running(playing), entry, ids)
    if not first:
        state = _lifted(state, entry, was, ids)
    seen = len(_playing(state).shots)
    state = _inferred(state, entry, match)
    playing = recorded(_playing(state), layout, first=first, unseen=len(_playing(state).shots) > seen)
    playing = without_gone(playing, ids)
    return settle(state.with_running(with_out(match, playing, layout)), entry)


def on_cleared(state: TableState, entry: Entry, _fact: Cleared) -> TableState:
    """Neither surface nor hole holds a disc."""
    state = replace(state, layout=tuple(disc for disc in state.layout if disc.state == "ditch"))
    if running_of(state)[1] is None:
        return replace(state, fresh=True)
    return _on_empty(state, entry)


def settle(state: TableState, entry: Entry) -> TableState:
    """After any change: the round may be over, and line questions come and go."""
    del entry
    match, playing = running_of(state)
    if match is None or playing is None or playing.swept:
        return state
    if not playing.done and playing.shots and expected(match, playing) is None:
        playing = replace(playing, done=True)
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
    state = _judged(state, entry, shot)
    if words(_playing(state), number + 1) != told:  # later shots were judged with a disc in the hole, or leaning in it
        for later in range(number + 1, len(playing.shots) + 1):
            state = _judged(state, entry, _playing(state).shots[later - 1])
    return settle(state, entry)


def told_of(state: TableState, entry: Entry, shot: ShotRecord) -> TableState:
    """People told of a shot that no camera saw."""
    return settle(_judged(state, entry, shot), entry)


def end_swept(state: TableState, entry: Entry, *, keep: bool) -> TableState:
    """Count a swept round as it lay, or play it again."""
    match, playing = running_of(state)
    if match is None or playing is None:
        return state
    if not keep:
        return state.with_running(Round(number=playing.number, game=playing.game, asked=playing.asked))
    questions = tuple(question for question in playing.questions if question.kind != "round")
    return finish_round(state.with_running(replace(playing, swept=False, questions=questions)), entry)


def running_of(state: TableState) -> tuple[Match | None, Round | None]:
    """The match and its running round, None where there is none."""
    match = state.match
    return (match, match.running) if match is not None else (None, None)


def _playing(state: TableState) -> Round:
    playing = running_of(state)[1]
    if playing is None:
        raise ValueError(f"board {state.board}: no round is running")
    return playing


def _opened(state: TableState, entry: Entry) -> TableState:
    """The first shot on a cleared board without a match opens one between light and dark."""
    if state.match is not None and state.match.running is not None:
        return state
    if not state.fresh:
        return replace(state, message="clear the board, or start a match")
    standing = state.standing
    if standing is None:
        return begin_match(state, entry, rules=load_ruleset(STANDING_RULES), level=STANDING_LEVEL, auto=True)
    return begin_match(state, entry, rules=from_table(standing.rules), level=standing.level, auto=True)


def _round_for_shot(state: TableState, entry: Entry) -> TableState:
    """A shot after a sweep, or on a board cleared without notice, begins the next round."""
    match, playing = running_of(state)
    if match is None or playing is None or not playing.done:
        return state
    if playing.swept:
        keep = bool(playing.reason) or 2 * len(playing.shots) >= len(match.order(playing))
        return _opened(end_swept(state, entry, keep=keep), entry)
    if not surface(state.layout, playing):
        return _opened(finish_round(state, entry), entry)
    return state


def _on_empty(state: TableState, entry: Entry) -> TableState:
    """The board is empty: a finished round is counted; a running one was swept if discs are gone for no reason."""
    match, playing = running_of(state)
    if match is None or playing is None:
        return state
    playing = replace(playing, old=(), lying=())
    state = state.with_running(playing)
    if playing.done and not playing.swept:
        return finish_round(replace(_unseen_after(state, entry), layout=state.layout), entry)
    if playing.swept or not playing.shots:
        return state
    state, first = _settled(state, entry, set())
    playing = recorded(_playing(state), state.layout, first=first)
    if len(playing.record) < SWEPT_DISCS:
        return settle(state.with_running(without_gone(replace(playing, record=()), set())), entry)
    left = sum(shots_left(match, playing).values())
    question = swept_round(playing, left)
    kept = tuple(q for q in playing.questions if q.stake)
    playing = replace(playing, swept=True, done=True, removals=(), questions=(*kept, question), asked=playing.asked + 1)
    return state.with_running(playing)


def _reheard(state: TableState, entry: Entry, start_ns: int) -> TableState:
    """Judge again what the beam's word, come late, may decide: shots after it, with a disc perhaps in the hole."""
    playing = running_of(state)[1]
    for shot in playing.shots if playing is not None else ():
        perhaps = shot.holed or shot.vague or shot.beam or shot.reading is None
        if perhaps and not shot.unseen and start_ns <= shot.end_ns + twenties.AFTER_NS:
            state = judged_again(state, entry, shot.number)
    return twenties.settled_late(state)


def _as_seated(match: Match, placed: Place | None) -> Place | None:
    """Where a disc was placed, as if everybody sat where the rules count the seats."""
    if placed is None or not match.turned:
        return placed
    return replace(placed, angle_deg=(placed.angle_deg - 90 * match.turned) % 360)


def _theirs(match: Match, playing: Round, before: tuple[LayoutDisc, ...], side: Side) -> list[str]:
    """Opposing discs in play before a shot."""
    return [disc.id for disc in surface(before, playing) if match.side_of(disc.colour) != side]


def _seat(match: Match, playing: Round, side: Side) -> int:
    """The seat of a side that shot out of turn: the one that has most discs left."""
    left: dict[int, int] = {}
    for owner, seat in match.order(playing):
        if owner == side:
            left[seat] = left.get(seat, 0) + 1
    for shot in playing.shots:
        if shot.seat in left:
            left[shot.seat] -= 1
    return max(left, key=lambda seat: left[seat])


def _judged(state: TableState, entry: Entry, shot: ShotRecord, *, picture: bytes | None = None) -> TableState:
    """Judge a shot, new or again, and bring record, removals, questions and the flash up to date."""
    match, playing = running_of(state)
    if match is None or playing is None:
        return state
    key = shot_key(match, playing, shot.number)
    verdict = state.ruled.get(key)
    if verdict is not None:
        shot = replace(shot, ruled=verdict.valid, reason=verdict.reason)
        state = replace(state, ruled={**state.ruled, key: replace(verdict, applied=True)})
    told = judge(match, playing, shot, beam_tells=twenties.beam_tells(state, shot), picture=picture)
    is_last = shot.number >= len(playing.shots)
    earlier = tuple(s for s in playing.shots if s.number != shot.number)
    shots = tuple(sorted((*earlier, told.shot), key=lambda s: s.number))
    known = next((q for q in playing.questions if q.shot == shot.number), None)
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


def _settled(state: TableState, entry: Entry, ids: set[str]) -> tuple[TableState, bool]:
    """The layout after a shot: judge the shot again if discs that were to be gone were left lying.

    Returns:
        The state, and whether it was the first layout after a shot.
    """
    playing = _playing(state)
    if not playing.shots or playing.shots[-1].settled:
        return state, False
    shot = playing.shots[-1]
    left_lying = tuple(disc for disc in shot.absent if disc in ids)
    if left_lying:
        layout = {disc.id: disc for disc in state.layout}
        before = (*shot.before, *(layout[disc] for disc in left_lying))
        absent = tuple(disc for disc in shot.absent if disc not in left_lying)
        state = replace(state, message="decided by play: a disc that was to be taken off was left lying")
        state = _judged(state, entry, replace(shot, before=before, absent=absent))
        playing = _playing(state)
    shot = playing.shots[-1]
    settled = seen_again(replace(shot, settled=True), state.layout)
    state = state.with_running(replace(playing, shots=(*playing.shots[:-1], settled)))
    return (_judged(state, entry, settled) if doubtful(shot) else state), True


def _unseen_after(state: TableState, entry: Entry) -> TableState:
    """No layout followed the last shot: its own account is what lies on the board, and what is in doubt is asked."""
    match, playing = running_of(state)
    if match is None or playing is None or not playing.shots or playing.shots[-1].settled:
        return state
    last = playing.shots[-1]
    if not last.unseen:
        lying = places_after(match, playing, last).values()
        state = replace(state, layout=tuple(disc for disc in lying if disc.state != "ditch"))
    return _settled(state, entry, set())[0]


def _leaned(state: TableState, entry: Entry) -> TableState:
    """The last shot has moved a disc of which an earlier one left in doubt whether it lay in the hole: it leaned."""
    *earlier, last = _playing(state).shots
    for shot in earlier:
        told = moved_on(shot, last)
        if told is not shot:
            shots = tuple(told if s.number == shot.number else s for s in _playing(state).shots)
            state = judged_again(state.with_running(replace(_playing(state), shots=shots)), entry, shot.number)
    return state


def _lifted(state: TableState, entry: Entry, was: tuple[LayoutDisc, ...], ids: set[str]) -> TableState:
    """A hand has taken the last shot's doubtful disc out of the hole, and nothing else: it was a 20."""
    playing = _playing(state)
    if not playing.shots or playing.done or not doubtful(playing.shots[-1]):
        return state
    shot = playing.shots[-1]
    going = {removal.disc.id for removal in playing.removals}
    others = [d for d in playing.record if d.id not in {*ids, *going, *doubtful(shot)}]
    told = shot if others else lifted(shot, was, ids)
    return state if told is shot else _judged(state, entry, told)


def _inferred(state: TableState, entry: Entry, match: Match) -> TableState:
    """Count shots that nobody saw: a side has more discs on the board than it has shot."""
    state = state.with_running(told_twenties(match, _playing(state), state.layout))
    for side in match.sides:
        playing = _playing(state)
        if playing.done:
            return state
        counted = twenties_of(match, playing)[side]
        left = shots_left(match, playing)[side]
        for disc in surplus(match, playing, state.layout, side, counted)[:left]:
            state, key = twenties.claim_unseen(state, side) if disc.state == "hole" else (state, "")
            playing = _playing(state)
            shot = ShotRecord(
                number=len(playing.shots) + 1,
                side=side,
                seat=_seat(match, playing, side),
                disc=disc.id,
                machine_boot=entry.machine_boot,
                beam=key,
                rest={disc.id: "hole"} if disc.state == "hole" else {},
                before=tuple(d for d in playing.record if d.id != disc.id),
                settled=True,
                unseen=True,
            )
            state = _judged(state, entry, shot)
    return state


def _without_unseen(match: Match, playing: Round, side: Side) -> Round:
    """A side that shoots though it has no disc left: a shot that was only inferred was none."""
    if shots_left(match, playing)[side] or not any(shot.unseen and shot.side == side for shot in playing.shots):
        return playing
    wrong = next(shot for shot in reversed(playing.shots) if shot.unseen and shot.side == side)
    return replace(playing, shots=twenties.without_shot(playing, wrong), done=False)
