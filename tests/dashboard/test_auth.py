"""Who may ask: PIN, link, bearer; nobody by another page's doing."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from hub.link.asks import Login
from tests.dashboard.conftest import PIN, TOKEN, FakeHub, Phone, Site
from tests.dashboard.samples import idle, playing

OpenPhone = Callable[..., Phone]


def log_in(client: FlaskClient, board: str = "board-1", pin: str = PIN, csrf: str | None = None) -> Any:
    page = client.get("/login").get_data(as_text=True)
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    return client.post("/login", data={"board": board, "pin": pin, "csrf": found[1] if csrf is None else csrf})


def test_the_pin_of_a_board_opens_it(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(idle("board-1"))
    site.club.work()
    response = log_in(client)
    assert (response.status_code, response.location) == (303, "/table/board-1")
    assert hub.asked[-1][:2] == ("hub", "login")
    assert hub.asked[-1][3] == Login("board-1", PIN)
    assert Phone(client, "board-1").ask("undo").status_code == 200


def test_the_first_match_of_a_board_without_sensors_is_started_with_its_pin(client: FlaskClient, hub: FakeHub) -> None:
    assert client.get("/table/board-1").status_code == 404
    log_in(client)
    assert client.get("/table/board-1").status_code == 200
    stream = client.get("/api/1/boards/board-1/stream", buffered=False)
    first = next(chunk for chunk in stream.iter_encoded() if b"event: snapshot" in chunk)
    assert b'"code":"idle"' in first
    stream.close()
    assert Phone(client, "board-1").ask("start").status_code == 200
    assert hub.asked[-1][0] == "board-1"


def test_a_wrong_pin_says_so_and_opens_nothing(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(idle("board-1"))
    site.club.work()
    response = log_in(client, pin="0000")
    assert response.status_code == 401
    assert "not the PIN" in response.get_data(as_text=True)
    refused = Phone(client, "board-1").ask("undo")
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (401, "no_token")


@pytest.mark.parametrize(
    ("expires_ms", "status"),
    [(0, 200), (1, 401), (time.time_ns() // 10**6 + 10**9, 200)],
    ids=["never", "in the past", "in the future"],
)
def test_a_token_is_used_until_it_expires(
    client: FlaskClient, site: Site, hub: FakeHub, expires_ms: int, status: int
) -> None:
    hub.publish(idle("board-1"))
    site.club.work()
    hub.expires_ms = expires_ms
    log_in(client)
    assert Phone(client, "board-1").ask("undo").status_code == status


def test_an_organiser_s_token_is_good_at_every_board(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(idle("board-1"), idle("board-2"))
    site.club.work()
    assert log_in(client, board="hub").location == "/organiser"
    assert [Phone(client, board).ask("undo").status_code for board in ("board-1", "board-2")] == [200, 200]


@pytest.mark.parametrize(
    ("board", "pin", "status"), [("NO BOARD!", PIN, 400), ("answer", PIN, 400), ("board-1", "", 400)]
)
def test_a_login_that_cannot_be_never_reaches_the_hub(
    client: FlaskClient, hub: FakeHub, board: str, pin: str, status: int
) -> None:
    assert log_in(client, board=board, pin=pin).status_code == status
    assert hub.asked == []


def test_a_login_form_of_another_site_is_refused(client: FlaskClient, hub: FakeHub) -> None:
    assert log_in(client, csrf="guessed").status_code == 403
    assert log_in(client, csrf="").status_code == 403
    assert hub.asked == []


def test_a_board_that_nobody_typed_is_shown_as_text(client: FlaskClient) -> None:
    page = client.get("/login?board=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").get_data(as_text=True)
    assert "<script>alert" not in page


def test_a_link_with_a_token_opens_its_board_and_hides_the_token(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    site.club.work()
    response = client.get(f"/table/board-1?token={TOKEN}")
    assert (response.status_code, response.location) == (303, "/table/board-1")
    cookie = response.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    page = client.get("/table/board-1").get_data(as_text=True)
    assert "data-may-ask" in page
    assert TOKEN not in page
    assert Phone(client, "board-1").ask("undo").status_code == 200


def test_an_organiser_who_opens_a_table_s_code_stays_the_organiser_there(
    client: FlaskClient, site: Site, hub: FakeHub
) -> None:
    hub.publish(playing("board-1"))
    site.club.work()
    client.get(f"/organiser?token={TOKEN}")
    guest = "a-token-for-the-table"
    assert client.get(f"/table/board-1?token={guest}").status_code == 303
    assert Phone(client, "board-1").ask("undo").status_code == 200
    with client.session_transaction() as session:
        assert [kept["token"] for kept in session["tokens"].values()] == [TOKEN]
    assert client.get("/table/board-1?token=").status_code == 401


def test_a_token_of_one_board_is_not_sent_for_another(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"), playing("board-2"))
    site.club.work()
    client.get(f"/table/board-1?token={TOKEN}")
    assert Phone(client, "board-2").ask("undo").status_code == 401
    assert hub.asked == []


def test_a_token_that_the_hub_does_not_know_is_forgotten(phone: OpenPhone, hub: FakeHub) -> None:
    page = phone(playing("board-1"))
    hub.forgot = True
    assert [page.ask("undo").status_code for _ in range(2)] == [401, 401]
    assert len(hub.asked) == 1


@pytest.mark.parametrize("page", ["/table/board-1", "/organiser", "/referee", "/referee/board-1"])
def test_a_link_that_the_hub_does_not_know_asks_for_the_pin_at_once(
    client: FlaskClient, site: Site, hub: FakeHub, page: str
) -> None:
    hub.publish(playing("board-1"))
    site.club.work()
    response = client.get(f"{page}?token=of-last-week")
    assert response.status_code == 401
    asked_for = "board-1" if "board-1" in page else "hub"
    assert f'name="board" value="{asked_for}"' in response.text
    assert "This link is not good" in response.text
    assert "data-may-ask" not in client.get("/table/board-1").text


def test_a_link_of_one_board_opens_no_other(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"), playing("board-2"))
    site.club.work()
    hub.board = "board-2"
    for page in ("/table/board-1", "/organiser"):
        response = client.get(f"{page}?token={TOKEN}")
        assert response.status_code == 403
        assert "for the board board-2" in response.text
    assert client.get(f"/table/board-2?token={TOKEN}").status_code == 303


def test_a_link_is_taken_as_it_is_while_the_hub_is_away(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    site.club.work()
    hub.silent = True
    assert client.get(f"/table/board-1?token={TOKEN}").status_code == 303
    assert "data-may-ask" in client.get("/table/board-1").text


@pytest.mark.parametrize("token", ["", "%00", "x" * 600, "%C3%A9"])
def test_what_cannot_be_a_token_is_refused(client: FlaskClient, site: Site, hub: FakeHub, token: str) -> None:
    hub.publish(playing("board-1"))
    site.club.work()
    assert client.get(f"/table/board-1?token={token}").status_code == 401


@pytest.mark.parametrize("headers", [{}, {"X-CSRF-Token": "guessed"}, {"X-CSRF-Token": "é"}])
def test_a_request_of_another_page_is_refused(phone: OpenPhone, hub: FakeHub, headers: dict[str, str]) -> None:
    page = phone(playing("board-1"))
    response = page.client.post("/api/1/boards/board-1/ask/undo", json={}, headers=headers)
    assert (response.status_code, response.get_json()["error"]["code"]) == (403, "csrf")
    assert hub.asked == []


def test_a_program_uses_its_token_as_bearer_without_a_cookie(client: FlaskClient, hub: FakeHub) -> None:
    for token, status in ((TOKEN, 200), ("wrong", 401)):
        response = client.post("/api/1/boards/board-1/ask/undo", json={}, headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == status
    assert [ask.token for _, _, ask, _ in hub.asked] == [TOKEN, "wrong"]


def test_logging_out_forgets_the_token(phone: OpenPhone) -> None:
    page = phone(playing("board-1"))
    assert page.client.post("/logout", data={"csrf": "guessed"}).status_code == 403
    assert page.client.post("/logout", data={"csrf": page.csrf}).status_code == 303
    assert Phone(page.client, "board-1").ask("undo").status_code == 401


def test_a_cookie_that_was_changed_counts_for_nothing(phone: OpenPhone) -> None:
    page = phone(playing("board-1"))
    cookie = page.client.get_cookie("crokinole")
    assert cookie is not None
    forged = cookie.value[:-3] + ("abc" if not cookie.value.endswith("abc") else "xyz")
    page.client.set_cookie("crokinole", forged)
    assert page.ask("undo").status_code == 403


def test_a_browser_keeps_a_few_boards_and_the_oldest_gives_way(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    boards = [f"board-{n}" for n in range(1, 11)]
    hub.publish(*(playing(board) for board in boards))
    site.club.work()
    for board in boards:
        client.get(f"/table/{board}?token={TOKEN}")
    may_ask = [board for board in boards if "data-may-ask" in client.get(f"/table/{board}").get_data(as_text=True)]
    assert may_ask == boards[2:]
