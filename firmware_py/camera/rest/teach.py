"""How the reader learns the sets of discs from the discs themselves: first looks, better ones, and their names."""

from __future__ import annotations

import math

import numpy as np

from firmware_py.camera.picture.edges import Edge, fit_edge
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.shade import Shade
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.alike import Agreed
from firmware_py.camera.rest.appearance import Look, Patch, Wardrobe
from firmware_py.camera.rest.brightness import UNKNOWN_LIGHT
from firmware_py.camera.rest.fitting import LookFit, fit_look
from firmware_py.camera.rest.learning import learn_look, without_neighbours
from hub.link.messages import Colour

Xy = tuple[float, float]

#: A set that only its edge tells must show so much of it.
LEAST_COVERAGE = 0.65
#: And have the radius of a disc.
LARGEST_BIAS_MM = 1.25
#: With no more discs seen, a set is hardly known.
FEW = 2.0
#: Two sets differ by at least so many grey levels.
LEAST_DIFFERENCE = 38.0
#: A third set is rare: it must be seen well, and differ clearly.
THIRD_COVERAGE, THIRD_DIFFERENCE = 0.85, 55.0
#: How much a look is worth that comes from a disc below the surface, from one in motion, from one at rest on it.
SUNK, GLIMPSED, SEEN = 0.0, 0.5, 1.0
#: On the surface a disc has between so little and so much of the light that it has in the hole or in the ditch, which
#: lie in shadow.
_RAISED = (0.85, 3.0)
_DARK = 0.4


