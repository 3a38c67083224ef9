"""The measurement measures what it says."""

from __future__ import annotations

from hub.rules.bench import bench, crowded_shot, game_of, replay
from hub.rules.position import position_from, shot_from
from hub.rules.presets import load_ruleset
from hub.rules.shot import judge_shot


def test_the_crowded_shot_has_24_discs_and_30_events() -> None:
    crowded = crowded_shot()
    assert len(crowded["discs"]) + 1 == 24
    assert len(crowded["shot"]["events"]) == 30
    verdict = judge_shot(position_from(crowded["discs"]), shot_from(crowded["shot"]), load_ruleset("classic"))
    assert (verdict.valid, verdict.removed) == (True, {"B10"})


def test_the_recorded_game_has_20_rounds_of_24_shots() -> None:
    shots = game_of(20)
    assert len(shots) == 480
    assert replay([shot_from(table) for table in shots]) == 20


def test_every_figure_is_there() -> None:
    assert sorted(bench(repeats=1)) == [
        "game_json_ms",
        "game_ms",
        "game_ratio",
        "shot_json_us",
        "shot_ratio",
        "shot_us",
    ]
