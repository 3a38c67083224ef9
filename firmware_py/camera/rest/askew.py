"""Discs that do not lie flat on the wood: leaning over the edge of the surface, or one on top of another.

They are looked for where the flat ones leave something unexplained. Every reading of such a place, flat or not, is
drawn as solids and judged by what it leaves; another reading than the flat one must leave clearly less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import Region
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.layers import Painter
from firmware_py.camera.rest.lessons import MATURE
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.solids import Easel, Solid, Worn, least, seen_at
from firmware_py.camera.rest.teach import SEEN, colour_of
from hardware.board import Board, to_polar, to_xy

Xy = tuple[float, float]
Places = tuple[float, ...]

#: Another reading leaves at most this share of what the flat one leaves.
_CLEARLY = 0.72
#: And this share is enough to try how a second disc lies below.
_PERHAPS = 0.95
#: From the best of the first guesses a search comes down to no less than this share of what that one leaves.
_MOST_GAINED = 0.3
#: Where no flat disc was found it explains this share of what changed.
_LEAST_EXPLAINED = 0.5
#: A level disc that explains so much of what changed needs no other reading.
_WELL_EXPLAINED = 0.88
#: Where the middle of a disc over the edge may be seen, from the edge inwards and outwards.
_INSIDE_MM, _OUTSIDE_MM = 12.0, 18.0
#: The shadow beside a disc pulls the middle of what changed by so much.
_PULLED_MM = 14.0
#: What another disc leaves beside a disc is as near to its rim as this.
_BESIDE_MM = 12.0
#: The smallest and the largest region that such discs and their shadows make, in faces of a disc.
_LEAST_FACES, _MOST_FACES = 0.3, 4.0
#: One standard deviation, mm, of a disc over the edge and of one on another.
_SIGMA_EDGE_MM, _SIGMA_UPPER_MM = 0.6, 0.6
#: The lower of two may lie wherever no more than this is left, against the best place.
_HARDLY = 1.05
#: The middle of a disc that stays on another is over it, and well inside its rim.
_MOST_APART = 0.9
#: Discs that touch may be read so much nearer to one another than they are.
_OVERLAP_MM = 3.0
_WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))


@dataclass(frozen=True, slots=True)
class Sight:
    """What a read looks at.

    Attributes:
        straight: the view.
        bare: the empty board in its light.
        stay: discs known before.
        left: changed regions that no disc explains.
    """

    straight: Image
    bare: Floats
    stay: Sequence[Resting]
    left: Iterable[Region]


def leaning_over(board: Board, towards_deg: float, past_mm: float) -> Solid:
    """A disc that lies on the edge of the surface, its lowest point on the floor of the ditch.

    Args:
        board: geometry.
        towards_deg: board-frame angle at which it leans over.
        past_mm: how far beyond the edge the centre of its base is; with its middle on the surface it would lie flat.
    """
    past_mm = max(past_mm, 0.0)
    tilt = 0.5
    for _ in range(12):
        tilt = math.atan2(board.surface_height_mm, past_mm + board.disc_radius_mm * math.cos(tilt))
    x, y = to_xy(board.surface_radius_mm + past_mm, towards_deg)
    return Solid(x, y, -past_mm * math.tan(tilt), tilt, to_xy(1.0, towards_deg))


class Askew:
    """Looks for such discs in one view.

    Args:
        view: the camera's view.
        wardrobe: the looks of the sets.
        painter: puts patches together.
    """

    def __init__(self, view: BoardView, wardrobe: Wardrobe, painter: Painter) -> None:
        self._view, self._wardrobe, self._painter = view, wardrobe, painter
        self._board = view.board
        self._face_mm2 = math.pi * self._board.disc_radius_mm**2

    def put_right(self, sight: Sight, found: Sequence[Resting]) -> list[Resting]:
        """The found discs with those that do not lie flat put right, and further ones."""
        discs = list(found)
        if not any(look.learned >= SEEN for look in self._wardrobe.looks.values()):
            return discs
        for disc in found:
            if disc.state in {"ditch", "overhanging"} and self._at_edge(disc.top_xy_mm):
                tipped = self._tipped(self._easel(sight, discs, disc, disc.top_xy_mm), disc.top_xy_mm, disc)
                if tipped is not None:
                    discs[discs.index(disc)] = tipped
        # What a set that is hardly known looks like at its rim passes for a second disc.
        mature = all(look.learned >= MATURE for look in self._wardrobe.looks.values())
        pairs: list[Resting] = []
        for region in sight.left:
            at = (region.x_mm, region.y_mm)
            if region.hand or region.area_mm2 > _MOST_FACES * self._face_mm2:
                continue
            beside = self._beside(at, [*sight.stay, *discs])
            if beside in pairs:
                continue
            if beside is None:
                if region.area_mm2 > _LEAST_FACES * self._face_mm2:
                    pairs += (new := self._instead_of_nothing(sight, discs, at, mature=mature))
                    discs += new
            elif beside in discs and beside.state == "flat" and mature:
                easel, others = self._easel(sight, discs, beside, at), self._whole(sight, discs, beside)
                pair = self._stacked(easel, beside.top_xy_mm, beside, others)
                if pair is not None:
                    pairs += pair
                    discs[discs.index(beside) : discs.index(beside) + 1] = pair
        return discs

    def _beside(self, at: Xy, discs: Sequence[Resting]) -> Resting | None:
        """The disc at whose rim a place is."""
        nearest = min(discs, key=lambda d: math.dist(d.top_xy_mm, at), default=None)
        if nearest is None or math.dist(nearest.top_xy_mm, at) > self._board.disc_radius_mm + _BESIDE_MM:
            return None
        return nearest

    def _instead_of_nothing(self, sight: Sight, discs: Sequence[Resting], at: Xy, *, mature: bool) -> Sequence[Resting]:
        """What lies at a place where no flat disc was found."""
        easel = self._easel(sight, discs, None, at)
        if self._at_edge(at, _PULLED_MM):
            tipped = self._tipped(easel, at, None)
            if tipped is not None:
                return (tipped,)
        return (self._stacked(easel, at, None, self._whole(sight, discs, None)) if mature else None) or ()

    def _at_edge(self, at: Xy, more_mm: float = 0.0) -> bool:
        past = math.hypot(*at) - self._board.surface_radius_mm
        return -_INSIDE_MM - more_mm < past < _OUTSIDE_MM + more_mm

    def _easel(self, sight: Sight, discs: Sequence[Resting], but: Resting | None, at: Xy) -> Easel | None:
        others = [d.top_xy_mm for d in (*sight.stay, *discs) if d is not but]
        patch = self._painter.patch(sight.straight, sight.bare, at, others)
        return None if patch is None else Easel(self._view, self._wardrobe.shade, patch)

    def _whole(self, sight: Sight, discs: Sequence[Resting], but: Resting | None) -> list[Xy]:
        """Places of the other discs that lie flat and are seen whole, so that no disc lies on or under them."""
        return [(d.x_mm, d.y_mm) for d in (*sight.stay, *discs) if d is not but and d.state == "flat"]

    def _worn(self, name: str, solid: Solid) -> Worn:
        return Worn(self._wardrobe.looks[name], solid)

    def _tipped(self, easel: Easel | None, at: Xy, flat: Resting | None) -> Resting | None:
        """The disc that leans over the edge near a place where a flat one, or none, was read; None if there is none."""
        if easel is None:
            return None
        board = self._board
        base = easel.left_bare
        if flat is not None:
            z = -board.surface_height_mm if flat.state == "ditch" else 0.0
            base = easel.left([self._worn(flat.colour, Solid(flat.x_mm, flat.y_mm, z))])
            if easel.explained(base) > _WELL_EXPLAINED:
                return None
        _, towards = to_polar(*at)
        step_deg = math.degrees(_PULLED_MM / 2 / board.surface_radius_mm)
        starts = [(towards + k * step_deg, past) for k in (0, -1, 1, -2, 2) for past in (1.5, 4.0, 6.5)]
        best: tuple[float, str, Places] | None = None
        for name in self._wardrobe.looks:

            def left(place: Sequence[float], name: str = name) -> float:
                return easel.left([self._worn(name, leaning_over(board, place[0], place[1]))])

            tried = {start: left(start) for start in starts}
            start = min(starts, key=tried.__getitem__)
            if tried[start] * _MOST_GAINED > _CLEARLY * base:
                continue
            place, value = least(left, start, (step_deg / 2, 1.5))
            if best is None or value < best[0]:
                best = (value, name, place)
        if best is None or best[0] > _CLEARLY * base or easel.explained(best[0]) < _LEAST_EXPLAINED:
            return None
        solid = leaning_over(board, best[2][0], best[2][1])
        top = seen_at(self._view, *solid.axis_xyz(board.disc_height_mm / 2))
        learned = self._wardrobe.looks[best[1]].learned
        return Resting("", colour_of(best[1]), solid.x_mm, solid.y_mm, _SIGMA_EDGE_MM, "overhanging", top, learned)

    def _stacked(
        self, easel: Easel | None, at: Xy, flat: Resting | None, others: Sequence[Xy]
    ) -> tuple[Resting, Resting] | None:
        """The lower and the upper of two discs where one, or none, was read; None if there are no two.

        Args:
            easel: what is drawn on.
            at: the place.
            flat: the disc that was read there.
            others: places of discs beside them, that none of the two may cover.
        """
        if easel is None:
            return None
        board, looks = self._board, self._wardrobe.looks
        rise = board.disc_height_mm
        best: tuple[float, str, str, Places] | None = None
        near = [o for o in others if math.dist(o, at) < 4 * board.disc_radius_mm]
        base = easel.left_bare
        for upper in looks if flat is None else [flat.colour]:
            one, left_one = self._single(easel, upper, 0.0, at)
            high, left_high = self._single(easel, upper, rise, self._view.sink(*one, -rise))
            base = min(base, left_one)
            if left_high > _PERHAPS * left_one:
                continue
            for lower in looks:

                def left(p: Sequence[float], u: str = upper, w: str = lower) -> float:
                    if math.dist(p[:2], p[2:]) > _MOST_APART * board.disc_radius_mm:
                        return math.inf
                    if any(
                        math.dist(q, o) < 2 * board.disc_radius_mm - _OVERLAP_MM for o in near for q in (p[:2], p[2:])
                    ):
                        return math.inf
                    return easel.left([self._worn(w, Solid(p[2], p[3])), self._worn(u, Solid(p[0], p[1], rise))])

                rounds = [(apart, k * math.pi / 4) for apart in (3.0, 7.0, 11.0) for k in range(8)]
                starts = [
                    (*high, high[0] + apart * math.cos(turn), high[1] + apart * math.sin(turn))
                    for apart, turn in rounds
                ]
                places, value = least(left, min(starts, key=left), (1.6, 1.6, 2.0, 2.0))
                if best is None or value < best[0]:
                    best = (value, upper, lower, places)
        if best is None or best[0] > _CLEARLY * base:
            return None
        return None if easel.explained(best[0]) < _LEAST_EXPLAINED else self._pair(easel, *best)

    def _single(self, easel: Easel, name: str, z_mm: float, start: Xy) -> tuple[Xy, float]:
        """Where a level disc of a set leaves least, and how much."""

        def left(place: Sequence[float]) -> float:
            return easel.left([self._worn(name, Solid(place[0], place[1], z_mm))])

        place, value = least(left, start, (4.0, 4.0))
        return (place[0], place[1]), value

    def _pair(self, easel: Easel, value: float, upper: str, lower: str, places: Places) -> tuple[Resting, Resting]:
        """The two discs of a reading, with how sure their places are."""
        rise, looks = self._board.disc_height_mm, self._wardrobe.looks
        top = self._worn(upper, Solid(places[0], places[1], rise))

        def possible(x_mm: float, y_mm: float) -> bool:
            return easel.left([self._worn(lower, Solid(places[2] + x_mm, places[3] + y_mm)), top]) < _HARDLY * value

        # Often no more than a narrow crescent shows of the lower one: it may be far from where it seems to be.
        reach = [next((mm for mm in (0.5, 1, 2, 3, 4, 6) if not possible(mm * c, mm * s)), 8.0) for c, s in _WAYS]
        sigma = max(0.3, max(reach) / 2)
        return (
            Resting(
                "",
                colour_of(lower),
                places[2],
                places[3],
                sigma,
                "flat",
                (places[2], places[3]),
                looks[lower].learned,
            ),
            Resting(
                "",
                colour_of(upper),
                places[0],
                places[1],
                _SIGMA_UPPER_MM,
                "stacked",
                seen_at(self._view, places[0], places[1], rise + self._view.rim_mm),
                looks[upper].learned,
            ),
        )
