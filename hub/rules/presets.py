"""The rule sets that ship with the project, under the names people and case files use."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from hub.rules.errors import RulesError, nearest
from hub.rules.ruleset import Ruleset, changed

Level = Literal["count", "advise", "judge"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A rule set with a name.

    Attributes:
        ruleset: the rules.
        level: how far the system goes by default: ``count`` 20s and totals, ``advise``, or ``judge``.
        shown: whether people are offered it; the others are the sources' own columns, for conformance.
    """

    ruleset: Ruleset
    level: Level = "advise"
    shown: bool = True


def _preset(
    title: str, name: str, *, level: Level = "advise", shown: bool = True, **changes: Any
) -> Preset:  # the values are checked by Ruleset
    return Preset(changed(Ruleset(), {"name": name, "title": title, **changes}), level=level, shown=shown)


_ALL: Final = (
    _preset("Club to 100", "classic"),
    _preset("Match play", "match-play", scoring="match210", game_end="first_to 8"),
    _preset("NCA", "nca", quadrant="touch_line", scoring="match210", game_end="rounds 4", tie_end="draw", discs="8/6"),
    _preset(
        "WCC",
        "wcc",
        spinner="untouched",
        quadrant="touch_line",
        commit="left_finger",
        scoring="match210",
        game_end="rounds 4",
        tie_end="fifth_round",
        discs="8/6",
        lip_disc="stays_0",
        discs_in_hand="yes",
    ),
    _preset("Family", "family", level="count", no_hiding="off"),
    _preset(
        "Source A", "source-a", shown=False, miss_chain="direct", damage="restore", lip_disc="stays_0", chair="round"
    ),
    _preset(
        "Source B",
        "source-b",
        shown=False,
        open_touch="inside_only",
        quadrant="touch_line",
        commit="left_finger",
        scoring="cumulative",
        lip_disc="stays_0",
        one_finger="yes",
    ),
    _preset(
        "Source C",
        "source-c",
        shown=False,
        open_subject="shooter_only",
        open_remove="shooter_only",
        lip_disc="stays_0",
    ),
)

PRESETS: Final[Mapping[str, Preset]] = MappingProxyType({preset.ruleset.name: preset for preset in _ALL})
"""Every preset by name; those with ``shown`` first."""


def load_ruleset(source: str | Mapping[str, Any]) -> Ruleset:
    """The rules called ``source``, or a table ``{"base": preset, "<variant>": value, ...}``.

    The table may come from TOML, a case file or a journal's snapshot; without ``base`` it changes ``classic``.

    Raises:
        RulesError: ``unknown_preset``, ``unknown_variant`` (both with the nearest right name) or ``bad_value``.
    """
    if isinstance(source, str):
        if source not in PRESETS:
            raise RulesError("unknown_preset", f"no rules are called {source!r}{nearest(source, PRESETS)}")
        return PRESETS[source].ruleset
    if not isinstance(source, Mapping):
        raise RulesError("bad_value", f"rules {source!r}: expected a name or a table")
    base = source.get("base", "classic")
    if not isinstance(base, str):
        raise RulesError("bad_value", f"base {base!r}: expected the name of a preset")
    return changed(load_ruleset(base), {name: value for name, value in source.items() if name != "base"})


def from_table(table: Mapping[str, Any]) -> Ruleset:
    """The rule set that :func:`hub.rules.ruleset.to_table` wrote down; see :func:`load_ruleset` for the errors."""
    return load_ruleset(table)


def read_ruleset(path: Path) -> Ruleset:
    """A club's own rules from a TOML file: ``base`` and what is different.

    Raises:
        RulesError: ``bad_file``, it cannot be read as TOML; otherwise as :func:`load_ruleset`, naming the file.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RulesError("bad_file", f"{path}: cannot be read as TOML: {error}") from error
    try:
        return load_ruleset(table)
    except RulesError as error:
        raise RulesError(error.code, f"{path}: {error.sentence}") from error
