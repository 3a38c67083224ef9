"""Real cameras stall, vanish, hang and lie about time; the loop hears of it and never waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from fakes import ScriptedCamera, until_gone

from firmware_py.camera.devices.grabber import (
    MOST_BACKWARDS,
    Camera,
    CameraError,
    CameraHungError,
    Grabber,
)
from firmware_py.camera.source import Frame
from firmware_py.errors import DeviceMissingError

SOON_S = 10.0


@pytest.fixture
def camera() -> ScriptedCamera:
    return ScriptedCamera()


@pytest.fixture
def grabber(camera: ScriptedCamera) -> Iterator[Grabber]:
    made = Grabber("the camera", lambda: camera)
    yield made
    camera.script.put(None)
    made.close()


def _next(grabber: Grabber) -> Frame:
    frame = grabber.next(SOON_S)
    while frame is None:
        frame = grabber.next(SOON_S)
    return frame


def _until_hung(grabber: Grabber, wait_s: float) -> None:
    while True:
        grabber.next(wait_s)


def test_frames_come_in_order_with_their_own_times(grabber: Grabber, camera: ScriptedCamera) -> None:
    camera.show(1000)
    first = _next(grabber)
    camera.show(2000)
    second = _next(grabber)
    assert [(f.number, f.at_ns) for f in (first, second)] == [(1, 1000), (2, 2000)]
    assert grabber.next(0.0) is None


def test_only_the_newest_frame_is_read_and_the_others_are_counted(grabber: Grabber, camera: ScriptedCamera) -> None:
    for k in range(1, 6):
        camera.show(k * 1000)
    # The camera asks for a sixth frame once the five are in.
    while not camera.script.empty():
        threading.Event().wait(0.001)
    camera.show(6000)
    frame = _next(grabber)
    while frame.at_ns != 6000:
        frame = _next(grabber)
    assert frame.number == 6
    assert 4 <= grabber.dropped <= 5


def test_an_unplugged_camera_is_gone_and_let_go(grabber: Grabber, camera: ScriptedCamera) -> None:
    camera.show(1000)
    _next(grabber)
    camera.script.put(None)
    assert "unplugged" in until_gone(grabber)
    assert camera.released.get(timeout=SOON_S)


def test_an_error_in_the_thread_reaches_the_loop(grabber: Grabber, camera: ScriptedCamera) -> None:
    camera.script.put(ValueError("odd frame"))
    assert "odd frame" in until_gone(grabber)


def test_single_frames_dated_backwards_are_passed_over(grabber: Grabber, camera: ScriptedCamera) -> None:
    for at_ns in (5000, 4000, 5000, 6000):
        camera.show(at_ns)
    frame = _next(grabber)
    while frame.at_ns != 6000:
        assert frame.at_ns == 5000
        frame = _next(grabber)
    assert grabber.backwards == 2


def test_a_clock_that_runs_backwards_is_named(grabber: Grabber, camera: ScriptedCamera) -> None:
    for k in range(MOST_BACKWARDS + 1):
        camera.show(100_000 - k)
    assert "backwards" in until_gone(grabber)


def test_a_camera_that_cannot_be_opened_is_missing() -> None:
    def refuse() -> Camera:
        raise CameraError("[camera] device /dev/video7 cannot be opened")

    with pytest.raises(DeviceMissingError, match="/dev/video7 cannot be opened"):
        Grabber("the camera", refuse)


def test_a_camera_that_hangs_ends_the_process(camera: ScriptedCamera) -> None:
    ended: list[bool] = []
    grabber = Grabber("the camera", lambda: camera, hung_s=0.0, end=lambda: ended.append(True))
    with pytest.raises(CameraHungError, match="has not answered"):
        _until_hung(grabber, 0.001)
    assert ended == [True]
    camera.script.put(None)
    grabber.close()


def test_a_camera_that_hangs_while_it_opens_ends_the_process() -> None:
    ended: list[bool] = []
    let_go = threading.Event()

    def hang() -> Camera:
        let_go.wait()
        raise CameraError("too late")

    with pytest.raises(CameraHungError, match="when it is opened"):
        Grabber("the camera", hang, open_s=0.0, end=lambda: ended.append(True))
    assert ended == [True]
    let_go.set()


def test_a_driver_that_says_it_hangs_is_not_closed(camera: ScriptedCamera) -> None:
    ended: list[bool] = []
    grabber = Grabber("the camera", lambda: camera, end=lambda: ended.append(True))
    camera.script.put(CameraHungError("no frame in 2 s"))
    with pytest.raises(CameraHungError, match="no frame in 2 s"):
        _until_hung(grabber, SOON_S)
    assert ended == [True]
    assert camera.released.empty()
    grabber.close()


def test_closing_does_not_wait_for_a_camera_that_blocks(
    camera: ScriptedCamera, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firmware_py.camera.devices.grabber._CLOSE_S", 0.01)
    grabber = Grabber("the camera", lambda: camera)
    grabber.close()
    assert camera.released.empty()
    camera.script.put(None)
    assert camera.released.get(timeout=SOON_S)
    grabber.close()
