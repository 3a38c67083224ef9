"""A verdict in words: why it is so, each step with its rule, and what people must do now.

English only; other languages translate the codes of :class:`hub.rules.verdict.Reason` and of :class:`Act`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hardware.board import TOURNAMENT, clock_hour, to_xy
from hub.rules.people import CALLS
from hub.rules.position import Disc, Place
from hub.rules.verdict import Reason, Verdict

SENTENCES: Final[Mapping[str, str]] = {
    "off_the_start_line": "{disc} was not placed on the start line",
    "outside_the_quadrant": "{disc} was placed too far over the dividing line",
    "open_shot": "open shot: no opposing disc in play",
    "no_hiding_off": "the no-hiding rule is not in use, an open shot may end anywhere",
    "in_15": "{disc} came to rest in or touching the 15",
    "own_disc_in_15": "{disc} was struck and came to rest in or touching the 15",
    "open_not_in_15": "no disc of the shot came to rest in the 15",
    "hit_opponent": "hit {disc}",
    "hit_through_own": "hit {disc} through an own disc",
    "missed_opponent": "missed every opposing disc",
    "removed_by_foul": "{disc} goes to the ditch for the foul",
    "twenty_void": "{disc} dropped on a foul, the 20 is void",
    "put_back": "{disc} was moved by a disc that came back onto the board and is put back",
    "off": "{disc} left the board",
    "bounced_back": "{disc} left the board and bounced back, it is out",
    "crossed": "{disc} crossed the outer line, it is out",
    "struck_while_out": "{disc} struck another disc while over the outer line, it is out",
    "crossed_and_came_back": "{disc} ran over the outer line and came back by itself, it stays in play",
    "on_the_outer_line": "{disc} touches the outer line, it is out",
    "beyond_the_outer_line": "{disc} lies beyond the outer line, it is out",
    "stays_on_the_lip": "{disc} lies beyond the outer line and clear of it, it stays and scores nothing",
    "leaning": "{disc} leans in the hole: 15, no 20",
    "twenty": "20: {disc} lies flat in the hole",
    "twenty_for_owner": "20 for the other side: {disc} was knocked into the hole and counts for its owner",
    "unknown_disc": "a disc was seen that was not in play",
    "unknown_side": "a disc belongs to no side of this game",
    "same_disc": "the shot disc was already in play",
    "rest_missing": "nobody saw where the shot disc came to rest",
    "lifted_too_early": "a disc was seen to drop into the hole but lies in the ditch",
    "off_the_board": "a disc rests where there is no board",
    "wrong_seat": "the disc was shot from a seat that is not its side's",
    "too_many_discs": "there are more discs of a side than were dealt",
    "two_in_hole": "two discs lie in the hole, the second on the first",
    "maybe_not_left_finger": "the disc hardly moved: only people saw whether it left the finger",
    "shot_disc_disturbed": "a disc that came back moved the shot disc, people agree where it is put",
    **{call.code: call.title for call in CALLS},
}
"""What each code of a reason says; ``{disc}`` is the disc it is about."""


@dataclass(frozen=True, slots=True)
class Act:
    """One thing people must do now.

    Attributes:
        code: ``remove``, ``lift`` (and set in view) or ``put_back``.
        disc: id of the disc.
        side: whose it is.
        hour: at which hour seat 1 sees it, 12 opposite; ``None`` for a disc in the hole.
        to: where it is put back to.
    """

    code: Literal["remove", "lift", "put_back"]
    disc: str
    side: str
    hour: int | None
    to: Place | None = None


def acts(verdict: Verdict) -> tuple[Act, ...]:
    """What people must do to carry a verdict out, nothing where it happened by itself."""
    found = [
        Act("remove", disc, verdict.discs[disc].side, _hour(verdict.discs[disc])) for disc in sorted(verdict.take_off)
    ]
    found += [Act("lift", disc, verdict.discs[disc].side, None) for disc in sorted(verdict.lift)]
    found += [
        Act("put_back", disc, verdict.discs[disc].side, _hour(place), place)
        for disc, place in sorted(verdict.restored.items())
    ]
    return tuple(found)


def _hour(place: Place | Disc) -> int | None:
    """The hour at which seat 1 sees a disc on the board; ``None`` for one flat in the hole or in the ditch."""
    on_board = 0 <= place.r_mm <= TOURNAMENT.surface_radius_mm and math.isfinite(place.angle_deg)
    if not on_board or (place.r_mm <= TOURNAMENT.hole_play_mm and not place.leaning):
        return None
    return clock_hour(*to_xy(place.r_mm, place.angle_deg))


def say_act(act: Act, colours: Mapping[str, str] | None = None) -> str:
    """An act for people: ``"remove: dark disc at 2 o'clock"``.

    Args:
        act: what to do.
        colours: the colour of each side's discs; without one the side's letter is said.
    """
    verb = {"remove": "remove", "lift": "lift out and set in view", "put_back": "put back"}[act.code]
    where = "in the hole" if act.hour is None else f"at {act.hour} o'clock"
    if act.to is not None:
        where = f"to {where.removeprefix('at ')}, {act.to.r_mm:.0f} mm from the middle"
    return f"{verb}: {_whose(act.side, colours)} disc {where}"


def say_reason(reason: Reason, discs: Mapping[str, Disc], colours: Mapping[str, str] | None = None) -> str:
    """A step of the judgement with its rule: ``"missed every opposing disc: rule 37"``."""
    disc = discs.get(reason.disc or "")
    side = disc.side if disc is not None else reason.side or "?"
    named = f"the {_whose(side, colours)} disc"
    hour = None if disc is None else _hour(disc)
    if hour is not None:
        named += f" at {hour} o'clock"
    text = SENTENCES.get(reason.code, reason.code.replace("_", " ")).format(disc=named)
    return f"{text}: rule {reason.rule}"


def say(verdict: Verdict, colours: Mapping[str, str] | None = None) -> str:
    """The verdict in one sentence, its deciding reason first."""
    if verdict.referee:
        return f"People must decide: {say_reason(verdict.reasons[-1], verdict.discs, colours)}."
    head = "Valid" if verdict.valid else "Foul"
    first = next(r for r in verdict.reasons if (r.code in _GOOD if verdict.valid else r.code not in _NO_FAULT))
    text = f"{head}: {say_reason(first, verdict.discs, colours)}"
    gained = [reason for reason in verdict.reasons if reason.code in {"twenty", "twenty_for_owner", "twenty_void"}]
    return "; ".join([text, *(say_reason(reason, verdict.discs, colours) for reason in gained)]) + "."


def explain(verdict: Verdict, colours: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Every step in order, then what people must do."""
    steps = [say_reason(reason, verdict.discs, colours) for reason in verdict.reasons]
    return (*steps, *(say_act(act, colours) for act in acts(verdict)))


def _whose(side: str, colours: Mapping[str, str] | None) -> str:
    return (colours or {}).get(side, side)


_GOOD: Final = frozenset({"no_hiding_off", "in_15", "own_disc_in_15", "hit_opponent", "hit_through_own"})
_NO_FAULT: Final = _GOOD | {"open_shot"}
