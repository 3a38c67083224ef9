"""The table page for phones: the board as the camera sees it, the score, and everything people can ask or answer."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from dashboard import auth
from dashboard.asking import Asker
from dashboard.club import Club
from dashboard.drawing import empty_board, half_mm
from dashboard.errors import ApiError, board_id, board_or_404

RULES = (
    ("match-play", "Match play: 2 points a round, first to 8"),
    ("classic", "Classic: the difference counts, to 100"),
    ("nca", "NCA: 4 rounds, 8 discs"),
    ("wcc", "World Championship: 4 rounds, 8 discs"),
    ("family", "Family"),
)
"""Names of rule sets that the page offers, with what people read; the hub alone knows the rules themselves."""


def blueprint(club: Club, asker: Asker) -> Blueprint:
    """The page ``/table/<board>`` and the picture of the empty board."""
    pages = Blueprint("table", __name__)
    board_picture = empty_board(club.geometry)

    @pages.get("/board.svg")
    def board_svg() -> Response:
        return Response(board_picture, mimetype="image/svg+xml", headers={"Cache-Control": "max-age=3600"})

    @pages.get("/table/<board>")
    def page(board: str) -> AnyResponse | tuple[str, int] | str:
        try:
            board_id(board)
            if "token" in request.args:
                return auth.enter_by_link(asker, board, url_for("table.page", board=board))
            may_ask = bool(auth.token_for(board))
            if not may_ask:  # whoever has the PIN of a board without sensors may start its first match
                board_or_404(club, board)
        except ApiError as error:
            return render_template("missing.html", message=error.message, boards=club.boards()), error.status
        return render_template("table.html", board=board, may_ask=may_ask, rules=RULES, half=half_mm(club.geometry))

    return pages
