"""The other end of the line: a twin that says what the test tells it to say."""

from __future__ import annotations

import selectors
import socket
from pathlib import Path
from typing import Self

from hardware.line import FrameMemory, Json, Line, listen

WAIT_S = 30.0


class FakeTwin:
    """One board's twin with a lock-step clock; the beam that connects is driven by :meth:`edge` and :meth:`tick`."""

    def __init__(self, folder: Path, *, lockstep: bool = True) -> None:
        self.path = folder / "twin.sock"
        self.memory = FrameMemory(folder / "twin.mem", size_wh=(8, 8))
        self.lockstep = lockstep
        self.blocked: bool | None = None
        self.emitter: list[tuple[int, bool]] = []
        self._to_switch: list[tuple[int, bool]] = []
        self._socket: socket.socket | None = listen(self.path)
        self._line: Line | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        if self._socket is not None:
            self._socket.close()
        self.path.unlink(missing_ok=True)

    def meet(self) -> FakeTwin:
        """Wait for the beam and welcome it."""
        assert self._socket is not None
        self.hang_up()
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            assert selector.select(WAIT_S), "no beam has come"
        sock, _ = self._socket.accept()
        self._line = Line(sock)
        hello = self._line.receive(WAIT_S)
        assert hello is not None
        assert hello["role"] == "beam"
        welcome: Json = {
            "is": "welcome",
            "path": str(self.memory.path),
            "lockstep": self.lockstep,
            "epoch_ns": 0,
            "speed": 1.0,
            "board": "tournament",
            "size_wh": [8, 8],
            "slots": 4,
            "frame_rate_hz": 15,
        }
        if self.blocked is not None:
            welcome["blocked"] = self.blocked
        self._line.send(welcome)
        return self

    def hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def say(self, message: Json) -> None:
        assert self._line is not None
        self._line.send(message)

    def edge(self, at_ms: float, *, blocked: bool) -> None:
        self._switch(round(at_ms * 1e6))
        self.say({"is": "edge", "at_ns": round(at_ms * 1e6), "blocked": blocked})

    def tick(self, at_ms: float) -> None:
        self.memory.clock_ns = round(at_ms * 1e6)
        self._switch(round(at_ms * 1e6))
        self.say({"is": "tick", "at_ns": round(at_ms * 1e6)})

    def _switch(self, to_ns: int) -> None:
        while self._to_switch and self._to_switch[0][0] <= to_ns:
            at_ns, on = self._to_switch.pop(0)
            self.say({"is": "emitter", "at_ns": at_ns, "on": on})

    def taken(self, timeout_s: float = WAIT_S) -> Json | None:
        """The next ``taken``; announcements of the emitter are noted on the way."""
        assert self._line is not None
        while (message := self._line.receive(timeout_s)) is not None:
            if message["is"] == "taken":
                return message
            assert message["is"] == "emitter"
            self.emitter.append((message["at_ns"], message["on"]))
            self._to_switch.append(self.emitter[-1])
        return None

    def step(self, at_ms: float) -> Json:
        """Tick, and wait until it is done with."""
        self.tick(at_ms)
        taken = self.taken()
        assert taken is not None, "the beam is not done"
        assert taken["at_ns"] == round(at_ms * 1e6)
        return taken
