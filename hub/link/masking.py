"""Addresses as they may be shown: in an error, a log or a printed configuration, without what lets somebody in."""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "***"

_LOGIN = re.compile(r"(://[^:@]*):.*@", re.DOTALL)
"""Up to the last ``@``, since a password may hold one itself."""

_PARAMETER = re.compile(
    r"([?&;](?:\w*(?:password|passwd|pwd|secret|token|api_?key)|pass|pin|key)=)[^&;#]*", re.IGNORECASE
)


def masked(text: str) -> str:
    """An address, right or wrong, with stars for the password and for secrets among its parameters."""
    return _PARAMETER.sub(rf"\1{MASK}", _LOGIN.sub(rf"\1:{MASK}@", text))
