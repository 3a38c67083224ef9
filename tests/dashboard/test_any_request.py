"""Whatever a program sends, the pages and the API answer with a sentence and never with an error of their own."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.link.asks import REQUESTS
from tests.dashboard.conftest import TOKEN, FakeHub, Phone, Site
from tests.dashboard.samples import playing

OpenPhone = Callable[..., Phone]

OFTEN = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
TEXT = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", "A", "B", "C", "<b>x</b>", "\u202eevil", "\x00", "../..", "board-1", "hub", "1e999", "x" * 5000]
    ),
)
NUMBER = st.one_of(st.integers(), st.sampled_from([0, -1, 2**63, -(2**63) - 1, 10**400]), st.floats())
WORDS = sorted({name for kind in REQUESTS.values() for name in kind.__struct_fields__})
VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBER, TEXT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*WORDS, "A", "B", "Q"]), inner, max_size=4)
    ),
    max_leaves=8,
)
PAYLOAD = st.one_of(
    VALUE, st.fixed_dictionaries({}, optional={"body": VALUE, "rev": st.one_of(NUMBER, TEXT), "id": TEXT})
)
HEADER = st.text(string.ascii_letters + string.digits + " ._-+/=äß", max_size=40)
ANSWERED = {200, 400, 401, 403, 404, 405, 413, 415, 422}


def assert_answered(response: Any) -> None:
    assert response.status_code in ANSWERED, (response.status_code, response.data)
    body = response.get_json()
    assert body.get("ok") is True or body["error"]["message"].strip()


@OFTEN
@given(what=st.sampled_from([*REQUESTS, "dance"]), payload=PAYLOAD)
def test_any_request_of_a_table_is_answered(phone: OpenPhone, what: str, payload: object) -> None:
    page = phone(playing("board-1"))
    response = page.client.post(f"/api/1/boards/board-1/ask/{what}", json=payload, headers={"X-CSRF-Token": page.csrf})
    assert_answered(response)


@OFTEN
@given(what=st.sampled_from([*REQUESTS, "dance"]), payload=PAYLOAD)
def test_any_request_of_the_club_is_answered(client: FlaskClient, hub: FakeHub, what: str, payload: object) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert_answered(client.post(f"/api/1/hub/ask/{what}", json=payload, headers=headers))


@OFTEN
@given(
    data=st.binary(max_size=200),
    kind=st.sampled_from(["application/json", "application/json; charset=x", "text/plain", ""]),
)
def test_any_bytes_are_answered(phone: OpenPhone, data: bytes, kind: str) -> None:
    page = phone(playing("board-1"))
    assert_answered(
        page.client.post(
            "/api/1/boards/board-1/ask/undo", data=data, content_type=kind, headers={"X-CSRF-Token": page.csrf}
        )
    )


@OFTEN
@given(csrf=HEADER, bearer=HEADER, last=HEADER)
def test_any_header_is_answered(phone: OpenPhone, csrf: str, bearer: str, last: str) -> None:
    page = phone(playing("board-1"))
    headers = {"X-CSRF-Token": csrf, "Authorization": bearer, "Last-Event-ID": last}
    assert_answered(page.client.post("/api/1/boards/board-1/ask/undo", json={}, headers=headers))
    assert page.client.get("/api/1/boards/board-1/cases", headers=headers).status_code in ANSWERED
    with page.client.get("/api/1/stream", headers=headers, buffered=False) as stream:
        assert stream.status_code == 200


@OFTEN
@given(board=TEXT, pin=TEXT)
def test_any_login_is_answered(client: FlaskClient, hub: FakeHub, board: str, pin: str) -> None:
    csrf = client.get("/login").get_data(as_text=True).split('name="csrf" value="')[1].split('"')[0]
    answer = client.post("/login", data={"board": board, "pin": pin, "csrf": csrf})
    assert answer.status_code in {303, *ANSWERED}


@OFTEN
@given(word=TEXT, query=TEXT)
@pytest.mark.parametrize("page", ["table", "referee", "overlay", "api/1/boards", "login", "organiser", "nowhere"])
def test_any_address_is_answered(client: FlaskClient, site: Site, page: str, word: str, query: str) -> None:
    answer = client.get(f"/{page}/{quote(word)}", query_string={"token": query, "place": query, "board": query})
    assert answer.status_code in {303, 308, *ANSWERED}
    where = answer.headers.get("Location", "")
    assert not where.startswith("//")
    assert "://" not in where
