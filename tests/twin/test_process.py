"""The served board: lock-step that waits for everybody, peers that die and come back, and real speed."""

import json
import os
import selectors
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hardware.line import FrameMemory, Json, Line, LineError
from hardware.twin import process
from hardware.twin.course import Evening
from hardware.twin.scene import Scene
from hardware.twin.serve import Setting, Twin

SIZE = (64, 48)


class Eye:
    """Frames that tell their number and how many discs there are."""

    def render(self, scene: Scene, frame_number: int = 0) -> NDArray[np.uint8]:
        frame = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
        frame[0, 0] = (frame_number % 256, len(scene.discs), len(scene.hands))
        return frame


class Board:
    """A twin in a thread of its own, with scripted peers on its line."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        wanted: dict[str, Any] = {"lockstep": True, "evening": Evening(rounds=1), "size_wh": SIZE, "seed": 2, **changes}
        self.setting = Setting(folder / "twin.sock", folder / "frames", folder / "truth", **wanted)
        self.twin = Twin(self.setting, Eye)
        self.thread = threading.Thread(target=self.twin.run)
        self.thread.start()

    def connect(self, role: str) -> tuple[Line, Json]:
        return Line.connect(self.setting.socket_path, role)

    def truth(self) -> list[Json]:
        assert self.setting.truth_path is not None
        return [json.loads(line) for line in self.setting.truth_path.read_text().splitlines()]

    def end(self) -> None:
        self.twin.stop()
        self.thread.join(10)
        assert not self.thread.is_alive()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Board]]:
    boards: list[Board] = []

    def made(**changes: Any) -> Board:
        folder = tmp_path / str(len(boards))
        folder.mkdir()
        boards.append(Board(folder, **changes))
        return boards[-1]

    yield made
    for board in boards:
        board.end()


class Peers:
    """Beam, camera, hub and players as one obedient script; what is sent is kept."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.beam, self.welcome = board.connect("beam")
        self.camera, _ = board.connect("camera")
        self.players, _ = board.connect("players")
        self.memory = FrameMemory(Path(self.welcome["path"]))
        self.table: Json = {"rev": 1, "phase": "idle", "shot": 0, "questions": [], "seen": {}}
        self.edges: list[tuple[int, bool]] = []
        self.switched: list[tuple[int, bool]] = []
        self.frames: list[tuple[int, int, int]] = []
        self.ticks: list[int] = []
        self.wishes: list[str] = []
        self.over = False
        self.wake_ns = self.dies_at = 0
        self.say()

    def say(self, **changes: Any) -> None:
        self.table = {**self.table, "rev": self.table["rev"] + 1, **changes}
        self.players.send({"is": "table", "table": self.table})

    def close(self) -> None:
        for line in (self.beam, self.camera, self.players):
            line.close()

    def hear(self) -> None:
        """Everything that has come, answered."""
        for message in self.beam.waiting():
            self.heed_beam(message)
        for message in self.camera.waiting():
            self.frames.append((message["number"], message["at_ns"], self.memory.pixels(message["slot"])[0]))
            if len(self.frames) != self.dies_at:
                self.camera.send({"is": "taken", "number": message["number"], "boot": "c", "seq": 0})
        for message in self.players.waiting():
            self.heed_players(message)

    def heed_beam(self, message: Json) -> None:
        if message["is"] == "edge":
            self.edges.append((message["at_ns"], message["blocked"]))
        elif message["is"] == "emitter":
            self.switched.append((message["at_ns"], message["on"]))
        else:
            self.ticks.append(message["at_ns"])
            self.beam.send({"is": "taken", "at_ns": message["at_ns"], "boot": "b", "seq": 0, "wake_ns": self.wake_ns})

    def heed_players(self, message: Json) -> None:
        if message["is"] == "over":
            self.over = True
        else:
            self.wishes.append(message["request"])
            if message["request"] == "start":
                self.say(phase="round")
            self.players.send(
                {"is": "answered", "id": message["id"], "ok": True, "error": "", "rev": self.table["rev"]}
            )

    def until(self, met: Callable[[], bool]) -> None:
        while True:
            try:
                self.hear()  # first: the welcome's packet may have held more
            except LineError:
                if self.over:
                    return
                raise
            if met():
                return
            with selectors.DefaultSelector() as selector:
                for line in (self.beam, self.camera, self.players):
                    selector.register(line, selectors.EVENT_READ)
                assert selector.select(20), "nothing comes any more"


def play(board: Board, frames: int) -> tuple[list[Json], list[tuple[int, bool]], list[tuple[int, int, int]]]:
    """The truth, the edges and the frames' labels of the first so many frames."""
    peers = Peers(board)
    peers.until(lambda: len(peers.frames) >= frames)
    peers.close()
    until_ns = peers.frames[frames - 1][1]
    truth = [entry for entry in board.truth() if entry["at_ns"] < until_ns]
    return truth, [edge for edge in peers.edges if edge[0] < until_ns], peers.frames[:frames]


