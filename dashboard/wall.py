"""The wall: all boards on one screen, readable from across the room."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Response, render_template

from dashboard.drawing import half_mm
from hardware.board import Board

SOUNDS = Path(__file__).parent / "static" / "sound"

_ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-16 -16 32 32'><circle r='15' fill='#dfae69'/>"
    "<circle r='9' fill='none' stroke='#4a2812' stroke-width='1.5'/><circle r='4' fill='#1b0f07'/></svg>"
)


def blueprint(geometry: Board) -> Blueprint:
    """The page ``/`` and the icon of all pages."""
    pages = Blueprint("wall", __name__)
    clips = " ".join(clip_names())

    @pages.get("/")
    def page() -> str:
        return render_template("wall.html", clips=clips, half=half_mm(geometry))

    @pages.get("/favicon.ico")
    def icon() -> Response:
        return Response(_ICON, mimetype="image/svg+xml", headers={"Cache-Control": "max-age=86400"})

    return pages


def clip_names() -> tuple[str, ...]:
    """The spoken clips that are there, by name."""
    return tuple(sorted(path.stem for path in SOUNDS.glob("*.mp3")))
