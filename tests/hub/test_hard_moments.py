"""The hard moments at a table, one by one: each is a few facts and what the wall must then say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hub.link import topics
from hub.link.messages import (
    BeamCandidate,
    BeamWithdrawn,
    Button,
    Cleared,
    Doubt,
    Layout,
    LayoutDisc,
    Place,
    Shot,
)
from hub.link.snapshot import Table
from tests.hub.harness import Club, S

COLOUR = {"A": "light", "B": "dark"}


class Bench:
    """One board with a club around it, and hands that make its facts."""

    def __init__(self, club: Club) -> None:
        self.club = club
        self.at_ns = 100 * S
        self.discs: dict[str, LayoutDisc] = {}
        self.serial = 0
        self.episode = 0

    @property
    def table(self) -> Table:
        return self.club.table()

    def start(self, level: str = "judge", rules: str = "match-play", **more: Any) -> None:
        assert self.club.ask("start", {"rules": rules, "level": level, **more}).ok

    def later(self, s: float = 1.0) -> int:
        self.at_ns += round(s * S)
        return self.at_ns

    def layout(self, *, unseen: tuple[str, ...] = ()) -> None:
        at_ns = self.later()
        seen = tuple(disc for disc in self.discs.values() if disc.id not in unseen)
        self.club.fact("camera", Layout(at_ns, seen, unseen), at_ns)
        if not self.discs:
            self.club.fact("camera", Cleared(at_ns), at_ns)

    def put(
        self, disc: str, side: str, r_mm: float, deg: float = 0.0, *, sigma_mm: float = 0.3, state: Any = "flat"
    ) -> None:
        a = math.radians(deg)
        x_mm, y_mm = -r_mm * math.sin(a), -r_mm * math.cos(a)
        self.discs[disc] = LayoutDisc(disc, COLOUR[side], x_mm, y_mm, sigma_mm, state)  # type: ignore[arg-type]

    def shoot(
        self,
        side: str,
        rest: tuple[float, float] | str,
        *events: tuple[str, ...],
        moved: dict[str, tuple[float, float] | str] | None = None,
        doubts: tuple[Doubt, ...] = (),
        beam: bool = False,
        seen_after: bool = True,
        sigma_mm: float = 0.3,
    ) -> str:
        """A shot that comes to rest at (r_mm, angle), in the hole or in the ditch; ``s`` names its disc in events."""
        self.serial += 1
        disc = f"d{self.serial}"
        start_ns = self.later(5)
        if beam:
            self.beam(start_ns + S)
        words = tuple(tuple(disc if word == "s" else word for word in event) for event in events)
        places: dict[str, Any] = {}
        for name, where in {disc: rest, **(moved or {})}.items():
            owner = side if name == disc else self.side(name)
            if isinstance(where, str):
                places[name] = where
                self.discs.pop(name, None)
                if where == "hole":
                    self.put(name, owner, 0.2, state="hole")
            else:
                places[name] = Place(*where)
                self.put(name, owner, *where, sigma_mm=sigma_mm)
        readings = tuple(
            Doubt(
                d.kind,
                d.discs,
                tuple(tuple(tuple(disc if w == "s" else w for w in e) for e in reading) for reading in d.readings),
            )
            for d in doubts
        )
        fact = Shot(disc, COLOUR[side], None, words, places, start_ns, start_ns + 2 * S, doubts=readings)  # type: ignore[arg-type]
        self.later(3)
        self.club.fact("camera", fact, self.at_ns)
        if seen_after:
            self.layout()
        return disc

    def side(self, disc: str) -> str:
        return "A" if self.discs[disc].colour == "light" else "B"

    def beam(self, start_ns: int) -> None:
        self.episode += 1
        self.club.fact("beam", BeamCandidate(self.episode, start_ns, start_ns + S // 5), start_ns + S // 5)

    def off(self, *discs: str) -> None:
        for disc in discs:
            del self.discs[disc]
        self.layout()

    def answer(self, choice: str) -> None:
        assert self.club.ask("answer", {"question": self.table.questions[0].id, "choice": choice}).ok

    def rally(self, shots: int, first: str = "A") -> None:
        """Shots of both sides that all go off, so that nothing piles up: the first disc stays as the target."""
        for number in range(shots):
            side = first if number % 2 == 0 else "AB".replace(first, "")
            targets = [d for d in self.discs if self.side(d) != side]
            if targets:
                self.shoot(
                    side, "ditch", ("hit", "s", targets[0]), ("off", "s"), moved={targets[0]: self.where(targets[0])}
                )
            elif self.discs:
                self.shoot(side, "ditch", ("off", "s"))
            else:
                self.shoot(side, (60.0, 10.0))

    def where(self, disc: str) -> tuple[float, float]:
        d = self.discs[disc]
        return (math.hypot(d.x_mm, d.y_mm), math.degrees(math.atan2(-d.x_mm, -d.y_mm)) % 360)


@pytest.fixture
def bench(quick_path: Path) -> Iterator[Bench]:
    club = Club(quick_path)
    yield Bench(club)
    club.close()


def twenties(bench: Bench) -> dict[str, int]:
    return {side: view.twenties for side, view in bench.table.sides.items()}


def provisional(bench: Bench) -> dict[str, int]:
    return {side: view.provisional for side, view in bench.table.sides.items()}


def clips(bench: Bench) -> list[str]:
    return [call.clip for _, call in bench.club.calls]


def test_a_candidate_is_provisional_at_once_and_confirmed_by_the_camera(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(6) + S)
    assert provisional(bench) == {"A": 1, "B": 0}
    assert clips(bench) == ["twenty_light"]
    bench.at_ns -= 6 * S
    bench.shoot("A", "hole", ("hole", "s"))
    assert (twenties(bench), provisional(bench)) == ({"A": 1, "B": 0}, {"A": 0, "B": 0})
    assert clips(bench) == ["twenty_light"]
    assert [r.why for r in bench.table.remove] == ["twenty"]
    bench.off("d1")
    assert not bench.table.remove


def test_an_opponents_disc_in_the_hole_is_the_owners_twenty_and_called_once(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), ("hole", "d1"), moved={"d1": "hole"}, beam=True)
    assert twenties(bench) == {"A": 1, "B": 0}
    assert clips(bench) == ["twenty_dark"]  # a correction replaces, never adds a second call
    assert bench.table.flash is not None
    assert bench.table.flash.side == "A"


def test_a_twenty_on_a_foul_is_void_and_must_be_taken_out(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert twenties(bench) == {"A": 0, "B": 0}
    assert [(r.why, r.disc) for r in bench.table.remove] == [("foul", "d2")]
    assert bench.table.verdict is not None
    assert not bench.table.verdict.valid


def test_a_leaner_withdraws_what_the_beam_called(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(6) + S)
    bench.at_ns -= 6 * S
    bench.shoot("A", (17.0, 0.0))
    assert provisional(bench) == {"A": 0, "B": 0}
    assert twenties(bench) == {"A": 0, "B": 0}
    assert clips(bench) == ["twenty_light"]


def test_a_finger_in_the_hole_is_withdrawn_when_the_same_side_shoots(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(3))
    assert provisional(bench) == {"A": 1, "B": 0}
    bench.shoot("A", (60, 10))
    assert provisional(bench) == {"A": 0, "B": 0}
    assert not bench.table.questions


def test_a_finger_while_a_twenty_is_lifted_calls_nothing(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"), beam=True)
    bench.beam(bench.later(4))
    assert provisional(bench) == {"A": 0, "B": 0}
    assert clips(bench) == ["twenty_light"]


def test_a_withdrawn_candidate_is_taken_back(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(3))
    bench.club.fact("beam", BeamWithdrawn(1, "chatter"), bench.later())
    assert provisional(bench) == {"A": 0, "B": 0}
    assert bench.table.flash is not None
    assert bench.table.flash.clip == ""


def test_a_twenty_lifted_before_the_camera_saw_it_is_asked_about(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "ditch", ("off", "s"), beam=True)
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("twenty", ["A", "B", "none"])]
    bench.answer("A")
    assert twenties(bench) == {"A": 1, "B": 0}
    assert not bench.table.questions


def test_a_shot_that_only_the_beam_noticed_is_asked_about_when_the_other_side_shoots(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(3))
    bench.shoot("B", (60, 10))
    assert bench.table.shot == 2
    assert bench.table.turn == "A"
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer("A")
    assert twenties(bench) == {"A": 1, "B": 0}


def test_shooting_on_with_a_foul_lying_makes_it_count(bench: Bench) -> None:
    bench.start()
    foul = bench.shoot("A", (200, 10))
    assert [r.disc for r in bench.table.remove] == [foul]
    assert bench.table.sides["A"].board == 0
    bench.shoot("B", (150, 200), ("hit", "s", foul), moved={foul: (220, 10)})
    assert not bench.table.remove
    assert bench.table.sides["A"].board == 5
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid


def test_a_foul_left_lying_and_missed_makes_the_next_shot_a_foul_too(bench: Bench) -> None:
    """At first the foul is taken to be gone, and the shot open; the layout shows that it was not."""
    bench.start()
    bench.shoot("A", (200, 10))
    bench.shoot("B", (60, 200))
    assert bench.table.verdict is not None
    assert bench.table.verdict.code == "missed_opponent"
    assert bench.table.sides["A"].board == 5


def test_a_foul_taken_off_just_before_the_next_shot_leaves_that_shot_open(bench: Bench) -> None:
    bench.start()
    foul = bench.shoot("A", (200, 10))
    del bench.discs[foul]
    bench.shoot("B", (60, 200))
    assert bench.table.verdict is not None
    assert bench.table.verdict.valid


def test_a_doubt_is_asked_and_the_answer_holds(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    grazed = (("hit", "s", "d1"), ("hole", "s"))
    bench.shoot("B", "hole", ("hole", "s"), doubts=(Doubt("contact", (), ((("hole", "s"),), grazed)),), beam=True)
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("valid", ["yes", "no"])]
    assert (twenties(bench)["B"], provisional(bench)["B"]) == (0, 0)
    bench.answer("yes")
    assert twenties(bench)["B"] == 1


def test_a_doubt_that_decides_nothing_is_not_asked(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    grazed = (("hit", "s", "d1"), ("off", "s"))
    bench.shoot("B", "ditch", ("off", "s"), doubts=(Doubt("contact", (), ((("off", "s"),), grazed)),))
    assert not bench.table.questions


def test_a_doubtful_foul_taken_off_by_hand_was_one(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    grazed = (("hit", "s", "d1"),)
    disc = bench.shoot("B", (150, 200), doubts=(Doubt("contact", (), ((), grazed)),))
    assert [q.kind for q in bench.table.questions] == ["valid"]
    bench.off(disc)
    assert not bench.table.questions
    assert bench.table.verdict is not None
    assert not bench.table.verdict.valid


def test_a_shot_that_was_not_seen_may_have_touched(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), doubts=(Doubt("not_seen"),))
    assert [q.kind for q in bench.table.questions] == ["valid"]
    bench.answer("yes")
    assert bench.table.sides["B"].board == 10


@pytest.mark.parametrize(("answer", "count"), [("A", 1), ("none", 0)])
def test_a_leaner_breaks_the_beam_like_a_twenty_so_people_are_asked(bench: Bench, answer: str, count: int) -> None:
    bench.start()
    leans, fell = (), (("hole", "s"),)
    bench.shoot("A", (3.0, 0.0), doubts=(Doubt("leaner", (), (leans, fell)),), beam=True)
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    bench.answer(answer)
    assert twenties(bench) == {"A": count, "B": 0}
    assert not bench.table.questions


def test_a_silent_beam_decides_that_a_doubtful_leaner_leans(bench: Bench) -> None:
    bench.start()
    leans, fell = (), (("hole", "s"),)
    bench.shoot("A", (3.0, 0.0), doubts=(Doubt("leaner", (), (leans, fell)),))
    assert twenties(bench) == {"A": 0, "B": 0}
    assert not bench.table.questions
    assert bench.table.sides["A"].board == 15


def test_a_shot_out_of_turn_counts_for_who_shot_it_and_the_order_waits(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("A", (70, 90))
    assert bench.table.verdict is not None
    assert "out of turn" in bench.table.verdict.text
    assert bench.table.turn == "B"
    assert {side: view.shots_left for side, view in bench.table.sides.items()} == {"A": 10, "B": 12}


def test_a_disc_moved_by_hand_counts_where_play_goes_on_from(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.put("d1", "A", 150, 10)
    bench.layout()
    assert bench.table.sides["A"].board == 10
    bench.shoot("B", (220, 200), ("hit", "s", "d1"), moved={"d1": (152, 12)})
    assert bench.table.sides["A"].board == 10


def test_discs_under_a_hand_are_not_gone(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.layout(unseen=("d1",))
    assert bench.table.sides["A"].board == 15
    assert [d.id for d in bench.table.discs] == ["d1"]


def test_a_disc_that_touches_the_outer_line_must_go(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (292, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    assert [(r.why, r.text) for r in bench.table.remove] == [("out", "remove: dark disc at 1 o'clock")]
    bench.off("d2")
    assert not bench.table.remove


def test_a_disc_too_close_to_the_outer_line_is_asked_about_and_play_answers(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (287.8, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("line", ["5", "0"])]
    bench.shoot("A", (150, 90), ("hit", "s", "d2"), moved={"d2": (287.9, 200.1)})
    assert not bench.table.questions
    assert bench.table.message.startswith("decided by play: Is the dark disc")
    assert bench.table.sides["B"].board == 5


@pytest.mark.parametrize("r_mm", [287.8, 288.2])
def test_a_disc_too_close_to_the_outer_line_is_asked_about_on_either_side_of_it(bench: Bench, r_mm: float) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (r_mm, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    assert not bench.table.remove
    assert [q.kind for q in bench.table.questions] == ["line"]
    bench.shoot("A", (150, 90), ("hit", "s", "d2"), moved={"d2": (r_mm, 200.1)})
    assert not bench.table.questions
    assert not bench.table.remove
    assert bench.table.sides["B"].board == 5, "play went on with the disc lying there"


@pytest.mark.parametrize("r_mm", [287.8, 288.2])
def test_a_last_disc_too_close_to_the_outer_line_leaves_a_range_where_nothing_hangs_on_it(
    bench: Bench, r_mm: float
) -> None:
    bench.start(rules={"base": "match-play", "discs": "8/6"})
    bench.shoot("A", (60, 10))
    for number in range(7):
        bench.shoot("B", (150, 200 + 12 * number), ("hit", "s", "d1"), moved={"d1": (60 + number, 12)})
        bench.shoot("A", (60, 40 + 45 * number), ("hit", "s", "d2"), moved={"d2": (150, 200 + number)})
    bench.shoot("B", (r_mm, 120), ("hit", "s", "d1"), moved={"d1": (62, 12)})
    bench.discs.clear()
    bench.layout()
    (told,) = bench.table.rounds
    assert told.high["B"] - told.low["B"] == 5


def test_a_camera_that_was_away_finds_the_shot_it_did_not_see(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.put("d9", "B", 150, 200)
    bench.layout()
    assert bench.table.shot == 2
    assert bench.table.turn == "A"
    assert bench.table.sides["B"].board == 10


def test_a_restarted_camera_that_names_all_discs_anew_changes_nothing(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    renamed = {"x1": bench.discs["d1"], "x2": bench.discs["d2"]}
    bench.discs = {name: LayoutDisc(name, d.colour, d.x_mm + 0.4, d.y_mm, 0.3) for name, d in renamed.items()}
    bench.club.outboxes["b1", "camera"].restart("boot-2")
    bench.layout()
    assert bench.table.shot == 2
    assert {s: v.board for s, v in bench.table.sides.items()} == {"A": 15, "B": 10}


def test_a_fast_sweep_is_scored_from_the_record_before_the_hand(bench: Bench) -> None:
    bench.start()
    bench.rally(23)
    bench.shoot("B", (220, 180), ("hit", "s", "d1"), moved={"d1": (65, 10)}, seen_after=False)
    bench.discs.clear()
    bench.layout()
    assert [r.totals for r in bench.table.rounds] == [{"A": 15, "B": 5}]
    assert bench.table.round == 2
    assert bench.table.opener == "B"


def test_discs_taken_away_after_the_last_shot_still_count(bench: Bench) -> None:
    bench.start()
    bench.rally(23)
    last = bench.shoot("B", (220, 180), ("hit", "s", "d1"), moved={"d1": (65, 10)})
    assert bench.table.phase == "round_over"
    bench.off(last)
    assert bench.table.sides["B"].board == 5
    bench.off("d1")
    assert [r.totals for r in bench.table.rounds] == [{"A": 15, "B": 5}]


@pytest.mark.parametrize(("choice", "rounds"), [("keep", 1), ("none", 0)])
def test_a_round_swept_with_discs_unshot_is_asked_about(bench: Bench, choice: str, rounds: int) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", (150, 200), ("hit", "s", "d1"), moved={"d1": (61, 12)})
    bench.discs.clear()
    bench.layout()
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("round", ["keep", "none"])]
    bench.answer(choice)
    assert len(bench.table.rounds) == rounds
    assert bench.table.phase == "round"
    assert bench.table.shot == 0


def test_an_empty_board_amid_a_round_is_no_sweep_if_it_is_known_why(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"), beam=True)
    bench.off("d1")
    foul = bench.shoot("B", (200, 180))
    bench.off(foul)
    assert bench.table.phase == "round"
    assert not bench.table.questions
    assert bench.table.shot == 2


def test_the_first_shot_on_a_cleared_board_opens_a_match(bench: Bench) -> None:
    bench.shoot("A", (60, 10))
    table = bench.table
    assert (table.phase, table.shot, table.level) == ("round", 1, "count")
    assert [view.name for view in table.sides.values()] == ["light", "dark"]


def test_names_and_rules_given_later_are_taken_over_with_all_shots(bench: Bench) -> None:
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hit", "s", "d1"), ("hole", "s"), moved={"d1": (62, 10)}, beam=True)
    bench.start(names={"A": "Ann", "B": "Ben"}, light="B")
    table = bench.table
    assert table.shot == 2
    assert table.level == "judge"
    assert {s: (v.name, v.colour, v.twenties, v.board) for s, v in table.sides.items()} == {
        "A": ("Ann", "dark", 1, 0),
        "B": ("Ben", "light", 0, 15),
    }
    assert bench.club.ask("undo", {}).ok
    assert bench.table.sides["A"].name == "light"
    assert bench.table.shot == 2


def test_old_discs_at_the_start_do_not_count(bench: Bench) -> None:
    bench.put("x1", "A", 60, 0)
    bench.put("x2", "B", 150, 180)
    bench.layout()
    bench.start()
    assert bench.table.message == "clear the board"
    assert bench.table.sides["A"].board == 0
    bench.discs.clear()
    bench.layout()
    assert bench.table.phase == "round"
    assert bench.table.message == ""
    assert not bench.table.rounds


def test_level_count_voids_nothing(bench: Bench) -> None:
    bench.start(level="count")
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert twenties(bench) == {"A": 0, "B": 1}
    assert not bench.table.questions
    assert [r.why for r in bench.table.remove] == ["twenty"]


def test_level_advise_shows_the_foul_and_asks_before_it_voids_a_twenty(bench: Bench) -> None:
    bench.start(level="advise")
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"), beam=True)
    assert [q.kind for q in bench.table.questions] == ["valid"]
    assert bench.table.verdict is not None
    assert bench.table.verdict.code == "missed_opponent"
    bench.answer("no")
    assert twenties(bench) == {"A": 0, "B": 0}


def test_without_a_camera_people_say_whose_twenty_it_was_and_what_the_round_came_to(bench: Bench) -> None:
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.start()
    bench.beam(bench.later(3))
    bench.answer("B")
    assert twenties(bench) == {"A": 0, "B": 1}
    assert not bench.club.ask("correct", {"totals": {"A": 33, "B": 50}}).ok
    assert bench.club.ask("correct", {"totals": {"A": 35, "B": 50}}).ok
    assert bench.club.ask("confirm", {"round": 1}).ok
    assert [(r.totals, r.twenties, r.added) for r in bench.table.rounds] == [
        ({"A": 35, "B": 50}, {"A": 0, "B": 1}, {"A": 0, "B": 2})
    ]


def test_without_a_beam_the_camera_alone_counts_and_calls(bench: Bench) -> None:
    bench.club.bus.publish(topics.status("b1", "beam"), b"offline", retain=True)
    bench.club.turn()
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"))
    assert twenties(bench) == {"A": 1, "B": 0}
    assert clips(bench) == ["twenty_light"]


def test_a_camera_that_comes_back_takes_over_what_people_said(bench: Bench) -> None:
    bench.start()
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.beam(bench.later(6) + S)
    bench.answer("A")
    assert twenties(bench) == {"A": 1, "B": 0}
    bench.at_ns -= 6 * S
    bench.shoot("A", "hole", ("hole", "s"))
    assert twenties(bench) == {"A": 1, "B": 0}


def test_twenties_outside_a_match_are_practice(bench: Bench) -> None:
    bench.beam(bench.later())
    bench.beam(bench.later(4))
    assert bench.table.practice == 2
    assert not clips(bench)


def test_a_confirmed_round_waits_for_the_board_to_be_cleared(bench: Bench) -> None:
    bench.start()
    bench.rally(24)
    assert bench.table.phase == "round_over"
    assert bench.club.ask("confirm", {"round": 1}).ok
    assert bench.table.phase == "round_over"
    assert bench.table.round == 1
    assert len(bench.table.rounds) == 1
    assert not bench.club.ask("confirm", {"round": 1}).ok
    bench.discs.clear()
    bench.layout()
    assert (bench.table.phase, bench.table.round, bench.table.opener) == ("round", 2, "B")
    assert len(bench.table.rounds) == 1


def test_the_button_at_the_table_confirms(bench: Bench) -> None:
    bench.start()
    bench.rally(24)
    bench.club.fact("button", Button(bench.later(), "confirm"), bench.at_ns)
    assert len(bench.table.rounds) == 1
    bench.club.fact("button", Button(bench.later(), "undo"), bench.at_ns)
    assert not bench.table.rounds
    assert bench.table.phase == "round_over"


def test_a_match_ends_and_the_next_shot_on_a_cleared_board_opens_another(bench: Bench) -> None:
    bench.start(rules="match-play")
    for number in range(4):
        bench.rally(24, "AB"[number % 2])
        assert bench.club.ask("correct", {"totals": {"A": 100, "B": 0}}).ok
        bench.discs.clear()
        bench.layout()
    assert (bench.table.phase, bench.table.winner) == ("match_over", "A")
    assert bench.table.sides["A"].score == 8
    bench.shoot("B", (60, 10))
    assert (bench.table.phase, bench.table.shot) == ("round", 1)
    assert not bench.table.rounds


def test_a_twenty_that_only_the_camera_sees_is_asked_about_until_the_beam_agrees(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", "hole", ("hole", "s"))
    assert [q.kind for q in bench.table.questions] == ["twenty"]
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (0, 1)
    bench.beam(bench.at_ns - 6 * S)
    assert not bench.table.questions
    assert (twenties(bench)["A"], provisional(bench)["A"]) == (1, 0)
    assert clips(bench) == ["twenty_light"]


def test_a_leaner_that_blocks_the_beam_is_knocked_in_without_a_question(bench: Bench) -> None:
    bench.start()
    leaner = bench.shoot("A", (17.0, 0.0), beam=True)
    bench.put(leaner, "A", 17.0, 0.0, state="leaning")
    bench.shoot("B", (150, 200), ("hit", "s", leaner), ("hole", leaner), moved={leaner: "hole"})
    assert not bench.table.questions
    assert twenties(bench) == {"A": 1, "B": 0}


def test_a_disc_over_the_edge_of_the_board_scores_nothing(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.put("d1", "A", 323.5, 10, state="overhanging")
    bench.layout()
    assert bench.table.sides["A"].board == 0


def test_a_20_that_would_be_void_anyway_is_not_asked_about(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    bench.shoot("B", "hole", ("hole", "s"))
    assert not bench.table.questions
    bench.off("d2")
    bench.shoot("A", (70, 90), ("off", "s"), beam=True)
    assert not bench.table.questions


def test_two_discs_in_the_hole_count_as_they_lie(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    events = (("hit", "s", "d1"), ("hole", "d1"), ("hole", "s"))
    bench.shoot("B", "hole", *events, moved={"d1": "hole"}, beam=True)
    assert twenties(bench) == {"A": 1, "B": 1}
    assert not bench.table.questions


def test_a_twenty_told_of_while_the_camera_was_away_is_not_counted_again_when_it_sees_it(bench: Bench) -> None:
    bench.start()
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.beam(bench.later(3))
    bench.answer("A")
    bench.club.bus.publish(topics.status("b1", "camera"), b"online", retain=True)
    bench.club.turn()
    bench.put("d7", "A", 0.3, state="hole")
    bench.layout()
    bench.off("d7")
    assert twenties(bench) == {"A": 1, "B": 0}
    assert (bench.table.shot, bench.table.turn) == (1, "B")


def test_a_twenty_told_of_and_lifted_while_the_camera_was_away_takes_its_turn(bench: Bench) -> None:
    bench.start()
    bench.club.bus.publish(topics.status("b1", "camera"), b"offline", retain=True)
    bench.club.turn()
    bench.beam(bench.later(3))
    bench.answer("A")
    bench.shoot("B", (60, 10))
    assert bench.table.verdict is not None
    assert "out of turn" not in bench.table.verdict.text
    assert (bench.table.shot, bench.table.turn) == (2, "A")


def test_a_camera_that_dies_during_a_20_finds_it_in_the_hole(bench: Bench) -> None:
    bench.start()
    bench.beam(bench.later(3))
    bench.club.outboxes["b1", "camera"].restart("boot-2")
    bench.put("d1", "A", 0.3, state="hole")
    bench.layout()
    assert (twenties(bench), provisional(bench)) == ({"A": 1, "B": 0}, {"A": 0, "B": 0})
    assert clips(bench) == ["twenty_light"]
    assert not bench.table.questions
    bench.off("d1")
    bench.shoot("B", (60, 10))
    assert (bench.table.shot, bench.table.turn) == (2, "A")
    assert twenties(bench) == {"A": 1, "B": 0}


def close_round(bench: Bench, a_mm: float, b_mm: float, rules: str = "match-play") -> None:
    """A round that ends with A: a sure 15 and a disc at ``a_mm``; B: a disc at ``b_mm``."""
    bench.start(rules=rules)
    bench.rally(22)
    bench.shoot("A", (a_mm, 90.0), ("off", "s") if a_mm > 330 else ("peg", "s"))
    bench.shoot("B", (b_mm, 180.0), ("hit", "s", "d1"), moved={"d1": (61, 12)})


def test_a_disc_at_the_line_that_decides_nothing_is_not_asked_about(bench: Bench) -> None:
    close_round(bench, 60.0, 186.3)
    assert bench.table.phase == "round_over"
    assert not bench.table.questions
    assert [d.close for d in bench.table.discs].count(True) == 1
    bench.discs.clear()
    bench.layout()
    told = bench.table.rounds[0]
    assert (told.totals, told.low, told.high) == ({"A": 30, "B": 10}, {"A": 30, "B": 5}, {"A": 30, "B": 10})


def test_the_same_disc_is_asked_about_where_every_point_counts(bench: Bench) -> None:
    close_round(bench, 60.0, 186.3, rules="classic")
    assert bench.table.phase == "settling"
    assert [(q.kind, [c.key for c in q.choices]) for q in bench.table.questions] == [("line", ["10", "5"])]
    assert bench.table.questions[0].facts["limit_mm"] == 186.4
    bench.answer("5")
    assert bench.table.phase == "round_over"
    bench.discs.clear()
    bench.layout()
    assert bench.table.rounds[0].added == {"A": 25, "B": 0}


def test_discs_at_the_line_are_asked_about_one_at_a_time_and_only_while_they_matter(bench: Bench) -> None:
    bench.start()
    bench.rally(21)
    bench.shoot("B", (186.3, 180.0), ("hit", "s", "d1"), moved={"d1": (84.9, 12)})
    bench.shoot("A", "ditch", ("hit", "s", "d22"), ("off", "s"), moved={"d22": (186.3, 180.0)})
    bench.shoot("B", (186.45, 220.0), ("hit", "s", "d1"), moved={"d1": (84.9, 12)})
    assert len(bench.table.questions) == 1
    asked = []
    while bench.table.questions:
        question = bench.table.questions[0]
        asked.append(question.facts["disc"])
        assert len(bench.table.questions) == 1
        bench.answer(question.choices[0].key)
    assert len(asked) == len(set(asked))
    assert bench.table.phase == "round_over"


def test_confirming_takes_the_likelier_value_of_what_is_open(bench: Bench) -> None:
    close_round(bench, 60.0, 186.3, rules="classic")
    assert bench.club.ask("confirm", {"round": 1}).ok
    assert bench.table.rounds[0].totals == {"A": 30, "B": 10}
    assert not bench.table.questions


def test_what_is_open_when_the_board_is_cleared_can_be_answered_later(bench: Bench) -> None:
    close_round(bench, 60.0, 186.3, rules="classic")
    bench.discs.clear()
    bench.layout()
    assert bench.table.round == 2
    assert bench.table.rounds[0].low != bench.table.rounds[0].high
    bench.shoot("B", (60, 190))
    bench.answer("5")
    assert bench.table.rounds[0].totals == {"A": 30, "B": 5}
    assert bench.table.rounds[0].low in ({}, bench.table.rounds[0].totals)
    assert bench.table.sides["A"].score == 25
    assert bench.table.shot == 1


def test_pictures_of_many_doubts_do_not_make_a_snapshot_too_long(bench: Bench) -> None:
    bench.start()
    bench.shoot("A", (60, 10))
    for number in range(6):
        bench.serial += 1
        disc = f"d{bench.serial}"
        grazed = (("hit", disc, "d1"), ("hole", disc))
        doubt = Doubt("contact", (), ((("hole", disc),), grazed), b"\xff" * 12_000)
        shot = Shot(
            disc, "dark", None, (("hole", disc),), {disc: "hole"}, bench.later(5), bench.later(), doubts=(doubt,)
        )  # type: ignore[arg-type]
        bench.beam(bench.at_ns - S)
        bench.club.fact("camera", shot, bench.later())
        bench.layout()
        assert len(bench.table.questions) == number + 1
    pictures = [question.picture for question in bench.table.questions]
    assert pictures[0]
    assert not pictures[-1]
