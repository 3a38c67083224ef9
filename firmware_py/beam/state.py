"""What the beam's state machine is fed with, and what it remembers; see :mod:`firmware_py.beam.episodes`."""

from __future__ import annotations

from dataclasses import dataclass

from firmware_py.beam.chatter import NO_EDGES, EdgeRate


@dataclass(frozen=True, slots=True)
class Edge:
    """The receiver's pin changed."""

    at_ns: int
    blocked: bool


@dataclass(frozen=True, slots=True)
class Level:
    """The receiver's pin was read; every edge up to then has been handed in."""

    at_ns: int
    blocked: bool


@dataclass(frozen=True, slots=True)
class Emitter:
    """The emitter was switched: a self-test begins (off) or has finished (on)."""

    at_ns: int
    on: bool


Event = Edge | Level | Emitter


@dataclass(frozen=True, slots=True)
class BlockedTime:
    """The blocked time that goes on now.

    Attributes:
        number: unique within a state machine's life.
        start_ns: its first edge.
        gaps: clear times so far that were counted as blocked.
        suspect: it began in a self-test and has not been clear since, so the emitter may be dead.
        warnings: how many of the warnings were given.
    """

    number: int
    start_ns: int
    gaps: int = 0
    suspect: bool = False
    warnings: int = 0


@dataclass(frozen=True, slots=True)
class Episode:
    """What goes on until 300 ms of clear, and in which nothing counts.

    Attributes:
        candidate: the blocked time it began with, if that was a candidate that stands; None for one that may not
            count (blocked at the start, chatter).
        end_ns: when that blocked time ended; None while it goes on.
    """

    candidate: BlockedTime | None
    end_ns: int | None = None


@dataclass(frozen=True, slots=True)
class SelfTest:
    """A self-test under way.

    Attributes:
        off_ns: the emitter went off.
        on_ns: it came on again; None until then.
        answered: the blocked edge came in time.
        missed: it did not, and that was reported.
    """

    off_ns: int
    on_ns: int | None = None
    answered: bool = False
    missed: bool = False


@dataclass(frozen=True, slots=True)
class Beam:
    """The state; made by :func:`start`.

    Attributes:
        now_ns: up to where everything is decided.
        heard_blocked: level of the pin as last heard.
        blocked: scored level.
        clear_ns: since when the scored level is clear (of no meaning while blocked).
        current: the blocked time that goes on, its last gap included.
        episode: the episode that goes on.
        test: the self-test under way.
        rate: how fast edges come.
        chatter: whether that is chatter now.
        recent: number and date of candidates that would fall to chatter if it were found to have begun before them.
        faults: names of the standing faults.
        given: blocked times numbered so far.
    """

    now_ns: int
    heard_blocked: bool
    blocked: bool
    clear_ns: int
    current: BlockedTime | None = None
    episode: Episode | None = None
    test: SelfTest | None = None
    rate: EdgeRate = NO_EDGES
    chatter: bool = False
    recent: tuple[tuple[int, int], ...] = ()
    faults: frozenset[str] = frozenset()
    given: int = 0
