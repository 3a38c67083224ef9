"""The simulated club: twin boards, broker, hub and dashboard, each its own process, and the simulated players."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import math
import os
import secrets
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

import msgspec

from hub.club import broker
from hub.club.bridge import Bridge
from hub.club.report import BoardReport, Report, compare, doubled, read_truth
from hub.club.supervisor import Child, Supervisor
from hub.link.bus import BusError, broker_address
from hub.link.config import (
    BeamSection,
    BoardSection,
    CameraSection,
    Config,
    DashboardSection,
    HubSection,
    MqttSection,
    show_config,
)
from hub.link.mqtt import MqttBus
from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset
from hub.store.archive import Archive

log = logging.getLogger(__name__)

_LOOK_S = 0.1
_START_S = 20.0
_SETTLE_S = 10.0
_LONGEST_SOCKET_PATH = 107  # bytes, of sockaddr_un on Linux


class DemoError(Exception):
    """The demo cannot start; ``status`` is the exit status."""

    def __init__(self, text: str, status: int = 3) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Options:
    """What ``crokinole demo`` was asked for; see its help."""

    boards: int = 2
    speed: float = 1.0
    seed: int = 1
    rounds: int = 0
    games: int = 0
    rules: str = "match-play"
    headless: bool = False
    as_json: bool = False
    broker_url: str = ""
    port: int = 0
    run_dir: Path | None = None

    @property
    def ends(self) -> bool:
        """Whether it ends by itself."""
        return bool(self.rounds or self.games)


@dataclass(slots=True)
class _Board:
    id: str
    folder: Path
    bridge: Bridge
    twin: Child

    @property
    def truth_path(self) -> Path:
        return self.folder / "truth.jsonl"


class Demo:
    """One simulated evening.

    Raises:
        DemoError: a port is taken, the named broker is not there, or an option is of no use.
    """

    def __init__(self, options: Options) -> None:
        try:
            load_ruleset(options.rules)
        except RulesError as error:
            raise DemoError(f"--rules: {error}", 2) from None
        if not math.isfinite(options.speed):
            raise DemoError(f"--speed {options.speed}: expected a number from 0.1 to 10", 2)
        self._options = options
        self._run_dir = (options.run_dir or Path(tempfile.mkdtemp(prefix="crokinole-demo-"))).absolute()
        self._lock = _locked(self._run_dir)
        self._supervisor = Supervisor()
        self._boards: list[_Board] = []
        self._hub_config = Config()
        self._url = options.broker_url
        self._stopping = False

    def run(self) -> int:
        """Play until the evening is over or somebody ends it; the exit status."""
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, self._on_signal)
        try:
            self._start()
            while not self._stopping and not self._over():
                self._supervisor.look()
                time.sleep(_LOOK_S)
            report = self._report() if self._options.ends and not self._stopping else None
        finally:
            for board in self._boards:
                board.bridge.close()
            self._supervisor.stop()
            self._lock.close()
        if report is None:
            return 0
        return self._tell(report)

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._stopping = True

    def _start(self) -> None:
        self._start_broker()
        tokens = {f"board-{n + 1}": secrets.token_urlsafe(24) for n in range(self._options.boards)}
        self._hub_config = self._write_hub_config(tokens)
        self._child("hub", "hub", "--config", str(self._run_dir / "hub.toml"))
        page = "" if self._options.headless else self._start_dashboard()
        for number, (board, token) in enumerate(tokens.items()):
            self._start_board(board, number, token)
        self._greet(page, tokens)

    def _start_broker(self) -> None:
        if self._url:
            try:
                host, port, _ = broker_address(self._url)
            except BusError as error:
                raise DemoError(f"--broker: {error}", 2) from None
            if not broker.reachable(host, port):
                raise DemoError(f"--broker {self._url}: nobody listens there; start it, or leave --broker away")
            return
        port = broker.free_port()
        self._url = f"mqtt://127.0.0.1:{port}"
        self._child("broker", "broker", "--port", str(port)).last = True
        until_s = time.monotonic() + _START_S
        while not broker.reachable("127.0.0.1", port):
            if time.monotonic() > until_s:
                raise DemoError(f"the embedded broker does not answer at port {port}; see {self._run_dir}/broker.log")
            self._supervisor.look()
            time.sleep(_LOOK_S)

    def _write_hub_config(self, tokens: dict[str, str]) -> Config:
        token_path = self._run_dir / "tokens.jsonl"
        token_path.touch(mode=0o600)
        rows = [{"token": token, "role": "table", "board": board} for board, token in tokens.items()]
        token_path.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows) + b"\n")
        config = Config(
            mqtt=MqttSection(url=self._url),
            hub=HubSection(
                database=f"sqlite:///{quote(str(self._run_dir / 'hub.sqlite3'))}", token_file=str(token_path)
            ),
            dashboard=DashboardSection(port=self._port(), secret_file=str(self._run_dir / "dashboard.secret")),
        )
        (self._run_dir / "hub.toml").write_text(show_config(config), encoding="utf-8")
        return config

    def _port(self) -> int:
        wanted = self._options.port
        if wanted and broker.reachable("127.0.0.1", wanted):
            raise DemoError(f"port {wanted} is taken; choose another with --port")
        if wanted:
            return wanted
        return 8080 if not broker.reachable("127.0.0.1", 8080) else broker.free_port()

    def _start_dashboard(self) -> str:
        self._child("dashboard", "dashboard", "--config", str(self._run_dir / "hub.toml"))
        return f"http://127.0.0.1:{self._hub_config.dashboard.port}"

    def _start_board(self, board: str, number: int, token: str) -> None:
        options = self._options
        folder = self._run_dir / board
        folder.mkdir(exist_ok=True)
        socket_path = folder / "twin.sock"
        config = Config(
            board=BoardSection(id=board, state_dir=str(folder), twin=str(socket_path)),
            mqtt=MqttSection(url=self._url),
            beam=BeamSection(source="twin"),
            camera=CameraSection(source="twin", height_mm=1010.0),  # as a club measures it with a rule
        )
        path = folder / "board.toml"
        path.write_text(show_config(config), encoding="utf-8")
        twin = self._child(
            f"{board} twin",
            "twin",
            *("--socket", str(socket_path), "--memory", str(folder / "frames"), "--truth", str(folder / "truth.jsonl")),
            *("--seed", str(options.seed + 1000 * number), "--speed", str(options.speed), "--rules", options.rules),
            *("--rounds", str(options.rounds), "--games", str(options.games)),
            *(("--lockstep",) if options.headless else ()),
            once=True,
        )
        self._child(f"{board} beam", "beam", "--config", str(path))
        self._child(f"{board} camera", "camera", "--config", str(path))
        bus = MqttBus(self._url, f"players-{board}-{secrets.token_hex(4)}")
        bridge = Bridge(board=board, bus=bus, socket_path=socket_path, token=token)
        bridge.start()
        self._boards.append(_Board(board, folder, bridge, twin))

    def _child(self, name: str, *arguments: str, once: bool = False) -> Child:
        log_path = self._run_dir / f"{name.replace(' ', '-')}.log"
        argv = [sys.executable, "-m", "crokinole", *arguments]
        return self._supervisor.add(Child(name, argv, log_path, once=once))

    def _greet(self, page: str, tokens: dict[str, str]) -> None:
        lines = [f"a club of {len(tokens)} board(s), broker {self._url}, files in {self._run_dir}"]
        if page:
            lines.append(f"wall   {page}/")
            lines += [f"table  {page}/table/{board}?token={token}" for board, token in tokens.items()]
        lines.append("pids   " + "  ".join(f"{c.name}: {c.pid}" for c in self._supervisor.children))
        if not self._options.ends:
            lines.append("Ctrl-C ends it")
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()

    def _over(self) -> bool:
        return self._options.ends and all(board.bridge.over.is_set() for board in self._boards)

    def _report(self) -> Report:
        boards = tuple(self._settled(board) for board in self._boards)
        calls = [call for board in self._boards for call in board.bridge.calls]
        archive = Archive(self._hub_config.hub.database)
        lost = sum(_missing(archive, board) for board in self._boards)
        return Report(boards, lost, doubled(calls, boards))

    def _settled(self, board: _Board) -> BoardReport:
        """At real speed the last snapshots may still be on their way when the twin has ended."""
        until_s = time.monotonic() + _SETTLE_S
        while True:
            told = compare(board.id, read_truth(board.truth_path), board.bridge.table)
            if not told.mismatches or time.monotonic() > until_s:
                return told
            time.sleep(_LOOK_S)

    def _tell(self, report: Report) -> int:
        if self._options.as_json:
            sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
        else:
            sys.stdout.write(_in_words(report))
        if report.good and self._options.run_dir is None:
            shutil.rmtree(self._run_dir, ignore_errors=True)
        elif not report.good:
            log.warning("the score differs from the truth; what happened lies in %s", self._run_dir)
        return 0 if report.good else 1


def _locked(folder: Path) -> TextIO:
    """The folder of an evening, made if missing, and the lock on it, which the kernel drops with the process.

    Raises:
        DemoError: it cannot be used, or another demo plays there.
    """
    if len(os.fsencode(folder / "board-00" / "twin.sock")) > _LONGEST_SOCKET_PATH:
        raise DemoError(f"--dir {folder}: the path is too long for the sockets in it; name a shorter one", 2)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "demo.lock").open("w", encoding="utf-8")
    except OSError as error:
        raise DemoError(f"--dir {folder}: cannot be used: {error.strerror}; name another folder", 2) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise DemoError(f"--dir {folder}: another demo is playing there; name another folder") from None
    return lock


def _missing(archive: Archive, board: _Board) -> int:
    """Sequence numbers that the board's daemons gave out and the journal does not have."""
    missing = 0
    for path in board.folder.glob("*-outbox.sqlite3"):
        source = path.name.removesuffix("-outbox.sqlite3")
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as outbox:
            given = outbox.execute("SELECT boot, last_seq FROM given").fetchall()
        for boot, last_seq in given:
            missing += len(set(range(1, last_seq + 1)) - archive.journalled(board.id, source, boot))
    return missing


def _in_words(report: Report) -> str:
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
