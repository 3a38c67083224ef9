"""A set of rules: one frozen value with one field for each named variant of the sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal

from hub.rules.errors import RulesError, nearest

Players = Literal["singles", "doubles", "two-v-one", "cutthroat"]

CHOICES: Final = MappingProxyType(
    {
        "players": ("singles", "doubles", "two-v-one", "cutthroat"),
        "open_touch": ("touch_ok", "inside_only"),
        "open_subject": ("any_struck", "shooter_only"),
        "open_remove": ("all_struck", "shooter_only"),
        "no_hiding": ("on", "off"),
        "miss_chain": ("chain", "direct"),
        "damage": ("stays", "restore"),
        "spinner": ("any", "untouched", "dead_on_cross"),
        "quadrant": ("half", "touch_line"),
        "commit": ("moved", "left_finger"),
        "scoring": ("differential", "cumulative", "match210"),
        "tie_end": ("deciding_round", "draw", "fifth_round", "pairs"),
        "lip_disc": ("dead", "stays_0"),
        "three_way_tie": ("none", "one_each"),
        "discs_in_hand": ("no", "yes"),
        "chair": ("round", "game"),
        "one_finger": ("no", "yes"),
    }
)
"""The values of every variant that has a closed list of them."""

_YES_NO: Final = {"on": {True: "on", False: "off"}, "no": {True: "yes", False: "no"}}
_GAME_END = re.compile(
    r"(?:rounds (?P<rounds>[1-9]\d{0,3})|first_to (?P<target>[1-9]\d{0,3})(?: lead (?P<lead>[1-9]\d?))?)"
)
_DISCS = re.compile(r"([1-9]\d?)/([1-9]\d?)")


@dataclass(frozen=True, slots=True)
class GameEnd:
    """When a game is over: after so many rounds, or as soon as a side has enough and leads by enough.

    Attributes:
        rounds: length of the game in rounds, 0 for a game that is played to a target.
        target: game points that win, 0 for a game of a fixed number of rounds.
        lead: by how many points the winner must lead; 0 where a level end is settled by ``tie_end``.
    """

    rounds: int = 0
    target: int = 0
    lead: int = 0


@lru_cache(maxsize=64)
def parse_game_end(text: str) -> GameEnd:
    """``"first_to 100"``, ``"rounds 4"`` or ``"first_to 7 lead 2"`` as a value.

    Raises:
        RulesError: ``bad_value``.
    """
    found = _GAME_END.fullmatch(text)
    if found is None:
        raise RulesError(
            "bad_value",
            f"game_end {text!r}: expected 'first_to 100', 'rounds 4' or 'first_to 7 lead 2' with other numbers",
        )
    return GameEnd(*(int(found[name] or 0) for name in ("rounds", "target", "lead")))


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Every named variant of the rules; the defaults are CLASSIC, the majority of the sources.

    Attributes:
        name: preset it is, or what it was made from.
        title: what people are shown.
        players: ``singles``, ``doubles``, ``two-v-one``, ``cutthroat`` (rules 1, 13-16).
        open_touch: whether an open shot that only touches the 15 line is good (rule 31).
        open_subject: which disc an open shot is judged by: the shot disc, or any own disc it struck too (rule 32).
        open_remove: what an open foul takes away (rule 33).
        no_hiding: whether an open shot must reach the 15 at all (rules 30, 34).
        miss_chain: whether a miss takes own discs struck through others as well (rule 37).
        damage: whether what a disc that came back disturbed stays or is put back (rule 44).
        spinner: a disc that ran over the outer line on the wood and came back by itself: in play, in play if it
            struck nothing while out (``untouched``), or dead (rule 45).
        quadrant: how far a disc may be placed over the dividing line (rule 24).
        commit: when a shot counts as taken (rule 26).
        scoring: what a round adds to the game (rules 50, 54).
        game_end: when a game is over (rule 52), see :func:`parse_game_end`.
        tie_end: what follows a level end (rule 53).
        discs: discs of a player in singles / in doubles (rules 13, 14).
        lip_disc: a disc at rest beyond the outer line, clear of it: dead or in play for nothing (rules 5, 42).
        three_way_tie: what three players level in cutthroat get (rule 16).
        discs_in_hand: whether unshot discs may be held in the hand (rule 20; people judge it).
        chair: how long chair and board must stay where they are (rule 29; people judge it).
        one_finger: whether one finger alone may shoot (rule 25; people judge it).
        reshoots: shots a novice may take again in a round (rule 55).
    """

    name: str = "classic"
    title: str = "Club to 100"
    players: Players = "singles"
    open_touch: Literal["touch_ok", "inside_only"] = "touch_ok"
    open_subject: Literal["any_struck", "shooter_only"] = "any_struck"
    open_remove: Literal["all_struck", "shooter_only"] = "all_struck"
    no_hiding: Literal["on", "off"] = "on"
    miss_chain: Literal["chain", "direct"] = "chain"
    damage: Literal["stays", "restore"] = "stays"
    spinner: Literal["any", "untouched", "dead_on_cross"] = "any"
    quadrant: Literal["half", "touch_line"] = "half"
    commit: Literal["moved", "left_finger"] = "moved"
    scoring: Literal["differential", "cumulative", "match210"] = "differential"
    game_end: str = "first_to 100"
    tie_end: Literal["deciding_round", "draw", "fifth_round", "pairs"] = "deciding_round"
    discs: str = "12/6"
    lip_disc: Literal["dead", "stays_0"] = "dead"
    three_way_tie: Literal["none", "one_each"] = "none"
    discs_in_hand: Literal["no", "yes"] = "no"
    chair: Literal["round", "game"] = "game"
    one_finger: Literal["no", "yes"] = "no"
    reshoots: int = 0

    def __post_init__(self) -> None:
        for name, values in CHOICES.items():
            value = getattr(self, name)
            if value not in values:
                raise RulesError("bad_value", f"{name} {value!r}: expected {_listed(name, value)}")
        parse_game_end(_text("game_end", self.game_end))
        if not _DISCS.fullmatch(_text("discs", self.discs)):
            raise RulesError("bad_value", f"discs {self.discs!r}: expected singles/doubles such as '12/6' or '8/6'")
        if type(self.reshoots) is not int or not 0 <= self.reshoots <= 99:
            raise RulesError("bad_value", f"reshoots {self.reshoots!r}: expected a whole number from 0 to 99")
        _text("name", self.name)
        _text("title", self.title)

    @property
    def end(self) -> GameEnd:
        """When a game is over; cutthroat is always played to 8 (rule 16)."""
        return _CUTTHROAT_END if self.players == "cutthroat" else parse_game_end(self.game_end)


