"""The beam on a simulated board whose players play a round: every disc in the hole is one candidate, no other is."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from firmware_py.beam.twin import TwinClock, run_twin
from firmware_py.service import Service
from hub.link.config import BeamSection, BoardSection, Config
from hub.link.memory import MemoryBroker
from hub.link.messages import BeamCandidate, BeamEpisode, BeamPass, BeamWarning, Fact
from tests.firmware.fakehub import FakeHub

pytest.importorskip("pymunk")

from hardware.twin.course import Evening
from hardware.twin.scene import Scene
from hardware.twin.serve import Setting, Twin


class ClosedEye:
    """The camera's part is not asked for here."""

    def render(self, scene: Scene, frame_number: int = 0) -> NDArray[np.uint8]:
        return np.zeros((8, 8, 3), np.uint8)


def play(folder: Path, seed: int) -> tuple[list[Fact], list[dict[str, object]]]:
    """Facts of the beam and the twin's truth of a round."""
    folder.mkdir()
    setting = Setting(
        folder / "s",
        folder / "m",
        folder / "truth",
        seed=seed,
        lockstep=True,
        evening=Evening("match-play", rounds=1, games=0),
        size_wh=(8, 8),
        expects=("beam",),
    )
    twin = Twin(setting, ClosedEye())
    broker = MemoryBroker()
    hub = FakeHub(broker.bus()).start()
    clock = TwinClock()
    beam = BeamSection(source="twin", self_test_s=5.0)
    config = Config(board=BoardSection(id="b1", state_dir=str(folder)), beam=beam)

    def evening() -> None:
        twin.run()
        service.stop()

    with Service(config, "beam", clock, bus=broker.bus(), signals=False) as service:
        thread = threading.Thread(target=evening)
        thread.start()
        run_twin(service, clock, setting.socket_path, beam)
        thread.join()
    truth = [json.loads(line) for line in (folder / "truth").read_text(encoding="utf-8").splitlines()]
    return hub.facts(), truth


def test_every_disc_in_the_hole_is_one_candidate(tmp_path: Path) -> None:
    facts, truth = play(tmp_path / "b", seed=2)
    in_hole = [shot for shot in truth if shot["is"] == "shot" and "hole" in shot["rest"].values()]  # type: ignore[attr-defined]
    assert len(in_hole) > 2
    assert sum(isinstance(fact, BeamCandidate) for fact in facts) == len(in_hole)
    assert sum(isinstance(fact, BeamEpisode) for fact in facts) == len(in_hole)
    others = [fact for fact in facts if not isinstance(fact, BeamCandidate | BeamEpisode | BeamPass | BeamWarning)]
    assert others == [], "all self-tests went well"
