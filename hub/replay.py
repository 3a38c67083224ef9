"""Goes through a journal again: proves that what is stored follows from it, or judges its matches by other rules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hub.judging.evidence import ANY_NUMBER, RecordedMatch, recorded_round
from hub.proof import Proof, ReplayError, prove
from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset, read_ruleset
from hub.rules.rejudge import COMPARED, Difference, Rejudged, rejudge
from hub.rules.ruleset import Ruleset, changed
from hub.rules.scoring import GameScore
from hub.rules.verdict import Verdict
from hub.rules.words import say
from hub.state import GEOMETRY, Match
from hub.store.engine import StoreError
from hub.store.reader import JournalReader

DONE, DIFFERS, BAD_INPUT = 0, 1, 2
_SHOWN_DIFFERENCES = 20


def rules_named(name: str) -> Ruleset:
    """A preset by name, or a club's own rules from a TOML file.

    Raises:
        RulesError: there is no such preset or file, or the file holds no rules.
    """
    return read_ruleset(Path(name)) if name.endswith(".toml") else load_ruleset(name)


@dataclass(frozen=True, slots=True)
class GameRejudged:
    """One game of a recorded match by two rule sets.

    Attributes:
        match: the match it belongs to.
        game: its number.
        numbers: for each round the number of each judged shot.
        result: what differs and how the game would have stood.
    """

    match: Match
    game: int
    numbers: tuple[list[int], ...]
    result: Rejudged


def rejudged(played: RecordedMatch, now: Ruleset) -> list[GameRejudged]:
    """Each game of a match judged again by other rules, for those who played it and where they sat."""
    match = played.match
    now = changed(now, {"name": now.name, "title": now.title, "players": match.ruleset.players})
    found: list[GameRejudged] = []
    dealt: dict[str, int] = dict.fromkeys(match.sides, ANY_NUMBER)
    for game in played.games():
        places = [place for place, finished in enumerate(played.rounds) if finished.game == game]
        told = [recorded_round(played, place, (match.ruleset, now)) for place in places]
        result = rejudge([rounds for rounds, _ in told], match.ruleset, now, GEOMETRY, dealt=dealt)
        found.append(GameRejudged(match, game, tuple(numbers for _, numbers in told), result))
    return found


def run(journal: str, *, rules: str = "", board: str = "", as_json: bool = False) -> int:
    """The subcommand; returns the exit status: 0 equal or re-judged, 1 not equal, 2 bad input."""
    try:
        other = rules_named(rules) if rules else None
        with JournalReader(journal) as reader:
            boards = reader.boards()
            if board and board not in boards:
                return _bad(f"database {reader.name}: has no board {board!r}; it has {', '.join(boards) or 'none'}")
            proofs = [prove(reader, name) for name in boards if not board or name == board]
            reader.still_at_rest()
    except (StoreError, RulesError, ReplayError) as error:
        return _bad(str(error))
    if other is None:
        (_print_json if as_json else _print_proofs)(proofs)
        return DIFFERS if any(proof.unequal for proof in proofs) else DONE
    games = {proof.board: [game for played in proof.matches for game in rejudged(played, other)] for proof in proofs}
    if as_json:
        told = {name: [_game_table(game, other) for game in found] for name, found in games.items()}
        _out(msgspec.json.encode({"rules": other.name, "boards": told}).decode())
    else:
        for name, found in games.items():
            for line in _game_lines(name, found, other):
                _out(line)
        if not any(games.values()):
            _out("no counted round is in this journal")
    return DONE


def _bad(text: str) -> int:
    sys.stderr.write(f"crokinole replay: {text}\n")
    return BAD_INPUT


def _out(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _print_json(proofs: list[Proof]) -> None:
    boards = [
        {
            "board": proof.board,
            "lines": proof.lines,
            "matches": len(proof.matches),
            "equal": not proof.unequal,
            "other_edition": proof.foreign,
            "unequal": [
                {"where": u.where, "line": u.line, "path": u.path, "stored": u.stored, "recomputed": u.recomputed}
                for u in proof.unequal
            ],
        }
        for proof in proofs
    ]
    _out(msgspec.json.encode({"equal": not any(p.unequal for p in proofs), "boards": boards}).decode())


def _print_proofs(proofs: list[Proof]) -> None:
    for proof in proofs:
        lines = f"{proof.lines} line{'s' * (proof.lines != 1)}"
        if not proof.unequal:
            _out(f"{proof.board}: {lines}, stored as the journal gives it")
            continue
        other = " (another edition of the program decided it)" if proof.foreign else ""
        _out(f"{proof.board}: {lines}, stored otherwise than the journal gives it{other}:")
        for u in proof.unequal[:_SHOWN_DIFFERENCES]:
            what = f" {u.path}" if u.path else ""
            _out(f"  {u.where}, line {u.line}:{what} stored {u.stored}, recomputed {u.recomputed}")
        if len(proof.unequal) > _SHOWN_DIFFERENCES:
            _out(f"  and {len(proof.unequal) - _SHOWN_DIFFERENCES} more")
    total = sum(proof.lines for proof in proofs)
    wrong = sum(bool(proof.unequal) for proof in proofs)
    _out(f"{len(proofs)} boards, {total} lines: " + (f"{wrong} not as stored" if wrong else "all as stored"))


def _game_lines(board: str, games: list[GameRejudged], now: Ruleset) -> Iterator[str]:
    for game in games:
        match, result = game.match, game.result
        colours: dict[str, str] = {side: match.colour_of(side) for side in match.sides}
        named = f"{board}: match {match.id}, game {game.game}, {len(game.numbers)} rounds"
        yield f"{named}: {match.ruleset.title} -> {now.title}"
        for difference in result.differences:
            number = _shot_number(game, difference)
            parts = ", ".join(difference.parts)
            yield f"  round {difference.round_number}, shot {number}: {parts}"
            yield f"    was: {say(difference.was, colours)}"
            yield f"    now: {say(difference.now, colours)}"
        if not result.differences:
            yield "  no verdict differs"
        yield from _score_lines(result, colours)


def _score_lines(result: Rejudged, colours: dict[str, str]) -> Iterator[str]:
    for number in range(max(len(result.was), len(result.now))):
        was, now = (_score(scores, number, colours) for scores in (result.was, result.now))
        yield f"  after round {number + 1}: {was}" + ("" if was == now else f" -> {now}")


def _score(scores: tuple[GameScore, ...], number: int, colours: dict[str, str]) -> str:
    if number >= len(scores):
        return (
            "the game is over, this round would not have been played" if scores and scores[-1].over else "not countable"
        )
    score = scores[number]
    told = ", ".join(f"{colours[side]} {points}" for side, points in score.scores.items())
    if not score.over:
        return told
    return f"{told}, {colours[score.winner]} wins" if score.winner else f"{told}, drawn"


def _shot_number(game: GameRejudged, difference: Difference) -> int:
    return game.numbers[difference.round_number - 1][difference.shot_number - 1]


def _game_table(game: GameRejudged, now: Ruleset) -> dict[str, Any]:
    return {
        "match": game.match.id,
        "game": game.game,
        "was": game.match.ruleset.name,
        "now": now.name,
        "rounds": len(game.numbers),
        "shots": sum(map(len, game.numbers)),
        "differences": [
            {
                "round": difference.round_number,
                "shot": _shot_number(game, difference),
                "parts": difference.parts,
                "was": _verdict_table(difference.was),
                "now": _verdict_table(difference.now),
            }
            for difference in game.result.differences
        ],
        "scores": {
            "was": [_score_table(score) for score in game.result.was],
            "now": [_score_table(score) for score in game.result.now],
        },
    }


def _verdict_table(verdict: Verdict) -> dict[str, Any]:
    parts = {name: getattr(verdict, name) for name in COMPARED if name != "restored"}
    parts["removed"] = sorted(verdict.removed)
    parts["restored"] = sorted(verdict.restored)
    return {**parts, "codes": verdict.codes}


def _score_table(score: GameScore) -> dict[str, Any]:
    return {"scores": dict(score.scores), "over": score.over, "winner": score.winner}
