"""A game of hostile players at a table with imperfect sensors, through the hub's own function, and what came of it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hub.again import Chapter
from hub.entries import HUB, PEOPLE, Entry, SensorNotice
from hub.link.messages import KIND_OF, Fact, Hand, encode
from hub.link.snapshot import Table
from hub.rules.presets import load_ruleset
from hub.state import TableState
from hub.table import take
from hub.view import table_of
from tests.hub.hostile.sensors import Errors, S, Sensors
from tests.hub.hostile.table import LIMITS_MM, Luck, Taken, TrueDisc, TrueTable


@dataclass(frozen=True)
class Manners:
    """How often people do what makes a hub's life hard; by shot, except for the last three: by round."""

    finger: float = 0.08
    lift_late: float = 0.3
    leave_foul: float = 0.25
    nudge: float = 0.08
    answer_late: float = 0.4
    fast_sweep: float = 0.3
    concede: float = 0.08
    keep: float = 0.7


@dataclass(frozen=True)
class Played:
    """One round of the truth."""

    totals: dict[str, int]
    twenties: dict[str, int]


@dataclass
class Hub:
    """The hub's pure function for one board, without broker and journal."""

    board: str = "b1"
    state: TableState = field(default_factory=lambda: TableState("b1"))
    lines: list[Entry] = field(default_factory=list)
    base: TableState = field(default_factory=lambda: TableState("b1"))
    seqs: dict[str, int] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        return table_of(self.state, {})

    def send(self, source: str, fact: Fact, at_ns: int) -> None:
        self._take(source, KIND_OF[type(fact)], fact, at_ns)

    def notice(self, source: str) -> None:
        self._take(HUB, "sensor", SensorNotice(source, online=True), 0)

    def ask(self, request: str, body: Any) -> None:
        refused = self._take(PEOPLE, request, body, 0)
        assert refused is None, f"{request} {body}: {refused}"

    def _take(self, source: str, kind: str, body: Any, at_ns: int) -> str | None:
        self.seqs[source] = self.seqs.get(source, 0) + 1
        entry = Entry(
            id=len(self.lines) + 1,
            board=self.board,
            source=source,
            boot="boot-1",
            seq=self.seqs[source],
            kind=kind,
            wall_ms=at_ns // 1_000_000,
            body=encode(body) if isinstance(body, msgspec.Struct) else msgspec.json.encode(body),
            machine_boot="machine-1",
            mono_ns=at_ns,
        )
        taken = take(self.state, entry, lambda _since: Chapter(self.base, self.lines))
        self.lines.append(entry)
        self.state = taken.state
        assert not self.state.unreadable, f"{kind} {body} could not be used"
        return None if taken.refused is None else str(taken.refused)


