"""The hub as a process: one loop owns all state, the broker's threads only enqueue.

The way of a batch: messages that have gathered -> one transaction -> one ack per source, one retained snapshot per
board -> answers -> calls. Nothing is published that is not stored.
"""

from __future__ import annotations

import gc
import logging
import os
import queue
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import sdnotify

from hub.desk import OFFLINE, ONLINE, STANDING, Desk
from hub.link import topics
from hub.link.bus import Bus, BusError, Message, Will
from hub.link.config import Config, ConfigError, read_secret
from hub.link.mqtt import MqttBus
from hub.people.roles import Grant, People, read_pins, read_tokens, right_pin
from hub.rules.errors import RulesError
from hub.rules.presets import load_ruleset, read_ruleset
from hub.state import Standing, rules_table
from hub.store.engine import StoreBusyError, StoreError
from hub.store.journal import Batch, Journal
from hub.work import Output, PinTry

log = logging.getLogger(__name__)

MISSING = 3
_GATHER_S = 0.005
_GATHER_MESSAGES = 500
_IDLE_S = 1.0
_RETRY_S = 1.0
_STANDBY_S = 1.0

WILL = Will(topics.HUB_STATUS, OFFLINE)


class _Stop:
    """Ends the loop."""


class _PinChecked:
    def __init__(self, tried: PinTry, *, right: bool) -> None:
        self.tried = tried
        self.right = right


_Item = Message | bool | _Stop | _PinChecked


class HubService:
    """The loop between a bus and the desk.

    Args:
        bus: not started yet; its last will should be :data:`WILL`.
        journal: opened by this hub alone.
        people: tokens and PINs.
        now_ms: wall time.
        notify: tells systemd how we are.
        standing: under what a first shot opens a match.
    """

    def __init__(
        self,
        bus: Bus,
        journal: Journal,
        people: People,
        *,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        notify: Callable[[str], object] = lambda _: None,
        standing: Standing = STANDING,
    ) -> None:
        self._bus = bus
        self._journal = journal
        self._people = people
        self.desk = Desk(journal, people, run=f"h-{secrets.token_hex(8)}", now_ms=now_ms, standing=standing)
        self._queue: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._pins = ThreadPoolExecutor(1, thread_name_prefix="pins")
        self._notify = notify
        self._stopping = False
        self._told_busy = False
        for topic in (topics.ALL_FACTS, topics.ALL_ASKS, topics.ALL_STATUS, topics.ALL_HEALTH, topics.HUB_STATUS):
            bus.subscribe(topic, self._queue.put)
        bus.on_connection(self._queue.put)

    def start(self) -> None:
        """Begin to connect."""
        self._bus.start()
        self._notify("READY=1")

    def stop(self) -> None:
        """Ask the loop to end; from any thread or signal handler."""
        self._queue.put(_Stop())

    def run(self) -> None:
        """Work until asked to stop."""
        while not self._stopping:
            self.turn(_IDLE_S)
            self._notify("WATCHDOG=1")

    def turn(self, timeout_s: float) -> bool:
        """Take in what has gathered, waiting at most ``timeout_s`` for the first; whether there was anything."""
        messages: list[Message] = []
        connected = False
        for item in self._gathered(timeout_s):
            match item:
                case Message():
                    messages.append(item)
                case _PinChecked():
                    self._pin_checked(item)
                case _Stop():
                    self._stopping = True
                case _:
                    connected = item
        if connected:
            self._bus.publish(topics.HUB_STATUS, ONLINE, retain=True)
            for board in self.desk.boards:
                self._publish_table(board)
            for board in self.desk.gone:
                self._bus.publish(topics.table(board), b"", retain=True)
        if messages:
            self._work(messages)
        return bool(messages) or connected

    def close(self) -> None:
        """Say goodbye and free the database."""
        self._notify("STOPPING=1")
        self._bus.close(WILL)
        self._pins.shutdown(wait=False, cancel_futures=True)
        self._journal.close()

    def _gathered(self, timeout_s: float) -> list[_Item]:
        try:
            items: list[_Item] = [self._queue.get(timeout=timeout_s) if timeout_s else self._queue.get_nowait()]
            until_s = time.monotonic() + _GATHER_S
            while len(items) < _GATHER_MESSAGES and time.monotonic() < until_s:
                items.append(self._queue.get_nowait())
        except queue.Empty:
            return items if "items" in locals() else []
        return items

    def _work(self, messages: list[Message]) -> None:
        for message in messages:
            # The last will of our own previous life may come after our "online"; nobody else speaks for us.
            if message.topic == topics.HUB_STATUS and message.payload != ONLINE and not message.retain:
                self._bus.publish(topics.HUB_STATUS, ONLINE, retain=True)
        batch, out = self.desk.work(messages)
        if self._stored(batch):
            self._publish(out)

    def _stored(self, batch: Batch) -> bool:
        """Store a batch, again and again if the database cannot be written just now; False if told to stop first."""
        while batch.entries:
            try:
                self._journal.write(batch)
            except StoreBusyError as error:
                if not self._told_busy:
                    log.error("%s; facts wait, trying again", error)  # noqa: TRY400 - one line, no traceback
                self._told_busy = True
                self._notify("WATCHDOG=1")
                time.sleep(_RETRY_S)
                if self._told_to_stop():
                    return False
                continue
            break
        if self._told_busy and batch.entries:
            log.warning("the database can be written again")
            self._told_busy = False
        return True

    def _told_to_stop(self) -> bool:
        """Look for a stop among what waits, without taking anything else in."""
        waiting: list[_Item] = []
        try:
            while True:
                waiting.append(self._queue.get_nowait())
        except queue.Empty:
            pass
        for item in waiting:
            if isinstance(item, _Stop):
                self._stopping = True
            else:
                self._queue.put(item)
        return self._stopping

    def _publish(self, out: Output) -> None:
        for topic, payload in out.acks:
            self._bus.publish(topic, payload)
        for board in out.tables:
            self._publish_table(board)
        for topic, payload in out.answers:
            self._bus.publish(topic, payload)
        for topic, payload in out.wanted:
            self._bus.publish(topic, payload)
        for topic, payload in out.calls:
            self._bus.publish(topic, payload, qos=0)
        for topic in out.cleared:
            self._bus.publish(topic, b"", retain=True)
        for tried in out.pin_tries:
            self._pins.submit(self._check_pin, tried)

    def _publish_table(self, board: str) -> None:
        snapshot = self.desk.snapshot(board)
        if snapshot is not None:
            self._bus.publish(topics.table(board), snapshot, retain=True)

    def _check_pin(self, tried: PinTry) -> None:
        self._queue.put(_PinChecked(tried, right=right_pin(self._people.pins.get(tried.board), tried.pin)))

    def _pin_checked(self, checked: _PinChecked) -> None:
        try:
            topic, payload = self.desk.requests.pin_checked(checked.tried, right=checked.right)
        except StoreBusyError as error:
            log.warning("%s; somebody could not sign in", error)
            return
        self._bus.publish(topic, payload)


