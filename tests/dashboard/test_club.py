"""What the dashboard knows of the club, and how a board stands."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dashboard.club import natural
from dashboard.view import state_of
from hub.link import topics
from hub.link.snapshot import SensorView, Table
from tests.dashboard.conftest import FakeHub, Site
from tests.dashboard.samples import FOUL, ON, QUESTION, REMOVAL, idle, playing


def sides_with_provisional() -> Any:
    table = playing()
    return {**table.sides, "A": replace(table.sides["A"], provisional=1)}


STATES: list[tuple[str, Table | None, dict[str, bool], bool, tuple[str, str]]] = [
    ("playing", playing(), {}, True, ("live", "live")),
    ("no match", idle(), {}, True, ("idle", "free")),
    ("paused", playing(phase="paused"), {}, True, ("idle", "paused")),
    ("referee called", playing(phase="paused", referee=True), {}, True, ("referee", "referee called")),
    (
        "a called referee comes before discs to remove and dead sensors",
        playing(remove=(REMOVAL,), referee=True),
        {"camera": False, "beam": False},
        True,
        ("referee", "referee called"),
    ),
    ("a called referee while the hub is dead", playing(referee=True), {}, False, ("no_hub", "hub offline")),
    ("won", playing(phase="match_over", winner="A", turn=None), {}, True, ("idle", "match over")),
    ("question", playing(questions=(QUESTION,)), {}, True, ("question", "question open")),
    (
        "discs to remove come before a question",
        playing(questions=(QUESTION,), remove=(REMOVAL,)),
        {},
        True,
        ("remove", "take discs off"),
    ),
    ("a 20 to lift", playing(remove=(replace(REMOVAL, why="twenty"),)), {}, True, ("remove", "lift the 20 out")),
    ("settling", playing(phase="settling"), {}, True, ("review", "under review")),
    ("provisional 20", playing(sides=sides_with_provisional()), {}, True, ("review", "under review")),
    ("one sensor dead", playing(), {"camera": False, "beam": True}, True, ("partial", "camera offline")),
    ("all sensors dead", playing(), {"camera": False, "beam": False}, True, ("offline", "board offline")),
    ("its only sensor dead", idle(sensors={}), {"beam": False}, True, ("offline", "board offline")),
    (
        "the board's own word before the hub's",
        playing(sensors={"camera": SensorView(online=False)}),
        {"camera": True},
        True,
        ("live", "live"),
    ),
    (
        "the hub's word where the board is silent",
        playing(sensors={"camera": SensorView(online=False), "beam": SensorView(online=True)}),
        {},
        True,
        ("partial", "camera offline"),
    ),
    (
        "fault",
        playing(sensors={**ON, "beam": SensorView(online=True, faults=("not_removed",))}),
        {},
        True,
        ("fault", "beam: not removed"),
    ),
    ("hub dead", playing(), {}, False, ("no_hub", "hub offline")),
    ("no sensors and no match yet", None, {}, True, ("idle", "free")),
    ("no table yet", None, {"beam": True}, True, ("no_hub", "waiting for the hub")),
]


@pytest.mark.parametrize(("table", "sources", "hub", "expected"), [s[1:] for s in STATES], ids=[s[0] for s in STATES])
def test_the_most_urgent_truth_about_a_board(
    table: Table | None, sources: dict[str, bool], hub: bool, expected: tuple[str, str]
) -> None:
    state = state_of(table, sources, hub_online=hub)
    assert (state.code, state.text) == expected


def test_a_board_is_shown_as_soon_as_its_first_sensor_speaks(site: Site, hub: FakeHub) -> None:
    hub.status("board-1", "beam", b"online")
    site.club.work()
    assert [(v.board, v.table) for v in site.club.boards()] == [("board-1", None)]


def test_a_board_whose_retained_messages_are_deleted_is_gone(site: Site, hub: FakeHub) -> None:
    hub.status("board-1", "beam", b"online")
    hub.publish(playing("board-1"))
    site.club.work()
    hub.status("board-1", "beam", b"")
    hub.bus.publish(topics.table("board-1"), b"", retain=True)
    site.club.work()
    assert site.club.boards() == ()
    assert site.club.board("board-1") is None


def test_a_daemon_that_dies_makes_its_board_offline_by_its_will(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    for source in ("beam", "camera"):
        hub.status("board-1", source, b"online")
    site.club.work()
    hub.status("board-1", "camera", b"offline")
    site.club.work()
    view = site.club.board("board-1")
    assert view is not None
    assert (view.state.code, view.state.offline) == ("partial", ("camera",))


@pytest.mark.parametrize("payload", [b"{", b"\xff", b"[]", b'{"board":1}', b"x" * 70_000])
def test_what_is_no_table_is_skipped_and_told_once(
    site: Site, hub: FakeHub, payload: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    hub.publish(playing("board-1"))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            hub.bus.publish(topics.table("board-1"), payload)
        site.club.work()
    view = site.club.board("board-1")
    assert view is not None
    assert view.table == playing("board-1")
    assert len(caplog.records) == 1
    assert "crokinole/1/board-1/table" in caplog.text


def test_a_repeated_foul_is_in_the_snapshot_like_everything_else(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1", verdict=FOUL))
    site.club.work()
    view = site.club.board("board-1")
    assert view is not None
    assert view.table is not None
    assert view.table.verdict == FOUL


def test_the_hub_that_says_offline_is_shown_at_every_board(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"), idle("board-2"))
    hub.bus.publish(topics.HUB_STATUS, b"offline", retain=True)
    site.club.work()
    assert [v.state.code for v in site.club.boards()] == ["no_hub", "no_hub"]
    assert not site.club.hub


def test_a_lost_broker_is_not_blamed_on_the_boards(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    hub.broker.stop()
    site.club.work()
    assert [v.state.code for v in site.club.boards()] == ["live"]
    assert (site.club.broker, site.club.hub) == (False, False)


def test_the_thread_takes_in_what_comes_and_ends_when_told(site: Site, hub: FakeHub) -> None:
    listener = site.club.listen()
    site.club.start()
    hub.publish(playing("board-1"))
    event = listener.next(5.0)
    assert event is not None
    assert event.board == "board-1"
    site.club.close()


def test_boards_are_in_the_order_people_count() -> None:
    names = ["board-10", "board-2", "a", "board-1", "board", "2", "10"]
    assert sorted(names, key=natural) == ["2", "10", "a", "board", "board-1", "board-2", "board-10"]


@given(st.from_regex(r"[a-z-]{1,20}", fullmatch=True), st.integers(0, 10**9), st.integers(0, 10**9))
def test_boards_that_differ_by_a_number_are_in_its_order(name: str, n: int, m: int) -> None:
    assert (natural(f"{name}{n}") < natural(f"{name}{m}")) == (n < m)


@given(st.lists(st.from_regex(r"[a-z0-9-]{1,32}", fullmatch=True), max_size=6))
def test_any_two_boards_can_be_compared(names: list[str]) -> None:
    keys = [natural(name) for name in names]
    assert all(a < b or b < a or a == b for a in keys for b in keys)
