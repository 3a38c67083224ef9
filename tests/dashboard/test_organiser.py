"""The organiser's and the referee's pages without a browser: who gets in, and what reaches the hub."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from hub.link.asks import CloseEvening, Forget, Move
from tests.dashboard.conftest import TOKEN, FakeHub, Phone, Site
from tests.dashboard.samples import idle, playing

OpenPhone = Callable[..., Phone]


@pytest.mark.parametrize(("path", "where"), [("/organiser", "hub"), ("/referee/board-1", "board-1")])
def test_who_is_not_signed_in_is_sent_to_the_login(client: FlaskClient, path: str, where: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.location) == (303, f"/login?board={where}")


@pytest.mark.parametrize("path", ["/organiser", "/referee", "/referee/board-1"])
def test_a_link_with_a_token_opens_a_page_and_hides_the_token(
    client: FlaskClient, site: Site, hub: FakeHub, path: str
) -> None:
    hub.publish(playing())
    site.club.work()
    response = client.get(f"{path}?token={TOKEN}")
    assert (response.status_code, response.location) == (303, path)
    assert client.get(path).status_code == 200


def test_the_referee_of_a_board_that_nobody_knows_is_told_so(client: FlaskClient) -> None:
    client.get(f"/referee?token={TOKEN}")
    assert client.get("/referee/board-9").status_code == 404
    assert client.get("/referee/BOARD").status_code == 400


def test_what_concerns_the_club_is_asked_of_the_hub(phone: OpenPhone, hub: FakeHub) -> None:
    device = phone(playing())
    device.client.get(f"/organiser?token={TOKEN}")
    headers = {"X-CSRF-Token": device.csrf}
    for what, body, sent in (
        ("close", {"abandon": True}, CloseEvening(abandon=True)),
        ("forget", {"name": "Ann"}, Forget("Ann")),
    ):
        assert device.client.post(f"/api/1/hub/ask/{what}", json={"body": body}, headers=headers).status_code == 200
        assert (hub.asked[-1][0], hub.asked[-1][3]) == ("hub", sent)
    assert device.client.post("/api/1/hub/ask/login", json={"body": {}}, headers=headers).status_code == 404
    assert device.client.post("/api/1/hub/ask/close", json={}, headers={}).status_code == 403


def test_a_table_s_device_asks_nothing_of_the_club(phone: OpenPhone, hub: FakeHub) -> None:
    device = phone(playing())
    headers = {"X-CSRF-Token": device.csrf}
    response = device.client.post("/api/1/hub/ask/close", json={"body": {}}, headers=headers)
    assert (response.status_code, hub.asked) == (401, [])


def test_a_device_of_both_tables_proves_it_when_a_match_moves(phone: OpenPhone, hub: FakeHub, site: Site) -> None:
    hub.publish(idle("board-2"))
    device = phone(playing("board-1"))
    assert device.ask("move", {"to": "board-2"}).status_code == 200
    assert hub.asked[-1][3] == Move("board-2")
    site.club.work()
    device.client.get(f"/table/board-2?token={TOKEN}")
    assert device.ask("move", {"to": "board-2", "restart": True}).status_code == 200
    assert hub.asked[-1][3] == Move("board-2", restart=True, there=TOKEN)
