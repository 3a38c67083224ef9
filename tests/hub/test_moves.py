"""A match goes on at another board: what it takes along, when it may, and that it is never at none or two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hub.referee
from hub.desk import Desk
from tests.hub.harness import TOKEN, Club
from tests.hub.test_asks import shown
from tests.hub.test_evening import ORGANISER, begun, proven
from tests.hub.test_games import answer_all, play_round, world_on
from tests.hub.world import Habits


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path, ("b1", "b2", "b3"))
    yield club
    proven(club)


def moved(club: Club, **more: Any) -> Any:
    return club.ask("move", {"to": "b2", **more}, token=ORGANISER)


def kept(club: Club, board: str) -> Any:
    """What a match takes along."""
    table = club.table(board)
    sides = {
        key: (side.name, side.colour, side.score, side.total_twenties, side.hammer) for key, side in table.sides.items()
    }
    return (
        table.match_id,
        sides,
        table.rounds,
        table.round,
        table.opener,
        table.seats,
        table.level,
        table.rules,
        table.event,
    )


def test_a_match_goes_on_at_another_board_with_all_that_counts(club: Club) -> None:
    begun(club, rounds=2, event={"name": "Club night", "table": "7"})
    before = kept(club, "b1")
    assert moved(club).ok
    assert kept(club, "b2") == before
    assert (club.table("b1").phase, club.table("b1").sides, club.table("b1").can_undo) == ("idle", {}, False)
    assert "b2" in club.table("b1").message
    assert "b1" in club.table("b2").message
    club.restart()
    assert kept(club, "b2") == before
    truth = play_round(club, world_on(club, 5, Habits(foul=0.0), "b2"), "A", "b2")
    table = club.table("b2")
    assert [r.number for r in table.rounds] == [1, 2, 3]
    assert table.rounds[-1].totals == truth.totals


def test_who_has_swapped_seats_and_colours_plays_on_so(club: Club) -> None:
    begun(club)
    assert club.ask("swap", {"what": "seats"}).ok
    assert club.ask("swap", {"what": "colours"}).ok
    before = kept(club, "b1")
    assert moved(club).ok
    assert kept(club, "b2") == before
    assert club.table("b2").sides["A"].colour == "dark"


def test_both_journals_tell_of_a_move_and_by_whom(club: Club) -> None:
    begun(club)
    assert moved(club).ok
    assert club._journal is not None
    leaving = [line for line in club._journal.entries("b1") if line.kind == "move"]
    coming = [line for line in club._journal.entries("b2") if line.kind == "arrived"]
    assert [line.who for line in leaving] == ["organiser:all"]
    told = msgspec.json.decode(coming[0].body)
    assert (told["board"], told["who"]) == ("b1", "organiser:all")


def test_a_round_that_has_begun_moves_only_to_be_played_again_from_its_first_shot(club: Club) -> None:
    world = begun(club)
    opener, match = club.table().opener, club.table().match_id
    world.start_round()
    world.shoot("B")
    world.shoot("A")
    answer_all(club, world)
    refused = moved(club)
    assert refused.error.startswith("round_running: round 2 has begun")
    assert shown(club.table("b2"))[0] == "idle"
    assert moved(club, restart=True, round=1).error.startswith("stale:")
    assert moved(club, restart=True, round=2).ok
    table = club.table("b2")
    assert (table.match_id, table.round, table.shot, table.phase) == (match, 2, 0, "round")
    assert table.opener == opener
    assert {side.shots_left for side in table.sides.values()} == {12}
    assert "round 2 is played again" in table.message


def test_a_round_that_is_played_is_confirmed_before_it_moves(club: Club) -> None:
    world = begun(club, rounds=0)
    world.start_round()
    for number in range(24):
        world.shoot("AB"[number % 2])
    world.lift()
    world.layout()
    answer_all(club, world)
    assert moved(club, restart=True).error.startswith("not_confirmed: round 1 is played")
    assert club.ask("confirm", {"round": 1}).ok
    assert moved(club).ok
    assert [r.number for r in club.table("b2").rounds] == [1]


def test_a_match_moves_only_to_a_free_board_that_is_known(club: Club) -> None:
    begun(club)
    assert club.ask("start", {}, "b2").ok
    assert moved(club).error.startswith("not_free: b2 is not free")
    for to, code in (("b9", "no_board"), ("b1", "same_board")):
        assert club.ask("move", {"to": to}, token=ORGANISER).error.startswith(f"{code}:")
    assert club.ask("move", {"to": "b2"}, "b3", token=ORGANISER).error.startswith("not_free:")
    assert club.ask("abandon", {}, "b2").ok
    assert club.ask("move", {"to": "b2"}, "b3", token=ORGANISER).error.startswith("no_match:")
    assert moved(club).ok


def test_a_table_moves_a_match_only_with_a_token_of_both(club: Club) -> None:
    begun(club)
    assert club.ask("move", {"to": "b2"}).error.startswith("other_board:")
    assert club.ask("move", {"to": "b2", "there": f"{TOKEN}-b3"}).error.startswith("other_board:")
    assert club.ask("move", {"to": "b2", "there": f"{TOKEN}-b2"}).ok
    assert club._journal is not None
    assert not any(TOKEN.encode() in line.body for board in ("b1", "b2") for line in club._journal.entries(board))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_hub_that_dies_while_a_match_moves_has_it_at_one_board(club: Club, when: str) -> None:
    begun(club)
    before = kept(club, "b1")
    club.dies(when)
    with pytest.raises(KeyError):
        moved(club)
    club.start()
    boards = [board for board in ("b1", "b2") if club.table(board).match_id]
    assert boards == ["b1" if when == "before" else "b2"]
    assert kept(club, boards[0]) == before


def test_a_match_that_came_is_corrected_and_taken_back_where_it_is_now(club: Club) -> None:
    begun(club)
    assert moved(club).ok
    assert club.ask("undo", {}, "b2").error.startswith("nothing_to_undo:")
    assert club.ask("undo", {}).error.startswith("nothing_to_undo:")
    was = club.table("b2").rounds
    assert club.ask("correct", {"round": 1, "totals": {"A": 100, "B": 165}}, "b2").ok
    assert club.table("b2").rounds[0].totals == {"A": 100, "B": 165}
    assert club.ask("undo", {}, "b2").ok
    assert club.table("b2").rounds == was
    assert moved_back(club).ok
    assert club.table("b1").rounds == was


REFEREE = f"{TOKEN}-referee"


def ruling(shot: int, *, valid: bool, round_: int = 1, reason: str = "on the film") -> dict[str, Any]:
    return {"round": round_, "shot": shot, "valid": valid, "reason": reason}


def twenty_shot(club: Club, board: str = "b1") -> tuple[int, str]:
    """A whole round: the number of a shot that was a 20, and whose."""
    opener = club.table(board).opener
    world = world_on(club, 5, Habits(foul=0.0, twenty=0.4, opponents_twenty=0.0), board)
    world.start_round()
    found = (0, "")
    for number in range(24):
        side = opener if number % 2 == 0 else "AB".replace(opener, "")
        world.shoot(side)
        answer_all(club, world, board)
        verdict = club.table(board).verdict
        if verdict is not None and verdict.code == "twenty":
            found = (number + 1, side)
    world.lift()
    answer_all(club, world, board)
    world.clear()
    assert club.table(board).rounds[-1].twenties[found[1]]
    return found


def test_the_referee_rules_on_a_shot_of_a_round_that_was_played_at_the_board_before(club: Club) -> None:
    begun(club, rounds=0)
    shot, side = twenty_shot(club)
    was = club.table().rounds
    assert moved(club).ok
    play_round(club, world_on(club, 6, Habits(foul=0.0), "b2"), club.table("b2").opener, "b2")
    later = club.table("b2").rounds[1]
    assert club.ask("rule", ruling(shot, valid=False), "b2", token=REFEREE).ok
    first, second = club.table("b2").rounds
    assert first.twenties[side] == was[0].twenties[side] - 1
    assert first.ruled == (f"shot {shot} a foul: on the film",)
    assert second == later, "what was played here since stays"
    club.restart()
    assert club.ask("rule", ruling(shot, valid=True, reason="looked again"), "b2", token=REFEREE).ok
    assert club.table("b2").rounds[0].twenties == was[0].twenties
    for twenties in (was[0].twenties[side] - 1, was[0].twenties[side]):
        assert club.ask("undo", {}, "b2").ok
        assert club.table("b2").rounds[0].twenties[side] == twenties
    assert club.table("b2").rounds[0].ruled == ()
    for _ in range(2):
        assert club.ask("redo", {}, "b2").ok
    assert club.table("b2").rounds[0].ruled == (f"shot {shot} good: looked again",)
    assert (
        club.ask("rule", ruling(99, valid=True), "b2", token=REFEREE).error == "no_shot: there is no shot 99 in round 1"
    )


def test_the_referee_rules_on_any_shot_wherever_the_match_has_been(club: Club) -> None:
    begun(club, rounds=0)
    shot, side = twenty_shot(club)
    assert club.ask("rule", ruling(shot, valid=False, reason="seen there"), token=REFEREE).ok
    assert club.ask("correct", {"side": "A", "twenties": 3}).ok
    assert club.ask("undo", {}).ok
    assert moved(club).ok
    there, other = twenty_shot(club, "b2")
    was = club.table("b2").rounds
    assert club.ask("move", {"to": "b3"}, "b2", token=ORGANISER).ok
    assert club.table("b3").rounds == was
    assert club.ask("rule", ruling(there, valid=False, round_=2), "b3", token=REFEREE).ok
    assert club.ask("rule", ruling(shot, valid=True), "b3", token=REFEREE).ok
    first, second = club.table("b3").rounds
    assert first.twenties[side] == was[0].twenties[side] + 1
    assert second.twenties[other] == was[1].twenties[other] - 1
    assert (first.ruled, second.ruled) == ((f"shot {shot} good: on the film",), (f"shot {there} a foul: on the film",))
    assert moved(club, to="b1").error.startswith("no_match:")
    assert club.ask("move", {"to": "b1"}, "b3", token=ORGANISER).ok
    assert club.table("b1").rounds == (first, second)
    assert club.ask("rule", ruling(shot, valid=False), "b1", token=REFEREE).ok
    assert club.table("b1").rounds[0].twenties == was[0].twenties


def test_a_match_that_came_without_its_lines_is_ruled_on_by_totals_alone(
    club: Club, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(club, rounds=0)
    shot, _ = twenty_shot(club)
    monkeypatch.setattr(Desk, "leaving", lambda *_: None)
    assert moved(club).ok
    assert club.ask("rule", ruling(shot, valid=False), "b2", token=REFEREE).error == (
        "too_long_ago: this round was played at b1; rule on the totals of the round instead"
    )
    told = {"round": 1, "totals": {"A": 160, "B": 165}, "reason": "on the film"}
    assert club.ask("rule", told, "b2", token=REFEREE).ok
    assert club.table("b2").rounds[0].totals == told["totals"]


def test_shots_at_another_board_that_this_edition_reads_otherwise_are_not_judged_again(
    club: Club, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(club, rounds=0)
    shot, _ = twenty_shot(club)
    assert moved(club).ok
    with monkeypatch.context() as changed:
        changed.setattr(hub.referee, "readings", lambda fact, theirs: ((("peg", fact.disc),),))
        assert club.ask("rule", ruling(shot, valid=False), "b2", token=REFEREE).error.startswith("other_edition:")
    assert club.ask("rule", ruling(shot, valid=False), "b2", token=REFEREE).ok


def test_a_match_that_a_first_shot_opened_gets_its_names_and_no_rules_once_it_has_moved(club: Club) -> None:
    world = world_on(club, 4, Habits(foul=0.0))
    world.start_round()
    world.shoot("A")
    answer_all(club, world)
    assert moved(club, restart=True).ok
    told = club.ask("start", {"rules": "nca", "names": {"A": "Ann"}}, "b2")
    assert told.error.startswith("too_long_ago: this match's beginning is no longer kept; it can get names")
    assert club.ask("name", {"names": {"A": "Ann"}}, "b2").ok
    assert club.table("b2").sides["A"].name == "Ann"


def moved_back(club: Club) -> Any:
    return club.ask("move", {"to": "b1"}, "b2", token=ORGANISER)