class Teacher:
    """Keeps a wardrobe; owned by the reader of one view.

    Args:
        view: the camera's view.
        wardrobe: what it keeps.
        hole_xy_mm: centre of the hole on the surface.
    """

    def __init__(self, view: BoardView, wardrobe: Wardrobe, hole_xy_mm: Xy) -> None:
        self._view = view
        self._wardrobe = wardrobe
        self._hole_xy_mm = hole_xy_mm
        self._radius = view.board.disc_radius_mm
        #: Whether ``light`` and ``dark`` changed places since somebody last looked.
        self.renamed = False

    @property
    def complete(self) -> bool:
        """Whether two sets are known well."""
        return sum(look.learned >= GLIMPSED for look in self._wardrobe.looks.values()) >= 2

    @property
    def wanting(self) -> bool:
        """Whether a set is not known, or hardly, so that discs of it may go by unknown."""
        looks = self._wardrobe.looks
        return len(looks) < 2 or any(look.learned <= FEW for look in looks.values())

    def adopt(self, agreed: Agreed, bare: Floats) -> bool:
        """Let the look that several discs share be that of a set; False if no set lacks one."""
        looks = self._wardrobe.looks
        colour = min(looks, key=lambda name: _off(looks[name], agreed.look), default=None)
        if colour is not None and _off(looks[colour], agreed.look) >= LEAST_DIFFERENCE:
            # Of two sets one has been learned where no disc of it lay.
            colour = min(looks, key=lambda name: looks[name].learned) if len(looks) >= 2 else None
        if self.renamed or (colour is not None and looks[colour].learned > FEW):
            return False
        if colour is not None:
            del looks[colour]
        name = self._name(agreed.look, float(np.percentile(bare.max(axis=2)[::4, ::4], 97)))
        self.renamed = self.renamed or (colour is not None and colour != name and not looks.keys() - {name})
        self._wardrobe.shade.become(agreed.shade)
        return True

    def edge(self, straight: Image, bare: Floats, start: Xy) -> Edge | None:
        """The silhouette of a disc near a place."""
        return fit_edge(self._view, straight, bare, start, radius_mm=self._radius, below_mm=self._view.wall_mm)

    def first_look(self, straight: Image, bare: Floats, patch: Patch, start: Xy) -> tuple[Colour, LookFit] | None:
        """A disc of a set that is not known, or only by a glimpse; by its edge, and then by what that teaches."""
        edge = self.edge(straight, bare, start)
        if edge is None or edge.coverage < LEAST_COVERAGE or abs(edge.radius_bias_mm) > LARGEST_BIAS_MM:
            return None
        worth = SEEN if self._on_surface((edge.x_mm, edge.y_mm)) else SUNK
        looks, like = self._wardrobe.looks, self._like(edge, patch.light)
        if worth == SEEN and (like is None or looks[like].learned == SUNK):
            like = self._once_sunk(edge, patch.light, like)
        strange = len(looks) >= 2 and not self._may_be_third(edge, patch.light)
        known = looks[like].learned >= SEEN if like is not None else strange
        if known:
            return None
        first = self.learn(patch, edge, worth)
        if first is None:
            return None
        look, fit = first
        white = float(np.percentile(bare.max(axis=2)[::4, ::4], 97))
        colour = self._name(look, white) if like is None else self._better(like, look, white)
        return None if colour is None else (colour, fit)

    def _better(self, like: Colour, look: Look, white: float) -> Colour | None:
        """Let a new look of a known set take the place of its old one; returns its name, None if the old is better."""
        looks = self._wardrobe.looks
        if look.learned < looks[like].learned:
            return None
        if look.learned == SUNK or looks[like].learned > SUNK:
            looks[like] = look
            return like
        # What was known of the set was its colour in shadow, and by that it had its name.
        del looks[like]
        colour = self._name(look, white)
        self.renamed = self.renamed or (colour != like and not looks.keys() - {colour})
        return colour

    def glimpse(self, straight: Image, bare: Floats, patch: Patch, start: Xy) -> Xy | None:
        """Learn a set that is not known from a disc that moves, until one lies still; returns where that disc is."""
        edge = self.edge(straight, bare, start)
        if edge is None or edge.coverage < LEAST_COVERAGE + 0.1 or abs(edge.radius_bias_mm) > LARGEST_BIAS_MM:
            return None
        if math.dist((edge.x_mm, edge.y_mm), self._hole_xy_mm) < 2 * self._radius:
            return None
        like = self._like(edge, patch.light)
        looks = self._wardrobe.looks
        if (like is None and len(looks) >= 2) or (like is not None and looks[like].learned >= GLIMPSED):
            return None
        first = self.learn(patch, edge, GLIMPSED)
        if first is None:
            return None
        look, fit = first
        if like is not None:
            looks[like] = look
        else:
            self._name(look, float(np.percentile(bare.max(axis=2)[::4, ::4], 97)))
        return fit.x_mm, fit.y_mm

    def learn(self, patch: Patch, edge: Edge, worth: float) -> tuple[Look, LookFit] | None:
        """The look that a single disc teaches, and that disc fitted by it.

        A disc in the hole casts no shadow and shows hardly a wall, one in the ditch lies in the rail's shadow and
        perhaps aslant: they teach no more than a face.
        """
        b, g, r = (value / patch.light for value in edge.inside_bgr)
        look = Look.plain(self._radius, (b, g, r))
        shade = self._wardrobe.shade if worth > SUNK else Shade()
        at = (edge.x_mm, edge.y_mm)
        if not self._view.fair:
            patch = without_neighbours(self._view, patch, at, self._radius)
        fit: LookFit | None = None
        for _ in range(4 if worth > SUNK else 1):
            look.learned = min(look.learned, 1.0)
            learn_look(self._view, look, shade if worth > SUNK else None, patch, at)
            fit = fit_look(self._view, look, shade, patch, at)
            if fit is None:
                return None
            at = (fit.x_mm, fit.y_mm)
        if fit is None:
            return None
        look.learned = worth
        return look, fit

    def _like(self, edge: Edge, light: float) -> Colour | None:
        """The known set that a disc may belong to by its colour."""
        best: tuple[float, Colour] | None = None
        for name, look in self._wardrobe.looks.items():
            off = float(np.linalg.norm(look.rim_bgr - np.array(edge.inside_bgr) / light))
            if best is None or off < best[0]:
                best = (off, colour_of(name))
        return None if best is None or best[0] >= LEAST_DIFFERENCE else best[1]

    def _once_sunk(self, edge: Edge, light: float, like: Colour | None) -> Colour | None:
        """The set, known from nothing but shadow, that a disc on the surface belongs to.

        Args:
            edge: of the disc.
            light: there.
            like: such a set whose colour it has, None if its colour is no set's.

        Returns:
            The set; None if there is none, or if the disc may be one of a set that is known well, in other light.
        """
        looks, seen = self._wardrobe.looks, np.array(edge.inside_bgr) / light
        known = min((_unlike(seen, look.rim_bgr) for look in looks.values() if look.learned > SUNK), default=math.inf)
        if like is not None:
            return like if 2 * float(np.linalg.norm(seen - looks[like].rim_bgr)) < known else None
        sunk = [name for name, look in looks.items() if look.learned == SUNK]
        if not sunk or known < LEAST_DIFFERENCE:
            return None
        off, name = min((_unlike(seen, looks[name].rim_bgr, _RAISED), name) for name in sunk)
        # There are two sets: what is clearly a disc, and of none that is known well, is of the other.
        other = len(looks) >= 2 and edge.coverage >= THIRD_COVERAGE and known > THIRD_DIFFERENCE
        return colour_of(name) if off < LEAST_DIFFERENCE or other else None

    def _on_surface(self, at: Xy) -> bool:
        """Whether a disc seen there lies on the surface, in its light."""
        if math.dist(at, self._hole_xy_mm) <= self._radius:
            return False
        # In the ditch the rail's shadow halves the colours of a set.
        return math.hypot(*at) <= self._view.board.surface_radius_mm

    def _may_be_third(self, edge: Edge, light: float) -> bool:
        if len(self._wardrobe.looks) != 2 or edge.coverage < THIRD_COVERAGE or not self.complete:
            return False
        if math.dist((edge.x_mm, edge.y_mm), self._hole_xy_mm) < 2 * self._radius:
            return False
        if not self._on_surface((edge.x_mm, edge.y_mm)):
            return False
        seen = np.array(edge.inside_bgr) / light
        return all(_unlike(seen, look.rim_bgr) > THIRD_DIFFERENCE for look in self._wardrobe.looks.values())

    def _name(self, look: Look, white: float) -> Colour:
        """Give a new set its name: the lighter one is ``light``, which may rename what was seen before."""
        looks = self._wardrobe.looks
        luma = _luma(look)
        if not looks:
            colour: Colour = "dark" if luma < _DARK * white else "light"
        elif len(looks) == 1:
            ((name, first),) = looks.items()
            colour = "light" if luma > _luma(first) else "dark"
            if name == colour:
                looks["dark" if colour == "light" else "light"] = looks.pop(name)
                self.renamed = True
        else:
            colour = "third"
        looks[colour] = look
        return colour


def _unlike(
    seen: Floats, known: Floats, light: tuple[float, float] = (math.exp(-UNKNOWN_LIGHT), math.exp(UNKNOWN_LIGHT))
) -> float:
    """How far a colour is from a known one in any light that may be there, from so little to so much."""
    lit = float(seen @ known) / max(1.0, float(known @ known))
    return float(np.linalg.norm(seen - min(max(lit, light[0]), light[1]) * known))


def colour_of(name: str) -> Colour:
    """The set that a look of this name belongs to."""
    return "light" if name == "light" else "dark" if name == "dark" else "third"


def _off(one: Look, other: Look) -> float:
    """How far apart the colours of two sets are, grey levels."""
    return float(np.linalg.norm(one.rim_bgr - other.rim_bgr))


def _luma(look: Look) -> float:
    return float(look.rim_bgr @ np.array([0.114, 0.587, 0.299]))
