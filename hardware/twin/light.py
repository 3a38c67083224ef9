"""How the simulated camera takes its picture: lamps and glare before the lens, blur, exposure and noise behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.twin.lens import CameraPose

Picture = NDArray[np.uint8]
Field = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Optics:
    """Everything between the board and the file that is not geometry; the defaults are a perfect camera.

    Attributes:
        exposure: factor on the picture's values, 0.15 (nearly black) to 1.
        tint_bgr: white balance error, a factor for each channel.
        noise_sigma: standard deviation of the noise, grey levels.
        blur_px: sigma of the lens blur.
        jpeg_quality: 1-100 when the camera hands out JPEG, None for raw frames.
        shutter_ms: exposure time, which smears whatever moves.
        shading: how much darker the far side of the room's light is, 0-0.6.
        shading_deg: board-frame angle of the brightest side.
        vignette: loss of light in the corners, 0-0.5.
        glare: brightness of the lamp's or window's patch on the varnish, grey levels.
        glare_xy_mm: where the reflection lies on the surface.
        glare_size_mm: half axes of the patch.
        glare_window: a window with its cross instead of a round lamp.
        shadow_deg: board-frame angle towards which shadows fall.
        shadow_slope: length of a shadow for each mm of height.
        shadow_soft_mm: breadth of its soft edge.
        shadow_strength: how much of the light it takes, 0-1.
        person_shadow: light taken by the shadow of somebody bending over the board, 0-0.6.
        person_soft_mm: breadth of that shadow's edge.
        drift: amplitude of the slow change of light, as a part of the exposure.
        drift_period_frames: frames of one swing of the light.
    """

    exposure: float = 1.0
    tint_bgr: tuple[float, float, float] = (1.0, 1.0, 1.0)
    noise_sigma: float = 0.0
    blur_px: float = 0.0
    jpeg_quality: int | None = None
    shutter_ms: float = 0.0
    shading: float = 0.0
    shading_deg: float = 0.0
    vignette: float = 0.0
    glare: float = 0.0
    glare_xy_mm: tuple[float, float] = (120.0, 150.0)
    glare_size_mm: tuple[float, float] = (70.0, 45.0)
    glare_window: bool = False
    shadow_deg: float = 70.0
    shadow_slope: float = 0.6
    shadow_soft_mm: float = 5.0
    shadow_strength: float = 0.0
    person_shadow: float = 0.0
    person_soft_mm: float = 22.0
    drift: float = 0.0
    drift_period_frames: int = 9000

    def __post_init__(self) -> None:
        if not 0 < self.exposure <= 4 or self.noise_sigma < 0 or self.blur_px < 0 or self.shutter_ms < 0:
            raise ValueError(
                f"optics: exposure {self.exposure} must be in 0..4, noise {self.noise_sigma}, blur {self.blur_px} and "
                f"shutter {self.shutter_ms} must not be negative"
            )
        if self.jpeg_quality is not None and not 1 <= self.jpeg_quality <= 100:
            raise ValueError(f"optics: JPEG quality must be 1..100 or None, got {self.jpeg_quality}")

    @property
    def shadow_xy(self) -> tuple[float, float]:
        """Shift of a shadow in mm for each mm of height."""
        a = math.radians(self.shadow_deg)
        return (-self.shadow_slope * math.sin(a), -self.shadow_slope * math.cos(a))

    def light_at(self, frame_number: int) -> float:
        """The exposure of one frame with the drift, in steps that a camera's eight bits could just tell."""
        swing = math.sin(2 * math.pi * frame_number / self.drift_period_frames)
        return self.exposure * (1 + round(self.drift * swing * 400) / 400)


def nominal_optics() -> Optics:
    """A fair webcam in a lit room: 5 ms shutter, a lamp to one side, two grey levels of noise."""
    return Optics(
        exposure=0.94,
        tint_bgr=(0.97, 1.0, 1.01),
        noise_sigma=2.0,
        blur_px=0.55,
        shutter_ms=5.0,
        shading=0.12,
        shading_deg=215.0,
        vignette=0.1,
        glare=26.0,
        glare_xy_mm=(-140.0, 110.0),
        glare_size_mm=(80.0, 55.0),
        shadow_deg=40.0,
        shadow_slope=0.65,
        shadow_soft_mm=6.0,
        shadow_strength=0.42,
        drift=0.02,
    )


def hard_optics(seed: int) -> Optics:
    """Any light and any camera that a club may have, drawn over the ranges a reader must stand."""
    rng = np.random.default_rng([seed, 0x4A5D])

    def uniform(low: float, high: float) -> float:
        return float(rng.uniform(low, high))

    dim = rng.random() < 0.35
    return Optics(
        exposure=float(np.exp(uniform(math.log(0.15), math.log(0.6)))) if dim else uniform(0.6, 1.0),
        tint_bgr=(uniform(0.75, 1.05), 1.0, uniform(0.9, 1.1)),
        noise_sigma=uniform(2, 12) * (0.5 if dim else 1.0),
        blur_px=uniform(0.3, 2.5) if rng.random() < 0.5 else uniform(0.3, 1.0),
        jpeg_quality=int(rng.integers(20, 96)) if rng.random() < 0.7 else None,
        shutter_ms=uniform(1, 16),
        shading=uniform(0, 0.55),
        shading_deg=uniform(0, 360),
        vignette=uniform(0, 0.35),
        glare=uniform(20, 150) if rng.random() < 0.7 else 0.0,
        glare_xy_mm=(uniform(-280, 280), uniform(-280, 280)),
        glare_size_mm=(uniform(30, 140), uniform(25, 90)),
        glare_window=bool(rng.random() < 0.5),
        shadow_deg=uniform(0, 360),
        shadow_slope=uniform(0.3, 1.1),
        shadow_soft_mm=uniform(2.5, 9.0),
        shadow_strength=uniform(0.15, 0.6),
        person_shadow=uniform(0.1, 0.5) if rng.random() < 0.4 else 0.0,
        drift=uniform(0.0, 0.12),
        drift_period_frames=int(rng.integers(900, 12000)),
    )


