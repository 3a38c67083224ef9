"""The HTTP API: how boards stand, people's requests, and clear errors for everything else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from dashboard.asking import refusal
from hub.link import topics
from hub.link.asks import AnswerQuestion, Confirm, Correct, Start, Undo
from tests.dashboard.conftest import TOKEN, FakeHub, Phone, Site
from tests.dashboard.samples import FOUL, QUESTION, REMOVAL, idle, playing

OpenPhone = Callable[..., Phone]


def error_of(response: Any) -> tuple[int, str]:
    body = response.get_json()
    assert set(body) == {"error"}
    assert body["error"]["message"].strip()
    return response.status_code, body["error"]["code"]


# ---- reading


def test_all_boards(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-2"), idle("board-10"))
    site.club.work()
    body = client.get("/api/1/boards").get_json()
    assert (body["broker"], body["hub"]) == (True, True)
    assert [(b["board"], b["state"]["code"]) for b in body["boards"]] == [("board-2", "live"), ("board-10", "idle")]


def test_one_board(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1", verdict=FOUL, remove=(REMOVAL,), questions=(QUESTION,)))
    site.club.work()
    body = client.get("/api/1/boards/board-1").get_json()
    table = body["table"]
    assert (table["sides"]["B"]["name"], table["sides"]["B"]["score"], table["sides"]["B"]["hammer"]) == ("Bo", 3, True)
    assert table["verdict"]["code"] == "no_contact"
    assert [m["id"] for m in body["marks"] if m["remove"]] == ["d5"]


def test_the_drawing_is_an_svg(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    site.club.work()
    response = client.get("/api/1/boards/board-1/drawing.svg")
    assert (response.status_code, response.mimetype) == (200, "image/svg+xml")
    assert b"light disc" in response.data


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/1/boards/nobody", 404, "unknown_board"),
        ("/api/1/boards/NOPE", 400, "bad_board"),
        ("/api/1/boards/hub", 400, "bad_board"),
        ("/api/1/boards/answer", 400, "bad_board"),
        (f"/api/1/boards/{'x' * 33}", 400, "bad_board"),
        ("/api/1/boards/a%2Fb", 404, "not_found"),
        ("/api/1/boards/%23", 400, "bad_board"),
        ("/api/1/boards/nobody/drawing.svg", 404, "unknown_board"),
        ("/api/1/boards/nobody/stream", 404, "unknown_board"),
        ("/api/1/nothing", 404, "not_found"),
        ("/api/2/boards", 404, "not_found"),
        ("/api/1/boards/board-1/ask/start", 405, "method_not_allowed"),
    ],
)
def test_a_bad_address_is_a_json_error(client: FlaskClient, path: str, status: int, code: str) -> None:
    assert error_of(client.get(path)) == (status, code)


def test_an_unknown_board_s_error_names_those_there_are(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(idle("board-7"))
    site.club.work()
    assert "board-7" in client.get("/api/1/boards/board-8").get_json()["error"]["message"]


def test_health(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    assert (client.get("/healthz").status_code, client.get("/healthz").get_json()) == (
        200,
        {"ok": True, "broker": True, "hub": True},
    )
    hub.bus.publish(topics.HUB_STATUS, b"offline", retain=True)
    site.club.work()
    assert client.get("/healthz").status_code == 503
    hub.broker.stop()
    site.club.work()
    assert client.get("/healthz").get_json() == {"ok": False, "broker": False, "hub": False}


# ---- asking


def test_starting_a_match_reaches_the_hub_with_token_and_rev(phone: OpenPhone, hub: FakeHub) -> None:
    body = {"names": {"A": "Ann", "B": "Bo"}, "rules": "nca", "level": "judge", "light": "A", "opener": "B", "games": 3}
    response = phone(idle("board-1")).ask("start", body, rev=4)
    assert (response.status_code, response.get_json()) == (200, {"ok": True, "body": {"rev": 5}})
    board, request, ask, asked = hub.asked[-1]
    assert (board, request, ask.token, ask.rev) == ("board-1", "start", TOKEN, 4)
    assert asked == Start(names={"A": "Ann", "B": "Bo"}, rules="nca", level="judge", opener="B", games=3)


@pytest.mark.parametrize(
    ("request_name", "body", "expected"),
    [
        ("answer", {"question": "q1", "choice": "B"}, AnswerQuestion("q1", "B")),
        ("confirm", {"round": 5}, Confirm(5)),
        ("correct", {"side": "A", "twenties": 3}, Correct(side="A", twenties=3)),
        ("correct", {"shot": 9, "valid": False}, Correct(shot=9, valid=False)),
        ("correct", {"disc": "d4", "value": 5}, Correct(disc="d4", value=5)),
        ("correct", {"round": 2, "totals": {"A": 40, "B": 80}}, Correct(round=2, totals={"A": 40, "B": 80})),
        ("undo", {}, Undo()),
    ],
)
def test_every_request_arrives_as_it_was_meant(
    phone: OpenPhone, hub: FakeHub, request_name: str, body: dict[str, Any], expected: object
) -> None:
    assert phone(playing("board-1")).ask(request_name, body).status_code == 200
    assert hub.asked[-1][3] == expected


def test_a_repeated_tap_is_done_once(phone: OpenPhone, hub: FakeHub) -> None:
    page = phone(playing("board-1"))
    answers = [page.ask("undo", rev=12, id="tap-0001-of-phone").get_json() for _ in range(3)]
    assert answers == [{"ok": True, "body": {"rev": 13}}] * 3
    assert len(hub.asked) == 1


@pytest.mark.parametrize(
    ("error", "status", "code", "message"),
    [
        ("stale: the round was already confirmed", 409, "stale", "The round was already confirmed"),
        ("other_board: this device is for board 2", 403, "other_board", "This device is for board 2"),
        ("too_many_tries: try again in 60 s", 429, "too_many_tries", "Try again in 60 s"),
        ("unknown_preset: no rules are called 'x'", 422, "unknown_preset", "No rules are called 'x'"),
        ("nothing to undo", 422, "refused", "Nothing to undo"),
        ("", 422, "refused", "The hub refused this."),
    ],
)
def test_the_hub_s_refusal_is_shown_as_its_sentence(error: str, status: int, code: str, message: str) -> None:
    refused = refusal(error)
    assert (refused.status, refused.code, refused.message) == (status, code, message)


def test_a_refused_request_answers_with_code_and_sentence(phone: OpenPhone, hub: FakeHub) -> None:
    page = phone(playing("board-1"))
    hub.refuse = "stale: the round was already confirmed"
    assert error_of(page.ask("confirm", {"round": 5})) == (409, "stale")


def test_a_silent_hub_is_told_after_the_time_limit(phone: OpenPhone, hub: FakeHub) -> None:
    page = phone(playing("board-1"))
    hub.silent = True
    assert error_of(page.ask("undo")) == (504, "no_answer")


def test_without_a_broker_nothing_is_asked(phone: OpenPhone, hub: FakeHub) -> None:
    page = phone(playing("board-1"))
    hub.broker.stop()
    assert error_of(page.ask("undo")) == (503, "broker_away")
    assert hub.asked == []


def test_an_answer_to_somebody_else_or_that_is_none_is_ignored(phone: OpenPhone, hub: FakeHub, site: Site) -> None:
    page = phone(playing("board-1"))
    hub.silent = True
    for payload in (b"{", b"\xff", b'{"id":"another-one","ok":true}'):
        hub.bus.publish(topics.answer(site.asker.client), payload)
    assert error_of(page.ask("undo", id="my-own-tap")) == (504, "no_answer")


@pytest.mark.parametrize(
    ("request_name", "payload", "expected"),
    [
        ("start", {"body": {"rules": 7}}, (400, "bad_body")),
        ("start", {"body": {"ruels": "nca"}}, (400, "bad_body")),
        ("start", {"body": {"opener": "Q"}}, (400, "bad_body")),
        ("answer", {"body": {}}, (400, "bad_body")),
        ("confirm", {"body": {"round": "five"}}, (400, "bad_body")),
        ("undo", {"body": []}, (400, "bad_body")),
        ("undo", {"rev": "now"}, (400, "bad_body")),
        ("undo", {"extra": 1}, (400, "bad_body")),
        ("undo", {"id": "a b"}, (400, "bad_id")),
        ("undo", {"id": "../../x#"}, (400, "bad_id")),
        ("dance", {}, (404, "unknown_request")),
        ("login", {"body": {"board": "board-1", "pin": "1"}}, (404, "unknown_request")),
    ],
)
def test_a_request_that_cannot_be_is_refused_before_the_hub(
    phone: OpenPhone, hub: FakeHub, request_name: str, payload: dict[str, Any], expected: tuple[int, str]
) -> None:
    page = phone(playing("board-1"))
    response = page.client.post(
        f"/api/1/boards/board-1/ask/{request_name}", json=payload, headers={"X-CSRF-Token": page.csrf}
    )
    assert error_of(response) == expected
    assert hub.asked == []


@pytest.mark.parametrize(
    ("data", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 5000, "application/json", 400),
        (b"body=1", "application/x-www-form-urlencoded", 415),
        (json.dumps({"id": "x" * 70_000}).encode(), "application/json", 413),
    ],
)
def test_bytes_that_are_no_request(phone: OpenPhone, data: bytes, kind: str, status: int) -> None:
    page = phone(playing("board-1"))
    response = page.client.post(
        "/api/1/boards/board-1/ask/undo", data=data, content_type=kind, headers={"X-CSRF-Token": page.csrf}
    )
    assert error_of(response)[0] == status
