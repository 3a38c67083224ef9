"""The beam's part: a twenty is called at once, then claimed by the shot it belongs to, asked about, or withdrawn."""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging.hole import undecided
from hub.judging.questions import NOBODY, beam_question_id, beam_twenty, prefix
from hub.link.messages import BeamCandidate, BeamEpisode, BeamFault, BeamWithdrawn, Shot
from hub.link.snapshot import Flash, Side
from hub.round import Candidate, Question, Round, ShotRecord
from hub.state import Match, Sensor, TableState
from hub.tally import expected

BEFORE_NS = 300_000_000
AFTER_NS = 1_000_000_000
"""A candidate belongs to a shot if the beam was first blocked at most so long before the flick or after the rest."""

_FAULT_NS = 3_000_000_000
"""A fault of the beam is told so long after it began, at most."""

UNREADABLE = "unreadable"
"""The fault of a camera that tells nothing of a board for the time being, since it cannot trust what it sees."""

_KEPT = 64


def on_candidate(state: TableState, entry: Entry, fact: BeamCandidate) -> TableState:
    """The beam has been blocked for the dwell."""
    match = state.match
    playing = match.running if match is not None else None
    candidate = Candidate(f"{entry.boot}/{fact.episode}", entry.machine_boot, fact.start_ns)
    if any(known.key == candidate.key for known in state.candidates):
        return state
    if match is None or playing is None:
        return replace(_with(state, candidate), practice=state.practice + 1)
    shot = next((s for s in playing.shots if _in_shot(candidate, s)), None)
    if shot is not None and not shot.unseen:
        shots = tuple(replace(s, beam=candidate.key) if s.number == shot.number else s for s in playing.shots)
        return _with(state.with_running(replace(playing, shots=shots)), candidate)
    turn = expected(match, playing)
    earlier = candidate.machine_boot == playing.machine_boot and candidate.start_ns < playing.begun_ns
    if turn is None or playing.old or playing.lying or earlier or _finger_told_late(candidate, playing):
        return _with(state, candidate)  # hands clear the board or lift a disc out, or it comes rounds too late
    candidate = replace(candidate, side=turn[0], shots=len(playing.shots), waiting=True)
    state = _with(state, candidate)
    if not camera_there(state):
        questions = (*playing.questions, beam_twenty(match, playing, candidate.key, candidate.shots + 1))
        return state.with_running(replace(playing, questions=questions, asked=playing.asked + 1))
    flash = twenty_flash(entry, match, playing, len(playing.shots) + 1, turn[0], provisional=True)
    return flashed(state, flash)


def on_episode(state: TableState, entry: Entry, fact: BeamEpisode) -> TableState:
    """The beam is clear again."""
    key = f"{entry.boot}/{fact.episode}"
    end_ns = fact.start_ns + round(fact.dwell_ms * 1_000_000)
    return replace(state, candidates=tuple(replace(c, end_ns=end_ns) if c.key == key else c for c in state.candidates))


def beam_tells(state: TableState, shot: ShotRecord) -> bool:
    """Whether the beam would have had a candidate, had a disc come to lie in the hole in this shot.

    It cannot have one while a leaner, or a disc not yet lifted, blocks it already.
    """
    beam = state.sensors.get("beam")
    if beam is None or not beam.online or beam.faults or shot.deaf:
        return False
    before = [
        c for c in state.candidates if c.machine_boot == shot.machine_boot and c.start_ns < shot.start_ns - BEFORE_NS
    ]
    return not before or 0 < before[-1].end_ns <= shot.start_ns


def deaf(state: TableState) -> bool:
    """Whether the beam has a fault now, so that it would miss a disc in the hole."""
    beam = state.sensors.get("beam")
    return beam is not None and bool(beam.faults)


def on_fault(state: TableState, entry: Entry, fact: BeamFault) -> TableState:
    """A fault of the beam has begun or is over; one that began was there before it was sure."""
    known = state.sensors.get("beam", Sensor(online=True))
    faults = tuple(name for name in known.faults if name != fact.name)
    if not fact.over:
        faults = (*faults, fact.name)
    state = replace(state, sensors={**state.sensors, "beam": replace(known, faults=faults)})
    playing = state.match.running if state.match is not None else None
    if playing is None or fact.over:
        return state
    since_ns = fact.at_ns - _FAULT_NS

    def touched(shot: ShotRecord) -> bool:
        return shot.machine_boot == entry.machine_boot and shot.end_ns >= since_ns

    shots = tuple(replace(shot, deaf=True) if touched(shot) else shot for shot in playing.shots)
    return state.with_running(replace(playing, shots=shots))


