"""The wall in a real browser: live, flashed once, and honest when something is away."""

from __future__ import annotations

import signal
import time

import msgspec
import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, Route, expect

from dashboard import pages_version
from dashboard.club import Missed, Snapshot
from dashboard.view import view_of
from dashboard.wall import clip_names
from hardware.board import TOURNAMENT
from hub.link import topics
from tests.conftest import BrokerProcess
from tests.dashboard.conftest import FakeHub
from tests.dashboard.running import Running
from tests.dashboard.samples import FOUL, QUESTION, idle, playing, twenty

PAGES = pages_version()
LOUDNESS = """async (names) => {
  const context = new OfflineAudioContext(1, 44100, 44100);
  const loudness = {};
  for (const name of names) {
    const bytes = await (await fetch(`/static/sound/${name}.mp3`)).arrayBuffer();
    const samples = (await context.decodeAudioData(bytes)).getChannelData(0);
    let first = 0, last = samples.length - 1;
    while (first < last && Math.abs(samples[first]) < 0.005) first += 1;
    while (last > first && Math.abs(samples[last]) < 0.005) last -= 1;
    let sum = 0;
    for (let i = first; i <= last; i += 1) sum += samples[i] ** 2;
    loudness[name] = 10 * Math.log10(sum / (last - first + 1));
  }
  return loudness;
}"""

# What browsers do for people: whatever drives this one counts as a tap, so that it would let the page play.
NO_SOUND_BEFORE_A_TAP = """
  let tapped = false;
  addEventListener("pointerdown", () => (tapped = true), true);
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = function () {
    if (tapped) return play.call(this);
    document.documentElement.dataset.refused = "yes";
    return Promise.reject(new DOMException("play() needs a tap first", "NotAllowedError"));
  };
"""


def tile(wall: Page, board: str = "board-1") -> Locator:
    return wall.locator(f'.tile[data-board="{board}"]')


def test_the_wall_shows_names_scores_and_twenties_as_they_change(wall: Page, hub: FakeHub) -> None:
    wall.goto("/")
    expect(wall.locator("#empty")).to_be_visible()
    table = playing("board-1", a="Ann", b="<img src=x onerror=alert(1)>")
    hub.publish(table)
    light, dark = wall.locator('.side[data-side="A"]'), wall.locator('.side[data-side="B"]')
    expect(light.locator(".player")).to_have_text("Ann")
    expect(dark.locator(".player")).to_have_text("<img src=x onerror=alert(1)>")
    expect(light.locator(".score")).to_have_text("5")
    expect(light.locator(".pips i")).to_have_count(7)
    expect(dark.locator(".hammer")).to_be_visible()
    expect(light.locator(".hammer")).to_be_hidden()
    expect(wall.locator(".what")).to_have_text("Match play · Round 5 · judges")
    expect(wall.locator(".history li")).to_have_count(4)
    expect(wall.locator(".board g.disc")).to_have_count(10)
    sides = {**table.sides, "A": replace(table.sides["A"], score=7, twenties=2, provisional=1)}
    hub.publish(replace(table, rev=13, sides=sides, turn="A"))
    expect(light.locator(".score")).to_have_text("7")
    expect(light.locator(".provisional")).to_have_text("+1")
    expect(light.locator(".count")).to_have_text("2")
    expect(light).to_have_attribute("data-turn", "true")
    hub.publish(replace(table, rev=14, verdict=FOUL))
    expect(wall.locator(".verdict")).to_have_text(FOUL.text)


def test_a_round_is_marked_while_it_is_in_doubt_and_no_longer(wall: Page, hub: FakeHub) -> None:
    table = playing("board-1")
    asked = replace(table.rounds[0], questions=1, low={"A": 95, "B": 60}, high={"A": 95, "B": 60})
    doubted = replace(table.rounds[1], questions=1, low={"A": 35, "B": 85}, high={"A": 40, "B": 85})
    hub.publish(replace(table, rounds=(asked, doubted, *table.rounds[2:])))
    wall.goto("/")
    expect(wall.locator(".history li")).to_have_count(4)
    expect(wall.locator(".history li[data-open]")).to_have_text("R24085")


