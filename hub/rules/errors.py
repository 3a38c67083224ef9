"""The one error of the rules: what cannot be, as a code for programs and a sentence for people."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RulesError(ValueError):
    """Something that cannot be in crokinole or that names no rule.

    Attributes:
        code: machine code, e.g. ``too_many_discs``; stable, for translation and for case files.
        sentence: one English sentence: what was read, what was expected, where.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def nearest(name: str, known: Iterable[str]) -> str:
    """``", did you mean 'classic'?"`` for a mistyped name, or the list of what there is."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f", did you mean {close[0]!r}?" if close else f"; there are {', '.join(names)}"
