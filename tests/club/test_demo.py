"""How a simulated club starts and ends: addresses that nobody else has, a page that answers, no noise, no leftovers."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from hub.club import demo, ports
from hub.club.demo import Demo, Options
from hub.club.folder import DemoError


@pytest.fixture
def occupied() -> Iterator[int]:
    """A port at which another program listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield int(other.getsockname()[1])


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Callable[[Options], Demo]]:
    """Makes demos of which a test starts parts."""
    started: list[Demo] = []

    def make(options: Options) -> Demo:
        started.append(Demo(options))
        return started[-1]

    yield make
    for each in started:
        each._supervisor.stop()
        each._folder.close()


def running(club: Demo) -> list[str]:
    return [child.name for child in club._supervisor.children if child.ended is None]


def test_pages_go_elsewhere_when_another_was_faster_at_the_usual_port(
    club: Callable[[Options], Demo], occupied: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_USUAL_PORT", occupied)
    looked: list[int] = []

    def taken(host: str, port: int) -> bool:
        looked.append(port)
        return len(looked) > 1  # at the first look the other was not there yet

    monkeypatch.setattr(ports, "taken", taken)
    evening = club(Options(run_dir=tmp_path))
    evening._start_dashboard()
    assert looked == [occupied, occupied]
    assert evening._page_port != occupied
    assert running(evening) == ["dashboard"]
    evening._wait_until("no page", evening._pages_answer)


def test_a_port_that_was_asked_for_is_not_given_up_for_another(
    club: Callable[[Options], Demo], occupied: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "taken", lambda *_: False)
    evening = club(Options(run_dir=tmp_path, port=occupied))
    with pytest.raises(DemoError, match=f"127.0.0.1:{occupied} is taken by another program"):
        evening._start_dashboard()
    assert running(evening) == []


def test_the_broker_goes_elsewhere_when_another_was_faster(
    club: Callable[[Options], Demo], occupied: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = iter([occupied, ports.free_port()])
    monkeypatch.setattr(ports, "free_port", lambda: next(chosen))
    evening = club(Options(run_dir=tmp_path))
    evening._start_broker()
    assert running(evening) == ["broker"]
    assert str(occupied) not in evening._url


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_club_says_where_it_is_once_its_pages_answer_and_nothing_else(host: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "crokinole", "demo", "--boards", "1", "--host", host, "--dir", str(tmp_path)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as evening:
        assert evening.stderr is not None
        lines: list[str] = []
        while not lines or not lines[-1].startswith(("Ctrl-C", "crokinole:")):
            lines.append(evening.stderr.readline())
            assert lines[-1], lines
        try:
            wall = next(line.split()[1] for line in lines if line.startswith("wall"))
            with urlopen(wall, timeout=10) as page:
                assert page.status == 200
        finally:
            evening.send_signal(signal.SIGINT)
        lines += evening.stderr.readlines()
    assert evening.returncode == 0
    first = [line.split()[0] for line in lines]
    assert (first[0], first[-1]) == ("a", "Ctrl-C"), lines
    assert {"wall", "table", "pids"} <= set(first)
    assert ("open" in first) == (host == "0.0.0.0")
    assert all(len(word) > 1 for word in first[1:]), lines  # what a log says begins with the letter of its level


@pytest.fixture
def near() -> Iterator[Path]:
    """A folder with a short name: sockets below it have room for about a hundred characters."""
    with tempfile.TemporaryDirectory(prefix="near-") as name:
        yield Path(name)


def test_a_club_that_is_ended_before_it_plays_leaves_nothing(near: Path) -> None:
    argv = [sys.executable, "-m", "crokinole", "demo", "--boards", "1"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env={"TMPDIR": str(near)}) as evening:
        while not list(near.glob("*/broker.log")):
            assert evening.poll() is None
        evening.send_signal(signal.SIGINT)
        assert evening.stderr is not None
        assert evening.stderr.read() == ""
    assert evening.returncode == 0
    assert list(near.iterdir()) == []
