"""The organiser's page in a real browser, on a phone and on a large screen."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from hub.link.asks import Abandon, CloseEvening, Forget, Invite, Move, Name, Start, WalkOver
from hub.link.snapshot import Event, PlayedView, StandingView
from tests.browser.test_table import known, open_table
from tests.dashboard.conftest import TOKEN, FakeHub
from tests.dashboard.samples import QUESTION, club_of, idle, playing


def asked(hub: FakeHub, page: Page, count: int) -> Any:
    """The newest ask, as board and body, when so many have come."""
    for _ in range(200):
        if len(hub.asked) >= count:
            board, _, _, body = hub.asked[-1]
            return board, body
        page.wait_for_timeout(25)
    raise AssertionError(f"{count} asks expected, there are {hub.asked}")


def open_page(page: Page) -> None:
    page.goto(f"/organiser?token={TOKEN}")
    expect(page.locator("body")).to_have_attribute("data-link", "live")


def row(page: Page, board: str) -> Any:
    return page.locator(f'[data-board="{board}"]')


def press(page: Page, name: str) -> None:
    page.locator("dialog").get_by_role("button", name=name).click()


def test_all_boards_stand_in_one_list_with_state_match_and_level(phone: Page, hub: FakeHub) -> None:
    hub.publish(idle("board-2"), playing("board-10", questions=(QUESTION,), event=Event("Cup", "final", "7")))
    open_page(phone)
    expect(phone.locator(".board-row .name")).to_have_text(["Board 2", "Board 10"])
    expect(phone.locator("#summary")).to_have_text("1 of 2 playing")
    busy = row(phone, "board-10")
    expect(busy.locator(".match")).to_have_text("Ann 5 \u2013 Bo 3")
    expect(busy.locator(".about")).to_have_text("Cup, final, table 7 · Match play · round 5 · judges")
    expect(busy.get_by_role("link", name="Whose 20 was it?")).to_have_attribute("href", "/referee/board-10")
    expect(row(phone, "board-2").get_by_role("button")).to_have_text(["QR code", "Start a match"])
    hub.publish(playing("board-2", rev=5, referee=True))
    expect(row(phone, "board-2").get_by_role("link", name="The referee is called")).to_be_visible()
    wide = phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide == 0


def test_a_phone_is_let_in_by_a_code(phone: Page, hub: FakeHub) -> None:
    hub.answers["invite"] = {"token": TOKEN, "role": "table", "board": "board-2", "expires": 0}
    hub.publish(idle("board-1"), playing("board-2"))
    open_page(phone)
    row(phone, "board-2").get_by_role("button", name="QR code").click()
    expect(phone.locator("#sheet-title")).to_have_text("Board 2")
    # The site of this test is at 127.0.0.1, where no phone finds it.
    expect(phone.locator("#sheet-text")).to_contain_text("by the machine's address")
    code = phone.get_by_role("img", name="QR code of Board 2")
    expect(code).to_be_visible()
    assert code.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    assert asked(hub, phone, 1) == ("hub", Invite("board-2"))


def test_a_match_is_started_ended_and_given_away(phone: Page, hub: FakeHub) -> None:
    hub.publish(idle("board-1"), playing("board-2"))
    open_page(phone)
    row(phone, "board-1").get_by_role("button", name="Start a match").click()
    phone.get_by_label("Light discs").fill(" Ann ")
    phone.get_by_label("Rules").select_option("nca")
    phone.get_by_label("Shoots first").select_option("B")
    press(phone, "Start the match")
    start = Start(names={"A": "Ann"}, rules="nca", level="judge", light="A", opener="B", games=1)
    assert asked(hub, phone, 1) == ("board-1", start)
    row(phone, "board-2").get_by_role("button", name="Walk-over").click()
    press(phone, "Bo does not go on")
    assert asked(hub, phone, 2) == ("board-2", WalkOver("B"))
    row(phone, "board-2").get_by_role("button", name="End").click()
    press(phone, "End the match")
    assert asked(hub, phone, 3) == ("board-2", Abandon())


def test_a_start_offers_the_rules_and_the_level_that_stand_at_the_board(phone: Page, hub: FakeHub) -> None:
    hub.publish(idle("board-1", standing=StandingView("classic", "advise")))
    open_page(phone)
    row(phone, "board-1").get_by_role("button", name="Start a match").click()
    press(phone, "Start the match")
    assert asked(hub, phone, 1) == ("board-1", Start(rules="classic", level="advise"))


def test_a_match_moves_to_a_free_board_and_says_what_becomes_of_the_round(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"), idle("board-2"), playing("board-3"))
    open_page(phone)
    row(phone, "board-1").get_by_role("button", name="Move").click()
    expect(phone.locator("#sheet-text")).to_contain_text("Round 5 has begun: it is played again")
    expect(phone.locator("#sheet-choices button")).to_have_text(["Board 2"])
    press(phone, "Board 2")
    assert asked(hub, phone, 1) == ("board-1", Move("board-2", restart=True, round=5, there=TOKEN))
    hub.publish(playing("board-3", rev=20, shot=0, phase="round_over", round=6))
    expect(row(phone, "board-3").locator(".about")).to_contain_text("round 6")
    row(phone, "board-3").get_by_role("button", name="Move").click()
    expect(phone.locator("#sheet-text")).to_contain_text("as it stands")
    press(phone, "Board 2")
    assert asked(hub, phone, 2)[1] == Move("board-2", round=6, there=TOKEN)


def test_names_and_an_event_come_late_also_to_an_earlier_match(phone: Page, hub: FakeHub) -> None:
    earlier = PlayedView("m0", {"A": "Cem", "B": "B"}, Event("Cup"))
    hub.publish(playing("board-1", evening=(earlier,)))
    open_page(phone)
    row(phone, "board-1").get_by_role("button", name="Names, event").click()
    phone.get_by_label("light").fill("Zoe")
    phone.get_by_role("textbox", name="Event").fill("Club night")
    press(phone, "Save")
    named = Name({"A": "Zoe", "B": "Bo"}, Event("Club night"))
    assert asked(hub, phone, 1) == ("board-1", named)
    row(phone, "board-1").get_by_role("button", name="Names, event").click()
    press(phone, "Earlier: Cem \u2013 B")
    expect(phone.get_by_role("textbox", name="Event")).to_have_value("Cup")
    phone.get_by_label("Side B").fill("Dee")
    press(phone, "Save")
    assert asked(hub, phone, 2)[1] == Name({"A": "Cem", "B": "Dee"}, Event("Cup"), "m0")


def test_the_evening_is_closed_and_a_person_forgotten_in_two_taps(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"), idle("board-2"))
    open_page(phone)
    phone.get_by_role("button", name="Close the evening …").click()
    expect(phone.locator("#sheet-text")).to_contain_text("Still playing: Board 1.")
    press(phone, "Close the evening")
    assert asked(hub, phone, 1) == ("hub", CloseEvening(abandon=True))
    phone.get_by_role("button", name="Forget a person").click()
    phone.get_by_label("Name").fill(" Ann ")
    press(phone, "Go on")
    expect(phone.locator("#sheet-text")).to_contain_text("every picture and clip")
    press(phone, "Forget Ann")
    assert asked(hub, phone, 2) == ("hub", Forget("Ann"))
    expect(phone.locator("#toast")).to_have_text("The person is forgotten.")


def test_who_enters_the_club_s_password_comes_to_the_page(phone: Page, hub: FakeHub) -> None:
    hub.publish(idle("board-1"))
    known(phone)
    phone.goto("/organiser")
    phone.get_by_label("Password of the club").fill("4711")
    phone.get_by_role("button", name="Enter").click()
    expect(phone.get_by_role("heading", name="Organiser")).to_be_visible()
    expect(row(phone, "board-1")).to_be_visible()


def test_sixty_boards_are_a_list_that_fits_a_large_screen(wall: Page, hub: FakeHub) -> None:
    hub.publish(*club_of(60))
    open_page(wall)
    expect(wall.locator(".board-row")).to_have_count(60)
    columns = wall.evaluate("getComputedStyle(document.getElementById('list')).gridTemplateColumns.split(' ').length")
    assert columns >= 4


@pytest.mark.parametrize("begun", [True, False])
def test_a_table_moves_its_own_match(phone: Page, hub: FakeHub, *, begun: bool) -> None:
    hub.publish(playing("board-1", shot=9 if begun else 0), idle("board-2"))
    open_table(phone)
    phone.get_by_role("button", name="More …").click()
    press(phone, "Move to another board")
    press(phone, "Board 2")
    assert asked(hub, phone, 1)[1] == Move("board-2", restart=begun, round=5)


def test_the_wall_says_what_a_match_is_part_of(wall: Page, hub: FakeHub) -> None:
    table = playing("board-1", event=Event("Spring cup", "final", "3"))
    hub.publish(table)
    wall.goto("/")
    expect(wall.locator(".tile .what")).to_have_text("Spring cup, final, table 3 · Round 5 · judges")
    hub.publish(replace(table, rev=40, event=Event()))
    expect(wall.locator(".tile .what")).to_have_text("Match play · Round 5 · judges")


@pytest.mark.parametrize("over", [False, True])
def test_a_match_that_a_first_shot_opened_gets_its_names_and_rules(phone: Page, hub: FakeHub, *, over: bool) -> None:
    hub.publish(playing("board-1", auto=True, phase="match_over" if over else "round"))
    open_page(phone)
    button = "Start a match" if over else "Names, rules"
    row(phone, "board-1").get_by_role("button", name=button, exact=True).click()
    phone.get_by_label("Light discs").fill("Ann")
    expect(phone.locator("#sheet-choices button")).to_have_count(2 if over else 1)
    press(phone, "Give the match these names and rules")
    start = Start(names={"A": "Ann"}, level="judge", match="m1" if over else "")
    assert asked(hub, phone, 1) == ("board-1", start)
    open_table(phone)
    if not over:
        phone.locator("summary").click()
    phone.get_by_label("Dark discs").fill("Bo")
    phone.get_by_role("button", name="Start the match").click()
    press(phone, "Give it these names and rules")
    start = Start(names={"B": "Bo"}, level="judge", match="m1" if over else "")
    assert asked(hub, phone, 2) == ("board-1", start)
