"""Knocks and dusk: what a script says happens to the simulated camera, and nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hardware.board import TOURNAMENT
from hardware.twin import process
from hardware.twin.happenings import Bump, Dusk, HappeningError, UnsteadyEye, read_happening
from hardware.twin.optics import CameraPose, Optics, Renderer, nominal_optics, nominal_pose
from hardware.twin.scene import Scene
from hardware.twin.styles import NOMINAL

SIZE = (320, 240)


def make(pose: CameraPose, optics: Optics) -> Renderer:
    return Renderer(TOURNAMENT, NOMINAL, pose, optics, 1)


@pytest.mark.parametrize(
    ("script", "happening"),
    [
        ("bump@900=2.5,-1,0.3", Bump(900, 2.5, -1.0, 0.3)),
        ("bump@1=0,5", Bump(1, 0.0, 5.0)),
        ("dusk@300-36300=0.6", Dusk(300, 36300, 0.6)),
    ],
)
def test_scripts_are_read(script: str, happening: object) -> None:
    assert read_happening(script) == happening


@pytest.mark.parametrize("script", ["", "bump", "bump@1", "bump@1=2", "dusk@9-3=0.6", "dusk@1-3=-1", "quake@3=1,1"])
def test_what_cannot_happen_is_refused_in_a_line(script: str, capsys: pytest.CaptureFixture[str], tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(HappeningError, match="happening"):
        read_happening(script)
    status = process.run(socket_path=tmp_path / "s", memory_path=tmp_path / "m", happenings=(script,))
    assert status == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_bump_shows_the_board_from_elsewhere_from_its_frame_on() -> None:
    pose, optics, scene = nominal_pose(TOURNAMENT, SIZE), nominal_optics(), Scene(0)
    eye = UnsteadyEye(make, pose, optics, [Bump(5, 4.0, 0.0, 0.0), Bump(8, -4.0, 0.0, 0.0)])
    steady, moved = make(pose, optics), make(pose.nudged(4.0), optics)
    for number in range(1, 10):
        expected = moved if 5 <= number < 8 else steady
        assert np.array_equal(eye.render(scene, number), expected.render(scene, number)), number


def test_dusk_takes_the_light_and_its_blue_bit_by_bit() -> None:
    pose, optics, scene = nominal_pose(TOURNAMENT, SIZE), nominal_optics(), Scene(0)
    eye = UnsteadyEye(make, pose, optics, [Dusk(10, 110, 0.5)])
    means = [eye.render(scene, number).reshape(-1, 3).mean(axis=0) for number in range(0, 130, 10)]
    levels = [float(m.sum()) for m in means]
    assert levels[0] == pytest.approx(levels[1], rel=0.01)
    assert all(a > b for a, b in itertools.pairwise(levels[1:12]))
    assert levels[-1] == pytest.approx(levels[-2], rel=0.01)
    assert levels[-1] < 0.56 * levels[0]
    assert means[-1][0] / means[-1][2] < 0.8 * means[0][0] / means[0][2]
