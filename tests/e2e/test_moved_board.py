"""A board that is knocked and carried in the middle of a round: camera's daemon and hub as they are, no processes."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firmware_py.camera import daemon
from firmware_py.camera.daemon import CameraLoop
from firmware_py.camera.source import Frame
from firmware_py.service import Service
from hardware.board import TOURNAMENT
from hub.link.config import BoardSection, CameraSection, Config
from hub.link.snapshot import Table
from tests.camera.live.filmed import HEIGHT_MM, Film
from tests.camera.live.test_daemon import FilmSource
from tests.hub.harness import Club


class Script(Film):
    """A film during which things are done at given seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.acts: list[tuple[float, Callable[[], object]]] = []

    def next(self) -> Frame:
        while self.acts and self.at_ns >= self.acts[0][0] * 1e9:
            self.acts.pop(0)[1]()
        return super().next()


class Evening:
    """A hub that works on a thread of its own, and a camera's daemon over a film."""

    def __init__(self, folder: Path) -> None:
        self.film = Script()
        self.club = Club(folder, ("b1",))
        assert self.club.hub is not None
        assert self.club.ask("start", {"rules": "match-play", "level": "judge"}).ok
        self.config = Config(
            board=BoardSection(id="b1", state_dir=str(folder)),
            camera=CameraSection(source="video", height_mm=HEIGHT_MM),
        )
        self.thread = threading.Thread(target=self.club.hub.run)
        self.thread.start()

    def watch(self, seconds: float) -> Table:
        """Let the camera watch for some seconds; the table as people then see it."""
        source = FilmSource(self.film, round(seconds * self.film.rate_hz))
        clock = daemon.SourceClock()
        clock.of_source = source.clock
        with Service(self.config, "camera", clock, bus=self.club.broker.bus(), signals=False) as service:
            CameraLoop(self.config, TOURNAMENT, service, source, clock).run()
        return self.club.table()

    def close(self) -> None:
        assert self.club.hub is not None
        self.club.hub.stop()
        self.thread.join(10)
        self.club.close()


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[Evening]:
    made = Evening(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    "moved",
    [
        {"dx_mm": 3.0, "dy_mm": -2.0, "turn_deg": -0.3},
        {"dx_mm": 40.0, "dy_mm": -20.0, "turn_deg": 10.0},
    ],
    ids=["knocked", "carried"],
)
def test_a_round_goes_on_when_the_board_is_moved(evening: Evening, moved: dict[str, float]) -> None:
    film = evening.film
    film.acts = [
        (0.6, lambda: film.shot("A1", "light", 1, 0.0, (350.0, 477.0))),
        (3.6, lambda: film.bump(**moved)),
        (5.4, lambda: film.shot("B1", "dark", 3, 30.0, (-5.0, -700.0))),
    ]
    before = evening.watch(3.2)
    assert before.shot == 1
    after = evening.watch(5.0)
    assert after.shot == 2
    assert after.questions == ()
    assert after.verdict is not None
    assert after.verdict.valid
    assert after.remove == ()
    assert {d.id for d in before.discs} < {d.id for d in after.discs}
    lying = {(d.x_mm, d.y_mm) for d in film.world.discs.values() if d.where == "surface"}
    assert len(after.discs) == len(lying) == 2
    for disc in after.discs:
        assert min(math.dist((disc.x_mm, disc.y_mm), place) for place in lying) < 3.0
