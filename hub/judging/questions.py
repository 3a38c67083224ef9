"""How questions are worded and named; a question's id is made from what it is about, so a replay gives the same."""

from __future__ import annotations

from hub.judging.readings import line_readings
from hub.link.messages import LayoutDisc
from hub.link.snapshot import Choice
from hub.round import Question, Round, ShotRecord
from hub.state import Match

NOBODY = "none"


def prefix(playing: Round) -> str:
    """What the ids of a round begin with."""
    return f"g{playing.game}-r{playing.number}"


def whose_twenty(match: Match, playing: Round, shot: ShotRecord, discs: tuple[str, ...]) -> Question:
    """A twenty of a shot whose owner, or whose being one, the sensors cannot tell."""
    return Question(
        id=f"{prefix(playing)}-s{shot.number}-twenty",
        kind="twenty",
        text=f"Whose 20 was it in shot {shot.number}?",
        choices=_owners(match),
        discs=discs,
        facts={"shot": shot.number},
        shot=shot.number,
        stake=True,
    )


def beam_question_id(playing: Round, key: str) -> str:
    """Id of the question about a twenty that only the beam noticed."""
    return f"{prefix(playing)}-{key.replace('/', '-')}-twenty"


def beam_twenty(match: Match, playing: Round, key: str, shot: int) -> Question:
    """A twenty that only the beam noticed, while no camera is there."""
    return Question(
        id=beam_question_id(playing, key),
        kind="twenty",
        text="Whose 20 was it?",
        choices=_owners(match),
        facts={"shot": shot},
        stake=True,
    )


def valid_shot(
    match: Match,
    playing: Round,
    shot: ShotRecord,
    discs: tuple[str, ...],
    *,
    stake: bool,
    readings: tuple[str, str] = ("", ""),
) -> Question:
    """A shot that the evidence or the match's level leaves to people; ``readings`` if it is good, and if a foul."""
    aim = "reach the 15" if shot.open else "touch an opposing disc"
    return Question(
        id=f"{prefix(playing)}-s{shot.number}-valid",
        kind="valid",
        text=f"Did the {match.colour_of(shot.side)} shot {aim}?",
        choices=(Choice("yes", "yes, it counts", readings[0]), Choice("no", "no, a foul", readings[1])),
        discs=discs,
        facts={"shot": shot.number},
        shot=shot.number,
        stake=stake,
    )


def line_touched(playing: Round, disc: LayoutDisc, limit_mm: float, values: tuple[int, int]) -> Question:
    """A disc too close to a line to call; ``values`` are what it is worth inside and outside."""
    inside, outside = values
    readings = line_readings(inside, outside)
    return Question(
        id=f"{prefix(playing)}-{disc.id}-line",
        kind="line",
        text=f"Is the {disc.colour} disc at the line worth {inside} or {outside}?",
        choices=(Choice(str(inside), str(inside), readings[0]), Choice(str(outside), str(outside), readings[1])),
        discs=(disc.id,),
        facts={
            "disc": disc.id,
            "x_mm": round(disc.x_mm, 2),
            "y_mm": round(disc.y_mm, 2),
            "limit_mm": round(limit_mm, 2),
        },
        disc=disc.id,
    )


def swept_round(playing: Round, left: int) -> Question:
    """A board that was cleared before all discs were shot."""
    return Question(
        id=f"{prefix(playing)}-swept",
        kind="round",
        text=(
            f"The board was cleared with {left} discs unshot: does the round count as it lay?"
            if left
            else "The board was cleared before the last shot came to rest: does the round count as it lay before it?"
        ),
        choices=(Choice("keep", "it counts"), Choice(NOBODY, "play it again")),
        facts={"round": playing.number},
    )


def _owners(match: Match) -> tuple[Choice, ...]:
    return (*(Choice(side, match.colour_of(side)) for side in match.sides), Choice(NOBODY, "no 20"))
