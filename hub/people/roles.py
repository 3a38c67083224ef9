"""Who may ask for what: tokens with roles, PINs with a limit on guessing. The hub alone knows either."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from hub.link.config import ConfigError, secret_text
from hub.link.topics import RESERVED, TopicError, check_board

Role = Literal["viewer", "board", "table", "referee", "organiser"]
"""``board`` is a board's own: with it the board's pictures reach the pages, and nothing is asked."""

EVERYWHERE = ""
"""The board of a token that is good for all of them."""

CLUB = "hub"
"""The board of the organiser's password in the PIN file and in ``login``."""

TOKEN_HOURS: Mapping[Role, int] = {"viewer": 24, "board": 24, "table": 24, "referee": 24, "organiser": 12}

_TRIES = 5
_LOCKED_MS = 60_000
_LONGEST_LOCK_MS = 3_600_000
_AT_A_TABLE = frozenset(
    {
        "start",
        "answer",
        "confirm",
        "correct",
        "undo",
        "redo",
        "abandon",
        "pause",
        "resume",
        "time_out",
        "swap",
        "concede",
        "walk_over",
        "name",
        "referee",
        "referee_done",
        "move",
        "who",
    }
)
_REQUESTS: Mapping[Role, frozenset[str]] = {
    "viewer": frozenset({"who"}),
    "board": frozenset({"who"}),
    "table": _AT_A_TABLE,
    "referee": _AT_A_TABLE | {"rule"},
    "organiser": _AT_A_TABLE | {"rule", "forget", "close", "invite"},
}
_OF_THE_CLUB = frozenset({"forget", "close", "invite"})
"""Asked of the hub and of no board."""
_ANYWHERE = frozenset({"who"})


class Grant(msgspec.Struct, frozen=True):
    """What a token is good for; ``board`` empty for every board, ``expires_ms`` 0 for never."""

    role: Role
    board: str
    expires_ms: int = 0

    @property
    def who(self) -> str:
        """For the journal."""
        return f"{self.role}:{self.board or 'all'}"


class TokenRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a token file."""

    token: str
    role: Role
    board: str = EVERYWHERE


class DeniedError(Exception):
    """Somebody may not do what they ask; ``code`` and a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(f"{code}: {sentence}")
        self.code = code
        self.sentence = sentence


@dataclass(slots=True)
class _Tries:
    failed: int = 0
    locked_until_ms: int = 0


@dataclass(slots=True)
class People:
    """Tokens in force, PINs, and how often each PIN was guessed wrongly.

    Attributes:
        grants: by SHA-256 of the token; a token itself is never kept.
        pins: PIN, or argon2 hash of it, by board; ``hub`` for the organiser.
    """

    grants: dict[bytes, Grant] = field(default_factory=dict)
    pins: dict[str, str] = field(default_factory=dict)
    _tries: dict[str, _Tries] = field(default_factory=dict)

    @property
    def boards(self) -> frozenset[str]:
        """Boards at which somebody may do something: those with a PIN or a token of their own."""
        granted = {grant.board for grant in self.grants.values()}
        return frozenset((granted | set(self.pins)) - {EVERYWHERE, *RESERVED})

    def allow(self, token: str, board: str, request: str, now_ms: int) -> Grant:
        """The grant that lets somebody make a request at a board.

        Raises:
            DeniedError: unknown or expired token, another board's, or a role that may not.
        """
        grant = self.grants.get(digest(token))
        if grant is None or (grant.expires_ms and grant.expires_ms <= now_ms):
            raise DeniedError("no_token", "this device is not signed in, or no longer; sign in at the table again")
        if request not in _ANYWHERE and (board == CLUB) != (request in _OF_THE_CLUB):
            where = "the hub" if request in _OF_THE_CLUB else "a board"
            raise DeniedError("not_here", f"{request} is asked of {where}")
        if grant.board not in {EVERYWHERE, board}:
            raise DeniedError("other_board", f"this device is signed in for board {grant.board}, not {board}")
        if request not in _REQUESTS[grant.role]:
            raise DeniedError("not_allowed", f"a {grant.role} may not {request}")
        return grant

    def hand_out(self, board: str, now_ms: int) -> tuple[str, Grant]:
        """A new token, after a right PIN or for an invitation: an organiser's for the whole club, else the table's."""
        role: Role = "organiser" if board == CLUB else "table"
        where = EVERYWHERE if board == CLUB else board
        grant = Grant(role, where, now_ms + TOKEN_HOURS[role] * 3_600_000)
        token = secrets.token_urlsafe(24)
        self.grants[digest(token)] = grant
        return token, grant

    def drop_expired(self, now_ms: int) -> None:
        """Forget tokens that are over."""
        self.grants = {h: g for h, g in self.grants.items() if not g.expires_ms or g.expires_ms > now_ms}

    def may_try(self, board: str, now_ms: int) -> None:
        """Whether a PIN may be tried now.

        Raises:
            DeniedError: too many wrong ones lately.
        """
        tries = self._tries.get(board)
        if tries is not None and tries.locked_until_ms > now_ms:
            left_s = (tries.locked_until_ms - now_ms + 999) // 1000
            raise DeniedError("too_many_tries", f"too many wrong PINs; try again in {left_s} s")

    def tried(self, board: str, now_ms: int, *, right: bool) -> None:
        """Count a try: after five wrong ones the board's PIN rests a minute, then twice as long each time."""
        if right:
            self._tries.pop(board, None)
            return
        tries = self._tries.setdefault(board, _Tries())
        tries.failed += 1
        if tries.failed >= _TRIES:
            wait_ms = _LOCKED_MS * 2 ** min(tries.failed - _TRIES, 10)
            tries.locked_until_ms = now_ms + min(wait_ms, _LONGEST_LOCK_MS)


