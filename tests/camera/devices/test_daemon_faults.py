"""What the camera's daemon says and does when its camera fails while it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from firmware_py.camera import daemon
from firmware_py.camera.benchboard import DrawnBoard
from firmware_py.camera.daemon import CameraLoop
from firmware_py.camera.devices.grabber import CameraHungError
from firmware_py.camera.live import LiveReader
from firmware_py.camera.source import Frame, SourceEndedError, SourceGoneError
from firmware_py.errors import DeviceMissingError
from firmware_py.service import Service
from hardware.board import TOURNAMENT
from hub.link.bus import Bus
from hub.link.clock import Clock, ManualClock
from hub.link.config import BoardSection, CameraSection, Config
from hub.link.memory import MemoryBroker

FRAME_NS = 33_000_000


class PlayedCamera:
    """A camera that plays pictures, then does what ``end`` says; notes which faults stood before each frame."""

    def __init__(self, pictures: list[np.ndarray], end: Exception, *, start_ns: int = 0) -> None:
        self._pictures, self._end = list(pictures), end
        self.clock: Clock = ManualClock()
        self.lockstep = False
        self.dropped = 0
        self.closed = False
        self.standing: Callable[[], tuple[str, ...]] = tuple
        self.seen: list[tuple[str, ...]] = []
        self._at_ns, self._number = start_ns, 0
        self._read, write = os.pipe()
        os.write(write, b"x")
        os.close(write)

    def fileno(self) -> int:
        return self._read

    def next(self, timeout_s: float) -> Frame | None:
        self.seen.append(self.standing())
        if not self._pictures:
            raise self._end
        self._number += 1
        self._at_ns += FRAME_NS
        return Frame(self._number, self._at_ns, 0, self._pictures.pop(0))

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        pass

    def close(self) -> None:
        if not self.closed:
            os.close(self._read)
        self.closed = True


@pytest.fixture
def bus() -> Bus:
    return MemoryBroker().bus()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(
        board=BoardSection(id="b1", state_dir=str(tmp_path)), camera=CameraSection(source="video", height_mm=1000.0)
    )


def _run(config: Config, bus: Bus, camera: PlayedCamera, later: tuple[PlayedCamera, ...] = ()) -> None:
    clock = daemon.SourceClock()
    clock.of_source = camera.clock
    with Service(config, "camera", clock, bus=bus, signals=False) as service:
        for each in (camera, *later):
            each.standing = lambda: service.reporter.vitals.faults
        CameraLoop(config, TOURNAMENT, service, camera, clock).run()


@pytest.fixture(scope="module")
def lit() -> list[np.ndarray]:
    """Different noisy pictures of an empty board."""
    drawn = DrawnBoard(TOURNAMENT, (640, 480))
    return [drawn.picture([]) for _ in range(4)]


def _many(pictures: list[np.ndarray], count: int) -> Iterator[np.ndarray]:
    return (pictures[k % len(pictures)] for k in range(count))


def test_a_covered_lens_is_a_fault_until_it_is_uncovered(config: Config, bus: Bus, lit: list[np.ndarray]) -> None:
    black = [np.zeros_like(lit[0]) for _ in range(100)]
    camera = PlayedCamera([*_many(lit, 20), *black, *_many(lit, 5)], SourceEndedError("enough"))
    _run(config, bus, camera)
    told = [k for k, faults in enumerate(camera.seen) if "black" in faults]
    assert 20 < told[0] < 20 + 5e9 / FRAME_NS
    assert "black" not in camera.seen[-1]


def test_a_camera_that_shows_the_same_for_ever_is_opened_anew(
    config: Config, bus: Bus, lit: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "_REOPEN_S", 0.0)
    stuck = PlayedCamera([lit[0]] * 300, SourceEndedError("never opened anew"))
    fresh = PlayedCamera(list(_many(lit, 20)), SourceEndedError("enough"), start_ns=10**11)
    monkeypatch.setattr(daemon, "open_source", lambda *_, **__: fresh)
    _run(config, bus, stuck, (fresh,))
    told = [k for k, faults in enumerate(stuck.seen) if "stuck" in faults]
    assert told[0] < 5e9 / FRAME_NS
    assert stuck.closed
    assert len(stuck.seen) < 300
    assert fresh.seen[-1] == ()


def test_an_unplugged_camera_is_opened_again_when_it_is_back(
    config: Config, bus: Bus, lit: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "_REOPEN_S", 0.0)
    gone = PlayedCamera(list(_many(lit, 20)), SourceGoneError("unplugged"))
    back = PlayedCamera(list(_many(lit, 30)), SourceEndedError("enough"), start_ns=10**11)
    faults: list[tuple[str, ...]] = []
    answers: list[Exception | PlayedCamera] = [DeviceMissingError("not yet"), DeviceMissingError("not yet"), back]

    def reopen(*_: object, **__: object) -> PlayedCamera:
        faults.append(gone.standing())
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(daemon, "open_source", reopen)
    _run(config, bus, gone, (back,))
    assert faults == [("camera",)] * 3
    assert back.seen[0] == ()
    assert len(back.seen) == 31


def test_a_camera_that_hangs_ends_the_daemon_with_a_line(
    config: Config,
    lit: list[np.ndarray],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    hung = PlayedCamera(list(_many(lit, 3)), CameraHungError("the camera has not answered for 12 s"))
    monkeypatch.setattr(daemon, "open_source", lambda *_, **__: hung)
    assert daemon.run(config) == 3
    assert hung.closed
    lines = [line for line in capsys.readouterr().err.splitlines() if "answered" in line]
    assert lines == ["camera: the camera has not answered for 12 s"]


class DatedCamera(PlayedCamera):
    """A camera whose frames are dated as given, and which says what was given back."""

    def __init__(self, pictures: list[np.ndarray], times_ns: list[int]) -> None:
        super().__init__(pictures, SourceEndedError("enough"))
        self._times_ns = times_ns
        self.given_back: list[int] = []

    def next(self, timeout_s: float) -> Frame | None:
        frame = super().next(timeout_s)
        return None if frame is None else Frame(frame.number, self._times_ns.pop(0), 0, frame.pixels)

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        self.given_back.append(frame.number)


def test_single_frames_dated_backwards_are_passed_over_and_given_back(
    config: Config, bus: Bus, lit: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = [k * FRAME_NS for k in range(20)]
    times[7], times[13] = times[3], times[12]
    read: list[int] = []
    take = LiveReader.take
    monkeypatch.setattr(LiveReader, "take", lambda reader, frame: read.append(frame.number) or take(reader, frame))
    camera = DatedCamera(list(_many(lit, 20)), times)
    _run(config, bus, camera)
    assert set(camera.seen) == {()}
    assert camera.given_back == list(range(1, 21))
    assert sorted(set(range(1, 21)) - set(read)) == [8, 14]


def test_a_camera_whose_clock_was_set_back_is_named_within_five_seconds_and_opened_anew(
    config: Config, bus: Bus, lit: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "_REOPEN_S", 0.0)
    late = 10**12
    times = [*(late + k * FRAME_NS for k in range(20)), *(k * FRAME_NS for k in range(300))]
    camera = DatedCamera(list(_many(lit, 320)), times)
    again = PlayedCamera(list(_many(lit, 30)), SourceEndedError("enough"), start_ns=10**9)
    faults: list[tuple[str, ...]] = []

    def reopen(*_: object, **__: object) -> PlayedCamera:
        faults.append(camera.standing())
        return again

    monkeypatch.setattr(daemon, "open_source", reopen)
    _run(config, bus, camera, (again,))
    assert faults == [("camera",)]
    assert (len(camera.seen) - 20) * FRAME_NS < 5_000_000_000
    assert len(again.seen) == 31
    assert set(again.seen) == {()}


def _run_silent(
    config: Config,
    bus: Bus,
    monkeypatch: pytest.MonkeyPatch,
    pictures: list[np.ndarray],
    *,
    silent_s: float,
    after: int,
) -> PlayedCamera:
    """Frames, then silence in steps of a quarter of a second, then so many frames again; a turn of the loop each."""
    monkeypatch.setattr(daemon, "_WAIT_S", 0.0)
    now_s = [1000.0]
    monkeypatch.setattr(daemon.time, "monotonic", lambda: now_s[0])

    class Silent(PlayedCamera):
        def next(self, timeout_s: float) -> Frame | None:
            if len(self._pictures) > after or now_s[0] >= 1000 + silent_s:
                return super().next(timeout_s)
            now_s[0] += 0.25
            self.seen.append(self.standing())
            return None

    camera = Silent(pictures, SourceEndedError("enough"))
    _run(config, bus, camera)
    return camera


def test_frames_that_stop_are_a_fault_within_five_seconds(
    config: Config, bus: Bus, lit: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    camera = _run_silent(config, bus, monkeypatch, list(_many(lit, 5)), silent_s=10, after=2)
    first = next(k for k, faults in enumerate(camera.seen) if faults)
    assert camera.seen[first] == ("stalled",)
    assert 4.5 <= (first - 3) * 0.25 <= 5.5
    assert camera.seen[-1] == ()


def test_a_camera_that_has_shown_nothing_yet_is_starting(
    config: Config, bus: Bus, lit: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    camera = _run_silent(config, bus, monkeypatch, list(_many(lit, 2)), silent_s=20, after=2)
    assert set(camera.seen) == {(), ("starting",)}
    first = next(k for k, faults in enumerate(camera.seen) if faults)
    assert first * 0.25 <= 1.5
    assert camera.seen[-1] == ()


def test_a_camera_that_never_shows_anything_is_stalled_in_the_end(
    config: Config, bus: Bus, lit: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    camera = _run_silent(config, bus, monkeypatch, list(_many(lit, 2)), silent_s=60, after=2)
    told = [faults for k, faults in enumerate(camera.seen) if k == 0 or faults != camera.seen[k - 1]]
    assert told == [(), ("starting",), ("stalled",), ()]


def _board(size_wh: tuple[int, int]) -> np.ndarray:
    return DrawnBoard(TOURNAMENT, size_wh, seed=4).picture([])


def _noisy(picture: np.ndarray, count: int) -> list[np.ndarray]:
    chance = np.random.default_rng(1)
    grain = [chance.integers(0, 3, picture.shape, dtype=np.uint8) for _ in range(3)]
    return [cv2.add(picture, grain[k % 3]) for k in range(count)]


_ONE = _board((800, 600))
_TABLE = np.full_like(_ONE, 90)
_ODD = {
    "no board": (_TABLE, "no_board"),
    "two boards": (np.hstack([_ONE, _ONE]), "two_boards"),
    "a black picture": (np.zeros_like(_ONE), "black"),
}


@pytest.mark.parametrize("odd", _ODD)
def test_what_shows_no_board_is_named_and_over_when_one_is_seen_in_whatever_size(
    config: Config, bus: Bus, odd: str
) -> None:
    picture, fault = _ODD[odd]
    shown = 110
    camera = PlayedCamera([*_noisy(picture, shown), *_noisy(_ONE, 60)], SourceEndedError("enough"))
    if fault == "black":
        camera._pictures[:shown] = [picture] * shown
    _run(config, bus, camera)
    told = [k for k, faults in enumerate(camera.seen) if fault in faults]
    assert told[0] < 5e9 / FRAME_NS
    # A picture is called black after two seconds; until then it is one without a board.
    others = {name for faults in camera.seen[:shown] for name in faults} - {fault}
    assert others <= ({"no_board"} if fault == "black" else set())
    assert camera.seen[-1] == ()


def test_a_second_board_that_comes_later_is_let_lie(config: Config, bus: Bus) -> None:
    wide = np.hstack([_ONE, _TABLE])
    both = np.hstack([_ONE, _ONE])
    camera = PlayedCamera([*_noisy(wide, 30), *_noisy(both, 60)], SourceEndedError("enough"))
    _run(config, bus, camera)
    assert camera.seen[-1] == ()


def test_frames_of_another_size_are_named_until_the_board_is_found_in_them(config: Config, bus: Bus) -> None:
    camera = PlayedCamera(
        [*_noisy(_ONE, 30), *_noisy(np.full((480, 640, 3), 90, np.uint8), 110), *_noisy(_board((1024, 768)), 90)],
        SourceEndedError("enough"),
    )
    _run(config, bus, camera)
    told = [k for k, faults in enumerate(camera.seen) if "no_board" in faults]
    assert 30 < told[0] < 30 + 5e9 / FRAME_NS
    assert camera.seen[-1] == ()
