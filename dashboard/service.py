"""The dashboard's process: gunicorn with one gevent worker, which alone connects to the broker.

Nothing is imported or connected before the worker has patched the standard library: paho started earlier, or in a
second worker, would not work (design: "Dashboard process"). So the parent only listens and watches the worker.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hub.link.bus import BusError, broker_address
from hub.link.config import SECRET_MODE, Config, ConfigError, read_secret

if TYPE_CHECKING:
    from flask import Flask

BAD_INPUT, MISSING = 2, 3
_STOP_S = 1
_BACKLOG = 512


def run(config: Config) -> int:
    """Serve the pages until SIGTERM.

    Returns:
        0 after a clean stop; 2 if the broker's URL, the secret or the board's preset is none; 3 if the address cannot
        be listened at, or the secret not be made.
    """
    try:
        make_app = _prepared(config)
        listener = _listen(config.dashboard.host, config.dashboard.port)
    except (OSError, BusError, ValueError) as error:
        print(f"dashboard: {error}", file=sys.stderr)
        return MISSING if isinstance(error, OSError) else BAD_INPUT
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"dashboard: http://{shown}:{port}/", file=sys.stderr, flush=True)
    return _serve(listener, make_app)


def _listen(host: str, port: int) -> socket.socket:
    """Listen before anything else is started, so that a taken port is told in one line.

    Raises:
        OSError: with a message for people.
        ValueError: no port can be that number.
    """
    if not 0 <= port <= 65535:  # the resolver would take it modulo 65536
        raise ValueError(f"{host}:{port}: a port is a number from 0 to 65535")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):  # the latter of what no host can be called
        raise OSError(f"[dashboard] host: no machine is called {host!r}; expected an address of this one") from None
    try:
        with contextlib.ExitStack() as undo:
            listener = undo.enter_context(socket.socket(family, kind))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
            undo.pop_all()
            return listener
    except OSError as error:
        why = {
            errno.EADDRINUSE: "is taken by another program; choose another [dashboard] port or stop that program",
            errno.EACCES: "may not be listened at by this user; choose a port above 1023",
            errno.EADDRNOTAVAIL: "is no address of this machine; mend [dashboard] host",
        }.get(error.errno or 0, f"cannot be listened at: {error.strerror or error}")
        raise OSError(f"{host}:{port} {why}") from None


def _prepared(config: Config) -> Callable[[], Flask]:
    """Everything that can be wrong is looked at here; the rest is done in the worker, by the function returned."""
    from hardware.board import load_board

    broker_address(config.mqtt.url)
    secret_key = _secret_key(Path(config.dashboard.secret_file))
    password = read_secret(Path(config.mqtt.password_file)) if config.mqtt.password_file else None
    geometry = load_board(config.board.preset)

    def make_app() -> Flask:
        from dashboard import create_app, pages_version
        from dashboard.asking import Asker
        from dashboard.cases import Cases, Keeper
        from dashboard.club import Club
        from hub.link.mqtt import MqttBus

        bus = MqttBus(config.mqtt.url, f"dashboard-{secrets.token_hex(6)}", password=password)
        club = Club(bus, geometry, pages=pages_version())
        asker = Asker(bus)
        cases = Cases(Path(config.dashboard.cases_dir))
        club.start()
        bus.start()
        Keeper(cases, _forgotten(config.hub.database)).start()
        return create_app(club, asker, cases, secret_key=secret_key)

    return make_app


def _forgotten(database: str) -> Callable[[set[str]], set[str]]:
    """Tells in which matches somebody played who was forgotten since; nothing while the hub's database is not there."""

    def look(matches: set[str]) -> set[str]:
        from hub.store.archive import Archive

        archive = Archive(database)
        try:
            if not archive.ready():
                return set()
            names = archive.players()
            records = [record for match in matches if (record := archive.match(match)) is not None]
        finally:
            archive.close()
        return {record.id for record in records if any(names.get(player) == "" for player in record.players.values())}

    def in_thread(matches: set[str]) -> set[str]:
        # The database blocks; the pages must not wait for it.
        from gevent import get_hub

        found: set[str] = get_hub().threadpool.apply(look, (matches,))
        return found

    return in_thread


def _secret_key(path: Path) -> str:
    """The key that signs cookies; made, readable by its owner alone, when there is none.

    Raises:
        ConfigError: unreadable, readable by others, or too short to sign with.
        OSError: it cannot be made.
    """
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _make_key(path)
        except OSError as error:
            raise OSError(f"{path}: the key for cookies cannot be made there: {error.strerror}") from None
    key = read_secret(path)
    if len(key) < 32:
        raise ConfigError(f"{path}: expected a key of at least 32 characters; remove the file and it is made anew")
    return key


def _make_key(path: Path) -> None:
    """Write a new key beside the path and put it there whole, unless another process was faster."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-", encoding="utf-8") as file:
        os.fchmod(file.fileno(), SECRET_MODE)
        file.write(secrets.token_hex(32) + "\n")
        file.flush()
        with contextlib.suppress(FileExistsError):
            os.link(file.name, path)


def _serve(listener: socket.socket, make_app: Callable[[], Flask]) -> int:
    from gunicorn.app.base import BaseApplication

    class Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
        """Gunicorn, told here instead of by a file or a command line."""

        def load_config(self) -> None:
            settings: dict[str, Any] = {
                "bind": [f"fd://{listener.fileno()}"],
                "worker_class": "gevent",
                "workers": 1,
                "preload_app": False,
                "graceful_timeout": _STOP_S,
                "loglevel": "error",
                "proc_name": "crokinole-dashboard",
                "control_socket_disable": True,
            }
            for name, value in settings.items():
                if name in self.cfg.settings:
                    self.cfg.set(name, value)

        def load(self) -> Flask:
            logging.basicConfig(level=logging.WARNING, format="dashboard: %(message)s")
            return make_app()

    os.environ.pop("GUNICORN_CMD_ARGS", None)  # the one configuration is the TOML file
    try:
        Application().run()
    except SystemExit as stop:
        return int(stop.code or 0) if not isinstance(stop.code, str) else 1
    return 0
