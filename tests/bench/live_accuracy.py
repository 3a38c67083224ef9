"""Accuracy of the live reader on simulated rounds: places, missed and invented discs, verdicts, and its cost.

Plays whole rounds without any process: the twin's players and physics, its optics, and the live reader on every frame,
or on those that a starved machine would leave it. Players are a beginner, a club player and an expert, seed by seed.
Run it as ``python -m tests.bench.live_accuracy --fps 60 --shots 300 --seeds 1,2,3 [--drop SHARE] [--style NAME]``.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np
from msgspec.structs import replace

from firmware_py.camera.live import LiveReader
from firmware_py.camera.source import Frame
from hardware.board import TOURNAMENT, Board, to_xy
from hardware.twin import truth
from hardware.twin.course import Course, Evening
from hardware.twin.hands import Hands
from hardware.twin.optics import Renderer, nominal_optics, nominal_pose
from hardware.twin.player import Skill
from hardware.twin.styles import NAMED
from hardware.twin.world import World
from hub.judging.lines import CLOSE_SIGMAS
from hub.link import messages
from hub.rules.position import Place, Shot
from hub.rules.verdict import Verdict
from tests.bench.contact_tally import ContactTally, key

MATCH_MM = 12.0
SIDES = {"light": "A", "dark": "B"}
SKILLS = (Skill(aim_deg=3.0, pace=0.2), Skill(), Skill(aim_deg=0.8, pace=0.05))


@dataclass
class Score:
    """Running figures."""

    off_mm: list[float] = field(default_factory=list)
    radial_mm: list[float] = field(default_factory=list)
    sigmas: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    idle_ms: list[float] = field(default_factory=list)
    moving_ms: list[float] = field(default_factory=list)
    read_ms: list[float] = field(default_factory=list)
    contacts: ContactTally = field(default_factory=ContactTally)


class Evenings:
    """One simulated board with the live reader over it."""

    def __init__(
        self,
        *,
        seed: int,
        rounds: int,
        style: str,
        rate_hz: float,
        height: bool,
        board: Board = TOURNAMENT,
        skill: Skill | None = None,
        drop: float = 0.0,
        score: Score | None = None,
    ) -> None:
        self.board, self.rate_hz, self.drop = board, rate_hz, drop
        self.chance = random.Random(seed)
        self.world = World(board, seed, hole_xy_mm=NAMED[style].hole_offset_xy_mm)
        self.hands = Hands(self.world)
        self.course = Course(
            board,
            self.world,
            self.hands,
            Evening("match-play", rounds),
            seed=seed,
            diary=truth.Diary(None),
            alone=True,
            skill=skill,
        )
        pose = nominal_pose(board)
        self.eye = Renderer(board, NAMED[style], pose, nominal_optics(), seed)
        self.reader = LiveReader(board, height_mm=pose.height_mm if height else 0.0)
        self.score = score or Score()
        self.events_from = 0
        self.names: dict[str, str] = {}
        self.shot_id = ""
        self.shot_fact: messages.Shot | None = None
        self.number = 0
        self.judged = 0
        self.last_layout: messages.Layout | None = None
        self.pending: tuple[object, truth.Judged] | None = None

    def run(self, *, stop: int | None = None) -> Score:
        """Play until the evening is over."""
        while not self.course.over:
            self.number += 1
            at_ns = round(self.number * 1e9 / self.rate_hz)
            self.hands.step(at_ns)
            resting = self.reader.at_rest
            if not resting and self.chance.random() < self.drop:
                self.play(at_ns)
                continue
            frame = Frame(self.number, at_ns, 5_000_000, self.eye.render(self.world.scene(), self.number))
            begin = time.process_time()
            facts = self.reader.take(frame)
            cost_ms = (time.process_time() - begin) * 1e3
            if at_ns > 1_000_000_000:
                read = any(isinstance(f, messages.Layout | messages.Shot) for f in facts)
                bucket = self.score.read_ms if read else self.score.idle_ms if resting else self.score.moving_ms
                bucket.append(cost_ms)
            for fact in facts:
                self.heed(fact)
            self.play(at_ns)
            if stop is not None and self.judged >= stop:
                break
        return self.score

    def play(self, at_ns: int) -> None:
        """Let the players go on, and judge the reader's word on the shot when they have looked at it."""
        if self.reader.rest is None or at_ns <= 2_000_000_000:
            return
        before = len(self.course.match.shots), self.course.rounds
        state = self.course.match.state
        self.course.step(at_ns)
        if (len(self.course.match.shots), self.course.rounds) != before and self.course.match.shots:
            self.pending = (state, self.course.match.shots[-1])
        if self.course.stage == "tidying" and self.pending is not None:
            self.compare(*self.pending)
            self.pending = None

    def heed(self, fact: messages.Fact) -> None:
        """Take a fact of the reader."""
        if isinstance(fact, messages.Shot):
            if self.shot_fact is not None:
                self.note("two shots", f"{fact.disc}")
            self.shot_fact = fact
        elif isinstance(fact, messages.Layout):
            self.last_layout = fact
            self.layout(fact)
        elif isinstance(fact, messages.Cleared):
            self.score.counts["cleared"] += 1

    def layout(self, fact: messages.Layout) -> None:
        """Compare a layout with what truly lies there."""
        seen = [d for d in fact.discs if d.state != "ditch" and d.id not in fact.unseen]
        true = {n: d for n, d in self.world.discs.items() if d.where not in {"ditch", "hand"}}
        left = dict(true)
        names: dict[str, str] = {}
        pairs = sorted((math.hypot(s.x_mm - d.x_mm, s.y_mm - d.y_mm), s.id, n) for s in seen for n, d in true.items())
        by_id = {s.id: s for s in seen}
        for off, mine, name in pairs:
            if mine in names or name not in left or off > MATCH_MM:
                continue
            names[mine] = name
            disc, spot = left.pop(name), by_id[mine]
            self.score.counts["discs"] += 1
            if SIDES.get(spot.colour) != name[0]:
                self.note("colour", f"{name} is called {spot.colour}")
            if (spot.state == "hole") != (disc.where == "hole"):
                self.note("state", f"{name} is {disc.where}, called {spot.state}")
            if self.names.get(mine, name) != name:
                self.note("id", f"{mine} was {self.names[mine]}, is {name}")
            if disc.where == "surface":
                r = math.hypot(disc.x_mm, disc.y_mm)
                self.score.off_mm.append(off)
                radial = math.hypot(spot.x_mm, spot.y_mm) - r
                self.score.radial_mm.append(radial)
                self.score.sigmas.append(spot.sigma_mm)
                wrong = self.board.value(r) != self.board.value(math.hypot(spot.x_mm, spot.y_mm))
                flagged = self.board.margin_mm(math.hypot(spot.x_mm, spot.y_mm)) < 2 * spot.sigma_mm
                self.score.counts["zone flagged"] += flagged
                if wrong and not flagged:
                    self.note("zone", f"{name} at {r:.2f} read {math.hypot(spot.x_mm, spot.y_mm):.2f}")
        for name, disc in left.items():
            self.note("missed", f"{name} at {disc.r_mm:.1f} {disc.where} x {disc.x_mm:.0f} y {disc.y_mm:.0f}")
        for s in seen:
            if s.id not in names:
                self.note("invented", f"{s.id} {s.colour} at {math.hypot(s.x_mm, s.y_mm):.1f} {s.state}")
        self.names.update(names)

    def compare(self, state: object, judged: truth.Judged) -> None:
        """Compare the reader's shot with the true one."""
        self.judged += 1
        counts = self.score.counts
        counts["shots"] += 1
        fact, self.shot_fact = self.shot_fact, None
        where = f"shot {judged.number}"
        happened = self.world.events[self.events_from :]
        self.events_from = len(self.world.events)
        if fact is None:
            self.score.contacts.take((), happened)
            self.note("no shot", f"{where}: {judged.shot.events}")
            return
        self.shot_id = fact.disc
        lies = self.lying_there(fact, judged)
        told, true = _gist(self.verdict(state, fact, judged), lies), _gist(judged.verdict, {})
        readings = [reading for doubt in fact.doubts for reading in doubt.readings]
        others = [_gist(self.verdict(state, replace(fact, events=reading), judged), lies) for reading in readings]
        asked = any(other != told for other in others) or any(not doubt.readings for doubt in fact.doubts)
        close = self.close_to_line(fact)
        counts["doubted"] += bool(fact.doubts)
        counts["asked"] += asked
        counts["flagged"] += bool(fact.doubts) or close
        counts["not placed"] += fact.placed is None
        said = [self.named(e, judged) for e in fact.events]
        real = list(judged.shot.events)
        if told != true:
            flag = bool(fact.doubts) or close
            kind = "verdict, flagged" if flag else "verdict, silent"
            self.note(kind, f"{where} {judged.shot.disc}: {told} is {true}; events {said} are {real}")
        a, b = Counter(map(key, said)), Counter(map(key, real))
        counts["events both"] += (a & b).total()
        counts["events said"] += a.total()
        counts["events true"] += b.total()
        wrong = self.score.contacts.take(list(zip(fact.events_ns, said, strict=True)), happened)
        if wrong:
            self.score.notes.append(f"contacts {where} {judged.shot.disc}: {'; '.join(wrong)}")

    def close_to_line(self, fact: messages.Shot) -> bool:
        """Whether a disc that moved lies too close to the outer line to call, by the hub's own measure of it."""
        sigmas = {d.id: d.sigma_mm for d in self.last_layout.discs} if self.last_layout else {}
        return any(
            not isinstance(place, str)
            and abs(place.r_mm - self.board.limits_mm[2]) < CLOSE_SIGMAS * sigmas.get(name, 0.0)
            for name, place in fact.rest.items()
        )

    def lying_there(self, fact: messages.Shot, judged: truth.Judged) -> dict[str, str]:
        """Whose place each disc that moved took, in the world's names: discs of a set are alike where they lie."""
        told = {self.name(mine, judged): place for mine, place in fact.rest.items()}
        moved = judged.shot.rest
        pairs = sorted(
            (math.dist(to_xy(there.r_mm, there.angle_deg), to_xy(place.r_mm, place.angle_deg)), name, other)
            for name, place in told.items()
            for other, there in moved.items()
            if not isinstance(place, str) and not isinstance(there, str) and name[0] == other[0]
        )
        lies: dict[str, str] = {}
        for off, name, other in pairs:
            if off <= MATCH_MM and name not in lies and other not in lies.values():
                lies[name] = other
        for name, place in told.items():
            free = (o for o, there in moved.items() if there == place and o[0] == name[0] and o not in lies.values())
            if isinstance(place, str) and (same := next(free, None)) is not None:
                lies[name] = same
        return lies

    def named(self, words: tuple[str, ...], judged: truth.Judged) -> tuple[str, ...]:
        """An event in the world's names."""
        return (words[0], *(self.name(w, judged) for w in words[1:]))

    def name(self, mine: str, judged: truth.Judged) -> str:
        """The world's name of one of the reader's discs; its shot disc is by its word the one that was shot."""
        shot = judged.shot.disc
        taken = self.names.get(self.shot_id, shot)
        if mine == self.shot_id or mine not in self.names:
            return shot
        return taken if self.names[mine] == shot else self.names[mine]

    def verdict(self, state: object, fact: messages.Shot, judged: truth.Judged) -> Verdict:
        """What the rules say of the shot as the reader tells it."""
        rest = {
            self.name(k, judged): v if isinstance(v, str) else Place(v.r_mm, v.angle_deg, v.leaning)
            for k, v in fact.rest.items()
        }
        rest = {k: v for k, v in rest.items() if k in state.position.discs or k == judged.shot.disc}  # type: ignore[attr-defined]
        rest.setdefault(judged.shot.disc, "ditch")
        known = {*state.position.discs, judged.shot.disc}  # type: ignore[attr-defined]
        events = tuple(e for e in (self.named(w, judged) for w in fact.events) if all(d in known for d in e[1:]))
        shot = Shot(judged.shot.side, judged.shot.seat, judged.shot.disc, events, rest)
        return truth.judge(state, shot)  # type: ignore[arg-type]

    def note(self, kind: str, text: str) -> None:
        """Count something wrong and keep what it was."""
        self.score.counts[kind] += 1
        self.score.notes.append(f"{kind}: {text} (frame {self.number})")


