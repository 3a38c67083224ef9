"""What each computer with each camera can judge, calculated: nothing here was measured on a Raspberry Pi.

The costs are those of ``crokinole bench vision`` on one core of a server, times how much slower the Pi's cores are
taken to be; the daemon itself claims what it really reaches, see :mod:`firmware_py.camera.devices.capabilities`.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware_py.camera.devices.capabilities import CONTACTS, LAYOUT, SHOTS, capabilities

#: One frame of a moving board, and decoding one of motion JPEG, in ms on one core of a server.
BUSY_MS, DECODE_MS = 6.0, 4.0
#: A board with its rail, mm, fills the height of the picture.
BOARD_MM = 760.0
#: Rows of the frames that are asked for by default.
ROWS = 960
EXPOSURE_NS = 5_000_000


@dataclass(frozen=True, slots=True)
class Computer:
    """A computer under a board.

    Attributes:
        name: what it is called.
        slower: times by which one of its cores is slower than the server's.
    """

    name: str
    slower: float


@dataclass(frozen=True, slots=True)
class Module:
    """A camera in the mode that shows the whole board.

    Attributes:
        name: what it is called.
        rows: of its picture.
        rate_hz: most frames in a second.
        least_height_mm: of the lens above a board of 760 mm, so that all of it is seen.
        jpeg: whether its frames must be decoded.
    """

    name: str
    rows: int
    rate_hz: float
    least_height_mm: int
    jpeg: bool = False


COMPUTERS = (Computer("Zero 2 W", 11.0), Computer("Pi 4", 4.5), Computer("Pi 5", 2.3))
MODULES = (
    Module("v2 (IMX219)", 1232, 41.0, 840),
    Module("v3 (IMX708)", 1296, 56.0, 1020),
    Module("v3 wide", 1296, 56.0, 570),
    Module("HQ, 6 mm lens", 1520, 40.0, 970),
    Module("global shutter, 6 mm lens", 1088, 60.0, 1210),
    Module("USB webcam, 1280 x 960", 960, 30.0, 900, jpeg=True),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a pair can do.

    Attributes:
        rate_hz: frames read in a second while discs move.
        px_per_mm: scale.
        claims: names of capabilities.
    """

    rate_hz: float
    px_per_mm: float
    claims: tuple[str, ...]


def judge(computer: Computer, module: Module) -> Judged:
    """Calculate what a computer with a camera can do."""
    cost_ms = computer.slower * (BUSY_MS + (DECODE_MS if module.jpeg else 0.0))
    rate = min(module.rate_hz, 1000.0 / cost_ms)
    scale = min(module.rows, ROWS) / BOARD_MM
    return Judged(rate, scale, capabilities(rate, EXPOSURE_NS, scale))


def table() -> list[str]:
    """The rows of the table in ``docs/cameras.md``."""
    head = [
        "| camera | lens at least above the board | " + " | ".join(c.name for c in COMPUTERS) + " |",
        "|---|---|" + "---|" * len(COMPUTERS),
    ]
    rows = []
    for module in MODULES:
        cells = [_words(judge(computer, module)) for computer in COMPUTERS]
        rows.append(f"| {module.name} | {module.least_height_mm / 1000:.2f} m | " + " | ".join(cells) + " |")
    return head + rows


def _words(judged: Judged) -> str:
    told = [name for name in (LAYOUT, SHOTS, CONTACTS) if name in judged.claims]
    return f"{judged.rate_hz:.0f}/s: {', '.join(told)}"
