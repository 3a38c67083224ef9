"""Streams: a whole snapshot first, then changes; heartbeats, slow readers, and those who come back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from dashboard.club import QUEUE_LENGTH
from dashboard.stream import last_event
from tests.dashboard.conftest import FakeHub, Site
from tests.dashboard.samples import QUESTION, idle, playing, twenty


class Stream:
    """An open stream, read event by event."""

    def __init__(self, site: Site, url: str, **headers: str) -> None:
        self.response = site.client().get(
            url, buffered=False, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        self._chunks: Iterator[bytes] = iter(self.response.iter_encoded())

    def next(self) -> tuple[str, Any, str]:
        """The next event: (name, body, id)."""
        fields: dict[str, str] = {}
        while "event" not in fields:
            fields = dict(line.split(": ", 1) for line in next(self._chunks).decode().strip().split("\n"))
        return fields["event"], json.loads(fields["data"]), fields.get("id", "")

    def close(self) -> None:
        self.response.close()


def boards_of(body: Any) -> list[str]:
    return [view["board"] for view in body["boards"]]


def test_first_comes_everything_then_each_change(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-2"), idle("board-10"))
    site.club.work()
    stream = Stream(site, "/api/1/stream")
    name, body, _ = stream.next()
    assert (name, boards_of(body), body["broker"], body["hub"]) == ("snapshot", ["board-2", "board-10"], True, True)
    hub.publish(playing("board-2", rev=13, round=6))
    site.club.work()
    name, body, _ = stream.next()
    assert (name, body["view"]["board"], body["view"]["table"]["round"]) == ("board", "board-2", 6)
    stream.close()


def test_a_silent_stream_beats(site: Site) -> None:
    stream = Stream(site, "/api/1/stream")
    stream.next()
    assert [stream.next()[0] for _ in range(3)] == ["beat"] * 3
    stream.close()


def test_a_listener_who_leaves_is_forgotten(site: Site) -> None:
    stream = Stream(site, "/api/1/stream")
    stream.next()
    assert site.club.listeners == 1
    stream.close()
    assert site.club.listeners == 0


def test_a_stream_closed_before_its_first_byte_is_forgotten_too(site: Site) -> None:
    Stream(site, "/api/1/stream").close()
    assert site.club.listeners == 0


def test_a_slow_listener_is_given_a_fresh_snapshot_and_nothing_stale(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1", rev=1))
    site.club.work()
    stream = Stream(site, "/api/1/stream")
    stream.next()
    for rev in range(2, QUEUE_LENGTH + 5):
        hub.publish(playing("board-1", rev=rev))
    site.club.work()
    name, body, _ = stream.next()
    assert (name, body["boards"][0]["table"]["rev"]) == ("snapshot", QUEUE_LENGTH + 4)
    assert stream.next()[0] == "beat"
    hub.publish(playing("board-1", rev=999))
    site.club.work()
    assert stream.next()[1]["view"]["table"]["rev"] == 999
    stream.close()


def test_a_fast_listener_keeps_its_events_while_a_slow_one_loses_them(site: Site, hub: FakeHub) -> None:
    fast, slow = site.club.listen(), site.club.listen()
    for rev in range(QUEUE_LENGTH + 1):
        hub.publish(playing("board-1", rev=rev))
        site.club.work()
        assert fast.next(0.0 + 0.01) is not None
    assert (fast.behind, slow.behind) == (False, True)


def test_broker_and_hub_that_come_and_go_are_told_with_a_snapshot(site: Site, hub: FakeHub) -> None:
    hub.publish(playing())
    site.club.work()
    stream = Stream(site, "/api/1/stream")
    stream.next()
    hub.broker.stop()
    site.club.work()
    name, body, _ = stream.next()
    assert (name, body["broker"], body["hub"], boards_of(body)) == ("snapshot", False, False, ["board-1"])
    hub.broker.start()
    site.club.work()
    name, body, _ = stream.next()
    assert (name, body["broker"], body["hub"]) == ("snapshot", True, True)
    stream.close()


def test_one_board_s_stream_is_silent_about_others_and_has_the_pictures(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1", questions=(replace(QUESTION, picture="abcd"),)), idle("board-2"))
    site.club.work()
    stream = Stream(site, "/api/1/boards/board-1/stream")
    _, body, _ = stream.next()
    assert boards_of(body) == ["board-1"]
    assert body["boards"][0]["table"]["questions"][0]["picture"] == "abcd"
    hub.publish(idle("board-2", rev=2))
    site.club.work()
    assert stream.next()[0] == "beat"
    stream.close()


def test_the_wall_s_stream_carries_no_pictures(site: Site, hub: FakeHub) -> None:
    stream = Stream(site, "/api/1/stream")
    stream.next()
    hub.publish(playing("board-1", questions=(replace(QUESTION, picture="abcd"),)))
    site.club.work()
    question = stream.next()[1]["view"]["table"]["questions"][0]
    assert (question["text"], question["picture"]) == (QUESTION.text, "")
    stream.close()


@pytest.mark.parametrize("by", ["header", "address"])
def test_one_who_comes_back_is_told_of_every_flash_in_between_once(site: Site, hub: FakeHub, by: str) -> None:
    hub.publish(playing("board-1"), playing("board-2"))
    site.club.work()
    first = Stream(site, "/api/1/stream")
    _, _, last_id = first.next()
    first.close()
    for flash_id, board in (("f1", "board-1"), ("f2", "board-1"), ("g1", "board-2")):
        hub.publish(playing(board, flash=twenty(flash_id)))
        site.club.work()
        hub.publish(playing(board, rev=99, flash=twenty(flash_id, at_ms=1)))
        site.club.work()
    again = (
        Stream(site, "/api/1/stream", Last_Event_ID=last_id)
        if by == "header"
        else Stream(site, f"/api/1/stream?last={last_id}")
    )
    _, body, last_id = again.next()
    missed = dict.fromkeys((m["board"], m["flash"]["id"]) for m in body["missed"])
    assert list(missed) == [("board-1", "f1"), ("board-1", "f2"), ("board-2", "g1")]
    again.close()
    _, body, _ = Stream(site, "/api/1/stream", Last_Event_ID=last_id).next()
    assert body["missed"] == []


def test_a_new_page_is_told_of_no_old_flash(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    hub.publish(playing("board-1", flash=twenty("f1")))
    site.club.work()
    assert Stream(site, "/api/1/stream").next()[1]["missed"] == []


@pytest.mark.parametrize(
    ("header", "number"),
    [
        ("abc-7", 7),
        ("abc-0", 0),
        ("other-7", None),
        ("abc-", None),
        ("abc", None),
        ("", None),
        ("abc-x", None),
        ("abc--1", None),
        ("abc-²", None),
        ("abc-" + "9" * 40, None),
    ],
)
def test_last_event_id_counts_only_if_this_process_made_it(header: str, number: int | None) -> None:
    assert last_event(header, "abc") == number


def test_a_stream_is_not_to_be_kept_or_buffered(site: Site) -> None:
    stream = Stream(site, "/api/1/stream")
    assert stream.response.mimetype == "text/event-stream"
    assert stream.response.headers["Cache-Control"] == "no-store"
    assert stream.response.headers["X-Accel-Buffering"] == "no"
    stream.close()


@pytest.mark.parametrize(("board", "status"), [("board-9", 404), ("NO", 400), ("hub", 400)])
def test_a_stream_of_no_board_is_an_error_and_no_listener(site: Site, board: str, status: int) -> None:
    response = site.client().get(f"/api/1/boards/{board}/stream")
    assert (response.status_code, site.club.listeners) == (status, 0)
    assert response.get_json()["error"]["message"]
