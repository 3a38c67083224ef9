"""Every kind of camera under every fault: named within five seconds, and over when the camera is well again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from faultbench import (
    SILENCE_S,
    SIZE_WH,
    Fed,
    Gone,
    Kind,
    LockstepKind,
    PicameraKind,
    Shown,
    Silence,
    Step,
    TwinKind,
    UsbKind,
    VideoKind,
)

from firmware_py.camera import daemon
from firmware_py.camera.daemon import CameraLoop
from firmware_py.camera.devices.grabber import CameraHungError
from firmware_py.camera.source import FrameSource
from firmware_py.service import Service
from hardware.board import TOURNAMENT
from hub.link.config import BoardSection, CameraSection, Config
from hub.link.memory import MemoryBroker
from tests.firmware.fakehub import FakeHub

FRAME_NS = 100_000_000
BEFORE, AFTER = 20, 30
SOON = 5_000_000_000 // FRAME_NS
#: How many frames each fault lasts.
SHORT, LONG = 30, 100

REAL_TIME: dict[str, type[Kind]] = {"webcam": UsbKind, "camera module": PicameraKind, "twin": TwinKind}
EVERY: dict[str, type[Kind]] = {**REAL_TIME, "twin in lock-step": LockstepKind, "video file": VideoKind}


@dataclass
class Told:
    """What one run of the daemon's loop led to.

    Attributes:
        seen: which faults stood before each step, by all sources in turn.
        reopened: how many steps of trouble had passed, and which faults stood, each time the camera was opened again.
    """

    seen: list[tuple[str, ...]]
    reopened: list[tuple[int, tuple[str, ...]]]

    def named(self, fault: str) -> int:
        """After how many steps of trouble the fault stood."""
        return next(k for k, faults in enumerate(self.seen) if fault in faults) - BEFORE


class Bench:
    """The daemon's loop over one kind of camera, and what it has told so far."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._config = Config(
            board=BoardSection(id="b1", state_dir=str(folder / "state")),
            camera=CameraSection(source="usb", height_mm=1000.0),
        )
        self._patch = monkeypatch
        self._folder = folder
        self._sources: list[Fed] = []
        self._reopened: list[tuple[int, tuple[str, ...]]] = []
        self._passed_s = 0.0

    @property
    def told(self) -> Told:
        return Told([faults for source in self._sources for faults in source.seen], self._reopened)

    def _standing(self, service: Service) -> tuple[str, ...]:
        return tuple(fault for fault in service.reporter.vitals.faults if fault != "no_board")

    def run(self, kind: type[Kind], steps: list[Step]) -> Told:
        """Play a script to the loop until it is over."""
        real_s = time.monotonic
        self._patch.setattr(time, "monotonic", lambda: real_s() + self._passed_s)
        self._patch.setattr(daemon, "_REOPEN_S", 0.0)
        self._patch.setattr(daemon, "_WAIT_S", 0.0)
        camera = kind(self._folder)
        if isinstance(camera, VideoKind):
            camera.pictures = [step.pixels for step in steps if isinstance(step, Shown)]
        broker, clock = MemoryBroker(), daemon.SourceClock()
        FakeHub(broker.bus()).start()
        with Service(self._config, "camera", clock, bus=broker.bus(), signals=False) as service:

            def opened(*_: object, **__: object) -> FrameSource:
                if self._sources:
                    self._reopened.append((len(self.told.seen) - BEFORE, self._standing(service)))
                self._sources.append(Fed(camera, steps, lambda: self._standing(service), self._pass))
                return self._sources[-1]

            self._patch.setattr(daemon, "open_source", opened)
            try:
                source = opened()
                clock.of_source = source.clock
                CameraLoop(self._config, TOURNAMENT, service, source, clock).run()
            finally:
                camera.close()
        return self.told

    def _pass(self, seconds: float) -> None:
        self._passed_s += seconds


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def lit() -> list[np.ndarray]:
    """Different noisy pictures of a table without a board, which spares the reading of one."""
    chance = np.random.default_rng(1)
    return [chance.integers(88, 92, (SIZE_WH[1], SIZE_WH[0], 3), dtype=np.uint8) for _ in range(4)]


def _dated(pictures: list[np.ndarray], start_ns: int = 10**12) -> list[Step]:
    return [Shown(picture, start_ns + k * FRAME_NS) for k, picture in enumerate(pictures)]


def _many(pictures: list[np.ndarray], count: int) -> list[np.ndarray]:
    return [pictures[k % len(pictures)] for k in range(count)]


def _around(lit: list[np.ndarray], trouble: list[Step]) -> list[Step]:
    """A good camera before and after some trouble."""
    return [*_dated(_many(lit, BEFORE)), *trouble, *_dated(_many(lit, AFTER), 10**12 + 10**11)]


