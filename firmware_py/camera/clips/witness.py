"""Remembers what the camera saw last, and has it ready when the hub asks for it.

Owned by the camera's loop. Frames go into a ring; the last shot's are kept beyond it, because a dispute begins some
time after the shot. The last rests are kept in full sharpness, from before any hand.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import cv2

from firmware_py.camera.clips.pictures import ClipView, Drawn, Still, draw
from firmware_py.camera.clips.ring import Kept, Ring, thinned
from firmware_py.camera.clips.upload import HttpPost, Parcel, Uploader
from firmware_py.camera.live import LiveReader
from firmware_py.camera.motion.told import Rest
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.view import BoardView
from firmware_py.camera.source import Frame
from hub.link.config import Config, read_secret
from hub.link.messages import Fact, Hand, Shot
from hub.link.pictures import MAX_FRAMES, Evidence, FrameAt, Wanted, pack

log = logging.getLogger(__name__)

BEFORE_NS, AFTER_NS = 3_000_000_000, 2_000_000_000
#: So often a frame is kept while something moves, and while nothing does.
_MOVING_NS, _RESTING_NS = 30_000_000, 500_000_000
_STILLS = 4
_WANTED = 4
_CLIP_BYTES = 5 * 1024 * 1024
_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class _LastShot:
    """The rest that a shot led to stays known however often hands take discs off afterwards."""

    end_ns: int
    still: Still | None
    frames: tuple[Kept, ...] = ()


class Witness:
    """What was seen, and what of it is wanted.

    Args:
        uploader: takes what is to be sent; it is not waited for.
    """

    def __init__(self, uploader: Uploader) -> None:
        self._uploader = uploader
        self._ring = Ring()
        self._view: BoardView | None = None
        self._clip: ClipView | None = None
        self._rest: Rest | None = None
        self._stills: deque[Still] = deque(maxlen=_STILLS)
        self._last_shot = _LastShot(0, None)
        self._wanted: deque[Wanted] = deque(maxlen=_WANTED)
        self._kept_ns: int | None = None
        self._now_ns = 0
        self._troubled = False

    @property
    def bytes(self) -> int:
        """What all kept pictures take."""
        ring = {id(frame) for frame in self._ring.between(-(2**63), 2**63)}
        shot = sum(len(frame.jpeg) for frame in self._last_shot.frames if id(frame) not in ring)
        stills = {id(still): still for still in (*self._stills, self._last_shot.still) if still is not None}
        return self._ring.bytes + shot + sum(len(still.picture) for still in stills.values())

    def take(self, frame: Frame, reader: LiveReader, facts: Sequence[Fact]) -> None:
        """Take in a frame that was read, and the facts that it led to."""
        self._now_ns = frame.at_ns
        if reader.view is None:
            return
        try:
            self._take(frame, reader, reader.view, facts)
        except cv2.error as error:  # a picture the less must not cost the board its score
            if not self._troubled:
                log.warning("a picture could not be kept, and further ones without a word: %s", error)
            self._troubled = True

    def _take(self, frame: Frame, reader: LiveReader, view: BoardView, facts: Sequence[Fact]) -> None:
        if view is not self._view:
            self._begin(view)
        self._keep(frame, moving=not reader.at_rest)
        if reader.rest is not self._rest:
            self._rest = reader.rest
            hand = any(isinstance(fact, Hand) and fact.present for fact in facts)
            self._keep_still(view, frame.pixels, hand=hand)
        for fact in facts:
            if isinstance(fact, Shot):
                self._last_shot = _LastShot(fact.end_ns, self._stills[-1] if self._stills else None)
        last = self._last_shot
        if last.still is not None and not last.frames and frame.at_ns >= last.end_ns + AFTER_NS:
            self._last_shot = replace(last, frames=self._around(last.end_ns))
        self._serve()

    def want(self, wanted: Wanted) -> None:
        """The hub wants what was seen; it is sent when all of it has been seen."""
        at_ns = min(wanted.at_ns, self._now_ns) if wanted.at_ns else self._now_ns
        self._wanted.append(Wanted(wanted.case, wanted.text, at_ns, wanted.discs))

    def close(self) -> None:
        """Stop sending."""
        self._uploader.close()

    def _begin(self, view: BoardView) -> None:
        """The board was found, or found anew: older pictures are of another view."""
        self._view, self._clip = view, ClipView(view)
        self._ring.clear()
        self._stills.clear()
        self._last_shot, self._rest, self._kept_ns = _LastShot(0, None), None, None

    def _keep(self, frame: Frame, *, moving: bool) -> None:
        wait_ns = _MOVING_NS if moving else _RESTING_NS
        if self._clip is None or (self._kept_ns is not None and 0 <= frame.at_ns - self._kept_ns < wait_ns):
            return
        self._kept_ns = frame.at_ns
        self._ring.add(frame.at_ns, self._clip.frame(frame.pixels))

    def _keep_still(self, view: BoardView, pixels: Image, *, hand: bool) -> None:
        if self._rest is None:
            return
        if hand:
            self._stills.append(Still.of_straight(self._rest.still, self._now_ns))
        else:
            self._stills.append(Still.of_frame(view, pixels, self._now_ns))

    def _around(self, at_ns: int) -> tuple[Kept, ...]:
        """The clip of a moment: from the ring, or the last shot's if that is what it is about."""
        frames = self._ring.between(at_ns - BEFORE_NS, at_ns + AFTER_NS)
        if abs(self._last_shot.end_ns - at_ns) < AFTER_NS and len(self._last_shot.frames) > len(frames):
            return self._last_shot.frames
        return frames

    def _serve(self) -> None:
        for wanted in [wanted for wanted in self._wanted if self._now_ns >= wanted.at_ns + AFTER_NS]:
            self._wanted.remove(wanted)
            view, still, frames = self._view, self._still_of(wanted.at_ns), self._around(wanted.at_ns)
            if view is not None:
                self._uploader.put(Parcel(wanted.case, partial(_packed, view, wanted, still, frames)))

    def _still_of(self, at_ns: int) -> Still | None:
        """The rest that a moment led to: the first that was read after it, else the last before."""
        if self._last_shot.still is not None and abs(self._last_shot.end_ns - at_ns) < _MS:
            return self._last_shot.still
        after = [still for still in self._stills if still.at_ns >= at_ns]
        return after[0] if after else (self._stills[-1] if self._stills else None)


