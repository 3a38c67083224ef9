"""Flask pages: the wall, the table page for phones, the HTTP API; this room only shows and asks."""

from __future__ import annotations

import hashlib
from pathlib import Path

from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from dashboard import api, auth, codes, organiser, overlay, pictures, referee, stream, table, wall
from dashboard.asking import Asker
from dashboard.cases import Cases
from dashboard.club import Club
from dashboard.errors import refused_by_framework

_POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "frame-ancestors 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "object-src 'none'",
    )
)


def create_app(
    club: Club, asker: Asker, cases: Cases, *, secret_key: str, title: str = "Crokinole", beat_s: float = 1.0
) -> Flask:
    """The dashboard as a WSGI application.

    Args:
        club: what is shown; started and closed by the caller.
        asker: what carries people's requests to the hub.
        cases: pictures of doubts and disputes.
        secret_key: signs the session cookies.
        title: of the pages.
        beat_s: seconds between the heartbeats of a silent stream.
    """
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY=secret_key,
        SESSION_COOKIE_NAME="crokinole",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        MAX_CONTENT_LENGTH=64 * 1024,
    )
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the default provider has it, the base class does not
    app.jinja_env.globals.update(site_title=title, pages=club.pages)
    auth.init_app(app)
    app.register_blueprint(wall.blueprint(club.geometry))
    app.register_blueprint(table.blueprint(club, asker))
    app.register_blueprint(overlay.blueprint(club))
    app.register_blueprint(stream.blueprint(club, beat_s=beat_s))
    app.register_blueprint(api.blueprint(club, asker, cases))
    app.register_blueprint(pictures.blueprint(club, asker, cases))
    app.register_blueprint(referee.blueprint(club, asker))
    app.register_blueprint(organiser.blueprint(asker))
    app.register_blueprint(codes.blueprint(asker))
    app.register_blueprint(auth.blueprint(asker))
    app.register_error_handler(HTTPException, refused_by_framework)
    app.after_request(_guard)
    return app


def pages_version() -> str:
    """A short word that changes with every change of a page, a script or a style sheet."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for folder in ("static", "templates"):
        for path in sorted((here / folder).glob("*.*")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _guard(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", _POLICY)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    # Pages, scripts and styles belong together: a browser asks each time whether its copy is still the right one.
    response.headers.setdefault("Cache-Control", "no-cache")
    response.headers.setdefault("Referrer-Policy", "same-origin")
    return response
