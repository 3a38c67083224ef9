"""The full read of a still board: every disc with its place, colour, state and the truth about its own error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import CHANGE, Changes, Differ, disc_pixels, gain_between
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.askew import Askew, Sight
from firmware_py.camera.rest.brightness import Brightness
from firmware_py.camera.rest.fitting import LookFit, fit_look
from firmware_py.camera.rest.layers import Painter
from firmware_py.camera.rest.legible import blurred, drowned, like_discs, words
from firmware_py.camera.rest.lessons import MATURE, Lessons
from firmware_py.camera.rest.resting import Reading, Resting
from firmware_py.camera.rest.search import LEAST_EXPLAINED, LEAST_REGION, Search
from firmware_py.camera.rest.sunken import above_hole, read_at_hole, settled
from firmware_py.camera.rest.teach import FEW, Teacher
from firmware_py.camera.rest.telling import renamed

Xy = tuple[float, float]

#: A disc displaced by less did not move: thrice the error of comparing two pictures of it.
MOVED_MM = 0.3
#: Discs displaced by less are followed by comparing pictures, which is finer than reading twice.
NUDGED_MM = 4.0


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
        self._in_hole = 0
        self._radius = view.board.disc_radius_mm
        self._quiet = view.visible & (view.radius_mm < view.board.surface_radius_mm)
        self._disc_mm2 = math.pi * self._radius**2
        self.painter = Painter(view, wardrobe.shade, Brightness(view, bare))
        self._askew = Askew(view, wardrobe, self.painter)
        self._lessons = Lessons(view, wardrobe, self.painter)
        self.teacher = Teacher(view, wardrobe, hole_xy_mm)
        self._search = Search(
            view,
            self.differ,
            wardrobe,
            self.painter,
            lessons=self._lessons,
            teacher=self.teacher,
            hole_xy_mm=hole_xy_mm,
            height_error=height_error,
        )

    @property
    def hole_xy_mm(self) -> Xy:
        """Centre of the hole on the surface, as far as it is known by now."""
        return self._search.hole_xy_mm

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
        hands = self._search.beside(straight, bare, known)
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
        found, odd = self._search.all_new(straight, bare, stay, None if known else hands)
        found, odd = self._search.agreed(straight, bare, stay, found, odd)
        if self.teacher.renamed and not named:
            stay, gone, stirred = ([renamed(d) for d in discs] for discs in (stay, gone, stirred))
        self._lessons.close(straight, bare, [*stay, *found])
        found = self._hole_again(straight, bare, (stay, found, stirred))
        found = self._second_look(straight, bare, stay, found)
        found = self._askew.put_right(Sight(straight, bare, stay, self._search.unexplained), found)
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
        changes = self._search.beside(straight, bare, discs)
        wide = [r for r in changes.regions if not r.hand and r.area_mm2 >= LEAST_REGION * self._disc_mm2]
        pale = drowned(self.view, bare, self.wardrobe.looks, changes.least)
        hole = above_hole(self.view, self.hole_xy_mm)
        odd = like_discs(self.view, (straight, bare), changes, wide, hole)
        return words(blurred(self.view, straight, bare), pale, odd)

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
            self._search.hole_xy_mm = settled(self.hole_xy_mm, (disc.x_mm, disc.y_mm), self._in_hole)
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
        return again + self._search.all_new(straight, bare, [*stay, *again], None)[0]

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
        return replace(self._search.resting(disc.colour, fit), id=disc.id)

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

    def examine(self, straight: Image, bare: Floats, start: Xy, others: Sequence[Xy]) -> tuple[Resting, float] | None:
        """The disc near a place of the straight view, and how sure it is one (to 1); None if there is none."""
        return self._search.examine(straight, bare, start, others)


def _near(now: Resting, before: Resting) -> bool:
    """Whether a disc at the hole may be the one that lay there, stirred; a farther one has its own way to tell it."""
    return math.dist(now.top_xy_mm, before.top_xy_mm) < NUDGED_MM
