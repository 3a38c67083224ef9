"""How fast the rules are, as absolute times and against ``json.loads`` of the same events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from hub.rules.game import RoundCounted, ShotTaken, apply, begin
from hub.rules.order import GameSetup
from hub.rules.position import Position, Shot, position_from, shot_from
from hub.rules.presets import load_ruleset
from hub.rules.shot import judge_shot


def crowded_shot() -> dict[str, Any]:
    """A shot among 24 discs with 30 events, as a case file would tell it."""
    discs = [
        {"id": f"{side}{k}", "side": side, "r_mm": 40 + 20 * k, "angle_deg": 30 * k + (15 if side == "B" else 0)}
        for side, count in (("A", 11), ("B", 12))
        for k in range(count)
    ]
    events = [["hit", "s", "A1"]]
    for k in range(2, 11):
        events += [["hit", f"A{k - 1}", f"A{k}"], ["peg", f"A{k}"], ["hit", f"A{k}", f"B{k}"]]
    events += [["off", "B10"], ["back", "B10"]]
    rest: dict[str, Any] = {f"A{k}": {"r_mm": 60 + 18 * k, "angle_deg": 33 * k} for k in range(1, 11)}
    rest |= {"s": {"r_mm": 150, "angle_deg": 5}, "B10": {"r_mm": 200, "angle_deg": 100}}
    return {
        "discs": discs,
        "banked": {"A": 0, "B": 0},
        "shot": {
            "side": "A",
            "seat": 1,
            "disc": "s",
            "placed": {"r_mm": 304.8, "angle_deg": 0},
            "events": events,
            "rest": rest,
        },
    }


def game_of(rounds: int) -> list[dict[str, Any]]:
    """The shots of a game of 24 shots a round; each round leaves a few discs and some 20s."""
    shots: list[dict[str, Any]] = []
    for number in range(rounds):
        sides = ("A", "B") if number % 2 == 0 else ("B", "A")
        for k in range(24):
            side = sides[k % 2]
            disc = f"{number}-{k}"
            events = [["hit", disc, f"{number}-{k - 1}"], ["off", f"{number}-{k - 1}"]] if k else []
            rest: dict[str, Any] = {disc: {"r_mm": 60.0 if k == 0 else 150.0, "angle_deg": 15.0 * k}}
            if k:
                rest[f"{number}-{k - 1}"] = "ditch"
            seat = {"A": 1, "B": 3}[side]
            shots.append({"side": side, "seat": seat, "disc": disc, "events": events, "rest": rest})
    return shots


def replay(shots: list[Shot], rules: str = "source-b") -> int:
    """Play a game of recorded shots to its end; the number of rounds counted."""
    ruleset = load_ruleset({"base": rules, "game_end": "rounds 20"})
    state = begin(GameSetup(ruleset))
    for shot in shots:
        state = apply(state, ShotTaken(shot)).state
        if state.turn is None and not state.score.over:
            state = apply(state, RoundCounted()).state
    return len(state.rounds)


def bench(repeats: int = 7) -> dict[str, float]:
    """Best processor times of a few repeats; a busy machine does not blur them much.

    Returns:
        ``shot_us`` (judging a shot with 24 discs and 30 events), ``shot_json_us`` (``json.loads`` of it),
        ``shot_ratio``, and the same with ``game_ms``, ``game_json_ms``, ``game_ratio`` for a game of 20 rounds.
    """
    crowded = crowded_shot()
    text = json.dumps(crowded)
    position: Position = position_from(crowded["discs"], crowded["banked"])
    shot = shot_from(crowded["shot"])
    ruleset = load_ruleset("classic")
    shots = game_of(20)
    game_text = json.dumps(shots)
    taken = [shot_from(table) for table in shots]
    shot_s = _best(lambda: judge_shot(position, shot, ruleset), repeats, 300)
    shot_json_s = _best(lambda: json.loads(text), repeats, 300)
    game_s = _best(lambda: replay(taken), repeats, 1)
    game_json_s = _best(lambda: json.loads(game_text), repeats, 3)
    return {
        "shot_us": shot_s * 1e6,
        "shot_json_us": shot_json_s * 1e6,
        "shot_ratio": shot_s / shot_json_s,
        "game_ms": game_s * 1e3,
        "game_json_ms": game_json_s * 1e3,
        "game_ratio": game_s / game_json_s,
    }


def _best(run: Callable[[], object], repeats: int, times: int) -> float:
    best_s = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(times):
            run()
        best_s = min(best_s, (time.process_time() - start) / times)
    return best_s
