"""Memory that is free but still held: finding the board takes large pictures once, and a daemon runs for months."""

from __future__ import annotations

import ctypes


def give_back() -> bool:
    """Have the C library return free memory to the system; False where it cannot (only glibc can)."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return False
    trim(0)
    return True