def digest(token: str) -> bytes:
    """What is kept of a token: it is long and random, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).digest()


def right_pin(known: str | None, pin: str) -> bool:
    """Whether a PIN is the right one; slow on purpose for a hashed one, so call it outside the loop."""
    if known is None:
        return False
    if not known.startswith("$argon2"):
        return hmac.compare_digest(known.encode(), pin.encode())
    try:
        return PasswordHasher().verify(known, pin)
    except (Argon2Error, InvalidHashError):
        return False


def hash_pin(pin: str) -> str:
    """A PIN as it may stand in the PIN file."""
    return PasswordHasher().hash(pin)


def read_tokens(path: Path) -> dict[bytes, Grant]:
    """Tokens that were handed out beforehand, one JSON object ``{token, role, board}`` a line.

    Raises:
        ConfigError: the file cannot be read, others may read it, or a line is not such an object.
    """
    grants: dict[bytes, Grant] = {}
    for number, line in _secret_lines(path):
        try:
            row = msgspec.json.decode(line, type=TokenRow)
            if row.board:
                check_board(row.board)
        except (msgspec.DecodeError, TopicError) as error:
            raise ConfigError(f"{path}: line {number}: {error}") from None
        if len(row.token) < 16:
            raise ConfigError(f"{path}: line {number}: a token needs 16 characters or more")
        if digest(row.token) in grants:
            raise ConfigError(f"{path}: line {number}: this token stands there twice; keep one of the lines")
        grants[digest(row.token)] = Grant(row.role, row.board)
    return grants


def read_pins(path: Path) -> dict[str, str]:
    """PINs of the boards, ``board pin`` a line; the board ``hub`` is the organiser's. Errors as for tokens."""
    pins: dict[str, str] = {}
    for number, line in _secret_lines(path):
        board, _, pin = line.strip().partition(" ")
        pin = pin.strip()
        if not pin or (board not in RESERVED and not _is_board(board)):
            raise ConfigError(f"{path}: line {number}: expected a board's id and its PIN")
        if board in pins:
            raise ConfigError(f"{path}: line {number}: board {board!r} has a PIN already; keep one of the lines")
        pins[board] = pin
    return pins


def roles() -> tuple[str, ...]:
    """All roles, the least first."""
    return get_args(Role)


def _is_board(board: str) -> bool:
    try:
        check_board(board)
    except TopicError:
        return False
    return True


def _secret_lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are not blank, each with its number in the file."""
    return [(number, line) for number, line in enumerate(secret_text(path).splitlines(), 1) if line.strip()]
