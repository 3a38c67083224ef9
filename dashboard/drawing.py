"""The board as SVG: wood, lines, hole and pegs from the board's geometry, discs from the hub's snapshot.

One unit of the drawing is a millimetre; x to the right, y down, so the board frame's y is turned over and seat 1 sits
below. The empty board is one picture that a browser keeps; the discs are drawn over it and moved by the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import msgspec

from hardware.board import Board
from hub.link.snapshot import DiscView, Removal, Table

RAIL_MM = 22.0
MARGIN_MM = 4.0
_GRAIN_STEP_MM = 9.0

_STYLE = Path(__file__).parent / "static" / "discs.css"


class Mark(msgspec.Struct, frozen=True):
    """One disc as it is drawn.

    Attributes:
        id: the camera's name for the disc.
        x: to the right, in mm of the drawing.
        y: downwards, in mm of the drawing.
        r: radius in mm.
        colour: light, dark or third.
        state: how the disc lies.
        label: what stands on it: its value, empty in the ditch.
        close: too close to a line to call.
        remove: people must take it away.
        asked: an open question is about it.
        title: the same in words.
    """

    id: str
    x: float
    y: float
    r: float
    colour: str
    state: str
    label: str
    close: bool
    remove: bool
    asked: bool
    title: str


def marks(table: Table, board: Board) -> tuple[Mark, ...]:
    """The discs of a snapshot as they are drawn; a disc to remove that the camera lost is drawn where it was last."""
    remove = {removal.disc: removal for removal in table.remove}
    asked = {disc for question in table.questions for disc in question.discs}
    drawn = [_mark(disc, board, remove.get(disc.id), asked=disc.id in asked) for disc in table.discs]
    there = {disc.id for disc in table.discs}
    drawn += [
        Mark(r.disc, *_place(r.x_mm, r.y_mm), board.disc_radius_mm, r.colour, "flat", "", False, True, False, r.text)
        for r in table.remove
        if r.disc not in there
    ]
    return tuple(drawn)


def _mark(disc: DiscView, board: Board, removal: Removal | None, *, asked: bool) -> Mark:
    x, y = _place(disc.x_mm, disc.y_mm)
    lies = {"hole": "in the hole", "ditch": "in the ditch"}.get(disc.state, disc.state)
    title = f"{disc.colour} disc, {lies}"
    label = _label(disc, removal)
    if label:
        title += f", {label} points"
    if disc.close:
        title += ", too close to a line to call"
    if removal is not None:
        title += f": {removal.text}"
    return Mark(
        disc.id,
        x,
        y,
        board.disc_radius_mm,
        disc.colour,
        disc.state,
        label,
        disc.close,
        removal is not None,
        asked,
        title,
    )


def _label(disc: DiscView, removal: Removal | None) -> str:
    if disc.state == "ditch":
        return ""
    if disc.state == "hole" and (removal is None or removal.why == "twenty"):
        return "20"  # banked already, so that the disc itself scores nothing more
    return str(disc.value)


def _place(x_mm: float, y_mm: float) -> tuple[float, float]:
    return round(x_mm, 1), round(-y_mm, 1)


def half_mm(board: Board) -> float:
    """Half the side of the square that the drawing fills, rail included."""
    return math.ceil(board.rail_radius_mm + RAIL_MM + MARGIN_MM)


def empty_board(board: Board) -> str:
    """The board without discs, as an SVG document."""
    return _document(board, _wood(board))


def drawing(board: Board, discs: Iterable[Mark]) -> str:
    """The board with its discs, as an SVG document."""
    return _document(board, _wood(board) + _style() + "".join(disc_svg(m) for m in discs))


def disc_svg(mark: Mark) -> str:
    """One disc as an SVG group; ``static/board.js`` makes the same in the page."""
    flags = [word for word, on in (("close", mark.close), ("remove", mark.remove), ("asked", mark.asked)) if on]
    classes = " ".join(["disc", mark.colour, mark.state, *flags])
    r = mark.r
    c = r * 0.55
    return (
        f"<g class={quoteattr(classes)} transform='translate({mark.x:g} {mark.y:g})'>"
        f"<title>{escape(mark.title)}</title>"
        f"<circle class='shade' r='{r:g}' cx='1.6' cy='2.6'/>"
        f"<circle class='face' r='{r:g}'/>"
        f"<circle class='rim' r='{r * 0.72:g}'/>"
        f"<circle class='ring' r='{r + 4:g}'/>"
        f"<text>{escape(mark.label)}</text>"
        f"<path class='cross' d='M{-c:g} {-c:g}L{c:g} {c:g}M{c:g} {-c:g}L{-c:g} {c:g}'/>"
        "</g>"
    )


def _style() -> str:
    return f"<style>{escape(_STYLE.read_text(encoding='utf-8'))}</style>"


def _document(board: Board, content: str) -> str:
    half = half_mm(board)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='{-half:g} {-half:g} {2 * half:g} {2 * half:g}' "
        f"role='img' aria-label={quoteattr(board.title)}>{content}</svg>"
    )


_GRADIENTS = """<defs>
<radialGradient id='maple' r='.72' cx='.42' cy='.36'><stop offset='0' stop-color='#efc98b'/><stop offset='.6'
 stop-color='#dfae69'/><stop offset='1' stop-color='#c58d48'/></radialGradient>
