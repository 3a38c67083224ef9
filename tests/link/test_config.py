"""The configuration: defaults, round trip, and errors that name file, key and the right one."""

import re
from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest

from hub.link.config import Config, ConfigError, config_toml, load_config, parse_config, read_secret, show_config
from hub.link.masking import masked
from tests.conftest import PROJECT


def test_an_empty_file_has_the_defaults() -> None:
    assert parse_config("", "x.toml") == Config()


def test_what_is_shown_reads_back_the_same() -> None:
    config = parse_config('[board]\nid = "b-2"\n[camera]\nsize_wh = [640, 480]\nheight_mm = 910.5\n', "x.toml")
    assert parse_config(config_toml(config), "written") == config
    assert show_config(config) == config_toml(config)


TEXTS = [
    (section, key)
    for section, values in msgspec.to_builtins(Config()).items()
    for key, value in values.items()
    if isinstance(value, str) and "Literal" not in str(get_type_hints(type(getattr(Config(), section)))[key])
]


@pytest.mark.parametrize(("section", "key"), TEXTS)
@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://club:s3cret@db.local:5432/crokinole?sslmode=require",
        "postgresql://db.local/crokinole?user=club&password=s3cret&sslpassword=s3cret",
        "mqtt://board:s3cret@hub.local",
        "mqtt://board:p@s3cret@hub.local:1883",
        "http://:s3cret@hub.local:8080",
        "rtsp://cam.local/one?token=s3cret&pin=s3cret&api_key=s3cret#s3c",
    ],
)
def test_no_key_shows_a_secret_that_was_put_into_an_address(section: str, key: str, address: str) -> None:
    changed = msgspec.structs.replace(getattr(Config(), section), **{key: address})
    config = msgspec.structs.replace(Config(), **{section: changed})
    shown = show_config(config)
    assert "s3cret" not in shown
    assert "***" in shown
    assert ".local" in shown, "where it leads is no secret"
    assert "s3cret" in config_toml(config), "what a daemon reads is whole"


@pytest.mark.parametrize(
    "address", ["mqtt://hub.local:1883", "sqlite:////var/lib/c.sqlite3", "postgresql://club@db/hub", "rtsp://cam/a?b=c"]
)
def test_an_address_without_a_secret_is_shown_as_it_is(address: str) -> None:
    assert masked(address) == address


