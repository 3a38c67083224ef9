"""Pictures of doubts and disputes: who may send and see them, and that they go when they must."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from dashboard.cases import KEPT_CASES, KEPT_S, Cases, Keeper
from dashboard.service import _forgotten
from hub.link.pictures import Evidence, FrameAt, pack
from hub.link.snapshot import Table
from tests.dashboard.conftest import BOARD_TOKEN, TOKEN, FakeHub, Phone, Site
from tests.dashboard.samples import QUESTION, playing
from tests.hub.harness import TOKEN as HUB_TOKEN
from tests.hub.harness import Club as HubClub

CASE = "m1.q1"
DRAWN, PLAIN, FRAME = (b"\xff\xd8\xff" + word for word in (b"drawn", b"plain", b"frame"))
EVIDENCE = Evidence(CASE, "Whose 20 was it?", len(DRAWN), len(PLAIN), (FrameAt(-40, len(FRAME)),) * 2, 0.3, 0.2)
PICTURES = (DRAWN, PLAIN, FRAME, FRAME)
OpenPhone = Callable[..., Phone]


def asking(board: str = "board-1", **more: Any) -> Table:
    return playing(board, questions=(QUESTION,), **more)


def send(client: FlaskClient, body: bytes = b"", token: str = BOARD_TOKEN, board: str = "board-1") -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return client.post(f"/api/1/boards/{board}/cases", data=body or pack(EVIDENCE, PICTURES), headers=headers)


@pytest.fixture
def shown(site: Site, hub: FakeHub) -> None:
    hub.publish(asking())
    site.club.work()


@pytest.mark.usefixtures("shown")
def test_what_a_board_sends_is_shown_to_whoever_may_judge(client: FlaskClient, site: Site) -> None:
    assert send(client).status_code == 200
    headers = {"Authorization": f"Bearer {TOKEN}"}
    [told] = client.get("/api/1/boards/board-1/cases", headers=headers).json["cases"]
    assert (told["case"], told["text"], told["margin_mm"], told["sigma_mm"]) == (CASE, "Whose 20 was it?", 0.3, 0.2)
    assert [frame["bytes"] for frame in told["frames"]] == [len(FRAME)] * 2
    for name, data in (("drawn.jpg", DRAWN), ("plain.jpg", PLAIN), ("clip.bin", FRAME + FRAME)):
        response = client.get(f"/api/1/boards/board-1/cases/{CASE}/{name}", headers=headers)
        assert response.data == data
        assert "no-store" in response.headers["Cache-Control"]
    again = replace(EVIDENCE, text="again", plain=0)
    assert send(client, pack(again, (DRAWN, b"", FRAME, FRAME))).status_code == 200
    [told] = client.get("/api/1/boards/board-1/cases", headers=headers).json["cases"]
    assert (told["text"], told["plain"]) == ("again", False)
    assert site.cases.file("board-1", CASE, "plain.jpg") is None


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize(("token", "status"), [("", 401), ("no-such-token-at-all", 401), (TOKEN, 403)])
def test_only_the_board_itself_sends_pictures(client: FlaskClient, site: Site, token: str, status: int) -> None:
    assert send(client, token=token).status_code == status
    assert site.cases.of("board-1") == ()


@pytest.mark.usefixtures("shown")
def test_nothing_is_kept_that_nobody_is_asked_about(client: FlaskClient, site: Site, hub: FakeHub) -> None:
    other = pack(replace(EVIDENCE, case="m1.q2"), PICTURES)
    assert send(client, other).json["error"]["code"] == "not_open"
    hub.publish(playing(rev=13))
    site.club.work()
    assert send(client).status_code == 409
    hub.publish(playing(rev=14, referee=True, case="m1.call-9"))
    site.club.work()
    assert send(client, pack(replace(EVIDENCE, case="m1.call-9"), PICTURES)).status_code == 200
    assert [kept.case for kept in site.cases.of("board-1")] == ["m1.call-9"]


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("body", [b"x", b"\x00\x00\x00\x02{}", pack(EVIDENCE, PICTURES)[:-1]])
def test_a_broken_upload_leaves_nothing_behind(client: FlaskClient, site: Site, body: bytes) -> None:
    response = send(client, body)
    assert (response.status_code, response.json["error"]["code"]) == (400, "bad_body")
    assert site.cases.of("board-1") == ()


@pytest.mark.usefixtures("shown")
def test_an_upload_may_be_longer_than_other_requests_and_not_without_end(client: FlaskClient) -> None:
    long = b"\xff\xd8\xff" + bytes(300_000)
    assert send(client, pack(replace(EVIDENCE, drawn=len(long)), (long, *PICTURES[1:]))).status_code == 200
    assert send(client, bytes(7 * 1024 * 1024)).status_code == 413


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("role", ["viewer", "board"])
def test_pictures_are_not_for_everybody(client: FlaskClient, hub: FakeHub, role: str) -> None:
    assert send(client).status_code == 200
    assert client.get("/api/1/boards/board-1/cases").status_code == 401
    assert client.get(f"/api/1/boards/board-1/cases/{CASE}/drawn.jpg").status_code == 401
    client.get("/table/board-1?token=made-up-by-a-guest")
    assert client.get("/api/1/boards/board-1/cases").status_code == 401
    hub.role = role
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert client.get("/api/1/boards/board-1/cases", headers=headers).status_code == 403


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("path", ["m1.q1/case.json", "m1.q1/..", "..%2fboard-2/drawn.jpg", "m1.q9/drawn.jpg"])
def test_no_other_file_is_ever_given_out(client: FlaskClient, path: str) -> None:
    assert send(client).status_code == 200
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert client.get(f"/api/1/boards/board-1/cases/{path}", headers=headers).status_code == 404


@pytest.mark.parametrize("board", ["*", "Board 1", "a" * 33, "hub", "%2e%2e"])
@pytest.mark.parametrize("rest", ["", f"/{CASE}/drawn.jpg"])
def test_an_impossible_board_is_told_whoever_asks(client: FlaskClient, board: str, rest: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    response = client.get(f"/api/1/boards/{board}/cases{rest}", headers=headers)
    assert (response.status_code, response.json["error"]["code"]) == (400, "bad_board")


def test_who_is_forgotten_goes_from_the_clips_at_once(phone: OpenPhone, site: Site, hub: FakeHub) -> None:
    organiser = phone(asking())
    assert send(site.client()).status_code == 200
    site.cases.keep("board-2", replace(EVIDENCE, case="m2.q1"), PICTURES)
    hub.answers["forget"] = {"boards": ["board-1"], "matches": ["m1"]}
    response = organiser.client.post(
        "/api/1/hub/ask/forget",
        json={"body": {"name": "Ann"}},
        headers={"X-CSRF-Token": organiser.csrf, "Authorization": f"Bearer {TOKEN}"},
    )
    assert response.status_code == 200
    assert site.cases.of("board-1") == ()
    assert [kept.case for kept in site.cases.of("board-2")] == ["m2.q1"]


@pytest.fixture
def aged(tmp_path: Path) -> tuple[Cases, list[float]]:
    clock = [1_000_000.0]
    return Cases(tmp_path / "cases", now_s=lambda: clock[0]), clock


def test_pictures_are_erased_after_seven_days(aged: tuple[Cases, list[float]], tmp_path: Path) -> None:
    cases, clock = aged
    keeper = Keeper(cases, lambda _: set())
    cases.keep("board-1", EVIDENCE, PICTURES)
    clock[0] += KEPT_S / 2
    cases.keep("board-1", replace(EVIDENCE, case="m1.q2"), PICTURES)
    clock[0] += KEPT_S / 2 - 1
    assert keeper.look() == 0
    clock[0] += 1
    assert keeper.look() == 1
    assert [kept.case for kept in cases.of("board-1")] == ["m1.q2"]
    clock[0] += KEPT_S
    assert keeper.look() == 1
    assert not any(path.is_file() for path in (tmp_path / "cases").rglob("*"))
    assert KEPT_S == 7 * 24 * 3600


def test_what_came_while_the_clock_was_wrong_goes_a_week_after_the_clock_is_right(
    aged: tuple[Cases, list[float]], tmp_path: Path
) -> None:
    cases, clock = aged
    keeper = Keeper(cases, lambda _: set())
    right_s = clock[0]
    clock[0] = right_s + 1000 * KEPT_S
    cases.keep("board-1", EVIDENCE, PICTURES)
    clock[0] = right_s + 500 * KEPT_S  # wrong in another way, as after a start without a network
    assert keeper.look() == 0
    clock[0] = right_s
    assert keeper.look() == 0
    clock[0] = right_s + KEPT_S - 1
    assert keeper.look() == 0
    clock[0] += 1
    assert keeper.look() == 1
    assert not any(path.is_file() for path in (tmp_path / "cases").rglob("*"))


def test_what_a_crash_left_half_written_is_shown_to_nobody_and_erased(
    aged: tuple[Cases, list[float]], tmp_path: Path
) -> None:
    cases, clock = aged
    cases.keep("board-1", EVIDENCE, PICTURES)
    (tmp_path / "cases" / "board-1" / CASE).rename(tmp_path / "cases" / "board-1" / ".new-1")
    (tmp_path / "cases" / "board-1" / "m1.q7").mkdir()
    (tmp_path / "cases" / "board-1" / "m1.q7" / "case.json").write_text("{")
    assert cases.of("board-1") == ()
    clock[0] = 4e9
    cases.drop_old()
    assert not (tmp_path / "cases" / "board-1" / ".new-1").exists()


def test_a_board_that_has_gone_mad_does_not_fill_the_disk(aged: tuple[Cases, list[float]]) -> None:
    cases, clock = aged
    for number in range(KEPT_CASES + 3):
        clock[0] += 1
        cases.keep("board-1", Evidence(f"m1.q{number}", "", 0, 0), (b"", b""))
    kept = cases.of("board-1")
    assert (len(kept), kept[-1].case) == (KEPT_CASES, "m1.q3")


def test_a_disk_that_cannot_be_written_is_told_in_one_line(
    client: FlaskClient, site: Site, hub: FakeHub, tmp_path: Path
) -> None:
    (tmp_path / "cases").write_text("a file in the way")
    hub.publish(asking())
    site.club.work()
    response = send(client)
    assert (response.status_code, response.json["error"]["code"]) == (507, "no_room")


def test_the_keeper_finds_who_was_forgotten_without_the_pages(tmp_path: Path) -> None:
    hub = HubClub(tmp_path, ("b1",))
    look = _forgotten(hub.url)
    assert hub.ask("start", {"names": {"A": "Ann", "B": "Ben"}}).ok
    assert hub.ask("concede", {"side": "B"}).ok
    match = hub.table("b1").match_id
    assert look({match}) == set()
    assert hub.ask("forget", {"name": "Ben"}, "hub", token=f"{HUB_TOKEN}-organiser").ok
    assert look({match, "b1-999"}) == {match}
    hub.close()
    assert _forgotten(f"sqlite:///{tmp_path}/none.sqlite3")({match}) == set()
