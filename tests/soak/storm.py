"""An evening at real processes with everything that can go wrong, and how the club lives through it."""

from __future__ import annotations

import contextlib
import json
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from hub.link import topics
from hub.link.bus import Message
from hub.link.config import Config, HubSection, MqttSection, config_toml
from hub.link.messages import KIND_OF, Answer, Ask, Call, decode, encode
from hub.link.mqtt import MqttBus
from hub.link.snapshot import Table
from hub.store.backup import backup, restore
from tests.conftest import PROJECT, BrokerProcess, embedded_broker_process, free_port, require
from tests.hub.test_durability import Step

TOKEN = "a-token-of-24-characters"
WAIT_S = 90.0
BOARD = "b1"
FULL, ROOM = (4096, resource.RLIM_INFINITY), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
PACE_S = 0.08
"""Mean time between two facts: processes start and connect meanwhile."""


def broker_process(kind: str, folder: Path) -> BrokerProcess:
    """A broker that may be killed and started again: ``embedded``, ``forgetful`` or ``persistent`` mosquitto."""
    if kind == "embedded":
        return embedded_broker_process()
    port = free_port()
    lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", "set_tcp_nodelay true"]
    if kind == "persistent":
        store = folder / "mosquitto"
        store.mkdir()
        store.chmod(0o777)
        lines += ["persistence true", f"persistence_location {store}/", "autosave_interval 1", "user root"]
    else:
        lines += ["persistence false"]
    config = folder / "mosquitto.conf"
    config.write_text("\n".join(lines) + "\n")
    return BrokerProcess([require("mosquitto"), "-c", str(config)], port)


class Daemon:
    """A fact-level daemon in a process of its own, that can be killed at any moment and goes on with the next fact."""

    def __init__(self, source: str, url: str, folder: Path) -> None:
        self.source = source
        self._argv = [sys.executable, "-m", "tests.soak.daemon", "--board", BOARD, "--source", source]
        self._argv += ["--url", url, "--folder", str(folder)]
        self._facts: list[dict[str, Any]] = []
        self.given = 0
        self.trouble = ""
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._argv, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.given = self.order({})["given"]

    def order(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.trouble = told["trouble"]
        return told

    def disk(self, *, full: bool) -> None:
        """Whether its files can grow."""
        assert self.process is not None
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, FULL if full else ROOM)
        self.trouble = self.trouble or "full" * full

    def report(self, step: Step, *, killed: bool) -> None:
        """The next fact; with ``killed`` the process dies in the middle of it, and the next life goes on with it."""
        assert step.fact is not None
        body = json.loads(msgspec.json.encode(step.fact))
        order = {"kind": KIND_OF[type(step.fact)], "body": body, "at_ns": step.at_ns}
        self._facts.append(order)
        if killed:
            assert self.process is not None
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
            self.kill()
            self.start()
        while self.given < len(self._facts):
            self.given = self.order(self._facts[self.given])["given"]

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def end(self) -> None:
        assert self.process is not None
        self.process.communicate(timeout=WAIT_S)


@dataclass
class Heard:
    """What a listener heard over all lives of the broker."""

    tables: list[Table] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    facts: list[tuple[str, bytes]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, message: Message) -> None:
        topic = topics.parse(message.topic)
        if topic is None:
            return
        with self.changed, contextlib.suppress(ValueError):
            if topic.what == "table" and topic.board == BOARD:
                self.tables = [decode(message.payload, Table)]
            elif topic.what == "call":
                self.calls.append(decode(message.payload, Call))
            elif topic.board == "answer":
                answer = decode(message.payload, Answer)
                self.answers[answer.id] = answer
            elif topic.what == "fact" and topic.board == BOARD:
                self.facts = [*self.facts[-300:], (message.topic, message.payload)]
            self.changed.notify_all()

    def until(self, right: Callable[[], bool], timeout_s: float) -> bool:
        with self.changed:
            return self.changed.wait_for(right, timeout_s)


class Club:
    """A hub, a broker and two daemons, each its own process, and a phone."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "hub.sqlite3"
        self.url = f"sqlite:///{self.database}"
        self.broker = broker_process(kind, folder)
        self.broker.start()
        token_file = folder / "tokens"
        token_file.touch(mode=0o600)
        token_file.write_text(f'{{"token":"{TOKEN}","role":"table","board":"{BOARD}"}}\n')
        self.config = folder / "hub.toml"
        self.config.write_text(
            config_toml(
                Config(
                    mqtt=MqttSection(url=self.broker.url),
                    hub=HubSection(database=self.url, token_file=str(token_file)),
                )
            )
        )
        self.heard = Heard()
        self.phone = MqttBus(self.broker.url, "soak-phone")
        self.phone.subscribe(f"{topics.ROOT}/#", self.heard.take)
        self.phone.start()
        self.hub: subprocess.Popen[bytes] | None = None
        self._said: deque[str] = deque(maxlen=40)
        self.start_hub()
        self.daemons = {source: Daemon(source, self.broker.url, folder) for source in ("beam", "camera")}

    def start_hub(self) -> None:
        argv = [sys.executable, "-m", "crokinole", "hub", "--config", str(self.config)]
        self.hub = subprocess.Popen(argv, cwd=PROJECT, stderr=subprocess.PIPE)
        # No file takes its words: where its files cannot grow, the last of them would end it with another status.
        threading.Thread(target=self._listen, args=(self.hub,), daemon=True).start()

    def _listen(self, hub: subprocess.Popen[bytes]) -> None:
        assert hub.stderr is not None
        with hub.stderr:
            self._said.extend(line.decode(errors="replace") for line in hub.stderr)

    def supervise(self) -> None:
        """A hub that ended by itself, since its disk was full when it started, is started again."""
        if self.hub is not None and self.hub.poll() is not None:
            assert self.hub.returncode == 3, self.last_words()
            self.start_hub()

    def kill_hub(self) -> None:
        if self.hub is not None:
            self.hub.kill()
            self.hub.wait()
            self.hub = None

    def quiet(self) -> None:
        """Wait until every fact is acknowledged and the phone has seen the table that follows."""
        end_s = time.monotonic() + WAIT_S
        for daemon in self.daemons.values():
            while daemon.order({})["waiting"]:
                assert time.monotonic() < end_s, f"{daemon.source}: facts are never acknowledged; {self.last_words()}"
                self.supervise()
                self.heard.until(lambda: False, 0.05)

    def last_words(self) -> str:
        return "".join(list(self._said))[-2000:]

    def table(self) -> Table:
        """What the hub has stored, as its next snapshot."""
        assert self.heard.until(lambda: bool(self.heard.tables), WAIT_S), self.last_words()
        return self.heard.tables[-1]

    def ask(self, request: str, body: Any, ask_id: str) -> Answer:
        """Ask as a phone does: the same request again until there is an answer."""
        rev = self.table().rev
        ask = Ask(ask_id, "phone", TOKEN, rev, msgspec.Raw(msgspec.json.encode(body)))
        for _ in range(int(WAIT_S)):
            self.phone.publish(topics.ask(BOARD, request), encode(ask))
            if self.heard.until(lambda: ask_id in self.heard.answers, 1.0):
                return self.heard.answers[ask_id]
            self.supervise()
        raise AssertionError(f"{request} gets no answer; {self.last_words()}")

    def close(self) -> None:
        for daemon in self.daemons.values():
            daemon.end()
        if self.hub is not None:
            self.hub.send_signal(signal.SIGTERM)
            # One that was started a moment ago may not listen to signals yet, and just ends.
            assert self.hub.wait(WAIT_S) in {0, -signal.SIGTERM}, self.last_words()
        self.phone.close()
        self.broker.stop()

    def abort(self) -> None:
        """Leave no process behind, whatever happened."""
        self.kill_hub()
        for daemon in getattr(self, "daemons", {}).values():
            daemon.kill()
        self.phone.close()
        self.broker.stop()


class Storm:
    """What goes wrong before a step; chosen by a seed.

    Args:
        club: whose evening it is.
        rng: chooses.
        rate: how many mishaps befall a step on average.
    """

    def __init__(self, club: Club, rng: random.Random, rate: float) -> None:
        self._club = club
        self._rng = rng
        self._rate = rate
        self._back: list[tuple[int, Callable[[], None]]] = []
        self._step = 0
        self.done: list[str] = []

    def blow(self) -> None:
        """Before each step."""
        self._step += 1
        due = [mend for at, mend in self._back if at <= self._step]
        self._back = [(at, mend) for at, mend in self._back if at > self._step]
        for mend in due:
            mend()
        if self._rng.random() < self._rate:
            mishaps = [self._hub, self._broker, self._again, self._rubbish, self._jump, self._disk, self._daemons_disk]
            self._rng.choice([*mishaps, self._hub, self._again])()

    def kills(self, daemon: Daemon) -> bool:
        """Whether a daemon dies in the middle of its next report; never while its memory has what no disk has."""
        if self._rng.random() < self._rate / 4 and not daemon.trouble:
            self.done.append("daemon killed")
            return True
        return False

    def over(self) -> None:
        """All that is broken is mended."""
        for _, mend in sorted(self._back, key=lambda item: item[0]):
            mend()
        self._back.clear()

    def _later(self, mend: Callable[[], None], at_most: int) -> None:
        self._back.append((self._step + self._rng.randint(0, at_most), mend))

    def _hub(self) -> None:
        if self._club.hub is None:
            return
        self.done.append("hub killed")
        self._club.kill_hub()
        self._later(self._club.start_hub, 6)

    def _broker(self) -> None:
        if self._club.broker.process is None:
            return
        self.done.append("broker killed")
        self._club.broker.stop()
        self._later(self._club.broker.start, 6)

    def _again(self) -> None:
        """Facts of before come again, in any order, some as retained messages that greet every later hub."""
        with self._club.heard.changed:
            facts = list(self._club.heard.facts)
        chosen = self._rng.sample(facts, min(len(facts), 12))
        self.done.append(f"{len(chosen)} facts repeated")
        for topic, payload in chosen:
            self._club.phone.publish(topic, payload, retain=self._rng.random() < 0.3)

    def _rubbish(self) -> None:
        """Messages that were cut, or are none."""
        self.done.append("rubbish")
        with self._club.heard.changed:
            facts = list(self._club.heard.facts)
        for what in ("fact/beam", "fact/camera", "ask/start", "ask/undo", "health/beam", "status/camera", "table/x"):
            payload = self._rng.randbytes(self._rng.randint(0, 60))
            whole = self._rng.choice(facts)[1] if facts else b""
            if whole and self._rng.random() < 0.7:
                cut = self._rng.randrange(len(whole))
                payload = self._rng.choice([whole[:cut], whole[:cut] + b"\xff" + whole[cut + 1 :]])
            if what != "status/camera":
                self._club.phone.publish(f"{topics.ROOT}/{BOARD}/{what}", payload)

    def _jump(self) -> None:
        self.done.append("wall clock jumps")
        for daemon in self._club.daemons.values():
            daemon.order({"jump_s": self._rng.choice([0, 3600, -86_400, 10**8, -(10**9)])})

    def _disk(self) -> None:
        """The hub's disk is full: its files cannot grow."""
        hub = self._club.hub
        if hub is None:
            return
        self.done.append("hub's disk full")
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(hub.pid, resource.RLIMIT_FSIZE, FULL)

        def mend() -> None:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(hub.pid, resource.RLIMIT_FSIZE, ROOM)

        self._later(mend, 4)

    def _daemons_disk(self) -> None:
        """A board's disk is full for a while: the outbox goes on in memory."""
        daemon = self._rng.choice(list(self._club.daemons.values()))
        self.done.append(f"{daemon.source}'s disk full")
        daemon.disk(full=True)
        self._later(lambda: daemon.disk(full=False), 8)


