"""When edges come too fast to mean anything: a loose cable, a lamp near the carrier's frequency."""

from __future__ import annotations

from dataclasses import dataclass

SECOND_NS = 1_000_000_000
TOO_MANY = 21  # "more than 20 edges a second"
LASTS_NS = 2 * SECOND_NS
QUIET_NS = 5 * SECOND_NS


@dataclass(frozen=True, slots=True)
class EdgeRate:
    """The rate of edges, remembered in no more than the last 21 of them.

    Attributes:
        pending: the newest edges whose own second after them is not known yet to hold more than 20 edges.
        since_ns: first edge of the run in which every second that is over holds more than 20.
        last_ns: the newest edge.
    """

    pending: tuple[int, ...] = ()
    since_ns: int = 0
    last_ns: int = 0

    @property
    def is_chatter(self) -> bool:
        """Whether the run has gone on for more than 2 s."""
        return self.last_ns - self.since_ns > LASTS_NS


NO_EDGES = EdgeRate()


def count_edge(rate: EdgeRate, at_ns: int) -> EdgeRate:
    """The rate after one more edge.

    It is enough to look at the seconds that begin just after an edge: one that begins later, before the next edge,
    holds at least as many. If such a second is over with 20 edges or fewer, no run can hold it, and a run can only
    begin with the edge after.
    """
    pending, since_ns = [*rate.pending, at_ns], rate.since_ns if rate.pending else at_ns
    while len(pending) > 1 and at_ns - pending[0] > SECOND_NS:
        del pending[0]
        since_ns = pending[0]
    if len(pending) > TOO_MANY:
        del pending[0]
    return EdgeRate(tuple(pending), since_ns, at_ns)
