"""Pages: there, safe by policy, and honest about boards that are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import dashboard
from dashboard.clips import WORDS
from dashboard.table import RULES
from dashboard.wall import clip_names
from tests.dashboard.conftest import FakeHub, Site
from tests.dashboard.samples import playing

STATIC = Path(dashboard.__file__).parent / "static"
PAGES = ("/", "/login", "/table/board-1", "/table/nobody")


@pytest.fixture
def with_board(site: Site, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    site.club.work()


@pytest.mark.usefixtures("with_board")
@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_script_or_style_inside_or_from_elsewhere(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    page = response.get_data(as_text=True)
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|<style", page)
    assert not re.search(r"""(src|href)=["'](https?:)?//""", page)


@pytest.mark.usefixtures("with_board")
@pytest.mark.parametrize("path", PAGES)
def test_everything_a_page_names_is_served(client: FlaskClient, path: str) -> None:
    named = re.findall(r"""(?:src|href)=["'](/[^"']*)["']""", client.get(path).get_data(as_text=True))
    assert named
    for address in named:
        with client.get(address) as response:
            assert response.status_code == 200, address


def test_every_module_a_script_imports_is_there() -> None:
    for script in STATIC.glob("*.js"):
        for name in re.findall(r'from "\./([^"]+)"', script.read_text(encoding="utf-8")):
            assert (STATIC / name).is_file(), f"{script.name} imports {name}"


def test_scripts_never_make_markup_of_text() -> None:
    for script in STATIC.glob("*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script.read_text("utf-8")
        )


def test_nothing_is_fetched_from_elsewhere() -> None:
    for file in (*STATIC.glob("*.js"), *STATIC.glob("*.css")):
        addresses = re.findall(r"https?://[^\s\"')]+", file.read_text(encoding="utf-8"))
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}, file.name


def test_the_wall_knows_every_clip(client: FlaskClient) -> None:
    page = client.get("/").get_data(as_text=True)
    clips = re.search(r'data-clips="([^"]*)"', page)
    assert clips is not None
    assert clips[1].split() == sorted(WORDS)
    for name in clip_names():
        with client.get(f"/static/sound/{name}.mp3") as response:
            assert response.mimetype == "audio/mpeg"


@pytest.mark.usefixtures("with_board")
def test_the_table_page_offers_rules_by_name(client: FlaskClient) -> None:
    page = client.get("/table/board-1").get_data(as_text=True)
    assert re.findall(r'<option value="([a-z-]+)">[^<]*</option>', page)[: len(RULES)] == [name for name, _ in RULES]


def test_the_rules_offered_exist() -> None:
    from hub.rules.presets import PRESETS

    assert {name for name, _ in RULES} <= {name for name, preset in PRESETS.items() if preset.shown}


@pytest.mark.parametrize("path", ["/nowhere", "/static/nothing.js", "/table/", "/%3Cscript%3E"])
def test_an_address_without_a_page_leads_back_to_the_boards(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert "There is no page" in response.text
    assert 'href="/"' in response.text
    assert "<script>" not in response.text


def test_a_page_that_is_only_read_says_so(client: FlaskClient) -> None:
    response = client.post("/")
    assert (response.status_code, response.mimetype) == (405, "text/html")
    assert "Method Not Allowed" in response.text


@pytest.mark.usefixtures("with_board")
@pytest.mark.parametrize(("path", "status"), [("/table/nobody", 404), ("/table/NO%20BOARD", 400), ("/table/hub", 400)])
def test_a_page_of_no_board_says_so_and_names_those_there_are(client: FlaskClient, path: str, status: int) -> None:
    response = client.get(path)
    assert response.status_code == status
    assert '<a class="big" href="/table/board-1">' in response.get_data(as_text=True)


def test_the_empty_board_is_a_picture_that_browsers_keep(client: FlaskClient) -> None:
    response = client.get("/board.svg")
    assert (response.mimetype, response.headers["Cache-Control"]) == ("image/svg+xml", "max-age=3600")


@pytest.mark.usefixtures("with_board")
@pytest.mark.parametrize("path", ["/", "/table/board-1"])
def test_a_page_knows_its_version_and_is_asked_for_anew(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    assert 'data-pages="v1"' in response.get_data(as_text=True)
    assert response.headers["Cache-Control"] == "no-cache"


def test_scripts_are_kept_only_as_long_as_they_are_the_same(client: FlaskClient) -> None:
    with client.get("/static/wall.js") as first:
        assert "no-cache" in first.headers["Cache-Control"]
        etag = first.headers["ETag"]
    with client.get("/static/wall.js", headers={"If-None-Match": etag}) as again:
        assert again.status_code == 304


def test_the_version_is_the_same_until_a_page_changes() -> None:
    assert dashboard.pages_version() == dashboard.pages_version()
    assert re.fullmatch("[0-9a-f]{12}", dashboard.pages_version())
