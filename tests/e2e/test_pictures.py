"""From a shot under the camera to the referee: reader, hub, pages and upload as they are, without processes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from flask.testing import FlaskClient

from dashboard import auth, create_app
from dashboard.asking import Asker
from dashboard.cases import Cases
from dashboard.club import Club as Pages
from firmware_py.camera import daemon
from firmware_py.camera.clips.upload import RefusedError, Uploader
from firmware_py.camera.clips.witness import Witness
from firmware_py.camera.daemon import CameraLoop
from firmware_py.camera.source import Frame
from firmware_py.service import Service
from hardware.board import TOURNAMENT
from hub.link.config import BoardSection, CameraSection, Config
from hub.people.roles import Grant, digest
from tests.camera.live.filmed import HEIGHT_MM, Film
from tests.camera.live.test_daemon import FilmSource
from tests.hub.harness import TOKEN, Club

OWN = {"Authorization": f"Bearer {TOKEN}-pictures"}
REFEREE = {"Authorization": f"Bearer {TOKEN}-referee"}


class Evening:
    """A hub that works on a thread of its own, pages beside it, and a camera's daemon over a film."""

    def __init__(self, folder: Path) -> None:
        auth._roles.clear()
        self.film: Film = Film()
        self.hub = Club(folder, ("b1",))
        assert self.hub.hub is not None
        self.hub.hub._people.grants[digest(f"{TOKEN}-pictures")] = Grant("board", "b1")
        assert self.hub.ask("start", {"rules": "match-play", "level": "judge"}).ok
        bus = self.hub.broker.bus()
        self.pages = Pages(bus, TOURNAMENT)
        self.cases = Cases(folder / "cases")
        app = create_app(self.pages, Asker(bus), self.cases, secret_key="k" * 32)
        bus.start()
        self.client: FlaskClient = app.test_client()
        self.uploader = Uploader(self.post)
        self.config = Config(
            board=BoardSection(id="b1", state_dir=str(folder)),
            camera=CameraSection(source="video", height_mm=HEIGHT_MM),
        )
        self.thread = threading.Thread(target=self.hub.hub.run)
        self.thread.start()

    def post(self, body: bytes) -> None:
        self.pages.work()
        response = self.client.post("/api/1/boards/b1/cases", data=body, headers=OWN)
        if response.status_code != 200:
            raise RefusedError(response.get_data(as_text=True))

    def watch(self, seconds: float, witness: Witness) -> None:
        source = FilmSource(self.film, round(seconds * 30))
        clock = daemon.SourceClock()
        clock.of_source = source.clock
        with Service(self.config, "camera", clock, bus=self.hub.broker.bus(), signals=False) as service:
            CameraLoop(self.config, TOURNAMENT, service, source, clock, witness=witness).run()

    def close(self) -> None:
        assert self.hub.hub is not None
        self.hub.hub.stop()
        self.thread.join(10)
        self.hub.close()


class Script(Film):
    """A film during which things are done at given seconds."""

    def __init__(self, *acts: tuple[float, Callable[[], object]]) -> None:
        super().__init__()
        self._acts = list(acts)

    def next(self) -> Frame:
        while self._acts and self.at_ns >= self._acts[0][0] * 1e9:
            self._acts.pop(0)[1]()
        return super().next()


def test_a_called_referee_gets_the_last_shot_as_the_camera_saw_it(tmp_path: Path) -> None:
    evening = Evening(tmp_path)
    try:

        def call() -> None:
            evening.pages.work()
            view = evening.pages.board("b1")
            assert view is not None
            assert view.table is not None
            body = {"body": {}, "rev": view.table.rev}
            token = {"Authorization": f"Bearer {TOKEN}-b1"}
            assert evening.client.post("/api/1/boards/b1/ask/referee", json=body, headers=token).status_code == 200

        def shoot() -> None:
            evening.film.shot("A1", "light", 1, 0.0, (350.0, 477.0))

        evening.film = Script((1.2, shoot), (4.2, call))
        evening.watch(6.6, Witness(evening.uploader))
        evening.uploader.send_next()
        [kept] = evening.client.get("/api/1/boards/b1/cases", headers=REFEREE).json["cases"]
        assert kept["text"] == "the referee was called"
        assert len(kept["frames"]) > 40
        name = f"/api/1/boards/b1/cases/{kept['case']}/plain.jpg"
        data = evening.client.get(name, headers=REFEREE).data
        picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        assert picture.shape[0] > 700
    finally:
        evening.close()
