"""Who may ask: a token from the hub, kept in a signed cookie that scripts cannot read, and a guard against forgery.

The dashboard knows no PIN and no token of its own: the hub's ``login`` gives tokens and the hub judges every one.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import Any, cast

from flask import Blueprint, Flask, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from dashboard.asking import Asker, AskError
from dashboard.errors import ApiError
from hub.link import asks, topics

MAX_TOKEN = 512
CLUB = "hub"
"""What an organiser enters in place of a board."""
EVERYWHERE = "*"
_MAX_BOARDS = 8
_ROLE_S = 60.0
_ROLES_KEPT = 1000
_roles: dict[tuple[str, str], tuple[str, float]] = {}
"""What the hub said of tokens, by their hash and the board, until when that is believed."""


def init_app(app: Flask) -> None:
    """Give every template the anti-forgery word of its session."""
    app.jinja_env.globals["csrf"] = csrf


def csrf() -> str:
    """The anti-forgery word of one browser's visit; made when it is first asked for."""
    if "csrf" not in session:
        session["csrf"] = secrets.token_urlsafe(24)
    return cast("str", session["csrf"])


def check_csrf(given: str) -> None:
    """Refuse a request that did not come from a page of ours.

    Raises:
        ApiError: 403.
    """
    if not hmac.compare_digest(csrf().encode(), given.encode()):
        raise ApiError(403, "csrf", "This page is out of date; load it again and retry.")


def remember(board: str, token: str, *, expires_ms: int = 0) -> None:
    """Keep a token in the session cookie; the oldest gives way when a browser has many.

    Args:
        board: where it is good; :data:`EVERYWHERE` for an organiser's.
        token: from the hub.
        expires_ms: wall time in milliseconds since 1970; 0 for never.
    """
    tokens: dict[str, Any] = dict(session.get("tokens", {}))
    tokens.pop(board, None)
    while len(tokens) >= _MAX_BOARDS:
        tokens.pop(next(iter(tokens)))
    tokens[board] = {"token": token, "expires_ms": expires_ms}
    session["tokens"] = tokens
    session.permanent = True


def forget(board: str) -> None:
    """Drop the token that was used at a board."""
    session["tokens"] = {b: t for b, t in session.get("tokens", {}).items() if b not in {board, EVERYWHERE}}


def token_for(board: str) -> str:
    """The token that this browser may use at a board, or an empty one."""
    for key in (board, EVERYWHERE):
        kept = session.get("tokens", {}).get(key)
        if kept and not 0 < kept["expires_ms"] < time.time() * 1000:
            return cast("str", kept["token"])
    return ""


def asker_token(board: str) -> str:
    """The token of a request: a bearer's, or the session's if the page proves that it is ours.

    Raises:
        ApiError: 401 without a token, 403 for a forged request.
    """
    given = bearer()
    if given:
        return given
    check_csrf(request.headers.get("X-CSRF-Token", ""))
    token = token_for(board)
    if not token:
        raise ApiError(401, "no_token", f"Enter the PIN of board {board} first.")
    return token


def bearer() -> str:
    """The token in the request's header, an empty one if there is none.

    Raises:
        ApiError: 401 if it cannot be a token.
    """
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return _checked(given.strip()) if scheme.lower() == "bearer" and given.strip() else ""


def role_at(asker: Asker, board: str, token: str) -> str:
    """What a token is good for at a board, as the hub says; asked again after a minute.

    Raises:
        ApiError: 401 without a token.
        AskError: the hub does not know it, or cannot be asked.
    """
    if not token:
        raise ApiError(401, "no_token", f"Enter the PIN of board {board} first.")
    key = (hashlib.sha256(token.encode()).hexdigest(), board)
    known = _roles.get(key)
    if known is not None and known[1] > time.monotonic():
        return known[0]
    role = str(asker.ask(board, "who", asks.Who(), token=token).body.get("role", ""))
    if len(_roles) >= _ROLES_KEPT:
        _roles.clear()
    _roles[key] = (role, time.monotonic() + _ROLE_S)
    return role


