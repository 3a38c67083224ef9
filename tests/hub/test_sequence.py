"""Facts come in order or not at all, whatever the network does."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.link.messages import Envelope
from hub.sequence import Lost, Sequencer


def envelope(seq: int, first: int = 1, boot: str = "boot-1") -> Envelope:
    return Envelope("b1", "beam", "machine", boot, first, seq, 0, 0, 0, True, "hand", msgspec.Raw(b"{}"))


@pytest.mark.parametrize(
    ("known", "offered", "taken", "lost"),
    [
        (0, [(1, 1), (2, 1), (3, 1)], [1, 2, 3], []),
        (0, [(1, 1), (1, 1), (2, 1), (1, 1)], [1, 2], []),
        (0, [(3, 1), (2, 1), (1, 1)], [1, 2, 3], []),
        (5, [(4, 4), (5, 4), (6, 4)], [6], []),
        (5, [(9, 9), (10, 9)], [9, 10], [Lost(6, 8, 3)]),
        (0, [(3, 1), (6, 6)], [3, 6], [Lost(1, 5, 4)]),
        (0, [(2, 2), (1, 1)], [2], [Lost(1, 1, 1)]),
        (0, [(1, 1), (10**15, 10**15)], [1, 10**15], [Lost(2, 10**15 - 1, 10**15 - 2)]),
        (0, [(3, 1), (5, 1), (6, 1), (7, 7)], [3, 5, 6, 7], [Lost(1, 4, 3)]),
        (0, [(2, 1), (1, 1), (9, 3)], [1, 2], []),
    ],
)
def test_what_is_taken_in_and_what_is_lost(
    known: int, offered: list[tuple[int, int]], taken: list[int], lost: list[Lost]
) -> None:
    sequencer = Sequencer(lambda *_: known)
    ready: list[int] = []
    gone: list[Lost] = []
    for seq, first in offered:
        missing, now = sequencer.offer(envelope(seq, first))
        ready += [e.seq for e in now]
        gone += [missing] if missing is not None else []
    assert ready == taken
    assert gone == lost


@given(st.permutations(range(1, 30)), st.lists(st.integers(1, 29), max_size=30))
def test_any_order_with_any_repetition_comes_out_once_and_in_order(order: list[int], again: list[int]) -> None:
    sequencer = Sequencer(lambda *_: 0)
    ready: list[int] = []
    for seq in [*order, *again]:
        _, now = sequencer.offer(envelope(seq))
        ready += [e.seq for e in now]
    assert ready == list(range(1, 30))
    assert sequencer.last("b1", "beam", "boot-1") == 29


@given(st.lists(st.integers(1, 40), unique=True), st.integers(1, 41))
def test_what_came_and_what_is_lost_make_up_everything_before_the_first(came: list[int], first: int) -> None:
    sequencer = Sequencer(lambda *_: 0)
    taken = [e.seq for seq in came for e in sequencer.offer(envelope(seq))[1]]
    lost, ready = sequencer.offer(envelope(max([*came, first]), first))
    taken += [e.seq for e in ready]
    assert taken == sorted(set(taken))
    gone = set(range(1, first)) - set(taken)
    assert lost == (Lost(min(gone), max(gone), len(gone)) if gone else None)


def test_each_boot_counts_by_itself() -> None:
    sequencer = Sequencer(lambda board, source, boot: 7 if boot == "old" else 0)
    assert [e.seq for e in sequencer.offer(envelope(8, 8, "old"))[1]] == [8]
    assert [e.seq for e in sequencer.offer(envelope(1, 1, "new"))[1]] == [1]


def test_what_waits_is_bounded() -> None:
    sequencer = Sequencer(lambda *_: 0)
    for seq in range(2, 5000):
        sequencer.offer(envelope(seq))
    _, ready = sequencer.offer(envelope(1))
    assert len(ready) <= 513
    assert [e.seq for e in ready] == list(range(1, len(ready) + 1))
