"""What the camera keeps and sends of a doubt, on a filmed simulated board."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from firmware_py.camera import daemon
from firmware_py.camera.clips.pictures import PICTURE_PX
from firmware_py.camera.clips.ring import MAX_BYTES
from firmware_py.camera.clips.upload import Parcel, Uploader
from firmware_py.camera.clips.witness import Witness, open_witness
from firmware_py.camera.daemon import CameraLoop
from firmware_py.camera.live import LiveReader
from firmware_py.camera.motion.told import Rest
from firmware_py.camera.source import Frame
from firmware_py.service import Service
from hardware.board import TOURNAMENT
from hub.link import topics
from hub.link.config import BoardSection, Config, ConfigError
from hub.link.messages import Do, Fact, Layout, LayoutDisc, Shot, encode
from hub.link.pictures import Evidence, Wanted, WantedDisc, unpack
from tests.camera.live.filmed import HEIGHT_MM, Film
from tests.camera.live.test_daemon import Bench, FilmSource

S = 1_000_000_000
MASK = (48, 44, 40)


@dataclass
class Scene:
    """A filmed board, a reader, and a witness whose uploads are collected."""

    film: Film = field(default_factory=Film)
    reader: LiveReader = field(default_factory=lambda: LiveReader(TOURNAMENT, height_mm=HEIGHT_MM))
    bodies: list[bytes] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.uploader = Uploader(self.bodies.append)
        self.witness = Witness(self.uploader)

    def run(self, seconds: float) -> None:
        for frame in self.film.frames(seconds):
            facts = self.reader.take(frame)
            self.witness.take(frame, self.reader, facts)
            self.facts += facts

    def sent(self) -> list[tuple[Evidence, tuple[bytes, ...]]]:
        for _ in range(5):
            self.uploader.send_next()
        return [unpack(body) for body in self.bodies]

    def last(self, kind: type[Fact]) -> Any:
        return [fact for fact in self.facts if isinstance(fact, kind)][-1]


def wanted(disc: LayoutDisc, limit_mm: float = 0.0) -> WantedDisc:
    return WantedDisc(disc.id, disc.colour, disc.x_mm, disc.y_mm, disc.sigma_mm, limit_mm)


def picture(jpeg: bytes) -> Any:
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)


@pytest.fixture(scope="module")
def scene() -> Scene:
    """One shot, a question about its disc and one about all, and a call of the referee much later."""
    scene = Scene()
    scene.run(1.2)
    scene.film.shot("A1", "light", 1, 0.0, (350.0, 477.0))
    scene.run(2.6)
    shot, disc = scene.last(Shot), scene.last(Layout).discs[0]
    r_mm = math.hypot(disc.x_mm, disc.y_mm)
    limit_mm = min(TOURNAMENT.limits_mm, key=lambda limit: abs(limit - r_mm))
    scene.witness.want(Wanted("m.line", "at the line?", shot.end_ns, (wanted(disc, limit_mm),)))
    scene.witness.want(Wanted("m.all", "what happened?", shot.end_ns))
    scene.run(12.0)
    scene.witness.want(Wanted("m.call", "the referee was called", shot.end_ns))
    scene.run(0.2)
    return scene


def test_a_clip_has_what_happened_before_and_after_the_rest(scene: Scene) -> None:
    evidence, pictures = scene.sent()[0]
    times = [frame.at_ms for frame in evidence.frames]
    assert -3000 <= times[0] < -2400
    assert 1400 < times[-1] <= 2000
    assert times == sorted(times)
    moving = [later - at for at, later in pairwise(times) if -1000 < at < -100]
    assert max(moving) < 40
    assert len(pictures) == 2 + len(times)


def test_the_question_at_a_line_comes_enlarged_with_its_margin(scene: Scene) -> None:
    disc = scene.last(Layout).discs[0]
    evidence, (drawn, plain, *_) = scene.sent()[0]
    assert evidence.case == "m.line"
    margin_mm = min((limit - math.hypot(disc.x_mm, disc.y_mm) for limit in TOURNAMENT.limits_mm), key=abs)
    assert evidence.margin_mm == pytest.approx(margin_mm, abs=0.01)
    assert evidence.sigma_mm == disc.sigma_mm
    drawn_picture, plain_picture = picture(drawn), picture(plain)
    assert drawn_picture.shape == plain_picture.shape == (PICTURE_PX, PICTURE_PX, 3)
    # The light disc lies in the middle; its base, as drawn, is where a disc is seen.
    grey = plain_picture[..., 1].astype(int)
    difference = np.abs(drawn_picture.astype(int) - plain_picture).max(axis=2) > 60
    assert 0.001 < difference.mean() < 0.05
    middle = PICTURE_PX // 2
    radius_px = TOURNAMENT.disc_radius_mm / (84.0 / PICTURE_PX)
    ring = [
        difference[round(middle + radius_px * math.sin(a)) + dy, round(middle + radius_px * math.cos(a)) + dx]
        for a in np.arange(0, 2 * np.pi, 0.1)
        for dx in (-1, 0, 1)
        for dy in (-1, 0, 1)
    ]
    assert np.mean(ring) > 0.2
    assert grey[middle - 20 : middle + 20, middle - 20 : middle + 20].mean() > 120


def test_nothing_beyond_the_rail_leaves_the_board(scene: Scene) -> None:
    evidence, (_, plain, *frames) = scene.sent()[1]
    assert evidence.case == "m.all"
    for shown, half_mm in ((picture(plain), TOURNAMENT.rail_radius_mm), (picture(frames[10]), None)):
        side = shown.shape[0]
        mm_per_px = 2 * half_mm / side if half_mm else 1.6
        row, column = np.mgrid[:side, :side] - (side - 1) / 2
        beyond = np.hypot(row, column) * mm_per_px > TOURNAMENT.rail_radius_mm + 12
        assert beyond.any()
        assert np.abs(shown[beyond].astype(int) - MASK).max() <= 12
        within = np.hypot(row, column) * mm_per_px < 250
        assert shown[within].mean() > 90


def test_the_last_shot_can_still_be_looked_at_when_the_ring_has_gone_on(scene: Scene) -> None:
    evidence, pictures = scene.sent()[2]
    assert evidence.case == "m.call"
    assert evidence.frames[0].at_ms < -2400
    assert evidence.frames[-1].at_ms <= 2000
    assert picture(pictures[1]).shape == (PICTURE_PX, PICTURE_PX, 3)
    assert evidence.drawn == 0  # nothing is asked of any disc


def test_the_rest_after_the_last_shot_stays_known_however_often_hands_pass(scene: Scene) -> None:
    again = Scene()
    view = scene.reader.view
    assert view is not None
    width, height = view.calibration.size_wh
    for number in range(9):
        at_ns = (number + 1) * S
        frame = Frame(number, at_ns, 0, np.full((height, width, 3), 60 if number == 1 else 180, np.uint8))
        reader: Any = SimpleNamespace(view=view, rest=Rest((), 1, frame.pixels, at_ns), at_rest=True)
        shot = Shot("d1", "light", None, (), {"d1": "ditch"}, S, 2 * S - 1)
        again.witness.take(frame, reader, [shot] if number == 1 else [])
    again.witness.want(Wanted("m.q", "", 2 * S - 1))
    again.witness.take(frame, reader, [])
    [(_, (_, plain, *frames))] = again.sent()
    middle = slice(300, 400)
    assert picture(plain)[middle, middle].mean() == pytest.approx(60, abs=3)
    assert len(frames) == 3


def test_what_is_kept_is_bounded(scene: Scene) -> None:
    assert 0 < scene.witness.bytes < 2 * MAX_BYTES + 3 * 1024 * 1024


def test_more_wishes_than_can_be_kept_do_no_harm() -> None:
    scene = Scene()
    scene.run(1.2)
    for number in range(50):
        scene.witness.want(Wanted(f"m.{number}", "", 0))
    scene.run(2.2)
    assert 1 <= len(scene.sent()) <= 4


class Instead:
    """An uploader that collects what is put, with the daemon's own witness before it."""

    def __init__(self) -> None:
        self.parcels: list[Parcel] = []

    def put(self, parcel: Parcel) -> None:
        self.parcels.append(parcel)

    def close(self) -> None:
        """Nothing."""


def test_the_hub_s_request_reaches_the_witness_and_a_bad_one_is_passed_over(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    film, uploader = Film(), Instead()
    source = FilmSource(film, round(3.2 * 30))
    clock = daemon.SourceClock()
    clock.of_source = source.clock
    with Service(bench.config, "camera", clock, bus=bench.broker.bus(), signals=False) as service:
        witness = Witness(uploader)  # type: ignore[arg-type]  # of an uploader it only needs these two
        loop = CameraLoop(bench.config, TOURNAMENT, service, source, clock, witness=witness)
        boot = service.reporter.boot
        for name, body in (
            (boot, {"case": "../x", "text": ""}),
            (boot, {"what": 1}),
            ("another boot", {"case": "m.q9", "text": ""}),
            (boot, {"case": "m.q1", "text": "why?"}),
        ):
            bench.hub.bus.publish(topics.do("b1", "picture"), encode(Do(name, body)))
        loop.run()
    bench.hub.stop()
    assert [parcel.case for parcel in uploader.parcels] == ["m.q1"]
    assert bench.kinds() == ["Layout"]


def test_a_board_without_pages_keeps_nothing() -> None:
    assert open_witness(Config()) is None


def test_a_token_that_others_may_read_is_refused(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    token.chmod(0o644)
    with pytest.raises(ConfigError, match="must be 0600"):
        open_witness(Config(board=BoardSection(pages="http://127.0.0.1:1", token_file=str(token))))
