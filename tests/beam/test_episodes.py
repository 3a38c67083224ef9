"""What the beam's edges mean, each case through the state machine and through gpiozero's pins."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from firmware_py.beam.cases import run_beam_case

Edges = list[tuple[float, str]]


def breaks(*spans_ms: tuple[float, float]) -> Edges:
    """Edges of breaks that begin and end at these times."""
    return [edge for start, end in spans_ms for edge in ((start, "blocked"), (end, "clear"))]


def square(start_ms: float, end_ms: float, *, dark_ms: float = 10, clear_ms: float = 10) -> Edges:
    """A square wave from a first dark edge on."""
    spans: list[tuple[float, float]] = []
    while start_ms + dark_ms <= end_ms:
        spans.append((start_ms, start_ms + dark_ms))
        start_ms += dark_ms + clear_ms
    return breaks(*spans)


def self_test(at_ms: float, *edges: tuple[float, str], off_ms: float = 10) -> dict[str, Any]:
    return {"at_ms": at_ms, "off_ms": off_ms, "edges": list(edges)}


NOTHING: dict[str, Any] = {"twenties": 0, "at_ms": [], "faults": [], "warnings": []}


def one(at_ms: float) -> dict[str, Any]:
    return {"twenties": 1, "at_ms": [at_ms], "faults": [], "warnings": []}


TABLE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    # --- the dwell ---
    ("a dwell of exactly 200 ms is enough", {"edges": breaks((1000, 1200))}, one(1200) | {"passes": 0}),
    ("a microsecond less is a pass", {"edges": breaks((1000, 1199.999))}, NOTHING | {"passes": 1}),
    ("a gap of exactly 60 ms counts as blocked", {"edges": breaks((1000, 1100), (1160, 1400))}, one(1200)),
    ("a longer gap does not", {"edges": breaks((1000, 1100), (1160.001, 1400))}, one(1360) | {"passes": 1}),
    ("a dwell that is reached inside a gap", {"edges": breaks((1000, 1190), (1230, 1240))}, one(1200) | {"passes": 0}),
    ("inside a gap that turns out too long", {"edges": breaks((1000, 1190), (1260, 1300))}, NOTHING | {"passes": 2}),
    ("gaps do not add up", {"edges": breaks((1000, 1010), (1065, 1075), (1130, 1140), (1195, 1205))}, one(1200)),
    # F3: light goes around the disc while it falls
    (
        "pulses of 0.3 ms and then steady: one twenty from the first pulse",
        {"edges": [*square(1000, 1030, dark_ms=0.3, clear_ms=1.2), (1031, "blocked"), (1700, "clear")]},
        one(1200) | {"passes": 0},
    ),
    # --- the episode ---
    ("armed again after exactly 300 ms", {"edges": breaks((1000, 1500), (1800, 2100))}, {"at_ms": [1200, 2000]}),
    ("not a moment earlier", {"edges": breaks((1000, 1500), (1799.999, 2100))}, one(1200) | {"passes": 0}),
    (
        "a finger that comes back keeps the episode going",
        {"edges": breaks((1000, 1500), (1790, 1800), (2090, 2100), (2390, 2800))},
        one(1200) | {"passes": 0},
    ),
    ("a pass needs no arming", {"edges": breaks((1000, 1100), (1170, 1500))}, one(1370) | {"passes": 1}),
    (
        "two discs a second apart",
        {"edges": breaks((1000, 1300), (2000, 2300))},
        {"twenties": 2, "at_ms": [1200, 2200], "passes": 0},
    ),
    # --- warnings ---
    ("exactly 5 s is no warning", {"edges": breaks((1000, 6000))}, one(1200)),
    ("more than 5 s is", {"edges": breaks((1000, 6000.1))}, one(1200) | {"warnings": ["not_removed"]}),
    ("exactly 20 s is not stuck", {"edges": breaks((1000, 21_000))}, one(1200) | {"warnings": ["not_removed"]}),
    ("a gap begins a new time", {"edges": breaks((1000, 5000), (5070, 10_000))}, one(1200)),
    ("a wobble does not", {"edges": breaks((1000, 5000), (5060, 6100))}, one(1200) | {"warnings": ["not_removed"]}),
    (
        "5 s that end in a gap that turns out too long",
        {"edges": breaks((1000, 5990), (6080, 6100))},
        one(1200),
    ),
    ("still blocked at the end", {"edges": [(1000, "blocked")], "until_ms": 30_000}, {"blocked_at_end": True}),
    # --- blocked at the start ---
    (
        "F1: blocked at the start for a minute, with toggles",
        {"start": "blocked", "edges": [(9000, "clear"), *breaks((9050, 20_000), (20_200, 50_000), (50_290, 60_000))]},
        {"twenties": 0, "faults": ["blocked_at_start"], "passes": 0},
    ),
    (
        "clear for 300 ms arms it",
        {"start": "blocked", "edges": [(1000, "clear"), *breaks((1300, 1600))]},
        {"at_ms": [1500], "faults": ["blocked_at_start"]},
    ),
    (
        "clear for less does not",
        {"start": "blocked", "edges": [(1000, "clear"), *breaks((1299, 1900))]},
        {"twenties": 0, "faults": ["blocked_at_start"]},
    ),
    # --- chatter ---
    (
        "F2: a loose cable, 50 Hz for ten seconds",
        {"edges": square(1000, 11_000), "until_ms": 20_000},
        {"twenties": 0, "faults": ["chatter"], "blocked_at_end": False},
    ),
    (
        "after 5 s of quiet a disc counts again",
        {"edges": [*square(1000, 4000), *breaks((8991, 9300))], "until_ms": 20_000},
        {"at_ms": [9191], "faults": ["chatter"]},
    ),
    (
        "one that falls earlier does not, and its edges are no quiet",
        {"edges": [*square(1000, 4000), *breaks((8900, 9300), (14_200, 14_290), (19_300, 19_600))], "until_ms": 25_000},
        {"at_ms": [19_500], "faults": ["chatter"]},
    ),
    (
        "a disc that lies there when the quiet is over is not counted",
        {"edges": [*square(1000, 4000), (4500, "blocked")], "until_ms": 20_000},
        {"twenties": 0, "faults": ["chatter"], "blocked_at_end": True},
    ),
    ("two seconds of it are not enough", {"edges": square(1000, 3000)}, one(1200) | {"faults": []}),
    (
        "a candidate before it stands",
        {"edges": [*breaks((1000, 1500)), *square(2000, 6000)], "until_ms": 15_000},
        {"at_ms": [1200], "faults": ["chatter"]},
    ),
    (
        "a pause of a second begins a new run",
        {"edges": [*square(1000, 2900), *square(3950, 5800)], "until_ms": 15_000},
        {"faults": []},
    ),
    ("F7: 200 edges in 50 ms are no chatter", {"edges": square(1000, 1050, dark_ms=0.25, clear_ms=0.25)}, NOTHING),
    # --- self-tests ---
    (
        "a good self-test in the gap of a wobbling disc",
        {
            "edges": breaks((1000, 1060), (1105, 1400)),
            "self_tests": [self_test(1070, (1072, "blocked"), (1082, "clear"))],
        },
        one(1200) | {"passes": 0},
    ),
    (
        "a blocked edge after exactly 5 ms is in time",
        {"edges": [], "self_tests": [self_test(1100, (1105, "blocked"), (1112, "clear"))]},
        NOTHING | {"passes": 0},
    ),
    (
        "one after 5.5 ms is a fault of the receiver, and only of it",
        {"edges": [], "self_tests": [self_test(1100, (1105.5, "blocked"), (1112, "clear"))]},
        NOTHING | {"faults": ["receiver"], "passes": 0},
    ),
    (
        "a clear edge after 4.5 ms is in time",
        {"edges": [], "self_tests": [self_test(1100, (1102, "blocked"), (1114.5, "clear"))]},
        NOTHING | {"passes": 0},
    ),
    (
        "an emitter that stays dark is a fault and never a twenty",
        {"edges": [], "self_tests": [self_test(1100, (1102, "blocked"))], "until_ms": 4000},
        NOTHING | {"faults": ["emitter"], "blocked_at_end": True},
    ),
    (
        "a disc that falls during a test and is never lifted is not counted yet",
        {"edges": [], "self_tests": [self_test(1100, (1101, "blocked"))], "until_ms": 30_000},
        {"twenties": 0, "warnings": ["not_removed", "stuck"]},
    ),
    (
        "a late receiver whose beam then stays blocked is a fault of the receiver only",
        {"edges": [], "self_tests": [self_test(1100, (1107, "blocked"))], "until_ms": 4000},
        {"twenties": 0, "faults": ["receiver"]},
    ),
    (
        "a test that begins in a blocked beam says nothing",
        {"edges": breaks((1000, 1700)), "self_tests": [self_test(1300)]},
        one(1200) | {"passes": 0},
    ),
    (
        "a disc lifted during a test that began in it",
        {"edges": [(1000, "blocked")], "self_tests": [self_test(1500, (1511, "clear"))]},
        one(1200) | {"blocked_at_end": False},
    ),
    (
        "a receiver that was flooded and sees again",
        {"edges": [], "self_tests": [self_test(1100), self_test(3100, (3101, "blocked"), (3111, "clear"))]},
        NOTHING | {"faults": ["receiver"]},
    ),
    (
        "edges of self-tests are no chatter",
        {
            "edges": [],
            "self_tests": [self_test(t, (t + 1, "blocked"), (t + 11, "clear")) for t in range(1000, 6000, 40)],
            "until_ms": 9000,
        },
        NOTHING | {"passes": 0},
    ),
    # --- lost edges ---
    (
        "the edge of a falling disc is lost: believed from the next reading on",
        {"edges": [(3000, "clear")], "levels": [(1600, "blocked")]},
        {"at_ms": [1950], "faults": ["lost_edge"], "passes": 0},
    ),
    (
        "a lost edge during the dwell",
        {"edges": [(1700, "blocked")], "levels": [(1720, "clear")]},
        {"twenties": 0, "passes": 1, "faults": ["lost_edge"], "blocked_at_end": False},
    ),
    (
        "arming counts from the reading",
        {"edges": [(1000, "blocked"), *breaks((2040, 2500))], "levels": [(1501, "clear")]},
        {"at_ms": [1200], "faults": ["lost_edge"]},
    ),
    (
        "a flyer between two readings whose first edge was lost leaves no trace",
        {"edges": [(1700, "clear")], "levels": [(1600, "blocked")]},
        NOTHING | {"passes": 0},
    ),
    # --- outside a round ---
    (
        "practice",
        {"edges": breaks((1000, 1500)), "round_running": False},
        one(1200) | {"practice": True},
    ),
]


@pytest.mark.parametrize(("given", "expect"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_edges_mean_what_they_should(given: dict[str, Any], expect: dict[str, Any]) -> None:
    defaults = {"until_ms": 35_000 if len(given["edges"]) > 20 else 28_000, "round_running": True, "start": "clear"}
    assert run_beam_case({"id": "own", "given": defaults | given, "expect": expect}) == []


@pytest.mark.shared
def test_all_worked_cases_pass(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "beam.json").read_text(encoding="utf-8"))
    mismatches = {case["id"]: wrong for case in cases if (wrong := run_beam_case(case))}
    assert mismatches == {}
    assert len(cases) >= 46


GIVEN: dict[str, Any] = {"edges": breaks((1000, 1500)), "until_ms": 5000, "start": "clear"}


class TestMismatchesAreSaid:
    @pytest.mark.parametrize(
        ("expect", "word"),
        [
            ({"twenties": 2}, "twenties: expected 2, got 1"),
            ({"at_ms": [1221]}, "at_ms"),
            ({"at_ms": []}, "at_ms"),
            ({"passes": 1}, "passes"),
            ({"faults": ["chatter"]}, "faults"),
            ({"warnings": ["stuck"]}, "warnings"),
            ({"blocked_at_end": True}, "blocked_at_end"),
            ({"practice": True}, "practice"),
        ],
    )
    def test_a_wrong_expectation_fails_both_ways(self, expect: dict[str, Any], word: str) -> None:
        mismatches = run_beam_case({"given": GIVEN, "expect": expect})
        assert len(mismatches) == 2
        assert all(word in mismatch for mismatch in mismatches)

    @pytest.mark.parametrize(
        "case",
        [
            {},
            {"given": {}, "expect": {}},
            {"given": GIVEN, "expect": {"twentys": 1}},
            {"given": GIVEN | {"start": "dark"}, "expect": {}},
            {"given": GIVEN | {"edges": [[1000, "broken"]]}, "expect": {}},
            {"given": GIVEN | {"edges": [["soon", "clear"]]}, "expect": {}},
            {"given": None, "expect": {}},
            *(
                {"given": GIVEN | wrong, "expect": {}}
                for at_ms in (-1, math.inf, math.nan, 1e30, 10**30)
                for wrong in (
                    {"until_ms": at_ms},
                    {"edges": [[at_ms, "blocked"]]},
                    {"levels": [[at_ms, "blocked"]]},
                    {"self_tests": [{"at_ms": at_ms, "off_ms": 10}]},
                    {"self_tests": [{"at_ms": 10, "off_ms": at_ms}]},
                )
            ),
        ],
    )
    def test_a_case_that_is_none_says_so(self, case: dict[str, Any]) -> None:
        (mismatch,) = run_beam_case(case)
        assert mismatch.startswith("is no beam case")
