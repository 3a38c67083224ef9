"""Shots of the simulated world as numbers: what a perfect tracker with some noise would hand to the contact finder."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from firmware_py.camera.motion.tracker import Sighting, Xy
from firmware_py.camera.motion.ways import Path
from hardware.board import TOURNAMENT, to_xy
from hardware.twin.world import World

START_NS = 500_000_000
SEEN_MOVED_MM = 2.5


@dataclass(frozen=True)
class Played:
    """A shot: its paths as seen, and what truly happened."""

    paths: dict[str, Path]
    events: tuple[tuple[str, ...], ...]


def _layout(rng: random.Random, count: int) -> list[Xy]:
    places: list[Xy] = []
    while len(places) < count:
        x, y = to_xy(290 * math.sqrt(rng.random()), rng.uniform(0, 360))
        if places and rng.random() < 0.2:
            near, turn = rng.choice(places), rng.uniform(0, 2 * math.pi)
            x, y = near[0] + 32.05 * math.cos(turn), near[1] + 32.05 * math.sin(turn)
        free = all(math.dist((x, y), p) > 32.02 for p in places)
        clear = all(math.dist((x, y), p) > 20.9 for p in TOURNAMENT.pegs)
        if 36 < math.hypot(x, y) < 285 and free and clear:
            places.append((x, y))
    return places


def play(seed: int, rate_hz: float = 30.0, noise_mm: float = 0.4) -> Played:
    """A random shot at a random layout; the shot disc is called ``s``."""
    rng = random.Random(seed)
    world = World(TOURNAMENT, seed)
    for k, (x, y) in enumerate(_layout(rng, rng.randint(2, 10))):
        world.place(f"d{k}", "light" if k % 2 == 0 else "dark", x, y)
    target = rng.choice(list(world.discs.values()))
    start = to_xy(TOURNAMENT.outer_line_mm, rng.uniform(-40, 40))
    aim = (target.x_mm + rng.gauss(0, 14) - start[0], target.y_mm + rng.gauss(0, 14) - start[1])
    way = math.hypot(*aim)
    speed = min(2900.0, math.sqrt(rng.uniform(250, 1500) ** 2 + 2 * 690 * way))
    world.place("s", "light", *start)
    before = world.discs
    phase = rng.random()
    world.step(START_NS)
    world.flick("s", speed * aim[0] / way, speed * aim[1] / way)
    points: dict[str, list[Sighting]] = {name: [] for name in before}
    rested = dict.fromkeys(before, START_NS)
    frame = 0
    while not world.at_rest():
        at_ns = START_NS + round((phase + frame) / rate_hz * 1e9)
        frame += 1
        world.step(at_ns)
        for disc in world.scene().discs:
            old = before[disc.id]
            if points[disc.id] or math.hypot(disc.x_mm - old.x_mm, disc.y_mm - old.y_mm) > SEEN_MOVED_MM:
                x, y = disc.x_mm + rng.gauss(0, noise_mm), disc.y_mm + rng.gauss(0, noise_mm)
                points[disc.id].append(Sighting(at_ns, x, y, noise_mm, disc.colour))
            else:
                rested[disc.id] = at_ns
    paths = {}
    for name, old in before.items():
        new = world.discs[name]
        moved = math.hypot(new.x_mm - old.x_mm, new.y_mm - old.y_mm) > 0.3 or new.where != old.where
        end = None if new.where == "ditch" else (new.x_mm + rng.gauss(0, 0.15), new.y_mm + rng.gauss(0, 0.15))
        paths[name] = Path(
            id=name,
            colour=old.colour,
            start=(old.x_mm, old.y_mm),
            start_ns=rested[name],
            points=tuple(points[name]),
            end=end,
            moved=moved or name == "s",
        )
    return Played(paths, tuple(e.words for e in world.events))