@dataclass
class Evening:
    """One game over some rounds.

    Args:
        seed: chooses everything.
        luck: how shots end.
        manners: of the players.
        errors: of the sensors.
        rules: name of the rule set.
        rounds: how many are played.
    """

    seed: int
    luck: Luck = field(default_factory=Luck)
    manners: Manners = field(default_factory=Manners)
    errors: Errors = field(default_factory=Errors)
    rules: str = "nca"
    rounds: int = 4
    hub: Hub = field(default_factory=Hub)
    truth: list[Played] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        ruleset = load_ruleset(self.rules)
        self.rng = random.Random(self.seed)
        self.patience = random.Random(f"answers {self.seed}")  # its own, so that no question changes what is played
        self.board = TrueTable(ruleset, self.rng, self.luck)
        self.sensors = Sensors(self.board, self.hub.send, random.Random(f"errors {self.seed}"), self.errors)
        self.dealt = int(ruleset.discs.split("/")[0])
        self.remembered: dict[str, TrueDisc] = {}
        self.left_lying = False
        for source in ("beam", "camera"):
            self.hub.notice(source)
        self.hub.ask("start", {"rules": self.rules, "level": "judge"})

    def play(self) -> None:
        """All rounds, and the answers to what is open at the end."""
        while len(self.truth) < self.rounds:
            self.round("AB"[len(self.truth) % 2])
        self.answer(late=0.0)

    def round(self, opener: str) -> None:
        """One round, however it ends."""
        self.board.begin()
        self.remembered = {}
        self.kept = True
        given_up = self.rng.randrange(4, 2 * self.dealt) if self.rng.random() < self.manners.concede else 0
        for number in range(1, 2 * self.dealt + 1):
            self.turn(opener if number % 2 else "AB".replace(opener, ""), last=number == 2 * self.dealt)
            if 0 < given_up <= number < 2 * self.dealt and len(self.inside()) > 2 and not self.left_lying:
                if self.give_up():
                    return
                break
        self.answer(late=0.0)
        self.truth.append(Played(self.board.totals(), dict(self.board.twenties)))
        self.clear()
        self.answer(late=0.0)

    def turn(self, side: str, *, last: bool) -> None:
        """A shot, what the sensors tell of it, and what hands do then."""
        board, sensors, rng = self.board, self.sensors, self.rng
        self.lift(late=self.manners.lift_late)
        if not board.in_hole() and rng.random() < self.manners.finger:
            sensors.finger()
        sensors.wait(3.0)
        start_ns = sensors.wait(0.2)
        taken = board.shoot(side, 1 if side == "A" else 3)
        self.tell(taken)
        sunk = [disc for disc in taken.shot.rest if disc in board.discs and board.discs[disc].where != "surface"]
        if sunk:
            sensors.blocked(start_ns + S // 2)
        elif not board.in_hole():
            sensors.clear()
        sensors.wait(1.6)
        self.sweeping = last and rng.random() < self.manners.fast_sweep and taken.verdict.take_off == frozenset()
        sensors.shot(taken, start_ns, layout_follows=not self.sweeping)
        sensors.catch_up()
        self.remember()
        if not self.sweeping:
            if rng.random() >= self.errors.no_layout:
                sensors.layout()
            self.take_off(taken, last=last)
            sensors.calm()
            self.nudge()
            if sensors.rng.random() < self.errors.chatter and not board.in_hole():
                sensors.chatter()
        self.answer(late=self.manners.answer_late)

    def take_off(self, taken: Taken, *, last: bool) -> None:
        """The shooter's hand takes off what goes, or a foul is forgotten and lies on."""
        board, sensors = self.board, self.sensors
        going = {disc for disc in taken.verdict.take_off if disc in board.discs}
        self.left_lying = False
        on_surface = {disc for disc in going & taken.verdict.fouled if board.discs[disc].where == "surface"}
        in_play = {disc for disc in on_surface if board.discs[disc].r_mm < LIMITS_MM[-1] - 1.5}
        if in_play and in_play == going and not last and self.rng.random() < self.manners.leave_foul:
            self.story.append(f"  {sorted(going)} left lying")
            self.left_lying = True
            going = set()
        if not going:
            return
        sensors.send("camera", Hand(sensors.wait(0.6), present=True), sensors.at_ns)
        for disc in going:
            del board.discs[disc]
        sensors.wait(0.9)
        if not board.in_hole():
            sensors.clear()
        sensors.hand_was_there()
        sensors.layout()

    def lift(self, *, late: float) -> None:
        """A 20 is lifted out, or lies there until later."""
        lying = [disc for disc in self.board.discs.values() if disc.where == "hole"]
        if not lying or self.rng.random() < late:
            return
        for disc in lying:
            del self.board.discs[disc.id]
        self.sensors.wait(0.8)
        self.sensors.clear()
        self.sensors.hand_was_there()
        self.sensors.layout()

    def nudge(self) -> None:
        """A sleeve pushes a disc; nobody minds."""
        inside = self.inside()
        last = len(self.board.shots) == 2 * self.dealt
        if not inside or last or self.rng.random() >= self.manners.nudge:
            return
        disc = self.rng.choice(inside)
        moved = self.board.push(disc, 9.0)
        if moved is not disc:
            self.story.append(f"  {disc.id} pushed from {disc.r_mm:.1f} to {moved.r_mm:.1f}")
            del self.sensors.seen[disc.id]
            self.sensors.hand_was_there()
            self.sensors.layout()
            self.remember()

    def inside(self) -> list[TrueDisc]:
        """Discs that lie well within the outer line."""
        lying = [disc for disc in self.board.discs.values() if disc.where == "surface"]
        return [disc for disc in lying if disc.r_mm < LIMITS_MM[-1] - 3.0]

    def give_up(self) -> bool:
        """The board is swept with discs unshot; whether the round is played again."""
        keep = self.rng.random() < self.manners.keep
        self.story.append(f"  given up, {'kept' if keep else 'played again'}")
        self.kept = keep
        if keep:
            return False
        self.clear()
        self.answer(late=0.0)
        return True

    def clear(self) -> None:
        """Hands take everything off, the hole first."""
        board, sensors = self.board, self.sensors
        sensors.wait(1.5)
        if not self.sweeping and board.in_hole() and self.rng.random() < 0.5:
            for disc in board.in_hole():
                del board.discs[disc.id]
            sensors.clear()
            sensors.layout()
        elif not self.sweeping and len(board.discs) > 3:
            for disc in list(board.discs)[::2]:
                del board.discs[disc]
            if not board.in_hole():
                sensors.clear()
            sensors.layout()
        board.discs.clear()
        sensors.clear()
        sensors.layout()
        sensors.catch_up(all_of_it=True)

    # ---- people

    def remember(self) -> None:
        self.remembered.update({self.sensors.name(disc.id): disc for disc in self.board.discs.values()})

    def open_questions(self) -> list[str]:
        return [question.id for question in self.hub.table.questions]

    def answer(self, *, late: float) -> None:
        """People answer what is asked, truthfully, at once or later."""
        for _ in range(40):
            questions = self.hub.table.questions
            for question in questions:
                self.asked.setdefault(question.id, f"{question.text} {question.facts}")
            if not questions or self.patience.random() < late:
                return
            question = questions[0]
            choice = self.choice(question)
            self.story.append(f"  {question.text} {choice}")
            self.hub.ask("answer", {"question": question.id, "choice": choice})
        raise AssertionError("there is no end of questions")

    def choice(self, question: Any) -> str:
        facts: Mapping[str, Any] = question.facts
        if question.kind == "round":
            return "keep" if self.kept else "none"
        if question.kind == "line":
            name, true = facts["disc"], self.sensors.original(facts["disc"])
            known = (disc for disc in self.remembered.values() if disc.id == true)  # before it was named anew
            disc = self.remembered.get(name) or next(known)
            return str(disc.value)
        taken = self.board.shots[int(facts["shot"]) - 1]
        if question.kind == "valid":
            return "yes" if taken.verdict.valid else "no"
        return taken.twenty_side

    def tell(self, taken: Taken) -> None:
        rest = {
            d: w if isinstance(w, str) else f"{w.r_mm:.1f}{' leans' * w.leaning}" for d, w in taken.shot.rest.items()
        }
        verdict = taken.verdict.reason or "good"
        self.story.append(
            f"{taken.number} {taken.shot.disc} {taken.shot.events} {rest} {verdict} 20s {self.board.twenties}"
        )

    # ---- what came of it

    @property
    def questions(self) -> int:
        """How many questions people were asked."""
        return len(self.asked)

    def mismatches(self) -> list[str]:
        """Rounds, and the final score, that are not the truth's."""
        told = self.hub.table.rounds
        wrong = [] if len(told) == len(self.truth) else [f"{len(told)} rounds, {len(self.truth)} were played"]
        for number, (view, true) in enumerate(zip(told, self.truth, strict=False), 1):
            low, high = view.low or view.totals, view.high or view.totals
            inside = all(low[s] <= true.totals[s] <= high[s] for s in true.totals)  # type: ignore[index]
            if not inside or view.twenties != true.twenties:
                told_as = f"{view.totals} {view.low}..{view.high} {view.twenties}"
                wrong.append(f"round {number}: {told_as}, truth {true.totals} {true.twenties}")
            if view.added != added(true.totals):
                wrong.append(f"round {number}: added {view.added}, truth {added(true.totals)}")
        return wrong


def added(totals: dict[str, int]) -> dict[str, int]:
    """Two points for the higher, one each for a tie."""
    if totals["A"] == totals["B"]:
        return {"A": 1, "B": 1}
    return {side: 2 * (total == max(totals.values())) for side, total in totals.items()}
