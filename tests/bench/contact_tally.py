"""Contacts of shots as told and as they were: which were missed or invented, by kind and by how hard they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hardware.twin.physics import Event

CONTACTS = ("hit", "peg")
#: Limits of the push, mm/s, by which misses are listed.
PUSHES = (10, 45, 150)
#: What a contact must have given or taken for two straight ways of sightings of 0.4 mm to show it.
SHOWN_MM_S = 10.0

Words = tuple[str, ...]


@dataclass
class ContactTally:
    """Running counts."""

    counts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def take(self, said: Sequence[tuple[int, Words]], true: Sequence[Event]) -> list[str]:
        """Compare one shot; returns what differs.

        Args:
            said: times and events as told, in the world's names.
            true: what happened.
        """
        left = [(at_ns, key(words)) for at_ns, words in said if words[0] in CONTACTS]
        real = [e for e in true if e.words[0] in CONTACTS]
        pairs = Counter(key(e.words) for e in real)
        told_of = {words for _, words in left}
        self.counts["said"] += len(left)
        self.counts["true"] += len(real)
        self.counts["true shown"] += sum(e.push_mm_s >= SHOWN_MM_S for e in real)
        wrong: list[str] = []
        for event in sorted(real, key=lambda e: -e.push_mm_s):
            words = key(event.words)
            same = [s for s in left if s[1] == words]
            if same:
                left.remove(min(same, key=lambda s: abs(s[0] - event.at_ns)))
                self.counts["both"] += 1
                self.counts["both shown"] += event.push_mm_s >= SHOWN_MM_S
                continue
            again = "repeated " if pairs[words] > 1 and words in told_of else ""
            self.kinds[f"missed {again}{words[0]} {_push(event.push_mm_s)}"] += 1
            wrong.append(f"missed {words} push {event.push_mm_s:.0f}")
        for _, words in left:
            again = "repeated " if pairs[words] else ""
            self.kinds[f"invented {again}{words[0]}"] += 1
            wrong.append(f"invented {words}")
        return wrong

    def f1(self) -> tuple[float, float]:
        """F1 of all contacts, and of those that a camera can see at all."""
        c = self.counts
        hidden = c["true"] - c["true shown"]
        found = c["both"] - c["both shown"]
        return (
            2 * c["both"] / max(1, c["said"] + c["true"]),
            2 * c["both shown"] / max(1, c["said"] - found + c["true"] - hidden),
        )


def key(words: Words) -> Words:
    """An event without who hit whom."""
    return (words[0], *sorted(words[1:]))


def _push(push_mm_s: float) -> str:
    for limit in PUSHES:
        if push_mm_s < limit:
            return f"below {limit} mm/s"
    return f"of {PUSHES[-1]} mm/s or more"
