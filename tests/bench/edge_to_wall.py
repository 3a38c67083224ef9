"""How long a 20 takes from the beam's dwell to a wall display, and what a simulated club costs, at real speed.

    python -m tests.bench.edge_to_wall [--seconds 120] [--boards 2]

Starts a demo, listens to the wall's own event stream, and compares the arrival of each announced 20 with the wall time
of the beam's fact. The 200 ms of dwell come on top. Cores and frames are those of the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hub.link import topics
from hub.link.bus import Message
from hub.link.messages import BeamCandidate, MessageError, decode_envelope
from hub.link.mqtt import MqttBus

WARM_UP_S = 15.0


def events(url: str) -> Iterator[tuple[float, dict[str, Any]]]:
    """Arrival (wall clock, ms) and data of every event of a stream."""
    with urllib.request.urlopen(url) as stream:
        for line in stream:
            if line.startswith(b"data:"):
                yield time.time() * 1000, json.loads(line[5:])


def cpu_s(pid: int) -> float:
    """Processor time of a process and its children."""
    total = 0.0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(entry.name) == pid:
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        elif int(fields[1]) == pid:
            total += cpu_s(int(entry.name))
    return total


class Wall:
    """A display that listens to all boards and remembers when it first heard of each 20."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.first_ms: dict[tuple[str, str], float] = {}
        self.rates: dict[str, list[float]] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for at_ms, told in events(f"{self.page}/api/1/stream"):
            table = told.get("view", {}).get("table")
            if table is None:
                continue
            rate = table["sensors"].get("camera", {}).get("frame_rate_hz")
            if rate:
                self.rates.setdefault(table["board"], []).append(rate)
            if table["flash"] and table["flash"]["clip"].startswith("twenty"):
                self.first_ms.setdefault((table["board"], table["flash"]["id"]), at_ms)

    def late_ms(self, candidates: dict[str, list[int]]) -> list[float]:
        """From the beam's dwell to this display, for every 20 that the beam saw."""
        late = []
        for (board, _), at_ms in self.first_ms.items():
            earlier = [wall_ms for wall_ms in candidates.get(board, []) if 0 <= at_ms - wall_ms < 3000]
            late += [at_ms - max(earlier)] if earlier else []
        return late


def start_demo(boards: int) -> tuple[subprocess.Popen[str], str, str, list[int]]:
    """A running demo with the addresses of its broker and pages, and its processes."""
    folder = tempfile.mkdtemp(prefix="edge-to-wall-")
    argv = [sys.executable, "-m", "crokinole", "demo", "--boards", str(boards), "--dir", folder]
    demo = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    assert demo.stderr is not None
    broker = page = ""
    for line in demo.stderr:
        broker = (re.findall(r"mqtt://\S+(?=,)", line) or [broker])[0]
        page = (re.findall(r"^wall\s+(\S+)/$", line) or [page])[0]
        if line.startswith("pids"):
            threading.Thread(target=demo.stderr.read, daemon=True).start()
            return demo, broker, page, [int(pid) for pid in re.findall(r": (\d+)", line)]
    raise SystemExit("the demo did not start")


def candidates_in(facts: queue.SimpleQueue[Message]) -> dict[str, list[int]]:
    """Wall times, ms, of the beams' candidates by board."""
    found: dict[str, list[int]] = {}
    while not facts.empty():
        try:
            envelope, fact = decode_envelope(facts.get().payload)
        except MessageError:
            continue
        if isinstance(fact, BeamCandidate):
            found.setdefault(envelope.board, []).append(envelope.wall_ms)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--boards", type=int, default=2)
    options = parser.parse_args()
    demo, broker, page, pids = start_demo(options.boards)
    facts: queue.SimpleQueue[Message] = queue.SimpleQueue()
    bus = MqttBus(broker, f"bench-{secrets.token_hex(4)}")
    bus.subscribe(topics.ALL_FACTS, facts.put)
    bus.start()
    time.sleep(WARM_UP_S)
    wall = Wall(page)
    before_s, started_s = sum(cpu_s(pid) for pid in pids), time.monotonic()
    time.sleep(options.seconds)
    cores = (sum(cpu_s(pid) for pid in pids) - before_s) / (time.monotonic() - started_s)
    bus.close()
    demo.terminate()
    demo.wait(30)
    late_ms = wall.late_ms(candidates_in(facts))
    print(f"twenties            {len(late_ms)}")
    if late_ms:
        print(f"dwell_to_wall_ms    median {statistics.median(late_ms):.0f}, worst {max(late_ms):.0f}")
    print(f"cores               {cores:.2f} for {options.boards} board(s)")
    for board, found in sorted(wall.rates.items()):
        print(f"frames_per_s        {board}: median {statistics.median(found):.1f}")
    return 0 if late_ms else 1


if __name__ == "__main__":
    sys.exit(main())
