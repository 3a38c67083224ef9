"""QR codes that let a table's people in: who gets one, what stands in it, and where it leads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dashboard.codes import here_only, qr_code
from hub.link.asks import Invite
from tests.dashboard.conftest import TOKEN, FakeHub, Phone
from tests.dashboard.samples import playing

OpenPhone = Callable[..., Phone]
GUEST = "a-token-for-the-table"


def _ask(device: Phone, board: str = "board-1") -> tuple[int, dict[str, object]]:
    headers = {"X-CSRF-Token": device.csrf}
    response = device.client.post(f"/api/1/boards/{board}/code", json={}, headers=headers)
    return response.status_code, response.get_json()


def test_an_organiser_s_code_leads_to_the_table_with_a_token_of_its_own(phone: OpenPhone, hub: FakeHub) -> None:
    hub.answers["invite"] = {"token": GUEST, "role": "table", "board": "board-1", "expires": 5}
    device = phone(playing())
    device.client.get(f"/organiser?token={TOKEN}")
    status, answer = _ask(device)
    assert status == 200
    body = answer["body"]
    assert body["link"] == f"http://localhost/table/board-1?token={GUEST}"
    assert body["here_only"] is True
    assert body["picture"] == qr_code(body["link"])
    assert hub.asked[-1][0] == "hub"
    assert hub.asked[-1][3] == Invite("board-1")
    assert TOKEN not in str(answer)


def test_nobody_else_gets_one(phone: OpenPhone, hub: FakeHub) -> None:
    device = phone(playing())
    status, answer = _ask(device)
    assert (status, answer["error"]["code"], hub.asked) == (401, "no_token", [])
    device.client.get(f"/organiser?token={TOKEN}")
    assert device.client.post("/api/1/boards/board-1/code", json={}).status_code == 403
    assert _ask(device, "BOARD")[0] == 400
    hub.refuse = "no_board: there is no board 'board-9' here"
    assert _ask(device, "board-9")[0] == 422


def test_a_hub_that_gives_no_token_is_told(phone: OpenPhone, hub: FakeHub) -> None:
    device = phone(playing())
    device.client.get(f"/organiser?token={TOKEN}")
    assert _ask(device)[0] == 502


@pytest.mark.parametrize(
    ("link", "here"),
    [
        ("http://127.0.0.1:8080/table/b1", True),
        ("http://[::1]/table/b1", True),
        ("http://localhost/table/b1", True),
        ("http://0.0.0.0:8080/table/b1", True),
        ("http://192.168.1.7/table/b1", False),
        ("https://club.example/table/b1", False),
    ],
)
def test_a_link_to_the_machine_s_own_name_is_known(link: str, here: bool) -> None:
    assert here_only(link) is here


def test_a_code_is_a_picture_that_needs_no_other_site() -> None:
    assert qr_code("http://club.lan/table/b1?token=x").startswith("data:image/svg+xml")
