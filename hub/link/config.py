"""The one TOML file that every daemon reads: sections, defaults, and errors that name file, key and the right one."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec

from hub.link.bus import BusError, broker_address
from hub.link.masking import masked
from hub.link.topics import TopicError, check_board

SECRET_MODE = 0o600
_DATABASE = re.compile(r"sqlite(\+pysqlite)?:///.+|postgresql(\+psycopg)?://.*")
_LINE = re.compile(r"at line (\d+)")
_EXPECTED_TOML = 'expected [section] or key = value, with text between two " of the same line'
_SHOWN = 40

Pin = Annotated[int, msgspec.Meta(ge=0, le=53)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Pixels = Annotated[int, msgspec.Meta(ge=16, le=16384)]


class ConfigError(ValueError):
    """A configuration that cannot be used; names the file, the key and what was expected."""


class BoardSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which board this is.

    Attributes:
        id: ``[a-z0-9-]{1,32}``, unique in the club.
        preset: geometry, see ``hardware/presets``.
        state_dir: where the board's daemons keep outbox and calibration; made if missing.
        twin: Unix socket of the twin, for ``source = "twin"``.
        pages: address of the pages, ``http://hub.local:8080``, to which the camera sends pictures of doubts; empty:
            none are kept or sent.
        token_file: the board's own token, with which they are sent, mode 0600.
    """

    id: str = "board-1"
    preset: str = "tournament"
    state_dir: str = "."
    twin: str = ""
    pages: str = ""
    token_file: str = ""


class MqttSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the broker is; the password stands in a file of mode 0600, never here."""

    url: str = "mqtt://127.0.0.1:1883"
    password_file: str = ""


class BeamSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The break-beam.

    Attributes:
        source: gpio, twin, or none for a board without a beam.
        pin: BCM number of the receiver's pin (not 2 or 3, which have fixed pull-ups).
        emitter_pin: BCM number of the pin that switches the emitter, 0 = always on, no self-test.
        broken_level: level of the receiver's pin when the beam is broken.
        self_test_s: time between self-tests while the beam is clear and idle, 0 = none.
    """

    source: Literal["gpio", "twin", "none"] = "none"
    pin: Pin = 17
    emitter_pin: Pin = 27
    broken_level: Literal["low", "high"] = "low"
    self_test_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 30.0


class CameraSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The overhead camera.

    Attributes:
        source: picamera2, usb, video, twin, or none for a board without a camera.
        device: path of a USB camera or of a video file.
        size_wh: width and height of the frames in pixels.
        frame_rate_hz: frames asked for in a second.
        height_mm: height of the lens above the playing surface, 0 = find it from the pegs.
        seat1_deg: clockwise angle in the upright picture, 0 = down, at which seat 1 sits.
    """

    source: Literal["picamera2", "usb", "video", "twin", "none"] = "none"
    device: str = ""
    size_wh: tuple[Pixels, Pixels] = (1280, 960)
    frame_rate_hz: Annotated[float, msgspec.Meta(gt=0, le=1000)] = 30.0
    height_mm: Annotated[float, msgspec.Meta(ge=0, le=20_000)] = 0.0
    seat1_deg: Annotated[float, msgspec.Meta(ge=-360, le=360)] = 0.0


class SpeakerSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The loudspeaker at the board."""

    enabled: bool = False


class HubSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The hub.

    Attributes:
        database: SQLAlchemy URL; SQLite by default.
        token_file: tokens that were handed out beforehand, one JSON object a line, mode 0600.
        pin_file: PINs of the boards, ``board pin`` a line, mode 0600.
        standing_rules: rules of a match that a first shot opens: their name, or a TOML file with a club's own.
        standing_level: what the hub decides by itself in such a match: count, advise or judge.
        standby: while another hub has the database, wait and take over when it dies, instead of ending.
    """

    database: str = "sqlite:///crokinole.sqlite3"
    token_file: str = ""
    pin_file: str = ""
    standing_rules: str = "match-play"
    standing_level: Literal["count", "advise", "judge"] = "count"
    standby: bool = False


class DashboardSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The pages.

    Attributes:
        host: address to listen at.
        port: TCP port to listen at.
        secret_file: key that signs the session cookies, mode 0600; made if missing.
        cases_dir: folder for pictures of doubts and disputes, made when the first comes; they are erased after a week.
    """

    host: str = "127.0.0.1"
    port: Port = 8080
    secret_file: str = "dashboard.secret"
    cases_dir: str = "cases"


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything; a section that is missing has its defaults."""

    board: BoardSection = BoardSection()
    mqtt: MqttSection = MqttSection()
    beam: BeamSection = BeamSection()
    camera: CameraSection = CameraSection()
    speaker: SpeakerSection = SpeakerSection()
    hub: HubSection = HubSection()
    dashboard: DashboardSection = DashboardSection()


def load_config(path: Path) -> Config:
    """Read and check a configuration file.

    Raises:
        ConfigError: missing, not TOML, an unknown key, or a value of the wrong type or beyond what can be.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors mark UTF-8 with three bytes at the start
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; expected TOML") from None
    return parse_config(text, str(path))


