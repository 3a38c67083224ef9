"""Matches as they were recorded: what each shot was judged from, gathered while a journal is gone through again.

The table forgets the shots of a finished round, since scores need only its totals; the journal has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from hub.judging.verdicts import PLACED_SLACK_DEG, PLACED_SLACK_MM, in_rules_words, reconciled
from hub.link.messages import Place
from hub.round import Round, ShotRecord
from hub.rules import position as rules
from hub.rules.rejudge import RecordedRound, RecordedShot
from hub.rules.ruleset import Ruleset
from hub.rules.shot import placement_fault
from hub.state import GEOMETRY, Match, TableState
from hub.tally import totals_of

ANY_NUMBER = 1000
"""Dealt discs of a side: a misread colour must not make every further shot of a round undecided."""


@dataclass(frozen=True, slots=True)
class RecordedMatch:
    """A match as it was played.

    Attributes:
        match: how it stands at the end of the journal.
        rounds: its counted rounds with their shots, of all games in order.
    """

    match: Match
    rounds: tuple[Round, ...]

    def games(self) -> dict[int, tuple[Round, ...]]:
        """The rounds by game."""
        return {game: tuple(r for r in self.rounds if r.game == game) for game in sorted({r.game for r in self.rounds})}


@dataclass(slots=True)
class Watch:
    """Looks at one table's states in turn and remembers the matches that hold, with all their shots."""

    _matches: dict[str, Match] = field(default_factory=dict)
    _since: dict[str, int] = field(default_factory=dict)
    _shots: dict[str, dict[tuple[int, int], tuple[ShotRecord, ...]]] = field(default_factory=dict)
    _done: list[RecordedMatch] = field(default_factory=list)

    def see(self, state: TableState) -> None:
        """The state after one more line."""
        match = state.match
        for played in state.evening:
            known = self._matches.get(played.id)
            if known is not None and (known.names, known.event) != (played.names, played.event):
                self._matches[played.id] = replace(known, names=played.names, event=played.event)
        if match is None:
            if not state.chapters:  # nothing that was played can be taken back any more
                self._end()
            self._matches.clear()
            return
        known = self._matches.get(match.id)
        if known is match:
            return
        if known is None:
            self._new(match, state.since)
        elif next(reversed(self._matches)) != match.id:
            self._forget_after(match.id)  # the match that had begun since was undone
        self._matches[match.id] = match
        if match.running is not None:
            self._shots[match.id][match.running.game, match.running.number] = match.running.shots

    def recorded(self) -> tuple[RecordedMatch, ...]:
        """The matches with at least one counted round, in the order in which they began."""
        return (*self._done, *self._held())

    def _end(self) -> None:
        """The evening is over, or its last match goes on at another board and is found there."""
        last = next(reversed(self._matches), None)
        if last is not None and self._matches[last].running is not None:
            del self._matches[last]
        self._done += self._held()

    def _held(self) -> list[RecordedMatch]:
        found: list[RecordedMatch] = []
        for match_id, match in self._matches.items():
            shots = self._shots[match_id]
            rounds = tuple(
                _with_shots(finished, shots.get((finished.game, finished.number), ())) for finished in match.rounds
            )
            if rounds:
                found.append(RecordedMatch(match, rounds))
        return found

    def _new(self, match: Match, since: int) -> None:
        last = next(reversed(self._matches), None)
        self._shots[match.id] = {}
        if last is not None and self._since[last] == since:
            # Names and rules were given to a match that a first shot had opened: it is the same match.
            self._shots[match.id] = self._shots[last]
            del self._matches[last]
        self._since[match.id] = since

    def _forget_after(self, match_id: str) -> None:
        while next(reversed(self._matches)) != match_id:
            self._matches.popitem()


def _with_shots(finished: Round, shots: tuple[ShotRecord, ...]) -> Round:
    """A finished round with the shots it had; those still in doubt stand there as they were judged last."""
    newest = {shot.number: shot for shot in (*shots, *finished.shots)}
    return replace(finished, shots=tuple(newest[number] for number in sorted(newest)))


def recorded_round(played: RecordedMatch, number: int, others: tuple[Ruleset, ...]) -> tuple[RecordedRound, list[int]]:
    """A round of a match for :func:`hub.rules.rejudge.rejudge`, and the number of each of its shots.

    Args:
        played: the match.
        number: the round's place in ``played.rounds``, from 0.
        others: the rule sets it will be judged by; where a disc was placed is held against nobody by a hair.
    """
    finished = played.rounds[number]
    shots: list[RecordedShot] = []
    numbers: list[int] = []
    banked: dict[str, int] = {}
    for shot in finished.shots:
        if not shot.unseen:
            shots.append(_recorded(played.match, finished, shot, banked, others))
            numbers.append(shot.number)
        for side, count in shot.twenties.items():
            banked[side] = banked.get(side, 0) + count
    totals = totals_of(played.match, played.match.rounds[number])
    return RecordedRound(shots, totals, finished.conceded), numbers


def _recorded(
    match: Match, playing: Round, shot: ShotRecord, banked: Mapping[str, int], others: tuple[Ruleset, ...]
) -> RecordedShot:
    """A shot in the words of the rules, from the reading that held."""
    match = match.at(playing).judging(shot)
    playing = replace(playing, shots=playing.shots[: shot.number - 1])
    events, rest = reconciled(shot, shot.reading or 0)
    position, seen = in_rules_words(match, playing, shot, events, rest)
    if shot.placed is not None and match.level == "judge":
        seen = _placed(seen, shot.placed, others)
    called = "called_foul" if shot.ruled is False and shot.code == "called_foul" else None
    return RecordedShot(rules.Position(position.discs, dict(banked)), seen, called)


def _placed(seen: rules.Shot, placed: Place, others: tuple[Ruleset, ...]) -> rules.Shot:
    """The shot with the place, of those the camera may have meant, that the fewest rule sets object to."""
    places = [
        rules.Shot(
            seen.side,
            seen.seat,
            seen.disc,
            seen.events,
            seen.rest,
            rules.Place(placed.r_mm + off_mm, placed.angle_deg + off_deg),
        )
        for off_mm in (0.0, -PLACED_SLACK_MM, PLACED_SLACK_MM)
        for off_deg in (0.0, -PLACED_SLACK_DEG, PLACED_SLACK_DEG)
    ]
    return min(places, key=lambda shot: sum(placement_fault(shot, ruleset, GEOMETRY) is not None for ruleset in others))
