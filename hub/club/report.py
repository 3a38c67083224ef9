"""The closing comparison of a simulated evening: what the hub scored against what the twin knows."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from hub.link.messages import Call
from hub.link.snapshot import Table
from hub.store.archive import Archive

Counts = dict[str, int]
COUNTS = ("fouls", "twenties_on_foul", "opponent_twenties", "line_discs")


class TruthRound(msgspec.Struct, frozen=True):
    """A round as the twin knows it; totals with twenties."""

    number: int
    totals: dict[str, int]
    twenties: dict[str, int]
    counts: Counts


class Truth(msgspec.Struct, frozen=True):
    """What a twin wrote down of its evening."""

    rounds: tuple[TruthRound, ...]
    final: dict[str, int]


class RoundReport(msgspec.Struct, frozen=True):
    """One round, truth beside score.

    Attributes:
        truth: points with twenties, by side.
        scored: the hub's, as read.
        twenties_truth: twenties, by side.
        twenties: the hub's.
        questions: how many people were asked.
        truth_counts: how much of what is hard there was.
    """

    truth: dict[str, int]
    scored: dict[str, int]
    twenties_truth: dict[str, int]
    twenties: dict[str, int]
    questions: int
    truth_counts: Counts


class BoardReport(msgspec.Struct, frozen=True):
    """One board's evening."""

    board: str
    rounds: tuple[RoundReport, ...]
    final: dict[str, int]
    final_truth: dict[str, int]
    mismatches: int


class Report(msgspec.Struct, frozen=True):
    """The whole evening.

    Attributes:
        boards: one report each.
        lost: sequence numbers that daemons gave out and the journal does not have.
        duplicated: twenties called or banked twice.
    """

    boards: tuple[BoardReport, ...]
    lost: int
    duplicated: int

    @property
    def good(self) -> bool:
        """Whether score and truth agree and nothing was lost or doubled."""
        return not self.lost and not self.duplicated and not any(b.mismatches for b in self.boards)


def read_truth(path: Path) -> Truth:
    """The rounds and final scores of a twin's truth file; what is not there yet is empty."""
    rounds: list[TruthRound] = []
    final: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        entry: dict[str, Any] = msgspec.json.decode(line)
        if entry["is"] == "round":
            rounds.append(msgspec.convert(entry, TruthRound))
        elif entry["is"] == "final":
            final = entry["scores"]
    return Truth(tuple(rounds), final)


def compare(board: str, truth: Truth, table: Table | None) -> BoardReport:
    """Set the hub's rounds beside the truth's, in the order of play.

    A round is a mismatch if points or twenties differ, also where people left a doubt open; so is a round that one of
    the two does not have, and another final score.
    """
    scored = table.rounds if table is not None else ()
    rounds: list[RoundReport] = []
    mismatches = abs(len(scored) - len(truth.rounds))
    for told, view in zip(truth.rounds, scored, strict=False):
        rounds.append(
            RoundReport(
                truth=told.totals,
                scored=_plain(view.totals),
                twenties_truth=told.twenties,
                twenties=_plain(view.twenties),
                questions=view.questions,
                truth_counts={name: told.counts.get(name, 0) for name in COUNTS},
            )
        )
        mismatches += _plain(view.totals) != told.totals or _plain(view.twenties) != told.twenties
    final = {str(side): view.score for side, view in table.sides.items()} if table is not None else {}
    mismatches += final != truth.final
    return BoardReport(board, tuple(rounds), final, truth.final, mismatches)


def doubled(calls: Sequence[Call], boards: Sequence[BoardReport]) -> int:
    """Calls with the same id, and twenties banked beyond the truth's."""
    called_again = len(calls) - len({call.id for call in calls})
    banked_again = sum(
        max(0, count - told.twenties_truth.get(side, 0))
        for board in boards
        for told in board.rounds
        for side, count in told.twenties.items()
    )
    return called_again + banked_again


def missing(archive: Archive, board: str, folder: Path) -> int:
    """Sequence numbers that the board's daemons gave out and the journal does not have."""
    lost = 0
    for path in folder.glob("*-outbox.sqlite3"):
        source = path.name.removesuffix("-outbox.sqlite3")
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as outbox:
            given = outbox.execute("SELECT boot, last_seq FROM given").fetchall()
        for boot, last_seq in given:
            lost += len(set(range(1, last_seq + 1)) - archive.journalled(board, source, boot))
    return lost


def in_words(report: Report) -> str:
    """The report for people, a line for each round."""
    lines: list[str] = []
    for board in report.boards:
        for number, told in enumerate(board.rounds, 1):
            lines.append(
                f"{board.board} round {number}: scored {told.scored}, truth {told.truth}, "
                f"twenties {told.twenties}, truth {told.twenties_truth}, questions {told.questions}"
            )
        lines.append(f"{board.board} final: {board.final}, truth {board.final_truth}, mismatches {board.mismatches}")
    lines.append(f"lost {report.lost}, duplicated {report.duplicated}")
    return "\n".join(lines) + "\n"


def _plain(points: Mapping[Any, int]) -> dict[str, int]:
    return {str(side): count for side, count in points.items()}
