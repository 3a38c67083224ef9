"""The worked cases that lie beside the project: every one must come out as written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hub.rules.cases import run_case

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"


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
    assert run_case(case) == []
