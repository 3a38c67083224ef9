"""What one frame of a moving board shows: hands, which resting discs are not there any more, and the moving ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from firmware_py.camera.motion.tracker import Sighting, Track
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.regions import Changes, Region, circle_votes, disc_pixels
from firmware_py.camera.picture.shade import REACH_PX
from firmware_py.camera.picture.view import Box
from firmware_py.camera.rest.appearance import Patch, patch_offsets, planes
from firmware_py.camera.rest.fitting import fit_look
from firmware_py.camera.rest.reader import LayoutReader
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.teach import colour_of
from hub.link.messages import Colour

Xy = tuple[float, float]

#: A resting disc of whose face so much changed is not there any more.
GONE_SHARE = 0.35
#: Two discs on the surface cannot be nearer than two radii; less than this many are one disc.
TOO_NEAR = 1.7
#: A moving disc must explain so much of the change around it.
LEAST_EXPLAINED = 0.12
#: One that explains so much is of the set it was taken for, also when no other set is known.
SURE_EXPLAINED = 0.5
#: One found so far from where it was looked for is looked for again from where it was found, no oftener than this.
_FAR_OFF_MM, _LOOKS_AGAIN = 1.5, 8
_LEAST_REGION = 0.3
_CENTROID_SIGMA_MM = 3.0


@dataclass(frozen=True, slots=True)
class FrameSeen:
    """What a frame shows.

    Attributes:
        at_ns: middle of its exposure.
        hand: whether a hand is over the board or its rail.
        hand_inner_mm: how near to the middle a hand or its shadow reaches; infinite without one.
        departed: ids of resting discs that are gone from their place.
        covered: ids of resting discs that a hand covers.
        sightings: moving discs.
        on_line: discs at rest on the outer line, near a hand.
    """

    at_ns: int
    hand: bool
    hand_inner_mm: float
    departed: tuple[str, ...]
    covered: tuple[str, ...]
    sightings: tuple[Sighting, ...]
    on_line: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True)
class _Now:
    """One frame and what is followed in it."""

    straight: Image
    changes: Changes
    at_ns: int
    exposure_ns: int
    tracks: Sequence[Track]


Guess = tuple[Xy, Xy, Colour | None]
"""Where a disc may be, how far it smears, and its set if that is known."""


class Follower:
    """Follows what moves, from one rest to the next.

    Args:
        reader: of the same view; lends its looks, and learns from discs in motion while it knows none.
        still: the view at rest.
        discs: what lies on it.
    """

    def __init__(self, reader: LayoutReader, *, still: Image, discs: Sequence[Resting]) -> None:
        view = reader.view
        self._view = view
        self._differ, self._painter = reader.differ, reader.painter
        self._wardrobe = reader.wardrobe
        self._teacher = reader.teacher
        self._bare = reader.lit_bare(still)
        self._bare8 = np.clip(np.rint(self._bare), 0, 255).astype(np.uint8)
        self._layer = still.copy()
        self._resting = {d.id: d for d in discs}
        self._radius = view.board.disc_radius_mm
        self._disc_mm2 = math.pi * self._radius**2

    @property
    def apart_mm(self) -> float:
        """Distance of the centres of two discs that touch."""
        return 2 * self._radius

    @property
    def edge_mm(self) -> float:
        """Radius of the raised surface."""
        return self._view.board.surface_radius_mm

    @property
    def resting(self) -> tuple[Resting, ...]:
        """Discs that have not moved."""
        return tuple(self._resting.values())

    def look(self, straight: Image, within: Box, at_ns: int, exposure_ns: int, tracks: Sequence[Track]) -> FrameSeen:
        """Read one frame.

        Args:
            straight: its straight view.
            within: the part of it that may have changed since the last rest.
            at_ns: middle of the exposure.
            exposure_ns: for how long the shutter was open.
            tracks: what is followed so far.
        """
        changes = self._differ.changes(straight, self._layer, within)
        departed, covered = self._missing(changes)
        if departed:
            self._let_go(departed)
            changes = self._differ.changes(straight, self._layer, within)
        now = _Now(straight, changes, at_ns, exposure_ns, tracks)
        sightings = self._sight(now)
        # A disc seen where none can lie, so near to a resting one, is that one, pushed a little.
        pushed = [
            d.id
            for d in self._resting.values()
            if any(math.dist(d.top_xy_mm, s.xy_mm) < TOO_NEAR * self._radius for s in sightings)
        ]
        if pushed:
            self._let_go(pushed)
            departed += pushed
            changes = self._differ.changes(straight, self._layer, within)
            now = _Now(straight, changes, at_ns, exposure_ns, tracks)
            sightings = self._sight(now)
        hands = changes.hand_regions
        inner = min((r.inner_mm for r in hands), default=math.inf)
        on_line = self._on_line(now) if hands and not tracks else ()
        return FrameSeen(
            at_ns=at_ns,
            hand=inner < self._view.board.rail_radius_mm,
            hand_inner_mm=inner,
            departed=tuple(departed),
            covered=tuple(covered),
            sightings=tuple(sightings),
            on_line=tuple(on_line),
        )

    def _sight(self, now: _Now) -> list[Sighting]:
        """Every moving disc that the frame shows."""
        sightings: list[Sighting] = []
        for region in sorted(now.changes.regions, key=lambda r: r.hand):
            if region.area_mm2 >= _LEAST_REGION * self._disc_mm2:
                # A fit may slide into the neighbouring region, where that disc was seen already.
                taken = [s.xy_mm for s in sightings]
                look = self._beside_hand if region.hand else self._in_region
                sightings += look(now, region, taken)
        return sightings

    def _let_go(self, names: Sequence[str]) -> None:
        for name in names:
            self._erase(self._resting.pop(name))

    def _missing(self, changes: Changes) -> tuple[list[str], list[str]]:
        hand_labels = {r.label for r in changes.hand_regions}
        departed, covered = [], []
        for disc in self._resting.values():
            part, near = disc_pixels(self._view, *disc.top_xy_mm, self._radius - 1)
            labels = changes.labels[part][near]
            if float((labels > 0).mean()) < GONE_SHARE:
                continue
            found, counts = np.unique(labels[labels > 0], return_counts=True)
            if int(found[np.argmax(counts)]) in hand_labels:
                covered.append(disc.id)
            else:
                departed.append(disc.id)
        return departed, covered

    def _erase(self, disc: Resting) -> None:
        """Show the bare board where a disc was; the discs around it stay."""
        part, near = disc_pixels(self._view, *disc.top_xy_mm, self._radius + 13)
        keep = near.copy()
        row0, column0 = part[0].start, part[1].start
        for other in self._resting.values():
            if other.id != disc.id and math.dist(other.top_xy_mm, disc.top_xy_mm) < 4 * self._radius:
                opart, onear = disc_pixels(self._view, *other.top_xy_mm, self._radius + 2)
                rows, columns = np.nonzero(onear)
                r, c = rows + opart[0].start - row0, columns + opart[1].start - column0
                good = (r >= 0) & (r < keep.shape[0]) & (c >= 0) & (c < keep.shape[1])
                keep[r[good], c[good]] = False
        self._layer[part][keep] = self._bare8[part][keep]

    def _in_region(
        self,
        now: _Now,
        region: Region,
        taken: Sequence[Xy],
    ) -> list[Sighting]:
        most = max(1, round(region.area_mm2 / (1.25 * self._disc_mm2)))
        if most == 1 and not self._teacher.complete:
            self._learn(now, region)
        expected = self._expected(now, region)
        found: list[tuple[float, Sighting, Xy]] = []
        for start, smear, colour in expected:
            self._try(now, (start, smear, colour), found)
        found = [f for f in found if self._belongs(f[2], region, taken)]
        if len(found) < most:
            column, row, width, height = region.box
            mask = now.changes.labels[row : row + height, column : column + width] == region.label
            starts: list[Xy] = [(region.x_mm, region.y_mm)] if most == 1 else []
            if most > 1 or not self._wardrobe.looks:
                starts += [
                    (x, y) for x, y, _ in circle_votes(self._view, now.straight, mask, region.box, most=most + 1)
                ]
            for start in starts:
                # What explains little may lie between two discs, and hides neither.
                if all(math.dist(start, f[2]) > self._radius for f in found if f[0] >= SURE_EXPLAINED):
                    self._try(now, (start, (0.0, 0.0), None), found)
        found = [f for f in found if self._belongs(f[2], region, taken)]
        kept: list[Sighting] = []
        for _, seen, _ in sorted(found, key=lambda f: -f[0]):
            if len(kept) < most + 1 and all(math.dist(seen.xy_mm, k.xy_mm) > 1.6 * self._radius for k in kept):
                kept.append(seen)
        strange = (
            len(self._wardrobe.looks) < 2 and math.hypot(region.x_mm, region.y_mm) < self._view.board.surface_radius_mm
        )
        if not kept and strange and region.area_mm2 < 4 * self._disc_mm2:
            x, y = self._place(region.x_mm, region.y_mm)
            kept.append(Sighting(now.at_ns, x, y, _CENTROID_SIGMA_MM, None))
        return kept

    def _belongs(self, top_xy_mm: Xy, region: Region, taken: Sequence[Xy]) -> bool:
        """Whether a fitted disc is in the region that it was looked for in, and not one that was seen already."""
        column, row, width, height = region.box
        u, v = self._view.to_px(*top_xy_mm)
        inside = column - 2 <= u <= column + width + 2 and row - 2 <= v <= row + height + 2
        return inside and all(math.dist(top_xy_mm, t) > 1.6 * self._radius for t in taken)

    def _learn(self, now: _Now, region: Region) -> None:
        """Learn a set from a disc that moves alone over the wood, while it is not known."""
        start = (region.x_mm, region.y_mm)
        alone = all(math.dist(d.top_xy_mm, start) > 4 * self._radius for d in self._resting.values())
        if now.changes.hand_regions and region.inner_mm > self._view.board.limits_mm[1]:
            return
        patch = self._painter.cut(now.straight, self._bare, start)
        if alone and patch is not None and math.hypot(*start) < self._view.board.outer_line_mm:
            self._teacher.glimpse(now.straight, self._bare, patch, start)

    def _beside_hand(self, now: _Now, region: Region, taken: Sequence[Xy]) -> list[Sighting]:
        """Discs that are followed and whose picture has run into that of a hand."""
        found: list[tuple[float, Sighting, Xy]] = []
        for start, smear, colour in self._expected(now, region):
            if now.changes.at(self._view, *start) == region.label:
                self._try(now, (start, smear, colour), found, least=0.4)
        return [replace(seen, held=True) for _, seen, top in found if self._belongs(top, region, taken)]

    def _expected(self, now: _Now, region: Region) -> list[Guess]:
        column, row, width, height = region.box
        answer = []
        for track in now.tracks:
            x, y = track.predict(now.at_ns)
            u, v = self._view.to_px(x, y)
            if column - 8 <= u <= column + width + 8 and row - 8 <= v <= row + height + 8:
                vx, vy = track.velocity()
                answer.append(((x, y), (vx * now.exposure_ns / 1e9, vy * now.exposure_ns / 1e9), track.colour))
        return answer

    def _try(
        self,
        now: _Now,
        guess: Guess,
        found: list[tuple[float, Sighting, Xy]],
        least: float = LEAST_EXPLAINED,
    ) -> None:
        """Fit a disc near a place; add it to ``found`` if it explains what is seen."""
        start, smear, colour = guess
        best = self._fitted(now, guess)
        for _ in range(_LOOKS_AGAIN):
            if best is None or math.dist(best[2], start) < _FAR_OFF_MM:
                break
            # It was not where it was looked for, so the pixels around that place show only a part of it.
            start = best[2]
            best = self._fitted(now, (start, smear, colour)) or best
        if best is None or best[0] < least:
            return
        same = [f for f in found if math.dist(best[2], f[2]) <= 0.8 * self._radius]
        if all(f[0] < best[0] for f in same):
            found[:] = [*(f for f in found if f not in same), best]

    def _fitted(self, now: _Now, guess: Guess) -> tuple[float, Sighting, Xy] | None:
        """The disc that explains most of what is seen around a place: its worth, how it is seen, and its top face."""
        start, smear, colour = guess
        patch = self._painter.cut(now.straight, self._bare, start)
        if patch is None:
            return None
        patch = self._over_layer(patch)
        best: tuple[float, Sighting, Xy] | None = None
        for name, look in self._wardrobe.looks.items():
            if colour is not None and name != colour:
                continue
            fit = fit_look(
                self._view,
                look,
                self._wardrobe.shade,
                patch,
                start,
                smear_mm=smear,
                rounds=6,
                reach_mm=18,
                close_mm=0.15,
            )
            if fit is None:
                continue
            worth = fit.worth
            if best is None or worth > best[0]:
                x, y = self._place(fit.x_mm, fit.y_mm)
                sigma = math.hypot(0.35, fit.sigma_mm) + 0.04 * math.hypot(*smear)
                # A set that was never seen looks like the wrong set in the wrong light.
                told = fit.explained > SURE_EXPLAINED or len(self._wardrobe.looks) > 1
                seen = Sighting(now.at_ns, x, y, sigma, colour_of(name) if told else None)
                best = (worth, seen, (fit.x_mm, fit.y_mm))
        return best

    def _over_layer(self, patch: Patch) -> Patch:
        """The patch with resting discs as background, and no say for the pixels right at them."""
        part = (
            slice(patch.row - REACH_PX, patch.row + REACH_PX + 1),
            slice(patch.column - REACH_PX, patch.column + REACH_PX + 1),
        )
        dx, dy = patch_offsets()
        cx, cy = self._view.to_mm(patch.column, patch.row)
        weight = patch.weight
        for disc in self._resting.values():
            x, y = disc.top_xy_mm
            if math.dist((x, y), (cx, cy)) < 60:
                weight[np.hypot(dx + np.float32(cx - x), dy + np.float32(cy - y)) < self._radius + 1] *= 0.1
        return Patch(patch.column, patch.row, patch.seen, planes(self._layer[part]), weight)

    def _on_line(self, now: _Now) -> list[Sighting]:
        """A disc that a hand has laid on the outer line."""
        board = self._view.board
        found: list[tuple[float, Sighting, Xy]] = []
        for region in now.changes.hand_regions:
            if region.inner_mm > board.outer_line_mm:
                continue
            column, row, width, height = region.box
            mask = now.changes.labels[row : row + height, column : column + width] == region.label
            radius = self._view.radius_mm[row : row + height, column : column + width]
            mask &= np.abs(radius - board.outer_line_mm) < 2.2 * self._radius
            for x, y, _ in circle_votes(self._view, now.straight, mask, region.box, most=3):
                if abs(math.hypot(x, y) - board.outer_line_mm) < 1.4 * self._radius:
                    self._try(now, ((x, y), (0.0, 0.0), None), found, least=0.3)
        return [seen for _, seen, _ in found if board.touches_outer(seen.r_mm)]

    def _place(self, x_mm: float, y_mm: float) -> Xy:
        """Where a disc is whose top face is seen at a place: lower when it is over the ditch."""
        board = self._view.board
        if math.hypot(x_mm, y_mm) > board.surface_radius_mm + 4:
            return self._view.sink(x_mm, y_mm, board.surface_height_mm)
        return (x_mm, y_mm)
