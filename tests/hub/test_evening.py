"""A club's evening: names come late, undo goes back over matches, it closes, and anything is stored as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.link.snapshot import Event
from hub.people.roles import Grant, digest
from hub.proof import prove
from hub.store.archive import Archive
from hub.store.reader import JournalReader
from tests.hub.harness import TOKEN, Club
from tests.hub.test_asks import shown
from tests.hub.test_games import answer_all, play_round, world_on
from tests.hub.world import Habits, World

ORGANISER = f"{TOKEN}-organiser"


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path, ("b1", "b2", "b3"))
    yield club
    proven(club)


def proven(club: Club) -> None:
    """What is stored of every board follows from its journal."""
    club.close()
    with JournalReader(club.url) as journal:
        for board in journal.boards():
            assert prove(journal, board).unequal == ()


def begun(club: Club, rounds: int = 1, **body: Any) -> World:
    told = {"rules": "match-play", "level": "judge", "names": {"A": "Ann", "B": "Ben"}} | body
    assert club.ask("start", told).ok
    world = world_on(club, 3, Habits(foul=0.0, twenty=0.2))
    for number in range(rounds):
        play_round(club, world, "AB"[number % 2])
    return world


def test_names_and_an_event_come_late_also_to_a_match_that_a_first_shot_opened(club: Club) -> None:
    world = world_on(club, 3, Habits(foul=0.0))
    world.start_round()
    world.shoot("A")
    assert club.ask("name", {"names": {"A": "Ann"}, "event": {"name": " Cup\n2026 ", "stage": "final"}}).ok
    table = club.table()
    assert (table.sides["A"].name, table.shot) == ("Ann", 1)
    assert table.event == Event("Cup 2026", "final")
    assert club.ask("name", {"names": {"B": "Ben"}}).ok
    assert club.table().event == Event("Cup 2026", "final")
    assert club.ask("undo", {}).ok
    assert club.ask("undo", {}).ok
    assert (club.table().event, club.table().sides["A"].name, club.table().shot) == (Event(), "light", 1)


def finish(club: Club, seed: int = 3) -> World:
    """Play a match of one game to its end, without names, as a first shot opens it."""
    world = world_on(club, seed, Habits(foul=0.0))
    while club.table().phase != "match_over":
        play_round(club, world, "B" if club.table().round % 2 and club.table().rounds else "A")
    return world


def archived(club: Club, match: str) -> Any:
    archive = Archive(club.url)
    try:
        return archive.match(match)
    finally:
        archive.close()


def test_an_earlier_match_of_the_evening_is_named_when_the_next_has_begun(club: Club) -> None:
    world = finish(club)
    first = club.table().match_id
    world.start_round()
    world.shoot("A")
    assert club.table().match_id != first
    assert [played.id for played in club.table().evening] == [first]
    told = {"match": first, "names": {"A": "Ann"}, "event": {"name": "Cup"}}
    assert club.ask("name", told).ok
    assert club.table().evening[0].names == {"A": "Ann", "B": "B"}
    assert club.table().sides["A"].name == "light"
    record = archived(club, first)
    assert (list(record.players), record.event) == (["A"], Event("Cup"))
    assert club.ask("undo", {}).ok
    assert archived(club, first).players == {}
    assert club.ask("redo", {}).ok
    assert list(archived(club, first).players) == ["A"]
    assert club.ask("name", {"match": "b1-9999", "names": {}}).error.startswith("no_match:")
    assert club.ask("name", {"match": first, "names": {"C": "Cem"}}).error.startswith("bad_side:")


def test_undo_goes_back_over_the_end_of_a_match_to_the_first_of_the_evening(club: Club) -> None:
    steps: list[Any] = []

    def does(request: str, **body: Any) -> None:
        steps.append(shown(club.table()))
        assert club.ask(request, body).ok

    does("start", rules="match-play", level="judge", names={"A": "Ann", "B": "Ben"})
    world = world_on(club, 3, Habits(foul=0.0, twenty=0.2))
    play_round(club, world, "A")
    does("correct", round=1, totals={"A": 30, "B": 15}, among={"A": 0, "B": 0})
    does("concede", side="B", what="game")
    does("start", rules="nca", level="count")
    does("correct", side="A", twenties=2)
    does("walk_over", side="A")
    does("start", rules="match-play")
    does("name", names={"A": "Cem"})
    end = shown(club.table())
    steps.append(end)
    for number in range(len(steps) - 2, 0, -1):
        assert club.ask("undo", {}).ok
        assert shown(club.table()) == steps[number], number
        if number == 4:
            club.restart()
    for number in range(2, len(steps)):
        assert club.ask("redo", {}).ok
        assert shown(club.table()) == steps[number], number
    assert club.ask("redo", {}).error.startswith("nothing_to_redo:")


def test_what_was_taken_back_over_a_match_stays_so_when_play_goes_on(club: Club) -> None:
    begun(club, rounds=1)
    assert club.ask("correct", {"round": 1, "totals": {"A": 30, "B": 15}, "among": {"A": 0, "B": 0}}).ok
    assert club.ask("concede", {"side": "B", "what": "game"}).ok
    assert club.ask("start", {"rules": "nca"}).ok
    for _ in range(3):
        assert club.ask("undo", {}).ok
    was = club.table().rounds
    assert was[0].totals != {"A": 30, "B": 15}
    assert club.ask("concede", {"side": "A", "what": "game"}).ok
    assert club.ask("start", {"rules": "match-play"}).ok
    assert club.ask("redo", {}).error.startswith("nothing_to_redo:")
    assert club.ask("undo", {}).ok
    assert (club.table().rounds, club.table().winner) == (was, "B")
    assert club.ask("undo", {}).ok
    assert (club.table().rounds, club.table().winner) == (was, None)


def test_a_match_that_opened_by_itself_after_an_undone_end_is_read_anew(club: Club) -> None:
    """The end of the first match is taken back: the shot that had opened the second belongs to the first."""
    world = begun(club, rounds=1)
    first = club.table().match_id
    assert club.ask("concede", {"side": "B", "what": "game"}).ok
    world.start_round()
    world.shoot("B")
    assert club.table().match_id != first
    assert club.ask("undo", {}).ok
    table = club.table()
    assert (table.match_id, table.round, table.shot) == (first, 2, 1)
    world.shoot("A")
    answer_all(club, world)
    assert club.table().shot == 2
    assert club.ask("correct", {"side": "A", "twenties": 1}).ok
    club.restart()
    assert club.ask("undo", {}).ok
    assert club.table().shot == 2


def test_names_and_rules_for_a_match_whose_chapter_was_gone_through_again(club: Club) -> None:
    world = begun(club, rounds=1)
    assert club.ask("correct", {"round": 1, "totals": {"A": 30, "B": 15}, "among": {"A": 0, "B": 0}}).ok
    assert club.ask("concede", {"side": "B", "what": "game"}).ok
    world.start_round()
    world.shoot("B")
    assert club.ask("undo", {}).ok
    assert club.ask("redo", {}).ok
    second = club.table()
    assert (second.shot, second.round) == (1, 1)
    assert club.ask("start", {"rules": "nca", "level": "judge", "names": {"B": "Ben"}, "opener": "B"}).ok
    table = club.table()
    assert (table.rules, table.shot, table.sides["B"].name, table.rounds) == ("NCA", 1, "Ben", ())
    assert club.ask("undo", {}).ok
    assert shown(club.table()) == shown(second)


def test_a_correction_taken_back_stays_so_when_the_match_gets_its_rules(club: Club) -> None:
    world = world_on(club, 3, Habits(foul=0.0, twenty=0.0))
    world.start_round()
    world.shoot("A")
    assert club.ask("correct", {"side": "A", "twenties": 1}).ok
    assert club.ask("undo", {}).ok
    assert club.ask("start", {"rules": "nca"}).ok
    assert club.ask("undo", {}).ok
    assert club.table().sides["A"].twenties == 0


def test_a_match_that_a_first_shot_opened_gets_its_rules_also_when_it_is_over(club: Club) -> None:
    world = finish(club)
    over = club.table()
    assert (over.phase, over.auto, over.rules) == ("match_over", True, "Match play")
    rules = {"base": "nca", "discs": "12/6"}
    body = {"rules": rules, "level": "count", "names": {"A": "Ann"}, "games": 3}
    assert club.ask("start", {**body, "match": "b1-999"}).error.startswith("no_match:")
    assert club.ask("start", {**body, "match": over.match_id}).ok
    table = club.table()
    assert (table.rules, table.auto, table.sides["A"].name) == ("NCA, discs=12/6", False, "Ann")
    assert [r.totals for r in table.rounds] == [r.totals for r in over.rounds][: len(table.rounds)]
    assert archived(club, over.match_id) is None  # it is one match, not two
    assert len(archived(club, table.match_id).rounds) == len(table.rounds)
    assert club.ask("start", {**body, "match": table.match_id}).error.startswith("has_rules:")
    assert club.ask("undo", {}).ok
    assert shown(club.table()) == shown(over)
    assert archived(club, table.match_id) is None
    assert archived(club, over.match_id).winner == over.winner
    world.start_round()
    world.shoot("A")
    assert club.table().match_id not in {over.match_id, table.match_id}


def test_a_match_that_is_taken_back_goes_from_the_archive_and_comes_again(club: Club) -> None:
    begun(club)
    assert club.ask("concede", {"side": "B", "what": "game"}).ok
    first = club.table().match_id
    assert club.ask("start", {"rules": "nca"}).ok
    assert club.ask("concede", {"side": "B", "what": "round"}).ok
    second = club.table().match_id
    assert archived(club, second) is not None
    assert club.ask("undo", {}).ok
    assert club.ask("undo", {}).ok
    assert (club.table().match_id, archived(club, second)) == (first, None)
    assert archived(club, first) is not None
    assert club.ask("redo", {}).ok
    assert club.ask("redo", {}).ok
    assert len(archived(club, second).rounds) == 1
    assert club.ask("move", {"to": "b2"}, token=ORGANISER).ok
    assert archived(club, second).board == "b2"


@pytest.mark.parametrize(("by", "won"), [("A", {"A": 0, "B": 1}), ("B", {"A": 1, "B": 0})])
def test_a_game_given_up_while_a_round_of_it_is_counted_is_in_the_archive(
    club: Club, by: str, won: dict[str, int]
) -> None:
    begun(club, games=3)
    match = club.table().match_id
    assert club.ask("concede", {"side": by, "what": "game"}).ok
    assert {side: view.games for side, view in club.table().sides.items()} == won
    assert (archived(club, match).games, archived(club, match).over) == (won, False)
    assert club.ask("undo", {}).ok
    assert archived(club, match).games == {"A": 0, "B": 0}


def close(club: Club, **body: Any) -> Any:
    return club.ask("close", body, "hub", token=ORGANISER, rev=0)


def test_the_organiser_closes_the_evening_and_nothing_of_it_is_changed_any_more(club: Club) -> None:
    begun(club)
    assert club.ask("start", {"rules": "nca"}, "b2").ok
    refused = close(club)
    assert refused.error == "match_running: matches are being played at b1, b2"
    assert club.ask("concede", {"side": "B", "what": "game"}).ok
    first = club.table().match_id
    answer = close(club, abandon=True)
    assert answer.body == {"boards": ["b1", "b2"]}
    for board in ("b1", "b2"):
        table = club.table(board)
        assert (table.phase, table.evening, table.can_undo) == ("idle", (), False)
    assert club.ask("name", {"match": first, "names": {"A": "Zoe"}}).error.startswith("no_match:")
    assert club.ask("undo", {}).error.startswith("nothing_to_undo:")
    assert archived(club, first).winner == "A"
    club.restart()
    assert club.table().phase == "idle"
    assert club.ask("start", {"rules": "match-play"}).ok
    assert club.table().evening == ()
    assert close(club, abandon=True).body == {"boards": ["b1"]}


def test_a_forgotten_person_goes_from_earlier_matches_of_the_evening_too(club: Club) -> None:
    begun(club)
    assert club.ask("concede", {"side": "B", "what": "game"}).ok
    first = club.table().match_id
    assert club.ask("start", {"names": {"A": "Cem"}}).ok
    answer = club.ask("forget", {"name": "Ann"}, "hub", token=ORGANISER)
    assert answer.body == {"boards": ["b1"], "matches": [first]}
    assert not any(b"Ann" in payload for payload in club.broker.retained.values())


def test_a_token_says_what_it_is_good_for_and_the_journal_nothing(club: Club) -> None:
    assert club.hub is not None
    club.hub._people.grants[digest(f"{TOKEN}-pictures")] = Grant("board", "b1")
    lines = club._journal.last_id if club._journal else 0
    for token, board, role in (("b1", "b1", "table"), ("organiser", "hub", "organiser"), ("pictures", "b1", "board")):
        answer = club.ask("who", {}, board, token=f"{TOKEN}-{token}", rev=0)
        assert (answer.ok, answer.body["role"]) == (True, role)
    assert club.ask("who", {}, "b2", token=f"{TOKEN}-pictures").error.startswith("other_board:")
    assert club.ask("start", {}, token=f"{TOKEN}-pictures").error.startswith("not_allowed:")
    assert club.ask("who", {}, token="x" * 24).error.startswith("no_token:")
    assert club._journal is not None
    assert club._journal.last_id == lines


class Evening:
    """Whatever people may do at two boards of an evening, chosen by somebody who cannot decide."""

    def __init__(self, club: Club, draw: Any) -> None:
        self.club = club
        self.draw = draw
        self.worlds = {board: world_on(club, 7, Habits(foul=0.1, twenty=0.2), board) for board in ("b1", "b2")}
        self.number = 0

    def step(self, board: str) -> None:
        table = self.club.table(board)
        running = table.phase not in {"idle", "match_over"}
        acts: dict[str, dict[str, Any]] = {"start": {"rules": self.draw(st.sampled_from(["match-play", "nca"]))}}
        if table.match_id:
            acts["name"] = {"names": {"A": self.draw(st.sampled_from(["Ann", "Cem", ""]))}, "event": {"name": "Cup"}}
        if table.evening:
            acts["name_earlier"] = {"names": {"B": "Dee"}, "match": table.evening[0].id}
        if running:
            acts |= {
                "correct": {"side": "A", "twenties": self.draw(st.integers(0, 3))},
                "concede": {"side": "B", "what": self.draw(st.sampled_from(["round", "game"]))},
                "walk_over": {"side": "A"},
                "swap": {"what": "colours"},
                "abandon": {},
            }
        if table.rounds:
            acts["correct_round"] = {
                "round": table.rounds[-1].number,
                "totals": {"A": 40, "B": 20},
                "among": {"A": 1, "B": 0},
            }
        what = self.draw(st.sampled_from([*sorted(acts), "play", "play", "undo", "undo", "redo", "move", "clear"]))
        self.number += 1
        if what == "play":
            self.shoot(board)
        elif what == "clear":
            self.worlds[board].clear()
        elif what == "move":
            other = "b2" if board == "b1" else "b1"
            self.club.ask("move", {"to": other, "restart": True}, board, token=ORGANISER)
        else:
            self.club.ask(
                {"name_earlier": "name", "correct_round": "correct"}.get(what, what), acts.get(what, {}), board
            )

    def shoot(self, board: str) -> None:
        world = self.worlds[board]
        if world.truth is None or world.shots >= 2 * world.dealt:
            world.start_round()
        world.shoot("AB"[world.shots % 2])


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_any_evening_is_stored_as_its_journals_give_it_and_taken_back_and_done_again(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        club = Club(Path(folder), ("b1", "b2"))
        evening = Evening(club, data.draw)
        for _ in range(data.draw(st.integers(5, 30))):
            evening.step(data.draw(st.sampled_from(["b1", "b1", "b2"])))
        for board in ("b1", "b2"):
            now = (shown(club.table(board)), club.table(board).evening)
            steps = 0
            while club.ask("undo", {}, board).ok:
                steps += 1
            assert not club.table(board).can_undo
            if data.draw(st.booleans()):
                club.restart()
            for _ in range(steps):
                assert club.ask("redo", {}, board).ok
            assert (shown(club.table(board)), club.table(board).evening) == now
        ids = [table.match_id for table in map(club.table, ("b1", "b2")) if table.match_id]
        assert len(ids) == len(set(ids))
        proven(club)
