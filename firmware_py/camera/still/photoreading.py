"""What a photo says, as values: its discs, the whole reading, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from firmware_py.camera.board.rings import Rings
from firmware_py.camera.still.verdicts import Zone

Side = Literal["light", "dark"]
SIDES: tuple[Side, Side] = ("light", "dark")


@dataclass(frozen=True, slots=True)
class PhotoDisc:
    """One disc in a photo.

    Attributes:
        x: centre of the rim of its top face, in pixels of the upright photo.
        y: the same, downwards.
        r: radius of that rim in pixels.
        side: ``light`` for the lighter of the two colours, else ``dark``.
        zone: 20, 15, 10, 5, 0 (on the surface but dead) or ``ditch``.
        margin_mm: distance of its base from the nearest limit between zones.
        sure: False when the picture does not decide what it is worth.
    """

    x: float
    y: float
    r: float
    side: Side
    zone: Zone
    margin_mm: float
    sure: bool

    @property
    def points(self) -> int:
        """The zone as points."""
        return 0 if self.zone == "ditch" else int(self.zone)


@dataclass(frozen=True, slots=True)
class PhotoReading:
    """What a photo of a finished round says.

    Attributes:
        photo: name of the file as it was given.
        rings: the printed lines, in pixels of the upright photo.
        discs: from the centre outwards.
        twenties: banked twenties of light and dark, as they were told.
        outer_line_mm: radius of the outer line that margins are measured by.
        ms: time taken, reading the file included.
        hole_unclear: no disc is told in the hole, but one of a team's colour would look like it: worth a look.
    """

    photo: str
    rings: Rings
    discs: tuple[PhotoDisc, ...]
    twenties: tuple[int, int]
    outer_line_mm: float
    ms: float
    hole_unclear: bool = False

    @property
    def totals(self) -> dict[Side, int]:
        """Points of each side: discs on the board, in the hole, and banked twenties."""
        return {
            side: sum(d.points for d in self.discs if d.side == side) + 20 * banked
            for side, banked in zip(SIDES, self.twenties, strict=True)
        }

    def to_table(self) -> dict[str, Any]:
        """The object that ``photo --json`` prints."""
        ring = [[round(v, 2) for v in self.rings.ellipse(k)] for k in range(3)]
        return {
            "photo": self.photo,
            "board": {
                "found": True,
                "outer_line": ring[2],
                "line_10": ring[1],
                "line_15": ring[0],
                "coverage": round(self.rings.coverage, 3),
                "residual_mm": round(self.rings.residual_mm(self.outer_line_mm), 3),
                "visible": round(self.rings.visible, 3),
            },
            "discs": [
                {
                    "x": round(d.x, 2),
                    "y": round(d.y, 2),
                    "r": round(d.r, 2),
                    "side": d.side,
                    "zone": d.zone,
                    "margin_mm": round(d.margin_mm, 2),
                    "sure": d.sure,
                }
                for d in self.discs
            ],
            "totals": self.totals,
            "ms": round(self.ms, 1),
        }


@dataclass(frozen=True, slots=True)
class PhotoError:
    """Why a photo was not scored.

    Attributes:
        photo: name of the file as it was given.
        code: ``missing``, ``unreadable``, ``not_a_picture``, ``too_big``, ``no_board``,
            ``cut_off`` or ``two_boards``.
        message: one line for people: what was found and what was expected.
    """

    photo: str
    code: str
    message: str

    def to_table(self) -> dict[str, Any]:
        """The object that ``photo --json`` prints."""
        return {"photo": self.photo, "error": {"code": self.code, "message": self.message}}
