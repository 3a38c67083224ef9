"""QR codes that let a table's people in: a phone that scans one opens its board without a PIN."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlencode, urljoin, urlsplit

import segno
from flask import Blueprint, Response, jsonify, request, url_for

from dashboard import auth
from dashboard.asking import Asker, AskError
from dashboard.errors import ApiError, board_id, refused
from hub.link import asks


def blueprint(asker: Asker) -> Blueprint:
    """The request ``POST /api/1/boards/<board>/code`` of an organiser's page."""
    codes = Blueprint("codes", __name__)

    @codes.post("/api/1/boards/<board>/code")
    def code(board: str) -> Response:
        token = auth.asker_token(auth.CLUB)
        answer = asker.ask(auth.CLUB, "invite", asks.Invite(board_id(board)), token=token)
        given = answer.body.get("token")
        if not isinstance(given, str) or not given:
            raise ApiError(502, "bad_answer", "The hub gave no token; tell who looks after it.")
        link = urljoin(request.host_url, url_for("table.page", board=board)) + "?" + urlencode({"token": given})
        body = {"picture": qr_code(link), "link": link, "here_only": here_only(link)}
        response = jsonify(ok=True, body=body)
        response.headers["Cache-Control"] = "no-store"
        return response

    codes.register_error_handler(ApiError, ApiError.response)
    codes.register_error_handler(AskError, refused)
    return codes


def qr_code(link: str) -> str:
    """The QR code of a link as the address of a picture: black on white, with the quiet border that readers need."""
    return str(segno.make(link, error="m", micro=False).svg_data_uri(scale=8, border=4, light="#fff"))


def here_only(link: str) -> bool:
    """Whether a link leads other devices nowhere, being to the machine's name for itself."""
    host = urlsplit(link).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified
