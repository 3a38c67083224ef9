"""The messages of the contract: envelopes, the facts that boards report, acknowledgements, asks and answers.

Facts are past tense and physical; what they mean is the hub's to say. JSON by msgspec; an unknown kind, a wrong type
or a bad byte makes :func:`decode_envelope` raise :class:`MessageError`, which daemons count, log once and skip.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec

MAX_BYTES = 64 * 1024

Source = Literal["beam", "camera", "button"]
Colour = Literal["light", "dark", "third"]
T = TypeVar("T")

Ns = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
"""A time on a board's clock; bounded so that it and its differences can be stored."""
Ms = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]
Mm = Annotated[float, msgspec.Meta(ge=-1e5, le=1e5)]
Degrees = Annotated[float, msgspec.Meta(ge=-1e5, le=1e5)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**48)]

DiscState = Literal["flat", "leaning", "hole", "overhanging", "stacked", "ditch"]


class MessageError(ValueError):
    """A payload that is not a message of the contract; says which field and what was expected."""


class Fact(msgspec.Struct, frozen=True, gc=False):
    """Base of everything a board reports; ``*_ns`` are on the board's clock."""


class BeamCandidate(Fact, frozen=True):
    """The beam has been blocked for the dwell: perhaps a twenty.

    Attributes:
        episode: number of the blocked time, unique within a boot of the daemon.
        start_ns: first blocked edge.
        at_ns: when the dwell was reached.
    """

    episode: Count
    start_ns: Ns
    at_ns: Ns


class BeamWithdrawn(Fact, frozen=True):
    """A candidate was none after all (``chatter``, ``self-test``)."""

    episode: Count
    reason: str


class BeamEpisode(Fact, frozen=True):
    """The end of a blocked time that had a candidate; gaps are the clear times counted as blocked."""

    episode: Count
    start_ns: Ns
    dwell_ms: Ms
    gaps: Count


class BeamPass(Fact, frozen=True):
    """A blocked time that ended before its dwell: a disc flew over, a finger, a lamp."""

    episode: Count
    start_ns: Ns
    dwell_ms: Ms


class BeamWarning(Fact, frozen=True):
    """``not_removed`` (blocked more than 5 s) or ``stuck`` (more than 20 s)."""

    name: str
    at_ns: Ns


class BeamFault(Fact, frozen=True):
    """``chatter``, ``blocked_at_start``, ``receiver``, ``emitter`` or ``lost_edge``; ``over`` when it has passed."""

    name: str
    at_ns: Ns
    over: bool = False


class LayoutDisc(msgspec.Struct, frozen=True, gc=False):
    """One disc at rest.

    Attributes:
        id: the camera's name for it, kept while the disc stays.
        colour: light, dark or third.
        x_mm: centre of its base in the board frame.
        y_mm: centre of its base in the board frame.
        sigma_mm: one standard deviation of the position along the radius.
        state: how it lies.
    """

    id: str
    colour: Colour
    x_mm: Mm
    y_mm: Mm
    sigma_mm: Mm
    state: DiscState = "flat"


class Layout(Fact, frozen=True):
    """Every disc at rest at a moment; ``unseen`` names known discs that a hand covers (not seen is never gone)."""

    at_ns: Ns
    discs: tuple[LayoutDisc, ...]
    unseen: tuple[str, ...] = ()


class Place(msgspec.Struct, frozen=True, gc=False):
    """A disc's centre in polar form: mm from the middle, degrees clockwise from the middle of seat 1's quadrant."""

    r_mm: Mm
    angle_deg: Degrees
    leaning: bool = False


class Doubt(msgspec.Struct, frozen=True, gc=False):
    """What a shot's evidence cannot tell.

    Attributes:
        kind: ``contact``, ``not_seen``, ``placement``, ``left`` or ``leaner``.
        discs: the discs concerned.
        readings: the complete ``events`` lists between which the evidence cannot decide.
        picture: JPEG crop of at most 12 KiB, or None.
    """

    kind: str
    discs: tuple[str, ...] = ()
    readings: tuple[tuple[tuple[str, ...], ...], ...] = ()
    picture: bytes | None = None


