"""Boards drawn with a true camera: perspective, the height and side wall of every disc, ditch, rail, pegs, shadows.

It stands apart from the twin's optics on purpose: reading is tested on pictures that no part of the product made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache

import cv2
import numpy as np

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Disc:
    """A disc with its base at ``x_mm, y_mm`` (y up the picture) and the height of its base."""

    x_mm: float
    y_mm: float
    colour: str = "light"
    base_mm: float = 0.0


@dataclass(frozen=True)
class Look:
    """Colours (blue, green, red) and figures of one board; lengths in mm."""

    surface: Colour = (95, 150, 200)
    line: Colour = (30, 35, 40)
    ditch: Colour = (40, 60, 110)
    rail: Colour = (60, 110, 170)
    floor: Colour = (170, 170, 165)
    hole: Colour = (30, 30, 35)
    light: Colour = (150, 205, 235)
    dark: Colour = (40, 45, 55)
    peg: Colour = (150, 150, 155)
    rings: tuple[float, float, float] = (101.6, 203.2, 304.8)
    line_width: float = 2.2
    edge: float = 330.0
    hole_radius: float = 17.5
    disc_radius: float = 16.0
    disc_height: float = 9.5
    grain: float = 5.0
    numbers: bool = True
    #: Paints of the 5, 10 and 15 zone, outermost first; the strip beyond the outer line stays bare.
    zones: tuple[Colour, ...] = ()
    quadrants: bool = True
    round_rail: bool = False
    #: Width of a line along the edge of the surface.
    outlined: float = 0.0
    #: Radius of the hole in discs that are washers, which show the surface there.
    washer: float = 0.0
    seed: int = 1


@dataclass(frozen=True)
class Camera:
    """A pinhole over the board: height over the surface, tilt towards an azimuth, a turn, a shift, a focal length."""

    height_mm: float = 1000.0
    tilt_deg: float = 0.0
    azimuth_deg: float = 0.0
    turn_deg: float = 0.0
    shift_mm: tuple[float, float] = (0.0, 0.0)
    focal: float = 1.0
    size_wh: tuple[int, int] = (1200, 1100)

    def matrix(self) -> np.ndarray:
        """The 3x4 projection from ``(x, y, height)`` in mm to pixels."""
        width, height = self.size_wh
        f = self.focal * max(self.size_wh)
        a, t, s = (math.radians(v) for v in (self.azimuth_deg, self.tilt_deg, self.turn_deg))
        # The camera stands at the end of an arm tilted by t towards the azimuth, and looks at the shifted middle.
        back = np.array([math.sin(t) * math.cos(a), math.sin(t) * math.sin(a), math.cos(t)])
        centre = back * (self.height_mm / math.cos(t)) + np.array([*self.shift_mm, 0.0])
        right = np.cross([0.0, 1.0, 0.0], back)
        right /= np.linalg.norm(right)
        down = np.cross(-back, right)
        right, down = right * math.cos(s) + down * math.sin(s), down * math.cos(s) - right * math.sin(s)
        rotation = np.stack([right, down, -back])
        k = np.array([[f, 0, (width - 1) / 2], [0, f, (height - 1) / 2], [0, 0, 1.0]])
        return k @ np.hstack([rotation, (-rotation @ centre)[:, None]])

    @property
    def foot(self) -> tuple[float, float]:
        """The point of the surface straight below the camera."""
        out = self.height_mm * math.tan(math.radians(self.tilt_deg))
        a = math.radians(self.azimuth_deg)
        return (out * math.cos(a) + self.shift_mm[0], out * math.sin(a) + self.shift_mm[1])

    def see(self, points: np.ndarray) -> np.ndarray:
        """Pixels of ``(n, 3)`` points."""
        p = np.hstack([points, np.ones((len(points), 1))]) @ self.matrix().T
        return p[:, :2] / p[:, 2:]

    @property
    def homography(self) -> np.ndarray:
        """Board plane in mm to pixels."""
        return self.matrix()[:, [0, 1, 3]]


@dataclass(frozen=True)
class Light:
    """What light and lens add: exposure, noise, blur, shadow of the discs and a slope of brightness."""

    exposure: float = 1.0
    noise: float = 2.0
    blur: float = 0.6
    shadow: float = 0.45
    shadow_mm: tuple[float, float] = (4.0, -3.0)
    slope: float = 0.1
    seed: int = 7


def circle(x: float, y: float, radius: float, height: float, n: int = 72) -> np.ndarray:
    a = np.arange(n) * (2 * np.pi / n)
    return np.stack([x + radius * np.cos(a), y + radius * np.sin(a), np.full(n, height)], axis=1)


SCALE = 2
SHIFT = 4


@dataclass
class _Canvas:
    camera: Camera
    picture: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        width, height = self.camera.size_wh
        self.picture = np.zeros((height * SCALE, width * SCALE, 3), np.float32)

    def pixels(self, points: np.ndarray) -> np.ndarray:
        p = (self.camera.see(points) + 0.5) * SCALE - 0.5
        return np.round(p * (1 << SHIFT)).astype(np.int32)

    def fill(self, points: np.ndarray, colour: Colour) -> None:
        cv2.fillPoly(self.picture, [self.pixels(points)], [float(c) for c in colour], cv2.LINE_AA, SHIFT)

    def hull(self, points: np.ndarray, colour: Colour) -> None:
        hull = cv2.convexHull(self.pixels(points))
        cv2.fillConvexPoly(self.picture, hull, [float(c) for c in colour], cv2.LINE_AA, SHIFT)

    def shade(self, points: np.ndarray, depth: float, blur_mm: float) -> None:
        mask = np.zeros(self.picture.shape[:2], np.float32)
        cv2.fillConvexPoly(mask, cv2.convexHull(self.pixels(points)), 1.0, cv2.LINE_AA, SHIFT)
        x, y, w, h = cv2.boundingRect((mask > 0).astype(np.uint8))
        if w == 0:
            return
        pad = 40
        y0, x0 = max(0, y - pad), max(0, x - pad)
        part = np.s_[y0 : y + h + pad, x0 : x + w + pad]
        sigma = max(0.5, blur_mm * self.camera.focal * max(self.camera.size_wh) * SCALE / self.camera.height_mm)
        soft = cv2.GaussianBlur(mask[part], (0, 0), sigma)
        self.picture[part] *= 1 - depth * soft[..., None]

    def line(self, points: np.ndarray, width_mm: float, colour: Colour, *, closed: bool) -> None:
        forward = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0) if closed else np.gradient(points, axis=0)
        normal = np.stack([-forward[:, 1], forward[:, 0], np.zeros(len(points))], axis=1)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        outer, inner = points + normal * width_mm / 2, points - normal * width_mm / 2
        if closed:
            both = [self.pixels(outer), self.pixels(inner)]
            cv2.fillPoly(self.picture, both, [float(c) for c in colour], cv2.LINE_AA, SHIFT)
        else:
            self.hull(np.concatenate([outer, inner]), colour)


def _grain(camera: Camera, look: Look) -> np.ndarray:
    """Wood grain fixed to the board: long streaks along x, in units of brightness."""
    rng = np.random.default_rng(look.seed)
    streaks = cv2.GaussianBlur(rng.normal(0, 1, (420, 420)).astype(np.float32), (0, 0), sigmaX=14, sigmaY=0.8)
    streaks += 0.4 * cv2.GaussianBlur(rng.normal(0, 1, (420, 420)).astype(np.float32), (0, 0), sigmaX=3, sigmaY=0.5)
    streaks /= streaks.std()
    to_mm = np.array([[2.0, 0, -420], [0, 2.0, -420], [0, 0, 1]])
    up = np.array([[SCALE, 0, (SCALE - 1) / 2], [0, SCALE, (SCALE - 1) / 2], [0, 0, 1.0]])
    width, height = camera.size_wh
    return cv2.warpPerspective(streaks, up @ camera.homography @ to_mm, (width * SCALE, height * SCALE))


def draw(
    discs: list[Disc], look: Look | None = None, camera: Camera | None = None, light: Light | None = None
) -> np.ndarray:
    """The picture, 8-bit, blue first."""
    return _draw(tuple(discs), look or Look(), camera or Camera(), light or Light()).copy()


@lru_cache(maxsize=32)
def _draw(discs: tuple[Disc, ...], look: Look, camera: Camera, light: Light) -> np.ndarray:
    canvas = _Canvas(camera)
    canvas.picture[:] = look.floor
    n = 72 if look.round_rail else 8
    turn = 0.0 if look.round_rail else math.pi / 8

    def rail(radius: float, height: float) -> np.ndarray:
        a = np.arange(n) * (2 * np.pi / n) + turn
        scale = 1.0 if look.round_rail else 1 / math.cos(math.pi / 8)
        return np.stack([radius * scale * np.cos(a), radius * scale * np.sin(a), np.full(n, height)], axis=1)

    inner, outer = look.edge + 52.0, look.edge + 68.0
    canvas.hull(rail(outer, 12.0), look.rail)
    canvas.fill(rail(inner, 12.0), tuple(int(c * 0.6) for c in look.rail))
    canvas.fill(rail(inner - 1, -12.7), look.ditch)
    ditch = [d for d in discs if d.base_mm < -8]
    for disc in ditch:
        _draw_disc(canvas, disc, look, light)
    canvas.hull(circle(0, 0, look.edge, -12.7, 180), tuple(int(c * 0.5) for c in look.surface))
    canvas.hull(circle(0, 0, look.edge, 0.0, 180), look.surface)
    for radius, paint in zip(reversed(look.rings), look.zones, strict=False):
        canvas.hull(circle(0, 0, radius, 0.0, 180), paint)
    for radius in look.rings:
        canvas.line(circle(0, 0, radius, 0.0, 360), look.line_width, look.line, closed=True)
    if look.outlined:
        canvas.line(circle(0, 0, look.edge - look.outlined / 2, 0.0, 360), look.outlined, look.line, closed=True)
    if look.quadrants:
        for k in range(4):
            a = math.pi / 4 + k * math.pi / 2
            d = np.array([math.cos(a), math.sin(a), 0.0])
            canvas.line(np.stack([d * look.rings[1], d * look.rings[2]]), look.line_width, look.line, closed=False)
    if look.numbers:
        _draw_numbers(canvas, look)
    canvas.hull(circle(0, 0, look.hole_radius, 0.0), tuple(int(c * 0.5) for c in look.hole))
    canvas.hull(circle(0, 0, look.hole_radius - 0.8, -6.0), look.hole)
    canvas.picture += (look.grain * _grain(camera, look))[..., None] * np.array([0.8, 1.0, 1.1], np.float32)
    for k in range(8):
        a = (k + 0.5) * math.pi / 4
        x, y = look.rings[0] * math.cos(a), look.rings[0] * math.sin(a)
        canvas.hull(np.concatenate([circle(x, y, 3.5, 0.0, 24), circle(x, y, 3.5, 12.0, 24)]), look.peg)
    # Those farther from the camera's foot first, so that nearer ones hide them rightly.
    foot = camera.foot
    live = [d for d in discs if d.base_mm >= -8]
    for disc in sorted(live, key=lambda d: -math.hypot(d.x_mm - foot[0], d.y_mm - foot[1])):
        _draw_disc(canvas, disc, look, light)
    return _expose(canvas.picture, camera, light)


def _draw_numbers(canvas: _Canvas, look: Look) -> None:
    middle = [(look.rings[0] * 0.75, "15"), ((look.rings[0] + look.rings[1]) / 2, "10")]
    middle.append(((look.rings[1] + look.rings[2]) / 2, "5"))
    ink = np.zeros(canvas.picture.shape[:2], np.uint8)
    for radius, text in middle:
        for k in range(4):
            a = k * math.pi / 2
            at = canvas.pixels(np.array([[radius * math.cos(a), radius * math.sin(a), 0.0]]))[0] / (1 << SHIFT)
            origin = (int(at[0]) - 14 * SCALE, int(at[1]) + 8 * SCALE)
            cv2.putText(ink, text, origin, cv2.FONT_HERSHEY_DUPLEX, 0.6 * SCALE, 255, 2, cv2.LINE_AA)
    share = ink[..., None].astype(np.float32) / 255
    canvas.picture += share * (np.array(look.line, np.float32) - canvas.picture)


def _draw_disc(canvas: _Canvas, disc: Disc, look: Look, light: Light) -> None:
    colour = getattr(look, disc.colour)
    z0, z1 = disc.base_mm, disc.base_mm + look.disc_height
    base = circle(disc.x_mm, disc.y_mm, look.disc_radius, z0)
    cast = base + np.array([*light.shadow_mm, 0.0])
    canvas.shade(np.concatenate([base, cast]), light.shadow, 2.0)
    top = circle(disc.x_mm, disc.y_mm, look.disc_radius, z1)
    wall = tuple(int(c * 0.62) for c in colour)
    canvas.hull(np.concatenate([base, top]), wall)
    canvas.hull(top, colour)
    if look.washer:
        canvas.hull(circle(disc.x_mm, disc.y_mm, look.washer, z1), look.surface)


def _expose(picture: np.ndarray, camera: Camera, light: Light) -> np.ndarray:
    size = camera.size_wh
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    ramp = 1 + light.slope * (np.linspace(-1, 1, size[0], dtype=np.float32))[None, :, None]
    small = small * ramp * light.exposure
    if light.blur > 0:
        small = cv2.GaussianBlur(small, (0, 0), light.blur)
    small += np.random.default_rng(light.seed).normal(0, light.noise, small.shape).astype(np.float32)
    return np.clip(small + 0.5, 0, 255).astype(np.uint8)


BLUE = Look(
    surface=(100, 60, 25),
    line=(50, 70, 200),
    ditch=(60, 60, 170),
    rail=(70, 140, 190),
    hole=(50, 60, 180),
    light=(110, 160, 200),
    dark=(28, 26, 26),
    grain=2.0,
    rings=(103.4, 219.3, 304.8),
)
WHITE = Look(
    surface=(235, 238, 240),
    line=(40, 20, 170),
    ditch=(225, 228, 230),
    rail=(150, 200, 225),
    floor=(250, 250, 250),
    light=(45, 30, 190),
    dark=(40, 38, 38),
    grain=0.8,
    rings=(98.5, 205.4, 304.8),
)
OAK = Look(
    surface=(80, 150, 200),
    line=(35, 45, 60),
    ditch=(55, 105, 165),
    rail=(50, 95, 150),
    hole=(60, 20, 130),
    light=(150, 195, 220),
    dark=(45, 55, 70),
    grain=7.0,
    line_width=1.1,
    rings=(103.4, 218.5, 304.8),
    disc_radius=15.6,
)
GREEN = Look(
    surface=(70, 110, 60),
    line=(210, 225, 230),
    ditch=(30, 32, 34),
    rail=(25, 28, 30),
    hole=(20, 20, 22),
    light=(60, 190, 230),
    dark=(150, 60, 40),
    grain=2.5,
    round_rail=True,
    rings=(104.0, 204.0, 304.8),
    disc_radius=16.6,
    quadrants=True,
)
PAINTED = replace(
    Look(),
    zones=((150, 70, 30), (60, 190, 230), (50, 40, 170)),
    line=(235, 236, 238),
    light=(225, 232, 236),
    dark=(40, 42, 46),
    grain=3.0,
)
#: A line between two paints of which it is the one, and steps without any line.
STEPPED = replace(PAINTED, zones=((40, 62, 95), (150, 195, 222), (70, 110, 60)), line=(150, 195, 222))
LOOKS = {
    "plain": Look(),
    "blue": BLUE,
    "white": WHITE,
    "oak": OAK,
    "green": GREEN,
    "painted": PAINTED,
    "stepped": STEPPED,
}


def bare(look: Look) -> Look:
    """The same board without numbers and quadrant lines."""
    return replace(look, numbers=False, quadrants=False)


SIZE = (900, 820)

#: x, y, colour, height of the base, zone on every drawn board (lines differ by a few mm, these stand clear of them).
ROUND = [
    (0.0, 0.0, "light", -6.0, 20),
    (45.0, 40.0, "dark", 0.0, 15),
    (-30.0, 55.0, "light", 0.0, 15),
    (150.0, -20.0, "light", 0.0, 10),
    (-90.0, -115.0, "dark", 0.0, 10),
    (30.0, 245.0, "dark", 0.0, 5),
    (-190.0, -160.0, "light", 0.0, 5),
    (306.0, -20.0, "dark", 0.0, 0),
    (362.0, 60.0, "dark", -12.7, "ditch"),
    (-310.0, 185.0, "light", -12.7, "ditch"),
    (-60.0, -362.0, "dark", -12.7, "ditch"),
]


def draw_round(look: str = "plain", camera: Camera | None = None, light: Light | None = None) -> np.ndarray:
    """A board with the finished round."""
    discs = [Disc(x, y, colour, base) for x, y, colour, base, _ in ROUND]
    return draw(discs, LOOKS[look], camera or Camera(size_wh=SIZE), light)