def settled_late(state: TableState) -> TableState:
    """Questions about counted rounds that only the beam's late word had raised are dropped."""
    match = state.match
    if match is None or not any(finished.shots for finished in match.rounds):
        return state
    rounds: list[Round] = []
    for finished in match.rounds:
        sunk = [s for s in finished.shots if s.holed and not undecided(s)]  # it does not tell a leaner from a 20
        mended = {s.number for s in sunk if _noticed(state, s) or not beam_tells(state, s)}
        kept = tuple(q for q in finished.questions if q.kind != "twenty" or q.shot not in mended)
        rounds.append(finished if len(kept) == len(finished.questions) else replace(finished, questions=kept))
    return replace(state, match=replace(match, rounds=tuple(rounds)))


def on_withdrawn(state: TableState, entry: Entry, fact: BeamWithdrawn) -> TableState:
    """A candidate was none after all."""
    key = f"{entry.boot}/{fact.episode}"
    state = replace(state, candidates=tuple(c for c in state.candidates if c.key != key))
    match = state.match
    playing = match.running if match is not None else None
    if match is None or playing is None:
        return state
    questions = tuple(q for q in playing.questions if q.id != beam_question_id(playing, key))
    shots = tuple(replace(s, beam="") if s.beam == key else s for s in playing.shots)
    state = state.with_running(replace(playing, questions=questions, shots=shots))
    return no_twenty(state, match, playing, len(playing.shots) + 1)


def claim(state: TableState, entry: Entry, fact: Shot, side: Side) -> tuple[TableState, str, str, ShotRecord | None]:
    """A shot has come: settle the candidates that waited for one.

    Returns:
        The state; the key of the candidate that belongs to the shot and the side people gave it to, empty for none;
        and a shot before this one that only the beam noticed, with the other side's turn, None for none.
    """
    match = state.match
    playing = match.running if match is not None else None
    if match is None or playing is None:
        return state, "", "", None
    mine = ""
    missed: ShotRecord | None = None
    candidates: list[Candidate] = []
    for candidate in state.candidates:
        later = candidate.machine_boot == entry.machine_boot and candidate.start_ns > fact.end_ns + AFTER_NS
        if _during(candidate, entry.machine_boot, fact.start_ns, fact.end_ns):
            mine = candidate.key
        elif not later and missed is None and _missed_shot(candidate, playing, side):
            missed = _missed(match, playing, candidate)
        candidates.append(candidate if later else replace(candidate, waiting=False))
    settled = {beam_question_id(playing, c.key) for c in candidates if not c.waiting}
    questions = tuple(q for q in playing.questions if q.id not in settled)
    told = next((shot for shot in playing.shots if mine and shot.unseen and shot.beam == mine), None)
    if told is not None:  # what people told of is the shot that the camera now reports
        playing = replace(playing, shots=without_shot(playing, told))
    state = replace(state, candidates=tuple(candidates)).with_running(replace(playing, questions=questions))
    return state, mine, told.owner_ruled if told is not None else "", missed


def answered(state: TableState, question: Question, choice: str) -> tuple[TableState, ShotRecord | None] | None:
    """People said whose a twenty was that only the beam noticed.

    Returns:
        None if the question is not of that kind; else the state, and the shot they told of, None if it was none.
    """
    match = state.match
    playing = match.running if match is not None else None
    if match is None or playing is None:
        return None
    for candidate in state.candidates:
        if question.id == beam_question_id(playing, candidate.key):
            candidates = tuple(replace(c, waiting=False) if c.key == candidate.key else c for c in state.candidates)
            state = replace(state, candidates=candidates)
            if choice == NOBODY:
                return state, None
            if candidate.side is None or expected(match, playing) is None:  # no turn is left, as after a time-out
                side = match.named(choice)
                extra = {**playing.extra, side: playing.extra.get(side, 0) + 1}
                return state.with_running(replace(playing, extra=extra)), None
            return state, replace(_missed(match, playing, candidate), owner_ruled=choice)
    return None


