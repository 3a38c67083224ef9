"""The measurement itself: a short run over a real broker gives every figure, and its boards play real rounds."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from hub.bench import BOARDS, bench
from hub.busy import BusyBoard
from hub.link import topics
from hub.store.filler import fill
from hub.store.reader import JournalReader
from tests.hub.harness import Club


def test_a_short_run_gives_every_figure() -> None:
    figures = bench(facts=4 * BOARDS, samples=2 * BOARDS, journal_lines=3000, pace_hz=120.0, warm_up=BOARDS)
    assert figures["boards"] == BOARDS
    assert figures["journal_lines"] == 3000
    assert 0 < figures["latency_median_ms"] <= figures["latency_p99_ms"]
    assert figures["ratio"] > 0
    assert figures["memory_mb"] > 10
    assert figures["start_s"] > 0


def test_without_mosquitto_the_embedded_broker_must_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hub.bench.shutil.which", lambda *_, **__: None)
    monkeypatch.setitem(sys.modules, "amqtt", None)
    with pytest.raises(ModuleNotFoundError, match="amqtt"):
        bench()


def test_busy_boards_play_whole_rounds_without_questions(quick_path: Path) -> None:
    club = Club(quick_path)
    for source, _, payload in itertools.islice(BusyBoard("b1", "bench", 7).envelopes(), 400):
        club.bus.publish(topics.fact("b1", source), payload)
        club.turn()
        table = club.table()
        assert not table.questions
        assert len(table.discs) <= 24
    assert len(table.rounds) >= 3
    assert all(sum(finished.totals.values()) > 0 for finished in table.rounds)
    assert any(sum(finished.twenties.values()) > 0 for finished in table.rounds)
    club.close()


def test_a_filled_journal_has_so_many_lines_and_every_one_is_its_own(quick_path: Path) -> None:
    club = Club(quick_path)
    for source, _, payload in itertools.islice(BusyBoard("b1", "bench", 1).envelopes(), 50):
        club.bus.publish(topics.fact("b1", source), payload)
    club.turn()
    then = club.table()
    club.kill()
    fill(quick_path / "hub.sqlite3", 500)
    with JournalReader(club.url) as journal:
        assert journal.last_id() == 500
        assert len({(e.source, e.boot, e.seq) for e in journal.entries("b1")}) == 500
    club.restart()
    assert club.table() == then
    club.close()
