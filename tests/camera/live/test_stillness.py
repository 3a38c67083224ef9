"""The gate in front of everything else."""

from __future__ import annotations

import numpy as np
import pytest

from firmware_py.camera.motion.stillness import Gate, shrink

NOISE = np.random.default_rng(0).normal(0, 2, (1100, 1280, 3)).astype(np.float32)


def scene(seed: int, box: tuple[int, int] | None = None, light: float = 1.0) -> np.ndarray:
    frame = np.full((960, 1280, 3), np.float32(150 * light))
    if box is not None:
        x, y = box
        frame[y : y + 36, x : x + 36] = 170 * light
    first = seed * 37 % 140
    return (frame + NOISE[first : first + 960]).astype(np.uint8)


def test_noise_is_no_motion() -> None:
    gate = Gate()
    assert not any(gate.look(scene(k)).moving or gate.look(scene(k + 50)).changed for k in range(6))


def test_a_faint_disc_opens_the_gate_and_its_place_is_told() -> None:
    gate = Gate()
    gate.look(scene(0))
    seen = gate.look(scene(1, (600, 400)))
    assert seen.moving
    assert seen.changed
    left, top, right, bottom = seen.box
    assert left <= 600
    assert right >= 636
    assert top <= 400
    assert bottom >= 436


def test_what_lies_still_is_changed_but_does_not_move_until_it_is_settled() -> None:
    gate = Gate()
    gate.look(scene(0))
    gate.look(scene(1, (600, 400)))
    seen = gate.look(scene(2, (600, 400)))
    assert (seen.moving, seen.changed) == (False, True)
    gate.settle()
    seen = gate.look(scene(3, (600, 400)))
    assert (seen.moving, seen.changed) == (False, False)


def test_daylight_that_fades_slowly_is_no_change() -> None:
    gate = Gate()
    seen = [gate.look(scene(k, light=1 - 0.001 * k)) for k in range(50)]
    assert not any(s.moving or s.changed for s in seen)


def test_a_noisy_camera_raises_the_step() -> None:
    noisy = [(120 + 7 * NOISE[37 * k % 140 :][:960]).clip(0, 255).astype(np.uint8) for k in range(6)]
    gate = Gate()
    gate.measure_noise(noisy[:2])
    assert not any(gate.look(f).moving for f in noisy[2:])


@pytest.mark.parametrize("sigma", [0, 2, 6, 14])
def test_how_noisy_the_camera_is_shows_in_its_first_frames_though_something_moves(sigma: int) -> None:
    gate = Gate()

    def frame(k: int) -> np.ndarray:
        picture = 120 + sigma / 2 * NOISE[37 * k % 140 :][:960]
        picture[300:400, 200 + 40 * min(k, 4) : 500 + 40 * min(k, 4)] = 30.0
        return picture.clip(0, 255).astype(np.uint8)

    moving = [gate.look(frame(k)).moving for k in range(8)]
    assert moving == [False, True, True, True, True, False, False, False]


def test_once_something_lay_at_rest_noise_is_known_and_a_whole_picture_that_shakes_is_motion() -> None:
    gate = Gate()
    for k in range(3):
        gate.look(scene(k))
    gate.settle()
    chance = np.random.default_rng(1)
    shaken = (scene(3) + chance.normal(0, 60, (960, 1280, 1))).clip(0, 255).astype(np.uint8)
    assert gate.look(shaken).moving


def test_any_size_is_shrunk_to_the_gate() -> None:
    for shape in ((960, 1280, 3), (480, 640, 3), (1080, 1920, 3), (576, 1024, 3)):
        assert shrink(np.zeros(shape, np.uint8)).shape[1] == 320
