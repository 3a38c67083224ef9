"""Which pictures the hub wants: of a doubt that has just become a question, and of a table that calls the referee."""

from __future__ import annotations

import msgspec

from hub.link import topics
from hub.link.messages import Do, LayoutDisc, encode
from hub.link.pictures import Wanted, WantedDisc, case_of
from hub.round import Question, Round
from hub.state import TableState

_DISCS = 8


def requests(before: TableState, after: TableState) -> list[tuple[str, bytes]]:
    """What to ask the board's camera after a line, topic and payload; nothing where no camera is there."""
    camera, seen = after.sensors.get("camera"), after.seen.get("camera")
    if camera is None or not camera.online or seen is None:
        return []
    topic = topics.do(after.board, "picture")
    return [(topic, encode(Do(seen.boot, msgspec.to_builtins(wanted)))) for wanted in _wanted(before, after)]


def _wanted(before: TableState, after: TableState) -> list[Wanted]:
    found: list[Wanted] = []
    match = after.match
    playing = match.running if match is not None else None
    if match is not None and playing is not None:
        was = before.match.running if before.match is not None and before.match.id == match.id else None
        known = {question.id for question in was.questions} if was is not None else set()
        found = [
            _of_question(after, match.id, playing, question)
            for question in playing.questions
            if question.id not in known and question.kind != "round"
        ]
    if after.case and after.case != before.case:
        at_ns = playing.shots[-1].end_ns if playing is not None and playing.shots else 0
        found.append(Wanted(after.case, "the referee was called", at_ns))
    return found


def _of_question(state: TableState, match_id: str, playing: Round, question: Question) -> Wanted:
    shot = next((shot for shot in playing.shots if shot.number == question.shot), None)
    last = shot or (playing.shots[-1] if playing.shots else None)
    places = {disc.id: disc for disc in (*playing.record, *state.layout)}
    lying = [places[disc] for disc in question.discs if disc in places]
    limit_mm = float(question.facts.get("limit_mm", 0.0)) if question.kind == "line" else 0.0
    return Wanted(
        case=case_of(match_id, question.id),
        text=question.text,
        at_ns=0 if last is None else last.end_ns,
        discs=tuple(_disc(disc, limit_mm) for disc in lying[:_DISCS]),
    )


def _disc(disc: LayoutDisc, limit_mm: float) -> WantedDisc:
    return WantedDisc(disc.id, disc.colour, disc.x_mm, disc.y_mm, disc.sigma_mm, limit_mm)
