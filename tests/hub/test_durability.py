"""Kills, duplicates, delays and reordering change nothing: same score, nothing twice, and the journal can prove it."""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.edition import EDITION
from hub.link.messages import BeamCandidate, Fact
from hub.link.snapshot import Table
from hub.state import TableState
from hub.store.journal import Journal
from hub.table import replay
from tests.hub.conftest import MEMORY
from tests.hub.harness import Club
from tests.hub.test_games import HABITS, answer_all
from tests.hub.world import Habits, World

TMP = MEMORY if MEMORY.is_dir() else None


@dataclass(frozen=True)
class Step:
    """A fact on its way, or what a person asked."""

    source: str = ""
    fact: Fact | None = None
    at_ns: int = 0
    request: str = ""
    body: Any = None


def evening(folder: Path, seed: int, habits: Habits, rounds: int = 1) -> tuple[list[Step], TableState, list[str]]:
    """A game played undisturbed: all that happened, the state it led to, and what was announced."""
    steps: list[Step] = []
    club = Club(folder)

    def send(source: str, fact: Fact, at_ns: int) -> None:
        steps.append(Step(source=source, fact=fact, at_ns=at_ns))
        club.fact(source, fact, at_ns)

    def ask(request: str, body: Any, *_: Any, **__: Any) -> Any:
        steps.append(Step(request=request, body=body))
        return Club.ask(club, request, body)

    club.ask = ask  # type: ignore[method-assign]
    club.ask("start", {"rules": "match-play", "level": "judge"})
    world = World(send, random.Random(seed), habits)
    for opener in "ABAB"[:rounds]:
        world.start_round()
        for number in range(2 * world.dealt):
            world.shoot(opener if number % 2 == 0 else "AB".replace(opener, ""))
            answer_all(club, world)
        world.lift()
        answer_all(club, world)
        world.clear()
    assert club.hub is not None
    state = club.hub.desk.state("b1")
    calls = [call.id for _, call in club.calls]
    club.close()
    return steps, state, calls


def counted(table: Table) -> Any:
    """What an evening comes to, whatever the way there."""
    return (
        [(r.number, r.totals, r.twenties, r.added) for r in table.rounds],
        table.phase,
        table.turn,
        {
            side: (view.score, view.twenties, view.provisional, view.board, view.shots_left)
            for side, view in table.sides.items()
        },
        [q.id for q in table.questions],
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_the_stored_state_is_the_one_that_the_journal_gives(quick_path: Path, seed: int) -> None:
    _, state, _ = evening(quick_path, seed, HABITS["all-at-once"], rounds=2)
    journal = Journal(f"sqlite:///{quick_path / 'hub.sqlite3'}")
    assert replay(TableState("b1", edition=EDITION), journal.entries("b1")) == state
    journal.close()


@settings(max_examples=12, deadline=None)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_a_hub_killed_at_any_moment_goes_on_where_it_was(data: st.DataObject, seed: int) -> None:
    with tempfile.TemporaryDirectory(dir=TMP) as name:
        folder = Path(name)
        (folder / "calm").mkdir()
        steps, state, calls = evening(folder / "calm", seed, HABITS["all-at-once"])
        moments = data.draw(
            st.dictionaries(st.integers(0, len(steps) - 1), st.sampled_from(["now", "before", "after"]), max_size=8)
        )
        club = Club(folder)
        for number, step in enumerate(steps):
            how = moments.get(number)
            if how == "now":
                club.restart()
            elif how is not None:
                club.dies(how)
            if step.fact is not None:
                club.fact(step.source, step.fact, step.at_ns)
            else:
                ask_until_answered(club, step, number)
            if club.hub is None:
                club.restart()
        assert club.hub is not None
        assert club.hub.desk.state("b1") == state
        announced = [call.id for _, call in club.calls]
        assert len(announced) == len(set(announced))
        assert set(announced) <= set(calls)
        club.close()


def ask_until_answered(club: Club, step: Step, number: int) -> None:
    """A phone repeats its request, with the same id and what it saw, until it has an answer."""
    rev = club.rev()
    for _ in range(3):
        try:
            club.ask(step.request, step.body, id=f"step-{number}", rev=rev)
        except KeyError:
            club.restart()
        else:
            return


@settings(max_examples=12, deadline=None)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_duplicates_and_reordering_change_no_score(data: st.DataObject, seed: int) -> None:
    chance = data.draw(st.randoms(use_true_random=False))
    with tempfile.TemporaryDirectory(dir=TMP) as name:
        folder = Path(name)
        (folder / "calm").mkdir()
        steps, _, _ = evening(folder / "calm", seed, HABITS["all-at-once"])
        calm = Club(folder / "calm")
        expected = counted(calm.table())
        calm.close()
        club = Club(folder)
        flying: list[Any] = []

        def land() -> None:
            chance.shuffle(flying)
            for envelope in flying:
                club.publish(envelope)
                if chance.random() < 0.3:
                    club.publish(envelope)
            club.turn()
            flying.clear()

        for step in steps:
            if step.fact is not None:
                flying.append(club.outboxes["b1", step.source].put(step.fact, step.at_ns))
                if chance.random() < 0.3:
                    land()
            else:
                land()
                club.ask(step.request, step.body)
        land()
        club.resend()
        assert counted(club.table()) == expected
        announced = [call.id for _, call in club.calls]
        assert len(announced) == len(set(announced))
        assert not any(outbox.waiting for outbox in club.outboxes.values())
        club.close()


def test_a_beam_whose_facts_come_hours_late_changes_no_score(quick_path: Path) -> None:
    (quick_path / "calm").mkdir()
    steps, _, _ = evening(quick_path / "calm", 7, Habits(twenty=0.5, opponents_twenty=0.3), rounds=2)
    calm = Club(quick_path / "calm")
    expected = [(r.totals, r.twenties) for r in calm.table().rounds]
    calm.close()
    for first in ("camera", "beam"):
        folder = quick_path / first
        folder.mkdir()
        club = Club(folder)
        late: list[Step] = []
        for step in steps:
            if step.fact is None:
                club.ask(step.request, step.body)
            elif step.source == first:
                club.fact(step.source, step.fact, step.at_ns)
            else:
                late.append(step)
        for step in late:
            assert step.fact is not None
            club.fact(step.source, step.fact, step.at_ns)
        assert [(r.totals, r.twenties) for r in club.table().rounds] == expected
        club.close()


def test_a_beam_that_comes_after_the_last_round_lights_nothing_up(quick_path: Path) -> None:
    (quick_path / "calm").mkdir()
    steps, _, _ = evening(quick_path / "calm", 7, Habits(twenty=0.5, finger=0.5), rounds=2)
    calm = Club(quick_path / "calm")
    expected = counted(calm.table())
    calm.close()
    club = Club(quick_path)
    late = [step for step in steps if step.source == "beam"]
    for step in [*(step for step in steps if step.source != "beam"), *late]:
        if step.fact is None:
            club.ask(step.request, step.body)
        else:
            club.fact(step.source, step.fact, step.at_ns)
    assert any(isinstance(step.fact, BeamCandidate) for step in late)
    assert all(view.provisional == 0 for view in club.table().sides.values())
    assert counted(club.table())[0] == expected[0]
    club.close()