def test_play_in_lock_step_hangs_on_the_seed_alone(make: Callable[..., Board]) -> None:
    first, again, other = play(make(), 500), play(make(), 500), play(make(seed=5), 500)
    assert first == again
    assert first != other
    truth, edges, _ = first
    assert len(truth) >= 3
    assert [at_ns for at_ns, _ in edges] == sorted(at_ns for at_ns, _ in edges)


def test_an_evening_without_a_hub_ends_by_itself(make: Callable[..., Board]) -> None:
    board = make(expects=(), evening=Evening(rounds=1), frame_rate_hz=10.0)
    board.thread.join(100)
    assert [entry["is"] for entry in board.truth()][-2:] == ["round", "final"]


def test_every_frame_and_tick_comes_once_in_order_and_no_edge_after_its_tick(make: Callable[..., Board]) -> None:
    peers = Peers(make())
    order: list[tuple[str, int]] = []
    heed = peers.heed_beam

    def note(message: Json) -> None:
        order.append((message["is"], message["at_ns"]))
        heed(message)

    peers.heed_beam = note  # type: ignore[method-assign]
    peers.until(lambda: len(peers.frames) >= 400)
    assert [number for number, _, _ in peers.frames] == list(range(1, len(peers.frames) + 1))
    assert all(number % 256 == pixel for number, _, pixel in peers.frames)
    assert [at_ns for _, at_ns, _ in peers.frames][:3] == [33333333, 66666667, 100000000]
    last_tick = 0
    for what, at_ns in order:
        if what == "tick":
            assert at_ns > last_tick
            last_tick = at_ns
        else:
            assert at_ns > last_tick
    peers.close()


def test_the_clock_stands_still_until_everybody_has_come_and_taken(make: Callable[..., Board]) -> None:
    board = make()
    beam, welcome = board.connect("beam")
    memory = FrameMemory(Path(welcome["path"]))
    assert welcome["lockstep"] is True
    assert welcome["blocked"] is False
    assert welcome["size_wh"] == list(SIZE)
    assert beam.receive(0.2) is None  # camera and players are missing
    camera, _ = board.connect("camera")
    players, _ = board.connect("players")
    players.send({"is": "table", "table": {"rev": 1, "phase": "idle", "seen": {}}})
    frame, tick = camera.receive(5), beam.receive(5)
    assert frame == {"is": "frame", "number": 1, "at_ns": 33333333, "slot": 1}
    assert tick == {"is": "tick", "at_ns": 33333333}
    assert memory.clock_ns == 33333333
    beam.send({"is": "taken", "at_ns": 33333333, "boot": "b", "seq": 3, "wake_ns": 0})
    camera.send({"is": "taken", "number": 1, "boot": "c", "seq": 2})
    assert camera.receive(0.2) is None  # the players have not seen what follows
    players.send({"is": "table", "table": {"rev": 2, "seen": {"beam": {"boot": "b", "seq": 3}}}})
    assert camera.receive(0.2) is None
    seen = {"beam": {"boot": "b", "seq": 3}, "camera": {"boot": "c", "seq": 2}}
    players.send({"is": "table", "table": {"rev": 3, "seen": seen}})
    frame = camera.receive(5)
    assert frame is not None
    assert frame["number"] == 2
    for line in (beam, camera, players):
        line.close()


def test_a_daemon_that_dies_gets_the_same_frame_again(make: Callable[..., Board]) -> None:
    board = make()
    peers = Peers(board)
    peers.dies_at = 5
    peers.until(lambda: len(peers.frames) >= 5)
    peers.camera.close()
    peers.camera, _ = board.connect("camera")
    peers.until(lambda: len(peers.frames) >= 20)
    assert [number for number, _, _ in peers.frames][:20] == [1, 2, 3, 4, 5, *range(5, 20)]
    assert peers.frames[4] == peers.frames[5]
    peers.close()


def test_a_beam_that_dies_gets_the_same_tick_again_and_the_level(make: Callable[..., Board]) -> None:
    board = make()
    peers = Peers(board)
    peers.until(lambda: len(peers.ticks) >= 5)
    peers.heed_beam = lambda message: peers.ticks.append(message["at_ns"])  # type: ignore[method-assign]
    peers.until(lambda: len(peers.ticks) >= 6)
    peers.beam.close()
    peers.beam, welcome = board.connect("beam")
    assert welcome["blocked"] is False
    assert peers.beam.receive(5) == {"is": "tick", "at_ns": peers.ticks[-1]}
    peers.close()


def test_a_beam_that_wants_to_be_woken_is(make: Callable[..., Board]) -> None:
    peers = Peers(make())
    peers.wake_ns = 40_000_000
    peers.until(lambda: len(peers.ticks) >= 4)
    assert peers.ticks[:4] == [33333333, 40_000_000, 66666667, 100000000]
    peers.close()


