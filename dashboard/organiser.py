"""The organiser's page: all boards in one list, and what an evening needs done at them, on a phone too."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from dashboard import auth
from dashboard.asking import Asker
from dashboard.table import RULES


def blueprint(asker: Asker) -> Blueprint:
    """The page ``/organiser``."""
    pages = Blueprint("organiser", __name__)

    @pages.get("/organiser")
    def page() -> Response | tuple[str, int] | str:
        if "token" in request.args:
            return auth.enter_by_link(asker, auth.EVERYWHERE, url_for("organiser.page"))
        if not auth.token_for(auth.CLUB):
            return redirect(url_for("auth.login", board=auth.CLUB), 303)
        return render_template("organiser.html", rules=RULES)

    return pages
