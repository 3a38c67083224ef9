"""The simulated club: twin boards, broker, hub and dashboard, each its own process, and the simulated players."""

from __future__ import annotations

import logging
import math
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from hub.club import broker, ports
from hub.club.bridge import Bridge
from hub.club.folder import DemoError, EveningFolder
from hub.club.report import BoardReport, Report, compare, doubled, in_words, missing, read_truth
from hub.club.supervisor import Child, Supervisor
from hub.link.bus import BusError, broker_address
from hub.link.config import Config
from hub.link.masking import masked
from hub.link.mqtt import MqttBus
from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset
from hub.store.archive import Archive

log = logging.getLogger(__name__)

_LOOK_S = 0.1
_START_S = 60.0  # a small machine starts many processes one after the other
_TRIES = 5
_USUAL_PORT = 8080
_SETTLE_S = 10.0


class _EndedError(Exception):
    """Somebody has ended the demo before it had begun."""


@dataclass(frozen=True, slots=True)
class Options:
    """What ``crokinole demo`` was asked for; see its help."""

    boards: int = 2
    speed: float = 1.0
    seed: int = 1
    rounds: int = 0
    games: int = 0
    rules: str = "match-play"
    players: str = "polite"
    headless: bool = False
    as_json: bool = False
    broker_url: str = ""
    host: str = "127.0.0.1"
    port: int = 0
    run_dir: Path | None = None

    @property
    def ends(self) -> bool:
        """Whether it ends by itself."""
        return bool(self.rounds or self.games)


