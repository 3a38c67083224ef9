"""Undo, redo and corrections of a game: the events are kept, the state is always their replay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hub.rules.errors import RulesError
from hub.rules.game import GameEvent, GameState, apply, begin
from hub.rules.order import GameSetup


@dataclass(frozen=True, slots=True)
class Conflict:
    """An event of the past that no longer fits after a correction; it is left out until people settle it.

    Attributes:
        at: its place in the list of events, from 0.
        event: the event.
        refusal: why it no longer fits.
    """

    at: int
    event: GameEvent
    refusal: RulesError


@dataclass(frozen=True, slots=True)
class History:
    """A game as the list of what happened in it.

    Attributes:
        setup: what was agreed before the first shot.
        events: what happened, in order.
        undone: events that were taken back, the last one first to be redone.
        state: the game now: the replay of ``events``.
        conflicts: events that no longer fit since a correction.
    """

    setup: GameSetup
    events: tuple[GameEvent, ...]
    undone: tuple[GameEvent, ...]
    state: GameState
    conflicts: tuple[Conflict, ...] = ()


def start(setup: GameSetup) -> History:
    """A game in which nothing has happened."""
    return History(setup, (), (), begin(setup))


def replay(setup: GameSetup, events: Iterable[GameEvent]) -> History:
    """The game of a list of events; those that do not fit are reported as conflicts and change nothing."""
    state = begin(setup)
    kept = tuple(events)
    conflicts: list[Conflict] = []
    for at, event in enumerate(kept):
        step = apply(state, event)
        state = step.state
        if step.refusal is not None:
            conflicts.append(Conflict(at, event, step.refusal))
    return History(setup, kept, (), state, tuple(conflicts))


def record(history: History, event: GameEvent) -> tuple[History, RulesError | None]:
    """Add an event at the end; one that cannot be is refused and leaves the history as it was."""
    step = apply(history.state, event)
    if step.refusal is not None:
        return history, step.refusal
    return replace(history, events=(*history.events, event), undone=(), state=step.state), None


def undo(history: History) -> History:
    """Take the last event back; without one nothing changes."""
    if not history.events:
        return history
    before = replay(history.setup, history.events[:-1])
    return replace(before, undone=(*history.undone, history.events[-1]))


def redo(history: History) -> History:
    """Do the last undone event again; without one nothing changes."""
    if not history.undone:
        return history
    after = replay(history.setup, (*history.events, history.undone[-1]))
    return replace(after, undone=history.undone[:-1])


def correct(history: History, at: int, event: GameEvent | None) -> History:
    """Put another event in the place of a past one, or none, and derive all that follows anew.

    What follows stays; what no longer fits is in ``conflicts``.

    Raises:
        RulesError: ``no_such_event``, nothing happened at that place.
    """
    if not 0 <= at < len(history.events):
        raise RulesError("no_such_event", f"event {at}: expected 0 to {len(history.events) - 1}")
    put = () if event is None else (event,)
    return replay(history.setup, (*history.events[:at], *put, *history.events[at + 1 :]))
