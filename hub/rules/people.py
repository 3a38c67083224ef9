"""What no sensor can know: the rules that people judge, offered to them as calls (rules 20-29, 55, 56).

Nothing here is ever invented from sensor facts. A call is made by a person and goes into the journal with who and when.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hub.rules.ruleset import Ruleset

Effect = Literal["remind", "foul", "shoot_again"]


@dataclass(frozen=True, slots=True)
class Call:
    """Something people can call.

    Attributes:
        code: machine code; for a foul, what :func:`hub.rules.shot.judge_shot` takes as ``called``.
        rule: the rule it comes from.
        title: one line for the button and the journal.
        effects: what may follow; the sources set no penalty, so people choose: a reminder, the shot disc goes
            (``foul``), or the discs are put back and it is shot again.
    """

    code: str
    rule: int
    title: str
    effects: tuple[Effect, ...]


CALLS: Final = (
    Call("discs_in_hand", 20, "unshot discs held in the hand", ("remind",)),
    Call("placed_early", 21, "a disc on the board before the turn", ("remind",)),
    Call("not_still", 22, "shot before every disc was still", ("foul", "shoot_again", "remind")),
    Call("pushed", 25, "the disc was pushed, not flicked", ("foul", "shoot_again", "remind")),
    Call("two_fingers", 25, "shot with more than one finger", ("foul", "shoot_again", "remind")),
    Call("shot_twice", 26, "the shot was repeated", ("foul", "remind")),
    Call("touched_board", 27, "board or discs touched with more than the shooting hand", ("foul", "remind")),
    Call("touched_out_of_turn", 27, "board or discs touched out of turn", ("remind",)),
    Call("left_the_chair", 28, "no cheek on the chair", ("foul", "shoot_again", "remind")),
    Call("moved_chair_in_round", 29, "chair or board moved during the round", ("foul", "remind")),
    Call("moved_chair_in_game", 29, "chair, table or board moved during the game", ("foul", "remind")),
    Call("peg_loose", 56, "a peg is loose or missing", ("shoot_again", "remind")),
)
"""Every call, whatever the rules in use."""

CALL_RULES: Final[Mapping[str, int]] = {call.code: call.rule for call in CALLS}
"""The rule each call comes from."""


def calls_for(ruleset: Ruleset) -> tuple[Call, ...]:
    """The calls that these rules allow (variants ``discs_in_hand``, ``one_finger``, ``chair``)."""
    withheld = {
        "moved_chair_in_game" if ruleset.chair == "round" else "moved_chair_in_round",
        *(("discs_in_hand",) if ruleset.discs_in_hand == "yes" else ()),
        *(("two_fingers",) if ruleset.one_finger == "no" else ()),
    }
    return tuple(call for call in CALLS if call.code not in withheld)
