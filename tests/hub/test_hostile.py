"""Games of hostile players before sensors that err as the real ones do: the truth's score, and few questions.

``make hostile`` plays hundreds; without ``CROKINOLE_HOSTILE_GAMES`` thirty are played.
"""

from __future__ import annotations

import os
import statistics

import pytest

from tests.hub.hostile.evening import Evening, Manners
from tests.hub.hostile.sensors import Errors
from tests.hub.hostile.table import Luck

GAMES = int(os.environ.get("CROKINOLE_HOSTILE_GAMES", "30"))
BUNDLE = 10
WORST = Errors(
    sigma_mm=(0.3, 0.8), honest=1.0, hole_doubt=0.05, outlier=0.0, no_layout=0.05, swapped=0.05, renamed=0.02,
    beam_late=0.1, beam_blind=0.05, chatter=0.05,
)  # fmt: skip


def test_hostile_games_come_to_the_truths_score_with_few_questions() -> None:
    asked = []
    for seed in range(GAMES):
        evening = Evening(seed)
        evening.play()
        assert not evening.mismatches(), (seed, evening.mismatches(), evening.story)
        asked.append(evening.questions)
    assert statistics.median(asked) <= 1
    assert max(asked) <= 3, [seed for seed, count in enumerate(asked) if count > 3]


@pytest.mark.parametrize("rules", ["nca", "match-play"])
@pytest.mark.parametrize("first", range(1000, 1000 + max(BUNDLE, GAMES // 3), BUNDLE))
def test_worse_sensors_cost_questions_and_never_the_score(first: int, rules: str) -> None:
    luck = Luck(foul=0.25, twenty=0.3, leaner=0.08, line=0.3, graze=0.03, near_miss=0.03)
    manners = Manners(finger=0.2, lift_late=0.5, leave_foul=0.4, nudge=0.2, answer_late=0.6, concede=0.1)
    for seed in range(first, first + BUNDLE):
        evening = Evening(seed, luck=luck, manners=manners, errors=WORST, rules=rules, rounds=2)
        evening.play()
        assert not evening.mismatches(), (seed, evening.mismatches(), evening.story)
