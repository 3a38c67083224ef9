"""The table page in a real browser, as on a phone: start a match, answer, confirm, correct."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from hub.link.asks import (
    Abandon,
    AnswerQuestion,
    CallReferee,
    Concede,
    Confirm,
    Correct,
    Name,
    Pause,
    Redo,
    RefereeDone,
    Resume,
    Start,
    Swap,
    TimeOut,
    Undo,
    WalkOver,
)
from hub.link.snapshot import Event, SideView, StandingView
from tests.dashboard.conftest import PIN, TOKEN, FakeHub
from tests.dashboard.samples import FOUL, QUESTION, REMOVAL, idle, playing


def asked(hub: FakeHub, phone: Page, count: int) -> list[object]:
    """The bodies of the first asks, login apart, when so many have come."""
    for _ in range(200):
        bodies = [body for board, _, _, body in hub.asked if board != "hub"]
        if len(bodies) >= count:
            return bodies
        phone.wait_for_timeout(25)
    raise AssertionError(f"{count} asks expected, there are {hub.asked}")


def known(phone: Page, board: str = "board-1") -> None:
    """Wait until the dashboard has heard of a board that was just published."""
    for _ in range(400):
        if phone.request.get(f"/api/1/boards/{board}").ok:
            return
        phone.wait_for_timeout(25)
    raise AssertionError(f"the dashboard never heard of {board}")


def open_table(phone: Page, board: str = "board-1") -> None:
    known(phone, board)
    phone.goto(f"/table/{board}?token={TOKEN}")
    expect(phone).to_have_url(f"{phone.url.split('?')[0]}")
    expect(phone.locator("#chip")).not_to_have_text("")


def test_a_phone_enters_the_pin_starts_a_match_and_answers_a_question(phone: Page, hub: FakeHub) -> None:
    hub.publish(idle("board-1"))
    known(phone)
    phone.goto("/table/board-1")
    expect(phone.locator("#start")).to_be_hidden()
    phone.get_by_role("link", name="Enter the PIN").click()
    phone.get_by_label("PIN of the board").fill("0000")
    phone.get_by_role("button", name="Enter").click()
    expect(phone.get_by_role("alert")).to_contain_text("not the PIN")
    phone.get_by_label("PIN of the board").fill(PIN)
    phone.get_by_role("button", name="Enter").click()

    phone.get_by_label("Light discs").fill("Ann")
    phone.get_by_label("Dark discs").fill("Bo")
    phone.get_by_label("Dark", exact=True).check()
    phone.get_by_label("Rules").select_option("nca")
    phone.get_by_role("button", name="Start the match").click()
    expect(phone.locator("#toast")).to_have_text("The match has started.")
    assert asked(hub, phone, 1)[-1] == Start(
        names={"A": "Ann", "B": "Bo"}, rules="nca", level="judge", light="A", opener="B", games=1
    )
    hub.publish(playing("board-1", rev=2, questions=(QUESTION,)))
    expect(phone.locator('.side[data-side="A"] .player')).to_have_text("Ann")
    phone.get_by_role("button", name="Bo's (dark)").click()
    assert asked(hub, phone, 2)[-1] == AnswerQuestion("q1", "B")
    assert hub.asked[-1][2].rev == 2
    hub.publish(playing("board-1", rev=3))
    expect(phone.locator(".question")).to_have_count(0)


def test_twenties_are_corrected_in_two_taps(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    light = phone.locator('.side[data-side="A"]')
    phone.get_by_role("button", name="One 20 more for Ann").click()
    expect(light.locator(".count")).to_have_text("3")
    expect(phone.locator("#pending-text")).to_contain_text("2 → 3")
    hub.publish(playing("board-1", rev=13, shot=10))
    expect(light.locator(".count")).to_have_text("3")
    phone.get_by_role("button", name="Save").click()
    assert asked(hub, phone, 1) == [Correct(side="A", twenties=3)]
    expect(phone.locator("#pending")).to_be_hidden()
    phone.get_by_role("button", name="One 20 less for Bo").click()
    phone.get_by_role("button", name="One 20 more for Bo").click()
    expect(phone.locator("#pending")).to_be_hidden()
    assert len(asked(hub, phone, 1)) == 1


def test_verdict_discs_and_rounds_are_corrected_confirmed_undone(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", verdict=FOUL, phase="round_over", turn=None, can_redo=True))
    open_table(phone)
    expect(phone.locator("#verdict-text")).to_have_text(f"Shot 9: {FOUL.text}")
    phone.locator("#verdict-change").click()
    phone.get_by_role("button", name="The shot was good").click()
    asked(hub, phone, 1)
    phone.locator('g.disc[data-id="d4"]').click()
    phone.get_by_role("dialog").get_by_role("button", name="5", exact=True).click()
    asked(hub, phone, 2)
    phone.get_by_role("button", name="Confirm round 5").click()
    asked(hub, phone, 3)
    phone.get_by_role("button", name="Undo").click()
    asked(hub, phone, 4)
    phone.get_by_role("button", name="Redo").click()
    assert asked(hub, phone, 5) == [
        Correct(shot=9, valid=True),
        Correct(disc="d4", value=5),
        Confirm(5),
        Undo(),
        Redo(),
    ]


def test_what_is_seldom_needed_is_under_more(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", players="singles"))
    open_table(phone)
    taps = (
        ("Pause",),
        ("Call the referee",),
        ("Time is up", "Time is up"),
        ("Swap colours or seats", "Swap the colours"),
        ("Give up", "Bo gives up round 5"),
        ("Give up", "Ann gives up the game"),
        ("Give up", "Ann does not go on"),
        ("Names and event", "Save"),
    )
    for number, buttons in enumerate(taps, 1):
        phone.get_by_role("button", name="More …").click()
        for button in buttons:
            phone.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()
        asked(hub, phone, number)
        expect(phone.locator("body")).not_to_have_attribute("data-busy", "yes")
    assert asked(hub, phone, 8) == [
        Pause(),
        CallReferee(),
        TimeOut(5),
        Swap("colours"),
        Concede("B", "round", 5),
        Concede("A", "game"),
        WalkOver("A"),
        Name({"A": "Ann", "B": "Bo"}, Event()),
    ]


def test_a_called_referee_is_shown_and_sent_away_again(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", phase="paused", referee=True))
    open_table(phone)
    expect(phone.locator("#chip")).to_have_text("referee called")
    expect(phone.locator("#message")).to_have_text("The referee is called; play rests.")
    phone.get_by_role("button", name="More …").click()
    phone.get_by_role("button", name="The referee was here").click()
    asked(hub, phone, 1)
    hub.publish(playing("board-1", rev=13, phase="paused"))
    expect(phone.locator("#chip")).to_have_text("paused")
    phone.get_by_role("button", name="More …").click()
    phone.get_by_role("button", name="Resume").click()
    assert asked(hub, phone, 2) == [RefereeDone(), Resume()]


def test_three_players_start_with_three_names(phone: Page, hub: FakeHub) -> None:
    hub.publish(idle("board-1"))
    open_table(phone)
    expect(phone.get_by_label("Third colour")).to_be_hidden()
    phone.get_by_label("Players").select_option("cutthroat")
    phone.get_by_label("Third colour").fill("Cleo")
    phone.get_by_role("button", name="Start the match").click()
    assert asked(hub, phone, 1) == [Start(names={"C": "Cleo"}, level="judge", players="cutthroat")]


def test_a_running_match_is_ended_only_by_a_second_tap(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    expect(phone.locator("#confirm")).to_be_hidden()
    phone.locator("#start summary").click()
    phone.get_by_role("button", name="Start the match").click()
    phone.get_by_role("button", name="Cancel").click()
    phone.get_by_role("button", name="End this match").click()
    assert hub.asked == []
    phone.get_by_role("dialog").get_by_role("button", name="End the match").click()
    assert asked(hub, phone, 1) == [Abandon()]


def test_a_new_match_in_place_of_a_running_one_ends_that_first(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    phone.locator("#start summary").click()
    phone.get_by_role("button", name="Start the match").click()
    phone.get_by_role("button", name="Start a new match").click()
    assert [type(body) for body in asked(hub, phone, 2)] == [Abandon, Start]


def test_totals_are_entered_for_a_round_that_no_camera_saw_and_corrected_later(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", sensors={}, shot=0))
    open_table(phone)
    phone.get_by_role("button", name="Enter the round's totals").click()
    phone.get_by_role("dialog").get_by_label("Ann", exact=True).fill("65")
    phone.get_by_role("dialog").get_by_label("Bo", exact=True).fill("40")
    phone.get_by_role("button", name="Save the totals").click()
    asked(hub, phone, 1)
    phone.get_by_role("button", name="Confirm round 5").click()
    asked(hub, phone, 2)
    phone.get_by_role("button", name="Change the totals of round 2").click()
    expect(phone.get_by_role("dialog").get_by_label("Bo")).to_have_value("85")
    phone.get_by_role("dialog").get_by_label("Bo").fill("90")
    phone.get_by_role("button", name="Save the totals").click()
    assert asked(hub, phone, 3) == [
        Correct(totals={"A": 65, "B": 40}),
        Confirm(5),
        Correct(round=2, totals={"A": 40, "B": 90}),
    ]


def test_20s_are_told_with_the_totals_where_they_were_counted_wrong(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    phone.get_by_role("button", name="Change the totals of round 2").click()
    dialog = phone.get_by_role("dialog")
    dialog.get_by_label("Ann", exact=True).fill("35")
    dialog.get_by_label("20s among them").first.fill("1")
    phone.get_by_role("button", name="Save the totals").click()
    (told,) = asked(hub, phone, 1)
    assert (told.round, told.totals["A"], told.among["A"]) == (2, 35, 1)
    assert set(told.among) == {"A", "B"}


def tap(dialog: Locator, value: int, name: str) -> None:
    """Tap a ring near its rim: in its middle lies the next."""
    ring = dialog.get_by_role("button", name=re.compile(f"^{value} points for {name}"))
    box = ring.bounding_box()
    assert box is not None
    ring.click(position={"x": box["width"] / 2, "y": 5})


def test_where_no_camera_sees_the_board_people_tap_the_rings(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", sensors={}, shot=0))
    open_table(phone)
    phone.get_by_role("button", name="Enter the round's totals").click()
    dialog = phone.get_by_role("dialog")
    for value, times in ((20, 2), (15, 1), (5, 3)):
        for _ in range(times):
            tap(dialog, value, "Ann")
    expect(dialog.get_by_role("button", name="20 points for Ann: 2 discs")).to_be_visible()
    dialog.get_by_role("group", name="Ann").locator("..").get_by_role("button", name="Take one back").click()
    dialog.get_by_role("button", name="10 points for Bo").press("Enter")
    dialog.get_by_role("button", name="20 points for Bo").press(" ")
    expect(dialog.get_by_label("Ann", exact=True)).to_have_value("65")
    expect(dialog.get_by_label("Bo", exact=True)).to_have_value("30")
    phone.get_by_role("button", name="Save the totals").click()
    assert asked(hub, phone, 1) == [Correct(totals={"A": 65, "B": 30}, among={"A": 2, "B": 1})]
    phone.get_by_role("button", name="Enter the round's totals").click()
    tap(dialog, 15, "Ann")
    dialog.get_by_label("Bo", exact=True).fill("40")
    phone.get_by_role("button", name="Save the totals").click()
    assert asked(hub, phone, 2)[-1] == Correct(totals={"A": 15, "B": 40}), "who types points tells no 20s"
    fresh = {"A": SideView("Ann", "light"), "B": SideView("Bo", "dark")}
    hub.publish(playing("board-1", sensors={}, shot=0, sides=fresh, rev=13))
    expect(phone.locator("#sides")).not_to_contain_text("40")
    phone.get_by_role("button", name="Enter the round's totals").click()
    expect(dialog.get_by_label("Bo", exact=True)).to_have_value("0")
    tap(dialog, 20, "Ann")
    phone.get_by_role("button", name="Save the totals").click()
    assert asked(hub, phone, 3)[-1] == Correct(totals={"A": 20, "B": 0}, among={"A": 1, "B": 0}), "Bo scored nothing"


def test_totals_that_people_entered_are_shown_can_be_changed_and_confirmed_at_a_board_with_a_camera(
    phone: Page, hub: FakeHub
) -> None:
    table = playing("board-1", shot=0)
    told = {"A": replace(table.sides["A"], entered=35), "B": replace(table.sides["B"], entered=0)}
    hub.publish(table)
    open_table(phone)
    expect(phone.get_by_role("button", name="Confirm round 5")).to_be_hidden()
    hub.publish(replace(table, rev=13, sides=told))
    expect(phone.locator("[data-side=A] .live")).to_have_text("35 this round, entered by people")
    expect(phone.locator("[data-side=B] .live")).to_have_text("0 this round, entered by people")
    phone.get_by_role("button", name="Enter the round's totals").click()
    expect(phone.get_by_role("dialog").get_by_label("Ann")).to_have_value("35")
    expect(phone.get_by_role("dialog").get_by_label("Bo")).to_have_value("0")
    phone.keyboard.press("Escape")
    phone.get_by_role("button", name="Confirm round 5").click()
    assert asked(hub, phone, 1) == [Confirm(5)]


def test_a_new_match_offers_the_rules_and_the_level_that_stand_at_the_board(phone: Page, hub: FakeHub) -> None:
    hub.publish(idle("board-1", standing=StandingView("classic", "advise")))
    open_table(phone)
    expect(phone.get_by_label("Rules")).to_have_value("classic")
    expect(phone.get_by_label("Judging")).to_have_value("advise")
    phone.get_by_label("Rules").select_option("wcc")
    hub.publish(idle("board-1", rev=7, practice=3, standing=StandingView("nca", "count")))
    expect(phone.locator("#message")).to_contain_text("3 twenties")
    phone.get_by_role("button", name="Start the match").click()
    start = asked(hub, phone, 1)[-1]
    assert isinstance(start, Start)
    assert (start.rules, start.level) == ("wcc", "advise")


def test_a_club_s_own_standing_rules_leave_the_first_choice(phone: Page, hub: FakeHub) -> None:
    hub.publish(idle("board-1", standing=StandingView("house", "count")))
    open_table(phone)
    expect(phone.get_by_label("Judging")).to_have_value("count")
    expect(phone.get_by_label("Rules")).to_have_value("match-play")


def test_what_was_taken_back_and_done_again_is_said(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", can_redo=True))
    hub.answers = {"undo": {"told": "the entered totals of round 4"}, "redo": {}}
    open_table(phone)
    phone.get_by_role("button", name="Undo").click()
    expect(phone.locator("#toast")).to_have_text("Taken back: the entered totals of round 4.")
    phone.get_by_role("button", name="Redo").click()
    expect(phone.locator("#toast")).to_have_text("Done again.")


def test_a_refusal_is_shown_as_a_sentence(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    hub.refuse = "stale: somebody else has just confirmed this round"
    phone.get_by_role("button", name="Undo").click()
    expect(phone.locator("#toast")).to_have_text("Somebody else has just confirmed this round")


def test_discs_to_remove_are_listed_and_marked(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", remove=(REMOVAL,)))
    open_table(phone)
    expect(phone.locator("#remove-list li")).to_have_text([REMOVAL.text])
    expect(phone.locator("g.disc.remove")).to_have_count(1)
    hub.publish(playing("board-1", rev=13))
    expect(phone.locator("#remove")).to_be_hidden()


def test_a_spectator_sees_everything_and_can_do_nothing(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", questions=(QUESTION,)))
    known(phone)
    phone.goto("/table/board-1")
    expect(phone.locator(".question h2")).to_have_text(QUESTION.text)
    for button in phone.locator("button:visible:not(#turn)").all():
        expect(button).to_be_disabled()


def test_a_disc_lies_on_the_drawing_where_the_camera_sees_it(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    box = phone.locator("#drawing .board").bounding_box()
    face = phone.locator('g.disc[data-id="d6"] .face').bounding_box()
    assert box is not None
    assert face is not None
    half = float(phone.locator("body").get_attribute("data-half") or 0)
    x_mm = ((face["x"] + face["width"] / 2 - box["x"]) / box["width"] - 0.5) * 2 * half
    y_mm = -((face["y"] + face["height"] / 2 - box["y"]) / box["height"] - 0.5) * 2 * half
    assert (x_mm, y_mm) == pytest.approx((170.0, 150.0), abs=2.0)


def test_the_picture_turns_to_the_seat_of_the_phone_and_stays_so(phone: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    open_table(phone)
    phone.get_by_role("button", name="Turn the picture").click()
    phone.reload()
    face = phone.locator('g.disc[data-id="d6"] .face')
    face.wait_for()
    phone.wait_for_function("!document.querySelector('#drawing .board').getAnimations({subtree: true}).length")
    box, disc = phone.locator("#drawing .board").bounding_box(), face.bounding_box()
    assert box is not None
    assert disc is not None
    half = float(phone.locator("body").get_attribute("data-half") or 0)
    right_mm = ((disc["x"] + disc["width"] / 2 - box["x"]) / box["width"] - 0.5) * 2 * half
    down_mm = ((disc["y"] + disc["height"] / 2 - box["y"]) / box["height"] - 0.5) * 2 * half
    assert (right_mm, down_mm) == pytest.approx((150.0, 170.0), abs=2.0)


@pytest.mark.parametrize("width", [320, 360, 390, 768])
def test_the_page_fits_a_phone_and_a_thumb(phone: Page, hub: FakeHub, width: int) -> None:
    long = "Maximiliane-Wilhelmine Featherstonehaugh"
    table = playing("board-1", a=long, b=long, questions=(replace(QUESTION, text=f"{QUESTION.text} {long}"),))
    hub.publish(replace(table, remove=(REMOVAL,), verdict=FOUL))
    phone.set_viewport_size({"width": width, "height": 844})
    open_table(phone)
    phone.locator("#start summary").click()
    assert phone.evaluate("document.documentElement.scrollWidth") <= width
    sizes = phone.locator("button:visible, summary:visible, select:visible, input:visible, a:visible").evaluate_all(
        "all => all.map(e => e.closest('label.pick') || e)"
        ".map(e => [e.outerHTML.slice(0, 60), e.getBoundingClientRect()])"
        ".map(([name, r]) => [name, r.width, r.height])"
    )
    assert [s for s in sizes if s[1] < 44 or s[2] < 44] == []
