"""What a page is told of a board: the hub's snapshot, whether the board is reachable, and where to draw its discs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from dashboard.drawing import Mark, marks
from hardware.board import Board
from hub.link.snapshot import Table

StateCode = Literal["live", "idle", "question", "review", "remove", "referee", "fault", "partial", "offline", "no_hub"]

_REVIEW_PHASES = frozenset({"settling"})


class State(msgspec.Struct, frozen=True):
    """How a board stands, in one word for the style sheet and in a few words for people.

    Attributes:
        code: the most urgent thing that is true of the board.
        text: the same for people.
        offline: sources that are not reachable.
        faults: standing faults, as ``source: fault``.
    """

    code: StateCode
    text: str
    offline: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class BoardView(msgspec.Struct, frozen=True):
    """One board as pages and the HTTP API show it.

    Attributes:
        board: the board's id.
        state: how it stands.
        table: the hub's snapshot; None while none was received.
        marks: its discs as they are drawn.
    """

    board: str
    state: State
    table: Table | None
    marks: tuple[Mark, ...] = ()


def view_of(
    board: str, table: Table | None, sources: Mapping[str, bool], geometry: Board, *, hub_online: bool
) -> BoardView:
    """Everything a page needs to show one board.

    Args:
        board: the board's id.
        table: the hub's latest snapshot, if there is one.
        sources: what each source of the board says of itself (``status`` topics); it counts before the hub's word.
        geometry: the kind of board that is drawn.
        hub_online: whether the hub is there.
    """
    return BoardView(
        board=board,
        state=state_of(table, sources, hub_online=hub_online),
        table=table,
        marks=marks(table, geometry) if table is not None else (),
    )


def state_of(table: Table | None, sources: Mapping[str, bool], *, hub_online: bool) -> State:
    """The most urgent truth about a board: nobody there, then what people must do, then how play stands."""
    online = {name: sensor.online for name, sensor in table.sensors.items()} if table is not None else {}
    online |= sources
    offline = tuple(sorted(name for name, there in online.items() if not there))
    faults = tuple(
        f"{name}: {fault.replace('_', ' ')}"
        for name, sensor in sorted((table.sensors if table is not None else {}).items())
        for fault in sensor.faults
    )
    called = table is not None and table.referee and hub_online
    if called:
        return State("referee", "referee called", offline, faults)
    code, text = _judged(table, online, offline, faults, hub_online=hub_online)
    return State(code, text, offline, faults)


def _judged(
    table: Table | None,
    online: Mapping[str, bool],
    offline: tuple[str, ...],
    faults: tuple[str, ...],
    *,
    hub_online: bool,
) -> tuple[StateCode, str]:
    if not hub_online:
        return "no_hub", "hub offline"
    if offline:
        if len(offline) == len(online):
            return "offline", "board offline"
        return "partial", f"{' and '.join(offline)} offline"
    if table is None:
        return ("no_hub", "waiting for the hub") if online else ("idle", "free")
    for true, code, text in (
        (any(r.why != "twenty" for r in table.remove), "remove", "take discs off"),
        (bool(table.questions), "question", "question open"),
        (table.phase in _REVIEW_PHASES or _provisional(table), "review", "under review"),
        (bool(table.remove), "remove", "lift the 20 out"),
        (bool(faults), "fault", faults[0] if faults else ""),
        (table.phase == "idle", "idle", "free"),
        (table.phase == "paused", "idle", "paused"),
        (table.phase == "match_over", "idle", "match over"),
    ):
        if true:
            return code, text  # type: ignore[return-value]  # the table's first column is made of StateCode words
    return "live", "live"


def _provisional(table: Table) -> bool:
    in_doubt = table.verdict is not None and table.verdict.provisional
    return in_doubt or any(side.provisional for side in table.sides.values())