class Shot(Fact, frozen=True):
    """One shot from placement to rest; ``events`` and ``rest`` are worded as in the worked cases.

    Attributes:
        disc: id of the disc that was shot.
        colour: its colour.
        placed: where it stood before it was flicked; None if that was not seen.
        events: ``(hit, a, b)``, ``(peg, a)``, ``(off, a)``, ``(back, a)``, ``(cross, a)``, ``(hole, a)`` in order.
        rest: where each disc that moved came to rest: a place, ``hole`` or ``ditch``; the shot disc always.
        start_ns: the flick.
        end_ns: everything at rest.
        confidence: 0 to 1.
        doubts: empty if the evidence is enough.
        events_ns: when each of the events happened, as far as the frames tell; empty where that is not known.
    """

    disc: str
    colour: Colour
    placed: Place | None
    events: tuple[tuple[str, ...], ...]
    rest: dict[str, Place | Literal["hole", "ditch"]]
    start_ns: Ns
    end_ns: Ns
    confidence: float = 1.0
    doubts: tuple[Doubt, ...] = ()
    events_ns: tuple[Ns, ...] = ()


class Hand(Fact, frozen=True):
    """A hand came over the board or left it."""

    at_ns: Ns
    present: bool


class Moved(Fact, frozen=True):
    """The board or the camera was moved; ``shift_mm`` at the outer line."""

    at_ns: Ns
    what: Literal["board", "camera"]
    shift_mm: Mm


class Cleared(Fact, frozen=True):
    """No disc is left on the surface or in the hole."""

    at_ns: Ns


class Button(Fact, frozen=True):
    """A button at the table was pressed: ``confirm``, ``undo`` or ``referee``."""

    at_ns: Ns
    name: str


KINDS: dict[str, type[Fact]] = {
    "beam_candidate": BeamCandidate,
    "beam_withdrawn": BeamWithdrawn,
    "beam_episode": BeamEpisode,
    "beam_pass": BeamPass,
    "beam_warning": BeamWarning,
    "beam_fault": BeamFault,
    "layout": Layout,
    "shot": Shot,
    "hand": Hand,
    "moved": Moved,
    "cleared": Cleared,
    "button": Button,
}
KIND_OF: dict[type[Fact], str] = {fact: kind for kind, fact in KINDS.items()}


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """What carries one fact from a board to the hub; (board, source, boot, seq) is its identity.

    Attributes:
        board: the board's id.
        source: beam, camera or button.
        machine_boot: the kernel's boot id; ``mono_ns`` compares only within it.
        boot: new at each start of the daemon.
        first: lowest sequence number of this boot that is still in the outbox.
        seq: counts from 1 without holes within a boot.
        mono_ns: when the fact became known, on the board's clock.
        sent_ns: when it was sent, on the board's clock; age = sent - mono.
        wall_ms: wall time of the fact, milliseconds since 1970, for people.
        synced: whether the wall clock was synchronised.
        kind: which fact the body is.
        body: the fact, still encoded.
    """

    board: str
    source: Source
    machine_boot: str
    boot: str
    first: int
    seq: int
    mono_ns: int
    sent_ns: int
    wall_ms: int
    synced: bool
    kind: str
    body: msgspec.Raw

    def fact(self) -> Fact:
        """The decoded body.

        Raises:
            MessageError: unknown kind, or a body that is not one.
        """
        return decode_fact(self.kind, bytes(self.body))


class Ack(msgspec.Struct, frozen=True, gc=False):
    """Hub to board: all facts of ``boot`` up to ``seq`` are stored."""

    boot: str
    seq: int


