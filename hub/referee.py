"""Joins what beam and camera report into shots, twenties and removals; pure functions of state and fact.

The camera is believed about what lies where and who shot; the beam calls a twenty at once, decides where the camera
cannot tell, and is overruled where it can. What lies on the board when a side shoots on answers what was open.
"""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging import twenties
from hub.judging.doubts import readings, swept_along, vague
from hub.judging.hands import leaned, lifted_out, settled, swept_after_all, unseen_after
from hub.judging.hole import words
from hub.judging.judged import asked, judged, judged_again, playing_of, running_of, settle
from hub.judging.lines import with_line_questions
from hub.judging.questions import swept_round
from hub.judging.record import (
    SWEPT_DISCS,
    fallen,
    recorded,
    renamed,
    surface,
    surplus,
    told_twenties,
    with_out,
    with_unseen,
    without_gone,
)
from hub.judging.silence import decided_by_play, played_on
from hub.link.messages import (
    BeamCandidate,
    BeamEpisode,
    BeamFault,
    BeamWithdrawn,
    Cleared,
    Layout,
    LayoutDisc,
    Place,
    Shot,
)
from hub.link.snapshot import Level, Side
from hub.round import Round, ShotRecord
from hub.rounds import begin_match, finish_round
from hub.rules.presets import from_table, load_ruleset
from hub.state import Match, TableState
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


def on_fault(state: TableState, entry: Entry, fact: BeamFault) -> TableState:
    """The beam cannot be relied upon, or can be again."""
    return _reheard(twenties.on_fault(state, entry, fact), entry, 0)


def on_shot(state: TableState, entry: Entry, fact: Shot) -> TableState:
    """A shot: closes what was open before it, joins the beam, is judged, and changes the record."""
    state = _opened(state, entry)
    state = _round_for_shot(state, entry)
    match = running_of(state)[0]
    state = unseen_after(state, entry, None if match is None else match.side_of(fact.colour))
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
        state = judged(state, entry, missed)
    message = decided_by_play(playing_of(state))
    playing, absent = played_on(playing_of(state), fact)
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
        deaf=twenties.deaf(state),
        out_of_turn=turn is not None and turn[0] != side,
        level=match.level_at(entry.machine_boot, fact.start_ns),
    )
    if expected(match, replace(playing, shots=(*playing.shots, shot))) is None and swept_along(
        fact, [disc.id for disc in surface(before, playing)], state.hand.came_ns(entry.machine_boot)
    ):
        return _swept_along(state.with_running(playing), entry, shot)
    picture = next((doubt.picture for doubt in fact.doubts if doubt.picture), None)
    state = replace(state.with_running(playing), message=message, paused=False)
    return leaned(judged(state, entry, shot, picture=picture), entry)


def _swept_along(state: TableState, entry: Entry, shot: ShotRecord) -> TableState:
    """The last shot and a sweep in one: what it did nobody saw, so people say whether what lay before it counts."""
    unseen = replace(shot, disc="", rest={}, readings=((),), unseen=True, settled=True)
    state = judged(state, entry, unseen)
    playing = playing_of(state)
    lay = surface(unseen.before, playing)
    question = swept_round(playing, 0)
    kept = tuple(q for q in playing.questions if q.stake)
    playing = replace(playing, record=lay, swept=True, done=True, removals=(), questions=(*kept, question))
    return state.with_running(replace(playing, asked=playing.asked + 1))


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
        return _on_empty(state, entry, was)
    playing = renamed(playing, was, layout)
    ids = {disc.id for disc in lying}
    playing = replace(
        playing,
        old=tuple(disc for disc in playing.old if disc in ids),
        lying=tuple(disc for disc in playing.lying if disc in ids),
    )
    state, first = settled(state.with_running(playing), entry, ids, fact.at_ns)
    lifted = state if first else lifted_out(state, entry, was, ids)
    if lifted is not state and not _unseen_shots(match, playing_of(state), layout):  # one may have struck what is gone
        state = lifted
    seen = len(playing_of(state).shots)
    state = _inferred(state, entry, match)
    playing = recorded(playing_of(state), layout, first=first, unseen=len(playing_of(state).shots) > seen)
    playing = without_gone(playing, ids)
    return settle(state.with_running(with_out(match, playing, layout)), entry)


def on_cleared(state: TableState, entry: Entry, _fact: Cleared) -> TableState:
    """Neither surface nor hole holds a disc."""
    was = state.layout
    state = replace(state, layout=tuple(disc for disc in was if disc.state == "ditch"))
    if running_of(state)[1] is None:
        return replace(state, fresh=True)
    return _on_empty(state, entry, was)


