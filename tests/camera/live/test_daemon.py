"""The camera's daemon around the live reader: what the hub gets over restarts, kills and missing devices."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from firmware_py.camera import daemon
from firmware_py.camera.daemon import CameraLoop
from firmware_py.camera.devices.lateness import Lateness
from firmware_py.camera.source import Frame, SourceEndedError
from firmware_py.reporter import Reporter
from firmware_py.service import Service
from firmware_py.settings import machine_boot
from hardware.board import TOURNAMENT
from hub.link.clock import Clock, ManualClock
from hub.link.config import BoardSection, CameraSection, Config
from hub.link.memory import MemoryBroker
from hub.link.messages import BeamCandidate, Fact, Layout, Shot
from tests.camera.live.filmed import HEIGHT_MM, Film
from tests.firmware.fakehub import FakeHub


class FilmSource:
    """A camera over a filmed board; ends after a number of frames."""

    def __init__(self, film: Film, frames: int) -> None:
        self._film, self._left = film, frames
        self.clock: Clock = ManualClock()
        self.lockstep = True
        self.dropped = 0
        self.given_back: list[tuple[int, int]] = []
        self._read, write = os.pipe()
        os.write(write, b"x")
        os.close(write)

    def fileno(self) -> int:
        return self._read

    def next(self, timeout_s: float) -> Frame | None:
        if not self._left:
            raise SourceEndedError("enough")
        self._left -= 1
        return self._film.next()

    def done(self, frame: Frame, boot: str, seq: int) -> None:
        self.given_back.append((frame.number, seq))

    def close(self) -> None:
        os.close(self._read)


class LateSource(FilmSource):
    """A webcam that dates its pictures late, at a board whose beam reports what breaks it."""

    def __init__(self, film: Film, frames: int, late_ns: int, beam: Reporter) -> None:
        super().__init__(film, frames)
        self._late_ns, self._beam, self._episode = late_ns, beam, 0

    def next(self, timeout_s: float) -> Frame | None:
        frame = super().next(timeout_s)
        self._beam.pump()
        for at_ns, blocked in self._film.world.take_edges():
            if blocked and not self._episode:  # it flickers while a disc falls
                self._episode += 1
                self._beam.report(BeamCandidate(self._episode, at_ns, at_ns))
        return None if frame is None else replace(frame, at_ns=frame.at_ns + self._late_ns)


class KilledError(Exception):
    """The test's kill -9."""


