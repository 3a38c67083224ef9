"""The referee's page in a real browser: the picture, the clip at a quarter of its speed, and a ruling in one tap."""

from __future__ import annotations

import shutil
import time
import urllib.request
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from hub.link.asks import RefereeDone, Rule
from hub.link.pictures import Evidence, FrameAt, pack
from hub.link.snapshot import Choice, Question, RefereeCall, Table
from tests.browser.test_organiser import asked, press
from tests.browser.test_table import open_table
from tests.dashboard.conftest import BOARD_TOKEN, TOKEN, FakeHub
from tests.dashboard.running import Running
from tests.dashboard.samples import FOUL, idle, playing

LINE = Question(
    "g1-r5-d4-line",
    "line",
    "Is the light disc at the line worth 10 or 5?",
    (
        Choice("10", "10", "clean wood shows between the disc and the line: 10"),
        Choice("5", "5", "the disc touches the line, so the lower value holds: 5"),
    ),
    discs=("d4",),
    facts={"disc": "d4"},
)
CASE = f"m1.{LINE.id}"
FRAMES = 10
STEP_MS = 40.0


@pytest.fixture(autouse=True)
def _nothing_kept(site: Running) -> None:
    shutil.rmtree(site.log.parent / "cases", ignore_errors=True)


def jpeg(width: int, height: int, grey: int) -> bytes:
    good, data = cv2.imencode(".jpg", np.full((height, width, 3), grey, np.uint8))
    assert good
    return data.tobytes()


