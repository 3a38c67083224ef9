"""Run the worked cases of shots, rounds and games: what ``crokinole verify`` does for them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from hub.rules.errors import RulesError
from hub.rules.order import GameSetup, deciding_sides, extra_shot, opener_of, order_of_round
from hub.rules.position import Place, position_from, shot_from
from hub.rules.presets import load_ruleset
from hub.rules.ruleset import Ruleset
from hub.rules.scoring import new_game, play_round, score_round
from hub.rules.seats import SEATS, seat_of
from hub.rules.shot import judge_shot

Kind = Literal["shot", "round", "game", "beam", "unknown"]
Case = Mapping[str, Any]


class CaseFileError(ValueError):
    """A file that cannot be read as a list of worked cases; one line says what and where."""


def load_cases(path: Path) -> list[Case]:
    """The cases of a file.

    Raises:
        CaseFileError: it cannot be read, is no JSON, or is no list of objects with ``id``, ``given`` and ``expect``.
    """
    try:
        cases = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CaseFileError(f"{path}: no such file") from error
    except OSError as error:
        raise CaseFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CaseFileError(f"{path}: is not UTF-8 text; expected JSON, a list of cases") from error
    except (ValueError, RecursionError) as error:
        raise CaseFileError(f"{path}: is not JSON: {error}; expected a list of cases") from error
    if not isinstance(cases, list):
        raise CaseFileError(f"{path}: expected a list of cases, found {type(cases).__name__}")
    for at, case in enumerate(cases, 1):
        if not isinstance(case, dict) or not isinstance(case.get("id"), str):
            raise CaseFileError(f"{path}: case {at}: expected an object with an 'id'")
        for name in ("given", "expect"):
            if not isinstance(case.get(name), dict):
                raise CaseFileError(f"{path}: case {case['id']}: expected an object {name!r}")
    return cases


def kind_of(case: Case) -> Kind:
    """What a worked case is about, told from what is given."""
    given = case["given"]
    for kind, names in _TOLD_BY:
        if any(name in given for name in names):
            return kind
    return "unknown"


_TOLD_BY: Final[tuple[tuple[Kind, tuple[str, ...]], ...]] = (
    ("shot", ("shot",)),
    ("beam", ("edges",)),
    ("round", ("scores", "twenties", "board", "points")),
    ("game", ("opener", "rounds", "time_out")),
)


def run_case(case: Case) -> list[str]:
    """Run a case of a shot, a round or a game; the mismatches, one sentence each, none when it passes."""
    run = {"shot": run_shot_case, "round": run_round_case, "game": run_game_case}.get(kind_of(case))
    return ["'given' has neither a shot, a round, a game nor edges of the beam"] if run is None else run(case)


def run_shot_case(case: Case) -> list[str]:
    """Judge the shot of a case; the mismatches, one sentence each, none when it passes."""
    return _compare(case, _shot_answer)


def run_round_case(case: Case) -> list[str]:
    """Count the round of a case; the mismatches, one sentence each, none when it passes."""
    return _compare(case, _round_answer)


def run_game_case(case: Case) -> list[str]:
    """Play the game of a case; the mismatches, one sentence each, none when it passes."""
    return _compare(case, _game_answer)


def _compare(case: Case, answer: Any) -> list[str]:
    expect: Mapping[str, Any] = case["expect"]
    try:
        found = answer(case["given"], load_ruleset(case.get("rules", "classic")), expect)
    except RulesError as error:
        found = {"error": error.code, "referee": True, "sentence": error.sentence}
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        found = {"error": "bad_input", "referee": True, "sentence": f"{type(error).__name__}: {error}"}
    why = f" ({found['sentence']})" if "sentence" in found else ""
    return [
        f"{name}: expected {value!r}, found {found.get(name)!r}{why}"
        for name, value in expect.items()
        if not _same(value, found.get(name))
    ]


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return wanted.keys() == found.keys() and all(_same(value, found[key]) for key, value in wanted.items())
    if isinstance(wanted, float) and isinstance(found, int | float):
        return math.isclose(wanted, found, abs_tol=1e-6)
    return bool(wanted == found) and isinstance(wanted, bool) == isinstance(found, bool)


def _shot_answer(given: Mapping[str, Any], ruleset: Ruleset, expect: Mapping[str, Any]) -> dict[str, Any]:
    verdict = judge_shot(position_from(given["discs"], given.get("banked")), shot_from(given["shot"]), ruleset)
    removed = sorted(verdict.removed)
    if sorted(expect.get("removed", ())) == removed:
        removed = expect.get("removed", removed)
    return {
        "valid": verdict.valid,
        "open": verdict.open,
        "reason": verdict.reason,
        "removed": removed,
        "restored": {disc: _place_table(place) for disc, place in verdict.restored.items()},
        "banked": dict(verdict.banked),
        "board": dict(verdict.board),
        "referee": verdict.referee,
    }


def _place_table(place: Place) -> dict[str, Any]:
    table: dict[str, Any] = {"r_mm": place.r_mm, "angle_deg": place.angle_deg}
    return {**table, "leaning": True} if place.leaning else table


def _round_answer(given: Mapping[str, Any], ruleset: Ruleset, expect: Mapping[str, Any]) -> dict[str, Any]:
    del expect
    counted = score_round(
        given["scores"],
        given["twenties"],
        ruleset,
        board_mm=given.get("board"),
        points=given.get("points"),
        round_number=given.get("round_number", 1),
        playoff=given.get("playoff", False),
    )
    game = counted.game
    return {
        "round": dict(counted.round),
        "added": dict(counted.added),
        "scores": dict(game.scores),
        "game_over": game.over,
        "winner": game.winner,
        "next": game.next,
    }


def _game_answer(given: Mapping[str, Any], ruleset: Ruleset, expect: Mapping[str, Any]) -> dict[str, Any]:
    players = ruleset.players
    who = given.get("opener", "A")
    setup = GameSetup(
        ruleset,
        opener=seat_of(players, who),
        game_number=given.get("game_number", 1),
        playoff=given.get("playoff", False),
    )
    game = new_game(ruleset)
    for totals in given.get("rounds", ()):
        game = play_round(game, totals, ruleset, playoff=setup.playoff).game
    number = game.rounds + 1
    order = () if game.over else order_of_round(setup, number, deciding_sides(ruleset, game))
    sides = dict(SEATS[players])
    as_seat = not isinstance(who, str)

    def name(seat: int) -> int | str:
        return seat if as_seat else sides[seat]

    shots = dict.fromkeys(setup.shots, 0)
    for _, seat in order:
        shots[seat] += 1
    return {
        "order": [list(turn) for turn in order],
        "openers": [name(opener_of(setup, k + 1)) for k in range(len(expect.get("openers", ())))],
        "hammers": [name(order_of_round(setup, k + 1)[-1][1]) for k in range(len(expect.get("hammers", ())))],
        "shots": {str(seat): count for seat, count in shots.items()},
        "scores": dict(game.scores),
        "game_over": game.over,
        "winner": game.winner,
        "next": game.next,
        "extra_shot": extra_shot(given.get("time_out", {}), order),
    }
