"""When a recording's frames were really taken: frames shown twice, cuts, and the jitter that repeats leave behind.

Converting 24 or 30 pictures a second to 25 repeats some and drops others. A repeat makes discs stand still for a frame
and then jump, which looks like two blows. Numbers only, no video.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

#: A repeated frame differs by less than this part of what its neighbours differ by.
_REPEAT = 0.3
#: A frame that differs over more than this share of the picture begins another scene.
_CUT_SHARE = 0.4
#: A frame may have been taken up to one step before it is shown, in such parts of the step.
_LAGS = (0.0, 0.25, 0.5, 0.75, 1.0)
_CAP = 1.0
_NEW_LAG, _ANY_LAG = 0.02, 0.003

Xy = tuple[float, float]


def repeats(steps: Sequence[float]) -> tuple[bool, ...]:
    """Which frames only repeat the one before.

    Args:
        steps: by how much each frame differs at most from the one before, grey levels; the first is ignored.
    """
    found = [False] * len(steps)
    before = 0.0
    for k in range(1, len(steps)):
        after = steps[k + 1] if k + 1 < len(steps) else before
        if steps[k] == 0 or steps[k] < _REPEAT * min(before, after):
            found[k] = True
        else:
            before = steps[k]
    return tuple(found)


def scenes(shares: Sequence[float]) -> tuple[tuple[int, int], ...]:
    """First and end index of each stretch without a cut.

    Args:
        shares: share of the picture that changed from the frame before; the first is ignored.
    """
    cuts = [k for k in range(1, len(shares)) if shares[k] > _CUT_SHARE and shares[k] > 4 * shares[k - 1]]
    return tuple(pairwise([0, *cuts, len(shares)]))


def retime(shown_ns: Sequence[int], paths: Sequence[Mapping[int, Xy]]) -> tuple[int, ...]:
    """When frames were taken, from how evenly what moves moves.

    A recording that repeats frames shows the next ones late by up to a step, until it drops one. What slides freely
    keeps its speed nearly, so the times that make all speeds even are the likeliest. A blow changes the speed at any
    times alike and is not explained away.

    Args:
        shown_ns: when each frame that is no repeat is shown; growing.
        paths: places of each moving disc by the index into ``shown_ns``.

    Returns:
        As many times, growing, each at most one step before it is shown.
    """
    n = len(shown_ns)
    if n < 3 or not paths:
        return tuple(shown_ns)
    gaps = sorted(b - a for a, b in pairwise(shown_ns))
    step = float(gaps[len(gaps) // 2])
    lags = range(len(_LAGS))

    def taken(k: int, lag: int) -> float:
        return shown_ns[k] - _LAGS[lag] * step

    # Viterbi over the lags of neighbouring frames.
    cost = {(i, j): _ANY_LAG * (_LAGS[i] + _LAGS[j]) for i in lags for j in lags}
    back: list[dict[tuple[int, int], int]] = []
    for k in range(2, n):
        triples = [(p[k - 2], p[k - 1], p[k]) for p in paths if k in p and k - 1 in p and k - 2 in p]
        nxt: dict[tuple[int, int], float] = {}
        come: dict[tuple[int, int], int] = {}
        for j in lags:
            for m in lags:
                best, via = math.inf, 0
                for i in lags:
                    a, b, c = taken(k - 2, i), taken(k - 1, j), taken(k, m)
                    if b - a < 0.4 * step or c - b < 0.4 * step:
                        continue
                    price = cost[(i, j)] + sum(_unevenness(t, (b - a) / step, (c - b) / step) for t in triples)
                    price += _ANY_LAG * _LAGS[m] + (_NEW_LAG if m != j else 0.0)
                    if price < best:
                        best, via = price, i
                nxt[(j, m)], come[(j, m)] = best, via
        cost = nxt
        back.append(come)
    state = min(cost, key=lambda s: cost[s])
    if math.isinf(cost[state]):
        return tuple(shown_ns)
    chosen = [state[1], state[0]]
    for come in reversed(back):
        via = come[state]
        state = (via, state[0])
        chosen.append(via)
    chosen.reverse()
    return tuple(round(taken(k, chosen[k])) for k in range(n))


def _unevenness(places: tuple[Xy, Xy, Xy], first: float, second: float) -> float:
    """How much the velocity changes over two intervals, as a part of the faster one; at most :data:`_CAP`."""
    (ax, ay), (bx, by), (cx, cy) = places
    ux, uy = (bx - ax) / first, (by - ay) / first
    vx, vy = (cx - bx) / second, (cy - by) / second
    fast = max(math.hypot(ux, uy), math.hypot(vx, vy))
    # What creeps by less than the sightings err tells nothing of time.
    if fast < 3.0:
        return 0.0
    return min(_CAP, math.hypot(vx - ux, vy - uy) / fast)