def upload(site: Running, case: str = CASE, **more: Any) -> None:
    frames = [jpeg(64, 64, 20 * number) for number in range(FRAMES)]
    drawn, plain = jpeg(720, 720, 90), jpeg(720, 720, 160)
    times = tuple(FrameAt(STEP_MS * (number - 6), len(frame)) for number, frame in enumerate(frames))
    evidence = Evidence(case, LINE.text, len(drawn), len(plain), times, **more)
    request = urllib.request.Request(
        f"{site.url}/api/1/boards/board-1/cases",
        pack(evidence, (drawn, plain, *frames)),
        {"Authorization": f"Bearer {BOARD_TOKEN}", "Content-Type": "application/octet-stream"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.status == 200


def opened(page: Page, hub: FakeHub, table: Table) -> None:
    hub.role = "referee"
    hub.publish(table)
    page.goto(f"/referee?token={TOKEN}")
    page.locator(".board-row a").click()
    expect(page.locator("#chip")).not_to_have_text("")


@pytest.mark.parametrize("which", ["phone", "wall"])
def test_the_picture_is_large_with_margin_and_can_be_seen_without_lines(
    which: str, hub: FakeHub, site: Running, request: pytest.FixtureRequest
) -> None:
    page: Page = request.getfixturevalue(which)
    opened(page, hub, playing(questions=(LINE,)))
    expect(page.locator(".case .hint")).to_contain_text("No picture has come")
    upload(site, margin_mm=-0.34, sigma_mm=0.21)
    picture = page.locator(".case .picture")
    expect(picture).to_have_js_property("naturalWidth", 720)
    expect(page.locator(".margin")).to_have_text("0.3 mm over the line, ± 0.4 mm")
    box = picture.bounding_box()
    assert box is not None
    assert box["width"] >= (340 if which == "phone" else 700)
    page.get_by_role("button", name="Without lines").click()
    expect(picture).to_have_attribute("src", f"/api/1/boards/board-1/cases/{CASE}/plain.jpg")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide == 0


def test_the_clip_runs_at_a_quarter_of_its_speed_and_is_stepped_by_hand(
    phone: Page, hub: FakeHub, site: Running
) -> None:
    hub.publish(playing(questions=(LINE,)))
    opened(phone, hub, playing(questions=(LINE,), rev=13))
    upload(site)
    clip = phone.locator(".clip")
    expect(clip).to_have_attribute("data-playing", "yes")
    times = phone.evaluate(
        """() => new Promise((done) => {
            const canvas = document.querySelector(".clip canvas"), seen = [];
            new MutationObserver(() => {
                seen.push([Number(canvas.dataset.frame), performance.now()]);
                if (seen.length > 12) done(seen);
            }).observe(canvas, { attributes: true, attributeFilter: ["data-frame"] });
        })"""
    )
    assert {number for number, _ in times} == set(range(FRAMES))
    steps = [later - at for (one, at), (other, later) in pairwise(times) if other == one + 1]
    assert sorted(steps)[len(steps) // 2] >= 4 * STEP_MS * 0.9  # never faster; a slow machine may be slower
    clip.get_by_role("button", name="Pause").click()
    number = int(clip.locator("canvas").get_attribute("data-frame") or 0)
    clip.get_by_role("button", name="One frame on").click()
    expect(clip.locator("canvas")).to_have_attribute("data-frame", str((number + 1) % FRAMES))
    clip.get_by_role("slider").fill("6")
    expect(clip.locator("output")).to_have_text("0.00 s")
    clip.get_by_role("button", name="Play").click()
    expect(clip).to_have_attribute("data-playing", "yes")


def test_both_readings_are_told_and_one_tap_rules_with_the_reason(phone: Page, hub: FakeHub) -> None:
    opened(phone, hub, playing(questions=(LINE,)))
    expect(phone.locator(".reading")).to_have_text([choice.reading for choice in LINE.choices])
    phone.get_by_role("button", name="10", exact=True).click()
    assert asked(hub, phone, 1)[1] == Rule("seen in the picture", question=LINE.id, choice="10")
    phone.get_by_label("seen at the table").check()
    phone.get_by_role("button", name="5", exact=True).click()
    assert asked(hub, phone, 2)[1] == Rule("seen at the table", question=LINE.id, choice="5")
    phone.get_by_label("Reason in your own words").fill("paper test")
    phone.get_by_role("button", name="5", exact=True).click()
    assert asked(hub, phone, 3)[1] == Rule("paper test", question=LINE.id, choice="5")
    hub.publish(playing(rev=20))
    expect(phone.locator(".case")).to_have_count(0)
    expect(phone.locator("#quiet")).to_be_visible()


def test_a_called_referee_rules_on_the_last_shot_and_lets_play_go_on(phone: Page, hub: FakeHub, site: Running) -> None:
    case = "m1.call-77"
    call = RefereeCall(1, 1, 5, 9, valid=False, text=FOUL.text)
    opened(phone, hub, playing(referee=True, case=case, phase="paused", verdict=FOUL, call=call))
    upload(site, case)
    expect(phone.locator(".case .picture")).to_have_js_property("naturalWidth", 720)
    expect(phone.locator(".reading")).to_have_text("Shot 9 stands as: Foul: the shot touched no light disc.")
    later = replace(FOUL, shot=14, text="good", valid=True)
    hub.publish(playing(rev=13, referee=True, case=case, verdict=later, shot=14, round=6, call=call))
    expect(phone.locator("#score")).to_contain_text("round 6")
    phone.get_by_role("button", name="Shot 9 of round 5 is good").click()
    assert asked(hub, phone, 1)[1] == Rule("seen in the picture", shot=9, valid=True, round=5, game=1)
    phone.get_by_role("button", name="Rule on a round's totals").click()
    phone.locator("#sheet-fields").get_by_label("Ann").fill("100")
    press(phone, "Rule so")
    assert asked(hub, phone, 2)[1] == Rule("seen in the picture", round=4, game=1, totals={"A": 100, "B": 35})
    phone.get_by_role("button", name="The referee was here").click()
    assert asked(hub, phone, 3)[1] == RefereeDone()
    hub.publish(playing(rev=30))
    phone.get_by_role("button", name=LINE.text).click()  # what was kept of it can still be looked at
    expect(phone.locator("dialog .picture")).to_have_js_property("naturalWidth", 720)


def test_a_referee_rules_on_any_shot_of_the_match_and_on_20s_among_totals(phone: Page, hub: FakeHub) -> None:
    opened(phone, hub, playing(questions=(LINE,)))
    phone.get_by_role("button", name="Rule on a shot").click()
    fields = phone.locator("#sheet-fields")
    fields.get_by_label("Round").select_option(label="Round 2")
    fields.get_by_label("Shot").fill("7")
    press(phone, "It was a foul")
    assert asked(hub, phone, 1)[1] == Rule("seen in the picture", shot=7, valid=False, round=2, game=1)
    phone.get_by_role("button", name="Rule on a round's totals").click()
    fields.get_by_label("Ann").fill("100")
    fields.get_by_label("20s among them").first.fill("5")
    press(phone, "Rule so")
    told = asked(hub, phone, 2)[1]
    assert isinstance(told, Rule)
    assert (told.totals["A"], told.among["A"], set(told.among)) == (100, 5, {"A", "B"})


def test_the_list_has_tables_that_call_before_those_with_a_question(phone: Page, hub: FakeHub) -> None:
    hub.publish(
        playing("board-1", questions=(LINE,)), playing("board-2"), playing("board-3", referee=True, case="m1.call-1")
    )
    phone.goto(f"/referee?token={TOKEN}")
    expect(phone.locator(".board-row .name")).to_have_text(["Board 3", "Board 1"])
    hub.publish(playing("board-1", rev=14))
    expect(phone.locator(".board-row .name")).to_have_text(["Board 3"])


@pytest.mark.parametrize(("age_s", "since"), [(5, "just now"), (3 * 60 + 20, "3 min ago")])
def test_the_list_says_who_called_in_which_round_and_how_long_ago(
    phone: Page, hub: FakeHub, age_s: int, since: str
) -> None:
    call = RefereeCall(round(1000 * (time.time() - age_s)), 1, 5, 9)
    calling = playing("board-2", referee=True, case="m1.call-2", call=call, shot=12)
    hub.publish(calling, idle("board-3", referee=True, call=RefereeCall(call.at_ms)))
    phone.goto(f"/referee?token={TOKEN}")
    expect(phone.locator(".board-row .about")).to_have_text(
        [f"Ann against Bo, round 5, after shot 9: the referee was called {since}.", f"The referee was called {since}."]
    )


def test_the_table_sees_the_board_s_picture_of_a_question_as_soon_as_it_has_come(
    phone: Page, hub: FakeHub, site: Running
) -> None:
    hub.role = "table"
    hub.publish(playing(questions=(LINE,)))
    open_table(phone)
    expect(phone.locator(".question img")).to_be_hidden()
    upload(site)
    expect(phone.locator(".question img")).to_have_js_property("naturalWidth", 720)
