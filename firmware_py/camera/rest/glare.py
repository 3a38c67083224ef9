"""Discs that their set does not explain, though all of their rim is seen: in a lamp's or a window's glare above all.

Glare is light that never was in the wood: it lies on a face like a veil, the same on all colours, as far as the lacquer
is bright. So a face in it is its set's colour in some light, and grey on top. The empty board lies under a veil of its
own, which a disc takes away; taken from both pictures, the veil leaves a disc as it looks elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from firmware_py.camera.picture.edges import Edge
from firmware_py.camera.picture.lab import Floats
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.rest.appearance import Patch, Wardrobe
from firmware_py.camera.rest.fitting import LookFit, fit_look
from firmware_py.camera.rest.teach import LARGEST_BIAS_MM, SEEN, colour_of
from hub.link.messages import Colour

#: So much of the rim is seen, and makes so much of a step: nothing but a disc has that, and the radius of one.
WHOLE_RIM, _LEAST_CONTRAST = 0.85, 14.0
#: A face differs from its set's colour by so many grey levels at most, in so little or so much of the usual light,
#: under a veil of so many grey levels. Channels as bright as this are full and tell no more.
_OFF, _LIGHT, _VEIL, _FULL = 14.0, (0.6, 1.4), 160.0, 250.0
#: The look of the set, with the veil taken away, explains so much of what changed.
_EXPLAINED = 0.4
#: The edge and the look agree on the place to so many mm.
_AGREE_MM = 2.5


def whole_disc(view: BoardView, wardrobe: Wardrobe, edge: Edge | None, patch: Patch) -> tuple[Colour, LookFit] | None:
    """The disc of a known set whose rim an edge is; None if it is not seen whole, or of no set's colour.

    Args:
        view: the camera's view.
        wardrobe: the looks of the sets.
        edge: what is seen there of a rim.
        patch: the pixels there, other discs masked.
    """
    if edge is None or edge.coverage < WHOLE_RIM or abs(edge.radius_bias_mm) > LARGEST_BIAS_MM:
        return None
    if edge.contrast < _LEAST_CONTRAST:
        return None
    best: tuple[Colour, LookFit] | None = None
    seen = np.array(edge.inside_bgr, np.float32) / np.float32(patch.light)
    for name, look in wardrobe.looks.items():
        veil, off = _veil(seen, look.rim_bgr)
        if look.learned < SEEN or off > _OFF:
            continue
        grey = np.float32(veil * patch.light)
        bare = np.maximum(patch.bare - grey, np.float32(0))
        bright = replace(patch, seen=np.maximum(patch.seen - grey, np.float32(0)), bare=bare)
        at = (edge.x_mm, edge.y_mm)
        fit = fit_look(view, look, wardrobe.shade, bright, at, rounds=9, reach_mm=_AGREE_MM)
        if fit is not None and fit.explained > (_EXPLAINED if best is None else best[1].explained):
            best = (colour_of(name), fit)
    return best


def _veil(seen: Floats, known: Floats) -> tuple[float, float]:
    """The grey on top of a set's colour that makes what is seen of it, and by how much it is off still."""
    tells = seen < _FULL
    if int(tells.sum()) < 2:
        return 0.0, float("inf")
    s, k = seen[tells].astype(float), known[tells].astype(float)
    best = (0.0, float("inf"))
    for light in np.linspace(*_LIGHT, 17):
        veil = min(max(float((s - light * k).mean()), 0.0), _VEIL)
        off = float(np.linalg.norm(s - light * k - veil))
        # The usual light is the likelier one.
        off += 6.0 * abs(float(np.log(light)))
        if off < best[1]:
            best = (veil, off)
    return best