def _gist(verdict: Verdict, lies: Mapping[str, str]) -> tuple[object, ...]:
    """What a verdict comes to, discs named by where they lie."""
    removed, lift = (sorted(lies.get(d, d) for d in discs) for discs in (verdict.removed, verdict.lift))
    return (verdict.valid, removed, lift, dict(verdict.twenties))


def report(score: Score) -> None:
    """Print the figures."""
    off, sigma = np.array(score.off_mm), np.array(score.sigmas)
    radial = np.array(score.radial_mm)
    counts = score.counts
    if len(off):
        inside = np.mean(np.abs(radial) < 1.96 * sigma)
        print(
            f"places: median {np.median(off):.3f} p95 {np.percentile(off, 95):.3f} max {off.max():.2f} mm, "
            f"radial mean {radial.mean():+.3f} sd {radial.std():.3f}, 95 % covers {inside:.1%} of {len(off)}"
        )
    print("counts:", dict(sorted(counts.items())))
    for name in ("idle_ms", "moving_ms", "read_ms"):
        values = getattr(score, name)
        if values:
            print(f"{name}: median {np.median(values):.2f} p95 {np.percentile(values, 95):.2f} n {len(values)}")


def closing(score: Score) -> None:
    """Print the closing table."""
    counts, shots = score.counts, max(1, score.counts["shots"])
    every, shown = score.contacts.f1()
    told = score.contacts.counts
    hidden = told["true"] - told["true shown"]
    silent, missing = counts["verdict, silent"], counts["no shot"]
    print(f"shots {shots}: verdict wrong and not flagged {silent}, shots not told {missing}")
    print(f"flagged {counts['flagged']} ({counts['flagged'] / shots:.1%}); doubted by the shot {counts['doubted']}")
    print(f"contacts: F1 {every:.3f} of {told['true']}; {shown:.3f} without {hidden} too faint to be seen")
    for kind, count in sorted(score.contacts.kinds.items()):
        print(f"  {count:4d} {kind}")


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="1", help="evenings to play, as 1,2,3; the shots are shared out among them")
    parser.add_argument("--shots", type=int, default=24)
    parser.add_argument("--fps", type=float, default=30.0)
    parser.add_argument("--drop", type=float, default=0.0, help="share of frames in motion that never come")
    parser.add_argument("--style", default="maple", choices=sorted(NAMED))
    parser.add_argument("--no-height", action="store_true", help="let the reader estimate the camera's height")
    parser.add_argument("--notes", type=int, default=40)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    seeds = [int(seed) for seed in options.seeds.split(",")]
    score = Score()
    for k, seed in enumerate(seeds):
        shots = (k + 1) * options.shots // len(seeds) - k * options.shots // len(seeds)
        evening = Evenings(
            seed=seed,
            rounds=shots,
            style=options.style,
            rate_hz=options.fps,
            height=not options.no_height,
            skill=SKILLS[seed % len(SKILLS)],
            drop=options.drop,
            score=score,
        )
        evening.run(stop=shots)
    for text in score.notes[: options.notes]:
        print(text)
    report(score)
    closing(score)


if __name__ == "__main__":
    main()
