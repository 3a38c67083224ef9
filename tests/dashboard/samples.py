"""Tables as a hub would publish them, for tests and for pictures of the pages."""

from __future__ import annotations

import time
from typing import Any

from msgspec.structs import replace

from hub.link.snapshot import (
    Choice,
    DiscView,
    Flash,
    Question,
    Removal,
    RoundView,
    SensorView,
    SideView,
    Table,
    VerdictView,
)

ON = {"beam": SensorView(online=True), "camera": SensorView(online=True, frame_rate_hz=30.0)}


def disc(name: str, colour: str, x_mm: float, y_mm: float, value: int, **more: Any) -> DiscView:
    return DiscView(
        name, colour, x_mm, y_mm, 0.3, more.pop("state", "flat"), value, more.pop("margin_mm", 30.0), **more
    )


DISCS = (
    disc("d1", "light", 41.0, 58.5, 15),
    disc("d2", "dark", -62.0, 30.0, 15),
    disc("d3", "dark", -142.0, -60.0, 10),
    disc("d4", "light", 12.0, -186.1, 10, margin_mm=0.2, close=True),
    disc("d5", "dark", 105.0, -80.0, 10),
    disc("d6", "light", 170.0, 150.0, 5),
    disc("d7", "light", -120.0, 121.0, 10),
    disc("d8", "dark", 0.4, 0.2, 20, state="hole"),
    disc("d9", "light", -356.0, 30.0, 0, state="ditch"),
    disc("d10", "dark", -352.0, -40.0, 0, state="ditch"),
)


def idle(board: str = "board-1", **more: Any) -> Table:
    return Table(board, more.pop("rev", 1), 0, {}, sensors=more.pop("sensors", ON), **more)


def playing(board: str = "board-1", *, a: str = "Ann", b: str = "Bo", **more: Any) -> Table:
    sides: dict[str, SideView] = {
        "A": SideView(a, "light", score=5, twenties=2, total_twenties=9, board=40, shots_left=7),
        "B": SideView(b, "dark", score=3, twenties=1, total_twenties=7, board=55, shots_left=8, hammer=True),
    }
    given: dict[str, Any] = {
        "rev": 12,
        "phase": "round",
        "rules": "Match play",
        "level": "judge",
        "match_id": "m1",
        "round": 5,
        "turn": "B",
        "seat": 3,
        "opener": "A",
        "shot": 9,
        "sides": sides,
        "discs": DISCS,
        "verdict": VerdictView(9, "A", valid=True, code="ok", text="Good shot: it touched a dark disc."),
        "rounds": (
            RoundView(1, 1, {"A": 95, "B": 60}, {"A": 2, "B": 1}, {"A": 2, "B": 0}),
            RoundView(2, 1, {"A": 40, "B": 85}, {"A": 0, "B": 3}, {"A": 0, "B": 2}),
            RoundView(3, 1, {"A": 70, "B": 70}, {"A": 2, "B": 2}, {"A": 1, "B": 1}),
            RoundView(4, 1, {"A": 120, "B": 35}, {"A": 3, "B": 0}, {"A": 2, "B": 0}),
        ),
        "sensors": ON,
        "can_undo": True,
    }
    given.update(more)
    return Table(board, given.pop("rev"), 0, given.pop("seen", {}), **given)


QUESTION = Question(
    "q1",
    "twenty",
    "Whose 20 was it?",
    (Choice("A", "Ann's (light)"), Choice("B", "Bo's (dark)"), Choice("none", "No 20")),
    discs=("d8",),
    facts={"shot": 9},
)
REMOVAL = Removal(
    "d5", "dark", 105.0, -80.0, "foul", "Take off the dark disc at 4 o'clock: the shot touched no light disc."
)
FOUL = VerdictView(9, "B", valid=False, code="no_contact", text="Foul: the shot touched no light disc.")


def twenty(flash_id: str = "f1", side: str = "A", colour: str = "light", **more: Any) -> Flash:
    at_ms = more.pop("at_ms", time.time_ns() // 1_000_000)
    return Flash(flash_id, f"twenty_{colour}", f"20 for {colour}", side=side, at_ms=at_ms, **more)


_NAMES = ("Ann Tremblay", "Bo Jansen", "Christopher Robinson", "Dee", "Élodie", "Fritz", "Gwen", "Hal", "Ivy", "Jon")


def club_of(count: int) -> list[Table]:
    """As many boards as wanted, each in another state, as on a club's evening."""
    tables = []
    for n in range(count):
        table = playing(f"board-{n + 1}", a=_NAMES[2 * n % 10], b=_NAMES[(2 * n + 1) % 10], round=3 + n % 4)
        a, b = table.sides["A"], table.sides["B"]
        table = replace(
            table, sides={"A": replace(a, score=2 + n % 5, shots_left=7 - n % 6), "B": replace(b, score=n % 4)}
        )
        tables.append(_in_state(table, n % 12))
    return tables


def _in_state(table: Table, which: int) -> Table:
    a, b = table.sides["A"], table.sides["B"]
    hammer_a = {"A": replace(a, hammer=True), "B": replace(b, hammer=False)}
    won = {"A": replace(a, score=8, shots_left=0, games=1), "B": replace(b, shots_left=0)}
    hundred = {"A": replace(a, score=85), "B": replace(b, score=100)}
    three = {**table.sides, "C": SideView("Cal", "third", score=4, shots_left=8)}
    changes: dict[int, dict[str, Any]] = {
        1: {"questions": (QUESTION,), "sides": {"A": replace(a, provisional=1), "B": b}},
        2: {"remove": (REMOVAL,), "verdict": FOUL, "turn": "A", "sides": hammer_a},
        5: {"phase": "match_over", "winner": "A", "turn": None, "discs": (), "verdict": None, "sides": won},
        6: {"rules": "Club to 100", "sides": hundred},
        7: {"sides": three},
        9: {"sensors": {**ON, "camera": SensorView(online=False)}},
    }
    return idle(table.board) if which == 4 else replace(table, **changes.get(which, {}))