def open_people(config: Config, journal: Journal) -> People:
    """Tokens and PINs from their files and from the database.

    Raises:
        ConfigError: a file cannot be used.
        StoreError: the database cannot be read.
    """
    people = People()
    for token_hash, role, board, expires_ms in journal.tokens():
        people.grants[token_hash] = Grant(role, board, expires_ms)  # type: ignore[arg-type]  # only roles were stored
    if config.hub.token_file:
        people.grants.update(read_tokens(Path(config.hub.token_file)))
    if config.hub.pin_file:
        people.pins = read_pins(Path(config.hub.pin_file))
    return people


def standing_of(config: Config) -> Standing:
    """Under what a first shot opens a match, as the club set it.

    Raises:
        ConfigError: there are no such rules.
    """
    name = config.hub.standing_rules
    try:
        rules = read_ruleset(Path(name)) if name.endswith(".toml") else load_ruleset(name)
    except RulesError as error:
        raise ConfigError(f"[hub] standing_rules: {error.sentence}") from None
    return Standing(rules_table(rules), config.hub.standing_level)


class _StoppedWaitingError(Exception):
    """We were told to end before the other hub did."""


class _Turn:
    """Waits, as long as nobody tells us to end, until the hub that has the database is gone."""

    def __init__(self, notify: Callable[[str], object]) -> None:
        self._notify = notify
        self._stop = threading.Event()
        self._told = False

    def stop(self) -> None:
        """Give up; from a signal handler."""
        self._stop.set()

    def __call__(self, holder: str) -> None:
        """Called again and again while ``holder`` has the database."""
        if not self._told:
            log.warning("the database is in use by %s; standing by to take over", holder)
            self._notify("READY=1\nSTATUS=standing by")
        self._told = True
        self._notify("WATCHDOG=1")
        if self._stop.wait(_STANDBY_S):
            raise _StoppedWaitingError


def run(config: Config) -> int:
    """The hub until SIGTERM; the exit status: 0 done, 2 bad configuration, 3 no database."""
    # Without the variable sdnotify would leave a socket behind.
    notify = sdnotify.SystemdNotifier().notify if "NOTIFY_SOCKET" in os.environ else lambda _: None
    turn = _Turn(notify)
    service: HubService | None = None

    def on_signal(number: int, _frame: FrameType | None) -> None:
        log.info("%s: stopping", signal.Signals(number).name)
        turn.stop()
        if service is not None:
            service.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    try:
        journal = Journal(config.hub.database, turn if config.hub.standby else None)
    except _StoppedWaitingError:
        return 0
    except StoreError as error:
        sys.stderr.write(f"crokinole hub: {error}\n")
        return MISSING
    try:
        people = open_people(config, journal)
        password = read_secret(Path(config.mqtt.password_file)) if config.mqtt.password_file else None
        bus = MqttBus(config.mqtt.url, "crokinole-hub", will=WILL, password=password)
        service = HubService(bus, journal, people, notify=notify, standing=standing_of(config))
    except (ConfigError, BusError) as error:
        journal.close()
        sys.stderr.write(f"crokinole hub: {error}\n")
        return 2
    except StoreError as error:
        journal.close()
        sys.stderr.write(f"crokinole hub: {error}\n")
        return MISSING
    log.info("journal: %s, %d lines", journal.name, journal.last_id)
    gc.collect()
    gc.freeze()  # what the libraries have made stays: to look through it again would halt all tables for 0.1 s
    service.start()
    try:
        service.run()
    except StoreError as error:
        sys.stderr.write(f"crokinole hub: {error}\n")
        return MISSING
    finally:
        service.close()
    return 0
