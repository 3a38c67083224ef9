"""What was seen since the last rest, frame by frame: who moves where, who is covered, how far in a hand reached."""

from __future__ import annotations

import math
from dataclasses import replace

from firmware_py.camera.motion.follow import Follower, FrameSeen
from firmware_py.camera.motion.naming import Watched
from firmware_py.camera.motion.tracker import Sighting, Track, depart, follow, mend, standing
from firmware_py.camera.rest.resting import Resting

#: What is seen moved by more from frame to frame goes on; less may be an error of the sightings.
_GOES_ON_MM = 1.5


class Motion:
    """What was seen since the last rest.

    Args:
        follower: reads the frames.
        resting: what lay at rest, by id.
        since_ns: when the motion began.
    """

    def __init__(self, follower: Follower, resting: dict[str, Resting], since_ns: int) -> None:
        self.follower = follower
        self.tracks: tuple[Track, ...] = ()
        self.last: FrameSeen | None = None
        self._resting = resting
        self._since_ns = since_ns
        self._rested: dict[str, int] = {}
        self._on_line: list[Sighting] = []
        self._covered: set[str] = set()
        self._hand_inner_mm = math.inf
        self._blind_ns = 0
        self._shaken = False

    @property
    def goes_on(self) -> bool:
        """Whether the last frame shows a disc on the surface that moves."""
        if self.last is None:
            return False
        at_ns, edge_mm = self.last.at_ns, self.follower.edge_mm
        lately = [t.points[-2:] for t in self.tracks if len(t.points) >= 2 and t.last_ns == at_ns]
        moves = any(math.dist(a.xy_mm, b.xy_mm) > _GOES_ON_MM and b.r_mm < edge_mm for a, b in lately)
        return moves or bool(self.last.departed)

    def shaken(self) -> None:
        """Camera or board were bumped: what seemed to move may have been the picture, and a hand its edge."""
        self._shaken = True
        self.last = None

    def take(self, seen: FrameSeen) -> None:
        """Take in what a frame shows."""
        before_ns = self.last.at_ns if self.last is not None else seen.at_ns
        for name in seen.departed:
            disc = self._resting[name]
            origin = (disc.x_mm, disc.y_mm)
            self.tracks = depart(self.tracks, name, disc.colour, origin, self._rested.get(name, before_ns))
        for disc in self.follower.resting:
            if disc.id not in seen.covered:
                self._rested[disc.id] = seen.at_ns
        poised = () if any(t.origin is None for t in self.tracks) else self._poised()
        follower = self.follower
        self.tracks = follow(
            self.tracks, seen.sightings, seen.at_ns, follower.apart_mm, poised=poised, edge_mm=follower.edge_mm
        )
        self._on_line += seen.on_line
        self._covered |= set(seen.covered)
        if seen.hand:
            self._hand_inner_mm = min(self._hand_inner_mm, seen.hand_inner_mm)
        if self.last is not None:
            self._blind_ns = max(self._blind_ns, seen.at_ns - self.last.at_ns)
        self.last = seen

    def _poised(self) -> tuple[Sighting, ...]:
        """What stood on the line under the hand when it was seen there last."""
        places = [(d.x_mm, d.y_mm) for d in self._resting.values()]
        return standing(self._on_line, places, self.follower.apart_mm)

    def watched(self, until_ns: int, *, nothing: bool = False) -> Watched:
        """The same for the judgement of what happened; with ``nothing`` all lies as it lay."""
        if nothing and self._shaken:
            return Watched(self._since_ns, until_ns, (), (), math.inf, frozenset(), 0)
        # A hand that ended the rest may look like a disc where it comes.
        until = [replace(t, points=tuple(p for p in t.points if p.at_ns <= until_ns)) for t in self.tracks]
        return Watched(
            since_ns=self._since_ns,
            until_ns=until_ns,
            tracks=mend([t for t in until if t.points or t.origin is not None]),
            on_line=tuple(self._on_line),
            hand_inner_mm=self._hand_inner_mm,
            covered=frozenset(self._covered),
            blind_ns=self._blind_ns,
        )
