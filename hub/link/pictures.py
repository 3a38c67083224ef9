"""Pictures and clips of a doubt: what the hub wants of a camera, and how the camera sends it to the pages over HTTP.

One POST of one body: the length of the header (4 bytes, big end first), the header as JSON, then the JPEGs in the
order in which the header lists their sizes. It is read only whole, so nothing of a broken transfer is ever kept.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

from hub.link.messages import Colour, MessageError, Mm, Ns

MAX_UPLOAD_BYTES = 6 * 1024 * 1024
MAX_FRAMES = 240
_MAX_HEADER_BYTES = 64 * 1024
_LENGTH_BYTES = 4
_CASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,119}")
_JPEG = b"\xff\xd8\xff"

Size = Annotated[int, msgspec.Meta(ge=0, le=MAX_UPLOAD_BYTES)]
Text = Annotated[str, msgspec.Meta(max_length=400)]


class WantedDisc(msgspec.Struct, frozen=True):
    """A disc that a doubt is about; ``limit_mm`` = the radius its centre must stay within, 0 where no line is asked."""

    id: str
    colour: Colour
    x_mm: Mm
    y_mm: Mm
    sigma_mm: Mm
    limit_mm: Mm = 0.0


class Wanted(msgspec.Struct, frozen=True):
    """Hub to camera, as the body of ``do/picture``: keep and send what was seen of a doubt or a dispute.

    Attributes:
        case: under what it is kept, see :func:`case_of`.
        text: what is to be decided, for people.
        at_ns: when everything was at rest, on the board's clock; 0 for now.
        discs: what it is about; empty for the whole board.
    """

    case: str
    text: Text
    at_ns: Ns = 0
    discs: tuple[WantedDisc, ...] = ()


class FrameAt(msgspec.Struct, frozen=True):
    """One frame of a clip: when, in ms from the moment everything was at rest, and the length of its JPEG."""

    at_ms: Annotated[float, msgspec.Meta(ge=-60_000, le=60_000)]
    bytes: Size


class Evidence(msgspec.Struct, frozen=True):
    """The header of an upload.

    Attributes:
        case: what it belongs to.
        text: what is to be decided.
        drawn: length of the enlarged picture with line and margin drawn, 0 for none.
        plain: length of the same without them.
        frames: of the clip in order.
        margin_mm: how far the disc's edge is from the line's, positive inside; None where no line is asked.
        sigma_mm: one standard deviation of that.
    """

    case: str
    text: Text
    drawn: Size
    plain: Size
    frames: Annotated[tuple[FrameAt, ...], msgspec.Meta(max_length=MAX_FRAMES)] = ()
    margin_mm: Mm | None = None
    sigma_mm: Mm | None = None


def case_of(match_id: str, question: str) -> str:
    """Under what the pictures of a question are kept."""
    return f"{match_id}.{question}"


def check_case(case: str) -> str:
    """The case itself if it may be called so.

    Raises:
        MessageError: it holds anything but letters, digits, ``_``, ``-`` and ``.``, or is too long.
    """
    if not _CASE.fullmatch(case) or ".." in case:
        raise MessageError(f"case {case[:130]!r}: expected 1 to 120 of A-Z, a-z, 0-9, '_', '-' and single '.'")
    return case


def wanted_of(body: object) -> Wanted:
    """What a request wants.

    Raises:
        MessageError: it is none.
    """
    try:
        wanted = msgspec.convert(body, Wanted)
    except msgspec.ValidationError as error:
        raise MessageError(f"picture: {error}") from None
    check_case(wanted.case)
    return wanted


def pack(evidence: Evidence, pictures: tuple[bytes, ...]) -> bytes:
    """The body of an upload.

    Raises:
        MessageError: longer than may be sent.
    """
    header = msgspec.json.encode(evidence)
    body = b"".join((len(header).to_bytes(_LENGTH_BYTES, "big"), header, *pictures))
    if len(body) > MAX_UPLOAD_BYTES:
        raise MessageError(f"pictures: {len(body)} bytes, at most {MAX_UPLOAD_BYTES} may be sent")
    return body


def unpack(body: bytes) -> tuple[Evidence, tuple[bytes, ...]]:
    """Header and JPEGs of an upload, in the order drawn, plain, frames; a picture that is not there is empty.

    Raises:
        MessageError: too long, broken off, or not such a body.
    """
    if len(body) > MAX_UPLOAD_BYTES:
        raise MessageError(f"pictures: {len(body)} bytes, at most {MAX_UPLOAD_BYTES} are read")
    length = int.from_bytes(body[:_LENGTH_BYTES], "big")
    if len(body) < _LENGTH_BYTES + length or length > _MAX_HEADER_BYTES:
        raise MessageError("pictures: the header is broken off or too long")
    try:
        evidence = msgspec.json.decode(body[_LENGTH_BYTES : _LENGTH_BYTES + length], type=Evidence)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageError(f"pictures: {error}") from None
    check_case(evidence.case)
    at = _LENGTH_BYTES + length
    pictures: list[bytes] = []
    for size in (evidence.drawn, evidence.plain, *(frame.bytes for frame in evidence.frames)):
        pictures.append(body[at : at + size])
        at += size
    if at != len(body):
        raise MessageError(f"pictures: {len(body)} bytes, the header speaks of {at}")
    if any(picture and not picture.startswith(_JPEG) for picture in pictures):
        raise MessageError("pictures: expected JPEGs")
    return evidence, tuple(pictures)
