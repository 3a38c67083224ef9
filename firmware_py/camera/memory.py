"""Memory that is free but still held: finding the board takes large pictures once, and a daemon runs for months."""

from __future__ import annotations

import ctypes

#: glibc's name for the size from which on memory is taken from the system by itself, and goes back when it is free.
_MMAP_THRESHOLD = -3
#: Larger than the straight views that every read makes anew, smaller than a whole picture in Lab.
_LARGE_BYTES = 4_000_000


def hold_little() -> bool:
    """Have the C library give each large picture back as soon as it is free; False where it cannot (only glibc can).

    By itself it holds ever larger ones for later use, from the first one on that was freed.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BYTES))
    except (OSError, AttributeError):
        return False


def give_back() -> bool:
    """Have the C library return free memory to the system; False where it cannot (only glibc can)."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return False
    trim(0)
    return True
