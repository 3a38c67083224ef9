"""Short ways to say a position and a shot in tests, by the project's own notation."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hub.rules.notation import parse_position, parse_shot
from hub.rules.presets import load_ruleset
from hub.rules.shot import judge_shot
from hub.rules.verdict import Verdict


def judge(position: str, shot: str, rules: str | Mapping[str, Any] = "classic", **more: Any) -> Verdict:
    """The verdict on ``shot`` in ``position``, both in notation, by a preset or ``{variant: value}``."""
    ruleset = load_ruleset(rules)
    return judge_shot(parse_position(position), parse_shot(shot), ruleset, **more)


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of ``tests/cases/<name>.toml``."""
    path = Path(__file__).resolve().parents[1] / "cases" / f"{name}.toml"
    found: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["shot"]
    return found
