"""The worked cases that lie beside the project: every one must come out as written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hub.rules.cases import kind_of, run_game_case, run_round_case, run_shot_case

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"
RUN = {"shot": run_shot_case, "round": run_round_case, "game": run_game_case}


def cases() -> list[Any]:
    found = []
    for name in ("shots", "rounds", "games"):
        path = CASES / f"{name}.json"
        if path.exists():
            found += [pytest.param(case, id=case["id"]) for case in json.loads(path.read_text())]
    return found or [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=f"no cases at {CASES}"))]


@pytest.mark.shared
@pytest.mark.parametrize("case", cases())
def test_worked_case(case: dict[str, Any]) -> None:
    assert RUN[kind_of(case)](case) == []
