"""Journals and states that somebody's hand or a dying disk has damaged: the hub starts, says so once, and goes on."""

from __future__ import annotations

import logging
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.link.messages import Button, Hand
from hub.replay import run
from hub.store.archive import Archive
from tests.hub.harness import Club
from tests.hub.test_games import play_round
from tests.hub.world import Habits, World

NO_STATES = "UPDATE tables SET state = x'00'"


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    """A match with a round played, whose hub is down."""
    club = Club(quick_path)
    club.ask("start", {"rules": "match-play", "level": "judge"})
    play_round(club, World(club.fact, random.Random(3), Habits()), "A")
    club.ask("pause", {})
    club.kill()
    yield club
    club.close()


def damage(club: Club, *statements: str) -> None:
    database = sqlite3.connect(club.url.removeprefix("sqlite:///"))
    for statement in statements:
        assert database.execute(statement).rowcount > 0, "there must be something to damage"
    database.commit()
    database.close()


@pytest.mark.parametrize(
    "lines",
    [
        "UPDATE journal SET body = x'00ff'",
        "UPDATE journal SET body = x''",
        "UPDATE journal SET body = 'a text'",
        "UPDATE journal SET body = 5",
        "UPDATE journal SET body = 1.5",
        "UPDATE journal SET body = x'00ff' WHERE source = 'people'",
        "UPDATE journal SET body = x'00ff' WHERE source = 'hub'",
        "UPDATE journal SET body = x'00ff' WHERE kind = 'pause'",
        "UPDATE journal SET body = x'00ff' WHERE kind = 'layout'",
        "UPDATE journal SET kind = 'of-tomorrow' WHERE source = 'people'",
        "UPDATE journal SET kind = 'of-tomorrow' WHERE source = 'hub'",
        "UPDATE journal SET kind = 'of-tomorrow' WHERE source = 'camera'",
    ],
)
def test_lines_that_cannot_be_read_are_passed_over_with_one_word(
    club: Club, caplog: pytest.LogCaptureFixture, lines: str
) -> None:
    damage(club, NO_STATES, lines)
    with caplog.at_level(logging.WARNING, logger="hub"):
        club.restart()
    assert club.hub is not None
    assert club.hub.desk.state("b1").unreadable > 0
    told = [r for r in caplog.records if "cannot be read and are passed over" in r.getMessage()]
    assert len(told) == 1
    assert not any(record.exc_info for record in caplog.records)
    before = club.table().seen["camera"].seq
    club.fact("camera", Hand(10**15, present=True), 10**15)
    assert club.table().seen["camera"].seq == before + 1
    club.restart()
    assert club.table().seen["camera"].seq == before + 1


@pytest.mark.parametrize(
    ("line", "told"), [("kind = 'pause'", "request 'pause'"), ("source = 'hub'", "'sensor' of hub cannot be read")]
)
def test_a_proof_names_the_line_that_cannot_be_read(
    club: Club, capsys: pytest.CaptureFixture[str], line: str, told: str
) -> None:
    damage(club, f"UPDATE journal SET body = x'00ff' WHERE {line}")
    assert run(club.url) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("state", ["x''", "x'00'", "'a text'", "7", "1.5"])
def test_a_state_that_is_none_is_made_again_from_the_journal(club: Club, state: str) -> None:
    club.start()
    rounds = club.table().rounds
    club.kill()
    damage(club, f"UPDATE tables SET state = {state}")
    club.start()
    assert club.table().rounds == rounds


@pytest.mark.parametrize("state", ["x'00'", "'a text'", "7"])
@pytest.mark.parametrize("by", ["a phone", "the button"])
def test_a_chapter_whose_beginning_cannot_be_read_cannot_be_undone(club: Club, by: str, state: str) -> None:
    damage(club, f"UPDATE checkpoints SET state = {state}")
    club.restart()
    if by == "a phone":
        assert "too_long_ago" in club.ask("undo", {}).error
    else:
        club.fact("button", Button(10**15, "undo"), 10**15)
        assert "no longer kept" in club.table().message
    assert club.table().rounds, "what was played stands"


@pytest.mark.parametrize("record", ["x'00ff'", "x''", "'{}'", "5"])
def test_a_damaged_record_of_a_match_is_left_out_of_the_archive(
    club: Club, caplog: pytest.LogCaptureFixture, record: str
) -> None:
    archive, match = Archive(club.url), club.table().match_id
    assert archive.match(match) is not None
    damage(club, f"UPDATE matches SET record = {record}")
    with caplog.at_level(logging.WARNING):
        assert archive.match(match) is None
        assert archive.match(match) is None
    archive.close()
    assert sum("cannot be read" in told.getMessage() for told in caplog.records) == 1
