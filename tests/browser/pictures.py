"""Takes the pictures of the pages for the documentation: ``python -m tests.browser.pictures``."""

from __future__ import annotations

import shutil
import signal
import tempfile
from pathlib import Path
from urllib.request import Request, urlopen

from msgspec.structs import replace
from playwright.sync_api import Browser, sync_playwright

from hub.link.config import MqttSection
from hub.link.pictures import pack
from tests.browser.conftest import CHROMIUM_ARGS, PHONE, WALL
from tests.browser.doubt import evidence
from tests.browser.test_referee import CASE, LINE
from tests.conftest import PROJECT, embedded_broker_process
from tests.dashboard.conftest import BOARD_TOKEN, TOKEN, FakeHub, RealBroker
from tests.dashboard.running import Running, config_for
from tests.dashboard.samples import QUESTION, club_of, playing, twenty

FOLDER = PROJECT / "docs" / "pictures"
QUALITY = 88


def main() -> None:
    """Start broker and dashboard, publish a club, photograph it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    broker = embedded_broker_process()
    broker.start()
    with tempfile.TemporaryDirectory() as folder:
        site = Running(replace(config_for(Path(folder)), mqtt=MqttSection(broker.url)), Path(folder))
        hub = FakeHub(RealBroker(broker.url))
        hub.start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS)
                _walls(browser, site, hub)
                _phone(browser, site, hub)
                _organiser(browser, site, hub)
                _overlay(browser, site, hub)
                _referee(browser, site, hub)
                browser.close()
        finally:
            hub.close()
            site.signal(signal.SIGKILL)
            broker.stop()


def _walls(browser: Browser, site: Running, hub: FakeHub) -> None:
    page = browser.new_page(viewport=WALL, base_url=site.url)
    page.goto("/")
    hub.publish(*club_of(12))
    page.locator(".tile").nth(11).wait_for()
    page.wait_for_timeout(600)
    page.screenshot(path=FOLDER / "wall-12.jpg", quality=QUALITY)
    page.goto("/?boards=board-1,board-2,board-3,board-4")
    page.locator(".tile").nth(3).wait_for()
    first = club_of(1)[0]
    hub.publish(replace(first, rev=50, flash=twenty("f1")))
    page.locator("[data-flash]").wait_for()
    page.wait_for_timeout(900)
    page.screenshot(path=FOLDER / "wall-twenty.jpg", quality=QUALITY)
    page.close()


def _phone(browser: Browser, site: Running, hub: FakeHub) -> None:
    page = browser.new_page(viewport=PHONE, base_url=site.url, device_scale_factor=2)
    page.goto(f"/table/board-1?token={TOKEN}")
    hub.publish(playing("board-1", rev=60))
    page.locator("g.disc").first.wait_for()
    hub.publish(playing("board-1", rev=61, questions=(QUESTION,)))
    page.locator(".question").wait_for()
    page.wait_for_timeout(400)
    page.screenshot(path=FOLDER / "phone-question.jpg", quality=QUALITY)
    page.close()


def _organiser(browser: Browser, site: Running, hub: FakeHub) -> None:
    hub.role = "organiser"
    page = browser.new_page(viewport={"width": 1280, "height": 720}, base_url=site.url)
    page.goto(f"/organiser?token={TOKEN}")
    hub.publish(*(replace(table, rev=100) for table in club_of(6)))
    page.locator(".board-row").nth(5).wait_for()
    page.wait_for_timeout(600)
    page.screenshot(path=FOLDER / "organiser.jpg", quality=QUALITY)
    page.close()


def _overlay(browser: Browser, site: Running, hub: FakeHub) -> None:
    page = browser.new_page(viewport=WALL, base_url=site.url)
    page.goto("/overlay/board-1")
    page.locator(".side").nth(1).wait_for()
    # As if over a picture of the table.
    page.evaluate("document.documentElement.style.background = 'linear-gradient(120deg, #6d5335, #a9824f)'")
    hub.publish(replace(club_of(1)[0], rev=200, flash=twenty("f9")))
    page.locator("#call").wait_for()
    page.wait_for_timeout(400)
    page.screenshot(path=FOLDER / "overlay.jpg", quality=QUALITY, clip={"x": 0, "y": 660, "width": 1120, "height": 420})
    page.close()


def _referee(browser: Browser, site: Running, hub: FakeHub) -> None:
    hub.role = "referee"
    page = browser.new_page(viewport={"width": 390, "height": 844}, base_url=site.url, device_scale_factor=1.5)
    page.goto(f"/referee?token={TOKEN}")
    hub.publish(playing("board-1", rev=300, questions=(LINE,)))
    page.goto("/referee/board-1")
    page.locator(".case").wait_for()
    told, pictures = evidence(CASE, LINE.text)
    request = Request(
        f"{site.url}/api/1/boards/board-1/cases",
        pack(told, pictures),
        {"Authorization": f"Bearer {BOARD_TOKEN}", "Content-Type": "application/octet-stream"},
    )
    with urlopen(request, timeout=10):
        page.locator(".case .margin").wait_for()
    page.wait_for_timeout(1500)
    page.screenshot(path=FOLDER / "referee.jpg", quality=QUALITY)
    page.close()


if __name__ == "__main__":
    main()
