"""Silence is an answer: a side shoots on, and what then lies on the board decides what was open."""

from __future__ import annotations

from msgspec.structs import replace

from hub.judging.lines import at_outer_line
from hub.link.messages import Shot
from hub.round import Round, Ruling
from hub.tally import last_number


def decided_by_play(playing: Round) -> str:
    """What people are told about the questions that a side answers by shooting on."""
    texts = [question.text for question in playing.questions if not question.stake]
    texts += [
        f"the {disc.colour} disc at the outer line is in." for disc in playing.record if at_outer_line(disc, playing)
    ]
    return f"decided by play: {' '.join(texts)}" if texts else ""


def played_on(playing: Round, fact: Shot) -> tuple[Round, tuple[str, ...]]:
    """A side shoots on: what lies on the board answers what was open.

    Returns:
        The round without what play decides, and the discs that were to be taken off and play no part in this shot:
        they are taken to be gone, until a layout shows that they were left lying.
    """
    part = {disc for event in fact.events for disc in event[1:]} | set(fact.rest)
    absent = tuple(r.disc.id for r in playing.removals if r.why != "twenty" and r.disc.id not in part)
    closes = [close for disc in playing.record if (close := at_outer_line(disc, playing)) is not None]
    ruled = {
        close.disc.id: Ruling(close.inside, close.disc.x_mm, close.disc.y_mm, shots=last_number(playing))
        for close in closes
    }
    rulings = {**playing.rulings, **ruled}
    kept = tuple(question for question in playing.questions if question.stake)
    on_surface = {disc for disc, where in fact.rest.items() if not isinstance(where, str)}
    lying = tuple(disc for disc in playing.lying if disc not in on_surface)
    return replace(playing, removals=(), questions=kept, rulings=rulings, lying=lying), absent
