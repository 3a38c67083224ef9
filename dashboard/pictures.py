"""How pictures of doubts come in and are looked at: ``/api/1/boards/<board>/cases``."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, request

from dashboard import auth
from dashboard.asking import Asker, AskError
from dashboard.cases import FILES, Cases
from dashboard.club import Club
from dashboard.errors import ApiError, board_id, refused
from hub.link.messages import MessageError
from hub.link.pictures import MAX_UPLOAD_BYTES, case_of, unpack
from hub.link.snapshot import Table

_JUDGES = frozenset({"table", "referee", "organiser"})
_encode = msgspec.json.Encoder().encode


def blueprint(club: Club, asker: Asker, cases: Cases) -> Blueprint:
    """The routes for pictures."""
    pages = Blueprint("pictures", __name__)

    @pages.post("/api/1/boards/<board>/cases")
    def keep(board: str) -> Response:
        role = auth.role_at(asker, board_id(board), auth.bearer())
        if role != "board":
            raise ApiError(403, "not_allowed", "Pictures are sent with the board's own token.")
        request.max_content_length = MAX_UPLOAD_BYTES
        try:
            evidence, pictures = unpack(request.get_data())
        except MessageError as error:
            raise ApiError(400, "bad_body", f"{error}.") from None
        view = club.board(board)
        if view is None or evidence.case not in _open_cases(view.table):
            raise ApiError(409, "not_open", "There is no such doubt or dispute any more; nothing was kept.")
        try:
            cases.keep(board, evidence, pictures)
        except OSError as error:
            raise ApiError(507, "no_room", f"The pictures cannot be kept: {error.strerror}.") from None
        return _json({"ok": True})

    @pages.get("/api/1/boards/<board>/cases")
    def listed(board: str) -> Response:
        _check_judge(asker, board)
        return _json({"cases": cases.of(board)})

    @pages.get("/api/1/boards/<board>/cases/<case>/<name>")
    def one(board: str, case: str, name: str) -> Response:
        _check_judge(asker, board)
        path = cases.file(board, case, name)
        try:
            data = path.read_bytes() if path is not None else None
        except OSError:  # erased since
            data = None
        if data is None:
            raise ApiError(404, "no_picture", f"There is no {name if name in FILES else 'such file'} of this case.")
        kind = "image/jpeg" if name.endswith(".jpg") else "application/octet-stream"
        return Response(data, mimetype=kind, headers={"Cache-Control": "private, no-store"})

    pages.register_error_handler(ApiError, ApiError.response)
    pages.register_error_handler(AskError, refused)
    return pages


def _open_cases(table: Table | None) -> set[str]:
    """What may be kept: the open questions of a table, and the call of the referee."""
    if table is None:
        return set()
    called = {table.case} if table.case else set()
    return called | {case_of(table.match_id, question.id) for question in table.questions}


def _check_judge(asker: Asker, board: str) -> None:
    """Whether whoever asks may see pictures of a board.

    Raises:
        ApiError: 400 if no board may be called so, 401 or 403.
    """
    board = board_id(board)
    if auth.role_at(asker, board, auth.bearer() or auth.token_for(board)) not in _JUDGES:
        raise ApiError(403, "not_allowed", "Pictures are shown at the table, to the referee and to the organiser.")


def _json(body: object) -> Response:
    return Response(_encode(body), mimetype="application/json", headers={"Cache-Control": "no-store"})
