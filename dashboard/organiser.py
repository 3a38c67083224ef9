"""The organiser's page: all boards in one list, and what an evening needs done at them, on a phone too."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from dashboard import auth
from dashboard.errors import ApiError
from dashboard.table import RULES


def blueprint() -> Blueprint:
    """The page ``/organiser``."""
    pages = Blueprint("organiser", __name__)

    @pages.get("/organiser")
    def page() -> Response | tuple[str, int] | str:
        try:
            if "token" in request.args:
                auth.accept_link(auth.EVERYWHERE, request.args["token"])
                return redirect(url_for("organiser.page"), 303)
        except ApiError as error:
            return error.message, error.status
        if not auth.token_for(auth.CLUB):
            return redirect(url_for("auth.login", board=auth.CLUB), 303)
        return render_template("organiser.html", rules=RULES)

    return pages
