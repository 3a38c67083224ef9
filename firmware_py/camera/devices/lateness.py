"""How late a webcam dates what it shows, measured against the beam: both notice each 20, on the same clock.

A webcam exposes, packs and sends a picture before its driver dates it, and how long that takes no driver says. The beam
is broken in the millisecond in which a disc falls. So each 20 that both noticed is one measure of the difference; the
median of the last ones is taken off the dates of all pictures, and kept for the next start.
"""

from __future__ import annotations

import json
import logging
import math
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Final

from firmware_py.camera.source import Frame
from hub.link.messages import BeamCandidate, BeamWithdrawn, Envelope, Fact, Shot

log = logging.getLogger(__name__)

#: From when a disc is first seen in the hole to when it broke the beam, in the twin: its front breaks it 9 ms earlier.
IN_HOLE_NS: Final = -9_000_000
#: A picture dated earlier than the break by more, or later by more, is of another disc.
EARLIEST_NS, LATEST_NS = -150_000_000, 500_000_000
#: Two discs that fall within so long cannot be told apart by their times.
APART_NS = 1_200_000_000
#: So many twenties are needed, and so many are kept.
LEAST, KEPT = 5, 25
#: The median must be as sure as this, one standard deviation, before it counts; and differ by more to be taken anew.
SURE_NS, WORTH_NS = 10_000_000, 8_000_000

_FILE = "camera-lateness.json"
_CANDIDATES_KEPT = 32
_MAD_SIGMA, _MEDIAN_SIGMA = 1.4826, 1.2533
"""Of a normal spread: standard deviation per median deviation, and the median's own per that of the mean."""


@dataclass(frozen=True, slots=True)
class _Broken:
    boot: str
    episode: int
    start_ns: int


@dataclass(frozen=True, slots=True)
class Measure:
    """What the twenties so far tell.

    Attributes:
        late_ns: by how much pictures are dated late.
        sigma_ns: one standard deviation of that.
        twenties: on which it rests.
    """

    late_ns: int
    sigma_ns: int
    twenties: int


class Lateness:
    """Measures how late one webcam dates its pictures, and puts their dates right.

    Args:
        folder: the board's state folder, where the measured differences are kept.
        camera: path of the device; another camera is measured anew.
        machine_boot: the kernel's boot, within which times of the beam compare with ours.
    """

    def __init__(self, folder: Path, camera: str, machine_boot: str) -> None:
        self._path, self._camera, self._machine_boot = folder / _FILE, camera, machine_boot
        self._broken: tuple[_Broken, ...] = ()
        self._differences_ns = self._kept()
        self.late_ns = 0
        """What is taken off the date of each picture."""
        self.settle()

    def dated(self, frame: Frame) -> Frame:
        """A frame with its date put right."""
        return replace(frame, at_ns=frame.at_ns - self.late_ns) if self.late_ns else frame

    def heard(self, envelope: Envelope, fact: Fact) -> None:
        """The beam of this board has reported something."""
        if envelope.machine_boot != self._machine_boot:
            return
        if isinstance(fact, BeamCandidate):
            broken = _Broken(envelope.boot, fact.episode, fact.start_ns)
            if broken not in self._broken:  # facts may come twice
                self._broken = (*self._broken, broken)[-_CANDIDATES_KEPT:]
        elif isinstance(fact, BeamWithdrawn):
            gone = (envelope.boot, fact.episode)
            self._broken = tuple(b for b in self._broken if (b.boot, b.episode) != gone)

    def saw(self, shot: Shot) -> None:
        """The camera has reported a shot; a disc that fell in it, and none besides, is one measure."""
        fell_ns = [at_ns for at_ns, words in zip(shot.events_ns, shot.events, strict=False) if words[0] == "hole"]
        if len(fell_ns) != 1:
            return
        seen_ns = fell_ns[0] + self.late_ns + IN_HOLE_NS
        near = [b for b in self._broken if abs(seen_ns - b.start_ns) < APART_NS]
        if len(near) != 1 or not EARLIEST_NS <= seen_ns - near[0].start_ns <= LATEST_NS:
            return
        self._differences_ns = (*self._differences_ns, seen_ns - near[0].start_ns)[-KEPT:]
        self._keep()

    @property
    def measure(self) -> Measure | None:
        """The difference as measured, None while too few twenties tell it or they tell it too badly."""
        differences = self._differences_ns
        if len(differences) < LEAST:
            return None
        middle = median(differences)
        spread = _MAD_SIGMA * median(abs(d - middle) for d in differences)
        sigma_ns = round(_MEDIAN_SIGMA * spread / math.sqrt(len(differences)))
        return Measure(round(middle), sigma_ns, len(differences)) if sigma_ns <= SURE_NS else None

    def settle(self) -> None:
        """Date pictures by the newest measure from here on; call while all is at rest, since the dates jump."""
        told = self.measure
        if told is None or abs(told.late_ns - self.late_ns) <= WORTH_NS:
            return
        self.late_ns = told.late_ns
        log.info(
            "%s dates its pictures %.0f ms late by the beam (+-%.0f ms, %d twenties): put right",
            *(self._camera, told.late_ns / 1e6, told.sigma_ns / 1e6, told.twenties),
        )

    def _kept(self) -> tuple[int, ...]:
        try:
            table = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ()
        kept = table.get(self._camera) if isinstance(table, dict) else None
        if not isinstance(kept, list):
            return ()
        return tuple(d for d in kept if isinstance(d, int) and EARLIEST_NS <= d <= LATEST_NS)[-KEPT:]

    def _keep(self) -> None:
        """A full or read-only medium costs only measuring anew."""
        new = self._path.with_suffix(".new")
        try:
            new.write_text(json.dumps({self._camera: self._differences_ns}), encoding="utf-8")
            new.replace(self._path)
        except OSError:
            return
