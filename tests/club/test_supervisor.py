"""The supervisor: whoever dies is started again, and everybody goes at the end."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hub.club.supervisor import Child, Supervisor


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    supervisor = Supervisor()
    yield supervisor
    supervisor.stop()


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def look_until(supervisor: Supervisor, wanted: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(1000):
        supervisor.look()
        if wanted():
            return
        pause.wait(0.01)
    pytest.fail("it did not happen within 10 s")


def test_a_killed_process_is_started_again(supervisor: Supervisor, tmp_path: Path) -> None:
    child = supervisor.add(Child("sleeper", python("import time; time.sleep(60)"), tmp_path / "log"))
    first = child.pid
    os.kill(first, signal.SIGKILL)
    look_until(supervisor, lambda: child.pid not in {0, first})
    assert child.restarts == 1


def test_one_that_is_meant_to_end_is_not_started_again(supervisor: Supervisor, tmp_path: Path) -> None:
    child = supervisor.add(Child("once", python(""), tmp_path / "log", once=True))
    look_until(supervisor, lambda: child.pid == 0)
    supervisor.look()
    assert (child.pid, child.restarts) == (0, 0)


def test_the_last_words_of_the_dead_are_told(
    supervisor: Supervisor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    child = supervisor.add(Child("beam", python("import sys; sys.exit('no pins here')"), tmp_path / "log"))
    look_until(supervisor, lambda: child.pid == 0)
    assert "beam ended (exit status 1)" in caplog.text
    assert "no pins here" in caplog.text


def test_what_a_process_has_said_since_its_start_is_known(supervisor: Supervisor, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("ready long ago\n")
    child = supervisor.add(Child("talker", python("print('here now')"), tmp_path / "log"))
    pause = threading.Event()
    for _ in range(1000):
        if child.ended is not None:
            break
        pause.wait(0.01)
    assert child.ended == 0
    assert child.has_said("here now\n")
    assert not child.has_said("long ago")


def test_one_that_is_given_up_is_gone_and_stays_away(supervisor: Supervisor, tmp_path: Path) -> None:
    child = supervisor.add(Child("sleeper", python("import time; time.sleep(60)"), tmp_path / "log"))
    pid = child.pid
    supervisor.give_up(child)
    supervisor.look()
    assert supervisor.children == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_one_that_will_not_go_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hub.club.supervisor._GOODBYE_S", 0.2)
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    )
    supervisor = Supervisor()
    child = supervisor.add(Child("stubborn", python(stubborn), tmp_path / "log"))
    look_until(supervisor, lambda: (tmp_path / "log").read_text() == "1\n")
    pid = child.pid
    supervisor.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of their parent's death")
def test_nobody_outlives_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    sleeper = """
import time
from hub.club import supervisor
supervisor.follow_supervisor()
print(1, flush=True)
time.sleep(60)
"""
    boss = f"""
import sys, time
from pathlib import Path
from hub.club.supervisor import Child, Supervisor
child = Child("sleeper", [sys.executable, "-c", {sleeper!r}], Path({str(tmp_path / "log")!r}))
print(Supervisor().add(child).pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen(python(boss), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        pause = threading.Event()
        while (tmp_path / "log").read_text() != "1\n":
            pause.wait(0.01)
        process.kill()
    for _ in range(1000):
        if not Path(f"/proc/{child}/stat").exists() or ") Z " in Path(f"/proc/{child}/stat").read_text():
            return
        pause.wait(0.01)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child lives on")
