"""What cannot be served: for the HTTP API a status, a code and a sentence, as JSON; for people a page."""

from __future__ import annotations

from flask import Response, jsonify, render_template, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from dashboard.asking import AskError
from dashboard.club import Club
from dashboard.view import BoardView
from hub.link.topics import TopicError, check_board


class ApiError(Exception):
    """A request that cannot be served.

    Attributes:
        status: HTTP status.
        code: for programs.
        message: one sentence for people.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def response(self) -> Response:
        """``{"error": {"code", "message"}}`` with the status."""
        response = jsonify(error={"code": self.code, "message": self.message})
        response.status_code = self.status
        return response


def refused(error: AskError) -> Response:
    """What the hub refused, or could not be asked."""
    return ApiError(error.status, error.code, error.message).response()


def refused_by_framework(error: HTTPException) -> Response | HTTPException | tuple[str, int]:
    """What the framework itself refuses (path, method, length): JSON for those who asked the API, a page for people."""
    if not request.path.startswith("/api/"):
        if error.code is None or error.response is not None:
            return error  # a redirect, for example
        message = f"There is no page {request.path} here." if isinstance(error, NotFound) else error.description
        return render_template("problem.html", heading=error.name, message=message), error.code
    code = error.name.lower().replace(" ", "_")
    response = ApiError(error.code or 500, code, f"{request.method} {request.path}: {error.description}").response()
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response


def board_id(board: str) -> str:
    """The id itself.

    Raises:
        ApiError: 400 if no board may be called so.
    """
    try:
        return check_board(board)
    except TopicError as error:
        raise ApiError(400, "bad_board", f"{error}.") from None


def board_or_404(club: Club, board: str) -> BoardView:
    """The board as it stands.

    Raises:
        ApiError: 400 for an impossible id, 404 if nothing was ever heard of such a board.
    """
    view = club.board(board_id(board))
    if view is None:
        known = ", ".join(v.board for v in club.boards()) or "none yet"
        raise ApiError(404, "unknown_board", f"No board {board!r} has reported; there are: {known}.")
    return view
