"""The table of cameras in the documentation says what the code calculates."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from firmware_py.camera.devices.cameras import COMPUTERS, MODULES, judge, table
from firmware_py.camera.devices.capabilities import CONTACTS, LAYOUT

DOCS = Path(__file__).resolve().parents[3] / "docs" / "cameras.md"


def test_the_documented_table_is_the_calculated_one() -> None:
    told = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    rows = table()
    assert told[: len(rows)] == rows


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_a_faster_computer_never_judges_less(module: object) -> None:
    claims = [set(judge(computer, module).claims) for computer in sorted(COMPUTERS, key=lambda c: -c.slower)]
    assert all(slow <= fast for slow, fast in pairwise(claims))
    assert LAYOUT in claims[0]


def test_contacts_are_for_a_pi_4_and_up() -> None:
    able = {c.name for c in COMPUTERS if all(CONTACTS in judge(c, m).claims for m in MODULES if not m.jpeg)}
    assert able == {"Pi 4", "Pi 5"}
