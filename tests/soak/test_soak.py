"""Evenings in a storm at real processes: the score is the undisturbed one, nothing is said twice, no row is lost.

``make soak`` runs forty seeds for about ten minutes; without ``CROKINOLE_SOAK_SEEDS`` there are a few short ones.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

import pytest

from hub.replay import run as replay
from tests.hub.conftest import MEMORY
from tests.hub.harness import Club as CalmClub
from tests.hub.test_durability import counted, evening
from tests.hub.test_games import HABITS
from tests.soak.storm import club_at, live_through, missing_rows, settled

SEEDS = int(os.environ.get("CROKINOLE_SOAK_SEEDS", "0"))
BROKERS = ("forgetful", "persistent", "embedded")
LONG = [(seed, BROKERS[seed % 3]) for seed in range(1, SEEDS + 1)]
SHORT = [(101, "forgetful"), (102, "persistent")]


@pytest.mark.parametrize(("seed", "broker"), LONG or SHORT)
def test_an_evening_in_a_storm_comes_to_the_same(seed: int, broker: str, tmp_path: Path) -> None:
    rng = random.Random(seed)
    habits = HABITS[rng.choice(list(HABITS))] if SEEDS else HABITS["all-at-once"]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as calm:
        steps, _, _ = evening(Path(calm), seed, habits, rounds=2 if SEEDS else 1)
        undisturbed = CalmClub(Path(calm))
        expected = counted(undisturbed.table())
        undisturbed.close()
    with club_at(broker, tmp_path) as club:
        storm = live_through(club, steps, rng, rate=0.15)
        table = settled(club, lambda seen: counted(seen) == expected)
        assert counted(table) == expected, storm.done
        club.close()
        announced = [call.id for call in club.heard.calls]
        assert len(announced) == len(set(announced)), storm.done
        assert missing_rows(tmp_path) == [], storm.done
        assert replay(club.url) == 0
