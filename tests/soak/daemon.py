"""A daemon of a board with the real outbox and reporter, whose facts come by its standard input instead of sensors.

Each line in is an order, each line out says how many facts it and its earlier lives have put on the disk so far, how
many the hub has not acknowledged, and whether its disk is in trouble.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from firmware_py.health import Vitals
from firmware_py.inbox import wait_any
from firmware_py.outbox import Outbox
from firmware_py.reporter import Reporter
from firmware_py.settings import OFFLINE
from hub.link import topics
from hub.link.bus import Will
from hub.link.clock import ManualClock
from hub.link.messages import decode_fact
from hub.link.mqtt import MqttBus


def given_before(path: Path) -> int:
    if not path.exists():
        return 0
    with sqlite3.connect(path) as outbox:
        return sum(last for (last,) in outbox.execute("SELECT last_seq FROM given"))


def main() -> None:
    parser = argparse.ArgumentParser()
    for option in ("board", "source", "url", "folder"):
        parser.add_argument(f"--{option}", required=True)
    chosen = parser.parse_args()
    path = Path(chosen.folder) / f"{chosen.source}-outbox.sqlite3"
    earlier = given_before(path)
    outbox = Outbox(path)
    clock = ManualClock()
    bus = MqttBus(
        chosen.url,
        f"{chosen.board}-{chosen.source}",
        will=Will(topics.status(chosen.board, chosen.source), OFFLINE),
    )
    reporter = Reporter(
        board=chosen.board,
        source=chosen.source,
        bus=bus,
        outbox=outbox,
        clock=clock,
        vitals=Vitals(version="soak", source=chosen.source, boot=outbox.boot),
    )
    reporter.start()
    real_time_ns = time.time_ns
    sys.stdin.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    pending = b""
    stdin = sys.stdin.buffer.raw  # type: ignore[attr-defined]

    def obey(order: dict[str, Any]) -> None:
        if "jump_s" in order:
            time.time_ns = lambda: real_time_ns() + order["jump_s"] * 1_000_000_000
        if "kind" in order:
            clock.wait_until(order["at_ns"])
            reporter.report(decode_fact(order["kind"], json.dumps(order["body"]).encode()), order["at_ns"])
        reporter.pump()
        told = {"given": earlier + outbox.last_seq, "waiting": reporter.outstanding, "trouble": outbox.trouble}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()

    while True:
        wait_any(0.2, reporter, sys.stdin)
        reporter.pump()
        if not wait_readable():
            continue
        chunk = stdin.read(65536)
        if not chunk:
            break
        pending += chunk
        *lines, pending = pending.split(b"\n")
        for line in lines:
            obey(json.loads(line))
    reporter.close()


def wait_readable() -> bool:
    import select

    return bool(select.select([sys.stdin], [], [], 0)[0])


if __name__ == "__main__":
    main()