class Health(msgspec.Struct, frozen=True, gc=False):
    """How a daemon is doing, retained.

    Attributes:
        version: of the software.
        faults: standing faults by name; empty when well.
        outbox: facts not yet acknowledged.
        bad_messages: payloads skipped since the start.
        frame_rate_hz: frames read in a second, None without a camera.
        temperature_c: of the processor, None where unknown.
        capabilities: what this source can tell, e.g. ``twenties``, ``layout``, ``contacts``.
        boot: of the daemon, which a request must name.
        machine_boot: the time below compares only within it.
        able_since_ns: since when it can tell just that, on the board's clock; 0 if it does not say.
    """

    version: str
    faults: tuple[str, ...] = ()
    outbox: int = 0
    bad_messages: int = 0
    frame_rate_hz: float | None = None
    temperature_c: float | None = None
    capabilities: tuple[str, ...] = ()
    boot: str = ""
    machine_boot: str = ""
    able_since_ns: int = 0


class Do(msgspec.Struct, frozen=True, gc=False):
    """Hub to board: a request to the daemon whose boot it names; another boot refuses.

    Attributes:
        boot: of the daemon that is meant, from its health.
        body: what the request needs.
    """

    boot: str
    body: dict[str, Any] = {}


class Call(msgspec.Struct, frozen=True, gc=False):
    """What the speakers are to say now.

    Attributes:
        id: so that nothing is said twice.
        clip: key of a recorded clip, e.g. ``twenty_light``.
        text: the same for a speech engine and for the screen.
        numbers: values for clips that count.
        age_ms: how old the event was when this was sent; the speaker counts on from receipt.
    """

    id: str
    clip: str
    text: str
    numbers: dict[str, int] = {}
    age_ms: int = 0


class Ask(msgspec.Struct, frozen=True, gc=False):
    """A person's request.

    Attributes:
        id: made by the asker; the hub answers a repeated one as the first time.
        client: a random id of the asker; the answer goes to its topic.
        token: from ``login``; empty for login itself.
        rev: the table's revision that the person saw.
        body: what the request needs, see :mod:`hub.link.asks`.
    """

    id: str
    client: str
    token: str
    rev: int
    body: msgspec.Raw


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The hub's answer: ``error`` is a code and a sentence when ``ok`` is false."""

    id: str
    ok: bool
    error: str = ""
    body: dict[str, Any] = {}


_encoder = msgspec.json.Encoder()


def encode(message: msgspec.Struct) -> bytes:
    """JSON bytes of any message of the contract.

    Raises:
        MessageError: longer than 64 KiB.
    """
    payload = _encoder.encode(message)
    if len(payload) > MAX_BYTES:
        raise MessageError(f"{type(message).__name__}: {len(payload)} bytes, at most {MAX_BYTES} may be sent")
    return payload


def decode(payload: bytes | bytearray | memoryview, what: type[T]) -> T:
    """A message of a known type from JSON bytes.

    Raises:
        MessageError: too long, not JSON, not UTF-8 or not such a message.
    """
    if len(payload) > MAX_BYTES:
        raise MessageError(f"{what.__name__}: {len(payload)} bytes, at most {MAX_BYTES} are read")
    try:
        return msgspec.json.decode(payload, type=what)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageError(f"{what.__name__}: {error}") from None


def decode_fact(kind: str, body: bytes) -> Fact:
    """The fact of a kind from its JSON body.

    Raises:
        MessageError: unknown kind, or a body that is not one.
    """
    if kind not in KINDS:
        raise MessageError(f"unknown kind of fact {kind!r}, expected one of {', '.join(KINDS)}")
    return decode(body, KINDS[kind])


def decode_envelope(payload: bytes | bytearray | memoryview) -> tuple[Envelope, Fact]:
    """An envelope and its fact.

    Raises:
        MessageError: not an envelope, sequence numbers below 1, or a body that is not of its kind.
    """
    envelope = decode(payload, Envelope)
    if not 1 <= envelope.first <= envelope.seq:
        raise MessageError(f"Envelope: first {envelope.first} and seq {envelope.seq}, expected 1 <= first <= seq")
    return envelope, envelope.fact()