def test_a_twenty_flashes_once(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    wall.goto("/")
    board = tile(wall)
    expect(board.locator(".player").first).to_have_text("Ann")
    flash = twenty("f1", side="A", provisional=True)
    hub.publish(playing("board-1", rev=20, flash=flash))
    expect(board).to_have_attribute("data-flash", "twenty")
    expect(board.locator(".flash")).to_contain_text("Ann")
    hub.publish(playing("board-1", rev=21, flash=replace(flash, provisional=False)))
    expect(board.locator(".flash[data-provisional]")).to_have_count(0)
    expect(board).not_to_have_attribute("data-flash", "twenty")
    hub.publish(playing("board-1", rev=22, round=6, flash=replace(flash, provisional=False)))
    expect(wall.locator(".what")).to_contain_text("Round 6")
    expect(board).to_have_attribute("data-flashes", "1")
    hub.publish(playing("board-1", rev=23, flash=twenty("f2", side="B", colour="dark")))
    expect(board).to_have_attribute("data-flashes", "2")
    expect(board.locator(".flash")).to_contain_text("Bo")


def test_a_flash_that_fades_keeps_the_ground_behind_its_words(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    wall.goto("/")
    board = tile(wall)
    expect(board.locator(".player").first).to_have_text("Ann")
    result = replace(twenty("r1"), clip="round_light", text="Light takes the round")
    hub.publish(playing("board-1", rev=20, flash=result))
    expect(board).to_have_attribute("data-flash", "round")
    ground = board.locator(".flash").evaluate("flash => getComputedStyle(flash).backgroundColor")
    board.evaluate("tile => delete tile.dataset.flash")
    expect(board.locator(".flash")).to_have_css("background-color", ground)
    assert not ground.endswith(", 0)")


def test_a_correction_replaces_the_flash_instead_of_adding_one(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    wall.goto("/")
    board = tile(wall)
    expect(board.locator(".player").first).to_have_text("Ann")
    hub.publish(playing("board-1", rev=20, flash=twenty("f1", side="A", provisional=True)))
    expect(board.locator(".flash")).to_contain_text("Ann")
    hub.publish(playing("board-1", rev=21, flash=twenty("f1", side="B", colour="dark")))
    expect(board.locator(".flash")).to_contain_text("Bo")
    expect(board).to_have_attribute("data-flashes", "1")


def test_a_twenty_that_was_none_is_taken_back_without_another_call(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    wall.goto("/")
    wall.locator("#sound").click()
    board = tile(wall)
    flash = twenty("f1", provisional=True)
    hub.publish(playing("board-1", rev=20, flash=flash))
    expect(wall.locator("#sound")).to_have_attribute("data-spoken", "twenty_light")
    hub.publish(playing("board-1", rev=21, flash=replace(flash, clip="", text="no 20", side=None, provisional=False)))
    expect(board).to_have_attribute("data-flash", "withdrawn")
    expect(board.locator(".flash strong")).to_have_text("NO 20")
    expect(board).to_have_attribute("data-flashes", "1")
    expect(wall.locator("#sound")).to_have_attribute("data-spoken", "twenty_light")


def test_an_old_flash_is_not_shown_when_the_page_is_opened_or_comes_late(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", flash=twenty("f1")), playing("board-2"))
    wall.goto("/")
    expect(wall.locator(".tile")).to_have_count(2)
    hub.publish(playing("board-2", rev=20, round=7, flash=twenty("g1", at_ms=1_000)))
    expect(tile(wall, "board-2").locator(".what")).to_contain_text("Round 7")
    wall.reload()
    expect(wall.locator(".tile")).to_have_count(2)
    for board in ("board-1", "board-2"):
        expect(tile(wall, board)).not_to_have_attribute("data-flash", "twenty")
        assert tile(wall, board).get_attribute("data-flashes") is None


def test_flashes_that_came_while_the_line_was_cut_are_each_shown_once(wall: Page) -> None:
    now_ms = time.time_ns() // 1_000_000
    before, after = playing("board-1"), playing("board-1", rev=20, flash=twenty("f2"))
    missed = tuple(Missed("board-1", twenty(flash_id)) for flash_id in ("f1", "f2"))
    bodies = iter(
        Snapshot(now_ms, True, True, (view_of("board-1", table, {}, TOURNAMENT, hub_online=True),), flashes, PAGES)
        for table, flashes in ((before, ()), (after, missed), (after, missed))
    )
    asked_for: list[str] = []

    def cut_short(route: Route) -> None:
        asked_for.append(route.request.url)
        body = next(bodies, None)
        events = b"retry: 200\n\n"
        if body is not None:
            events += b"id: abc-%d\nevent: snapshot\ndata: %s\n\n" % (len(asked_for), msgspec.json.encode(body))
        route.fulfill(status=200, content_type="text/event-stream", body=events)

    wall.route("**/api/1/stream*", cut_short)
    wall.goto("/")
    board = tile(wall)
    expect(board).to_have_attribute("data-flash-id", "f2")
    for _ in range(200):
        if len(asked_for) >= 4:
            break
        wall.wait_for_timeout(25)
    assert len(asked_for) >= 4
    expect(board).to_have_attribute("data-flashes", "2")


def test_a_page_of_another_version_loads_itself_anew(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    old = {"seen": False}

    def once_old(route: Route) -> None:
        page = route.fetch().text()
        body = page if old["seen"] else page.replace(PAGES, "of-last-year")
        old["seen"] = True
        route.fulfill(status=200, content_type="text/html", body=body)

    wall.route(lambda address: address.endswith("/"), once_old)
    wall.goto("/")
    expect(wall.locator("body")).to_have_attribute("data-pages", PAGES)
    expect(wall.locator(".player").first).to_have_text("Ann")


def test_one_tap_gives_the_wall_a_voice(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    wall.goto("/")
    sound = wall.locator("#sound")
    expect(sound).to_have_text("Enable sound")
    hub.publish(playing("board-1", rev=20, flash=twenty("f1")))
    expect(tile(wall)).to_have_attribute("data-flash", "twenty")
    assert sound.get_attribute("data-spoken") is None
    sound.click()
    expect(sound).to_have_text("Sound is on")
    expect(sound).to_have_attribute("data-spoken", "sound_on")
    hub.publish(playing("board-1", rev=21, flash=twenty("f2", side="B", colour="dark")))
    expect(sound).to_have_attribute("data-spoken", "twenty_dark")
    hub.publish(playing("board-1", rev=22, flash=replace(twenty("f3"), clip="foul_of_a_new_kind", text="Foul")))
    expect(sound).to_have_attribute("data-spoken", "foul_of_a_new_kind")


def test_a_browser_that_refuses_to_play_says_tap_to_enable_sound(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    wall.add_init_script("localStorage.setItem('sound', 'on')")
    wall.add_init_script(NO_SOUND_BEFORE_A_TAP)
    wall.goto("/")
    expect(wall.locator(".player").first).to_have_text("Ann")
    expect(wall.locator("#sound")).to_have_text("Tap to enable sound")
    hub.publish(playing("board-1", rev=20, flash=twenty("f1")))
    expect(tile(wall)).to_have_attribute("data-flash", "twenty")
    expect(wall.locator("html")).to_have_attribute("data-refused", "yes")
    expect(wall.locator("#sound")).to_have_text("Tap to enable sound")
    wall.locator("#sound").click()
    expect(wall.locator("#sound")).to_have_text("Sound is on")


def test_all_clips_are_equally_loud(wall: Page) -> None:
    wall.goto("/")
    loudness = wall.evaluate(LOUDNESS, list(clip_names()))
    middle = (max(loudness.values()) + min(loudness.values())) / 2
    assert {name: level for name, level in loudness.items() if abs(level - middle) > 1.5} == {}


def test_a_daemon_that_dies_is_seen_from_across_the_room(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    for source in ("beam", "camera"):
        hub.status("board-1", source, b"online")
    wall.goto("/")
    board = tile(wall)
    expect(board).to_have_attribute("data-state", "live")
    hub.status("board-1", "camera", b"offline")
    expect(board.locator(".veil")).to_be_visible()
    expect(board.locator(".veil")).to_have_text("camera offline")
    hub.status("board-1", "beam", b"offline")
    expect(board.locator(".veil")).to_have_text("board offline")
    for source in ("beam", "camera"):
        hub.status("board-1", source, b"online")
    expect(board.locator(".veil")).to_be_hidden()


def test_questions_and_removals_are_seen_at_the_board(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1", questions=(QUESTION,)))
    wall.goto("/")
    expect(wall.locator(".chip")).to_have_text("question open")
    expect(wall.locator(".verdict")).to_have_text(QUESTION.text)
    expect(wall.locator("g.disc.asked")).to_have_count(1)


def test_a_hub_that_is_away_is_told(wall: Page, hub: FakeHub) -> None:
    hub.publish(playing("board-1"))
    wall.goto("/")
    expect(wall.locator("#trouble")).to_have_text("")
    hub.bus.publish(topics.HUB_STATUS, b"offline", retain=True)
    expect(wall.locator("#trouble")).to_contain_text("hub is offline")
    hub.bus.publish(topics.HUB_STATUS, b"online", retain=True)
    expect(wall.locator("#trouble")).to_have_text("")


def test_a_broker_that_is_away_is_told_and_comes_back_by_itself(
    wall: Page, hub: FakeHub, broker: BrokerProcess
) -> None:
    hub.publish(playing("board-1"))
    wall.goto("/")
    expect(wall.locator(".player").first).to_have_text("Ann")
    broker.stop()
    expect(wall.locator("#trouble")).to_contain_text("broker is away")
    expect(wall.locator(".player").first).to_have_text("Ann")
    hub.close()
    broker.start()
    hub.start()
    hub.publish(playing("board-1", rev=30, a="Ann again"))
    expect(wall.locator(".player").first).to_have_text("Ann again")
    expect(wall.locator("#trouble")).to_have_text("")


def test_a_page_that_hears_nothing_says_so_by_itself_and_recovers(wall: Page, hub: FakeHub, site: Running) -> None:
    hub.publish(playing("board-1"))
    wall.goto("/")
    expect(wall.locator(".player").first).to_have_text("Ann")
    site.signal(signal.SIGSTOP)
    try:
        expect(wall.locator("body")).to_have_attribute("data-link", "stale")
        expect(wall.locator("#trouble")).to_contain_text("No news")
    finally:
        site.signal(signal.SIGCONT)
    expect(wall.locator("body")).to_have_attribute("data-link", "live")
    hub.publish(playing("board-1", rev=30, a="Ann later"))
    expect(wall.locator(".player").first).to_have_text("Ann later")


@pytest.mark.parametrize("count", [1, 2, 4, 12, 60])
def test_any_number_of_boards_fills_one_screen(wall: Page, hub: FakeHub, count: int) -> None:
    hub.publish(
        *(playing(f"board-{n}", a=f"Anneliese {n}") if n % 5 else idle(f"board-{n}") for n in range(1, count + 1))
    )
    wall.goto("/")
    expect(wall.locator(".tile")).to_have_count(count)
    sizes = wall.locator(".tile").evaluate_all(
        "tiles => tiles.map(t => t.getBoundingClientRect()).map(r => [r.left, r.top, r.right, r.bottom])"
    )
    assert all(left >= 0 and top >= 40 and right <= 1920 and bottom <= 1080 for left, top, right, bottom in sizes)
    assert sum((right - left) * (bottom - top) for left, top, right, bottom in sizes) > 0.7 * 1920 * 1020
    names = wall.locator(".tile .player").evaluate_all(
        "names => names.filter(n => n.textContent.length > 4).map(n => [n.clientHeight, n.clientWidth])"
    )
    assert [n for n in names if n[0] < 14 or n[1] < 40] == []
    overflowing = wall.locator(".tile .body").evaluate_all(
        "bodies => bodies.filter(b => b.scrollHeight > b.clientHeight + 2 || b.scrollWidth > b.clientWidth + 2).length"
    )
    assert overflowing == 0


def test_a_wall_may_show_a_choice_of_boards(wall: Page, hub: FakeHub) -> None:
    hub.publish(*(playing(f"board-{n}") for n in range(1, 6)))
    wall.goto("/?boards=board-2,board-4")
    expect(wall.locator(".tile .name")).to_have_text(["Board 2", "Board 4"])
