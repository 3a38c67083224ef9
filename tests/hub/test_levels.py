"""The level of a match: no higher than what the board's sensors can tell, now and for every shot."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.link import topics
from hub.link.messages import Health, encode
from hub.proof import prove
from hub.store.reader import JournalReader
from tests.hub.harness import TOKEN, Club, S
from tests.hub.table_bench import Bench, twenties

ALL = ("layout", "hands", "shots", "contacts")


def camera_can(bench: Bench, *able: str, board: str = "b1", since_ns: int = 0, boot: str = "") -> None:
    health = Health(version="1", capabilities=able, machine_boot=boot, able_since_ns=since_ns)
    bench.club.bus.publish(topics.health(board, "camera"), encode(health), retain=True)
    bench.club.turn()


def camera_has(bench: Bench, *faults: str) -> None:
    health = Health(version="1", capabilities=ALL, faults=faults)
    bench.club.bus.publish(topics.health("b1", "camera"), encode(health), retain=True)
    bench.club.turn()


def camera_is(bench: Bench, status: bytes) -> None:
    bench.club.bus.publish(topics.status("b1", "camera"), status, retain=True)
    bench.club.turn()


@pytest.mark.parametrize(
    ("able", "asked", "level"),
    [
        (("layout", "hands", "shots", "contacts"), "judge", "judge"),
        (("layout", "hands", "shots"), "judge", "advise"),
        (("layout", "hands", "shots"), "advise", "advise"),
        (("layout", "hands", "shots"), "count", "count"),
        (("layout", "hands"), "judge", "count"),
        (("hands",), "advise", "count"),
        ((), "judge", "judge"),
    ],
)
def test_a_level_is_no_higher_than_the_camera_can_tell(
    bench: Bench, able: tuple[str, ...], asked: str, level: str
) -> None:
    camera_can(bench, *able)
    bench.start(level=asked)
    assert bench.table.level == level
    told = f"level {level} instead of {asked}: this board's camera cannot tell enough for it"
    assert (bench.table.message == told) == (level != asked)
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert twenties(bench)["B"] == (level == "count")
    assert [q.kind for q in bench.table.questions] == ["valid"] * (level == "advise")


def test_a_camera_that_can_tell_less_lowers_the_level_at_once_and_one_that_can_tell_more_raises_it(
    bench: Bench,
) -> None:
    camera_can(bench, *ALL)
    bench.start(level="judge")
    bench.shoot("A", (60, 10))
    camera_can(bench, "layout", "hands", "shots")
    assert bench.table.level == "advise"
    assert bench.table.message == "level advise instead of judge: this board's camera cannot tell enough for it"
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert [q.kind for q in bench.table.questions] == ["valid"]
    bench.answer("no")
    bench.off("d2")
    camera_can(bench, *ALL)
    assert (bench.table.level, bench.table.message) == ("judge", "level judge again: the camera tells enough for it")
    bench.shoot("A", (70, 90))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert (bench.table.questions, twenties(bench)) == ((), {"A": 0, "B": 0})


@pytest.mark.parametrize(
    ("first", "then", "boot", "valid", "questions"),
    [
        (ALL, ALL[:3], "machine-1", False, []),  # it was shot while the camera told contacts: a foul
        (ALL[:3], ALL, "machine-1", True, ["valid"]),  # it was shot while it did not: people say
        (ALL, ALL[:2], "machine-1", False, []),
        (ALL, ALL[:3], "machine-2", True, ["valid"]),  # times that cannot be compared: the level of now
        (ALL, ALL[:3], "", True, ["valid"]),  # an older board does not say when
    ],
)
def test_a_shot_that_comes_late_is_judged_at_the_level_under_which_it_was_shot(
    bench: Bench, first: tuple[str, ...], then: tuple[str, ...], boot: str, *, valid: bool, questions: list[str]
) -> None:
    camera_can(bench, *first)
    bench.start(level="judge")
    bench.shoot("A", (60, 10))
    changed_ns = bench.at_ns + 60 * S
    camera_can(bench, *then, since_ns=changed_ns, boot=boot)  # while the shot still waits in the board's outbox
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert bench.at_ns < changed_ns
    assert [q.kind for q in bench.table.questions] == questions
    assert twenties(bench)["B"] == 0
    if not valid:
        assert [(r.why, r.disc) for r in bench.table.remove] == [("foul", "d2")]
    else:
        bench.answer("no")
    bench.off("d2")
    bench.at_ns = changed_ns
    bench.shoot("A", (70, 90))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    now = {ALL: [], ALL[:3]: ["valid"], ALL[:2]: []}[then]
    assert [q.kind for q in bench.table.questions] == now
    assert twenties(bench)["B"] == (then == ALL[:2])


def test_the_flick_decides_under_which_level_a_shot_was_shot(bench: Bench) -> None:
    camera_can(bench, *ALL)
    bench.start(level="judge")
    bench.shoot("A", (60, 10))
    camera_can(bench, *ALL[:3], since_ns=bench.at_ns + 6 * S, boot="machine-1")
    bench.shoot("B", "hole", ("hole", "s"), beam=True)  # flicked 5 s later, at rest 7 s later
    assert bench.table.questions == ()
    assert [r.why for r in bench.table.remove] == ["foul"]


def test_a_level_that_falls_and_rises_again_is_known_for_every_late_shot(bench: Bench) -> None:
    camera_can(bench, *ALL)
    bench.start(level="judge")
    bench.shoot("A", (60, 10))
    dusk_ns = bench.at_ns + 20 * S
    camera_can(bench, *ALL[:3], since_ns=dusk_ns, boot="machine-1")
    camera_can(bench, *ALL, since_ns=dusk_ns + 60 * S, boot="machine-1")
    bench.at_ns = dusk_ns
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert [q.kind for q in bench.table.questions] == ["valid"]


def test_a_level_never_rises_above_what_was_wanted(bench: Bench) -> None:
    camera_can(bench, "layout", "hands")
    bench.start(level="advise")
    assert bench.table.level == "count"
    camera_can(bench, *ALL)
    assert bench.table.level == "advise"


def test_what_was_judged_at_a_level_stays_so_when_the_level_is_lowered(bench: Bench) -> None:
    camera_can(bench, *ALL)
    bench.start(level="judge")
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"))
    camera_can(bench, "layout", "hands")
    bench.beam(bench.at_ns - 3 * S)  # comes late, and lets the shot be judged again
    assert twenties(bench) == {"A": 0, "B": 0}
    assert [(r.why, r.disc) for r in bench.table.remove] == [("foul", "d2")]


def test_without_its_camera_a_table_only_counts_and_says_so_until_the_camera_is_back(bench: Bench) -> None:
    bench.start(level="judge")
    bench.shoot("A", (60, 10))
    camera_is(bench, b"offline")
    assert (bench.table.level, bench.table.message) == ("count", "level count instead of judge: the camera is away")
    bench.shoot("B", "hole", ("hole", "s"), beam=True)  # seen before it went, and told late
    assert twenties(bench) == {"A": 0, "B": 0}
    camera_is(bench, b"online")
    assert (bench.table.level, bench.table.message) == ("judge", "")


def test_a_match_that_is_over_keeps_its_level_when_the_camera_is_switched_off(bench: Bench) -> None:
    bench.start(level="judge")
    bench.shoot("A", (60, 10))
    assert bench.club.ask("walk_over", {"side": "B"}).ok
    camera_is(bench, b"offline")
    assert (bench.table.phase, bench.table.level) == ("match_over", "judge")


def test_a_board_without_a_camera_says_that_it_only_counts(quick_path: Path) -> None:
    club = Club(quick_path, ())
    assert club.ask("start", {"level": "judge"}, "b9", token=f"{TOKEN}-organiser").ok
    table = club.table("b9")
    assert (table.level, table.message) == ("count", "level count instead of judge: this board has no camera")
    club.close()


def test_a_match_that_moves_has_the_level_of_its_new_board(quick_path: Path) -> None:
    club = Club(quick_path, ("b1", "b2"))
    bench = Bench(club)
    camera_can(bench, *ALL)
    camera_can(bench, "layout", "hands", board="b2")
    bench.start(level="judge")
    assert club.ask("move", {"to": "b2"}, token=f"{TOKEN}-organiser").ok
    assert club.table("b2").level == "count"
    assert "level count instead of judge" in club.table("b2").message
    assert club.ask("move", {"to": "b1"}, "b2", token=f"{TOKEN}-organiser").ok
    assert club.table("b1").level == "judge"
    club.close()
    with JournalReader(club.url) as journal:
        assert [prove(journal, board).unequal for board in journal.boards()] == [(), ()]


def test_a_camera_that_cannot_read_the_board_leaves_the_table_to_people_and_says_so(bench: Bench) -> None:
    bench.start(level="judge")
    bench.shoot("A", (60, 10))
    camera_has(bench, "unreadable")
    told = "level count instead of judge: the camera cannot read the board, so people tell what lies there"
    assert (bench.table.level, bench.table.message) == ("count", told)
    camera_has(bench)
    assert (bench.table.level, bench.table.message) == ("judge", "")
