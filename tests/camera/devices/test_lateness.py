"""How late a webcam dates its pictures: measured on twenties that the beam noticed too, and on nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from firmware_py.camera.devices.lateness import IN_HOLE_NS, KEPT, LEAST, Lateness
from firmware_py.camera.source import Frame
from hub.link.messages import KIND_OF, BeamCandidate, BeamPass, BeamWithdrawn, Envelope, Fact, Shot, encode

S, MS = 1_000_000_000, 1_000_000
CAMERA = "/dev/v4l/by-id/usb-webcam-video-index0"


class Evening:
    """A beam that is right, and a webcam that is late, at one board."""

    def __init__(self, folder: Path, late_ms: float = 120.0, camera: str = CAMERA) -> None:
        self.lateness = Lateness(folder, camera, "kernel-1")
        self.late_ns = round(late_ms * MS)
        self.at_ns, self.episode = 100 * S, 0

    def beam(self, fact: Fact, machine_boot: str = "kernel-1") -> None:
        body = Raw(encode(fact))
        envelope = Envelope("b1", "beam", machine_boot, "boot-1", 1, 1, 0, 0, 0, False, KIND_OF[type(fact)], body)
        self.lateness.heard(envelope, fact)

    def breaks(self, at_ns: int, machine_boot: str = "kernel-1") -> None:
        self.episode += 1
        self.beam(BeamCandidate(self.episode, at_ns, at_ns + 250 * MS), machine_boot)

    def camera_sees(self, *fell_ns: int) -> None:
        """A shot in which discs fell at these true times, as this camera dates them."""
        words = tuple(("hole", f"d{n}") for n, _ in enumerate(fell_ns))
        times = tuple(at_ns - IN_HOLE_NS + self.late_ns - self.lateness.late_ns for at_ns in fell_ns)
        self.lateness.saw(Shot("d0", "light", None, words, {"d0": "hole"}, 0, 1, events_ns=times))

    def twenty(self, off_ms: float = 0.0) -> None:
        self.at_ns += 20 * S
        self.breaks(self.at_ns)
        self.camera_sees(self.at_ns + round(off_ms * MS))

    def twenties(self, *off_ms: float) -> None:
        for each in off_ms:
            self.twenty(each)
        self.lateness.settle()


@pytest.fixture
def evening(tmp_path: Path) -> Evening:
    return Evening(tmp_path)


def frame(at_ns: int) -> Frame:
    return Frame(1, at_ns, 0, np.zeros((2, 2, 3), np.uint8))


def test_a_camera_is_taken_at_its_word_until_a_few_twenties_tell_better(evening: Evening) -> None:
    evening.twenties(*[0.0] * (LEAST - 1))
    assert evening.lateness.dated(frame(50 * S)).at_ns == 50 * S
    evening.twenties(0.0)
    assert evening.lateness.dated(frame(50 * S)).at_ns == 50 * S - 120 * MS


@pytest.mark.parametrize("late_ms", [-60.0, 40.0, 120.0, 380.0])
def test_frames_that_come_now_and_then_blur_it_only_little(tmp_path: Path, late_ms: float) -> None:
    evening, chance = Evening(tmp_path, late_ms), random.Random(5)
    evening.twenties(*(chance.uniform(-17, 17) for _ in range(KEPT)))
    assert abs(evening.lateness.late_ns / MS - late_ms) < 8


def test_it_follows_a_camera_that_becomes_later(evening: Evening) -> None:
    evening.twenties(*[0.0] * KEPT)
    evening.late_ns = 180 * MS
    evening.twenties(*[0.0] * KEPT)
    assert evening.lateness.late_ns == 180 * MS


def test_one_that_was_measured_well_does_not_jump_about(evening: Evening) -> None:
    evening.twenties(*[0.0] * LEAST)
    evening.twenties(*[5.0] * KEPT)
    assert evening.lateness.late_ns == 120 * MS


def test_times_that_contradict_one_another_tell_nothing(evening: Evening) -> None:
    evening.twenties(-200.0, 150.0, 300.0, -100.0, 250.0, 0.0)
    assert evening.lateness.late_ns == 0


def test_what_is_measured_is_there_after_a_restart_for_the_same_camera_alone(evening: Evening, tmp_path: Path) -> None:
    evening.twenties(*[0.0] * LEAST)
    assert Lateness(tmp_path, CAMERA, "kernel-2").late_ns == 120 * MS
    assert Lateness(tmp_path, "/dev/video7", "kernel-2").late_ns == 0


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"%s": 3}', '{"%s": ["late", null, 1e30, 99999999999]}'])
def test_a_kept_measure_that_cannot_be_read_is_made_anew(tmp_path: Path, content: str) -> None:
    (tmp_path / "camera-lateness.json").write_text(content.replace("%s", CAMERA), encoding="utf-8")
    assert Lateness(tmp_path, CAMERA, "kernel-1").late_ns == 0


def test_a_medium_that_is_full_costs_only_the_keeping(tmp_path: Path) -> None:
    evening = Evening(tmp_path / "nowhere")
    evening.twenties(*[0.0] * LEAST)
    assert evening.lateness.late_ns == 120 * MS


def unnoticed(evening: Evening) -> None:
    evening.camera_sees(evening.at_ns)


def two_at_once(evening: Evening) -> None:
    evening.breaks(evening.at_ns)
    evening.camera_sees(evening.at_ns, evening.at_ns + 600 * MS)


def a_finger_soon_after(evening: Evening) -> None:
    evening.breaks(evening.at_ns)
    evening.breaks(evening.at_ns + 700 * MS)
    evening.camera_sees(evening.at_ns)


def withdrawn(evening: Evening) -> None:
    evening.breaks(evening.at_ns)
    evening.beam(BeamWithdrawn(evening.episode, "chatter"))
    evening.camera_sees(evening.at_ns)


def of_another_boot(evening: Evening) -> None:
    evening.breaks(evening.at_ns, "kernel-0")
    evening.camera_sees(evening.at_ns)


def flown_over(evening: Evening) -> None:
    evening.beam(BeamPass(1, evening.at_ns, 20.0))
    evening.camera_sees(evening.at_ns)


def long_before(evening: Evening) -> None:
    evening.breaks(evening.at_ns - 900 * MS)
    evening.camera_sees(evening.at_ns)


@pytest.mark.parametrize(
    "happens", [unnoticed, two_at_once, a_finger_soon_after, withdrawn, of_another_boot, flown_over, long_before]
)
def test_what_might_be_another_disc_is_no_measure(evening: Evening, happens: object) -> None:
    assert callable(happens)
    evening.twenties(*[0.0] * (LEAST - 1))
    for _ in range(KEPT):
        evening.at_ns += 20 * S
        happens(evening)
    evening.lateness.settle()
    assert evening.lateness.late_ns == 0


def test_a_fact_that_comes_twice_is_one(evening: Evening) -> None:
    for _ in range(LEAST):
        evening.at_ns += 20 * S
        evening.breaks(evening.at_ns)
        evening.episode -= 1
        evening.breaks(evening.at_ns)
        evening.camera_sees(evening.at_ns)
    evening.lateness.settle()
    assert evening.lateness.late_ns == 120 * MS


def test_a_shot_without_times_is_no_measure(evening: Evening) -> None:
    for _ in range(KEPT):
        evening.at_ns += 20 * S
        evening.breaks(evening.at_ns)
        evening.lateness.saw(Shot("d1", "light", None, (("hole", "d1"),), {"d1": "hole"}, 0, 1))
    evening.lateness.settle()
    assert evening.lateness.late_ns == 0


@given(st.lists(st.floats(-400, 900), max_size=60))
def test_no_times_whatever_date_a_picture_beyond_what_a_camera_may_be_late(off_ms: list[float]) -> None:
    evening = Evening(Path("/nonexistent"), 0.0)
    evening.twenties(*off_ms)
    assert -150 * MS <= evening.lateness.late_ns <= 500 * MS
