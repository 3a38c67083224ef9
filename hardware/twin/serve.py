"""Serving one simulated board: world, hands, players and frames, moved on together with whoever is on the line.

In lock-step the clock moves on only when the daemons have taken frame and edges, what they reported is
acknowledged, the players have seen the snapshot that follows, and their own wishes are answered; so the result hangs
on the seed alone, however slow anybody is. At real speed the world keeps pace with the clock and frames are left out
when nobody can take them.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardware.board import load_board
from hardware.line import FrameMemory, Json
from hardware.twin import truth
from hardware.twin.course import Course, Evening, Wish
from hardware.twin.hands import Hands
from hardware.twin.party import ROLES, Party
from hardware.twin.scene import Scene
from hardware.twin.world import World
from hub.link.clock import SimClock

log = logging.getLogger(__name__)

_SLOTS = 4
_MS = 1_000_000
_PAUSE_S = 1.0  # how long one wait for peers lasts before the stop sign is looked at again
_LULL_NS = 5 * _MS  # at real speed: how far the world may lag behind the clock while something moves
_AHEAD_TICKS = 20
_AHEAD_FRAMES = 2  # at real speed: frames that a camera may not have taken yet
_MOST_LEFT_OUT = 4  # at real speed: frames in a row that a late world may leave out
_EMPTY_NS = 2_000 * _MS  # the board stays empty at first, so that a camera can find its rings
_LATE_PEERS_NS = 60_000 * _MS
_ENOUGH_LOOKS = 45  # at real speed: frames taken before play begins; a camera that calibrates takes none meanwhile
_FAREWELL_S = 2.0
_EXPOSURE_NS = 5 * _MS


class Eye(Protocol):
    """What draws frames."""

    def render(self, scene: Scene, frame_number: int = 0) -> NDArray[np.uint8]:
        """One frame, blue green red."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """How a twin is run.

    Attributes:
        socket_path: where it listens.
        memory_path: the mapped file of clock and frames.
        truth_path: where the truth is written; None for nowhere.
        board: preset of the board.
        seed: everything that is chance follows from it.
        frame_rate_hz: frames in a simulated second.
        lockstep: whether the clock waits for everybody.
        speed: simulated seconds in a real one, at real speed.
        evening: what is played.
        size_wh: size of the frames.
        style: name of the board's looks.
        expects: the roles that must be there; the others may come or not.
        hole_xy_mm: where the middle of the hole is, as the style draws it.
        happenings: scripts of what happens to the camera.
    """

    socket_path: Path
    memory_path: Path
    truth_path: Path | None = None
    board: str = "tournament"
    seed: int = 1
    frame_rate_hz: float = 30.0
    lockstep: bool = False
    speed: float = 1.0
    evening: Evening = field(default_factory=Evening)
    size_wh: tuple[int, int] = (1280, 960)
    style: str = "maple"
    expects: tuple[str, ...] = ROLES
    hole_xy_mm: tuple[float, float] = (0.0, 0.0)
    happenings: tuple[str, ...] = ()


class Twin:
    """One simulated board that serves its line.

    Args:
        setting: how it is run.
        open_eye: makes what draws the frames; called when the first frame is due, because that takes a while and
            peers should find the line at once.

    Raises:
        BoardError, RulesError, LineError: what the setting names does not exist or cannot be used.
    """

    def __init__(self, setting: Setting, open_eye: Callable[[], Eye]) -> None:
        self._setting = setting
        board = load_board(setting.board)
        self._world = World(board, setting.seed, hole_xy_mm=setting.hole_xy_mm)
        self._hands = Hands(self._world)
        self._diary = truth.Diary(setting.truth_path)
        self._course = Course(
            board, self._world, self._hands, setting.evening, seed=setting.seed, diary=self._diary,
            alone="players" not in setting.expects, rehearsals=2 if setting.lockstep else 1,
        )  # fmt: skip
        self._open_eye = open_eye
        self._eye: Eye | None = None
        self.painting = False  # the board's looks, seconds of work in one piece in which nothing is heard
        self._memory = FrameMemory(setting.memory_path, size_wh=setting.size_wh, slots=_SLOTS)
        self._clock = SimClock(time.monotonic_ns(), setting.speed)
        self._party = Party(setting.socket_path, self._welcome)
        self._stopping = False
        self._number = self._shown = 0
        self._frames_out: list[int] = []
        self._looks = 0
        self._enough_looks = 1 if setting.lockstep else _ENOUGH_LOOKS
        self._due: dict[str, Json] = {}
        self._wake_ns = 0
        self._ticks_out = 0
        self._needs: dict[str, tuple[str, int]] = {}
        self._open: dict[str, Wish] = {}
        self._rev = 0
        self._met_ns: int | None = None
        self._bell, self._ring = socket.socketpair()
        self._bell.setblocking(False)
        self._ring.setblocking(False)
        self._party.watch(self._bell)

    def run(self) -> None:
        """Serve until the evening is over or :meth:`stop`."""
        try:
            if self._setting.lockstep:
                self._run_in_step()
            else:
                self._run_at_speed()
            if self._course.over:
                self._say_farewell()
        finally:
            self._party.close()
            self._diary.close()
            self._bell.close()
            self._ring.close()

    def stop(self) -> None:
        """End soon; may be called from a signal handler or another thread."""
        self._stopping = True
        try:
            self._ring.send(b"!")
        except OSError:
            log.debug("the twin has ended already")

    # --- the line -----------------------------------------------------------------------------------------------

    def _welcome(self, role: str) -> Json:
        setting = self._setting
        words: Json = {
            "path": str(setting.memory_path),
            "lockstep": setting.lockstep,
            "epoch_ns": self._clock.epoch_ns,
            "speed": setting.speed,
            "board": setting.board,
            "size_wh": list(setting.size_wh),
            "slots": _SLOTS,
            "frame_rate_hz": setting.frame_rate_hz,
        }
        if role == "beam":
            # The emitter of a beam that starts is on, whatever the last one did.
            self._world.receiver.relight()
            self._world.take_edges()
            words["blocked"] = self._world.receiver.blocked
        return words

    def _hear(self, timeout_s: float) -> None:
        for role, message in self._party.hear(timeout_s):
            match message.get("is"):
                case "hello":
                    self._meet(role)
                case "taken" if role == "beam":
                    self._wake_ns = int(message.get("wake_ns", 0))
                    self._ticks_out = max(0, self._ticks_out - 1)
                    self._take(role, message, at=self._due.get(role, {}).get("at_ns") == message.get("at_ns"))
                case "taken" if role == "camera":
                    self._looks += 1
                    self._frames_out = [n for n in self._frames_out if n > int(message.get("number", 0))]
                    self._take(role, message, at=self._due.get(role, {}).get("number") == message.get("number"))
                case "emitter" if role == "beam":
                    self._world.receiver.emitter(int(message["at_ns"]), on=bool(message["on"]))
                case "table" if role == "players":
                    self._course.see(message["table"])
                case "answered" if role == "players":
                    self._hear_answer(message)
                case other:
                    log.warning("%s says %r, which is not for us", role, other)

    def _meet(self, role: str) -> None:
        """A peer has come, perhaps again: what it owes, or is owed, is said once more."""
        self._needs.pop(role, None)
        if role == "players":
            for wish in self._open.values():
                self._say_wish(wish)
        elif role in self._due and self._setting.lockstep:
            self._party.say(role, self._due[role])
        elif role == "camera":
            self._frames_out.clear()
        else:
            self._ticks_out = 0

    def _take(self, role: str, message: Json, *, at: bool) -> None:
        seq = int(message.get("seq", 0))
        if seq:
            self._needs[role] = (str(message.get("boot", "")), seq)
        if at:
            self._due.pop(role, None)

    def _hear_answer(self, message: Json) -> None:
        wish = self._open.pop(str(message.get("id")), None)
        self._course.answered(str(message.get("id")))
        if wish is not None and message.get("ok"):
            self._rev = max(self._rev, int(message.get("rev") or 0))
        elif wish is not None:
            log.info("%s was refused: %s", wish.request, message.get("error"))

    def _say_wishes(self) -> None:
        wishes, self._course.wishes = self._course.wishes, []
        for wish in wishes:
            self._open[wish.id] = wish
            self._say_wish(wish)

    def _say_wish(self, wish: Wish) -> None:
        self._party.say("players", {"is": "wish", "id": wish.id, "request": wish.request, "body": wish.body})

    def _owe(self, role: str, message: Json) -> None:
        """Say something that the role has to answer with ``taken``."""
        self._due[role] = message
        self._party.say(role, message)

    def _say_edges(self) -> None:
        switchings = self._world.receiver.take_switchings(self._world.at_ns)
        told: list[Json] = [{"is": "emitter", "at_ns": at_ns, "on": on} for at_ns, on in switchings]
        told += [{"is": "edge", "at_ns": at_ns, "blocked": blocked} for at_ns, blocked in self._world.take_edges()]
        for message in sorted(told, key=lambda message: int(message["at_ns"])):
            self._party.say("beam", message)

    def _say_farewell(self) -> None:
        """Tell the players, and give them a moment to hang up first."""
        self._party.say("players", {"is": "over"})
        until_s = time.monotonic() + _FAREWELL_S
        while self._party.has("players") and not self._stopping and time.monotonic() < until_s:
            self._hear(0.1)

    # --- lock-step ----------------------------------------------------------------------------------------------

    def _run_in_step(self) -> None:
        expects = self._setting.expects
        while not self._stopping and not self._course.over:
            if not self._wait(lambda: self._party.has(*expects)):
                return
            frame_ns = self._frame_ns(self._number + 1)
            while self._world.at_ns < frame_ns:
                due_ns = self._wake_ns if self._world.at_ns < self._wake_ns < frame_ns else frame_ns
                self._advance(due_ns)
                if due_ns < frame_ns and "beam" in expects:
                    self._owe("beam", {"is": "tick", "at_ns": due_ns})
                    if not self._wait(lambda: not self._due):
                        return
            self._act(frame_ns)
            if "beam" in expects:
                self._owe("beam", {"is": "tick", "at_ns": frame_ns})
            self._show(frame_ns, owed="camera" in expects)
            if not self._wait(lambda: not self._due) or not self._wait(self._seen):
                return
            self._say_wishes()
            if not self._wait(lambda: not self._open and self._seen()):
                return

    def _wait(self, met: Callable[[], bool]) -> bool:
        """Wait for a condition however long it takes; false when the twin is to stop."""
        while not met():
            if self._stopping:
                return False
            self._hear(_PAUSE_S)
        return True

    def _seen(self) -> bool:
        """Whether the players have seen what follows from all facts and from their own wishes."""
        if "players" not in self._setting.expects:
            return True
        table = self._course.table
        if table is None:
            return not self._needs
        seen = table.get("seen", {})
        for role, (boot, seq) in self._needs.items():
            of = seen.get(role, {})
            if of.get("boot") != boot or of.get("seq", 0) < seq:
                return False
        return int(table.get("rev", 0)) >= self._rev

    # --- real speed ---------------------------------------------------------------------------------------------

    def _run_at_speed(self) -> None:
        while not self._stopping and not self._course.over:
            now_ns = self._clock.now_ns()
            next_ns = self._frame_ns(self._number + 1)
            while next_ns <= now_ns and not self._stopping:
                self._advance(next_ns)
                self._act(next_ns)
                late = self._frame_ns(self._number + 2) <= now_ns and self._number - self._shown < _MOST_LEFT_OUT
                if late or len(self._frames_out) >= _AHEAD_FRAMES:
                    self._number += 1  # a frame that nobody can take is not drawn; its number is left out
                else:
                    self._show(next_ns, owed=False)
                    self._hear(0)
                self._tick(next_ns)
                self._say_wishes()
                next_ns = self._frame_ns(self._number + 1)
            self._advance(now_ns)
            busy = not (self._world.at_rest() and self._hands.idle and self._world.receiver.quiet)
            until_ns = min(next_ns, now_ns + _LULL_NS) if busy else next_ns
            self._hear(self._clock.real_s_until(until_ns))

    def _tick(self, at_ns: int) -> None:
        """Tell the beam the time; one that is slow or hangs is not talked to death, it gets a later time later."""
        if self._ticks_out < _AHEAD_TICKS:
            self._ticks_out += 1
            self._party.say("beam", {"is": "tick", "at_ns": at_ns})

    # --- both ---------------------------------------------------------------------------------------------------

    def _frame_ns(self, number: int) -> int:
        return round(number * 1e9 / self._setting.frame_rate_hz)

    def _advance(self, to_ns: int) -> None:
        self._hands.step(to_ns)
        self._memory.clock_ns = to_ns
        self._say_edges()

    def _act(self, now_ns: int) -> None:
        """Let the players decide, once all are there and the camera has had a look at the empty board."""
        if self._met_ns is None:
            looked = self._looks >= self._enough_looks or "camera" not in self._setting.expects
            if (self._party.has(*self._setting.expects) and looked) or now_ns > _LATE_PEERS_NS:
                self._met_ns = now_ns
        if self._met_ns is not None and now_ns - self._met_ns >= _EMPTY_NS:
            self._course.step(now_ns)

    def _opened_eye(self) -> Eye:
        if self._eye is None:
            self.painting = True
            self._eye = self._open_eye()
            self.painting = False
        return self._eye

    def _show(self, at_ns: int, *, owed: bool) -> None:
        """Draw a frame and hand it to the camera."""
        self._number += 1
        number = self._shown = self._number
        if self._party.has("camera") or owed:
            slot = number % _SLOTS
            self._memory.retract(slot)
            picture = self._opened_eye().render(self._world.scene(), number)
            pixels = np.frombuffer(self._memory.pixels(slot), np.uint8).reshape(picture.shape)
            pixels[:] = picture
            self._memory.publish(slot, number, at_ns, _EXPOSURE_NS)
            message: Json = {"is": "frame", "number": number, "at_ns": at_ns, "slot": slot}
            if owed:
                self._owe("camera", message)
            else:
                self._frames_out.append(number)
                self._party.say("camera", message)
