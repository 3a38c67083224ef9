"""Real pages in a real Chromium, at a real dashboard process and a real broker, with a hub that does as it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture
def broker() -> Iterator[BrokerProcess]:
    broker = embedded_broker_process()
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def hub(broker: BrokerProcess) -> Iterator[FakeHub]:
    fake = FakeHub(RealBroker(broker.url))
    fake.start()
    yield fake
    fake.close()


@pytest.fixture
def site(broker: BrokerProcess, hub: FakeHub, tmp_path: Path) -> Iterator[Running]:
    running = Running(replace(config_for(tmp_path), mqtt=MqttSection(broker.url)), tmp_path)
    yield running
    running.process.kill()
    running.process.wait(10)


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
