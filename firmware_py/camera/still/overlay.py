"""A picture of what was read in a photo, which a person can check at a glance.

The rings are drawn where they were found, every disc is outlined in the colour of its side with its value beside it,
what is too close to call is ringed twice with a question mark, and a strip above says the totals.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from firmware_py.camera.board.rings import ring_points, shrink
from firmware_py.camera.picture.lab import Image
from firmware_py.camera.picture.picturefile import Picture
from firmware_py.camera.still.photoreading import PhotoDisc, PhotoReading

#: Long side of the picture drawn.
SIDE_PX = 1400
STRIP_PX = 64
RING = (90, 220, 60)
LIGHT, DARK, DOUBT = (0, 200, 255), (255, 90, 200), (40, 40, 255)
INK, PAPER = (30, 30, 30), (255, 255, 255)
FONT = cv2.FONT_HERSHEY_SIMPLEX


def _label(picture: Image, text: str, at: tuple[int, int], colour: tuple[int, int, int], size: float) -> None:
    """Text on a dark plate, its middle at a point, kept inside the picture."""
    thick = max(1, round(size * 2.2))
    (width, height), base = cv2.getTextSize(text, FONT, size, thick)
    x = min(max(at[0] - width // 2, 3), picture.shape[1] - width - 3)
    y = min(max(at[1] + height // 2, height + 3), picture.shape[0] - base - 3)
    cv2.rectangle(picture, (x - 4, y - height - 4), (x + width + 4, y + base), INK, -1)
    cv2.putText(picture, text, (x, y), FONT, size, colour, thick, cv2.LINE_AA)


def _draw_disc(picture: Image, disc: PhotoDisc, scale: float, centre: tuple[float, float]) -> None:
    colour = LIGHT if disc.side == "light" else DARK
    x, y = (disc.x + 0.5) * scale - 0.5, (disc.y + 0.5) * scale - 0.5
    radius = disc.r * scale
    at = (round(x * 16), round(y * 16))
    cv2.circle(picture, at, round(radius * 16), INK, 4, cv2.LINE_AA, 4)
    cv2.circle(picture, at, round(radius * 16), colour, 2, cv2.LINE_AA, 4)
    if disc.zone == "ditch":
        return
    if not disc.sure:
        cv2.circle(picture, at, round((radius + 7) * 16), DOUBT, 3, cv2.LINE_AA, 4)
    # Beside the disc, away from the centre of the board, so that the face stays visible.
    dx, dy = x - centre[0], y - centre[1]
    far = math.hypot(dx, dy)
    ux, uy = (dx / far, dy / far) if far > radius else (0.0, -1.0)
    reach = radius + 24
    text = f"{disc.zone}" if disc.sure else f"{disc.zone}?"
    _label(picture, text, (round(x + ux * reach), round(y + uy * reach)), DOUBT if not disc.sure else colour, 0.62)


def draw_overlay(picture: Picture, reading: PhotoReading) -> Image:
    """The photo with what was read drawn over it.

    Args:
        picture: the photo as it was decoded.
        reading: what was read in it.

    Returns:
        8-bit picture, blue first, at most :data:`SIDE_PX` long plus a strip with the totals.
    """
    small, _ = shrink(picture.bgr, SIDE_PX)
    if max(small.shape[:2]) < SIDE_PX * 0.7:
        up = SIDE_PX * 0.7 / max(small.shape[:2])
        small = np.asarray(cv2.resize(small, None, fx=up, fy=up, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    canvas: Image = small.copy()
    scale = canvas.shape[1] / picture.size_wh[0]
    for ring in range(3):
        points = (ring_points(reading.rings, ring) + 0.5) * scale - 0.5
        cv2.polylines(canvas, [np.round(points * 16).astype(np.int32)], True, RING, 1, cv2.LINE_AA, 4)
    cx, cy = ((v + 0.5) * scale - 0.5 for v in reading.rings.ellipse(0)[:2])
    for disc in reading.discs:
        _draw_disc(canvas, disc, scale, (cx, cy))
    return np.vstack([_strip(canvas.shape[1], reading), canvas])


def _strip(width: int, reading: PhotoReading) -> Image:
    strip = np.full((STRIP_PX, width, 3), 34, np.uint8)
    totals = reading.totals
    doubts = sum(1 for d in reading.discs if not d.sure)
    size = min(1.0, width / 1100)
    x = 14
    parts = [(f"light {totals['light']}", LIGHT), (f"dark {totals['dark']}", DARK)]
    live = sum(1 for d in reading.discs if d.zone != "ditch")
    parts.append((f"{live} on the board, {len(reading.discs) - live} in the ditch", PAPER))
    if doubts:
        parts.append((f"{doubts} too close to call", DOUBT))
    for k, (text, colour) in enumerate(parts):
        font = size * (1.1 if k < 2 else 0.7)
        thick = 2 if k < 2 else 1
        cv2.putText(strip, text, (x, 43), FONT, font, colour, thick, cv2.LINE_AA)
        x += cv2.getTextSize(text, FONT, font, thick)[0][0] + round(34 * size)
    return strip
