"""The size a picture file tells in its header, so that a small file that unpacks to gigabytes is never decoded."""

from __future__ import annotations

import re

_PNM = re.compile(rb"P[1-6](?:\s+|#[^\n]*\n)+(\d+)(?:\s+|#[^\n]*\n)+(\d+)")
#: An AVIF's boxes are looked for in so many bytes; whoever hides them deeper is refused.
_HEAD = 1 << 20

Size = tuple[int, int]


def told_size(content: bytes) -> Size | None:
    """Width and height as the header tells them, before any turn; None for a broken header or an unknown kind of file.

    Args:
        content: a JPEG, PNG, BMP, GIF, WebP, TIFF, AVIF, JPEG 2000 or PNM (PPM, PGM, PBM) file.
    """
    for parse in (jpeg_size, _png, _bmp, _gif, _webp, _tiff, _avif, _jp2, _pnm):
        size = parse(content)
        if size is not None:
            return size if min(size) > 0 else None
    return None


def jpeg_size(content: bytes) -> Size | None:
    """Width and height a JPEG's header tells, before any turn; None when it is no JPEG or broken."""
    if content[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 < len(content):
        if content[at] != 0xFF:
            return None
        marker = content[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = _big(content, at + 5, 2), _big(content, at + 7, 2)
            return (width, height) if width and height else None
        if marker == 0xDA:
            return None
        at += 2 + max(_big(content, at + 2, 2), 2)
    return None


def _big(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(content[at : at + size], "big")


def _little(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(content[at : at + size], "little")


def _png(content: bytes) -> Size | None:
    if content[:8] != b"\x89PNG\r\n\x1a\n" or len(content) < 24:
        return None
    return (_big(content, 16, 4), _big(content, 20, 4))


def _bmp(content: bytes) -> Size | None:
    if content[:2] != b"BM" or len(content) < 26:
        return None
    if _little(content, 14, 4) == 12:
        return (_little(content, 18, 2), _little(content, 20, 2))
    width, height = (int.from_bytes(content[at : at + 4], "little", signed=True) for at in (18, 22))
    return (abs(width), abs(height))


def _gif(content: bytes) -> Size | None:
    if content[:6] not in (b"GIF87a", b"GIF89a") or len(content) < 10:
        return None
    return (_little(content, 6, 2), _little(content, 8, 2))


def _webp(content: bytes) -> Size | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return None
    kind = content[12:16]
    if kind == b"VP8X":
        return (_little(content, 24, 3) + 1, _little(content, 27, 3) + 1)
    if kind == b"VP8L":
        bits = _little(content, 21, 4)
        return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    return (_little(content, 26, 2) & 0x3FFF, _little(content, 28, 2) & 0x3FFF)


def _tiff(content: bytes) -> Size | None:
    kinds = {b"II*\x00": ("little", 4), b"MM\x00*": ("big", 4), b"II+\x00": ("little", 8), b"MM\x00+": ("big", 8)}
    if content[:4] not in kinds:
        return None
    order, word = kinds[content[:4]]

    def number(at: int, size: int) -> int:
        part = content[at : at + size]
        return int.from_bytes(part, "little") if order == "little" else int.from_bytes(part, "big")

    start = number(word, word)
    count_size = 2 if word == 4 else 8
    entry = 12 if word == 4 else 20
    found = {}
    for k in range(min(number(start, count_size), 4096)):
        at = start + count_size + k * entry
        tag, kind = number(at, 2), number(at + 2, 2)
        if tag in (256, 257):
            found[tag] = number(at + 4 + word, {3: 2, 4: 4, 16: 8}.get(kind, 4))
    return (found[256], found[257]) if len(found) == 2 else None


def _avif(content: bytes) -> Size | None:
    if content[4:8] != b"ftyp" or b"avi" not in content[8:64]:
        return None
    head = content[:_HEAD]
    sizes = [(_big(head, m.end() + 4, 4), _big(head, m.end() + 8, 4)) for m in re.finditer(b"ispe", head)]
    return max(sizes, key=lambda s: s[0] * s[1], default=None)


def _jp2(content: bytes) -> Size | None:
    at = content[:256].find(b"ihdr")
    if content[4:8] != b"jP  " or at < 0:
        return None
    return (_big(content, at + 8, 4), _big(content, at + 4, 4))


def _pnm(content: bytes) -> Size | None:
    match = _PNM.match(content[:1024])
    return (int(match[1]), int(match[2])) if match else None
