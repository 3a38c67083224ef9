"""The overlay for streams in a real browser: what it says, and that the rest of it is see-through."""

from __future__ import annotations

import io
import re

import pytest
from msgspec.structs import replace
from PIL import Image
from playwright.sync_api import Page, expect

from hub.link.snapshot import Event
from tests.dashboard.conftest import FakeHub
from tests.dashboard.samples import idle, playing, twenty


def open_overlay(page: Page, hub: FakeHub, query: str = "", **changes: object) -> None:
    hub.publish(playing("board-1", **changes))
    # A board is there once the dashboard has heard of it.
    for _ in range(200):
        if page.goto(f"/overlay/board-1{query}").status == 200:
            break
        page.wait_for_timeout(25)
    expect(page.locator("body")).to_have_attribute("data-link", "live")


def test_names_scores_twenties_hammer_and_turn_are_told(wall: Page, hub: FakeHub) -> None:
    open_overlay(wall, hub, event=Event("Cup", "final", "7"))
    table = playing("board-1")
    expect(wall.locator("#what")).to_have_text("Cup, final, table 7 · round 5")
    expect(wall.locator(".side .name")).to_have_text([table.sides["A"].name, table.sides["B"].name])
    expect(wall.locator(".side .score")).to_have_text([str(table.sides[s].score) for s in "AB"])
    expect(wall.locator(".side .cell b").nth(0)).to_have_text(str(table.sides["A"].twenties))
    hammer = next(k for k, s in enumerate("AB") if table.sides[s].hammer)
    expect(wall.locator(".side").nth(hammer).locator(".hammer")).to_be_visible()
    expect(wall.locator(".side").nth(1 - hammer).locator(".hammer")).to_be_hidden()
    assert wall.locator(".side[data-turn]").count() == (1 if table.turn else 0)


@pytest.mark.parametrize("place", ["bottom-left", "bottom-right", "top-left", "top-right"])
def test_the_card_lies_in_its_corner_and_all_else_is_see_through(wall: Page, hub: FakeHub, place: str) -> None:
    open_overlay(wall, hub, f"?place={place}")
    with Image.open(io.BytesIO(wall.screenshot(omit_background=True))) as picture:
        shown = picture.convert("RGBA").getchannel("A").getbbox()
        clear = picture.convert("RGBA").getpixel((picture.width // 2, picture.height // 2))
    assert clear[3] == 0
    assert shown is not None
    left, top, right, bottom = shown
    assert (left < 100) == place.endswith("left")
    assert (right > 1820) == place.endswith("right")
    assert (top < 100) == place.startswith("top")
    assert (bottom > 980) == place.startswith("bottom")


def test_what_is_called_is_shown_for_some_seconds(wall: Page, hub: FakeHub) -> None:
    open_overlay(wall, hub)
    expect(wall.locator("#call")).to_be_hidden()
    flash = twenty("f1")
    hub.publish(replace(playing("board-1", rev=90), flash=flash))
    expect(wall.locator("#call")).to_have_text(flash.text)
    expect(wall.locator("#call")).to_be_hidden(timeout=10_000)


def test_nothing_is_laid_over_the_picture_while_nobody_plays(wall: Page, hub: FakeHub) -> None:
    open_overlay(wall, hub)
    expect(wall.locator("#card")).to_be_visible()
    hub.publish(idle("board-1", rev=91, sides={}))
    expect(wall.locator("#card")).to_be_hidden()


def test_long_names_stay_in_the_card(wall: Page, hub: FakeHub) -> None:
    sides = playing("board-1").sides
    long = {key: replace(side, name="Wilhelmina Featherstonehaugh-Cholmondeley") for key, side in sides.items()}
    open_overlay(wall, hub, sides=long)
    for score in wall.locator(".side .score").all():
        box, card = score.bounding_box(), wall.locator("#card").bounding_box()
        assert box is not None
        assert card is not None
        assert box["x"] + box["width"] <= card["x"] + card["width"]


def test_long_names_keep_their_size_when_the_picture_becomes_larger(wall: Page, hub: FakeHub) -> None:
    sides = {key: replace(side, name="Maximiliane-Wilhelmine") for key, side in playing("board-1").sides.items()}
    wall.set_viewport_size({"width": 480, "height": 270})
    open_overlay(wall, hub, sides=sides)
    wall.set_viewport_size({"width": 1920, "height": 1080})
    size = "parseFloat(getComputedStyle(document.querySelector('.side .{}')).fontSize)"
    wall.wait_for_function(f"{size.format('name')} > 0.3 * {size.format('score')}")


def test_a_place_or_board_that_is_not_there_is_said(wall: Page, hub: FakeHub) -> None:
    open_overlay(wall, hub)
    for address, status, words in (("board-1?place=middle", 400, "bottom-left"), ("board-9", 404, "board-9")):
        answer = wall.goto(f"/overlay/{address}")
        assert answer is not None
        assert answer.status == status
        expect(wall.locator(".message")).to_have_text(re.compile(words))
