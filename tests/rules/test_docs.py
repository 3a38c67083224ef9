"""The pages for players say what the code does: tables, links and examples are checked against it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from hub.rules.notation import parse_position, parse_round, parse_shot
from hub.rules.presets import PRESETS, load_ruleset
from hub.rules.ruleset import CHOICES, VARIANTS
from hub.rules.shot import UNDECIDED_RULES, judge_shot

DOCS = Path(__file__).resolve().parents[2] / "docs"
RULES = (DOCS / "rules.md").read_text(encoding="utf-8")
NOTATION = (DOCS / "notation.md").read_text(encoding="utf-8")
COLUMNS = ("classic", "match-play", "nca", "wcc", "family", "source-a", "source-b", "source-c")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def variant_tables() -> dict[str, dict[str, list[str]]]:
    """For each variant its values, each with the presets that have a dot."""
    tables: dict[str, dict[str, list[str]]] = {}
    lines = RULES.splitlines()
    for at, line in enumerate(lines):
        head = re.match(r"\| `(\w+)` \| in words \|", line)
        if head is None:
            continue
        rows: dict[str, list[str]] = {}
        for row in lines[at + 2 :]:
            if not row.startswith("|"):
                break
            value, _, *dots = cells(row)
            rows[value.strip("`")] = [name for name, dot in zip(COLUMNS, dots, strict=True) if dot]
        tables[head[1]] = rows
    return tables


def test_every_variant_has_its_table() -> None:
    assert set(variant_tables()) == set(VARIANTS)
    assert set(COLUMNS) == set(PRESETS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_dots_are_the_presets(variant: str) -> None:
    table = variant_tables()[variant]
    for name in COLUMNS:
        assert [value for value, presets in table.items() if name in presets] == [
            str(getattr(PRESETS[name].ruleset, variant))
        ]
    assert set(table) == set(CHOICES.get(variant, table))


def test_every_link_names_something_that_is_there() -> None:
    links = re.findall(r"\[`([\w.]+)`\]\((\S+?)\)", RULES)
    assert len(links) > 80
    for name, target in links:
        scope: ast.AST = ast.parse((DOCS / target).read_text(encoding="utf-8"))
        for part in name.split("."):
            named = [node for node in ast.iter_child_nodes(scope) if part in names_of(node)]
            assert named, f"{name} is not in {target}"
            scope = named[0]


def names_of(node: ast.AST) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    return set()


def test_every_row_of_the_source_table_is_told() -> None:
    told: set[int] = set()
    for row in re.findall(r"^\| (\d+(?:[,-] ?\d+)*) \|", RULES, re.MULTILINE):
        if "-" in row:
            first, last = map(int, row.split("-"))
            told |= set(range(first, last + 1))
        else:
            told |= {int(number) for number in row.split(",")}
    assert told == set(range(1, 58))


def test_every_way_to_no_verdict_is_told() -> None:
    section = RULES.split("## When there is no verdict")[1].split("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", section.split("|---|---|")[1])) - {
        "commit",
        "left_finger",
        "damage",
        "restore",
    } == set(UNDECIDED_RULES)


def test_the_examples_of_the_notation_come_out_as_written() -> None:
    rows = [cells(line) for line in NOTATION.split("## Examples")[1].splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 6
    for _, position, shot, told in rows:
        verdict = judge_shot(parse_position(position.strip("`")), parse_shot(shot.strip("`")), load_ruleset("classic"))
        assert told.startswith("valid" if verdict.valid else "foul")
        twenty = re.search(r"20 for (\w)", told)
        assert {side for side, count in verdict.twenties.items() if count} == (set(twenty[1]) if twenty else set())
        gone = re.search(r"(\w)(?: and (\w))? go", told)
        assert verdict.removed == ({name for name in gone.groups() if name} if gone else set())


def test_the_texts_of_the_notation_can_be_read() -> None:
    position, shot, *played = (line.strip() for line in NOTATION.splitlines() if line.startswith("    "))
    assert parse_position(position).banked == {"A": 2}
    assert parse_shot(shot).placed is not None
    assert len(parse_round("\n".join(played)).shots) == 2
