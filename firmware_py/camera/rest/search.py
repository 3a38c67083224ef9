"""The search for new discs on a still board: discs of the sets that are known, and the first ones of a set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import Changes, Differ, Region, circle_votes
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.alike import OTHERS, Suspect, agreed
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.fitting import LookFit, arrived, fit_look
from firmware_py.camera.rest.glare import whole_disc
from firmware_py.camera.rest.layers import Painter
from firmware_py.camera.rest.lessons import Lessons
from firmware_py.camera.rest.lying import lying
from firmware_py.camera.rest.resting import Resting
from firmware_py.camera.rest.teach import FEW, SEEN, SUNK, Teacher, colour_of
from firmware_py.camera.rest.telling import renamed
from hub.link.messages import Colour

Xy = tuple[float, float]

#: A disc must explain this share of what changed, and have this share of its edge.
LEAST_EXPLAINED = 0.22
LEAST_COVERAGE = 0.55
#: A disc that its set explains so well is of no other set.
PLAIN = 0.8
#: A face this many grey levels off its set's colour may be of a set that is not known yet.
STRANGE = 24.0
#: A face no more grey levels off its set's colour, and in light that differs by no more than this share, is of it.
ALIKE, ALIKE_LIGHT = 2.0, 0.05
#: What changed on less than this share of a disc's face is no disc.
LEAST_REGION = 0.3
#: Of a disc on wood of its own colour so much of the edge is seen; of a strip of shadow, a third at most.
ROUND = 0.4
_MOST_DISCS = 40


class Search:
    """Looks for discs where a view differs from the board and the discs that are known.

    Args:
        view: the camera's view.
        differ: finds what changed in it.
        wardrobe: looks learned so far; read and taught.
        painter: puts patches together.
        lessons: what discs teach.
        teacher: what the first discs of a set teach.
        hole_xy_mm: centre of the hole on the surface.
        height_error: relative error of the camera's height.
    """

    def __init__(
        self,
        view: BoardView,
        differ: Differ,
        wardrobe: Wardrobe,
        painter: Painter,
        *,
        lessons: Lessons,
        teacher: Teacher,
        hole_xy_mm: Xy,
        height_error: float,
    ) -> None:
        self._view, self._differ, self._wardrobe, self._painter = view, differ, wardrobe, painter
        self._lessons, self._teacher = lessons, teacher
        self.hole_xy_mm = hole_xy_mm
        self._height_error = height_error
        self._radius = view.board.disc_radius_mm
        self._disc_mm2 = math.pi * self._radius**2
        #: What no disc explained when all was searched.
        self.unexplained: tuple[Region, ...] = ()

    def beside(self, straight: Image, bare: Floats, known: Iterable[Resting]) -> Changes:
        """What there is beside the board and its known discs."""
        return self._differ.changes(straight, self._painter.compose(straight, bare, [d.top_xy_mm for d in known]))

    def all_new(
        self, straight: Image, bare: Floats, stay: Sequence[Resting], changes: Changes | None
    ) -> tuple[list[Resting], list[Region]]:
        """New discs, and regions that are none; ``changes`` beside ``stay``, where they are known already."""
        placed, self.unexplained = list(stay), ()
        found: list[Resting] = []
        named = self._teacher.renamed
        odd: dict[tuple[int, int], Region] = {}
        while len(found) < _MOST_DISCS:
            if changes is None:
                changes = self.beside(straight, bare, placed)
            before = len(found)
            # Regions stand apart, so one disc of each is found before what is left is looked at again.
            for region in sorted(changes.regions, key=lambda r: -r.area_mm2):
                key = (round(region.x_mm / 8), round(region.y_mm / 8))
                if region.hand or key in odd or region.area_mm2 < LEAST_REGION * self._disc_mm2:
                    continue
                disc = self._disc_in(straight, bare, changes, region, placed)
                if disc is None:
                    odd[key] = region
                    continue
                if self._teacher.renamed and not named:
                    found, named = [renamed(d) for d in found], True
                placed.append(disc)
                found.append(disc)
            if len(found) == before:
                self.unexplained = changes.regions
                break
            changes = None
        return found, list(odd.values())

    def agreed(
        self, straight: Image, bare: Floats, stay: Sequence[Resting], found: list[Resting], odd: list[Region]
    ) -> tuple[list[Resting], list[Region]]:
        """The new discs and what is none, after what is odd at several places has taught a set, if it is one."""
        if not odd or not self._teacher.wanting:
            return found, odd
        sure = [d for d in found if self._wardrobe.looks[d.colour].learned > FEW]
        suspects = self._suspects(straight, bare, [*stay, *sure])
        if len(suspects) <= OTHERS:
            return found, odd
        young = [look for look in self._wardrobe.looks.values() if look.learned <= FEW]
        taught = agreed(self._view, self._wardrobe.shade, suspects, young)
        named = self._teacher.renamed
        if taught is None or not self._teacher.adopt(taught, bare):
            return found, odd
        if self._teacher.renamed and not named:
            sure = [renamed(d) for d in sure]
        more, odd = self.all_new(straight, bare, [*stay, *sure], None)
        return [*sure, *more], odd

    def _suspects(self, straight: Image, bare: Floats, known: Sequence[Resting]) -> list[Suspect]:
        """Places on the surface where something round is seen that is not known."""
        changes, others = self.beside(straight, bare, known), [d.top_xy_mm for d in known]
        found = []
        for region in changes.regions:
            if region.hand or region.area_mm2 < LEAST_REGION * self._disc_mm2:
                continue
            column, row, width, height = region.box
            mask = changes.labels[row : row + height, column : column + width] == region.label
            for x, y, votes in circle_votes(self._view, straight, mask, region.box):
                if math.hypot(x, y) > self._view.board.surface_radius_mm:
                    continue
                edge, patch = (
                    self._teacher.edge(straight, bare, (x, y)),
                    self._painter.patch(straight, bare, (x, y), others),
                )
                if patch is not None and edge is not None and edge.coverage >= ROUND:
                    found.append(Suspect((x, y), votes, patch))
        return found

    def _disc_in(
        self, straight: Image, bare: Floats, changes: Changes, region: Region, placed: Sequence[Resting]
    ) -> Resting | None:
        column, row, width, height = region.box
        mask = changes.labels[row : row + height, column : column + width] == region.label
        starts: list[Xy] = [(x, y) for x, y, _ in circle_votes(self._view, straight, mask, region.box)]
        if region.area_mm2 < 2.2 * self._disc_mm2:
            starts.append((region.x_mm, region.y_mm))
        others = [d.top_xy_mm for d in placed]
        best: tuple[float, Resting] | None = None
        for start in starts:
            if any(math.dist(start, o) < 1.2 * self._radius for o in others):
                continue
            answer = self.examine(straight, bare, start, others)
            if answer is None:
                continue
            disc, worth = answer
            apart = all(math.dist(disc.top_xy_mm, o) >= 1.8 * self._radius for o in others)
            if apart and (best is None or worth > best[0]):
                best = (worth, disc)
            if apart and worth > PLAIN:
                break
        return None if best is None else best[1]

    def examine(self, straight: Image, bare: Floats, start: Xy, others: Sequence[Xy]) -> tuple[Resting, float] | None:
        """The disc near a place of the straight view, and how sure it is one (to 1); None if there is none."""
        patch = self._painter.patch(straight, bare, start, others)
        if patch is None:
            return None
        looks, shade = self._wardrobe.looks, self._wardrobe.shade
        best: tuple[float, Colour, LookFit] | None = None
        for name, look in self._wardrobe.likeliest_first(patch):
            fit = fit_look(self._view, look, shade, patch, start, rounds=9)
            if fit is not None and (best is None or fit.worth > best[0]):
                best = (fit.worth, colour_of(name), fit)
            if best is not None and best[0] > PLAIN:
                break
        if best is None or best[0] < LEAST_EXPLAINED or best[2].strange > STRANGE or looks[best[1]].learned < SEEN:
            first = self._teacher.first_look(
                straight, bare, patch, start if best is None else (best[2].x_mm, best[2].y_mm)
            )
            if first is not None:
                disc = self.resting(*first)
                self._lessons.promise(disc)
                return disc, max(first[1].explained, 0.5)
        if best is None or best[0] < LEAST_EXPLAINED:
            seen = whole_disc(self._view, self._wardrobe, self._teacher.edge(straight, bare, start), patch)
            return None if seen is None else (self.resting(*seen), LEAST_EXPLAINED)
        colour, fit = best[1], arrived(self._view, looks[best[1]], shade, patch, best[2])
        worth = fit.worth
        at = (fit.x_mm, fit.y_mm)
        # Maple on maple has half an edge; a set that is known tells such a disc without it, and so does a face that is
        # in its colour and its light just what was seen of the set: a wrong look errs in these.
        alike = fit.strange < ALIKE and abs(math.log(fit.gain)) < ALIKE_LIGHT
        if worth < (0.55 if alike or looks[colour].learned > FEW else 0.75):
            edge = self._teacher.edge(straight, bare, at)
            if edge is None or edge.coverage < LEAST_COVERAGE:
                return None
        disc = self.resting(colour, fit)
        # What may be of a set known from shadow alone, or of the other one, does not teach it.
        if worth > 0.45 and looks[colour].learned > SUNK:
            self._lessons.promise(disc)
            self._lessons.first(straight, bare, disc, others)
        return disc, worth

    def resting(self, colour: Colour, fit: LookFit) -> Resting:
        """The disc of a fit, without a name."""
        learned = self._wardrobe.looks[colour].learned
        return lying(self._view, colour, fit, self.hole_xy_mm, learned=learned, height_error=self._height_error)