@dataclass(slots=True)
class _Board:
    id: str
    config_path: Path
    bridge: Bridge
    twin: Child


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
        run_dir = options.run_dir or Path(tempfile.mkdtemp(prefix="crokinole-demo-"))
        self._folder = EveningFolder(run_dir.absolute())
        self._supervisor = Supervisor()
        self._boards: list[_Board] = []
        self._hub_config = Config()
        self._url = options.broker_url
        self._page_port = 0
        self._organiser = secrets.token_urlsafe(24)
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
        except _EndedError:
            report = None
        except DemoError:
            if not self._supervisor.children:
                self._tidy()
            raise
        finally:
            for board in self._boards:
                board.bridge.close()
            self._supervisor.stop()
            self._folder.close()
        if report is None:
            self._tidy()
            return 0
        return self._tell(report)

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._stopping = True

    def _start(self) -> None:
        if not self._options.headless:
            self._choose_port()  # what cannot be had is told before anything is started
        self._start_broker()
        tokens = {f"board-{n + 1}": secrets.token_urlsafe(24) for n in range(self._options.boards)}
        path, self._hub_config = self._folder.write_hub(self._url, tokens, self._organiser)
        self._child("hub", "hub", "--config", str(path))
        if not self._options.headless:
            self._start_dashboard()
        for number, (board, token) in enumerate(tokens.items()):
            self._start_twin(board, number, token)
        for played in self._boards:
            self._start_daemons(played)
        if not self._options.headless:
            self._wait_until("the pages do not answer", self._pages_answer)
        self._greet(tokens)

    def _start_broker(self) -> None:
        if self._url:
            try:
                host, port, _ = broker_address(self._url)
            except BusError as error:
                raise DemoError(f"--broker: {error}", 2) from None
            if not ports.reachable(host, port):
                raise DemoError(f"--broker {masked(self._url)}: nobody listens there; start it, or leave --broker away")
            return
        for _ in range(_TRIES):
            port = ports.free_port()
            child = self._child("broker", "broker", "--port", str(port))
            child.last = True
            self._url = broker.address("127.0.0.1", port)
            if self._serves(child, f"{self._url}\n"):
                return
        raise DemoError(f"the embedded broker does not start: {child.last_words()}")

    def _start_dashboard(self) -> None:
        options = self._options
        for _ in range(1 if options.port else _TRIES):
            self._page_port = self._choose_port()
            path = self._folder.write_dashboard(self._hub_config, options.host, self._page_port)
            child = self._child("dashboard", "dashboard", "--config", str(path))
            if self._serves(child, f":{self._page_port}/\n"):
                return
        raise DemoError(f"the pages cannot be served: {child.last_words()}")

    def _choose_port(self) -> int:
        """The port that was asked for, or the usual one, or any; whoever is faster may still take it.

        Raises:
            DemoError: the one that was asked for is taken, or the host is no address of this machine.
        """
        host, wanted = self._options.host, self._options.port
        try:
            if not ports.taken(host, wanted or _USUAL_PORT):
                return wanted or _USUAL_PORT
            if wanted:
                raise DemoError(f"port {wanted} is taken; choose another with --port")
            return ports.free_port(host)
        except OSError as error:
            why = error.strerror or str(error)
            where = f"--host {host} --port {wanted}" if wanted else f"--host {host}"
            raise DemoError(f"{where}: the pages cannot be served there: {why}; choose another", 2) from None

    def _pages_answer(self) -> bool:
        self._supervisor.look()
        return ports.page_answers(self._options.host, self._page_port)

    def _serves(self, child: Child, words: str) -> bool:
        """Wait until a process says that it serves; False, and it is gone, if it could not have its address.

        Whether somebody answers at the address would not do: it may be another, who was faster.
        """
        self._wait_until(f"{child.name} does not start", lambda: child.has_said(words) or child.ended is not None)
        if child.ended is None:
            return True
        self._supervisor.give_up(child)
        return False

    def _wait_until(self, trouble: str, reached: Callable[[], bool]) -> None:
        until_s = time.monotonic() + _START_S
        while not reached():
            if self._stopping:
                raise _EndedError
            if time.monotonic() > until_s:
                raise DemoError(f"{trouble}; its log is in {self._folder.path}")
            time.sleep(_LOOK_S)

    def _start_twin(self, board: str, number: int, token: str) -> None:
        options, folder = self._options, self._folder
        pages = "" if options.headless else ports.page_url(options.host, self._page_port)
        config_path = folder.write_board(board, self._url, pages)
        twin = self._child(
            f"{board} twin",
            "twin",
            *("--socket", str(folder.socket(board)), "--memory", str(folder.board(board) / "frames")),
            *("--truth", str(folder.truth(board))),
            *("--seed", str(options.seed + 1000 * number), "--speed", str(options.speed), "--rules", options.rules),
            *("--rounds", str(options.rounds), "--games", str(options.games), "--players", options.players),
            *(("--lockstep",) if options.headless else ()),
            once=True,
        )
        bus = MqttBus(self._url, f"players-{board}-{secrets.token_hex(4)}")
        bridge = Bridge(board=board, bus=bus, socket_path=folder.socket(board), token=token)
        self._boards.append(_Board(board, config_path, bridge, twin))

    def _start_daemons(self, board: _Board) -> None:
        """Start those who would give up if the twin did not listen for long."""
        self._wait_until(f"the twin of {board.id} does not start", lambda: self._listens(board))
        for daemon in ("beam", "camera"):
            self._child(f"{board.id} {daemon}", daemon, "--config", str(board.config_path))
        board.bridge.start()

    def _listens(self, board: _Board) -> bool:
        self._supervisor.look()
        return self._folder.socket(board.id).exists()

    def _child(self, name: str, *arguments: str, once: bool = False) -> Child:
        argv = [sys.executable, "-m", "crokinole", *arguments]
        return self._supervisor.add(Child(name, argv, self._folder.log(name), once=once))

    def _greet(self, tokens: dict[str, str]) -> None:
        lines = [f"a club of {len(tokens)} board(s), broker {masked(self._url)}, files in {self._folder.path}"]
        if not self._options.headless:
            host = self._options.host
            page = ports.page_url(
                ports.network_address(host) or host if ports.everywhere(host) else host, self._page_port
            )
            lines.append(f"wall   {page}/")
            lines += [f"table  {page}/table/{board}?token={token}" for board, token in tokens.items()]
            lines.append(f"all    {page}/organiser?token={self._organiser}")
            if not ports.loopback(host):
                lines.append("open   to anybody in this network; leave --host away to keep the pages on this machine")
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
        lost = sum(missing(archive, board.id, self._folder.board(board.id)) for board in self._boards)
        return Report(boards, lost, doubled(calls, boards))

    def _settled(self, board: _Board) -> BoardReport:
        """At real speed the last snapshots may still be on their way when the twin has ended."""
        until_s = time.monotonic() + _SETTLE_S
        while True:
            told = compare(board.id, read_truth(self._folder.truth(board.id)), board.bridge.table)
            if not told.mismatches or time.monotonic() > until_s:
                return told
            time.sleep(_LOOK_S)

    def _tell(self, report: Report) -> int:
        if self._options.as_json:
            sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
        else:
            sys.stdout.write(in_words(report))
        if report.good:
            self._tidy()
            return 0
        log.warning("the score differs from the truth; what happened lies in %s", self._folder.path)
        return 1

    def _tidy(self) -> None:
        if self._options.run_dir is None:
            shutil.rmtree(self._folder.path, ignore_errors=True)
