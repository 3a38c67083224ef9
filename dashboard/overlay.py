"""The overlay for streams: one board's score on nothing, for OBS and the like to lay over their picture."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from dashboard.club import Club
from dashboard.errors import ApiError, board_or_404

PLACES = ("bottom-left", "bottom-right", "top-left", "top-right")


def blueprint(club: Club) -> Blueprint:
    """The page ``/overlay/<board>``; ``?place=`` one of :data:`PLACES`."""
    pages = Blueprint("overlay", __name__)

    @pages.get("/overlay/<board>")
    def page(board: str) -> tuple[str, int] | str:
        try:
            board_or_404(club, board)
            place = _place(request.args.get("place", PLACES[0]))
        except ApiError as error:
            return render_template("missing.html", message=error.message, boards=club.boards()), error.status
        return render_template("overlay.html", board=board, place=place)

    return pages


def _place(word: str) -> str:
    if word not in PLACES:
        raise ApiError(400, "bad_place", f"place: expected one of {', '.join(PLACES)}, got {word!r}.")
    return word