@pytest.mark.parametrize("kind", EVERY.values(), ids=EVERY)
def test_a_black_picture_is_a_fault_until_there_is_light(kind: type[Kind], bench: Bench, lit: list[np.ndarray]) -> None:
    black = _dated([np.zeros_like(lit[0])] * SHORT, 10**12 + 10**10)
    told = bench.run(kind, _around(lit, black))
    assert 0 < told.named("black") <= SOON
    assert told.seen[-1] == ()
    assert told.reopened == []


@pytest.mark.parametrize("kind", EVERY.values(), ids=EVERY)
def test_the_same_picture_again_and_again_is_a_fault_until_another_comes(
    kind: type[Kind], bench: Bench, lit: list[np.ndarray]
) -> None:
    told = bench.run(kind, _around(lit, _dated([lit[1]] * LONG, 10**12 + 10**10)))
    assert 0 < told.named("stuck") <= SOON
    assert told.seen[-1] == ()
    # What waits for its reader is not opened anew: it was asked for that picture, and a file would begin again.
    assert [faults for _, faults in told.reopened] == [("stuck", "camera")] * (kind in REAL_TIME.values())


@pytest.mark.parametrize("kind", [UsbKind, TwinKind], ids=["webcam", "twin"])
def test_frames_that_stop_are_a_fault_until_they_go_on(kind: type[Kind], bench: Bench, lit: list[np.ndarray]) -> None:
    told = bench.run(kind, _around(lit, [Silence()] * 30))
    assert 4.5 <= told.named("stalled") * SILENCE_S <= 5.5
    assert told.seen[-1] == ()
    assert told.reopened == []


def test_a_twin_in_lock_step_may_pause_as_long_as_it_likes(bench: Bench, lit: list[np.ndarray]) -> None:
    told = bench.run(LockstepKind, _around(lit, [Silence()] * 60))
    assert set(told.seen[BEFORE:]) == {()}


def test_a_webcam_that_hangs_is_named_before_the_process_ends(bench: Bench, lit: list[np.ndarray]) -> None:
    with pytest.raises(CameraHungError, match="has not answered for 12 s"):
        bench.run(UsbKind, _around(lit, [Silence()] * 60))
    assert bench.told.seen[-1] == ("stalled",)
    assert bench.told.named("stalled") * SILENCE_S <= 5.5


def test_a_camera_module_that_hangs_ends_the_process_with_a_line(bench: Bench, lit: list[np.ndarray]) -> None:
    with pytest.raises(CameraHungError, match="gave no frame in 2 s: look at its cable") as caught:
        bench.run(PicameraKind, _around(lit, [Gone()]))
    assert "\n" not in str(caught.value)
    assert caught.value.status == 3


@pytest.mark.parametrize("kind", [UsbKind, TwinKind, LockstepKind], ids=["webcam", "twin", "twin in lock-step"])
def test_a_camera_that_vanishes_is_a_fault_until_it_is_back(
    kind: type[Kind], bench: Bench, lit: list[np.ndarray]
) -> None:
    told = bench.run(kind, _around(lit, [Gone()]))
    assert told.reopened == [(1, ("camera",))]
    assert told.seen[-1] == ()


def test_a_video_that_is_cut_off_is_read_to_where_it_ends(
    bench: Bench, lit: list[np.ndarray], caplog: pytest.LogCaptureFixture
) -> None:
    class CutOff(VideoKind):
        def written(self) -> None:
            whole = self.path.read_bytes()
            self.path.write_bytes(whole[: len(whole) * 6 // 10])

    caplog.set_level("INFO")
    told = bench.run(CutOff, _around(lit, []))
    assert BEFORE <= len(told.seen) < BEFORE + AFTER
    assert told.seen[-1] == ()
    assert "the recording is at its end" in caplog.messages


@pytest.mark.parametrize("kind", [*REAL_TIME.values(), LockstepKind], ids=[*REAL_TIME, "twin in lock-step"])
def test_a_camera_whose_clock_was_set_back_is_opened_anew(
    kind: type[Kind], bench: Bench, lit: list[np.ndarray]
) -> None:
    told = bench.run(kind, [*_dated(_many(lit, BEFORE)), *_dated(_many(lit, LONG), 10**9)])
    [(steps, faults)] = told.reopened
    assert faults == ("camera",)
    assert 0 < steps <= SOON
    assert told.seen[-1] == ()


def test_a_video_dated_backwards_is_dated_by_its_rate(
    bench: Bench, lit: list[np.ndarray], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Backwards:
        """A real reader of videos that tells times which fall."""

        def __init__(self, *asked: Any) -> None:
            self._real, self._told_ms = real(*asked), 10_000.0

        def get(self, what: int) -> float:
            return self._told_ms if what == cv2.CAP_PROP_POS_MSEC else float(self._real.get(what))

        def read(self) -> Any:
            self._told_ms -= 40.0
            return self._real.read()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

    real = cv2.VideoCapture
    monkeypatch.setattr(cv2, "VideoCapture", Backwards)
    told = bench.run(VideoKind, _around(lit, []))
    assert len(told.seen) == BEFORE + AFTER + 1
    assert told.seen[-1] == ()
    assert sum("dates frames backwards" in line for line in caplog.messages) == 1
