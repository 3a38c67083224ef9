"""Goes through a journal again: proves that what is stored follows from it, or judges its matches by other rules."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from hub.again import Again
from hub.entries import HUB, PEOPLE, Entry
from hub.judging.evidence import ANY_NUMBER, RecordedMatch, Watch, recorded_round
from hub.link.messages import MessageError
from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset, read_ruleset
from hub.rules.rejudge import COMPARED, Difference, Rejudged, rejudge
from hub.rules.ruleset import Ruleset, changed
from hub.rules.scoring import GameScore
from hub.rules.verdict import Verdict
from hub.rules.words import say
from hub.state import GEOMETRY, Match, TableState
from hub.store.archive import MatchRecord
from hub.store.engine import StoreError
from hub.store.reader import JournalReader
from hub.table import Taken, take
from hub.view import match_record

DONE, DIFFERS, BAD_INPUT = 0, 1, 2
_SHOWN_DIFFERENCES = 20

_decode_state = msgspec.msgpack.Decoder(TableState).decode


class ReplayError(Exception):
    """A line that this version cannot go through; says which, and why."""


@dataclass(frozen=True, slots=True)
class Unequal:
    """One place where what is stored is not what the journal gives.

    Attributes:
        where: ``table``, ``chapter`` and its first line, or ``match`` and its id.
        line: id of the journal line after which it stands.
        path: the part, ``""`` for the whole.
        stored: what is stored there.
        recomputed: what the journal gives.
    """

    where: str
    line: int
    path: str
    stored: str
    recomputed: str


@dataclass(frozen=True, slots=True)
class Proof:
    """One board gone through again.

    Attributes:
        board: its id.
        lines: how many lines the journal has of it.
        state: the table after the last.
        matches: the matches that were played, with their shots.
        unequal: where what is stored is something else, in the order of the journal.
    """

    board: str
    lines: int
    state: TableState
    matches: tuple[RecordedMatch, ...]
    unequal: tuple[Unequal, ...]


def steps(state: TableState, entries: Iterable[Entry]) -> Iterator[tuple[Entry, Taken]]:
    """Take in line by line, none of them checked again, and give what each led to.

    Raises:
        ReplayError: a line of the hub or of people that this version cannot read.
    """
    again = Again(take, state)
    for entry in entries:
        before = again.state
        taken = again.line(entry)
        if taken is None:
            again.state = replace(before, entry=entry.id)
            yield entry, Taken(again.state)
            continue
        unreadable = entry.source in {PEOPLE, HUB} and again.state.unreadable > before.unreadable
        if unreadable and (why := _unread(entry)):
            raise ReplayError(f"board {entry.board}, line {entry.id}: {why}; made by another version?")
        if taken.chapter is not None:
            again.forget_before(again.state.chapters)
        yield entry, taken


def _unread(entry: Entry) -> str:
    """What is wrong with a line that could not be read; empty for one that goes through facts again, as undo does."""
    if entry.source == HUB:
        return f"{entry.kind!r} of {entry.source} cannot be read"
    try:
        entry.request()
    except MessageError as error:
        return str(error)
    return ""


def prove(journal: JournalReader, board: str) -> Proof:
    """Recompute one board from its lines and compare it with all that is stored of it."""
    stored = journal.states().get(board)
    checkpoints = journal.checkpoints(board)
    watch = Watch()
    unequal: list[Unequal] = []
    state, lines = TableState(board), 0
    for entry, taken in steps(state, journal.entries(board)):
        lines += 1
        if taken.chapter is not None and entry.id in checkpoints:
            unequal += _compared(f"chapter {entry.id}", entry.id, checkpoints.pop(entry.id), taken.chapter)
        state = taken.state
        watch.see(state)
    unequal += [
        Unequal(f"chapter {line}", line, "", "a chapter begins here", "none begins here")
        for line in sorted(checkpoints)
    ]
    if stored is None:
        if lines:
            unequal.append(Unequal("table", state.entry, "", "nothing", f"the state after line {state.entry}"))
    else:
        unequal += _compared("table", stored[0], stored[1], state)
    matches = watch.recorded()
    unequal += _matches_compared(journal, board, state, matches)
    return Proof(board, lines, state, matches, tuple(unequal))


def _compared(where: str, line: int, stored: bytes, recomputed: TableState) -> list[Unequal]:
    try:
        was = _decode_state(stored)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        return [Unequal(where, line, "", f"cannot be read: {error}", f"the state after line {recomputed.entry}")]
    return [
        Unequal(where, line, path, one, other)
        for path, one, other in differences(msgspec.to_builtins(was), msgspec.to_builtins(recomputed))
    ]


def _matches_compared(
    journal: JournalReader, board: str, state: TableState, matches: tuple[RecordedMatch, ...]
) -> list[Unequal]:
    """The archive's records of the matches that hold; one whose match was undone may stay behind."""
    stored = journal.matches(board)
    found: list[Unequal] = []
    for played in matches:
        where = f"match {played.match.id}"
        was = stored.get(played.match.id)
        if was is None:
            found.append(Unequal(where, state.entry, "", "nothing", "a match with counted rounds"))
            continue
        try:
            tree = msgspec.to_builtins(msgspec.json.decode(was, type=MatchRecord))
        except msgspec.DecodeError as error:
            found.append(Unequal(where, state.entry, "", f"cannot be read: {error}", "a match with counted rounds"))
            continue
        now = msgspec.to_builtins(match_record(board, played.match))
        found += [Unequal(where, state.entry, path, one, other) for path, one, other in differences(tree, now)]
    return found


def differences(stored: Any, recomputed: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """The parts in which two trees of plain values differ: path, the one's text, the other's."""
    if stored == recomputed:
        return
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for key in [*stored, *(key for key in recomputed if key not in stored)]:
            step = f"{path}.{key}" if path else str(key)
            yield from differences(stored.get(key), recomputed.get(key), step)
    elif isinstance(stored, list | tuple) and isinstance(recomputed, list | tuple) and len(stored) == len(recomputed):
        for number, (one, other) in enumerate(zip(stored, recomputed, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    else:
        yield path, _short(stored), _short(recomputed)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


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
        _out(f"{proof.board}: {lines}, stored otherwise than the journal gives it:")
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
