"""The full read of a still board: every disc with its place, colour, state and the truth about its own error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import CHANGE, Changes, Differ, Region, circle_votes, disc_pixels, gain_between
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.askew import Askew, Sight
from firmware_py.camera.rest.brightness import Brightness
from firmware_py.camera.rest.fitting import LookFit, arrived, fit_look
from firmware_py.camera.rest.layers import Painter
from firmware_py.camera.rest.legible import blurred, drowned, like_discs, words
from firmware_py.camera.rest.lessons import MATURE, Lessons
from firmware_py.camera.rest.lying import lying
from firmware_py.camera.rest.resting import Reading, Resting
from firmware_py.camera.rest.sunken import above_hole, read_at_hole, settled
from firmware_py.camera.rest.teach import SEEN, SUNK, Teacher, colour_of
from firmware_py.camera.rest.telling import renamed
from hub.link.messages import Colour

Xy = tuple[float, float]

#: A disc must explain this share of what changed, and have this share of its edge.
LEAST_EXPLAINED = 0.22
LEAST_COVERAGE = 0.55
#: A disc that its set explains so well is of no other set.
PLAIN = 0.8
#: A disc displaced by less did not move: thrice the error of comparing two pictures of it.
MOVED_MM = 0.3
#: And with no more, discs that were found are read once more by what all of them taught.
FEW = 2.0
#: A face this many grey levels off its set's colour may be of a set that is not known yet.
STRANGE = 24.0
#: A face no more grey levels off its set's colour, and in light that differs by no more than this share, is of it.
ALIKE, ALIKE_LIGHT = 2.0, 0.05
#: Discs displaced by less are followed by comparing pictures, which is finer than reading twice.
NUDGED_MM = 4.0
_LEAST_REGION = 0.3
_MOST_DISCS = 40


class LayoutReader:
    """Reads still boards of one view.

    Args:
        view: the camera's view.
        bare: the empty board in the straight view, float32.
        wardrobe: looks learned so far; read and taught.
        hole_xy_mm: centre of the hole on the surface.
        height_error: relative error of the camera's height.
    """

    def __init__(
        self,
        view: BoardView,
        bare: Floats,
        wardrobe: Wardrobe,
        *,
        hole_xy_mm: Xy = (0.0, 0.0),
        height_error: float = 0.04,
    ) -> None:
        self.view = view
        self.bare = bare
        self.wardrobe = wardrobe
        self.differ = Differ(view)
        self.hole_xy_mm = hole_xy_mm
        self._height_error = height_error
        self._in_hole = 0
        self._unexplained: tuple[Region, ...] = ()
        self._radius = view.board.disc_radius_mm
        self._quiet = view.visible & (view.radius_mm < view.board.surface_radius_mm)
        self._disc_mm2 = math.pi * self._radius**2
        self.painter = Painter(view, wardrobe.shade, Brightness(view, bare))
        self._askew = Askew(view, wardrobe, self.painter)
        self._lessons = Lessons(view, wardrobe, self.painter)
        self.teacher = Teacher(view, wardrobe, hole_xy_mm)

    def lit_bare(self, straight: Image) -> Floats:
        """The empty board in the light of a view."""
        gain = gain_between(straight, self.bare, self._quiet).astype(np.float32)
        # Whole rows at once: numpy is slow over a last axis of three.
        rows = self.bare.reshape(len(self.bare), -1) * np.tile(gain, self.bare.shape[1])
        return np.asarray(rows.reshape(self.bare.shape))

    def compose(self, straight: Image, bare: Floats, discs: Iterable[Resting]) -> Image:
        """The view with nothing but the bare board and these discs, which are taken from the view itself."""
        return self.painter.compose(straight, bare, [disc.top_xy_mm for disc in discs])

    def read(self, straight: Image, still: Image | None, known: Sequence[Resting]) -> Reading:
        """Read a view of a still board.

        Args:
            straight: the view, noise averaged away as far as possible.
            still: the view of the last read, on which the ``known`` discs lay; None to read everything anew.
            known: discs of the last read.
        """
        bare, named = self.lit_bare(straight), self.teacher.renamed
        self._lessons.begin()
        stay: list[Resting] = []
        gone: list[Resting] = []
        unseen: list[str] = []
        stirred: list[Resting] = []
        nudged: dict[str, float] = {}
        hands = self._beside(straight, bare, known)
        if still is None:
            gone = list(known)
        else:
            then = self._relit(still, straight)
            for disc in known:
                if self._covered(hands, disc):
                    stay.append(disc)
                    unseen.append(disc.id)
                    continue
                if self._at_hole(disc.top_xy_mm) and self._changed(straight, then, disc):
                    stirred.append(disc)
                    continue
                kept = self._still_there(straight, then, bare, disc, known)
                if kept is None:
                    gone.append(disc)
                    continue
                stay.append(kept)
                if kept is not disc and kept.learned == disc.learned:
                    nudged[disc.id] = math.dist((disc.x_mm, disc.y_mm), (kept.x_mm, kept.y_mm))
        found, odd = self._search(straight, bare, stay, None if known else hands)
        if self.teacher.renamed and not named:
            stay, gone, stirred = ([renamed(d) for d in discs] for discs in (stay, gone, stirred))
        self._lessons.close(straight, bare, [*stay, *found])
        found = self._hole_again(straight, bare, (stay, found, stirred))
        found = self._second_look(straight, bare, stay, found)
        found = self._askew.put_right(Sight(straight, bare, stay, self._unexplained), found)
        for disc in stirred:
            again = next((d for d in found if d.colour == disc.colour and _near(d, disc)), None)
            if again is None:
                gone.append(disc)
                continue
            found.remove(again)
            way = math.dist((disc.x_mm, disc.y_mm), (again.x_mm, again.y_mm))
            same = again.state == disc.state and way < MOVED_MM
            stay.append(disc if same else replace(again, id=disc.id))
            if not same:
                nudged[disc.id] = way
        # Under a fair camera what is odd is seldom a disc: light ones on light wood leave shadows that are.
        hard = (odd and not self.view.fair) or hands.least > CHANGE
        illegible = self._illegible(straight, bare, [*stay, *found], hands if hard else None)
        return Reading(tuple(stay), nudged, tuple(gone), tuple(found), tuple(unseen), tuple(odd), illegible)

    def _illegible(self, straight: Image, bare: Floats, discs: Sequence[Resting], doubtful: Changes | None) -> str:
        """Why the picture cannot be trusted, for people; empty when it can. ``doubtful`` is None where all is clear."""
        if doubtful is None:
            return words(blurred(self.view, straight, bare), (), ())
        changes = self._beside(straight, bare, discs)
        wide = [r for r in changes.regions if not r.hand and r.area_mm2 >= _LEAST_REGION * self._disc_mm2]
        pale = drowned(self.view, bare, self.wardrobe.looks, changes.least)
        return words(blurred(self.view, straight, bare), pale, like_discs(self.view, changes, wide))

    def study(self) -> None:
        """Learn more from what was read, if there is more to learn; for idle moments, takes up to 0.1 s."""
        if self._lessons.owed:
            self._lessons.turn()

    def adapt(self, straight: Image, discs: Iterable[Resting], rate: float = 0.06) -> None:
        """Let the empty board follow the light where no disc lies."""
        gain = gain_between(straight, self.bare, self._quiet).astype(np.float32)
        free = self.view.visible.copy()
        for disc in discs:
            part, near = disc_pixels(self.view, *disc.top_xy_mm, self._radius + 16)
            free[part] &= ~near
        step = np.clip(straight / gain - self.bare, -6, 6) * np.float32(rate)
        self.bare += step * free[..., None]

    def _relit(self, still: Image, straight: Image) -> Image:
        gain = gain_between(straight, still, self._quiet)
        if np.all(np.abs(gain - 1) < 0.002):
            return still
        return np.asarray(np.clip(np.rint(still * gain.astype(np.float32)), 0, 255), dtype=np.uint8)

    def _beside(self, straight: Image, bare: Floats, known: Iterable[Resting]) -> Changes:
        """What there is beside the board and its known discs."""
        return self.differ.changes(straight, self.compose(straight, bare, known))

    def _covered(self, hands: Changes, disc: Resting) -> bool:
        """Whether a hand is over a disc; around it, since what is right over it was taken for the disc."""
        if not hands.hand_regions:
            return False
        labels = [r.label for r in hands.hand_regions]
        part, near = disc_pixels(self.view, *disc.top_xy_mm, self._radius + 6)
        ring = near & (self.view.visible[part])
        return bool(np.isin(hands.labels[part][ring], labels).mean() > 0.12)

    def _changed(self, straight: Image, then: Image, disc: Resting) -> bool:
        """Whether a disc's place looks different now."""
        part, near = disc_pixels(self.view, *disc.top_xy_mm, self._radius + 1.5)
        diff = cv2.blur(cv2.absdiff(straight[part], then[part]), (3, 3)).max(axis=2)
        return float((diff[near] > 6).mean()) >= 0.03

    def _at_hole(self, top_xy_mm: Xy) -> bool:
        return math.dist(top_xy_mm, above_hole(self.view, self.hole_xy_mm)) < self.view.board.hole_radius_mm

    def _hole_again(
        self, straight: Image, bare: Floats, discs: tuple[Sequence[Resting], Sequence[Resting], Sequence[Resting]]
    ) -> list[Resting]:
        """The found discs, the one at the hole fitted afresh from all around it with all its neighbours known.

        Args:
            straight: the view.
            bare: the empty board in its light.
            discs: that stay, that were found, and that were stirred at the hole.
        """
        stay, found, stirred = discs
        there = [d for d in found if self._at_hole(d.top_xy_mm)]
        if len(there) > 1 or not (there or stirred) or any(self._at_hole(d.top_xy_mm) for d in stay):
            return list(found)
        others = [d.top_xy_mm for d in (*stay, *found) if d not in there]
        patch = self.painter.patch(straight, bare, above_hole(self.view, self.hole_xy_mm), others)
        if patch is None:
            return list(found)
        colours = dict.fromkeys(d.colour for d in (there or stirred))
        disc = read_at_hole(self.view, self.wardrobe, colours, patch, self.hole_xy_mm)
        if disc is None:
            return list(found)
        if disc.state == "hole" and disc.rival is None:
            self._in_hole += 1
            self.hole_xy_mm = settled(self.hole_xy_mm, (disc.x_mm, disc.y_mm), self._in_hole)
        return [*(d for d in found if d not in there), disc]

    def _second_look(
        self, straight: Image, bare: Floats, stay: Sequence[Resting], found: Sequence[Resting]
    ) -> list[Resting]:
        """The found discs; where their set was hardly known, read again by what all of them taught."""
        if not self._lessons.owed or all(d.learned > FEW for d in found):
            return list(found)
        while self._lessons.owed:
            self._lessons.turn()
        there = [*stay, *found]
        again = [self._read_again(straight, bare, disc, [d for d in there if d is not disc]) for disc in found]
        # And what was too strange to be a disc may be one by now.
        return again + self._search(straight, bare, [*stay, *again], None)[0]

    def _still_there(
        self, straight: Image, then: Image, bare: Floats, disc: Resting, known: Sequence[Resting]
    ) -> Resting | None:
        if not self._changed(straight, then, disc):
            return self._read_better(straight, bare, disc, [d for d in known if d is not disc])
        fits = self._fits(straight, then, bare, disc, known)
        if fits is None:
            return None
        shift = (fits[1].x_mm - fits[0].x_mm, fits[1].y_mm - fits[0].y_mm)
        if math.hypot(*shift) >= NUDGED_MM:
            return None
        if math.hypot(*shift) < MOVED_MM:
            return disc
        return replace(
            disc,
            x_mm=disc.x_mm + shift[0],
            y_mm=disc.y_mm + shift[1],
            top_xy_mm=(disc.top_xy_mm[0] + shift[0], disc.top_xy_mm[1] + shift[1]),
        )

    def _read_better(self, straight: Image, bare: Floats, disc: Resting, beside: Sequence[Resting]) -> Resting:
        """The same disc at rest, read again when much more is known of its set than when it was read first."""
        look = self.wardrobe.looks.get(disc.colour)
        if look is None or disc.learned >= MATURE or look.learned < 2 * disc.learned + 2:
            return disc
        return self._read_again(straight, bare, disc, beside)

    def _read_again(self, straight: Image, bare: Floats, disc: Resting, beside: Sequence[Resting]) -> Resting:
        look = self.wardrobe.looks.get(disc.colour)
        if look is None or disc.state != "flat":
            return disc
        patch = self.painter.patch(straight, bare, disc.top_xy_mm, [d.top_xy_mm for d in beside])
        if patch is None:
            return disc
        fit = fit_look(self.view, look, self.wardrobe.shade, patch, disc.top_xy_mm, reach_mm=NUDGED_MM)
        if fit is None or fit.explained < LEAST_EXPLAINED:
            return disc
        return replace(self._resting(disc.colour, fit), id=disc.id)

    def _fits(
        self, straight: Image, then: Image, bare: Floats, disc: Resting, known: Sequence[Resting]
    ) -> tuple[LookFit, LookFit] | None:
        """A disc fitted alike in the view of the last read and in this one; None if it is not near any more."""
        look = self.wardrobe.looks.get(disc.colour)
        if look is None:
            return None
        others = [d.top_xy_mm for d in known if d.id != disc.id]

        def fitted(picture: Image) -> LookFit | None:
            patch = self.painter.cut(picture, bare, disc.top_xy_mm)
            if patch is None:
                return None
            # A neighbour that left or came would pull one of the fits: what changed far from this disc is masked.
            self.painter.mask(patch, others)
            fit = fit_look(self.view, look, self.wardrobe.shade, patch, disc.top_xy_mm, reach_mm=NUDGED_MM + 1.5)
            return None if fit is None or fit.explained < LEAST_EXPLAINED else fit

        before, now = fitted(then), fitted(straight)
        return None if before is None or now is None else (before, now)

    def _search(
        self, straight: Image, bare: Floats, stay: Sequence[Resting], changes: Changes | None
    ) -> tuple[list[Resting], list[Region]]:
        """New discs, and regions that are none; ``changes`` beside ``stay``, where they are known already."""
        placed, self._unexplained = list(stay), ()
        found: list[Resting] = []
        named = self.teacher.renamed
        odd: dict[tuple[int, int], Region] = {}
        while len(found) < _MOST_DISCS:
            if changes is None:
                changes = self._beside(straight, bare, placed)
            before = len(found)
            # Regions stand apart, so one disc of each is found before what is left is looked at again.
            for region in sorted(changes.regions, key=lambda r: -r.area_mm2):
                key = (round(region.x_mm / 8), round(region.y_mm / 8))
                if region.hand or key in odd or region.area_mm2 < _LEAST_REGION * self._disc_mm2:
                    continue
                disc = self._disc_in(straight, bare, changes, region, placed)
                if disc is None:
                    odd[key] = region
                    continue
                if self.teacher.renamed and not named:
                    found, named = [renamed(d) for d in found], True
                placed.append(disc)
                found.append(disc)
            if len(found) == before:
                self._unexplained = changes.regions
                break
            changes = None
        return found, list(odd.values())

    def _disc_in(
        self, straight: Image, bare: Floats, changes: Changes, region: Region, placed: Sequence[Resting]
    ) -> Resting | None:
        column, row, width, height = region.box
        mask = changes.labels[row : row + height, column : column + width] == region.label
        starts: list[Xy] = [(x, y) for x, y, _ in circle_votes(self.view, straight, mask, region.box)]
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
        patch = self.painter.patch(straight, bare, start, others)
        if patch is None:
            return None
        looks, shade = self.wardrobe.looks, self.wardrobe.shade
        best: tuple[float, Colour, LookFit] | None = None
        for name, look in self.wardrobe.likeliest_first(patch):
            fit = fit_look(self.view, look, shade, patch, start, rounds=9)
            if fit is not None and (best is None or fit.worth > best[0]):
                best = (fit.worth, colour_of(name), fit)
            if best is not None and best[0] > PLAIN:
                break
        if best is None or best[0] < LEAST_EXPLAINED or best[2].strange > STRANGE or looks[best[1]].learned < SEEN:
            first = self.teacher.first_look(
                straight, bare, patch, start if best is None else (best[2].x_mm, best[2].y_mm)
            )
            if first is not None:
                disc = self._resting(*first)
                self._lessons.promise(disc)
                return disc, max(first[1].explained, 0.5)
        if best is None or best[0] < LEAST_EXPLAINED:
            return None
        colour, fit = best[1], arrived(self.view, looks[best[1]], shade, patch, best[2])
        worth = fit.worth
        at = (fit.x_mm, fit.y_mm)
        # Maple on maple has half an edge; a set that is known tells such a disc without it, and so does a face that is
        # in its colour and its light just what was seen of the set: a wrong look errs in these.
        alike = fit.strange < ALIKE and abs(math.log(fit.gain)) < ALIKE_LIGHT
        if worth < (0.55 if alike or looks[colour].learned > FEW else 0.75):
            edge = self.teacher.edge(straight, bare, at)
            if edge is None or edge.coverage < LEAST_COVERAGE:
                return None
        disc = self._resting(colour, fit)
        # What may be of a set known from shadow alone, or of the other one, does not teach it.
        if worth > 0.45 and looks[colour].learned > SUNK:
            self._lessons.promise(disc)
            self._lessons.first(straight, bare, disc, others)
        return disc, worth

    def _resting(self, colour: Colour, fit: LookFit) -> Resting:
        learned = self.wardrobe.looks[colour].learned
        return lying(self.view, colour, fit, self.hole_xy_mm, learned=learned, height_error=self._height_error)


def _near(now: Resting, before: Resting) -> bool:
    """Whether a disc at the hole may be the one that lay there, stirred; a farther one has its own way to tell it."""
    return math.dist(now.top_xy_mm, before.top_xy_mm) < NUDGED_MM