class Bench:
    """One board's state folder, a hub that acknowledges, and daemons that come and go."""

    def __init__(self, folder: Path) -> None:
        self.config = Config(
            board=BoardSection(id="b1", state_dir=str(folder)),
            camera=CameraSection(source="video", height_mm=HEIGHT_MM),
        )
        self.broker = MemoryBroker()
        self.hub = FakeHub(self.broker.bus()).start()

    def run(self, film: Film, seconds: float, *, die_at: type[Fact] | None = None) -> FilmSource:
        """A daemon's life; with ``die_at`` it is killed as it is about to report such a fact."""
        source = FilmSource(film, round(seconds * 30))
        clock = daemon.SourceClock()
        clock.of_source = source.clock
        with Service(self.config, "camera", clock, bus=self.broker.bus(), signals=False) as service:
            loop = CameraLoop(self.config, TOURNAMENT, service, source, clock)
            if die_at is not None:
                report = service.reporter.report

                def deadly(fact: Fact, known_ns: int | None = None) -> int:
                    if isinstance(fact, die_at):
                        raise KilledError
                    return report(fact, known_ns)

                service.reporter.report = deadly  # type: ignore[method-assign]
            with contextlib.suppress(KilledError):
                loop.run()
        return source

    def kinds(self) -> list[str]:
        """What the hub has, hands left out."""
        return [type(f).__name__ for f in self.hub.facts() if isinstance(f, Shot | Layout)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.hub.stop()


def test_every_frame_is_given_back_after_its_facts_are_acknowledged(bench: Bench) -> None:
    film = Film()
    source = bench.run(film, 1.5)
    assert [n for n, _ in source.given_back] == list(range(1, 46))
    assert bench.kinds() == ["Layout"]
    assert source.given_back[-1][1] == len(bench.hub.facts())


@pytest.mark.parametrize("die_at", [Shot, Layout], ids=["before the shot", "between shot and layout"])
def test_a_daemon_killed_while_it_reports_a_shot_reports_it_once(bench: Bench, die_at: type[Fact]) -> None:
    film = Film()
    bench.run(film, 1.5)
    film.shot("A1", "light", 1, 0.0, (350.0, 477.0))
    bench.run(film, 3.0, die_at=die_at)
    bench.run(film, 1.0)
    assert bench.kinds() == ["Layout", "Shot", "Layout"]
    shot = next(f for f in bench.hub.facts() if isinstance(f, Shot))
    layout = bench.hub.facts()[-1]
    assert isinstance(layout, Layout)
    assert [d.id for d in layout.discs] == [shot.disc]


def test_a_daemon_killed_while_a_disc_slides_still_tells_of_the_shot(bench: Bench) -> None:
    film = Film()
    bench.run(film, 1.5)
    reach = film.shot("A1", "light", 1, 0.0, (350.0, 477.0))
    until_flick_s = (next(d.at_ns for d in reach.deeds if d.what == "flick") - film.at_ns) / 1e9
    bench.run(film, until_flick_s + 0.2)
    bench.run(film, 2.5)
    assert bench.kinds() == ["Layout", "Shot", "Layout"]


def test_a_restart_on_a_still_board_has_nothing_to_say(bench: Bench) -> None:
    film = Film()
    bench.run(film, 1.5)
    bench.run(film, 1.0)
    assert bench.kinds() == ["Layout"]


@pytest.mark.parametrize(
    ("config", "status", "says"),
    [
        (Config(camera=CameraSection(source="video", device="/nowhere.mp4")), 3, "no such file"),
        (Config(camera=CameraSection(source="usb", device="/dev/video9")), 3, "usb"),
        (Config(board=BoardSection(preset="nothing"), camera=CameraSection(source="twin")), 2, "preset"),
    ],
)
def test_what_is_missing_at_start_is_one_line_and_a_status(
    config: Config, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert daemon.run(config) == status
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_a_webcam_that_dates_late_is_put_right_by_the_twenties_that_the_beam_noticed(tmp_path: Path) -> None:
    film, broker, late_ns = Film(), MemoryBroker(), 120_000_000
    hub = FakeHub(broker.bus()).start()
    config = Config(board=BoardSection(id="b1", state_dir=str(tmp_path)), camera=CameraSection(height_mm=HEIGHT_MM))
    earlier = json.dumps({"webcam": [late_ns + off_ms * 1_000_000 for off_ms in (-14, 3, 8, -6)]})
    (tmp_path / "camera-lateness.json").write_text(earlier, encoding="utf-8")
    lateness = Lateness(tmp_path, "webcam", machine_boot())
    assert lateness.late_ns == 0  # so few twenties do not tell
    clock = daemon.SourceClock()
    with (
        Service(config, "beam", ManualClock(), bus=broker.bus(), signals=False) as beam,
        Service(config, "camera", clock, hears=("beam",), bus=broker.bus(), signals=False) as service,
    ):
        source = LateSource(film, 45, late_ns, beam.reporter)
        clock.of_source = source.clock
        CameraLoop(config, TOURNAMENT, service, source, clock, lateness=lateness).run()
        film.shot("A1", "light", 1, 0.0, (0.0, 700.0))
        source = LateSource(film, 150, late_ns, beam.reporter)
        CameraLoop(config, TOURNAMENT, service, source, clock, lateness=lateness).run()
    shot = next(f for f in hub.facts() if isinstance(f, Shot))
    hub.stop()
    assert shot.rest == {shot.disc: "hole"}
    assert abs(lateness.late_ns - late_ns) < 15_000_000
    late = Frame(1, 9_000_000_000 + late_ns, 0, source_pixels := film.next().pixels)
    assert abs(lateness.dated(late).at_ns - 9_000_000_000) < 15_000_000
    assert lateness.dated(late).pixels is source_pixels
