"""The pages without a mouse: everything can be reached and done by keyboard, and says what it is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from hub.link.asks import Correct
from tests.browser.test_table import asked, open_table
from tests.dashboard.conftest import TOKEN, FakeHub
from tests.dashboard.samples import FOUL, QUESTION, REMOVAL, club_of, playing


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement?.matches(wanted)", selector):
            return
    raise AssertionError(f"{selector} is not reached by Tab")


def test_a_disc_is_corrected_by_keyboard(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    phone.locator('g.disc[data-id="d6"]').wait_for()
    tab_to(phone, 'g.disc[data-id="d6"]')
    assert "5" in phone.locator('g.disc[data-id="d6"] title').text_content()
    phone.keyboard.press("Enter")
    expect(phone.locator("#sheet")).to_be_visible()
    tab_to(phone, "#sheet-choices button:nth-child(2)")
    phone.keyboard.press("Enter")
    assert asked(hub, phone, 1) == [Correct(disc="d6", value=10)]


def test_what_cannot_be_corrected_is_no_button(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    expect(phone.locator("g.disc[role=button]")).to_have_count(8)
    expect(phone.locator("g.disc.ditch[role=button]")).to_have_count(0)
    phone.context.clear_cookies()
    phone.reload()
    expect(phone.locator("g.disc")).to_have_count(10)
    expect(phone.locator("g.disc[role=button]")).to_have_count(0)


@pytest.mark.parametrize("path", ["/", "/table/board-1", "/referee", "/referee/board-1", "/organiser", "/login"])
def test_whatever_can_be_used_says_what_it_is(phone: Page, hub: FakeHub, path: str) -> None:
    hub.role = "organiser"
    table = playing("board-1", questions=(QUESTION,), remove=(REMOVAL,), verdict=FOUL)
    hub.publish(table, *club_of(3)[1:], replace(playing("board-9"), referee=True, case="m1.call1"))
    open_table(phone)
    phone.goto(f"/organiser?token={TOKEN}")
    phone.goto(path)
    if path != "/login":
        expect(phone.locator(".tile, #chip:not(:empty), .board-row, #list *").first).to_be_attached()
    nameless = phone.locator(
        "a, button, input:not([type=hidden]), select, summary, [role=button], [role=img]"
    ).evaluate_all(
        "all => all.filter(e => e.checkVisibility()).filter(e => !(e.getAttribute('aria-label') || e.textContent.trim()"
        " || [...(e.labels ?? [])].some(l => l.textContent.trim()))).map(e => e.outerHTML.slice(0, 120))"
    )
    assert nameless == []
    assert phone.locator("html").get_attribute("lang") == "en"
    assert phone.locator("h1").count() == 1
    assert phone.locator("main").count() == 1


def test_a_table_that_cannot_ask_for_free_boards_says_so(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    phone.route("**/api/1/boards", lambda route: route.abort())
    phone.locator("#more").click()
    phone.get_by_role("button", name="Move to another board").click()
    expect(phone.locator("#sheet-text")).to_have_text("The dashboard cannot be reached. Try again in a moment.")
