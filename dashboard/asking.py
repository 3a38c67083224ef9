"""People's requests to the hub: sent as ``ask``, answered on a topic of this process's own."""

from __future__ import annotations

import queue
import re
import secrets
import threading
import uuid

import msgspec

from hub.link import topics
from hub.link.bus import Bus, Message
from hub.link.messages import Answer, Ask, MessageError, decode, encode

TIMEOUT_S = 5.0
_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
_CODE = re.compile(r"([a-z][a-z0-9_]*): (.+)", re.DOTALL)


class AskError(Exception):
    """A request that was not done.

    Attributes:
        code: for programs.
        status: the HTTP status that says the same.
        message: one sentence for people.
    """

    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.message = message


class Asker:
    """Sends requests and waits for their answers; many may wait at the same time."""

    def __init__(self, bus: Bus, *, timeout_s: float = TIMEOUT_S) -> None:
        self.client = f"dashboard-{secrets.token_hex(8)}"
        self._bus = bus
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._waiting: dict[str, list[queue.Queue[Answer]]] = {}
        bus.subscribe(topics.answer(self.client), self._answered)

    def ask(
        self, board: str, request: str, body: msgspec.Struct, *, token: str = "", rev: int = 0, ask_id: str = ""
    ) -> Answer:
        """Ask the hub and wait.

        Args:
            board: the board, or ``hub`` for what belongs to none.
            request: see :data:`hub.link.asks.REQUESTS`.
            body: what the request needs.
            token: from a login.
            rev: the table's revision that the person saw.
            ask_id: made by the asker, so that the hub does a repeated request only once; empty = a new one.

        Raises:
            AskError: malformed id, the broker is away, no answer in time, or the hub's refusal.
        """
        if ask_id and not _ID.fullmatch(ask_id):
            raise AskError("bad_id", 400, "id: expected 8 to 64 letters, digits or '-'")
        ask_id = ask_id or str(uuid.uuid4())
        try:
            payload = encode(Ask(ask_id, self.client, token, rev, msgspec.Raw(msgspec.json.encode(body))))
        except MessageError as error:
            raise AskError("too_long", 413, str(error)) from None
        box: queue.Queue[Answer] = queue.Queue()
        with self._lock:
            self._waiting.setdefault(ask_id, []).append(box)
        try:
            if not self._bus.publish(topics.ask(board, request), payload):
                raise AskError("broker_away", 503, "The broker is away; nothing was changed. Try again in a moment.")
            answer = box.get(timeout=self._timeout_s)
        except queue.Empty:
            raise AskError(
                "no_answer",
                504,
                f"The hub did not answer within {self._timeout_s:g} s. Look at the score, then try again.",
            ) from None
        finally:
            self._forget(ask_id, box)
        if not answer.ok:
            raise refusal(answer.error)
        return answer

    def _forget(self, ask_id: str, box: queue.Queue[Answer]) -> None:
        with self._lock:
            boxes = self._waiting.get(ask_id, [])
            if box in boxes:
                boxes.remove(box)
            if not boxes:
                self._waiting.pop(ask_id, None)

    def _answered(self, message: Message) -> None:
        try:
            answer = decode(message.payload, Answer)
        except MessageError:
            return  # whoever waits is told that no answer came
        with self._lock:
            for box in self._waiting.get(answer.id, ()):
                box.put(answer)


_STATUS = {
    "no_token": 401,
    "wrong_pin": 401,
    "not_allowed": 403,
    "other_board": 403,
    "stale": 409,
    "match_running": 409,
    "not_finished": 409,
    "too_many_tries": 429,
}


def refusal(error: str) -> AskError:
    """The hub's refusal, which reads ``code: sentence``; 422 unless the code says more."""
    found = _CODE.fullmatch(error.strip())
    code, sentence = found.groups() if found else ("refused", error.strip() or "The hub refused this.")
    return AskError(code, _STATUS.get(code, 422), sentence[:1].upper() + sentence[1:])
