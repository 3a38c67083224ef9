"""The course of an evening: what the simulated players do and ask, with tables that are quick, slow, odd or silent."""

import json
from pathlib import Path
from typing import Any

import pytest

from hardware.board import TOURNAMENT
from hardware.twin import truth
from hardware.twin.course import Course, Evening, Wish
from hardware.twin.hands import Hands
from hardware.twin.manners import MANNERS
from hardware.twin.player import Skill
from hardware.twin.world import World

FRAME_NS = 33_333_333
QUICK = Skill(tries=1, finer=0)


class Room:
    """A course with a scripted hub: its table is a plain dict that tests change."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        rounds: int = 1,
        games: int = 0,
        alone: bool = False,
        seed: int = 3,
        players: str = "polite",
    ):
        self.world = World(TOURNAMENT, seed)
        self.hands = Hands(self.world)
        self.diary = truth.Diary(path)
        self.course = Course(
            TOURNAMENT,
            self.world,
            self.hands,
            Evening(rounds=rounds, games=games, manners=MANNERS[players]),
            seed=seed,
            diary=self.diary,
            alone=alone,
            skill=QUICK,
        )
        self.table: dict[str, Any] | None = None
        self.asked: list[Wish] = []
        self.frames = 0
        self.answers = True

    def frame(self) -> None:
        self.frames += 1
        now_ns = self.frames * FRAME_NS
        self.hands.step(now_ns)
        if self.table is not None:
            self.course.see(self.table)
        self.course.step(now_ns)
        for wish in self.course.wishes:
            self.asked.append(wish)
            self.answer(wish)
            if self.answers:
                self.course.answered(wish.id)
        self.course.wishes = []

    def answer(self, wish: Wish) -> None:
        if wish.request == "start":
            self.table = {**(self.table or {}), "phase": "round", "shot": 0, "questions": []}

    def until(self, met: Any, longest_s: float = 200) -> None:
        first = self.frames
        while not met():
            self.frame()
            assert (self.frames - first) * FRAME_NS / 1e9 < longest_s, f"still {self.course.stage}"

    def follow(self) -> None:
        """The table of a hub that keeps up."""
        course = self.course
        table = self.table or {}
        taken = len(course.match.shots)
        if course.stage in {"counting", "clearing"}:
            self.table = {**table, "phase": "round_over", "shot": taken}
        elif course.stage == "leaving":
            self.table = {**table, "phase": "round", "shot": 0}
        elif table.get("phase") == "round" and course.match.state.taken:
            self.table = {**table, "shot": taken}


def entries(room: Room, path: Path) -> list[dict[str, Any]]:
    room.diary.close()
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_without_a_hub_they_just_play_to_the_end(tmp_path: Path) -> None:
    room = Room(tmp_path / "t", rounds=1, alone=True)
    room.until(lambda: room.course.over)
    told = entries(room, tmp_path / "t")
    assert [e["is"] for e in told] == ["shot"] * 24 + ["round", "final"]
    assert room.world.discs == {}
    assert told[-1]["scores"] == told[-2]["scores"]
    assert room.asked == []


def test_a_match_is_asked_for_until_the_table_shows_one() -> None:
    room = Room()
    for _ in range(100):
        room.frame()
    assert room.asked == []  # nobody has seen a table yet
    room.table = {"phase": "idle", "shot": 0, "questions": [], "rev": 1}
    room.answer = lambda wish: None  # type: ignore[method-assign]
    for _ in range(200):
        room.frame()
    assert {wish.request for wish in room.asked} == {"start"}
    assert 2 <= len(room.asked) <= 4
    assert len({wish.id for wish in room.asked}) == len(room.asked)
    body = room.asked[0].body
    assert (body["light"], body["opener"], body["level"], body["rules"]) == ("A", "A", "judge", "match-play")
    assert room.course.stage == "starting"


def test_nothing_is_asked_twice_while_the_hub_thinks_about_it() -> None:
    room = Room()
    room.answers = False
    room.table = {"phase": "idle", "shot": 0, "questions": [], "rev": 1}
    room.answer = lambda wish: None  # type: ignore[method-assign]
    for _ in range(400):
        room.frame()
    assert len(room.asked) == 1


def test_somebody_elses_match_is_abandoned_first() -> None:
    room = Room()
    room.table = {"phase": "round", "shot": 7, "questions": []}

    def answer(wish: Wish) -> None:
        room.table = {"phase": "idle" if wish.request == "abandon" else "round", "shot": 0, "questions": []}

    room.answer = answer  # type: ignore[method-assign]
    room.until(lambda: room.course.stage == "thinking", 10)
    assert [wish.request for wish in room.asked] == ["abandon", "start"]


def test_with_a_hub_that_keeps_up_a_round_is_brisk_and_cleared_only_when_it_is_over(tmp_path: Path) -> None:
    room = Room(tmp_path / "t", rounds=1)
    room.table = {"phase": "idle", "shot": 0, "questions": []}

    def step() -> bool:
        room.follow()
        return room.course.over

    room.until(step)
    assert [e["is"] for e in entries(room, tmp_path / "t")][-2:] == ["round", "final"]
    assert room.frames * FRAME_NS / 1e9 < 24 * 4.5 + 20


def test_a_silent_hub_makes_them_wait_but_never_for_ever(tmp_path: Path) -> None:
    room = Room(tmp_path / "t", rounds=2)
    room.table = {"phase": "idle", "shot": 0, "questions": []}
    room.until(lambda: room.course.over, 400)
    assert [e["number"] for e in entries(room, tmp_path / "t") if e["is"] == "round"] == [1, 2]


def test_an_open_question_is_answered_after_a_second_and_again_if_it_stays() -> None:
    room = Room()
    room.table = {"phase": "idle", "shot": 0, "questions": []}
    room.until(lambda: bool(room.course.match.shots))
    assert room.table is not None
    valid = room.course.match.shots[0].verdict.valid
    room.table["questions"] = [
        {"id": "q1", "kind": "valid", "choices": [{"key": "yes"}, {"key": "no"}], "facts": {"shot": 1}}
    ]
    asked_at = room.frames
    room.until(lambda: any(w.request == "answer" for w in room.asked), 5)
    assert 0.9 < (room.frames - asked_at) * FRAME_NS / 1e9 < 1.3
    answer = next(w for w in room.asked if w.request == "answer")
    assert answer.body == {"question": "q1", "choice": "yes" if valid else "no"}
    room.until(lambda: sum(w.request == "answer" for w in room.asked) == 2, 5)


def test_a_round_is_not_swept_while_a_question_is_open() -> None:
    room = Room()
    room.table = {"phase": "idle", "shot": 0, "questions": []}

    def all_shot() -> bool:
        if room.course.stage != "counting":
            room.follow()
        return room.course.stage == "counting"

    room.until(all_shot)
    assert room.table is not None
    left = room.world.discs
    room.table = {
        **room.table,
        "phase": "settling",
        "questions": [{"id": "x", "kind": "round", "choices": [{"key": "keep"}]}],
    }
    for _ in range(300):
        room.frame()
    assert room.course.stage == "counting"
    assert room.world.discs.keys() == left.keys()
    room.table = {**room.table, "phase": "round_over", "questions": []}
    room.until(lambda: room.course.stage == "clearing", 2)


def test_fouled_discs_go_into_the_ditch_and_twenties_out_of_the_picture() -> None:
    room = Room(rounds=1, alone=True)
    seen_foul = seen_lift = False
    while not room.course.over:
        before = len(room.course.match.shots)
        room.frame()
        if room.course.stage == "thinking" and room.course.match.shots and before:
            verdict = room.course.match.shots[-1].verdict
            discs = room.world.discs
            for name in verdict.take_off:
                seen_foul = True
                assert discs[name].where == "ditch"
            for name in verdict.lift:
                seen_lift = True
                assert name not in discs
            in_play = {name for name, disc in discs.items() if disc.where != "ditch"}
            assert in_play == set(room.course.match.state.position.discs)
    assert seen_foul
    assert seen_lift


def test_a_match_that_somebody_ends_is_cleared_away_and_another_begins() -> None:
    room = Room(rounds=0)
    room.table = {"phase": "idle", "shot": 0, "questions": []}
    room.until(lambda: room.course.match.state.taken == 3)
    room.table = {"phase": "idle", "shot": 0, "questions": []}
    room.answer = lambda wish: None  # type: ignore[method-assign]
    room.until(lambda: room.course.stage == "starting", 40)
    assert room.world.discs == {}
    assert room.course.match.state.taken == 0


def test_a_match_that_the_hub_ends_too_early_ends_the_evening_and_not_the_patience() -> None:
    room = Room(rounds=0, games=1)
    room.table = {"phase": "idle", "shot": 0, "questions": []}
    room.until(lambda: room.course.match.state.taken == 2)
    room.table = {"phase": "match_over", "shot": 2, "questions": []}
    room.until(lambda: room.course.over, 10)


def test_a_match_that_is_ended_between_two_rounds_is_followed_by_another() -> None:
    room = Room(rounds=0)
    room.table = {"phase": "idle", "shot": 0, "questions": []}

    def cleared() -> bool:
        room.follow()
        return room.course.stage == "leaving"

    room.until(cleared)
    room.table = {"phase": "idle", "shot": 0, "questions": []}
    starts = len(room.asked)
    room.until(lambda: len(room.asked) > starts, 15)
    assert room.asked[-1].request == "start"


@pytest.mark.parametrize(("rounds", "games", "over"), [(2, 0, 5), (0, 3, 3), (0, 0, 1)])
def test_the_match_is_long_enough_for_what_is_to_be_played(rounds: int, games: int, over: int) -> None:
    assert Evening(rounds=rounds, games=games).match_games == over


@pytest.mark.parametrize("seed", [3, 4])
def test_the_truth_of_hostile_players_is_what_lies_on_the_board(tmp_path: Path, seed: int) -> None:
    room = Room(tmp_path / "truth.jsonl", alone=True, seed=seed, players="hostile")
    lying: list[int] = []
    while not room.course.over:
        counted = room.course.rounds
        on_board = [d for d in room.world.discs.values() if d.where in {"surface", "leaning"}]
        points = sum(TOURNAMENT.value(d.r_mm) for d in on_board)
        room.frame()
        assert room.frames < 20_000
        if room.course.rounds > counted:
            lying.append(points)
    room.diary.close()
    told = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text().splitlines()]
    rounds = [entry for entry in told if entry["is"] == "round"]
    assert [sum(r["totals"].values()) - 20 * sum(r["twenties"].values()) for r in rounds] == lying


def test_hostile_players_poke_push_leave_and_lift_late() -> None:
    room = Room(alone=True, rounds=2, seed=6, players="hostile")
    lay_in_hole = pokes = left = 0
    while not room.course.over:
        shots = len(room.course.match.shots)
        room.frame()
        if len(room.course.match.shots) > shots and shots:
            before = room.course.match.shots[-2]
            lay_in_hole += any(name in room.world.discs for name in before.verdict.lift)
            fouled = before.verdict.take_off & room.world.discs.keys()
            left += any(room.world.discs[name].where == "surface" for name in fouled)
        reaches = room.hands._reaches  # what the hands are about to do is nobody's business but theirs
        pokes += any(deed.what == "fumble" and len(reach.deeds) == 1 for reach in reaches for deed in reach.deeds)
    assert lay_in_hole
    assert pokes
    assert left


@pytest.mark.parametrize("how", [{"referee": True, "phase": "paused"}, {"phase": "paused"}, {"referee": True}])
@pytest.mark.parametrize("stage", ["thinking", "looking", "counting"])
def test_nobody_shoots_or_touches_a_disc_while_the_referee_is_called_or_play_rests(
    how: dict[str, Any], stage: str
) -> None:
    room = Room()
    course = room.course
    room.table = {"phase": "idle", "shot": 0, "questions": []}

    def met() -> bool:
        room.follow()
        return course.stage == stage and len(course.match.shots) >= (0 if stage == "thinking" else 1)

    room.until(met, longest_s=600)
    room.until(lambda: room.hands.idle)
    playing = room.table
    shots, lying = len(course.match.shots), room.world.discs
    room.table = {**(playing or {}), **how, "questions": [{"id": "q", "kind": "twenty", "choices": []}]}
    asked = len(room.asked)
    for _ in range(round(55e9 / FRAME_NS)):
        room.frame()
    assert (course.stage, len(course.match.shots), len(room.asked)) == (stage, shots, asked)
    assert room.world.discs == lying

    room.table = {**(playing or {}), "questions": []}
    room.until(lambda: course.stage != stage, longest_s=60)


def test_players_whom_no_referee_comes_to_play_on_after_a_minute() -> None:
    room = Room()
    room.table = {"phase": "idle", "shot": 0, "questions": []}
    room.until(lambda: room.course.stage == "thinking")
    room.table = {**room.table, "phase": "paused", "referee": True}
    room.until(lambda: len(room.course.match.shots) == 1, longest_s=90)
    assert room.frames * FRAME_NS > 60e9
