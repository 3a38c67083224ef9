"""The line to the twin: messages both ways, frames in shared memory, clear errors."""

import socket
from pathlib import Path

import pytest

from hardware.line import FrameMemory, Line, LineError, listen


def pair() -> tuple[Line, Line]:
    a, b = socket.socketpair()
    return Line(a), Line(b)


def test_messages_arrive_in_order_also_in_one_piece() -> None:
    a, b = pair()
    for number in range(3):
        a.send({"is": "tick", "at_ns": number})
    assert [b.receive(1.0), *b.waiting()] == [{"is": "tick", "at_ns": n} for n in range(3)]
    assert b.receive(0) is None
    a.close()
    b.close()


def test_a_hung_up_line_says_so() -> None:
    a, b = pair()
    a.close()
    with pytest.raises(LineError, match="hung up"):
        b.receive(1.0)
    b.close()


def test_what_is_no_object_is_refused() -> None:
    raw, b = socket.socketpair()
    raw.sendall(b"[1]\n")
    line = Line(b)
    with pytest.raises(LineError, match="JSON object"):
        line.receive(1.0)
    line.close()
    raw.close()


def test_a_missing_twin_is_named(tmp_path: Path) -> None:
    with pytest.raises(LineError, match=r"twin\.sock"):
        Line.connect(tmp_path / "twin.sock", "beam")


def test_a_new_twin_takes_the_place_of_a_dead_ones_socket(tmp_path: Path) -> None:
    listen(tmp_path / "twin.sock").close()
    listen(tmp_path / "twin.sock").close()


def test_a_frame_and_the_clock_are_seen_by_the_other_side(tmp_path: Path) -> None:
    twin = FrameMemory(tmp_path / "frames", size_wh=(4, 3), slots=2)
    driver = FrameMemory(tmp_path / "frames")
    twin.pixels(1)[:] = bytes(range(36))
    twin.publish(1, 7, 123, 10)
    twin.clock_ns = 456
    assert (driver.width, driver.height, driver.slots, driver.newest) == (4, 3, 2, 7)
    assert bytes(driver.pixels(1)) == bytes(range(36))
    assert driver.label(1) == (7, 123, 10)
    assert driver.clock_ns == 456
    twin.retract(1)
    assert driver.label(1)[0] == 0


def test_a_file_that_is_no_twins_is_refused(tmp_path: Path) -> None:
    (tmp_path / "frames").write_bytes(bytes(1000))
    with pytest.raises(LineError, match="not a twin"):
        FrameMemory(tmp_path / "frames")
    with pytest.raises(LineError, match="No such file"):
        FrameMemory(tmp_path / "none")