@pytest.mark.parametrize(
    "text",
    [
        "[mqtt]\nurl = 'http://board:s3cret@hub'\n",
        "[mqtt]\nurl = 'mqtt://board:s3cret@hub:99999'\n",
        '[mqtt]\nurl = "mqtt://board:s3cret@hub\\u0007"\n',
        "[board]\npages = 'ftp://board:s3cret@hub'\n",
        "[hub]\ndatabase = 'mysql://hub?password=s3cret'\n",
    ],
)
def test_an_error_about_an_address_keeps_its_secret(text: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(text, "x.toml")
    assert "s3cret" not in str(error.value)
    assert "***" in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[beem]\n", ["x.toml", "beem", "'beam'"]),
        ("[beam]\npn = 4\n", ["x.toml", "[beam]", "'pn'", "'pin'"]),
        ("[camera]\nfocus = 4\n", ["x.toml", "[camera]", "'focus'", "source"]),
        ("beam = 4\n", ["x.toml", "beam", "section"]),
        ('[beam]\npin = "four"\n', ["x.toml", "int", "[beam] pin"]),
        ('[beam]\nsource = "laser"\n', ["x.toml", "'laser'", "[beam] source", "there are gpio, twin, none"]),
        ('[camera]\nsource = "picamera"\n', ["x.toml", "[camera] source", "did you mean 'picamera2'?"]),
        ("[beam\n", ["x.toml", "line 1", "[section]"]),
        ('[board]\nid = "x\n', ["x.toml", "line 2", "'id'", "text between two"]),
        ("[board]\nid = b-2\n", ["x.toml", "line 2", "'id'", "text between two"]),
        ('[mqtt]\nurl = "mqtt://hub\n', ["x.toml", "line 2", "'url'"]),
        ("[board]\nsize_wh = [1,\n", ["x.toml", "last line", "key = value"]),
        ('[board]\nid = "Board 1"\n', ["x.toml", "[board] id", "Board 1"]),
        ('[board]\nstate_dir = "a\\u0000b"\n', ["x.toml", "[board] state_dir", "x00"]),
        ('[dashboard]\nhost = "a\\nb"\n', ["x.toml", "[dashboard] host"]),
        ('[mqtt]\nurl = "http://hub"\n', ["x.toml", "[mqtt] url", "mqtt://"]),
        ('[mqtt]\nurl = "mqtt://[hub"\n', ["x.toml", "[mqtt] url", "mqtt://"]),
        ('[mqtt]\nurl = "mqtt://hub:99999"\n', ["x.toml", "[mqtt] url", "port"]),
        ("[beam]\npin = -1\n", ["x.toml", "[beam] pin"]),
        ("[beam]\npin = 99\n", ["x.toml", "[beam] pin"]),
        ("[beam]\npin = 4\nemitter_pin = 4\n", ["x.toml", "emitter_pin", "4"]),
        ("[beam]\nself_test_s = -1.0\n", ["x.toml", "self_test_s"]),
        ("[beam]\nself_test_s = nan\n", ["x.toml", "self_test_s"]),
        ("[camera]\nheight_mm = nan\n", ["x.toml", "height_mm"]),
        ("[camera]\nheight_mm = -4.0\n", ["x.toml", "height_mm"]),
        ("[camera]\nseat1_deg = inf\n", ["x.toml", "seat1_deg"]),
        ("[camera]\nframe_rate_hz = 0\n", ["x.toml", "frame_rate_hz"]),
        ("[camera]\nsize_wh = [0, 480]\n", ["x.toml", "size_wh"]),
        ("[camera]\nsize_wh = [640]\n", ["x.toml", "size_wh"]),
        ("[dashboard]\nport = 99999\n", ["x.toml", "[dashboard] port"]),
        *(
            (f"[hub]\ndatabase = '{database}'\n", ["x.toml", "[hub] database", database, "sqlite:///FILE"])
            for database in (
                *("", "nonsense", "hub.sqlite3", "sqlite://", "sqlite:///", "sqlite:hub.sqlite3", "mysql://db/hub"),
                *("postgresql://db:port/hub", "postgresql://db:99999/hub", "postgresql+pigeon://db/hub"),
            )
        ),
    ],
)
def test_an_error_names_file_and_key(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(text, "x.toml")
    assert all(word in str(error.value) for word in words)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "database",
    ["sqlite:////var/lib/hub.sqlite3", "sqlite:///a%3Fb", "postgresql:///hub", "postgresql://u@[::1]:5432/h"],
)
def test_a_database_is_a_file_or_a_server(database: str) -> None:
    assert parse_config(f"[hub]\ndatabase = '{database}'\n", "x.toml").hub.database == database


@pytest.mark.parametrize(
    "database",
    ["postgresql://hub:s3cret@host:port/club", "postgres://hub:s3/c:ret@host/club", "postgresql://hub:s3cret@[::1/c"],
)
def test_a_wrong_address_of_a_database_is_told_without_its_password(database: str) -> None:
    with pytest.raises(ConfigError, match=r"//hub:\*\*\*@") as error:
        parse_config(f"[hub]\ndatabase = '{database}'\n", "x.toml")
    assert "ret" not in str(error.value)


def documented() -> dict[str, str]:
    """Every configuration that README and the pages show, by page and place."""
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
    found = {
        f"{page.name} {number}": text
        for page in pages
        for number, text in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1)
        if re.search(r"^\[(board|mqtt|beam|camera|hub|dashboard)\]", text, re.MULTILINE)
    }
    assert len(found) >= 6
    return found


@pytest.mark.parametrize("where", documented())
def test_every_configuration_that_is_documented_is_right(where: str) -> None:
    assert parse_config(documented()[where], where) != Config()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml.*No such file"):
        load_config(tmp_path / "none.toml")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "photo.toml"
    path.write_bytes(b"\xff\xd8\xff")
    with pytest.raises(ConfigError, match="UTF-8"):
        load_config(path)


def test_a_file_that_an_editor_marked_as_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_bytes(b"\xef\xbb\xbf[board]\r\nid = 'board-7'\r\n")
    assert load_config(path).board.id == "board-7"


@pytest.mark.parametrize("text", ["[dashboard]\nport = " + "9" * 5000, "deep = " + "[" * 5000 + "]" * 5000])
def test_what_python_does_not_take_in_is_told_like_any_other_mistake(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^club\.toml: "):
        parse_config(text, "club.toml")


def test_a_secret_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pins"
    path.write_text("1234\n")
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        read_secret(path)
    path.chmod(0o600)
    assert read_secret(path) == "1234"


def test_a_secret_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pins"
    path.write_bytes(b"\xff\xfe")
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="UTF-8"):
        read_secret(path)