def told_of(state: TableState, entry: Entry, shot: ShotRecord) -> TableState:
    """People told of a shot that no camera saw."""
    return settle(judged(state, entry, shot), entry)


def end_swept(state: TableState, entry: Entry, *, keep: bool) -> TableState:
    """Count a swept round as it lay, or play it again."""
    match, playing = running_of(state)
    if match is None or playing is None:
        return state
    if not keep:
        return state.with_running(Round(number=playing.number, game=playing.game, asked=playing.asked))
    questions = tuple(question for question in playing.questions if question.kind != "round")
    kept = state.with_running(replace(playing, swept=False, questions=questions))
    return _counted(asked(kept, entry), entry)  # what hands might have told of the hole they have not


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
        return _opened(_counted(state, entry), entry)
    return state


def _on_empty(state: TableState, entry: Entry, was: tuple[LayoutDisc, ...]) -> TableState:
    """The board is empty: a finished round is counted; a running one was swept if discs are gone for no reason."""
    match, playing = running_of(state)
    if match is None or playing is None:
        return state
    playing = replace(playing, old=(), lying=())
    state = state.with_running(playing)
    if playing.done and not playing.swept:
        counted = unseen_after(replace(state, layout=was), entry)
        return _counted(replace(counted, layout=state.layout), entry)
    if playing.swept or not playing.shots:
        return state
    unseen = unseen_after(replace(state, layout=was), entry)
    state, first = settled(state, entry, set(), entry.mono_ns)
    if not first:
        state = lifted_out(state, entry, was, set())
    playing = recorded(playing_of(state), state.layout, first=first)
    if len(playing.record) < SWEPT_DISCS:
        return settle(state.with_running(without_gone(replace(playing, record=()), set())), entry)
    if first:  # nobody saw what the last shot left
        state, playing = replace(unseen, layout=state.layout), playing_of(unseen)
    state = swept_after_all(state.with_running(playing), entry)
    playing = playing_of(state)
    left = sum(shots_left(match, playing).values())
    question = swept_round(playing, left)
    kept = tuple(q for q in playing.questions if q.stake)
    playing = replace(playing, swept=True, done=True, removals=(), questions=(*kept, question), asked=playing.asked + 1)
    return state.with_running(playing)


def _counted(state: TableState, entry: Entry) -> TableState:
    """Count the round as it lay; what still decides it is asked, with the round standing as a range."""
    match, playing = running_of(state)
    if match is None or playing is None:
        return state
    return finish_round(state.with_running(with_line_questions(match, playing)), entry)


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


def _inferred(state: TableState, entry: Entry, match: Match) -> TableState:
    """Count shots that nobody saw: a side has more discs on the board than it has shot."""
    state = state.with_running(told_twenties(match, playing_of(state), state.layout))
    for side in match.sides:
        playing = playing_of(state)
        if playing.done:
            return state
        for disc in _unseen_of(match, playing, state.layout, side):
            playing = playing_of(state)
            sunk = [disc.id] if disc.state == "hole" else []
            sunk += fallen(playing, state.layout)
            state, key = twenties.claim_unseen(state, side) if sunk else (state, "")
            playing = playing_of(state)
            shot = ShotRecord(
                number=len(playing.shots) + 1,
                side=side,
                seat=_seat(match, playing, side),
                disc=disc.id,
                machine_boot=entry.machine_boot,
                beam=key,
                rest=dict.fromkeys(sunk, "hole"),
                before=tuple(d for d in playing.record if d.id != disc.id),
                settled=True,
                unseen=True,
            )
            state = judged(state, entry, shot)
    return state


def _unseen_of(match: Match, playing: Round, layout: tuple[LayoutDisc, ...], side: Side) -> list[LayoutDisc]:
    """Discs of a side that tell of shots that nobody saw."""
    left = shots_left(match, playing)[side]
    return surplus(match, playing, layout, side, twenties_of(match, playing)[side])[:left]


def _unseen_shots(match: Match, playing: Round, layout: tuple[LayoutDisc, ...]) -> bool:
    return not playing.done and any(_unseen_of(match, playing, layout, side) for side in match.sides)


def _without_unseen(match: Match, playing: Round, side: Side) -> Round:
    """A side that shoots though it has no disc left: a shot that was only inferred was none."""
    if shots_left(match, playing)[side] or not any(shot.unseen and shot.side == side for shot in playing.shots):
        return playing
    wrong = next(shot for shot in reversed(playing.shots) if shot.unseen and shot.side == side)
    return replace(playing, shots=twenties.without_shot(playing, wrong), done=False)