def _checked(token: str) -> str:
    if not 0 < len(token) <= MAX_TOKEN or not token.isprintable() or not token.isascii():
        raise ApiError(401, "bad_token", "This link is not whole: open it again, or enter the PIN.")
    return token


def enter_by_link(asker: Asker, board: str, page: str) -> Response | tuple[str, int]:
    """Take the token in the address of the request into the session, and go on to the page without it.

    In an address bar somebody would copy it by accident. What the hub does not know leads to the page that asks for the
    PIN; while the hub cannot be asked a token is taken as it is, and judged at the first request.

    Args:
        asker: asks the hub.
        board: whose page the link opens; :data:`EVERYWHERE` for a page of all boards.
        page: address of the page without the token.
    """
    try:
        given = _checked(request.args["token"])
        if board != EVERYWHERE and token_for(EVERYWHERE):
            # An organiser who tries a table's code stays the organiser, and may do no less there than before.
            return redirect(page, 303)
        _check_known(asker, board, given)
    except ApiError as error:
        board = CLUB if board == EVERYWHERE else board
        return render_template("login.html", board=board, error=error.message), error.status
    remember(board, given)
    return redirect(page, 303)


def _check_known(asker: Asker, board: str, token: str) -> None:
    """Whether the hub knows the token of a link; no answer is no refusal.

    Raises:
        ApiError: 401 if it does not, 403 if the token is another board's.
    """
    try:
        told = asker.ask(CLUB if board == EVERYWHERE else board, "who", asks.Who(), token=token).body
    except AskError as error:
        if error.code == "no_token":
            raise ApiError(401, "no_token", "This link is not good, or no longer: enter the PIN.") from None
        return
    where = told.get("board", "")
    if where not in {"", board}:
        raise ApiError(403, "other_board", f"This link is for the board {where}: enter the PIN of this one.")


def blueprint(asker: Asker) -> Blueprint:
    """The pages ``/login`` and ``/logout``."""
    pages = Blueprint("auth", __name__)

    @pages.get("/login")
    def login() -> str:
        return render_template("login.html", board=request.args.get("board", ""), error="")

    @pages.post("/login")
    def enter() -> Response | tuple[str, int]:
        board, pin = request.form.get("board", "").strip().lower(), request.form.get("pin", "").strip()
        try:
            check_csrf(request.form.get("csrf", ""))
            if board != CLUB:
                topics.check_board(board)
            _enter(asker, board, pin)
        except topics.TopicError as error:
            return render_template("login.html", board=board, error=f"{error}."), 400
        except (AskError, ApiError) as error:
            return render_template("login.html", board=board, error=error.message), error.status
        where = url_for("organiser.page") if board == CLUB else url_for("table.page", board=board)
        return redirect(where, 303)

    @pages.post("/logout")
    def logout() -> Response | tuple[str, int]:
        try:
            check_csrf(request.form.get("csrf", ""))
        except ApiError as error:
            return error.message, error.status
        session.clear()
        return redirect(url_for("wall.page"), 303)

    return pages


def _enter(asker: Asker, board: str, pin: str) -> None:
    if not pin:
        raise ApiError(400, "no_pin", "Enter the PIN.")
    body = asker.ask("hub", "login", asks.Login(board, pin)).body
    token = body.get("token")
    if not isinstance(token, str) or not token:
        raise ApiError(502, "bad_answer", "The hub gave no token; tell the organiser.")
    expires_ms = body.get("expires", 0)
    session.pop("csrf", None)  # a new word for whoever has now logged in
    # A token that is good for every board comes with an empty one.
    remember(body.get("board") or EVERYWHERE, token, expires_ms=expires_ms if isinstance(expires_ms, int) else 0)