def test_a_self_test_darkens_the_receiver_when_it_was_announced(make: Callable[..., Board]) -> None:
    peers = Peers(make())
    peers.until(lambda: len(peers.frames) >= 2)
    start_ns = peers.ticks[-1] + 100_000_000
    peers.beam.send({"is": "emitter", "on": False, "at_ns": start_ns})
    peers.beam.send({"is": "emitter", "on": True, "at_ns": start_ns + 10_000_000})
    peers.until(lambda: len(peers.frames) >= 12)
    assert peers.edges == [(start_ns + 300_000, True), (start_ns + 10_300_000, False)]
    assert peers.switched == [(start_ns, False), (start_ns + 10_000_000, True)]
    peers.close()


def test_a_self_test_heard_of_too_late_is_done_later_and_its_true_times_are_told(make: Callable[..., Board]) -> None:
    peers = Peers(make())
    peers.until(lambda: len(peers.frames) >= 6)
    past_ns, now_ns = peers.ticks[0], peers.ticks[-1]
    peers.beam.send({"is": "emitter", "on": False, "at_ns": past_ns})
    peers.beam.send({"is": "emitter", "on": True, "at_ns": past_ns + 10_000_000})
    peers.until(lambda: len(peers.frames) >= 16)
    (off_ns, off), (on_ns, on) = peers.switched
    assert (off, on) == (False, True)
    assert off_ns > now_ns
    assert on_ns - off_ns == 10_000_000
    assert peers.edges == [(off_ns + 300_000, True), (on_ns + 300_000, False)]
    peers.close()


def test_players_who_come_back_hear_the_open_wish_again(make: Callable[..., Board]) -> None:
    board = make()
    peers = Peers(board)
    heard: list[Json] = []
    peers.heed_players = heard.append  # type: ignore[method-assign]
    peers.until(lambda: bool(heard))
    peers.players.close()
    peers.players, _ = board.connect("players")
    again = peers.players.receive(5)
    assert again == heard[0]
    assert again is not None
    peers.say(phase="round")
    peers.players.send({"is": "answered", "id": again["id"], "ok": True, "error": "", "rev": peers.table["rev"]})
    count = len(peers.frames)
    peers.until(lambda: len(peers.frames) > count + 5)
    peers.close()


def test_strangers_and_nonsense_do_not_disturb(make: Callable[..., Board]) -> None:
    board = make()
    with pytest.raises(LineError):
        board.connect("referee")
    peers = Peers(board)
    peers.camera.send({"is": "gossip"})
    peers.until(lambda: len(peers.frames) >= 3)
    peers.close()


def test_at_real_speed_frames_and_edges_flow_and_stop_ends_it(make: Callable[..., Board]) -> None:
    board = make(lockstep=False, speed=20.0, evening=Evening())
    peers = Peers(board)
    assert peers.welcome["lockstep"] is False
    peers.until(lambda: len(peers.frames) >= 100 and bool(peers.wishes))
    numbers = [number for number, _, _ in peers.frames]
    assert numbers == sorted(set(numbers))
    assert all(at_ns == pytest.approx(number * 1e9 / 30, abs=1) for number, at_ns, _ in peers.frames)
    peers.close()
    board.end()
    assert not board.setting.socket_path.exists()


def test_a_signal_while_the_board_is_painted_ends_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[int] = []
    peers: list[Line] = []
    before = {sign: signal.getsignal(sign) for sign in (signal.SIGTERM, signal.SIGINT)}
    socket_path = tmp_path / "twin.sock"

    def paint(_: Setting) -> Eye:
        os.kill(os.getpid(), signal.SIGTERM)
        painted.append(1)
        return Eye()

    monkeypatch.setattr(process, "renderer", paint)

    def look() -> None:
        while not socket_path.exists():
            threading.Event().wait(0.01)
        peers.append(Line.connect(socket_path, "camera")[0])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        with pytest.raises(SystemExit) as ended:
            process.run(
                socket_path=socket_path,
                memory_path=tmp_path / "frames",
                size_wh=SIZE,
                expects=("camera",),
                lockstep=True,
            )
    finally:
        thread.join()
        peers[0].close()
        for sign, handler in before.items():
            signal.signal(sign, handler)
    assert ended.value.code == 0
    assert not painted
    assert not socket_path.exists()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"board": "billiards"}, "billiards"), ({"rules": "darts"}, "darts"), ({"style": "carpet"}, "carpet")],
)
def test_what_does_not_exist_is_one_line_and_status_2(
    wrong: dict[str, str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = process.run(socket_path=tmp_path / "s", memory_path=tmp_path / "m", size_wh=SIZE, **wrong)  # type: ignore[arg-type]
    told = capsys.readouterr().err
    assert status == 2
    assert named in told
    assert len(told.splitlines()) == 1


def test_a_socket_that_cannot_be_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = process.run(socket_path=tmp_path / "no" / "s", memory_path=tmp_path / "m", size_wh=SIZE)
    assert status == 2
    assert "cannot listen there" in capsys.readouterr().err
