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
#: A claim that was taken back is made again after so long of enough frames without a break: a busy computer is slow by
#: turns, and whoever judges by the camera must know for longer than a shot takes what it tells.
GIVEN_BACK_NS = 30_000_000_000
#: Without a frame for so long the camera was away, which is told as a fault; how fast it reads is counted anew.
_AWAY_NS = 5_000_000_000
#: What hangs on how many frames are read, and how sharp they are.
_BY_FRAMES = frozenset({SHOTS, CONTACTS})


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
    """Follows what the camera in use can judge; frames on their own clock, so that lock-step changes nothing.

    What is no longer reached is taken back within seconds. What hangs on the frames is claimed again after
    :data:`GIVEN_BACK_NS` in which each window had enough of them; the scale shows at once.
    """

    now: tuple[Capability, ...] = (LAYOUT, HANDS, SHOTS, CONTACTS)
    _since_ns: int | None = field(default=None, repr=False)
    _last_ns: int = field(default=0, repr=False)
    _frames: int = field(default=0, repr=False)
    _reached_ns: dict[Capability, int] = field(default_factory=dict, repr=False)

    def see(self, at_ns: int, exposure_ns: int, px_per_mm: float | None) -> tuple[Capability, ...]:
        """A frame was read; ``px_per_mm`` is None until the board was found."""
        last_ns, self._last_ns = self._last_ns, at_ns
        # Looking for the board takes longer than reading it, and tells nothing of how fast that will go.
        if self._since_ns is None or px_per_mm is None or not 0 <= at_ns - last_ns < _AWAY_NS:
            self._since_ns, self._frames = at_ns, 0
            self._reached_ns.clear()
            return self.now
        self._frames += 1
        past_ns = at_ns - self._since_ns
        if past_ns < _WINDOW_NS:
            return self.now
        rate = self._frames * 1e9 / past_ns
        able = capabilities(rate, exposure_ns, px_per_mm)
        nearly = capabilities(rate / _SLACK, exposure_ns, px_per_mm)
        self._reached_ns = {claim: self._reached_ns.get(claim, self._since_ns) for claim in able}
        self.now = tuple(
            claim for claim in nearly if claim in self.now or (claim in able and self._is_lasting(claim, at_ns))
        )
        self._since_ns, self._frames = at_ns, 0
        return self.now

    def _is_lasting(self, claim: Capability, at_ns: int) -> bool:
        """Whether a claim that was taken back has been reached for long enough."""
        return claim not in _BY_FRAMES or at_ns - self._reached_ns[claim] >= GIVEN_BACK_NS
