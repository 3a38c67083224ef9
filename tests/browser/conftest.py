"""Real pages in a real Chromium, at a real dashboard process and a real broker, with a hub that does as it is told."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect, sync_playwright

from hub.link.config import MqttSection
from tests.conftest import BrokerProcess, embedded_broker_process, require
from tests.dashboard.conftest import FakeHub, RealBroker
from tests.dashboard.running import Running, config_for

CHROMIUM_ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WALL = {"width": 1920, "height": 1080}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; skipped without it, but CI must have it."""
    program = require("chromium")
    expect.set_options(timeout=15_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def broker() -> Iterator[BrokerProcess]:
    """One broker for all tests; a test that stops it starts it again."""
    broker = embedded_broker_process()
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def site(broker: BrokerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One dashboard for all tests."""
    folder = tmp_path_factory.mktemp("dashboard")
    running = Running(replace(config_for(folder), mqtt=MqttSection(broker.url)), folder)
    yield running
    running.signal(signal.SIGKILL)
    running.process.wait(10)


@pytest.fixture
def hub(broker: BrokerProcess, site: Running) -> Iterator[FakeHub]:
    """A hub of the test's own, whose boards are gone when the test is over."""
    fake = FakeHub(RealBroker(broker.url))
    fake.start()
    yield fake
    fake.clear()
    pause = threading.Event()
    while site.get("/api/1/boards")[1]["boards"]:
        pause.wait(0.02)
    fake.close()


def opened(browser: Browser, site: Running, size: dict[str, int]) -> Iterator[Page]:
    context = browser.new_context(viewport=size, base_url=site.url)
    page = context.new_page()
    page.set_default_timeout(15_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None)
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def wall(browser: Browser, site: Running) -> Iterator[Page]:
    """A page as large as a television."""
    yield from opened(browser, site, WALL)


@pytest.fixture
def phone(browser: Browser, site: Running) -> Iterator[Page]:
    """A page as small as a telephone."""
    yield from opened(browser, site, PHONE)
