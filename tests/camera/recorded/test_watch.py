"""Recorded shots are told as they went."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from filming import Clip, Filmed, film, shown, write

from firmware_py.camera.recorded.watch import Told, run, watch
from hardware.board import TOURNAMENT
from hub.link.messages import Layout, Shot

SHARED = Path(__file__).resolve().parents[4] / "shared" / "video" / "ricochet.mp4"
RICOCHET = Clip(
    lying=(("a", "dark", 70.0, 37.0), ("c", "dark", -120.0, 100.0)),
    shot=("s", "light", 290.0),
    aim=(75.0, 10.0),
    style="maple",
    size_wh=(960, 720),
)


@pytest.fixture(scope="module")
def ricochet() -> Filmed:
    return film(RICOCHET)


def _by_truth(filmed: Filmed, layout: Layout) -> dict[str, str]:
    """The camera's names of the discs by the world's, by place."""
    names = {}
    for disc in layout.discs:
        near = {n: math.dist((d.x_mm, d.y_mm), (disc.x_mm, disc.y_mm)) for n, d in filmed.world.discs.items()}
        name = min(near, key=lambda n: near[n])
        assert near[name] < 4.0, f"{disc} lies where no disc is"
        names[disc.id] = name
    return names


def _check(filmed: Filmed, told: list[Told], rate_hz: float) -> None:
    first, shot, last = (t.fact for t in told)
    assert isinstance(first, Layout)
    assert isinstance(shot, Shot)
    assert isinstance(last, Layout)
    assert len(first.discs) == 2
    names = _by_truth(filmed, last)
    events = filmed.world.events
    # Which pegs were touched, frames shown late do not tell.
    told_events = [(e, f) for e, f in zip(shot.events, told[1].frames, strict=True) if e[0] != "peg"]
    events = [e for e in events if e.words[0] != "peg"]
    assert [tuple(names.get(w, w) for w in e) for e, _ in told_events] == [e.words for e in events]
    assert {names[k] for k in shot.rest} == {"s", "a"}
    # A converter shows frames up to one late.
    for (_, frame), event in zip(told_events, events, strict=True):
        assert abs(frame - event.at_ns * rate_hz / 1e9) <= 2.0
    for disc in last.discs:
        truth = filmed.world.discs[names[disc.id]]
        assert (disc.state == "hole") == (truth.where == "hole")


@pytest.mark.parametrize("repeat_every", [0, 5], ids=["as taken", "repeating and dropping frames"])
def test_a_filmed_shot_is_told_as_it_went(ricochet: Filmed, tmp_path: Path, repeat_every: int) -> None:
    path = write(tmp_path / "shot.avi", shown(ricochet.pictures, repeat_every), 30.0)
    _check(ricochet, list(watch(path, TOURNAMENT)), 30.0)


def test_a_cut_begins_anew(ricochet: Filmed, tmp_path: Path) -> None:
    away = [np.full_like(ricochet.pictures[0], 60) for _ in range(10)]
    path = write(tmp_path / "cut.avi", away + ricochet.pictures, 30.0)
    told = list(watch(path, TOURNAMENT))
    assert [type(t.fact) for t in told] == [Layout, Shot, Layout]
    assert told[0].frames[0] >= 10


@pytest.mark.parametrize(
    ("pictures", "words"),
    [
        ([], "no such file|is not a video|no frame"),
        ([np.full((240, 320, 3), 90, np.uint8)] * 3, "fewer than 8"),
        ([np.full((240, 320, 3), k * 9, np.uint8) for k in range(12)], "no board"),
    ],
    ids=["empty", "too short", "no board"],
)
def test_what_cannot_be_watched_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pictures: list[np.ndarray], words: str
) -> None:
    path = tmp_path / "clip.avi"
    if pictures:
        write(path, pictures, 25.0)
    else:
        path.write_bytes(b"")
    assert run(path, as_json=True) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert any(w in err for w in words.split("|")), err


@pytest.mark.shared
def test_the_real_ricochet(capsys: pytest.CaptureFixture[str]) -> None:
    """The shot as it is told beside the video."""
    if not SHARED.exists():
        pytest.skip("the shared video does not lie beside the project")
    assert run(SHARED, as_json=True) == 0
    before, shot, after = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert sorted(d["colour"] for d in before["discs"]) == ["dark", "light"]
    black = next(d["id"] for d in before["discs"] if d["colour"] == "dark")
    red = next(d["id"] for d in before["discs"] if d["colour"] == "light")
    # Black stops beside a peg; whether it touches it the frames, shown late, do not show, and nothing is told of it.
    assert shot["events"] == [["hit", shot["disc"], black], ["hole", shot["disc"]]]
    assert abs(shot["event_frames"][0] - 24) <= 2
    assert abs(shot["event_frames"][1] - 32) <= 2
    assert shot["rest"][shot["disc"]] == "hole"
    lying = {d["id"]: d for d in after["discs"]}
    assert set(lying) == {black, red, shot["disc"]}
    r_mm = {k: math.hypot(d["x_mm"], d["y_mm"]) for k, d in lying.items()}
    assert TOURNAMENT.value(r_mm[black]) == 10
    assert TOURNAMENT.value(r_mm[red]) == 15
    assert red not in shot["rest"]
