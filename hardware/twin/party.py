"""Who is on the twin's line: the board's daemons and the simulated players' bridge, coming, going and coming back."""

from __future__ import annotations

import logging
import selectors
import socket
from collections.abc import Callable
from pathlib import Path

from hardware.line import Json, Line, LineError, listen

log = logging.getLogger(__name__)

ROLES = ("beam", "camera", "players")


class Party:
    """The twin's end of the line: one peer for each role, the newest wins.

    Args:
        path: of the Unix socket.
        welcome: makes the words for a peer of a role that has just come.

    Raises:
        LineError: the path cannot be used.
    """

    def __init__(self, path: Path, welcome: Callable[[str], Json]) -> None:
        self._path, self._welcome = path, welcome
        self._server = listen(path)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._server, selectors.EVENT_READ)
        self._strangers: list[Line] = []
        self._lines: dict[str, Line] = {}
        self.bell = -1

    def watch(self, bell: socket.socket) -> None:
        """Wake :meth:`hear` also when this socket can be read."""
        self._selector.register(bell, selectors.EVENT_READ)

    def has(self, *roles: str) -> bool:
        """Whether peers of all these roles are here."""
        return all(role in self._lines for role in roles)

    def say(self, role: str, message: Json) -> None:
        """Send a message to a role; nothing happens when nobody has it now."""
        line = self._lines.get(role)
        if line is not None:
            try:
                line.send(message)
            except LineError as error:
                self._lose(role, error)

    def hear(self, timeout_s: float) -> list[tuple[str, Json]]:
        """What came within a time, as role and message; ``hello`` once a peer has got its welcome."""
        if not self._selector.select(timeout_s):
            return []
        heard: list[tuple[str, Json]] = []
        for key, _ in self._selector.select(0):
            if key.fileobj is self._server:
                sock, _ = self._server.accept()
                stranger = Line(sock)
                self._strangers.append(stranger)
                self._selector.register(stranger, selectors.EVENT_READ)
        heard += self._greet()
        for role, line in list(self._lines.items()):
            try:
                for message in line.waiting():  # one by one: what came before a hang-up counts
                    heard.append((role, message))
            except LineError as error:
                if self._lines.get(role) is line:
                    self._lose(role, error)
        return heard

    def close(self) -> None:
        """Hang up on everybody and give the socket back."""
        for line in (*self._lines.values(), *self._strangers):
            self._selector.unregister(line)
            line.close()
        self._selector.close()
        self._server.close()
        self._path.unlink(missing_ok=True)

    def _greet(self) -> list[tuple[str, Json]]:
        greeted: list[tuple[str, Json]] = []
        for line in list(self._strangers):
            try:
                hello = line.receive(0)
                if hello is None:
                    continue
                role = _role(hello)
                self._strangers.remove(line)
                if role in self._lines:
                    self._lose(role, LineError("another one has come"))
                self._lines[role] = line
                self.say(role, {"is": "welcome", **self._welcome(role)})
                greeted.append((role, hello))
            except LineError as error:
                log.warning("a peer is turned away: %s", error)
                self._strangers.remove(line)
                self._selector.unregister(line)
                line.close()
        return greeted

    def _lose(self, role: str, error: LineError) -> None:
        log.info("%s has gone: %s", role, error)
        line = self._lines.pop(role)
        self._selector.unregister(line)
        line.close()


def _role(hello: Json) -> str:
    role = hello.get("role")
    if hello.get("is") != "hello" or role not in ROLES:
        raise LineError(f"expected a hello of {', '.join(ROLES)}, got {hello!r}")
    return str(role)
