"""The referee's pages: which tables call, and at each the pictures, the readings and a ruling in one tap."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from dashboard import auth
from dashboard.asking import Asker
from dashboard.club import Club
from dashboard.drawing import half_mm
from dashboard.errors import ApiError, board_id, board_or_404

REASONS = ("seen in the picture", "seen in the clip", "seen at the table", "both sides agree")
"""What a referee mostly says; anything else is typed."""


def blueprint(club: Club, asker: Asker) -> Blueprint:
    """The pages ``/referee`` and ``/referee/<board>``."""
    pages = Blueprint("referee", __name__)

    @pages.get("/referee")
    def everywhere() -> Response | tuple[str, int] | str:
        if "token" in request.args:
            return auth.enter_by_link(asker, auth.EVERYWHERE, url_for("referee.everywhere"))
        return render_template("referees.html")

    @pages.get("/referee/<board>")
    def page(board: str) -> Response | tuple[str, int] | str:
        try:
            board_id(board)
            if "token" in request.args:
                return auth.enter_by_link(asker, board, url_for("referee.page", board=board))
            if not auth.token_for(board):
                return redirect(url_for("auth.login", board=board), 303)
            board_or_404(club, board)
        except ApiError as error:
            return render_template("missing.html", message=error.message, boards=club.boards()), error.status
        return render_template("referee.html", board=board, reasons=REASONS, half=half_mm(club.geometry))

    return pages