def claim_unseen(state: TableState, side: Side) -> tuple[TableState, str]:
    """A disc of a side lies in the hole after a shot that nobody saw: the candidate that waited is that one's.

    Returns:
        The state, and the candidate's key, empty if none waited.
    """
    waiting = [candidate for candidate in state.candidates if candidate.waiting and candidate.side == side]
    if not waiting:
        return state, ""
    key = waiting[-1].key
    match = state.match
    candidates = tuple(replace(c, waiting=False) if c.key == key else c for c in state.candidates)
    state = replace(state, candidates=candidates)
    if match is None or match.running is None:
        return state, key
    asked = beam_question_id(match.running, key)
    questions = tuple(question for question in match.running.questions if question.id != asked)
    return state.with_running(replace(match.running, questions=questions)), key


def without_shot(playing: Round, gone: ShotRecord) -> tuple[ShotRecord, ...]:
    """The shots of a round without one that was none, numbered anew."""
    kept = [shot for shot in playing.shots if shot.number != gone.number]
    return tuple(replace(shot, number=number) for number, shot in enumerate(kept, 1))


def provisional(state: TableState, side: Side) -> int:
    """Twenties shown as provisional because no shot has claimed them yet."""
    return sum(candidate.waiting and candidate.side == side for candidate in state.candidates)


def camera_there(state: TableState) -> bool:
    """Whether a camera reports from this board, and does not say itself that it cannot read it."""
    camera = state.sensors.get("camera")
    if camera is None:
        return "camera" in state.seen
    return camera.online and UNREADABLE not in camera.faults


def twenty_flash(
    entry: Entry, match: Match, playing: Round, number: int, side: Side, *, provisional: bool = False
) -> Flash:
    """The announcement of a twenty; the same id while it is the same shot's, so that it is made once."""
    colour = match.colour_of(side)
    return Flash(
        id=_flash_id(match, playing, number),
        clip=f"twenty_{colour}",
        text=f"20 {colour}",
        side=side,
        at_ms=entry.wall_ms,
        provisional=provisional,
    )


def no_twenty(state: TableState, match: Match, playing: Round, number: int) -> TableState:
    """What was called as a twenty is none: the announcement is replaced, not followed by another."""
    flash = state.flash
    if flash is None or flash.id != _flash_id(match, playing, number) or not flash.clip:
        return state
    return replace(state, flash=replace(flash, clip="", text="no 20", side=None, provisional=False))


def flashed(state: TableState, flash: Flash) -> TableState:
    """The state with an announcement."""
    return replace(state, flash=flash)


def _flash_id(match: Match, playing: Round, number: int) -> str:
    return f"{match.id}-{prefix(playing)}-s{number}-20"


def _with(state: TableState, candidate: Candidate) -> TableState:
    return replace(state, candidates=(*state.candidates, candidate)[-_KEPT:])


def _during(candidate: Candidate, machine_boot: str, start_ns: int, end_ns: int) -> bool:
    return candidate.machine_boot == machine_boot and start_ns - BEFORE_NS <= candidate.start_ns <= end_ns + AFTER_NS


def _in_shot(candidate: Candidate, shot: ShotRecord) -> bool:
    """Whether a candidate is a shot's; what blocked the beam after the board was seen at rest came with a hand."""
    if shot.seen_ns and candidate.start_ns > max(shot.seen_ns, shot.end_ns):
        return False
    return _during(candidate, shot.machine_boot, shot.start_ns, shot.end_ns)


def _finger_told_late(candidate: Candidate, playing: Round) -> bool:
    """Whether the next shot after a candidate is known already, and was the one expected: so none was missed."""
    later = [s for s in playing.shots if s.machine_boot == candidate.machine_boot and s.start_ns > candidate.start_ns]
    return bool(later) and not later[0].out_of_turn


def _noticed(state: TableState, shot: ShotRecord) -> bool:
    return any(_in_shot(candidate, shot) for candidate in state.candidates)


def _missed_shot(candidate: Candidate, playing: Round, side: Side) -> bool:
    """Whether a candidate tells of a shot that the camera did not report: another side had the turn, and still has."""
    if not candidate.waiting or candidate.side in {side, None}:
        return False
    return candidate.shots == len(playing.shots)


def _missed(match: Match, playing: Round, candidate: Candidate) -> ShotRecord:
    """The shot of the side that had the turn when the beam was blocked, and that no camera reported."""
    side = candidate.side
    turn = expected(match, playing)
    if side is None or turn is None:
        raise ValueError("a missed shot needs a side that has the turn")
    return ShotRecord(
        number=len(playing.shots) + 1,
        side=side,
        seat=turn[1],
        disc="",
        machine_boot=candidate.machine_boot,
        settled=True,
        vague=True,
        beam=candidate.key,
        unseen=True,
    )
