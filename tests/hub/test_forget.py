"""A person who wants to be forgotten, and what a club sets for matches that begin by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.link.asks import REQUESTS
from hub.link.config import Config, ConfigError, HubSection, parse_config
from hub.link.messages import encode
from hub.link.snapshot import StandingView
from hub.people.errands import MATCHES_TOLD
from hub.people.roles import DeniedError, Grant, People, digest
from hub.proof import prove
from hub.rules.presets import load_ruleset
from hub.service import standing_of
from hub.state import Standing, rules_table
from hub.store.archive import MatchRecord
from hub.store.journal import Batch, MatchRow
from hub.store.reader import JournalReader
from tests.hub.harness import TOKEN, Club
from tests.hub.test_games import world_on
from tests.hub.world import Habits

ORGANISER = f"{TOKEN}-organiser"


def proven(club: Club) -> None:
    club.close()
    with JournalReader(club.url) as journal:
        for board in journal.boards():
            assert prove(journal, board).unequal == ()


def test_a_forgotten_person_is_gone_from_names_and_snapshots_and_the_score_stays(quick_path: Path) -> None:
    club = Club(quick_path, ("b1", "b2", "b3"))
    for board, names in (("b1", {"A": "Ann", "B": "Ben"}), ("b2", {"A": "Cem", "B": "Ann"}), ("b3", {"A": "Cem"})):
        assert club.ask("start", {"names": names}, board).ok
    assert club.ask("correct", {"side": "A", "twenties": 3}).ok
    answer = club.ask("forget", {"name": " Ann "}, "hub", token=ORGANISER)
    assert answer.ok
    assert answer.body["boards"] == ["b1", "b2"]
    assert [view.name for view in club.table("b1").sides.values()] == ["light", "Ben"]
    assert [view.name for view in club.table("b2").sides.values()] == ["Cem", "dark"]
    assert club.table("b1").sides["A"].twenties == 3
    assert not any(b"Ann" in payload for payload in club.broker.retained.values())
    club.restart()
    assert club._journal is not None
    assert "Ann" not in club._journal.players().values()
    assert [view.name for view in club.table("b1").sides.values()] == ["light", "Ben"]
    assert club.ask("undo", {}).ok
    assert club.table("b1").sides["A"].name == "light"
    proven(club)
    assert not any(b"Ann" in file.read_bytes() for file in quick_path.iterdir() if file.suffix == ".sqlite3")


def test_who_plays_under_a_forgotten_name_again_is_somebody_new(quick_path: Path) -> None:
    club = Club(quick_path, ("b1", "b2"))
    assert club.ask("start", {"names": {"A": "Ann", "B": "Ben"}}).ok
    assert club.ask("forget", {"name": "Ann"}, "hub", token=ORGANISER, id="once").ok
    assert club.ask("start", {"names": {"A": "Ann"}}, "b2").ok
    again = club.ask("forget", {"name": "Ann"}, "hub", token=ORGANISER, id="once")
    assert again.ok  # the answer to the first, which is not done twice
    assert club.table("b2").sides["A"].name == "Ann"
    assert club.table("b1").sides["A"].name == "light"
    proven(club)


@pytest.mark.parametrize("name", ["Ann", "Dan"], ids=["shown", "shown nowhere"])
def test_a_person_is_forgotten_once_also_when_the_hub_dies_before_its_answer_arrives(
    quick_path: Path, name: str
) -> None:
    club = Club(quick_path, ("b1", "b2"))
    assert club.ask("start", {"names": {"A": "Dan"}}, "b2").ok
    assert club.ask("name", {"names": {"A": "Cem"}}, "b2").ok
    assert club.ask("start", {"names": {"A": "Ann", "B": "Ben"}}).ok
    first = club.ask("forget", {"name": name}, "hub", token=ORGANISER, id="once")
    assert first.ok
    club.restart()
    again = club.ask("forget", {"name": name}, "hub", token=ORGANISER, id="once")
    assert (again.ok, again.body) == (True, first.body)
    proven(club)


def test_a_person_of_ten_thousand_matches_is_forgotten_with_an_answer_that_can_be_sent(quick_path: Path) -> None:
    club = Club(quick_path)
    assert club.ask("start", {"names": {"A": "Ann"}}).ok
    assert club._journal is not None
    player = next(iter(club._journal.players()))
    batch = Batch()
    for number in range(10_000):
        record = MatchRecord(f"b1-{number:05}", "b1", number, "NCA", {"B": player}, (), {}, None, over=True)
        row = MatchRow(record.id, "b1", number, number, over=True, record=encode(record))
        batch.matches[record.id] = row
    club._journal.write(batch)
    answer = club.ask("forget", {"name": "Ann"}, "hub", token=ORGANISER)
    assert answer.ok
    told = answer.body["matches"]
    assert told[:MATCHES_TOLD] == [f"b1-{number:05}" for number in range(10_000 - MATCHES_TOLD, 10_000)]
    assert "Ann" not in club._journal.players().values()
    club.close()


def test_nobody_is_forgotten_who_is_not_known(quick_path: Path) -> None:
    club = Club(quick_path)
    assert club.ask("forget", {"name": "Zoe"}, "hub", token=ORGANISER).error.startswith("no_person:")
    assert club.ask("forget", {"name": ""}, "hub", token=ORGANISER).error.startswith("no_person:")
    proven(club)


def test_only_an_organiser_lets_people_be_forgotten_and_only_at_the_hub() -> None:
    people = People()
    for role in ("table", "referee", "organiser"):
        people.grants[digest(role)] = Grant(role, "")
    assert people.allow("organiser", "hub", "forget", 0).role == "organiser"
    for token, board, request, code in (
        ("referee", "hub", "forget", "not_allowed"),
        ("table", "hub", "forget", "not_allowed"),
        ("organiser", "b1", "forget", "not_here"),
        ("organiser", "hub", "start", "not_here"),
    ):
        with pytest.raises(DeniedError) as denied:
            people.allow(token, board, request, 0)
        assert denied.value.code == code
    people.grants[digest("one-board")] = Grant("organiser", "b1")
    with pytest.raises(DeniedError, match="other_board"):
        people.allow("one-board", "hub", "forget", 0)


def test_everybody_at_a_table_may_ask_all_but_rulings_and_what_concerns_the_club() -> None:
    people = People()
    people.grants[digest("table")] = Grant("table", "b1")
    refused = set()
    for request in REQUESTS:
        try:
            people.allow("table", "b1", request, 0)
        except DeniedError:
            refused.add(request)
    assert refused == {"rule", "forget", "close", "invite", "login"}


def test_a_first_shot_opens_a_match_under_what_the_club_set(quick_path: Path) -> None:
    standing = Standing(rules_table(load_ruleset("nca")), "advise")
    club = Club(quick_path, standing=standing)
    world = world_on(club, 3, Habits(foul=0.0))
    world.start_round()
    world.shoot("A")
    table = club.table()
    assert (table.rules, table.level, table.sides["A"].shots_left) == ("NCA", "advise", 7)
    assert table.standing == StandingView("nca", "advise")
    assert club.ask("abandon", {}).ok
    world.clear()
    club.standing = Standing(rules_table(load_ruleset("family")), "count")
    club.restart()
    world.start_round()
    world.shoot("B")
    assert (club.table().rules, club.table().level) == ("Family", "count")
    assert club.table().standing == StandingView("family", "count")
    club.close()
    with JournalReader(club.url) as journal:
        proof = prove(journal, "b1")
        assert proof.unequal == ()
        assert sum(entry.kind == "standing" for entry in journal.entries("b1")) == 2


def test_a_club_that_sets_nothing_has_match_play_and_no_line_about_it(quick_path: Path) -> None:
    club = Club(quick_path, standing=standing_of(Config()))
    world = world_on(club, 3, Habits(foul=0.0))
    world.start_round()
    world.shoot("A")
    assert (club.table().rules, club.table().level) == ("Match play", "count")
    assert club._journal is not None
    assert not any(entry.kind == "standing" for entry in club._journal.entries("b1"))
    club.close()


def test_standing_rules_are_a_name_or_a_file(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('base = "wcc"\ntitle = "Ours"\ndiscs = "10/5"\n')
    standing = standing_of(Config(hub=HubSection(standing_rules=str(own), standing_level="judge")))
    assert (standing.rules["title"], standing.rules["discs"], standing.level) == ("Ours", "10/5", "judge")
    with pytest.raises(ConfigError, match=r"standing_rules: no rules are called 'clasic', did you mean 'classic'"):
        standing_of(Config(hub=HubSection(standing_rules="clasic")))
    with pytest.raises(ConfigError, match=r"standing_rules: .*cannot be read"):
        standing_of(Config(hub=HubSection(standing_rules=str(tmp_path / "none.toml"))))
    with pytest.raises(ConfigError, match="standing_level"):
        parse_config('[hub]\nstanding_level = "guess"\n', "c.toml")