def light_field(optics: Optics, pose: CameraPose, gx: Field, gy: Field, seed: int) -> Field:
    """Part of the light that reaches each pixel's point of the board, float32 ``(H, W)``."""
    a = math.radians(optics.shading_deg)
    along = np.clip((-math.sin(a) * gx - math.cos(a) * gy) / 400, -1.2, 1.2)
    field = 1 - optics.shading * (1 - along) / 2
    if optics.vignette:
        h, w = gx.shape
        v, u = np.ogrid[:h, :w]
        cu, cv = pose.centre_px
        field *= 1 - optics.vignette * ((u - cu) ** 2 + (v - cv) ** 2).astype(np.float32) / (cu * cu + cv * cv)
    if optics.person_shadow:
        rng = np.random.default_rng([seed, 0x5AD0])
        deg, offset = rng.uniform(0, 2 * math.pi), rng.uniform(120, 330)
        across = gx * np.float32(math.cos(deg)) + gy * np.float32(math.sin(deg))
        beside = np.abs(gy * np.float32(math.cos(deg)) - gx * np.float32(math.sin(deg)))
        edge = offset + 0.15 * beside
        inside = np.clip((edge - across) / np.float32(optics.person_soft_mm), -40, 40)
        field *= 1 - optics.person_shadow / (1 + np.exp(inside))
    return np.ascontiguousarray(field, dtype=np.float32)


def glare_field(optics: Optics, gx: Field, gy: Field) -> Field:
    """Light that the varnish throws back, grey levels to add, float32 ``(H, W)``."""
    if not optics.glare:
        return np.zeros_like(gx)
    (x, y), (a, b) = optics.glare_xy_mm, optics.glare_size_mm
    p, q = (gx - np.float32(x)) / np.float32(a), (gy - np.float32(y)) / np.float32(b)
    if not optics.glare_window:
        patch = np.exp(-(p * p + q * q))
    else:
        pane = 1 / (1 + np.exp(np.clip((np.maximum(np.abs(p), np.abs(q)) - 1) * 9, -30, 30)))
        bars = 1 - 0.8 * np.exp(-((p * 14) ** 2)) - 0.8 * np.exp(-((q * 12) ** 2))
        patch = pane * np.clip(bars, 0, 1)
    return np.ascontiguousarray(optics.glare * patch, dtype=np.float32)


class Sensor:
    """Turns the clean picture into what the camera hands out: exposure, noise and JPEG, repeatable by frame number."""

    def __init__(self, optics: Optics, size_wh: tuple[int, int], seed: int) -> None:
        self._optics = optics
        self._seed = seed
        self._shape = (size_wh[1], size_wh[0], 3)
        self._brighter, self._darker = _noise(optics.noise_sigma, size_wh, seed)

    def relight(self, optics: Optics) -> None:
        """Another colour of the light; the noise stays what it was."""
        self._optics = optics

    def lut(self, light: float) -> NDArray[np.uint8]:
        """Table ``(1, 256, 3)`` from clean values to exposed ones."""
        values = np.arange(256)[None, :, None] * light * np.array(self._optics.tint_bgr)
        return np.asarray(np.clip(np.rint(values), 0, 255), dtype=np.uint8)

    def take(self, exposed: Picture, frame_number: int, out: Picture | None = None) -> Picture:
        """The picture with this frame's noise, as JPEG leaves it, in ``out`` or a fresh array."""
        if out is None:
            out = np.empty(self._shape, np.uint8)
        if self._brighter.size:
            pixels = self._shape[0] * self._shape[1]
            spare = self._brighter.size // 3 - pixels
            mixed = np.random.SeedSequence([self._seed & 0xFFFFFFFF, frame_number]).generate_state(2)
            start, swap = int(mixed[0]) % spare * 3, mixed[1] & 1
            plus, minus = (self._darker, self._brighter) if swap else (self._brighter, self._darker)
            cut = slice(start, start + pixels * 3)
            cv2.add(exposed, plus[cut].reshape(self._shape), dst=out)
            cv2.subtract(out, minus[cut].reshape(self._shape), dst=out)
        else:
            out[...] = exposed
        if self._optics.jpeg_quality is not None:
            _, packed = cv2.imencode(".jpg", out, [cv2.IMWRITE_JPEG_QUALITY, self._optics.jpeg_quality])
            out[...] = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
        return out


def _noise(sigma: float, size_wh: tuple[int, int], seed: int) -> tuple[Picture, Picture]:
    """A stock of noise, its positive and its negative half; frames cut theirs out at random places.

    Half of the chroma noise is spread over neighbours, as the colour filter of a real sensor does.
    """
    if not sigma:
        return np.zeros(0, np.uint8), np.zeros(0, np.uint8)
    w, h = size_wh
    rng = np.random.default_rng([seed & 0xFFFFFFFF, 0x0153])
    stock = rng.standard_normal((h + h // 2, w, 3), dtype=np.float32)
    smooth = np.asarray(cv2.GaussianBlur(stock, (0, 0), 0.8), dtype=np.float32)
    smooth = smooth / smooth.std()
    stock = (stock.mean(axis=2, keepdims=True) * np.float32(math.sqrt(3) * 0.8)) + smooth * np.float32(0.6)
    values = np.rint(stock * np.float32(sigma / stock.std())).ravel()
    return np.clip(values, 0, 255).astype(np.uint8), np.clip(-values, 0, 255).astype(np.uint8)
