"""The course of a match as people steer it: pause, time-out, giving up, swapping, names, and the referee's word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hub.link import topics
from hub.link.messages import Button
from hub.link.snapshot import Table
from hub.proof import prove
from hub.store.reader import JournalReader
from tests.hub.harness import TOKEN, Club
from tests.hub.test_games import answer_all, play_round, world_on
from tests.hub.world import Habits, World

CALM = Habits(foul=0.0, twenty=0.3, opponents_twenty=0.0, line=0.0)
REFEREE = f"{TOKEN}-referee"


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    """A club whose journal is gone through again at the end of every test."""
    club = Club(quick_path, ("b1",))
    yield club
    club.close()
    with JournalReader(club.url) as journal:
        assert prove(journal, "b1").unequal == ()


def started(club: Club, shots: int = 0, habits: Habits = CALM, **body: Any) -> World:
    given = {"rules": "match-play", "level": "judge", "names": {"A": "Ann", "B": "Ben"}, **body}
    answer = club.ask("start", given)
    assert answer.ok, answer.error
    world = world_on(club, 3, habits)
    world.start_round()
    for number in range(shots):
        world.shoot("AB"[number % 2])
        answer_all(club, world)
    return world


def rule(club: Club, **body: Any) -> Any:
    return club.ask("rule", {"reason": "seen from above", **body}, token=REFEREE)


def test_a_pause_is_shown_and_ends_when_told_or_when_a_side_shoots_on(club: Club) -> None:
    world = started(club, shots=2)
    assert club.ask("pause", {}).ok
    assert club.table().phase == "paused"
    assert club.ask("pause", {}).error.startswith("paused:")
    assert club.ask("resume", {}).ok
    assert club.table().phase == "round"
    assert club.ask("resume", {}).error.startswith("not_paused:")
    assert club.ask("pause", {}).ok
    world.shoot("A")
    assert (club.table().phase, club.table().shot) == ("round", 3)


def test_undo_passes_over_a_pause(club: Club) -> None:
    started(club, shots=2)
    before = club.table().sides["A"].twenties
    assert club.ask("correct", {"side": "A", "twenties": before + 1}).ok
    assert club.ask("pause", {}).ok
    assert club.ask("undo", {}).ok
    table = club.table()
    assert (table.phase, table.sides["A"].twenties) == ("paused", before)
    assert club.ask("resume", {}).ok
    assert club.ask("redo", {}).ok
    assert club.table().sides["A"].twenties == before + 1


@pytest.mark.parametrize(("shots", "behind"), [(3, "B"), (4, None)])
def test_at_a_time_out_the_side_that_shot_less_shoots_once_more(club: Club, shots: int, behind: str | None) -> None:
    world = started(club, shots=shots)
    assert club.ask("time_out", {"round": 1}).ok
    table = club.table()
    assert table.time_out
    assert table.turn == behind
    assert [view.shots_left for view in table.sides.values()] == [0, 1 if behind else 0]
    if behind is not None:
        assert table.phase == "round"
        world.shoot(behind)
        answer_all(club, world)
    assert club.table().phase == "round_over"
    truth = world.finish()
    world.clear()
    assert club.table().rounds[0].totals == truth.totals
    assert club.table().round == 2


def test_a_time_out_is_refused_twice_and_after_the_round(club: Club) -> None:
    started(club, shots=3)
    assert club.ask("time_out", {"round": 2}).error.startswith("stale:")
    assert club.ask("time_out", {}).ok
    assert club.ask("time_out", {}).error.startswith("already_timed_out:")
    assert club.ask("undo", {}).ok
    assert not club.table().time_out
    assert club.table().sides["A"].shots_left == 10


def test_a_twenty_that_only_the_beam_noticed_counts_after_the_time_out_too(club: Club) -> None:
    club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    club.turn()
    world = started(club)
    world.beam(world.wait(1))
    (question,) = club.table().questions
    assert club.ask("time_out", {}).ok
    assert club.ask("answer", {"question": question.id, "choice": "B"}).ok
    assert club.table().sides["B"].twenties == 1
    assert club.ask("confirm", {"round": 1}).ok
    assert club.table().rounds[0].totals == {"A": 0, "B": 20}


def test_a_conceded_round_goes_to_the_other_side_whatever_lies_there(club: Club) -> None:
    started(club, shots=3)
    assert club.ask("concede", {"side": "A", "round": 1}).ok
    table = club.table()
    assert table.rounds[0].conceded == "A"
    assert table.rounds[0].added == {"A": 0, "B": 2}
    assert (table.sides["B"].score, table.message) == (2, "clear the board")
    assert club.ask("undo", {}).ok
    assert (club.table().rounds, club.table().shot) == ((), 3)


def test_where_points_count_a_side_that_gives_up_gains_none(club: Club) -> None:
    world = started(club, rules="classic", shots=9)
    assert world.finish().totals
    assert club.ask("concede", {"side": "B"}).ok
    added = club.table().rounds[0].added
    assert added["B"] == 0
    assert club.table().sides["A"].score == added["A"] >= 0


def test_a_conceded_game_is_the_others_and_the_next_begins(club: Club) -> None:
    world = started(club, games=3, shots=2)
    assert club.ask("concede", {"side": "A", "what": "game"}).ok
    table = club.table()
    assert (table.game, table.round, table.sides["B"].games) == (2, 1, 1)
    world.clear()
    assert club.ask("concede", {"side": "A", "what": "game"}).ok
    table = club.table()
    assert (table.phase, table.winner, table.sides["B"].games) == ("match_over", "B", 2)
    for _ in range(2):
        assert club.ask("undo", {}).ok
    assert (club.table().game, club.table().shot, club.table().winner) == (1, 2, None)


def test_a_walk_over_gives_the_match_to_the_other_side(club: Club) -> None:
    started(club)
    assert club.ask("walk_over", {"side": "C"}).error.startswith("bad_side:")
    assert club.ask("walk_over", {"side": "B"}).ok
    table = club.table()
    assert (table.phase, table.winner, table.walk_over) == ("match_over", "A", "B")
    assert club.ask("undo", {}).ok
    assert (club.table().phase, club.table().winner) == ("round", None)


def test_swapped_colours_give_the_round_to_who_really_played_it(club: Club) -> None:
    world = started(club, shots=5)
    was = club.table()
    assert club.ask("swap", {"what": "colours"}).ok
    table = club.table()
    assert [view.colour for view in table.sides.values()] == ["dark", "light"]
    assert (table.sides["B"].twenties, table.sides["A"].twenties) == (was.sides["A"].twenties, was.sides["B"].twenties)
    assert (table.sides["B"].board, table.sides["A"].board) == (was.sides["A"].board, was.sides["B"].board)
    assert (table.turn, table.opener, table.seats) == ("A", "B", {1: "B", 3: "A"})
    for number in range(5, 24):
        world.shoot("AB"[number % 2])
        answer_all(club, world)
    truth = world.finish()
    world.clear()
    assert club.table().rounds[0].totals == {"A": truth.totals["B"], "B": truth.totals["A"]}


def test_colours_swapped_between_rounds_leave_finished_ones_alone(club: Club) -> None:
    world = started(club)
    first = play_round(club, world, "A")
    assert club.ask("swap", {"what": "colours"}).ok
    assert club.table().rounds[0].totals == first.totals
    assert club.table().turn == "B"
    assert club.table().seats == {1: "A", 3: "B"}
    assert club.ask("swap", {"what": "seats"}).ok  # light is shot from seat 1 as before
    second = play_round(club, world, "A")  # B opens the second round, now with the light discs
    assert club.table().rounds[0].totals == first.totals
    assert club.table().rounds[1].totals == {"A": second.totals["B"], "B": second.totals["A"]}


def test_swapped_seats_change_where_a_side_must_place(club: Club) -> None:
    world = started(club, habits=Habits(foul=0.0, twenty=0.0, opponents_twenty=0.0, line=0.0))
    assert club.table().seats == {1: "A", 3: "B"}
    assert club.ask("swap", {"what": "seats"}).ok
    assert club.table().seats == {1: "B", 3: "A"}
    assert club.table().seat == 3
    world.shoot("A", seat=3)
    assert club.table().verdict == msgspec.structs.replace(club.table().verdict, valid=True, code="good")
    world.shoot("B", seat=3)
    assert club.table().verdict.code == "illegal_placement"
    assert club.ask("swap", {"what": "seats"}).error.startswith("bad_swap:")


def test_names_can_be_attached_and_taken_away_until_the_next_match(club: Club) -> None:
    started(club, shots=1, names={})
    assert club.ask("name", {"names": {"A": "Ann"}}).ok
    assert [view.name for view in club.table().sides.values()] == ["Ann", "dark"]
    assert club.ask("walk_over", {"side": "B"}).ok
    assert club.ask("name", {"names": {"A": "", "B": "Ben"}}).ok
    assert [view.name for view in club.table().sides.values()] == ["light", "Ben"]
    assert club.ask("undo", {}).ok
    assert [view.name for view in club.table().sides.values()] == ["Ann", "dark"]
    assert club.ask("name", {"names": {"C": "Cleo"}}).error.startswith("bad_side:")


@pytest.mark.parametrize("by", ["phone", "button"])
def test_a_called_referee_is_shown_and_play_rests(club: Club, by: str) -> None:
    world = started(club, shots=2)
    if by == "phone":
        assert club.ask("referee", {}).ok
        assert club.ask("referee", {}).error.startswith("called:")
    else:
        for _ in range(2):
            club.fact("button", Button(world.wait(1), "referee"), world.at_ns)
    assert club.table().referee
    assert club.table().phase == "paused"
    world.shoot("A")
    assert club.table().referee
    assert club.table().phase == "round"
    club.restart()
    assert club.table().referee
    assert club.ask("referee_done", {}, token=REFEREE).ok
    assert not club.table().referee
    assert club.ask("referee_done", {}).error.startswith("not_called:")


def test_a_call_stays_with_the_shot_that_was_the_last_when_it_came(club: Club) -> None:
    world = started(club, shots=3)
    assert club.table().call is None
    assert club.ask("referee", {}).ok
    call = club.table().call
    assert call is not None
    assert (call.game, call.round, call.shot) == (1, 1, 3)
    assert call.text
    verdict = club.table().verdict
    assert verdict is not None
    assert (call.valid, call.text) == (verdict.valid, verdict.text)
    for side in "BAB":
        world.shoot(side)
        answer_all(club, world)
    club.restart()
    verdict = club.table().verdict
    assert verdict is not None
    assert verdict.shot == 6
    assert club.table().call == call
    ruling = {"game": 1, "round": 1, "shot": 3, "valid": not call.valid, "reason": "seen"}
    assert club.ask("rule", ruling, token=REFEREE).ok
    ruled = club.table().call
    assert ruled is not None
    assert (ruled.shot, ruled.valid) == (3, not call.valid)
    assert club.ask("referee_done", {}, token=REFEREE).ok
    assert club.table().call is None


def test_a_call_before_any_shot_is_about_none_and_one_of_a_match_before_names_no_shot_of_the_next(club: Club) -> None:
    assert club.ask("referee", {}).ok
    call = club.table().call
    assert call is not None
    assert (call.round, call.shot) == (0, 0)
    assert call.at_ms
    assert club.ask("referee_done", {}).ok
    started(club, shots=2)
    assert club.ask("referee", {}).ok
    assert club.ask("abandon", {}).ok
    assert club.ask("start", {}).ok
    call = club.table().call
    assert call is not None
    assert call.shot == 0


def test_a_referee_can_be_called_without_a_match(club: Club) -> None:
    assert club.ask("referee", {}).ok
    assert (club.table().referee, club.table().phase) == (True, "idle")


def test_only_a_referee_rules_and_with_a_reason(club: Club) -> None:
    started(club, shots=2)
    assert club.ask("rule", {"reason": "so", "shot": 1, "valid": False}).error.startswith("not_allowed:")
    for body, code in (
        ({"reason": " ", "shot": 1, "valid": False}, "no_reason"),
        ({"shot": 1}, "bad_ruling"),
        ({}, "bad_ruling"),
        ({"shot": 1, "valid": True, "totals": {"A": 5, "B": 5}}, "bad_ruling"),
        ({"shot": 9, "valid": True}, "no_shot"),
        ({"shot": 1, "valid": True, "round": 4}, "no_round"),
        ({"totals": {"A": 7, "B": 5}}, "impossible_score"),
    ):
        assert rule(club, **body).error.startswith(code + ":"), body


def test_a_ruling_on_a_shot_stands_over_what_others_correct(club: Club) -> None:
    started(club, shots=3)
    number = club.table().verdict.shot
    assert rule(club, shot=number, valid=False).ok
    verdict = club.table().verdict
    assert (verdict.valid, verdict.ruled) == (False, "seen from above")
    assert club.ask("correct", {"shot": number, "valid": True}).error.startswith("ruled:")
    assert rule(club, shot=number, valid=True, reason="seen again").ok
    assert (club.table().verdict.valid, club.table().verdict.ruled) == (True, "seen again")
    assert club.ask("undo", {}).ok
    assert (club.table().verdict.valid, club.table().verdict.ruled) == (False, "seen from above")


def twenty_shot(world: World) -> int:
    return next(number for number, owner in world.owners.items() if owner != "none" and world.valid[number])


def test_a_ruling_on_a_shot_of_a_finished_round_changes_what_the_round_came_to(club: Club) -> None:
    world = started(club)
    truth = play_round(club, world, "A")
    shot = twenty_shot(world)
    owner = world.owners[shot]
    play_round(club, world, "B")
    second = club.table().rounds[1]
    assert rule(club, round=1, shot=shot, valid=False).ok
    table = club.table()
    assert table.rounds[0].twenties[owner] == truth.twenties[owner] - 1
    assert table.rounds[0].totals[owner] == truth.totals[owner] - 20
    assert table.rounds[0].ruled == (f"shot {shot} a foul: seen from above",)
    assert table.rounds[1] == second
    assert rule(club, round=1, shot=99, valid=False).error.startswith("no_shot:")
    assert rule(club, round=1, shot=shot, valid=True, reason="on the film").ok
    assert club.table().rounds[0].totals == truth.totals
    for totals in (truth.totals[owner] - 20, truth.totals[owner]):
        assert club.ask("undo", {}).ok
        assert club.table().rounds[0].totals[owner] == totals
    assert club.ask("redo", {}).ok
    assert club.ask("redo", {}).ok
    assert club.table().rounds[0].ruled == (f"shot {shot} good: on the film",)


def test_a_ruling_on_totals_stands_over_corrections_and_answers(club: Club) -> None:
    world = started(club)
    play_round(club, world, "A")
    assert rule(club, round=1, totals={"A": 145, "B": 140}).ok
    table = club.table()
    assert table.rounds[0].totals == {"A": 145, "B": 140}
    assert table.rounds[0].ruled == ("totals: seen from above",)
    assert club.ask("correct", {"round": 1, "totals": {"A": 0, "B": 40}}).error.startswith("ruled:")
    assert club.ask("correct", {"round": 1, "side": "A", "twenties": 1}).error.startswith("ruled:")
    assert rule(club, round=1, totals={"A": 140, "B": 145}).ok
    assert club.table().rounds[0].totals == {"A": 140, "B": 145}


def test_a_ruling_before_a_match_has_its_names_stands_when_it_gets_them(club: Club) -> None:
    world = world_on(club, 3, CALM)
    world.start_round()
    for number in range(24):
        world.shoot("AB"[number % 2])
        answer_all(club, world)
    world.finish()
    world.clear()
    assert club.table().round == 2
    assert rule(club, round=1, totals={"A": 145, "B": 140}).ok
    assert club.ask("start", {"level": "judge", "names": {"A": "Ann"}}).ok
    assert club.table().sides["A"].name == "Ann"
    assert club.table().rounds[0].totals == {"A": 145, "B": 140}


def everything_shown(table: Table) -> Table:
    """All but what every request changes."""
    return msgspec.structs.replace(table, rev=0, at_ms=0, seen={}, flash=None, can_undo=True, can_redo=True)


def test_any_number_of_steps_over_the_end_of_rounds_and_games_can_be_taken_back(club: Club) -> None:
    """Rounds ended by people, by clearing and by giving up, a game's end among them, one step after the other."""
    world = started(club, games=3)
    shown = [everything_shown(club.table())]

    def does(request: str, **body: Any) -> None:
        answer = club.ask(request, body, token=REFEREE)
        assert answer.ok, answer.error
        shown.append(everything_shown(club.table()))

    for number in range(24):
        world.shoot("AB"[number % 2])
    shown[0] = everything_shown(club.table())
    does("confirm", round=1)
    does("correct", round=1, totals={"A": 160, "B": 120})
    does("concede", side="B", round=2)
    does("concede", side="B", round=3)
    does("rule", round=1, totals={"A": 160, "B": 180}, reason="counted again")
    does("concede", side="A", what="game")
    does("swap", what="colours")
    does("time_out", round=1)
    does("confirm", round=1)
    does("walk_over", side="B")
    assert club.table().winner == "A"
    steps = len(shown) - 1
    for back in range(1, steps + 1):
        assert club.ask("undo", {}).ok
        assert everything_shown(club.table()) == shown[steps - back], f"{back} steps back"
    for ahead in range(1, steps + 1):
        assert club.ask("redo", {}).ok
        assert everything_shown(club.table()) == shown[ahead], f"{ahead} steps ahead"
    assert not club.table().can_redo
