"""What hands and the next look at the board tell of a shot: its layout, a 20 lifted out, a leaner moved, a sweep."""

from __future__ import annotations

from msgspec.structs import replace

from hub.entries import Entry
from hub.judging.hole import at_hole, doubtful, lifted, moved_on, not_lifted, seen_again, where_it_leant, words
from hub.judging.judged import asked, judged, judged_again, playing_of, running_of
from hub.judging.record import places_after
from hub.link.messages import LayoutDisc
from hub.link.snapshot import Side
from hub.state import TableState


def settled(state: TableState, entry: Entry, ids: set[str], seen_ns: int = 0) -> tuple[TableState, bool]:
    """The layout after a shot: judge the shot again if discs that were to be gone were left lying.

    Returns:
        The state, and whether it was the first layout after a shot.
    """
    playing = playing_of(state)
    if not playing.shots or playing.shots[-1].settled:
        return state, False
    shot = playing.shots[-1]
    left_lying = tuple(disc for disc in shot.absent if disc in ids)
    if left_lying:
        layout = {disc.id: disc for disc in state.layout}
        before = (*shot.before, *(layout[disc] for disc in left_lying))
        absent = tuple(disc for disc in shot.absent if disc not in left_lying)
        state = replace(state, message="decided by play: a disc that was to be taken off was left lying")
        state = judged(state, entry, replace(shot, before=before, absent=absent))
        playing = playing_of(state)
    shot = playing.shots[-1]
    settled = seen_again(replace(shot, settled=True, seen_ns=seen_ns), state.layout)
    state = state.with_running(replace(playing, shots=(*playing.shots[:-1], settled)))
    return (judged(state, entry, settled) if doubtful(shot) else state), True


def unseen_after(state: TableState, entry: Entry, shooter: Side | None = None) -> TableState:
    """No layout followed the last shot: it told itself what lies where, and what is in doubt is asked.

    A disc that was to be taken off lies where it was seen last. ``shooter`` is whose shot comes now, None for none.
    """
    match, playing = running_of(state)
    if match is None or playing is None or not playing.shots:
        return state
    last = playing.shots[-1]
    if not last.settled:
        if not last.unseen:
            left = [disc for disc in state.layout if disc.id in last.absent]
            lying = (*places_after(match, playing, last).values(), *left)
            state = replace(state, layout=tuple(disc for disc in lying if disc.state != "ditch"))
        state, _ = settled(state, entry, {disc.id for disc in state.layout if disc.id in last.absent})
    return asked(state, entry, shooter)


def leaned(state: TableState, entry: Entry) -> TableState:
    """The last shot has moved a disc of which an earlier one left in doubt whether it lay in the hole: it leaned."""
    *earlier, last = playing_of(state).shots
    for shot in earlier:
        told = moved_on(shot, last)
        if told is not shot:
            shots = tuple(told if s.number == shot.number else s for s in playing_of(state).shots)
            state = judged_again(state.with_running(replace(playing_of(state), shots=shots)), entry, shot.number)
    return state


def lifted_out(state: TableState, entry: Entry, was: tuple[LayoutDisc, ...], ids: set[str]) -> TableState:
    """A hand has taken a disc out of the hole, and no other that had to stay: it was a 20."""
    playing = playing_of(state)
    going = {removal.disc.id for removal in playing.removals if removal.why != "twenty"}
    gone = [disc for disc in was if disc.id not in {*ids, *going} and disc.state != "ditch"]
    if playing.done or not gone or not all(at_hole(disc) for disc in gone):
        return state
    for shot in playing.shots:
        later = {disc for after in playing.shots[shot.number :] for disc in after.rest}
        told = lifted(shot, [disc for disc in gone if disc.id not in later], len(playing.shots))
        if told is not shot:
            shots = tuple(told if s.number == shot.number else s for s in playing_of(state).shots)
            state = judged_again(state.with_running(replace(playing_of(state), shots=shots)), entry, shot.number)
    return state


def swept_after_all(state: TableState, entry: Entry) -> TableState:
    """What was taken out of the hole since the last shot was no 20 lifted, the board was being swept."""
    match, playing = running_of(state)
    for shot in playing.shots if playing is not None else ():
        told = not_lifted(shot, len(playing_of(state).shots))
        if match is None or told is shot:
            continue
        shots = tuple(told if s.number == shot.number else s for s in playing_of(state).shots)
        state = judged_again(state.with_running(replace(playing_of(state), shots=shots)), entry, shot.number)
        playing = playing_of(state)
        sunk = {disc for disc, flat in words(playing).items() if flat}
        again = playing.shots[shot.number - 1]
        sure = again.holed if again.reading is not None else {}  # a 20 without the hand's word, too
        known = {*(disc.id for disc in playing.record), *sunk, *sure}
        back = [where_it_leant(match, shot, disc) for disc in shot.lifted if disc not in {*told.lifted, *known}]
        state = state.with_running(replace(playing, record=(*playing.record, *back)))
    return state