def open_witness(config: Config) -> Witness | None:
    """A witness that sends to the pages that the configuration names; None where it names none.

    Raises:
        ConfigError: the board's token cannot be read.
    """
    if not config.board.pages:
        return None
    token = read_secret(Path(config.board.token_file))
    uploader = Uploader(HttpPost(config.board.pages, config.board.id, token))
    uploader.start()
    return Witness(uploader)


def _packed(view: BoardView, wanted: Wanted, still: Still | None, frames: tuple[Kept, ...]) -> bytes:
    """The body of an upload; made on the uploader's thread."""
    drawn = Drawn(b"", b"") if still is None else draw(view, still, wanted.discs)
    some = thinned(frames, max_bytes=_CLIP_BYTES, max_frames=MAX_FRAMES)
    evidence = Evidence(
        case=wanted.case,
        text=wanted.text,
        drawn=len(drawn.drawn),
        plain=len(drawn.plain),
        frames=tuple(FrameAt(round((f.at_ns - wanted.at_ns) / _MS, 1), len(f.jpeg)) for f in some),
        margin_mm=None if drawn.margin_mm is None else round(drawn.margin_mm, 2),
        sigma_mm=drawn.sigma_mm,
    )
    return pack(evidence, (drawn.drawn, drawn.plain, *(frame.jpeg for frame in some)))
