"""The HTTP API ``/api/1``: how the boards stand, and people's requests, which the hub alone decides."""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Blueprint, Response, request

from dashboard import auth
from dashboard.asking import Asker, AskError
from dashboard.cases import Cases
from dashboard.club import Club
from dashboard.drawing import drawing
from dashboard.errors import ApiError, board_id, board_or_404, refused
from hub.link import asks
from hub.link.messages import MessageError

_SVG_HEADERS = {"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
_encode = msgspec.json.Encoder().encode


class AskRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a POST.

    Attributes:
        body: what the request needs, see :mod:`hub.link.asks`.
        rev: the table's revision that the person saw.
        id: made by the page, so that a repeated tap is done once.
    """

    body: msgspec.Raw = msgspec.Raw(b"{}")
    rev: int = 0
    id: str = ""


def blueprint(club: Club, asker: Asker, cases: Cases) -> Blueprint:
    """The routes of the API, and ``/healthz``."""
    api = Blueprint("api", __name__)

    @api.get("/api/1/boards")
    def boards() -> Response:
        return _json({"broker": club.broker, "hub": club.hub, "boards": club.boards()})

    @api.get("/api/1/boards/<board>")
    def one(board: str) -> Response:
        return _json(board_or_404(club, board))

    @api.get("/api/1/boards/<board>/drawing.svg")
    def picture(board: str) -> Response:
        svg = drawing(club.geometry, board_or_404(club, board).marks)
        return Response(svg, mimetype="image/svg+xml", headers=_SVG_HEADERS)

    @api.post("/api/1/boards/<board>/ask/<what>")
    def ask(board: str, what: str) -> Response:
        given = _ask_request(what)
        token = auth.asker_token(board_id(board))
        body = _ask_body(what, given)
        if isinstance(body, asks.Move) and not body.there:
            # Whoever is signed in at both tables may move a match from one to the other.
            body = msgspec.structs.replace(body, there=auth.token_for(body.to))
        try:
            answer = asker.ask(board, what, body, token=token, rev=given.rev, ask_id=given.id)
        except AskError as error:
            if error.status == 401:
                auth.forget(board)
            raise
        return _json({"ok": True, "body": answer.body})

    @api.post("/api/1/hub/ask/<what>")
    def ask_hub(what: str) -> Response:
        given = _ask_request(what)
        token = auth.asker_token(auth.CLUB)
        answer = asker.ask(auth.CLUB, what, _ask_body(what, given), token=token, ask_id=given.id)
        if what == "forget":
            cases.forget(answer.body.get("matches", ()))
        return _json({"ok": True, "body": answer.body})

    @api.get("/healthz")
    def healthz() -> Response:
        response = _json({"ok": club.broker and club.hub, "broker": club.broker, "hub": club.hub})
        response.status_code = 200 if club.broker and club.hub else 503
        return response

    api.register_error_handler(ApiError, ApiError.response)
    api.register_error_handler(AskError, refused)
    return api


def _ask_request(what: str) -> AskRequest:
    if what not in asks.REQUESTS or what == "login":
        there = ", ".join(name for name in asks.REQUESTS if name != "login")
        raise ApiError(404, "unknown_request", f"There is no request {what!r}; there are {there}.")
    if not request.is_json:
        raise ApiError(415, "not_json", "Content-Type: expected application/json.")
    try:
        return msgspec.json.decode(request.get_data(), type=AskRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(400, "bad_body", f"Body: {error}.") from None


def _ask_body(what: str, given: AskRequest) -> asks.AskBody:
    try:
        return asks.decode_ask(what, bytes(given.body))
    except MessageError as error:
        raise ApiError(400, "bad_body", f"{error}.") from None


def _json(body: Any) -> Response:  # anything msgspec can encode
    return Response(_encode(body), mimetype="application/json", headers={"Cache-Control": "no-store"})
