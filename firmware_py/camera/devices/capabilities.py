"""What a camera can judge, from how fast and how fine it sees: the daemon claims no more than that.

The figures are calculated, not measured on a board: a flicked disc moves at up to 4.5 m/s when it leaves the line and
at 0.5 to 2 m/s when it meets another; see ``docs/cameras.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Capability = str
LAYOUT, HANDS, SHOTS, CONTACTS = "layout", "hands", "shots", "contacts"

#: A disc must be about 17 pixels wide to be placed to the millimetre.
LEAST_PX_PER_MM = 0.5
#: So that a disc is seen at least three times between the line and the pegs, 0.2 m at 1 m/s.
SHOTS_HZ = 14.0
#: So that a disc moves by less than two of its own widths between frames, and its way tells what it met.
CONTACTS_HZ = 24.0
#: In which a disc at 2 m/s smears by less than its own radius.
CONTACTS_EXPOSURE_NS = 8_000_000
_WINDOW_NS = 4_000_000_000
#: A rate must be under the limit by this part before a claim is taken back, so that it does not come and go.
_SLACK = 0.9


def capabilities(rate_hz: float, exposure_ns: int, px_per_mm: float) -> tuple[Capability, ...]:
    """What can be judged.

    Args:
        rate_hz: frames read in a second.
        exposure_ns: how long the shutter is open, 0 where unknown.
        px_per_mm: scale of the picture at the centre of the board.
    """
    claims = [HANDS]
    if px_per_mm >= LEAST_PX_PER_MM:
        claims.insert(0, LAYOUT)
        if rate_hz >= SHOTS_HZ:
            claims.append(SHOTS)
            if rate_hz >= CONTACTS_HZ and exposure_ns <= CONTACTS_EXPOSURE_NS:
                claims.append(CONTACTS)
    return tuple(claims)


@dataclass(slots=True)
class Claims:
    """Follows what the camera in use can judge; frames on their own clock, so that lock-step changes nothing."""

    now: tuple[Capability, ...] = (LAYOUT, HANDS, SHOTS, CONTACTS)
    _since_ns: int | None = field(default=None, repr=False)
    _frames: int = field(default=0, repr=False)

    def see(self, at_ns: int, exposure_ns: int, px_per_mm: float | None) -> tuple[Capability, ...]:
        """A frame was read; ``px_per_mm`` is None until the board was found."""
        if self._since_ns is None or at_ns < self._since_ns:
            self._since_ns, self._frames = at_ns, 0
            return self.now
        self._frames += 1
        past_ns = at_ns - self._since_ns
        if past_ns < _WINDOW_NS or px_per_mm is None:
            return self.now
        rate = self._frames * 1e9 / past_ns
        able = capabilities(rate, exposure_ns, px_per_mm)
        if set(able) >= set(self.now) or set(capabilities(rate / _SLACK, exposure_ns, px_per_mm)) < set(self.now):
            self.now = able
        self._since_ns, self._frames = at_ns, 0
        return self.now
