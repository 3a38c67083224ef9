"""Reading one scene of a recording: like the live reader, but starting with discs lying and with a hand at the rail.

A hand that rests on the rail does not keep it from reading: where it reaches is known, and what it covers is not seen.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np

from firmware_py.camera.motion.follow import Follower, FrameSeen
from firmware_py.camera.motion.naming import Watched
from firmware_py.camera.motion.shots import conclude
from firmware_py.camera.motion.tracker import Sighting, Track, Xy, depart, follow
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.regions import difference, disc_pixels
from firmware_py.camera.place.occupied import Occupied
from firmware_py.camera.recorded.cadence import retime
from firmware_py.camera.rest.appearance import Wardrobe
from firmware_py.camera.rest.reader import LayoutReader
from firmware_py.camera.rest.resting import Reading, Resting
from firmware_py.camera.rest.search import LEAST_COVERAGE
from firmware_py.camera.rest.telling import layout_of, places_of, renamed
from hardware.board import Board
from hub.link.messages import Colour, Layout, Shot

#: Nothing on the surface may move for so long before it counts as still.
STILL_NS = 200_000_000
#: A recording often begins right before a flick: what lies then need not be watched for so long.
FIRST_STILL_NS = 80_000_000
_LEAST_FRAMES = 3
#: What differs from frame to frame by more grey levels, over so many pixels, moves.
_STEP = 9
_LEAST_PIXELS = 10
#: A disc that moves by less from one frame to the next stops before the next one.
_CREEP_MM = 0.8
#: A track that went so far is a disc that moved.
_RAN_MM = 10.0
#: A disc on the line stays there to within so much until it is flicked.
_HELD_MM = 5.0
#: A hand nearer to the middle than this part of the outer line covers too much to read.
_CLEAR = 0.6
#: Sightings so near to the last one show the disc at rest already; in the hole it looks shifted.
_SETTLED_MM = 3.0
#: A disc that was followed to within so much of where it can lie in the hole has dropped into it.
_IN_HOLE_MM = 4.0
#: An outline in the hole is seen against its wall, in shadow: its place is not known better than this.
_SUNK_MM = 0.1


class RecordedReader:
    """Reads the frames of one scene.

    Args:
        start: the board as it was found.
        timing: whether frames are repeated, so that their times must be put right.
    """

    def __init__(self, start: Occupied, *, timing: bool) -> None:
        self.board = start.board
        self._view = start.view
        self._reader = LayoutReader(
            start.view,
            start.bare,
            Wardrobe(),
            hole_xy_mm=start.calibration.hole_xy_mm,
            height_error=min(0.3, max(0.01, start.calibration.height_spread - 1)),
        )
        self._guessed = start.guessed
        self._timing = timing
        self._surface = start.view.visible & (start.view.radius_mm < start.board.surface_radius_mm)
        self._before: Image | None = None
        self._quiet: deque[tuple[int, Image]] = deque(maxlen=6)
        self._rest: tuple[Resting, ...] | None = None
        self._still: Image | None = None
        self._number = 1
        self._motion: _Motion | None = None

    def take(self, frame: Image, at_ns: int) -> list[Layout | Shot]:
        """Take a frame in; returns what it completes."""
        straight = self._view.straight(frame)
        if self._motion is None:
            bare8 = np.clip(np.rint(self._reader.bare), 0, 255).astype(np.uint8)
            hands = self._hands(straight, bare8)
        else:
            self._motion.look(straight, at_ns)
            hands = self._motion.hands
        moving = self._moves(straight, hands)
        self._before = straight
        if moving:
            self._quiet.clear()
        self._quiet.append((at_ns, straight))
        needed_ns = FIRST_STILL_NS if self._motion is None else STILL_NS
        if len(self._quiet) < _LEAST_FRAMES or at_ns - self._quiet[0][0] < needed_ns:
            return []
        return self._settle(at_ns)

    def finish(self) -> list[Layout | Shot]:
        """The recording is at its end: read what lies, if it may be at rest."""
        if self._motion is None or len(self._quiet) < 2 or not self._motion.pending:
            return []
        return self._read(self._quiet[-1][0])

    def _moves(self, straight: Image, hands: Image) -> bool:
        if self._before is None:
            return True
        moved = (difference(straight, self._before) > _STEP) & self._surface & (hands == 0)
        # Codecs refresh a face now and then; where a disc is followed, its place tells whether it moves.
        for x, y in self._motion.standing() if self._motion is not None else ():
            part, near = disc_pixels(self._view, x, y, self.board.disc_radius_mm + 3)
            moved[part] &= ~near
        mask = cv2.morphologyEx(moved.astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
        return int(np.count_nonzero(mask)) >= _LEAST_PIXELS

    def _hands(self, straight: Image, layer: Image) -> Image:
        changes = self._reader.differ.changes(straight, layer)
        mask = np.isin(changes.labels, [r.label for r in changes.hand_regions]).astype(np.uint8)
        return np.asarray(cv2.dilate(mask, np.ones((9, 9), np.uint8)), dtype=np.uint8)

    def _settle(self, at_ns: int) -> list[Layout | Shot]:
        if self._motion is None:
            return self._first(at_ns)
        if not self._motion.pending or self._motion.hand_inner_now_mm < _CLEAR * self.board.outer_line_mm:
            return []
        return self._read(at_ns)

    def _mean(self) -> Image:
        mean = np.mean([view for _, view in self._quiet], axis=0, dtype=np.float32)
        return np.rint(mean).astype(np.uint8)

    def _first(self, at_ns: int) -> list[Layout | Shot]:
        straight = self._mean()
        reading, _ = self._named(straight, None, ())
        # Somebody holds the disc that touches the outer line, or it would have been taken off.
        held = [d for d in reading.found if d.state == "flat" and self.board.touches_outer(d.r_mm)]
        lying = [d for d in reading.found if d not in held]
        discs = tuple(replace(d, id=f"d{k + 1}") for k, d in enumerate(lying))
        self._number = len(discs) + 1
        self._begin(straight, discs, at_ns)
        return [layout_of(at_ns, discs, ())]

    def _begin(self, straight: Image, discs: tuple[Resting, ...], at_ns: int) -> None:
        """From here on this is what lay at rest."""
        self._rest, self._still = discs, straight
        bare = self._reader.lit_bare(straight)
        layer = self._reader.compose(straight, bare, discs)
        self._motion = _Motion(Follower(self._reader, still=layer, discs=discs), self._reader, layer, discs, at_ns)

    def _read(self, at_ns: int) -> list[Layout | Shot]:
        motion, before = self._motion, self._rest
        if motion is None or before is None:
            return []
        straight, until_ns = self._mean(), self._quiet[0][0]
        reading, before = self._named(straight, self._still, before)
        reading = self._with_sunk(straight, reading, motion)
        done = conclude(self.board, before, reading, motion.watched(until_ns, timing=self._timing), self._number)
        self._number = done.next_number
        facts: list[Layout | Shot] = [] if done.shot is None else [done.shot]
        if done.shot is not None or places_of(done.discs) != places_of(before):
            facts.append(layout_of(at_ns, done.discs, reading.unseen))
        self._uncover(straight, motion, done.discs)
        self._begin(straight, done.discs, at_ns)
        return facts

    def _named(
        self, straight: Image, still: Image | None, before: tuple[Resting, ...]
    ) -> tuple[Reading, tuple[Resting, ...]]:
        """Read the view, and what lay before; once more if a disc that was met showed that the sets were misnamed."""
        teacher = self._reader.teacher
        teacher.renamed = False
        reading = self._reader.read(straight, still, before)
        if teacher.renamed:
            before = tuple(renamed(d) for d in before)
            reading = self._reader.read(straight, still, before)
        return reading, before

    def _with_sunk(self, straight: Image, reading: Reading, motion: _Motion) -> Reading:
        """The reading, with a disc that was followed into the hole.

        Down there the light is another, so that its colour alone may not tell it from the bottom of the hole.
        """
        hole = self._reader.hole_xy_mm
        lying = (*reading.stay, *reading.found)
        if any(math.dist((d.x_mm, d.y_mm), hole) < self.board.hole_radius_mm for d in lying):
            return reading
        colour = motion.ended_at(hole, self.board.hole_play_mm + _IN_HOLE_MM)
        if colour is None:
            return reading
        low = self._view.base_shift(*hole, self._view.rim_mm - self.board.hole_depth_mm)
        start = (hole[0] + low[0], hole[1] + low[1])
        edge = self._reader.teacher.edge(straight, self._reader.lit_bare(straight), start)
        if edge is None or edge.coverage < LEAST_COVERAGE or abs(edge.radius_bias_mm) > 1.5:
            return reading
        top = (edge.x_mm, edge.y_mm)
        x, y = self._view.sink(*top, self.board.hole_depth_mm)
        if math.dist((x, y), hole) > self.board.hole_play_mm + _IN_HOLE_MM:
            return reading
        sunk = Resting("", colour, x, y, math.hypot(edge.sigma_mm, _SUNK_MM), "hole", top)
        return replace(reading, found=(*reading.found, sunk))

    def _uncover(self, straight: Image, motion: _Motion, discs: Sequence[Resting]) -> None:
        """See what the wood is like that was under discs so far."""
        free = self._guessed & (motion.hands == 0)
        for disc in discs:
            part, near = disc_pixels(self._view, *disc.top_xy_mm, self.board.disc_radius_mm + 9)
            free[part] &= ~near
        self._reader.bare[free] = straight[free]
        self._guessed &= ~free
        self._reader.adapt(straight, discs)


class _Motion:
    """What was seen since the last rest."""

    def __init__(
        self, follower: Follower, reader: LayoutReader, layer: Image, discs: Sequence[Resting], since_ns: int
    ) -> None:
        self.hands: Image = np.zeros(layer.shape[:2], np.uint8)
        self.hand_inner_now_mm = math.inf
        self._follower, self._reader, self._layer = follower, reader, layer
        self._resting = {d.id: d for d in discs}
        self._since_ns = since_ns
        self._tracks: tuple[Track, ...] = ()
        self._rested: dict[str, int] = dict.fromkeys(self._resting, since_ns)
        self._on_line: list[Sighting] = []
        self._covered: set[str] = set()
        self._hand_inner_mm = math.inf
        self._times: list[int] = []
        self._departed = False

    @property
    def pending(self) -> bool:
        """Whether a disc moved or was taken."""
        return self._departed or any(_extent(t) > _RAN_MM for t in self._tracks)

    def ended_at(self, place: Xy, within_mm: float) -> Colour | None:
        """The colour of a disc that was followed to a place and no farther."""
        for track in self._tracks:
            ran = len(track.points) >= 2 and _extent(track) > _RAN_MM
            if track.colour is not None and ran and math.dist(track.last_xy, place) < within_mm:
                return track.colour
        return None

    def standing(self) -> list[Xy]:
        """Where discs are that are followed and did not move since the frame before."""
        now_ns = self._times[-1] if self._times else 0
        places = [d.top_xy_mm for d in self._follower.resting]
        for track in self._tracks:
            if len(track.points) >= 2 and track.last_ns == now_ns:
                a, b = track.points[-2], track.points[-1]
                if math.dist(a.xy_mm, b.xy_mm) < _CREEP_MM:
                    places.append(b.xy_mm)
        return places

    def look(self, straight: Image, at_ns: int) -> FrameSeen:
        """Take in what a frame shows."""
        side = straight.shape[0]
        seen = self._follower.look(straight, (0, 0, side, side), at_ns, 0, self._tracks)
        for name in seen.departed:
            disc = self._resting[name]
            self._tracks = depart(self._tracks, name, disc.colour, (disc.x_mm, disc.y_mm), self._rested[name])
            self._departed = True
        for disc in self._follower.resting:
            if disc.id not in seen.covered:
                self._rested[disc.id] = at_ns
        self._tracks = follow(self._tracks, seen.sightings, at_ns)
        self._on_line += seen.on_line
        self._covered |= set(seen.covered)
        self.hand_inner_now_mm = seen.hand_inner_mm
        if seen.hand:
            self._hand_inner_mm = min(self._hand_inner_mm, seen.hand_inner_mm)
        changes = self._reader.differ.changes(straight, self._layer)
        mask = np.isin(changes.labels, [r.label for r in changes.hand_regions]).astype(np.uint8)
        self.hands = np.asarray(cv2.dilate(mask, np.ones((9, 9), np.uint8)), dtype=np.uint8)
        self._times.append(at_ns)
        return seen

    def watched(self, until_ns: int, *, timing: bool) -> Watched:
        """The same for the judgement of what happened."""
        when = self._true_times() if timing else {}
        tracks, on_line = [], list(self._on_line)
        for track in self._tracks:
            points = tuple(replace(p, at_ns=when.get(p.at_ns, p.at_ns)) for p in track.points)
            held = _held(points, self._reader.view.board) if track.origin is None else 0
            on_line += points[:held]
            if len(points) > held or track.origin is not None:
                rested_ns = when.get(track.rested_ns, track.rested_ns)
                tracks.append(replace(track, points=_until_rest(points[held:]), rested_ns=rested_ns))
        gaps = [b - a for a, b in zip(self._times, self._times[1:], strict=False)]
        return Watched(
            since_ns=self._since_ns,
            until_ns=until_ns,
            tracks=tuple(tracks),
            on_line=tuple(sorted(on_line, key=lambda s: s.at_ns)),
            hand_inner_mm=self._hand_inner_mm,
            covered=frozenset(self._covered),
            blind_ns=max(gaps, default=0),
        )

    def _true_times(self) -> Mapping[int, int]:
        index = {at_ns: k for k, at_ns in enumerate(self._times)}
        paths = [{index[p.at_ns]: p.xy_mm for p in t.points} for t in self._tracks if _extent(t) > _RAN_MM]
        return dict(zip(self._times, retime(self._times, paths), strict=True))


def _extent(track: Track) -> float:
    if not track.points:
        return 0.0
    start = track.points[0].xy_mm
    return max(math.dist(start, p.xy_mm) for p in track.points)


def _held(points: Sequence[Sighting], board: Board) -> int:
    """How many sightings at the beginning show a disc that waits on the outer line."""
    if not points or not board.touches_outer(points[0].r_mm):
        return 0
    start = points[0].xy_mm
    return next((k for k, p in enumerate(points) if math.dist(p.xy_mm, start) > _HELD_MM), len(points))


def _until_rest(points: tuple[Sighting, ...]) -> tuple[Sighting, ...]:
    """The sightings up to the first at the place where the disc stayed."""
    last = len(points) - 1
    while last > 0 and math.dist(points[last - 1].xy_mm, points[-1].xy_mm) < _SETTLED_MM:
        last -= 1
    return points[: last + 1]
