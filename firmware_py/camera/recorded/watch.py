"""Read a recorded video as the camera would: ``crokinole watch``.

A recording seldom begins with an empty board and often with a hand on the rail, repeats frames and has cuts. So each
scene is looked through once for what stays put before its shots are read with the parts of the live reader.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from firmware_py.camera.board.start import NoBoardError
from firmware_py.camera.place.occupied import take_occupied
from firmware_py.camera.recorded.film import Film, FilmError
from firmware_py.camera.recorded.recorded import RecordedReader
from firmware_py.camera.recorded.survey import Scene, survey, what_stays
from hardware.board import Board, BoardError, load_board
from hub.link.messages import Layout, Shot


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that a recording tells.

    Attributes:
        fact: a layout or a shot, dated from the start of the recording.
        frames: for a layout the frame that shows it, for a shot the frame of each of its events; counted from 0.
    """

    fact: Layout | Shot
    frames: tuple[int, ...]

    def to_table(self) -> dict[str, Any]:
        """The body of the fact, its kind, and the frames."""
        body: dict[str, Any] = msgspec.to_builtins(self.fact)
        if isinstance(self.fact, Shot):
            return {"kind": "shot", **body, "event_frames": list(self.frames)}
        return {"kind": "layout", **body, "frame": self.frames[0]}


def watch(path: Path, board: Board) -> Iterator[Told]:
    """Everything that a recording tells, in order.

    Raises:
        FilmError: no video, or no frame of it can be read.
        NoBoardError: no scene shows a board.
    """
    scenes = survey(path)
    if not scenes:
        raise FilmError(f"{path}: fewer than 8 different frames without a cut; a shot cannot be seen in it")
    found, trouble = False, ""
    for scene in scenes:
        try:
            yield from _watch_scene(path, scene, board)
            found = True
        except NoBoardError as error:
            trouble = str(error)
    if not found:
        raise NoBoardError(f"{path}: {trouble}")


def _watch_scene(path: Path, scene: Scene, board: Board) -> Iterator[Told]:
    middle, first = what_stays(path, scene)
    start = take_occupied(middle, board, first=first)
    reader = RecordedReader(start, timing=bool(scene.repeated))
    shown: list[tuple[int, int]] = []
    with Film(path) as film:
        film.skip(scene.first)
        for frame in film:
            if frame.index >= scene.end:
                break
            if frame.index in scene.repeated:
                continue
            shown.append((frame.at_ns, frame.index))
            for fact in reader.take(frame.pixels, frame.at_ns):
                yield _told(fact, shown)
    for fact in reader.finish():
        yield _told(fact, shown)


def _told(fact: Layout | Shot, shown: list[tuple[int, int]]) -> Told:
    times = np.array([at for at, _ in shown])
    wanted = [fact.at_ns] if isinstance(fact, Layout) else list(fact.events_ns)
    frames = []
    for at_ns in wanted:
        # The first frame that shows it done.
        k = min(int(np.searchsorted(times, at_ns)), len(shown) - 1)
        frames.append(shown[k][1])
    return Told(fact, tuple(frames))


def describe(told: Told) -> str:
    """One line for people."""
    fact = told.fact
    if isinstance(fact, Layout):
        lying = [
            f"{d.id} {d.colour} {d.state if d.state != 'flat' else f'({d.x_mm:.0f}, {d.y_mm:.0f})'}" for d in fact.discs
        ]
        return f"frame {told.frames[0]:5}  lying: {', '.join(lying) or 'nothing'}"
    happened = [f"{' '.join(e)} at frame {f}" for e, f in zip(fact.events, told.frames, strict=True)]
    rest = [f"{n} {p if isinstance(p, str) else f'{p.r_mm:.1f} mm from the middle'}" for n, p in fact.rest.items()]
    doubts = "".join(f"; doubt: {d.kind} {' '.join(d.discs)}" for d in fact.doubts)
    events = ", ".join(happened) or "nothing touched"
    return f"shot of {fact.disc} ({fact.colour}): {events}; rest: {', '.join(rest)}{doubts}"


def run(path: Path, *, as_json: bool = False, board: str = "tournament") -> int:
    """Print what a recording tells.

    Args:
        path: the video.
        as_json: one JSON object a line: the body of each ``layout`` and ``shot``, with its kind and frames.
        board: preset of the board in the video.

    Returns:
        Exit status: 0; 2 when it is no video or shows no board.
    """
    try:
        for told in watch(path, load_board(board)):
            print(json.dumps(told.to_table()) if as_json else describe(told), flush=True)
    except (FilmError, NoBoardError, BoardError) as error:
        print(f"crokinole: {error}", file=sys.stderr)
        return 2
    return 0