_CUTTHROAT_END: Final = GameEnd(target=8)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise RulesError("bad_value", f"{name} {value!r}: expected a text")
    return value


def _listed(name: str, value: object) -> str:
    return "one of " + ", ".join(CHOICES[name]) + (nearest(value, CHOICES[name]) if isinstance(value, str) else "")


VARIANTS: Final = tuple(f.name for f in fields(Ruleset) if f.name not in {"name", "title", "players"})
"""Names of the variants, as in table 1b of the sources and in custom rule files."""


def to_table(ruleset: Ruleset) -> dict[str, str | int]:
    """Every field by name: what a recorded game snapshots, so that later edits never rewrite history."""
    return {f.name: getattr(ruleset, f.name) for f in fields(Ruleset)}


def changed(base: Ruleset, changes: Mapping[str, Any]) -> Ruleset:
    """``base`` with some fields changed.

    ``true`` and ``false`` stand for on/off and yes/no. Without a name the result is named after what changed.

    Raises:
        RulesError: ``unknown_variant`` with the nearest right one, or ``bad_value``.
    """
    known = [f.name for f in fields(Ruleset)]
    table: dict[str, Any] = dict(to_table(base))
    for name, value in changes.items():
        if name not in known:
            raise RulesError("unknown_variant", f"no rule is called {name!r}{nearest(str(name), known)}")
        table[name] = _YES_NO[CHOICES[name][0]][value] if isinstance(value, bool) and _is_switch(name) else value
    if "name" not in changes:
        differing = [f"{name}={table[name]}" for name in VARIANTS if table[name] != getattr(base, name)]
        table["name"] = ", ".join([base.name, *differing])
        table["title"] = changes.get("title", ", ".join([base.title, *differing]))
    return Ruleset(**table)


def _is_switch(name: str) -> bool:
    return name in CHOICES and CHOICES[name][0] in _YES_NO