def live_through(club: Club, steps: list[Step], rng: random.Random, rate: float) -> Storm:
    """An evening in a storm: its facts, and what people asked for when all was acknowledged."""
    storm = Storm(club, rng, rate)
    swap_at = rng.randrange(len(steps))
    for number, step in enumerate(steps):
        if step.fact is not None:
            storm.blow()
            club.heard.until(lambda: False, rng.expovariate(1 / PACE_S))
            daemon = club.daemons[step.source]
            daemon.report(step, killed=storm.kills(daemon))
        else:
            storm.over()
            club.quiet()
            club.ask(step.request, step.body, f"step-{number}")
        if number == swap_at:
            storm.over()
            swap_disk(club)
            storm.done.append("disk swapped for a backup")
    storm.over()
    club.quiet()
    return storm


def swap_disk(club: Club) -> None:
    """The hub goes on from a backup, while the boards still have what came after it."""
    club.quiet()
    copy = club.folder / "copy.sqlite3"
    backup(club.url, copy)
    club.kill_hub()
    restore(copy, club.url)
    club.start_hub()


def settled(club: Club, right: Callable[[Table], bool]) -> Table:
    """The table once the phone has seen what was stored last."""
    club.heard.until(lambda: bool(club.heard.tables) and right(club.heard.tables[-1]), WAIT_S)
    return club.table()


def missing_rows(folder: Path) -> list[tuple[str, str, int]]:
    """Facts that a daemon gave out and that the journal does not have."""
    missing: list[tuple[str, str, int]] = []
    with contextlib.closing(sqlite3.connect(folder / "hub.sqlite3")) as journal:
        for source in ("beam", "camera"):
            with contextlib.closing(sqlite3.connect(folder / f"{source}-outbox.sqlite3")) as outbox:
                for boot, last in outbox.execute("SELECT boot, last_seq FROM given").fetchall():
                    rows = journal.execute(
                        "SELECT seq FROM journal WHERE board = ? AND source = ? AND boot = ?", (BOARD, source, boot)
                    )
                    missing += [(source, boot, seq) for seq in sorted(set(range(1, last + 1)) - {s for (s,) in rows})]
    return missing


@contextlib.contextmanager
def club_at(kind: str, folder: Path) -> Iterator[Club]:
    """A club whose processes are gone afterwards."""
    if kind != "embedded":
        require("mosquitto")
    club = Club(kind, folder)
    try:
        yield club
    finally:
        club.abort()
