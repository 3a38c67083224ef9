r"""A compact text form of a position, a shot and a round, for tests, errors and the journal's human view.

Each has a ``format``/``parse`` pair that round-trips; ``docs/notation.md`` explains it with examples. A position is
``A:P@130/20 B:B1@10/0~ +Ax2``, a shot ``A@1 s@304.8/0 : s>P s# P* = s@125/0 P*``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from hub.rules.errors import RulesError
from hub.rules.position import HOLE, Disc, Event, Place, Position, Rest, Shot

_MARKS: Final = {"peg": "#", "off": "/", "back": "\\", "cross": "|", "hole": "*"}
_KINDS: Final = {mark: kind for kind, mark in _MARKS.items()}

_NAME: Final = r'(?:[A-Za-z0-9_]+|"(?:[^"\\]|\\.)*")'
_NUMBER: Final = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_PLACE: Final = rf"@(?P<r>{_NUMBER})/(?P<angle>{_NUMBER})(?P<lean>~?)"
_PLAIN = re.compile(r"[A-Za-z0-9_]+")
_WORD = re.compile(r'(?:"(?:[^"\\]|\\.)*"|\S)+')
_DISC = re.compile(rf"(?P<side>{_NAME}):(?P<disc>{_NAME}){_PLACE}")
_BANKED = re.compile(rf"\+(?P<side>{_NAME})x(?P<count>\d+)")
_SHOOTER = re.compile(rf"(?P<side>{_NAME})@(?P<seat>-?\d+)")
_PLACED = re.compile(rf"(?P<disc>{_NAME})(?:{_PLACE})?")
_HIT = re.compile(rf"(?P<disc>{_NAME})>(?P<other>{_NAME})")
_ALONE = re.compile(rf"(?P<disc>{_NAME})(?P<mark>[#/\\|*])")
_AT = re.compile(rf"(?P<disc>{_NAME}){_PLACE}")
_COUNT = re.compile(rf"(?P<side>{_NAME})=(?P<twenties>\d+)x20\+(?P<points>\d+)")


@dataclass(frozen=True, slots=True)
class RoundText:
    """A round as it is written down.

    Attributes:
        number: number of the round in its game.
        shots: its shots in order.
        twenties: 20s by side.
        points: points left on the board by side.
    """

    number: int
    shots: tuple[Shot, ...] = ()
    twenties: Mapping[str, int] = field(default_factory=dict)
    points: Mapping[str, int] = field(default_factory=dict)


def format_position(position: Position) -> str:
    """``A:P@130/20 B:B1@10/0~ +Ax2``; ``-`` for an empty board with nothing banked."""
    words = [f"{_name(disc.side)}:{_name(name)}{_place(disc)}" for name, disc in position.discs.items()]
    words += [f"+{_name(side)}x{count}" for side, count in position.banked.items()]
    return " ".join(words) or "-"


def parse_position(text: str) -> Position:
    """The position of :func:`format_position`'s text.

    Raises:
        RulesError: ``bad_notation``, with the word that was not understood.
    """
    discs: dict[str, Disc] = {}
    banked: dict[str, int] = {}
    words = _WORD.findall(text)
    for word in [] if words == ["-"] else words:
        if found := _DISC.fullmatch(word):
            disc = _unname(found["disc"])
            if disc in discs:
                raise _misread(word, text, "disc ids that differ")
            discs[disc] = Disc(_unname(found["side"]), float(found["r"]), float(found["angle"]), bool(found["lean"]))
        elif found := _BANKED.fullmatch(word):
            side = _unname(found["side"])
            if side in banked:
                raise _misread(word, text, "each side's 20s once")
            banked[side] = int(found["count"])
        else:
            raise _misread(word, text, "side:disc@radius/angle or +sidexcount")
    return Position(discs, banked)


def format_shot(shot: Shot) -> str:
    r"""``A@1 s@304.8/0 : s>P s# P* = s@125/0 P*``.

    Marks: ``>`` touches, ``#`` touches a peg, ``/`` leaves the surface, ``\`` bounces back onto it, ``|`` touches or
    crosses the outer line, ``*`` drops flat into the hole; after ``=`` where each disc rests, ``/`` in the ditch.
    """
    placed = "" if shot.placed is None else _place(shot.placed)
    events = [_event(event) for event in shot.events]
    rest = [_rest(disc, where) for disc, where in shot.rest.items()]
    return " ".join([f"{_name(shot.side)}@{shot.seat}", f"{_name(shot.disc)}{placed}", ":", *events, "=", *rest])


def parse_shot(text: str) -> Shot:
    """The shot of :func:`format_shot`'s text.

    Raises:
        RulesError: ``bad_notation``, with the word that was not understood.
    """
    words = _WORD.findall(text)
    if ":" not in words or "=" not in words or words.index(":") != 2 or words.index("=") < 2:
        raise _misread(text, text, "side@seat disc@radius/angle : events = rests")
    shooter, placed = _SHOOTER.fullmatch(words[0]), _PLACED.fullmatch(words[1])
    if shooter is None or placed is None:
        raise _misread(" ".join(words[:2]), text, "side@seat disc@radius/angle")
    end = words.index("=")
    return Shot(
        side=_unname(shooter["side"]),
        seat=int(shooter["seat"]),
        disc=_unname(placed["disc"]),
        events=tuple(_parse_event(word, text) for word in words[3:end]),
        rest=_parse_rests(words[end + 1 :], text),
        placed=None if placed["r"] is None else _parse_place(placed),
    )


def format_round(written: RoundText) -> str:
    """A line ``round 3``, a line for each shot, and a line ``counted A=1x20+25 B=2x20+0``."""
    sides = dict.fromkeys([*written.twenties, *written.points])
    counts = [f"{_name(side)}={written.twenties.get(side, 0)}x20+{written.points.get(side, 0)}" for side in sides]
    return "\n".join([f"round {written.number}", *map(format_shot, written.shots), " ".join(["counted", *counts])])


def parse_round(text: str) -> RoundText:
    """The round of :func:`format_round`'s text.

    Raises:
        RulesError: ``bad_notation``, with the word that was not understood.
    """
    lines = [line.strip() for line in text.strip().splitlines()]
    head = re.fullmatch(r"round (\d+)", lines[0]) if lines else None
    if head is None or len(lines) < 2 or not re.match(r"counted\b", lines[-1]):
        raise _misread(text, text, "'round N', a line for each shot, 'counted side=20sx20+points ...'")
    twenties: dict[str, int] = {}
    points: dict[str, int] = {}
    for word in _WORD.findall(lines[-1])[1:]:
        found = _COUNT.fullmatch(word)
        if found is None:
            raise _misread(word, lines[-1], "side=20sx20+points")
        side = _unname(found["side"])
        twenties[side] = int(found["twenties"])
        points[side] = int(found["points"])
    return RoundText(int(head[1]), tuple(parse_shot(line) for line in lines[1:-1]), twenties, points)


def _misread(word: str, text: str, expected: str) -> RulesError:
    return RulesError("bad_notation", f"{word!r} in {text!r}: expected {expected}")


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else json.dumps(name)


def _unname(text: str) -> str:
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError as error:
        raise RulesError("bad_notation", f"{text}: expected a name in JSON's quotes") from error


def _figure(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _place(place: Place | Disc) -> str:
    return f"@{_figure(place.r_mm)}/{_figure(place.angle_deg)}{'~' if place.leaning else ''}"


def _parse_place(found: re.Match[str]) -> Place:
    return Place(float(found["r"]), float(found["angle"]), bool(found["lean"]))


def _event(event: Event) -> str:
    if event[0] == "hit":
        return f"{_name(event[1])}>{_name(event[2])}"
    return _name(event[1]) + _MARKS[event[0]]


def _parse_event(word: str, text: str) -> Event:
    if found := _HIT.fullmatch(word):
        return ("hit", _unname(found["disc"]), _unname(found["other"]))
    if found := _ALONE.fullmatch(word):
        return (_KINDS[found["mark"]], _unname(found["disc"]))
    raise _misread(word, text, r"an event: a>b, a#, a/, a\, a| or a*")


def _rest(disc: str, where: Rest) -> str:
    if isinstance(where, str):
        return _name(disc) + _MARKS["hole" if where == HOLE else "off"]
    return _name(disc) + _place(where)


def _parse_rests(words: list[str], text: str) -> dict[str, Rest]:
    rests: dict[str, Rest] = {}
    for word in words:
        disc, where = _parse_rest(word, text)
        if disc in rests:
            raise _misread(word, text, "each disc's rest once")
        rests[disc] = where
    return rests


def _parse_rest(word: str, text: str) -> tuple[str, Rest]:
    if found := _AT.fullmatch(word):
        return _unname(found["disc"]), _parse_place(found)
    found = _ALONE.fullmatch(word)
    if found is not None and found["mark"] in "/*":
        return _unname(found["disc"]), ("hole" if found["mark"] == "*" else "ditch")
    raise _misread(word, text, "a rest: a@radius/angle, a* or a/")


def format_names(names: Iterable[str]) -> str:
    """Disc ids in order, for a line of the journal's human view; ``-`` for none."""
    return " ".join(_name(name) for name in sorted(names)) or "-"