def parse_config(text: str, name: str) -> Config:
    """Check the text of a configuration file called ``name``; errors as in :func:`load_config`."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: {_where(str(error), text)}: is not TOML; {_EXPECTED_TOML} ({error})") from None
    except (ValueError, RecursionError):  # what is TOML, and beyond what Python takes in
        raise ConfigError(f"{name}: holds a number of thousands of digits, or is nested too deep") from None
    _refuse_unknown(table, name)
    try:
        config = msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{name}: {_worded(str(error), table)}") from None
    _refuse_unprintable(msgspec.to_builtins(config), name)
    try:
        check_board(config.board.id)
    except TopicError as error:
        raise ConfigError(f"{name}: [board] id: {error}") from None
    try:
        broker_address(config.mqtt.url)
    except BusError as error:
        raise ConfigError(f"{name}: [mqtt] url: {error}") from None
    if config.beam.pin == config.beam.emitter_pin:
        raise ConfigError(f"{name}: [beam] pin and emitter_pin are both {config.beam.pin}; each needs its own")
    _check_pages(config.board, name)
    _check_database(config.hub.database, name)
    if config.camera.source == "video" and not config.camera.device:
        raise ConfigError(f'{name}: [camera] source is "video", but device names no video file')
    return config


def _where(words: str, text: str) -> str:
    """The line that the parser stumbled at; of a value that may be a secret, no more than its key."""
    found = _LINE.search(words)
    if not found:
        return "the last line"
    key, assigned, _ = text.split("\n")[int(found[1]) - 1].partition("=")
    return f"line {found[1]}, {masked(key.strip())[:_SHOWN]!r}" if assigned else f"line {found[1]}"


def _check_pages(board: BoardSection, name: str) -> None:
    if not board.pages:
        return
    try:
        address = urlsplit(board.pages)
        good = address.scheme in {"http", "https"} and bool(address.hostname) and (address.port or 1) > 0
    except ValueError:
        good = False
    if not good or address.query or address.fragment:
        raise ConfigError(f"{name}: [board] pages: {masked(board.pages)!r}: expected http://HOST:PORT")
    if not board.token_file:
        raise ConfigError(f"{name}: [board] pages needs token_file, the file with the board's own token")


def _check_database(url: str, name: str) -> None:
    """Whether a database's address looks like one; what only the hub can tell, it tells when it opens it."""
    try:
        good = bool(_DATABASE.fullmatch(url)) and (url.startswith("sqlite") or (urlsplit(url).port or 1) > 0)
    except ValueError:
        good = False
    if not good:
        raise ConfigError(f"{name}: [hub] database: {masked(url)!r}: expected sqlite:///FILE or postgresql://HOST/NAME")


def config_toml(config: Config) -> str:
    """The effective configuration as a file that reads back the same."""
    lines: list[str] = []
    for section, values in msgspec.to_builtins(config).items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {_toml(value)}" for key, value in values.items()]
        lines.append("")
    return "\n".join(lines)


def show_config(config: Config) -> str:
    """The effective configuration for people, with stars for the secrets that somebody has put into an address.

    All other secrets stand in files of their own, of which the configuration has the names alone.
    """
    sections = {
        section: {key: masked(value) if isinstance(value, str) else value for key, value in values.items()}
        for section, values in msgspec.to_builtins(config).items()
    }
    return config_toml(msgspec.convert(sections, Config))


def secret_text(path: Path) -> str:
    """The text of a secret file.

    Raises:
        ConfigError: missing, no text, or readable by others than its owner.
    """
    try:
        mode = path.stat().st_mode & 0o777
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; expected a secret, in lines of text") from None
    if mode & 0o077:
        raise ConfigError(f"{path}: mode is {mode:04o}, a secret must be 0600: chmod 600 {path}")
    return text


def read_secret(path: Path) -> str:
    """The first line of a secret file.

    Raises:
        ConfigError: as for :func:`secret_text`.
    """
    text = secret_text(path)
    return text.splitlines()[0].strip() if text.strip() else ""


def _refuse_unknown(table: dict[str, Any], name: str) -> None:
    sections = get_type_hints(Config)
    for section, values in table.items():
        if section not in sections:
            raise ConfigError(f"{name}: unknown section [{section}]{_nearest(section, list(sections))}")
        if not isinstance(values, dict):
            raise ConfigError(f"{name}: {section!r} must be a section: [{section}]")
        keys = sections[section].__struct_fields__
        for key in values:
            if key not in keys:
                raise ConfigError(f"{name}: [{section}] has no key {key!r}{_nearest(key, list(keys))}")


def _worded(error: str, table: dict[str, Any]) -> str:
    """What msgspec says of a value, by section and key, and with the words that could stand there."""
    found = re.fullmatch(r"(.*) - at `\$\.(\w+)\.(\w+)\S*`", error)
    if found is None:
        return error
    what, section, key = found.groups()
    words = [word for word in get_args(get_type_hints(get_type_hints(Config)[section])[key]) if isinstance(word, str)]
    value = table[section][key]
    if words and isinstance(value, str):
        what = f"{value!r} is not possible{_nearest(value, words)}"
    return f"[{section}] {key}: {what}"


def _refuse_unprintable(sections: dict[str, dict[str, Any]], name: str) -> None:
    """No path, address or name holds a line break or a zero byte, which libraries meet with errors of their own."""
    for section, values in sections.items():
        for key, value in values.items():
            if isinstance(value, str) and not value.isprintable():
                raise ConfigError(
                    f"{name}: [{section}] {key}: {masked(value)!r} holds a character that cannot be printed"
                )


def _nearest(wrong: str, right: list[str]) -> str:
    near = difflib.get_close_matches(wrong, right, n=1, cutoff=0.4)
    return f", did you mean {near[0]!r}?" if near else f"; there are {', '.join(right)}"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()  # a JSON string is a TOML basic string
    return repr(value)
