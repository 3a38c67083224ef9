"""Boards that a club has given up: their tiles do not stay on the wall for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.link import topics
from hub.link.messages import Health, encode
from hub.people.roles import People
from tests.hub.harness import TOKEN, Club


def test_a_board_that_is_named_no_more_is_taken_off_the_wall_and_is_back_as_soon_as_it_is_heard_of(
    quick_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    club = Club(quick_path, ("b1", "b2"), people=People(pins={"b1": "1", "b2": "2", "b7": "3"}))
    shown = (topics.table("b2"), topics.table("b7"))
    assert all(topic in club.broker.retained for topic in shown)
    for source in ("beam", "camera"):
        club.bus.publish(topics.status("b2", source), b"offline", retain=True)
        club.bus.publish(topics.health("b2", source), encode(Health("1")), retain=True)
    club.turn()
    was = club.table("b2")
    club.people = People(pins={"b1": "1"})
    club.grants = ("b1",)
    club.restart()
    kept = {topic for topic, payload in club.broker.retained.items() if "/b2/" in topic or "/b7/" in topic}
    assert kept == set()
    assert topics.table("b1") in club.broker.retained
    told = [record.getMessage() for record in caplog.records if "taken off the wall" in record.getMessage()]
    assert [words.partition(":")[0] for words in told] == ["board b2", "board b7"]
    assert club.ask("move", {"to": "b7"}, token=f"{TOKEN}-organiser").error.startswith("no_board:")
    club.bus.publish(topics.status("b2", "camera"), b"online", retain=True)
    club.turn()
    assert club.table("b2").sensors["camera"].online
    assert club.table("b2").rev > was.rev
    club.restart()
    assert topics.table("b2") in club.broker.retained, "a sensor that is there keeps its board on the wall"
    club.close()


@pytest.mark.parametrize("pins", [{"b2": "2"}, {}], ids=["named", "nobody is"])
def test_a_board_whose_sensors_are_away_stays_on_the_wall_if_it_is_named_or_none_is(
    quick_path: Path, pins: dict[str, str]
) -> None:
    club = Club(quick_path, ("b1", "b2"), people=People(pins={"b1": "1", "b2": "2"} if pins else {}))
    for source in ("beam", "camera"):
        club.bus.publish(topics.status("b2", source), b"offline", retain=True)
    club.turn()
    club.people = People(pins=pins)
    club.grants = ()
    club.restart()
    assert topics.table("b2") in club.broker.retained
    club.close()


def test_a_board_at_which_a_match_is_played_stays_on_the_wall(quick_path: Path) -> None:
    club = Club(quick_path, ("b1", "b2"))
    assert club.ask("start", {}, "b2").ok
    for source in ("beam", "camera"):
        club.bus.publish(topics.status("b2", source), b"offline", retain=True)
    club.turn()
    club.grants = ("b1",)
    club.restart()
    assert club.table("b2").phase == "round"
    club.close()
