"""One round as frozen values: its shots and what was made of them, what is open, and what people ruled."""

from __future__ import annotations

from typing import Literal

import msgspec

from hub.link.messages import LayoutDisc, Place
from hub.link.snapshot import Choice, Level, Side

Rest = Place | Literal["hole", "ditch"]
Events = tuple[tuple[str, ...], ...]


class Question(msgspec.Struct, frozen=True, gc=False):
    """An open question, and what it is about.

    Attributes:
        id: stable, made from what it is about, so that a replay gives the same.
        kind: ``twenty``, ``valid``, ``line`` or ``round``.
        text: one sentence.
        choices: keys and texts.
        discs: ids of the discs concerned.
        picture: base64 JPEG or empty.
        facts: machine-readable particulars.
        shot: number of the shot it is about, 0 for none.
        disc: id of the disc it is about, empty for none.
        stake: whether a twenty hangs on it, so that what lies on the board cannot answer it.
    """

    id: str
    kind: Literal["twenty", "valid", "line", "round"]
    text: str
    choices: tuple[Choice, ...]
    discs: tuple[str, ...] = ()
    picture: str = ""
    facts: dict[str, str | float | int] = {}
    shot: int = 0
    disc: str = ""
    stake: bool = False


class Removal(msgspec.Struct, frozen=True, gc=False):
    """A disc that people must take off (``foul``, ``out``) or lift out of the hole (``twenty``)."""

    disc: LayoutDisc
    why: Literal["foul", "twenty", "out"]


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A beam candidate: perhaps a twenty.

    Attributes:
        key: boot and episode.
        machine_boot: the times compare only within it.
        start_ns: first blocked edge.
        side: who had the turn when it came.
        shots: shots of the round taken when it came.
        waiting: whether it is shown as a provisional twenty.
        end_ns: when the beam was clear again, 0 while that is not known.
    """

    key: str
    machine_boot: str
    start_ns: int
    side: Side | None = None
    shots: int = 0
    waiting: bool = False
    end_ns: int = 0


class ShotRecord(msgspec.Struct, frozen=True, gc=False):
    """One shot of a round and what was made of it.

    Attributes:
        number: from 1 within the round.
        side: owner of the shot disc.
        seat: from which it was shot.
        disc: id of the shot disc.
        machine_boot: the times below compare only within it.
        start_ns: the flick.
        end_ns: everything at rest.
        placed: where it stood, None if not seen.
        readings: the lists of events the evidence allows, the likeliest first.
        rest: where each disc that moved came to rest.
        before: the discs in play before it.
        absent: discs that were to be taken off and were taken to be gone when it was judged.
        settled: whether the layout after it has been seen.
        seen_ns: when that layout was taken, 0 while none is known.
        waits: it is in doubt, but what hands do next may tell, so that nobody is asked yet.
        deaf: whether the beam could not have noticed a disc in the hole then, by a fault.
        reading: which of the readings holds; None while that is in doubt.
        ruled: what people ruled, None if nobody did.
        reason: the referee's, if the ruling is the referee's; it then stands over everybody else's.
        owner_ruled: the side people gave its twenty to, ``none`` for no twenty, empty if nobody said.
        flat: of discs at the hole: whether each lies flat in it, where something decided that after the shot.
        vague: whether the camera may have missed a disc that left through the hole.
        lifted: of its discs that a hand lifted out of the hole: how many shots were taken then.
        beam: boot and episode of the beam's candidate during it, empty for none.
        unseen: it was inferred from the layout, nobody saw it.
        out_of_turn: another side's shot was expected.
        valid: the verdict, None where people must decide.
        code: the verdict in one word.
        open: whether it was an open shot.
        holed: discs flat in the hole after it, with their owners.
        twenties: by side, as counted.
        take_off: discs that a foul or the outer line takes and that lay on the board or in the hole.
        foul_set: the discs that go if it is a foul, also while that is in doubt.
        disputed: discs that go in some readings only, while all agree on the verdict and the twenties; what hands take
            off goes.
        level: the match's when it was shot, by which it is judged also later; None for the match's now.
    """

    number: int
    side: Side
    seat: int
    disc: str
    machine_boot: str = ""
    start_ns: int = 0
    end_ns: int = 0
    placed: Place | None = None
    readings: tuple[Events, ...] = ((),)
    rest: dict[str, Rest] = {}
    before: tuple[LayoutDisc, ...] = ()
    absent: tuple[str, ...] = ()
    vague: bool = False
    settled: bool = False
    seen_ns: int = 0
    waits: bool = False
    deaf: bool = False
    reading: int | None = 0
    ruled: bool | None = None
    reason: str = ""
    owner_ruled: str = ""
    flat: dict[str, bool] = {}
    lifted: dict[str, int] = {}
    beam: str = ""
    unseen: bool = False
    out_of_turn: bool = False
    valid: bool | None = True
    code: str = ""
    open: bool = False
    holed: dict[str, Side] = {}
    twenties: dict[Side, int] = {}
    take_off: tuple[str, ...] = ()
    foul_set: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    level: Level | None = None


class Ruling(msgspec.Struct, frozen=True, gc=False):
    """The value that people or play gave a disc; it holds while the disc stays where it is.

    ``reason`` is the referee's, if the value is the referee's; nobody else changes it then. ``shots`` is how many were
    taken in the round by then.
    """

    value: int
    x_mm: float
    y_mm: float
    reason: str = ""
    shots: int = 0


class TimedOut(msgspec.Struct, frozen=True, gc=False):
    """The clock ran out: how many shots of the round were taken then, and the side that takes one more, if any."""

    shots: int
    side: Side | None = None


class Round(msgspec.Struct, frozen=True, gc=False):
    """A round, running or finished.

    Attributes:
        number: from 1 within the game.
        game: from 1 within the match.
        shots: what was shot; of a finished round only the shots that are still in doubt.
        banked: twenties of the shots that are no longer listed.
        extra: twenties that people told of, without a shot.
        record: the discs that count, as they lay before any hand began to clear.
        rulings: values of discs given by people or by play.
        removals: discs to be taken off now.
        lying: discs that were judged as in the hole and are not yet seen to be gone; they count no second time.
        old: discs that lay on the board when the round began and do not belong to it.
        questions: open questions.
        asked: how many were asked.
        done: whether all discs are shot or the round was ended by people.
        machine_boot: the time below compares only within it; empty if no sensor's fact ended the round before.
        begun_ns: when the round before was over: what the beam noticed earlier is none of this round's.
        swept: whether the board was cleared with discs unshot.
        confirmed: whether it is counted.
        totals: what people say it came to, instead of the record.
        reason: the referee's, if the totals are the referee's; nobody else changes them then.
        time_out: when the clock ran out, None while it did not.
        conceded: the side that gave the round up.
        only: the sides that play it, where not all do: a deciding round between two of three.
        light: the side that played the light discs in it, None for the match's.
    """

    number: int
    game: int = 1
    shots: tuple[ShotRecord, ...] = ()
    banked: dict[Side, int] = {}
    extra: dict[Side, int] = {}
    record: tuple[LayoutDisc, ...] = ()
    rulings: dict[str, Ruling] = {}
    removals: tuple[Removal, ...] = ()
    lying: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    asked: int = 0
    done: bool = False
    machine_boot: str = ""
    begun_ns: int = 0
    swept: bool = False
    confirmed: bool = False
    totals: dict[Side, int] = {}
    reason: str = ""
    time_out: TimedOut | None = None
    conceded: Side | None = None
    only: tuple[Side, ...] = ()
    light: Side | None = None
