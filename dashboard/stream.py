"""Server-sent events: a whole snapshot first, then every change, and heartbeats while nothing happens."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Blueprint, Response, request

from dashboard import auth
from dashboard.club import Club, Event, Listener
from dashboard.errors import ApiError, board_id, board_or_404

RETRY_MS = 1000


def blueprint(club: Club, *, beat_s: float) -> Blueprint:
    """The streams ``/api/1/stream`` (all boards) and ``/api/1/boards/<board>/stream``."""
    streams = Blueprint("stream", __name__)

    @streams.get("/api/1/stream")
    def everything() -> Response:
        return _response(club, "", beat_s)

    @streams.get("/api/1/boards/<board>/stream")
    def one(board: str) -> Response:
        if not auth.token_for(board_id(board)):  # a board without sensors is heard of when its first match starts
            board_or_404(club, board)
        return _response(club, board, beat_s)

    streams.register_error_handler(ApiError, ApiError.response)
    return streams


def _response(club: Club, board: str, beat_s: float) -> Response:
    # A page that opens a new stream by itself cannot set the header, so it may say the same in the address.
    last_id = request.headers.get("Last-Event-ID", "") or request.args.get("last", "")
    last_seen = last_event(last_id, club.boot)
    listener = club.listen(board)
    response = Response(
        events(club, listener, last_seen, beat_s),
        mimetype="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
    response.call_on_close(lambda: club.leave(listener))
    return response


def last_event(header: str, boot: str) -> int | None:
    """The number in a ``Last-Event-ID`` of this process; None for another's or for what is none."""
    made_by, _, number = header.partition("-")
    return int(number) if made_by == boot and number.isascii() and number.isdigit() and len(number) < 18 else None


def events(club: Club, listener: Listener, last_seen: int | None, beat_s: float) -> Iterator[bytes]:
    """The bytes of one stream, until whoever reads it goes away."""
    try:
        yield b"retry: %d\n\n" % RETRY_MS
        yield _framed(club, listener, club.snapshot(listener, last_seen))
        while True:
            event = listener.next(beat_s)
            if listener.behind or (event is not None and event.name == "snapshot"):
                yield _framed(club, listener, club.snapshot(listener))
            elif event is not None:
                yield _framed(club, listener, event)
            else:
                # Named, since a page is not told of comments; a write to one who is gone fails and ends this stream.
                yield b"event: beat\ndata: {}\n\n"
    finally:
        club.leave(listener)


def _framed(club: Club, listener: Listener, event: Event) -> bytes:
    body = event.full if listener.board else event.brief
    return b"id: %s-%d\nevent: %s\ndata: %s\n\n" % (club.boot.encode(), event.number, event.name.encode(), body)