<linearGradient id='walnut' x1='0' y1='0' x2='1' y2='1'><stop offset='0' stop-color='#7a4a2a'/><stop offset='.5'
 stop-color='#5b341c'/><stop offset='1' stop-color='#3f2212'/></linearGradient>
<radialGradient id='felt'><stop offset='.8' stop-color='#0e2a20'/><stop offset='.9' stop-color='#164030'/><stop
 offset='1' stop-color='#0b2119'/></radialGradient>
<radialGradient id='bore'><stop offset='0' stop-color='#2a1a0e'/><stop offset='.75' stop-color='#1b0f07'/><stop
 offset='1' stop-color='#090402'/></radialGradient>
<radialGradient id='peg' cx='.35' cy='.3'><stop offset='0' stop-color='#ffffff'/><stop offset='.5'
 stop-color='#cfd3d8'/><stop offset='1' stop-color='#7c8288'/></radialGradient>
</defs>"""


def _wood(board: Board) -> str:
    inner, outer = board.rail_radius_mm, board.rail_radius_mm + RAIL_MM
    surface = board.surface_radius_mm
    line = f"fill='none' stroke='#4a2812' stroke-width='{max(board.line_width_mm, 1.8):g}'"
    parts = [
        _GRADIENTS,
        f"<path d='{_octagon(outer)}' fill='url(#walnut)' stroke='#1d0f07' stroke-width='2'/>",
        f"<path d='{_octagon(outer - 2.5)}' fill='none' stroke='#a06a3e' stroke-width='1' opacity='.6'/>",
        f"<path d='{_octagon(inner)}' fill='url(#felt)' stroke='#120904' stroke-width='4'/>",
        f"<circle r='{surface + 5:g}' cx='3' cy='6' fill='#000' opacity='.4'/>",
        f"<circle r='{surface:g}' fill='url(#maple)' stroke='#7c4f22' stroke-width='2.5'/>",
        _grain(surface),
        f"<circle r='{board.line_10_mm:g}' fill='#fff3d6' opacity='.10'/>",
        f"<circle r='{board.line_15_mm:g}' fill='#fff3d6' opacity='.14'/>",
        *(f"<circle r='{r:g}' {line}/>" for r in (board.line_15_mm, board.line_10_mm, board.outer_line_mm)),
        *_quadrants(board, line),
        *_numbers(board),
        f"<circle r='{board.hole_radius_mm:g}' fill='url(#bore)' stroke='#4a2812' stroke-width='2'/>",
        *(
            f"<circle cx='{x + 1.5:.2f}' cy='{-y + 2.5:.2f}' r='{board.peg_radius_mm:g}' fill='#000' opacity='.35'/>"
            f"<circle cx='{x:.2f}' cy='{-y:.2f}' r='{board.peg_radius_mm:g}' fill='url(#peg)' stroke='#4d5257' "
            "stroke-width='.6'/>"
            for x, y in board.pegs
        ),
    ]
    return "".join(parts)


def _octagon(apothem: float) -> str:
    corner = apothem / math.cos(math.pi / 8)
    points = [(corner * math.cos(a), corner * math.sin(a)) for a in (math.pi / 8 + k * math.pi / 4 for k in range(8))]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"


def _grain(radius: float) -> str:
    """Faint lines of wood grain, bent a little, ending at the edge of the surface."""
    lines = []
    count = int(radius // _GRAIN_STEP_MM)
    for k in range(-count, count + 1):
        y = k * _GRAIN_STEP_MM + 3 * math.sin(k * 1.7)
        reach = math.sqrt(max(0.0, (radius - 3) ** 2 - y * y))
        bend = 9 * math.sin(k * 0.9)
        bend = max(-(radius - 3 - abs(y)), min(radius - 3 - abs(y), bend))
        lines.append(f"M{-reach:.1f} {y:.1f}Q0 {y + bend:.1f} {reach:.1f} {y:.1f}")
    return f"<path d='{''.join(lines)}' fill='none' stroke='#8a5a26' stroke-width='1.1' opacity='.17'/>"


def _quadrants(board: Board, line: str) -> list[str]:
    c = math.sqrt(0.5)
    near, far = board.line_10_mm * c, board.outer_line_mm * c
    return [
        f"<path d='M{sx * near:.2f} {sy * near:.2f}L{sx * far:.2f} {sy * far:.2f}' {line}/>"
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]


def _numbers(board: Board) -> list[str]:
    middles = (
        ((board.hole_radius_mm + board.line_15_mm) / 2, "15"),
        ((board.line_15_mm + board.line_10_mm) / 2, "10"),
        ((board.line_10_mm + board.outer_line_mm) / 2, "5"),
    )
    return [
        f"<text x='0' y='{r:.1f}' transform='rotate({turn})' text-anchor='middle' dominant-baseline='central' "
        f"font-family='Georgia,serif' font-size='17' fill='#4a2812' opacity='.55'>{text}</text>"
        for turn in (0, 90, 180, 270)
        for r, text in middles
    ]
