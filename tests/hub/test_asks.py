"""What people do at a table: who may, what is refused, and that every step can be taken back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.link import topics
from hub.link.snapshot import Table
from hub.people.roles import Grant, People, digest
from hub.proof import prove
from hub.store.reader import JournalReader
from tests.hub.harness import Club
from tests.hub.test_games import answer_all, play_round, world_on
from tests.hub.world import Habits


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path, ("b1", "b2"))
    yield club
    club.close()


def started(club: Club, seed: int = 3, shots: int = 0) -> Any:
    assert club.ask("start", {"rules": "match-play", "level": "judge", "names": {"A": "Ann", "B": "Ben"}}).ok
    world = world_on(club, seed, Habits(foul=0.1))
    world.start_round()
    for number in range(shots):
        world.shoot("AB"[number % 2])
        answer_all(club, world)
    return world


def shown(table: Table) -> Any:
    """All that counts on a table, without revisions and flashes."""
    return (
        table.phase,
        table.turn,
        table.round,
        table.sides,
        table.rounds,
        [q.id for q in table.questions],
        table.rules,
    )


def test_names_are_shown_and_kept_out_of_the_journal(club: Club) -> None:
    started(club)
    assert [view.name for view in club.table().sides.values()] == ["Ann", "Ben"]
    assert club._journal is not None
    assert not any(b"Ann" in entry.body for entry in club._journal.entries("b1"))


@pytest.mark.parametrize(
    ("given", "shown_as"),
    [("  Ann \n Lee ", "Ann Lee"), ("A\x00nn", "A nn"), ("", "light"), ("   ", "light"), ("x" * 90, "x" * 40)],
)
def test_names_are_trimmed_to_what_a_wall_can_show(club: Club, given: str, shown_as: str) -> None:
    assert club.ask("start", {"names": {"A": given}}).ok
    assert club.table().sides["A"].name == shown_as


def test_a_board_without_a_sensor_is_shown_and_played_at_by_whoever_has_its_pin(quick_path: Path) -> None:
    people = People(pins={"b7": "1234", "hub": "organise", "answer": "1"})
    people.grants[digest("at-b8")] = Grant("table", "b8")
    people.grants[digest("anywhere")] = Grant("organiser", "")
    assert people.boards == {"b7", "b8"}
    club = Club(quick_path, people=people)
    assert (club.table("b7").phase, club.table("b7").rev, club.table("b7").sensors) == ("idle", 0, {})
    assert topics.table("b8") in club.broker.retained
    for round_ in (1, 2):
        if round_ == 1:
            assert club.ask("start", {"rules": "nca"}, "b8", token="at-b8").ok
        assert club.ask("correct", {"totals": {"A": 35, "B": 20}}, "b8", token="at-b8").ok
        assert club.ask("confirm", {"round": round_}, "b8", token="at-b8").ok
    assert club.table("b8").sides["A"].score == 4
    club.close()
    with JournalReader(club.url) as journal:
        assert prove(journal, "b8").unequal == ()
        assert journal.boards() == ("b1", "b7", "b8")


def test_a_request_repeated_gets_the_same_answer_and_acts_once(club: Club) -> None:
    started(club)
    first = club.ask("correct", {"side": "A", "twenties": 2}, id="same")
    again = club.ask("correct", {"side": "A", "twenties": 2}, id="same", rev=0)
    assert first == again
    assert first.ok
    club.restart()
    assert club.ask("correct", {"side": "A", "twenties": 5}, id="same") == first
    assert club.table().sides["A"].twenties == 2


def test_of_two_phones_at_once_the_second_is_refused(club: Club) -> None:
    started(club)
    rev = club.rev()
    assert club.ask("correct", {"side": "A", "twenties": 1}, rev=rev).ok
    refused = club.ask("correct", {"side": "A", "twenties": 1}, rev=rev, client="other")
    assert refused.error.startswith("stale:")
    assert club.ask("undo", {}, rev=rev).error.startswith("stale:")
    assert club.ask("undo", {}).ok


def test_facts_do_not_make_a_correction_stale(club: Club) -> None:
    world = started(club, shots=4)
    rev = club.rev()
    world.shoot("A")
    assert club.ask("correct", {"side": "B", "twenties": 3}, rev=rev).ok


@pytest.mark.parametrize(
    ("request_", "body", "code"),
    [
        ("start", {"rules": "match-play"}, "match_running"),
        ("answer", {"question": "q", "choice": "A"}, "no_question"),
        ("confirm", {"round": 1}, "not_finished"),
        ("confirm", {"round": 2}, "stale"),
        ("correct", {}, "bad_correction"),
        ("correct", {"side": "A", "twenties": 1, "shot": 1, "valid": True}, "bad_correction"),
        ("correct", {"side": "C", "twenties": 1}, "bad_correction"),
        ("correct", {"side": "A", "twenties": 13}, "too_many_discs"),
        ("correct", {"side": "A", "twenties": -1}, "negative"),
        ("correct", {"shot": 9, "valid": True}, "no_shot"),
        ("correct", {"disc": "d99", "value": 5}, "no_disc"),
        ("correct", {"totals": {"A": 5}}, "bad_correction"),
        ("correct", {"totals": {"A": 7, "B": 0}}, "impossible_score"),
        ("correct", {"totals": {"A": 500, "B": 0}}, "impossible_score"),
        ("correct", {"round": 5, "totals": {"A": 5, "B": 0}}, "no_round"),
        ("redo", {}, "nothing_to_redo"),
        ("correct", {"side": "A", "twenties": "many"}, "bad_request"),
        ("dance", {}, "bad_request"),
    ],
)
def test_what_cannot_be_is_refused_with_a_code_and_changes_nothing(
    club: Club, request_: str, body: Any, code: str
) -> None:
    started(club)
    before = shown(club.table())
    answer = club.ask(request_, body)
    assert not answer.ok
    assert answer.error.startswith(f"{code}: ")
    assert shown(club.table()) == before


def test_start_refuses_unknown_rules_by_name(club: Club) -> None:
    answer = club.ask("start", {"rules": "match-pley"})
    assert answer.error.startswith("unknown_preset:")
    assert "match-play" in answer.error


def test_a_corrected_shot_changes_its_twenty(club: Club) -> None:
    world = started(club)
    world.habits = Habits(foul=0.0, twenty=1.0)
    world.shoot("A")
    assert club.table().sides["A"].twenties == 1
    assert club.ask("correct", {"shot": 1, "valid": False}).ok
    assert club.table().sides["A"].twenties == 0
    assert club.table().verdict is not None
    assert not club.table().verdict.valid
    assert club.ask("correct", {"shot": 1, "valid": True}).ok
    assert club.table().sides["A"].twenties == 1


def test_a_corrected_disc_holds_until_it_moves(club: Club) -> None:
    world = started(club)
    world.habits = Habits(foul=0.0, twenty=0.0, line=0.0)
    world.shoot("A")
    disc = next(d for d in world.discs)
    assert club.ask("correct", {"disc": disc.id, "value": 0}).ok
    assert club.table().sides["A"].board == 0
    world.nudge()
    assert club.table().sides["A"].board == world.discs[0].value


def test_a_finished_round_can_be_corrected_and_the_match_follows(club: Club) -> None:
    club.ask("start", {"rules": "match-play", "level": "judge"})
    world = world_on(club, 4, Habits())
    truth = play_round(club, world, "A")
    assert club.ask("correct", {"round": 1, "totals": {"A": 50, "B": 100}, "among": {"A": 1, "B": 2}}).ok
    assert club.table().rounds[0].totals == {"A": 50, "B": 100}
    assert club.table().sides["B"].score == 2
    assert club.ask("undo", {}).ok
    assert club.table().rounds[0].totals == truth.totals


@pytest.mark.parametrize("shots", [0, 3])
def test_entered_totals_are_shown_as_such_and_can_be_confirmed_at_once(club: Club, shots: int) -> None:
    started(club, shots=shots)
    assert {side.entered for side in club.table().sides.values()} == {None}
    assert club.ask("correct", {"totals": {"A": 35, "B": 20}}).ok
    assert {key: side.entered for key, side in club.table().sides.items()} == {"A": 35, "B": 20}
    assert "entered by people" in club.table().message
    assert club.ask("correct", {"totals": {"A": 35, "B": 0}, "among": {"A": 0, "B": 0}}).ok
    assert club.table().sides["B"].entered == 0
    assert club.ask("confirm", {"round": 1}).ok
    assert club.table().rounds[0].totals == {"A": 35, "B": 0}
    shots_lie = bool(shots)
    assert [side.entered for side in club.table().sides.values()] == ([35, 0] if shots_lie else [None, None])


def test_an_undo_and_a_redo_say_what_they_were_about(club: Club) -> None:
    world = started(club, shots=2)
    disc = next(d for d in club.table().discs if d.state != "ditch")
    done = [
        ("correct", {"side": "A", "twenties": 1}, "the correction of the light 20s to 1"),
        ("correct", {"shot": 1, "valid": False}, "the correction of shot 1 to a foul"),
        ("correct", {"shot": 1, "valid": True}, "the correction of shot 1 to good"),
        ("correct", {"disc": disc.id, "value": 5}, f"the correction of a {disc.colour} disc to 5"),
        ("swap", {"what": "colours"}, "the swap of colours"),
        ("swap", {"what": "colours"}, "the swap of colours"),
        ("correct", {"totals": {"A": 35, "B": 20}}, "the entered totals of the round"),
        ("confirm", {"round": 1}, "the confirmation of round 1"),
        ("correct", {"round": 1, "totals": {"A": 40, "B": 20}}, "the entered totals of round 1"),
        ("concede", {"side": "B", "what": "game"}, "that dark gave up the game"),
    ]
    for request, body, _ in done:
        answer = club.ask(request, body)
        assert answer.ok, (request, body, answer.error)
        assert "told" not in answer.body
    club.restart()
    for request in ("undo", "redo", "undo"):
        told = [club.ask(request, {}).body["told"] for _ in done]
        wanted = [words for _, _, words in done]
        assert told == (wanted if request == "redo" else wanted[::-1])
    while club.table().questions or club.table().can_undo:
        told_last = club.ask("undo", {}).body["told"]
    assert told_last == "the start of the match"
    assert world.discs


def test_undo_and_redo_go_over_the_end_of_a_round(club: Club) -> None:
    club.ask("start", {"rules": "match-play", "level": "judge"})
    world = world_on(club, 5, Habits())
    states = [shown(club.table())]
    club.ask("correct", {"side": "A", "twenties": 0})
    states.append(shown(club.table()))
    play_round(club, world, "A")
    club.ask("correct", {"round": 1, "totals": {"A": 20, "B": 20}})
    states.append(shown(club.table()))
    club.ask("correct", {"side": "B", "twenties": 2})
    states.append(shown(club.table()))
    assert club.ask("undo", {}).ok
    assert shown(club.table()) == states[2]
    club.restart()
    assert club.ask("undo", {}).ok
    assert club.ask("undo", {}).ok
    assert club.table().rounds[0].totals == world.truth.totals
    for _ in range(3):
        assert club.ask("redo", {}).ok
    assert shown(club.table()) == states[3]
    assert not club.ask("redo", {}).ok


def test_a_new_action_after_undo_ends_what_could_be_done_again(club: Club) -> None:
    started(club)
    club.ask("correct", {"side": "A", "twenties": 1})
    club.ask("undo", {})
    assert club.table().can_redo
    club.ask("correct", {"side": "B", "twenties": 1})
    assert not club.table().can_redo
    club.ask("undo", {})
    club.ask("undo", {})
    assert not club.table().can_undo
    assert club.table().phase == "idle"
    club.ask("redo", {})
    club.ask("redo", {})
    assert {s: v.twenties for s, v in club.table().sides.items()} == {"A": 0, "B": 1}


@settings(max_examples=15, deadline=None)
@given(
    steps=st.lists(st.sampled_from(["act", "shoot", "undo", "redo"]), min_size=3, max_size=25), seed=st.integers(0, 99)
)
def test_undo_then_redo_is_as_if_nothing_had_been(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], seed: int
) -> None:
    club = Club(tmp_path_factory.mktemp("undo"))
    world = started(club, seed)
    chance = random.Random(seed)
    for step in steps:
        if step == "shoot" and world.shots < 24:
            world.shoot("AB"[world.shots % 2] if world.shots else "A")
        elif step == "act":
            side = chance.choice("AB")
            club.ask("correct", {"side": side, "twenties": chance.randint(0, 3)})
        elif club.table().phase != "idle":
            club.ask(step, {})
        if club.table().can_undo:
            before = shown(club.table())
            assert club.ask("undo", {}).ok
            assert club.ask("redo", {}).ok
            assert shown(club.table()) == before
    club.close()


def test_abandon_ends_the_match_without_a_winner_and_can_be_undone(club: Club) -> None:
    started(club, shots=3)
    assert club.ask("abandon", {}).ok
    assert (club.table().phase, club.table().winner) == ("match_over", None)
    assert club.ask("undo", {}).ok
    assert (club.table().phase, club.table().shot) == ("round", 3)


def test_a_table_token_is_good_for_its_own_board_only(club: Club) -> None:
    answer = club.ask("start", {"rules": "classic"}, "b2", token="a-token-of-24-characters-b1")
    assert answer.error.startswith("other_board:")
    assert topics.table("b2") not in club.broker.retained or club.table("b2").phase == "idle"


def test_two_boards_are_two_tables(club: Club) -> None:
    club.ask("start", {"level": "judge"}, "b1")
    club.ask("start", {"level": "judge", "rules": "classic"}, "b2")
    worlds = {board: world_on(club, 9, Habits(), board) for board in ("b1", "b2")}
    for board, world in worlds.items():
        world.serial = 500 if board == "b2" else 0
        world.start_round()
    for number in range(24):
        for board, world in worlds.items():
            world.shoot("AB"[number % 2])
            answer_all(club, world, board)
    for board, world in worlds.items():
        world.lift()
        truth = world.finish()
        world.clear()
        assert club.table(board).rounds[0].totals == truth.totals
    assert club.table("b1").rules != club.table("b2").rules
