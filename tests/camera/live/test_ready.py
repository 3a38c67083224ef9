"""What the first frame of a motion needs is made ready while nothing goes on, and is of the board as it lies then."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_py.camera import live
from firmware_py.camera.motion.follow import Follower
from hardware.board import TOURNAMENT
from hub.link.messages import Shot
from tests.camera.live.filmed import HEIGHT_MM, Film, watch


def test_no_frame_of_a_motion_waits_for_what_could_be_made_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []

    class Counted(Follower):
        def __init__(self, *args: Any, **more: Any) -> None:
            made.append(eye.at_rest)
            super().__init__(*args, **more)

    monkeypatch.setattr(live, "Follower", Counted)
    film, eye = Film(seed=3), live.LiveReader(TOURNAMENT, height_mm=HEIGHT_MM)
    watch(eye, film, 1.2)
    assert made == [True]
    for name, y_mm_s in (("A1", 600.0), ("A2", 520.0)):
        film.shot(name, "light", 1, 20.0 if name == "A1" else -20.0, (0.0, y_mm_s))
        facts = watch(eye, film, 2.6)
        assert [f.disc for f in facts if isinstance(f, Shot)] == ["d1" if name == "A1" else "d2"]
    rest = eye.rest
    assert rest is not None
    assert {d.id for d in rest.discs} == {"d1", "d2"}
    # Each rest makes ready for the next motion once, and only a hand that comes right after one is not waited for.
    assert made.count(True) >= 3
    assert made.count(False) <= 2
