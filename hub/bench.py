"""How fast the hub is: latency and throughput over a real broker, beside a bare subscriber in the same run."""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from hub.busy import BusyBoard
from hub.club.ports import free_port, reachable
from hub.link import topics
from hub.link.bus import Message
from hub.link.config import Config, HubSection, MqttSection, config_toml
from hub.link.messages import Ack, MessageError, Source, decode
from hub.link.mqtt import MqttBus, bare_sender, listen_bare
from hub.link.snapshot import Table
from hub.store.filler import fill

BOARDS = 60
JOURNAL_LINES = 1_000_000
_WARM_UP = 30 * BOARDS
_FACTS = 100 * BOARDS
_SAMPLES = 20 * BOARDS
_PACE_HZ = 60.0
"""Sixty tables with a shot every 5 s and its hand, shot and layout give some 40 facts in a second."""

_WINDOW = 64
_WAIT_S = 120.0
_BATCH = 100
_COMMITTED_BYTES = 12_000
"""A line of the journal and a table's state in the middle of a round."""

_BASELINE = "bench/fact"
_ECHO = "bench/echo"


class BenchError(RuntimeError):
    """The measurement could not be made."""


def bench(
    *,
    facts: int = _FACTS,
    samples: int = _SAMPLES,
    journal_lines: int = JOURNAL_LINES,
    pace_hz: float = _PACE_HZ,
    warm_up: int = _WARM_UP,
) -> dict[str, Any]:
    """Measure one hub process with 60 boards in play.

    Args:
        facts: how many to send as fast as they are acknowledged, and to the baseline.
        samples: how many to send at a steady pace, each timed.
        journal_lines: length of the journal on which a start is timed.
        pace_hz: facts in a second while latency is measured.
        warm_up: facts before anything is measured, so that every table is in the middle of a round.

    Returns:
        ``latency_median_ms`` and ``latency_p99_ms`` from handing a fact to the broker to receiving the retained
        snapshot that has it, ``echo_median_ms`` and ``echo_p99_ms`` of the same facts to the broker and back alone,
        ``commit_median_ms`` and ``commit_p99_ms`` of a bare SQLite commit of as many bytes, which are the machine's
        and the disk's share; ``facts_per_s`` sustained, ``baseline_per_s`` of a bare paho
        subscriber with
        ``json.loads`` and SQLite inserts in batches of 100, both synchronous=FULL, and their ``ratio``;
        ``start_s`` from starting the process to ``online`` on a journal of ``journal_lines``; ``memory_mb`` of the
        hub's process after all that.

    Raises:
        BenchError: broker or hub did not come up, or facts were lost.
    """
    with tempfile.TemporaryDirectory(prefix="crokinole-bench-") as name:
        folder = Path(name)
        with _broker(folder) as (kind, url):
            baseline_per_s = _baseline(url, folder, facts)
            with _hub(folder, url) as (process, _):
                club = _Club(url)
                club.send_all(warm_up)
                facts_per_s = club.send_all(facts)
                echoes_ms = club.echo(samples // 4, pace_hz)
                latencies_ms = club.send_paced(samples, pace_hz)
                commits_ms = _commits(folder, samples // 4, pace_hz)
                memory_mb = _memory_mb(process.pid)
                club.close()
            fill(folder / "hub.sqlite3", journal_lines)
            with _hub(folder, url) as (_, start_s):
                pass
    return {
        "broker": kind,
        "boards": BOARDS,
        **_quantiles("latency", latencies_ms),
        **_quantiles("echo", echoes_ms),
        **_quantiles("commit", commits_ms),
        "facts_per_s": round(facts_per_s),
        "baseline_per_s": round(baseline_per_s),
        "ratio": round(facts_per_s / baseline_per_s, 3),
        "journal_lines": journal_lines,
        "start_s": round(start_s, 2),
        "memory_mb": round(memory_mb, 1),
    }


class _Club:
    """Sixty boards' daemons in one client: sends their facts and hears acknowledgements and snapshots."""

    def __init__(self, url: str) -> None:
        self._boards = [BusyBoard(f"b{number}", "bench", number) for number in range(1, BOARDS + 1)]
        self._facts = [board.envelopes() for board in self._boards]
        self._acked: dict[tuple[str, str], int] = {}
        self._sent: dict[tuple[str, str], int] = {}
        self._moved = threading.Condition()
        self._shown: SimpleQueue[tuple[Message, float]] = SimpleQueue()
        self._echoed: SimpleQueue[float] = SimpleQueue()
        self._bus = MqttBus(url, "crokinole-bench")
        self._bus.subscribe(f"{topics.ROOT}/+/ack/+", self._on_ack)
        self._bus.subscribe(_ECHO, lambda _: self._echoed.put(time.perf_counter()))
        self._wall = MqttBus(url, "crokinole-bench-wall")
        self._wall.subscribe(topics.ALL_TABLES, self._on_table)
        _connect(self._bus)

    def close(self) -> None:
        self._bus.close()
        self._wall.close()

    def _watch(self) -> None:
        """Only now: elsewhere the walls are not shown by the machine that also sends for sixty boards."""
        _connect(self._wall)

    def send_all(self, count: int) -> float:
        """Send facts of all boards in turn, each source at most a window ahead of its acks; facts in a second."""
        made = [self._next(number % BOARDS) for number in range(count)]
        began_s = time.perf_counter()
        for fact in made:
            self._send(*fact)
        with self._moved:
            if not self._moved.wait_for(lambda: self._acked == self._sent, _WAIT_S):
                raise BenchError("the hub did not acknowledge every fact")
        return count / (time.perf_counter() - began_s)

    def send_paced(self, count: int, pace_hz: float) -> list[float]:
        """Send facts one by one at a steady pace; the time of each until a snapshot has it, in ms."""
        self._watch()
        sent_s: dict[tuple[str, str, int], float] = {}
        next_s = time.perf_counter()
        for number in range(count):
            next_s += 1 / pace_hz
            time.sleep(max(0.0, next_s - time.perf_counter()))
            now_s = time.perf_counter()
            board, source, seq, payload = self._next(number % BOARDS)
            sent_s[board, source, seq] = now_s
            self._send(board, source, seq, payload)
        latencies_ms: list[float] = []
        while sent_s:
            message, at_s = self._shown.get(timeout=_WAIT_S)
            table = decode(message.payload, Table)
            for origin, seen in table.seen.items():
                seq = seen.seq
                while (since_s := sent_s.pop((table.board, origin, seq), None)) is not None:
                    latencies_ms.append((at_s - since_s) * 1000)
                    seq -= 1
        return latencies_ms

    def echo(self, count: int, pace_hz: float) -> list[float]:
        """Facts to the broker and back, at the same pace; the time of each, in ms."""
        latencies_ms: list[float] = []
        payload = next(BusyBoard("echo", "bench", 0).envelopes())[2]
        for _ in range(count):
            time.sleep(1 / pace_hz)
            now_s = time.perf_counter()
            self._bus.publish(_ECHO, payload)
            latencies_ms.append((self._echoed.get(timeout=_WAIT_S) - now_s) * 1000)
        return latencies_ms

    def _next(self, place: int) -> tuple[str, Source, int, bytes]:
        return self._boards[place].board, *next(self._facts[place])

    def _send(self, board: str, source: Source, seq: int, payload: bytes) -> None:
        with self._moved:
            if not self._moved.wait_for(lambda: seq - self._acked.get((board, source), 0) <= _WINDOW, _WAIT_S):
                raise BenchError(f"the hub does not acknowledge the facts of {board}")
            self._sent[board, source] = seq
        self._bus.publish(topics.fact(board, source), payload)

    def _on_ack(self, message: Message) -> None:
        topic = topics.parse(message.topic)
        if topic is None:
            return
        with contextlib.suppress(MessageError), self._moved:
            self._acked[topic.board, topic.which] = decode(message.payload, Ack).seq
            self._moved.notify()

    def _on_table(self, message: Message) -> None:
        if not message.retain:
            self._shown.put((message, time.perf_counter()))


def _connect(bus: MqttBus) -> None:
    connected = threading.Event()
    bus.on_connection(lambda up: connected.set() if up else None)
    bus.start()
    if not connected.wait(_WAIT_S):
        raise BenchError(f"broker {bus.where}: does not answer")


def _commits(folder: Path, count: int, pace_hz: float) -> list[float]:
    """Bare commits that wait for the disk, at the same pace; the time of each, in ms."""
    times_ms: list[float] = []
    with closing(sqlite3.connect(folder / "commits.sqlite3", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        database.execute("CREATE TABLE bare (x BLOB)")
        for _ in range(count):
            time.sleep(1 / pace_hz)
            now_s = time.perf_counter()
            database.execute("INSERT INTO bare VALUES (zeroblob(?))", (_COMMITTED_BYTES,))
            times_ms.append((time.perf_counter() - now_s) * 1000)
    return times_ms


def _quantiles(name: str, values_ms: list[float]) -> dict[str, float]:
    p99_ms = statistics.quantiles(values_ms, n=100)[98]
    return {f"{name}_median_ms": round(statistics.median(values_ms), 2), f"{name}_p99_ms": round(p99_ms, 2)}


def _baseline(url: str, folder: Path, facts: int) -> float:
    """What a bare subscriber takes in of the same facts in a second."""
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    process = context.Process(target=_subscriber, args=(url, str(folder / "baseline.sqlite3"), facts, told))
    process.start()
    try:
        told.get(timeout=_WAIT_S)
        boards = [BusyBoard(f"b{number}", "bench", number).envelopes() for number in range(1, BOARDS + 1)]
        made = [next(boards[number % BOARDS])[2] for number in range(facts)]
        with bare_sender(url) as publish:
            began_s = time.perf_counter()
            for payload in made:
                publish(_BASELINE, payload)
            elapsed_s: float = told.get(timeout=_WAIT_S) - began_s
    finally:
        process.terminate()
        process.join()
    return facts / elapsed_s


def _subscriber(url: str, path: str, facts: int, told: Any) -> None:
    """paho, ``json.loads`` and nothing else: each 100 facts one transaction that waits for the disk."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        database.execute("CREATE TABLE fact (board TEXT, source TEXT, boot TEXT, seq INTEGER, body TEXT)")
        rows: list[tuple[Any, ...]] = []
        taken = 0

        def on_payload(payload: bytes) -> None:
            nonlocal taken
            fact = json.loads(payload)
            rows.append((fact["board"], fact["source"], fact["boot"], fact["seq"], payload))
            taken += 1
            if len(rows) >= _BATCH or taken == facts:
                database.execute("BEGIN")
                database.executemany("INSERT INTO fact VALUES (?, ?, ?, ?, ?)", rows)
                database.execute("COMMIT")
                rows.clear()
            if taken == facts:
                told.put(time.perf_counter())

        listen_bare(url, _BASELINE, on_payload, lambda: told.put(0.0))


@contextmanager
def _broker(folder: Path) -> Iterator[tuple[str, str]]:
    """A mosquitto if it is installed, else the embedded broker: kind and URL.

    Raises:
        ModuleNotFoundError: there is neither.
    """
    port = free_port()
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if program is not None:
        config = folder / "mosquitto.conf"
        # Without it mosquitto holds a second small message back until the first is confirmed: 40 ms for every snapshot.
        lines = (f"listener {port} 127.0.0.1", "allow_anonymous true", "set_tcp_nodelay true", "max_queued_messages 0")
        config.write_text("\n".join(lines) + "\n")
        argv = [program, "-c", str(config)]
    else:
        importlib.import_module("amqtt")
        argv = [sys.executable, "-m", "crokinole", "broker", "--port", str(port)]
    with _running(argv) as process:
        end_s = time.monotonic() + _WAIT_S
        while not reachable("127.0.0.1", port):
            if process.poll() is not None or time.monotonic() > end_s:
                raise BenchError(f"{argv[0]} does not start")
            time.sleep(0.05)
        yield ("mosquitto" if program else "embedded"), f"mqtt://127.0.0.1:{port}"


@contextmanager
def _hub(folder: Path, url: str) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """A hub process, and how long it took until it said ``online``."""
    config = folder / "hub.toml"
    database = f"sqlite:///{folder / 'hub.sqlite3'}"
    config.write_text(config_toml(Config(mqtt=MqttSection(url=url), hub=HubSection(database=database))))
    online: SimpleQueue[float] = SimpleQueue()

    def on_status(message: Message) -> None:
        if message.payload == b"online":
            online.put(time.perf_counter())

    bus = MqttBus(url, "crokinole-bench-status")
    bus.subscribe(topics.HUB_STATUS, on_status)
    _connect(bus)
    began_s = time.perf_counter()
    try:
        with _running([sys.executable, "-m", "crokinole", "hub", "--config", str(config)]) as process:
            yield process, _came_online(process, online) - began_s
    finally:
        bus.close()


def _came_online(process: subprocess.Popen[bytes], online: SimpleQueue[float]) -> float:
    while process.poll() is None:
        with contextlib.suppress(Empty):
            return online.get(timeout=1.0)
    raise BenchError(f"the hub does not start: it ended with {process.returncode}")


@contextmanager
def _running(argv: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _memory_mb(pid: int) -> float:
    """Resident memory of a process; not a number where the system has no /proc."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS:"))
