"""A simulated round, from physics through pictures, pins, brokers and rules to the score, against the twin's truth."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import BrokerProcess

LONGEST_S = 600


@dataclass
class Evening:
    """A demo that runs in its own process, with its folder and its processes by name."""

    process: subprocess.Popen[str]
    folder: Path

    def pids(self) -> dict[str, int]:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith("pids"):
                return {name.strip(): int(pid) for name, pid in re.findall(r"([a-z][a-z0-9 -]*): (\d+)", line[4:])}
        pytest.fail("the demo did not say which processes it started")

    def shots_played(self) -> int:
        path = self.folder / "board-1" / "truth.jsonl"
        return path.read_text().count('"is":"shot"') if path.exists() else 0

    def wait_for_shot(self, number: int) -> None:
        pause = threading.Event()
        for _ in range(LONGEST_S * 20):
            if self.shots_played() >= number:
                return
            assert self.process.poll() is None, "the demo ended before its time"
            pause.wait(0.05)
        pytest.fail(f"shot {number} was not played within {LONGEST_S} s")

    def report(self) -> dict[str, Any]:
        out, _ = self.process.communicate(timeout=LONGEST_S)
        report: dict[str, Any] = json.loads(out.splitlines()[-1])
        return report


def start(folder: Path, *options: str) -> Evening:
    argv = [sys.executable, "-m", "crokinole", "demo", "--headless", "--json", "--boards", "1", "--dir", str(folder)]
    process = subprocess.Popen([*argv, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return Evening(process, folder)


def assert_true_to_life(report: dict[str, Any], rounds: int = 1) -> None:
    (board,) = report["boards"]
    assert len(board["rounds"]) == rounds
    for told in board["rounds"]:
        assert told["scored"] == told["truth"]
        assert told["twenties"] == told["twenties_truth"]
        assert told["questions"] <= 2
    assert board["final"] == board["final_truth"]
    assert (board["mismatches"], report["lost"], report["duplicated"]) == (0, 0, 0)


@pytest.fixture
def evenings() -> Iterator[list[Evening]]:
    """Demos that a failing test leaves running are ended with it."""
    started: list[Evening] = []
    yield started
    for evening in started:
        if evening.process.poll() is None:
            evening.process.terminate()
            evening.process.communicate(timeout=30)


def test_a_simulated_round_is_scored_as_it_was_played(tmp_path: Path, evenings: list[Evening]) -> None:
    evenings.append(start(tmp_path, "--rounds", "1", "--seed", "13"))
    assert_true_to_life(evenings[0].report())


@pytest.mark.parametrize(
    ("victims", "seed"),
    [
        pytest.param(("hub", "board-1 camera"), "12", id="hub, then camera"),
        pytest.param(("board-1 beam", "hub"), "14", id="beam, then hub"),
    ],
)
def test_killed_processes_cost_no_point_and_count_none_twice(
    victims: tuple[str, ...], seed: str, mosquitto: BrokerProcess, tmp_path: Path, evenings: list[Evening]
) -> None:
    evening = start(tmp_path, "--rounds", "1", "--seed", seed, "--broker", mosquitto.url)
    evenings.append(evening)
    pids = evening.pids()
    for shot, victim in zip((7, 15), victims, strict=True):
        evening.wait_for_shot(shot)
        os.kill(pids[victim], signal.SIGKILL)
    assert_true_to_life(evening.report())
