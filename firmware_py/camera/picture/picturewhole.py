"""Whether a picture file ends before its picture does: half sent, half written, or cut off by a full card.

Decoders differ: some refuse such a file, others fill up what is missing with grey or with the row above, and a board
read from that would be a wrong score. So it is looked at here, by the marks that each kind of file ends with.
"""

from __future__ import annotations

import re

_PNG = b"\x89PNG\r\n\x1a\n"
#: In the coded rows of a JPEG a mark is an 0xFF that is neither a stuffed one, nor a restart, nor filling.
_JPEG_MARK = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})  # marks that no length follows
_JPEG_ROWS, _JPEG_END = 0xDA, 0xD9


def ends_early(content: bytes) -> bool:
    """Whether a JPEG, PNG, WebP or BMP file is the beginning of one; False for every other content."""
    return any(kind(content) for kind in (_jpeg, _png, _webp, _bmp))


def _jpeg(content: bytes) -> bool:
    if content[:2] != b"\xff\xd8":
        return False
    at = 2
    while at + 1 < len(content):
        if content[at] != 0xFF:
            return False
        mark = content[at + 1]
        if mark == _JPEG_END:
            return False
        if mark == 0xFF:
            at += 1
            continue
        if mark in _JPEG_ALONE:
            at += 2
            continue
        at += 2 + max(int.from_bytes(content[at + 2 : at + 4], "big"), 2)
        if mark == _JPEG_ROWS:
            found = _JPEG_MARK.search(content, at)
            if found is None:
                return True
            at = found.start()
    return True


def _png(content: bytes) -> bool:
    if content[:8] != _PNG:
        return False
    at = 8
    while at + 12 <= len(content):
        kind = content[at + 4 : at + 8]
        if kind == b"IEND" or not kind.isalpha():
            return False
        at += 12 + int.from_bytes(content[at : at + 4], "big")
    return True


def _webp(content: bytes) -> bool:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return False
    return len(content) < 8 + int.from_bytes(content[4:8], "little")


def _bmp(content: bytes) -> bool:
    if content[:2] != b"BM" or len(content) < 26:
        return False
    return len(content) < int.from_bytes(content[2:6], "little")
