"""The process of one simulated board, as ``crokinole demo`` starts it."""

from __future__ import annotations

import signal
import sys
from functools import partial
from pathlib import Path
from types import FrameType

from hardware.board import BoardError, load_board
from hardware.line import LineError
from hardware.twin.course import Evening
from hardware.twin.manners import MANNERS
from hardware.twin.party import ROLES
from hardware.twin.serve import Eye, Setting, Twin
from hub.rules.errors import RulesError


def renderer(setting: Setting) -> Eye:
    """The optics of a setting whose board and style exist."""
    import cv2

    from hardware.twin.happenings import UnsteadyEye, read_happening
    from hardware.twin.optics import CameraPose, Optics, Renderer, nominal_optics, nominal_pose
    from hardware.twin.styles import NAMED

    cv2.setNumThreads(1)  # a club of boards shares the processor
    board = load_board(setting.board)
    pose = nominal_pose(board, setting.size_wh)

    def make(pose: CameraPose, optics: Optics) -> Renderer:
        return Renderer(board, NAMED[setting.style], pose, optics, setting.seed)

    happenings = [read_happening(script) for script in setting.happenings]
    return UnsteadyEye(make, pose, nominal_optics(), happenings) if happenings else make(pose, nominal_optics())


def _hole_of(style: str) -> tuple[float, float]:
    """Where a style has its hole, which the world must have there too."""
    from hardware.twin.styles import NAMED

    if style not in NAMED:
        raise BoardError(f"no board looks like {style!r}; there are {', '.join(sorted(NAMED))}")
    return NAMED[style].hole_offset_xy_mm


def _check(happenings: tuple[str, ...]) -> None:
    """Raise ValueError for a script that names nothing that can happen."""
    if happenings:
        from hardware.twin.happenings import read_happening

        for script in happenings:
            read_happening(script)


def run(
    *,
    socket_path: Path,
    memory_path: Path,
    truth_path: Path | None = None,
    board: str = "tournament",
    seed: int = 1,
    frame_rate_hz: float = 30.0,
    lockstep: bool = False,
    speed: float = 1.0,
    rounds: int = 0,
    games: int = 0,
    rules: str = "match-play",
    players: str = "polite",
    size_wh: tuple[int, int] = (1280, 960),
    style: str = "maple",
    expects: tuple[str, ...] = ROLES,
    happenings: tuple[str, ...] = (),
) -> int:
    """Serve one simulated board until its evening is over or somebody ends it.

    Args:
        socket_path: Unix socket of the line.
        memory_path: file that is made for clock and frames.
        truth_path: file that is made for the truth.
        board: preset of the board.
        seed: everything that is chance follows from it.
        frame_rate_hz: frames in a simulated second.
        lockstep: whether the clock waits for everybody.
        speed: simulated seconds in a real one, when not in lock-step.
        rounds: end after so many rounds, 0 = no such end.
        games: end after a match over so many games, 0 = no such end.
        rules: name of the rule set.
        players: name of their manners.
        size_wh: size of the frames in pixels.
        style: name of the board's looks.
        expects: roles that must be there; without ``players`` they play with no hub.
        happenings: scripts of what happens to the camera, see :mod:`hardware.twin.happenings`.

    Returns:
        Exit status: 0 done or ended by a signal, 2 a board, rule set, style or path that cannot be used.
    """
    try:
        setting = Setting(
            socket_path, memory_path, truth_path, board, seed, frame_rate_hz, lockstep, speed,
            Evening(rules, rounds, games, manners=MANNERS[players]), size_wh, style, expects,
            _hole_of(style), happenings,
        )  # fmt: skip
        _check(happenings)
        twin = Twin(setting, partial(renderer, setting))
    except (BoardError, LineError, RulesError, OSError, ValueError) as error:
        print(f"twin: {error}", file=sys.stderr)
        return 2

    def on_signal(_sign: int, _frame: FrameType | None) -> None:
        twin.stop()
        if twin.painting:
            raise SystemExit(0)  # nobody has seen anything yet, and a busy machine paints for longer than it is given

    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, on_signal)
    twin.run()
    return 0
